/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Class `pmc` with the hardware's counters, which the machine that tests may not have:
 * src/view/trace/trace_pmc.c, src/kernel/counters.c.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <sys/stat.h>

#include "src/kernel/counters.h"
#include "src/view/trace/trace_line.h"
#include "src/view/trace/trace_sections.h"
#include "tests/unit/trace_text.h"

/* So many samples of a counter, as its program sends them. */
static void sampled(struct trace_totals *t, uint32_t pid, unsigned counter, unsigned nr)
{
	struct trace_record r = { .kind = kernel_counters[counter].kind, .tgid = pid,
				  .weight = kernel_counters[counter].period, .comm = "victim" };

	while (nr--)
		trace_totals_add(t, &r, TRACE_NO_STACK);
}

static void test_by_process(void **state)
{
	struct trace_totals totals = { 0 };
	struct trace_result t = { .totals = &totals };
	char *text;

	(void)state;
	sampled(&totals, 7, 0, 400);	/* cycles, 10 million each */
	sampled(&totals, 7, 1, 100);	/* instructions, the same */
	sampled(&totals, 8, 0, 600);
	sampled(&totals, 7, 2, 200);	/* references, 100,000 each */
	sampled(&totals, 7, 3, 500);	/* misses, 10,000 each */
	sampled(&totals, 7, 4, 300);
	sampled(&totals, 3, 0, 100);
	sampled(&totals, 2, 0, 100);
	text = section_text(trace_section_pmc, &t, true);
	/* by samples, those with as many by their numbers */
	assert_true(strstr(text, "\"pid\": 7,") < strstr(text, "\"pid\": 8,"));
	assert_true(strstr(text, "\"pid\": 8,") < strstr(text, "\"pid\": 2,"));
	assert_true(strstr(text, "\"pid\": 2,") < strstr(text, "\"pid\": 3,"));
	has(text, "{\"pid\": 7, \"samples\": 1500, \"cycles\": 4000000000, "
		  "\"instructions\": 1000000000, "
		  "\"llc_references\": 20000000, \"llc_misses\": 5000000, \"dtlb_misses\": 3000000, "
		  "\"cpu_ns\": 0, \"page_faults\": 0, \"instructions_per_cycle\": 0.25, "
		  "\"llc_miss_percent\": 25, \"llc_misses_per_1000\": 5, \"dtlb_misses_per_1000\": 3, "
		  "\"command\": \"victim\"}");
	has(text, "\"pid\": 8, \"samples\": 600, \"cycles\": 6000000000, \"instructions\": 0");
	has(text, "\"instructions_per_cycle\": 0, \"llc_miss_percent\": null, "
		  "\"llc_misses_per_1000\": null");
	free(text);
	t.top = 1;
	text = section_text(trace_section_pmc, &t, false);
	has(text, "Counters by process (estimates from samples)");
	has(text, "3 more rows (--top=0 shows all)");
	assert_null(strstr(text, "CPU time"));	/* of software: a column of nothing */
	free(text);
	trace_totals_fini(&totals);
}

static void test_chosen(void **state)
{
	uint32_t counters;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(kernel_hardware_counters(), 0x1f);
	assert_int_equal(event_counters_parse("cycles,page_faults,cpu_clock", &counters, &e), 0);
	assert_int_equal(counters, 0x61);
	assert_int_equal(event_counters_parse("cycle", &counters, &e), -EINVAL);
	assert_string_equal(e.text, "there is no counter 'cycle'");
}

static void put(const char *root, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", root, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void make(const char *root, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s%s", root, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void why_is(const char *root, int rc, const char *expected)
{
	char why[160];

	counters_why_none(root, rc, why, sizeof(why));
	assert_string_equal(why, expected);
}

static void test_why_none(void **state)
{
	char root[] = "/tmp/pmm_counters.XXXXXX", command[64];

	(void)state;
	assert_non_null(mkdtemp(root));
	make(root, "/proc");
	put(root, "/proc/cpuinfo", "processor : 0\nflags\t\t: fpu hypervisor lahf_lm\n");
	why_is(root, -ENOENT, "this machine has no hardware counters: it is a virtual machine that "
			      "hides them");
	put(root, "/proc/cpuinfo", "processor : 0\nflags\t\t: fpu lahf_lm\n");
	why_is(root, -ENOENT, "this machine has no hardware counters that the kernel knows of");
	make(root, "/sys");
	make(root, "/sys/bus");
	make(root, "/sys/bus/event_source");
	make(root, "/sys/bus/event_source/devices");
	make(root, "/sys/bus/event_source/devices/cpu");
	why_is(root, -EOPNOTSUPP, "the hardware counters of this machine cannot interrupt, which "
				  "sampling needs");
	why_is(root, -ENOENT, "this processor does not have the counters (No such file or "
			      "directory)");
	assert_true(counters_is_missing(-ENOENT));
	assert_false(counters_is_missing(-EACCES));
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_process),
		cmocka_unit_test(test_chosen),
		cmocka_unit_test(test_why_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
