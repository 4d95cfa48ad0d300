// SPDX-License-Identifier: GPL-2.0-or-later
// The tree that is drawn, from the root of all stacks to where they end. Children are sorted by
// weight and get their places when their parent is opened, which is when it is first seen.
//
// A display tree (this one, and inverted.js) has
//   root = 0
//   weight[node]     how wide it is: the sum of its stacks, never negative
//   mark[node]       a signed sum that colours it, where marks were given (else null)
//   worst[node]      the highest level among its stacks, where levels were given (else null)
//   cls[node], parent[node]
//   pos[node]        its left edge in units of weight
//   open(node)       makes the following hold for the children:
//   first[node], nr[node]   children are order[first .. first + nr - 1], heaviest first

import { sortByWeight } from "./sort.js";

// Sums over subtrees: parents come before their children.
export function totals(parent, self, out = new Float64Array(self.length)) {
	out.set(self);
	for (let i = parent.length - 1; i > 0; i--) {
		out[parent[i]] += out[i];
	}
	return out;
}

function worstBelow(parent, level) {
	const out = Uint8Array.from(level);
	for (let i = parent.length - 1; i > 0; i--) {
		if (out[parent[i]] < out[i]) {
			out[parent[i]] = out[i];
		}
	}
	return out;
}

export class Tree {
	// values: { weight, mark?, level? } by folded node, of the stacks that end there.
	constructor(folded, values) {
		const n = folded.size;
		this.root = 0;
		this.size = n;
		this.parent = folded.parent;
		this.cls = folded.cls;
		this.weight = totals(folded.parent, values.weight);
		this.mark = values.mark ? totals(folded.parent, values.mark) : null;
		this.worst = values.level ? worstBelow(folded.parent, values.level) : null;
		this.pos = new Float64Array(n);
		this.opened = new Uint8Array(n);
		this.first = new Uint32Array(n);
		this.nr = new Uint32Array(n);
		this.order = new Uint32Array(n);
		this.group();
	}

	// Children beside each other in `order`; those without weight are left out.
	group() {
		const { parent, weight, first, nr, order } = this;
		const n = this.size;
		for (let i = 1; i < n; i++) {
			nr[parent[i]] += weight[i] > 0 ? 1 : 0;
		}
		let at = 0;
		for (let i = 0; i < n; i++) {
			first[i] = at;
			at += nr[i];
			nr[i] = 0;
		}
		for (let i = 1; i < n; i++) {
			if (weight[i] > 0) {
				const p = parent[i];
				order[first[p] + nr[p]++] = i;
			}
		}
	}

	open(node) {
		if (this.opened[node]) {
			return;
		}
		this.opened[node] = 1;
		const { order, weight, pos } = this;
		const begin = this.first[node];
		const end = begin + this.nr[node];
		sortByWeight(order, begin, end, weight);
		let x = pos[node];
		for (let i = begin; i < end; i++) {
			pos[order[i]] = x;
			x += weight[order[i]];
		}
	}
}
