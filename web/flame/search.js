// SPDX-License-Identifier: GPL-2.0-or-later
// Search: which frames a text or a /regular expression/ matches, and what share of the whole the
// stacks with such a frame have.

// A query as a test of a string; null of an empty one. Throws a SyntaxError for /(/.
export function compile(query) {
	const text = query.trim();
	const pattern = /^\/(.+)\/([ims]*)$/.exec(text);
	if (pattern) {
		const regex = new RegExp(pattern[1], pattern[2].includes("i") ? pattern[2] : `${pattern[2]}i`);
		return (s) => regex.test(s);
	}
	const wanted = text.toLowerCase();
	return wanted ? (s) => s.toLowerCase().includes(wanted) : null;
}

// frame -> 1 where its function, file or module matches. Each string is tested once.
export function matchFrames(profile, test) {
	const { strings, frames } = profile;
	const known = new Uint8Array(strings.length);	// 1: no, 2: yes
	const matches = (s) => {
		if (s && !known[s]) {
			known[s] = test(strings[s]) ? 2 : 1;
		}
		return known[s] === 2;
	};
	const hit = new Uint8Array(frames.function.length);
	for (let f = 1; f < hit.length; f++) {
		if (matches(frames.function[f]) || matches(frames.file[f]) || matches(frames.module[f])) {
			hit[f] = 1;
		}
	}
	return hit;
}

// The weight of all stacks that have a frame that is hit, and how many frames are.
export function matchedWeight(nodes, hit, weight) {
	const n = nodes.parent.length;
	const inside = new Uint8Array(n);
	let sum = 0;
	for (let i = 1; i < n; i++) {
		if (inside[nodes.parent[i]] || hit[nodes.frame[i]]) {
			inside[i] = 1;
			sum += weight[i];
		}
	}
	return sum;
}

// folded node -> 1 where it stands for a frame that is hit.
export function hitNodes(nodes, folded, hit) {
	const out = new Uint8Array(folded.size);
	for (let i = 1; i < nodes.parent.length; i++) {
		if (hit[nodes.frame[i]]) {
			out[folded.shown[i]] = 1;
		}
	}
	return out;
}

// folded node -> 1 where a stack of `ends` (profile's nodes) goes through it.
export function throughNodes(folded, ends) {
	const out = new Uint8Array(folded.size);
	for (const end of ends) {
		for (let at = folded.map[end]; at && !out[at]; at = folded.parent[at]) {
			out[at] = 1;
		}
	}
	return out;
}

// class -> 1 where a folded node of it is marked: for trees that are made of classes.
export function marksOfClasses(folded, marked, nrClasses) {
	const out = new Uint8Array(nrClasses);
	for (let i = 1; i < folded.size; i++) {
		if (marked[i]) {
			out[folded.cls[i]] = 1;
		}
	}
	return out;
}
