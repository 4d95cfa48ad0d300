/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the pointers on a chain are called: fields of the types that debug information gives.
 *
 * The type of a block is what the pointer to it points to, from a typed variable on. void,
 * characters and casts end that: from there on pointers are named by their offset. A block of
 * several elements is an array.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/str.h"
#include "src/session/leaks/leaks_hold_priv.h"

/* What is known of the block that the chain has come to. */
struct at {
	struct symbol_type type;	/* of what begins at `into`; all zero = not known */
	uint64_t into, bytes;
};

static bool is_array(struct hold_names *n, const struct at *at, uint64_t *element)
{
	*element = symbol_type_bytes(n->sym, &at->type);
	return *element && (at->into == 0 || *element == 1) && at->bytes >= 2 * *element;
}

/* The pointer at an offset of a block, in words; the type that it leads to. */
static void add_field(struct hold_names *n, const struct at *at, uint64_t offset, struct str *s,
		      struct symbol_type *to)
{
	struct str path = STR_INIT;
	uint64_t element, rest;
	bool found = false;

	*to = (struct symbol_type){ 0 };
	if (n->sym && at->type.object && offset >= at->into) {
		uint64_t within = offset - at->into;

		found = symbol_type_pointer(n->sym, &at->type, within, &path, to, &rest);
		if (!found && is_array(n, at, &element)) {
			str_clear(&path);
			str_addf(&path, "[%" PRIu64 "]", within / element);
			found = symbol_type_pointer(n->sym, &at->type, within % element, &path, to,
						    &rest);
		} else if (found && is_array(n, at, &element) &&
			   within < element) { /* beyond that: a flexible array */
			str_add(s, "[0]");
		}
	}
	if (found)
		str_add(s, str_text(&path));
	else
		str_addf(s, "offset %" PRIu64, offset);
	str_fini(&path);
}

/* "struct entry", "struct entry *[1024]"; NULL = not known. */
static char *type_name(struct hold_names *n, const struct at *at)
{
	struct str s = STR_INIT;
	uint64_t element;

	if (!n->sym || !at->type.object)
		return NULL;
	symbol_type_name(n->sym, &at->type, &s);
	if (s.len && is_array(n, at, &element))
		str_addf(&s, "%s[%" PRIu64 "]", s.s[s.len - 1] == '*' ? "" : " ",
			 at->bytes / element);
	return s.len ? str_steal(&s) : NULL;
}

/* Where the pointer of a step is; 0 = not in memory. */
static uint64_t place_of(const struct hold *h, const struct hold_chain *c,
			 const struct hold_step *p)
{
	const struct hold_edge *e = &h->edges.v[c->edge];

	if (p->before != HOLD_NONE)
		return h->heap->blocks[p->before].address + p->field;
	return e->place == HOLD_MEMORY ? e->at : 0;
}

bool hold_chain_begin(struct hold_names *n, const struct hold *h, struct hold_chain *c,
		      struct hold_root *r)
{
	struct hold_root other;

	for (size_t i = c->steps.nr; i-- > 1;) {
		if (!hold_root_in_block(n, place_of(h, c, &c->steps.v[i]), &other))
			continue;
		*r = other;
		c->nr -= i + c->steps.v[i].skipped;
		c->steps.nr -= i;
		memmove(c->steps.v, c->steps.v + i, c->steps.nr * sizeof(*c->steps.v));
		c->steps.v[0].skipped = 0;
		return true;
	}
	return false;
}

/* The first pointer: of a variable with its name, of other roots by their place. */
static void add_first(struct hold_names *n, uint64_t place, const struct hold_root *r,
		      struct str *s, struct symbol_type *to, uint64_t *offset)
{
	const struct symbol_variable *v = &r->variable;
	struct at at = { .type = v->type };
	struct str path = STR_INIT;
	uint64_t rest;

	*to = (struct symbol_type){ 0 };
	*offset = place && r->end ? place - r->start : 0;
	if (!v->name) {
		str_add(s, r->kind == HOLD_ROOT_REGISTER ? "register" : "pointer");
		if (place)
			str_addf(s, " at 0x%" PRIx64, place);
		return;
	}
	str_add(s, v->name);
	if (v->in_register)
		*offset = 0;
	if (at.type.object && symbol_type_pointer(n->sym, &at.type, *offset, &path, to, &rest))
		str_add(s, str_text(&path));
	else if (*offset)
		str_addf(s, "+%" PRIu64, *offset);
	str_fini(&path);
}

int hold_chain_text(struct hold_names *n, const struct hold *h, const struct hold_chain *c,
		    const struct hold_root *r, struct hold_view_root *v)
{
	struct at at = { 0 };

	for (size_t i = 0; i < c->steps.nr; i++) {
		const struct hold_step *p = &c->steps.v[i];
		const struct heap_block *b = &h->heap->blocks[p->block];
		struct hold_view_step out = { .block = p->block,
					      .into = p->into,
					      .offset = p->field,
					      .same = p->same,
					      .skipped = p->skipped };
		struct symbol_type to;
		struct str s = STR_INIT;

		if (!i) {
			add_first(n, place_of(h, c, p), r, &s, &to, &out.offset);
		} else {
			if (p->skipped && h->heap->blocks[p->before].site !=
						  h->heap->blocks[c->steps.v[i - 1].block].site)
				at = (struct at){
					0
				}; /* of what is left out nothing is known; of one site, one type */
			at.bytes = h->heap->blocks[p->before].size_bytes;
			add_field(n, &at, p->field, &s, &to);
		}
		at = (struct at){ .type = to, .into = p->into, .bytes = b->size_bytes };
		out.pointer = str_steal(&s);
		out.type = type_name(n, &at);
		if (vec_push(&v->steps, out)) {
			free(out.pointer);
			free(out.type);
			return -ENOMEM;
		}
	}
	return 0;
}
