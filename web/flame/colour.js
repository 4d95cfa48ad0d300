// SPDX-License-Identifier: GPL-2.0-or-later
// Colours: of modules, of verdicts, of differences, in a light and a dark form. They are made in
// OKLCH, where equal lightness looks equally light, and given as sRGB.

export const SHADES = 4;	// of one hue, by the function's name
export const NR_HUES = 10;
export const SLOT_OTHER = NR_HUES;
export const SLOT_UNKNOWN = NR_HUES + 1;
export const STEPS = 8;		// of a difference, in each direction
export const REST = -1;		// the colour index of what is put together

// The program first; neighbours in this list are far apart on the wheel.
const HUES = [248, 65, 155, 310, 20, 195, 105, 280, 345, 130];

const LIGHT = { fill: 0.86, chroma: 0.072, step: -0.018, grey: 0.88, back: [1, 0, 0], dim: 0.72 };
const DARK = { fill: 0.43, chroma: 0.075, step: 0.016, grey: 0.36, back: [0.19, 0.01, 260], dim: 0.66 };

function linear(l, c, h) {
	const a = c * Math.cos(h * Math.PI / 180);
	const b = c * Math.sin(h * Math.PI / 180);
	const x = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
	const y = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
	const z = (l - 0.0894841775 * a - 1.2914855480 * b) ** 3;
	return [
		4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z,
		-1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z,
		-0.0041960863 * x - 0.7034186147 * y + 1.7076147010 * z,
	];
}

// [r, g, b] from 0 to 255. Chroma that sRGB does not have is taken back until it has it.
export function oklch(l, c, h) {
	let rgb = linear(l, c, h);
	while (c > 0.001 && rgb.some((v) => v < -0.0005 || v > 1.0005)) {
		c *= 0.95;
		rgb = linear(l, c, h);
	}
	return rgb.map((v) => {
		const x = Math.min(1, Math.max(0, v));
		return Math.round(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055));
	});
}

export function hex(rgb) {
	return `#${rgb.map((v) => v.toString(16).padStart(2, "0")).join("")}`;
}

// WCAG's contrast of two colours.
export function contrast(one, other) {
	const luminance = (rgb) => {
		const [r, g, b] = rgb.map((v) => {
			const x = v / 255;
			return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
		});
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
	return (high + 0.05) / (low + 0.05);
}

function mix(one, other, share) {
	return one.map((v, i) => Math.round(v + (other[i] - v) * share));
}

// A palette: fills by index, a colour of text for each, and the same for what is dimmed.
class Palette {
	constructor(fills, kind) {
		const back = oklch(...kind.back);
		const dark = kind === DARK;
		const ink = dark ? [244, 244, 246] : [26, 27, 32];
		const faint = dark ? [150, 152, 160] : [112, 114, 122];
		const rest = oklch(kind.grey + (dark ? -0.06 : 0.05), 0.004, 260);
		this.rgb = fills;
		this.ink = ink;
		this.fill = fills.map(hex);
		this.dim = fills.map((c) => hex(mix(c, back, kind.dim)));
		this.text = hex(ink);
		this.dimText = hex(faint);
		this.rest = hex(rest);
		this.dimRest = hex(mix(rest, back, kind.dim));
	}
}

// Index: slot * SHADES + shade.
export function modulePalette(dark) {
	const kind = dark ? DARK : LIGHT;
	const fills = [];
	for (let slot = 0; slot <= SLOT_UNKNOWN; slot++) {
		for (let shade = 0; shade < SHADES; shade++) {
			const l = kind.fill + shade * kind.step;
			fills.push(slot < NR_HUES ? oklch(l, kind.chroma, HUES[slot]) :
				oklch(kind.grey + shade * kind.step, slot === SLOT_OTHER ? 0.02 : 0.004, 250));
		}
	}
	return new Palette(fills, kind);
}

// Index: STEPS + signed step; below STEPS it shrank (blue), above it grew (red).
export function diffPalette(dark) {
	const kind = dark ? DARK : LIGHT;
	const fills = [];
	for (let step = -STEPS; step <= STEPS; step++) {
		const t = Math.abs(step) / STEPS;
		const l = kind.grey + t * (dark ? 0.1 : -0.14);
		fills.push(oklch(l, 0.004 + t * 0.135, step < 0 ? 245 : 27));
	}
	return new Palette(fills, kind);
}

// The step of a signed sum within the sum of its magnitudes.
export function diffIndex(mark, weight) {
	const t = weight > 0 ? mark / weight : 0;
	const step = Math.sign(t) * Math.ceil(Math.abs(t) * STEPS - 1e-9);
	return STEPS + Math.max(-STEPS, Math.min(STEPS, step));
}

// Verdicts by rising weight: not judged, probably none, growing, likely, certain. Three strengths
// each, by the share of the frame's weight that has a verdict from BAD_LEVEL on.
export const VERDICTS = ["not judged", "probably none", "growing", "likely", "certain"];
export const BAD_LEVEL = 2;
const STRENGTHS = 3;
const VERDICT_COLOURS = [[0, 0.004, 260], [0, 0.05, 150], [-0.01, 0.09, 95], [-0.04, 0.1, 60],
	[-0.1, 0.13, 25]];

export function verdictPalette(dark) {
	const kind = dark ? DARK : LIGHT;
	const fills = [];
	for (const [l, c, h] of VERDICT_COLOURS) {
		for (let s = 1; s <= STRENGTHS; s++) {
			const t = s / STRENGTHS;
			fills.push(oklch(kind.grey + (dark ? -l * 0.8 : l) * t, c * (0.25 + 0.75 * t), h));
		}
	}
	return new Palette(fills, kind);
}

export function verdictIndex(level, bad, weight) {
	const share = level < BAD_LEVEL ? 1 : weight > 0 ? bad / weight : 0;
	return level * STRENGTHS + Math.min(STRENGTHS - 1, Math.floor(share * STRENGTHS));
}

// Slots of modules: the program first, then by how many frames they have; the rest share one.
export function moduleSlots(profile, program) {
	const count = new Map();
	for (const m of profile.frames.module) {
		count.set(m, (count.get(m) || 0) + 1);
	}
	count.delete(0);
	const had = count.delete(program);
	const ranked = [...count.keys()].sort((a, b) => count.get(b) - count.get(a) || a - b);
	if (had) {
		ranked.unshift(program);
	}
	const slot = new Map([[0, SLOT_UNKNOWN]]);
	ranked.forEach((m, i) => slot.set(m, Math.min(had ? i : i + 1, SLOT_OTHER)));
	return { slot, ranked };
}

// class -> index into the palette of modules.
export function classColours(profile, classes, slots) {
	const out = new Uint16Array(classes.size);
	for (let c = 0; c < classes.size; c++) {
		const slot = slots.slot.get(profile.frames.module[classes.first[c]]);
		out[c] = slot * SHADES + (Math.imul(classes.name[c] + 1, 0x9e3779b1) >>> 30);
	}
	return out;
}
