// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables of any length: sorted, filtered, saved as CSV. Of the rows only those that are in sight
 * are in the document; the height of the others is in one row before and one behind them.
 */
import { make, put, save } from "./dom.js";
import { cell, clean, count, many } from "./format.js";

const ROW_PX = 28;
const SPARE = 12;	// rows kept before and behind what is in sight
const MAX_PX = 8000000;	// browsers do not draw what lies much deeper

function isText(unit) {
	return unit === "text" || unit === "address" || unit === "bool";
}

/** A spreadsheet must not take a name for a formula. */
function csvField(value, unit) {
	if (value === null || value === undefined)
		return "";
	let text = String(value);

	if (isText(unit) && /^[=+\-@\t\r]/.test(text))
		text = `'${text}`;
	return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export class Table {
	/**
	 * columns: { key, title, unit, value(row), text?(row), wide?, act?(row), csvOnly? }: row is a
	 * number; `act` makes the cell a button. options: name (of the file), noun (of a row), caption,
	 * tick, sort: [column, direction], bySize: signed figures are sorted by how large they are.
	 */
	constructor(columns, options) {
		this.columns = columns.filter((c) => !c.csvOnly);
		this.saved = columns;
		this.options = options;
		this.rows = [];		// numbers of all rows, in the order they came
		this.order = [];	// those shown
		[this.sorted, this.direction] = options.sort ?? [0, 1];
		this.query = "";
		this.build();
	}

	build() {
		this.filterBox = make("input", { type: "search", placeholder: "filter", "aria-label": `filter ${this.options.noun} rows`,
			oninput: () => this.filter(this.filterBox.value) });
		this.note = make("span", { class: "note", role: "status" });
		this.head = make("tr", { "aria-rowindex": 1 });
		this.body = make("tbody");
		this.table = make("table", { class: "rows" },
			make("caption", { class: "hidden" }, this.options.caption), make("thead", {}, this.head), this.body);
		this.box = make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": this.options.caption,
			onscroll: () => this.scrolled() }, this.table);
		this.columns.forEach((column, i) => put(this.head, this.header(column, i)));
		this.element = make("section", { class: "table" },
			make("div", { class: "tools" }, this.filterBox, this.note,
				make("button", { type: "button", onclick: () => this.saveCsv() }, "Save as CSV")), this.box);
		this.sizes = new ResizeObserver(() => this.draw(false));
		this.sizes.observe(this.box);
		addEventListener("beforeprint", () => this.draw(true, 500));
		addEventListener("afterprint", () => this.draw(true));
	}

	header(column, i) {
		return make("th", { scope: "col", class: isText(column.unit) ? (column.wide ? "text wide" : "text") : "number" },
			make("button", { type: "button", onclick: () => this.sort(i) }, column.title));
	}

	setRows(rows) {
		this.rows = rows;
		this.arrange();
	}

	filter(query) {
		this.query = query.toLowerCase();
		this.arrange();
	}

	sort(i) {
		this.direction = i === this.sorted ? -this.direction : isText(this.columns[i].unit) ? 1 : -1;
		this.sorted = i;
		this.arrange();
	}

	text(column, row) {
		return column.text ? clean(column.text(row)) : cell(column.value(row), column.unit, this.options.tick);
	}

	matches(row) {
		return this.columns.some((c) => isText(c.unit) && this.text(c, row).toLowerCase().includes(this.query));
	}

	arrange() {
		const column = this.columns[this.sorted], bySize = this.options.bySize && column.unit === "signed", direction = this.direction;
		const rows = this.query ? Array.from(this.rows).filter((row) => this.matches(row)) : Array.from(this.rows);
		const value = bySize ? (row) => Math.abs(column.value(row)) : column.value;
		const keys = new Map(rows.map((row) => [row, value(row) ?? (isText(column.unit) ? "" : -Infinity)]));

		rows.sort((a, b) => {
			const x = keys.get(a), y = keys.get(b);

			return (x < y ? -direction : x > y ? direction : 0) || a - b;
		});
		this.order = rows;
		[...this.head.children].forEach((th, i) => th.setAttribute("aria-sort",
			i === this.sorted ? (direction > 0 ? "ascending" : "descending") : "none"));
		this.table.setAttribute("aria-rowcount", rows.length + 1);
		this.note.textContent = rows.length === this.rows.length ? many(rows.length, this.options.noun)
			: `${count(rows.length)} of ${many(this.rows.length, this.options.noun)}`;
		this.box.scrollTop = 0;
		this.draw(true);
	}

	scrolled() {
		this.waiting ??= requestAnimationFrame(() => {
			this.waiting = null;
			this.draw(false);
		});
	}

	/** `all`: the rows have changed; `most`: so many of them, wherever the table stands. */
	draw(all, most) {
		const nr = this.order.length, height = Math.min(nr * ROW_PX, MAX_PX), scale = nr ? height / nr / ROW_PX : 1;
		const inSight = Math.ceil(this.box.clientHeight / ROW_PX) + 1;
		const top = Math.floor(this.box.scrollTop / ROW_PX / scale);
		const from = most ? 0 : Math.max(0, Math.min(top, nr - inSight) - SPARE);
		const to = Math.min(nr, most ?? top + inSight + SPARE);

		if (!all && from === this.from && to === this.to)
			return;
		const before = Math.max(0, Math.min(from * ROW_PX * scale, height - (to - from) * ROW_PX));
		const behind = most ? 0 : Math.max(0, height - before - (to - from) * ROW_PX);

		this.rowsInto(from, to, all);
		this.body.prepend(this.spacer(before));
		put(this.body, this.spacer(behind), most && nr > most && make("tr", {}, make("td", { colspan: this.columns.length },
			`${count(nr - most)} more rows are in the page and not on paper`)));
	}

	/** Rows that stay in sight stay as they are, with the focus that one may have. */
	rowsInto(from, to, all) {
		const kept = all || !(this.from < to && from < this.to) ? [] : [Math.max(from, this.from), Math.min(to, this.to)];
		const rows = (a, b) => Array.from({ length: b - a }, (_, k) => this.row(a + k));

		for (const tr of [...this.body.children]) {
			const i = Number(tr.getAttribute("aria-rowindex")) - 2;

			if (!kept.length || !(i >= kept[0] && i < kept[1]))
				tr.remove();
		}
		if (kept.length) {
			this.body.prepend(...rows(from, kept[0]));
			this.body.append(...rows(kept[1], to));
		} else {
			this.body.append(...rows(from, to));
		}
		this.from = from;
		this.to = to;
	}

	spacer(px) {
		const tr = make("tr", { class: "spacer", "aria-hidden": "true" }, make("td", { colspan: this.columns.length }));

		tr.firstChild.style.height = `${px}px`;
		return tr;
	}

	row(i) {
		const row = this.order[i];

		return make("tr", { "aria-rowindex": i + 2 },
			this.columns.map((column) => {
				const text = this.text(column, row), td = make("td", { class: isText(column.unit) ? "text" : "number" });

				td.title = isText(column.unit) ? text : "";
				return put(td, column.act && text ? make("button", { type: "button", class: "link", onclick: () => column.act(row) }, text) : text);
			}));
	}

	saveCsv() {
		const lines = [this.saved.map((c) => csvField(c.key, "text")).join(",")];

		for (const row of this.order)
			lines.push(this.saved.map((c) => csvField(c.text && isText(c.unit) ? c.text(row) : c.value(row), c.unit)).join(","));
		save(`${this.options.name}.csv`, `${lines.join("\r\n")}\r\n`, "text/csv;charset=utf-8");
	}
}
