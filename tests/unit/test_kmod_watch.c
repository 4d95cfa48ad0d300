/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/session/kmod/kmod_watch.c, kmod_status.c: live events and the state of a kernel module that
 * is none.
 */
#include "tests/unit/unit.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "src/document/doc.h"
#include "src/document/event.h"
#include "src/session/kmod/kmod_status.h"
#include "src/session/kmod/kmod_watch.h"
#include "tests/unit/kmod_fake.h"

static struct kmod_fake fake;
static struct loop *loop;
static struct err e;

/* What the sink got. */
static unsigned nr_events, nr_documents;
static char said[2000];
static int refuse;

static int on_event(void *arg, const struct event *event)
{
	(void)arg;
	nr_events++;
	strncat(said, str_text(&event->text), sizeof(said) - strlen(said) - 1);
	return refuse;
}

static int on_document(void *arg, const struct doc *d, bool follows)
{
	(void)arg;
	(void)follows;
	assert_int_equal(doc_error(d), 0);
	nr_documents++;
	return refuse;
}

static const struct session_ops ops = { .event = on_event, .document = on_document };
static const struct session_sink sink = { &ops, NULL };

static int setup(void **state)
{
	(void)state;
	kmod_fake_init(&fake);
	fake.device.fd = eventfd(1, EFD_CLOEXEC);	/* readable, always */
	nr_events = nr_documents = 0;
	said[0] = '\0';
	refuse = 0;
	e = (struct err){ 0 };
	setenv("TZ", "UTC", 1);
	return loop_new(&loop);
}

static int teardown(void **state)
{
	(void)state;
	loop_free(loop);
	close(fake.device.fd);
	return 0;
}

static struct kmod_watch *watch(const pid_t *pids, size_t nr)
{
	const struct kmod_watch_options o = { pids, nr };
	struct kmod_watch *w = NULL;

	if (kmod_watch_new(&w, &fake.device, loop, &o, &sink, &e))
		fail_msg("%s", e.text);
	return w;
}

static struct pmm_kmod_event event(unsigned type, int pid)
{
	return (struct pmm_kmod_event){ .size = sizeof(struct pmm_kmod_event), .type = type,
					.pid = pid, .comm = "x" };
}

static void give(struct pmm_kmod_event *v, size_t nr)
{
	fake.events = v;
	fake.event_bytes = nr * sizeof(*v);
}

static void all_events_without_names(void **state)
{
	struct pmm_kmod_event v[] = { event(PMM_KMOD_EVENT_STARTED, 1),
				      event(PMM_KMOD_EVENT_ENDED, 2) };
	struct kmod_watch *w = watch(NULL, 0);

	(void)state;
	assert_int_equal(loop_step(loop, 0), 1);
	assert_int_equal(nr_events, 0);		/* there were none: that is no error */
	give(v, 2);
	assert_int_equal(loop_step(loop, 0), 1);
	assert_int_equal(nr_events, 2);
	assert_string_equal(said, "00:00:00  1 (x) is monitored from now on\n"
				  "00:00:00  2 (x) exited with status 0\n");
	assert_int_equal(kmod_watch_result(w, &e), 0);
	kmod_watch_free(w);
}

static void named_processes_alone_until_all_have_ended(void **state)
{
	const pid_t pids[] = { 7, 8 };
	struct pmm_kmod_event v[] = {
		event(PMM_KMOD_EVENT_GROWTH, 9), event(PMM_KMOD_EVENT_ENDED, 7),
		event(PMM_KMOD_EVENT_GROWTH, 8), event(PMM_KMOD_EVENT_STOPPED, 8),
		event(PMM_KMOD_EVENT_STARTED, 8),
	};
	struct kmod_watch *w = watch(pids, 2);

	(void)state;
	assert_int_equal(fake.calls, 2);
	assert_int_equal(fake.started, 8);
	give(v, NR(v));
	assert_int_equal(loop_run(loop), 0);	/* it stops by itself */
	assert_int_equal(nr_events, 3);
	assert_int_equal(kmod_watch_result(w, &e), 0);
	kmod_watch_free(w);
}

static void what_cannot_be_monitored_is_refused(void **state)
{
	const pid_t pid = 404;
	const struct kmod_watch_options o = { &pid, 1 };
	struct kmod_watch *w = NULL;

	(void)state;
	assert_int_equal(kmod_watch_new(&w, &fake.device, loop, &o, &sink, &e), -ESRCH);
	assert_null(w);
	assert_string_equal(e.text, "there is no process 404");
	assert_int_equal(loop_step(loop, 0), 0);	/* nothing is left in the loop */
}

static void no_reader_ends_it_without_an_error(void **state)
{
	struct pmm_kmod_event v[] = { event(PMM_KMOD_EVENT_STARTED, 1),
				      event(PMM_KMOD_EVENT_STARTED, 2) };
	struct kmod_watch *w = watch(NULL, 0);

	(void)state;
	refuse = -EPIPE;
	give(v, 2);
	assert_int_equal(loop_run(loop), 0);
	assert_int_equal(nr_events, 1);
	assert_int_equal(kmod_watch_result(w, &e), 0);
	kmod_watch_free(w);
}

static void errors_end_it(void **state)
{
	struct pmm_kmod_event v[] = { event(PMM_KMOD_EVENT_STARTED, 1) };
	struct kmod_watch *w = watch(NULL, 0);

	(void)state;
	refuse = -ENOSPC;
	give(v, 1);
	assert_int_equal(loop_run(loop), 0);
	assert_int_equal(kmod_watch_result(w, &e), -ENOSPC);
	assert_string_equal(e.text, "cannot write events: No space left on device");
	kmod_watch_free(w);
	w = watch(NULL, 0);
	fake.fail = -EIO;
	assert_int_equal(loop_run(loop), 0);
	assert_int_equal(kmod_watch_result(w, &e), -EIO);
	kmod_watch_free(w);
}

static void the_state_is_one_document(void **state)
{
	struct pmm_kmod_process v[] = { { .pid = 3 }, { .pid = 2 } };

	(void)state;
	fake.processes = v;
	fake.nr_processes = 2;
	assert_int_equal(kmod_status(&fake.device, &sink, &e), 0);
	assert_int_equal(nr_documents, 1);
	refuse = -EPIPE;
	assert_int_equal(kmod_status(&fake.device, &sink, &e), 0);
	refuse = -ENOSPC;
	assert_int_equal(kmod_status(&fake.device, &sink, &e), -ENOSPC);
	fake.fail = -EPERM;
	assert_int_equal(kmod_status(&fake.device, &sink, &e), -EPERM);
	assert_int_equal(nr_documents, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_events_without_names, setup, teardown),
		cmocka_unit_test_setup_teardown(named_processes_alone_until_all_have_ended, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_monitored_is_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(no_reader_ends_it_without_an_error, setup,
						teardown),
		cmocka_unit_test_setup_teardown(errors_end_it, setup, teardown),
		cmocka_unit_test_setup_teardown(the_state_is_one_document, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
