/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Suppressions: the list, and what it has suppressed. */
#include "src/analyze/suppress/suppress.h"

#include <stdlib.h>

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
