/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of events, the table of kinds of records, and what follows from them. */
#include "src/kernel/event_class.h"

#include <errno.h>
#include <string.h>

#include "src/base/str.h"

#define GROUP(name)	(1u << KERNEL_##name)

const struct event_class_info event_classes[EVENT_NR_CLASSES] = {
	[EVENT_MMAP] = { "mmap", "mappings made, changed and removed, by stack",
			 "mmapsnoop", GROUP(CALLS) },
	[EVENT_BRK] = { "brk", "every change of the program break, by stack", "brkstack",
			GROUP(CALLS) },
	[EVENT_SHM] = { "shm", "System V and POSIX shared memory", "shmsnoop", GROUP(CALLS) },
	[EVENT_FAULTS] = { "faults",
			   "page faults by kind of memory, file, process and stack",
			   "faults, ffaults, hfaults", GROUP(FAULTS) | GROUP(MAJOR), true },
	[EVENT_MAJOR] = { "major",
			  "page faults that wait for a file to be read, by stack",
			  "ffaults", GROUP(MAJOR) },
	[EVENT_SWAP] = { "swap", "pages that come back from swap, by stack", "swapin",
			 GROUP(MAJOR) },
	[EVENT_RECLAIM] = { "reclaim",
			    "who waits until memory is freed; kswapd, write-back",
			    "vmscan, drsnoop", GROUP(RECLAIM) },
	[EVENT_COMPACTION] = { "compaction",
			       "who waits until free memory is moved together",
			       "compsnoop", GROUP(COMPACTION) },
	[EVENT_MIGRATE] = { "migrate", "pages moved to other places, and why",
			    "mm_migrate_pages one-liners", GROUP(MIGRATE) },
	[EVENT_THP] = { "thp", "huge pages: made by faults, collapsed, split, failed",
			"hfaults, thp tools", GROUP(THP) | GROUP(MIGRATE) },
	[EVENT_OOM] = { "oom",
			"who is killed, who asked for memory, which limit, the minute before",
			"oomkill", GROUP(OOM) },
	[EVENT_STACK] = { "stack",
			  "how deep stacks become, stack overflows, bad accesses", "",
			  GROUP(STACK) },
	[EVENT_LIFE] = { "life",
			 "programs, processes and threads that begin and end",
			 "execsnoop, exitsnoop", GROUP(LIFE) },
	[EVENT_FILES] = { "files",
			  "files opened, created, removed and renamed, programs not found",
			  "opensnoop", GROUP(FILES) },
	[EVENT_KERNEL] = { "kernel",
			   "what the kernel has allocated for itself and not freed",
			   "memleak (kernel), slabtop, kmem", GROUP(KMEM), .dear = true },
	[EVENT_RSS] = { "rss", "resident size by kind as it changes, by whose code",
			"rss_stat one-liners", GROUP(RSS) },
	[EVENT_CACHE] = { "cache", "who fills the page cache, with which files",
			  "cachestat", GROUP(CACHE) },
	[EVENT_PMC] = { "pmc",
			"cycles, instructions, cache and dTLB misses by process and stack, sampled",
			"llcstat, PMC one-liners", GROUP(PMC), .dear = true },
	[EVENT_HEAP] = { "heap",
			 "what processes hold of their heaps, by stack: by attaching to them",
			 "memleak (user)", 0, .dear = true },
	[EVENT_LIBC] = { "libc",
			 "what malloc asks of the kernel: heaps, arenas, retries, settings",
			 "USDT one-liners", GROUP(LIBC) | GROUP(CALLS), .dear = true },
};

const struct trace_kind_info trace_kinds[TRACE_NR_KINDS] = {
	[TRACE_EXEC] = { "exec", EVENT_LIFE, false, -1, -1 },
	[TRACE_FORK] = { "fork", EVENT_LIFE, false, -1, -1 },
	[TRACE_EXIT] = { "exit", EVENT_LIFE, false, -1, -1 },
	[TRACE_RENAME] = { "rename", EVENT_LIFE, false, -1, -1 },
	[TRACE_OOM_SCORE] = { "oom_score", EVENT_LIFE, false, -1, -1 },
	[TRACE_OOM] = { "oom_kill", EVENT_OOM, false, -1, -1 },
	[TRACE_OOM_SIZES] = { "oom_victim", EVENT_OOM, false, -1, -1 },
	[TRACE_OOM_REAPED] = { "oom_reaped", EVENT_OOM, false, -1, -1 },
	[TRACE_OPEN] = { "open", EVENT_FILES, true, -1, -1 },
	[TRACE_UNLINK] = { "unlink", EVENT_FILES, true, -1, -1 },
	[TRACE_MKDIR] = { "mkdir", EVENT_FILES, true, -1, -1 },
	[TRACE_RENAME_FILE] = { "rename_file", EVENT_FILES, true, -1, -1 },
	[TRACE_STACK_GROWTH] = { "stack_growth", EVENT_STACK, false, -1, -1 },
	[TRACE_SEGV] = { "segv", EVENT_STACK, false, -1, -1 },
	[TRACE_MMAP] = { "mmap", EVENT_MMAP, true, -1, 1 },
	[TRACE_MUNMAP] = { "munmap", EVENT_MMAP, true, -1, 1 },
	[TRACE_MREMAP] = { "mremap", EVENT_MMAP, true, -1, 2 },
	[TRACE_MPROTECT] = { "mprotect", EVENT_MMAP, true, -1, 1 },
	[TRACE_MADVISE] = { "madvise", EVENT_MMAP, true, -1, 1 },
	[TRACE_BRK] = { "brk", EVENT_BRK, false, -1, 3 },
	[TRACE_SHMGET] = { "shmget", EVENT_SHM, true, -1, 1 },
	[TRACE_SHMAT] = { "shmat", EVENT_SHM, true, -1, -1 },
	[TRACE_SHMDT] = { "shmdt", EVENT_SHM, true, -1, -1 },
	[TRACE_FAULT] = { "fault", EVENT_FAULTS, false, -1, -1, .sampled = true },
	[TRACE_FAULT_MAJOR] = { "major", EVENT_MAJOR, false, -1, -1 },
	[TRACE_SWAP_IN] = { "swap_in", EVENT_SWAP, false, -1, -1 },
	[TRACE_SHMCTL] = { "shmctl", EVENT_SHM, true, -1, -1 },
	[TRACE_MEMFD] = { "memfd_create", EVENT_SHM, true, -1, -1 },
	[TRACE_SHM_OPEN] = { "shm_open", EVENT_SHM, true, -1, -1 },
	[TRACE_SHM_UNLINK] = { "shm_unlink", EVENT_SHM, true, -1, -1 },
	[TRACE_RECLAIM] = { "direct_reclaim", EVENT_RECLAIM, false, 0, 1 },
	[TRACE_RECLAIM_MEMCG] = { "memcg_reclaim", EVENT_RECLAIM, false, 0, 1 },
	[TRACE_RECLAIM_SOFT] = { "soft_reclaim", EVENT_RECLAIM, false, 0, 1 },
	[TRACE_RECLAIM_NODE] = { "node_reclaim", EVENT_RECLAIM, false, 0, 1 },
	[TRACE_SHRINK] = { "shrink_slab", EVENT_RECLAIM, false, 0, -1 },
	[TRACE_KSWAPD_WAKE] = { "kswapd_wake", EVENT_RECLAIM, false, -1, -1 },
	[TRACE_KSWAPD_SLEEP] = { "kswapd_sleep", EVENT_RECLAIM, false, -1, -1 },
	[TRACE_KSWAPD_CALL] = { "kswapd_call", EVENT_RECLAIM, false, -1, -1 },
	[TRACE_THROTTLED] = { "throttled", EVENT_RECLAIM, false, 0, -1 },
	[TRACE_WRITEBACK] = { "writeback", EVENT_RECLAIM, false, -1, -1 },
	[TRACE_COMPACTION] = { "compaction", EVENT_COMPACTION, false, 0, -1 },
	[TRACE_KCOMPACTD_WAKE] = { "kcompactd_wake", EVENT_COMPACTION, false, -1, -1 },
	[TRACE_KCOMPACTD_SLEEP] = { "kcompactd_sleep", EVENT_COMPACTION, false, -1, -1 },
	[TRACE_KCOMPACTD_CALL] = { "kcompactd_call", EVENT_COMPACTION, false, -1, -1 },
	[TRACE_MIGRATE] = { "migrate", EVENT_MIGRATE, false, 5, 0, 1 },
	[TRACE_HUGE_FAULT] = { "huge_fault", EVENT_THP, false, -1, 2, 3 },
	[TRACE_COLLAPSE] = { "collapse", EVENT_THP, false, -1, -1 },
	[TRACE_KHUGEPAGED] = { "huge_scan", EVENT_THP, false, -1, -1 },
	[TRACE_HUGE_SPLIT] = { "huge_split", EVENT_THP, false, -1, -1 },
	[TRACE_RSS] = { "rss", EVENT_RSS, false, -1, 3 },
	[TRACE_CACHE_ADD] = { "cache_add", EVENT_CACHE, false, -1, 2 },
	[TRACE_CACHE_REMOVE] = { "cache_remove", EVENT_CACHE, false, -1, -1 },
	[TRACE_KERNEL_ALLOC] = { "kernel_alloc", EVENT_KERNEL, false, -1, 1 },
	[TRACE_LIBC_SBRK_MORE] = { "libc_sbrk_more", EVENT_LIBC, false, -1, 1 },
	[TRACE_LIBC_SBRK_LESS] = { "libc_sbrk_less", EVENT_LIBC, false, -1, 1 },
	[TRACE_LIBC_HEAP_NEW] = { "libc_heap_new", EVENT_LIBC, false, -1, 1 },
	[TRACE_LIBC_HEAP_MORE] = { "libc_heap_more", EVENT_LIBC, false, -1, 1 },
	[TRACE_LIBC_HEAP_LESS] = { "libc_heap_less", EVENT_LIBC, false, -1, 1 },
	[TRACE_LIBC_HEAP_FREE] = { "libc_heap_free", EVENT_LIBC, false, -1, 1 },
	[TRACE_LIBC_ARENA_NEW] = { "libc_arena_new", EVENT_LIBC, false, -1, 1 },
	[TRACE_LIBC_ARENA_REUSE] = { "libc_arena_reuse", EVENT_LIBC, false, -1, -1 },
	[TRACE_LIBC_ARENA_FREE_LIST] = { "libc_arena_free_list", EVENT_LIBC, false, -1, -1 },
	[TRACE_LIBC_ARENA_WAIT] = { "libc_arena_wait", EVENT_LIBC, false, -1, -1 },
	[TRACE_LIBC_ARENA_RETRY] = { "libc_arena_retry", EVENT_LIBC, false, -1, 0 },
	[TRACE_LIBC_RETRY] = { "libc_retry", EVENT_LIBC, false, -1, 0 },
	[TRACE_LIBC_MALLOPT] = { "libc_mallopt", EVENT_LIBC, false, -1, -1 },
	[TRACE_LIBC_DOUBLE_FREE] = { "libc_double_free", EVENT_LIBC, false, -1, -1 },
	[TRACE_LIBC_MMAP] = { "libc_mmap", EVENT_LIBC, false, -1, 1 },
	[TRACE_LIBC_MUNMAP] = { "libc_munmap", EVENT_LIBC, false, -1, 1 },
	[TRACE_LIBC_TRIM] = { "libc_trim", EVENT_LIBC, false, -1, 1 },
	[TRACE_CYCLES] = { "cycles", EVENT_PMC, false, -1, -1 },
	[TRACE_INSTRUCTIONS] = { "instructions", EVENT_PMC, false, -1, -1 },
	[TRACE_LLC_REFERENCES] = { "llc_references", EVENT_PMC, false, -1, -1 },
	[TRACE_LLC_MISSES] = { "llc_misses", EVENT_PMC, false, -1, -1 },
	[TRACE_DTLB_MISSES] = { "dtlb_misses", EVENT_PMC, false, -1, -1 },
	[TRACE_CPU_CLOCK] = { "cpu_clock", EVENT_PMC, false, -1, -1 },
	[TRACE_PAGE_FAULTS] = { "page_faults", EVENT_PMC, false, -1, -1 },
	[TRACE_EXEC_FAILED] = { "exec_failed", EVENT_FILES, true, -1, -1 },
};

static int class_of(const char *name, size_t length)
{
	for (int i = 0; i < EVENT_NR_CLASSES; i++)
		if (strlen(event_classes[i].name) == length &&
		    !memcmp(event_classes[i].name, name, length))
			return i;
	return -1;
}

static uint32_t classes_of_word(const char *word, size_t length)
{
	uint32_t classes = 0;
	bool all = length == 3 && !memcmp(word, "all", 3);
	int one;

	if (!all && !(length == 7 && !memcmp(word, "default", 7))) {
		one = class_of(word, length);
		return one < 0 ? 0 : 1u << one;
	}
	for (int i = 0; i < EVENT_NR_CLASSES; i++)
		if (i != EVENT_HEAP && (all || !event_classes[i].dear))
			classes |= 1u << i;
	return classes;
}

int event_classes_parse(const char *list, uint32_t *classes, struct err *e)
{
	*classes = 0;
	for (const char *word = list; *word;) {
		size_t length = strcspn(word, ",");
		uint32_t some = classes_of_word(word, length);

		if (!some) {
			err_set(e, -EINVAL, "there is no event '%.*s'", (int)length, word);
			err_hint(e, "'pmm trace --list' names them");
			return -EINVAL;
		}
		*classes |= some;
		word += length;
		word += *word == ',';
	}
	if (*classes)
		return 0;
	err_set(e, -EINVAL, "no event is named");
	err_hint(e, "'pmm trace --list' names them");
	return -EINVAL;
}

int event_counters_parse(const char *list, uint32_t *counters, struct err *e)
{
	*counters = 0;
	for (const char *word = list; *word;) {
		size_t length = strcspn(word, ",");
		unsigned i = 0;

		while (i < KERNEL_NR_COUNTERS &&
		       (strlen(trace_kinds[kernel_counters[i].kind].name) != length ||
			memcmp(trace_kinds[kernel_counters[i].kind].name, word, length)))
			i++;
		if (i == KERNEL_NR_COUNTERS)
			return err_set(e, -EINVAL, "there is no counter '%.*s'", (int)length, word);
		*counters |= 1u << i;
		word += length;
		word += *word == ',';
	}
	return *counters ? 0 : err_set(e, -EINVAL, "no counter is named");
}

uint32_t event_classes_groups(uint32_t classes)
{
	uint32_t groups = 0;

	for (int i = 0; i < EVENT_NR_CLASSES; i++)
		if (classes >> i & 1)
			groups |= event_classes[i].groups;
	return groups;
}

/* None of the class's kinds of records: others of the group are seen. */
static bool sees_nothing(enum event_class event, const struct kernel_group_state *group)
{
	for (int kind = 0; kind < TRACE_NR_KINDS; kind++)
		if (trace_kinds[kind].name && trace_kinds[kind].event == event &&
		    !(group->unseen[kind / 64] >> kind % 64 & 1))
			return false;
	return group->status != KERNEL_GROUP_UNUSED;
}

const struct kernel_group_state *event_class_state(enum event_class event,
						   const struct kernel_group_state *groups,
						   enum kernel_group_status *status)
{
	const struct kernel_group_state *worst = NULL, *best = NULL;

	for (int i = 0; i < KERNEL_NR_GROUPS; i++) {
		if (!(event_classes[event].groups >> i & 1))
			continue;
		if (!worst || groups[i].status > worst->status)
			worst = &groups[i];
		if (!best || groups[i].status < best->status)
			best = &groups[i];
	}
	if (worst && sees_nothing(event, worst))
		*status = KERNEL_GROUP_FAILED;
	else
		*status = worst ? worst->status : KERNEL_GROUP_WORKS;
	if (worst && worst->status == KERNEL_GROUP_FAILED && best->status != KERNEL_GROUP_FAILED)
		*status = KERNEL_GROUP_PARTLY;
	return worst;
}

unsigned event_classes_lacks(uint32_t classes, const struct kernel_group_state *groups,
			     struct event_lack *lacks)
{
	unsigned nr = 0, at;

	for (int i = 0; i < EVENT_NR_CLASSES; i++) {
		enum kernel_group_status status;
		const struct kernel_group_state *s = event_class_state(i, groups, &status);

		if (!(classes >> i & 1) || status < KERNEL_GROUP_PARTLY)
			continue;
		for (at = 0; at < nr && !(lacks[at].status == status &&
					  !strcmp(lacks[at].state->why, s->why));)
			at++;
		if (at == nr)
			lacks[nr++] = (struct event_lack){ .status = status, .state = s };
		lacks[at].classes |= 1u << i;
	}
	return nr;
}

const char *event_lacks_remedy(const struct event_lack *lacks, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		if (strcmp(lacks[i].state->remedy, lacks[0].state->remedy) != 0)
			return NULL;
	return nr > 1 && *lacks[0].state->remedy ? lacks[0].state->remedy : NULL;
}

void event_classes_names(struct str *s, uint32_t classes)
{
	const char *comma = "";

	for (int i = 0; i < EVENT_NR_CLASSES; i++) {
		if (!(classes >> i & 1))
			continue;
		str_addf(s, "%s%s", comma, event_classes[i].name);
		comma = ", ";
	}
}

bool event_classes_have(uint32_t classes, uint32_t kind)
{
	return trace_kinds[kind].name && classes >> trace_kinds[kind].event & 1;
}

void event_classes_kinds(uint32_t classes, uint64_t kinds[2])
{
	kinds[0] = kinds[1] = 0;
	for (uint32_t kind = 0; kind < TRACE_NR_KINDS; kind++)
		if (event_classes_have(classes, kind))
			kinds[kind / 64] |= 1ull << kind % 64;
}

void event_classes_ask(struct kernel_options *k, uint32_t classes)
{
	k->groups = event_classes_groups(classes);
	event_classes_kinds(classes, k->kinds);
}

void event_classes_ask_life(struct kernel_options *k)
{
	static const enum trace_kind life[] = { TRACE_EXEC, TRACE_FORK, TRACE_EXIT };

	k->groups |= 1u << KERNEL_LIFE;
	for (size_t i = 0; i < sizeof(life) / sizeof(*life); i++)
		k->kinds[life[i] / 64] |= 1ull << life[i] % 64;
}

bool trace_is_fault(const struct trace_record *r)
{
	return r->kind == TRACE_FAULT || r->kind == TRACE_FAULT_MAJOR || r->kind == TRACE_SWAP_IN;
}

#define MAX_ERRNO	4095

static bool call_failed(const struct trace_record *r)
{
	return trace_kinds[r->kind].call && r->a[5] >= -(uint64_t)MAX_ERRNO;
}

bool trace_failed(const struct trace_record *r)
{
	unsigned at = trace_kinds[r->kind].failed;

	return call_failed(r) || (at && r->a[at]);
}

uint32_t trace_detail(const struct trace_record *r)
{
	switch (r->kind) {
	case TRACE_COMPACTION:
		return (uint32_t)(r->a[2] << 8 | (r->a[1] & 0xff));
	case TRACE_MIGRATE:
		return (uint32_t)(r->a[3] << 8 | (r->a[2] & 0xff));
	case TRACE_COLLAPSE:
	case TRACE_KHUGEPAGED:
		return (uint32_t)(r->a[0] << 2 | !!r->a[3] << 1 | !!r->a[2]);
	case TRACE_THROTTLED:
		return (uint32_t)r->a[1];
	default:
		return TRACE_NO_DETAIL;
	}
}

uint64_t trace_ns(const struct trace_record *r)
{
	int at = trace_kinds[r->kind].ns;

	return at < 0 ? 0 : r->a[at];
}

uint64_t trace_bytes(const struct trace_record *r)
{
	int at = trace_kinds[r->kind].bytes;

	return at < 0 || call_failed(r) || (int64_t)r->a[at] < 0 ? 0 : r->a[at];
}

/*
 * By how much the break was moved, or should have been: a refused one stays where it was. Where
 * it was is not known of a first call: the heap has grown by no more than it has.
 */
static uint64_t brk_bytes(const struct trace_record *r)
{
	int64_t moved = r->a[3];

	if (r->a[0] > r->a[5])
		return r->a[0] - r->a[5];
	if (!r->a[2])
		return r->a[5] - r->a[1];
	return moved < 0 ? -(uint64_t)moved : (uint64_t)moved;
}

bool trace_is_small(const struct trace_record *r, uint64_t min_bytes)
{
	int at = trace_kinds[r->kind].bytes;

	if (r->kind == TRACE_BRK)
		return brk_bytes(r) < min_bytes;
	if (r->kind == TRACE_MREMAP && r->a[1] >= min_bytes)
		return false;
	return trace_kinds[r->kind].call && at >= 0 && r->a[at] < min_bytes;
}
