// SPDX-License-Identifier: GPL-2.0-or-later
// Folding: a profile's nodes as the nodes of a smaller tree, by classes of frames.
//
// Stacks whose frames have the same classes become one. A frame is left out where
//   - it and the frame above are of one library that is folded;
//   - recursion is folded and its function is on the stack already: each function keeps the sum of
//     all stacks that it is on.
// Sums are kept: each stack's value is in exactly one node of the folded tree.

import { Pairs } from "./intern.js";

const CHUNK = 0x8000;

// Result: { parent, cls, map, shown, size }
//   parent, cls     of the folded nodes; node 0 is the root, parents come first
//   map[node]       where the stack that ends at the profile's node ends in the folded tree
//   shown[node]     which folded node stands for the node's own frame (=== map unless recursion
//                   is folded)
export function* fold(nodes, classes, view) {
	const n = nodes.parent.length;
	const merged = view.foldLines || view.foldTemplates || view.foldLibraries;
	if (!merged && !view.foldRecursion) {
		return yield* unfolded(nodes, classes);
	}
	const map = new Uint32Array(n);
	const shown = view.foldRecursion ? new Uint32Array(n) : map;
	const pairs = new Pairs(n >> 1);
	pairs.add(0xffffffff, 0xffffffff);	// the root
	for (let begin = 1; begin < n; begin += CHUNK) {
		const end = Math.min(n, begin + CHUNK);
		for (let i = begin; i < end; i++) {
			const above = map[nodes.parent[i]];
			const c = classes.of[nodes.frame[i]];
			let to = 0;
			if (above && classes.run[c] && pairs.second[above] === c) {
				to = above;
			} else if (view.foldRecursion) {
				to = onStack(pairs, classes, above, c);
			}
			map[i] = to ? above : pairs.add(above, c);
			shown[i] = to || map[i];
		}
		yield;
	}
	return {
		parent: pairs.first.slice(0, pairs.size).fill(0, 0, 1),
		cls: pairs.second.slice(0, pairs.size).fill(0, 0, 1),
		map, shown, size: pairs.size,
	};
}

// The innermost node at or above `node` with the function of class c; 0: none.
function onStack(pairs, classes, node, c) {
	const fn = classes.fn[c];
	if (!classes.name[c] && !classes.run[c]) {
		return 0;	// functions without a name cannot be told apart
	}
	for (let at = node; at; at = pairs.first[at]) {
		if (classes.fn[pairs.second[at]] === fn) {
			return at;
		}
	}
	return 0;
}

function* unfolded(nodes, classes) {
	const n = nodes.parent.length;
	const cls = new Uint32Array(n);
	const map = new Uint32Array(n);
	for (let begin = 0; begin < n; begin += CHUNK) {
		const end = Math.min(n, begin + CHUNK);
		for (let i = begin; i < end; i++) {
			cls[i] = classes.of[nodes.frame[i]];
			map[i] = i;
		}
		yield;
	}
	return { parent: nodes.parent, cls, map, shown: map, size: n };
}

// Values of the profile's nodes as those of the folded tree's.
export function foldValues(folded, self) {
	if (folded.size === self.length) {
		return self;
	}
	const out = new Float64Array(folded.size);
	for (let i = 0; i < self.length; i++) {
		out[folded.map[i]] += self[i];
	}
	return out;
}
