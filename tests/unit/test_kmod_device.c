/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls of the kernel module's device, with a module that is none. */
#include "tests/unit/unit.h"

#include "tests/unit/kmod_fake.h"

static struct kmod_fake fake;
static struct err e;

static int setup(void **state)
{
	(void)state;
	kmod_fake_init(&fake);
	e = (struct err){ 0 };
	return 0;
}

static void no_device_is_no_module(void **state)
{
	struct kmod_device d;

	(void)state;
	assert_int_equal(kmod_device_open(&d, "/nowhere/pmm", &e), -ENOENT);
	assert_string_equal(e.text,
			    "the kernel module pmm is not loaded: there is no '/nowhere/pmm'");
	assert_non_null(strstr(e.hint, "pmm kmod load"));
	assert_int_equal(d.fd, -1);
	kmod_device_close(&d);
}

static void what_is_no_device_is_refused(void **state)
{
	struct kmod_device d;

	(void)state;
	assert_int_equal(kmod_device_open(&d, "/dev/null", &e), -EPROTONOSUPPORT);
	assert_non_null(strstr(e.text, "another version"));
	assert_int_equal(d.fd, -1);
}

static void configuration_is_read(void **state)
{
	struct pmm_kmod_config c;

	(void)state;
	assert_int_equal(kmod_device_config(&fake.device, &c, &e), 0);
	assert_int_equal(c.interval_ms, 1000);
	assert_int_equal(fake.calls, 1);
}

static void each_error_has_its_remedy(void **state)
{
	static const struct {
		int fail, code;
		const char *text, *hint;
	} row[] = {
		{ -EPERM, -EPERM, "administrators only", "CAP_SYS_ADMIN" },
		{ -EPROTONOSUPPORT, -EPROTONOSUPPORT, "another version than this pmm (1)",
		  "make -C kmod" },
		{ -E2BIG, -EPROTONOSUPPORT, "another version", "make -C kmod" },
		{ -ENOTTY, -EPROTONOSUPPORT, "another version", "make -C kmod" },
		{ -EUSERS, -EUSERS, "as many as it may", "pmm kmod stop PID" },
		{ -ESRCH, -ESRCH, "there is no process 7", "ps -e" },
		{ -EIO, -EIO, "cannot monitor a process: Input/output error", "" },
	};

	(void)state;
	for (size_t i = 0; i < NR(row); i++) {
		e = (struct err){ 0 };
		fake.fail = row[i].fail;
		assert_int_equal(kmod_device_start(&fake.device, 7, &e), row[i].code);
		assert_non_null(strstr(e.text, row[i].text));
		assert_non_null(strstr(e.hint, row[i].hint));
	}
}

static void starting_and_stopping_name_the_process(void **state)
{
	(void)state;
	assert_int_equal(kmod_device_start(&fake.device, 42, &e), 0);
	assert_int_equal(fake.started, 42);
	assert_int_equal(fake.stopped, 0);
	assert_int_equal(kmod_device_stop(&fake.device, 43, &e), 0);
	assert_int_equal(fake.stopped, 43);
	assert_int_equal(kmod_device_stop(&fake.device, 404, &e), -ESRCH);
	assert_string_equal(e.text, "the kernel module does not monitor process 404");
}

static void a_list_of_any_length_is_read_whole(void **state)
{
	struct kmod_processes all = { 0 };

	(void)state;
	fake.nr_processes = 1000;
	fake.processes = calloc(1000, sizeof(*fake.processes));
	for (int i = 0; i < 1000; i++) {
		fake.processes[i].pid = i + 1;
		memset(fake.processes[i].comm, 'x', sizeof(fake.processes[i].comm));
	}
	assert_int_equal(kmod_device_processes(&fake.device, &all, &e), 0);
	assert_int_equal(all.v.nr, 1000);
	assert_int_equal(fake.calls, 2);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(all.v.v[i].pid, i + 1);
		assert_int_equal(strlen(all.v.v[i].comm), PMM_KMOD_COMM_BYTES - 1);
	}
	kmod_processes_fini(&all);
	free(fake.processes);
}

static void a_list_that_grows_for_ever_is_given_up(void **state)
{
	struct kmod_processes all = { 0 };

	(void)state;
	fake.nr_processes = 100;
	fake.more_each_time = 100000;
	assert_int_equal(kmod_device_processes(&fake.device, &all, &e), -EAGAIN);
	assert_int_equal(fake.calls, 4);
	kmod_processes_fini(&all);
	kmod_fake_init(&fake);
	fake.nr_processes = KMOD_MAX_PROCESSES + 1;
	assert_int_equal(kmod_device_processes(&fake.device, &all, &e), -EBADMSG);
	kmod_processes_fini(&all);
}

static void the_newest_of_a_number_is_meant(void **state)
{
	struct pmm_kmod_process v[] = { { .pid = 5, .number = 9 }, { .pid = 5, .number = 2 },
					{ .pid = 6, .number = 11 } }, got;

	(void)state;
	fake.processes = v;
	fake.nr_processes = 3;
	assert_int_equal(kmod_device_process(&fake.device, 5, &got, &e), 0);
	assert_int_equal(got.number, 9);
	assert_int_equal(kmod_device_process(&fake.device, 8, &got, &e), -ESRCH);
	assert_string_equal(e.text, "the kernel module does not monitor process 8");
}

static void fill_records(uint32_t nr)
{
	fake.records = calloc(nr, sizeof(*fake.records));
	fake.nr_records = nr;
	for (uint32_t i = 0; i < nr; i++)
		fake.records[i] = (struct pmm_kmod_record){ .pointer = i + 1, .time_ns = i + 1 };
}

static void a_log_is_read_in_pieces(void **state)
{
	struct kmod_records r = { 0 };

	(void)state;
	fill_records(5000);
	memset(fake.records[7].file, 'f', PMM_KMOD_FILE_BYTES);
	memset(fake.records[7].function, 'g', PMM_KMOD_FUNCTION_BYTES);
	assert_int_equal(kmod_device_log(&fake.device, 5, 5000, 0, &r, &e), 0);
	assert_int_equal(r.v.nr, 5000);
	assert_int_equal(r.later, 0);
	assert_int_equal(fake.calls, 6);
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(r.v.v[i].pointer, i + 1);
	assert_int_equal(strlen(r.v.v[7].file), PMM_KMOD_FILE_BYTES - 1);
	assert_int_equal(strlen(r.v.v[7].function), PMM_KMOD_FUNCTION_BYTES - 1);
	kmod_records_fini(&r);
	free(fake.records);
}

static void what_is_logged_meanwhile_ends_it(void **state)
{
	struct kmod_records r = { 0 };

	(void)state;
	fill_records(5000);
	/* the second piece begins before that moment, the third one after it */
	assert_int_equal(kmod_device_log(&fake.device, 5, 1500, 0, &r, &e), 0);
	assert_int_equal(r.v.nr, 2048);
	assert_int_equal(r.later, 1024);
	kmod_records_fini(&r);
	free(fake.records);
}

static void a_log_has_its_limit_of_memory(void **state)
{
	struct kmod_records r = { 0 };

	(void)state;
	fill_records(5000);
	fake.endless = true;
	assert_int_equal(kmod_device_log(&fake.device, 5, 5000, 3000 * sizeof(*fake.records), &r,
					 &e), -EFBIG);
	assert_int_equal(fake.calls, 3);
	assert_non_null(strstr(e.hint, "--memory-limit"));
	kmod_records_fini(&r);
	free(fake.records);
}

static void a_log_that_is_not_there(void **state)
{
	struct kmod_records r = { 0 };

	(void)state;
	fake.fail = -ESRCH;
	assert_int_equal(kmod_device_log(&fake.device, 8, 5000, 0, &r, &e), -ESRCH);
	assert_string_equal(e.text, "the kernel module does not monitor process 8");
	assert_non_null(strstr(e.hint, "'pmm kmod start 8' begins to"));
	kmod_records_fini(&r);
}

static void events_come_whole(void **state)
{
	struct pmm_kmod_event v[3] = { { .size = sizeof(*v), .pid = 1 },
				       { .size = sizeof(*v), .pid = 2 },
				       { .size = sizeof(*v), .pid = 3 } }, got[2];

	(void)state;
	memset(v[0].comm, 'c', sizeof(v[0].comm));
	fake.events = v;
	fake.event_bytes = 2 * sizeof(*v);
	assert_int_equal(kmod_device_events(&fake.device, got, 2, &e), 2);
	assert_int_equal(got[1].pid, 2);
	assert_int_equal(strlen(got[0].comm), sizeof(got[0].comm) - 1);
	assert_int_equal(kmod_device_events(&fake.device, got, 2, &e), 0);
	fake.event_bytes = sizeof(*v) + 1;
	assert_int_equal(kmod_device_events(&fake.device, got, 2, &e), -EBADMSG);
	v[0].size = 8;
	fake.event_bytes = sizeof(*v);
	assert_int_equal(kmod_device_events(&fake.device, got, 2, &e), -EBADMSG);
	fake.fail = -EIO;
	assert_int_equal(kmod_device_events(&fake.device, got, 2, &e), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(no_device_is_no_module, setup),
		cmocka_unit_test_setup(what_is_no_device_is_refused, setup),
		cmocka_unit_test_setup(configuration_is_read, setup),
		cmocka_unit_test_setup(each_error_has_its_remedy, setup),
		cmocka_unit_test_setup(starting_and_stopping_name_the_process, setup),
		cmocka_unit_test_setup(a_list_of_any_length_is_read_whole, setup),
		cmocka_unit_test_setup(a_list_that_grows_for_ever_is_given_up, setup),
		cmocka_unit_test_setup(the_newest_of_a_number_is_meant, setup),
		cmocka_unit_test_setup(a_log_is_read_in_pieces, setup),
		cmocka_unit_test_setup(what_is_logged_meanwhile_ends_it, setup),
		cmocka_unit_test_setup(a_log_has_its_limit_of_memory, setup),
		cmocka_unit_test_setup(a_log_that_is_not_there, setup),
		cmocka_unit_test_setup(events_come_whole, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
