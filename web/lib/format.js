// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers for people, to the letter as pmm's text has them (src/base/fmt.c).

function threeDigits(x) {
	return x < 9.995 ? x.toFixed(2) : x < 99.95 ? x.toFixed(1) : x.toFixed(0);
}

export function count(n) {
	return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

export function bytes(n) {
	const sign = n < 0 ? "-" : "", units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
	let x = Math.abs(n), i = 0;

	if (x < 1024)
		return `${sign}${Math.round(x)} B`;
	for (x /= 1024; x >= 1023.5 && i < 5; i++)
		x /= 1024;
	return `${sign}${threeDigits(x)} ${units[i]}`;
}

export function many(n, noun) {
	const plural = noun.endsWith("s") ? `${noun}es` : noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;

	return `${count(n)} ${n === 1 ? noun : plural}`;
}

export function percent(part, whole) {
	const x = whole ? 100 * part / whole : 0;

	if (!whole)
		return "-";
	if (!part)
		return "0%";
	if (part === whole)
		return "100%";
	return Math.abs(x) < 0.1 ? "<0.1%" : `${(part < whole && x > 99.9 ? 99.9 : x).toFixed(1)}%`;
}

const two = (n) => String(Math.floor(n)).padStart(2, "0");

export function duration(ns) {
	const s = Math.floor(ns / 1e9);

	if (!ns)
		return "0 s";
	if (ns < 1000)
		return `${Math.round(ns)} ns`;
	if (ns < 999500)
		return `${threeDigits(ns / 1e3)} us`;
	if (ns < 999500000)
		return `${threeDigits(ns / 1e6)} ms`;
	if (ns < 99950000000)
		return `${threeDigits(ns / 1e9)} s`;
	if (s < 3600)
		return `${Math.floor(s / 60)}m${two(s % 60)}s`;
	if (s < 86400)
		return `${Math.floor(s / 3600)}h${two(s / 60 % 60)}m`;
	return `${Math.floor(s / 86400)}d${two(s / 3600 % 24)}h`;
}

/** In steps of a clock. */
export function durationStep(ns, step) {
	if (step && ns < step)
		return `under ${durationStep(step, step)}`;
	if (step)
		ns = Math.round(ns / step) * step;
	if (step >= 1e6 && ns < 999500000)
		return `${Math.round(ns / 1e6)} ms`;
	if (step >= 1e9 && ns < 99950000000)
		return `${Math.round(ns / 1e9)} s`;
	if (step >= 1e8 && ns < 9995000000)
		return `${(ns / 1e9).toFixed(1)} s`;
	return duration(ns);
}

export function time(realtimeNs) {
	const d = new Date(realtimeNs / 1e6);

	return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ` +
		`${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

/**
 * Text from outside, on one line: what could end it, turn its direction or not be seen becomes
 * \u{N}.
 */
export function clean(text) {
	return String(text).replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

/** A cell by its column's unit (src/document/table.h). */
export function cell(value, unit, tick = 0, moment = false) {
	if (value === null || value === undefined)
		return "";
	switch (unit) {
	case "bytes": return bytes(value);
	case "count": return count(value);
	case "percent": return percent(value, 100);
	case "duration": return !value && moment ? "0 s" : durationStep(value, tick);
	case "time": return time(value);
	case "bool": return value ? "yes" : "no";
	case "float": return String(Math.round(value * 100) / 100);
	case "bars": case "numbers": return value.map(count).join(" ");
	default: return clean(value);
	}
}
