// SPDX-License-Identifier: GPL-2.0-or-later
// Measures in the page: time to the first picture, and frames while it is zoomed, panned, hovered.
// window.ready: a promise of { stacks, nodes, make_ms, first_ms }; window.frames_of(what, n): of
// { interval: [ms], script: [ms] }, of n frames.
import { flame } from "/web/flame/index.js";
import { makeDiff, makeProfile } from "./profile.js";

const query = new URLSearchParams(location.search);
const stacks = Number(query.get("stacks") || 1000);

// After the next frame is painted: a message posted from a frame's callback comes behind it.
function painted() {
	return new Promise((resolve) => {
		requestAnimationFrame(() => {
			const channel = new MessageChannel();
			channel.port1.onmessage = resolve;
			channel.port2.postMessage(0);
		});
	});
}

async function untilDrawn(graph) {
	do {
		await painted();
	} while (graph.busy);
	await painted();
}

async function start() {
	let begin = performance.now();
	const profile = query.has("diff") ? makeDiff(stacks) : makeProfile(stacks);
	if (query.has("verdict")) {
		profile.verdict = Uint8Array.from(profile.self[0], (v, i) => (v ? (i * 7919 % 13 ? i % 2 : 2 + i % 3) : 0));
	}
	const make = performance.now() - begin;
	begin = performance.now();
	const graph = flame(document.getElementById("graph"), profile, {});
	await untilDrawn(graph);
	window.graph = graph;
	return { stacks, nodes: profile.nodes.parent.length, make_ms: make, first_ms: performance.now() - begin };
}

const MOVES = {
	zoom(graph, i) {
		const box = graph.picture.element.getBoundingClientRect();
		graph.zoomAt(box.left + box.width * 0.3, i % 60 < 30 ? 1.12 : 1 / 1.12);
	},
	pan(graph, i) {
		if (i === 0) {
			graph.closer(4);
		}
		graph.drag(i % 60 < 30 ? -25 : 25);
	},
	hover(graph, i) {
		const box = graph.picture.canvas.getBoundingClientRect();
		graph.hover({ clientX: box.left + (i * 37) % box.width, clientY: box.top + (i * 13) % box.height });
	},
};

// Intervals between frames, and how long the graph's own code took in each.
window.frames_of = async (what, n) => {
	const { graph } = window;
	const interval = [];
	const script = [];
	const drawNow = graph.picture.drawNow.bind(graph.picture);
	let spent = 0;
	graph.picture.drawNow = () => {
		const begin = performance.now();
		drawNow();
		spent += performance.now() - begin;
	};
	let last = await new Promise(requestAnimationFrame);
	for (let i = 0; i < n; i++) {
		const begin = performance.now();
		MOVES[what](graph, i);
		const handled = performance.now() - begin;
		const now = await new Promise(requestAnimationFrame);
		interval.push(now - last);
		script.push(spent + handled);
		spent = 0;
		last = now;
	}
	delete graph.picture.drawNow;
	graph.reset();
	await untilDrawn(graph);
	return { interval, script };
};

// A change of the view, until its picture is there.
window.view_of = async (view) => {
	const begin = performance.now();
	window.graph.setView(view);
	await untilDrawn(window.graph);
	return performance.now() - begin;
};

window.search_of = async (text) => {
	const begin = performance.now();
	window.graph.search(text);
	await untilDrawn(window.graph);
	return performance.now() - begin;
};

window.ready = start();
