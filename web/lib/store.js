// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The one selection that all views share, and its place in the address of the page.
 *
 * Criteria, all of which hold: node (a stack and all below it), function, module and line (stacks
 * that go through one), answer (stacks that a line answers for) - these are of stacks; thread,
 * window, size and age - these are known of live blocks only. What passes is worked out once for
 * all views.
 */
import { clean, bytes, count, duration } from "./format.js";
import { frameName, framePlace, baseName } from "./model.js";

const OF_STACKS = ["node", "function", "module", "answer"];
const OF_BLOCKS = ["thread", "window", "size", "age"];
const RANGES = ["window", "size", "age"];

/** Nodes at or below one that `is` says yes to: 1. */
function below(nodes, is) {
	const out = new Uint8Array(nodes.parent.length);

	for (let i = 0; i < out.length; i++)
		out[i] = (i && out[nodes.parent[i]]) || is(i) ? 1 : 0;
	return out;
}

export class Store {
	constructor(model) {
		this.model = model;
		this.state = {};
		this.listeners = new Set();
		this.extra = {};	// state of views, by name: strings
		this.readHash();
		addEventListener("hashchange", () => {
			if (location.hash !== this.written) {
				this.readHash();
				this.tell();
			}
		});
	}

	subscribe(listener) {
		this.listeners.add(listener);
		listener(this.passed());
		return () => this.listeners.delete(listener);
	}

	/** Change criteria; null takes one out. */
	select(changes) {
		for (const [name, value] of Object.entries(changes)) {
			if (value === null || value === undefined)
				delete this.state[name];
			else
				this.state[name] = value;
		}
		this.cached = null;
		this.writeHash();
		this.tell();
	}

	clear() {
		this.select(Object.fromEntries([...OF_STACKS, ...OF_BLOCKS].map((name) => [name, null])));
	}

	get empty() {
		return !Object.keys(this.state).length;
	}

	tell() {
		this.cached = null;
		for (const listener of this.listeners)
			listener(this.passed());
	}

	/** State of a view, for the address: a string, null = none. */
	remember(name, value) {
		if (value === null || value === "")
			delete this.extra[name];
		else
			this.extra[name] = value;
		this.writeHash();
	}

	writeHash() {
		const fields = new URLSearchParams(this.extra);

		for (const [name, value] of Object.entries(this.state))
			fields.set(name, RANGES.includes(name) ? value.map((x) => (x === Infinity ? "" : x)).join("-") : value);
		this.written = `#${fields}`;
		if (location.hash !== this.written)
			history.replaceState(null, "", this.written);
	}

	/** The address may come from anybody: what makes no sense is left out. */
	readHash() {
		const fields = new URLSearchParams(location.hash.slice(1)), { profile, threads } = this.model;
		const limits = { node: profile.nodes.parent.length, function: profile.strings.length, module: profile.strings.length,
			answer: profile.frames.line.length, thread: threads.length };

		this.state = {};
		this.extra = {};
		for (const [name, text] of fields) {
			if (Object.hasOwn(limits, name)) {
				if (/^\d{1,9}$/.test(text) && Number(text) < limits[name])
					this.state[name] = Number(text);
			} else if (RANGES.includes(name)) {
				const m = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)?$/.exec(text);

				if (m)
					this.state[name] = [Number(m[1]), m[2] === undefined ? Infinity : Number(m[2])];
			} else {
				this.extra[name] = text;
			}
		}
		this.cached = null;
	}

	/**
	 * What passes: site[i] is 1, nodes: those of these sites (null = all), byBlocks: criteria of blocks
	 * are in use, so that only live figures are known; live and blocks by site, sums.
	 */
	passed() {
		return this.cached ??= this.work();
	}

	siteFilter() {
		const { state, model } = this, { nodes, frames } = model.profile, { sites } = model;
		const on = new Uint8Array(sites.nr).fill(1);
		const tests = [];

		if ("node" in state)
			tests.push(below(nodes, (i) => i === state.node));
		for (const name of ["function", "module"])
			if (name in state)
				tests.push(below(nodes, (i) => i > 0 && frames[name][nodes.frame[i]] === state[name]));
		for (let i = 0; i < sites.nr; i++)
			for (const test of tests)
				on[i] &= test[sites.node[i]];
		for (let i = 0; i < sites.nr && "answer" in state; i++)
			on[i] &= sites.answer[i] === state.answer ? 1 : 0;
		return on;
	}

	hasBlock(i) {
		const { state, model } = this, { blocks } = model;
		const within = (range, x) => x >= range[0] && x <= range[1];

		return (!("thread" in state) || blocks.thread[i] === state.thread) &&
			(!state.window || within(state.window, blocks.birth[i])) &&
			(!state.size || within(state.size, blocks.size[i])) &&
			(!state.age || within(state.age, Math.max(0, model.end - blocks.birth[i])));
	}

	work() {
		const { model } = this, { sites, blocks } = model;
		const site = this.siteFilter(), byBlocks = OF_BLOCKS.some((name) => name in this.state);
		let live = sites.live, number = sites.blocks;

		if (byBlocks) {
			live = new Float64Array(sites.nr);
			number = new Float64Array(sites.nr);
			for (let i = 0; i < blocks.nr; i++) {
				const s = blocks.site[i];

				if (s < sites.nr && site[s] && this.hasBlock(i)) {
					live[s] += blocks.size[i];
					number[s]++;
				}
			}
			for (let i = 0; i < sites.nr; i++)
				site[i] &= number[i] ? 1 : 0;
		}
		const sum = { live: 0, blocks: 0, sites: 0 };

		for (let i = 0; i < sites.nr; i++) {
			if (!site[i])
				continue;
			sum.live += live[i];
			sum.blocks += number[i];
			sum.sites++;
		}
		return { empty: this.empty, state: this.state, site, live, blocks: number, byBlocks, sum, nodes: this.nodesOf(site) };
	}

	/** The nodes where stacks end that pass. */
	nodesOf(site) {
		if (this.empty)
			return null;
		const out = new Set();

		for (let i = 0; i < site.length; i++)
			if (site[i])
				out.add(this.model.sites.node[i]);
		return out;
	}

	/** [[criterion, text for people]] */
	words() {
		const { state, model } = this, { strings } = model.profile, out = [];
		const range = (r, form) => (r[1] === Infinity ? `from ${form(r[0])}` : `${form(r[0])} to ${form(r[1])}`);

		if ("node" in state)
			out.push(["node", `stacks below ${frameName(model, model.profile.nodes.frame[state.node])}`]);
		if ("function" in state)
			out.push(["function", `through ${strings[state.function] || "frames without a name"}`]);
		if ("module" in state)
			out.push(["module", `through module ${baseName(strings[state.module]) || "unknown"}`]);
		if ("answer" in state)
			out.push(["answer", `line ${[frameName(model, state.answer), framePlace(model, state.answer)].join(" ")}`]);
		if ("thread" in state)
			out.push(["thread", `thread ${model.threads[state.thread].name || count(model.threads[state.thread].tid)}`]);
		if (state.window)
			out.push(["window", `allocated ${range(state.window, duration)}`]);
		if (state.size)
			out.push(["size", `size ${range(state.size, bytes)}`]);
		if (state.age)
			out.push(["age", `age ${range(state.age, duration)}`]);
		return out.map(([name, text]) => [name, clean(text)]);
	}
}
