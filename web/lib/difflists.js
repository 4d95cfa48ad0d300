// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The lists of a comparison as entries, and which of them belong together: a line, function or
 * module is one that answers for stacks. One selection for all views, kept in the page's address.
 */
import { bytes, clean, count, many } from "./format.js";

export const LISTS = ["lines", "functions", "modules", "stacks"];
const TEXT_ONLY_ROW = 1;
const NAMES_IN_STACK = 6;

const frameKey = (f) => [f.function ?? "", f.file ?? "", f.module ?? "", f.line ?? 0].join("\0");
// what is equal of two places that are the same entry of a list
const SAME = {
	lines: (f) => `${frameKey(f)}\0${f.module_offset ?? ""}`,
	functions: (f) => [f.function ?? "", f.module ?? "", f.function ? "" : f.module_offset ?? ""].join("\0"),
	modules: (f) => f.module ?? "",
};

/** Rows of a list: { of: cells by JSON's keys, label, tail, frames: innermost first, of stacks only }. */
export function entriesOf(section) {
	const out = [];

	for (const row of section?.rows ?? []) {
		if (row[2] === TEXT_ONLY_ROW)
			continue;
		const entry = { of: {}, label: null, tail: null, frames: [] };

		section.columns.forEach((column, i) => {
			if (column.key)
				entry.of[column.key] = row[i + 3];
			else if (column.label)
				entry.label = row[i + 3];
			else if (column.tail)
				entry.tail = row[i + 3];
		});
		if (!row[0])
			out.push(entry);
		else if (entry.label !== null || entry.of.function || entry.of.module)
			out[out.length - 1].frames.push(entry);
	}
	return out;
}

/** A signed figure of a list's column. */
export function signed(value, key) {
	if (value === null || value === undefined)
		return "";
	return (value > 0 ? "+" : value < 0 ? "-" : "") + (key.endsWith("_bytes") ? bytes : count)(Math.abs(value));
}

export function stackText(entry) {
	const names = entry.frames.map((f) => f.label ?? "");
	const at = Math.max(0, names.indexOf(entry.label));

	return names.slice(at, at + NAMES_IN_STACK).join(" < ") + (names.length > at + NAMES_IN_STACK ? " ..." : "") || (entry.label ?? "[stack unknown]");
}

/** The profile's node of each stack; -1 = it has none. */
function nodesOf(profile, stacks) {
	const { nodes, frames, strings } = profile, children = new Map();
	const keyOf = (f) => frameKey({ function: strings[frames.function[f]], file: strings[frames.file[f]], module: strings[frames.module[f]],
		line: frames.line[f] });

	for (let i = 1; i < nodes.parent.length; i++)
		children.set(`${nodes.parent[i]} ${keyOf(nodes.frame[i])}`, i);
	return stacks.map((stack) => stack.frames.reduceRight((node, f) =>
		(node < 0 ? -1 : children.get(`${node} ${frameKey(f.of)}`) ?? -1), 0));
}

export class DiffStore {
	constructor(model) {
		this.lists = Object.fromEntries(LISTS.map((id) => [id, entriesOf(model.diff.byKey[id])]));
		this.nodes = nodesOf(model.profile, this.lists.stacks);
		// what --sort names
		this.figure = model.diff.byKey.stacks?.columns.find((c) => c.key?.startsWith("change_"))?.key ?? "change_bytes";
		this.listeners = new Set();
		this.extra = {};
		this.chosen = null;
		this.readHash();
		addEventListener("hashchange", () => {
			if (location.hash !== this.written) {
				this.readHash();
				this.tell();
			}
		});
	}

	/** The address may come from anybody: what makes no sense is left out. */
	readHash() {
		const fields = Object.fromEntries(new URLSearchParams(location.hash.slice(1))), m = /^([a-z]+)-(\d{1,9})$/.exec(fields.select ?? "");

		delete fields.select;
		this.extra = fields;
		this.chosen = m && LISTS.includes(m[1]) && this.lists[m[1]][Number(m[2])] ? { list: m[1], row: Number(m[2]) } : null;
	}

	writeHash() {
		const fields = new URLSearchParams(this.extra);

		if (this.chosen?.list)
			fields.set("select", `${this.chosen.list}-${this.chosen.row}`);
		this.written = `#${fields}`;
		if (location.hash !== this.written)
			history.replaceState(null, "", this.written);
	}

	remember(name, value) {
		if (value === null || value === "")
			delete this.extra[name];
		else
			this.extra[name] = value;
		this.writeHash();
	}

	subscribe(listener) {
		this.listeners.add(listener);
		listener(this.passed());
	}

	tell() {
		this.listeners.forEach((listener) => listener(this.passed()));
	}

	/** { list, row } of a list's entry, { name, ends } of stacks that end in nodes of the profile; null = all. */
	select(chosen) {
		this.chosen = chosen;
		this.writeHash();
		this.tell();
	}

	stackPasses() {
		const { chosen, lists } = this;

		if (!chosen)
			return () => true;
		if (chosen.ends)
			return (i) => chosen.ends.has(this.nodes[i]);
		if (chosen.list === "stacks")
			return (i) => i === chosen.row;
		const same = SAME[chosen.list], wanted = same(lists[chosen.list][chosen.row].of);

		return (i) => same(lists.stacks[i].of) === wanted;
	}

	/** rows of each list that pass; nodes: where stacks end that do (null = all); words and sum: what is selected. */
	passed() {
		const { lists, chosen } = this, passes = this.stackPasses(), all = (list) => list.map((_, i) => i);
		const stacks = all(lists.stacks).filter(passes), rows = { stacks };

		for (const id of LISTS.slice(0, 3)) {
			const answers = new Set(stacks.map((i) => SAME[id](lists.stacks[i].of)));

			rows[id] = chosen ? all(lists[id]).filter((i) => answers.has(SAME[id](lists[id][i].of))) : all(lists[id]);
		}
		const change = stacks.reduce((sum, i) => sum + (lists.stacks[i].of[this.figure] ?? 0), 0);

		return { rows, nodes: chosen && new Set(stacks.map((i) => this.nodes[i])), words: chosen && this.words(),
			sum: `${signed(change, this.figure) || "no change"} in ${many(stacks.length, "stack")} that changed` };
	}

	words() {
		const { chosen, lists } = this;

		if (chosen.ends)
			return clean(`stacks through ${chosen.name}`);
		const entry = lists[chosen.list][chosen.row];

		return clean(`${chosen.list.slice(0, -1)} ${chosen.list === "stacks" ? stackText(entry) : [entry.label, entry.tail].filter(Boolean).join(" ")}`);
	}
}
