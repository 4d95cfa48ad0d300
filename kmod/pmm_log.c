// SPDX-License-Identifier: GPL-2.0-or-later
/* The log of one process (pmm_log.h). */
#include "pmm_log.h"

#define FIRST_BITS	6
#define MAX_BITS	24
#define EVICT_PART	64	/* this part of the entries gives way at a time */

void pmm_log_init(struct pmm_log *log, struct pmm_log_limits *limits, u64 seed)
{
	memset(log, 0, sizeof(*log));
	log->limits = limits;
	log->seed = seed;
	log->sites.seed = seed;
	INIT_LIST_HEAD(&log->items);
}

/* One request asks for the hash of its pointer several times. */
static u32 hash_of(struct pmm_log *log, u64 pointer, u32 bits)
{
	if (log->hashed != pointer) {
		log->hashed = pointer;
		log->hash = pmm_os_hash(pointer, log->seed);
	}
	return log->hash >> (32 - bits);
}

static struct hlist_head *bucket_of(struct pmm_log *log, u64 pointer)
{
	return &log->buckets[hash_of(log, pointer, log->bits)];
}

static u64 *freed_of(struct pmm_log *log, u64 pointer)
{
	return &log->freed[hash_of(log, pointer, 8)];
}

static struct pmm_log_entry *find(struct pmm_log *log, u64 pointer)
{
	struct pmm_log_entry *entry;

	if (!log->buckets)
		return NULL;
	hlist_for_each_entry(entry, bucket_of(log, pointer), node)
		if (entry->pointer == pointer)
			return entry;
	return NULL;
}

static struct pmm_log_entry *entry_of(struct list_head *list)
{
	struct pmm_log_item *item = list_entry(list, struct pmm_log_item, list);

	return item->is_cursor ? NULL : container_of(item, struct pmm_log_entry, item);
}

/* false: no memory, the table stays as it is. */
static bool resize(struct pmm_log *log, u32 bits, bool wait)
{
	struct hlist_head *buckets = pmm_os_alloc(sizeof(struct hlist_head) << bits, wait);
	struct pmm_log_entry *entry;
	struct list_head *at;

	if (!buckets)
		return false;
	pmm_os_free(log->buckets);
	log->buckets = buckets;
	log->bits = bits;
	log->grow_at = 1ull << bits;
	for (at = log->items.next; at != &log->items; at = at->next) {
		entry = entry_of(at);
		if (entry)
			hlist_add_head(&entry->node, bucket_of(log, entry->pointer));
		pmm_os_relax();
	}
	return true;
}

/*
 * Without memory the chains grow longer; it is tried again when there are an eighth more entries,
 * as to ask for much memory that there is not takes long.
 */
static void grow(struct pmm_log *log)
{
	u32 bits = log->buckets ? log->bits + 1 : FIRST_BITS;

	if (bits > MAX_BITS || log->entries < log->grow_at)
		return;
	if (!resize(log, bits, !log->nowait))
		log->grow_at = log->entries + (log->entries >> 3);
}

static void free_table(struct pmm_log *log)
{
	pmm_os_free(log->buckets);
	log->buckets = NULL;
	log->bits = 0;
	log->grow_at = 0;
}

/* A smaller table, if this one is nearly empty: in one step, as each goes through all entries. */
static void shrink(struct pmm_log *log)
{
	u32 bits = log->bits;

	if (!log->entries) {
		free_table(log);
		return;
	}
	while (bits > FIRST_BITS + 1 && log->entries < 1ull << (bits - 3))
		bits -= 2;
	if (bits != log->bits)
		resize(log, bits, false);
}

static void free_entry(struct pmm_log *log, struct pmm_log_entry *entry)
{
	if (log->nr_spares < PMM_LOG_NR_SPARES)
		log->spares[log->nr_spares++] = entry;
	else
		pmm_os_entry_free(entry);
}

static void drop(struct pmm_log *log, struct pmm_log_entry *entry)
{
	hlist_del(&entry->node);
	list_del(&entry->item.list);
	log->entries--;
	log->bytes -= entry->bytes;
	atomic_long_dec(&log->limits->entries);
	free_entry(log, entry);
}

static void free_spares(struct pmm_log *log)
{
	while (log->nr_spares)
		pmm_os_entry_free(log->spares[--log->nr_spares]);
}

static u64 evict(struct pmm_log *log, u64 most)
{
	struct list_head *at, *next;
	struct pmm_log_entry *entry;
	u64 nr = 0;

	for (at = log->items.next; nr < most && at != &log->items; at = next) {
		next = at->next;
		entry = entry_of(at);
		if (entry) {
			log->counts.lost_bytes += entry->bytes;
			drop(log, entry);
			nr++;
		}
		pmm_os_relax();
	}
	log->counts.evicted += nr;
	return nr;
}

u64 pmm_log_evict(struct pmm_log *log, u64 most)
{
	u64 nr = evict(log, most);

	free_spares(log);
	shrink(log);
	return nr;
}

bool pmm_log_ready(struct pmm_log *log)
{
	struct pmm_log_entry *entry;

	if (!log->buckets && !resize(log, FIRST_BITS, !log->nowait))
		return false;
	if (log->nr_spares)
		return true;
	entry = pmm_os_entry_alloc(sizeof(*entry), !log->nowait);
	if (!entry)
		return false;
	log->spares[log->nr_spares++] = entry;
	return true;
}

/*
 * Programs free what they have just had: most entries are one that has just gone. One that memory
 * is short for takes the place of the oldest. As it takes long to ask for what there is not, and
 * the program needs memory as well, more go with that one.
 */
static struct pmm_log_entry *new_entry(struct pmm_log *log)
{
	if (!pmm_log_ready(log))
		evict(log, 1 + log->entries / EVICT_PART);
	return log->nr_spares ? log->spares[--log->nr_spares] : NULL;
}

void pmm_log_empty(struct pmm_log *log)
{
	struct list_head *at, *next;
	struct pmm_log_entry *entry;

	for (at = log->items.next; at != &log->items; at = next) {
		next = at->next;
		entry = entry_of(at);
		if (entry)
			drop(log, entry);
		pmm_os_relax();
	}
	free_spares(log);
	free_table(log);
	memset(&log->counts, 0, sizeof(log->counts));
	memset(log->freed, 0, sizeof(log->freed));
	memset(log->wrong, 0, sizeof(log->wrong));
	log->nr_wrong = 0;
}

void pmm_log_clear(struct pmm_log *log)
{
	pmm_log_empty(log);
	pmm_sites_clear(&log->sites);
}

int pmm_log_check(const struct pmm_log_request *r)
{
	if (r->kind < PMM_KMOD_MALLOC || r->kind >= PMM_KMOD_NR_KINDS || !r->pointer)
		return -EINVAL;
	if (r->prev && r->kind != PMM_KMOD_REALLOC)
		return -EINVAL;
	return r->flags & ~(r->kind == PMM_KMOD_REALLOC ? PMM_KMOD_PREV_GONE : 0) ? -EINVAL : 0;
}

static void fill(struct pmm_log_entry *entry, const struct pmm_log_request *r)
{
	entry->site = r->site;
	entry->pointer = r->pointer;
	entry->bytes = r->bytes;
	entry->prev = r->prev;
	entry->caller = r->caller;
	entry->time_ns = r->time_ns;
	entry->tid = r->tid;
	entry->kind = r->kind;
}

/* Room among all logs' entries: counted before it is known whether it is too much. */
static bool admit(struct pmm_log *log)
{
	struct pmm_log_limits *limits = log->limits;

	if (log->entries < READ_ONCE(limits->entries_per_process)) {
		if ((u64)atomic_long_inc_return(&limits->entries) <=
		    READ_ONCE(limits->entries_in_all))
			return true;
		atomic_long_dec(&limits->entries);
	}
	log->counts.over_limit++;
	return false;
}

/* Another one has its pointer. */
static void replace(struct pmm_log *log, struct pmm_log_entry *entry)
{
	log->counts.replaced++;
	log->counts.lost_bytes += entry->bytes;
	drop(log, entry);
}

static void note_peak(struct pmm_log *log)
{
	if (log->entries > log->counts.peak_entries)
		log->counts.peak_entries = log->entries;
	if (log->bytes > log->counts.peak_bytes)
		log->counts.peak_bytes = log->bytes;
}

/* false: it has no entry. */
static bool put(struct pmm_log *log, const struct pmm_log_request *r)
{
	struct pmm_log_entry *entry;

	if (!admit(log))
		return false;
	grow(log);
	entry = log->buckets ? new_entry(log) : NULL;
	if (!entry) {
		atomic_long_dec(&log->limits->entries);
		log->counts.no_memory++;
		return false;
	}
	fill(entry, r);
	hlist_add_head(&entry->node, bucket_of(log, r->pointer));
	list_add_tail(&entry->item.list, &log->items);
	log->entries++;
	log->bytes += r->bytes;
	return true;
}

static void add(struct pmm_log *log, const struct pmm_log_request *r)
{
	struct pmm_log_entry *before = find(log, r->pointer);
	u64 *freed = freed_of(log, r->pointer);

	log->counts.allocations++;
	log->counts.allocated_bytes += r->bytes;
	if (*freed == r->pointer)
		*freed = 0;
	if (before)
		replace(log, before);
	if (put(log, r))
		note_peak(log);
	else
		log->counts.lost_bytes += r->bytes;
}

static void note_wrong(struct pmm_log *log, const struct pmm_log_request *r, u64 pointer,
		       bool twice)
{
	struct pmm_log_wrong *wrong = &log->wrong[log->nr_wrong++ % PMM_LOG_NR_WRONG];

	wrong->site = r->site;
	wrong->pointer = pointer;
	wrong->caller = r->caller;
	wrong->time_ns = r->time_ns;
	wrong->twice = twice;
	if (twice)
		log->counts.double_frees++;
	else
		log->counts.foreign_frees++;
}

/* It is of nothing that the log has. */
static void note_unknown(struct pmm_log *log, const struct pmm_log_request *r, u64 pointer)
{
	bool twice = *freed_of(log, pointer) == pointer;

	if (!twice && log->counts.evicted_frees < log->counts.evicted)
		log->counts.evicted_frees++;
	else
		note_wrong(log, r, pointer, twice);
}

static void take(struct pmm_log *log, const struct pmm_log_request *r, u64 pointer)
{
	struct pmm_log_entry *entry = find(log, pointer);

	if (!entry) {
		note_unknown(log, r, pointer);
		return;
	}
	log->counts.frees++;
	log->counts.freed_bytes += entry->bytes;
	drop(log, entry);
	*freed_of(log, pointer) = pointer;
}

/* The first part of a mapping goes: what is left has another address. */
static void shorten(struct pmm_log *log, struct pmm_log_entry *entry, u64 bytes)
{
	hlist_del(&entry->node);
	log->counts.freed_bytes += bytes;
	entry->pointer += bytes;
	entry->bytes -= bytes;
	log->bytes -= bytes;
	hlist_add_head(&entry->node, bucket_of(log, entry->pointer));
}

static void unmap(struct pmm_log *log, const struct pmm_log_request *r)
{
	struct pmm_log_entry *entry = find(log, r->pointer);
	struct pmm_log_entry *there;

	if (entry && entry->kind != PMM_KMOD_MMAP) {
		note_wrong(log, r, r->pointer, *freed_of(log, r->pointer) == r->pointer);
		return;
	}
	if (!entry || !r->bytes || r->bytes >= entry->bytes || r->bytes >= -r->pointer) {
		take(log, r, r->pointer);
		return;
	}
	there = find(log, r->pointer + r->bytes);
	if (there)
		replace(log, there);
	shorten(log, entry, r->bytes);
}

void pmm_log_enter(struct pmm_log *log, const struct pmm_log_request *r)
{
	switch (r->kind) {
	case PMM_KMOD_FREE:
		take(log, r, r->pointer);
		break;
	case PMM_KMOD_MUNMAP:
		unmap(log, r);
		break;
	case PMM_KMOD_REALLOC:
		if (r->prev && !(r->flags & PMM_KMOD_PREV_GONE))
			take(log, r, r->prev);
		add(log, r);
		break;
	default:
		add(log, r);
	}
}

void pmm_cursor_begin(struct pmm_log_cursor *c, struct pmm_log *log)
{
	c->item.is_cursor = true;
	list_add(&c->item.list, &log->items);
}

struct pmm_log_entry *pmm_cursor_look(struct pmm_log_cursor *c, struct pmm_log *log)
{
	struct list_head *at;

	for (at = c->item.list.next; at != &log->items; at = at->next) {
		if (entry_of(at))
			return entry_of(at);
		pmm_os_relax();
	}
	return NULL;
}

void pmm_cursor_pass(struct pmm_log_cursor *c, struct pmm_log_entry *entry)
{
	list_del(&c->item.list);
	list_add(&c->item.list, &entry->item.list);
}

void pmm_cursor_end(struct pmm_log_cursor *c)
{
	if (c->item.list.next)
		list_del_init(&c->item.list);
	c->item.list.next = NULL;
}
