// SPDX-License-Identifier: GPL-2.0-or-later
// Parts of the page: elements with base64 of raw DEFLATE, and what is in them (doc/page.md).

function bytesOf(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const binary = atob(text), bytes = new Uint8Array(binary.length);

	for (let i = 0; i < binary.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}

/** The bytes of a part, null where the page has none of that name. */
export async function readPart(name) {
	const element = document.getElementById(`pmm-data-${name}`);

	if (!element)
		return null;
	const packed = new Blob([bytesOf(element.textContent)]);

	element.remove();
	const stream = packed.stream().pipeThrough(new DecompressionStream("deflate-raw"));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function readJson(name) {
	const bytes = await readPart(name);

	return bytes && JSON.parse(new TextDecoder().decode(bytes));
}

/** Numbers one after the other, as page_number() and page_signed() write them. */
export class Reader {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}

	number() {
		const { bytes } = this;
		let b = bytes[this.at++];

		if (b < 128)
			return b;
		let n = 0, scale = 1;

		for (; b > 127; b = bytes[this.at++]) {
			n += (b & 127) * scale;
			scale *= 128;
		}
		if (b === undefined)
			throw new Error("the data of this page are cut off");
		return n + b * scale;
	}

	signed() {
		const n = this.number();

		return n % 2 ? -(n + 1) / 2 : n / 2;
	}

	text() {
		const length = this.number(), start = this.at;

		this.at += length;
		return new TextDecoder().decode(this.bytes.subarray(start, this.at));
	}
}
