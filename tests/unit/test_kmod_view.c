/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel module and what it monitors, as documents and events. With "status" or "watch" as an
 * argument it prints what it compares, as JSON, for tests/cli/json.bats.
 */
#include "tests/unit/unit.h"

#include "src/view/kmod/kmod_view.h"

static const struct pmm_kmod_config config = {
	.version = 1, .scan = 1, .interval_ms = 500, .entries_per_process = 1000,
	.entries_in_all = 20000, .growth_bytes = 8 << 20, .logged_bytes = 1 << 20, .keep_s = 60,
	.window = 16,
};

static const struct pmm_kmod_process processes[] = {
	{ .pid = 4, .ppid = 1, .state = PMM_KMOD_RUNNING, .comm = "first", .number = 1,
	  .flags = PMM_KMOD_SEEN | PMM_KMOD_OVER_GROWTH | PMM_KMOD_HAS_RING, .threads = 2,
	  .since_ns = 1000000000, .seen_ns = 2000000000, .resident_bytes = 5 << 20,
	  .virtual_bytes = 9 << 20, .growth_bytes_per_s = 1 << 20, .samples = 16, .alerts = 1,
	  .entries = 3, .entry_bytes = 300, .allocations = 10, .frees = 7, .overflows = 3 },
	{ .pid = 5, .ppid = 4, .state = PMM_KMOD_EXITED, .status = 3 << 8, .comm = "second",
	  .number = 2, .flags = PMM_KMOD_BY_ITSELF, .since_ns = 1000000000 },
	{ .pid = 6, .ppid = 4, .state = PMM_KMOD_KILLED, .status = 9, .comm = "third",
	  .number = 3, .flags = PMM_KMOD_SEEN, .growth_bytes_per_s = -2048, .foreign_frees = 1 },
	{ .pid = 7, .state = 99, .comm = "\x1b[2J", .number = 4 },
};

static const struct pmm_kmod_event events[] = {
	{ .type = PMM_KMOD_EVENT_STARTED, .pid = 4, .comm = "first", .number = 1 },
	{ .type = PMM_KMOD_EVENT_EXEC, .pid = 4, .comm = "first", .number = 1 },
	{ .type = PMM_KMOD_EVENT_GROWTH, .pid = 4, .comm = "first", .value = 9 << 20,
	  .limit = 8 << 20, .time_ns = 3723000000000ull },
	{ .type = PMM_KMOD_EVENT_RESIDENT, .pid = 4, .comm = "first", .value = 3072,
	  .limit = 2048, .lost = 2 },
	{ .type = PMM_KMOD_EVENT_LOGGED, .pid = 4, .comm = "first", .value = 3072,
	  .limit = 2048, .lost = 1 },
	{ .type = PMM_KMOD_EVENT_ENDED, .pid = 4, .comm = "first", .value = 3 << 8 },
	{ .type = PMM_KMOD_EVENT_ENDED, .pid = 4, .comm = "first", .value = 11 },
	{ .type = PMM_KMOD_EVENT_STOPPED, .pid = 4, .comm = "first" },
	{ .type = PMM_KMOD_EVENT_FORGOTTEN, .pid = 4, .comm = "first" },
	{ .type = 77, .pid = 4, .comm = "first" },
};

static char *text;
static size_t size;

static const char *printed(FILE *f)
{
	fclose(f);
	return text;
}

static void print_status(size_t nr, bool as_json, FILE *out)
{
	const struct style style = { .width = 100 };
	struct doc d = { 0 };

	kmod_view_status(&d, &config, processes, nr);
	assert_int_equal(doc_error(&d), 0);
	assert_int_equal(as_json ? doc_print_json(&d, out) : doc_print_text(&d, &style, out), 0);
	doc_fini(&d);
}

static void print_event(const struct pmm_kmod_event *e, bool as_json, FILE *out)
{
	const struct style style = { .width = 100 };
	struct event event = { 0 };

	kmod_view_event(&event, e);
	assert_int_equal(event_error(&event), 0);
	assert_int_equal(as_json ? event_print_json(&event, out)
				 : event_print_text(&event, &style, out), 0);
	event_fini(&event);
}

static void status_says_losses_before_processes(void **state)
{
	FILE *f = open_memstream(&text, &size);

	(void)state;
	print_status(4, false, f);
	assert_string_equal(printed(f),
	"Kernel module pmm\n"
	"  module  loaded, version 1 of its interface\n"
	"  looks   every 500 ms; growth is judged over 16 looks\n"
	"  limits  1,000 entries a process, 20,000 in all\n"
	"  alerts  steady growth above 8.00 MiB, outstanding memory above 1.00 MiB\n"
	"  kept    the log of a dead process, for 60 s\n"
	"\n"
	"     pid  what its log lacks\n"
	"  !    4  3 records were lost: the ring was full. Their allocations and frees "
	"are not in the log\n"
	"  !    6  1 free was of memory that the log did not have: from before monitoring began, "
	"or a wrong\n"
	"          pointer\n"
	"\n"
	"Monitored processes\n"
	"  pid ppid state   resident growth      outstanding entries allocs frees alerts command\n"
	"    4    1 running 5.00 MiB +1.00 MiB/s       300 B       3     10     7      1 first\n"
	"    5    4 exited                               0 B       0      0     0      0 second\n"
	"    6    4 killed       0 B -2.00 KiB/s         0 B       0      0     0      0 third\n"
	"    7    0 unknown                              0 B       0      0     0      0 \\x1b[2J\n");
	free(text);
}

static void status_without_processes_says_how_to_begin(void **state)
{
	FILE *f = open_memstream(&text, &size);

	(void)state;
	print_status(0, false, f);
	assert_non_null(strstr(printed(f), "none; 'pmm kmod start PID' begins with one"));
	assert_null(strstr(text, "what its log lacks"));
	free(text);
}

static void status_as_json_has_all(void **state)
{
	FILE *f = open_memstream(&text, &size);

	(void)state;
	print_status(2, true, f);
	printed(f);
	assert_non_null(strstr(text, "\"schema\": \"" KMOD_STATUS_SCHEMA "\""));
	assert_non_null(strstr(text, "\"interval_ns\": 500000000"));
	assert_non_null(strstr(text, "\"growth_bytes_per_second\": 1048576"));
	assert_non_null(strstr(text, "\"exit_status\": 3"));
	assert_non_null(strstr(text, "\"resident_bytes\": null"));
	free(text);
}

static void each_event_is_a_sentence(void **state)
{
	static const char *const want[NR(events)] = {
		"00:00:00  4 (first) is monitored from now on\n",
		"00:00:00  4 (first) executes another program: its log begins anew\n",
		"01:02:03  ! 4 (first) gained 9.00 MiB steadily, more than 8.00 MiB\n",
		"! 2 events were lost before this one\n"
		"00:00:00  ! 4 (first) has 3.00 KiB resident, more than 2.00 KiB\n",
		"! 1 event was lost before this one\n"
		"00:00:00  ! 4 (first) has 3.00 KiB outstanding, more than 2.00 KiB\n",
		"00:00:00  4 (first) exited with status 3\n",
		"00:00:00  4 (first) killed by signal 11 (SIGSEGV)\n",
		"00:00:00  4 (first) is not monitored any more\n",
		"00:00:00  4 (first) ended long ago: its log is gone now\n",
		"00:00:00  4 (first) event 77, which this pmm does not know\n",
	};

	(void)state;
	for (size_t i = 0; i < NR(events); i++) {
		FILE *f = open_memstream(&text, &size);

		print_event(&events[i], false, f);
		assert_string_equal(printed(f), want[i]);
		free(text);
	}
}

static void events_as_json_have_what_their_kind_has(void **state)
{
	static const char *const want[] = {
		[0] = "\"event\": \"started\"",	     [2] = "\"limit_bytes\": 8388608",
		[5] = "\"exit_status\": 3",	     [6] = "\"signal\": 11",
		[9] = "\"event\": \"unknown\"",
	};

	(void)state;
	for (size_t i = 0; i < NR(want); i++) {
		FILE *f = open_memstream(&text, &size);

		print_event(&events[i], true, f);
		printed(f);
		assert_non_null(strstr(text, want[i] ? want[i] : KMOD_WATCH_SCHEMA));
		assert_int_equal(strstr(text, "limit_bytes") != NULL, i >= 2 && i <= 4);
		free(text);
	}
}

static int print(const char *what)
{
	if (!strcmp(what, "status"))
		print_status(NR(processes), true, stdout);
	for (size_t i = 0; !strcmp(what, "watch") && i < NR(events); i++)
		print_event(&events[i], true, stdout);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(status_says_losses_before_processes),
		cmocka_unit_test(status_without_processes_says_how_to_begin),
		cmocka_unit_test(status_as_json_has_all),
		cmocka_unit_test(each_event_is_a_sentence),
		cmocka_unit_test(events_as_json_have_what_their_kind_has),
	};

	setenv("TZ", "UTC", 1);
	if (argc > 1)
		return print(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
