/* Processes searched for leaks at their end. */
#include "src/cmd/run_leaks.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/str.h"
#include "src/capture/scene.h"
#include "src/cmd/cmd.h"
#include "src/cmd/leaks_live.h"
#include "src/cmd/leaks_report.h"

#define MOST_KEPT 5

int run_leaks_init(struct run_leaks *r, const struct opt_list *files, bool no_default, struct err *e)
{
	const struct leaks_job job = { .search = leaks_search_default, .report = leaks_report_default };
	int rc = run_leaks_init_for(r, &job, NULL, e);

	if (!rc)
		rc = leaks_read_suppressions(files, no_default, &r->suppress, e);
	if (!rc)
		r->report->suppress = r->suppress;
	return rc;
}

int run_leaks_init_for(struct run_leaks *r, const struct leaks_job *job, FILE *out, struct err *e)
{
	*r = (struct run_leaks){ .search = job->search, .report = malloc(sizeof(*r->report)), .out = out };
	if (!r->report)
		return err_set(e, -ENOMEM, "out of memory");
	*r->report = job->report;
	return 0;
}

static void note(struct run_leaks *r, pid_t pid, const struct leaving *l, const struct err *e)
{
	struct str s = STR_INIT;
	char *text;

	str_addf(&s, "process %d was not searched for leaks at its end (%s): %s", (int)pid, leaving_cause_name(l->cause), e->text);
	text = str_error(&s) || r->notes.nr >= MOST_KEPT ? NULL : strdup(str_text(&s));
	if (!text || vec_push(&r->notes, text)) {
		free(text);
		r->nr_untold++;
	}
	str_fini(&s);
}

/* Killed meanwhile, or another of its threads called exec. */
static bool is_gone(int rc)
{
	return rc == -ESRCH || rc == -ENOENT;
}

static int search(struct run_leaks *r, pid_t pid, const struct leaving *l, struct err *e)
{
	const struct scene_options where = { .no_copy = true, .leave_sp = l->sp, .leave_tid = l->tid };
	struct leaks_search_options o = r->search;
	struct scene s = { 0 };
	struct leaks_found found;
	int rc = scene_live(pid, &where, &s, e);

	if (!rc && s.heap->image != l->image) {
		scene_free(&s);
		rc = err_set(e, -ESRCH, "process %d runs another program now", (int)pid);
	}
	if (rc)
		return rc;
	o.how = HEAP_SEARCH_EXIT;
	o.left = l->let_go;
	o.left_arg = l->let_go_arg;
	rc = leaks_search(&s, &o, &found, e);
	if (!rc && vec_push(&r->searched, found.heap))
		rc = err_set(e, -ENOMEM, "out of memory");
	if (!rc)
		found.heap = NULL;
	leaks_found_fini(&found);
	return rc;
}

void run_leaks_search(struct run_leaks *r, pid_t pid, const struct leaving *l)
{
	struct err e = { .text = "" };
	int rc = search(r, pid, l, &e);

	if (is_gone(rc))
		r->gone = pid;
	else if (rc)
		note(r, pid, l, &e);
}

void run_leaks_ended(struct run_leaks *r, struct heap *h)
{
	for (size_t i = 0; i < r->searched.nr; i++) {
		struct heap *found = r->searched.v[i];

		if (!heap_same_image(found, h))
			continue;
		if (leaks_carry(found, h))
			r->nr_untold++;
		heap_free(found);
		r->searched.v[i] = r->searched.v[--r->searched.nr];
		return;
	}
}

static bool lost_any(const struct heap *h)
{
	for (uint64_t i = 0; i < h->nr_leaks; i++)
		if (h->leaks[i].class != REACH_REACHED)
			return true;
	return false;
}

bool run_leaks_keep(struct run_leaks *r, struct heap *h)
{
	if (!lost_any(h))
		return false;
	if (r->lost.nr < MOST_KEPT && !vec_push(&r->lost, h))
		return true;
	r->nr_untold++;
	return false;
}

static void unsearched(const struct heap *root, const char *why, const char *hint)
{
	cmd_note("process %u was not searched for leaks: %s", root->pid, why);
	if (hint)
		cmd_note("hint: %s", hint);
}

/* Its end was none that the agent in it could see. */
static void tell_unseen(const struct heap *root, const char *comm)
{
	struct str s = STR_INIT;

	if (*comm && strcmp(comm, root->comm)) {
		str_addf(&s, "at its end it was '%s', which pmm's agent is not in (static, set-user-ID, or started without LD_PRELOAD)", comm);
		unsearched(root, str_text(&s), "'pmm attach PID' and then 'pmm leaks PID' search such a program while it runs");
	} else if (root->end == HEAP_KILLED) {
		str_addf(&s, "signal %d left no room for a handler (a stack that has run over), or system calls are restricted (seccomp)",
			 root->end_status);
		unsearched(root, str_text(&s), NULL);
	} else {
		unsearched(root, "it ended by a system call past the C library, which pmm's agent does not see",
			   "'pmm leaks PID' searches it while it runs");
	}
	str_fini(&s);
}

/* The program had blocks but was not searched, and nobody said why so far. */
static void tell_unsearched(const struct run_leaks *r, const struct heap *root, const char *comm)
{
	if (r->notes.nr || root->end == HEAP_REPLACED)
		return;
	if (root->end == HEAP_KILLED && root->end_status == SIGKILL)
		cmd_note("nobody could search process %u for leaks at its end: SIGKILL leaves no time for that", root->pid);
	else if (r->gone == (pid_t)root->pid)
		unsearched(root, "another of its threads ended it before that", NULL);
	else
		tell_unseen(root, comm);
}

/* Where nothing is certain or likely there is nothing to tell. */
static void only_losses(void *arg, struct leaks *l)
{
	(void)arg;
	vec_each(&l->entries, e)
		if (e->verdict <= LEAK_LIKELY)
			return;
	l->entries.nr = 0;
}

int run_leaks_tell(struct run_leaks *r, const struct heap *root, const char *comm, bool brief, struct err *e)
{
	struct leaks_report_options options = *r->report;
	FILE *out = r->out ? r->out : stderr;
	int rc = 0, found = 0;

	vec_each(&r->notes, text)
		cmd_note("%s", *text);
	options.quiet_if_none = brief;
	options.choose = brief ? only_losses : NULL;
	if (root && root->search.how != HEAP_SEARCH_NONE)
		rc = found = leaks_report(root, NULL, &options, out, e);
	else if (root)
		tell_unsearched(r, root, comm);
	options.quiet_if_none = true;
	options.choose = only_losses;
	for (size_t i = 0; rc >= 0 && i < r->lost.nr; i++) {
		if (options.format != LEAKS_TEXT && options.format != LEAKS_JSON) {
			r->nr_untold++;		/* one document a file */
			continue;
		}
		rc = leaks_report(r->lost.v[i], NULL, &options, out, e);
		found |= rc > 0;
	}
	if (r->nr_untold)
		cmd_note("nothing is told here of %u more processes; 'pmm leaks FILE' tells what their captures have", r->nr_untold);
	return rc < 0 ? rc : found;
}

void run_leaks_fini(struct run_leaks *r)
{
	vec_each(&r->searched, h)
		heap_free(*h);
	vec_each(&r->lost, h)
		heap_free(*h);
	vec_each(&r->notes, text)
		free(*text);
	suppress_free(r->suppress);
	free(r->report);
	vec_fini(&r->searched);
	vec_fini(&r->lost);
	vec_fini(&r->notes);
}
