/* SPDX-License-Identifier: MIT */
/*
 * Finds the frame description of a pc in a module and takes it apart.
 *
 * Layout: LSB 5.0 core, 10.6 "Exception Frames"; the CIE version 4 fields: DWARF 5 section 6.4.1.
 */
#include "agent/unwind/cfi_fde.h"

enum {
	PE_ABSPTR = 0x00, PE_ULEB128 = 0x01, PE_UDATA2 = 0x02, PE_UDATA4 = 0x03, PE_UDATA8 = 0x04,
	PE_SLEB128 = 0x09, PE_SDATA2 = 0x0a, PE_SDATA4 = 0x0b, PE_SDATA8 = 0x0c,
	PE_FORMAT = 0x0f,

	PE_PCREL = 0x10, PE_DATAREL = 0x30, PE_ALIGNED = 0x50,
	PE_BASE = 0x70,

	PE_INDIRECT = 0x80, PE_OMIT = 0xff,
};

#define LENGTH_64	0xffffffffu	/* a 64-bit length follows */

static uint64_t value_read(struct cursor *c, uint8_t format)
{
	switch (format) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		return cursor_u64(c);
	case PE_ULEB128:
		return cursor_uleb(c);
	case PE_UDATA2:
		return cursor_u16(c);
	case PE_UDATA4:
		return cursor_u32(c);
	case PE_SLEB128:
		return (uint64_t)cursor_sleb(c);
	case PE_SDATA2:
		return (uint64_t)(int64_t)(int16_t)cursor_u16(c);
	case PE_SDATA4:
		return (uint64_t)(int64_t)(int32_t)cursor_u32(c);
	}
	c->bad = 1;
	return 0;
}

uint64_t cfi_encoded_read(struct cursor *c, uint8_t encoding, uint64_t data_base)
{
	uint64_t at = c->at;

	switch (encoding & PE_BASE) {
	case 0:
		return value_read(c, encoding & PE_FORMAT);
	case PE_PCREL:
		return at + value_read(c, encoding & PE_FORMAT);
	case PE_DATAREL:
		return data_base + value_read(c, encoding & PE_FORMAT);
	case PE_ALIGNED:
		cursor_take(c, -at & 7);
		return cursor_u64(c);
	}
	c->bad = 1;
	return 0;
}

/* ---- CIE and FDE ----------------------------------------------------------------------------- */

/*
 * A cursor over the body of the entry at `at`, below `end`. Returns 1, or 0 at a terminator or when
 * it does not fit.
 */
static int entry_open(uint64_t at, uint64_t end, struct cursor *c)
{
	uint64_t bytes;

	*c = (struct cursor){ .at = at, .end = end };
	bytes = cursor_u32(c);
	if (bytes == LENGTH_64)
		bytes = cursor_u64(c);
	if (c->bad || bytes < 4 || bytes > cursor_left(c))
		return 0;
	c->end = c->at + bytes;
	return 1;
}

/* What is behind the letters `z...` of the augmentation at `letters`. */
static void augmentation_parse(uint64_t letters, struct cursor *c, struct cfi_fde *fde)
{
	const uint8_t *s = (const uint8_t *)letters;

	for (; *s; s++) {
		switch (*s) {
		case 'R':
			fde->encoding = cursor_u8(c);
			break;
		case 'L':
			cursor_u8(c);
			break;
		case 'P': {
			uint8_t encoding = cursor_u8(c);

			fde->personality = 1;
			if (encoding != PE_OMIT)
				cfi_encoded_read(c, encoding, 0);
			break;
		}
		case 'S':
			fde->signal = 1;
			break;
		default:
			c->bad = 1;
			return;
		}
	}
}

/*
 * The augmentation of a CIE whose cursor is at the first byte after the numbers; `letters` is its
 * string.
 */
static void augmentation_read(uint64_t letters, struct cursor *c, struct cfi_fde *fde)
{
	const uint8_t *s = (const uint8_t *)letters;
	struct cursor data;
	uint64_t bytes;

	if (s[0] == 'z') {
		fde->sized = 1;
		bytes = cursor_uleb(c);
		data = *c;
		if (!cursor_take(c, bytes))
			return;
		data.end = c->at;
		augmentation_parse(letters + 1, &data, fde);
		c->bad |= data.bad;
	} else if (s[0]) {
		c->bad |= !(s[0] == 'e' && s[1] == 'h' && !s[2]);	/* "eh": read already */
	}
}

/* Read the CIE at `at` into *fde. Returns 1, or 0. */
static int cie_parse(const struct cfi_module *m, uint64_t at, struct cfi_fde *fde)
{
	struct cursor c;
	uint64_t letters, ra;
	uint8_t version;

	if (at < m->start || at >= m->end || !entry_open(at, m->end, &c) || cursor_u32(&c) != 0)
		return 0;
	version = cursor_u8(&c);
	if (version != 1 && version != 3 && version != 4)
		return 0;
	letters = c.at;
	while (cursor_u8(&c))
		;
	if (c.bad)
		return 0;
	if (((const uint8_t *)letters)[0] == 'e')
		cursor_u64(&c);		/* gcc 2 put a pointer here */
	/* bytes of an address, of a segment selector */
	if (version == 4 && (cursor_u8(&c) != 8 || cursor_u8(&c) != 0))
		return 0;

	fde->code_align = cursor_uleb(&c);
	fde->data_align = cursor_sleb(&c);
	ra = version == 1 ? cursor_u8(&c) : cursor_uleb(&c);
	augmentation_read(letters, &c, fde);
	fde->initial = c;
	return !c.bad && ra == ARCH_DWARF_RA;
}

/* Take apart the FDE at `at`. Returns 1; 0 when it makes no sense or is a CIE. */
static int fde_parse(const struct cfi_module *m, uint64_t at, struct cfi_fde *fde)
{
	struct cursor c;
	uint64_t cie_at, cie_off;

	if (at < m->start || at >= m->end || !entry_open(at, m->end, &c))
		return 0;
	cie_at = c.at;
	cie_off = cursor_u32(&c);
	*fde = (struct cfi_fde){ .encoding = PE_ABSPTR };
	if (cie_off == 0 || cie_off > cie_at || !cie_parse(m, cie_at - cie_off, fde))
		return 0;

	fde->start = cfi_encoded_read(&c, fde->encoding, m->hdr);
	fde->end = fde->start + value_read(&c, fde->encoding & PE_FORMAT);
	if ((fde->encoding & PE_INDIRECT) || fde->end < fde->start)
		return 0;
	if (fde->sized)
		cursor_take(&c, cursor_uleb(&c));
	fde->program = c;
	return !c.bad;
}

/* ---- search ---------------------------------------------------------------------------------- */

/*
 * The search table of .eh_frame_hdr: `nr` pairs (code start, FDE), each number `width` bytes,
 * sorted by the first.
 */
struct table {
	uint64_t at, nr;
	uint8_t encoding, width;
};

static uint8_t format_width(uint8_t format)
{
	switch (format) {
	case PE_UDATA2:
	case PE_SDATA2:
		return 2;
	case PE_UDATA4:
	case PE_SDATA4:
		return 4;
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		return 8;
	}
	return 0;
}

/*
 * Read the header: *frame is where it says .eh_frame is (0 = does not). Returns 1 when it has a
 * table we can search.
 */
static int table_open(const struct cfi_module *m, struct table *t, uint64_t *frame)
{
	struct cursor c;
	uint8_t frame_encoding, nr_encoding;

	*frame = 0;
	if (!m->apart && (m->hdr < m->start || m->hdr >= m->end))
		return 0;
	c = (struct cursor){ .at = m->hdr, .end = m->apart ? m->hdr + m->hdr_bytes : m->end };
	if (m->hdr_bytes && m->hdr_bytes < cursor_left(&c))
		c.end = c.at + m->hdr_bytes;
	if (cursor_u8(&c) != 1)
		return 0;
	frame_encoding = cursor_u8(&c);
	nr_encoding = cursor_u8(&c);
	t->encoding = cursor_u8(&c);
	t->width = format_width(t->encoding & PE_FORMAT);
	if (frame_encoding != PE_OMIT && !(frame_encoding & PE_INDIRECT))
		*frame = cfi_encoded_read(&c, frame_encoding, m->hdr);
	if (c.bad)
		*frame = 0;
	if (nr_encoding == PE_OMIT || t->encoding == PE_OMIT)
		return 0;

	t->nr = cfi_encoded_read(&c, nr_encoding, m->hdr);
	t->at = c.at;
	return !c.bad && t->width && !((t->encoding | nr_encoding) & PE_INDIRECT) &&
	       (t->encoding & PE_BASE) != PE_ALIGNED && t->nr &&
	       t->nr <= cursor_left(&c) / (2 * t->width);
}

/* Number `k` of the table (even: code start, odd: FDE). */
static uint64_t table_get(const struct cfi_module *m, const struct table *t, uint64_t k)
{
	struct cursor c = { .at = t->at + k * t->width, .end = t->at + (k + 1) * t->width };

	return cfi_encoded_read(&c, t->encoding, m->hdr);
}

/* Address of the last FDE in the table that starts at or before `pc`, 0 = none. */
static uint64_t table_search(const struct cfi_module *m, const struct table *t, uint64_t pc)
{
	uint64_t low = 0, high = t->nr;	/* entries before low start <= pc, from high on > pc */

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (table_get(m, t, 2 * mid) <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? table_get(m, t, 2 * (low - 1) + 1) : 0;
}

/* Look at every entry of .eh_frame from `at` on. */
static int frame_scan(const struct cfi_module *m, uint64_t at, uint64_t end, uint64_t pc,
		      struct cfi_fde *fde)
{
	struct cursor c;

	if (at < m->start || at >= m->end)
		return 0;
	if (end > m->end)
		end = m->end;
	for (; at < end && entry_open(at, end, &c); at = c.end)
		if (fde_parse(m, at, fde) && pc >= fde->start && pc < fde->end)
			return 1;
	return 0;
}

int cfi_fde_find(const struct cfi_module *m, uint64_t pc, struct cfi_fde *out)
{
	struct table t;
	uint64_t frame, end = m->end;

	if (m->start >= m->end)
		return 0;
	if (table_open(m, &t, &frame))
		return fde_parse(m, table_search(m, &t, pc), out) && pc >= out->start &&
		       pc < out->end;
	if (m->frame) {
		frame = m->frame;
		if (m->frame_bytes && m->frame_bytes < end - frame)
			end = frame + m->frame_bytes;
	}
	return frame_scan(m, frame, end, pc, out);
}
