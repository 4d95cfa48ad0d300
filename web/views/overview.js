// SPDX-License-Identifier: GPL-2.0-or-later
// The answer in one screen: what was not covered, the answers as sentences, the lines that hold most, the report's head.
import { make, put } from "../lib/dom.js";
import { factsElement, isFacts } from "../lib/document.js";
import { bytes, clean, percent } from "../lib/format.js";
import { frameName, framePlace, heldIt, rowsOf } from "../lib/model.js";

const TOP = 8;
// what comes before these; what of the heads of `pmm leaks` and `pmm check` belongs to the answer
const FIRST = ["holds it", "held it", "grows"];
const LOST = ["definitely lost", "indirectly lost", "possibly lost"], DAMAGED = ["found", "failed"];

function warnings(report) {
	const rows = rowsOf(report.byKey.warnings);

	return rows.length > 0 && make("section", { class: "warnings", "aria-labelledby": "not-covered" },
		make("h2", { id: "not-covered" }, "Not covered"), make("ul", {}, rows.map((row) => make("li", {}, clean(row.text)))));
}

/** Rows of facts with these names: [name, sentence]. */
function factsNamed(doc, names) {
	const rows = doc.sections.filter(isFacts).flatMap((s) => s.rows);

	return names.map((name) => rows.find((row) => row[3] === name)).filter(Boolean).map((row) => [row[3], row[4]]);
}

function sentence(list, name, text) {
	put(list, make("dt", {}, clean(name)), make("dd", {}, clean(text)));
}

function answers(model) {
	const list = make("dl", { class: "facts answers" });

	const rows = (model.overview.sections[0]?.rows ?? []).map((row) => [row[3], row[4]]);
	const first = rows.filter(([name]) => FIRST.includes(name));
	const lost = model.leaks ? factsNamed(model.leaks, LOST) : [["lost", "leaks were not searched for ('pmm run --leaks', 'pmm leaks PID')"]];
	const damaged = model.check ? factsNamed(model.check, DAMAGED) : [["damaged", "heap errors were not looked for ('pmm check -- COMMAND')"]];

	for (const [name, text] of [...first, ...lost, ...damaged, ...rows.filter((row) => !first.includes(row))])
		sentence(list, name === "found" ? "damaged" : name, text);
	return list;
}

/** The lines that hold most now, or held most at the peak of what has given nearly all back. */
function holders(model, store) {
	const { sites } = model, peak = heldIt(model);
	const sums = new Map(), figure = peak ? sites.peak : sites.live, number = peak ? sites.peakBlocks : sites.blocks;
	let total = 0;

	for (let i = 0; i < sites.nr; i++) {
		const line = sums.get(sites.answer[i]) ?? { frame: sites.answer[i], bytes: 0, blocks: 0 };

		line.bytes += figure[i];
		line.blocks += number[i];
		total += figure[i];
		sums.set(sites.answer[i], line);
	}
	const lines = [...sums.values()].filter((l) => l.bytes).sort((a, b) => b.bytes - a.bytes).slice(0, TOP);

	return lines.length > 0 && make("section", { class: "holders" }, make("h2", {}, peak ? "Most at the peak" : "Most of what is live"),
		make("table", { class: "plain" }, make("thead", { class: "hidden" }, make("tr", {}, ["share", "bytes", "share in percent", "line", "place"].map((h) =>
			make("th", { scope: "col" }, h)))),
		make("tbody", {}, lines.map((line) => {
			const bar = make("div", { class: "bar" });

			bar.style.width = `${100 * line.bytes / lines[0].bytes}%`;
			return make("tr", {}, make("td", { class: "bar-cell" }, bar), make("td", { class: "number" }, bytes(line.bytes)),
				make("td", { class: "number" }, percent(line.bytes, total)),
				make("td", {}, make("button", { type: "button", class: "link", onclick: () => store.select({ answer: line.frame }) },
					clean(frameName(model, line.frame))), " ", make("span", { class: "place" }, clean(framePlace(model, line.frame)))));
		}))));
}

export function overviewView(model, store) {
	const details = model.report.sections.filter((s) => isFacts(s) && s.rows.length);

	return make("div", { class: "overview" }, warnings(model.report), answers(model),
		make("div", { class: "columns" }, holders(model, store),
			make("section", { class: "details" }, make("h2", {}, "The run"), details.map(factsElement))));
}
