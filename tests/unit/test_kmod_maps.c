/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules of a running process for its log: this one. Also of src/proc/elf_place.c. */
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include "src/kmod/kmod_maps.h"
#include "src/proc/elf_place.h"

struct wanted {
	uint64_t address, bias;
	int nr_containing;
};

static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct wanted *w = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uint64_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type == PT_LOAD && w->address >= start &&
		    w->address < start + info->dlpi_phdr[i].p_memsz) {
			w->bias = info->dlpi_addr;
			w->nr_containing++;
		}
	}
	return 0;
}

static struct heap *heap_of(const uint64_t *pc, uint32_t nr)
{
	struct heap *h = heap_new();

	h->nodes = realloc(h->nodes, (nr + 1) * sizeof(*h->nodes));
	for (uint32_t i = 0; i < nr; i++)
		h->nodes[i + 1] = (struct heap_node){ .pc = pc[i] };
	h->nr_nodes = nr + 1;
	return h;
}

static void frames_get_the_module_that_they_are_in(void **state)
{
	struct wanted own = { .address = (uintptr_t)frames_get_the_module_that_they_are_in },
		      libc = { .address = (uintptr_t)dlsym(RTLD_DEFAULT, "getenv") };
	int on_stack;
	const uint64_t pc[] = { own.address, libc.address, (uintptr_t)&on_stack, 4096,
				HEAP_SRCLOC_PC + 1, own.address + 1 };
	struct heap *h = heap_of(pc, NR(pc));

	(void)state;
	dl_iterate_phdr(look, &own);
	dl_iterate_phdr(look, &libc);
	assert_int_equal(own.nr_containing, 1);
	assert_int_equal(libc.nr_containing, 1);
	assert_int_equal(kmod_maps_add(h, getpid()), 0);
	assert_int_equal(h->nr_modules, 3);
	assert_int_equal(h->nodes[1].module, 1);
	assert_int_equal(h->nodes[2].module, 2);
	assert_int_equal(h->nodes[3].module, 0);
	assert_int_equal(h->nodes[4].module, 0);
	assert_int_equal(h->nodes[5].module, 0);
	assert_int_equal(h->nodes[6].module, 1);
	assert_int_equal(h->modules[1].bias, own.bias);
	assert_int_equal(h->modules[2].bias, libc.bias);
	assert_non_null(strstr(h->modules[1].path, "test_kmod_maps"));
	assert_non_null(strstr(h->modules[2].path, "libc"));
	assert_true(h->modules[2].build_id_len == 20);
	assert_true(h->modules[1].start <= own.address && own.address < h->modules[1].end);
	heap_free(h);
}

static void a_process_that_is_not_there_has_none(void **state)
{
	const uint64_t pc = (uintptr_t)a_process_that_is_not_there_has_none;
	struct heap *h = heap_of(&pc, 1);

	(void)state;
	assert_int_equal(kmod_maps_add(h, INT32_MAX), 0);
	assert_int_equal(h->nr_modules, 1);
	assert_int_equal(h->nodes[1].module, 0);
	heap_free(h);
}

/* A part of the file that no segment is loaded from; no ELF file; none. */
static void test_no_place(void **state)
{
	struct proc_map map = { .start = 0x400000, .end = 0x401000, .offset = 1ull << 40 };
	struct elf_place place;

	(void)state;
	assert_int_equal(elf_place_read("/proc/self/exe", &map, &place), -ENOEXEC);
	assert_int_equal(place.build_id_len, 0);
	map.offset = 0;
	assert_int_equal(elf_place_read("/proc/self/exe", &map, &place), 0);
	assert_int_equal(place.bias, 0x400000);
	assert_int_equal(elf_place_read("/etc/passwd", &map, &place), -ENOEXEC);
	assert_int_equal(elf_place_read("/nonexistent", &map, &place), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_get_the_module_that_they_are_in),
		cmocka_unit_test(a_process_that_is_not_there_has_none),
		cmocka_unit_test(test_no_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
