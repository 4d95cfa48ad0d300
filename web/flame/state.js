// SPDX-License-Identifier: GPL-2.0-or-later
// A state out of a link, which anybody may have written: what makes no sense is left out.

import { VIEW } from "./model.js";

const CHOICES = { colour: ["module", "verdict"], width: ["change", "size"] };
const MOST_TEXT = 1000;
const MOST_DEPTH = 10000;

export function cleanState(state, profile) {
	const of = state && typeof state === "object" ? state : {};
	const whole = (x, below) => Number.isInteger(x) && x >= 0 && x < below;
	const view = {};
	for (const [name, value] of Object.entries(VIEW)) {
		const given = of[name];
		if (typeof value === "boolean" ? typeof given === "boolean" : CHOICES[name].includes(given)) {
			view[name] = given;
		}
	}
	const nrFrames = profile.frames.function.length;
	return {
		metric: whole(of.metric, profile.metrics.length) ? of.metric : 0,
		view,
		search: typeof of.search === "string" ? of.search.slice(0, MOST_TEXT) : "",
		zoom: Array.isArray(of.zoom) && of.zoom.length < MOST_DEPTH && of.zoom.every((f) => whole(f, nrFrames)) ? of.zoom : [],
	};
}
