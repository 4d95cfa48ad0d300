// SPDX-License-Identifier: GPL-2.0-or-later
// The flame graph's trees against plain models: sums of each node, order and places of children,
// inversion, folding, differences.
import assert from "node:assert/strict";
import test from "node:test";

import { Model, VIEW } from "../../web/flame/model.js";
import { finish } from "../../web/flame/slices.js";
import { sortByWeight } from "../../web/flame/sort.js";
import { withoutTemplates } from "../../web/flame/names.js";
import { profileOf, random, randomProfile } from "./flame_random.mjs";

const PROGRAM = { program: "/bin/program" };
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

function build(profile, view = {}, metric = 0) {
	const model = new Model(profile, PROGRAM);
	finish(model.build({ ...VIEW, foldLines: false, ...view }, metric));
	return model;
}

// Every node of the tree, opened: see(node, depth, path of classes).
function walk(model, see) {
	const visit = (node, path) => {
		see(node, path);
		for (const child of model.children(node)) {
			visit(child, [...path, model.tree.cls[child]]);
		}
	};
	visit(model.tree.root, []);
}

// What each path of classes weighs.
function weights(model) {
	const out = {};
	walk(model, (node, path) => {
		assert.equal(out[path], undefined, "one node for each path");
		out[path] = model.tree.weight[node];
	});
	return out;
}

// The same from lists of keys: all prefixes of all stacks, those without weight left out.
function expected(stacks, weight = (s) => s.values[0]) {
	const out = { "": 0 };
	for (const stack of stacks) {
		if (weight(stack) > 0) {
			for (let i = 0; i <= stack.keys.length; i++) {
				const path = stack.keys.slice(0, i);
				out[path] = (out[path] || 0) + weight(stack);
			}
		}
	}
	return out;
}

// A stack's frames as folding should leave them, from the frames' texts.
function foldedStack(stack, frames, view) {
	const keys = [];
	const functions = [];
	for (const f of stack) {
		const [name, file, line, module] = frames[f];
		const library = view.foldLibraries && module !== "/bin/program";
		const shown = view.foldTemplates ? withoutTemplates(name) : name;
		const key = library ? `[${module}]` :
			`${shown} ${module}${view.foldLines ? "" : ` ${file}:${line}`}`;
		const function_ = library ? key : shown && `${shown} ${module}`;
		if ((library && keys[keys.length - 1] === key) ||
			(view.foldRecursion && function_ && functions.includes(function_))) {
			continue;
		}
		keys.push(key);
		functions.push(function_);
	}
	return keys;
}

// The classes of a model as the keys of foldedStack().
function keyOfClass(model, view, frames) {
	return (c) => foldedStack([model.classes.first[c]], frames, { ...view, foldRecursion: false })[0];
}

test("a tree's weights are the sums of its stacks", () => {
	for (const seed of SEEDS) {
		const { profile, stacks } = randomProfile(seed, 200);
		stacks.forEach((s) => {
			s.keys = s.frames;
		});
		assert.deepEqual(weights(build(profile)), expected(stacks));
		assert.deepEqual(weights(build(profile, {}, 1)), expected(stacks, (s) => s.values[1]));
	}
});

test("an inverted tree has the stacks the other way round", () => {
	for (const seed of SEEDS) {
		const { profile, stacks } = randomProfile(seed, 200);
		stacks.forEach((s) => {
			s.keys = [...s.frames].reverse();
		});
		assert.deepEqual(weights(build(profile, { inverted: true })), expected(stacks));
	}
});

test("children lie side by side, heaviest first, and fill no more than their parent", () => {
	for (const inverted of [false, true]) {
		const { profile } = randomProfile(9, 400);
		const model = build(profile, { inverted });
		const { tree } = model;
		let seen = 0;
		walk(model, (node) => {
			let x = tree.pos[node];
			let before = Infinity;
			for (const child of model.children(node)) {
				assert.equal(tree.pos[child], x);
				assert.equal(tree.parent[child], node);
				assert.ok(tree.weight[child] <= before && tree.weight[child] > 0);
				before = tree.weight[child];
				x += before;
				seen++;
			}
			assert.ok(x <= tree.pos[node] + tree.weight[node]);
		});
		assert.ok(seen > 500);
	}
});

test("folding gives the stacks of the plain model, both ways round", () => {
	for (let bits = 0; bits < 16; bits++) {
		const view = { foldRecursion: !!(bits & 1), foldLibraries: !!(bits & 2),
			foldTemplates: !!(bits & 4), foldLines: !!(bits & 8) };
		const { profile, stacks, frames } = randomProfile(20 + bits, 150);
		for (const inverted of [false, true]) {
			const model = build(profile, { ...view, inverted });
			const key = keyOfClass(model, view, frames);
			const got = {};
			walk(model, (node, path) => {
				got[path.map(key).join(";")] = model.tree.weight[node];
			});
			for (const s of stacks) {
				s.keys = foldedStack(s.frames, frames, view);
				s.keys = inverted ? s.keys.reverse() : s.keys;
			}
			const want = {};
			for (const s of stacks.filter((it) => it.values[0] > 0)) {
				for (let i = 0; i <= s.keys.length; i++) {
					const path = s.keys.slice(0, i).join(";");
					want[path] = (want[path] || 0) + s.values[0];
				}
			}
			assert.deepEqual(got, want, JSON.stringify({ ...view, inverted }));
		}
	}
});

test("folding recursion keeps what each function is part of", () => {
	const share = (model) => {
		const out = {};
		walk(model, (node, path) => {
			const fn = node && model.classes.fn[model.tree.cls[node]];
			const above = path.slice(0, -1).some((c) => model.classes.fn[c] === fn);
			if (node && model.name(node)[0] !== "[" && !above) {
				out[fn] = (out[fn] || 0) + model.tree.weight[node];
			}
		});
		return out;
	};
	const { profile } = randomProfile(40, 300);
	assert.deepEqual(share(build(profile, { foldRecursion: true })), share(build(profile)));
});

test("sums of other metrics, and what a node's stacks are, agree with the stacks", () => {
	for (const inverted of [false, true]) {
		const { profile, stacks } = randomProfile(50, 100);
		const model = build(profile, { inverted });
		assert.equal(model.pair(0), 1);
		walk(model, (node, path) => {
			model.children(node);	// opened, which sorts its stacks anew
			const through = stacks.filter((s) => s.values[0] > 0 && path.every((f, i) =>
				f === s.frames[inverted ? s.frames.length - 1 - i : i]));
			assert.deepEqual([...model.endsOf(node)].sort(),
				[...new Set(through.map((s) => s.node))].sort());
			if (inverted) {
				const ends = [...new Set(through.map((s) => s.node))];
				assert.equal(model.sum(node, 1), ends.reduce((sum, n) => sum + profile.self[1][n], 0));
			}
		});
		assert.equal(model.sum(0, 1), inverted ?
			profile.self[1].reduce((sum, v, i) => sum + (profile.self[0][i] ? v : 0), 0) :
			stacks.reduce((sum, s) => sum + s.values[1], 0));
	}
});

test("a difference is as wide as what changed, and its marks are signed sums", () => {
	for (const inverted of [false, true]) {
		const { profile, stacks } = randomProfile(60, 200);
		const next = random(61);
		profile.before = profile.self.map((s) => s.slice());
		for (const { node } of stacks) {
			profile.before[0][node] = next(3) ? profile.before[0][node] : next(1000);
		}
		for (const width of ["change", "size"]) {
			const model = build(profile, { inverted, width });
			const ends = [...new Map(stacks.map((s) => [s.node, s])).values()];
			const sums = (value) => expected(ends.map((s) => ({
				keys: inverted ? [...s.frames].reverse() : s.frames, values: [value(s.node)] })));
			const [after, before] = [profile.self[0], profile.before[0]];
			assert.deepEqual(weights(model), sums((n) => (width === "size" ?
				Math.max(after[n], before[n]) : Math.abs(after[n] - before[n]))));
			walk(model, (node) => {
				const signed = model.sum(node, 0) - model.sum(node, 0, "before");
				assert.equal(model.tree.mark[node], signed);
				assert.ok(Math.abs(signed) <= model.tree.weight[node]);
			});
		}
	}
});

test("negative values without a before are a difference", () => {
	const profile = profileOf([["f", "", 0, "p"], ["g", "", 0, "p"]],
		[{ frames: [1], values: [30] }, { frames: [1, 2], values: [-10] }]);
	const model = build(profile);
	assert.equal(model.signed, true);
	assert.equal(model.total, 40);
	assert.equal(model.tree.mark[0], 20);
});

test("verdicts: the worst of a node's stacks, and the weight of those that are bad", () => {
	for (const inverted of [false, true]) {
		const profile = profileOf([["f", "", 0, "p"], ["g", "", 0, "p"], ["h", "", 0, "p"]],
			[{ frames: [1, 2], values: [30] }, { frames: [1, 3], values: [10] }]);
		profile.verdict = Uint8Array.of(0, 0, 1, 4);
		const model = build(profile, { inverted, colour: "verdict" });
		assert.deepEqual([model.tree.worst[0], model.tree.mark[0]], [4, 10]);
		const [g, h] = inverted ? model.children(0) : model.children(model.children(0)[0]);
		assert.deepEqual([model.tree.worst[g], model.tree.mark[g]], [1, 0]);
		assert.deepEqual([model.tree.worst[h], model.tree.mark[h]], [4, 10]);
	}
});

test("a path of frames finds its node again, under another metric, inverted or folded", () => {
	const { profile } = randomProfile(70, 200);
	for (const view of [{}, { inverted: true }, { foldLibraries: true }]) {
		const [one, other] = [build(profile, view), build(profile, view)];
		walk(one, (node) => {
			const found = other.resolve(one.framesOf(node));
			assert.deepEqual(other.framesOf(found), one.framesOf(node));
		});
	}
	const model = build(profile);
	assert.equal(model.resolve([profile.frames.function.length - 1, 0, 0, 0]) >= 0, true);
});

test("a frame has a line where all that it stands for have one, and a node where it is just one", () => {
	const profile = profileOf([["f", "f.c", 3, "p"], ["f", "f.c", 4, "p"], ["g", "g.c", 5, "p"], ["g", "g.c", 0, "p"]],
		[{ frames: [1, 3], values: [3] }, { frames: [2, 3], values: [2] }, { frames: [3], values: [1] }]);
	const model = build(profile, { foldLines: true });
	const [f, g] = model.children(0);
	assert.deepEqual([f, g, model.children(f)[0]].map((n) => model.place(n)), ["f.c", "g.c", "g.c"]);
	assert.deepEqual([0, f, g, model.children(f)[0]].map((n) => model.profileNode(n)), [0, 0, 5, 0]);
	const apart = build(profile);
	assert.deepEqual([...apart.children(0)].map((n) => [apart.place(n), apart.profileNode(n)]), [["f.c:3", 1], ["f.c:4", 3], ["g.c:5", 5]]);
	assert.equal(build(profile, { inverted: true }).profileNode(1), 0);
	const one = build(profileOf([["f", "f.c", 3, "p"]], [{ frames: [1], values: [3] }]), { foldLines: true });
	assert.equal(one.place(one.children(0)[0]), "f.c:3");
});

test("a stack as text has its outermost frame first, and no control characters", () => {
	const profile = profileOf([["main", "m.c", 3, "/bin/p"], ["a\nb\x1b[1m", "", 0, "/lib/l.so"]],
		[{ frames: [1, 2], values: [5] }]);
	for (const inverted of [false, true]) {
		const model = build(profile, { inverted });
		const leaf = model.children(model.children(0)[0])[0];
		assert.equal(model.stackText(leaf), "main  (m.c:3)\na\ufffdb\ufffd[1m  (l.so)");
	}
});

test("sorting by weight: few, more and very many nodes", () => {
	const next = random(80);
	for (const n of [1, 2, 24, 25, 300, 4096, 4097, 20000]) {
		const weight = Float64Array.from({ length: n }, () => next(50) * 2 ** next(30));
		const list = Uint32Array.from({ length: n + 2 }, (_, i) => i - 1);
		sortByWeight(list, 1, n + 1, weight);
		const want = Array.from({ length: n }, (_, i) => i)
			.sort((a, b) => weight[b] - weight[a] || a - b);
		assert.deepEqual([...list.subarray(1, n + 1)], want, `${n} nodes`);
		assert.deepEqual([list[0], list[n + 1]], [4294967295, n]);
	}
});
