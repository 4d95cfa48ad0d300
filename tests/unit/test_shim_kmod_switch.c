/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shim/kmod*.c: the log to the kernel module switched on and off at run time, what keeps it from
 * logging, pools and options; in the static form and, compiled with FULL, in the full form. There
 * also libraries that bring a copy of their own along (PLUGIN is one).
 */
#include "tests/unit/shim_ring.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>

static void *some(unsigned line)
{
	return pmm_malloc("a.c", (int)line, "f", 10);
}

static void drop(void *p)
{
	pmm_free("a.c", 9, "f", p);
}

/* Kinds of all records so far, a letter each. */
static const char *kinds(void)
{
	static char text[NR(fake.record) + 1];

	take();
	for (unsigned i = 0; i < fake.nr; i++)
		text[i] = "-mcrfa"[fake.record[i].kind];
	text[fake.nr] = 0;
	return text;
}

/* The totals' line about it; "" if there is none. */
static const char *told(void)
{
	static char text[4000];
	char *line, *end;
	int pipes[2];

	memset(text, 0, sizeof(text));
	assert_int_equal(pipe(pipes), 0);
	pmm_report_fd(pipes[1], PMM_TOTALS);
	assert_true(read(pipes[0], text, sizeof(text) - 1) > 0);
	close(pipes[0]);
	close(pipes[1]);
	line = strstr(text, "  kernel module: ");
	if (!line)
		return "";
	end = strchr(line, '\n');
	assert_non_null(end);
	*end = 0;
	return line + strlen("  kernel module: ");
}

/* ---- on and off */

static void enabled_it_opens_at_once(void **state)
{
	void *p;

	(void)state;
	pmm_kmod_disable();
	drop(some(1));
	assert_int_equal(fake.opens, 0);
	assert_int_equal(pmm_kmod_status(), 0);
	assert_string_equal(told(), "");
	errno = 77;
	assert_int_equal(pmm_kmod_enable(), 1);
	assert_int_equal(errno, 77);
	assert_int_equal(fake.opens, 1);
	p = some(2);
	assert_int_equal(pmm_kmod_enable(), 1);
	drop(p);
	assert_int_equal(fake.opens, 1);
	assert_string_equal(kinds(), "mf");
	assert_int_equal(record(0)->pointer, (uintptr_t)p);
	assert_int_equal(pmm_kmod_status(), 1);
}

static void switched_off_what_was_logged_is_taken_out(void **state)
{
	void *p = some(1), *q = some(2), *r;

	(void)state;
	pmm_kmod_disable();
	assert_int_equal(pmm_kmod_status(), 0);
	assert_string_equal(told(), "logs nothing, it is switched off");
	r = some(3);
	drop(p);
	q = pmm_realloc("a.c", 4, "f", q, 100000);	/* as a free of the old one */
	assert_int_equal(pmm_kmod_enable(), 1);
	drop(r);
	assert_string_equal(kinds(), "mmfff");
	assert_int_equal(record(2)->pointer, (uintptr_t)p);
	assert_int_equal(record(3)->bytes, 0);
	assert_int_equal(record(3)->prev, 0);
	assert_int_equal(record(4)->pointer, (uintptr_t)r);
	q = pmm_realloc("a.c", 5, "f", q, 200000);
	assert_string_equal(kinds(), "mmfffr");
	drop(q);
	assert_int_equal(fake.opens, 1);
}

/* pmm_disable() is about all of the monitor, this log included. */
static void both_switches_must_be_on(void **state)
{
	(void)state;
	pmm_disable();
	drop(some(1));
	pmm_enable();
	pmm_kmod_disable();
	drop(some(2));
	pmm_kmod_enable();
	drop(some(3));
	assert_string_equal(kinds(), "ffmf");
}

static void enable_tries_again(void **state)
{
	(void)state;
	fake.refuse = ENOENT;
	drop(some(1));
	drop(some(1));
	assert_int_equal(fake.opens, 1);
	assert_int_equal(pmm_kmod_enable(), -ENOENT);
	assert_int_equal(fake.opens, 2);
	fake.refuse = EACCES;
	assert_int_equal(pmm_kmod_enable(), -EACCES);
	assert_string_equal(told(), "logs nothing, /dev/pmm may not be opened (error 13)");
	drop(some(1));
	assert_int_equal(fake.opens, 3);
	fake.refuse = 0;
	assert_int_equal(pmm_kmod_enable(), 1);
	drop(some(1));
	assert_string_equal(kinds(), "mf");
	assert_string_equal(told(), "logs here, 0 records lost, 0 while it was opened");
}

/* What it has closed may be another file by then. */
static void a_descriptor_is_closed_once(void **state)
{
	int fd;

	(void)state;
	fake.most_bytes = 4096;		/* no ring */
	drop(some(1));
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	assert_int_equal(pmm_kmod_enable(), -ENOMEM);
	assert_int_equal(fake.opens, 2);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
}

static void a_stopped_monitoring_is_said(void **state)
{
	(void)state;
	drop(some(1));
	fake.ring->off = 1;
	assert_int_equal(pmm_kmod_status(), -ECANCELED);
	assert_string_equal(told(), "logs nothing, its monitoring was stopped (error 125)");
	fake.ring->off = 0;
	assert_int_equal(pmm_kmod_status(), 1);
}

/* What the form does when nobody has said anything. */
static void without_a_word_the_form_decides(void **state)
{
	(void)state;
	kmod.wish = KMOD_DEFAULT;
	drop(some(1));
#ifdef FULL
	assert_int_equal(fake.opens, 0);
	assert_int_equal(KMOD_STATE, KMOD_UNWANTED);
	assert_int_equal(pmm_kmod_status(), 0);
	assert_string_equal(told(), "");
	assert_int_equal(pmm_kmod_enable(), 1);
	drop(some(1));
#endif
	assert_int_equal(fake.opens, 1);
	assert_string_equal(kinds(), "mf");
}

/* ---- processes and signals */

static int in_a_child(int (*body)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		fake.nr = fake.sites = 0;
		fake.ring = NULL;
		_exit(body() ? 5 : 6);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status == 5 << 8;
}

/* It has its parent's state, but not the ring. */
static int reports_before_it_logs(void)
{
	return pmm_kmod_status() == 0 && fake.opens == 1 &&
	       !strcmp(told(), "logs nothing, nothing was called yet");
}

static int enables(void)
{
	return pmm_kmod_enable() == 1 && fake.opens == 2;
}

static int stays_off(void)
{
	pmm_kmod_disable();
	drop(some(1));
	return fake.opens == 1 && pmm_kmod_status() == 0 && pmm_kmod_enable() == 1 &&
	       fake.opens == 2;
}

static void a_forked_child_before_its_first_request(void **state)
{
	(void)state;
	drop(some(1));
	assert_true(in_a_child(reports_before_it_logs));
	assert_true(in_a_child(enables));
	assert_true(in_a_child(stays_off));
	assert_int_equal(pmm_kmod_status(), 1);
}

static void *of_handler;

static void on_signal(int signo)
{
	(void)signo;
	of_handler = some(7);
}

static void interrupt(void)
{
	fake.in_open = NULL;
	raise(SIGUSR2);
}

static void a_handler_while_it_is_opened_is_counted(void **state)
{
	void *p;

	(void)state;
	signal(SIGUSR2, on_signal);
	fake.in_open = interrupt;
	p = some(1);
	signal(SIGUSR2, SIG_DFL);
	assert_non_null(of_handler);
	assert_int_equal(fake.opens, 1);
	assert_string_equal(kinds(), "m");
	assert_int_equal(record(0)->pointer, (uintptr_t)p);
	assert_string_equal(told(), "logs here, 0 records lost, 1 while it was opened");
	drop(of_handler);
	drop(p);
	assert_string_equal(kinds(), "mff");
}

/* ---- pools and options */

static void idle_blocks_of_a_pool_stay(void **state)
{
	struct pmm_pool pool;
	void *p, *q;

	(void)state;
	pmm_pool_init(&pool, 40, 1);
	p = pmm_pool_get_at("a.c", 1, "f", &pool);
	q = pmm_pool_get_at("a.c", 2, "f", &pool);
	assert_string_equal(kinds(), "mm");
	assert_int_equal(record(1)->bytes, 40);
	assert_int_equal(record(1)->pointer, (uintptr_t)q);
	assert_true(record(1)->caller > (uintptr_t)idle_blocks_of_a_pool_stay &&
		    record(1)->caller < (uintptr_t)idle_blocks_of_a_pool_stay + 4096);
	pmm_pool_put_at("a.c", 3, "f", &pool, p);
	assert_string_equal(kinds(), "mm");		/* idle */
	pmm_pool_put_at("a.c", 4, "f", &pool, q);	/* there is room for one */
	assert_string_equal(kinds(), "mmf");
	assert_ptr_equal(pmm_pool_get_at("a.c", 5, "f", &pool), p);
	assert_string_equal(kinds(), "mmf");
	pmm_pool_put_at("a.c", 6, "f", &pool, p);
	pmm_pool_fini_at("a.c", 7, "f", &pool);
	assert_string_equal(kinds(), "mmff");
	assert_int_equal(record(3)->pointer, (uintptr_t)p);
}

static void options_change_nothing_of_the_log(void **state)
{
	void *p, *q;

	(void)state;
	pmm_set(PMM_KEEP, 1000);
	pmm_set(PMM_CANARY, PMM_BEHIND | PMM_BEFORE);
	pmm_set(PMM_FILL_NEW, 256 + 1);
	p = some(1);
	q = pmm_realloc("a.c", 2, "f", p, 20);	/* by a new block */
	drop(q);
	pmm_set(PMM_KEEP, 0);
	pmm_set(PMM_FILL_NEW, 0);
	assert_string_equal(kinds(), "mrff");
	assert_int_equal(record(1)->pointer, (uintptr_t)q);
	assert_int_equal(record(1)->prev, 0);
	assert_int_equal(record(2)->pointer, (uintptr_t)p);
	p = some(3);
	q = pmm_realloc("a.c", 4, "f", p, 100000);	/* with something before it */
	drop(q);
	pmm_set(PMM_CANARY, PMM_BEHIND);
	pmm_set(PMM_LIMIT, 1);
	assert_null(some(5));
	pmm_set(PMM_LIMIT, 0);
	assert_string_equal(kinds(), "mrffmrf");
	assert_int_equal(record(5)->prev, (uintptr_t)p);
	assert_int_equal(record(5)->pointer, (uintptr_t)q);
	assert_int_equal(record(5)->flags, 0);
}

/* ---- the full form */

#ifdef FULL
/* Texts outside of the program may change at the same address: others have come there. */
static void texts_that_go_are_looked_at(void **state)
{
	char file[] = "one.c";

	(void)state;
	drop(pmm_malloc(file, 1, file, 10));
	drop(pmm_malloc(file, 1, file, 10));
	assert_int_equal(fake.sites, 1);
	memcpy(file, "two", 3);
	drop(pmm_malloc(file, 1, file, 10));
	assert_int_equal(fake.sites, 2);
	assert_string_equal(fake.site[0].file, "one.c");
	assert_string_equal(fake.site[1].file, "two.c");
	assert_int_equal(record(4)->site, 2);
}

static void a_librarys_copy_logs_where_the_program_does(void **state)
{
	void *library = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL), *p;
	void *(*lib_take)(size_t bytes);
	void (*lib_give)(void *p);

	(void)state;
	assert_non_null(library);
	*(void **)&lib_take = dlsym(library, "take");
	*(void **)&lib_give = dlsym(library, "give");
	p = lib_take(100);
	assert_string_equal(kinds(), "m");
	assert_int_equal(record(0)->bytes, 100);
	assert_int_equal(record(0)->pointer, (uintptr_t)p);
	assert_string_equal(fake.site[0].function, "made");
	drop(p);
	lib_give(some(1));
	assert_string_equal(kinds(), "mfmf");
	pmm_kmod_disable();
	drop(lib_take(10));
	lib_give(some(2));
	assert_string_equal(kinds(), "mfmfff");
	assert_int_equal(fake.opens, 1);
	dlclose(library);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(enabled_it_opens_at_once, setup),
		cmocka_unit_test_setup(switched_off_what_was_logged_is_taken_out, setup),
		cmocka_unit_test_setup(both_switches_must_be_on, setup),
		cmocka_unit_test_setup(enable_tries_again, setup),
		cmocka_unit_test_setup(a_descriptor_is_closed_once, setup),
		cmocka_unit_test_setup(a_stopped_monitoring_is_said, setup),
		cmocka_unit_test_setup(without_a_word_the_form_decides, setup),
		cmocka_unit_test_setup(a_forked_child_before_its_first_request, setup),
		cmocka_unit_test_setup(a_handler_while_it_is_opened_is_counted, setup),
		cmocka_unit_test_setup(idle_blocks_of_a_pool_stay, setup),
		cmocka_unit_test_setup(options_change_nothing_of_the_log, setup),
#ifdef FULL
		cmocka_unit_test_setup(texts_that_go_are_looked_at, setup),
		cmocka_unit_test_setup(a_librarys_copy_logs_where_the_program_does, setup),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
