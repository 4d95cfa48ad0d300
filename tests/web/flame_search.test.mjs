// SPDX-License-Identifier: GPL-2.0-or-later
// The flame graph's search and its rectangles against plain models.
import assert from "node:assert/strict";
import test from "node:test";

import { Layout, LEAST_WIDTH } from "../../web/flame/layout.js";
import { Model, VIEW } from "../../web/flame/model.js";
import { compile, hitNodes, marksOfClasses, matchedWeight, matchFrames, throughNodes } from "../../web/flame/search.js";
import { finish } from "../../web/flame/slices.js";
import { random, randomProfile } from "./flame_random.mjs";

function build(profile, view = {}) {
	const model = new Model(profile, { program: "/bin/program" });
	finish(model.build({ ...VIEW, foldLines: false, ...view }, 0));
	return model;
}

test("a query is a text in any case, or a regular expression", () => {
	assert.equal(compile("  "), null);
	assert.deepEqual(["malloc", "MALLOC2", "free"].map(compile("Malloc")), [true, true, false]);
	assert.deepEqual(["a.b", "axb"].map(compile("a.b")), [true, false]);
	assert.deepEqual(["a.b", "axb", "AXB"].map(compile("/^a.b$/")), [true, true, true]);
	assert.deepEqual(["/", "a"].map(compile("/")), [true, false]);
	assert.deepEqual(["//", "a"].map(compile("//")), [true, false]);
	assert.throws(() => compile("/(/"), SyntaxError);
});

test("the share of a search is that of all stacks with a matching frame", () => {
	for (const [seed, query] of [[1, "main"], [2, "src/1.c"], [3, "LIB0"], [4, "/^(a|b)$/"], [5, "ns::f"], [6, "nothing"]]) {
		const { profile, stacks, frames } = randomProfile(seed, 300);
		const matches = compile(query);
		const hit = matchFrames(profile, matches);
		const wanted = (f) => [0, 1, 3].some((i) => frames[f][i] && matches(frames[f][i]));
		assert.deepEqual([...hit], frames.map((f, i) => (f && wanted(i) ? 1 : 0)));
		const sum = stacks.filter((s) => s.frames.some(wanted)).reduce((n, s) => n + s.values[0], 0);
		assert.equal(matchedWeight(profile.nodes, hit, profile.self[0]), sum);
		assert.equal(sum > 0, query !== "nothing");
	}
});

test("what is hit is seen whatever is folded", () => {
	for (let bits = 0; bits < 8; bits++) {
		const view = { foldRecursion: !!(bits & 1), foldLibraries: !!(bits & 2), foldTemplates: !!(bits & 4) };
		const { profile } = randomProfile(10 + bits, 200);
		const model = build(profile, view);
		const { folded, classes } = model;
		for (let f = 1; f < profile.frames.function.length; f++) {
			const hit = new Uint8Array(profile.frames.function.length);
			hit[f] = 1;
			const nodes = hitNodes(profile.nodes, folded, hit);
			const used = profile.nodes.frame.includes(f);
			assert.equal(nodes.includes(1), used);
			const fn = (c) => classes.fn[c];
			nodes.forEach((on, node) => assert.ok(!on || fn(folded.cls[node]) === fn(classes.of[f])));
			const marked = marksOfClasses(folded, nodes, classes.size);
			assert.equal(marked.includes(1), used);
			nodes.forEach((on, node) => assert.ok(!on || marked[folded.cls[node]]));
		}
	}
});

test("selected stacks light the nodes they go through, and no others", () => {
	const { profile, stacks } = randomProfile(30, 100);
	const { folded } = build(profile);
	const chosen = stacks.filter((_, i) => i % 7 === 0);
	const through = throughNodes(folded, new Set(chosen.map((s) => s.node)));
	const expected = new Set();
	for (const s of chosen) {
		for (let n = s.node; n; n = profile.nodes.parent[n]) {
			expected.add(n);
		}
	}
	assert.deepEqual([...through].map((on, n) => (on ? n : -1)).filter((n) => n >= 0), [...expected].sort((a, b) => a - b));
});

// All rectangles that are at least a pixel wide and within the picture, by row.
function plainRectangles(model, left, right, width) {
	const scale = width / (right - left);
	const rows = [];
	const visit = (node, row) => {
		const { tree } = model;
		const [x, w] = [(tree.pos[node] - left) * scale, tree.weight[node] * scale];
		if (tree.pos[node] >= right || tree.pos[node] + tree.weight[node] <= left || (row && tree.weight[node] < 1 / scale)) {
			return;
		}
		(rows[row] ||= []).push([node, Math.fround(x), Math.fround(w)]);
		for (const child of model.children(node)) {
			visit(child, row + 1);
		}
	};
	visit(0, 0);
	return rows;
}

test("a layout has what the plain model has, and the rest put together", () => {
	const layout = new Layout();
	const next = random(40);
	for (let i = 0; i < 60; i++) {
		const model = build(randomProfile(41 + i % 5, 300).profile, { inverted: i % 2 === 1 });
		const total = model.total;
		let left = i < 10 ? 0 : next(total);
		let right = i < 10 ? total : left + 1 + next(total - left);
		if (i >= 40) {	// what a zoomed frame has: edges of frames are those of the picture
			const top = model.children(0);
			const one = top[next(top.length)];
			left = model.tree.pos[one];
			right = left + model.tree.weight[one];
		}
		const width = 50 + next(900);
		layout.run(model.tree, left, right, width);
		const got = [];
		for (let row = 0; row < layout.nrRows; row++) {
			const shown = [];
			let end = -Infinity;
			for (let k = layout.row[row]; k < layout.row[row + 1]; k++) {
				assert.ok(layout.x[k] >= end - 0.01, "in order, and none over another");
				end = layout.x[k] + layout.w[k];
				if (!layout.rest[k]) {
					shown.push([layout.node[k], layout.x[k], layout.w[k]]);
				}
				const x = Math.max(0, layout.x[k]) + Math.min(layout.w[k], 1) / 4;
				if (layout.w[k] >= LEAST_WIDTH && layout.x[k] > 0) {
					assert.equal(layout.at(row, x), k);
				}
				assert.equal(layout.rowOf(k), row);
			}
			if (shown.length) {
				got.push(shown);
			}
		}
		assert.deepEqual(got, plainRectangles(model, left, right, width));
	}
});

test("light children are one rectangle with their number", () => {
	const { profile } = randomProfile(50, 400);
	const model = build(profile);
	const layout = new Layout();
	layout.run(model.tree, 0, model.total, 30);
	const rest = [...layout.rest.subarray(0, layout.nr)];
	assert.ok(rest.some((n) => n > 1));
	rest.forEach((n, i) => {
		if (n) {
			const light = [...model.children(layout.node[i])].slice(-n);
			const sum = light.reduce((s, c) => s + model.tree.weight[c], 0);
			assert.ok(light.every((c) => model.tree.weight[c] * 30 / model.total < LEAST_WIDTH));
			assert.ok(Math.abs(layout.w[i] - sum * 30 / model.total) < 0.001);
		}
	});
	assert.equal(layout.at(0, 15), 0);
	assert.deepEqual([layout.at(-1, 5), layout.at(9999, 5), layout.at(0, 31), layout.at(0, -1)], [-1, -1, -1, -1]);
	assert.equal(layout.find(0), 0);
	assert.equal(layout.find(4000000000), -1);
});
