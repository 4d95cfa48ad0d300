/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From records of the kernel to sums of each process, and into its heap. */
#include "src/session/trace/heap_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/analyze/trace/kernel_join.h"
#include "src/base/nanotime.h"
#include "src/base/str.h"
#include "src/kernel/fault_area.h"
#include "src/session/session.h"
#include "src/session/trace/prompt.h"
#include "src/session/trace/trace_images.h"
#include "src/session/trace/trace_lacks.h"
#include "src/session/trace/trace_stacks.h"

struct heap_trace {
	struct heap_trace_options o;
	struct kernel_source *source;
	uint64_t zero_ns;
	struct trace_stacks stacks;
	struct trace_images images;
	char *unseen;			/* as struct heap_kernel has it */
	uint32_t unseen_classes;
	bool failed;
	struct prompt prompt;
	uint64_t swept_ns;
};

#define SWEEP_NS	1000000000ull
#define LATE_NS		3000000000ull	/* so late a process's ledger may be heard of */

#define CAPTURED                                                                                   \
	(1u << EVENT_MMAP | 1u << EVENT_BRK | 1u << EVENT_SHM | 1u << EVENT_FAULTS |               \
	 1u << EVENT_MAJOR | 1u << EVENT_SWAP | 1u << EVENT_RECLAIM | 1u << EVENT_COMPACTION |     \
	 1u << EVENT_MIGRATE | 1u << EVENT_THP | 1u << EVENT_OOM | 1u << EVENT_STACK |             \
	 1u << EVENT_LIFE | 1u << EVENT_FILES | 1u << EVENT_RSS)
#define BY_DEFAULT (CAPTURED & ~(1u << EVENT_LIFE | 1u << EVENT_FILES | 1u << EVENT_RSS))

int heap_trace_parse(const char *list, uint32_t *classes, struct err *e)
{
	struct str names = STR_INIT;
	int rc = 0;

	*classes = BY_DEFAULT;
	if (strcmp(list, "default") != 0)
		rc = event_classes_parse(list, classes, e);
	if (!rc && !strcmp(list, "all"))
		*classes = CAPTURED;
	if (!rc && *classes & ~CAPTURED) {
		event_classes_names(&names, *classes & ~CAPTURED);
		rc = err_set(e, -EINVAL, "a capture cannot have these events: %s",
			     str_text(&names));
		err_hint(e, "'pmm trace' shows them");
	}
	str_fini(&names);
	if (rc)
		e->exit_code = 2;
	return rc;
}

/* ---- records ---- */

static uint64_t heap_time(const struct heap_trace *t, uint64_t time_ns)
{
	return time_ns > t->zero_ns ? time_ns - t->zero_ns : 0;
}

static void add(const struct heap_trace *t, struct trace_image *image,
		const struct trace_record *r, uint32_t stack, struct kernel_about about)
{
	kernel_sums_add(&image->sums, r, stack, about, heap_time(t, r->time_ns));
}

static int look_up(const struct heap_trace *t, const struct trace_record *r, uint32_t stack,
		   struct kernel_about *about)
{
	return trace_about_find(about, r, trace_stacks_by_agent(&t->stacks, stack), t->o.block_at,
				t->o.arg);
}

static int take(void *arg, const struct trace_record *r, const void *tail)
{
	struct heap_trace *t = arg;
	struct kernel_about about;
	struct trace_image *image;
	uint32_t stack;
	int rc = trace_stacks_note(&t->stacks, r);

	if (!rc)
		rc = trace_images_note(&t->images, r);
	image = trace_images_find(&t->images, (pid_t)r->tgid);
	if (rc || !image || !event_classes_have(t->o.classes, r->kind))
		return rc;
	stack = trace_stacks_add(&t->stacks, r, tail);
	if (!look_up(t, r, stack, &about) || trace_image_delay(image, r, stack))
		add(t, image, r, stack, about);
	return 0;
}

/* The ledger of a process that has just begun becomes known within some ms. */
static void look_again(const struct heap_trace *t, struct trace_image *image)
{
	struct kernel_about about;
	size_t i = 0;

	for (; i < image->delayed.nr; i++) {
		const struct trace_delayed *d = &image->delayed.v[i];

		if (look_up(t, &d->record, d->stack, &about))
			break;
		add(t, image, &d->record, d->stack, about);
	}
	trace_image_drop_delayed(image, i);
}

static bool has_ledger(void *arg, pid_t pid)
{
	const struct heap_trace *t = arg;
	struct ledger_at_block block;

	return t->o.block_at(t->o.arg, pid, 0, &block) != -ESRCH;
}

static void sweep(struct heap_trace *t, uint64_t now_ns)
{
	if (now_ns - t->swept_ns < SWEEP_NS)
		return;
	t->swept_ns = now_ns;
	trace_images_sweep(&t->images, now_ns - LATE_NS, has_ledger, t);
}

int heap_trace_step(struct heap_trace *t)
{
	uint64_t begin_ns = nanotime();
	int rc;

	if (t->failed)
		return -EIO;
	rc = kernel_source_step(t->source, take, t);
	if (rc >= 0)
		rc = trace_stacks_until(&t->stacks, begin_ns);
	vec_each(&t->images.all, image)
		if ((*image)->delayed.nr)
			look_again(t, *image);
	sweep(t, begin_ns);
	t->failed = rc < 0;
	return rc < 0 ? rc : 0;
}

/* ---- into the heap ---- */

static const struct heap_block *block_of(const struct heap_block *v, uint64_t nr, uint64_t address)
{
	size_t i = array_while(v, nr, b, b->address <= address);

	return i && address - v[i - 1].address < v[i - 1].size_bytes ? &v[i - 1] : NULL;
}

/* By the heap at its end: what was there all the time since. */
static struct kernel_about look_into(const struct heap *h, const struct trace_record *r,
				     uint64_t time_ns)
{
	const struct heap_block *b = block_of(h->blocks, h->nr_blocks, r->a[0]);
	const struct heap_block *m = b ? NULL : block_of(h->maps, h->nr_maps, r->a[0]);

	if (b && b->birth_ns <= time_ns)
		return (struct kernel_about){ HEAP_KERNEL_OF_BLOCK, h->sites[b->site].number };
	if (m && m->birth_ns <= time_ns)
		return (struct kernel_about){ HEAP_KERNEL_OF_MAPPING,
					      h->map_sites[m->site].number };
	return TRACE_ABOUT_UNKNOWN;
}

static void place_delayed(const struct heap_trace *t, struct trace_image *image,
			  const struct heap *h)
{
	vec_each(&image->delayed, d)
		add(t, image, &d->record, d->stack,
		    look_into(h, &d->record, heap_time(t, d->record.time_ns)));
	trace_image_drop_delayed(image, image->delayed.nr);
}

/* A kind for each that was asked for, with what was lost of it. */
static int add_kinds(struct heap_trace *t, struct heap *h)
{
	struct trace_counts counts[TRACE_NR_KINDS];
	int rc = kernel_source_counts(t->source, counts);

	if (rc)
		return rc;
	h->kernel_kinds = calloc(TRACE_NR_KINDS, sizeof(*h->kernel_kinds));
	if (!h->kernel_kinds)
		return -ENOMEM;
	for (uint32_t kind = 1; kind < TRACE_NR_KINDS; kind++) {
		if (!event_classes_have(t->o.classes, kind))
			continue;
		h->kernel_kinds[h->nr_kernel_kinds++] =
			(struct heap_kernel_kind){ .kind = kind,
						   .lost = counts[kind].lost,
						   .dropped = counts[kind].dropped };
	}
	return 0;
}

static struct fault_program_key key_of(const struct trace_image *image)
{
	return (struct fault_program_key){ .begun_ns = image->from_ns,
					   .tgid = (uint32_t)image->pid };
}

/*
 * The kernel's own count, where there is one: not where it may be of another program (a record of a
 * begin was lost) or is not complete.
 */
static int count_faults(struct heap_trace *t, struct heap *h, const struct trace_image *image)
{
	enum kernel_group_status status = kernel_source_group(t->source, KERNEL_FAULTS).status;
	struct trace_counts counts[TRACE_NR_KINDS];
	struct fault_program program = { 0 };
	struct fault_program_key key;
	bool found;
	int rc = kernel_source_counts(t->source, counts);

	if (rc || !image || !event_classes_have(t->o.classes, TRACE_FAULT) ||
	    (status != KERNEL_GROUP_WORKS && status != KERNEL_GROUP_PARTLY) ||
	    counts[TRACE_FAULT].dropped || counts[TRACE_EXEC].lost || counts[TRACE_EXEC].dropped ||
	    counts[TRACE_FORK].lost || counts[TRACE_FORK].dropped)
		return rc;
	key = key_of(image);
	found = !kernel_source_find(t->source, KERNEL_TABLE_FAULT_PROGRAMS, &key, &program);
	/* what is not in the table has not happened, if no record says that it has */
	h->kernel.faults_counted = found || !image->sums.rows.nr;
	h->kernel.faults = program.faults;
	h->kernel.major_faults = program.major;
	return 0;
}

static void forget_count(void *arg, const struct trace_image *image)
{
	const struct heap_trace *t = arg;
	struct fault_program_key key = key_of(image);

	if (t->source)
		kernel_source_forget(t->source, KERNEL_TABLE_FAULT_PROGRAMS, &key);
}

static int describe(struct heap_trace *t, struct heap *h)
{
	char *unseen = strdup(t->unseen);

	if (!unseen)
		return -ENOMEM;
	free(h->kernel.unseen);
	h->kernel = (struct heap_kernel){ .traced = true,
					  .stacks = true,
					  .classes = t->o.classes,
					  .unseen_classes = t->unseen_classes,
					  .bin_ns = KERNEL_BIN_NS,
					  .unseen = unseen };
	for (int i = 0; i < USER_STACK_NR_ENDS; i++) {
		uint64_t nr = user_stacks_ends(t->stacks.walker)[i];

		h->kernel.all_stacks += nr;
		h->kernel.complete_stacks += i == USER_STACK_COMPLETE ? nr : 0;
	}
	return 0;
}

static void forget(struct heap *h)
{
	free(h->kernel_kinds);
	h->kernel_kinds = NULL;
	h->nr_kernel_kinds = 0;
	h->kernel.traced = false;
	h->kernel.faults_counted = false;
}

int heap_trace_give(struct heap_trace *t, struct heap *h, uint64_t replaced_ns)
{
	struct trace_image *image;
	struct kernel_sums none = { 0 };
	int rc;

	heap_trace_step(t);		/* that it has failed is known already */
	image = trace_images_of(&t->images, (pid_t)h->pid, replaced_ns);
	rc = describe(t, h);
	if (!rc)
		rc = add_kinds(t, h);
	if (!rc)
		rc = count_faults(t, h, image);
	if (!rc && image)
		place_delayed(t, image, h);
	if (!rc)
		rc = kernel_join(h, image ? &image->sums : &none, &t->stacks.table,
				 &t->stacks.images.modules);
	if (rc)
		forget(h);
	trace_images_drop(&t->images, image);
	return rc;
}

/* ---- from open to close ---- */

/* What cannot be seen, and why: kept for the heaps, and said now. */
static int note_lacks(struct heap_trace *t, const struct session_sink *to, struct err *e)
{
	struct kernel_group_state groups[KERNEL_NR_GROUPS];
	struct event_lack lack[EVENT_NR_CLASSES];
	struct str unseen = STR_INIT;
	unsigned nr;
	int rc;

	for (int i = 0; i < KERNEL_NR_GROUPS; i++)
		groups[i] = kernel_source_group(t->source, i);
	nr = event_classes_lacks(t->o.classes, groups, lack);
	for (unsigned i = 0; i < nr; i++) {
		struct str names = STR_INIT;

		event_classes_names(&names, lack[i].classes);
		str_addf(&unseen, "%s%s: %s", i ? "; " : "", str_text(&names), lack[i].state->why);
		t->unseen_classes |= lack[i].classes;
		if (lack[i].status == KERNEL_GROUP_FAILED)
			trace_lacks_say(&lack[i], *lack[i].state->remedy, to);
		str_fini(&names);
	}
	t->unseen = strdup(str_text(&unseen));
	rc = str_error(&unseen) || !t->unseen ? -ENOMEM : 0;
	str_fini(&unseen);
	if (rc)
		err_set(e, rc, "out of memory");
	return rc;
}

static int open_source(struct heap_trace *t, struct err *e)
{
	struct err why = { 0 };
	struct kernel_options k = { .by_targets = true,
				    .follow = t->o.follow,
				    .faults_by_program = true,
				    .stack_bytes = KERNEL_STACK_BYTES };
	int rc;

	event_classes_ask(&k, t->o.classes);
	event_classes_ask_life(&k);	/* whether they are asked for or not */
	rc = kernel_source_open(t->o.source, &k, &t->source, &why);
	if (!rc || !e)
		return rc;
	*e = why;
	if (*why.text)
		err_hint(e, "%s%swithout '--trace' the heap alone is recorded", why.hint,
			 *why.hint ? "; " : "");
	return rc;
}

int heap_trace_open(struct heap_trace **out, const struct heap_trace_options *o,
		    const struct session_sink *to, struct err *e)
{
	struct heap_trace *t = calloc(1, sizeof(*t));
	int rc;

	*out = NULL;
	if (!t)
		return err_set(e, -ENOMEM, "out of memory");
	t->o = *o;
	t->images.gone = forget_count;
	t->images.arg = t;
	rc = trace_stacks_init(&t->stacks);
	if (rc)
		err_set(e, rc, "out of memory");
	if (!rc)
		rc = open_source(t, e);
	if (!rc)
		rc = note_lacks(t, to, e);
	if (rc)
		heap_trace_close(t);
	else
		*out = t;
	return rc;
}

void heap_trace_set_zero(struct heap_trace *t, uint64_t ns)
{
	t->zero_ns = ns;
}

int heap_trace_target(struct heap_trace *t, pid_t pid, bool waits)
{
	int rc = kernel_source_target(t->source, pid, true);

	if (!rc && !waits)
		rc = trace_images_begin(&t->images, pid, 0);
	if (rc)
		return rc;
	trace_stacks_follow(&t->stacks, &pid, 1);
	prompt_begin(&t->prompt);
	return 0;
}

void heap_trace_leave(struct heap_trace *t, pid_t pid)
{
	kernel_source_target(t->source, pid, false);
}

int heap_trace_hide(struct heap_trace *t, pid_t pid, uint64_t pc)
{
	return trace_stacks_hide(&t->stacks, pid, pc);
}

void heap_trace_forked(struct heap_trace *t)
{
	if (t)
		(void)trace_stacks_forked(&t->stacks);	/* mappings are read from /proc then */
}

void heap_trace_close(struct heap_trace *t)
{
	if (!t)
		return;
	prompt_end(&t->prompt);
	kernel_source_close(t->source);
	t->source = NULL;
	trace_stacks_fini(&t->stacks);
	trace_images_fini(&t->images);
	free(t->unseen);
	free(t);
}
