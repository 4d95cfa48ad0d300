// SPDX-License-Identifier: GPL-2.0-or-later
// The picture on a canvas, in device pixels: fills first, then texts, so that the canvas changes its
// state seldom. Nothing is allocated here but the texts of labels that are new.
//
// scene: { layout, model, palette, labels, index(node), isDim(node), isHit(node),
//          width, height, ratio, rowHeight, rowTop(row), font, ground, accent };
// isDim and isHit may be null

const TEXT_LEAST = 26;		// CSS pixels
const PADDING = 5;
const HIT_HEIGHT = 2.5;

function rowsSeen(scene) {
	const { layout, rowHeight, height } = scene;
	let first = layout.nrRows;
	let last = -1;
	for (let row = 0; row < layout.nrRows; row++) {
		const top = scene.rowTop(row);
		if (top + rowHeight > 0 && top < height) {
			first = Math.min(first, row);
			last = row;
		}
	}
	scene.firstRow = first;
	scene.lastRow = last;
}

function fills(ctx, scene) {
	const { layout, palette, ratio, isDim } = scene;
	const { node, x, w, rest } = layout;
	const right = Math.round(scene.width * ratio);
	const h = Math.round(scene.rowHeight * ratio) - Math.max(1, Math.floor(ratio));
	let style = "";
	for (let row = scene.firstRow; row <= scene.lastRow; row++) {
		const y = Math.round(scene.rowTop(row) * ratio);
		for (let i = layout.row[row]; i < layout.row[row + 1]; i++) {
			const x0 = Math.max(0, Math.round(x[i] * ratio));
			let x1 = Math.min(right, Math.round((x[i] + w[i]) * ratio));
			if (x1 - x0 > 3) {
				x1--;
			} else if (x1 === x0) {
				x1++;
			}
			const dim = isDim !== null && isDim(node[i]);
			const colour = rest[i] ? (dim ? palette.dimRest : palette.rest) :
				(dim ? palette.dim : palette.fill)[scene.index(node[i])];
			if (colour !== style) {
				style = colour;
				ctx.fillStyle = style;
			}
			ctx.fillRect(x0, y, x1 - x0, h);
		}
	}
}

function hits(ctx, scene) {
	const { layout, ratio, isHit } = scene;
	const h = Math.max(2, Math.round(HIT_HEIGHT * ratio));
	const below = Math.round(scene.rowHeight * ratio) - Math.max(1, Math.floor(ratio)) - h;
	ctx.fillStyle = scene.accent;
	for (let row = scene.firstRow; row <= scene.lastRow; row++) {
		const y = Math.round(scene.rowTop(row) * ratio) + below;
		for (let i = layout.row[row]; i < layout.row[row + 1]; i++) {
			if (!layout.rest[i] && isHit(layout.node[i])) {
				const x0 = Math.max(0, Math.round(layout.x[i] * ratio));
				const x1 = Math.round((layout.x[i] + layout.w[i]) * ratio) - 1;
				ctx.fillRect(x0, y, Math.max(1, x1 - x0), h);
			}
		}
	}
}

function labelOf(scene, node) {
	const { model } = scene;
	const c = node ? model.tree.cls[node] : 0;
	let label = model.labels[c];
	if (!label) {
		label = scene.labels.label(node ? model.name(node) : "all");
		model.labels[c] = label;
	}
	return label;
}

function texts(ctx, scene) {
	const { layout, palette, ratio, isDim, labels } = scene;
	const { node, x, w, rest } = layout;
	const middle = Math.round((scene.rowHeight - 1) * ratio / 2);
	let style = "";
	ctx.font = scene.font;
	ctx.textBaseline = "middle";
	for (let row = scene.firstRow; row <= scene.lastRow; row++) {
		const y = Math.round(scene.rowTop(row) * ratio) + middle + 1;
		for (let i = layout.row[row]; i < layout.row[row + 1]; i++) {
			if (w[i] < TEXT_LEAST || rest[i]) {
				continue;
			}
			const x0 = Math.max(0, x[i]);
			const room = Math.min(scene.width, x[i] + w[i]) - x0 - 2 * PADDING;
			const text = room > 0 ? labels.fit(labelOf(scene, node[i]), room * ratio) : "";
			if (text) {
				const colour = isDim !== null && isDim(node[i]) ? palette.dimText : palette.text;
				if (colour !== style) {
					style = colour;
					ctx.fillStyle = style;
				}
				ctx.fillText(text, Math.round((x0 + PADDING) * ratio), y);
			}
		}
	}
}

export function draw(ctx, scene) {
	ctx.fillStyle = scene.ground;
	ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
	rowsSeen(scene);
	if (scene.labels.setFont(scene.font, (text) => {
		ctx.font = scene.font;
		return ctx.measureText(text).width;
	})) {
		scene.model.labels.fill(undefined);
	}
	fills(ctx, scene);
	if (scene.isHit) {
		hits(ctx, scene);
	}
	texts(ctx, scene);
}

// A frame around rectangle i: what is under the pointer, or has the focus.
export function outline(ctx, scene, i, colour, thick) {
	const { layout, ratio } = scene;
	const line = Math.max(1, Math.round(thick * ratio));
	const x0 = Math.max(0, Math.round(layout.x[i] * ratio));
	const x1 = Math.min(Math.round(scene.width * ratio), Math.round((layout.x[i] + layout.w[i]) * ratio));
	const y = Math.round(scene.rowTop(layout.rowOf(i)) * ratio);
	const h = Math.round(scene.rowHeight * ratio) - Math.max(1, Math.floor(ratio));
	ctx.strokeStyle = colour;
	ctx.lineWidth = line;
	ctx.strokeRect(x0 + line / 2, y + line / 2, Math.max(1, x1 - x0 - line - 1), h - line);
}
