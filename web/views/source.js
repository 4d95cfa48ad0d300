// SPDX-License-Identifier: GPL-2.0-or-later
// Lines of source files, with what they hold beside them: by themselves, and with what they call.
import { make, put, replace } from "../lib/dom.js";
import { bytes, clean, many } from "../lib/format.js";
import { baseName } from "../lib/model.js";

/** By file and line: what passes, of stacks that it answers for and of those that go through it. */
function sums(model, passed) {
	const { sites } = model, { frames, nodes } = model.profile, byFile = new Map();
	const lineOf = (frame) => {
		const file = frames.file[frame], line = frames.line[frame];

		if (!file || !line)
			return null;
		if (!byFile.has(file))
			byFile.set(file, new Map());
		const lines = byFile.get(file);

		if (!lines.has(line))
			lines.set(line, { own: 0, through: 0, blocks: 0, last: -1, frame });
		return lines.get(line);
	};

	for (let i = 0; i < sites.nr; i++) {
		if (!passed.site[i])
			continue;
		const answer = lineOf(sites.answer[i]);

		if (answer) {
			answer.own += passed.live[i];
			answer.blocks += passed.blocks[i];
		}
		for (let node = sites.node[i]; node; node = nodes.parent[node]) {
			const line = lineOf(nodes.frame[node]);

			if (line && line.last !== i) {
				line.through += passed.live[i];
				line.last = i;
			}
		}
	}
	return byFile;
}

function listing(store, entry, lines, most) {
	const body = make("tbody");

	entry.runs.forEach(([first, ...texts], k) => {
		if (k)
			put(body, make("tr", { class: "gap" }, make("td", { colspan: 5 }, "⋯")));
		texts.forEach((text, i) => {
			const line = lines.get(first + i), bar = line?.own ? make("div", { class: "bar" }) : null;

			if (bar)
				bar.style.width = `${100 * line.own / most}%`;
			put(body, make("tr", { class: line?.own ? "holds" : null }, make("td", { class: "bar-cell" }, bar),
				make("td", { class: "number" }, line?.own ? bytes(line.own) : ""),
				make("td", { class: "number dim" }, line?.through ? bytes(line.through) : ""),
				make("td", { class: "number dim" }, line ? make("button", { type: "button", class: "link", "aria-label": `select line ${first + i}`,
					onclick: () => store.select({ answer: line.frame }) }, String(first + i)) : String(first + i)),
				make("td", { class: "code" }, clean(text.replaceAll("\t", "    ")))));
		});
	});
	return make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "source lines" },
		make("table", { class: "listing" }, make("thead", {}, make("tr", {}, make("td", {}), ["live here", "live below", "line", "source"].map((h, i) =>
			make("th", { scope: "col", class: i < 3 ? "number" : "text" }, h)))), body));
}

export function sourceView(model, store) {
	if (!model.source)
		return make("p", { class: "note" }, "The page was made without source files: 'pmm report --format html --source' puts their lines into it.");
	const { strings } = model.profile, element = make("div", { class: "source" });
	let chosen = Number(store.extra.file) || null;

	store.subscribe((passed) => {
		const byFile = sums(model, passed);
		const own = (e) => [...(byFile.get(e.file)?.values() ?? [])].reduce((n, l) => n + l.own, 0);
		const there = model.source.filter((e) => e.runs?.length).map((e) => ({ ...e, own: own(e) })).sort((a, b) => b.own - a.own);
		const missing = model.source.filter((e) => !e.runs?.length);

		if (!there.some((e) => e.file === chosen))
			chosen = there[0]?.file ?? null;
		const select = make("select", { "aria-label": "source file", onchange: () => {
			chosen = Number(select.value);
			store.remember("file", String(chosen));
			show();
		} }, there.map((e) => make("option", { value: e.file, selected: e.file === chosen }, `${clean(baseName(strings[e.file]))}, ${bytes(e.own)}`)));
		const place = make("div", {});
		const show = () => {
			const entry = there.find((e) => e.file === chosen), lines = byFile.get(chosen) ?? new Map();

			replace(place, entry && [make("p", { class: "from" }, clean(strings[chosen])),
				listing(store, entry, lines, Math.max(1, ...[...lines.values()].map((l) => l.own)))]);
		};

		show();
		replace(element, make("div", { class: "tools" }, there.length ? select : make("p", { class: "note" }, "No source file could be read."),
			make("span", { class: "note" }, "Lines as they were when the page was made: files that have changed since the program was built show other lines.")),
		place, missing.length > 0 && make("details", {}, make("summary", {}, `${many(missing.length, "file")} could not be read`),
			make("ul", {}, missing.slice(0, 200).map((e) => make("li", {}, `${clean(strings[e.file])}: ${e.why ?? "it has no such lines"}`)))));
	});
	return element;
}
