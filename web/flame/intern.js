// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers for pairs of whole numbers: an open-addressing hash table in typed arrays.
//
//     const pairs = new Pairs(expected);
//     pairs.add(a, b)     the pair's number, from 0 in the order of first use
//     pairs.size          how many there are; pairs.first[i], pairs.second[i] are the pair

export class Pairs {
	constructor(expected = 16) {
		this.size = 0;
		this.resize(Math.max(16, expected));
	}

	add(a, b) {
		let at = slotOf(a, b) & this.mask;
		for (;;) {
			const number = this.slots[at] - 1;
			if (number < 0) {
				break;
			}
			if (this.first[number] === a && this.second[number] === b) {
				return number;
			}
			at = (at + 1) & this.mask;
		}
		if (this.size === this.first.length) {
			this.resize(this.size * 2);
			return this.add(a, b);
		}
		this.first[this.size] = a;
		this.second[this.size] = b;
		this.slots[at] = ++this.size;
		return this.size - 1;
	}

	// Room for `capacity` pairs, with at most half of the slots in use.
	resize(capacity) {
		const { first, second } = this;
		let slots = 32;
		while (slots < capacity * 2) {
			slots *= 2;
		}
		this.mask = slots - 1;
		this.slots = new Uint32Array(slots);
		this.first = new Uint32Array(capacity);
		this.second = new Uint32Array(capacity);
		if (this.size) {
			this.first.set(first);
			this.second.set(second);
		}
		for (let i = 0; i < this.size; i++) {
			let at = slotOf(this.first[i], this.second[i]) & this.mask;
			while (this.slots[at]) {
				at = (at + 1) & this.mask;
			}
			this.slots[at] = i + 1;
		}
	}
}

function slotOf(a, b) {
	let h = Math.imul(a ^ Math.imul(b, 0x9e3779b1), 0x85ebca6b);
	h = Math.imul(h ^ (h >>> 15), 0xc2b2ae35);
	return (h ^ (h >>> 13)) >>> 0;
}
