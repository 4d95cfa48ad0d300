/* SPDX-License-Identifier: MIT */
/*
 * The memory file that this process's ledger is in.
 *
 * A ledger is trusted by the agent in its process: its own lists hang off it. So it is this
 * process's alone. No descriptor is kept and no child inherits the mapping (MADV_DONTFORK),
 * whatever forks it and however, so that one that gives up privileges afterwards has nothing of its
 * parent's. A forked child makes a file of its own at its first event; until then agent.file,
 * agent.base, agent.ledger and agent.slot point to nothing there (agent_begun()).
 */
#include "agent/segment.h"

#include "agent/agent.h"
#include "agent/agent_arena.h"
#include "agent/block.h"
#include "agent/clock.h"
#include "agent/ctx.h"
#include "agent/limit.h"
#include "agent/sys.h"

bool segment_sane(const struct pmm_tree *t)
{
	return t->magic == PMM_TREE_MAGIC && t->version == PMM_LEDGER_VERSION &&
	       t->byte_order == PMM_BYTE_ORDER_MARK && t->word_bytes == 8 && t->nr_slots == 1 &&
	       t->max_frames && t->max_frames <= PMM_MAX_FRAMES &&
	       t->slot_bytes >= PMM_ARENA_OFF + (1u << 20) && t->slot_bytes < 1ull << 38 &&
	       t->slots_off >= sizeof(*t) && t->slots_off < 1u << 20 && !(t->slots_off % ARCH_PAGE);
}

int segment_map(int fd, uint64_t bytes)
{
	const uint64_t head = (sizeof(struct pmm_tree) + ARCH_PAGE - 1) & ~(ARCH_PAGE - 1);
	char *at;

	limit_make_room(bytes);
	at = sys_mmap(bytes, SYS_PROT_NONE,
		      SYS_MAP_SHARED | SYS_MAP_NORESERVE | (fd < 0 ? SYS_MAP_ANONYMOUS : 0), fd);
	if (!at) {
		limit_restore();
		return -1;
	}
	sys3(madvise, at, bytes, SYS_MADV_DONTDUMP);
	agent.file = at;
	if (sys_failed(sys3(madvise, at, bytes, SYS_MADV_DONTFORK)) ||
	    sys_failed(sys3(mprotect, at, head, SYS_PROT_READ | SYS_PROT_WRITE))) {
		segment_unmap();
		return -1;
	}
	return 0;
}

void segment_unmap(void)
{
	if (!agent.file)
		return;
	sys2(munmap, agent.file, agent.reserved_bytes);
	limit_restore();
	if ((const char *)agent.tree == agent.file)
		agent.tree = NULL;
	agent.file = agent.base = NULL;
	agent.ledger = NULL;
	agent.slot = NULL;
}

/*
 * Kernels before 5.14 do not know MADV_POPULATE_WRITE: let the kernel itself write to each page,
 * which fails politely. It adds 0 to a word: other threads may already use the page.
 */
static bool touch_pages(char *at, const char *end)
{
	for (; at < end; at += ARCH_PAGE)
		if (sys_failed(arch_syscall(ARCH_SYS_futex, (long)at, SYS_FUTEX_WAKE_OP_PRIVATE, 0,
					    0, (long)at, SYS_FUTEX_ADD_0)))
			return false;
	return true;
}

static bool allow(char *at, uint64_t bytes)
{
	return !sys_failed(sys3(mprotect, at, bytes, SYS_PROT_READ | SYS_PROT_WRITE));
}

/* Pages that may be written to have backing, or that fails. */
static bool populate(char *at, uint64_t bytes)
{
	long ret = sys3(madvise, at, bytes, SYS_MADV_POPULATE_WRITE);

	if (ret != -SYS_EINVAL)
		return !sys_failed(ret);
	agent.touches_pages = true;
	return touch_pages(at, at + bytes);
}

bool segment_back(char *at, uint64_t bytes)
{
	return allow(at, bytes) && populate(at, bytes);
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

static pmm_ref text_note(const char *text, uint32_t *length)
{
	size_t n = str_length(text);
	pmm_ref at = n ? arena_string(text, n) : 0;

	*length = at ? (uint32_t)n : 0;
	return at;
}

/* A look at a block's size is missing nowhere, but it is why nothing is checked. */
static void own_note(struct pmm_ledger *l)
{
	const struct own_called *own = &agent.own_called;

	if (!LOAD_ACQUIRE(own->function) || (own->looks && !agent.tree->check.level))
		return;
	l->own_caller = text_note(own->caller, &l->own_caller_len);
	l->own_looks = own->looks;
	l->own_late = own->late;
	STORE_RELEASE(l->own_function, text_note(own->function, &l->own_function_len));
}

void segment_note_own(void)
{
	if (agent_begun())
		own_note(agent.ledger);
}

/* Who we are, for the reader. Uses the scratch memory: no stack to spare here. */
static void describe(struct pmm_ledger *l)
{
	char *s = agent.scratch;
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
	if (agent.allocator_path)
		l->allocator = text_note(agent.allocator_path, &l->allocator_len);
	own_note(l);
}

/*
 * The file's head, where it is not what we have our options from: those again, for readers, and our
 * slot.
 */
static bool head_write(void)
{
	struct pmm_tree *head = (struct pmm_tree *)agent.file;

	if (head != agent.tree) {
		if (!segment_back(agent.file, ARCH_PAGE))
			return false;
		*head = *agent.tree;
		head->cookie = 0;
		if (agent.own_called.function)
			head->check.level = PMM_CHECK_NONE;
		head->life[0] = head->life[1] = 0;
		head->slot[0] = (struct pmm_slot){ .state = PMM_SLOT_FREE };
	}
	agent.slot = &head->slot[0];
	return true;
}

/* The parts of a ledger that have to be there from the start. */
static bool ledger_back(void)
{
	const uint64_t header = (sizeof(struct pmm_ledger) + ARCH_PAGE - 1) & ~(ARCH_PAGE - 1ull);

	return allow(agent.base, PMM_ARENA_OFF) && populate(agent.base, header) &&
	       populate(agent.base + PMM_NODE_HASH_OFF, PMM_NODE_HASH_BYTES);
}

static void ledger_begin(struct pmm_ledger *l)
{
	l->version = PMM_LEDGER_VERSION;
	l->header_bytes = sizeof(*l);
	l->pid = (uint32_t)agent.pid;
	l->ppid = agent.confined ? 0 : (uint32_t)sys0(getppid);
	l->arena_off = l->arena_used = l->arena_ready = PMM_ARENA_OFF;
	l->arena_end = agent.reserved_bytes - agent.tree->slots_off;
	if (agent.tree->limit_bytes < l->arena_end - PMM_ARENA_OFF)
		l->arena_end = PMM_ARENA_OFF + (agent.tree->limit_bytes & ~(PMM_PAGE - 1));
	l->nr_nodes = l->nr_sites = l->nr_modules = l->nr_stamps = l->nr_srclocs = 1;
	l->dense = agent.dense;
	l->compiled_in = agent.compiled_in;
	l->mapping.brk_start = l->mapping.brk_now = l->mapping.brk_max = (uint64_t)sys1(brk, 0);
	block_init();
	clock_begin();
	l->start_tick = clock_now();
	l->image = arch_cycles();
	if (!agent.confined)
		describe(l);
}

int segment_claim(bool new_image)
{
	agent.file = agent.base = NULL;
	agent.ledger = NULL;
	agent.slot = NULL;
	if (segment_file())
		return -1;
	agent.base = agent.file + agent.tree->slots_off;
	if (!head_write() || !ledger_back()) {
		segment_unmap();
		return -1;
	}
	agent.ledger = (struct pmm_ledger *)agent.base;
	agent.srcloc_hash = NULL;
	ledger_begin(agent.ledger);
	STORE(agent.slot->leave, PMM_LEAVE_NOT);
	STORE(agent.slot->limit_raised, limit_state());
	STORE(agent.slot->pid, (uint32_t)agent.pid);
	STORE_RELEASE(agent.slot->state, PMM_SLOT_LIVE);
	STORE(agent.ledger->state, PMM_STATE_RUNNING);
	STORE_RELEASE(agent.ledger->magic, PMM_LEDGER_MAGIC);
	segment_publish(new_image);
	return 0;
}
