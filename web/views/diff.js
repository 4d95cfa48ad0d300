// SPDX-License-Identifier: GPL-2.0-or-later
// Two captures compared: what changed as `pmm diff` reports it, its lists as tables, and a flame graph in two colours.
import { flame } from "../flame/index.js";
import { entriesOf, LISTS, signed, stackText } from "../lib/difflists.js";
import { documentElements } from "../lib/document.js";
import { make, replace } from "../lib/dom.js";
import { clean } from "../lib/format.js";
import { Table } from "../lib/table.js";

const TITLES = { lines: "Lines", functions: "Functions", modules: "Modules", stacks: "Stacks" };
// of keys that text has no heading for
const HEADINGS = { before_count: "blocks before", after_count: "blocks after", status: "status" };

function overview(model) {
	const { diff } = model, keys = diff.sections.map((s) => s.key).filter((key) => !LISTS.includes(key));

	return make("div", { class: "docs" }, documentElements(diff, keys));
}

/** The name's columns first, then figures as text has them, then what only CSV has. */
function columnsOf(section, list, store) {
	const entries = store.lists[list];
	const label = { key: "name", title: list.slice(0, -1), unit: "text", wide: true, act: (row) => store.select({ list, row }),
		value: (row) => (list === "stacks" ? stackText(entries[row]) : entries[row].label ?? "") };
	const place = { key: "place", title: "place", unit: "text", value: (row) => entries[row].tail ?? "" };
	const others = section.columns.filter((c) => c.key).map(({ key, title, unit, json_only }) => ({
		key, unit, title: title ?? HEADINGS[key] ?? key, value: (row) => entries[row].of[key], csvOnly: json_only && !HEADINGS[key],
		text: unit === "signed" ? (row) => signed(entries[row].of[key], key) : undefined }));

	return [label, place, ...others].filter((c) => c.csvOnly || entries.some((_, row) => ![null, undefined, ""].includes(c.value(row))));
}

function listTable(model, list, store) {
	const section = model.diff.byKey[list], columns = columnsOf(section, list, store), shown = columns.filter((c) => !c.csvOnly);

	return new Table(columns, { name: `diff-${list}`, noun: list.slice(0, -1), caption: clean(section.title ?? TITLES[list]),
		sort: [shown.findIndex((c) => c.key === store.figure), -1], bySize: true });
}

function stackDetail(store) {
	const box = make("section", { class: "stack", tabindex: 0, role: "region", "aria-label": "the stack selected", hidden: true });

	store.subscribe(() => {
		const { chosen, lists } = store, entry = chosen?.list === "stacks" ? lists.stacks[chosen.row] : null;

		box.hidden = !entry;
		replace(box, entry && [make("h2", {}, "Stack"), make("ol", {}, entry.frames.map((f) =>
			make("li", {}, clean(f.label ?? ""), " ", make("span", { class: "place" }, clean(f.tail ?? "")))))]);
	});
	return box;
}

function tables(model, store) {
	const ids = LISTS.filter((id) => entriesOf(model.diff.byKey[id]).length), made = new Map(), place = make("div", { class: "place-of-table" });

	if (!ids.length)
		return make("p", { class: "note" }, "Nothing changed.");
	let chosen = ids.includes(store.extra.table) ? store.extra.table : ids[0];
	const buttons = ids.map((id) => make("button", { type: "button", onclick: () => show(id) }, TITLES[id]));
	const update = () => made.get(chosen)?.setRows(store.passed().rows[chosen]);

	function show(id) {
		chosen = id;
		if (!made.has(id))
			made.set(id, listTable(model, id, store));
		buttons.forEach((b, i) => b.setAttribute("aria-pressed", ids[i] === id));
		replace(place, made.get(id).element);
		update();
		store.remember("table", id === ids[0] ? null : id);
	}
	show(chosen);
	store.subscribe(update);
	return make("div", { class: "tables" }, make("div", { class: "kinds", role: "group", "aria-label": "what the table lists" }, buttons),
		stackDetail(store), place);
}

function flameView(model, store) {
	const element = make("div", { class: "flame" });

	requestAnimationFrame(() => {
		const graph = flame(element, model.profile, { program: model.about.comm });
		let own = false;

		graph.on("select", (what) => {
			own = true;	// what is zoomed is not dimmed around
			store.select(what && { name: graph.model.name(graph.zoomed), ends: what.ends() });
			own = false;
		});
		store.subscribe(({ nodes }) => graph.setSelection({ nodes: own ? null : nodes, frame: null }));
		element.graph = graph;
	});
	return element;
}

/** What is selected, in words, with a button that takes it out. */
export function diffBar(store) {
	const bar = make("div", { class: "selection", role: "group", "aria-label": "selection", hidden: true });
	const said = make("p", { class: "hidden", role: "status" });

	store.subscribe(({ words, sum }) => {
		bar.hidden = !words;
		said.textContent = words ? `selected: ${words}, ${sum}` : "";
		replace(bar, words && [make("button", { type: "button", class: "chip", "aria-label": `take out: ${words}`, onclick: () => store.select(null) },
			words, make("span", { "aria-hidden": "true" }, " ×")), make("span", { class: "sum" }, sum)]);
	});
	return [bar, said];
}

export function diffViews(model, store) {
	return [
		{ id: "overview", title: "Overview", make: () => overview(model) },
		{ id: "flame", title: "Flame graph of what changed", make: () => flameView(model, store) },
		{ id: "tables", title: "Tables", make: () => tables(model, store) },
	];
}
