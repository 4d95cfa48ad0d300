// SPDX-License-Identifier: GPL-2.0-or-later
// How large blocks are and how long freed ones lived, of what is selected.
import { make, replace } from "../lib/dom.js";
import { bytes, count, duration, percent } from "../lib/format.js";

/** rows: { name, number, note, act }: bars side by side in length, with their figures in words. */
function barTable(caption, headings, rows) {
	const most = Math.max(1, ...rows.map((r) => r.number));

	return make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": caption }, make("table", { class: "plain bars" }, make("caption", { class: "hidden" }, caption),
		make("thead", {}, make("tr", {}, headings.map((h, i) => make("th", { scope: "col", class: i ? "number" : "text" }, h)),
			make("td", {}))),
		make("tbody", {}, rows.map((row) => {
			const bar = make("div", { class: "bar" });

			bar.style.width = `${100 * row.number / most}%`;
			return make("tr", {}, make("th", { scope: "row" }, row.act ? make("button", { type: "button", class: "link", onclick: row.act }, row.name) : row.name),
				make("td", { class: "number" }, count(row.number)), make("td", { class: "number" }, row.note),
				make("td", { class: "bar-cell" }, bar));
		}))));
}

function sizes(model, store, passed) {
	const { blocks, sites } = model, number = [], sum = [];

	for (let i = 0; i < blocks.nr; i++) {
		const s = blocks.site[i];

		if (s >= sites.nr || !passed.site[s] || !store.hasBlock(i))
			continue;
		const k = blocks.size[i] ? Math.floor(Math.log2(blocks.size[i])) + 1 : 0;

		number[k] = (number[k] ?? 0) + 1;
		sum[k] = (sum[k] ?? 0) + blocks.size[i];
	}
	const rows = [];

	for (let k = 0; k < number.length; k++) {
		const from = k ? 2 ** (k - 1) : 0, to = k ? 2 ** k - 1 : 0;

		if (number[k])
			rows.push({ name: k ? `${bytes(from)} to below ${bytes(2 ** k)}` : "0 B", number: number[k], note: bytes(sum[k]),
				act: () => store.select({ size: [from, to] }) });
	}
	return rows;
}

function lifetimes(model, passed) {
	const { sites, about } = model, nr = sites.nrLifetimes, sums = new Float64Array(nr);

	for (let i = 0; i < sites.nr; i++)
		for (let k = 0; passed.site[i] && k < nr; k++)
			sums[k] += sites.lifetimes[i * nr + k];
	const all = sums.reduce((a, b) => a + b, 0);
	const from = (k) => (k ? 2 ** (k - 1) * about.tick_ns : 0);

	return [...sums.keys()].filter((k) => sums[k]).map((k) => ({
		name: k + 1 < nr ? `${duration(from(k))} to below ${duration(from(k + 1))}` : `${duration(from(k))} and longer`,
		number: sums[k], note: percent(sums[k], all) }));
}

export function histogramsView(model, store) {
	const element = make("div", { class: "histograms" });

	store.subscribe((passed) => {
		const live = sizes(model, store, passed), freed = passed.byBlocks ? [] : lifetimes(model, passed);

		replace(element, make("section", {}, make("h2", {}, "Sizes of live blocks"),
			live.length ? barTable("live blocks by size", ["size", "blocks", "bytes"], live) : make("p", { class: "note" }, model.about.foreign
				? "Another tool recorded this: it has no single blocks." : "No live block is selected."),
			model.blocks.nr < model.about.blocks && make("p", { class: "note" }, `Of the ${count(model.blocks.nr)} largest of ${count(model.about.blocks)} live blocks.`)),
		make("section", {}, make("h2", {}, "Lifetimes of freed blocks"), passed.byBlocks
			? make("p", { class: "note" }, "Of what was freed neither threads, times nor sizes are known: take those out of the selection to see lifetimes.")
			: freed.length ? barTable("freed blocks by lifetime", ["lived", "blocks", "share"], freed) : make("p", { class: "note" },
				model.about.foreign || !model.about.history ? "How long freed blocks lived is not recorded." : "Nothing was freed.")));
	});
	return element;
}
