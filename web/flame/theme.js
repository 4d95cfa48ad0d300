// SPDX-License-Identifier: GPL-2.0-or-later
// Colours of the page as they are now: light or dark, from its custom properties.

import { diffPalette, modulePalette, verdictPalette } from "./colour.js";

const MAKE = { module: modulePalette, verdict: verdictPalette, change: diffPalette };

export class Theme {
	constructor(element, changed) {
		this.element = element;
		this.palettes = new Map();
		this.printing = false;
		this.media = matchMedia("(prefers-color-scheme: dark)");
		this.changed = () => {
			this.read();
			changed();
		};
		this.media.addEventListener("change", this.changed);
		this.observer = new MutationObserver(this.changed);
		this.observer.observe(document.documentElement,
			{ attributes: true, attributeFilter: ["class", "data-theme", "style"] });
		this.read();
	}

	// Dark is what the page's ground says, however it came to be.
	read() {
		const style = getComputedStyle(this.element);
		const value = (name, fallback) => style.getPropertyValue(name).trim() || fallback;
		this.dark = style.colorScheme === "dark" || (style.colorScheme !== "light" && this.media.matches);
		this.accent = value("--accent", this.dark ? "#83b6f0" : "#1f5fa8");
		this.ground = value("--ground", this.dark ? "#16181b" : "#fdfdfc");
		this.ink = value("--ink", this.dark ? "#e4e5e3" : "#1c1d1f");
		this.family = value("--sans", "system-ui, sans-serif");
	}

	palette(kind) {
		const dark = this.dark && !this.printing;
		const key = `${kind}${dark}`;
		if (!this.palettes.has(key)) {
			this.palettes.set(key, MAKE[kind](dark));
		}
		return this.palettes.get(key);
	}

	destroy() {
		this.media.removeEventListener("change", this.changed);
		this.observer.disconnect();
	}
}
