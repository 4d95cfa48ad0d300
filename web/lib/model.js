// SPDX-License-Identifier: GPL-2.0-or-later
// What the page knows of a heap: plain arrays, as the parts have them.
import { Reader, readJson, readPart } from "./data.js";

const NONE = 0xffffffff;

function readFrames(r) {
	const nr = r.number();
	const frames = {
		function: new Uint32Array(nr), file: new Uint32Array(nr),
		module: new Uint32Array(nr), line: new Uint32Array(nr),
	};

	for (let i = 1; i < nr; i++) {
		frames.function[i] = r.number();
		frames.file[i] = r.number();
		frames.module[i] = r.number();
		frames.line[i] = r.number();
	}
	return frames;
}

function readNodes(r) {
	const nr = r.number();
	const nodes = { parent: new Uint32Array(nr), frame: new Uint32Array(nr) };

	for (let i = 1; i < nr; i++) {
		nodes.parent[i] = i - r.number();
		nodes.frame[i] = r.number();
	}
	return nodes;
}

function readProfile(bytes, strings, names) {
	const r = new Reader(bytes), form = r.number();

	if (form !== 1)
		throw new Error(`the stacks have an unknown form, ${form}`);
	const frames = readFrames(r), nodes = readNodes(r);
	const nrMetrics = r.number(), nrValues = r.number();
	const self = Array.from({ length: nrMetrics }, () => new Float64Array(nodes.parent.length));
	const metrics = self.map((_, i) => ({ name: names[2 * i], unit: names[2 * i + 1] }));

	for (let i = 0, node = 0; i < nrValues; i++) {
		node += r.number();
		for (let m = 0; m < nrMetrics; m++)
			self[m][node] = r.signed();
	}
	return { metrics, strings, frames, nodes, self };
}

export const SITE_FIGURES = ["live", "blocks", "peak", "peakBlocks", "allocated", "calls", "temporary",
	"leaked", "leakedBlocks"];
const SITE_COUNTERS = ["frees", "freed", "max", "failed", "first", "last"];

function readSites(bytes) {
	const r = new Reader(bytes), form = r.number();

	if (form !== 1)
		throw new Error(`the call sites have an unknown form, ${form}`);
	const nr = r.number(), nrLifetimes = r.number();
	const sites = { nr, nrLifetimes, byNumber: new Map() };

	for (const name of ["number", "node", "answer"])
		sites[name] = new Uint32Array(nr);
	for (const name of [...SITE_FIGURES, ...SITE_COUNTERS])
		sites[name] = new Float64Array(nr);
	sites.lifetimes = new Float64Array(nr * nrLifetimes);

	const figures = [...SITE_FIGURES, ...(nrLifetimes ? SITE_COUNTERS : [])].map((name) => sites[name]);

	for (let i = 0, number = 0; i < nr; i++) {
		number += r.number();
		sites.number[i] = number;
		sites.byNumber.set(number, i);
		sites.node[i] = r.number();
		sites.answer[i] = r.number();
		for (const figure of figures)
			figure[i] = r.number();
		for (let k = 0; k < nrLifetimes; k++)
			sites.lifetimes[i * nrLifetimes + k] = r.number();
	}
	return sites;
}

function readBlocks(bytes, sites) {
	const r = new Reader(bytes), form = r.number();

	if (form !== 1)
		throw new Error(`the blocks have an unknown form, ${form}`);
	const threads = Array.from({ length: r.number() }, () => ({ tid: r.number(), name: r.text() }));
	const nr = r.number();
	const blocks = {
		nr, size: new Float64Array(nr), site: new Uint32Array(nr), thread: new Uint32Array(nr),
		birth: new Float64Array(nr), kind: new Uint8Array(nr), address: new Float64Array(nr),
	};

	for (let i = 0, size = 0; i < nr; i++) {
		size = i ? size - r.number() : r.number();
		blocks.size[i] = size;
		blocks.site[i] = sites.byNumber.get(r.number()) ?? NONE;
		blocks.thread[i] = r.number();
		blocks.birth[i] = r.number();
		blocks.kind[i] = r.number();
		blocks.address[i] = r.number();
	}
	return { threads, blocks };
}

/** Sections of a document by their keys; those without one are in order in `facts`. */
function sectionsOf(doc) {
	const byKey = {};

	for (const section of doc.sections)
		if (section.key)
			byKey[section.key] = section;
	return byKey;
}

/** The record with this key as an object, {} where there is none. */
export function record(doc, key) {
	const section = doc?.byKey[key], out = {};

	section?.columns.forEach((column, i) => {
		if (section.rows.length)
			out[column.key] = section.rows[0][i + 3];
	});
	return out;
}

/** Rows of a table as objects by JSON's keys. */
export function rowsOf(section) {
	return (section?.rows ?? []).map((row) => {
		const out = { depth: row[0] };

		section.columns.forEach((column, i) => {
			if (column.key)
				out[column.key] = row[i + 3];
		});
		return out;
	});
}

async function readDoc(name) {
	const doc = await readJson(name);

	if (doc)
		doc.byKey = sectionsOf(doc);
	return doc;
}

/** Two captures compared: figures of the profile are those after, then those before. */
async function loadDiff(about) {
	const [diff, strings, bytes] = await Promise.all([readDoc("diff"), readJson("strings"), readPart("profile")]);
	const profile = readProfile(bytes, strings, about.metrics), half = profile.self.length / 2;

	return { about, diff, profile: { ...profile, metrics: profile.metrics.slice(0, half), self: profile.self.slice(0, half),
		before: profile.self.slice(half) } };
}

export async function loadModel() {
	performance.mark("code");
	const about = await readJson("about");

	if (about.diff)
		return loadDiff(about);
	const [report, overview, leaks, check, source, strings, profile, sites, blocks] = await Promise.all([
		readDoc("report"), readDoc("overview"), readDoc("leaks"), readDoc("check"), readJson("source"), readJson("strings"),
		readPart("profile"), readPart("sites"), readPart("blocks")]);
	performance.mark("unpacked");
	const model = { about, report, overview, leaks, check, source };

	model.profile = withKnown(model, readProfile(profile, strings, about.metrics));
	model.sites = readSites(sites);
	Object.assign(model, readBlocks(blocks, model.sites));
	model.end = about.run_ns;
	return model;
}

const HISTORY = new Set(["peak", "peakBlocks", "temporary"]), ALLOCATED = new Set(["allocated", "allocations", "calls"]);

/** Does the heap know a figure? Profiles of other tools may not: it is 0 in them, which says nothing. */
export function knows(model, name) {
	return (model.about.history || !HISTORY.has(name)) && (model.about.allocated || !ALLOCATED.has(name));
}

function withKnown(model, profile) {
	const known = (_, i) => knows(model, profile.metrics[i].name);

	return { ...profile, metrics: profile.metrics.filter(known), self: profile.self.filter(known) };
}

/** A metric of the profile by name and unit; -1 = the page has none. */
export function metricOf(model, name, unit) {
	return model.profile.metrics.findIndex((m) => m.name === name && m.unit === unit);
}

/** Was nearly all given back, so that the peak says more than what is live? */
export function heldIt(model) {
	return Boolean(model.overview.sections[0]?.rows.some((row) => row[3] === "held it"));
}

/** "parse_node", "[libx.so]" of a frame without a name. */
export function frameName(model, frame) {
	const { strings, frames } = model.profile;

	if (!frame)
		return "[stack unknown]";
	if (frames.function[frame])
		return strings[frames.function[frame]];
	return `[${baseName(strings[frames.module[frame]]) || "unknown"}]`;
}

/** "node.c:12", the module where the line is not known. */
export function framePlace(model, frame) {
	const { strings, frames } = model.profile;
	const file = baseName(strings[frames.file[frame]]);

	if (file)
		return frames.line[frame] ? `${file}:${frames.line[frame]}` : file;
	return frames.function[frame] ? baseName(strings[frames.module[frame]]) : "";
}

export function baseName(path) {
	return path.slice(path.lastIndexOf("/") + 1);
}

/** Frames from the innermost one outward. */
export function stackOf(model, node) {
	const { parent, frame } = model.profile.nodes, out = [];

	for (; node; node = parent[node])
		out.push(frame[node]);
	return out;
}
