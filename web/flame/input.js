// SPDX-License-Identifier: GPL-2.0-or-later
// Mouse, touch and keys. The keys of the picture:
//   arrows       the caller, a callee, the frames beside; Home: the root
//   Enter        zoom to the focused frame; Backspace: to its parent
//   Escape       back to the whole picture
//   + and -      closer, further
//   /            to the search; n and N: to the next and previous match
//   c            copy the focused stack

const DRAG_LEAST = 4;		// pixels; less is a click
const WHEEL_FACTOR = 0.0018;	// per pixel of the wheel
const KEY_FACTOR = 1.5;

export class Input {
	constructor(graph, element) {
		this.graph = graph;
		this.element = element;
		this.down = null;
		this.listeners = [
			["pointerdown", (e) => this.press(e)], ["pointermove", (e) => this.move(e)],
			["pointerup", (e) => this.release(e)], ["pointercancel", () => this.cancel()],
			["pointerleave", () => graph.hover(null)], ["wheel", (e) => this.wheel(e)],
			["keydown", (e) => this.key(e)], ["scroll", () => graph.scrolled()],
			["focus", () => graph.focused(true)], ["blur", () => graph.focused(false)],
		];
		for (const [name, listener] of this.listeners) {
			element.addEventListener(name, listener, { passive: name === "scroll" });
		}
	}

	press(event) {
		if (event.button === 0 && event.offsetX < this.element.clientWidth) {
			this.down = { x: event.clientX, y: event.clientY, scroll: this.element.scrollTop, dragged: false };
		}
	}

	move(event) {
		const { down } = this;
		if (!down) {
			this.graph.hover(event);
			return;
		}
		const [dx, dy] = [event.clientX - down.x, event.clientY - down.y];
		if (!down.dragged && Math.hypot(dx, dy) >= DRAG_LEAST) {
			down.dragged = true;
			this.element.setPointerCapture(event.pointerId);
			this.graph.hover(null);
			this.element.classList.add("flame-dragged");
		}
		if (down.dragged) {
			this.graph.drag(event.clientX - (down.last ?? down.x));
			down.last = event.clientX;
			if (event.pointerType === "mouse") {
				this.element.scrollTop = down.scroll - dy;
			}
		}
	}

	release(event) {
		const { down } = this;
		this.cancel();
		if (down && !down.dragged) {
			this.graph.click(event);
		}
	}

	cancel() {
		this.down = null;
		this.element.classList.remove("flame-dragged");
	}

	// With Ctrl closer and further; sideways, or with Shift, along the rows; else the page's own.
	wheel(event) {
		const { graph } = this;
		if (event.ctrlKey || event.metaKey) {
			graph.zoomAt(event.clientX, Math.exp(-event.deltaY * WHEEL_FACTOR * (event.deltaMode ? 16 : 1)));
		} else if (event.deltaX || event.shiftKey) {
			graph.drag(-(event.deltaX || event.deltaY));
		} else {
			return;
		}
		event.preventDefault();
	}

	key(event) {
		if (event.ctrlKey || event.metaKey || event.altKey) {
			return;
		}
		const { graph } = this;
		const [inwards, outwards] = graph.view.flipped ? ["ArrowUp", "ArrowDown"] : ["ArrowDown", "ArrowUp"];
		const actions = {
			[inwards]: () => graph.focusChild(), [outwards]: () => graph.focusParent(),
			ArrowLeft: () => graph.focusBeside(-1), ArrowRight: () => graph.focusBeside(1),
			Home: () => graph.focusNode(graph.model.tree.root),
			Enter: () => graph.choose(graph.focus), " ": () => graph.choose(graph.focus),
			Backspace: () => graph.zoom(graph.model.tree.parent[graph.zoomed]),
			Escape: () => graph.reset(),
			"+": () => graph.closer(KEY_FACTOR), "=": () => graph.closer(KEY_FACTOR), "-": () => graph.closer(1 / KEY_FACTOR),
			"/": () => graph.focusSearch(), c: () => graph.copyStack(),
			n: () => graph.focusMatch(1), N: () => graph.focusMatch(-1),
		};
		if (Object.hasOwn(actions, event.key) && !graph.busy) {
			actions[event.key]();
			event.preventDefault();
			event.stopPropagation();
		}
	}

	destroy() {
		for (const [name, listener] of this.listeners) {
			this.element.removeEventListener(name, listener);
		}
	}
}
