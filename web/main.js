// SPDX-License-Identifier: GPL-2.0-or-later
// The page of one capture: its data are read, its views are made when they are first shown.
import { DiffStore } from "./lib/difflists.js";
import { make, put, replace } from "./lib/dom.js";
import { bytes, clean, many } from "./lib/format.js";
import { loadModel } from "./lib/model.js";
import { Store } from "./lib/store.js";
import { Tabs } from "./lib/tabs.js";
import { overviewView } from "./views/overview.js";
import { diffBar, diffViews } from "./views/diff.js";
import { errorsView, leaksView } from "./views/documents.js";
import { flameView } from "./views/flame.js";
import { histogramsView } from "./views/histograms.js";
import { sourceView } from "./views/source.js";
import { tablesView } from "./views/tables.js";
import { timelineView } from "./views/timeline.js";

function views(model, store) {
	return [
		{ id: "overview", title: "Overview", make: () => overviewView(model, store) },
		{ id: "flame", title: "Flame graph", make: () => flameView(model, store) },
		{ id: "timeline", title: "Timeline", make: () => timelineView(model, store) },
		{ id: "tables", title: "Tables", make: () => tablesView(model, store) },
		{ id: "histograms", title: "Sizes and lifetimes", make: () => histogramsView(model, store) },
		{ id: "source", title: "Source", make: () => sourceView(model, store) },
		{ id: "leaks", title: "Leaks", make: () => leaksView(model) },
		{ id: "errors", title: "Errors", make: () => errorsView(model) },
	];
}

/** What is selected, in words, each with a button that takes it out. */
function selectionBar(store) {
	const bar = make("div", { class: "selection", role: "group", "aria-label": "selection", hidden: true });
	const said = make("p", { class: "hidden", role: "status" });

	store.subscribe(({ empty, sum, byBlocks }) => {
		const text = `${bytes(sum.live)} live in ${many(sum.blocks, "block")} of ${many(sum.sites, "stack")}`;

		bar.hidden = empty;
		said.textContent = empty ? "" : `selected: ${text}`;
		replace(bar, store.words().map(([name, words]) => make("button", { type: "button", class: "chip",
			"aria-label": `take out: ${words}`, onclick: () => store.select({ [name]: null }) }, words, make("span", { "aria-hidden": "true" }, " ×"))),
			make("span", { class: "sum" }, text, byBlocks && " (live blocks only: of what was freed these are not known)"),
			make("button", { type: "button", onclick: () => store.clear() }, "Clear"));
	});
	return [bar, said];
}

function header(model) {
	const { about } = model, title = model.report.sections.find((s) => !s.key && s.title)?.title ?? about.comm;

	return make("header", {}, make("h1", { title: clean(title) }, clean(title)), make("p", { class: "from" }, "pmm ", about.pmm,
		about.source && [": ", clean(about.source)]));
}

function startDiff(app, model) {
	const { pmm, before, after } = model.about, title = `${before} compared with ${after}`;
	const store = new DiffStore(model);
	const tabs = new Tabs(diffViews(model, store), "views", (id) => store.remember("view", id === "overview" ? null : id));

	replace(app, make("header", {}, make("h1", { title: clean(title) }, clean(title)), make("p", { class: "from" }, "pmm ", pmm)),
		tabs.list, put(make("main", {}), diffBar(store), tabs.panels));
	tabs.show(store.extra.view);
	document.documentElement.dataset.ready = "yes";
}

async function start() {
	const app = document.getElementById("app");

	try {
		const model = await loadModel();

		if (model.diff) {
			startDiff(app, model);
			return;
		}
		const store = new Store(model);
		const tabs = new Tabs(views(model, store), "views", (id) => store.remember("view", id === "overview" ? null : id));

		replace(app, header(model), put(make("main", {}), tabs.list, selectionBar(store), tabs.panels));
		tabs.show(store.extra.view);
		document.documentElement.dataset.ready = "yes";
		performance.mark("ready");
	} catch (error) {
		replace(app, make("p", { class: "failed", role: "alert" }, `This page cannot be shown: ${error.message}`));
		throw error;
	}
}

start();
