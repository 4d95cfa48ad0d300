// SPDX-License-Identifier: GPL-2.0-or-later
// The flame graph's place in the page: its profile, and the selection in both directions.
import { flame } from "../flame/index.js";
import { make } from "../lib/dom.js";

export function flameView(model, store) {
	const element = make("div", { class: "flame" });

	requestAnimationFrame(() => {
		const graph = flame(element, model.profile, {});

		graph.on?.("select", (what) => store.select({
			node: what?.node || null,
			function: what?.frame ? model.profile.frames.function[what.frame] || null : null,
		}));
		if (store.extra.flame)
			try {
				graph.restore?.(JSON.parse(store.extra.flame));
			} catch {
				store.remember("flame", null);	// an address that somebody has changed
			}
		graph.on?.("state", (state) => store.remember("flame", JSON.stringify(state)));
		store.subscribe((passed) => graph.setSelection?.({ nodes: passed.nodes, frame: null }));
	});
	return element;
}
