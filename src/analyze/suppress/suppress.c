/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Suppressions: the list, what it has suppressed, and the set that pmm brings along. */
#include "src/analyze/suppress/suppress.h"

#include <stdbool.h>
#include <string.h>

#include "src/analyze/suppress/suppressions.h"

struct suppress *suppress_new(void)
{
	return calloc(1, sizeof(struct suppress));
}

void suppress_free(struct suppress *s)
{
	if (!s)
		return;
	suppress_forget(s);
	vec_fini(&s->entries);
	vec_fini(&s->steps);
	arena_fini(&s->text);
	free(s);
}

int suppress_add_step(struct suppress *s, enum suppress_what what, const char *pattern, size_t n,
		      uint32_t line)
{
	struct suppress_step step = { .line = line,
				      .what = (uint8_t)what,
				      .entry = (uint32_t)s->entries.nr - 1 };

	if (what != SUPPRESS_FRAMES) {
		step.pattern = arena_strndup(&s->text, pattern, n);
		if (!step.pattern)
			return -ENOMEM;
		step.need = suppress_pairs(step.pattern, true, what != SUPPRESS_ANY);
	}
	step.first = !s->steps.nr || vec_last(&s->steps)->entry != step.entry;
	return vec_push(&s->steps, step);
}

/*
 * Run-time systems that are not torn down, or not wholly, hold their blocks until then: what they
 * lose before is a leak.
 */
static bool is_at_exit(const char *name)
{
	static const char end[] = ", at exit";
	size_t n = strlen(name);

	return n >= sizeof(end) && !strcmp(name + n - (sizeof(end) - 1), end);
}

int suppress_add_default(struct suppress *s, struct err *e)
{
	size_t before = s->entries.nr;
	int rc = suppress_parse(s, "pmm's own suppressions", suppress_default_text,
				strlen(suppress_default_text), e);

	for (size_t i = before; i < s->entries.nr; i++)
		s->entries.v[i].at_exit = is_at_exit(s->entries.v[i].use.name);
	return rc;
}

size_t suppress_nr(const struct suppress *s)
{
	return s->entries.nr;
}

struct suppress_use suppress_find_use(const struct suppress *s, size_t i)
{
	return i < s->entries.nr ? s->entries.v[i].use
				 : (struct suppress_use){ .name = "", .file = "" };
}

const char *suppress_class_name(unsigned class)
{
	static const char *const name[REACH_NR_CLASSES] = {
		[REACH_REACHED] = "reachable",
		[REACH_POSSIBLE] = "possible",
		[REACH_INDIRECT] = "indirect",
		[REACH_DEFINITE] = "definite",
	};

	return class < REACH_NR_CLASSES ? name[class] : "";
}
