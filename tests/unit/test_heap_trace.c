/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/session/trace/heap_trace.c, with records and ledgers made here: which process and program an
 * event belongs to, what it is about, and what is said when it cannot be known. Also of
 * src/session/trace/trace_about.c and src/session/trace/trace_images.c.
 */
#include "tests/unit/unit.h"

#include <sys/resource.h>

#include "src/base/nanotime.h"
#include "src/kernel/fault_area.h"
#include "src/session/session.h"
#include "src/session/trace/heap_trace.h"
#include "src/session/trace/prompt.h"
#include "src/session/trace/trace_images.h"
#include "tests/fake/fake_kernel.h"

#define ZERO	1000000000ull	/* CLOCK_MONOTONIC at 0 of the heaps */

/* ---- ledgers ---- */

struct ledgers {
	struct ledger_at_block block;	/* of process 7; size 0: none */
	int answer;			/* -errno instead */
	unsigned asked;
};

static int block_at(void *arg, pid_t pid, uint64_t address, struct ledger_at_block *out)
{
	struct ledgers *l = arg;

	l->asked++;
	if (l->answer)
		return l->answer;
	if (pid != 7 || address - l->block.address >= l->block.size_bytes)
		return 0;
	*out = l->block;
	return 1;
}

/* ---- a trace ---- */

static char noted[1024];

static void on_note(void *arg, enum session_kind kind, const char *text)
{
	(void)arg, (void)kind;
	snprintf(noted + strlen(noted), sizeof(noted) - strlen(noted), "%s\n", text);
}

static const struct session_ops ops = { .note = on_note };
static const struct session_sink sink = { .ops = &ops };

static struct heap_trace *begin(struct fake_kernel *f, struct ledgers *l, uint32_t classes)
{
	const struct heap_trace_options o = { .source = &fake_source, .classes = classes,
					      .follow = true, .block_at = block_at, .arg = l };
	struct heap_trace *t = NULL;
	struct err e = { 0 };

	*noted = '\0';
	fake_kernel = f;
	for (int i = 0; i < KERNEL_NR_GROUPS; i++)
		if (!f->groups[i].status)
			f->groups[i].status = KERNEL_GROUP_WORKS;
	if (heap_trace_open(&t, &o, &sink, &e))
		fail_msg("%s", e.text);
	heap_trace_set_zero(t, ZERO);
	return t;
}

static struct trace_record record(uint32_t kind, uint32_t pid, uint64_t ns, uint64_t a0)
{
	return (struct trace_record){ .kind = kind, .tgid = pid, .tid = pid, .weight = 1,
				      .time_ns = ZERO + ns, .a = { a0 }, .comm = "victim" };
}

static struct trace_record fault(uint32_t pid, uint64_t ns, uint64_t address, enum fault_area area)
{
	struct trace_record r = record(TRACE_FAULT, pid, ns, address);

	r.a[2] = TRACE_FAULT_USER | (uint64_t)area << TRACE_FAULT_AREA_SHIFT;
	return r;
}

/* A heap of that process with a site 5 and a mapping site 6 of the ledger. */
static struct heap *heap_of(uint32_t pid)
{
	struct heap *h = heap_new();

	h->pid = pid;
	h->sites = realloc(h->sites, 2 * sizeof(*h->sites));
	h->sites[1] = (struct heap_site){ .number = 5 };
	h->nr_sites = 2;
	h->map_sites = realloc(h->map_sites, 2 * sizeof(*h->map_sites));
	h->map_sites[1] = (struct heap_site){ .number = 6 };
	h->nr_map_sites = 2;
	h->threads = calloc(1, sizeof(*h->threads));
	h->nr_threads = 1;
	return h;
}

static struct heap *give(struct heap_trace *t, uint32_t pid, uint64_t replaced_ns)
{
	struct heap *h = heap_of(pid);
	char why[128];

	assert_int_equal(heap_trace_give(t, h, replaced_ns), 0);
	if (heap_check(h, why, sizeof(why)))
		fail_msg("%s", why);
	return h;
}

static const struct heap_kernel_kind *kind_of(const struct heap *h, uint32_t kind)
{
	for (uint32_t i = 0; i < h->nr_kernel_kinds; i++)
		if (h->kernel_kinds[i].kind == kind)
			return &h->kernel_kinds[i];
	fail_msg("no kind %u", kind);
	return NULL;
}

static uint64_t events(const struct heap *h, uint32_t kind)
{
	return kind_of(h, kind)->events;
}

/* ---- names ---- */

static void test_lists(void **state)
{
	struct err e = { 0 };
	uint32_t classes;

	(void)state;
	assert_int_equal(heap_trace_parse("faults,mmap", &classes, &e), 0);
	assert_int_equal(classes, 1u << EVENT_FAULTS | 1u << EVENT_MMAP);
	assert_int_equal(heap_trace_parse("default", &classes, &e), 0);
	assert_true(classes >> EVENT_FAULTS & 1 && classes >> EVENT_OOM & 1);
	assert_false(classes >> EVENT_LIFE & 1);
	assert_int_equal(heap_trace_parse("all", &classes, &e), 0);
	assert_true(classes >> EVENT_LIFE & 1);
	assert_false(classes >> EVENT_KERNEL & 1 || classes >> EVENT_CACHE & 1 ||
		     classes >> EVENT_PMC & 1);
	assert_int_equal(heap_trace_parse("mmap,kernel,pmc", &classes, &e), -EINVAL);
	assert_string_equal(e.text, "a capture cannot have these events: kernel, pmc");
	assert_int_equal(e.exit_code, 2);
	assert_int_equal(heap_trace_parse("nothing", &classes, &e), -EINVAL);
	assert_string_equal(e.text, "there is no event 'nothing'");
}

/* ---- whose ---- */

/* What pmm's copy does before it executes the program is not the program's. */
static void test_the_program_begins_with_its_exec(void **state)
{
	const struct fake_record r[] = {
		{ fault(7, 1, 0x1000, FAULT_HEAP) },
		{ record(TRACE_EXEC, 7, 2, 0) },
		{ fault(7, 3, 0x1000, FAULT_HEAP) },
		{ fault(8, 4, 0x1000, FAULT_HEAP) },	/* not known */
	};
	struct fake_kernel f = { .records = r, .nr_records = NR(r) };
	struct ledgers l = { 0 };
	struct heap_trace *t = begin(&f, &l, 1u << EVENT_FAULTS);
	struct heap *h;

	(void)state;
	assert_int_equal(heap_trace_target(t, 7, true), 0);
	assert_true(f.asked.by_targets);
	assert_true(f.asked.follow);
	assert_true(f.asked.faults_by_program);
	assert_true(f.asked.groups >> KERNEL_LIFE & 1);
	assert_true(f.asked.groups >> KERNEL_FAULTS & 1);
	assert_true(f.asked.kinds[TRACE_EXEC / 64] >> TRACE_EXEC % 64 & 1);
	h = give(t, 7, 0);
	assert_true(h->kernel.traced);
	assert_int_equal(h->kernel.classes, 1u << EVENT_FAULTS);
	assert_int_equal(events(h, TRACE_FAULT), 1);
	assert_int_equal(h->nr_kernel_rows, 1);
	assert_int_equal(h->kernel_rows[0].first_ns, 3);
	assert_int_equal(h->nr_kernel_kinds, 1);
	heap_free(h);
	/* its events are in that heap, and in no other */
	h = give(t, 7, 0);
	assert_int_equal(h->nr_kernel_rows, 0);
	assert_true(h->kernel.traced);
	heap_free(h);
	heap_trace_close(t);
	assert_int_equal(f.closed, 1);
}

static void test_children_and_programs_in_their_place(void **state)
{
	const struct fake_record r[] = {
		{ fault(7, 1, 0x1000, FAULT_HEAP) },
		{ record(TRACE_FORK, 7, 2, 9) },
		{ fault(9, 3, 0x1000, FAULT_HEAP) },
		{ fault(9, 3, 0x1000, FAULT_HEAP) },
		{ record(TRACE_EXEC, 9, 4, 0) },
		{ fault(9, 5, 0x1000, FAULT_HEAP) },
		{ fault(9, 6, 0x1000, FAULT_HEAP) },
		{ fault(9, 7, 0x1000, FAULT_HEAP) },
		{ record(TRACE_EXEC, 9, 8, 0) },
		{ fault(9, 9, 0x1000, FAULT_HEAP) },
		{ record(TRACE_FORK, 7, 10, 7) },	/* a thread */
	};
	struct fake_kernel f = { .records = r, .nr_records = NR(r) };
	struct ledgers l = { 0 };
	struct heap_trace *t;
	struct heap *h;

	(void)state;
	static const struct { uint64_t replaced_ns, nr; } of[] = {
		{ 0, 1 }, { ZERO + 3, 2 }, { ZERO + 7, 3 }, { 1, 2 },
	};

	for (size_t i = 0; i < NR(of); i++) {
		f.given = 0;
		t = begin(&f, &l, 1u << EVENT_FAULTS);
		assert_int_equal(heap_trace_target(t, 7, false), 0);
		h = give(t, 9, of[i].replaced_ns);
		assert_int_equal(events(h, TRACE_FAULT), of[i].nr);
		heap_free(h);
		h = give(t, 7, 0);
		assert_int_equal(events(h, TRACE_FAULT), 1);
		heap_free(h);
		heap_trace_close(t);
	}
}

/* ---- what it is about ---- */

static void test_blocks(void **state)
{
	const struct fake_record r[] = {
		{ fault(7, 1, 0x1000, FAULT_HEAP) },
		{ fault(7, 1, 0x1fff, FAULT_ANONYMOUS) },
		{ fault(7, 1, 0x2000, FAULT_HEAP) },	/* behind it */
		{ fault(7, 1, 0x1000, FAULT_STACK) },	/* not asked */
		{ record(TRACE_MMAP, 7, 1, 0x1000) },	/* nor this */
		{ record(TRACE_SWAP_IN, 7, 1, 0x1800) },
	};
	struct fake_kernel f = { .records = r, .nr_records = NR(r) };
	struct ledgers l = { .block = { 0x1000, 0x1000, 5, false } };
	struct heap_trace *t = begin(&f, &l, 1u << EVENT_FAULTS | 1u << EVENT_MMAP |
						     1u << EVENT_SWAP);
	uint64_t of_block = 0, of_nothing = 0;
	struct heap *h;

	(void)state;
	assert_int_equal(heap_trace_target(t, 7, false), 0);
	h = give(t, 7, 0);
	assert_int_equal(l.asked, 4);
	for (uint32_t i = 0; i < h->nr_kernel_rows; i++) {
		const struct heap_kernel_row *row = &h->kernel_rows[i];

		if (row->of == HEAP_KERNEL_OF_BLOCK) {
			assert_int_equal(row->site, 1);
			of_block += row->events;
		} else {
			assert_int_equal(row->of, HEAP_KERNEL_OF_NOTHING);
			assert_int_equal(row->site, HEAP_NO_SITE);
			of_nothing += row->events;
		}
	}
	assert_int_equal(of_block, 3);
	assert_int_equal(of_nothing, 3);
	assert_int_equal(events(h, TRACE_SWAP_IN), 1);
	heap_free(h);
	heap_trace_close(t);
}

static void test_mappings_and_errors(void **state)
{
	const struct fake_record r[] = { { fault(7, 1, 0x1000, FAULT_ANONYMOUS) } };
	struct fake_kernel f = { .records = r, .nr_records = NR(r) };
	struct ledgers l = { .block = { 0x1000, 0x1000, 6, true } };
	struct heap_trace *t = begin(&f, &l, 1u << EVENT_FAULTS);
	struct heap *h;

	(void)state;
	assert_int_equal(heap_trace_target(t, 7, false), 0);
	h = give(t, 7, 0);
	assert_int_equal(h->kernel_rows[0].of, HEAP_KERNEL_OF_MAPPING);
	assert_int_equal(h->kernel_rows[0].site, 1);
	heap_free(h);
	heap_trace_close(t);

	f.given = 0;
	l.answer = -EIO;
	t = begin(&f, &l, 1u << EVENT_FAULTS);
	assert_int_equal(heap_trace_target(t, 7, false), 0);
	h = give(t, 7, 0);
	assert_int_equal(h->kernel_rows[0].of, HEAP_KERNEL_OF_UNKNOWN);
	assert_int_equal(h->kernel_rows[0].site, HEAP_NO_SITE);
	heap_free(h);
	heap_trace_close(t);
}

/* The first events come before the ledger is known: they wait for it, in their order. */
static void test_ledgers_that_come_late(void **state)
{
	const struct fake_record r[] = { { fault(7, 1, 0x1000, FAULT_HEAP) },
					 { fault(7, 2, 0x1008, FAULT_HEAP) } };
	struct fake_kernel f = { .records = r, .nr_records = NR(r) };
	struct ledgers l = { .block = { 0x1000, 0x1000, 5, false }, .answer = -EAGAIN };
	struct heap_trace *t = begin(&f, &l, 1u << EVENT_FAULTS);
	struct heap *h;

	(void)state;
	assert_int_equal(heap_trace_target(t, 7, false), 0);
	assert_int_equal(heap_trace_step(t), 0);
	assert_int_equal(l.asked, 3);	/* and the first one again */
	l.answer = 0;
	assert_int_equal(heap_trace_step(t), 0);
	assert_int_equal(l.asked, 5);
	assert_int_equal(heap_trace_step(t), 0);
	assert_int_equal(l.asked, 5);
	h = give(t, 7, 0);
	assert_int_equal(h->nr_kernel_rows, 1);
	assert_int_equal(h->kernel_rows[0].of, HEAP_KERNEL_OF_BLOCK);
	assert_int_equal(h->kernel_rows[0].events, 2);
	heap_free(h);
	heap_trace_close(t);
}

/* It never came: the heap at the end says what was there all the time. */
static void test_ledgers_that_never_come(void **state)
{
	const struct fake_record r[] = { { fault(7, 50, 0x1000, FAULT_HEAP) },
					 { fault(7, 50, 0x3000, FAULT_HEAP) },
					 { fault(7, 50, 0x5800, FAULT_HEAP) },
					 { fault(7, 50, 0x9000, FAULT_ANONYMOUS) } };
	struct fake_kernel f = { .records = r, .nr_records = NR(r) };
	struct ledgers l = { .answer = -ESRCH };
	struct heap_trace *t = begin(&f, &l, 1u << EVENT_FAULTS);
	struct heap *h = heap_of(7);
	uint64_t of[HEAP_KERNEL_NR_OF] = { 0 };

	(void)state;
	assert_int_equal(heap_trace_target(t, 7, false), 0);
	assert_int_equal(heap_trace_step(t), 0);
	h->blocks = calloc(2, sizeof(*h->blocks));
	h->blocks[0] = (struct heap_block){ .address = 0x1000, .size_bytes = 0x1000, .site = 1,
					    .birth_ns = 50, .kind = 1 };
	/* allocated since */
	h->blocks[1] = (struct heap_block){ .address = 0x5000, .size_bytes = 0x1000, .site = 1,
					    .birth_ns = 51, .kind = 1 };
	h->nr_blocks = 2;
	h->maps = calloc(1, sizeof(*h->maps));
	h->maps[0] = (struct heap_block){ .address = 0x8000, .size_bytes = 0x2000, .site = 1,
					  .kind = 14 };
	h->nr_maps = 1;
	assert_int_equal(heap_trace_give(t, h, 0), 0);
	for (uint32_t i = 0; i < h->nr_kernel_rows; i++)
		of[h->kernel_rows[i].of] += h->kernel_rows[i].events;
	assert_int_equal(of[HEAP_KERNEL_OF_BLOCK], 1);
	assert_int_equal(of[HEAP_KERNEL_OF_MAPPING], 1);
	assert_int_equal(of[HEAP_KERNEL_OF_UNKNOWN], 2);
	assert_int_equal(of[HEAP_KERNEL_OF_NOTHING], 0);
	heap_free(h);
	heap_trace_close(t);
}

/* ---- what is missing ---- */

static void test_losses_and_lacks(void **state)
{
	struct fake_kernel f = { 0 };
	struct ledgers l = { 0 };
	struct heap_trace *t;
	struct heap *h;

	(void)state;
	f.counts[TRACE_FAULT] = (struct trace_counts){ .seen = 9, .lost = 4, .dropped = 2 };
	f.groups[KERNEL_OOM] = (struct kernel_group_state){ .status = KERNEL_GROUP_FAILED,
							    .why = "no tracepoint",
							    .remedy = "a newer kernel" };
	t = begin(&f, &l, 1u << EVENT_FAULTS | 1u << EVENT_OOM);
	assert_string_equal(noted, "not seen: oom: no tracepoint; a newer kernel\n");
	h = give(t, 7, 0);
	assert_int_equal(h->kernel.unseen_classes, 1u << EVENT_OOM);
	assert_string_equal(h->kernel.unseen, "oom: no tracepoint");
	assert_int_equal(kind_of(h, TRACE_FAULT)->lost, 4);
	assert_int_equal(kind_of(h, TRACE_FAULT)->dropped, 2);
	heap_free(h);

	f.step_error = -ENOMEM;
	assert_int_equal(heap_trace_step(t), -ENOMEM);
	assert_int_equal(heap_trace_step(t), -EIO);
	h = heap_of(7);
	f.counts_error = -EBADF;
	assert_int_equal(heap_trace_give(t, h, 0), -EBADF);
	assert_false(h->kernel.traced);
	heap_free(h);
	heap_trace_close(t);
}

/* ---- how many page faults there were ---- */

/* As the kernel counts them for each program in a process, not as records stand for them. */
static void test_faults_are_counted(void **state)
{
	const struct fake_record r[] = {
		{ record(TRACE_EXEC, 7, 2, 0) },
		{ fault(7, 3, 0x1000, FAULT_HEAP) },
		{ record(TRACE_FORK, 7, 4, 9) },
		{ record(TRACE_EXEC, 7, 5, 0) },
	};
	static const struct fault_program_key keys[] = {
		{ ZERO + 5, 7, 0 }, { ZERO + 2, 7, 0 }, { ZERO + 4, 9, 0 }, { 0, 8, 0 },
	};
	static const struct fault_program values[] = { { 50, 5 }, { 20, 2 }, { 40, 4 }, { 80, 8 } };
	static const struct { pid_t pid; uint64_t replaced_ns, faults, major; } expected[] = {
		{ 7, ZERO + 3, 20, 2 }, { 9, 0, 40, 4 }, { 8, 0, 80, 8 }, { 7, 0, 50, 5 },
	};
	struct fake_kernel f = { .records = r, .nr_records = NR(r) };
	struct ledgers l = { 0 };
	struct heap_trace *t;
	struct heap *h;

	(void)state;
	f.keys[KERNEL_TABLE_FAULT_PROGRAMS] = keys;
	f.values[KERNEL_TABLE_FAULT_PROGRAMS] = values;
	f.nr_rows[KERNEL_TABLE_FAULT_PROGRAMS] = NR(keys);
	for (size_t i = 0; i < NR(expected); i++) {
		t = begin(&f, &l, 1u << EVENT_FAULTS);
		assert_int_equal(heap_trace_target(t, 7, true), 0);
		assert_int_equal(heap_trace_target(t, 8, false), 0);
		h = give(t, (uint32_t)expected[i].pid, expected[i].replaced_ns);
		assert_true(h->kernel.faults_counted);
		assert_int_equal(h->kernel.faults, expected[i].faults);
		assert_int_equal(h->kernel.major_faults, expected[i].major);
		assert_int_equal(events(h, TRACE_FAULT), expected[i].faults);
		heap_free(h);
		heap_trace_close(t);
	}
	/* of 7 the last two are forgotten, in the first round the one before alone */
	assert_int_equal(f.forgotten[KERNEL_TABLE_FAULT_PROGRAMS], 1 + 1 + 1 + 2);
}

/* A count that may be of another program, or of a part, is none. */
static void test_faults_that_are_not_counted(void **state)
{
	struct fake_kernel f = { 0 };
	struct ledgers l = { 0 };
	struct heap_trace *t = begin(&f, &l, 1u << EVENT_FAULTS);
	struct trace_counts *const lost[] = { &f.counts[TRACE_EXEC], &f.counts[TRACE_FORK] };
	struct heap *h;

	(void)state;
	assert_int_equal(heap_trace_target(t, 7, false), 0);
	for (size_t i = 0; i < 2 * NR(lost); i++) {
		*(i & 1 ? &lost[i / 2]->lost : &lost[i / 2]->dropped) = 1;
		h = give(t, 8, 0);	/* 8 is not traced at all */
		assert_false(h->kernel.faults_counted);
		heap_free(h);
		assert_int_equal(heap_trace_target(t, 7, false), 0);
		h = give(t, 7, 0);
		assert_false(h->kernel.faults_counted);
		heap_free(h);
		*lost[i / 2] = (struct trace_counts){ 0 };
	}
	f.counts[TRACE_FAULT].dropped = 1;
	assert_int_equal(heap_trace_target(t, 7, false), 0);
	h = give(t, 7, 0);
	assert_false(h->kernel.faults_counted);
	heap_free(h);
	/* of records, after they were counted */
	f.counts[TRACE_FAULT] = (struct trace_counts){ .lost = 9 };
	assert_int_equal(heap_trace_target(t, 7, false), 0);
	h = give(t, 7, 0);
	assert_true(h->kernel.faults_counted);
	assert_int_equal(h->kernel.faults, 0);
	heap_free(h);
	f.groups[KERNEL_FAULTS].status = KERNEL_GROUP_FAILED;
	assert_int_equal(heap_trace_target(t, 7, false), 0);
	h = give(t, 7, 0);
	assert_false(h->kernel.faults_counted);
	heap_free(h);
	heap_trace_close(t);
}

/* ---- priority ---- */

/* Raised from the first target on, whose copy of pmm was forked before, and put back at the end. */
static void test_priority_while_it_traces(void **state)
{
	int before = getpriority(PRIO_PROCESS, 0), raised;
	struct fake_kernel f = { 0 };
	struct ledgers l = { 0 };
	struct prompt p = { 0 };
	struct heap_trace *t;

	(void)state;
	prompt_begin(&p);
	raised = getpriority(PRIO_PROCESS, 0);	/* as far as it may be */
	prompt_end(&p);
	t = begin(&f, &l, 1u << EVENT_FAULTS);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
	assert_int_equal(heap_trace_target(t, 7, true), 0);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), raised);
	assert_int_equal(heap_trace_target(t, 8, true), 0);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), raised);
	heap_trace_close(t);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
}

/* ---- images ---- */

static void test_images_are_few(void **state)
{
	struct trace_images im = { 0 };
	struct trace_record r = { .weight = 1 };
	struct trace_image *first, *oldest;

	(void)state;
	for (unsigned i = 0; i < TRACE_IMAGES_EACH + 6; i++)
		assert_int_equal(trace_images_begin(&im, 5, i), 0);
	first = trace_images_find(&im, 5);
	assert_int_equal(first->from_ns, TRACE_IMAGES_EACH + 5);
	oldest = trace_images_of(&im, 5, 1);
	assert_int_equal(oldest->from_ns, 6);
	assert_null(oldest->older);
	for (unsigned i = 0; i < TRACE_IMAGE_DELAYED; i++)
		assert_int_equal(trace_image_delay(first, &r, i), 0);
	assert_int_equal(trace_image_delay(first, &r, 0), -E2BIG);
	trace_image_drop_delayed(first, 3);
	assert_int_equal(first->delayed.v[0].stack, 3);
	assert_int_equal(first->delayed.nr, TRACE_IMAGE_DELAYED - 3);
	/* the last takes the place of one that is struck out */
	assert_int_equal(trace_images_begin(&im, 6, 1), 0);
	assert_int_equal(trace_images_begin(&im, 7, 2), 0);
	trace_images_drop(&im, trace_images_find(&im, 5));
	assert_null(trace_images_find(&im, 5));
	assert_int_equal(trace_images_find(&im, 7)->from_ns, 2);
	trace_images_drop(&im, trace_images_find(&im, 7));
	assert_int_equal(trace_images_find(&im, 6)->from_ns, 1);
	assert_int_equal(im.all.nr, 1);
	/* a process of the same number: what is left of the one before goes */
	r = record(TRACE_FORK, 1, 50, 6);
	assert_int_equal(trace_images_note(&im, &r), 0);
	assert_int_equal(trace_images_find(&im, 6)->from_ns, ZERO + 50);
	assert_null(trace_images_find(&im, 6)->older);
	trace_images_fini(&im);
}

static bool has_ledger(void *arg, pid_t pid)
{
	(void)arg;
	return pid == 6;
}

static void test_images_of_ended_processes(void **state)
{
	struct trace_images im = { 0 };
	struct trace_record r = record(TRACE_EXIT, 5, 9, 0);
	uint64_t before = nanotime();

	(void)state;
	for (int pid = 4; pid < 9; pid++)
		assert_int_equal(trace_images_begin(&im, pid, 1), 0);
	assert_int_equal(trace_images_note(&im, &r), 0);	/* a thread's */
	assert_int_equal(trace_images_find(&im, 5)->ended_ns, 0);
	r.a[2] = 1;
	for (r.tgid = 5; r.tgid < 9; r.tgid++)
		assert_int_equal(trace_images_note(&im, &r), 0);
	assert_true(trace_images_find(&im, 5)->ended_ns >= before);
	trace_images_sweep(&im, before - 1, has_ledger, NULL);
	assert_int_equal(im.all.nr, 5);
	trace_images_sweep(&im, nanotime(), has_ledger, NULL);
	assert_int_equal(im.all.nr, 2);
	assert_non_null(trace_images_find(&im, 4));		/* it runs */
	assert_non_null(trace_images_find(&im, 6));
	trace_images_fini(&im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_the_program_begins_with_its_exec),
		cmocka_unit_test(test_children_and_programs_in_their_place),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_mappings_and_errors),
		cmocka_unit_test(test_ledgers_that_come_late),
		cmocka_unit_test(test_ledgers_that_never_come),
		cmocka_unit_test(test_losses_and_lacks),
		cmocka_unit_test(test_faults_are_counted),
		cmocka_unit_test(test_faults_that_are_not_counted),
		cmocka_unit_test(test_priority_while_it_traces),
		cmocka_unit_test(test_images_are_few),
		cmocka_unit_test(test_images_of_ended_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
