// SPDX-License-Identifier: GPL-2.0-or-later
// What is said of a frame, in the tooltip and to screen readers: the same facts.

import { clean, count, bytes, percent } from "../lib/format.js";

export function valueText(value, unit) {
	return unit === "bytes" ? bytes(value) : `${count(value)} ${value === 1 ? unit.replace(/s$/, "") : unit}`;
}

// What a metric is called: its unit is said where there is another one of the same name.
export function metricText({ name, unit }) {
	return unit === "calls" ? name : `${name}, ${unit}`;
}

export function signedText(value, unit) {
	return (value > 0 ? "+" : "") + valueText(value, unit);
}

// Lines of figures of a node, most important first.
export function figures(model, node) {
	const { metric, tree } = model;
	const { metrics } = model.profile;
	const { unit, name } = metrics[metric];
	const up = tree.parent[node];
	if (model.signed) {
		const lines = [`${name}: ${signedText(tree.mark[node], unit)}`];
		if (model.profile.before) {
			const [before, after] = [model.sum(node, metric, "before"), model.sum(node, metric)];
			lines.push(`${valueText(before, unit)} before, ${valueText(after, unit)} after`);
		}
		lines.push(`${percent(tree.weight[node], model.total)} of all changes`);
		return lines;
	}
	const pair = model.pair(metric);
	const main = valueText(tree.weight[node], unit);
	const other = pair < 0 ? "" : `, ${valueText(model.sum(node, pair), metrics[pair].unit)}`;
	const lines = [`${name}: ${main}${other}`];
	if (node) {
		lines.push(`${percent(tree.weight[node], model.total)} of all` + (up ?
			`, ${percent(tree.weight[node], tree.weight[up])} of ${clean(model.name(up))}` : ""));
	}
	return lines;
}

// { title, where, lines } of a node; rest: of that many light children of it.
export function describe(model, node, rest = 0) {
	if (rest) {
		const light = model.children(node).slice(-rest);
		const sum = light.reduce((s, n) => s + model.tree.weight[n], 0);
		const { unit } = model.profile.metrics[model.metric];
		return {
			title: `${count(rest)} ${rest === 1 ? "frame" : "frames"} too narrow to draw`,
			where: node ? `below ${clean(model.name(node))}` : "",
			lines: [`${valueText(sum, unit)} together, ${percent(sum, model.total)} of all`],
		};
	}
	if (!node) {
		return { title: "all stacks", where: "", lines: figures(model, 0) };
	}
	const [place, module] = [model.place(node), model.moduleOf(node)];
	return {
		title: clean(model.name(node)),
		where: [place, module].filter(Boolean).map(clean).join(" \u00b7 "),
		lines: figures(model, node),
	};
}

// The same as one sentence, with the frame's place among the others.
export function sentence(model, node) {
	const { title, where, lines } = describe(model, node);
	const depth = model.path(node).length - 1;
	const below = model.children(node).length;
	const noun = model.inverted ? "caller" : "callee";
	return [title, where, ...lines, `level ${depth}`,
		`${below ? count(below) : "no"} ${below === 1 ? noun : `${noun}s`}`].filter(Boolean).join(", ");
}
