// SPDX-License-Identifier: GPL-2.0-or-later
// Text to the clipboard, also where the browser has no interface for that.

import { make } from "../lib/dom.js";

function bySelection(text) {
	const area = make("textarea", { class: "flame-live", readonly: true });
	const focused = document.activeElement;
	area.value = text;
	document.body.append(area);
	area.select();
	let done = false;
	try {
		done = document.execCommand("copy");
	} catch {
		done = false;
	}
	area.remove();
	focused?.focus();
	return done;
}

// Resolves to whether it worked.
export function copyText(text) {
	if (!navigator.clipboard) {
		return Promise.resolve(bySelection(text));
	}
	return navigator.clipboard.writeText(text).then(() => true, () => bySelection(text));
}
