/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads of a ledger: counters from it and, while the process runs, names from /proc. */
#include "src/ledger/ledger_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/proc/proc.h"

static int compare_tids(const void *a, const void *b)
{
	const struct proc_thread *x = a, *y = b;

	return x->ns_tid < y->ns_tid ? -1 : x->ns_tid > y->ns_tid;
}

static void thread_read(struct ledger_reader *r, uint32_t nr, struct heap_thread *to)
{
	struct pmm_thread t = { 0 };
	uint32_t index;
	pmm_ref chunk;

	if (!ledger_reader_entry(r->l->thread_dir, nr, PMM_THREAD_SHIFT, &chunk, &index) ||
	    ledger_map_read_at(r->m, chunk, index, &t, sizeof(t)) ||
	    /* its sums are complete when `current` has been read as 0: read again after that */
	    (!t.current && ledger_map_read_at(r->m, chunk, index, &t, sizeof(t))))
		ledger_reader_odd(r);
	*to = (struct heap_thread){
		.tid = t.tid,
		.alive = t.current == 1,
		.start_ns = t.start_tick * PMM_TICK_NS,
		.allocs = t.sums.allocs,
		.frees = t.sums.frees,
		.bytes_in = t.sums.bytes_in,
		.bytes_out = t.sums.bytes_out,
	};
	ledger_reader_name(to->name, t.name, sizeof(t.name));
}

/*
 * What current threads have done since they took their contexts, and with the contexts of their
 * signal handlers.
 */
static void add_contexts(struct ledger_reader *r, struct heap_thread *threads, uint32_t nr)
{
	for (uint32_t i = 0; i < r->l->nr_ctx; i++) {
		struct heap_thread *t;
		struct pmm_sums sums;
		struct pmm_ctx ctx;

		if (ledger_reader_ctx(r, i, &ctx) || ctx.thread >= nr)
			continue;
		t = &threads[ctx.thread];
		if (!t->alive)
			continue;
		sums = pmm_ctx_sums(&ctx);
		t->allocs += sums.allocs - ctx.base.allocs;
		t->frees += sums.frees - ctx.base.frees;
		t->bytes_in += sums.bytes_in - ctx.base.bytes_in;
		t->bytes_out += sums.bytes_out - ctx.base.bytes_out;
	}
}

/* A thread that ended unnoticed is not alive; one that is may have another name by now. */
static void ask_proc(struct ledger_reader *r, struct heap_thread *threads, uint32_t nr)
{
	struct proc_thread *now = NULL;
	ssize_t nr_now = r->o->pid ? proc_threads(r->o->pid, &now) : -ESRCH;

	if (nr_now <= 0)
		return;
	qsort(now, (size_t)nr_now, sizeof(*now), compare_tids);
	for (uint32_t i = 0; i < nr; i++) {
		struct proc_thread key = { .ns_tid = (pid_t)threads[i].tid }, *found;

		if (!threads[i].alive)
			continue;
		found = bsearch(&key, now, (size_t)nr_now, sizeof(*now), compare_tids);
		threads[i].alive = found;
		if (found && found->comm[0])
			ledger_reader_name(threads[i].name, found->comm,
					   sizeof(threads[i].name) - 1);
	}
	free(now);
}

static bool is_before(uint64_t start_ns, uint64_t ns)
{
	return start_ns / PMM_TICK_NS < ns / PMM_TICK_NS;
}

static int compare_seen(const void *a, const void *b)
{
	const struct ledger_seen *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/*
 * Of a process that has ended: a thread that began before the last look and was not there then is
 * not alive; of others that ended unnoticed it is not known. A number may have been several
 * threads' one after another: it was seen as the last one that began before that.
 */
static void ask_looks(struct ledger_reader *r, struct heap_thread *threads, uint32_t nr)
{
	const struct ledger_options *o = r->o;
	bool *named;	/* without memory none is */

	if (!o->nr_seen)
		return;
	named = calloc(o->nr_seen, sizeof(*named));
	for (uint32_t i = nr; i-- > 0;) {
		const struct ledger_seen key = { .tid = threads[i].tid }, *s;

		s = bsearch(&key, o->seen, o->nr_seen, sizeof(key), compare_seen);
		if (is_before(threads[i].start_ns, o->seen_ns) &&
		    (!s || s->seen_ns != o->seen_ns))
			threads[i].alive = false;
		if (!s || !named || named[s - o->seen] ||
		    !is_before(threads[i].start_ns, s->seen_ns))
			continue;
		named[s - o->seen] = true;
		/* the first thread's may be that of a program that was executed */
		if (s->name[0] && s->tid != r->l->pid)
			ledger_reader_name(threads[i].name, s->name, sizeof(threads[i].name) - 1);
	}
	free(named);
}

static void check_blocks(struct ledger_reader *r, struct heap_block *blocks, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		if (blocks[i].thread >= r->h->nr_threads) {
			blocks[i].thread = 0;
			ledger_reader_odd(r);
		}
}

static void check_findings(struct ledger_reader *r)
{
	struct heap *h = r->h;

	for (uint64_t i = 0; i < h->nr_findings; i++) {
		struct heap_finding *f = &h->findings[i];
		uint16_t *thread[] = { &f->thread, &f->alloc_thread, &f->free_thread };

		for (unsigned k = 0; k < 3; k++)
			if (*thread[k] >= h->nr_threads && *thread[k] != HEAP_NO_THREAD) {
				*thread[k] = HEAP_NO_THREAD;
				ledger_reader_odd(r);
			}
	}
}

int ledger_read_threads(struct ledger_reader *r)
{
	uint32_t nr = r->l->nr_threads ? r->l->nr_threads : 1;
	struct heap_thread *threads = calloc(nr, sizeof(*threads));

	if (!threads)
		return -ENOMEM;
	threads[0].tid = r->l->pid;	/* stands for the unknown when there is none */
	for (uint32_t i = 0; i < r->l->nr_threads; i++)
		thread_read(r, i, &threads[i]);
	add_contexts(r, threads, r->l->nr_threads);
	if (r->o->running)
		ask_proc(r, threads, nr);
	else
		ask_looks(r, threads, nr);
	r->h->threads = threads;
	r->h->nr_threads = nr;
	check_blocks(r, r->h->blocks, r->h->nr_blocks);
	check_blocks(r, r->h->maps, r->h->nr_maps);
	check_findings(r);
	return 0;
}
