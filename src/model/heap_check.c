/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heap's invariants: what heap.h says of every heap that a source has delivered.
 */
#include "src/model/heap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/base/utf8.h"

/* Where the first violation goes. */
struct complaint {
	char *why;
	size_t size;
};

static int violated(const struct complaint *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int violated(const struct complaint *c, const char *fmt, ...)
{
	va_list args;

	if (c->why && c->size) {
		va_start(args, fmt);
		vsnprintf(c->why, c->size, fmt, args);
		va_end(args);
	}
	return -EBADMSG;
}

static int check_text(const char *text, const char *what, const struct complaint *c)
{
	size_t n = text ? strlen(text) : 0, length;
	uint32_t character;

	if (!text)
		return violated(c, "%s is missing", what);
	for (; n; text += length, n -= length) {
		length = utf8_decode(text, n, &character);
		if (!length)
			return violated(c, "%s is not UTF-8", what);
	}
	return 0;
}

static int check_head(const struct heap *h, const struct complaint *c)
{
	if (check_text(h->comm, "the command's name", c) ||
	    check_text(h->exe, "the program's path", c) ||
	    check_text(h->cmdline, "the command line", c) ||
	    check_text(h->host, "the host's name", c) ||
	    check_text(h->allocator.path, "the allocator's path", c))
		return -EBADMSG;
	if ((unsigned)h->began > HEAP_BEGAN_ATTACH)
		return violated(c, "unknown kind of beginning %d", (int)h->began);
	if ((unsigned)h->end > HEAP_REPLACED)
		return violated(c, "unknown kind of end %d", (int)h->end);
	if ((unsigned)h->mode > HEAP_SAMPLED)
		return violated(c, "unknown mode %d", (int)h->mode);
	if (h->allocator.why >= HEAP_NR_FIGURES ||
	    (h->allocator.why && h->allocator.valid != (h->allocator.why <= HEAP_FIGURES_MANY)))
		return violated(c, "what is known of the allocator's figures contradicts itself");
	if (!h->nr_modules || !h->nr_nodes || !h->nr_sites || !h->nr_map_sites)
		return violated(c, "a table lacks its first entry");
	if (!h->modules || !h->nodes || !h->sites || !h->map_sites ||
	    (h->nr_blocks && !h->blocks) || (h->nr_maps && !h->maps) ||
	    (h->nr_threads && !h->threads) || (h->nr_points && !h->points) ||
	    (h->nr_site_points && !h->site_points) ||
	    (h->nr_usage_points && !h->usage_points) || (h->nr_marks && !h->marks) ||
	    (h->nr_leaks && !h->leaks) ||
	    (h->nr_findings && !h->findings) || (h->nr_kernel_kinds && !h->kernel_kinds) ||
	    (h->nr_kernel_rows && !h->kernel_rows) || (h->nr_kernel_bins && !h->kernel_bins))
		return violated(c, "a table is missing");
	return 0;
}

static int check_modules(const struct heap *h, const struct complaint *c)
{
	for (uint32_t i = 0; i < h->nr_modules; i++) {
		const struct heap_module *m = &h->modules[i];

		if (check_text(m->path, "a module's path", c))
			return -EBADMSG;
		if (m->build_id_len > HEAP_BUILD_ID_MAX)
			return violated(c, "module %" PRIu32 " has a build id of %u bytes", i,
					m->build_id_len);
		if (m->end < m->start)
			return violated(c, "module %" PRIu32 " ends before it starts", i);
	}
	return 0;
}

static int check_srclocs(const struct heap *h, const struct complaint *c)
{
	if (h->nr_srclocs && !h->srclocs)
		return violated(c, "a table is missing");
	for (uint32_t i = 0; i < h->nr_srclocs; i++)
		if (check_text(h->srclocs[i].file, "a source location's file", c) ||
		    check_text(h->srclocs[i].function, "a source location's function", c))
			return -EBADMSG;
	return 0;
}

static int check_nodes(const struct heap *h, const struct complaint *c)
{
	const uint32_t most = h->import.tool ? HEAP_MAX_IMPORT_SRCLOCS : HEAP_MAX_SRCLOCS;

	if (h->nodes[0].pc || h->nodes[0].parent || h->nodes[0].module)
		return violated(c, "node 0 is not the root");
	for (uint32_t i = 1; i < h->nr_nodes; i++) {
		const struct heap_node *n = &h->nodes[i];

		if (n->parent >= i)
			return violated(c, "node %" PRIu32 " comes before its parent %" PRIu32, i,
					n->parent);
		if (n->module >= h->nr_modules)
			return violated(c, "node %" PRIu32 " names module %" PRIu32, i, n->module);
		if (n->module && n->pc <= HEAP_FRAME_MARK_MAX)
			return violated(c, "node %" PRIu32 " is a mark inside a module", i);
		if (n->pc - HEAP_SRCLOC_PC < most &&
		    ((n->module && !h->import.tool) || !heap_srcloc(h, n)))
			return violated(c, "node %" PRIu32
					" names a source location that is not there", i);
	}
	return 0;
}

static int check_site_nodes(const struct heap *h, const struct heap_site *sites, uint32_t nr,
			    const char *what, const struct complaint *c)
{
	for (uint32_t i = 0; i < nr; i++)
		if (sites[i].node >= h->nr_nodes)
			return violated(c, "%s %" PRIu32 " names node %" PRIu32, what, i,
					sites[i].node);
	for (uint32_t i = 0; i < nr; i++)
		if (sites[i].lifetimes > h->nr_lifetimes)
			return violated(c, "%s %" PRIu32 " has lifetimes that are not there", what,
					i);
	return 0;
}

static int check_blocks(const struct heap *h, const struct heap_block *blocks, uint64_t nr,
			uint32_t nr_sites, const char *what, const struct complaint *c)
{
	for (uint64_t i = 0; i < nr; i++) {
		const struct heap_block *b = &blocks[i];

		if (i && b->address <= blocks[i - 1].address)
			return violated(c, "%s %" PRIu64 " is out of order", what, i);
		if (b->site >= nr_sites)
			return violated(c, "%s %" PRIu64 " names site %" PRIu32, what, i, b->site);
		if (b->thread >= h->nr_threads)
			return violated(c, "%s %" PRIu64 " names thread %u", what, i, b->thread);
		if (!b->kind || b->kind >= HEAP_NR_KINDS)
			return violated(c, "%s %" PRIu64 " is of kind %u", what, i, b->kind);
	}
	return 0;
}

static int check_threads(const struct heap *h, const struct complaint *c)
{
	for (uint32_t i = 0; i < h->nr_threads; i++) {
		const char *name = h->threads[i].name;

		if (!memchr(name, 0, sizeof(h->threads[i].name)))
			return violated(c, "thread %" PRIu32 " has a name without end", i);
		if (check_text(name, "a thread's name", c))
			return -EBADMSG;
	}
	return 0;
}

static int check_series(const struct heap *h, const struct complaint *c)
{
	for (uint32_t i = 1; i < h->nr_points; i++)
		if (h->points[i].time_ns < h->points[i - 1].time_ns)
			return violated(c, "point %" PRIu32 " of the time series is out of order",
					i);
	for (uint32_t i = 0; i < h->nr_site_points; i++) {
		const struct heap_site_point *p = &h->site_points[i];

		if (i && p->time_ns < p[-1].time_ns)
			return violated(c, "site point %" PRIu32 " is out of order", i);
		if (p->site >= h->nr_sites)
			return violated(c, "site point %" PRIu32 " names site %" PRIu32, i,
					p->site);
	}
	return 0;
}

static bool is_usage_sound(const struct heap_usage_point *p)
{
	if (!p->known || p->known & ~HEAP_USAGE_ALL)
		return false;
	if (!(p->known & HEAP_USAGE_TIMES) &&
	    (p->threads || p->minor_faults || p->major_faults || p->user_ns || p->system_ns))
		return false;
	if (!(p->known & HEAP_USAGE_SIZES) &&
	    (p->anon_bytes || p->file_bytes || p->shmem_bytes || p->swap_bytes))
		return false;
	return p->known & HEAP_USAGE_PSS || !p->pss_bytes;
}

static int check_usage(const struct heap *h, const struct complaint *c)
{
	const struct heap_usage *u = &h->usage;

	if (u->why >= HEAP_NR_USAGE_WHYS || u->pss_why >= HEAP_NR_USAGE_WHYS)
		return violated(c, "unknown reason %u or %u for missing figures of the kernel's",
				u->why, u->pss_why);
	if (!u->sampled &&
	    (u->why || u->pss_why || u->took_ns || u->pss_took_ns || h->nr_usage_points))
		return violated(c, "figures of the kernel's that were not looked for");
	for (uint32_t i = 0; i < h->nr_usage_points; i++) {
		const struct heap_usage_point *p = &h->usage_points[i];

		if (i && p->time_ns < p[-1].time_ns)
			return violated(c, "point %" PRIu32 " of the kernel's figures is out of "
					"order", i);
		if (!is_usage_sound(p))
			return violated(c, "point %" PRIu32 " of the kernel's figures has what is "
					"not known", i);
	}
	return 0;
}

static int check_marks(const struct heap *h, const struct complaint *c)
{
	if (h->nr_marks > HEAP_MAX_MARKS)
		return violated(c, "too many marks");
	for (uint32_t i = 0; i < h->nr_marks; i++) {
		const struct heap_mark *m = &h->marks[i];

		if (i && m->time_ns < m[-1].time_ns)
			return violated(c, "mark %" PRIu32 " is out of order", i);
		if (!m->count || m->last_ns < m->time_ns)
			return violated(c, "mark %" PRIu32 " contradicts itself", i);
		if (!memchr(m->name, 0, sizeof(m->name)))
			return violated(c, "mark %" PRIu32 " has a name without end", i);
		if (check_text(m->name, "a mark's name", c))
			return -EBADMSG;
	}
	return 0;
}

static int check_leaks(const struct heap *h, const struct complaint *c)
{
	if ((unsigned)h->search.how > HEAP_SEARCH_CORE)
		return violated(c, "unknown kind of search %d", (int)h->search.how);
	if (h->nr_leaks && h->search.how == HEAP_SEARCH_NONE)
		return violated(c, "leaks without a search");
	for (uint64_t i = 0; i < h->nr_leaks; i++) {
		const struct heap_leak *l = &h->leaks[i];

		if (l->class >= HEAP_NR_LEAK_CLASSES)
			return violated(c, "leak %" PRIu64 " is of class %u", i, l->class);
		if (l->site >= h->nr_sites)
			return violated(c, "leak %" PRIu64 " names site %" PRIu32, i, l->site);
		if (l->holder_site >= h->nr_sites && l->holder_site != HEAP_NO_SITE)
			return violated(c, "leak %" PRIu64 " is held by site %" PRIu32, i,
					l->holder_site);
		if (i && heap_leak_order(l - 1, l) >= 0)
			return violated(c, "leak %" PRIu64 " is out of order", i);
		if (!l->blocks || l->held_blocks > l->blocks || l->chained_blocks > l->blocks ||
		    l->newest_ns < l->oldest_ns)
			return violated(c, "leak %" PRIu64 " contradicts itself", i);
	}
	return 0;
}

static int check_finding_parts(const struct heap_finding *f, uint64_t i, const struct complaint *c)
{
	if (!f->type || f->type >= HEAP_NR_FINDING_TYPES || f->by >= HEAP_NR_FINDING_BYS)
		return violated(c, "finding %" PRIu64 " is of type %u by %u", i, f->type, f->by);
	if (f->access >= HEAP_NR_ACCESSES || f->place >= HEAP_NR_FINDING_PLACES ||
	    f->release >= HEAP_NR_RELEASES || f->kind >= HEAP_NR_KINDS)
		return violated(c, "finding %" PRIu64 " says what there is not", i);
	if (f->nr_code > HEAP_FINDING_BYTES || f->nr_bytes > HEAP_FINDING_BYTES)
		return violated(c, "finding %" PRIu64 " has too many bytes", i);
	if (!memchr(f->function, 0, sizeof(f->function)))
		return violated(c, "finding %" PRIu64 " has a name without end", i);
	return check_text(f->function, "a function's name", c) ||
			       check_text(f->text, "a finding's text", c)
		       ? -EBADMSG
		       : 0;
}

static int check_findings(const struct heap *h, const struct complaint *c)
{
	if (h->check.level >= HEAP_NR_CHECK_LEVELS || h->check.mechanism >= HEAP_NR_MECHANISMS)
		return violated(c, "unknown level %u or mechanism %u of checking", h->check.level,
				h->check.mechanism);
	if (h->death.signal > 64 || h->death.fault > 64 || h->death.map_access > 15 ||
	    h->death.map_end < h->death.map_start)
		return violated(c, "the end by signal %u makes no sense", h->death.signal);
	for (uint64_t i = 0; i < h->nr_findings; i++) {
		const struct heap_finding *f = &h->findings[i];
		const uint32_t site[] = { f->site, f->alloc_site, f->free_site };
		const uint16_t thread[] = { f->thread, f->alloc_thread, f->free_thread };

		if (check_finding_parts(f, i, c))
			return -EBADMSG;
		for (unsigned k = 0; k < 3; k++) {
			if (site[k] >= h->nr_sites && site[k] != HEAP_NO_SITE)
				return violated(c, "finding %" PRIu64 " names site %" PRIu32, i,
						site[k]);
			if (thread[k] >= h->nr_threads && thread[k] != HEAP_NO_THREAD)
				return violated(c, "finding %" PRIu64 " names thread %u", i,
						thread[k]);
		}
		if (i && f->number <= f[-1].number)
			return violated(c, "finding %" PRIu64 " is out of order", i);
		if (!f->count || f->last_ns < f->first_ns || f->block + f->block_bytes < f->block)
			return violated(c, "finding %" PRIu64 " contradicts itself", i);
	}
	return 0;
}

/* ---- events of the kernel ------------------------------------------------------------------- */

static int check_kernel_head(const struct heap *h, const struct complaint *c)
{
	const struct heap_kernel *k = &h->kernel;

	if (check_text(k->unseen, "why events were not seen", c))
		return -EBADMSG;
	if (!k->traced && (k->stacks || k->sample || k->classes || k->bin_ns || k->all_stacks ||
			   k->rows_lost || k->bins_lost || k->unseen[0] || k->faults_counted ||
			   h->nr_kernel_kinds ||
			   h->nr_kernel_rows || h->nr_kernel_bins))
		return violated(c, "events of the kernel that were not looked for");
	if (k->unseen_classes & ~k->classes || k->complete_stacks > k->all_stacks ||
	    (!k->faults_counted && (k->faults || k->major_faults)))
		return violated(c, "what was seen of the kernel's events contradicts itself");
	if (h->nr_kernel_rows > HEAP_KERNEL_MAX_ROWS || h->nr_kernel_bins > HEAP_KERNEL_MAX_BINS)
		return violated(c, "too many rows of the kernel's events");
	return 0;
}

static int check_kernel_kinds(const struct heap *h, const struct complaint *c)
{
	for (uint32_t i = 0; i < h->nr_kernel_kinds; i++) {
		const struct heap_kernel_kind *k = &h->kernel_kinds[i];

		if (k->kind >= HEAP_KERNEL_MAX_KINDS)
			return violated(c, "there is no kind %" PRIu32 " of kernel events",
					k->kind);
		if (i && k->kind <= k[-1].kind)
			return violated(c, "kind %" PRIu32 " of kernel events is out of order",
					k->kind);
	}
	return 0;
}

/* The site of what an event is about. */
static bool is_kernel_site(const struct heap *h, const struct heap_kernel_row *r)
{
	switch (r->of) {
	case HEAP_KERNEL_OF_BLOCK:
		return r->site < h->nr_sites;
	case HEAP_KERNEL_OF_MAPPING:
		return r->site < h->nr_map_sites;
	default:
		return r->site == HEAP_NO_SITE;
	}
}

static int check_kernel_rows(const struct heap *h, const struct complaint *c)
{
	for (uint32_t i = 0; i < h->nr_kernel_rows; i++) {
		const struct heap_kernel_row *r = &h->kernel_rows[i];

		if (r->kind >= HEAP_KERNEL_MAX_KINDS || r->of >= HEAP_KERNEL_NR_OF)
			return violated(c, "kernel event %" PRIu32 " is of kind %" PRIu32
					" about %u", i, r->kind, r->of);
		if (r->node >= h->nr_nodes)
			return violated(c, "kernel event %" PRIu32 " names node %" PRIu32, i,
					r->node);
		if (!is_kernel_site(h, r))
			return violated(c, "kernel event %" PRIu32 " names site %" PRIu32, i,
					r->site);
		if (!r->records || r->records > r->events || r->failed > r->events ||
		    r->max_ns > r->ns || r->last_ns < r->first_ns)
			return violated(c, "kernel event %" PRIu32 " contradicts itself", i);
	}
	return 0;
}

static int check_kernel_bins(const struct heap *h, const struct complaint *c)
{
	for (uint32_t i = 0; i < h->nr_kernel_bins; i++) {
		const struct heap_kernel_bin *b = &h->kernel_bins[i];

		if (b->kind >= HEAP_KERNEL_MAX_KINDS)
			return violated(c, "bin %" PRIu32 " is of kind %" PRIu32, i, b->kind);
		if (i && (b->time_ns < b[-1].time_ns ||
			  (b->time_ns == b[-1].time_ns && b->kind <= b[-1].kind)))
			return violated(c, "bin %" PRIu32 " is out of order", i);
		if (!h->kernel.bin_ns || b->time_ns > UINT64_MAX - h->kernel.bin_ns)
			return violated(c, "bin %" PRIu32 " has no end", i);
	}
	return 0;
}

static int check_kernel(const struct heap *h, const struct complaint *c)
{
	return check_kernel_head(h, c) || check_kernel_kinds(h, c) || check_kernel_rows(h, c) ||
			       check_kernel_bins(h, c)
		       ? -EBADMSG
		       : 0;
}

/* Sums can be asked for only where every event was seen, each once, and counts are no estimates. */
static bool is_complete(const struct heap *h)
{
	for (unsigned i = 0; i < HEAP_NR_DROPS; i++)
		if (h->dropped[i])
			return false;
	return h->mode == HEAP_EXACT && !h->drift_blocks && !h->off_reason;
}

static int check_sum(uint64_t sum, uint64_t total, const char *what, const struct complaint *c)
{
	if (sum == total)
		return 0;
	return violated(c, "%s: the sites add up to %" PRIu64 ", the total is %" PRIu64, what, sum,
			total);
}

static int check_sums(const struct heap *h, const struct complaint *c)
{
	struct heap_site sum = {0};

	for (uint32_t i = 0; i < h->nr_sites; i++) {
		const struct heap_site *s = &h->sites[i];

		sum.allocs += s->allocs;
		sum.frees += s->frees;
		sum.bytes_in += s->bytes_in;
		sum.bytes_out += s->bytes_out;
		/* as unsigned: outside data may overflow */
		sum.live_bytes = (int64_t)((uint64_t)sum.live_bytes + (uint64_t)s->live_bytes);
		sum.live_blocks = (int64_t)((uint64_t)sum.live_blocks + (uint64_t)s->live_blocks);
	}
	if (check_sum(sum.allocs, h->allocs, "allocations", c) ||
	    check_sum(sum.frees, h->frees, "frees", c) ||
	    check_sum(sum.bytes_in, h->bytes_in, "bytes allocated", c) ||
	    check_sum(sum.bytes_out, h->bytes_out, "bytes freed", c) ||
	    check_sum((uint64_t)sum.live_bytes, h->live_bytes, "live bytes", c) ||
	    check_sum((uint64_t)sum.live_blocks, h->live_blocks, "live blocks", c))
		return -EBADMSG;
	return 0;
}

int heap_check(const struct heap *h, char *why, size_t size)
{
	const struct complaint c = {why, size};

	if (size)
		why[0] = '\0';
	if (check_head(h, &c) || check_modules(h, &c) || check_srclocs(h, &c) ||
	    check_nodes(h, &c) || check_site_nodes(h, h->sites, h->nr_sites, "site", &c) ||
	    check_site_nodes(h, h->map_sites, h->nr_map_sites, "mapping site", &c) ||
	    check_threads(h, &c) ||
	    check_blocks(h, h->blocks, h->nr_blocks, h->nr_sites, "block", &c) ||
	    check_blocks(h, h->maps, h->nr_maps, h->nr_map_sites, "mapping", &c) ||
	    check_series(h, &c) || check_usage(h, &c) || check_marks(h, &c) ||
	    check_leaks(h, &c) || check_findings(h, &c) || check_kernel(h, &c))
		return -EBADMSG;
	return is_complete(h) ? check_sums(h, &c) : 0;
}
