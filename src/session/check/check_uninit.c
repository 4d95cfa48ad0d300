/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program under Valgrind: each process writes XML into a file of its own, which is read as it
 * grows.
 */
#include "src/session/check/check_uninit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/fmt.h"
#include "src/base/loop.h"
#include "src/base/nanotime.h"
#include "src/base/str.h"
#include "src/base/tmpdir.h"
#include "src/base/vec.h"
#include "src/track/child.h"
#include "src/store/valgrind.h"
#include "src/proc/elf_check.h"
#include "src/proc/task.h"

#define LOOK_NS		100000000u
#define MAX_PROCESSES	4096
#define MAX_GENERATIONS	1000

/* What one process writes. */
struct writer {
	char *name;
	int fd;
	struct valgrind *text;
	uint64_t nr_told;
	bool broken;
};

struct check_uninit {
	const struct check_uninit_options *job;
	const struct session_sink *to;
	struct child child;
	struct loop *loop;
	struct loop_source *next_look;
	pid_t pid;			/* of the program, also when it has ended */
	char *dir;
	VEC(struct writer) writers;
	uint64_t start_ns, start_realtime_ns, nr_found;
	bool unread, unreported;		/* something could not be, which was said */
};

/* ---- telling ---- */

/* Names as Valgrind has them. */
static unsigned resolve(void *text, const struct heap *h, uint32_t node, struct frame_name *out,
			unsigned max)
{
	const struct valgrind_frame *f = NULL;
	unsigned nr = valgrind_frames(text, node, &f), i;

	(void)h;
	for (i = 0; i < nr && i < max; i++)
		out[i] = (struct frame_name){ .function = f[i].function,
					      .linkage = f[i].function,
					      .file = f[i].file,
					      .line = f[i].line,
					      .module = f[i].object };
	return i;
}

static void report_new(struct check_uninit *s, struct writer *w, bool whole)
{
	struct check_report_options o = *s->job->report;
	struct heap *h = valgrind_heap(w->text);
	struct err e = { .text = "" };

	h->start_realtime_ns = s->start_realtime_ns;
	o.resolve = resolve;
	o.resolve_ctx = w->text;
	o.view.from = whole ? 0 : w->nr_told;
	o.view.no_head = !whole;
	o.view.top = whole ? o.view.top : 0;
	o.follows = !whole && s->nr_found;
	if (check_report(h, &o, s->to, &e) < 0 && !s->unreported) {
		s->unreported = true;
		session_error(s->to, &e);
	}
}

/* Errors that are new; with JSON there is one document for each process at the end. */
static void tell_new(struct check_uninit *s, struct writer *w)
{
	uint64_t nr = valgrind_heap(w->text)->nr_findings;

	if (nr == w->nr_told)
		return;
	if (!s->job->report->whole)
		report_new(s, w, false);
	s->nr_found += nr - w->nr_told;
	w->nr_told = nr;
}

/* ---- reading ---- */

static void read_more(struct check_uninit *s, struct writer *w)
{
	struct err e = { .text = "" };
	char buffer[4096];
	ssize_t n = 0;

	while (!w->broken && (n = read(w->fd, buffer, sizeof(buffer))) > 0)
		w->broken = valgrind_feed(w->text, buffer, (size_t)n,
					  nanotime() - s->start_ns, &e) != 0;
	if (w->broken && e.text[0]) {
		s->unread = true;
		session_error(s->to, &e);
	}
	tell_new(s, w);
}

/* The program may have put anything there; to open a FIFO, or read it, could take for ever. */
static void add_writer(struct check_uninit *s, int dir, const char *name)
{
	struct writer w = { .name = strdup(name),
			    .fd = openat(dir, name,
					 O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC),
			    .text = valgrind_new() };
	struct stat st;

	if (w.name && w.fd >= 0 && !fstat(w.fd, &st) && S_ISREG(st.st_mode) && w.text &&
	    !vec_push(&s->writers, w))
		return;
	if (w.fd >= 0)
		close(w.fd);
	valgrind_free(w.text);
	free(w.name);
}

/* Processes that began to write since the last look. */
static void find_writers(struct check_uninit *s)
{
	DIR *dir = opendir(s->dir);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		bool known = entry->d_name[0] == '.' || s->writers.nr >= MAX_PROCESSES;

		vec_each(&s->writers, w)
			known |= !strcmp(w->name, entry->d_name);
		if (!known)
			add_writer(s, dirfd(dir), entry->d_name);
	}
	if (dir)
		closedir(dir);
}

static void read_all(struct check_uninit *s)
{
	find_writers(s);
	vec_each(&s->writers, w)
		read_more(s, w);
}

/* ---- running ---- */

/* Where a program is, as the shell would find it. false: nowhere. */
static bool find_program(const char *name, char path[PATH_MAX])
{
	const char *all = getenv("PATH");
	size_t n;

	for (; all && *all; all += n + (all[n] == ':')) {
		n = strcspn(all, ":");
		if (n &&
		    (size_t)snprintf(path, PATH_MAX, "%.*s/%s", (int)n, all, name) < PATH_MAX &&
		    !access(path, X_OK))
			return true;
	}
	return false;
}

/*
 * Can the program be run? Valgrind does without much that preloading needs. 0 or -errno with `e`.
 */
static int find_command(const char *name, struct err *e)
{
	struct elf_check *program = malloc(sizeof(*program));
	enum elf_check_kind kind = program ? elf_check(name, program, e) : ELF_CHECK_UNREADABLE;
	int rc = program ? elf_check_leak_sanitizer(program, e)
			 : err_set(e, -ENOMEM, "out of memory");

	free(program);
	if (rc)
		return rc;
	switch (kind) {
	case ELF_CHECK_OK:
	case ELF_CHECK_STATIC:
	case ELF_CHECK_STATIC_PIE:
	case ELF_CHECK_WRONG_ARCH:
	case ELF_CHECK_SETUID:
	case ELF_CHECK_CAPABILITIES:
		return 0;
	default:
		return -ENOEXEC;
	}
}

static int launch(struct check_uninit *s, char **argv, struct err *e)
{
	char path[PATH_MAX], *xml = NULL;
	VEC(char *) all = { 0 };
	char *options[] = {
		(char *)"valgrind",
		(char *)"--command-line-only=yes",
		(char *)"--tool=memcheck",
		(char *)"--xml=yes",
		NULL /* the file */,
		(char *)"-q",
		(char *)"--leak-check=no",
		(char *)"--track-origins=yes",
		(char *)"--error-limit=no",
		(char *)"--child-silent-after-fork=yes",
		(char *)(s->job->no_follow ? "--trace-children=no" : "--trace-children=yes"),
		(char *)"--",
	};
	int rc = 0;

	if (!find_program("valgrind", path)) {
		err_set(e, -ENOENT, "Valgrind, which '--uninit' needs, is not installed");
		err_hint(e, "apt-get install valgrind; all other levels work without it");
		return -ENOENT;
	}
	if (asprintf(&xml, "--xml-file=%s/%%p", s->dir) < 0)
		return err_set(e, -ENOMEM, "out of memory");
	for (size_t i = 0; !rc && i < sizeof(options) / sizeof(*options); i++)
		rc = vec_push(&all, options[i] ? options[i] : xml);
	for (char **a = argv; !rc && *a; a++)
		rc = vec_push(&all, *a);
	if (rc || vec_push(&all, NULL))
		rc = err_set(e, -ENOMEM, "out of memory");
	else
		rc = child_start(&s->child, path, all.v, environ, e);
	vec_fini(&all);
	free(xml);
	return rc;
}

/*
 * Was it sent by the program, or by a process that comes from it? What goes to a process group
 * reaches pmm, too, and is not to be doubled.
 */
static bool from_inside(void *arg, pid_t pid)
{
	struct check_uninit *s = arg;
	uint64_t parent;

	find_writers(s);
	vec_each(&s->writers, w)
		if (atoi(w->name) == pid)
			return true;
	for (unsigned i = 0; i < MAX_GENERATIONS && pid > 1 && pid != getpid(); i++) {
		if (pid == s->pid)
			return true;
		if (task_status(pid, pid, "PPid", 10, &parent))
			return false;
		pid = (pid_t)parent;
	}
	return false;
}

static void read_news(struct check_uninit *s)
{
	child_signals(&s->child, from_inside, s);
	read_all(s);
	loop_set_timer(s->loop, s->next_look, nanotime() + LOOK_NS);
}

static void on_signals(void *arg, uint32_t events)
{
	(void)events;
	read_news(arg);
}

static void on_timer(void *arg, uint64_t now_ns)
{
	(void)now_ns;
	read_news(arg);
}

/* Of a caller whose signals are its own affair the program's end is seen at the next look. */
static int make_loop(struct check_uninit *s, struct err *e)
{
	int rc = loop_new(&s->loop);

	if (!rc)
		rc = loop_add_timer(s->loop, nanotime(), on_timer, s, &s->next_look);
	if (!rc && s->child.signal_fd >= 0)
		rc = loop_add_fd(s->loop, s->child.signal_fd, EPOLLIN, on_signals, s, NULL);
	return rc ? err_set(e, rc, "cannot wait for a program: %s", strerror(-rc)) : 0;
}

static void tell_sum(struct check_uninit *s)
{
	struct fmt processes = fmt_many(s->writers.nr, "process");
	struct str text = STR_INIT;

	if (s->nr_found)
		str_addf(&text, "\npmm: Valgrind found %s in %s\n",
			 fmt_many(s->nr_found, "error").s, processes.s);
	else
		str_addf(&text, "pmm: Valgrind found no errors in %s\n", processes.s);
	/* the errors themselves have been handed over */
	(void)session_text(s->to, str_text(&text), text.len);
	str_fini(&text);
}

/* How a process ended; of those that the program started only whether. */
static void set_end(const struct check_uninit *s, struct writer *w)
{
	struct heap *h = valgrind_heap(w->text);
	int status = s->child.status;

	if ((pid_t)h->pid == s->pid) {
		h->end = WIFSIGNALED(status) ? HEAP_KILLED : HEAP_EXITED;
		h->end_status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
	} else if (valgrind_ended(w->text)) {
		h->end = HEAP_GONE;
		h->end_status = -1;
	}
}

int check_uninit_fd(const struct check_uninit *s)
{
	return loop_fd(s->loop);
}

bool check_uninit_step(struct check_uninit *s, int64_t wait_ns)
{
	loop_step(s->loop, wait_ns);
	return !s->child.ended;
}

void check_uninit_finish(struct check_uninit *s, struct session_end *end)
{
	read_all(s);
	vec_each(&s->writers, w) {
		set_end(s, w);
		if (s->job->report->whole)
			report_new(s, w, true);
	}
	if (!s->job->report->whole)
		tell_sum(s);
	*end = (struct session_end){
		.code = child_exit_code(s->child.status),
		.found = s->nr_found > 0,
		.failed = s->unreported,
		.unseen = s->unread || !s->writers.nr,
	};
}

void check_uninit_close(struct check_uninit *s)
{
	if (!s)
		return;
	vec_each(&s->writers, w) {
		close(w->fd);
		valgrind_free(w->text);
		free(w->name);
	}
	vec_fini(&s->writers);
	tmpdir_remove(s->dir);
	loop_free(s->loop);
	free(s);
}

int check_uninit_open(struct check_uninit **out, const struct check_uninit_options *o, char **argv,
		      const struct session_sink *to, struct err *e)
{
	struct check_uninit *s = calloc(1, sizeof(*s));
	int rc = s ? find_command(argv[0], e) : err_set(e, -ENOMEM, "out of memory");

	*out = NULL;
	if (!s)
		return rc;
	s->job = o;
	s->to = to;
	s->start_ns = nanotime();
	s->start_realtime_ns = nanotime_of(CLOCK_REALTIME);
	if (!rc)
		rc = tmpdir_make("uninit", &s->dir, e);
	if (!rc)
		rc = child_prepare(&s->child, o->signals, true, e);
	if (!rc)
		rc = make_loop(s, e);
	if (!rc)
		rc = launch(s, argv, e);
	if (rc) {
		check_uninit_close(s);
		return rc;
	}
	s->pid = s->child.pid;
	*out = s;
	return 0;
}
