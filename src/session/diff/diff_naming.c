/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of two heaps that are compared: each lends its own to the other. */
#include "src/session/diff/diff_naming.h"

#include <string.h>

/* The module of `h` that is the same build; 0 = there is none. */
static uint32_t same_build(const struct heap *h, const struct heap_module *m)
{
	for (uint32_t i = 1; i < h->nr_modules; i++)
		if (m->build_id_len && h->modules[i].build_id_len == m->build_id_len &&
		    !memcmp(h->modules[i].build_id, m->build_id, m->build_id_len))
			return i;
	return 0;
}

static bool complete(const struct frame_name *out, unsigned nr)
{
	return nr && out[nr - 1].function && out[nr - 1].file;
}

static unsigned lend(void *arg, const struct heap *h, uint32_t node, struct frame_name *out,
		     unsigned max)
{
	const struct diff_naming *n = arg, *other = n->other;
	const struct heap_node *at = &h->nodes[node];
	const struct heap_module *m = &h->modules[at->module];
	unsigned nr = n->naming.sym ? naming_resolve(n->naming.sym, h, node, out, max) : 0;
	struct symbol_frame frame[SYMBOL_FRAMES_MAX];
	uint32_t lender;
	int lent;

	if (complete(out, nr) || !other->naming.sym || !at->module)
		return nr;
	lender = same_build(other->naming.heap, m);
	if (!lender)
		return nr;
	lent = symbol_lookup(other->naming.sym, lender,
			     at->pc - m->bias + other->naming.heap->modules[lender].bias, frame,
			     max < SYMBOL_FRAMES_MAX ? (int)max : SYMBOL_FRAMES_MAX);
	/* the function's name alone is no gain on what is known */
	if (lent <= 0 || !frame[lent - 1].named || (nr && out[nr - 1].function &&
						    !frame[lent - 1].file))
		return nr;
	memset(out, 0, max * sizeof(*out));
	return naming_frames(frame, lent, out);
}

void diff_naming_open(struct diff_naming n[2], const struct heap *const h[2],
		      const struct naming_options *o)
{
	for (unsigned i = 0; i < 2; i++) {
		naming_open(&n[i].naming, h[i], o);
		n[i].other = &n[!i];
		if (n[i].naming.wanted) {
			n[i].naming.names.resolve = lend;
			n[i].naming.names.ctx = &n[i];
		}
	}
}

void diff_naming_close(struct diff_naming *n)
{
	naming_close(&n->naming);
}
