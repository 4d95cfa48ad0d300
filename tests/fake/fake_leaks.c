/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The search for leaks in a recipe: verbs `search` and `leak`, see fake.c.
 */
#include <errno.h>

#include "tests/fake/fake_heap.h"

/* Which of these bare words a line has; -1 with trouble noted if none. */
static int flag_of(struct recipe_line *l, const char *const *names, int nr)
{
	for (int i = 0; i < nr; i++)
		if (names[i] && recipe_flag(l, names[i]))
			return i;
	recipe_fail(l, -EINVAL, "a word is missing, such as '%s'", names[nr - 1]);
	return -1;
}

void fake_search(struct fake_heap *f, struct recipe_line *l)
{
	static const char *const how[] = { NULL, "copy", "stopped", "exit", "core" };
	struct heap_search *s = &f->h->search;
	int word = flag_of(l, how, HEAP_SEARCH_CORE + 1);

	s->how = word < 0 ? HEAP_SEARCH_NONE : (enum heap_search_how)word;
	s->complete = recipe_flag(l, "complete");
	s->at_ns = recipe_time(l, "at", f->h->taken_ns);
	s->pause_ns = recipe_time(l, "pause", 0);
	s->took_ns = recipe_time(l, "took", 0);
	s->read_bytes = recipe_size(l, "read", 0);
	s->unread_bytes = recipe_size(l, "unread", 0);
}

void fake_leak(struct fake_heap *f, struct recipe_line *l)
{
	static const char *const classes[] = { "reachable", "possible", "indirect", "definite" };
	int class = flag_of(l, classes, HEAP_NR_LEAK_CLASSES);
	const char *stack = recipe_bare(l), *holder = recipe_text(l, "holder");
	struct heap_leak leak = { .class = (uint8_t)class };

	leak.site = fake_site(f, l, stack);
	leak.holder_site = holder ? fake_site(f, l, holder) : HEAP_NO_SITE;
	leak.blocks = recipe_count(l, "blocks", 1);
	leak.bytes = recipe_size(l, "bytes", 0);
	leak.indirect_blocks = recipe_count(l, "indirect-blocks", 0);
	leak.indirect_bytes = recipe_size(l, "indirect-bytes", 0);
	leak.oldest_ns = recipe_time(l, "oldest", 1000000000);
	leak.newest_ns = recipe_time(l, "newest", leak.oldest_ns);
	leak.held_blocks = recipe_count(l, "held", 0);
	leak.chained_blocks = recipe_count(l, "chained", 0);
	if (!l->rc && vec_push(&f->leaks, leak))
		recipe_fail(l, -ENOMEM, "out of memory");
}
