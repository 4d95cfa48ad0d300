// SPDX-License-Identifier: GPL-2.0-or-later
// Two captures compared: what changed as `pmm diff` reports it, and a flame graph in two colours.
import { flame } from "../flame/index.js";
import { make } from "../lib/dom.js";
import { documentElements } from "../lib/document.js";

const LISTS = ["lines", "functions", "modules", "stacks"];

function documentView(model, lists) {
	const { diff } = model, keys = diff.sections.map((s) => s.key).filter((key) => LISTS.includes(key) === lists);

	return make("div", { class: "docs" }, documentElements(diff, keys));
}

function flameView(model) {
	const element = make("div", { class: "flame" });

	requestAnimationFrame(() => { element.graph = flame(element, model.profile, { program: model.about.comm }); });
	return element;
}

export function diffViews(model) {
	return [
		{ id: "overview", title: "Overview", make: () => documentView(model, false) },
		{ id: "flame", title: "Flame graph of what changed", make: () => flameView(model) },
		{ id: "tables", title: "Tables", make: () => documentView(model, true) },
	];
}
