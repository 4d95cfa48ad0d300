// SPDX-License-Identifier: GPL-2.0-or-later
// Sorts a part of a list of nodes by weight, heaviest first; equal ones by number. Few by insertion,
// more by comparison, very many by the digits of their weights as 32-bit floats, whose order is
// that of their bits. Those that are equal then stay as they are, in the order of numbers at first.

const INSERTION_MOST = 24;
const COMPARED_MOST = 4096;
const RADIX_BITS = 11;
const RADIX = 1 << RADIX_BITS;

export function sortByWeight(list, begin, end, weight) {
	const n = end - begin;
	if (n <= INSERTION_MOST) {
		insertion(list, begin, end, weight);
	} else if (n <= COMPARED_MOST) {
		list.subarray(begin, end).sort((a, b) => weight[b] - weight[a] || a - b);
	} else {
		radix(list, begin, end, weight);
	}
}

function insertion(list, begin, end, weight) {
	for (let i = begin + 1; i < end; i++) {
		const node = list[i];
		const w = weight[node];
		let at = i;
		while (at > begin && (weight[list[at - 1]] < w ||
			(weight[list[at - 1]] === w && list[at - 1] > node))) {
			list[at] = list[at - 1];
			at--;
		}
		list[at] = node;
	}
}

function radix(list, begin, end, weight) {
	const n = end - begin;
	const keys = new Float32Array(n);
	let from = list.slice(begin, end);
	for (let i = 0; i < n; i++) {
		keys[i] = weight[from[i]];
	}
	let bits = new Uint32Array(keys.buffer);
	let to = new Uint32Array(n);
	let bitsTo = new Uint32Array(n);
	const start = new Uint32Array(RADIX + 1);
	for (let shift = 0; shift < 32; shift += RADIX_BITS) {
		start.fill(0);
		for (let i = 0; i < n; i++) {
			start[RADIX - ((bits[i] >>> shift) & (RADIX - 1))]++;
		}
		for (let i = 1; i <= RADIX; i++) {
			start[i] += start[i - 1];
		}
		for (let i = 0; i < n; i++) {
			const at = start[RADIX - 1 - ((bits[i] >>> shift) & (RADIX - 1))]++;
			to[at] = from[i];
			bitsTo[at] = bits[i];
		}
		[from, to, bits, bitsTo] = [to, from, bitsTo, bits];
	}
	list.set(from, begin);
}
