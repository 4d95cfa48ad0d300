/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which blocks are meant by what was asked: an address, a site's number, a function, a line of the
 * source.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/base/str.h"
#include "src/session/leaks/leaks_hold_priv.h"

#define MAX_NESTED 64		/* blocks around an address that are tried */

static void want(struct hold_target *t, const struct heap *h, uint64_t i)
{
	t->wanted[i / 64] |= (uint64_t)1 << (i & 63);
	t->sum.blocks++;
	t->sum.bytes += h->blocks[i].size_bytes;
}

/* ---- an address ---- */

static int no_block(const struct heap *h, uint64_t address, uint64_t behind, struct err *e)
{
	err_set(e, -ENOENT,
		"no live block is at address 0x%" PRIx64
		": it was freed, or never was a block that pmm knows",
		address);
	if (behind) {
		const struct heap_block *b = &h->blocks[behind - 1];

		err_hint(e,
			 "the live block before it begins at 0x%" PRIx64
			 " and has %s; name an address of a live block, or a call site",
			 b->address, fmt_bytes(b->size_bytes).s);
	} else {
		err_hint(e, "name an address of a live block, or a call site; 'pmm report "
			    "--blocks' lists them");
	}
	return -ENOENT;
}

static int by_address(struct hold_target *t, const char *what, const struct heap *h, struct err *e)
{
	char *end;
	uint64_t address, behind;

	errno = 0;
	address = strtoull(what, &end, 16);
	if (errno || *end || !what[2]) {
		err_set(e, -EINVAL, "'%s' is no address", what);
		err_hint(e, "an address is 0x and hexadecimal digits");
		return -EINVAL;
	}
	behind = array_while(h->blocks, h->nr_blocks, b, b->address <= address);
	for (uint64_t i = behind, tried = 0; i > 0 && tried < MAX_NESTED; tried++) {
		const struct heap_block *b = &h->blocks[--i];
		struct str s = STR_INIT;

		if (b->address != address && address - b->address >= b->size_bytes)
			continue;
		want(t, h, i);
		str_addf(&s, "the block at 0x%" PRIx64, b->address);
		if (address > b->address)
			str_addf(&s, ", which 0x%" PRIx64 " is %s into", address,
				 fmt_bytes(address - b->address).s);
		t->asked = str_steal(&s);
		return 0;
	}
	return no_block(h, address, behind, e);
}

/* ---- a call site ---- */

/* "foo" is foo, foo(int), ns::foo. */
static bool is_function(const struct frame_name *f, const char *what)
{
	size_t n = strlen(what), len;

	if (!f->function)
		return false;
	len = strcspn(f->function, "(");
	if (!strcmp(f->function, what) || (len >= n && !strncmp(f->function + len - n, what, n) &&
					   (len == n || f->function[len - n - 1] == ':')))
		return true;
	return f->linkage && !strcmp(f->linkage, what);
}

/* "server.c", "src/server.c" and either with ":41". */
static bool is_line(const struct frame_name *f, const char *what)
{
	const char *colon = strrchr(what, ':');
	size_t n = colon ? (size_t)(colon - what) : strlen(what),
	       len = f->file ? strlen(f->file) : 0;

	if (!n || len < n || strncmp(f->file + len - n, what, n) ||
	    (len > n && f->file[len - n - 1] != '/'))
		return false;
	return !colon || strtoul(colon + 1, NULL, 10) == f->line;
}

/* "libx.so+0x1234", as reports have it where there is no name. */
static bool is_place(const struct frame_name *f, const char *what)
{
	const char *plus = strrchr(what, '+'), *base;

	if (!plus || !f->module || f->function)
		return false;
	base = strrchr(f->module, '/');
	base = base ? base + 1 : f->module;
	return strlen(base) == (size_t)(plus - what) &&
	       !strncmp(base, what, (size_t)(plus - what)) &&
	       strtoull(plus + 1, NULL, 16) == f->offset;
}

static bool fits(const struct frame_name *f, const char *what)
{
	return f && (is_function(f, what) || is_line(f, what) || is_place(f, what));
}

/* Is any function on the stack meant? */
static bool passes(struct names *n, uint32_t node, const char *what)
{
	for (; node; node = n->heap->nodes[node].parent) {
		unsigned nr;
		const struct frame_name *f = names_find(n, node, &nr);

		for (unsigned i = 0; i < nr; i++)
			if (fits(&f[i], what))
				return true;
	}
	return false;
}

static bool is_number(const char *what)
{
	return *what && strspn(what, "0123456789") == strlen(what);
}

/* Which sites, by index: those that answer for such a place, else those that pass it. How many. */
static unsigned choose_sites(struct names *n, const char *what, const uint64_t *live,
			     uint8_t *chosen)
{
	const struct heap *h = n->heap;
	unsigned nr = 0;

	if (is_number(what)) {
		uint64_t site = strtoull(what, NULL, 10);

		if (site < h->nr_sites && live[site])
			chosen[site] = nr = 1;
		return nr;
	}
	for (unsigned round = 0; round < 2 && !nr; round++)
		for (uint32_t i = 0; i < h->nr_sites; i++)
			if (live[i] &&
			    (round ? passes(n, h->sites[i].node, what)
				   : fits(names_responsible(n, h->sites[i].node, NULL), what))) {
				chosen[i] = 1;
				nr++;
			}
	return nr;
}

static int by_site(struct hold_target *t, const char *what, struct names *n, struct err *e)
{
	const struct heap *h = n->heap;
	uint64_t *live = calloc(h->nr_sites + 1, sizeof(*live));
	uint8_t *chosen = calloc(h->nr_sites + 1, sizeof(*chosen));
	struct str s = STR_INIT;
	unsigned nr = 0;
	int rc = live && chosen ? 0 : -ENOMEM;

	for (uint64_t i = 0; !rc && i < h->nr_blocks; i++)
		live[h->blocks[i].site]++;
	if (!rc)
		nr = choose_sites(n, what, live, chosen);
	for (uint64_t i = 0; nr && i < h->nr_blocks; i++)
		if (chosen[h->blocks[i].site])
			want(t, h, i);
	if (rc) {
		err_set(e, rc, "out of memory");
	} else if (!nr) {
		rc = err_set(e, -ENOENT, "process %u has no live block of a call site '%s'", h->pid,
			     what);
		err_hint(e, "name a function or FILE:LINE as in 'pmm leaks --show=all', a site "
			    "number of its JSON, or an address 0x...");
	} else if (is_number(what)) {
		str_addf(&s, "blocks of site %s", what);
	} else {
		str_addf(&s, "blocks allocated in %s", what);
		if (nr > 1)
			str_addf(&s, " (%u call sites)", nr);
	}
	if (!rc)
		t->asked = str_steal(&s);
	str_fini(&s);
	free(live);
	free(chosen);
	return rc;
}

int hold_target_find(struct hold_target *t, const char *what, const struct heap *h, struct names *n,
		     struct err *e)
{
	*t = (struct hold_target){ .wanted = calloc(h->nr_blocks / 64 + 1, sizeof(*t->wanted)) };
	if (!t->wanted)
		return err_set(e, -ENOMEM, "out of memory");
	return !strncmp(what, "0x", 2) ? by_address(t, what, h, e) : by_site(t, what, n, e);
}

void hold_target_fini(struct hold_target *t)
{
	free(t->wanted);
	free(t->asked);
	*t = (struct hold_target){ 0 };
}
