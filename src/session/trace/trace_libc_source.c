/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A call is malloc's if it was made inside the C library, by one of malloc's functions. */
#include "src/session/trace/trace_libc_source.h"

#include <string.h>
#include <unistd.h>

#include "src/kernel/event_class.h"

#define INLINED_MAX	16

int trace_libc_prepare(struct trace_libc *l, const pid_t *pids, size_t nr, bool all,
		       uint64_t kinds[2])
{
	int rc = 0;

	for (uint32_t kind = 0; kind < TRACE_NR_KINDS; kind++)
		if (libc_calls_wants(kind))
			kinds[kind / 64] |= 1ull << kind % 64;
	for (size_t i = 0; !rc && i < nr; i++)
		rc = libc_files_of(&l->files, pids[i]);
	if (!rc)
		rc = libc_files_of(&l->files, getpid());
	return !rc && all ? libc_files_all(&l->files) : rc;
}

/* From the innermost frame outwards, as far as they are the C library's. */
static enum libc_caller caller_of(const struct user_stack *s, struct stack_names *names)
{
	struct stack_name name[INLINED_MAX];

	if (!s || s->end == USER_STACK_NO_ROOM)
		return LIBC_UNKNOWN;
	for (unsigned i = 0; i < s->nr; i++) {
		unsigned n = stack_names_find(names, s->frame[i], name, INLINED_MAX);

		for (unsigned k = 0; k < n; k++) {
			enum libc_caller caller;

			if (!name[k].module || !libc_is_name(name[k].module))
				return LIBC_OTHER;
			caller = name[k].function ? libc_caller_of(name[k].function) : LIBC_OTHER;
			if (caller != LIBC_OTHER)
				return caller;
		}
	}
	return LIBC_OTHER;
}

int trace_libc_take(struct trace_libc *l, const struct trace_record *r,
		    const struct user_stack *stack, struct stack_names *names,
		    struct trace_record out[2])
{
	enum libc_caller caller = LIBC_OTHER;

	if (!l->by_calls)
		return 0;
	if (libc_calls_wants(r->kind))
		caller = caller_of(stack, names);
	return libc_calls_take(&l->calls, r, caller, out);
}

bool trace_libc_fails(struct kernel_source *s)
{
	return kernel_source_group(s, KERNEL_LIBC).status == KERNEL_GROUP_FAILED;
}

bool trace_libc_wants(const struct trace_libc *l, const struct trace_record *r)
{
	return l->by_calls &&
	       (libc_calls_wants(r->kind) || r->kind == TRACE_EXEC || r->kind == TRACE_EXIT);
}

bool trace_libc_is_small(const struct trace_record *r, uint64_t min_bytes)
{
	return trace_kinds[r->kind].event == EVENT_LIBC && trace_kinds[r->kind].bytes >= 0 &&
	       trace_bytes(r) < min_bytes;
}

void trace_libc_count(const struct trace_libc *l, uint32_t classes,
		      const struct trace_totals *totals,
		      struct trace_counts counts[TRACE_NR_KINDS])
{
	struct trace_counts *own = &counts[TRACE_LIBC_SBRK_MORE];

	if (!l->by_calls)
		return;
	for (uint32_t kind = 0; kind < TRACE_NR_KINDS; kind++) {
		if (trace_kinds[kind].name && trace_kinds[kind].event == EVENT_LIBC)
			counts[kind].seen = totals->kind[kind].sum.events;
		if (!libc_calls_wants(kind) || classes >> trace_kinds[kind].event & 1)
			continue;
		own->lost += counts[kind].lost;
		own->dropped += counts[kind].dropped;
	}
}

void trace_libc_fini(struct trace_libc *l)
{
	libc_files_fini(&l->files);
	libc_calls_fini(&l->calls);
}
