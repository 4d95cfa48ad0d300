// SPDX-License-Identifier: GPL-2.0-or-later
// The answer in one screen: what was not covered, what the report's head says, who holds the memory.
import { make } from "../lib/dom.js";
import { bytes, clean, many, percent } from "../lib/format.js";
import { factsElement } from "../lib/document.js";
import { frameName, framePlace, record, rowsOf } from "../lib/model.js";

const TOP = 8;

function warnings(report) {
	const rows = rowsOf(report.byKey.warnings);

	return rows.length > 0 && make("section", { class: "warnings", "aria-label": "what was not covered" },
		make("h2", {}, "Not covered"), make("ul", {}, rows.map((row) => make("li", {}, clean(row.text)))));
}

function facts(report) {
	return report.sections.filter((s) => !s.key && s.columns.length === 2 && s.rows.length)
		.map((s) => make("section", {}, factsElement(s)));
}

export function overviewView(model) {
	return make("div", { class: "overview" }, warnings(model.report), facts(model.report));
}
