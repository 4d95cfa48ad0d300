// SPDX-License-Identifier: GPL-2.0-or-later
// Labels that fit: a name whole, without parameters, without scopes, or the beginning of that.
// Widths are sums of the widths of characters, measured once: good to a pixel, and fast.

import { clean } from "../lib/format.js";
import { shortName, withoutParameters } from "./names.js";

const FIRST = 32;
const LAST = 126;
const ELLIPSIS = "\u2026";
const LEAST_LETTERS = 2;

export class Labels {
	constructor() {
		this.font = "";
		this.advance = new Float32Array(LAST + 1);
	}

	// measure(text): its width in that font.
	setFont(font, measure) {
		if (font === this.font) {
			return false;
		}
		this.font = font;
		for (let c = FIRST; c <= LAST; c++) {
			this.advance[c] = measure(String.fromCharCode(c));
		}
		this.other = measure("\u00e9\u4e00") / 2;
		this.ellipsis = measure(ELLIPSIS);
		return true;
	}

	width(text) {
		let sum = 0;
		for (let i = 0; i < text.length; i++) {
			const c = text.charCodeAt(i);
			sum += c <= LAST ? this.advance[c] : this.other;
		}
		return sum;
	}

	// The forms of a name, longest first, with their widths.
	label(name) {
		const whole = clean(name);
		const bare = withoutParameters(whole);
		const texts = [...new Set([whole, bare, shortName(bare)])];
		return { texts, widths: texts.map((t) => this.width(t)), cut: "", cutLeast: 0, cutMost: 0 };
	}

	// What of the label fits into `room`: maybe nothing.
	fit(label, room) {
		const { texts, widths } = label;
		for (let i = 0; i < texts.length; i++) {
			if (widths[i] <= room) {
				return texts[i];
			}
		}
		if (room < label.cutLeast || room >= label.cutMost) {
			this.cut(label, room);
		}
		return label.cut;
	}

	// Remember the cut, and for which widths it is the right one.
	cut(label, room) {
		const text = label.texts[label.texts.length - 1];
		let width = this.ellipsis;
		let n = 0;
		let next = 0;
		for (; n < text.length; n++) {
			const c = text.charCodeAt(n);
			next = c <= LAST ? this.advance[c] : this.other;
			if (width + next > room) {
				break;
			}
			width += next;
		}
		const enough = n >= LEAST_LETTERS;
		label.cut = enough ? text.slice(0, n) + ELLIPSIS : "";
		label.cutLeast = enough ? width : 0;
		label.cutMost = width + next;
	}
}
