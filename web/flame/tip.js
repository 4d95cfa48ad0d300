// SPDX-License-Identifier: GPL-2.0-or-later
// The tooltip beside the pointer or the focused frame. Its elements are made once.

import { make } from "../lib/dom.js";

const AWAY = 14;	// pixels from the pointer

export class Tip {
	constructor() {
		this.title = make("strong");
		this.where = make("span", { class: "flame-where" });
		this.lines = [make("span"), make("span"), make("span")];
		this.element = make("div", { class: "flame-tip", "aria-hidden": "true", hidden: true }, this.title, this.where, this.lines);
		this.of = null;
	}

	// what: from describe(); key: shown already where it is the same as before.
	show(key, what, x, y) {
		if (this.of !== key) {
			const said = what();
			this.title.textContent = said.title;
			this.where.textContent = said.where;
			this.lines.forEach((line, i) => {
				line.textContent = said.lines[i] || "";
			});
			this.element.hidden = false;
			this.of = key;
			this.width = this.element.offsetWidth;
			this.height = this.element.offsetHeight;
		}
		const left = x + AWAY + this.width > innerWidth ? Math.max(4, x - AWAY - this.width) : x + AWAY;
		const top = y + AWAY + this.height > innerHeight ? Math.max(4, y - AWAY - this.height) : y + AWAY;
		this.element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
	}

	hide() {
		if (this.of !== null) {
			this.of = null;
			this.element.hidden = true;
		}
	}
}
