// SPDX-License-Identifier: GPL-2.0-or-later
// Documents of pmm (src/document/) as the text report shows them: any table, tree or list of facts.
import { make, put } from "./dom.js";
import { bytes, cell, clean, count } from "./format.js";

const STYLES = ["", "strong", "dim", "total"];
const JSON_ONLY_ROW = 2;
const MOST = 2000;	// rows of a table in one piece

function isNumber(unit) {
	return unit !== "text" && unit !== "address" && unit !== "bool";
}

function shownColumns(section) {
	const shown = section.columns.map((c, i) => ({ ...c, at: i + 3 })).filter((c) => !c.json_only);

	// a column of nothing but zeros and blanks says nothing
	return shown.filter((c) => !c.zero_blank || section.rows.some((r) => r[c.at]));
}

function cellText(section, column, row) {
	const value = row[column.at];

	if (column.zero_blank && !value)
		return value === null ? "" : "-";
	if (column.unit === "signed" && value !== null && column.key?.startsWith("change_"))
		return (value > 0 ? "+" : value < 0 ? "-" : "") + (column.key.endsWith("_bytes") ? bytes : count)(Math.abs(value));
	return cell(value, column.unit, section.tick_ns, column.moment);
}

function rowsShown(section) {
	return section.rows.filter((row) => row[2] !== JSON_ONLY_ROW);
}

/** Names and sentences: a list of definitions. */
export function isFacts(section) {
	return !section.key && section.columns.length === 2;
}

export function factsElement(section) {
	const list = make("dl", { class: "facts" });

	for (const row of rowsShown(section))
		put(list, make("dt", {}, clean(row[3] ?? "")), make("dd", {}, clean(row[4] ?? "")));
	return list;
}

function headings(columns) {
	return make("thead", {}, make("tr", {}, columns.map((c) =>
		(c.title ? make("th", { scope: "col", class: isNumber(c.unit) ? "number" : "text" }, clean(c.title)) : make("td")))));
}

export function tableElement(section) {
	const columns = shownColumns(section), rows = rowsShown(section), body = make("tbody");

	for (const row of rows.slice(0, MOST)) {
		put(body, make("tr", { class: STYLES[row[1]] || null }, columns.map((c) => {
			const td = make("td", { class: isNumber(c.unit) ? "number" : "text" }, cellText(section, c, row));

			if (c.label && row[0])
				td.style.paddingInlineStart = `${0.5 + 1.1 * Math.min(row[0], 40)}rem`;
			return td;
		})));
	}
	return make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": clean(section.title ?? "table") },
		make("table", { class: "plain" }, columns.some((c) => c.title) && headings(columns), body),
		rows.length > MOST && make("p", { class: "note" }, `${count(rows.length - MOST)} more rows`));
}

/** A section as text has it; null where text has nothing of it. */
export function sectionElement(section) {
	if (section.json_only || section.shape === "record" || section.shape === "series" || !rowsShown(section).length)
		return null;
	return make("section", { class: "doc" }, section.title && make("h2", {}, clean(section.title)),
		isFacts(section) ? factsElement(section) : tableElement(section),
		section.notes.map((note) => make("p", { class: "note" }, clean(note))));
}

export function documentElements(doc, keys) {
	return doc.sections.filter((s) => !keys || keys.includes(s.key)).map(sectionElement).filter(Boolean);
}
