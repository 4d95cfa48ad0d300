// SPDX-License-Identifier: GPL-2.0-or-later
// Profiles for the tests of the flame graph: made at random from a seed, or of stacks as text.
// Stacks are lists of frame numbers, outermost first, which is what the tests' models work on.

// Whole numbers below n, the same for the same seed (xorshift).
export function random(seed) {
	let x = seed * 2654435761 >>> 0 || 1;
	return (n) => {
		x ^= x << 13;
		x ^= x >>> 17;
		x ^= x << 5;
		return (x >>> 0) % n;
	};
}

// frames: [function, file, line, module] each. stacks: { frames: [number from 1], values: [per metric] }.
export function profileOf(frames, stacks, metrics = [{ name: "live", unit: "bytes" }]) {
	const strings = [""];
	const text = (s) => {
		if (!strings.includes(s)) {
			strings.push(s);
		}
		return strings.indexOf(s);
	};
	const all = [["", "", 0, ""], ...frames];
	const column = (i) => Uint32Array.from(all, (f) => (i === 2 ? f[2] : text(f[i])));
	const parent = [0];
	const frame = [0];
	const known = new Map();
	const self = metrics.map(() => [0]);
	for (const stack of stacks) {
		let node = 0;
		for (const f of stack.frames) {
			const key = `${node} ${f}`;
			if (!known.has(key)) {
				known.set(key, parent.length);
				parent.push(node);
				frame.push(f);
				self.forEach((s) => s.push(0));
			}
			node = known.get(key);
		}
		stack.node = node;
		stack.values.forEach((v, m) => {
			self[m][node] += v;
		});
	}
	return {
		metrics, strings,
		frames: { function: column(0), file: column(1), line: column(2), module: column(3) },
		nodes: { parent: Uint32Array.from(parent), frame: Uint32Array.from(frame) },
		self: self.map((s) => Float64Array.from(s)),
	};
}

const NAMES = ["main", "a", "b", "ns::f<int>", "ns::f<std::pair<a, b>>", "ns::g<1>::h", "read", "malloc", ""];

// A profile of about `nr` stacks with recursion, libraries, templates, lines and frames without names.
export function randomProfile(seed, nr, { low = 0, nrMetrics = 2 } = {}) {
	const next = random(seed);
	const frames = [];
	for (let i = 0; i < 24; i++) {
		const library = next(3) === 0;
		frames.push([NAMES[next(NAMES.length)], `src/${next(3)}.c`, next(4),
			library ? `/usr/lib/lib${next(2)}.so` : "/bin/program"]);
	}
	frames.push(["main", "src/main.c", 1, "/bin/program"]);
	const unique = [...new Map(frames.map((f) => [f.join("|"), f])).values()];
	const stacks = [];
	for (let i = 0; i < nr; i++) {
		const stack = i && next(2) ? stacks[next(i)].frames.slice(0, 1 + next(6)) : [];
		for (let depth = next(9); depth > 0; depth--) {
			stack.push(1 + next(unique.length));
		}
		const values = Array.from({ length: nrMetrics }, () => (next(4) ? low + next(1000) : 0));
		stacks.push({ frames: stack, values });
	}
	const metrics = ["bytes", "blocks", "bytes"].slice(0, nrMetrics)
		.map((unit, i) => ({ name: i < 2 ? "live" : "peak", unit }));
	return { profile: profileOf(unique, stacks, metrics), stacks, frames: [null, ...unique] };
}
