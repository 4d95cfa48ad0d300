/* SPDX-License-Identifier: GPL-2.0-or-later
 * A library to preload in front of libpmm.so: asks libgcc's unwinder for the stack of each malloc
 * and calloc and compares it with the one the ledger holds for the block.
 *
 * Needs an agent without a monitor (no PMM_LEDGER), whose ledger lies in this process. At exit a
 * line is appended to the file $SAME_STACKS names:
 *     NAME stacks= distinct= frames= deepest= different= unfinished= untracked=
 *   different   a frame is not the reference's, or the stack has more or fewer
 *   unfinished  it ends with the mark that says there was no way on; right as far as it goes
 * and before it the first different stacks in full.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include "include/pmm/ledger.h"

#define MAX_COMPARED	300000		/* per process, the reference takes its time */
#define MAX_DUMPED	5
#define HASH_BITS	20

struct stack {
	unsigned int nr;
	uint64_t pc[PMM_MAX_FRAMES + 64];
};

static struct {
	unsigned long stacks, frames, deepest, different, unfinished, untracked, distinct;
} count;

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static const char *base;		/* our slot in the mapping of the ledger */
static pid_t base_pid;
static uint64_t *seen;			/* hashes of stacks */
static char out_path[256];
static __thread int busy __attribute__((tls_model("initial-exec")));

/* ---- the ledger ------------------------------------------------------------------------------ */

/* Where /proc/self/maps says the ledger begins; without stdio, which would allocate. */
static uint64_t mapping_find(void)
{
	static char text[1 << 20];
	size_t n = 0;
	ssize_t got;
	char *at;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	while (n < sizeof(text) - 1 && (got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	close(fd);
	text[n] = '\0';
	at = strstr(text, "/memfd:" PMM_MEMFD_NAME);
	if (!at)
		return 0;
	while (at > text && at[-1] != '\n')
		at--;
	return strtoull(at, NULL, 16);
}

static bool ledger_find(void)
{
	const struct pmm_tree *tree;
	uint32_t k;

	if (base && base_pid == getpid())
		return true;
	base = NULL;
	tree = (const void *)mapping_find();
	if (!tree || tree->magic != PMM_TREE_MAGIC)
		return false;
	for (k = 0; k < tree->nr_slots; k++)
		if (tree->slot[k].state == PMM_SLOT_LIVE && tree->slot[k].pid == (uint32_t)getpid())
			base = (const char *)tree + tree->slots_off + k * tree->slot_bytes;
	base_pid = getpid();
	return base != NULL;
}

static const void *at_ref(pmm_ref ref)
{
	return base + ((uint64_t)ref << PMM_REF_SHIFT);
}

static uint32_t site_of(uint64_t address)
{
	const struct pmm_table *t = &((const struct pmm_ledger *)base)->table[PMM_TABLE_HEAP];
	uint32_t leaf_shift = t->shift + PMM_LEAF_BITS;
	pmm_ref ref = ((const pmm_ref *)(base + t->top_off))[address >> (leaf_shift + t->mid_bits)];
	const struct pmm_mid *mid = at_ref(ref);
	const uint64_t *leaf;

	if (!ref || !(ref = mid->leaf[address >> leaf_shift & ((1u << t->mid_bits) - 1)]))
		return 0;
	leaf = at_ref(ref);
	return leaf[address >> t->shift & ((1u << PMM_LEAF_BITS) - 1)] >> PMM_WORD_SITE_SHIFT & (PMM_MAX_SITES - 1);
}

/* The stack of the block at `address`, innermost first, with its closing mark if there is one. */
static bool stack_recorded(uint64_t address, struct stack *s)
{
	const struct pmm_ledger *l = (const void *)base;
	uint32_t site = site_of(address), node;
	const struct pmm_node *n;

	if (!site)
		return false;
	node = ((const struct pmm_site *)at_ref(l->site_dir[site >> PMM_SITE_SHIFT]))
		[site & ((1u << PMM_SITE_SHIFT) - 1)].node;
	for (s->nr = 0; node && s->nr < PMM_MAX_FRAMES; node = n->parent) {
		const pmm_ref *dir = at_ref(l->node_dir[node >> (PMM_NODE_SHIFT + PMM_NODE_DIR_SHIFT)]);

		n = (const struct pmm_node *)at_ref(dir[node >> PMM_NODE_SHIFT & ((1u << PMM_NODE_DIR_SHIFT) - 1)]) +
		    (node & ((1u << PMM_NODE_SHIFT) - 1));
		s->pc[s->nr++] = PMM_FRAME_PC(n->frame);
	}
	return true;
}

/* ---- the reference --------------------------------------------------------------------------- */

static _Unwind_Reason_Code frame_add(struct _Unwind_Context *ctx, void *arg)
{
	struct stack *s = arg;
	int exact = 0;
	uint64_t ip = _Unwind_GetIPInfo(ctx, &exact);

	if (s->nr == sizeof(s->pc) / sizeof(s->pc[0]))
		return _URC_END_OF_STACK;
	if (ip)
		s->pc[s->nr++] = exact ? ip : ip - 1;
	return _URC_NO_REASON;
}

/* ---- comparison ------------------------------------------------------------------------------ */

static void line_write(const char *line)
{
	int fd = open(out_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, line, strlen(line)) < 0)
		_exit(99);
	close(fd);
}

static void dump(const char *what, const struct stack *s, unsigned int from)
{
	char line[64];
	unsigned int k;

	line_write(what);
	for (k = from; k < s->nr; k++) {
		Dl_info info = { 0 };

		dladdr((void *)s->pc[k], &info);
		snprintf(line, sizeof(line), " %lx", (unsigned long)s->pc[k]);
		line_write(line);
		if (info.dli_sname)
			line_write("="), line_write(info.dli_sname);
	}
	line_write("\n");
}

/* Count a stack that was not seen before. */
static void note_distinct(const struct stack *s)
{
	uint64_t h = s->nr;
	unsigned int k;

	for (k = 2; k < s->nr; k++)
		h = (h ^ s->pc[k]) * 0x9e3779b97f4a7c15ull;
	for (k = 0; k < 64; k++) {
		uint64_t *slot = &seen[((h >> (64 - HASH_BITS)) + k) & ((1u << HASH_BITS) - 1)];

		if (*slot == h)
			return;
		if (!*slot) {
			*slot = h;
			count.distinct++;
			return;
		}
	}
}

/*
 * `ref` has check() and the interposed function in front, `got` only the latter: compare their
 * callers.
 */
static void compare(const struct stack *got, const struct stack *ref)
{
	unsigned int nr = got->nr, k, mark = 0;

	if (nr && got->pc[nr - 1] <= PMM_FRAME_MARK_MAX)
		mark = (unsigned int)got->pc[--nr];
	count.stacks++;
	count.frames += nr;
	count.deepest = nr > count.deepest ? nr : count.deepest;
	note_distinct(ref);
	for (k = 1; k < nr && k + 1 < ref->nr && got->pc[k] == ref->pc[k + 1]; k++)
		;
	if (k == nr && nr + 1 == ref->nr)
		return;
	if (k == nr && nr + 1 < ref->nr && mark == PMM_FRAME_TRUNCATED)
		return;
	if (k == nr && nr + 1 < ref->nr && mark == PMM_FRAME_NO_UNWIND)
		count.unfinished++;
	else
		count.different++;
	if (count.different + count.unfinished <= MAX_DUMPED) {
		dump("# pmm      ", got, 1);
		dump("# reference", ref, 2);
	}
}

static __attribute__((noinline)) void check(const void *p)
{
	static struct stack got, ref;
	static int lock;

	if (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		return;
	ref.nr = 0;
	if (!ledger_find() || !stack_recorded((uint64_t)p, &got)) {
		count.untracked++;
	} else {
		_Unwind_Backtrace(frame_add, &ref);
		compare(&got, &ref);
	}
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

static void finish(void)
{
	char line[256];

	busy = 1;
	if (!out_path[0])
		return;
	snprintf(line, sizeof(line), "%s stacks=%lu distinct=%lu frames=%lu deepest=%lu "
		 "different=%lu unfinished=%lu untracked=%lu\n", program_invocation_short_name,
		 count.stacks, count.distinct, count.frames, count.deepest, count.different,
		 count.unfinished, count.untracked);
	line_write(line);
}

static __attribute__((constructor)) void start(void)
{
	const char *path = getenv("SAME_STACKS");

	busy = 1;
	seen = mmap(NULL, sizeof(*seen) << HASH_BITS, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED)
		_exit(99);
	if (path && strlen(path) < sizeof(out_path))
		strcpy(out_path, path);
	atexit(finish);
	busy = 0;
}

/* ---- interposed ------------------------------------------------------------------------------ */

static void resolve(void)
{
	busy++;
	next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	next_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
	busy--;
}

/* No frame of its own: stacks are those of malloc() and calloc(). */
static inline __attribute__((always_inline)) void *checked(void *p)
{
	if (p && !busy && out_path[0] && count.stacks < MAX_COMPARED) {
		int saved = errno;

		busy++;
		check(p);
		busy--;
		errno = saved;
	}
	return p;
}

void *malloc(size_t size)
{
	if (!next_malloc)
		resolve();
	return checked(next_malloc(size));
}

void *calloc(size_t n, size_t each)
{
	if (!next_calloc)
		resolve();
	return checked(next_calloc(n, each));
}
