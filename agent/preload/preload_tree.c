/* SPDX-License-Identifier: MIT */
/*
 * Where the ledger of a program that was started with the agent in it is: in a file of this
 * process's own, which the monitor is given where there is one. Without one 'pmm report PID' finds
 * it through the process.
 */
#include "agent/agent.h"
#include "agent/ctx.h"
#include "agent/env.h"
#include "agent/limit.h"
#include "agent/preload/preload_channel.h"
#include "agent/segment.h"
#include "agent/sys.h"

#define OWN_HEAD	(64ull << 10)
#define F_ADD_SEALS	1033
#define SEALS		7	/* the size stays, and so do the seals: readers may map it */
#define PR_GET_SECCOMP	21

/*
 * MFD_CLOEXEC, MFD_ALLOW_SEALING and, where the kernel knows it (6.3), MFD_NOEXEC_SEAL, which some
 * systems ask for
 */
#define MFD_OLD		3u
#define MFD_NEW		(MFD_OLD | 8u)

/* What an arena may take where no monitor says so. The first that there is room for. */
static const uint32_t arena_mib[] = { 4096, 1024, 256, 128, 64, 32, 8 };

static struct pmm_tree own;	/* the options without a monitor */
static int file_fd = -1;	/* from segment_file() to segment_publish() */

static bool alone(void)
{
	return agent.tree == &own;
}

static void own_init(void)
{
	own.version = PMM_LEDGER_VERSION;
	own.byte_order = PMM_BYTE_ORDER_MARK;
	own.word_bytes = 8;
	own.nr_slots = 1;
	own.slots_off = OWN_HEAD;
	own.flags = PMM_TREE_FOLLOW | PMM_TREE_STANDALONE;
	own.max_frames = 128;
	own.start_realtime_ns = sys_clock_ns(SYS_CLOCK_REALTIME);
	own.start_monotonic_ns = sys_clock_ns(SYS_CLOCK_MONOTONIC);
	own.magic = PMM_TREE_MAGIC;
	agent.tree = &own;
}

bool segment_closed(void)
{
	const char *monitor = env_get(PMM_ENV);

	return monitor && *monitor == PMM_ENV_CLOSED;
}

int segment_open(void)
{
	const struct pmm_tree *board = channel_open();

	/*
	 * compiled in, a limit is not ours to raise: the monitor's ledgers may be too large for it
	 */
	if (board && (!segment_sane(board) ||
		      (agent.compiled_in && board->slot_bytes > limit_of(RLIMIT_AS) / 8))) {
		sys2(munmap, board, sizeof(*board));
		board = NULL;
	}
	agent.monitored = board;
	agent.tree = board;
	if (!board)
		own_init();
	return 0;
}

uint32_t limit_inherited(void)
{
	int32_t answer = agent.monitored ? channel_ask(PMM_SAY_LIMIT, NULL) : PMM_LIMIT_AS_IT_WAS;

	return answer > 0 && answer <= PMM_LIMIT_RAISED_POOL ? (uint32_t)answer
							     : PMM_LIMIT_AS_IT_WAS;
}

static int file_make(void)
{
	int fd = (int)sys2(memfd_create, PMM_MEMFD_NAME, MFD_NEW);

	return fd == -SYS_EINVAL ? (int)sys2(memfd_create, PMM_MEMFD_NAME, MFD_OLD) : fd;
}

/* Growing a file beyond RLIMIT_FSIZE is a signal, not an error. */
static bool may_grow(uint64_t bytes)
{
	return bytes <= limit_of(RLIMIT_FSIZE);
}

/* Make it so large and map it. */
static int file_map(int fd, uint64_t bytes)
{
	if (!may_grow(bytes) || sys_failed(sys2(ftruncate, fd, bytes)) || segment_map(fd, bytes))
		return -1;
	sys3(fcntl, fd, F_ADD_SEALS, SEALS);
	return 0;
}

/* With the size that the monitor wants, by the monitor where this process may not. */
static int file_for_monitor(void)
{
	uint64_t bytes = agent.tree->slots_off + agent.tree->slot_bytes;
	int fd, ret;

	if (may_grow(bytes)) {
		file_fd = file_make();
		ret = file_fd < 0 ? -1 : file_map(file_fd, bytes);
		if (ret && file_fd >= 0) {
			sys1(close, file_fd);
			file_fd = -1;
		}
		return ret;
	}
	if (channel_ask(PMM_SAY_FILE, &fd) < 0 || fd < 0)
		return -1;
	ret = segment_map(fd, bytes);
	sys1(close, fd);
	return ret;
}

/*
 * As large as may be. Without a file only the program itself sees it. A limited address space is
 * the program's: hooks can raise the limit and hide that; compiled in, we take an eighth.
 */
static int file_alone(bool files)
{
	uint64_t space = agent.compiled_in ? limit_of(RLIMIT_AS) / 8 : UINT64_MAX;
	unsigned nr = sizeof(arena_mib) / sizeof(arena_mib[0]);
	int fd = files ? file_make() : -1, ret = -1;

	for (unsigned i = 0; i < 2 * nr && ret; i++) {
		bool is_file = i < nr;

		if (is_file ? fd < 0 : !agent.compiled_in)
			continue;
		own.slot_bytes = PMM_ARENA_OFF + ((uint64_t)arena_mib[i % nr] << 20);
		own.limit_bytes = own.slot_bytes - PMM_ARENA_OFF;
		if (OWN_HEAD + own.slot_bytes <= space)
			ret = is_file ? file_map(fd, OWN_HEAD + own.slot_bytes)
				      : segment_map(-1, OWN_HEAD + own.slot_bytes);
	}
	if (fd >= 0)
		sys1(close, fd);
	return ret;
}

/*
 * Under a seccomp filter that this process has set itself, what it takes to make a file may be what
 * the filter kills for (agent.no_files). Compiled in, we cannot know: no file for children then,
 * but memory.
 */
static bool may_make_files(void)
{
	if (agent.confined)
		return !agent.no_files;
	return !agent.compiled_in || !agent.generation || !sys1(prctl, PR_GET_SECCOMP);
}

int segment_file(void)
{
	bool files = may_make_files();

	if (alone())
		return files || agent.compiled_in ? file_alone(files) : -1;
	return files ? file_for_monitor() : -1;
}

void segment_publish(bool new_image)
{
	if (file_fd < 0)
		return;
	channel_say(PMM_SAY_HERE, new_image, 0, file_fd);
	sys1(close, file_fd);
	file_fd = -1;
}

void segment_lost(void)
{
	if (agent.monitored && may_make_files())
		channel_say(PMM_SAY_LOST, false, 0, -1);
}
