/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What pmm has left or keeps in a process. Everything read is outside data: the program can write
 * over it, and one that does so on purpose must not have us write, call or wait where it likes.
 * Where the record makes no sense nothing is done to the process.
 */
#include "src/entries/attached.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "include/pmm/ledger.h"
#include "src/proc/proc.h"
#include "src/ptrace/stop.h"

#define TREE_PATH	"/memfd:" PMM_MEMFD_NAME
#define RECORD_PATH	"/memfd:" PMM_RECORD_NAME
#define PAGE		4096ull
#define JUMP_BYTES	5u
#define DISP_BYTES	4u
#define JUMP		0xe9
/* what inject_leave() and inject_rest() are called on */
#define LEAST_STACK	(32u << 10)
#define MAX_RECORDS	16			/* inject_attach() stops far below that */
#define READ_TRIES	100			/* another pmm writes a record now and then */
#define SIGN_OF_LIFE_TRIES	40	/* the agent gives its monitor up after 2 s */
#define SIGN_OF_LIFE_NS		50000000

/* ---- the record, word by word ---------------------------------------------------------------- */

static const struct pmm_range *range_of(const struct pmm_attach *r, enum pmm_range_use use)
{
	for (uint32_t i = 0; i < r->nr_ranges; i++)
		if (r->range[i].use == use)
			return &r->range[i];
	return NULL;
}

static bool range_has(const struct pmm_range *range, uint64_t at, uint64_t bytes)
{
	return range && at >= range->start && at - range->start <= range->bytes &&
	       bytes <= range->bytes - (at - range->start);
}

static bool ranges_sane(const struct pmm_attach *r)
{
	for (uint32_t i = 0; i < r->nr_ranges; i++) {
		const struct pmm_range *range = &r->range[i];

		if (range->use >= PMM_NR_RANGE_USES || range->start % PAGE || range->start >> 47 ||
		    range->bytes >> 47)
			return false;
	}
	return true;
}

/* What a thread of the process is made to run, and on which stack. */
static bool calls_sane(const struct pmm_attach *r)
{
	const struct pmm_range *blob = range_of(r, PMM_RANGE_BLOB);
	const uint64_t called[] = { r->call_at, r->leave_at, r->rest_at };

	for (size_t i = 0; i < sizeof(called) / sizeof(called[0]); i++)
		if (called[i] && !range_has(blob, called[i], 1))
			return false;
	return !r->stack_end || (r->stack_end % 16 == 0 && r->stack_end > LEAST_STACK &&
				 range_has(blob, r->stack_end - LEAST_STACK, LEAST_STACK));
}

/* Does the jump, or the displacement, that is in place lead to a slot? */
static bool leads_to_slot(const struct pmm_attach *r, const struct pmm_patch *p)
{
	int32_t displacement;
	uint64_t to;

	memcpy(&displacement, p->patched + p->nr_bytes - DISP_BYTES, sizeof(displacement));
	to = p->address + p->nr_bytes + (uint64_t)(int64_t)displacement;
	if (to != p->entry + PMM_ENTRY_STUB_OFF &&
	    (p->nr_bytes == JUMP_BYTES || to != p->entry + PMM_ENTRY_POINTER_OFF))
		return false;
	for (uint32_t i = 0; i < r->nr_ranges; i++)
		if (r->range[i].use == PMM_RANGE_SLOTS &&
		    range_has(&r->range[i], p->entry, PMM_ENTRY_SLOT_BYTES))
			return true;
	return false;
}

static bool patch_sane(const struct pmm_attach *r, const struct pmm_patch *p)
{
	if (p->nr_bytes != DISP_BYTES && (p->nr_bytes != JUMP_BYTES || p->patched[0] != JUMP))
		return false;
	return p->nr_bytes <= p->nr_moved && p->nr_moved <= PMM_PATCH_BYTES &&
	       p->role < PMM_NR_ROLES && p->address < 1ull << 47 && leads_to_slot(r, p);
}

static bool record_sane(const struct pmm_attach *r)
{
	if (r->version != PMM_INJECT_VERSION || r->nr_ranges > PMM_MAX_RANGES ||
	    r->nr_patches > PMM_MAX_PATCHES || r->generation > UINT32_MAX || !ranges_sane(r) ||
	    !calls_sane(r))
		return false;
	for (uint32_t i = 0; i < r->nr_patches; i++)
		if (r->patch[i].applied > 1 ||
		    (r->patch[i].applied && !patch_sane(r, &r->patch[i])))
			return false;
	return true;
}

static const struct proc_map *map_around(const struct proc_maps *maps, uint64_t address)
{
	size_t low = 0, high = maps->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (maps->v[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < maps->nr && maps->v[low].start <= address ? &maps->v[low] : NULL;
}

/*
 * Only what is mapped as code, privately, is ever written to. A library that is gone has taken the
 * jump along.
 */
static void forget_unmapped(struct pmm_attach *r, const struct proc_maps *maps)
{
	for (uint32_t i = 0; i < r->nr_patches; i++) {
		struct pmm_patch *p = &r->patch[i];
		const struct proc_map *m = p->applied ? map_around(maps, p->address) : NULL;

		p->applied = m && p->nr_bytes <= m->end - p->address &&
			     (m->perms & (PROC_MAP_EXEC | PROC_MAP_SHARED)) == PROC_MAP_EXEC;
	}
}

/* ---- found ----------------------------------------------------------------------------------- */

/* Where the mappings of one file that begin with maps->v[i] end. */
static uint64_t file_end(const struct proc_maps *maps, size_t i)
{
	uint64_t end = maps->v[i].end;

	for (size_t k = i + 1;
	     k < maps->nr && maps->v[k].start == end && maps->v[k].ino == maps->v[i].ino &&
	     maps->v[k].dev_minor == maps->v[i].dev_minor && maps->v[k].offset;
	     k++)
		end = maps->v[k].end;
	return end;
}

/*
 * The ledger, by the kernel's word: a file of that inode is mapped. A forked child does not have it
 * mapped. The agent says where in it the ledger is, once it has started.
 */
static void take_tree(struct attached *a, const struct proc_maps *maps)
{
	for (size_t i = 0; i < maps->nr && !a->tree; i++) {
		const struct proc_map *m = &maps->v[i];

		if (m->offset || !m->ino || m->ino != a->record.tree_inode ||
		    !(m->perms & PROC_MAP_SHARED) || strncmp(m->path, TREE_PATH, strlen(TREE_PATH)))
			continue;
		a->tree = m->start;
		a->end = file_end(maps, i);
	}
	if (a->tree && a->record.leave_at && a->record.ledger_at > a->tree &&
	    a->record.ledger_at < a->end && a->record.ledger_at % PAGE == 0)
		a->ledger = a->record.ledger_at;
}

static bool is_record(const struct proc_map *m)
{
	return m->offset == PMM_AGENT_OFF && !(m->perms & PROC_MAP_SHARED) &&
	       !strncmp(m->path, RECORD_PATH, strlen(RECORD_PATH));
}

/* The first words of struct pmm_attach_record. */
struct head {
	uint64_t magic, current;
};

static uint64_t copy_at(const struct attached *a, uint64_t current)
{
	return a->at + offsetof(struct pmm_attach_record, copy) + current % 2 * sizeof(a->record);
}

/* 1; 0 when it was never completed; -errno. */
static int read_head(const struct attached *a, struct head *h)
{
	int rc = stop_read(a->pid, a->at, h, sizeof(*h));

	if (rc || !h->magic)
		return rc;
	return h->magic == PMM_ATTACH_MAGIC &&
			       h->current == pmm_attach_current((uint32_t)h->current)
		       ? 1
		       : -EBADMSG;
}

int attached_reread(struct attached *a)
{
	struct head before, after;
	int rc = read_head(a, &after);

	for (unsigned tries = 0; rc > 0 && tries < READ_TRIES; tries++) {
		before = after;
		rc = stop_read(a->pid, copy_at(a, before.current), &a->record, sizeof(a->record));
		if (!rc)
			rc = read_head(a, &after);
		/* else that copy may have been written to meanwhile */
		if (rc > 0 && after.current == before.current)
			return 1;
	}
	return rc > 0 ? -EAGAIN : rc;
}

/* 1; 0 when it was never completed; -errno. */
static int read_record(struct attached *a, const struct proc_maps *maps)
{
	int rc = attached_reread(a);

	if (rc <= 0)
		return rc == -EFAULT ? -EBADMSG : rc;
	if (!record_sane(&a->record))
		return -EBADMSG;
	forget_unmapped(&a->record, maps);
	take_tree(a, maps);
	return 1;
}

int attached_next(pid_t pid, const struct proc_maps *maps, struct attached_walk *w,
		  struct attached *a)
{
	for (int rc; w->i < maps->nr; ) {
		const struct proc_map *m = &maps->v[w->i++];

		if (!is_record(m))
			continue;
		if (w->nr++ == MAX_RECORDS)
			return -EBADMSG;
		memset(a, 0, sizeof(*a));
		a->pid = pid;
		a->at = m->start;
		rc = read_record(a, maps);
		if (rc)
			return rc;
	}
	return 0;
}

int attached_recording(pid_t pid, const struct proc_maps *maps, struct attached *a)
{
	struct attached *one = malloc(sizeof(*one));
	struct attached_walk walk = { 0 };
	int found = -ENOENT, is = one ? 0 : -ENOMEM;

	while (one && (is = attached_next(pid, maps, &walk, one)) > 0) {
		if (!one->tree)
			continue;
		found = found > 0;
		if (!one->record.monitor_pid ||
		    (found && one->record.generation < a->record.generation))
			continue;
		memcpy(a, one, sizeof(*a));
		found = 1;
	}
	free(one);
	return is < 0 ? is : found;
}

int attached_unclear(pid_t pid, int rc, struct err *e)
{
	if (rc != -EBADMSG)
		return err_set(e, rc, "cannot read the memory of process %d: %s", (int)pid,
			       strerror(-rc));
	err_set(e, rc,
		"pmm's record in process %d was overwritten: the process is left as it is",
		(int)pid);
	err_hint(e, "the program did so, or another version of pmm attached, which must detach");
	return rc;
}

/*
 * One that is watched goes before what others left, and of these the newest, whose jumps are on top
 * of those of the others.
 */
static bool goes_before(const struct attached *one, const struct attached *other)
{
	bool watched = attached_monitor(one), other_watched = attached_monitor(other);

	return watched != other_watched ? watched
					: one->record.generation > other->record.generation;
}

int attached_find(pid_t pid, struct attached *a, struct err *e)
{
	struct attached *one = malloc(sizeof(*one));	/* too large for a stack */
	struct proc_maps maps = { 0 };
	struct attached_walk walk = { 0 };
	int rc = one ? proc_maps_read(pid, &maps, e) : err_set(e, -ENOMEM, "out of memory"), nr = 0,
	    is = 0;

	memset(a, 0, sizeof(*a));
	a->pid = pid;
	while (!rc && (is = attached_next(pid, &maps, &walk, one)) > 0)
		if (!nr++ || goes_before(one, a))
			memcpy(a, one, sizeof(*a));
	if (is < 0)
		rc = attached_unclear(pid, is, e);
	proc_maps_fini(&maps);
	free(one);
	return rc ? rc : nr ? nr : -ENOENT;
}

uint64_t attached_own_space(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
}

static bool clock_ticks(const struct attached *a)
{
	const uint64_t at = a->tree + offsetof(struct pmm_tree, tick);
	uint32_t first, now;

	if (stop_read(a->pid, at, &first, sizeof(first)))
		return false;
	for (unsigned tries = 0; tries < SIGN_OF_LIFE_TRIES; tries++) {
		nanosleep(&(struct timespec){ .tv_nsec = SIGN_OF_LIFE_NS }, NULL);
		if (stop_read(a->pid, at, &now, sizeof(now)) || now != first)
			return now != first;
	}
	return false;
}

pid_t attached_monitor(const struct attached *a)
{
	pid_t pid = a->tree ? (pid_t)a->record.monitor_pid : 0;
	uint64_t start;

	if (pid > 0 && a->record.monitor_space != attached_own_space())
		return clock_ticks(a) ? pid : 0;
	return pid > 0 && !proc_start_time(pid, &start) && start == a->record.monitor_start &&
			       proc_alive(pid)
		       ? pid
		       : 0;
}

/* ---- one at a time -------------------------------------------------------------------------- */

uint64_t attached_new_owner(void)
{
	uint64_t n = 0;

	if (getrandom(&n, sizeof(n), GRND_NONBLOCK) != sizeof(n) || !n)
		n = (uint64_t)getpid() << 32 | (uint64_t)clock();
	return n;
}

/* Reads *a anew. 0, -ENOENT, -ESTALE, or -errno when it cannot be known. */
static int find_again(struct attached *a, const struct proc_maps *maps, struct attached *one)
{
	struct attached_walk walk = { 0 };
	int rc = -ENOENT, is;

	while ((is = attached_next(a->pid, maps, &walk, one)) > 0) {
		if (one->at == a->at && one->record.tree_inode == a->record.tree_inode) {
			if (!a->ledger && one->ledger)
				return -ESTALE;		/* its agent was about to start */
			*a = *one;
			rc = 0;
		} else if (one->record.generation > a->record.generation) {
			return -ESTALE;
		}
	}
	return is < 0 ? is : rc;
}

int attached_claim(struct attached *a, uint64_t owner)
{
	struct attached *one = malloc(sizeof(*one));
	struct proc_maps maps = { 0 };
	int rc = one ? proc_maps_read(a->pid, &maps, NULL) : -ENOMEM;

	if (!rc)
		rc = find_again(a, &maps, one);
	proc_maps_fini(&maps);
	free(one);
	if (rc)
		return rc;
	a->record.owner = owner;
	return attached_store(a);
}

bool attached_is_of(const struct attached *a, uint64_t owner)
{
	struct head h;
	uint64_t now;

	return read_head(a, &h) > 0 &&
	       !stop_read(a->pid, copy_at(a, h.current) + offsetof(struct pmm_attach, owner), &now,
			  sizeof(now)) &&
	       now == owner;
}

/* The copy, then the word that makes it current. */
static int write_copy(const struct attached *a, uint32_t nr)
{
	const uint64_t current = pmm_attach_current(nr);
	const uint64_t at = a->at + offsetof(struct pmm_attach_record, current);
	int rc = stop_write(a->pid, copy_at(a, current), &a->record, sizeof(a->record));

	return rc ? rc : stop_write(a->pid, at, &current, sizeof(current));
}

int attached_store(const struct attached *a)
{
	struct head h;
	int rc = read_head(a, &h);

	return rc > 0 ? write_copy(a, (uint32_t)h.current + 1) : rc ? rc : -ENOENT;
}

int attached_create(struct attached *a)
{
	const uint64_t magic = PMM_ATTACH_MAGIC;
	int rc;

	a->record.version = PMM_INJECT_VERSION;
	rc = write_copy(a, 0);
	return rc ? rc : stop_write(a->pid, a->at, &magic, sizeof(magic));
}

int attached_range(struct attached *a, enum pmm_range_use use, uint64_t start, uint64_t bytes)
{
	struct pmm_attach *r = &a->record;

	for (uint32_t i = 0; i < r->nr_ranges; i++)
		if (r->range[i].use == PMM_RANGE_NONE || r->range[i].start == start) {
			r->range[i] =
				(struct pmm_range){ .start = start, .bytes = bytes, .use = use };
			return 0;
		}
	if (r->nr_ranges == PMM_MAX_RANGES)
		return -ENOSPC;
	r->range[r->nr_ranges++] = (struct pmm_range){ .start = start, .bytes = bytes, .use = use };
	return 0;
}

void attached_limit_lower(const struct attached *a)
{
	uint64_t bytes = a->record.limit_raised_bytes, now = a->record.limit_raised_to,
		 most = a->record.limit_most_to;
	struct rlimit l;

	if (!bytes || prlimit(a->pid, RLIMIT_AS, NULL, &l))
		return;
	if (l.rlim_cur == now && now >= bytes)
		l.rlim_cur -= bytes;
	if (most && l.rlim_max == most && most - bytes >= l.rlim_cur)
		l.rlim_max -= bytes;
	prlimit(a->pid, RLIMIT_AS, &l, NULL);
}
