// SPDX-License-Identifier: GPL-2.0-or-later
// What is above and below the picture: metric, folds, colours, search, the trail of ancestors and
// the legend. They call the graph (index.js) and show what it says in update().

import { make, replace } from "../lib/dom.js";
import { clean, percent } from "../lib/format.js";
import { STEPS, SHADES, SLOT_OTHER, SLOT_UNKNOWN, VERDICTS } from "./colour.js";
import { metricText, valueText } from "./describe.js";
import { baseName } from "./names.js";

const TOGGLES = [
	["inverted", "Callees first", "start from where stacks end"],
	["flipped", "Root at the bottom", "as flames"],
	["foldRecursion", "Fold recursion", "leave out what is on the stack already"],
	["foldLibraries", "Fold libraries", "one frame for each run of frames of a library"],
	["foldTemplates", "Fold templates", "functions without template arguments"],
	["foldLines", "Fold lines", "one frame for all lines of a function"],
];

export class Controls {
	constructor(graph) {
		this.graph = graph;
		this.metric = this.select("metric", [], (value) => graph.setMetric(Number(value)));
		this.colour = this.select("colours", [["module", "by module"], ["verdict", "by verdict"]],
			(value) => graph.setView({ colour: value }));
		this.width = this.select("width", [["change", "as wide as the change"], ["size", "as wide as the larger of both"]],
			(value) => graph.setView({ width: value }));
		this.query = make("input", { type: "search", placeholder: "Search: text or /regex/", spellcheck: "false",
			autocomplete: "off", "aria-label": "search for frames", oninput: () => this.typed() });
		this.query.addEventListener("keydown", (event) => this.queryKey(event));
		this.share = make("output", { class: "flame-share", "aria-live": "polite" });
		this.toggles = new Map(TOGGLES.map(([name, text, title]) => [name, make("button",
			{ type: "button", "aria-pressed": "false", title, onclick: () => this.toggle(name) }, text)]));
		this.copy = make("button", { type: "button", title: "c", onclick: () => graph.copyStack() }, "Copy stack");
		this.reset = make("button", { type: "button", title: "Escape", onclick: () => graph.reset() }, "Reset");
		this.top = make("div", { class: "flame-tools", role: "group", "aria-label": "flame graph" },
			this.metric, this.width, this.query, this.share, make("span", { class: "flame-gap" }), this.colour,
			this.copy, this.reset);
		this.folds = make("div", { class: "flame-tools flame-folds", role: "group", "aria-label": "arrangement" },
			[...this.toggles.values()]);
		this.list = make("ol");
		this.trail = make("nav", { class: "flame-trail", "aria-label": "ancestors of what is seen" }, this.list);
		this.legend = make("ul", { class: "flame-legend", "aria-label": "colours" });
	}

	select(label, options, changed) {
		return make("select", { "aria-label": label, onchange: (event) => changed(event.target.value) },
			options.map(([value, text]) => make("option", { value: String(value) }, text)));
	}

	updateMetrics() {
		const { profile, metric } = this.graph;
		if (this.metrics !== profile.metrics) {
			this.metrics = profile.metrics;
			replace(this.metric, profile.metrics.map((m, i) => make("option", { value: String(i) }, clean(metricText(m)))));
		}
		this.metric.value = String(metric);
		this.metric.hidden = profile.metrics.length < 2;
	}

	toggle(name) {
		this.graph.setView({ [name]: !this.graph.view[name] });
	}

	typed() {
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.graph.search(this.query.value), 120);
	}

	queryKey(event) {
		if (event.key === "Escape" || event.key === "Enter") {
			clearTimeout(this.timer);
			this.query.value = event.key === "Escape" ? "" : this.query.value;
			this.graph.search(this.query.value);
			this.graph.focusPicture();
			event.preventDefault();
			event.stopPropagation();
		}
	}

	update() {
		const { graph } = this;
		const { view, model, profile } = graph;
		this.updateMetrics();
		this.width.value = view.width;
		this.width.hidden = !model.signed || !profile.before;
		this.colour.value = view.colour;
		this.colour.hidden = model.signed || !profile.verdict;
		for (const [name, button] of this.toggles) {
			button.setAttribute("aria-pressed", String(view[name]));
		}
		if (document.activeElement !== this.query) {
			this.query.value = graph.query;
		}
		this.updateTrail();
		this.updateLegend();
	}

	updateShare({ error, matched, frames, total, unit }) {
		this.query.setAttribute("aria-invalid", String(Boolean(error)));
		this.share.classList.toggle("failed", Boolean(error));
		this.share.textContent = error || (frames === undefined ? "" : frames ?
			`${percent(matched, total)} of all, ${valueText(matched, unit)}` : "no frame matches");
	}

	updateTrail() {
		const { graph } = this;
		const { model } = graph;
		replace(this.list, model.path(graph.zoomed).map((node, i, path) => {
			const name = node ? clean(model.name(node)) : "all";
			const last = i === path.length - 1;
			return make("li", {}, make("button", { type: "button", class: "link", title: name, "aria-current": last ? "true" : null,
				onclick: () => graph.zoom(node) }, name),
				make("span", { class: "note" }, ` ${percent(model.tree.weight[node], model.total)}`));
		}));
		this.list.scrollTop = this.list.scrollHeight;
	}

	entry(colour, text) {
		const swatch = make("span", { class: "flame-swatch", "aria-hidden": "true" });
		swatch.style.background = colour;
		return make("li", {}, swatch, clean(text));
	}

	updateLegend() {
		const { graph } = this;
		const { model, palette } = graph;
		const kind = graph.colourKind;
		if (kind === "change") {
			replace(this.legend, this.entry(palette.fill[0], "shrank"), this.entry(palette.fill[STEPS / 2], "shrank for the most part"),
				this.entry(palette.fill[STEPS], "as before"), this.entry(palette.fill[STEPS + STEPS / 2], "grew for the most part"),
				this.entry(palette.fill[2 * STEPS], "grew"));
		} else if (kind === "verdict") {
			replace(this.legend, VERDICTS.map((name, i) => this.entry(palette.fill[i * 3 + 2], name)));
		} else {
			const { slot, ranked } = model.slots;
			const named = ranked.filter((m) => slot.get(m) < SLOT_OTHER);
			const others = ranked.length - named.length;
			replace(this.legend, named.map((m) => this.entry(palette.fill[slot.get(m) * SHADES],
				baseName(model.profile.strings[m]))),
				others > 0 && this.entry(palette.fill[SLOT_OTHER * SHADES], `${others} other modules`),
				model.profile.frames.module.subarray(1).includes(0) &&
					this.entry(palette.fill[SLOT_UNKNOWN * SHADES], "module not known"));
		}
	}

	destroy() {
		clearTimeout(this.timer);
	}
}
