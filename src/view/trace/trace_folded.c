/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames from the outermost to the innermost, on one line. */
#include "src/view/trace/trace_folded.h"

#include <stdlib.h>

#include "src/base/utf8.h"
#include "src/kernel/user_stack.h"

#define INLINED_MAX	16

/* A name may have what separates frames in it. */
static void add_word(struct str *s, const char *word)
{
	struct str clean = STR_INIT;

	utf8_add_clean(&clean, word);
	for (const char *p = str_text(&clean); *p; p++)
		str_addc(s, *p == ';' ? ':' : *p);
	if (str_error(&clean))
		s->failed = true;
	str_fini(&clean);
}

static void add_frame(struct str *s, struct stack_names *names, uint64_t frame)
{
	struct stack_name name[INLINED_MAX];
	unsigned n = stack_names_find(names, frame, name, INLINED_MAX);

	while (n--) {
		str_addc(s, ';');
		if (name[n].function)
			add_word(s, name[n].function);
		else if (name[n].module)
			add_word(s, name[n].module);
		else
			str_addf(s, "0x%llx", (unsigned long long)name[n].address);
	}
}

void trace_folded(struct str *s, const struct trace_result *r)
{
	size_t nr = r->totals->stacks.nr;
	const struct trace_row **rows = trace_rank(r->totals->stacks.v, nr, r->sort);

	if (!rows) {
		s->failed = true;
		return;
	}
	for (size_t i = 0; i < nr; i++) {
		const struct trace_sum *sum = &rows[i]->sum;
		const uint64_t values[] = { [TRACE_BY_COUNT] = sum->events,
					    [TRACE_BY_BYTES] = sum->bytes,
					    [TRACE_BY_TIME] = sum->ns };
		unsigned n, end;
		const uint64_t *frame = stack_table_find(r->stacks, rows[i]->id, &n, &end);

		if (!values[r->sort])
			continue;
		str_add(s, trace_kinds[rows[i]->kind].name);
		if (end != USER_STACK_COMPLETE)
			str_addf(s, ";[%s]", user_stack_end_name(end));
		while (n--)
			add_frame(s, r->names, frame[n]);
		str_addf(s, " %llu\n", (unsigned long long)values[r->sort]);
	}
	free(rows);
}
