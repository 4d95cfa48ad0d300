// SPDX-License-Identifier: GPL-2.0-or-later
// Tables of lines, functions, modules, stacks, threads, blocks and what the report lists besides.
import { make, put, replace } from "../lib/dom.js";
import { documentElements } from "../lib/document.js";
import { clean, count } from "../lib/format.js";
import { frameName, framePlace, knows, rowsOf, SITE_FIGURES, stackOf } from "../lib/model.js";
import { Table } from "../lib/table.js";

const NAMES_IN_STACK = 6;

/** Sums of the sites that pass, by what `keysOf` gives for a site: an array of numbers. */
function gather(model, passed, keysOf) {
	const { sites } = model, groups = new Map();

	for (let i = 0; i < sites.nr; i++) {
		if (!passed.site[i])
			continue;
		for (const key of keysOf(i)) {
			let group = groups.get(key);

			if (!group)
				groups.set(key, group = { key, stacks: 0, ...Object.fromEntries(SITE_FIGURES.map((f) => [f, 0])) });
			group.stacks++;
			for (const figure of SITE_FIGURES)
				group[figure] += figure === "live" ? passed.live[i] : figure === "blocks" ? passed.blocks[i] : sites[figure][i];
		}
	}
	return [...groups.values()].sort((a, b) => b.live - a.live || b.peak - a.peak);
}

/**
 * Columns of figures; `of(row)`: where they are. With criteria of blocks only what is live is known.
 */
function figureColumns(view, of) {
	const all = [["live", "live", "live_bytes", "bytes"], ["blocks", "blocks", "live_blocks", "count"],
		["peak", "at peak", "peak_bytes", "bytes"], ["allocated", "allocated", "allocated_bytes", "bytes"],
		["calls", "calls", "allocs", "count"], ["temporary", "temporary", "temporary", "count"]];

	if (view.model.about.searched)
		all.push(["leaked", "leaked", "leaked_bytes", "bytes"]);
	return all.map(([name, title, key, unit], i) => ({ key, title, unit,
		value: (row) => (i > 1 && (view.passed.byBlocks || view.model.about.live_only) || !knows(view.model, name) ? null : of(row)[name]) }));
}

const share = (view, of) => ({ key: "share_percent", title: "share", unit: "percent",
	value: (row) => (view.passed.sum.live ? 100 * of(row).live / view.passed.sum.live : null) });

/** A table of groups of sites: lines, functions, modules. */
function groupTable(view, noun, name, caption, keysOf, labels, select) {
	const of = (row) => view.groups[name][row];
	const figures = figureColumns(view, of);
	const table = new Table([...labels(of).map((c, i) => (i ? c : { ...c, act: (row) => view.store.select(select(of(row).key)) })),
		figures[0], share(view, of), ...figures.slice(1),
		{ key: "stacks", title: "stacks", unit: "count", value: (row) => of(row).stacks }],
	{ name, noun, caption, sort: [labels(of).length, -1] });

	return { table, update() {
		view.groups[name] = gather(view.model, view.passed, keysOf);
		table.setRows(view.groups[name].map((_, i) => i));
	} };
}

function linesTable(view) {
	const { model } = view;

	return groupTable(view, "line", "lines", "Lines that answer for the memory", (i) => [model.sites.answer[i]],
		(of) => [
			{ key: "function", title: "function", unit: "text", wide: true, value: (row) => frameName(model, of(row).key) },
			{ key: "place", title: "line", unit: "text", value: (row) => framePlace(model, of(row).key) },
		], (key) => ({ answer: key }));
}

/** What a part of the frames is, each once for a stack. */
function through(model, part) {
	const { nodes, frames } = model.profile;

	return (i) => {
		const out = new Set();

		for (let node = model.sites.node[i]; node; node = nodes.parent[node])
			out.add(frames[part][nodes.frame[node]]);
		return out;
	};
}

function functionsTable(view) {
	const { model } = view, { strings } = model.profile;

	return groupTable(view, "function", "functions", "Functions, with all that they call", through(model, "function"),
		(of) => [{ key: "function", title: "function, with what it calls", unit: "text", wide: true,
			value: (row) => strings[of(row).key] || "[no name]" }], (key) => ({ function: key }));
}

function modulesTable(view) {
	const { model } = view, { strings } = model.profile;

	return groupTable(view, "module", "modules", "Modules, with all that they call", through(model, "module"),
		(of) => [{ key: "module", title: "module, with what it calls", unit: "text", wide: true,
			value: (row) => strings[of(row).key] || "[unknown]" }], (key) => ({ module: key }));
}

/** From the frame that answers outward, for a row of a table. */
function stackText(model, site) {
	const frames = stackOf(model, model.sites.node[site]);
	const at = Math.max(0, frames.indexOf(model.sites.answer[site]));

	return frames.slice(at, at + NAMES_IN_STACK).map((f) => frameName(model, f)).join(" < ") +
		(frames.length > at + NAMES_IN_STACK ? " ..." : "") || "[stack unknown]";
}

function stacksTable(view) {
	const { model, store } = view, { sites } = model;
	const of = (i) => ({ ...Object.fromEntries(SITE_FIGURES.map((f) => [f, sites[f][i]])), live: view.passed.live[i], blocks: view.passed.blocks[i] });
	const figures = figureColumns(view, of), counters = sites.nrLifetimes > 0;
	const counter = (key, title, unit, name) => counters && { key, title, unit, value: (i) => (view.passed.byBlocks ? null : sites[name][i]) };
	const table = new Table([
		{ key: "stack", title: "stack", unit: "text", wide: true, value: (i) => stackText(model, i), act: (i) => store.select({ node: sites.node[i] || null }) },
		figures[0], share(view, of), ...figures.slice(1), counter("max_bytes", "largest", "bytes", "max"), counter("frees", "frees", "count", "frees"),
		counter("first_ns", "first", "duration", "first"), counter("last_ns", "last", "duration", "last"),
		{ key: "site", title: "number", unit: "number", value: (i) => sites.number[i] }].filter(Boolean),
	{ name: "stacks", noun: "stack", caption: "Stacks", sort: [1, -1], tick: model.about.tick_ns });

	return { table, update() {
		table.setRows(Array.from({ length: sites.nr }, (_, i) => i).filter((i) => view.passed.site[i]));
	} };
}

function blocksTable(view) {
	const { model, store } = view, { blocks, sites, about, threads } = model;
	const answer = (i) => (blocks.site[i] < sites.nr ? sites.answer[blocks.site[i]] : 0);
	const table = new Table([
		{ key: "size_bytes", title: "size", unit: "bytes", value: (i) => blocks.size[i] },
		{ key: "age_ns", title: "age", unit: "duration", value: (i) => Math.max(0, model.end - blocks.birth[i]) },
		{ key: "birth_ns", title: "allocated", unit: "duration", value: (i) => blocks.birth[i] },
		{ key: "thread", title: "thread", unit: "text", value: (i) => threads[blocks.thread[i]]?.name ?? "", act: (i) => store.select({ thread: blocks.thread[i] }) },
		{ key: "entry", title: "entry", unit: "text", value: (i) => about.kinds[blocks.kind[i]] ?? "" },
		{ key: "address", title: "address", unit: "address", value: (i) => `0x${blocks.address[i].toString(16)}` },
		{ key: "function", title: "function", unit: "text", wide: true, value: (i) => frameName(model, answer(i)),
			act: (i) => store.select({ answer: answer(i) }) },
		{ key: "place", title: "line", unit: "text", value: (i) => framePlace(model, answer(i)) },
	], { name: "blocks", noun: "block", caption: "Live blocks", sort: [0, -1], tick: about.tick_ns });

	if (blocks.nr < about.blocks)
		put(table.element, make("p", { class: "note" }, `The page has the ${count(blocks.nr)} largest of ${count(about.blocks)} live blocks; ` +
			"what is selected by thread, time, size or age is of these only."));
	return { table, update() {
		table.setRows(Array.from({ length: blocks.nr }, (_, i) => i)
			.filter((i) => blocks.site[i] < sites.nr && view.passed.site[blocks.site[i]] && store.hasBlock(i)));
	} };
}

function threadsTable(view) {
	const { model, store } = view, { threads, blocks, sites } = model;
	const rows = rowsOf(model.report.byKey.threads), byTid = new Map(rows.map((r) => [r.tid, r]));
	let live, number;
	const known = (i, name) => byTid.get(threads[i].tid)?.[name] ?? null;
	const table = new Table([
		{ key: "name", title: "thread", unit: "text", wide: true, value: (i) => threads[i].name, act: (i) => store.select({ thread: i }) },
		{ key: "tid", title: "tid", unit: "number", value: (i) => threads[i].tid },
		{ key: "live_bytes", title: "live", unit: "bytes", value: (i) => live[i] },
		{ key: "live_blocks", title: "blocks", unit: "count", value: (i) => number[i] },
		{ key: "allocated_bytes", title: "allocated", unit: "bytes", value: (i) => known(i, "allocated_bytes") },
		{ key: "allocs", title: "calls", unit: "count", value: (i) => known(i, "allocs") },
		{ key: "freed_bytes", title: "freed", unit: "bytes", value: (i) => known(i, "freed_bytes") },
		{ key: "frees", title: "frees", unit: "count", value: (i) => known(i, "frees") },
		{ key: "alive", title: "alive", unit: "bool", value: (i) => known(i, "alive") },
	], { name: "threads", noun: "thread", caption: "Threads", sort: [2, -1] });

	return { table, update() {
		live = new Float64Array(threads.length);
		number = new Float64Array(threads.length);
		for (let i = 0; i < blocks.nr; i++) {
			if (blocks.site[i] < sites.nr && view.passed.site[blocks.site[i]] && blocks.thread[i] < threads.length && store.hasBlock(i)) {
				live[blocks.thread[i]] += blocks.size[i];
				number[blocks.thread[i]]++;
			}
		}
		table.setRows(threads.map((_, i) => i));
	} };
}

/** Sections of the report as they are: about the whole process, whatever is selected. */
function sections(model, keys) {
	const element = make("div", { class: "docs" }), found = documentElements(model.report, keys);

	replace(element, found.length ? found : make("p", { class: "note" }, "The capture has nothing of this."));
	return { element, update() {} };
}

function detail(view) {
	const { model } = view, box = make("section", { class: "stack", "aria-label": "the stack selected", hidden: true });

	return { box, update() {
		const { node } = view.store.state, frames = node ? stackOf(model, node) : [];

		box.hidden = !node;
		if (!node)
			return;
		const text = frames.map((f) => `${clean(frameName(model, f))}  ${clean(framePlace(model, f))}`.trimEnd());

		replace(box, make("div", { class: "tools" }, make("h2", {}, "Stack"),
			make("button", { type: "button", onclick: () => navigator.clipboard?.writeText(`${text.join("\n")}\n`) }, "Copy as text")),
		make("ol", {}, frames.map((f) => make("li", {}, make("button", { type: "button", class: "link",
			onclick: () => view.store.select({ node: null, function: model.profile.frames.function[f] || null }) }, clean(frameName(model, f))),
		" ", make("span", { class: "place", title: clean(model.profile.strings[model.profile.frames.file[f]]) }, clean(framePlace(model, f)))))));
	} };
}

const KINDS = [
	["lines", "Lines", linesTable], ["functions", "Functions", functionsTable], ["modules", "Modules", modulesTable],
	["stacks", "Stacks", stacksTable], ["threads", "Threads", threadsTable], ["blocks", "Blocks", blocksTable],
	["sizes", "Size classes", (view) => sections(view.model, ["size_classes"])],
	["mappings", "Mappings", (view) => sections(view.model, ["map_sites", "mapping"])],
	["kernel", "Kernel", (view) => sections(view.model, KERNEL_KEYS)],
];
/** What profiles of other tools do not have. */
const OWN_KINDS = new Set(["threads", "blocks", "sizes", "mappings"]);
const KERNEL_KEYS = ["kernel", "kernel_events", "kernel_fault_sites", "kernel_fault_stacks", "kernel_calls", "kernel_waits", "kernel_others"];

export function tablesView(model, store) {
	const view = { model, store, groups: {}, passed: store.passed() }, made = new Map(), stack = detail(view);
	const place = make("div", { class: "place-of-table" });
	const kinds = KINDS.filter(([id]) => (id !== "kernel" || model.report.byKey.kernel) && !(model.about.foreign && OWN_KINDS.has(id)));
	let chosen = kinds.some(([id]) => id === store.extra.table) ? store.extra.table : "lines";
	const buttons = kinds.map(([id, title]) => make("button", { type: "button", "aria-pressed": id === chosen, onclick: () => show(id) }, title));

	function show(id) {
		chosen = id;
		if (!made.has(id))
			made.set(id, KINDS.find((k) => k[0] === id)[2](view));
		buttons.forEach((b, i) => b.setAttribute("aria-pressed", kinds[i][0] === id));
		replace(place, made.get(id).table?.element ?? made.get(id).element);
		made.get(id).update();
		store.remember("table", id === "lines" ? null : id);
	}
	store.subscribe((passed) => {
		view.passed = passed;
		stack.update();
		made.get(chosen)?.update();
	});
	show(chosen);
	return make("div", { class: "tables" }, make("div", { class: "kinds", role: "group", "aria-label": "what the table lists" }, buttons), stack.box, place);
}
