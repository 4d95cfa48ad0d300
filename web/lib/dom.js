// SPDX-License-Identifier: GPL-2.0-or-later
// Elements. Text goes in as text only: nothing of the data is ever parsed as HTML.

/**
 * make("button", { class: "x", onclick: f, "aria-label": "y" }, "text", child, ...): an element.
 * Attributes that are null or false are left out; children that are null too.
 */
export function make(tag, attributes = {}, ...children) {
	const element = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes)) {
		if (name.startsWith("on"))
			element.addEventListener(name.slice(2), value);
		else if (value !== null && value !== undefined && value !== false)
			element.setAttribute(name, value === true ? "" : value);
	}
	put(element, ...children);
	return element;
}

export function put(element, ...children) {
	for (const child of children.flat())
		if (child !== null && child !== undefined && child !== false)
			element.append(child);
	return element;
}

export function replace(element, ...children) {
	element.textContent = "";
	return put(element, ...children);
}

/** Have the browser save a text as a file. */
export function save(name, text, type) {
	const url = URL.createObjectURL(new Blob([text], { type }));
	const link = make("a", { href: url, download: name });

	link.click();
	setTimeout(() => URL.revokeObjectURL(url), 10000);
}
