/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finding .eh_frame where no header says where it is, and making the index that is missing.
 *.eh_frame is a list: entries that state their length, CIEs and FDEs, the latter naming one of the
 * former before them, and a length of 0 behind the last one (LSB 5.0 core, 10.6). So a list begins
 * at a CIE, and is believed when every entry to the terminator makes sense, and every FDE is about
 * code of the program's. A program may hold anything: each read is inside its bytes, each step goes
 * forward.
 */
#include "src/entries/frames.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/vec.h"

#define MAX_SEGMENT	(256ull << 20)	/* read of a program; larger ones have a header */
#define MAX_HEADERS	64
#define MAX_ENTRIES	(1u << 20)	/* 16 MiB of index */
#define ALIGN		4u		/* of entries, at least */

enum { ABSPTR = 0x00, UDATA4 = 0x03, UDATA8 = 0x04, SDATA4 = 0x0b, SDATA8 = 0x0c, PCREL = 0x10 };

struct entry {
	uint64_t code, fde;		/* run-time addresses; as in the index */
};

struct list {
	const uint8_t *bytes;
	size_t nr;
	uint64_t start;			/* run-time address of the first byte */
	uint64_t code_start, code_end;
	VEC(struct entry) found;
	size_t cie_at;			/* the last one that was looked at, and its encoding */
	uint8_t encoding;
};

/* ---- numbers --------------------------------------------------------------------------------- */

static uint32_t u32_at(const struct list *l, size_t at)
{
	uint32_t n;

	memcpy(&n, l->bytes + at, sizeof(n));
	return n;
}

/* Step over a LEB128 number. */
static bool leb_skip(const struct list *l, size_t *at, size_t end)
{
	while (*at < end)
		if (!(l->bytes[(*at)++] & 0x80))
			return true;
	return false;
}

static unsigned width_of(uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case UDATA4: case SDATA4:
		return 4;
	case ABSPTR: case UDATA8: case SDATA8:
		return 8;
	}
	return 0;
}

/* An address of code. False: it does not fit, or is in a form that is not used there. */
static bool address_read(const struct list *l, size_t at, size_t end, uint8_t encoding,
			 uint64_t *out)
{
	unsigned width = width_of(encoding);
	uint64_t value = 0;

	if (!width || (encoding & 0xf0 & ~PCREL) || end - at < width)
		return false;
	memcpy(&value, l->bytes + at, width);
	if ((encoding & 0x0f) == SDATA4)
		value = (uint64_t)(int64_t)(int32_t)value;
	*out = value + (encoding & PCREL ? l->start + at : 0);
	return true;
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Where an entry ends: *end; 0 at the terminator or where there is none. */
static bool entry_open(const struct list *l, size_t at, size_t *end)
{
	uint32_t bytes;

	if (at > l->nr || l->nr - at < 8)
		return false;
	bytes = u32_at(l, at);
	/* entries of 4 GiB are none */
	if (bytes < 8 || bytes % ALIGN || bytes > l->nr - at - 4)
		return false;
	*end = at + 4 + bytes;
	return true;
}

/* The letters' data up to that which says how addresses are written. */
static bool letters_read(const struct list *l, size_t letter, size_t at, size_t end,
			 uint8_t *encoding)
{
	for (; l->bytes[letter]; letter++) {
		uint8_t pointer;

		if (at >= end && l->bytes[letter] != 'S' && l->bytes[letter] != 'B')
			return false;
		switch (l->bytes[letter]) {
		case 'R':
			*encoding = l->bytes[at++];
			break;
		case 'L':
			at++;
			break;
		case 'P':
			pointer = l->bytes[at++];
			if (!width_of(pointer) || end - at < width_of(pointer))
				return false;
			at += width_of(pointer);
			break;
		case 'S': case 'B':
			break;
		default:
			return false;
		}
	}
	return true;
}

static bool cie_read(const struct list *l, size_t at, uint8_t *encoding)
{
	size_t end, letters;
	uint8_t version;

	if (!entry_open(l, at, &end) || u32_at(l, at + 4))
		return false;
	version = l->bytes[at + 8];
	letters = at += 9;
	while (at < end && l->bytes[at])
		at++;
	if (at++ >= end || (version != 1 && version != 3) ||
	    (l->bytes[letters] && l->bytes[letters] != 'z'))
		return false;
	/* the return address's column */
	if (!leb_skip(l, &at, end) || !leb_skip(l, &at, end) || at >= end || l->bytes[at++] != 16)
		return false;
	*encoding = ABSPTR;
	return !l->bytes[letters] ||
	       (leb_skip(l, &at, end) && letters_read(l, letters + 1, at, end, encoding));
}

/* An FDE of the list that began at `first`; noted. 1, 0 it makes no sense, -ENOMEM. */
static int fde_add(struct list *l, size_t first, size_t at, size_t end)
{
	uint32_t back = u32_at(l, at + 4);
	size_t cie = at + 4 - back;
	struct entry e = { .fde = l->start + at };

	if (back > at + 4 - first || l->found.nr >= MAX_ENTRIES)
		return 0;
	if (cie != l->cie_at && !cie_read(l, cie, &l->encoding))
		return 0;
	l->cie_at = cie;
	if (!address_read(l, at + 8, end, l->encoding, &e.code) || e.code < l->code_start ||
	    e.code >= l->code_end)
		return 0;
	return vec_push(&l->found, e) ? -ENOMEM : 1;
}

/* The list that begins at `at`: where it ends, 0 there is none, -ENOMEM. */
static int64_t list_read(struct list *l, size_t at)
{
	const size_t first = at;
	size_t end;

	l->found.nr = 0;
	l->cie_at = SIZE_MAX;
	for (; entry_open(l, at, &end); at = end) {
		uint8_t encoding;
		int rc = u32_at(l, at + 4) ? fde_add(l, first, at, end)
					   : cie_read(l, at, &encoding);

		if (rc <= 0)
			return rc;
	}
	if (!l->found.nr)
		return 0;
	if (l->nr - at < 4)
		return (int64_t)l->nr; /* without a terminator, which the compiler's last object
					  brings, but last in its segment */
	return u32_at(l, at) ? 0 : (int64_t)at + 4;
}

/* ---- the index ------------------------------------------------------------------------------- */

static int by_code(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->code != y->code ? (x->code < y->code ? -1 : 1)
	       : x->fde < y->fde  ? -1
				  : x->fde > y->fde;
}

/*
 * version, how it writes the section's address, the number of entries, the entries; then these, all
 * absolute
 */
static int index_make(struct list *l, uint64_t section, struct frames *f)
{
	static const uint8_t head[4] = { 1, UDATA8, UDATA4, UDATA8 };
	uint32_t nr = (uint32_t)l->found.nr;

	free(f->index);
	f->nr_bytes = sizeof(head) + sizeof(section) + sizeof(nr) + nr * sizeof(struct entry);
	f->index = malloc(f->nr_bytes);
	if (!f->index)
		return -ENOMEM;
	vec_sort(&l->found, by_code);
	memcpy(f->index, head, sizeof(head));
	memcpy(f->index + 4, &section, sizeof(section));
	memcpy(f->index + 12, &nr, sizeof(nr));
	memcpy(f->index + 16, l->found.v, nr * sizeof(struct entry));
	return 0;
}

int frames_index(const uint8_t *bytes, size_t nr, uint64_t start, uint64_t code_start,
		 uint64_t code_end, struct frames *f)
{
	struct list l = { .bytes = bytes,
			  .nr = nr,
			  .start = start,
			  .code_start = code_start,
			  .code_end = code_end };
	size_t most = 0;
	int rc = 0;

	for (size_t at = -start & (ALIGN - 1); !rc && nr >= 12 && at <= nr - 12; ) {
		/* a CIE's id, its version, its augmentation */
		bool maybe = !u32_at(&l, at + 4) && (bytes[at + 8] == 1 || bytes[at + 8] == 3) &&
			     (!bytes[at + 9] || bytes[at + 9] == 'z');
		int64_t end = maybe ? list_read(&l, at) : 0;

		if (end < 0)
			rc = (int)end;
		if (end > 0 && l.found.nr > most) {
			most = l.found.nr;
			rc = index_make(&l, start + at, f);
		}
		at = end > 0 ? (size_t)end : at + ALIGN;
	}
	vec_fini(&l.found);
	return rc;
}

/* ---- a program ------------------------------------------------------------------------------- */

static int segment_index(struct objects *o, const struct object *program, const Elf64_Phdr *ph,
			 struct frames *f)
{
	struct frames found = { .start = program->bias + ph->p_vaddr,
				.end = program->bias + ph->p_vaddr + ph->p_filesz };
	uint8_t *bytes = malloc(ph->p_filesz);
	int rc = bytes ? 0 : -ENOMEM;

	if (!rc && !objects_read(o, found.start, bytes, ph->p_filesz))
		rc = frames_index(bytes, ph->p_filesz, found.start, program->code_start,
				  program->code_end, &found);
	free(bytes);
	if (!rc && found.nr_bytes > f->nr_bytes) {
		free(f->index);
		*f = found;
	} else {
		free(found.index);
	}
	return rc;
}

static int program_index(struct objects *o, const struct object *program, struct frames *f)
{
	Elf64_Phdr ph[MAX_HEADERS];
	Elf64_Ehdr eh;
	int rc = 0;

	if (objects_read(o, program->map_start, &eh, sizeof(eh)) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) || eh.e_phentsize != sizeof(*ph) ||
	    eh.e_phnum > MAX_HEADERS ||
	    objects_read(o, program->map_start + eh.e_phoff, ph, eh.e_phnum * sizeof(*ph)))
		return 0;
	for (unsigned i = 0; i < eh.e_phnum; i++)
		if (ph[i].p_type == PT_GNU_EH_FRAME)
			return 0;
	for (unsigned i = 0; !rc && i < eh.e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && (ph[i].p_flags & (PF_R | PF_W)) == PF_R &&
		    ph[i].p_filesz && ph[i].p_filesz <= MAX_SEGMENT &&
		    program->bias + ph[i].p_vaddr >= program->start &&
		    program->bias + ph[i].p_vaddr + ph[i].p_filesz <= program->end)
			rc = segment_index(o, program, &ph[i], f);
	return rc;
}

int frames_find(struct objects *o, struct frames *f)
{
	*f = (struct frames){ 0 };
	for (size_t i = 0; i < o->nr; i++)
		if (o->v[i].is_program)
			return program_index(o, &o->v[i], f);
	return 0;
}

void frames_fini(struct frames *f)
{
	free(f->index);
	*f = (struct frames){ 0 };
}
