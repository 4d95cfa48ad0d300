/*
 * The memory file the ledger lies in: mapping it, claiming a slot.
 *
 * The whole file is mapped once without access and no descriptor is kept: programs close all descriptors, change root
 * and drop privileges, and forked children find their slot in the mapping they inherit.
 */
#include "agent/segment.h"

#include "agent/agent.h"
#include "agent/arena.h"
#include "agent/block.h"
#include "agent/clock.h"
#include "agent/ctx.h"
#include "agent/sys.h"

static bool tree_sane(const struct pmm_tree *t)
{
	return t->magic == PMM_TREE_MAGIC && t->version == PMM_LEDGER_VERSION && t->byte_order == PMM_BYTE_ORDER_MARK &&
	       t->word_bytes == 8 && t->nr_slots && t->nr_slots <= PMM_MAX_SLOTS && t->max_frames &&
	       t->max_frames <= PMM_MAX_FRAMES && t->slot_bytes >= PMM_ARENA_OFF + (1u << 20) &&
	       t->slot_bytes < 1ull << 38 && t->slots_off >= sizeof(*t) && t->slots_off < 1u << 20;
}

/* Was the limit raised already, by the image before exec or, where the child did not stop to say so, by its parent? enum pmm_limit. */
static uint32_t limit_inherited(const struct pmm_tree *t)
{
	uint32_t parent = (uint32_t)sys0(getppid);

	for (uint32_t i = 0; i < t->nr_slots; i++) {
		const struct pmm_slot *s = &t->slot[i];
		uint32_t state = LOAD(s->state), pid = LOAD(s->pid), raised = LOAD(s->limit_raised);

		if ((state == PMM_SLOT_LIVE || state == PMM_SLOT_REPLACED) && raised && (pid == (uint32_t)A.pid || pid == parent))
			return raised;
	}
	return PMM_LIMIT_AS_IT_WAS;
}

/* A limit on the address space is the program's, not ours: let it keep what it had. */
static void limit_make_room(const struct pmm_tree *t, uint64_t bytes)
{
	struct limit l = { UINT64_MAX, UINT64_MAX };
	uint32_t inherited;

	A.reserved_bytes = bytes;
	sys4(prlimit, 0, RLIMIT_AS, 0, &l);
	if (l.now == UINT64_MAX || A.compiled_in)	/* without hooks the program would see it */
		return;
	inherited = limit_inherited(t);
	A.limit_shifted = inherited;
	A.limit_has_pool = inherited == PMM_LIMIT_RAISED_POOL;
	if (A.limit_shifted || l.now + bytes > l.most)
		return;			/* no room: where the mapping fails, the agent stays off */
	l.now += bytes;
	A.limit_shifted = !sys_failed(sys4(prlimit, 0, RLIMIT_AS, &l, 0));
	A.limit_raised_bytes = A.limit_shifted ? bytes : 0;
}

bool segment_room(uint64_t bytes)
{
	struct limit l = { UINT64_MAX, UINT64_MAX };

	sys4(prlimit, 0, RLIMIT_AS, 0, &l);
	if (l.now != UINT64_MAX && !A.limit_has_pool) {
		l.now += bytes;
		if (!A.limit_shifted || l.now > l.most || sys_failed(sys4(prlimit, 0, RLIMIT_AS, &l, 0)))
			return false;
		A.limit_raised_bytes += bytes;
	}
	A.pool_bytes = bytes;
	segment_note_limit();
	return true;
}

void segment_note_limit(void)
{
	bool pool = A.pool_bytes || A.limit_has_pool;

	if (A.slot)
		STORE(A.slot->limit_raised, !A.limit_shifted ? PMM_LIMIT_AS_IT_WAS : pool ? PMM_LIMIT_RAISED_POOL : PMM_LIMIT_RAISED);
}

static void limit_restore(void)
{
	struct limit l;

	if (A.limit_raised_bytes && !sys_failed(sys4(prlimit, 0, RLIMIT_AS, 0, &l)) && l.now != UINT64_MAX) {
		l.now -= A.limit_raised_bytes;
		sys4(prlimit, 0, RLIMIT_AS, &l, 0);
		A.limit_shifted = false;
	}
	A.limit_raised_bytes = A.reserved_bytes = 0;
}

int segment_map_pages(int fd, size_t bytes, size_t shared)
{
	char *base;

	base = sys_mmap(bytes, SYS_PROT_NONE, SYS_MAP_SHARED | SYS_MAP_NORESERVE | (fd < 0 ? SYS_MAP_ANONYMOUS : 0), fd);
	if (!base)
		return -1;
	sys3(madvise, base, bytes, SYS_MADV_DONTDUMP);
	if (sys_failed(sys3(mprotect, base, (shared + ARCH_PAGE - 1) & ~(ARCH_PAGE - 1), SYS_PROT_READ | SYS_PROT_WRITE))) {
		sys2(munmap, base, bytes);
		return -1;
	}
	A.reserved_bytes = bytes;
	A.tree = (struct pmm_tree *)base;
	return 0;
}

int segment_map(int fd, const uint64_t *cookie)
{
	struct pmm_tree *t = sys_mmap(sizeof(*t), SYS_PROT_READ | SYS_PROT_WRITE, SYS_MAP_SHARED, fd);
	size_t bytes, shared;
	bool sane;

	if (!t)
		return -1;
	sane = tree_sane(t) && (!cookie || t->cookie == *cookie);
	bytes = sane ? t->slots_off + t->slot_bytes * t->nr_slots : 0;
	shared = sane && t->flags & PMM_TREE_ATTACHED ? t->slots_off : sizeof(*t);	/* struct pmm_attach follows */
	if (sane)
		limit_make_room(t, bytes);
	sys2(munmap, t, sizeof(*t));
	if (!sane)
		return -1;
	if (segment_map_pages(fd, bytes, shared)) {
		limit_restore();
		return -1;
	}
	return 0;
}

void segment_unmap(void)
{
	if (!A.tree)
		return;
	sys2(munmap, A.tree, A.reserved_bytes);
	limit_restore();
	A.tree = NULL;
	A.ledger = NULL;
}

/*
 * The slot is ours. A child that may have errors with blocks of its parent says whose slot is to be left as it is, and that again whose is: until
 * now A.slot is the parent's.
 */
static void slot_enter(struct pmm_slot *s)
{
	bool needs_parent = A.slot && A.tree->check.level != PMM_CHECK_NONE;

	STORE(s->parent_use, A.slot_use);
	STORE_RELEASE(s->parent, needs_parent ? (uint32_t)(A.slot - A.tree->slot) + 1 : 0);
	A.slot = s;
	A.slot_use = LOAD(s->use);
	segment_note_limit();
	STORE(s->leave, PMM_LEAVE_NOT);
}

static char *slot_base(uint32_t i)
{
	return (char *)A.tree + A.tree->slots_off + A.tree->slot_bytes * (uint64_t)i;
}

/* The inode of our pid namespace, low bits; 0: not known. */
static uint32_t pid_space(void)
{
	char text[32];
	long n = A.confined ? -1 : sys3(readlink, "/proc/thread-self/ns/pid", text, sizeof(text) - 1);
	uint64_t ino = 0;

	if (n > 5 && n < (long)sizeof(text)) {
		text[n] = '\0';
		str_number(text + 5, 10, &ino);		/* pid:[NUMBER] */
	}
	return (uint32_t)ino;
}

/* Give back the memory of a slot whose process has ended. False: this kernel will not. */
static bool slot_empty(uint32_t i)
{
	uint64_t bytes = A.tree->slot_bytes;
	char *base = slot_base(i);
	bool ok = !sys_failed(sys3(mprotect, base, bytes, SYS_PROT_READ | SYS_PROT_WRITE)) && !sys_failed(sys3(madvise, base, bytes, SYS_MADV_REMOVE));

	sys3(mprotect, base, bytes, SYS_PROT_NONE);
	return ok;
}

/*
 * Without a monitor nobody else empties the slots of processes that have ended, and a daemon that forks for every request would run out of them. Whether
 * one has ended can be asked where its number is one of our own pid namespace.
 */
static void slots_reclaim(uint32_t space)
{
	for (uint32_t i = 0; space && i < A.tree->nr_slots; i++) {
		struct pmm_slot *s = &A.tree->slot[i];
		uint32_t pid = LOAD(s->pid), live = PMM_SLOT_LIVE;

		if (slot_base(i) == A.base || LOAD(s->state) != PMM_SLOT_LIVE || !pid || LOAD(s->pid_space) != space ||
		    sys3(tgkill, pid, pid, 0) != -SYS_ESRCH || !CAS(s->state, live, PMM_SLOT_TAKEN))
			continue;
		ADD(s->use, 1);
		if (!slot_empty(i))
			continue;		/* it stays taken */
		STORE(s->pid, 0);
		STORE(s->pid_space, 0);
		STORE_RELEASE(s->state, PMM_SLOT_FREE);
	}
}

static int slot_take(bool new_image)
{
	uint32_t pid = (uint32_t)A.pid, space = A.tree->flags & PMM_TREE_STANDALONE ? pid_space() : 0;

	if (!space && !new_image && A.slot && !A.confined && (uint32_t)sys0(getppid) == LOAD(A.slot->pid))
		space = LOAD(A.slot->pid_space);	/* no /proc; our parent is of our own name space */
	slots_reclaim(space);
	for (uint32_t i = 0; new_image && i < A.tree->nr_slots; i++) {
		struct pmm_slot *s = &A.tree->slot[i];

		if (LOAD(s->pid) == pid) {		/* the image before exec */
			uint32_t live = PMM_SLOT_LIVE;

			CAS(s->state, live, PMM_SLOT_REPLACED);
		}
	}
	for (uint32_t i = 0; i < A.tree->nr_slots; i++) {
		struct pmm_slot *s = &A.tree->slot[i];
		uint32_t free = PMM_SLOT_FREE;

		if (slot_base(i) == A.base)
			continue;		/* an ended parent's: ours is told from it by where it is */
		if (LOAD(s->state) == PMM_SLOT_FREE && CAS(s->state, free, PMM_SLOT_LIVE)) {
			slot_enter(s);
			STORE(s->pid_space, space);
			STORE_RELEASE(s->pid, pid);
			return (int)i;
		}
	}
	return -1;
}

static long file_read(const char *path, char *to, size_t bytes)
{
	int fd = sys_open(path, SYS_O_RDONLY);
	long n;

	if (fd < 0)
		return 0;
	n = sys3(read, fd, to, bytes);
	sys1(close, fd);
	return n < 0 ? 0 : n;
}

/* Who we are, for the reader. Uses the scratch memory: no stack to spare here. */
static void describe(struct pmm_ledger *l)
{
	char *s = A.scratch;
	long n = file_read("/proc/self/comm", s, 16);

	if (n > 1)
		memcpy(l->comm, s, (size_t)n - 1);
	else
		sys2(prctl, 16 /* PR_GET_NAME */, l->comm);
	n = file_read("/proc/thread-self/cmdline", s, 4096);
	l->cmdline = n ? arena_string(s, (size_t)n) : 0;
	l->cmdline_len = l->cmdline ? (uint32_t)n : 0;
	n = sys3(readlink, "/proc/thread-self/exe", s, 4096);
	l->exe = n > 0 ? arena_string(s, (size_t)n) : 0;
	l->exe_len = l->exe ? (uint32_t)n : 0;
	if (A.allocator_path) {
		n = (long)str_length(A.allocator_path);
		l->allocator = arena_string(A.allocator_path, (size_t)n);
		l->allocator_len = l->allocator ? (uint32_t)n : 0;
	}
}

void segment_forking(void)
{
	if (LOAD(A.state) == AGENT_ON)
		ADD(A.tree->forks_begun, 1);
}

void segment_forked(void)
{
	if (LOAD(A.state) != AGENT_ON)
		return;
	A.pid = A.confined ? (int)ctx_tid(arch_thread_pointer()) : (int)sys0(getpid);
	A.reserved_slot = A.tree->flags & PMM_TREE_FOLLOW ? slot_take(false) : -1;
	ADD(A.tree->forks_seen, 1);
}

int segment_claim(bool new_image)
{
	unsigned node_bits = A.tree->mode == PMM_MODE_SAMPLED ? PMM_NODE_HASH_FEW_BITS : PMM_NODE_HASH_BITS;
	int slot = A.reserved_slot;
	struct pmm_ledger *l;

	A.reserved_slot = -1;
	if (slot < 0)
		slot = slot_take(new_image);

	if (slot < 0)
		return -1;
	A.base = slot_base((uint32_t)slot);
	A.ledger = l = (struct pmm_ledger *)A.base;
	if (sys_failed(sys3(mprotect, A.base, PMM_ARENA_OFF, SYS_PROT_READ | SYS_PROT_WRITE)) ||
	    !arena_back(0, PMM_HEADER_BYTES) ||
	    !arena_back(PMM_NODE_HASH_OFF, PMM_NODE_HASH_OFF + (4ull << node_bits))) {
		STORE(A.tree->slot[slot].state, PMM_SLOT_FREE);
		return -1;
	}
	A.node_fewer = PMM_NODE_HASH_BITS - node_bits;
	A.node_more = NULL;
	A.spot_hash = NULL;
	A.node_more_tried = 0;
	l->version = PMM_LEDGER_VERSION;
	l->header_bytes = sizeof(*l);
	l->pid = (uint32_t)A.pid;
	l->ppid = A.confined ? 0 : (uint32_t)sys0(getppid);
	l->arena_off = l->arena_used = l->arena_ready = PMM_ARENA_OFF;
	l->arena_end = A.tree->slot_bytes;
	if (A.tree->limit_bytes < l->arena_end - PMM_ARENA_OFF)
		l->arena_end = PMM_ARENA_OFF + (A.tree->limit_bytes & ~(PMM_PAGE - 1));
	l->nr_nodes = l->nr_sites = l->nr_modules = l->nr_stamps = l->nr_spots = 1;
	l->dense = A.dense;
	l->compiled_in = A.compiled_in;
	l->mapping.brk_start = l->mapping.brk_now = l->mapping.brk_max = (uint64_t)sys1(brk, 0);
	block_init();
	clock_check();
	l->start_tick = clock_now();
	l->image = arch_cycles();
	if (!A.confined)
		describe(l);
	STORE(l->state, PMM_STATE_RUNNING);
	STORE_RELEASE(l->magic, PMM_LEDGER_MAGIC);
	return 0;
}
