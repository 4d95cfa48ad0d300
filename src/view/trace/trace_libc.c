/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What malloc asks of the kernel: lines, and by what it was seen. */
#include <malloc.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/document/doc_record.h"
#include "src/document/facts.h"
#include "src/kernel/libc/libc_probes.h"
#include "src/view/trace/trace_line.h"
#include "src/view/trace/trace_sections.h"

/* ---- lines ---- */

static const struct {
	int number;
	const char *name;
} parameters[] = {
	{ M_MXFAST, "M_MXFAST" }, { M_TRIM_THRESHOLD, "M_TRIM_THRESHOLD" },
	{ M_TOP_PAD, "M_TOP_PAD" }, { M_MMAP_THRESHOLD, "M_MMAP_THRESHOLD" },
	{ M_MMAP_MAX, "M_MMAP_MAX" }, { M_CHECK_ACTION, "M_CHECK_ACTION" },
	{ M_PERTURB, "M_PERTURB" }, { M_ARENA_TEST, "M_ARENA_TEST" },
	{ M_ARENA_MAX, "M_ARENA_MAX" },
};

static const char *parameter_name(int number)
{
	for (size_t i = 0; i < sizeof(parameters) / sizeof(*parameters); i++)
		if (parameters[i].number == number)
			return parameters[i].name;
	return NULL;
}

/* "memory_mallopt": the call itself; the others say what it has changed. */
static void describe_mallopt(struct str *text, struct event *e, const struct trace_record *r,
			     const char *probe)
{
	const char *name;

	if (!strcmp(probe, "memory_mallopt")) {
		name = parameter_name((int)r->a[0]);
		event_u64(e, "parameter", UNIT_SIGNED, (uint64_t)(int64_t)(int)r->a[0]);
		event_u64(e, "value", UNIT_SIGNED, (uint64_t)(int64_t)(int)r->a[1]);
		if (name)
			event_text(e, "parameter_name", name);
		str_addf(text, "%s%s%d = %d", name ? name : "", name ? ", " : "parameter ",
			 (int)r->a[0], (int)r->a[1]);
		return;
	}
	name = strchr(probe, '_') + 1;
	event_u64(e, "value", UNIT_SIGNED, r->a[0]);
	event_u64(e, "former_value", UNIT_SIGNED, r->a[1]);
	str_addf(text, "%s = %lld, before %lld", name, (long long)r->a[0], (long long)r->a[1]);
}

static void describe_retry(struct str *text, struct event *e, const struct trace_record *r,
			   const char *probe)
{
	event_u64(e, "size_bytes", UNIT_BYTES, r->a[0]);
	str_addf(text, "%s in another arena", fmt_bytes(r->a[0]).s);
	if (!strcmp(probe, "memory_realloc_retry") || r->kind == TRACE_LIBC_ARENA_RETRY) {
		event_u64(e, "address", UNIT_ADDRESS, r->a[1]);
		str_addf(text, "%s 0x%llx", r->kind == TRACE_LIBC_RETRY ? ", block" : " than",
			 (unsigned long long)r->a[1]);
	}
}

static void describe_arena(struct str *text, struct event *e, const struct trace_record *r)
{
	bool wait = r->kind == TRACE_LIBC_ARENA_WAIT;

	event_u64(e, "address", UNIT_ADDRESS, r->a[wait]);
	str_addf(text, "arena 0x%llx", (unsigned long long)r->a[wait]);
	if (r->kind == TRACE_LIBC_ARENA_FREE_LIST)
		str_add(text, " that no thread uses");
	if (wait)
		str_add(text, ", waits for its lock");
}

void trace_describe_libc(struct str *text, struct event *e, const struct trace_record *r,
			 const char *tail)
{
	const char *probe = r->a[5] && r->a[5] <= LIBC_NR_PROBES ? libc_probes[r->a[5] - 1].name
								 : "";

	(void)tail;
	if (*probe)
		event_text(e, "probe", probe);
	switch (r->kind) {
	case TRACE_LIBC_MALLOPT:
		describe_mallopt(text, e, r, *probe ? probe : "memory_mallopt");
		return;
	case TRACE_LIBC_RETRY:
	case TRACE_LIBC_ARENA_RETRY:
		describe_retry(text, e, r, probe);
		return;
	case TRACE_LIBC_ARENA_REUSE:
	case TRACE_LIBC_ARENA_FREE_LIST:
	case TRACE_LIBC_ARENA_WAIT:
		describe_arena(text, e, r);
		return;
	case TRACE_LIBC_DOUBLE_FREE:
		event_u64(e, "address", UNIT_ADDRESS, r->a[0]);
		str_addf(text, "block 0x%llx", (unsigned long long)r->a[0]);
		return;
	default:
		event_u64(e, "address", UNIT_ADDRESS, r->a[0]);
		event_u64(e, "size_bytes", UNIT_BYTES, r->a[1]);
		str_addf(text, "%s at 0x%llx", fmt_bytes(r->a[1]).s, (unsigned long long)r->a[0]);
	}
}

/* ---- the result ---- */

static void add_files(struct table *facts, const struct libc_files *files)
{
	vec_each(&files->v, f) {
		if (f->state == LIBC_HAS_PROBES)
			facts_add(facts, "probes", "%s: %s", f->name,
				  fmt_many(f->nr_probes, "place").s);
		else
			facts_add(facts, "no probes", "%s %s", f->name, libc_state_text(f->state));
	}
	if (files->left_out)
		facts_add(facts, "left out", "%s", fmt_many(files->left_out, "library").s);
	if (files->without)
		facts_add(facts, "without glibc", "%s (static programs, other C libraries)",
			  fmt_many(files->without, "process").s);
}

static const char *way_of(const struct trace_result *t)
{
	if (t->libc_by_calls)
		return "system calls that malloc and free make: retries, reused arenas, mallopt "
		       "and double frees are not known";
	if (t->groups[KERNEL_LIBC].status == KERNEL_GROUP_FAILED)
		return "nothing: which calls are malloc's is known by copies of stacks alone";
	return "probes of the C library";
}

void trace_section_libc(struct doc *d, const struct trace_result *t)
{
	struct table *facts = facts_new("What malloc asks of the kernel");
	struct table *r = record_new("libc");

	facts_add(facts, "seen by", "%s", way_of(t));
	if (t->libc)
		add_files(facts, t->libc);
	if (t->libc_by_calls)
		facts_add(facts, "other calls", "%s of memory not by malloc",
			  fmt_many(t->libc_others, "call").s);
	if (t->libc_unknown)
		facts_add(facts, "not known",
			  "whose %s were: their stacks were not copied, because the ring was "
			  "filling (--buffer)", fmt_many(t->libc_unknown, "call").s);
	record_text(r, "by", t->libc_by_calls ? "calls" : "probes");
	record_count(r, "libraries_with_probes", t->libc ? libc_files_probed(t->libc) : 0);
	record_count(r, "libraries", t->libc ? t->libc->v.nr : 0);
	if (t->libc_by_calls)
		record_count(r, "other_calls", t->libc_others);
	if (t->libc_by_calls)
		record_count(r, "unknown_calls", t->libc_unknown);
	doc_add(d, facts);
	doc_add(d, r);
}
