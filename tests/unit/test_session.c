/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/session/: what a session hands over reaches its own sink and nobody else. Sessions in one
 * process, by turns and one after the other, do not see each other's state, write nothing to
 * descriptors 1 and 2, and leave the process's signals as they are (a run: in a child of its own).
 * Also of src/session/check/check_exhaustive.c, check_uninit.c, src/session/run_program.c,
 * untracked.c.
 */
#include "tests/unit/recipe_heap.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/loop.h"
#include "src/base/str.h"
#include "src/document/doc.h"
#include "src/session/check/check_exhaustive.h"
#include "src/session/check/check_live.h"
#include "src/session/check/check_report.h"
#include "src/session/check/check_uninit.h"
#include "src/session/check/run_check.h"
#include "src/session/leaks/leaks_live.h"
#include "src/session/leaks/leaks_report.h"
#include "src/session/run_program.h"
#include "src/session/session.h"
#include "src/session/summary.h"

/* ---- a sink that collects ---- */

struct collected {
	char notes[4096];
	char errors[1024];
	char texts[4096];
	unsigned documents, following, released, released_found;
	int refuse; /* what document() and text() answer */
};

static void add(char *to, size_t room, const char *before, const char *text)
{
	size_t n = strlen(to);

	assert_true(n + strlen(before) + strlen(text) + 2 < room);
	snprintf(to + n, room - n, "%s%s\n", before, text);
}

static void on_note(void *arg, enum session_kind kind, const char *text)
{
	static const char *const kinds[] = { "note: ", "warning: ", "hint: ", "progress: " };
	struct collected *c = arg;

	add(c->notes, sizeof(c->notes), kinds[kind], text);
}

static void on_error(void *arg, const struct err *e)
{
	struct collected *c = arg;

	add(c->errors, sizeof(c->errors), "", e->text);
}

static int on_document(void *arg, const struct doc *d, bool follows)
{
	struct collected *c = arg;

	assert_int_equal(doc_error(d), 0);
	c->documents++;
	c->following += follows;
	return c->refuse;
}

static int on_text(void *arg, const char *text, size_t bytes)
{
	struct collected *c = arg;

	assert_int_equal(strlen(text), bytes);
	add(c->texts, sizeof(c->texts), "", text);
	return c->refuse;
}

static void on_released(void *arg, bool found)
{
	struct collected *c = arg;

	c->released++;
	c->released_found += found;
}

static const struct session_ops collect = {
	.note = on_note,
	.error = on_error,
	.document = on_document,
	.text = on_text,
	.released = on_released,
};

/* ---- what a session must leave alone ---- */

struct aside {
	int kept[3], memory[3]; /* of descriptors 1 and 2 */
	struct sigaction action[NSIG];
	sigset_t mask;
};

static int aside_begin(void **state)
{
	struct aside *a = calloc(1, sizeof(*a));

	fflush(NULL);
	for (int fd = 1; fd <= 2; fd++) {
		a->kept[fd] = dup(fd);
		a->memory[fd] = memfd_create("aside", MFD_CLOEXEC);
		dup2(a->memory[fd], fd);
	}
	for (int s = 1; s < NSIG; s++)
		sigaction(s, NULL, &a->action[s]);
	sigprocmask(SIG_SETMASK, NULL, &a->mask);
	*state = a;
	return 0;
}

static int aside_end(void **state)
{
	struct aside *a = *state;
	struct sigaction now;
	off_t written[3];
	unsigned changed = 0;
	sigset_t mask;

	fflush(NULL);
	for (int fd = 1; fd <= 2; fd++) {
		written[fd] = lseek(a->memory[fd], 0, SEEK_END);
		dup2(a->kept[fd], fd);
		close(a->kept[fd]);
		close(a->memory[fd]);
	}
	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int s = 1; s < NSIG; s++) {
		if (sigaction(s, NULL, &now))
			continue; /* the C library's own */
		changed += now.sa_handler != a->action[s].sa_handler;
		changed += sigismember(&mask, s) != sigismember(&a->mask, s);
	}
	free(a);
	if (written[1] || written[2] || changed)
		print_error("%ld bytes on fd 1, %ld on fd 2, %u signals changed\n",
			    (long)written[1], (long)written[2], changed);
	return written[1] || written[2] || changed;
}

/* ---- the sink ---- */

static void notes_have_kinds(void **state)
{
	struct collected c = { .notes = "" };
	const struct session_sink to = { &collect, &c };

	(void)state;
	session_note(&to, "%d", 1);
	session_warn(&to, "%s", "two");
	session_hint(&to, "three");
	session_progress(&to, "%u%%", 4u);
	assert_string_equal(c.notes, "note: 1\nwarning: two\nhint: three\nprogress: 4%\n");
}

/* Texts of which nothing is left to free. */
static void texts_are_warned_of(void **state)
{
	struct collected c = { .notes = "" };
	const struct session_sink to = { &collect, &c };
	struct str said = STR_INIT, empty = STR_INIT, broken = { .failed = true };

	(void)state;
	str_add(&said, "100%");
	session_warn_text(&to, &said, "not this");
	session_warn_text(&to, &empty, "nor this");
	session_warn_text(&to, &broken, "this");
	assert_string_equal(c.notes, "warning: 100%\nwarning: this\n");
	assert_int_equal(said.len, 0);
}

static void nobody_must_listen(void **state)
{
	static const struct session_ops none = { 0 };
	const struct session_sink to = { &none, NULL };
	struct err e = { .text = "x" };
	struct doc d = { 0 };

	(void)state;
	session_note(&to, "x");
	session_error(&to, &e);
	assert_int_equal(session_document(&to, &d, true), 0);
	assert_int_equal(session_text(&to, "x", 1), 0);
	session_released(&to, true);
	session_background(&to);
}

/* ---- sessions by turns ---- */

#define CHECKED(pid, findings)                                                                     \
	"process comm=demo cmdline=demo pid=" pid " taken=10s end=running\nthread main tid=7\n"    \
	"check guard\nsite main>a size=1\nsite main>b size=1\n" findings
#define OVERRUN                                                                                    \
	"finding type=overrun by=access access=write address=1018 block=1000 block-size=24 "       \
	"site=main>b alloc=main>a\n"
#define AFTER_FREE                                                                                 \
	"finding type=after-free by=access access=read address=2000 block=2000 block-size=24 "     \
	"site=main>b alloc=main>a\n"

static void checks_do_not_share(void **state)
{
	struct check_report_options o = CHECK_REPORT_DEFAULT;
	const struct check_job job = { .report = &o };
	struct collected ca = { .notes = "" }, cb = { .notes = "" };
	const struct session_sink ta = { &collect, &ca }, tb = { &collect, &cb };
	struct run_check a = { .job = &job, .to = &ta }, b = { .job = &job, .to = &tb };
	struct heap *one = recipe_heap(CHECKED("41", OVERRUN));
	struct heap *two = recipe_heap(CHECKED("41", OVERRUN AFTER_FREE));
	struct err e = { .text = "" };

	(void)state;
	o.resolve = recipe_resolve;
	run_check_found(&a, one);
	run_check_found(&b, one); /* known to the other one only */
	run_check_found(&a, two);
	assert_int_equal(ca.documents, 2);
	assert_int_equal(ca.following, 1);
	assert_int_equal(a.nr_found, 2);
	assert_int_equal(cb.documents, 1);
	assert_int_equal(cb.following, 0);
	assert_int_equal(b.nr_found, 1);
	run_check_ended(&a, two, false);
	run_check_ended(&b, one, false);
	assert_int_equal(run_check_tell(&a, two, &e), 1);
	assert_int_equal(run_check_tell(&b, one, &e), 1);
	assert_int_equal(a.coverage.processes, 1);
	assert_int_equal(b.coverage.processes, 1);
	assert_int_equal(ca.documents, 3);
	assert_int_equal(cb.documents, 2);
	run_check_fini(&a);
	run_check_fini(&b);
	heap_free(one);
	heap_free(two);
}

/* Of children that come and go unswept nothing stays; the living keep their turn. */
static void millions_of_children_are_not_remembered(void **state)
{
	const struct check_job job = { .scan_every_ns = UINT64_MAX / 2 };
	struct run_check r = { .job = &job };

	(void)state;
	for (pid_t i = 0; i < 100000; i++) {
		run_check_alive(&r, getpid(), 10);
		run_check_alive(&r, (1 << 23) + i, 10 + (uint64_t)i);	/* nobody's number */
		assert_true(r.swept.nr <= 65);
	}
	assert_int_equal(r.swept.v[0].pid, getpid());
	assert_int_equal(r.swept.v[0].next_ns, 10 + UINT64_MAX / 2);
	run_check_fini(&r);
}

/* Nobody reads it any more: no error. It cannot be written: one. */
static void a_sink_may_refuse(void **state)
{
	struct check_report_options o = CHECK_REPORT_DEFAULT;
	struct heap *h = recipe_heap(CHECKED("41", OVERRUN));
	struct collected c = { .refuse = -EPIPE };
	const struct session_sink to = { &collect, &c };
	struct err e = { .text = "" };

	(void)state;
	o.resolve = recipe_resolve;
	assert_int_equal(check_report(h, &o, &to, &e), 1);
	c.refuse = -ENOSPC;
	assert_int_equal(check_report(h, &o, &to, &e), -ENOSPC);
	assert_string_equal(e.text, "cannot write the report: No space left on device");
	heap_free(h);
}

#define SEARCHED                                                                                   \
	"process comm=demo cmdline=demo pid=41 taken=10s end=exited\nthread main tid=7\n"          \
	"site main>a size=24\nsearch exit complete at=10s\n"                                       \
	"leak main>a definite blocks=1 bytes=24 oldest=1s newest=1s\n"

static void verdicts_do_not_share(void **state)
{
	struct leaks_report_options as_doc = LEAKS_REPORT_DEFAULT, as_text = LEAKS_REPORT_DEFAULT;
	struct collected ca = { .notes = "" }, cb = { .notes = "" };
	const struct session_sink ta = { &collect, &ca }, tb = { &collect, &cb };
	struct heap *h = recipe_heap(SEARCHED);
	struct err e = { .text = "" };

	(void)state;
	as_doc.no_symbols = as_text.no_symbols = true;
	as_doc.fail_on = 1u << REACH_REACHED; /* there are none such */
	as_text.format = LEAKS_GEN_LSAN;
	assert_int_equal(leaks_report(h, NULL, &as_doc, &ta, &e), 0);
	assert_int_equal(leaks_report(h, NULL, &as_text, &tb, &e), 1);
	assert_int_equal(leaks_report(h, NULL, &as_doc, &ta, &e), 0);
	assert_int_equal(ca.documents, 2);
	assert_int_equal(ca.following, 0);
	assert_string_equal(ca.texts, "");
	assert_int_equal(cb.documents, 0);
	assert_non_null(strstr(cb.texts, "leak:"));
	heap_free(h);
}

static void summaries_do_not_share(void **state)
{
	static char *one[] = { "one", NULL }, *two[] = { "two", NULL };
	struct collected ca = { .notes = "" }, cb = { .notes = "" };
	const struct session_sink ta = { &collect, &ca }, tb = { &collect, &cb };
	struct heap *h = heap_new();
	struct summary a = { .heap = h, .argv = one, .nr_lost = 1 };
	struct summary b = { .heap = h, .argv = two, .status = 3 << 8 };

	(void)state;
	summary_note(&a, false, &ta);
	summary_note(&b, false, &tb);
	assert_string_equal(ca.notes,
			    "note: 'one' exited with status 0 after 0 s\n"
			    "note: it never called malloc or a similar function\n"
			    "warning: 1 process could not be tracked: no memory or address space "
			    "for a ledger, or no descriptors to watch it\n");
	assert_string_equal(cb.notes, "note: 'two' exited with status 3 after 0 s\n"
				      "note: it never called malloc or a similar function\n");
	summary_fini(&a);
	summary_fini(&b);
	heap_free(h);
}

/* ---- what cannot be looked at ---- */

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

static void untracked_processes_are_refused(void **state)
{
	struct check_report_options report = CHECK_REPORT_DEFAULT;
	const struct check_live_options o = { .report = &report };
	const struct leaks_job job = { .search = leaks_search_default,
				       .report = leaks_report_default };
	struct collected c = { .notes = "" };
	const struct session_sink to = { &collect, &c };
	pid_t pid = sleeper();
	struct check_live *check = check_live_new(pid, &o, &to);
	struct leaks_live *search = leaks_live_new(pid, &job, &to);
	struct err e = { .text = "" };

	(void)state;
	assert_int_equal(check_live_look(check, &e), -ENOENT);
	assert_non_null(strstr(e.text, "is not checked: pmm does not track it"));
	assert_int_equal(c.released, 1); /* it is never held */
	assert_int_equal(leaks_live_look(search, (struct stop){ 0 }, &e), -ENOENT);
	assert_non_null(strstr(e.text, "are not known: pmm does not track it"));
	assert_int_equal(c.documents + c.released_found, 0);
	assert_string_equal(c.notes, "");
	assert_string_equal(c.errors, "");
	check_live_free(check);
	leaks_live_free(search);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void programs_are_refused(void **state)
{
	static char *nowhere[] = { "/nowhere/program", NULL };
	struct run_options o = RUN_OPTIONS_DEFAULT;
	struct collected c = { .notes = "" };
	const struct session_sink to = { &collect, &c };
	struct err e = { .text = "" };
	struct run *r = NULL;

	(void)state;
	assert_true(run_open(&r, &o, nowhere, &to, &e) < 0);
	assert_null(r);
	assert_non_null(strstr(e.text, "/nowhere/program"));
	assert_string_equal(c.notes, "");
	assert_string_equal(c.errors, "");
	run_close(r);
}

/* Input that can be read only once is refused before anything runs. */
static void several_runs_need_input_again(void **state)
{
	static char *nothing[] = { "/bin/true", NULL };
	static const struct check_exhaustive_ops none = { 0 };
	const struct run_options o = RUN_OPTIONS_DEFAULT;
	const struct check_exhaustive_options all = { .run = &o, .ops = &none };
	struct check_exhaustive *x;
	struct collected c = { .notes = "" };
	const struct session_sink to = { &collect, &c };
	struct err e = { .text = "" };
	int fds[2], input = dup(0), rc;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	dup2(fds[0], 0);
	rc = check_exhaustive_open(&x, &all, nothing, &to, &e);
	dup2(input, 0);
	close(input);
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(rc, -EINVAL);
	assert_int_equal(e.exit_code, 2);
	assert_string_equal(c.notes, "");
}

struct stepped {
	struct check_uninit *u;
	struct loop *loop;
	struct loop_source *source;
	bool ended;
};

static void on_ready(void *arg, uint32_t events)
{
	struct stepped *s = arg;

	(void)events;
	s->ended = !check_uninit_step(s->u, 0);
	if (s->ended)
		loop_del(s->loop, s->source);
}

/* One thread holds two programs under Valgrind, and waits at one place. */
static void checks_are_stepped(void **state)
{
	static char *argv[2][4] = { { "/bin/sh", "-c", "exit 3", NULL },
				    { "/bin/sh", "-c", "exit 4", NULL } };
	const struct check_report_options report = { .no_symbols = true };
	const struct check_uninit_options o = { .report = &report };
	struct collected c = { .notes = "" };
	const struct session_sink to = { &collect, &c };
	struct stepped s[2] = { 0 };
	struct session_end end;
	struct err e = { .text = "" };
	struct loop *loop;

	(void)state;
	if (system("valgrind --version >/dev/null 2>&1"))
		skip();
	assert_int_equal(loop_new(&loop), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(check_uninit_open(&s[i].u, &o, argv[i], &to, &e), 0);
		s[i].loop = loop;
		assert_int_equal(loop_add_fd(loop, check_uninit_fd(s[i].u), EPOLLIN, on_ready,
					     &s[i], &s[i].source),
				 0);
	}
	while (!s[0].ended || !s[1].ended)
		assert_true(loop_step(loop, 60000000000) > 0);
	for (int i = 0; i < 2; i++) {
		check_uninit_finish(s[i].u, &end);
		check_uninit_close(s[i].u);
		assert_int_equal(end.code, 3 + i);
		assert_false(end.found || end.failed || end.unseen);
	}
	loop_free(loop);
	assert_string_equal(c.texts, "pmm: Valgrind found no errors in 1 process\n\n"
				     "pmm: Valgrind found no errors in 1 process\n\n");
	assert_string_equal(c.errors, "");
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, aside_begin, aside_end)
	const struct CMUnitTest tests[] = {
		TEST(notes_have_kinds),
		TEST(texts_are_warned_of),
		TEST(nobody_must_listen),
		TEST(checks_do_not_share),
		TEST(millions_of_children_are_not_remembered),
		TEST(a_sink_may_refuse),
		TEST(verdicts_do_not_share),
		TEST(summaries_do_not_share),
		TEST(untracked_processes_are_refused),
		TEST(programs_are_refused),
		TEST(several_runs_need_input_again),
		TEST(checks_are_stepped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
