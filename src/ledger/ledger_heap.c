/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ledger read into a heap; doc/ledger.md says how it can be read while the process continues.
 *
 * The reading is bracketed by two counts of events: what was recorded in between is the drift.
 */
#include "src/ledger/ledger_heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "src/base/fmt.h"
#include "src/ledger/ledger_reader.h"
#include "src/ledger/usage_point.h"
#include "src/model/heap_lifetimes.h"
#include "src/proc/limits.h"
#include "src/proc/proc.h"

_Static_assert(HEAP_NR_CLASSES == PMM_NR_CLASSES && HEAP_NR_KINDS == PMM_NR_KINDS &&
		       HEAP_NR_LIFETIMES == PMM_NR_LIFETIMES && HEAP_NR_DROPS == PMM_NR_DROPS &&
		       HEAP_BUILD_ID_MAX == PMM_BUILD_ID_MAX &&
		       HEAP_MAX_SRCLOCS == PMM_MAX_SRCLOCS &&
		       HEAP_SRCLOC_PC == PMM_FRAME_SRCLOC(0) &&
		       HEAP_FRAME_MARK_MAX == PMM_FRAME_MARK_MAX,
	       "the heap describes what the ledger holds");

/* ---- head ------------------------------------------------------------------------------------ */

/* Replace a string of the heap. */
static int set_string(char **to, char *s)
{
	if (!s)
		return -ENOMEM;
	free(*to);
	*to = s;
	return 0;
}

static char *host_name(void)
{
	struct utsname u;
	char name[sizeof(u.nodename) + 1] = "";

	if (!uname(&u))
		ledger_reader_name(name, u.nodename, sizeof(u.nodename));
	return strdup(name);
}

static int read_names(struct ledger_reader *r)
{
	const struct pmm_ledger *l = r->l;
	char comm[sizeof(l->comm) + 1];
	struct heap *h = r->h;

	ledger_reader_name(comm, l->comm, sizeof(l->comm));
	if (set_string(&h->comm, strdup(comm)) ||
	    set_string(&h->exe, ledger_reader_string(r, l->exe, l->exe_len)) ||
	    set_string(&h->cmdline, ledger_reader_cmdline(r, l->cmdline, l->cmdline_len)) ||
	    set_string(&h->allocator.path,
		       ledger_reader_string(r, l->allocator, l->allocator_len)) ||
	    set_string(&h->host, host_name()))
		return -ENOMEM;
	if (l->own_function &&
	    (set_string(&h->own_function,
			ledger_reader_string(r, l->own_function, l->own_function_len)) ||
	     set_string(&h->own_caller, ledger_reader_string(r, l->own_caller, l->own_caller_len))))
		return -ENOMEM;
	return 0;
}

static void read_head(struct ledger_reader *r)
{
	const struct pmm_tree *t = &r->m->tree;
	const struct pmm_ledger *l = r->l;
	struct heap *h = r->h;

	h->pid = r->o->pid ? (uint32_t)r->o->pid : l->pid;
	h->ppid = l->ppid;
	h->start_realtime_ns = t->start_realtime_ns;
	h->image = l->image;
	h->attach_ns = l->start_tick * PMM_TICK_NS;
	h->began = l->attached == 1 ? HEAP_BEGAN_ATTACH
		   : l->forked == 1 ? HEAP_BEGAN_FORK
				    : HEAP_BEGAN_EXEC;
	h->mode = t->mode == PMM_MODE_SAMPLED ? HEAP_SAMPLED : HEAP_EXACT;
	h->sample_bytes = t->sample_bytes;
	h->min_size_bytes = t->min_size_bytes;
	h->warn_size_bytes = t->warn_size_bytes;
	h->tick_ns = PMM_TICK_NS;
	h->ledger_bytes = ledger_map_backing(r->m);
	h->ledger_limit_bytes = t->limit_bytes;
	if (ledger_map_slot(r->m).limit_raised == PMM_LIMIT_TAKEN)
		h->space_taken_bytes = t->slots_off + t->slot_bytes;
	for (unsigned i = 0; i < PMM_NR_DROPS; i++)
		h->dropped[i] = l->dropped[i];
	h->dropped_bytes = l->dropped_bytes;
	h->own_late = l->own_late < PMM_NR_OWN_LATE ? l->own_late : PMM_OWN_LATE;
	h->own_calls = !l->own_function || l->own_looks ? 0 : h->own_late ? 2 : 1;
	h->off_reason = l->off_reason < PMM_NR_OFF_REASONS ? (int)l->off_reason : PMM_OFF_INTERNAL;
}

static void read_end(struct ledger_reader *r)
{
	struct heap *h = r->h;

	h->end_status = -1;
	h->end = HEAP_RUNNING;
	if (ledger_map_slot(r->m).state == PMM_SLOT_REPLACED)
		h->end = HEAP_REPLACED;
	else if (r->l->state == PMM_STATE_EXITED)
		h->end = HEAP_EXITED;
	if (r->o->frozen)
		h->taken_ns = r->o->frozen->tick * PMM_TICK_NS;
	else if (!r->o->running && r->l->end_tick)
		h->taken_ns = r->l->end_tick * PMM_TICK_NS;
	else
		h->taken_ns = ledger_map_tick(r->m) * PMM_TICK_NS;
}

static void read_allocator(struct ledger_reader *r)
{
	const struct pmm_allocator_view *v = &r->l->allocator_view;
	struct heap_allocator *a = &r->h->allocator;

	a->valid = v->valid == PMM_VIEW_TAKEN;
	if (!a->valid) {
		a->why = !heap_allocator_is_glibc(r->h)	 ? HEAP_FIGURES_OTHER
			 : v->valid == PMM_VIEW_LONG	 ? HEAP_FIGURES_LONG
			 : v->valid == PMM_VIEW_LOCKED	 ? HEAP_FIGURES_LOCKED
							 : HEAP_FIGURES_KNOWN;
		return;
	}
	a->taken_ns = v->tick * PMM_TICK_NS;
	a->arena_bytes = v->arena_bytes;
	a->used_bytes = v->used_bytes;
	a->free_bytes = v->free_bytes;
	a->free_chunks = v->free_chunks;
	a->fast_chunks = v->fast_chunks;
	a->fast_bytes = v->fast_bytes;
	a->mmapped_chunks = v->mmapped_chunks;
	a->mmapped_bytes = v->mmapped_bytes;
	a->top_bytes = v->top_bytes;
}

static uint64_t above(uint64_t address, uint64_t start)
{
	return address > start ? address - start : 0;
}

static void read_mapping(struct ledger_reader *r)
{
	const struct pmm_mapping_totals *t = &r->l->mapping;

	r->h->mapping = (struct heap_mapping){
		.mmap_calls = t->mmap_calls,
		.mmap_bytes = t->mmap_bytes,
		.mmap_failed = t->mmap_failed,
		.munmap_calls = t->munmap_calls,
		.munmap_bytes = t->munmap_bytes,
		.mremap_calls = t->mremap_calls,
		.mremap_grown_bytes = t->mremap_grown_bytes,
		.mremap_shrunk_bytes = t->mremap_shrunk_bytes,
		.brk_calls = t->brk_calls,
		.brk_growth_bytes = above(t->brk_now, t->brk_start),
		.brk_peak_bytes = above(t->brk_max, t->brk_start),
	};
}

static void add_class(struct heap_class *to, const struct pmm_class *from)
{
	for (unsigned kind = 0; kind < PMM_NR_KINDS; kind++)
		to->calls[kind] += from->calls[kind];
	to->frees += from->frees;
	to->bytes_in += from->bytes_in;
	to->bytes_out += from->bytes_out;
	to->failed += from->failed;
}

static void read_contexts(struct ledger_reader *r)
{
	struct heap *h = r->h;

	for (uint32_t i = 0; i < r->l->nr_ctx; i++) {
		struct pmm_ctx ctx;

		if (ledger_reader_ctx(r, i, &ctx))
			continue;
		h->untracked_frees += ctx.untracked_frees;
		h->skipped_allocs += ctx.skipped_allocs;
		h->skipped_bytes += ctx.skipped_bytes;
		h->check.canaried += ctx.canaried;
		h->check.unguarded_budget += ctx.unguarded_budget;
		for (unsigned k = 0; k < PMM_NR_CLASSES; k++) {
			add_class(&h->class[k], &ctx.class[k]);
			h->missed_frees += ctx.class[k].displaced;
		}
	}
}

/* ---- series ---------------------------------------------------------------------------------- */

static int copy_points(struct ledger_reader *r)
{
	const struct ledger_options *o = r->o;
	struct heap *h = r->h;

	if (o->nr_points) {
		h->points = malloc(o->nr_points * sizeof(*h->points));
		if (!h->points)
			return -ENOMEM;
		memcpy(h->points, o->points, o->nr_points * sizeof(*h->points));
		h->nr_points = o->nr_points;
	}
	if (!o->nr_site_points)
		return 0;
	h->site_points = calloc(o->nr_site_points, sizeof(*h->site_points));
	if (!h->site_points)
		return -ENOMEM;
	for (uint32_t i = 0; i < o->nr_site_points; i++) {
		struct heap_site_point p = o->site_points[i];
		uint32_t index =
			p.site < r->nr_site_index ? r->site_index[p.site] : LEDGER_SITE_MAPPING;

		if (index & LEDGER_SITE_MAPPING)
			continue;	/* not a heap site after all */
		p.site = index;
		h->site_points[h->nr_site_points++] = p;
	}
	return 0;
}

/*
 * The ledger's time of the peak is that of the first release after it; a point with as much live
 * was at it before that.
 */
static void date_peak(struct heap *h)
{
	for (uint32_t i = 0; i < h->nr_points; i++)
		if (h->points[i].live_bytes == h->peak_bytes && h->points[i].time_ns < h->peak_ns)
			h->peak_ns = h->points[i].time_ns;
}

/* Of a process that was not followed in time: how it is now. */
static int point_now(struct ledger_reader *r)
{
	struct heap *h = r->h;
	struct heap_point p = { .time_ns = h->taken_ns,
				.live_bytes = h->live_bytes,
				.live_blocks = h->live_blocks,
				.allocs = h->allocs };
	int fd = -1;

	if (!r->o->running || h->nr_points || r->o->pid <= 0 ||
	    proc_rss(r->o->pid, &fd, &p.rss_bytes))
		return 0;
	close(fd);
	h->points = malloc(sizeof(p));
	if (!h->points)
		return -ENOMEM;
	h->points[h->nr_points++] = p;
	return 0;
}

static int usage_of(struct ledger_reader *r)
{
	return r->o->usage && r->o->pid > 0 ? usage_now(r->o->pid, r->h) : 0;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int read_parts(struct ledger_reader *r)
{
	uint64_t before, after, drift;
	int rc = ledger_reader_refresh(r);

	if (rc)
		return rc;
	before = ledger_reader_events(r);
	rc = ledger_read_findings(r);
	if (!rc && !r->o->no_blocks)
		rc = ledger_read_blocks(r);
	if (!rc && !r->o->no_blocks)
		rc = ledger_read_guards(r);
	drift = r->drift;
	if (rc || (rc = ledger_reader_refresh(r)) || (rc = ledger_read_sites(r)))
		return rc;
	read_contexts(r);
	rc = ledger_reader_refresh(r);
	if (rc || (rc = ledger_read_nodes(r)) || (rc = ledger_reader_refresh(r)) ||
	    (rc = ledger_read_srclocs(r)) || (rc = ledger_read_modules(r)) ||
	    (rc = ledger_read_threads(r)) || (rc = read_names(r)) || (rc = copy_points(r)))
		return rc;
	date_peak(r->h);
	read_head(r);
	read_allocator(r);
	read_mapping(r);
	after = ledger_reader_events(r);
	read_end(r);
	if (!r->o->frozen)
		drift = r->drift;
	r->h->drift_blocks = drift + r->damaged;
	if (r->o->running && !r->o->frozen && after > before)
		r->h->drift_blocks += after - before;
	rc = point_now(r);
	return rc ? rc : usage_of(r);
}

static void too_large(const struct ledger_reader *r, struct err *e)
{
	pid_t pid = r->o->pid ? r->o->pid : r->m->pid;

	err_set(e, -EFBIG,
		"the ledger of process %d asks for more than %s of memory, and the limit is %s",
		(int)(pid ? pid : (pid_t)r->l->pid), fmt_bytes(r->max_bytes).s,
		fmt_bytes(r->max_bytes).s);
	err_hint(e, "it may have been written over; if the memory is there, raise the limit with "
		    "--memory-limit SIZE");
}

/* For a header, of which mostly a tenth is copied: the rest is no memory. NULL: there is none. */
static struct pmm_ledger *header_new(void)
{
	void *l = mmap(NULL, sizeof(struct pmm_ledger), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return l != MAP_FAILED ? l : NULL;
}

static void header_free(struct pmm_ledger *l)
{
	if (l)
		munmap(l, sizeof(*l));
}

int ledger_read(struct ledger_map *m, const struct ledger_options *o, struct heap **out,
		struct err *e)
{
	struct ledger_reader r = { .m = m,
				   .o = o,
				   .max_bytes = m->max_bytes ? m->max_bytes : limits_share("") };
	int rc = -ENOMEM;

	r.h = heap_new();
	r.l = header_new();
	if (r.h && r.l)
		rc = read_parts(&r);
	if (rc == -ENOMEM)
		err_set(e, rc, "not enough memory to read the ledger");
	else if (rc == -EFBIG)
		too_large(&r, e);
	else if (rc)
		err_set(e, rc, "the ledger cannot be read");
	if (o->damaged)
		*o->damaged = r.damaged;
	free(r.site_index);
	free(r.stamps);
	header_free(r.l);
	if (rc)
		heap_free(r.h);
	else
		*out = r.h;
	return rc;
}

int ledger_read_names(struct ledger_map *m, struct heap *h)
{
	const struct ledger_options o = { .running = true };
	struct ledger_reader r = { .m = m, .o = &o, .h = h, .l = header_new() };
	int rc = r.l ? ledger_reader_refresh(&r) : -ENOMEM;

	if (!rc)
		rc = read_names(&r);
	header_free(r.l);
	return rc;
}
