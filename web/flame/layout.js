// SPDX-License-Identifier: GPL-2.0-or-later
// Rectangles of what a part of the tree looks like at some width: rows from the root on, in each
// row from left to right. What is narrower than a pixel is put together with the lighter ones
// beside it. The work depends on what is seen, not on the size of the tree.
//
//     const layout = new Layout();
//     layout.run(tree, left, right, width, nrRows)   left, right: in units of weight
//     layout.nr, node[i], x[i], w[i]                 in pixels; x may be left of 0
//     layout.rest[i]      0: the node itself; else this many light children of it
//     layout.row[r] .. layout.row[r + 1] - 1         the rectangles of a row
//     layout.at(row, x)                              the rectangle there, or -1

export const LEAST_WIDTH = 1;

export class Layout {
	constructor() {
		this.nr = 0;
		this.nrRows = 0;
		this.allocate(4096);
		this.row = new Uint32Array(256);
	}

	allocate(capacity) {
		const { node, x, w, rest } = this;
		this.node = new Uint32Array(capacity);
		this.x = new Float32Array(capacity);
		this.w = new Float32Array(capacity);
		this.rest = new Uint32Array(capacity);
		if (node) {
			this.node.set(node);
			this.x.set(x);
			this.w.set(w);
			this.rest.set(rest);
		}
	}

	push(node, x, w, rest) {
		if (this.nr === this.node.length) {
			this.allocate(this.nr * 2);
		}
		this.node[this.nr] = node;
		this.x[this.nr] = x;
		this.w[this.nr] = w;
		this.rest[this.nr++] = rest;
	}

	beginRow(row) {
		if (row + 1 >= this.row.length) {
			const old = this.row;
			this.row = new Uint32Array(old.length * 2);
			this.row.set(old);
		}
		this.row[row] = this.nr;
	}

	run(tree, left, right, width, most = 1 << 20) {
		const scale = right > left ? width / (right - left) : 0;
		this.nr = 0;
		this.beginRow(0);
		this.push(tree.root, (tree.pos[tree.root] - left) * scale, tree.weight[tree.root] * scale, 0);
		let row = 0;
		for (;;) {
			const begin = this.row[row];
			const end = this.nr;
			if (begin === end || row === most) {
				break;
			}
			this.beginRow(++row);
			for (let i = begin; i < end; i++) {
				if (!this.rest[i]) {
					this.children(tree, this.node[i], left, right, scale);
				}
			}
		}
		this.nrRows = row;
		this.row[row] = this.nr;
	}

	children(tree, parent, left, right, scale) {
		tree.open(parent);
		const { order, weight, pos } = tree;
		const end = tree.first[parent] + tree.nr[parent];
		const least = LEAST_WIDTH / scale;
		for (let i = firstSeen(tree, parent, left); i < end; i++) {
			const child = order[i];
			const x = (pos[child] - left) * scale;
			if (pos[child] >= right) {
				return;
			}
			if (weight[child] < least) {
				const last = order[end - 1];
				const w = (pos[last] + weight[last] - left) * scale - x;
				if (w >= LEAST_WIDTH / 2) {
					this.push(parent, x, w, end - i);
				}
				return;
			}
			this.push(child, x, weight[child] * scale, 0);
		}
	}

	at(row, x) {
		if (row < 0 || row >= this.nrRows) {
			return -1;
		}
		let low = this.row[row];
		let high = this.row[row + 1];
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.x[middle] + this.w[middle] <= x) {
				low = middle + 1;
			} else {
				high = middle;
			}
		}
		return low < this.row[row + 1] && this.x[low] <= x ? low : -1;
	}

	// The row of rectangle i.
	rowOf(i) {
		let row = 0;
		while (row + 1 < this.nrRows && this.row[row + 1] <= i) {
			row++;
		}
		return row;
	}

	// The rectangle of a node, or -1.
	find(node) {
		for (let i = 0; i < this.nr; i++) {
			if (this.node[i] === node && !this.rest[i]) {
				return i;
			}
		}
		return -1;
	}
}

// Of a parent's children the first that ends right of `left`, as an index into tree.order.
function firstSeen(tree, parent, left) {
	const { order, weight, pos } = tree;
	let low = tree.first[parent];
	let high = low + tree.nr[parent];
	while (low < high) {
		const middle = (low + high) >> 1;
		if (pos[order[middle]] + weight[order[middle]] <= left) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}
