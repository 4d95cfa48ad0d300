// SPDX-License-Identifier: GPL-2.0-or-later
// The focused frame, which arrow keys move: to callers, callees and the frames beside. What is
// focused is seen: the picture moves where it has to.

import { describe } from "./describe.js";

export class Focus {
	get hasFocus() {
		return Boolean(this.focusIn);
	}

	focused(on) {
		this.focusIn = on && this.picture.element.matches(":focus-visible");
		if (on && !this.busy) {
			this.say(this.focus);
		}
		this.picture.ask();
		if (!on) {
			this.tip.hide();
		}
	}

	focusPicture() {
		this.picture.element.focus();
	}

	focusSearch() {
		this.controls.query.focus();
		this.controls.query.select();
	}

	focusNode(node) {
		this.focus = node;
		this.focusIn = true;
		this.show(node);
		this.say(node);
	}

	// The camera over the node, the row in the window, its figures beside it.
	show(node) {
		const { picture, camera, model } = this;
		const { pos, weight } = model.tree;
		const least = camera.width / picture.scene.width * 3;
		if (pos[node] >= camera.right || pos[node] + weight[node] <= camera.left) {
			this.fit(model.tree.parent[node], false);
		}
		if (weight[node] < least) {
			this.fit(weight[model.tree.parent[node]] < weight[node] * 200 ? model.tree.parent[node] : node, false);
		}
		this.rowToShow = model.path(node).length - 1;
		picture.drawNow();
		const i = picture.layout.find(node);
		if (i >= 0) {
			this.tip.show(`${node} focus`, () => describe(model, node), ...picture.placeOf(i));
		}
	}

	focusChild() {
		const child = this.model.children(this.focus)[0];
		if (child !== undefined) {
			this.focusNode(child);
		}
	}

	focusParent() {
		if (this.focus) {
			this.focusNode(this.model.tree.parent[this.focus]);
		}
	}

	focusBeside(step) {
		if (this.focus) {
			const siblings = this.model.children(this.model.tree.parent[this.focus]);
			const next = siblings[siblings.indexOf(this.focus) + step];
			if (next !== undefined) {
				this.focusNode(next);
			}
		}
	}

	// The next rectangle of the picture that the search marks, in order of rows.
	focusMatch(step) {
		const { layout } = this.picture;
		const { isHit } = this.marks.tests();
		if (!isHit) {
			return;
		}
		const begin = Math.max(0, layout.find(this.focus));
		for (let k = 1; k <= layout.nr; k++) {
			const i = (begin + step * k + layout.nr * 2) % layout.nr;
			if (!layout.rest[i] && isHit(layout.node[i])) {
				this.focusNode(layout.node[i]);
				return;
			}
		}
	}
}
