/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Candidates: functions among the symbols of a process that may be the allocator's. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/entries/entries_custom.h"
#include "src/entries/entries_scan.h"

static void candidate_add(struct scan *s, const struct candidate *c,
			  const struct object_symbol *symbol)
{
	struct candidate copy = *c;

	copy.object = s->object;
	copy.local = s->local;
	copy.address = symbol->address;
	copy.size = symbol->size;
	copy.type = symbol->type;
	copy.symbol = strdup(symbol->name);
	if (!copy.symbol || vec_push(&s->found, copy)) {
		free(copy.symbol);
		s->error = -ENOMEM;
	}
}

static void symbol_custom(struct scan *s, const struct object_symbol *symbol)
{
	for (size_t i = 0; i < s->nr_custom; i++) {
		struct candidate c = { .custom = &s->custom[i] };

		if (entries_custom_names(&s->custom[i], symbol->name) &&
		    entries_custom_object(&s->custom[i], &s->objects.v[s->object])) {
			s->custom_found[i] = true;
			candidate_add(s, &c, symbol);
		}
	}
}

void scan_symbol(void *scan, const struct object_symbol *symbol)
{
	struct scan *s = scan;
	struct candidate c = { 0 };

	if (s->nr_custom && symbol->type != STT_OBJECT)
		symbol_custom(s, symbol);
	c.name = s->only_custom ? NULL : entries_names_find(&s->names, symbol->name, &c.prefix);
	/*
	 * a local function named free can be anything, but linking statically also makes the C
	 * library's local
	 */
	if (!c.name || (s->local && s->objects.v[s->object].has_loader &&
			(c.prefix == NAMES_PUBLIC || c.prefix == NAMES_LIBC) && c.name->role))
		return;
	s->marks[s->object] |= c.name->mark;
	if (c.name->info && !s->info[c.name->info])
		s->info[c.name->info] = symbol->address;
	if (c.name->role && (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC ||
			     symbol->type == STT_NOTYPE))
		candidate_add(s, &c, symbol);
}

bool candidate_is(const struct candidate *c, const char *name)
{
	return c->name && c->prefix == NAMES_PUBLIC && !strcmp(c->name->name, name);
}

bool scan_has_allocator(const struct scan *s)
{
	bool allocates = false, releases = false;

	for (size_t i = 0; i < s->found.nr; i++) {
		const struct candidate *c = &s->found.v[i];

		if (!c->name || s->marks[c->object] & NAMES_MARK_LOADER)
			continue;
		allocates |= c->name->role == PMM_ROLE_MALLOC;
		releases |= c->name->role == PMM_ROLE_FREE;
	}
	return allocates && releases;
}
