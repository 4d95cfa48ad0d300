/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The suppressions that pmm brings along. */
#include <stdbool.h>
#include <string.h>

#include "src/analyze/suppress/suppressions.h"

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
