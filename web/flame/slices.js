// SPDX-License-Identifier: GPL-2.0-or-later
// Long work in slices. A generator yields now and then; between slices the browser draws and
// answers keys. There is no worker: the page's policy forbids to load one.

export const FIRST_SLICE_MS = 100;	// what takes no longer is done at once
export const SLICE_MS = 12;

// Run a generator to its end at once and return its value.
export function finish(work) {
	for (;;) {
		const step = work.next();
		if (step.done) {
			return step.value;
		}
	}
}

// Call f after the events that wait: a message is not held back as timers are.
function afterEvents(f) {
	const channel = new MessageChannel();
	channel.port1.onmessage = () => {
		channel.port1.close();
		f();
	};
	channel.port2.postMessage(0);
}

// Run a generator in slices, then call done(value). Returns what cancels it.
export function inSlices(work, done, later = afterEvents, now = () => performance.now()) {
	let cancelled = false;
	function slice(ms) {
		const end = now() + ms;
		while (!cancelled) {
			const step = work.next();
			if (step.done) {
				done(step.value);
				return;
			}
			if (now() >= end) {
				later(() => slice(SLICE_MS));
				return;
			}
		}
	}
	slice(FIRST_SLICE_MS);
	return () => {
		cancelled = true;
	};
}
