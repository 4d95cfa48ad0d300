/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/unwind/module.c: the modules of this very process, as the loader knows them; made-up lines
 * of /proc/PID/maps about them; and what is recorded of those that come, go and come back.
 */
#include "tests/unit/module_host.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "agent/hook.h"
#include "agent/unwind/rule.h"
#include "agent/unwind/unwind.h"

#define LIBRARY	"libzstd.so.1"

/* Which the agent itself only reads. */
static struct pmm_tree *tree(void)
{
	return (struct pmm_tree *)agent.tree;
}

static int begin(void **state)
{
	(void)state;
	module_host_begin();
	agent.find_object = (void *)_dl_find_object;
	tree()->tick = 41;
	return 0;
}

static int end(void **state)
{
	(void)state;
	module_host_end();
	return 0;
}

/* ---- the loader's view ----------------------------------------------------------------------- */

struct build_id {
	const unsigned char *byte;
	uint32_t bytes;
};

static struct build_id build_id_of(const struct dl_phdr_info *info)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const char *at = (const char *)info->dlpi_addr + ph->p_vaddr,
			   *stop = at + ph->p_memsz;

		while (ph->p_type == PT_NOTE && at < stop) {
			const ElfW(Nhdr) *n = (const void *)at;

			if (n->n_type == NT_GNU_BUILD_ID)
				return (struct build_id){ (const unsigned char *)(n + 1) + 4,
							  n->n_descsz };
			at += sizeof(*n) + ((n->n_namesz + 3) & ~3u) + ((n->n_descsz + 3) & ~3u);
		}
	}
	return (struct build_id){ 0 };
}

static void same_as_the_loader(const struct dl_phdr_info *info, const struct agent_module *m)
{
	struct build_id id = build_id_of(info);
	uint64_t start = UINT64_MAX, stop = 0;

	assert_int_equal(m->rec.bias, info->dlpi_addr);
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t at = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_GNU_EH_FRAME) {
			assert_int_equal(m->cfi.hdr, at);
			assert_int_equal(m->cfi.hdr_bytes, ph->p_filesz);
		}
		if (ph->p_type == PT_LOAD && at < start)
			start = at & ~4095ull;
		if (ph->p_type == PT_LOAD)
			stop = (at + ph->p_memsz + 4095) & ~4095ull;
	}
	assert_int_equal(m->start, start);
	assert_true(m->end > start && m->end <= stop);
	assert_true(m->cfi.start >= start && m->cfi.hdr >= m->cfi.start &&
		    m->cfi.hdr < m->cfi.end && m->cfi.end <= m->end);
	assert_int_equal(m->rec.build_id_len, id.bytes);
	assert_memory_equal(m->rec.build_id, id.byte, id.bytes);
	assert_true(m->listed);
}

static void same_in_the_ledger(const struct agent_module *m)
{
	const struct pmm_module *r = recorded(m->id);

	assert_int_not_equal(m->id, 0);
	assert_int_equal(r->start, m->start);
	assert_int_equal(r->end, m->end);
	assert_int_equal(r->bias, m->rec.bias);
	assert_int_equal(r->dev, m->dev);
	assert_int_equal(r->ino, m->ino);
	assert_int_equal(r->load_tick, 41);
	assert_int_equal(r->unload_tick, 0);
	assert_int_equal(r->build_id_len, m->rec.build_id_len);
	assert_int_equal(r->path_len, m->rec.path_len);
}

/* The entry of the list that was found, which is as it says. */
static const struct agent_module *listed(const struct module_at *at)
{
	for (uint32_t i = 0; i < agent.nr_modules; i++) {
		const struct agent_module *m = &agent.modules[i];

		if (m->start != at->start)
			continue;
		assert_int_equal(at->end, m->end);
		assert_int_equal(at->id, m->id);
		assert_memory_equal(&at->cfi, &m->cfi, sizeof(at->cfi));
		return m;
	}
	fail();
	return NULL;
}

static int each_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	char path[4096];
	unsigned *nr = arg;
	const struct agent_module *m;
	struct module_at at;
	struct stat st;
	uint64_t pc = 0;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X)
			pc = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
	if (!pc)
		return 0;
	assert_true(module_find(pc, &at));
	(*nr)++;
	m = listed(&at);
	same_as_the_loader(info, m);
	same_in_the_ledger(m);
	if (info->dlpi_name[0] != '/' && *nr > 1)
		return 0;				/* the vdso has no file */
	assert_non_null(realpath(*nr > 1 ? info->dlpi_name : "/proc/self/exe", path));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(m->ino, st.st_ino);
	assert_int_equal(m->dev, (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev));
	assert_int_equal(m->rec.path_len, strlen(path));
	assert_memory_equal(agent.paths + m->path, path, strlen(path));
	assert_string_equal((char *)arena_at(recorded(m->id)->path), path);
	return 0;
}

static void every_object_is_found(void **state)
{
	unsigned nr = 0;

	(void)state;
	dl_iterate_phdr(each_object, &nr);
	assert_true(nr > 3);
	assert_int_equal(agent.ledger->nr_modules, nr + 1);
	assert_int_equal(agent.module_scan, 1);
	assert_int_equal(agent.module_lock, 0);
	assert_false(agent.module_reading);
}

static void what_is_no_code_is_in_none(void **state)
{
	struct module_at m;
	uint64_t here;

	(void)state;
	assert_true(module_find((uint64_t)each_object, &m));
	assert_false(module_find(16, &m));
	assert_false(module_find((uint64_t)&m, &m));
	assert_int_equal(agent.module_scan, 3);		/* each of them made it look anew */
	assert_true(module_find((uint64_t)each_object, &m));
	assert_int_equal(agent.module_scan, 3);
	assert_true(module_find(m.start, &m));
	here = m.end;
	assert_true(module_find(here - 1, &m));
	assert_true(!module_find(here, &m) || m.start >= here);
	agent.code_gen++;					/* code went somewhere */
	assert_true(module_find((uint64_t)each_object, &m));
	assert_in_range(agent.module_scan, 4, 5);
	assert_int_equal(agent.module_gen, agent.code_gen);
}

static void our_own_code_needs_no_list(void **state)
{
	struct module_at m;

	(void)state;
	agent.own.start = 0x5000;
	agent.own.end = 0x7000;
	agent.own.hdr = 0x6000;
	assert_true(module_find(0x5000, &m));
	assert_int_equal(m.start, 0x5000);
	assert_int_equal(m.end, 0x7000);
	assert_int_equal(m.cfi.hdr, 0x6000);
	assert_true(module_find(0x6fff, &m));
	assert_false(module_find(0x7000, &m));
	assert_false(module_find(0x4fff, &m));
	assert_int_equal(agent.module_scan, 2);
}

static void the_lock_is_not_waited_for_by_its_holder(void **state)
{
	struct module_at m;

	(void)state;
	assert_true(module_find((uint64_t)each_object, &m));
	agent.module_lock = (uint32_t)gettid();
	assert_true(module_find((uint64_t)each_object, &m));
	assert_false(module_find(16, &m));
	agent.module_reading = true;			/* half read */
	assert_false(module_find((uint64_t)each_object, &m));
	agent.module_lock = 1;				/* another thread's, for ever */
	assert_false(module_find((uint64_t)each_object, &m));
	assert_int_equal(agent.module_lock, 1);
	assert_int_equal(agent.module_scan, 1);
}

static void memory_is_copied_or_not(void **state)
{
	char text[] = "seventeen bytes..", copy[sizeof(text)];
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(module_copy(copy, (uint64_t)text, sizeof(text)));
	assert_string_equal(copy, text);
	munmap(page + 4096, 4096);
	assert_true(module_copy(copy, (uint64_t)page + 4096 - 8, 8));
	assert_false(module_copy(copy, (uint64_t)page + 4096 - 8, 9));
	assert_false(module_copy(copy, (uint64_t)page + 4096, 1));
	munmap(page, 4096);
}

/* ---- made-up lines --------------------------------------------------------------------------- */

static uint64_t base_of(const char *name)
{
	struct link_map *map = dlopen(name, RTLD_LAZY);

	assert_non_null(map);
	return map->l_addr;
}

static void lines_are_runs_of_a_file(void **state)
{
	uint64_t b = base_of(LIBRARY);
	char text[4096];

	(void)state;
	snprintf(text, sizeof(text),
		 "junk that is left out\n"
		 "%lx-%lx r--p 00000000 08:01 77                         /lib/one.so\n" /* a file in
											   three
											   pieces */
		 "%lx-%lx r-xp 00001000 08:01 77                         /lib/one.so\n"
		 "%lx-%lx rw-p 00003000 08:01 77                         /lib/one.so\n"
		 "%lx-%lx r-xp 00000000 00:00 0 \n" /* code of no file */
		 /* data only */
		 "%lx-%lx r--p 00000000 08:02 77                         /lib/other device\n"
		 "%lx-%lx r-xp 00002000 08:01 78                         /lib/not from its start\n"
		 "%lx-%lx --xp 00000000 08:01 79                         /lib/not to be read\n",
		 b, b + 0x1000, b + 0x1000, b + 0x3000, b + 0x3000, b + 0x4000, 0x10000ul,
		 0x11000ul, 0x20000ul, 0x21000ul, 0x30000ul, 0x33000ul, 0x40000ul, 0x41000ul);
	read_text(text, strlen("junk that is left out\n"));
	assert_int_equal(agent.nr_modules, 3);
	assert_int_equal(agent.modules[0].start, b);
	assert_int_equal(agent.modules[0].end, b + 0x4000);
	assert_int_equal(agent.modules[0].dev, 8ull << 32 | 1);
	assert_int_equal(agent.modules[0].ino, 77);
	assert_int_equal(agent.modules[0].id, 1);
	assert_string_equal((char *)arena_at(recorded(1)->path), "/lib/one.so");
	assert_int_equal(agent.modules[1].start, 0x10000);
	assert_int_equal(agent.modules[1].end, 0x11000);
	assert_int_equal(agent.modules[1].id, 0);
	assert_int_equal(agent.modules[2].start, 0x30000);
	assert_int_equal(agent.modules[2].id, 0);
	assert_int_equal(agent.ledger->nr_modules, 2);
}

static void neighbours_are_files_of_their_own(void **state)
{
	uint64_t b = base_of(LIBRARY);
	char text[4096];

	(void)state;
	snprintf(text, sizeof(text),
		 "%lx-%lx r-xp 00000000 08:01 77 /lib/one.so\n"
		 "%lx-%lx r-xp 00000000 08:01 77 /lib/one.so\n" /* mapped anew from its start */
		 "%lx-%lx r-xp 00001000 08:02 77 /lib/one.so\n" /* another device */
		 "%lx-%lx r-xp 00001000 08:02 78 /lib/one.so\n" /* another file */
		 "%lx-%lx r-xp 00001000 00:00 0 \n%lx-%lx r-xp 00002000 00:00 0 ",
		 b, b + 0x1000, b + 0x1000, b + 0x2000, b + 0x2000, b + 0x3000, b + 0x3000,
		 b + 0x4000, b + 0x4000, b + 0x5000, b + 0x5000, b + 0x6000);
	strcat(text, "\n");
	read_text(text, 0);
	assert_int_equal(agent.nr_modules, 6);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(agent.modules[i].start, b + i * 0x1000);
		assert_int_equal(agent.modules[i].end, b + (i + 1) * 0x1000);
	}
}

/* More lines than are read at once, some of them longer than the space for a path. */
static void long_lists(void **state)
{
	static char text[400000];
	size_t n = 0;

	(void)state;
	for (unsigned i = 0; i < 900; i++)
		n += (size_t)sprintf(text + n, "%x-%x r-xp 00001000 08:01 %u %*s/x%u\n",
				     0x100000 + i * 0x2000, 0x101000 + i * 0x2000, i + 1,
				     i % 7 * 40, "", i);
	read_text(text, 0);
	assert_int_equal(agent.nr_modules, 900);
	for (unsigned i = 0; i < 900; i++) {
		assert_int_equal(agent.modules[i].start, 0x100000 + i * 0x2000);
		assert_int_equal(agent.modules[i].end, 0x101000 + i * 0x2000);
		assert_int_equal(agent.modules[i].ino, i + 1);
	}
}

static void a_path_has_4095_bytes_at_most(void **state)
{
	uint64_t b = base_of(LIBRARY);
	static char text[6000];
	size_t n = (size_t)sprintf(text, "%lx-%lx r-xp 00000000 08:01 77 ", b, b + 0x4000);

	(void)state;
	memset(text + n, 'p', 5000);
	text[n + 5000] = '\n';
	read_text(text, 0);
	assert_int_equal(recorded(1)->path_len, 4095);
	assert_int_equal(strlen(arena_at(recorded(1)->path)), 4095);
}

/* ---- coming and going ------------------------------------------------------------------------ */

static void modules_go_and_come_back(void **state)
{
	uint64_t b = base_of(LIBRARY), c = base_of("libelf.so.1");
	char one[512], two[512], both[1024];

	(void)state;
	snprintf(one, sizeof(one), "%lx-%lx r-xp 00000000 08:01 77 /lib/one.so\n", b, b + 0x4000);
	snprintf(two, sizeof(two), "%lx-%lx r-xp 00000000 08:01 78 /lib/two.so\n", c, c + 0x4000);
	snprintf(both, sizeof(both), "%s%s", one, two);
	read_text(both, 0);
	assert_int_equal(agent.ledger->nr_modules, 3);
	tree()->tick = 50;
	read_text(one, 0);
	assert_int_equal(agent.nr_modules, 1);
	assert_int_equal(agent.modules[0].id, 1);
	assert_int_equal(recorded(1)->unload_tick, 0);
	assert_int_equal(recorded(2)->unload_tick, 50);
	read_text(both, 0);				/* under its old number */
	assert_int_equal(agent.nr_modules, 2);
	assert_int_equal(agent.modules[1].id, 2);
	assert_int_equal(recorded(2)->unload_tick, 0);
	assert_int_equal(agent.ledger->nr_modules, 3);
	tree()->tick = 0;
	read_text(two, 0);
	assert_int_equal(recorded(1)->unload_tick, 1);	/* never 0 */
	assert_int_equal(agent.modules[0].id, 2);
	snprintf(both, sizeof(both), "%lx-%lx r-xp 00000000 08:01 99 /lib/new.so\n%s", b,
		 b + 0x4000, two);
	read_text(both, 0);				/* another file in its place */
	assert_int_equal(agent.ledger->nr_modules, 4);
	assert_int_equal(recorded(3)->ino, 99);
	assert_int_equal(recorded(1)->unload_tick, 1);
}

/* A forked child has them under the same numbers; what its parent had unloaded is empty. */
static void a_child_records_all_again(void **state)
{
	uint64_t b = base_of(LIBRARY), c = base_of("libelf.so.1");
	char text[1024];

	(void)state;
	snprintf(text, sizeof(text),
		 "%lx-%lx r-xp 00000000 08:01 77 /lib/one.so\n%lx-%lx r-xp 00000000 08:01 78 "
		 "/lib/two.so\n",
		 b, b + 0x4000, c, c + 0x4000);
	read_text(text, 0);
	snprintf(text, sizeof(text), "%lx-%lx r-xp 00000000 08:01 78 /lib/two.so\n", c, c + 0x4000);
	read_text(text, 0);
	memset(agent.ledger->module_dir, 0, sizeof(agent.ledger->module_dir));
	agent.ledger->nr_modules = 1;
	module_record_all();
	assert_int_equal(agent.ledger->nr_modules, 3);
	assert_int_equal(recorded(1)->start, 0);
	assert_int_equal(recorded(1)->path, 0);
	assert_int_equal(recorded(2)->start, c);
	assert_string_equal((char *)arena_at(recorded(2)->path), "/lib/two.so");
	assert_int_equal(recorded(2)->path_len, strlen("/lib/two.so"));
}

static void assert_allocator(const char *path)
{
	assert_int_equal(agent.ledger->allocator_len, strlen(path));
	assert_memory_equal(arena_at(agent.ledger->allocator), path, strlen(path));
}

/* By the file that malloc lies in, not as the loader had it; a forked child too. */
static void the_allocator_is_named_as_its_module_is(void **state)
{
	uint64_t b = base_of(LIBRARY), c = base_of("libelf.so.1");
	char text[1024];

	(void)state;
	agent.ledger->allocator = arena_string("/linked/two.so", 14);
	agent.ledger->allocator_len = 14;
	agent.next.malloc = (void *)(c + 0x4000);
	snprintf(text, sizeof(text),
		 "%lx-%lx r-xp 00000000 08:01 77 /lib/one.so\n%lx-%lx r-xp 00000000 08:01 78 "
		 "/lib/two.so.1.2\n",
		 b, b + 0x4000, c, c + 0x4000);
	read_text(text, 0);
	assert_allocator("/linked/two.so");	/* the first byte behind it */
	agent.next.malloc = (void *)c;
	agent.ledger->nr_modules = 1;
	module_record_all();
	assert_allocator("/lib/two.so.1.2");
	agent.ledger->allocator_len = 0;
	agent.next.malloc = (void *)(c + 0x3fff);
	module_record_all();
	assert_allocator("/lib/two.so.1.2");
	agent.next.malloc = NULL;
}

/* Asked once, at the program's end: the caches' memory stays as it is. */
static void who_interrupted_whom_is_read_without_caches(void **state)
{
	struct rules *none = calloc(1, sizeof(*none));
	struct caller from = CALLER_HERE();
	struct tctx *c;

	(void)state;
	agent.rules = calloc(1, sizeof(*agent.rules));
	module_record_all();
	c = agent_host_ctx();
	assert_false(unwind_interrupted(c, &from));
	assert_memory_equal(agent.rules, none, sizeof(*none));
	free(agent.rules);
	free(none);
	agent.rules = NULL;
}

static void a_full_ledger_has_no_more(void **state)
{
	uint64_t b = base_of(LIBRARY);
	char text[512];

	(void)state;
	snprintf(text, sizeof(text), "%lx-%lx r-xp 00000000 08:01 77 /lib/one.so\n", b, b + 0x4000);
	agent.ledger->arena_end = agent.ledger->arena_used;
	agent.ledger->arena_ready = agent.ledger->arena_used;
	read_text(text, 0);
	assert_int_equal(agent.nr_modules, 1);
	assert_int_equal(agent.modules[0].id, 0);
	assert_int_equal(agent.ledger->nr_modules, 1);
	assert_int_equal(agent.ledger->dropped[PMM_DROP_MODULE_FULL], 1);
}

/* As many as there are numbers: each that comes then is counted. */
static void a_full_table_has_no_more(void **state)
{
	uint64_t b = base_of(LIBRARY);
	char text[512];

	(void)state;
	snprintf(text, sizeof(text), "%lx-%lx r-xp 00000000 08:01 77 /lib/one.so\n", b, b + 0x4000);
	agent.ledger->nr_modules = PMM_MAX_MODULES;
	read_text(text, 0);
	assert_int_equal(agent.nr_modules, 1);
	assert_int_equal(agent.modules[0].id, 0);
	assert_int_equal(agent.ledger->nr_modules, PMM_MAX_MODULES);
	assert_int_equal(agent.ledger->dropped[PMM_DROP_MODULE_FULL], 1);
}

/* One that does not fit in the list is met in each reading, and counted once. */
static void a_full_list_is_told_once(void **state)
{
	uint64_t b = base_of(LIBRARY);
	char text[512];

	(void)state;
	snprintf(text, sizeof(text), "%lx-%lx r-xp 00000000 08:01 77 /lib/one.so\n", b, b + 0x4000);
	for (unsigned i = 0; i < 3; i++) {
		agent.nr_modules = AGENT_MAX_MODULES;
		read_text(text, 0);
		assert_int_equal(agent.ledger->dropped[PMM_DROP_MODULE_FULL], 1);
	}
}

/* The room for paths is for those that are there: what others had is taken back. */
static void paths_of_the_gone_make_room(void **state)
{
	uint64_t b = base_of(LIBRARY), c = base_of("libelf.so.1");
	char one[512], both[1024];

	(void)state;
	snprintf(one, sizeof(one), "%lx-%lx r-xp 00000000 08:01 77 /lib/one.so\n", b, b + 0x4000);
	snprintf(both, sizeof(both), "%s%lx-%lx r-xp 00000000 08:01 78 /lib/two.so\n", one, c,
		 c + 0x4000);
	agent.paths_used = AGENT_PATHS_BYTES - 20;	/* of many that have gone */
	read_text(one, 0);
	read_text(both, 0);
	assert_int_equal(agent.paths_used, 2 * strlen("/lib/one.so"));
	assert_string_equal((char *)arena_at(recorded(2)->path), "/lib/two.so");
	memset(agent.ledger->module_dir, 0, sizeof(agent.ledger->module_dir));
	agent.ledger->nr_modules = 1;
	module_record_all();
	assert_string_equal((char *)arena_at(recorded(1)->path), "/lib/one.so");
	assert_string_equal((char *)arena_at(recorded(2)->path), "/lib/two.so");
}

/* A child of a program whose module went and came back knows its path, too. */
static void who_came_back_has_its_path(void **state)
{
	uint64_t b = base_of(LIBRARY);
	char text[512];

	(void)state;
	snprintf(text, sizeof(text), "%lx-%lx r-xp 00000000 08:01 77 /lib/one.so\n", b, b + 0x4000);
	read_text(text, 0);
	read_text("", 0);
	read_text(text, 0);
	assert_int_equal(agent.ledger->nr_modules, 2);
	memset(agent.ledger->module_dir, 0, sizeof(agent.ledger->module_dir));
	agent.ledger->nr_modules = 1;
	module_record_all();
	assert_string_equal((char *)arena_at(recorded(1)->path), "/lib/one.so");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_object_is_found, begin, end),
		cmocka_unit_test_setup_teardown(what_is_no_code_is_in_none, begin, end),
		cmocka_unit_test_setup_teardown(our_own_code_needs_no_list, begin, end),
		cmocka_unit_test_setup_teardown(the_lock_is_not_waited_for_by_its_holder, begin,
						end),
		cmocka_unit_test_setup_teardown(memory_is_copied_or_not, begin, end),
		cmocka_unit_test_setup_teardown(lines_are_runs_of_a_file, begin, end),
		cmocka_unit_test_setup_teardown(neighbours_are_files_of_their_own, begin, end),
		cmocka_unit_test_setup_teardown(long_lists, begin, end),
		cmocka_unit_test_setup_teardown(a_path_has_4095_bytes_at_most, begin, end),
		cmocka_unit_test_setup_teardown(modules_go_and_come_back, begin, end),
		cmocka_unit_test_setup_teardown(a_child_records_all_again, begin, end),
		cmocka_unit_test_setup_teardown(the_allocator_is_named_as_its_module_is, begin,
						end),
		cmocka_unit_test_setup_teardown(who_interrupted_whom_is_read_without_caches, begin,
						end),
		cmocka_unit_test_setup_teardown(a_full_ledger_has_no_more, begin, end),
		cmocka_unit_test_setup_teardown(a_full_table_has_no_more, begin, end),
		cmocka_unit_test_setup_teardown(a_full_list_is_told_once, begin, end),
		cmocka_unit_test_setup_teardown(paths_of_the_gone_make_room, begin, end),
		cmocka_unit_test_setup_teardown(who_came_back_has_its_path, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
