// SPDX-License-Identifier: GPL-2.0-or-later
// The flame graph: not there yet.

export function flame(element) {
	element.textContent = "The flame graph is not part of this page yet.";
	return { setMetric() {}, setSelection() {}, setProfile() {}, setView() {}, zoom() {}, search() {}, state: () => ({}),
		restore() {}, on() {}, destroy() {} };
}
