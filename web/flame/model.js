// SPDX-License-Identifier: GPL-2.0-or-later
// What is drawn: a profile under a view and a metric, as a display tree (tree.js, inverted.js), with
// the names and figures of its nodes. Nothing here knows of a screen.
//
// A profile is as the page has it: strings, frames, nodes, metrics, self. A difference has `before`
// beside `self` (which is "after" then), or negative values. `verdict` (a level per node, see
// colour.js) is there after a search for leaks.

import { className, classify, findProgram } from "./classes.js";
import { BAD_LEVEL, classColours, moduleSlots } from "./colour.js";
import { fold, foldValues } from "./fold.js";
import { Inverted } from "./inverted.js";
import { baseName } from "./names.js";
import { totals, Tree } from "./tree.js";

export const VIEW = {
	inverted: false, flipped: false, foldRecursion: false, foldLibraries: false,
	foldTemplates: false, foldLines: true, colour: "module", width: "change",
};
const FOLDS = ["foldRecursion", "foldLibraries", "foldTemplates", "foldLines"];

// Values of one metric as what the tree is made of: a weight, and a signed sum where it is signed.
export function metricValues(profile, metric, width) {
	const self = profile.self[metric];
	const before = profile.before && profile.before[metric];
	if (!before && !self.some((v) => v < 0)) {
		return { weight: self, mark: null };
	}
	const mark = before ? self.map((v, i) => v - before[i]) : self;
	const weight = mark.map((v, i) =>
		before && width === "size" ? Math.max(self[i], before[i]) : Math.abs(v));
	return { weight, mark };
}

export class Model {
	constructor(profile, options = {}) {
		this.profile = profile;
		this.program = findProgram(profile, options.program);
		this.slots = moduleSlots(profile, this.program);
		this.foldKey = null;
		this.tree = null;
	}

	// Make the tree of a metric under a view. A generator (slices.js).
	*build(view, metric) {
		const key = FOLDS.map((f) => (view[f] ? 1 : 0)).join("");
		if (key !== this.foldKey) {
			this.foldKey = null;
			const classes = yield* classify(this.profile, view, this.program);
			const folded = yield* fold(this.profile.nodes, classes, view);
			this.classes = classes;
			this.folded = folded;
			this.colours = classColours(this.profile, classes, this.slots);
			this.labels = new Array(classes.size);
			this.foldKey = key;
		}
		this.sums = new Map();
		this.metric = metric;
		this.values = metricValues(this.profile, metric, view.width);
		this.signed = this.values.mark !== null;
		const values = {
			weight: foldValues(this.folded, this.values.weight),
			mark: this.signed ? foldValues(this.folded, this.values.mark) : null,
		};
		yield;
		if (!this.signed && view.colour === "verdict" && this.profile.verdict) {
			this.addVerdicts(values);
		}
		this.inverted = view.inverted;
		this.tree = view.inverted ? new Inverted(this.folded, values, this.classes.size) :
			new Tree(this.folded, values);
	}

	addVerdicts(values) {
		const { verdict } = this.profile;
		const { map, size } = this.folded;
		const bad = new Float64Array(verdict.length);
		values.level = new Uint8Array(size);
		for (let i = 0; i < verdict.length; i++) {
			bad[i] = verdict[i] >= BAD_LEVEL ? this.values.weight[i] : 0;
			if (this.values.weight[i] > 0 && values.level[map[i]] < verdict[i]) {
				values.level[map[i]] = verdict[i];
			}
		}
		values.mark = foldValues(this.folded, bad);
	}

	get total() {
		return this.tree.weight[0];
	}

	// A name for people; of the root null.
	name(node) {
		return node ? className(this.profile, this.classes, this.tree.cls[node]) : null;
	}

	// A frame of the profile that the node stands for; 0 of the root.
	frame(node) {
		return node ? this.classes.first[this.tree.cls[node]] : 0;
	}

	// The profile's node that this is, where it is just one; else 0.
	profileNode(node) {
		if (this.inverted || !node) {
			return 0;
		}
		const { shown, map } = this.folded;
		const found = shown.indexOf(node);
		return shown.lastIndexOf(node) === found && map.lastIndexOf(node) === found ? found : 0;
	}

	moduleOf(node) {
		return baseName(this.profile.strings[this.profile.frames.module[this.frame(node)]]);
	}

	// "file:line"; empty where it is not known, or where frames of several lines are one.
	place(node) {
		const { strings, frames } = this.profile;
		const f = this.frame(node);
		if (!frames.file[f] || this.classes.run[this.tree.cls[node]]) {
			return "";
		}
		const line = this.classes.line[this.tree.cls[node]];
		return strings[frames.file[f]] + (line ? `:${line}` : "");
	}

	// The sum of a metric's values over all stacks of the node. which: "self" or "before".
	sum(node, metric, which = "self") {
		const key = `${which}${metric}`;
		if (!this.sums.has(key)) {
			const values = foldValues(this.folded, this.profile[which][metric]);
			this.sums.set(key, this.inverted ? values : totals(this.folded.parent, values));
		}
		const values = this.sums.get(key);
		if (!this.inverted) {
			return values[node];
		}
		let sum = 0;
		for (const item of this.tree.stacksOf(node)) {
			sum += values[item];
		}
		return sum;
	}

	// The metric that counts the same in the other unit, or -1.
	pair(metric) {
		const { metrics } = this.profile;
		const what = (m) => (m.name === "allocations" ? "allocated" : m.name);
		return metrics.findIndex((m, i) => i !== metric && what(m) === what(metrics[metric]));
	}

	children(node) {
		const { tree } = this;
		tree.open(node);
		return tree.order.subarray(tree.first[node], tree.first[node] + tree.nr[node]);
	}

	// Nodes from the root to this one.
	path(node) {
		const out = [node];
		while (out[0]) {
			out.unshift(this.tree.parent[out[0]]);
		}
		return out;
	}

	// A path as frames, which means the same under another metric, view or link; and back, as far
	// as such nodes are there.
	framesOf(node) {
		return this.path(node).slice(1).map((n) => this.frame(n));
	}

	resolve(frames) {
		let node = this.tree.root;
		for (const f of frames) {
			const c = this.classes.of[f];
			const child = this.children(node).find((n) => this.tree.cls[n] === c);
			if (child === undefined) {
				break;
			}
			node = child;
		}
		return node;
	}

	// The node's frames, outermost first, a line each, with their places.
	stackText(node) {
		const lines = this.path(node).slice(1).map((n) => {
			const where = this.place(n) || this.moduleOf(n);
			const name = this.name(n).replace(/\p{Cc}/gu, "\ufffd");
			return where ? `${name}  (${where})` : name;
		});
		return (this.inverted ? lines.reverse() : lines).join("\n");
	}

	// The profile's nodes whose stacks go through the node.
	endsOf(node) {
		const { map, parent, size } = this.folded;
		const inside = new Uint8Array(size);
		if (this.inverted) {
			for (const item of this.tree.stacksOf(node)) {
				inside[item] = 1;
			}
		} else {
			inside[node] = 1;
			for (let i = node + 1; i < size; i++) {
				inside[i] = inside[parent[i]];
			}
		}
		const out = new Set();
		const { weight } = this.values;
		for (let i = 0; i < map.length; i++) {
			if (inside[map[i]] && weight[i] > 0) {
				out.add(i);
			}
		}
		return out;
	}
}
