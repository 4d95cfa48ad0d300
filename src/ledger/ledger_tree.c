/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The board, and the head of an attached process's ledger file; their layout is
 * include/pmm/ledger.h.
 */
#include "src/ledger/ledger_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "src/base/nanotime.h"
#include "src/proc/limits.h"
#include "src/proc/proc.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x10 /* Linux 5.1 */
#endif

#define LATE_TICKS 100 /* a thread may be between looking at the clock and setting the tick */
#define MIB		(1ull << 20)
#define SLOTS_OFF	(64ull << 10)
#define ALIGN_BYTES	(2 * MIB) /* of a slot's size */
#define MIN_SLOT_BYTES	(PMM_ARENA_OFF + 2 * MIB)
#define MAX_SLOT_BYTES	(128ull << 30) /* the agent refuses more than 256 GiB */
#define MAX_LIMIT_BYTES (16ull << 30)  /* unless the user says so */
#define MAX_TREE_BYTES	(16ull << 40)  /* of the program's 128 TiB of address space */

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static size_t head_bytes(void)
{
	return round_up(sizeof(struct pmm_tree), PMM_PAGE);
}

uint64_t ledger_tree_default_limit(pid_t pid)
{
	uint64_t ram = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t group = limits_cgroup("", pid ? pid : getpid());

	if (group < ram)
		ram = group;
	return ram / 4 < MAX_LIMIT_BYTES ? ram / 4 : MAX_LIMIT_BYTES;
}

/*
 * Address space that ledgers may take of the program's: a quarter of a limited one, or half where
 * that holds none.
 */
static uint64_t space_for(const struct ledger_tree_options *o)
{
	uint64_t space = o->space_bytes / 4;

	if (space < SLOTS_OFF + MIN_SLOT_BYTES)
		space = o->space_bytes / 2;
	if (space > MAX_TREE_BYTES)
		space = MAX_TREE_BYTES;
	if (space > o->file_bytes)
		space = o->file_bytes;
	return space < SLOTS_OFF ? 0 : space - SLOTS_OFF;
}

/* Size of a ledger: `want` bytes for its arena, or what the limits leave. */
static int plan(const struct ledger_tree_options *o, uint64_t want, uint64_t *slot_bytes)
{
	uint64_t space = space_for(o), slot = MAX_SLOT_BYTES;

	if (space < MIN_SLOT_BYTES)
		return -ENOMEM;
	if (want < slot - PMM_ARENA_OFF)
		slot = round_up(PMM_ARENA_OFF + want, ALIGN_BYTES);
	if (slot > space)
		slot = space / ALIGN_BYTES * ALIGN_BYTES;
	*slot_bytes = slot;
	return 0;
}

/* Random bytes that programs cannot know; of the clock where the kernel has none yet. */
static uint64_t random_word(void)
{
	uint64_t n;

	return getrandom(&n, sizeof(n), GRND_NONBLOCK) == sizeof(n)
		       ? n
		       : nanotime() * 0x9e3779b97f4a7c15ull;
}

static bool check_is_sane(const struct pmm_check *c)
{
	return c->level < PMM_NR_CHECK_LEVELS && c->on_error <= PMM_ON_ERROR_CORE &&
	       c->garbage <= UINT8_MAX && c->fail_ppb <= 1000000000;
}

/*
 * Processes of a tree make secrets of their own: who could read that of one could forge canaries in
 * all.
 */
static void write_check(struct pmm_check *to, const struct pmm_check *asked, bool attached)
{
	if (asked->level == PMM_CHECK_NONE)
		return;
	*to = *asked;
	to->secret = attached ? random_word() : 0;
	to->max_guarded = asked->max_guarded < PMM_MAX_GUARDS ? asked->max_guarded : PMM_MAX_GUARDS;
}

static void write_monitor(struct pmm_tree *h)
{
	h->monitor_pid = (uint32_t)getpid();
	h->monitor_uid = geteuid();
	if (proc_start_time(getpid(), &h->monitor_start))
		h->monitor_start = 0;	/* processes then go by the user alone */
}

static void write_head(struct ledger_tree *t, const struct ledger_tree_options *o, uint64_t want,
		       uint64_t slot_bytes)
{
	struct pmm_tree *h = t->head;
	uint64_t most = slot_bytes - PMM_ARENA_OFF;

	h->version = PMM_LEDGER_VERSION;
	h->byte_order = PMM_BYTE_ORDER_MARK;
	h->word_bytes = sizeof(void *);
	h->nr_slots = 1;
	h->slot_bytes = t->slot_bytes = slot_bytes;
	h->slots_off = t->slots_off = SLOTS_OFF;
	h->mode = o->mode;
	h->flags = (o->follow ? PMM_TREE_FOLLOW : 0) | (o->attached ? PMM_TREE_ATTACHED : 0) |
		   (o->leaks ? PMM_TREE_LEAKS : 0) | (o->data_raised ? PMM_TREE_DATA : 0);
	h->sample_bytes = o->sample_bytes;
	h->min_size_bytes = o->min_size_bytes;
	h->warn_size_bytes = o->warn_size_bytes;
	h->limit_bytes = want < most ? want : most;
	h->max_frames = o->max_frames ? o->max_frames : 128;
	write_monitor(h);
	h->cookie = t->cookie = random_word();
	write_check(&h->check, &o->check, o->attached);
	h->start_realtime_ns = nanotime_of(CLOCK_REALTIME);
	h->start_monotonic_ns = t->start_monotonic_ns = nanotime();
	t->shrunk = want > most;
	t->follow = o->follow;
	__atomic_store_n(&h->magic, PMM_TREE_MAGIC, __ATOMIC_RELEASE);
}

static int no_memory(struct err *e, const char *what, int code)
{
	if (code == -EMFILE)
		return err_no_file(e, code, "cannot make the file of the ledger");
	err_set(e, code, "no memory for the ledger: %s: %s", what, strerror(-code));
	err_hint(e, "raise the limits of address space and file size (ulimit -v, ulimit -f) and of "
		    "the control group");
	return code;
}

static void no_room(struct err *e, const struct ledger_tree_options *o, int code)
{
	const unsigned least = (unsigned)(round_up(SLOTS_OFF + MIN_SLOT_BYTES, MIB) / MIB);

	err_set(e, code,
		"no memory for the ledger: it takes limits of %u MiB of address space and %u MiB "
		"of file size at least",
		2 * least, least);
	if (o->attached)
		err_hint(e, "raise those of the process: prlimit --pid %d --as=BYTES --fsize=BYTES",
			 (int)o->pid);
	else
		err_hint(e, "raise them (ulimit -v, ulimit -f)");
}

/* Give the file its size and map the head for writing. */
static int map_head(struct ledger_tree *t, uint64_t bytes, struct err *e)
{
	if (ftruncate(t->fd, (off_t)bytes) || fallocate(t->fd, 0, 0, (off_t)head_bytes()))
		return no_memory(e, "sizing the file", -errno);
	t->head = mmap(NULL, head_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, t->fd, 0);
	if (t->head != MAP_FAILED)
		return 0;
	t->head = NULL;
	return no_memory(e, "mapping it", -errno);
}

/* `more`: a seal that old kernels do not know, and do without. */
static int seal(int fd, int more)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

	if (more && !fcntl(fd, F_ADD_SEALS, seals | more))
		return 0;
	return fcntl(fd, F_ADD_SEALS, seals) ? -errno : 0;
}

/* Checks, size, head; t->fd is open. */
static int make(struct ledger_tree *t, const struct ledger_tree_options *o, struct err *e)
{
	uint64_t want, slot_bytes;
	int rc;

	if (!check_is_sane(&o->check))
		return err_set(e, -EINVAL,
			       "heap errors cannot be checked for as asked: level %u, on error %u",
			       o->check.level, o->check.on_error);
	want = o->limit_bytes ? o->limit_bytes : ledger_tree_default_limit(o->pid);
	rc = plan(o, want, &slot_bytes);
	if (rc) {
		no_room(e, o, rc);
		return rc;
	}
	rc = map_head(t, o->attached ? SLOTS_OFF + slot_bytes : head_bytes(), e);
	if (rc)
		return rc;
	write_head(t, o, want, slot_bytes);
	rc = seal(t->fd, o->attached ? 0 : F_SEAL_FUTURE_WRITE);
	return rc ? no_memory(e, "sealing it", rc) : 0;
}

int ledger_tree_init(struct ledger_tree *t, const struct ledger_tree_options *o, struct err *e)
{
	int fd = memfd_create(o->attached ? PMM_MEMFD_NAME : PMM_BOARD_NAME,
			      MFD_CLOEXEC | MFD_ALLOW_SEALING);

	*t = (struct ledger_tree){ .fd = -1 };
	if (fd < 0)
		return no_memory(e, "memfd_create", -errno);
	return ledger_tree_init_fd(t, fd, o, e);
}

int ledger_tree_init_fd(struct ledger_tree *t, int fd, const struct ledger_tree_options *o,
			struct err *e)
{
	int rc;

	*t = (struct ledger_tree){ .fd = fd };
	rc = make(t, o, e);
	if (rc)
		ledger_tree_fini(t);
	return rc;
}

void ledger_tree_fini(struct ledger_tree *t)
{
	if (t->head)
		munmap(t->head, head_bytes());
	if (t->fd >= 0)
		close(t->fd);
	*t = (struct ledger_tree){ .fd = -1 };
}

uint64_t ledger_tree_file_bytes(const struct ledger_tree *t)
{
	return t->slots_off + t->slot_bytes;
}

int ledger_tree_file(const struct ledger_tree *t)
{
	int fd = memfd_create(PMM_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING), rc;

	if (fd < 0)
		return -errno;
	rc = ftruncate(fd, (off_t)ledger_tree_file_bytes(t)) ? -errno : seal(fd, 0);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

uint64_t ledger_tree_now_ns(const struct ledger_tree *t)
{
	return nanotime() - t->start_monotonic_ns;
}

uint64_t ledger_tree_tick(struct ledger_tree *t)
{
	uint64_t ns = ledger_tree_now_ns(t);
	uint32_t now = (uint32_t)(ns / PMM_TICK_NS);
	uint32_t was = __atomic_load_n(&t->head->tick, __ATOMIC_RELAXED);

	/* not backwards where another thread was quicker */
	if (now - was - 1 < UINT32_MAX - LATE_TICKS)
		__atomic_store_n(&t->head->tick, now, __ATOMIC_RELAXED);
	return ns;
}

uint64_t ledger_tree_calm_ns(const struct ledger_tree *t)
{
	return t->head->mode == PMM_MODE_SAMPLED ? 5 * PMM_TICK_NS : PMM_TICK_NS;
}
