// SPDX-License-Identifier: GPL-2.0-or-later
// The flame graph's place in the page: its profile, and the selection in both directions.
import { flame } from "../flame/index.js";
import { make } from "../lib/dom.js";
import { heldIt, metricOf, record, rowsOf } from "../lib/model.js";

const LEVELS = { unlikely: 1, growing: 2, likely: 3, certain: 4 };	// of VERDICTS in flame/colour.js
const TABLES = ["certain", "likely", "growing", "unlikely", "others"];

/** The worst verdict of the blocks of each stack, by node; null where no leaks were searched for. */
export function verdicts(model) {
	if (!model.leaks)
		return null;
	const { profile, sites } = model, out = new Uint8Array(profile.nodes.parent.length);

	for (const table of TABLES) {
		for (const { site, verdict } of rowsOf(model.leaks.byKey[table])) {
			const node = sites.node[sites.byNumber.get(site)];

			if (node !== undefined)
				out[node] = Math.max(out[node], LEVELS[verdict] ?? 0);
		}
	}
	return out;
}

/** The profile of what passes where criteria of blocks are in use: live figures are all that is known. */
export function profileOf(model, { byBlocks, live, blocks, site }) {
	const { profile, sites } = model, verdict = verdicts(model);

	if (!byBlocks)
		return { ...profile, verdict };
	const self = [live, blocks].map((values) => {
		const out = new Float64Array(profile.nodes.parent.length);

		for (let i = 0; i < sites.nr; i++)
			if (site[i])
				out[sites.node[i]] += values[i];
		return out;
	});

	return { ...profile, verdict, self, metrics: [profile.metrics[metricOf(model, "live", "bytes")],
		profile.metrics[metricOf(model, "live", "blocks")]] };
}

function parsed(text) {
	try {
		return JSON.parse(text);
	} catch {
		return null;	// an address that somebody has changed
	}
}

export function flameView(model, store) {
	const element = make("div", { class: "flame" });

	requestAnimationFrame(() => {
		let windowed = false, own = false, address = store.extra.flame ?? null;
		const passed = store.passed();
		const graph = flame(element, profileOf(model, passed), { program: record(model.report, "process").exe ?? model.about.comm });

		windowed = passed.byBlocks;
		if (address)
			graph.restore(parsed(address));
		else if (heldIt(model) && !windowed)
			graph.setMetric(metricOf(model, "peak", "bytes"));
		graph.on("select", (what) => {
			own = true;	// what is zoomed is not dimmed around, nor is the picture made anew
			store.select({ node: what?.node || null,
				function: what && !what.node ? model.profile.frames.function[what.frame] || null : null });
			own = false;
		});
		graph.on("state", (state) => {
			// live bytes are no state of their own, but where they are not what is shown at first
			address = Object.keys(state).length || heldIt(model) ? JSON.stringify(state) : null;
			store.remember("flame", address);
		});
		store.subscribe((now) => {
			if ((store.extra.flame ?? null) !== address) {	// another link was opened in this page
				address = store.extra.flame ?? null;
				graph.restore(parsed(address));
			}
			if (now.byBlocks || windowed)
				graph.setProfile(profileOf(model, now));
			windowed = now.byBlocks;
			graph.setSelection({ nodes: own || now.byBlocks ? null : now.nodes, frame: null });
		});
		element.graph = graph;
	});
	return element;
}
