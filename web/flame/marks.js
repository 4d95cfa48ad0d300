// SPDX-License-Identifier: GPL-2.0-or-later
// What is marked in the picture: frames that the search matches, and stacks that are selected. All
// else is dimmed.

import { compile, hitNodes, marksOfClasses, matchedWeight, matchFrames, throughNodes } from "./search.js";

export class Marks {
	constructor(graph) {
		this.graph = graph;
		this.test = null;
		this.error = "";
		this.selection = { nodes: null, frame: null };
		this.hit = this.lit = null;
	}

	search(text) {
		this.error = "";
		try {
			this.test = compile(text);
		} catch (error) {
			this.test = null;
			// browsers word it differently: only some name what is wrong
			this.error = `not a regular expression: ${error.message.replace(/^Invalid regular expression: /, "")}`;
		}
		this.rebuild();
	}

	select({ nodes = null, frame = null }) {
		this.selection = { nodes, frame };
		this.rebuild();
	}

	// Marks of the tree as it is now, by node; of one that is made of classes by class.
	rebuild() {
		const { graph } = this;
		if (graph.busy) {
			return;
		}
		const { profile, folded, classes } = graph.model;
		const asShown = (marked) => (graph.model.inverted ? marksOfClasses(folded, marked, classes.size) : marked);
		const framed = (hit) => asShown(hitNodes(profile.nodes, folded, hit));
		this.frames = this.test && matchFrames(profile, this.test);
		this.hit = this.frames && framed(this.frames);
		const { nodes, frame } = this.selection;
		this.lit = nodes && asShown(throughNodes(folded, nodes));
		if (frame && frame < profile.frames.function.length) {
			const one = new Uint8Array(profile.frames.function.length);
			one[frame] = 1;
			this.lit = framed(one);
		}
	}

	// { isDim, isHit } for a scene; null where there is nothing of the kind.
	tests() {
		const { hit, lit, graph } = this;
		const { cls } = graph.model.tree;
		const at = graph.model.inverted ? (n) => cls[n] : (n) => n;
		return {
			isHit: hit && ((n) => n !== 0 && hit[at(n)] === 1),
			isDim: hit || lit ? (n) => n !== 0 && ((hit !== null && !hit[at(n)]) || (lit !== null && !lit[at(n)])) : null,
		};
	}

	// What the search found, for controls.js.
	share() {
		const { model } = this.graph;
		if (this.error || !this.frames || this.graph.busy) {
			return { error: this.error };
		}
		return {
			matched: matchedWeight(model.profile.nodes, this.frames, model.values.weight),
			frames: this.frames.reduce((n, one) => n + one, 0),
			total: model.total, unit: model.profile.metrics[model.metric].unit,
		};
	}
}
