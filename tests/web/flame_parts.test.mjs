// SPDX-License-Identifier: GPL-2.0-or-later
// Parts of the flame graph that know nothing of trees: names, pairs, colours, slices.
import assert from "node:assert/strict";
import test from "node:test";

import { programModule } from "../../web/flame/classes.js";
import * as colour from "../../web/flame/colour.js";
import { Pairs } from "../../web/flame/intern.js";
import { baseName, shortName, withoutParameters, withoutTemplates } from "../../web/flame/names.js";
import { finish, inSlices } from "../../web/flame/slices.js";
import { profileOf, random } from "./flame_random.mjs";

const NAMES = [
	// the name, without templates, without parameters, short
	["main", "main", "main", "main"],
	["", "", "", ""],
	["std::vector<int, std::allocator<int> >::push_back(int&&)",
		"std::vector<…>::push_back(int&&)", "std::vector<int, std::allocator<int> >::push_back", "push_back"],
	["std::map<K, std::vector<V>>::operator[](K const&)",
		"std::map<…>::operator[](K const&)", "std::map<K, std::vector<V>>::operator[]", "operator[]"],
	["f<int>::operator<", "f<…>::operator<", "f<int>::operator<", "operator<"],
	["operator<< <char>(std::ostream&)", "operator<< <char>(std::ostream&)", "operator<< <char>", "operator<< <char>"],
	["a::operator->(int)", "a::operator->(int)", "a::operator->", "operator->"],
	["a<b>::operator()(c<d>) const", "a<…>::operator()(c<…>) const", "a<b>::operator()", "operator()"],
	["(anonymous namespace)::f(int)", "(anonymous namespace)::f(int)", "(anonymous namespace)::f", "f"],
	["<alloc::vec::Vec<T> as core::ops::Drop>::drop", "<alloc::vec::Vec<…> as core::ops::Drop>::drop",
		"<alloc::vec::Vec<T> as core::ops::Drop>::drop", "drop"],
	["void fill<long>(long*)", "void fill<…>(long*)", "void fill<long>", "fill<…>"],
	["std::function<int (char)>::call", "std::function<…>::call", "std::function<int (char)>::call", "call"],
	["broken<int", "broken<int", "broken<int", "broken<int"],
	["a > b", "a > b", "a > b", "b"],
	["my_operator<int>", "my_operator<…>", "my_operator<int>", "my_operator<…>"],
];

test("names without templates and parameters, and short", () => {
	for (const [name, plain, bare, short] of NAMES) {
		assert.equal(withoutTemplates(name), plain);
		assert.equal(withoutParameters(name), bare);
		assert.equal(shortName(name), short);
	}
	assert.equal(baseName("/usr/lib/libc.so.6"), "libc.so.6");
	assert.equal(baseName("libc.so.6"), "libc.so.6");
});

test("any text is a name", () => {
	const next = random(3);
	const letters = "<>()[]{}:a o~-\n\"é";
	for (let i = 0; i < 5000; i++) {
		const name = Array.from({ length: next(30) }, () => letters[next(letters.length)]).join("");
		const plain = withoutTemplates(name);
		assert.ok(plain.length <= name.length + 2 * name.split("<").length);
		assert.equal(withoutTemplates(plain), plain, name);
		assert.ok(name.startsWith(withoutParameters(name)));
		assert.ok(typeof shortName(name) === "string");
	}
});

test("pairs have numbers in the order of first use", () => {
	const pairs = new Pairs();
	const known = new Map();
	const next = random(4);
	for (let i = 0; i < 20000; i++) {
		const [a, b] = [next(90), next(2) ? next(90) : 4294967295 - next(9)];
		const key = `${a} ${b}`;
		if (!known.has(key)) {
			known.set(key, known.size);
		}
		assert.equal(pairs.add(a, b), known.get(key));
	}
	assert.equal(pairs.size, known.size);
	for (const [key, i] of known) {
		assert.equal(`${pairs.first[i]} ${pairs.second[i]}`, key);
	}
});

test("colours are those of OKLCH, and black and white contrast 21 to 1", () => {
	assert.deepEqual(colour.oklch(1, 0, 0), [255, 255, 255]);
	assert.deepEqual(colour.oklch(0.6279554, 0.2576833, 29.23388), [255, 0, 0]);
	assert.deepEqual(colour.oklch(0.5, 0, 123), [99, 99, 99]);
	assert.equal(colour.hex([1, 171, 255]), "#01abff");
	assert.equal(colour.contrast([0, 0, 0], [255, 255, 255]).toFixed(3), "21.000");
	assert.equal(colour.contrast([255, 255, 255], [119, 119, 119]).toFixed(2), "4.48");
});

test("text is legible on every colour, dark and light", () => {
	const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
	for (const dark of [false, true]) {
		for (const make of [colour.modulePalette, colour.diffPalette, colour.verdictPalette]) {
			const palette = make(dark);
			for (const fill of [...palette.fill, palette.rest]) {
				const ratio = colour.contrast(rgb(fill), rgb(palette.text));
				assert.ok(ratio >= 4.5, `${make.name} ${dark} ${fill}: ${ratio}`);
			}
			for (const fill of palette.dim) {
				assert.ok(colour.contrast(rgb(fill), rgb(palette.dimText)) >= 3, `${make.name} ${dark} ${fill}`);
			}
		}
	}
});

test("steps of a difference and strengths of a verdict", () => {
	const { STEPS, diffIndex, verdictIndex } = colour;
	assert.equal(colour.diffPalette(false).fill.length, 2 * STEPS + 1);
	assert.deepEqual([diffIndex(0, 5), diffIndex(5, 5), diffIndex(-5, 5), diffIndex(0, 0)],
		[STEPS, 2 * STEPS, 0, STEPS]);
	assert.deepEqual([diffIndex(1, 1000), diffIndex(-1, 1000), diffIndex(1, 2)], [STEPS + 1, STEPS - 1, STEPS + STEPS / 2]);
	assert.equal(colour.verdictPalette(true).fill.length, colour.VERDICTS.length * 3);
	assert.deepEqual([verdictIndex(4, 10, 10), verdictIndex(4, 0, 10), verdictIndex(4, 4, 10)], [14, 12, 13]);
	assert.deepEqual([verdictIndex(0, 0, 10), verdictIndex(1, 0, 10)], [2, 5]);
});

test("the program has the first slot, other modules theirs by their frames", () => {
	const frames = [["a", "", 1, "/lib/y"], ["b", "", 1, "/lib/y"], ["main", "", 1, "/bin/p"], ["c", "", 1, "/lib/x"], ["d", "", 1, ""]];
	const profile = profileOf(frames, [{ frames: [3, 1, 2, 4, 5], values: [1] }]);
	const program = programModule(profile);
	const { slot, ranked } = colour.moduleSlots(profile, program);
	assert.deepEqual(ranked.map((m) => profile.strings[m]), ["/bin/p", "/lib/y", "/lib/x"]);
	assert.deepEqual(ranked.map((m) => slot.get(m)), [0, 1, 2]);
	assert.equal(slot.get(0), colour.SLOT_UNKNOWN);
	const none = profileOf(frames.slice(0, 2), [{ frames: [1], values: [1] }]);
	assert.equal(none.strings[programModule(none)], "/lib/y");
});

test("work in slices ends with the same value, in several turns, and can be cancelled", () => {
	function* work() {
		for (let i = 0; i < 200; i++) {
			yield;
		}
		return 42;
	}
	assert.equal(finish(work()), 42);
	const queue = [];
	let [clock, value] = [0, null];
	const start = (done) => inSlices(work(), done, (f) => queue.push(f), () => clock++);
	start((v) => {
		value = v;
	});
	assert.equal(value, null);
	let turns = 1;
	while (queue.length) {
		queue.shift()();
		turns++;
	}
	assert.equal(value, 42);
	assert.ok(turns > 5 && turns < 12, `${turns} turns`);
	const cancel = start(() => assert.fail("cancelled"));
	cancel();
	queue.shift()();
	assert.equal(queue.length, 0);
});
