/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/kernel/perf/areas.c: what records of mappings are about, as the kernel writes them. */
#include "tests/unit/unit.h"

#include <sys/mman.h>
#include <unistd.h>

#include "src/kernel/perf/areas.h"

#define R	PROT_READ
#define RW	(PROT_READ | PROT_WRITE)
#define RX	(PROT_READ | PROT_EXEC)
#define K	1024ull

static struct areas *a;

static int begin(void **state)
{
	(void)state;
	a = areas_new();
	return !a;
}

static int end(void **state)
{
	(void)state;
	areas_drop(a);
	return 0;
}

static struct perf_mapping mapping(uint64_t start, uint64_t bytes, uint32_t prot, const char *path)
{
	bool file = *path == '/' && path[1] != '/';

	return (struct perf_mapping){
		.pid = 1,
		.map = { .start = start, .end = start + bytes, .path = (char *)path,
			 .ino = file ? 77 : 0, .dev_major = file ? 8 : 0 },
		.prot = prot,
		.flags = MAP_PRIVATE,
	};
}

/* "made 1000-2000", and so on, of a record. */
static const char *news(struct perf_mapping m)
{
	static const char *const words[] = { "nothing", "made", "protected", "break" };
	static char text[80];
	struct area_news n;

	assert_int_equal(areas_map(a, &m, &n), 0);
	snprintf(text, sizeof(text), "%s %llx-%llx", words[n.change], (unsigned long long)n.start,
		 (unsigned long long)n.end);
	if (n.change == AREA_BREAK)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " from %llx",
			 (unsigned long long)n.before);
	return n.change ? text : words[0];
}

static const char *anonymous(uint64_t start, uint64_t bytes, uint32_t prot)
{
	return news(mapping(start, bytes, prot, "//anon"));
}

static const char *file(uint64_t start, uint64_t bytes, uint32_t prot, uint64_t offset)
{
	struct perf_mapping m = mapping(start, bytes, prot, "/lib/x.so");

	m.map.offset = offset;
	return news(m);
}

/* Pieces as "START-END PROT", with blanks between. */
static const char *pieces(void)
{
	static char text[512];
	size_t at = 0;

	text[0] = 0;
	vec_each(&a->v, p)
		at += snprintf(text + at, sizeof(text) - at, "%s%llx-%llx %u", at ? " " : "",
			       (unsigned long long)p->start, (unsigned long long)p->end, p->prot);
	return text;
}

static void made_and_protected(void **state)
{
	(void)state;
	assert_string_equal(anonymous(0x10000, 0x4000, R), "made 10000-14000");
	assert_string_equal(anonymous(0x11000, 0x1000, RW), "protected 11000-12000");
	assert_string_equal(pieces(), "10000-11000 1 11000-12000 3 12000-14000 1");
	assert_string_equal(anonymous(0x10000, 0x4000, RW), "protected 10000-14000");
	assert_null(areas_find(a, 0xffff));
	assert_int_equal(areas_find(a, 0x10000)->area, FAULT_ANONYMOUS);
	assert_non_null(areas_find(a, 0x13fff));
	assert_null(areas_find(a, 0x14000));
}

/* The kernel reports the whole of areas that it has joined: what is new of it is the call's. */
static void joined_with_neighbours(void **state)
{
	(void)state;
	assert_string_equal(anonymous(0x53000, 0x3000, RW), "made 53000-56000");
	assert_string_equal(anonymous(0x43000, 0x13000, RW), "made 43000-53000");
	assert_string_equal(anonymous(0x33000, 0x10000, R), "made 33000-43000");
	assert_string_equal(anonymous(0x33000, 0x23000, RW), "protected 33000-43000");
	assert_string_equal(pieces(), "33000-43000 3 43000-53000 3 53000-56000 3");
}

/* munmap() leaves no record: the same range once more is another mapping. */
static void mapped_again(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		assert_string_equal(anonymous(0x10000, 0x4000, RW), "made 10000-14000");
	/* made for reading, then written to: what follows begins anew */
	for (int i = 0; i < 3; i++) {
		assert_string_equal(anonymous(0x20000, 0x4000, R), "made 20000-24000");
		assert_string_equal(anonymous(0x20000, 0x4000, RW), "protected 20000-24000");
	}
	/* joined with what is above: the lowest is the new one */
	assert_string_equal(anonymous(0xf000, 0x5000, RW), "made f000-10000");
	assert_string_equal(anonymous(0xf000, 0x5000, RW), "made f000-10000");
	assert_string_equal(pieces(), "f000-10000 3 10000-14000 3 20000-24000 3");
}

/* As the loader does it: the whole file, segments over it, then read-only again. */
static void segments_of_a_library(void **state)
{
	(void)state;
	assert_string_equal(file(0x100000, 0x9000, R, 0), "made 100000-109000");
	assert_string_equal(file(0x101000, 0x4000, RX, 0x1000), "made 101000-105000");
	assert_string_equal(file(0x105000, 0x3000, R, 0x5000), "made 105000-108000");
	assert_string_equal(file(0x106000, 0x2000, RW, 0x6000), "made 106000-108000");
	assert_string_equal(anonymous(0x108000, 0x1000, RW), "made 108000-109000");
	assert_string_equal(file(0x106000, 0x1000, R, 0x6000), "protected 106000-107000");
	assert_int_equal(areas_find(a, 0x105800)->offset, 0x5000);
	assert_int_equal(areas_find(a, 0x107000)->offset, 0x7000);
	assert_int_equal(areas_find(a, 0x107000)->ino, 77);
	assert_int_equal(areas_find(a, 0x107000)->device, 8 << 20);
	assert_int_equal(areas_find(a, 0x108000)->area, FAULT_ANONYMOUS);
	/* another place of the file is not the same memory */
	assert_string_equal(file(0x101000, 0x1000, RX, 0x3000), "made 101000-102000");
}

static void begin_program(void)
{
	a->beginning = true;
	assert_string_equal(news(mapping(0x7fff0000, 0x10000, RW, "[stack]")), "nothing");
	assert_string_equal(file(0x400000, 0x5000, R, 0), "nothing");
	assert_string_equal(file(0x401000, 0x1000, RX, 0x1000), "nothing");
	assert_true(a->beginning);
	assert_string_equal(news(mapping(0x70000000, 0x1000, RX, "[vdso]")), "nothing");
	assert_false(a->beginning);
	assert_string_equal(news(mapping(0x70001000, 0x1000, R, "[vvar]")), "nothing");
	assert_int_equal(a->program_end, 0x405000);
}

/* No call has made what exec maps. The first growth of the break has no name, later ones have. */
static void break_of_a_program(void **state)
{
	(void)state;
	begin_program();
	assert_string_equal(anonymous(0x600000, 0x21000, RW), "break 600000-621000 from 600000");
	assert_string_equal(news(mapping(0x600000, 0x42000, RW, "[heap]")),
			    "break 600000-642000 from 621000");
	/* it has shrunk in between, by how much nobody knows */
	assert_string_equal(news(mapping(0x600000, 0x30000, RW, "[heap]")),
			    "break 600000-630000 from 0");
	assert_int_equal(areas_find(a, 0x62ffff)->area, FAULT_HEAP);
	/* far away, and there is one: a mapping */
	assert_string_equal(anonymous(0x700000, 0x1000, RW), "made 700000-701000");
}

static void too_far_for_a_break(void **state)
{
	(void)state;
	begin_program();
	assert_string_equal(anonymous(0x405000 + (1ull << 30) + 0x1000, 0x1000, RW),
			    "made 40406000-40407000");
	assert_string_equal(anonymous(0x405000 + (1ull << 30), 0x1000, RW),
			    "break 40405000-40406000 from 40405000");
}

static void a_stack_grows(void **state)
{
	(void)state;
	begin_program();
	assert_true(areas_stack_grows(a, 0x7ffeffff));
	assert_string_equal(news(mapping(0x7ffe0000, 0x20000, RW, "[stack]")), "nothing");
	assert_int_equal(areas_find(a, 0x7ffe0000)->area, FAULT_STACK);
	assert_true(areas_stack_grows(a, 0x7ffdffff));
	/* not into the gap above another mapping, and not above it */
	assert_false(areas_stack_grows(a, 0x70002000 + 255 * 4 * K));
	assert_true(areas_stack_grows(a, 0x70002000 + 256 * 4 * K));
	assert_false(areas_stack_grows(a, 0x80000000));
	assert_false(areas_stack_grows(a, 0x500000));
}

static void kinds_of_memory(void **state)
{
	static const struct {
		const char *path;
		uint64_t ino;
		uint32_t perms, flags;
		enum fault_area area;
	} cases[] = {
		{ "//anon", 0, 0, MAP_PRIVATE, FAULT_ANONYMOUS },
		{ "[anon:name]", 0, 0, MAP_PRIVATE, FAULT_ANONYMOUS },
		{ "[vvar]", 0, 0, MAP_PRIVATE, FAULT_SPECIAL },
		{ "[heap]", 0, 0, MAP_PRIVATE, FAULT_HEAP },
		{ "/dev/zero (deleted)", 5, PROC_MAP_SHARED, MAP_SHARED, FAULT_SHMEM },
		{ "/memfd:x (deleted)", 5, PROC_MAP_SHARED, MAP_SHARED, FAULT_SHMEM },
		{ "/SYSV00000000 (deleted)", 5, PROC_MAP_SHARED, MAP_SHARED, FAULT_SHMEM },
		{ "/dev/shm/a", 5, PROC_MAP_SHARED, MAP_SHARED, FAULT_SHMEM },
		{ "/memfd:x (deleted)", 5, 0, MAP_PRIVATE, FAULT_FILE_PRIVATE },
		{ "/tmp/a", 5, PROC_MAP_SHARED, MAP_SHARED, FAULT_FILE_SHARED },
		{ "/anon_hugepage (deleted)", 5, 0, MAP_PRIVATE, FAULT_HUGETLB },
		{ "/mnt/huge", 5, 0, MAP_PRIVATE | MAP_HUGETLB, FAULT_HUGETLB },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct perf_mapping m = mapping(0x1000, 0x1000, RW, cases[i].path);

		m.map.ino = cases[i].ino;
		m.map.perms = cases[i].perms;
		m.flags = cases[i].flags;
		assert_int_equal(areas_piece(&m).area, cases[i].area);
	}
}

/* A child has its parent's, until one of them maps something. */
static void shared_with_a_child(void **state)
{
	struct areas *child, *parent = a;

	(void)state;
	anonymous(0x10000, 0x4000, RW);
	child = a;
	child->refs++;
	a = areas_own(child);
	assert_ptr_not_equal(a, parent);
	assert_int_equal(parent->refs, 1);
	anonymous(0x20000, 0x1000, RW);
	assert_null(areas_find(parent, 0x20000));
	assert_non_null(areas_find(a, 0x20000));
	assert_non_null(areas_find(a, 0x10000));
	assert_ptr_equal(areas_own(a), a);
	areas_drop(a);
	a = parent;
}

static unsigned nr_files;

static void on_file(void *arg, const struct area_piece *p, const char *path)
{
	assert_ptr_equal(arg, a);
	assert_true(p->ino && *path == '/');
	nr_files++;
}

/* Of ourselves; what is known is not changed. */
static void read_where_nothing_is_known(void **state)
{
	char *p = mmap(NULL, 0x3000, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t at = (uint64_t)(uintptr_t)p;

	(void)state;
	assert_ptr_not_equal(p, MAP_FAILED);
	file(at + 0x1000, 0x1000, RX, 0x9000);
	nr_files = 0;
	assert_int_equal(areas_read(a, getpid(), on_file, a), 0);
	assert_true(nr_files > 0);
	assert_int_equal(areas_find(a, at)->area, FAULT_ANONYMOUS);
	assert_int_equal(areas_find(a, at + 0x1000)->offset, 0x9000);
	assert_int_equal(areas_find(a, at + 0x1000)->prot, RX);
	assert_int_equal(areas_find(a, at + 0x2000)->area, FAULT_ANONYMOUS);
	assert_int_equal(areas_find(a, (uint64_t)(uintptr_t)&at)->area, FAULT_STACK);
	assert_int_equal(areas_find(a, (uint64_t)(uintptr_t)read_where_nothing_is_known)->area,
			 FAULT_FILE_PRIVATE);
	for (size_t i = 1; i < a->v.nr; i++)
		assert_true(a->v.v[i - 1].end <= a->v.v[i].start);
	munmap(p, 0x3000);
	assert_int_equal(areas_read(a, 0x7ffffffe, on_file, a), -ESRCH);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(made_and_protected),
		TEST(joined_with_neighbours),
		TEST(mapped_again),
		TEST(segments_of_a_library),
		TEST(break_of_a_program),
		TEST(too_far_for_a_break),
		TEST(a_stack_grows),
		TEST(kinds_of_memory),
		TEST(shared_with_a_child),
		TEST(read_where_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
