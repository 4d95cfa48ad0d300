// SPDX-License-Identifier: GPL-2.0-or-later
// Classes of frames: frames of one class are shown as one. Without folding each frame is a class
// of its own; folding puts template instances, lines of a function or frames of a library
// together.

import { Pairs } from "./intern.js";
import { baseName, withoutTemplates } from "./names.js";

// The module that is the program: where `main` is, else that of the most frames next to the root.
export function programModule(profile) {
	const { strings, frames, nodes } = profile;
	for (let f = 1; f < frames.function.length; f++) {
		if (frames.module[f] && strings[frames.function[f]] === "main") {
			return frames.module[f];
		}
	}
	const count = new Map();
	for (let n = 1; n < nodes.parent.length; n++) {
		const module = frames.module[nodes.frame[n]];
		if (!nodes.parent[n] && module) {
			count.set(module, (count.get(module) || 0) + 1);
		}
	}
	let best = 0;
	for (const [module, n] of count) {
		best = n > (count.get(best) || 0) ? module : best;
	}
	return best;
}

// The number of the string that is the module `program` (a path or a base name), else the guess.
export function findProgram(profile, program) {
	if (program) {
		const modules = new Set(profile.frames.module);
		for (const exact of [true, false]) {
			for (const m of modules) {
				const s = profile.strings[m];
				if (exact ? s === program : m && baseName(s) === baseName(program)) {
					return m;
				}
			}
		}
	}
	return programModule(profile);
}

// Names without template arguments, as numbers of strings: those of `strings`, and new ones behind.
function strippedNames(profile) {
	const { strings, frames } = profile;
	const number = new Map();
	const added = [];
	const of = new Uint32Array(strings.length);
	const done = new Uint8Array(strings.length);
	for (const s of frames.function) {
		if (done[s]) {
			continue;
		}
		done[s] = 1;
		of[s] = s;
		if (strings[s].includes("<")) {
			const name = withoutTemplates(strings[s]);
			if (name !== strings[s]) {
				if (!number.has(name)) {
					number.set(name, strings.length + added.length);
					added.push(name);
				}
				of[s] = number.get(name);
			}
		}
	}
	return { of, strings: added.length ? strings.concat(added) : strings };
}

// The classes of a profile's frames under a view. Fields:
//   of[frame]        the frame's class; class 0 is that of frame 0, no frame
//   size             how many classes
//   first[class]     a frame of it
//   name[class], fn[class]   number of its name in `strings`; number that frames of one function share
//   library[class]   1: not of the program
//   line[class]      the line that its frames have in common; 0: none, or not known
//   run[class]       1: stands for all frames of a library that follow one another
export function* classify(profile, view, program) {
	const { frames } = profile;
	const n = frames.function.length;
	const stripped = view.foldTemplates ? strippedNames(profile) : null;
	const merged = view.foldTemplates || view.foldLibraries || view.foldLines;
	const functions = new Pairs(n);
	const places = new Pairs();
	const classes = new Pairs();
	const of = new Uint32Array(n);
	const isLibrary = (f) => (frames.module[f] && frames.module[f] !== program ? 1 : 0);
	const first = [];
	const name = [];
	const fn = [];
	const run = [];
	const line = [];

	for (let f = 0; f < n; f++) {
		const library = view.foldLibraries ? isLibrary(f) : 0;
		const text = library ? 0 : stripped ? stripped.of[frames.function[f]] : frames.function[f];
		const function_ = functions.add(text, frames.module[f]);
		if (merged) {
			const place = library || view.foldLines ? 0 :
				places.add(frames.file[f], frames.line[f]) + 1;
			of[f] = classes.add(function_ * 2 + (f ? 1 : 0), place * 2 + library);
		} else {
			of[f] = f;
		}
		if (of[f] === first.length) {
			first.push(f);
			name.push(text);
			fn.push(function_);
			run.push(library);
			line.push(frames.line[f]);
		} else if (line[of[f]] !== frames.line[f]) {
			line[of[f]] = 0;
		}
		if (!(f & 0x3fff)) {
			yield;
		}
	}
	const library = new Uint8Array(first.length);
	first.forEach((f, c) => {
		library[c] = isLibrary(f);
	});
	return {
		of, size: first.length, library, line, run: Uint8Array.from(run), first: Uint32Array.from(first),
		name: Uint32Array.from(name), fn: Uint32Array.from(fn),
		strings: stripped ? stripped.strings : profile.strings,
	};
}

// What a class is called: its function, else its module, else that nothing is known.
export function className(profile, classes, c) {
	const f = classes.first[c];
	const module = baseName(profile.strings[profile.frames.module[f]]);
	if (classes.run[c]) {
		return `[${module}]`;
	}
	return classes.strings[classes.name[c]] || (module ? `[${module}]` : "[unknown]");
}
