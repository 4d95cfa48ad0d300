// SPDX-License-Identifier: GPL-2.0-or-later
// The tree from where stacks end to the root: callees first. It is made as it is looked at: all of it
// would have as many nodes as stacks have frames.
//
// `items` are the stacks' ends (nodes of the folded tree with a weight). The stacks of a display
// node are a range of items, and cursor[i] is the node of the folded tree that its frame is in the
// stack of items[i]. To open a node its range is grouped by the class of the next frame outwards;
// stacks that have none come last and stay the node's own. The fields are those of tree.js.

const ENDED = 0xffffffff;

export class Inverted {
	constructor(folded, values, nrClasses) {
		this.folded = folded;
		this.values = values;
		this.root = 0;
		this.size = 1;
		this.allocate(1024);
		this.buckets = new Buckets(nrClasses, values);
		this.collect();
	}

	allocate(capacity) {
		const old = this.weight ? this : null;
		const grown = (Type, field) => {
			const array = new Type(capacity);
			if (old) {
				array.set(old[field]);
			}
			this[field] = array;
		};
		for (const field of ["cls", "parent", "first", "nr", "begin", "end", "order"]) {
			grown(Uint32Array, field);
		}
		grown(Uint8Array, "opened");
		grown(Float64Array, "pos");
		if (this.values.mark) {
			grown(Float64Array, "mark");
		}
		if (this.values.level) {
			grown(Uint8Array, "worst");
		}
		grown(Float64Array, "weight");
		this.capacity = capacity;
	}

	// All stacks with a weight, as the root's. What has no frames has no callee either.
	collect() {
		const { weight, mark, level } = this.values;
		let n = 0;
		for (let i = 0; i < weight.length; i++) {
			n += weight[i] > 0 ? 1 : 0;
		}
		this.items = new Uint32Array(n);
		this.cursor = new Uint32Array(n);
		n = 0;
		for (let i = 0; i < weight.length; i++) {
			if (weight[i] > 0) {
				this.items[n++] = i;
				this.weight[0] += weight[i];
				if (mark) {
					this.mark[0] += mark[i];
				}
				if (level) {
					this.worst[0] = Math.max(this.worst[0], level[i]);
				}
			}
		}
		this.end[0] = n;
		this.scratchItems = new Uint32Array(n);
		this.scratchCursor = new Uint32Array(n);
	}

	// The frame further out of each stack of the node, and its class.
	advance(node) {
		const { items, cursor, folded, buckets } = this;
		for (let i = this.begin[node]; i < this.end[node]; i++) {
			const next = node ? folded.parent[cursor[i]] : items[i];
			cursor[i] = next;
			buckets.count(next ? folded.cls[next] : ENDED, items[i]);
		}
	}

	// The node's stacks, those of one class beside each other.
	arrange(node) {
		const { items, cursor, folded, buckets, scratchItems, scratchCursor } = this;
		const begin = this.begin[node];
		const end = this.end[node];
		for (let i = begin; i < end; i++) {
			const at = buckets.place(cursor[i] ? folded.cls[cursor[i]] : ENDED);
			scratchItems[at] = items[i];
			scratchCursor[at] = cursor[i];
		}
		items.set(scratchItems.subarray(0, end - begin), begin);
		cursor.set(scratchCursor.subarray(0, end - begin), begin);
	}

	open(node) {
		if (this.opened[node]) {
			return;
		}
		this.opened[node] = 1;
		const { buckets } = this;
		buckets.clear();
		this.advance(node);
		const sorted = buckets.sort();
		this.arrange(node);
		const nr = sorted.length;
		if (this.size + nr > this.capacity) {
			this.allocate(Math.max(this.capacity * 2, this.size + nr));
		}
		this.first[node] = this.size;
		this.nr[node] = nr;
		let x = this.pos[node];
		let at = this.begin[node];
		for (const bucket of sorted) {
			const child = this.size++;
			this.order[child] = child;
			this.parent[child] = node;
			this.cls[child] = buckets.cls[bucket];
			this.weight[child] = buckets.weight[bucket];
			this.pos[child] = x;
			x += this.weight[child];
			if (this.mark) {
				this.mark[child] = buckets.mark[bucket];
			}
			if (this.worst) {
				this.worst[child] = buckets.worst[bucket];
			}
			this.begin[child] = at;
			at += buckets.nr[bucket];
			this.end[child] = at;
		}
	}

	// The ends of all stacks of the node, as nodes of the folded tree.
	stacksOf(node) {
		return this.items.subarray(this.begin[node], this.end[node]);
	}
}

// Sums of the stacks of one node by class: one bucket for each class that occurs.
class Buckets {
	constructor(nrClasses, values) {
		this.values = values;
		this.of = new Uint32Array(nrClasses);	// class -> bucket + 1
		this.cls = [];
		this.clear();
	}

	clear() {
		for (const c of this.cls) {
			this.of[c] = 0;
		}
		this.cls.length = 0;
		this.nr = [];
		this.weight = [];
		this.mark = [];
		this.worst = [];
	}

	count(c, item) {
		if (c === ENDED) {
			return;
		}
		let bucket = this.of[c] - 1;
		if (bucket < 0) {
			bucket = this.cls.length;
			this.of[c] = bucket + 1;
			this.cls.push(c);
			this.nr.push(0);
			this.weight.push(0);
			this.mark.push(0);
			this.worst.push(0);
		}
		const { weight, mark, level } = this.values;
		this.nr[bucket]++;
		this.weight[bucket] += weight[item];
		if (mark) {
			this.mark[bucket] += mark[item];
		}
		if (level && level[item] > this.worst[bucket]) {
			this.worst[bucket] = level[item];
		}
	}

	// Buckets, heaviest first, which is also the order of their stacks' places.
	sort() {
		const { weight, cls } = this;
		const sorted = Array.from(cls, (c, i) => i);
		sorted.sort((a, b) => weight[b] - weight[a] || cls[a] - cls[b]);
		let at = 0;
		this.next = new Uint32Array(cls.length);
		for (const bucket of sorted) {
			this.next[bucket] = at;
			at += this.nr[bucket];
		}
		this.nextEnded = at;
		return sorted;
	}

	place(c) {
		return c === ENDED ? this.nextEnded++ : this.next[this.of[c] - 1]++;
	}
}
