/* SPDX-License-Identifier: MIT */
/*
 * A cursor over bytes that may hold anything: reads little-endian and LEB128 numbers, and never
 * leaves its range.
 *
 * A read that does not fit sets `bad`, returns 0 and moves to the end, so a parser may check once
 * after several.
 */
#ifndef AGENT_UNWIND_CFI_CURSOR_H
#define AGENT_UNWIND_CFI_CURSOR_H

#include <stdint.h>

struct cursor {
	uint64_t at, end;	/* addresses in this process; at <= end */
	int bad;		/* a read ran over the end */
};

/* unaligned and aliasing anything; a packed struct because memcpy is not to be had here */
struct cursor_u16 { uint16_t v; } __attribute__((packed, may_alias));
struct cursor_u32 { uint32_t v; } __attribute__((packed, may_alias));
struct cursor_u64 { uint64_t v; } __attribute__((packed, may_alias));

static inline uint64_t cursor_left(const struct cursor *c)
{
	return c->end - c->at;
}

/* Address of the next `n` bytes, which are passed over; 0 when there are fewer. */
static inline uint64_t cursor_take(struct cursor *c, uint64_t n)
{
	uint64_t at = c->at;

	if (n > cursor_left(c)) {
		c->bad = 1;
		c->at = c->end;
		return 0;
	}
	c->at += n;
	return at;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	uint64_t at = cursor_take(c, 1);

	return at ? *(const uint8_t *)at : 0;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	uint64_t at = cursor_take(c, 2);

	return at ? ((const struct cursor_u16 *)at)->v : 0;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	uint64_t at = cursor_take(c, 4);

	return at ? ((const struct cursor_u32 *)at)->v : 0;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	uint64_t at = cursor_take(c, 8);

	return at ? ((const struct cursor_u64 *)at)->v : 0;
}

/* One LEB128 number, DWARF 5, 7.6; bits beyond 64 are dropped. *bits: how many there were. */
static inline uint64_t cursor_leb(struct cursor *c, unsigned int *bits, uint8_t *last)
{
	uint64_t val = 0;
	unsigned int shift = 0;
	uint8_t b;

	do {
		b = cursor_u8(c);
		if (shift < 64)
			val |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	*bits = shift;
	*last = b;
	return val;
}

static inline uint64_t cursor_uleb(struct cursor *c)
{
	unsigned int bits;
	uint8_t last;

	return cursor_leb(c, &bits, &last);
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	unsigned int bits;
	uint8_t last;
	uint64_t val = cursor_leb(c, &bits, &last);

	if (bits < 64 && (last & 0x40))
		val |= ~0ull << bits;
	return (int64_t)val;
}

#endif
