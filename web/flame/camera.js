// SPDX-License-Identifier: GPL-2.0-or-later
// Which part of the tree is seen: from `left` to `right`, in units of weight. Moves take some time,
// unless the reader prefers reduced motion.

const MOVE_MS = 180;
const LEAST_PART = 1e-9;	// of the whole

export class Camera {
	constructor() {
		this.reset(1);
	}

	reset(total) {
		this.total = total;
		this.left = this.from = this.to = 0;
		this.right = this.fromRight = this.toRight = total;
		this.begin = -1;
	}

	get width() {
		return this.right - this.left;
	}

	// The whole of it is seen, or will be at the end of the move.
	get whole() {
		return this.to <= 0 && this.toRight >= this.total;
	}

	clamp(left, right) {
		const width = Math.min(this.total, Math.max(right - left, this.total * LEAST_PART));
		const at = Math.max(0, Math.min(this.total - width, left));
		this.to = at;
		this.toRight = at + width;
	}

	// Go there at once.
	set(left, right) {
		this.clamp(left, right);
		this.left = this.to;
		this.right = this.toRight;
		this.begin = -1;
	}

	// Start to move there.
	aim(left, right, now, moves = true) {
		if (!moves) {
			this.set(left, right);
			return;
		}
		this.from = this.left;
		this.fromRight = this.right;
		this.clamp(left, right);
		this.begin = now;
	}

	// Where it is at that time. True: it still moves.
	step(now) {
		if (this.begin < 0) {
			return false;
		}
		const t = Math.min(1, Math.max(0, (now - this.begin) / MOVE_MS));
		const eased = 1 - (1 - t) ** 3;
		this.left = this.from + (this.to - this.from) * eased;
		this.right = this.fromRight + (this.toRight - this.fromRight) * eased;
		if (t === 1) {
			this.left = this.to;
			this.right = this.toRight;
			this.begin = -1;
		}
		return t < 1;
	}

	// Closer by `factor`; what is at the share `at` of the width stays there.
	zoomAt(at, factor) {
		const width = this.width / factor;
		const x = this.left + this.width * at;
		this.set(x - width * at, x + width * (1 - at));
	}

	// By a share of what is seen.
	pan(share) {
		const by = this.width * share;
		this.set(this.left + by, this.right + by);
	}
}
