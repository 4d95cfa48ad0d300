// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The heap over time: live bytes by the call sites that held most, resident memory, calls a second;
 * a window of it selects what was allocated then and is still live.
 */
import Dygraph from "dygraphs";
import { make, put, replace } from "../lib/dom.js";
import { bytes, clean, count, duration, many } from "../lib/format.js";
import { frameName, framePlace, record, rowsOf, stackOf } from "../lib/model.js";

const TOP_SITES = 8;
const COLOURS = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#997700", "#44aa99"];
const REST = "#8a8f98";

// the legend is the page's own: the library's parses names as HTML, and has styles that the policy forbids
Dygraph.PLUGINS = [Dygraph.Plugins.Axes, Dygraph.Plugins.Grid];

/** The value of a step function at each of the times. */
function atTimes(times, points) {
	const out = new Float64Array(times.length);

	for (let i = 0, k = 0, value = 0; i < times.length; i++) {
		while (k < points.length && points[k].time <= times[i])
			value = points[k++].value;
		out[i] = value;
	}
	return out;
}

function column(section, key) {
	return section.values[section.columns.findIndex((c) => c.key === key)] ?? [];
}

/** By site: its points over time. The largest sites first. */
function siteSeries(model) {
	const section = model.report.byKey.site_history, bySite = new Map();

	if (!section)
		return [];
	const at = Object.fromEntries(section.columns.map((c, i) => [c.key, i + 3]));

	for (const row of section.rows) {
		const number = row[at.site];

		if (!bySite.has(number))
			bySite.set(number, { number, most: 0, points: [] });
		const s = bySite.get(number);

		s.points.push({ time: row[at.time_ns], value: row[at.live_bytes] });
		s.most = Math.max(s.most, row[at.live_bytes]);
	}
	return [...bySite.values()].sort((a, b) => b.most - a.most).slice(0, TOP_SITES);
}

export function timelineData(model) {
	const history = model.report.byKey.history;

	if (!history || history.values[0].length < 2)
		return null;
	const times = column(history, "time_ns"), live = column(history, "live_bytes");
	const sites = siteSeries(model), parts = sites.map((s) => atTimes(times, s.points));
	const stacked = times.map((t, i) => {
		const of = parts.map((p) => p[i]), known = of.reduce((a, b) => a + b, 0);

		// sums of sites and of the heap are of moments a little apart
		return [t / 1e9, ...of, Math.max(0, live[i] - known)];
	});
	const rss = column(history, "rss_bytes"), allocs = column(history, "allocs");
	const resident = times.map((t, i) => [t / 1e9, rss[i] || null, live[i]]).filter((r) => r[1] !== null);
	const rate = [];

	for (let i = 1, last = 0; i < times.length; i++) {
		// the point of the peak knows no calls
		if (allocs[i] < allocs[last] || times[i] <= times[last] || i === history.mark)
			continue;
		rate.push([times[i] / 1e9, (allocs[i] - allocs[last]) * 1e9 / (times[i] - times[last])]);
		last = i;
	}
	return { times, live, sites, parts, stacked, resident, rate, history, usage: rowsOf(model.report.byKey.usage_history) };
}

/** A counter that rises as what it gains a second, [[seconds, ...values]]; rows that lack one are left out. */
function rates(rows, keys) {
	const known = rows.filter((r) => keys.every((k) => r[k] !== null)), out = [];

	for (let i = 1; i < known.length; i++) {
		const a = known[i - 1], b = known[i], s = (b.time_ns - a.time_ns) / 1e9;

		if (s > 0)
			out.push([b.time_ns / 1e9, ...keys.map((k) => Math.max(0, b[k] - a[k]) / s)]);
	}
	return out;
}

/** [[seconds, ...values]] of what is known at a point; what is not is a gap. */
function values(rows, keys) {
	return rows.filter((r) => keys.some((k) => r[k] !== null)).map((r) => [r.time_ns / 1e9, ...keys.map((k) => r[k])]);
}

const WHY = { none: "the kernel has no such figures", denied: "they may not be read", failed: "reading them failed",
	dear: "the process ended before they were read, or reading them would have taken too long" };

/** What of the kernel's figures is missing, and why. */
function missing(model) {
	const usage = record(model.report, "usage");

	if (!model.report.byKey.usage)
		return ["Threads, page faults, swap and PSS over time are not in this capture: an older pmm made it, or nothing watched the process."];
	return [["times", "Threads and page faults"], ["pss", "PSS"]].filter(([key]) => WHY[usage[key]])
		.map(([key, name]) => `${name} are not known: ${WHY[usage[key]]}.`.replace("PSS are", "PSS is"));
}

function siteName(model, number) {
	const i = model.sites.byNumber.get(number), frame = i === undefined ? 0 : model.sites.answer[i];

	return clean([frameName(model, frame), framePlace(model, frame)].filter(Boolean).join(" "));
}

/** Where several answer by the same line, with their callers. */
function siteNames(model, sites) {
	const names = sites.map((s) => siteName(model, s.number));

	return names.map((name, k) => {
		const i = model.sites.byNumber.get(sites[k].number);

		if (i === undefined || names.indexOf(name) === names.lastIndexOf(name))
			return name;
		const frames = stackOf(model, model.sites.node[i]), at = frames.indexOf(model.sites.answer[i]);

		return `${name} < ${frames.slice(at + 1, at + 3).map((f) => clean(frameName(model, f))).join(" < ")}`;
	});
}

const MARKS = { fork: "forked", child_exec: "a child executed", snapshot: "a capture was written", search: "searched for leaks",
	error: "heap error", end: "ended", other: "something that this pmm does not know" };

/** What happened at times: the report's marks, and rows of events below its series. */
function marksOf(model, data) {
	const marks = rowsOf(model.report.byKey.marks).map((m) => ({ time: m.time_ns / 1e9, count: m.count, what: m.what,
		name: [MARKS[m.what] ?? MARKS.other, m.name, m.pid !== null && `(pid ${m.pid})`].filter(Boolean).join(" ") }));

	for (const row of data.history.events ?? [])
		row.time_ns.forEach((t, i) => marks.push({ time: t / 1e9, name: row.name, count: row.count[i] }));
	return marks.sort((a, b) => a.time - b.time);
}

const MOST_MARKS = 500;

function marksElement(marks) {
	return marks.length > 0 && make("section", {}, make("h2", {}, "What happened"), make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "what happened" },
		make("table", { class: "plain" }, make("tbody", {}, marks.slice(0, MOST_MARKS).map((m) => make("tr", {},
			make("td", { class: "number" }, duration(m.time * 1e9)), make("td", {}, clean(m.name)), make("td", { class: "number" }, m.count > 1 ? many(m.count, "time") : "")))))),
	marks.length > MOST_MARKS && make("p", { class: "note" }, `${count(marks.length - MOST_MARKS)} more`));
}

class Charts {
	constructor(model, store, data) {
		Object.assign(this, { model, store, data, charts: [] });
		this.marks = marksOf(model, data);
		this.element = make("div", { class: "charts" });
		this.styles = getComputedStyle(document.documentElement);
		const { names } = data;

		this.add("Live bytes by call site", data.stacked, ["time", ...names.map((_, i) => `s${i}`), "rest"],
			[...COLOURS.slice(0, names.length), REST], [...names, "other call sites"], bytes,
			{ labelsKMG2: true, stackedGraph: true, fillGraph: true, fillAlpha: 0.75, strokeWidth: 0.5 });
		if (data.resident.length > 1)
			this.add("Resident memory (RSS) and live bytes", data.resident, ["time", "rss", "live"], [COLOURS[5], COLOURS[0]], ["RSS", "live"], bytes,
				{ labelsKMG2: true, strokeWidth: 1.5 });
		if (data.rate.length > 1)
			this.add("Allocations a second", data.rate, ["time", "rate"], [COLOURS[2]], ["allocations a second"], (n) => count(n), { fillGraph: true });
		this.addUsage(data.usage);
		put(this.element, missing(model).map((text) => make("p", { class: "note" }, text)), marksElement(this.marks));
	}

	/** What the kernel says of the process. */
	addUsage(usage) {
		const add = (title, rows, keys, names, form, options) => {
			// what is 0 throughout needs no line
			const some = keys.map((_, i) => i).filter((i) => rows.some((r) => r[i + 1]));

			if (rows.length > 1 && some.length)
				this.add(title, rows.map((r) => [r[0], ...some.map((i) => r[i + 1])]), ["time", ...some.map((i) => keys[i])],
					some.map((i) => COLOURS[i]), some.map((i) => names[i]), form, { connectSeparatedPoints: true, strokeWidth: 1.5, ...options });
		};
		const sizes = ["anon_bytes", "file_bytes", "shmem_bytes", "swap_bytes", "pss_bytes"], faults = ["minor_faults", "major_faults"];

		add("Resident memory by kind, swap and PSS", values(usage, sizes), sizes, ["of no file", "of files", "shared", "swapped out", "PSS"], bytes, { labelsKMG2: true });
		add("Page faults a second", rates(usage, faults), faults, ["minor", "major"], count, {});
		add("Threads", values(usage, ["threads"]), ["threads"], ["threads"], (n) => (Number.isInteger(n) ? count(n) : ""), { stepPlot: true });
	}

	add(title, rows, labels, colours, names, form, options) {
		const place = make("div", { class: "chart", role: "img", "aria-label": `${title}: ${this.said(rows, form)}` });
		const legend = make("ul", { class: "legend" }, names.map((name, i) => {
			const swatch = make("span", { class: "swatch", "aria-hidden": "true" });

			swatch.style.background = colours[i];
			return make("li", {}, swatch, name, " ", make("span", { class: "value" }));
		}));

		put(this.element, make("section", {}, make("h2", {}, title), legend, place));
		this.charts.push({ place, rows, labels, colours, form, options, values: [...legend.querySelectorAll(".value")] });
	}

	said(rows, form) {
		const sums = rows.map((r) => r.slice(1).reduce((a, b) => a + (b ?? 0), 0));

		return `${many(rows.length, "point")}, at most ${form(Math.max(...sums))}, in the end ${form(sums[sums.length - 1])}`;
	}

	/** When the charts are in the document and have a size. */
	draw() {
		const ink = this.styles.getPropertyValue("--dim").trim(), line = this.styles.getPropertyValue("--line").trim();

		for (const chart of this.charts) {
			if (chart.graph) {
				chart.graph.resize();
				continue;
			}
			chart.graph = new Dygraph(chart.place, chart.rows, {
				labels: chart.labels, colors: chart.colours, gridLineColor: line, axisLineColor: line,
				axisLabelFontSize: 12, dateWindow: [0, this.model.end / 1e9], includeZero: true, highlightCircleSize: 2,
				axes: {
					x: { valueFormatter: (s) => duration(s * 1e9), axisLabelFormatter: (s) => duration(s * 1e9), drawGrid: false },
					y: { axisLabelFormatter: (n) => chart.form(n), axisLabelWidth: 80 },
				},
				interactionModel: this.interaction(), ...chart.options,
				underlayCallback: (canvas, area, graph) => this.underlay(canvas, area, graph, ink),
				highlightCallback: (event, x, points, row) => chart.values.forEach((v, i) => {
					v.textContent = chart.rows[row]?.[i + 1] === null ? "" : chart.form(chart.rows[row]?.[i + 1] ?? 0);
				}),
				unhighlightCallback: () => chart.values.forEach((v) => {
					v.textContent = "";
				}),
			});
			chart.place.querySelector(".dygraph-roller")?.remove();
		}
	}

	/** The window that is selected, and marks. */
	underlay(canvas, area, graph, ink) {
		const window_ = this.dragged ?? this.store.state.window;

		if (window_) {
			const from = graph.toDomXCoord(window_[0] / 1e9), to = graph.toDomXCoord(Math.min(window_[1], this.model.end) / 1e9);

			canvas.fillStyle = this.styles.getPropertyValue("--accent-ground").trim();
			canvas.fillRect(Math.min(from, to), area.y, Math.abs(to - from), area.h);
		}
		canvas.strokeStyle = ink;
		canvas.setLineDash([2, 3]);
		for (const mark of this.marks) {
			const x = Math.round(graph.toDomXCoord(mark.time)) + 0.5;

			canvas.beginPath();
			canvas.moveTo(x, area.y);
			canvas.lineTo(x, area.y + area.h);
			canvas.stroke();
		}
		canvas.setLineDash([]);
	}

	interaction() {
		const time = (event, graph) => {
			const x = graph.eventToDomCoords(event)[0];

			return Math.min(Math.max(0, graph.toDataXCoord(x) * 1e9), this.model.end);
		};
		let from = null;

		return {
			mousedown: (event, graph, context) => {
				context.initializeMouseDown(event, graph, context);
				from = time(event, graph);
			},
			mousemove: (event, graph) => {
				if (from === null)
					return;
				const to = time(event, graph);

				this.dragged = [Math.min(from, to), Math.max(from, to)];
				this.redraw();
			},
			mouseup: () => {
				const window_ = this.dragged, wide = window_ && window_[1] - window_[0] > this.model.end / 200;

				from = this.dragged = null;
				this.store.select({ window: wide ? window_.map(Math.round) : null });
			},
			mouseout: () => {},
			dblclick: () => this.store.select({ window: null }),
		};
	}

	redraw() {
		for (const chart of this.charts)
			chart.graph?.updateOptions({});
	}
}

/** What the window says, and what it cannot. */
function said(model, data, passed, state) {
	if (!state.window)
		return [make("p", {}, "Drag over a stretch of time, or enter one, to see what was allocated in it and is still live.")];
	const [from, until] = state.window, to = Math.min(until, model.end);
	const growth = data.sites.map((s, i) => {
		const [a, b] = atTimes([from, to], s.points);

		return { name: data.names[i], grown: b - a };
	}).filter((g) => g.grown).sort((a, b) => b.grown - a.grown);
	const end = model.about.running ? "when the capture was made" : "at the program's end";

	return [
		make("p", {}, `Between ${duration(from)} and ${duration(to)}: of what was allocated then, `, make("strong", {}, bytes(passed.sum.live)),
			` in ${many(passed.sum.blocks, "block")} of ${many(passed.sum.sites, "stack")} is still live ${end}. The other views show these.`),
		make("p", { class: "note" }, "A capture knows the blocks that were live in its last moment. What was allocated in this window, outlived it and was freed later " +
			"is not among them; of the call sites that held most, what they held at both ends is known:"),
		growth.length ? make("ul", { class: "grown" }, growth.map((g) => make("li", {}, `${g.grown > 0 ? "+" : ""}${bytes(g.grown)} `, g.name)))
			: make("p", { class: "note" }, data.sites.length ? "None of these changed." : "The capture has no such call sites."),
		model.blocks.nr < model.about.blocks && make("p", { class: "note" }, `Of ${count(model.about.blocks)} live blocks the page has the ${count(model.blocks.nr)} largest.`),
	];
}

function windowForm(model, store) {
	const field = (label, i) => make("label", {}, label, " ", make("input", { type: "number", min: 0, max: model.end / 1e9, step: "any", size: 8,
		"data-end": i }), " s");
	const form = make("form", { class: "tools", onsubmit: (event) => {
		const [from, to] = [...form.querySelectorAll("input")].map((input) => Number(input.value) * 1e9);

		event.preventDefault();
		if (to > from)
			store.select({ window: [from, to].map(Math.round) });
	} }, field("from", 0), field("to", 1), make("button", {}, "Select"),
	make("button", { type: "button", onclick: () => store.select({ window: null }) }, "All"));

	store.subscribe(({ state }) => form.querySelectorAll("input").forEach((input, i) => {
		input.value = Math.round((state.window ? Math.min(state.window[i], model.end) : i * model.end) / 1e6) / 1e3;
	}));
	return form;
}

export function timelineView(model, store) {
	const data = timelineData(model);

	if (!data)
		return make("p", { class: "note" }, model.report.byKey.history ? "The capture has too few points over time for a picture: it ran too briefly, or its monitor was gone."
			: model.about.foreign ? "The profile is of one moment."
			: "There is nothing over time of a running process, or of what a filter passes: it is of the whole process.");
	data.names = siteNames(model, data.sites);
	const charts = new Charts(model, store, data), words = make("div", { class: "words", role: "status" });

	store.subscribe((passed) => {
		replace(words, said(model, data, passed, store.state));
		charts.redraw();
	});
	requestAnimationFrame(() => charts.draw());
	new ResizeObserver(() => charts.draw()).observe(charts.element);
	return make("div", { class: "timeline" }, windowForm(model, store), words, charts.element);
}
