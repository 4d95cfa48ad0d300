/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/resident.c: the figures are those of the kernel; without a descriptor there are none.
 */
#include "tests/unit/agent_host.h"

#include "tests/unit/unit.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include "agent/resident.h"

#define MIB	(1ull << 20)

static uint64_t said(const char *name)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long long kib = 0;
	char line[256];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			sscanf(line + strlen(name), "%llu kB", &kib);
	fclose(f);
	return kib * 1024;
}

/* The peak does not go down; what is resident now may change a little between two looks. */
static void figures_are_the_kernels(void **state)
{
	char *p = mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct pmm_ledger l = { 0 };

	(void)state;
	memset(p, 1, 64 * MIB);
	munmap(p, 64 * MIB);
	said("VmHWM:");			/* whatever that takes is taken */
	resident_note(&l);
	assert_int_equal(l.resident_peak_bytes, said("VmHWM:"));
	assert_true(l.resident_peak_bytes > 64 * MIB && l.resident_bytes < l.resident_peak_bytes - 60 * MIB);
	assert_in_range(l.resident_bytes, said("VmRSS:") - MIB, said("VmRSS:") + MIB);
}

static void without_a_descriptor_there_are_none(void **state)
{
	struct rlimit old, none;
	struct pmm_ledger l = { .resident_bytes = 1, .resident_peak_bytes = 2 };

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = (struct rlimit){ 0, old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	resident_note(&l);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(l.resident_bytes, 1);
	assert_int_equal(l.resident_peak_bytes, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(figures_are_the_kernels), cmocka_unit_test(without_a_descriptor_there_are_none) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
