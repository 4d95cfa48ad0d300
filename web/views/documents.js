// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks and errors as `pmm leaks` and `pmm check` report them.
import { make } from "../lib/dom.js";
import { documentElements } from "../lib/document.js";

function view(doc, why) {
	return make("div", { class: "docs" }, doc ? documentElements(doc) : make("p", { class: "note" }, why));
}

export function leaksView(model) {
	return view(model.leaks, "Leaks were not searched for: 'pmm run --leaks' does at the program's end, 'pmm leaks PID' at any time.");
}

export function errorsView(model) {
	return view(model.check, "The program was not checked for heap errors: 'pmm check -- COMMAND' runs it so.");
}
