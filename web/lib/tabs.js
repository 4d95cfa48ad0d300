// SPDX-License-Identifier: GPL-2.0-or-later
// Tabs after the pattern of WAI-ARIA: one is in the order of the tab key, arrows move among them.
import { make, put } from "./dom.js";

export class Tabs {
	/** views: { id, title, make(): element, shown?() }, made when they are first shown. */
	constructor(views, label, chosen) {
		this.views = views;
		this.chosen = chosen;
		this.list = make("div", { role: "tablist", "aria-label": label, onkeydown: (e) => this.key(e) });
		this.panels = make("div", { class: "panels" });
		for (const view of views) {
			view.tab = make("button", { type: "button", role: "tab", id: `tab-${view.id}`, "aria-controls": `panel-${view.id}`,
				onclick: () => this.show(view.id) }, view.title);
			view.panel = make("div", { role: "tabpanel", id: `panel-${view.id}`, "aria-labelledby": `tab-${view.id}`, hidden: true });
			put(this.list, view.tab);
			put(this.panels, view.panel);
		}
	}

	show(id, focus) {
		const now = this.views.find((v) => v.id === id) ?? this.views[0];

		for (const view of this.views) {
			const on = view === now;

			view.tab.setAttribute("aria-selected", on);
			view.tab.tabIndex = on ? 0 : -1;
			view.panel.hidden = !on;
		}
		if (!now.made) {
			now.made = true;
			put(now.panel, now.make());
		}
		if (focus)
			now.tab.focus();
		now.shown?.();
		this.chosen?.(now.id);
	}

	key(event) {
		const at = this.views.findIndex((v) => v.tab === document.activeElement), nr = this.views.length;
		const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + nr, Home: 0, End: nr - 1 }[event.key];

		if (at < 0 || to === undefined)
			return;
		event.preventDefault();
		this.show(this.views[to % nr].id, true);
	}
}
