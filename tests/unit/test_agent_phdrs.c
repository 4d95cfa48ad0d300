/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/unwind/module.c: program headers that are not in a file's first page, but in a part of
 * their own behind its .bss, as patchelf and llvm-bolt leave them. The file is made up, in memory
 * of ours, and so are the lines of /proc/PID/maps.
 */
#include "tests/unit/module_host.h"

#include <elf.h>

#define PAGE	  4096ul
#define HDR_AT	  0x1100ul	/* of the unwind information */
#define HDR_BYTES 0x40ul
#define FAR	  0x5000ul	/* offset in the file of the part that has the headers */
#define FAR_PAGE  4		/* ... and its page in memory; the .bss is before it */
#define FAR_PAGES 3
#define FAR_END	  (FAR + FAR_PAGES * PAGE)
#define PAGES	  (FAR_PAGE + FAR_PAGES + 1)

static char *file;

static int begin(void **state)
{
	(void)state;
	module_host_begin();
	file = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return file == MAP_FAILED;
}

static int end(void **state)
{
	(void)state;
	munmap(file, PAGES * PAGE);
	module_host_end();
	return 0;
}

/* The headers, `at` bytes into the part that has them. */
static void make_file(uint64_t phoff, unsigned nr, size_t at)
{
	Elf64_Phdr headers[3] = {
		{ .p_type = PT_LOAD, .p_offset = 0, .p_vaddr = 0, .p_filesz = 2 * PAGE },
		{ .p_type = PT_GNU_EH_FRAME, .p_vaddr = HDR_AT, .p_filesz = HDR_BYTES },
		{ .p_type = PT_LOAD, .p_offset = FAR, .p_vaddr = FAR_PAGE * PAGE,
		  .p_filesz = FAR_PAGES * PAGE },
	};
	Elf64_Ehdr *e = (Elf64_Ehdr *)file;

	memset(file, 0, PAGES * PAGE);
	memcpy(e->e_ident, ELFMAG, SELFMAG);
	e->e_ident[EI_CLASS] = ELFCLASS64;
	e->e_phentsize = sizeof(headers[0]);
	e->e_phoff = phoff;
	e->e_phnum = (uint16_t)nr;
	memcpy(file + FAR_PAGE * PAGE + at, headers, sizeof(headers));
}

static void read_lines(const char *between)
{
	uint64_t b = (uint64_t)file;
	char text[2048];

	snprintf(text, sizeof(text),
		 "10000-11000 r-xp 00000000 08:01 76 /lib/before.so\n"
		 "11000-18000 r--p 00001000 08:01 76 /lib/before.so\n"
		 "%lx-%lx r-xp 00000000 08:01 77 /lib/far.so\n"
		 "%lx-%lx rw-p 00001000 08:01 77 /lib/far.so\n"
		 "%s"
		 "%lx-%lx r--p %08lx 08:01 77 /lib/far.so\n"
		 "%lx-%lx rw-p 00000000 00:00 0 \n",
		 b, b + 2 * PAGE, b + 2 * PAGE, b + 3 * PAGE, between, b + FAR_PAGE * PAGE,
		 b + (FAR_PAGE + FAR_PAGES) * PAGE, FAR,
		 b + (FAR_PAGE + FAR_PAGES) * PAGE, b + PAGES * PAGE);
	read_text(text, 0);
}

/* Its .bss, or what `line` says of these addresses. */
static const char *middle(const char *line)
{
	static char text[128];
	uint64_t b = (uint64_t)file;

	snprintf(text, sizeof(text), "%lx-%lx %s\n", b + 3 * PAGE, b + 4 * PAGE, line);
	return text;
}

static void is_whole(void)
{
	const struct agent_module *m = &agent.modules[1];
	uint64_t b = (uint64_t)file;

	assert_int_equal(agent.nr_modules, 2);
	assert_int_equal(m->id, 1);
	assert_int_equal(m->start, b);
	assert_int_equal(m->end, b + (FAR_PAGE + FAR_PAGES) * PAGE);
	assert_int_equal(m->rec.bias, b);
	assert_int_equal(m->cfi.hdr, b + HDR_AT);
	assert_int_equal(m->cfi.hdr_bytes, HDR_BYTES);
	assert_int_equal(m->cfi.start, b);
	assert_int_equal(m->cfi.end, b + 2 * PAGE);
	assert_int_equal(recorded(1)->end, m->end);
	assert_string_equal((char *)arena_at(recorded(1)->path), "/lib/far.so");
}

static void is_nameless(void)
{
	assert_true(agent.nr_modules >= 2);
	assert_int_equal(agent.modules[1].start, (uint64_t)file);
	assert_int_equal(agent.modules[1].id, 0);
	assert_int_equal(agent.modules[1].cfi.hdr, 0);
	assert_int_equal(agent.ledger->nr_modules, 1);
}

static void headers_behind_bss(void **state)
{
	(void)state;
	make_file(FAR, 3, 0);
	read_lines(middle("rw-p 00000000 00:00 0 "));
	is_whole();
}

static void headers_at_the_end_of_a_part(void **state)
{
	const size_t at = FAR_PAGES * PAGE - 3 * sizeof(Elf64_Phdr);

	(void)state;
	make_file(FAR + at, 3, at);
	read_lines(middle("rw-p 00000000 00:00 0 "));
	is_whole();
	agent.nr_modules = 0;
	agent.ledger->nr_modules = 1;
	make_file(FAR + at, 4, at);		/* one more does not fit */
	read_lines(middle("rw-p 00000000 00:00 0 "));
	is_nameless();
}

static void headers_that_are_nowhere(void **state)
{
	static const uint64_t nowhere[] = { FAR - 1, FAR_END, FAR_END + 1, 1ull << 40,
					    UINT64_MAX, UINT64_MAX - 100 };

	(void)state;
	for (unsigned i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++) {
		agent.nr_modules = 0;
		make_file(nowhere[i], 3, 0);
		read_lines(middle("rw-p 00000000 00:00 0 "));
		is_nameless();
	}
	agent.nr_modules = 0;
	make_file(FAR, 201, 0);			/* there are not so many */
	read_lines(middle("rw-p 00000000 00:00 0 "));
	is_nameless();
	agent.nr_modules = 0;
	make_file(FAR, 200, 0);
	read_lines(middle("rw-p 00000000 00:00 0 "));
	is_whole();
}

/* Between the parts of a file only its .bss may be. */
static void what_is_between(void **state)
{
	uint64_t b = (uint64_t)file;
	char apart[128];

	(void)state;
	make_file(FAR, 3, 0);
	read_lines(middle("rw-p 00000000 08:01 78 /lib/another.so"));
	is_nameless();
	agent.nr_modules = 0;
	read_lines(middle("rwxp 00000000 00:00 0 "));
	is_nameless();
	agent.nr_modules = 0;
	read_lines(middle("rw-p 00000000 00:00 0 [heap]"));
	is_nameless();
	agent.nr_modules = 0;
	snprintf(apart, sizeof(apart), "%lx-%lx rw-p 00000000 00:00 0 \n", b + 3 * PAGE + 512,
		 b + 4 * PAGE);
	read_lines(apart);
	is_nameless();
	agent.nr_modules = 0;
	read_lines("");				/* nothing is */
	is_whole();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(headers_behind_bss, begin, end),
		cmocka_unit_test_setup_teardown(headers_at_the_end_of_a_part, begin, end),
		cmocka_unit_test_setup_teardown(headers_that_are_nowhere, begin, end),
		cmocka_unit_test_setup_teardown(what_is_between, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
