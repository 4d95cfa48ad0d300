// SPDX-License-Identifier: GPL-2.0-or-later
// The element that is scrolled, with two canvases that stay in its window: the picture, and over it
// the outlines of what is hovered and focused. Draws at most once a frame; forms for print.

import { make } from "../lib/dom.js";
import { draw, outline } from "./draw.js";
import { Layout } from "./layout.js";
import { Labels } from "./text.js";

export const ROW_HEIGHT = 21;
const FONT_SIZE = 12;
const PRINT_WIDTH = 1040;	// of a page, in CSS pixels
const PRINT_RATIO = 2;
const PRINT_ROWS = 320;
const KEYS = "ArrowUp ArrowDown ArrowLeft ArrowRight Home Enter Backspace Escape / n c + -";
const KEY_HELP = "Arrows move to the caller, to callees and beside; Enter zooms, Escape shows all; slash searches, n finds the next match, c copies the stack.";

export class Picture {
	constructor(graph) {
		this.graph = graph;
		this.layout = new Layout();
		this.canvas = make("canvas", { "aria-hidden": "true" });
		this.over = make("canvas", { class: "flame-over", "aria-hidden": "true" });
		this.window = make("div", { class: "flame-window" }, this.canvas, this.over);
		this.paper = make("canvas", { class: "flame-paper", "aria-hidden": "true" });
		this.sheet = make("div", { class: "flame-sheet" }, this.window, this.paper);
		this.element = make("div", { class: "flame-picture", tabindex: "0", role: "application",
			"aria-roledescription": "flame graph", "aria-label": "flame graph", "aria-keyshortcuts": KEYS,
			"aria-description": KEY_HELP }, this.sheet);
		// Without transparency the browser composes it in half the time.
		this.ctx = this.canvas.getContext("2d", { alpha: false });
		this.overCtx = this.over.getContext("2d");
		this.hovered = -1;
		this.asked = false;
		this.frame = (now) => this.drawFrame(now);
		this.scene = { layout: this.layout, labels: new Labels(), rowHeight: ROW_HEIGHT,
			rowTop: (row) => this.rowTop(row), index: null, isDim: null, isHit: null };
		this.observer = new ResizeObserver(() => this.resize());
		this.observer.observe(this.element);
	}

	resize() {
		const ratio = devicePixelRatio || 1;
		const [width, height] = [this.element.clientWidth, this.element.clientHeight];
		if (!width || !height) {
			return;
		}
		Object.assign(this.scene, { width, height, ratio });
		for (const canvas of [this.canvas, this.over]) {
			canvas.width = Math.round(width * ratio);
			canvas.height = Math.round(height * ratio);
			canvas.style.width = `${width}px`;
			canvas.style.height = `${height}px`;
		}
		this.window.style.height = `${height}px`;
		this.drawNow();
	}

	get sheetHeight() {
		return Math.max(this.layout.nrRows * ROW_HEIGHT, this.scene.height || 0);
	}

	rowTop(row) {
		return (this.graph.view.flipped ? this.sheetHeight - (row + 1) * ROW_HEIGHT : row * ROW_HEIGHT) - this.element.scrollTop;
	}

	ask() {
		if (!this.asked) {
			this.asked = true;
			requestAnimationFrame(this.frame);
		}
	}

	drawFrame(now) {
		this.asked = false;
		if (this.graph.camera.step(now)) {
			this.ask();
		}
		this.drawNow();
	}

	// Give a scene the colours and marks of now.
	dress(scene) {
		const { graph } = this;
		const { theme } = graph;
		scene.model = graph.model;
		scene.palette = graph.palette;
		scene.accent = theme.accent;
		scene.ground = theme.printing ? "#fff" : theme.ground;
		scene.font = `${FONT_SIZE * scene.ratio}px ${theme.family}`;
		graph.dress(scene);
		return scene;
	}

	drawNow() {
		const { graph, scene } = this;
		if (!scene.width || graph.busy) {
			return;
		}
		this.layout.run(graph.model.tree, graph.camera.left, graph.camera.right, scene.width);
		this.sizeSheet();
		this.dress(scene);
		draw(this.ctx, scene);
		this.drawOver();
		graph.drawn();
	}

	// The sheet keeps its end in view where the root is at the bottom.
	sizeSheet() {
		const height = this.sheetHeight;
		if (height !== this.height) {
			const { element } = this;
			const bottom = (this.height ?? 0) - element.scrollTop;
			this.height = height;
			this.sheet.style.height = `${height}px`;
			if (this.graph.view.flipped) {
				element.scrollTop = height - bottom;
			}
		}
	}

	drawOver() {
		const { overCtx, graph, scene } = this;
		if (this.outlined) {
			overCtx.clearRect(0, 0, this.over.width, this.over.height);
			this.outlined = false;
		}
		if (this.hovered >= 0 && this.hovered < this.layout.nr) {
			outline(overCtx, scene, this.hovered, graph.theme.ink, 1);
			this.outlined = true;
		}
		if (graph.hasFocus) {
			const i = this.layout.find(graph.focus);
			if (i >= 0) {
				outline(overCtx, scene, i, graph.theme.accent, 2);
				this.outlined = true;
			}
		}
	}

	// The rectangle at a place of the window, or -1.
	at(clientX, clientY) {
		const box = this.canvas.getBoundingClientRect();
		const y = clientY - box.top;
		const row = Math.floor(this.graph.view.flipped ? (this.sheetHeight - y - this.element.scrollTop) / ROW_HEIGHT :
			(y + this.element.scrollTop) / ROW_HEIGHT);
		return this.layout.at(row, clientX - box.left);
	}

	// Where rectangle i is in the window: its left edge, and below it.
	placeOf(i) {
		const box = this.canvas.getBoundingClientRect();
		return [box.left + Math.max(0, this.layout.x[i]), box.top + this.rowTop(this.layout.rowOf(i)) + ROW_HEIGHT];
	}

	// Scroll so that a row is seen.
	showRow(row, margin = 0) {
		const { element } = this;
		const top = this.rowTop(row) + element.scrollTop;
		const room = margin * ROW_HEIGHT;
		if (top - room < element.scrollTop) {
			element.scrollTop = top - room;
		} else if (top + ROW_HEIGHT + room > element.scrollTop + element.clientHeight) {
			element.scrollTop = top + ROW_HEIGHT + room - element.clientHeight;
		}
	}

	// All rows in light colours, on a canvas of its own that only paper shows.
	print() {
		const { graph, paper, scene } = this;
		if (graph.busy) {
			return;
		}
		const layout = new Layout();
		layout.run(graph.model.tree, graph.camera.left, graph.camera.right, PRINT_WIDTH, PRINT_ROWS);
		const height = layout.nrRows * ROW_HEIGHT;
		const rowTop = (row) => (graph.view.flipped ? height - (row + 1) * ROW_HEIGHT : row * ROW_HEIGHT);
		paper.width = PRINT_WIDTH * PRINT_RATIO;
		paper.height = height * PRINT_RATIO;
		graph.theme.printing = true;
		draw(paper.getContext("2d"), this.dress({ ...scene, layout, rowTop, height, width: PRINT_WIDTH, ratio: PRINT_RATIO,
			labels: new Labels() }));
		graph.theme.printing = false;
		graph.model.labels.fill(undefined);	// their widths are those of paper
		this.ask();
	}

	destroy() {
		this.observer.disconnect();
	}
}
