/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Columns of tables as a .pmm capture has them: each in the shortest coding, see file_pack.h.
 *
 * A file has one column behind another, memory one row behind another, and there may be millions of
 * either. So they are gone through by tiles, some rows of all columns at a time, which stay
 * in the cache: once to find what the numbers of each column have in common, and once to code them.
 * The first column of a run goes to the file at once, those behind it wait in pack->coded for their
 * turn.
 */
#include <stdlib.h>
#include <string.h>

#include "src/store/file_pack.h"

#define TILE_BYTES (4u << 10)	/* well below the first level of the cache ... */
#define TILE 128		/* ... and rows at most */
#define SAMPLE_EVERY 8		/* tiles: one by which codings are chosen, where there are more */
#define SPARE 1.125		/* room for more than was guessed */
#define MOST_COLUMNS 48		/* that are looked at together */
#define CODED_BYTES (8u << 20)	/* of columns that wait */

struct column {
	const uint8_t *base;
	size_t stride;
	unsigned bytes;
	/* not NULL: the rows are sites, of whose lifetimes these are */
	const struct heap *lived;
	unsigned bucket;
};

/*
 * A number is multiplied by the inverse of the unit's odd part, modulo 2^64, rotated by its even
 * part: if the unit divides it that is the quotient, else it is more than `most`
 * (Warren, Hacker's Delight, 10-17). A division takes ten times as long.
 */
struct divisor {
	uint64_t unit;			/* 0: no number but 0 so far */
	uint64_t inverse, most;
	unsigned shift;
};

/* A column on its way to the file. */
struct coded {
	struct column c;
	uint64_t first;			/* its first number ... */
	bool varies;			/* ... and there are others */
	struct divisor d;		/* of all its numbers: the greatest there is */
	enum file_coding coding;
	uint64_t last;			/* the number before, in units */
	/* where its numbers wait, and how many bytes there are */
	uint8_t *at;
	size_t nr, room;
	bool waits;			/* all of them are there */
};

/* ---- numbers ------------------------------------------------------------------------------- */

/* All of a column's fields in `nr` rows from row `from` on, one after another, as `n`. */
#define EACH_FIELD(c, from, nr, n, ...) do {						\
	const uint8_t *field_ = (c)->base + (from) * (c)->stride;			\
	const uint8_t *field_end_ = field_ + (nr) * (c)->stride;			\
	switch ((c)->bytes) {								\
	case 1: EACH_OF_TYPE(uint8_t, (c)->stride, n, __VA_ARGS__); break;		\
	case 2: EACH_OF_TYPE(uint16_t, (c)->stride, n, __VA_ARGS__); break;		\
	case 4: EACH_OF_TYPE(uint32_t, (c)->stride, n, __VA_ARGS__); break;		\
	default: EACH_OF_TYPE(uint64_t, (c)->stride, n, __VA_ARGS__);			\
	}										\
} while (0)
#define EACH_OF_TYPE(type, stride, n, ...)						\
	for (; field_ < field_end_; field_ += (stride)) {				\
		const uint64_t n = *(const type *)(const void *)field_;			\
		__VA_ARGS__;								\
	}

static uint64_t lived(const struct column *c, uint64_t row)
{
	const void *site = c->base + row * c->stride;

	return heap_lifetime(c->lived, site, c->bucket);
}

/* `nr` numbers from row `from` on. */
static void column_read(const struct column *c, uint64_t from, size_t nr, uint64_t *to)
{
	if (c->lived)
		for (size_t i = 0; i < nr; i++)
			to[i] = lived(c, from + i);
	else
		EACH_FIELD(c, from, nr, n, *to++ = n);
}

/* Are they all `value`? */
static bool column_is(const struct column *c, uint64_t from, size_t nr, uint64_t value)
{
	if (c->lived) {
		for (size_t i = 0; i < nr; i++)
			if (lived(c, from + i) != value)
				return false;
		return true;
	}
	EACH_FIELD(c, from, nr, n, if (n != value) return false);
	return true;
}

static uint64_t zigzag(uint64_t n)
{
	return n << 1 ^ -(n >> 63);
}

static unsigned varint_bytes(uint64_t n)
{
	return (9 * (64 - (unsigned)__builtin_clzll(n | 1)) + 64) / 64;	/* (bits + 6) / 7 */
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static struct divisor divisor_of(uint64_t unit)
{
	struct divisor d = { .unit = unit };
	uint64_t odd;

	if (!unit)
		return d;
	d.shift = (unsigned)__builtin_ctzll(unit);
	d.most = UINT64_MAX / unit;
	odd = unit >> d.shift;
	d.inverse = odd;		/* right in 3 bits, each turn in twice as many */
	for (unsigned bits = 3; bits < 64; bits *= 2)
		d.inverse *= 2 - odd * d.inverse;
	return d;
}

static uint64_t divide(const struct divisor *d, uint64_t n)
{
	const uint64_t product = n * d->inverse;

	return product >> d->shift | product << (-d->shift & 63);
}

static bool divides(const struct divisor *d, uint64_t n)
{
	return d->unit && divide(d, n) <= d->most;
}

/* ---- what they have in common -------------------------------------------------------------- */

/* Rows that make a tile. */
static size_t tile_rows(const struct coded *v)
{
	const size_t nr = TILE_BYTES / v->c.stride;

	return nr < 1 ? 1 : nr < TILE ? nr : TILE;
}

/* Which of the columns vary: most of those of a heap's sites do not. */
static void find_varied(struct coded *v, unsigned nr, uint64_t count)
{
	const size_t tile = tile_rows(v);
	unsigned nr_varied = 0;

	for (uint64_t at = 0; at < count && nr_varied < nr; at += tile) {
		const size_t rows = count - at < tile ? (size_t)(count - at) : tile;

		nr_varied = 0;
		for (unsigned k = 0; k < nr; k++) {
			if (!v[k].varies)
				v[k].varies = !column_is(&v[k].c, at, rows, v[k].first);
			nr_varied += v[k].varies;
		}
	}
}

/* The units of those that vary: of most it is 1, which is soon known. */
static void find_units(struct coded *v, unsigned nr, uint64_t count)
{
	const size_t tile = tile_rows(v);
	uint64_t n[TILE];
	bool all_known = false;

	for (uint64_t at = 0; at < count && !all_known; at += tile) {
		const size_t rows = count - at < tile ? (size_t)(count - at) : tile;

		all_known = true;
		for (unsigned k = 0; k < nr; k++) {
			if (!v[k].varies || v[k].d.unit == 1)
				continue;
			column_read(&v[k].c, at, rows, n);
			for (size_t i = 0; i < rows && v[k].d.unit != 1; i++)
				if (!divides(&v[k].d, n[i]))
					v[k].d = divisor_of(common_divisor(n[i], v[k].d.unit));
			all_known = false;
		}
	}
}

/* `nr` numbers in units, from row `at` on. */
static void units_get(const struct coded *v, uint64_t at, size_t nr, uint64_t *n)
{
	column_read(&v->c, at, nr, n);
	for (size_t i = 0; v->d.unit > 1 && i < nr; i++)
		n[i] = divide(&v->d, n[i]);
}

/* Bytes that numbers take in each coding. */
struct cost {
	uint64_t plain, delta, last;
};

static void add_cost(struct cost *c, const uint64_t *n, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		c->plain += varint_bytes(n[i]);
		c->delta += varint_bytes(zigzag(n[i] - c->last));
		c->last = n[i];
	}
}

/*
 * The shorter of both codings: of all numbers where they are few, else of one tile of them in
 * SAMPLE_EVERY. The room that it will take is a guess.
 */
static void choose_codings(struct coded *v, unsigned nr, uint64_t count)
{
	const size_t tile = tile_rows(v);
	const uint64_t step = count > SAMPLE_EVERY * tile ? SAMPLE_EVERY * tile : tile;
	struct cost cost[MOST_COLUMNS] = { { 0 } };
	uint64_t seen = 0, n[TILE];

	for (uint64_t at = 0; at < count; at += step) {
		const size_t rows = count - at < tile ? (size_t)(count - at) : tile;

		for (unsigned k = 0; k < nr; k++) {
			if (!v[k].varies)
				continue;
			units_get(&v[k], at, rows, n);
			add_cost(&cost[k], n, rows);
		}
		seen += rows;
	}
	for (unsigned k = 0; k < nr; k++) {
		const bool delta = cost[k].delta < cost[k].plain;
		const double bytes = (double)(delta ? cost[k].delta : cost[k].plain);

		v[k].coding = delta ? FILE_DELTA : FILE_PLAIN;
		v[k].room = (size_t)(bytes / (double)seen * (double)count * SPARE) +
			    TILE * FILE_NUMBER_BYTES;
	}
}

/* ---- coding -------------------------------------------------------------------------------- */

/* `nr` numbers; to: room for the longest ones. Bytes. */
static size_t code(struct coded *v, const uint64_t *n, size_t nr, uint8_t *to)
{
	const uint8_t *start = to;
	uint64_t last = v->last;

	if (v->coding == FILE_DELTA)
		for (size_t i = 0; i < nr; i++) {
			to = pack_put_number(to, zigzag(n[i] - last));
			last = n[i];
		}
	else
		for (size_t i = 0; i < nr; i++)
			to = pack_put_number(to, n[i]);
	v->last = last;
	return (size_t)(to - start);
}

/* For columns behind the first, as many as fit. How many of v are coded now, the first as well. */
static unsigned find_room(struct pack *p, struct coded *v, unsigned nr, uint64_t count)
{
	size_t used = 0;
	unsigned k = 1;

	if (count <= TILE)
		return 1;
	if (!p->coded)
		p->coded = malloc(CODED_BYTES);
	for (; p->coded && k < nr; k++) {
		if (!v[k].varies)
			continue;
		if (v[k].room > CODED_BYTES - used)
			break;
		v[k].at = p->coded + used;
		v[k].waits = true;
		used += v[k].room;
	}
	return k;
}

/* The first column to the file, those behind it to where they wait. */
static void code_tiles(struct pack *p, struct coded *v, unsigned nr, uint64_t count)
{
	const size_t tile = tile_rows(v);
	uint8_t bytes[TILE * FILE_NUMBER_BYTES];
	uint64_t n[TILE];

	for (uint64_t at = 0; at < count; at += tile) {
		const size_t rows = count - at < tile ? (size_t)(count - at) : tile;

		units_get(v, at, rows, n);
		pack_bytes(p, bytes, code(v, n, rows, bytes));
		for (unsigned k = 1; k < nr; k++) {
			if (!v[k].waits)
				continue;
			if (v[k].room - v[k].nr < sizeof(bytes)) {
				v[k].waits = false;	/* more than was guessed: later */
				continue;
			}
			units_get(&v[k], at, rows, n);
			v[k].nr += code(&v[k], n, rows, v[k].at + v[k].nr);
		}
	}
}

static void pack_head(struct pack *p, const struct coded *v)
{
	pack_number(p, v->coding);
	pack_number(p, v->d.unit);
}

static void pack_constant(struct pack *p, const struct coded *v)
{
	pack_number(p, FILE_CONSTANT);
	pack_number(p, v->first);
}

/* At most MOST_COLUMNS. */
static void pack_group(struct pack *p, struct coded *v, unsigned nr, uint64_t count)
{
	unsigned until = 0;		/* columns that wait, or are in the file */

	for (unsigned k = 0; k < nr; k++)
		column_read(&v[k].c, 0, 1, &v[k].first);
	find_varied(v, nr, count);
	find_units(v, nr, count);
	choose_codings(v, nr, count);
	for (unsigned k = 0; k < nr; k++) {
		if (!v[k].varies) {
			pack_constant(p, &v[k]);
			continue;
		}
		pack_head(p, &v[k]);
		if (v[k].waits) {
			pack_bytes(p, v[k].at, v[k].nr);
			continue;
		}
		v[k].last = 0;
		if (k < until) {	/* it had no room */
			code_tiles(p, &v[k], 1, count);
			continue;
		}
		until = k + find_room(p, &v[k], nr - k, count);
		code_tiles(p, &v[k], until - k, count);
	}
}

void pack_column(struct pack *p, const void *base, size_t stride, unsigned bytes, uint64_t count)
{
	struct coded v = { .c = { .base = base, .stride = stride, .bytes = bytes } };

	if (count)
		pack_group(p, &v, 1, count);
}

static struct column column_of(const struct pack *p, const struct file_table *t,
			       const struct file_column *c, const void *rows)
{
	struct column column = { .base = rows, .stride = t->row_bytes, .bytes = c->bytes };

	if (c->lived) {
		column.lived = p->heap;
		column.bucket = c->offset;
	} else {
		column.base += c->offset;
	}
	return column;
}

void pack_columns(struct pack *p, const struct file_table *t, const void *rows, uint64_t count)
{
	struct coded v[MOST_COLUMNS];

	for (unsigned first = 0; count && first < t->nr_columns; first += MOST_COLUMNS) {
		unsigned nr = t->nr_columns - first;

		nr = nr < MOST_COLUMNS ? nr : MOST_COLUMNS;
		for (unsigned k = 0; k < nr; k++) {
			const struct file_column *c = &t->column[first + k];

			v[k] = (struct coded){ .first = 0 };
			v[k].c = column_of(p, t, c, rows);
		}
		pack_group(p, v, nr, count);
	}
}
