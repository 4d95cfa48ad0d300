/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Benchmark of the .eh_frame reader: what a rule costs when it is asked for, and what a table of
 * all rules of the given files (default: this machine's libpython, libc and libstdc++) would cost
 * in time and memory.
 *
 * Everything is looked at once before anything is timed, so no page faults are in the figures.
 */
#include "agent/unwind/cfi.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NR_LAZY		4000		/* pcs in the stacks of a mid-sized program */
#define MAX_ROWS	(4u << 20)

struct row {
	const struct cfi_module *m;
	uint64_t pc;		/* first byte that has this rule */
	int is_last;		/* of its function */
};

static struct row *rows;
static size_t nr_rows, nr_functions;
static unsigned long checksum;	/* keeps the compiler from leaving work out */

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The module of a loaded library: its PT_GNU_EH_FRAME and the PT_LOAD around it. */
static int module_of(const struct link_map *map, struct cfi_module *m)
{
	const ElfW(Ehdr) *e = (const void *)map->l_addr;
	const ElfW(Phdr) *ph = (const void *)(map->l_addr + e->e_phoff);
	int k;

	memset(m, 0, sizeof(*m));
	for (k = 0; k < e->e_phnum; k++)
		if (ph[k].p_type == PT_GNU_EH_FRAME) {
			m->hdr = map->l_addr + ph[k].p_vaddr;
			m->hdr_bytes = ph[k].p_memsz;
		}
	for (k = 0; k < e->e_phnum; k++)
		if (ph[k].p_type == PT_LOAD &&
		    m->hdr - map->l_addr - ph[k].p_vaddr < ph[k].p_filesz) {
			m->start = map->l_addr + ph[k].p_vaddr;
			m->end = m->start + ph[k].p_filesz;
		}
	return m->start ? 0 : -1;
}

/*
 * FDEs of a module by its search table, which all linkers make with 4-byte numbers relative to the
 * header.
 */
static uint32_t nr_fdes(const struct cfi_module *m, const int32_t **table)
{
	*table = (const int32_t *)(m->hdr + 12);
	return *(const uint32_t *)(m->hdr + 8);
}

/* Every row of every FDE, found by asking at every byte of code (not timed). */
static void rows_add(const struct cfi_module *m)
{
	const int32_t *table;
	uint32_t n = nr_fdes(m, &table), k;

	for (k = 0; k + 1 < n; k++) {
		uint64_t pc = m->hdr + (uint64_t)(int64_t)table[2 * k];
		uint64_t end = m->hdr + (uint64_t)(int64_t)table[2 * k + 2];
		struct cfi_rule last = { .kind = 255 }, rule;

		for (; pc < end && nr_rows < MAX_ROWS; pc++) {
			cfi_rule_find(m, pc, &rule);
			if (memcmp(&rule, &last, sizeof(rule)) && rule.kind != CFI_NONE)
				rows[nr_rows++] = (struct row){ m, pc, 0 };
			last = rule;
		}
		if (nr_rows)
			rows[nr_rows - 1].is_last = 1;
	}
	nr_functions += n;
}

/* Look up `n` rows; returns ns a rule. */
static double time_rules(const struct row *r, size_t n)
{
	struct cfi_rule rule;
	double start = now_ns();
	size_t k;

	for (k = 0; k < n; k++) {
		cfi_rule_find(r[k].m, r[k].pc, &rule);
		checksum += rule.kind;
	}
	return (now_ns() - start) / (double)n;
}

/*
 * Look up the last row of each function: every program is run once to its end, the least that a
 * full table takes.
 */
static double time_functions(void)
{
	struct cfi_rule rule;
	double start = now_ns();
	size_t k;

	for (k = 0; k < nr_rows; k++)
		if (rows[k].is_last) {
			cfi_rule_find(rows[k].m, rows[k].pc, &rule);
			checksum += rule.kind;
		}
	return now_ns() - start;
}

static void shuffle(struct row *r, size_t n)
{
	uint64_t random = 1;
	size_t k;

	for (k = n - 1; k > 0; k--) {
		struct row swap = r[k];
		size_t j;

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		j = (size_t)(random >> 33) % (k + 1);
		r[k] = r[j];
		r[j] = swap;
	}
}

int main(int argc, char **argv)
{
	static char *usual[] = { "libpython3.11.so.1.0", "libc.so.6", "libstdc++.so.6" };
	char **names = argc > 1 ? argv + 1 : usual;
	int nr = argc > 1 ? argc - 1 : 3, k;
	struct cfi_module *m = calloc((size_t)nr, sizeof(*m));
	double least_ns, all_ns;
	size_t n;

	rows = malloc(MAX_ROWS * sizeof(*rows));
	if (!m || !rows)
		return 1;
	for (k = 0; k < nr; k++) {
		void *lib = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
		struct link_map *map;

		if (!lib || dlinfo(lib, RTLD_DI_LINKMAP, &map) || module_of(map, &m[k])) {
			fprintf(stderr, "%s: cannot be loaded: %s\n", names[k], dlerror());
			return 1;
		}
		rows_add(&m[k]);
	}

	all_ns = time_rules(rows, nr_rows) * (double)nr_rows;
	least_ns = time_functions();
	shuffle(rows, nr_rows);
	n = nr_rows < NR_LAZY ? nr_rows : NR_LAZY;

	printf("functions                      %10zu\n", nr_functions);
	printf("different rules in a row       %10zu\n", nr_rows);
	printf("all of them, eagerly           %10.2f to %.2f ms, %.2f MiB at 12 bytes each\n",
	       least_ns / 1e6, all_ns / 1e6, (double)nr_rows * 12 / (1 << 20));
	printf("one rule, lazily               %10.0f ns\n", time_rules(rows, n));
	printf("%zu rules, lazily            %10.2f ms\n", n,
	       time_rules(rows + n, n) * (double)n / 1e6);
	return checksum == 1;
}
