// SPDX-License-Identifier: GPL-2.0-or-later
// The flame graph of a profile in an element of a page.
//
//     const graph = flame(element, profile, { program: "/usr/bin/x" });
//     graph.setMetric(i), setView({ inverted: true }), setSelection({ nodes: Set or null, frame }),
//     setProfile(profile), zoom(node), search("text or /regex/"), state(), restore(state),
//     on("select", f), on("state", f), destroy()
//
// "select" gives { node, frame, ends }: the profile's node where there is just one, else 0; a frame;
// a function that returns the profile's nodes whose stacks go through there. null: nothing any more.
// "state" comes whenever state() would return something new. zoom() takes a display node.

import { make } from "../lib/dom.js";
import { Camera } from "./camera.js";
import { diffIndex, SHADES, SLOT_OTHER, verdictIndex } from "./colour.js";
import { Controls } from "./controls.js";
import { copyText } from "./copy.js";
import { describe, sentence } from "./describe.js";
import { Focus } from "./focus.js";
import { Input } from "./input.js";
import { Marks } from "./marks.js";
import { Model, VIEW } from "./model.js";
import { Picture } from "./picture.js";
import { inSlices } from "./slices.js";
import { cleanState } from "./state.js";
import { Theme } from "./theme.js";
import { Tip } from "./tip.js";

class Graph extends Focus {
	constructor(element, profile, options) {
		super();
		this.element = element;
		this.profile = profile;
		this.options = options;
		this.view = { ...VIEW };
		this.metric = 0;
		this.query = "";
		this.zoomed = this.focus = 0;
		this.busy = true;
		this.listeners = { select: new Set(), state: new Set() };
		this.model = new Model(profile, options);
		this.marks = new Marks(this);
		this.camera = new Camera();
		this.theme = new Theme(element, () => this.dressed());
		this.picture = new Picture(this);
		this.controls = new Controls(this);
		this.tip = new Tip();
		this.live = make("p", { class: "flame-live", role: "status" });
		this.input = new Input(this, this.picture.element);
		element.classList.add("flame-graph");
		element.replaceChildren(this.controls.top, this.controls.folds, this.controls.trail, this.picture.element,
			this.controls.legend, this.tip.element, this.live);
		this.beforePrint = () => this.picture.print();
		addEventListener("beforeprint", this.beforePrint);
		this.rebuild();
	}

	// Make the tree anew, then go to where we were, as far as that is there.
	rebuild(path = this.busy ? this.wanted : this.here()) {
		this.wanted = path || { zoom: [], focus: [] };
		this.cancel?.();
		this.busy = true;
		this.picture.element.setAttribute("aria-busy", "true");
		this.tip.hide();
		this.cancel = inSlices(this.model.build(this.view, this.metric), () => this.built());
	}

	here() {
		return { zoom: this.model.framesOf(this.zoomed), focus: this.model.framesOf(this.focus) };
	}

	built() {
		this.busy = false;
		this.picture.element.removeAttribute("aria-busy");
		this.camera.reset(this.model.total || 1);
		this.zoomed = this.model.resolve(this.wanted.zoom);
		this.focus = this.model.resolve(this.wanted.focus);
		this.fit(this.zoomed, false);
		this.marks.rebuild();
		this.controls.updateShare(this.marks.share());
		this.dressed();
	}

	dressed() {
		if (!this.busy) {
			this.controls.update();
			this.picture.ask();
			this.tell("state", () => this.state());
		}
	}

	get colourKind() {
		return this.model.signed ? "change" :
			this.view.colour === "verdict" && this.profile.verdict ? "verdict" : "module";
	}

	get palette() {
		return this.theme.palette(this.colourKind);
	}

	// How nodes are coloured and marked, for a scene (draw.js).
	dress(scene) {
		const { tree, colours } = this.model;
		const kind = this.colourKind;
		if (kind === "change") {
			scene.index = (n) => diffIndex(tree.mark[n], tree.weight[n]);
		} else if (kind === "verdict") {
			scene.index = (n) => verdictIndex(tree.worst[n], tree.mark[n], tree.weight[n]);
		} else {
			scene.index = (n) => (n ? colours[tree.cls[n]] : SLOT_OTHER * SHADES);
		}
		Object.assign(scene, this.marks.tests());
	}

	// ---- what is seen ----

	fit(node, moves = true) {
		const { tree } = this.model;
		const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
		this.camera.aim(tree.pos[node], tree.pos[node] + tree.weight[node], performance.now(), moves && !still);
		this.picture.ask();
	}

	zoom(node) {
		this.zoomed = node;
		this.rowToShow = this.model.path(node).length - 1;
		this.focus = node;
		this.fit(node);
		this.dressed();
	}

	// Zoom and select: what a click and Enter do.
	choose(node) {
		this.zoom(node);
		this.tell("select", () => (node ? { node: this.model.profileNode(node), frame: this.model.frame(node),
			ends: () => this.model.endsOf(node) } : null));
		this.say(node);
	}

	reset() {
		this.zoomed = 0;
		this.focus = 0;
		this.rowToShow = 0;
		this.fit(0);
		this.tell("select", () => null);
		this.dressed();
	}

	drawn() {
		if (this.rowToShow !== undefined) {
			this.picture.showRow(Math.min(this.rowToShow, this.picture.layout.nrRows - 1), 3);
			if (this.camera.begin < 0) {
				this.rowToShow = undefined;
			}
		}
	}

	closer(factor) {
		this.camera.zoomAt(0.5, factor);
		this.picture.ask();
	}

	zoomAt(clientX, factor) {
		const box = this.picture.element.getBoundingClientRect();
		this.camera.zoomAt((clientX - box.left) / this.picture.scene.width, factor);
		this.picture.ask();
	}

	drag(pixels) {
		this.camera.pan(-pixels / this.picture.scene.width);
		this.picture.ask();
	}

	scrolled() {
		this.tip.hide();
		this.picture.ask();
	}

	hover(event) {
		const i = event && !this.busy ? this.picture.at(event.clientX, event.clientY) : -1;
		if (i !== this.picture.hovered) {
			this.picture.hovered = i;
			this.picture.drawOver();
		}
		if (i < 0) {
			this.tip.hide();
			return;
		}
		const { node, rest } = this.picture.layout;
		this.tip.show(`${node[i]} ${rest[i]}`, () => describe(this.model, node[i], rest[i]), event.clientX, event.clientY);
	}

	click(event) {
		const i = this.busy ? -1 : this.picture.at(event.clientX, event.clientY);
		if (i < 0) {
			return;
		}
		const { layout } = this.picture;
		this.tip.hide();
		if (layout.rest[i]) {
			this.zoomToRest(layout.node[i], layout.rest[i]);
		} else {
			this.choose(layout.node[i]);
		}
	}

	// Light children are not one frame: see them, without a change of what is zoomed.
	zoomToRest(node, rest) {
		const { tree } = this.model;
		const light = this.model.children(node).slice(-rest);
		const last = light[light.length - 1];
		this.camera.aim(tree.pos[light[0]], tree.pos[last] + tree.weight[last], performance.now());
		this.picture.ask();
	}

	// ---- what others see of it ----

	setMetric(i) {
		if (i !== this.metric && this.profile.metrics[i]) {
			this.metric = i;
			this.rebuild();
		}
	}

	setView(view) {
		const flips = view.flipped !== undefined && view.flipped !== this.view.flipped;
		this.view = { ...this.view, ...view };
		this.picture.height = flips ? undefined : this.picture.height;
		this.rebuild();
	}

	setProfile(profile) {
		const path = this.busy ? this.wanted : this.here();
		const { name, unit } = this.profile.metrics[this.metric];
		const same = profile.metrics.findIndex((m) => m.name === name && m.unit === unit);
		this.profile = profile;
		this.model = new Model(profile, this.options);
		this.metric = Math.max(0, same);
		this.rebuild(path);
	}

	setSelection(selection) {
		this.marks.select(selection);
		this.picture.ask();
	}

	search(text) {
		this.query = text;
		this.marks.search(text);
		this.controls.updateShare(this.marks.share());
		this.dressed();
	}

	copyStack() {
		const node = this.focus || this.zoomed;
		copyText(this.model.stackText(node)).then((done) => {
			this.live.textContent = done ? "stack copied" : "the browser does not allow to copy";
		});
	}

	// What differs from a graph as it is at first.
	state() {
		const zoom = this.busy ? this.wanted.zoom : this.model.framesOf(this.zoomed);
		const out = { ...(this.metric && { metric: this.metric }), ...(zoom.length && { zoom }),
			...(this.query && { search: this.query }) };
		for (const [name, value] of Object.entries(VIEW)) {
			if (this.view[name] !== value) {
				out[name] = this.view[name];
			}
		}
		return out;
	}

	// Of a state that may come from anybody what makes sense.
	restore(state) {
		const known = cleanState(state, this.profile);
		this.metric = known.metric;
		this.view = { ...VIEW, ...known.view };
		this.query = known.search;
		this.marks.search(known.search);
		this.picture.height = undefined;
		this.rebuild({ zoom: known.zoom, focus: known.zoom });
	}

	on(name, listener) {
		this.listeners[name].add(listener);
		return () => this.listeners[name].delete(listener);
	}

	tell(name, what) {
		if (this.listeners[name].size) {
			const value = what();
			const text = name === "state" ? JSON.stringify(value) : null;
			if (text === null || text !== this.told) {
				this.told = text ?? this.told;
				this.listeners[name].forEach((listener) => listener(value));
			}
		}
	}

	say(node) {
		this.live.textContent = sentence(this.model, node);
	}

	destroy() {
		this.cancel?.();
		removeEventListener("beforeprint", this.beforePrint);
		for (const part of [this.input, this.controls, this.picture, this.theme]) {
			part.destroy();
		}
		this.element.replaceChildren();
	}
}

export function flame(element, profile, options = {}) {
	return new Graph(element, profile, options);
}
