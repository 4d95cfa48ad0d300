// SPDX-License-Identifier: GPL-2.0-or-later
// Parts of the flame graph that serve the screen and need none: camera, labels, words, states.
import assert from "node:assert/strict";
import test from "node:test";

import { Camera } from "../../web/flame/camera.js";
import { describe, metricText, sentence, valueText } from "../../web/flame/describe.js";
import { Model, VIEW } from "../../web/flame/model.js";
import { finish } from "../../web/flame/slices.js";
import { cleanState } from "../../web/flame/state.js";
import { Labels } from "../../web/flame/text.js";
import { profileOf, random } from "./flame_random.mjs";

function build(profile, view = {}) {
	const model = new Model(profile, { program: "/bin/p" });
	finish(model.build({ ...VIEW, foldLines: false, ...view }, 0));
	return model;
}

test("the camera moves to where it is aimed at, and stays within the whole", () => {
	const camera = new Camera();
	camera.reset(1000);
	camera.aim(200, 300, 0);
	assert.equal(camera.step(90), true);
	assert.ok(camera.left > 0 && camera.left < 200 && camera.right > 300 && camera.right < 1000);
	assert.equal(camera.step(180), false);
	assert.deepEqual([camera.left, camera.right, camera.whole], [200, 300, false]);
	assert.equal(camera.step(200), false);
	camera.aim(100, 150, 300, false);
	assert.deepEqual([camera.left, camera.right], [100, 150]);
	camera.set(-500, 400);
	assert.deepEqual([camera.left, camera.right], [0, 900]);
	camera.set(400, 9000);
	assert.deepEqual([camera.left, camera.right, camera.whole], [0, 1000, true]);
	camera.set(500, 500);
	assert.ok(camera.right > camera.left && camera.right <= 1000);
});

test("closer and sideways", () => {
	const camera = new Camera();
	camera.reset(1000);
	camera.zoomAt(0.25, 2);
	assert.deepEqual([camera.left, camera.right], [125, 625]);
	camera.pan(0.1);
	assert.deepEqual([camera.left, camera.right], [175, 675]);
	camera.zoomAt(0.5, 0.1);
	assert.deepEqual([camera.left, camera.right], [0, 1000]);
});

test("labels: whole, without parameters, without scopes, cut, or nothing", () => {
	const labels = new Labels();
	const measure = (s) => [...s].length * 10;
	assert.equal(labels.setFont("10px x", measure), true);
	assert.equal(labels.setFont("10px x", measure), false);
	const label = labels.label("ns::resolve(int)");
	assert.deepEqual([160, 159, 110, 109, 70, 69, 40, 30, 29, 0].map((room) => labels.fit(label, room)),
		["ns::resolve(int)", "ns::resolve", "ns::resolve", "resolve", "resolve", "resol…", "res…", "re…", "", ""]);
	assert.equal(labels.fit(labels.label("a\nb"), 1000), "a\\u{a}b");
});

test("a label that is cut again and again is the same as one that is new", () => {
	const labels = new Labels();
	labels.setFont("x", (s) => [...s].reduce((sum, c) => sum + 3 + c.charCodeAt(0) % 7, 0));
	const next = random(5);
	const used = labels.label("a_rather_long_name_of_a_function");
	for (let i = 0; i < 2000; i++) {
		const room = next(260);
		const text = labels.fit(used, room);
		assert.equal(text, labels.fit(labels.label("a_rather_long_name_of_a_function"), room));
		assert.ok(labels.width(text) <= room + labels.ellipsis);
	}
});

const FRAMES = [["main", "m.c", 3, "/bin/p"], ["f<int>", "f.c", 7, "/bin/p"], ["malloc", "", 0, "/lib/libc.so.6"], ["x\x1b]0;", "", 0, ""]];
const METRICS = [{ name: "live", unit: "bytes" }, { name: "live", unit: "blocks" }];
const STACKS = [{ frames: [1, 2, 3], values: [3072, 1] }, { frames: [1, 3], values: [1024, 12] }, { frames: [4], values: [4096, 7] }];

test("a frame is described with its place, values and shares", () => {
	const model = build(profileOf(FRAMES, STACKS, METRICS));
	const main = [...model.children(0)].find((n) => model.name(n) === "main");
	const f = model.children(main)[0];
	assert.deepEqual(describe(model, 0), { title: "all stacks", where: "", lines: ["live: 8.00 KiB, 20 blocks"] });
	assert.deepEqual(describe(model, f), { title: "f<int>", where: "f.c:7 · p",
		lines: ["live: 3.00 KiB, 1 block", "37.5% of all, 75.0% of main"] });
	assert.equal(sentence(model, main), "main, m.c:3 · p, live: 4.00 KiB, 13 blocks, 50.0% of all, level 1, 2 callees");
	const hostile = [...model.children(0)].find((n) => n !== main);
	assert.deepEqual(describe(model, hostile).title, "x\\u{1b}]0;");
	assert.deepEqual(describe(model, 0, 2), { title: "2 frames too narrow to draw", where: "", lines: ["8.00 KiB together, 100% of all"] });
	const folded = build(profileOf(FRAMES, STACKS, METRICS), { foldLibraries: true, foldLines: true });
	const top = [...folded.children(0)].find((n) => folded.name(n) === "main");
	assert.deepEqual([...folded.children(top)].map((n) => describe(folded, n)).map((d) => [d.title, d.where]),
		[["f<int>", "f.c:7 · p"], ["[libc.so.6]", "libc.so.6"]]);
});

test("differences are described with both sides", () => {
	const profile = profileOf(FRAMES, STACKS, METRICS);
	profile.before = profile.self.map((s) => s.map((v) => v * 2));
	const model = build(profile);
	assert.deepEqual(describe(model, 0).lines, ["live: -8.00 KiB", "16.0 KiB before, 8.00 KiB after", "100% of all changes"]);
});

test("units and metrics in words", () => {
	assert.deepEqual([valueText(1, "blocks"), valueText(1234, "calls"), valueText(2048, "bytes")], ["1 block", "1,234 calls", "2.00 KiB"]);
	assert.deepEqual([metricText({ name: "allocations", unit: "calls" }), metricText(METRICS[1])], ["allocations", "live, blocks"]);
	const profile = profileOf(FRAMES, [], ["allocated bytes", "peak bytes", "allocations calls"].map((s) => {
		const [name, unit] = s.split(" ");
		return { name, unit };
	}));
	const model = build(profile);
	assert.deepEqual([model.pair(0), model.pair(1), model.pair(2)], [2, -1, 0]);
});

test("of a state that anybody may have written only what makes sense is left", () => {
	const profile = profileOf(FRAMES, STACKS, METRICS);
	const none = { metric: 0, view: {}, search: "", zoom: [] };
	for (const state of [null, undefined, 7, "x", [], {}, { metric: 2, zoom: [99], search: 5, colour: "red", inverted: 1 },
		{ metric: -1, zoom: { length: 3 }, colour: "constructor" }, { metric: 0.5, zoom: [1, "2"], width: null }]) {
		assert.deepEqual(cleanState(state, profile), none);
	}
	assert.deepEqual(cleanState({ metric: 1, zoom: [1, 2], search: "a", colour: "verdict", inverted: true, foldLines: false }, profile),
		{ metric: 1, zoom: [1, 2], search: "a", view: { colour: "verdict", inverted: true, foldLines: false } });
	assert.equal(cleanState({ search: "x".repeat(5000) }, profile).search.length, 1000);
});
