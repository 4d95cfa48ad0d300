// SPDX-License-Identifier: GPL-2.0-or-later
// A profile of so many distinct stacks for measurements: a random tree of some 30 levels, values
// over several orders of magnitude, C and C++ names, a program and its libraries.

const VERBS = ["parse", "read", "make", "load", "append", "insert", "resolve", "copy", "visit", "emit", "decode", "open",
	"intern", "expand", "merge", "build"];
const NOUNS = ["node", "token", "header", "buffer", "table", "string", "element", "block", "attribute", "entry", "record",
	"scope", "path", "event", "image", "cache"];
const LIBRARIES = ["libstdc++.so.6", "libxml2.so.2", "libc.so.6", "libglib-2.0.so.0", "libsqlite3.so.0", "libssl.so.3",
	"libz.so.1", "libpng16.so.16", "libcurl.so.4", "libpython3.11.so.1.0", "libjemalloc.so.2", "libm.so.6"];

function random(seed) {
	let x = seed * 2654435761 >>> 0 || 1;
	return (n) => {
		x ^= x << 13;
		x ^= x >>> 17;
		x ^= x << 5;
		return (x >>> 0) % n;
	};
}

function makeFrames(nr, next) {
	const strings = ["", "/usr/bin/program", ...LIBRARIES.map((l) => `/usr/lib/x86_64-linux-gnu/${l}`)];
	const nrModules = strings.length - 1;
	const frames = { function: new Uint32Array(nr), file: new Uint32Array(nr), module: new Uint32Array(nr), line: new Uint32Array(nr) };
	const files = NOUNS.map((noun) => strings.push(`src/${noun}.c`) - 1);
	for (let f = 1; f < nr; f++) {
		const [verb, noun] = [VERBS[next(VERBS.length)], NOUNS[next(NOUNS.length)]];
		const kind = f === 1 ? 3 : next(3);
		const name = kind === 3 ? "main" : kind === 2 ? `${noun}_${verb}_${f % 97}` : kind === 1 ? `${verb}_${noun}` :
			`app::${noun}::Map<app::${NOUNS[next(NOUNS.length)]}, std::allocator<char> >::${verb}(unsigned long, int)`;
		frames.function[f] = strings.push(name) - 1;
		frames.module[f] = f === 1 || next(5) < 3 ? 1 : 1 + next(nrModules);
		frames.file[f] = frames.module[f] === 1 ? files[next(files.length)] : 0;
		frames.line[f] = frames.file[f] ? 1 + next(900) : 0;
	}
	return { strings, frames };
}

// stacks: how many; each ends at a node of its own.
export function makeProfile(stacks, seed = 1) {
	const next = random(seed);
	const { strings, frames } = makeFrames(Math.min(20000, 50 + Math.ceil(stacks / 4)), next);
	const nrFrames = frames.function.length;
	const most = stacks * 5 + 2;
	const parent = new Uint32Array(most);
	const frame = new Uint32Array(most);
	const depth = new Uint8Array(most);
	const self = [0, 1, 2, 3].map(() => new Float64Array(most));
	let nr = 2;
	frame[1] = 1;
	depth[1] = 1;
	for (let i = 0; i < stacks; i++) {
		// Heavy parts of the tree grow: one end in three is at the newest nodes.
		let node = 1 + (next(3) ? next(nr - 1) : Math.floor(next(nr - 1) / (1 + next(40))));
		while (depth[node] > 48) {
			node = parent[node];
		}
		for (let k = 1 + next(4); k > 0; k--) {
			parent[nr] = node;
			depth[nr] = depth[node] + 1;
			frame[nr] = 2 + next(nrFrames - 2);
			node = nr++;
		}
		const blocks = 1 + next(1 << next(10));
		const bytes = blocks * (8 + next(1 << (4 + next(12))));
		[bytes, blocks, bytes * (2 + next(5)), blocks * (2 + next(5))].forEach((v, m) => {
			self[m][node] = v;
		});
	}
	return {
		metrics: [{ name: "live", unit: "bytes" }, { name: "live", unit: "blocks" },
			{ name: "allocated", unit: "bytes" }, { name: "allocated", unit: "blocks" }],
		strings, frames,
		nodes: { parent: parent.slice(0, nr), frame: frame.slice(0, nr) },
		self: self.map((s) => s.slice(0, nr)),
	};
}

// The same later: some stacks grew, some shrank, some are new.
export function makeDiff(stacks, seed = 1) {
	const profile = makeProfile(stacks, seed);
	const next = random(seed + 1);
	profile.before = profile.self.map((s) => s.slice());
	for (let i = 0; i < profile.before[0].length; i++) {
		const tenths = [0, 5, 10, 10, 10, 10, 10, 13, 20][next(9)];
		profile.before.forEach((s) => {
			s[i] = Math.floor(s[i] * tenths / 10);
		});
	}
	return profile;
}
