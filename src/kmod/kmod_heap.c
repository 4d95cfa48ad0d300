/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel module's log as a heap. */
#include "src/kmod/kmod_heap.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "include/pmm/board.h"
#include "include/pmm/ledger.h"
#include "src/base/hash.h"
#include "src/base/nanotime.h"
#include "src/base/utf8.h"
#include "src/base/vec.h"
#include "src/kmod/kmod_maps.h"


struct making {
	struct heap *h;
	const struct pmm_kmod_process *p;
	uint64_t now_ns;
	VEC(struct heap_node) nodes;
	VEC(struct heap_srcloc) srclocs;
	VEC(struct heap_site) sites, map_sites;
	VEC(struct heap_block) blocks, maps;
	VEC(struct heap_thread) threads;
	struct intern places;		/* "line:file:function" -> srcloc - 1 */
	struct hash_map frame_nodes, node_sites, node_map_sites, tids;
};

void kmod_heap_losses(const struct pmm_kmod_process *p, struct heap_kmod *out)
{
	*out = (struct heap_kmod){ .over_limit = p->over_limit,
				   .no_memory = p->no_memory,
				   .overflows = p->overflows,
				   .torn = p->torn,
				   .bad = p->bad,
				   .sites_lost = p->sites_lost,
				   .replaced = p->replaced,
				   .foreign_frees = p->foreign_frees,
				   .double_frees = p->double_frees,
				   .evicted = p->evicted };
}

static char *clean(const char *text)
{
	char *copy = strdup(text);

	if (copy)
		utf8_mask(copy, strlen(copy), '?');
	return copy;
}

/* ---- places, stacks, sites ---- */

static int add_srcloc(struct making *m, const struct pmm_kmod_record *r)
{
	struct heap_srcloc new = { .file = clean(r->file), .function = clean(r->function),
				   .line = r->line };

	if (new.file && new.function && !vec_push(&m->srclocs, new))
		return 0;
	free(new.file);
	free(new.function);
	return -ENOMEM;
}

/* The place of a record: its number in srclocs; 0: it names none. */
static int64_t srcloc_of(struct making *m, const struct pmm_kmod_record *r)
{
	char key[PMM_KMOD_FILE_BYTES + PMM_KMOD_FUNCTION_BYTES + 24];
	int64_t number;

	if (!r->line && !r->file[0] && !r->function[0])
		return 0;
	snprintf(key, sizeof(key), "%u\n%s\n%s", r->line, r->function, r->file);
	number = intern_add(&m->places, key);
	if (number < 0)
		return number;
	if (number + 1 >= HEAP_MAX_SRCLOCS) {
		m->h->kmod.sites_lost++;
		return 0;
	}
	if ((size_t)number + 1 == m->srclocs.nr && add_srcloc(m, r))
		return -ENOMEM;
	return number + 1;
}

/* The child of `parent` with this frame. */
static int64_t node_of(struct making *m, uint32_t parent, uint64_t pc)
{
	uint64_t key = hash_u64(pc) ^ (uint64_t)parent << 1;
	uint32_t *number;
	bool added;

	/* another frame may have the key: then try the next one */
	for (;; key++) {
		number = hash_add(&m->frame_nodes, key, (uint32_t)m->nodes.nr, &added);
		if (!number)
			return -ENOMEM;
		if (added)
			break;
		if (m->nodes.v[*number].pc == pc && m->nodes.v[*number].parent == parent)
			return *number;
	}
	if (vec_push(&m->nodes, (struct heap_node){ .pc = pc, .parent = parent }))
		return -ENOMEM;
	return (int64_t)m->nodes.nr - 1;
}

static bool is_address(uint64_t pc)
{
	return pc > HEAP_FRAME_MARK_MAX && pc < HEAP_SRCLOC_PC;
}

/* The stack of a record, its innermost frame; 0: not known. */
static int64_t stack_of(struct making *m, const struct pmm_kmod_record *r)
{
	int64_t srcloc = srcloc_of(m, r), node = 0;

	if (srcloc < 0)
		return srcloc;
	if (m->nodes.nr + 2 > PMM_MAX_SITES) {
		m->h->kmod.sites_lost++;
		return 0;
	}
	if (is_address(r->caller))
		node = node_of(m, 0, r->caller);
	if (node >= 0 && srcloc)
		node = node_of(m, (uint32_t)node, HEAP_SRCLOC_PC + (uint64_t)srcloc);
	return node;
}

static int64_t site_of(struct making *m, uint32_t node, bool mapping)
{
	size_t nr = mapping ? m->map_sites.nr : m->sites.nr;
	uint32_t *number;
	bool added;

	if (!node)
		return 0;
	number = hash_add(mapping ? &m->node_map_sites : &m->node_sites, node, (uint32_t)nr,
			  &added);
	if (!number)
		return -ENOMEM;
	if (added) {
		struct heap_site new = { .node = node };

		if (mapping ? vec_push(&m->map_sites, new) : vec_push(&m->sites, new))
			return -ENOMEM;
	}
	return *number;
}

/* ---- blocks ---- */

/* Since the begin of monitoring, and not after now. */
static uint64_t since(const struct making *m, uint64_t realtime_ns)
{
	uint64_t at = realtime_ns < m->now_ns ? realtime_ns : m->now_ns;

	return at > m->p->since_ns ? at - m->p->since_ns : 0;
}

static int64_t thread_of(struct making *m, uint32_t tid)
{
	struct heap_thread new = { .tid = tid, .alive = m->h->end == HEAP_RUNNING };
	uint32_t *number;
	bool added;

	number = hash_find(&m->tids, tid);
	if (!number && m->threads.nr >= PMM_MAX_THREADS)
		return PMM_MAX_THREADS - 1;	/* the last one stands for all others */
	number = hash_add(&m->tids, tid, (uint32_t)m->threads.nr, &added);
	if (!number || (added && vec_push(&m->threads, new)))
		return -ENOMEM;
	return *number;
}

static void count_site(struct heap_site *s, const struct pmm_kmod_record *r, uint64_t birth_ns)
{
	if (!s->allocs || birth_ns < s->first_ns)
		s->first_ns = birth_ns;
	if (birth_ns > s->last_ns)
		s->last_ns = birth_ns;
	if (r->bytes > s->max_bytes)
		s->max_bytes = r->bytes;
	s->allocs++;
	s->bytes_in += r->bytes;
	s->live_blocks++;
	s->live_bytes = (int64_t)((uint64_t)s->live_bytes + r->bytes);
	s->zero_size += !r->bytes;
}

static const uint8_t kind_of[PMM_KMOD_NR_KINDS] = {
	[PMM_KMOD_MALLOC] = PMM_KIND_MALLOC,
	[PMM_KMOD_CALLOC] = PMM_KIND_CALLOC,
	[PMM_KMOD_REALLOC] = PMM_KIND_REALLOC,
	[PMM_KMOD_ALIGNED] = PMM_KIND_ALIGNED_ALLOC,
	[PMM_KMOD_MMAP] = PMM_KIND_MMAP,
};

/* Enter one that is the newest of its address. */
static int add_block(struct making *m, const struct pmm_kmod_record *r)
{
	bool mapping = r->kind == PMM_KMOD_MMAP;
	int64_t node = stack_of(m, r), site, thread;
	struct heap_block b = { .address = r->pointer, .size_bytes = r->bytes,
				.birth_ns = since(m, r->time_ns), .kind = kind_of[r->kind] };

	if (node < 0)
		return -ENOMEM;
	site = site_of(m, (uint32_t)node, mapping);
	thread = thread_of(m, r->tid);
	if (site < 0 || thread < 0)
		return -ENOMEM;
	b.site = (uint32_t)site;
	b.thread = (uint16_t)thread;
	m->threads.v[thread].allocs++;
	m->threads.v[thread].bytes_in += r->bytes;
	count_site(mapping ? &m->map_sites.v[site] : &m->sites.v[site], r, b.birth_ns);
	if (!mapping) {
		struct heap_class *class = &m->h->class[heap_class_of(r->bytes)];

		class->calls[b.kind]++;
		class->bytes_in += r->bytes;
	}
	return mapping ? vec_push(&m->maps, b) : vec_push(&m->blocks, b);
}

struct by_address {
	uint64_t address;
	size_t number;
};

static int order(const void *a, const void *b)
{
	const struct by_address *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static bool is_entry(const struct pmm_kmod_record *r)
{
	return r->kind < PMM_KMOD_NR_KINDS && kind_of[r->kind] && r->pointer;
}

/*
 * All records, by address. Of two with the same one, which was given out again while the log was
 * read, the later is right.
 */
static int add_blocks(struct making *m, const struct pmm_kmod_record *records, size_t nr)
{
	VEC(struct by_address) sorted = { 0 };
	int rc = vec_reserve(&sorted, nr + 1);

	for (size_t i = 0; i < nr && !rc; i++)
		if (is_entry(&records[i]))
			rc = vec_push(&sorted,
				      (struct by_address){ records[i].pointer, i });
		else
			m->h->kmod.bad++;
	if (!rc)
		vec_sort(&sorted, order);
	for (size_t i = 0; i < sorted.nr && !rc; i++)
		if (i + 1 < sorted.nr && sorted.v[i].address == sorted.v[i + 1].address)
			m->h->drift_blocks++;
		else
			rc = add_block(m, &records[sorted.v[i].number]);
	vec_fini(&sorted);
	return rc;
}

/* ---- the whole ---- */

static int begin(struct making *m)
{
	struct heap_srcloc none = { .file = strdup(""), .function = strdup("") };

	if (none.file && none.function && !vec_push(&m->srclocs, none) &&
	    !vec_push(&m->nodes, (struct heap_node){ 0 }) &&
	    !vec_push(&m->sites, (struct heap_site){ 0 }) &&
	    !vec_push(&m->map_sites, (struct heap_site){ 0 }))
		return 0;
	if (!m->srclocs.nr) {
		free(none.file);
		free(none.function);
	}
	return -ENOMEM;
}

static void set_end(struct heap *h, const struct pmm_kmod_process *p)
{
	const int status = (int)p->status;

	h->end_status = -1;
	h->end = HEAP_RUNNING;
	if (p->state == PMM_KMOD_RUNNING)
		return;
	h->end = WIFSIGNALED(status) ? HEAP_KILLED : HEAP_EXITED;
	h->end_status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

static int set_head(struct making *m)
{
	struct heap *h = m->h;
	struct utsname u;

	h->pid = (uint32_t)m->p->pid;
	h->ppid = (uint32_t)m->p->ppid;
	h->start_realtime_ns = m->p->since_ns;
	h->began = HEAP_BEGAN_ATTACH;
	h->tick_ns = PMM_TICK_NS;
	set_end(h, m->p);
	/* what ended later than the last look at it is not known to */
	if (h->end != HEAP_RUNNING && m->p->seen_ns >= m->p->since_ns &&
	    m->p->seen_ns < m->now_ns)
		m->now_ns = m->p->seen_ns;
	h->taken_ns = since(m, m->now_ns);
	free(h->comm);
	free(h->host);
	h->comm = clean(m->p->comm);
	h->host = clean(uname(&u) ? "" : u.nodename);
	h->kmod.logged = h->kmod.sums = true;
	h->kmod.lost_bytes = m->p->lost_bytes;
	h->kmod.peak_bytes = m->p->peak_bytes;
	h->kmod.peak_blocks = m->p->peak_entries;
	return h->comm && h->host ? 0 : -ENOMEM;
}

static uint64_t bytes_of(const struct heap_block *v, size_t nr)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < nr; i++)
		bytes += v[i].size_bytes;
	return bytes;
}

/* What is no block any more; also of mappings, as these are not told apart then. */
static void add_rest(const struct making *m, struct heap_site *rest)
{
	const struct pmm_kmod_process *p = m->p;
	uint64_t live = m->blocks.nr + m->maps.nr;
	uint64_t live_bytes = bytes_of(m->blocks.v, m->blocks.nr) +
			      bytes_of(m->maps.v, m->maps.nr);

	/* entries that went while they were read are counted more than once */
	if (p->allocations > live)
		rest->allocs += p->allocations - live;
	if (p->allocated_bytes > live_bytes)
		rest->bytes_in += p->allocated_bytes - live_bytes;
	rest->frees = p->frees;
	rest->bytes_out = p->freed_bytes;
}

static void sum_up(struct making *m)
{
	struct heap_site *rest = &m->sites.v[0];
	struct heap *h = m->h;

	add_rest(m, rest);
	for (size_t i = 0; i < m->sites.nr; i++) {
		struct heap_site *s = &m->sites.v[i];

		h->allocs += s->allocs;
		h->bytes_in += s->bytes_in;
		h->zero_size += s->zero_size;
		s->peak_bytes = s->live_bytes;
		s->peak_blocks = s->live_blocks;
	}
	h->frees = rest->frees;
	h->bytes_out = rest->bytes_out;
	h->live_blocks = m->blocks.nr;
	h->live_bytes = bytes_of(m->blocks.v, m->blocks.nr);
	/* the highest of which the blocks are known */
	h->peak_bytes = h->live_bytes;
	h->peak_ns = h->taken_ns;
	h->untracked_frees = h->kmod.foreign_frees;
	for (size_t i = 0; i < m->maps.nr; i++) {
		h->mapping.mmap_calls++;
		h->mapping.mmap_bytes += m->maps.v[i].size_bytes;
	}
	for (size_t i = 0; i < m->map_sites.nr; i++) {
		m->map_sites.v[i].peak_bytes = m->map_sites.v[i].live_bytes;
		m->map_sites.v[i].peak_blocks = m->map_sites.v[i].live_blocks;
	}
}

#define HAND_OVER(m, field)                                                                        \
	do {                                                                                       \
		free((m)->h->field);                                                               \
		(m)->h->field = (m)->field.v;                                                      \
		(m)->h->nr_##field = (__typeof__((m)->h->nr_##field))(m)->field.nr;                \
		(m)->field.v = NULL;                                                               \
		(m)->field.nr = (m)->field.room = 0;                                               \
	} while (0)

static void hand_over(struct making *m)
{
	HAND_OVER(m, nodes);
	HAND_OVER(m, srclocs);
	HAND_OVER(m, sites);
	HAND_OVER(m, map_sites);
	HAND_OVER(m, blocks);
	HAND_OVER(m, maps);
	HAND_OVER(m, threads);
}

static void making_fini(struct making *m)
{
	vec_fini(&m->nodes);
	vec_each(&m->srclocs, s) {
		free(s->file);
		free(s->function);
	}
	vec_fini(&m->srclocs);
	vec_fini(&m->sites);
	vec_fini(&m->map_sites);
	vec_fini(&m->blocks);
	vec_fini(&m->maps);
	vec_fini(&m->threads);
	intern_fini(&m->places);
	hash_fini(&m->frame_nodes);
	hash_fini(&m->node_sites);
	hash_fini(&m->node_map_sites);
	hash_fini(&m->tids);
	heap_free(m->h);
}

int kmod_heap_make(const struct pmm_kmod_process *p, const struct pmm_kmod_record *records,
		   size_t nr, uint64_t now_ns, struct heap **out, struct err *e)
{
	struct making m = { .h = heap_new(), .p = p, .now_ns = now_ns };
	char why[200];
	int rc = m.h ? begin(&m) : -ENOMEM;

	if (!rc) {
		kmod_heap_losses(p, &m.h->kmod);
		rc = set_head(&m);
	}
	if (!rc)
		rc = add_blocks(&m, records, nr);
	if (!rc && !m.threads.nr)
		rc = thread_of(&m, (uint32_t)p->pid) < 0 ? -ENOMEM : 0;
	if (rc) {
		err_set(e, rc, "out of memory for the log of process %d", p->pid);
	} else {
		sum_up(&m);
		hand_over(&m);
		if (heap_check(m.h, why, sizeof(why)))
			rc = err_set(e, -EBADMSG, "the log of process %d contradicts itself: %s",
				     p->pid, why);
	}
	if (!rc) {
		*out = m.h;
		m.h = NULL;
	}
	making_fini(&m);
	return rc;
}

/* What the process itself could say, while it runs. */
static int add_process(struct heap *h, pid_t pid)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	if (h->end != HEAP_RUNNING)
		return 0;
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n > 0) {
		path[n] = '\0';
		free(h->exe);
		h->exe = clean(path);
		if (!h->exe)
			return -ENOMEM;
	}
	return kmod_maps_add(h, pid);
}

int kmod_heap_read(struct kmod_device *d, pid_t pid, uint64_t max_bytes, struct heap **out,
		   struct err *e)
{
	struct kmod_records records = { 0 };
	struct pmm_kmod_process p;
	uint64_t now_ns = nanotime_of(CLOCK_REALTIME);
	int rc = kmod_device_log(d, pid, now_ns, max_bytes, &records, e);

	/* the figures after the log: they count what is in it */
	if (!rc)
		rc = kmod_device_process(d, pid, &p, e);
	if (!rc)
		rc = kmod_heap_make(&p, records.v.v, records.v.nr, now_ns, out, e);
	if (!rc) {
		(*out)->drift_blocks += records.later;
		if (add_process(*out, pid)) {
			heap_free(*out);
			rc = err_set(e, -ENOMEM, "out of memory for the modules of process %d",
				     (int)pid);
		}
	}
	kmod_records_fini(&records);
	return rc;
}
