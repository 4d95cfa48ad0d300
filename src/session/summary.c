/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The summary of `pmm run`, as notes. */
#include "src/session/summary.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "include/pmm/ledger.h"
#include "src/analyze/lines.h"
#include "src/base/fmt.h"
#include "src/base/str.h"
#include "src/base/utf8.h"
#include "src/names/naming.h"
#include "src/session/kernel_notes.h"
#include "src/session/name_notes.h"
#include "src/session/untracked.h"
#include "src/view/coverage_view.h"
#include "src/view/heap_facts.h"
#include "src/view/lost.h"

#define TOP_LINES    3
#define MAX_CAPTURES 10 /* named */
#define MAX_COMMAND  60 /* characters shown */
#define MAX_FUNCTION 70
#define NAME_WIDTH   12	/* of a fact */
/* the peak of another process, of the program's, for that process to come first */
#define LEADS_TIMES 2

static void note_line(const struct session_sink *to, const struct frame_name *f, uint64_t bytes,
		      uint64_t all_bytes)
{
	struct str s = STR_INIT;

	str_addf(&s, "  %10s %6s  ", fmt_bytes(bytes).s, fmt_percent(bytes, all_bytes).s);
	if (!f)
		str_add(&s, "[stack unknown]");
	else if (f->function && strlen(f->function) > MAX_FUNCTION)
		str_addf(&s, "%.*s...", MAX_FUNCTION, f->function);
	else if (f->function)
		str_add(&s, f->function);
	else
		str_addf(&s, "%s+0x%llx", f->module ? str_basename(f->module) : "[unknown]",
			 (unsigned long long)f->offset);
	if (f && f->function && f->file)
		str_addf(&s, " (%s:%u)", str_basename(f->file), f->line);
	else if (f && f->function && f->module)
		str_addf(&s, " (%s)", str_basename(f->module));
	if (str_error(&s))
		session_warn(to, "out of memory: a line is missing here");
	else
		session_note(to, "%s", str_text(&s));
	str_fini(&s);
}

/*
 * Who holds the most, or held it at the peak. ELF symbols only: reading the DWARF of a large
 * program takes seconds.
 */
static void note_top(const struct session_sink *to, const struct heap *h)
{
	enum rank_key key = rank_default(h);
	struct naming naming;
	struct lines top;

	naming_open(&naming, h, &(struct naming_options){ 0 });
	if (!lines_rank(h, NULL, &naming.names, key, TOP_LINES, &top)) {
		if (top.nr)
			session_note(to, "live at the %s, by the function that allocated it:",
				     key == RANK_LIVE ? "end" : "peak");
		for (uint32_t i = 0; i < top.nr; i++)
			note_line(to, top.line[i].frame, top.line[i].weight.bytes, top.total.bytes);
		lines_fini(&top);
		name_notes(to, &naming, "");
	} else {
		session_warn(to, "the call sites are missing here: out of memory");
	}
	naming_close(&naming);
}

/* The same of what it mapped by mmap. */
static void note_top_mapped(const struct session_sink *to, const struct heap *h)
{
	struct ranking top = { 0 };
	struct naming naming;

	naming_open(&naming, h, &(struct naming_options){ 0 });
	if (!rank_map_sites(h, TOP_LINES, &top)) {
		session_note(to, "mapped at the end, by the function that mapped it:");
		for (uint32_t i = 0; i < top.nr; i++) {
			const struct heap_site *s = &h->map_sites[top.site[i]];

			if (s->live_bytes > 0)
				note_line(to, names_responsible(&naming.names, s->node, NULL),
					  (uint64_t)s->live_bytes, top.total.bytes);
		}
		name_notes(to, &naming, "");
	}
	ranking_fini(&top);
	naming_close(&naming);
}

/* "killed by signal 11 (SIGSEGV, core dumped)" */
static void add_signal(struct str *s, int status)
{
	const char *name = sigabbrev_np(WTERMSIG(status));
	bool core = WCOREDUMP(status);

	str_addf(s, "killed by signal %d", WTERMSIG(status));
	if (name || core)
		str_addf(s, " (%s%s%s%s)", name ? "SIG" : "", name ? name : "",
			 name && core ? ", " : "", core ? "core dumped" : "");
}

static void note_ending(const struct session_sink *to, const struct summary *s)
{
	struct str command = STR_INIT, how = STR_INIT;
	const char *text;

	for (char *const *arg = s->argv; *arg; arg++)
		str_addf(&command, "%s%s", arg == s->argv ? "" : " ", *arg);
	text = str_error(&command) ? s->argv[0] : str_text(&command);
	for (char *c = command.s; c && *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	if (WIFSIGNALED(s->status))
		add_signal(&how, s->status);
	else
		str_addf(&how, "exited with status %d", WEXITSTATUS(s->status));
	session_note(to, "'%.*s%s' %s after %s", MAX_COMMAND, text,
		     strlen(text) > MAX_COMMAND ? "..." : "", str_text(&how),
		     fmt_duration(s->run_ns).s);
	str_fini(&command);
	str_fini(&how);
}

/* SIGKILL alone would be a riddle. */
static void note_oom(const struct session_sink *to, const struct summary *s)
{
	const char *whom = WIFSIGNALED(s->status) ? "it" : "what it started";
	char limit[160] = "";

	if (!s->nr_oom_kills)
		return;
	if (s->group_bytes != UINT64_MAX)
		snprintf(limit, sizeof(limit),
			 ": the control group allows %s for all that runs in it, pmm included",
			 fmt_bytes(s->group_bytes).s);
	session_warn(to, "memory ran out, and the kernel killed %s, probably %s%s%s",
		     fmt_many(s->nr_oom_kills, "process").s, whom,
		     s->nr_oom_kills > 1 ? " among them" : "", limit);
	session_hint(to, "give it more, or let pmm take less: 'pmm run --sample', 'pmm check "
			 "--level=sampled'");
}

/* A line each, in columns. Takes the facts over. */
static void note_facts(const struct session_sink *to, struct table *facts)
{
	if (!facts || table_error(facts)) {
		session_warn(to, "the figures are missing here: out of memory");
		table_free(facts);
		return;
	}
	for (size_t i = 0; i < facts->rows.nr; i++) {
		const struct cell *c = table_cells(facts, i);

		session_note(to, "%-*s %s", NAME_WIDTH, c[FACT_NAME].text, c[FACT_TEXT].text);
	}
	table_free(facts);
}

/* Why not all was recorded. */
static void note_off(const struct session_sink *to, const struct heap *h)
{
	struct str text = STR_INIT;

	lost_off_text(h, &text);
	session_warn_text(to, &text, "not all was recorded");
}

static void note_drop(const struct session_sink *to, const struct heap *h, unsigned drop)
{
	struct str text = STR_INIT;

	lost_drop_text(h, drop, &text);
	session_warn_text(to, &text, "events were not recorded");
}

static void note_stacks(const struct session_sink *to, const struct heap *h)
{
	struct str text = STR_INIT;

	lost_stacks_text(h, &text);
	session_warn_text(to, &text, "stacks are missing");
}

/* What the figures below leave out. Reported even with --quiet: nothing is lost silently. */
static void note_drops(const struct session_sink *to, const struct summary *s)
{
	const struct heap *h = s->heap;

	if (h->dropped[PMM_DROP_SITE_FULL])
		note_stacks(to, h);
	for (unsigned i = 0; i < PMM_NR_DROPS; i++)
		if (h->dropped[i] && i != PMM_DROP_SITE_FULL)
			note_drop(to, h, i);
	if (h->dropped[PMM_DROP_BLOCK_FULL] && h->off_reason != PMM_OFF_NO_GROWTH)
		session_hint(to, "raise --ledger-limit (it was %s)",
			     fmt_bytes(h->ledger_limit_bytes).s);
}

static void note_space(const struct session_sink *to, const struct heap *h)
{
	struct str text = STR_INIT;

	lost_space_text(&text, h->space_taken_bytes);
	session_warn_text(to, &text, "the program lacks address space");
	session_hint(to, "raise the hard limit or set only the soft one (ulimit -S -v), run pmm "
			 "with CAP_SYS_RESOURCE (as root, outside of containers that drop it), or "
			 "give the ledger less (--ledger-limit)");
}

static void note_own(const struct session_sink *to, const struct heap *h)
{
	struct str text = STR_INIT;

	lost_own_text(&text, h);
	session_warn_text(to, &text, "calls are missing");
	session_hint(to, "'pmm attach PID' records those of glibc, jemalloc, tcmalloc and "
			 "mimalloc as well");
}

/* What else is missing, likewise. */
static void note_losses(const struct session_sink *to, const struct summary *s)
{
	if (s->heap && !s->losses_reported)
		note_off(to, s->heap);
	if (s->heap && s->heap->space_taken_bytes)
		note_space(to, s->heap);
	if (s->heap && s->heap->own_calls)
		note_own(to, s->heap);
	if (s->heap)
		kernel_notes_losses(to, s->heap);
	if (s->heap && lost_any(s->heap) && s->shrunk)
		session_hint(to, "a resource limit keeps the ledger small: ulimit -v, ulimit -f");
	if (s->nr_lost)
		session_warn(to,
			     "%s could not be tracked: no memory or address space "
			     "for a ledger, or no descriptors to watch %s",
			     fmt_many(s->nr_lost, "process").s,
			     fmt_agree(s->nr_lost, "it", "them"));
}

/* What nothing is known of, and so nothing below is about. */
static void note_untracked(const struct session_sink *to, const struct summary *s)
{
	struct str text = STR_INIT;

	if (!s->untracked)
		return;
	coverage_untracked(&text, s->untracked);
	session_warn_text(to, &text, "programs were not tracked");
	if (!s->searched && untracked_can_be_attached(s->untracked))
		session_hint(to, "'pmm attach PID' watches such a program while it runs");
}

static void note_never_started(const struct session_sink *to, const struct summary *s)
{
	session_warn(to, "nothing was seen: the agent never started in this program");
	if (s->nr_lost)
		session_hint(to, "see ulimit -v (address space) and ulimit -n (descriptors)");
	else if (s->data_limit_bytes && s->data_limit_bytes < PMM_OWN_DATA_BYTES)
		session_hint(to,
			     "the limit on data (ulimit -d) of %s is too small for the agent, which "
			     "takes up to %s of it, and cannot be raised",
			     fmt_bytes(s->data_limit_bytes).s, fmt_bytes(PMM_OWN_DATA_BYTES).s);
	else if (WIFSIGNALED(s->status) || WEXITSTATUS(s->status) == 127)
		session_hint(to,
			     "it may have ended before; 'pmm doctor' says whether tracking works "
			     "here");
	else
		session_hint(to,
			     "does it clear LD_PRELOAD, or start another program through a static one? "
			     "'pmm doctor' says whether tracking works here");
}

const char *summary_root_capture(const struct summary *s)
{
	vec_each (&s->captures, c)
		if (c->is_root)
			return c->name;
	return NULL;
}

void summary_fini(struct summary *s)
{
	vec_each (&s->captures, c)
		free(c->name);
	vec_fini(&s->captures);
}

/* The program's first, then by peak. */
static int by_weight(const void *a, const void *b)
{
	const struct summary_capture *x = a, *y = b;

	if (x->is_root != y->is_root)
		return x->is_root ? -1 : 1;
	return x->peak_bytes != y->peak_bytes ? (x->peak_bytes > y->peak_bytes ? -1 : 1)
					      : x->pid - y->pid;
}

static void note_captures(const struct session_sink *to, struct summary *s)
{
	const struct summary_capture *c = s->captures.v, *to_show;
	struct str word = STR_INIT;

	if (!s->captures.nr)
		return;
	vec_sort(&s->captures, by_weight);
	to_show = s->largest && s->captures.nr > 1 && c->is_root ? c + 1 : c;
	if (s->captures.nr == 1)
		session_note(to, "capture      %s", c->name);
	else
		session_note(to, c->is_root ? "captures, the program's own and then by peak:"
					    : "captures, by peak:");
	for (size_t i = 0; s->captures.nr > 1 && i < s->captures.nr && i < MAX_CAPTURES; i++) {
		session_note(to, "  %10s  %s", fmt_bytes(c[i].peak_bytes).s, c[i].name);
	}
	if (s->captures.nr > MAX_CAPTURES)
		session_note(to, "  and %zu smaller ones", s->captures.nr - MAX_CAPTURES);
	utf8_add_quoted(&word, to_show->name);
	session_hint(to, "pmm report %s", str_error(&word) ? to_show->name : str_text(&word));
	str_fini(&word);
}

static void note_living(const struct session_sink *to, const struct summary *s)
{
	if (s->nr_living == 1)
		session_note(to,
			     "1 process is still running (pid %d); its capture is written when it "
			     "ends; "
			     "'pmm report %d' shows it now",
			     (int)s->living, (int)s->living);
	else if (s->nr_living)
		session_note(
			to,
			"%u processes are still running (pid %d and others); their captures are "
			"written when they end; 'pmm report %d' shows the first now",
			s->nr_living, (int)s->living, (int)s->living);
}

/* What one process held, and who holds it. */
static void note_heap(const struct session_sink *to, const struct heap *h)
{
	if (h->allocs || h->frees || h->failed || h->skipped_allocs || h->off_reason) {
		note_facts(to, heap_facts_summary(h));
		note_top(to, h);
		return;
	}
	if (h->mode == HEAP_SAMPLED)
		session_note(to, "no allocation of it was sampled (one per %s is, on average)",
			     fmt_bytes(h->sample_bytes).s);
	else
		session_note(to, "it never called malloc or a similar function");
	if (heap_mapped_bytes(h, NULL)) {
		note_facts(to, heap_facts_summary_mapped(h));
		note_top_mapped(to, h);
		if (h->mode != HEAP_SAMPLED)
			session_hint(to, "a program may bring an allocator under names of its own "
					 "(jemalloc in Rust programs): 'pmm attach PID' finds it");
	}
}

/* The program may only have started those that do the work. */
static void note_heaps(const struct session_sink *to, const struct summary *s)
{
	struct str comm = STR_INIT;

	if (!s->largest) {
		if (s->heap)
			note_heap(to, s->heap);
		return;
	}
	utf8_add_clean(&comm, s->largest->comm);
	session_note(to, "most memory  process %u (%s)%s%s", s->largest->pid,
		     str_error(&comm) ? "?" : str_text(&comm),
		     s->heap ? "; the program itself had a peak of " : "",
		     s->heap ? fmt_bytes(s->heap->peak_bytes).s : "");
	str_fini(&comm);
	note_heap(to, s->largest);
}

/*
 * Is the process with the highest peak worth more words than the program that was started? A little
 * more than that is not.
 */
static bool another_leads(const struct summary *s)
{
	const uint64_t peak = s->largest ? s->largest->peak_bytes : 0;

	return s->largest && (!s->heap || (peak && peak / LEADS_TIMES >= s->heap->peak_bytes));
}

void summary_note(struct summary *s, bool brief, const struct session_sink *to)
{
	if (!another_leads(s))
		s->largest = NULL;
	if (!brief)
		note_ending(to, s);
	note_oom(to, s);
	note_untracked(to, s);
	if (s->heap && !s->losses_reported)
		note_drops(to, s);
	if (!brief) {
		note_heaps(to, s);
		if (s->largest || s->heap)
			kernel_notes(to, s->largest ? s->largest : s->heap);
		if (s->nr_replaced)
			session_note(to,
				     "exec         %s a program took another's place; the "
				     "earlier "
				     "ones have no capture",
				     fmt_many(s->nr_replaced, "time").s);
		note_captures(to, s);
	}
	if (!s->heap)
		note_never_started(to, s);
	note_losses(to, s);
	if (!brief)
		note_living(to, s);
}
