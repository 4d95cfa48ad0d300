/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: files of budgets. What is read has a program, a name and a line of the file, each
 * pair once; what is refused has a reason.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/analyze/budget/budget_judge.h"

static void check(const struct budgets *b)
{
	unsigned last = 0;

	vec_each(&b->v, k) {
		if (!*k->section || !*k->key || k->line <= last || k->figure >= BUDGET_NR_FIGURES)
			abort();
		if ((k->scope == BUDGET_PROGRAM) != !k->name)
			abort();
		vec_each(&b->v, other)
			if (other != k && !strcmp(other->section, k->section) &&
			    !strcmp(other->key, k->key))
				abort();
		last = k->line;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 1);
	struct budgets b;
	struct err e = { 0 };
	int rc;

	if (!text)
		return 0;
	memcpy(text, data, size);
	rc = budgets_parse(&b, text, "budgets", &e);
	if (rc && !*e.text)
		abort();
	if (!rc)
		check(&b);
	budgets_fini(&b);
	free(text);
	return 0;
}
