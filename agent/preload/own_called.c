/* SPDX-License-Identifier: MIT */
/*
 * Which of the allocator's own functions the program calls. Looked up in the names that objects
 * import, before the loader has bound anything.
 */
#include <elf.h>

#include "agent/preload/link.h"
#include "agent/preload/own_hooks.h"
#include "agent/preload/own_names.h"

struct calls {
	const struct link_map *allocator;
	const char *name;	/* found; NULL: not yet */
};

#define OWN_TEXT(NAME, ...) #NAME "\0"
static const char names[] = OWN_NAMES(OWN_TEXT);

static void called_look(void *arg, const struct link_binding *b)
{
	struct calls *k = arg;
	const char *n = names;

	if (k->name || !own_likely(b->name))
		return;
	while (*n && !str_equal(n, b->name))
		n += str_length(n) + 1;
	if (*n && link_symbol(k->allocator, n))
		k->name = n;
}

const char *own_called(const struct link_map *allocator, const char **caller)
{
	struct calls k = { .allocator = allocator };
	uint64_t loader = link_aux(AT_BASE);

	for (struct link_map *m = link_first(); m && !k.name; m = m->l_next) {
		if (m == allocator || m == link_self() || m->l_addr == loader)
			continue;
		link_bindings(m, called_look, &k);
		*caller = m->l_name;
	}
	return k.name;
}
