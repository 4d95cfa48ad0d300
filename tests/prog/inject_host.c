/* SPDX-License-Identifier: GPL-2.0-or-later
 * The injected agent in the program's own process.
 */
#include "tests/prog/inject_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "src/ledger/ledger_heap.h"
#include "src/entries/detour.h"
#include "src/inject/image.h"

#define MINUTE_TICKS (60000000000ull / PMM_TICK_NS)
#define STACK_BYTES	(32ul << 10)
#define MAX_SLOTS	64

static int failures;

static void die(const char *what, struct err *e)
{
	fprintf(stderr, "%s: %s\n", what, e ? e->text : "failed");
	exit(2);
}

void host_expect(const char *what, uint64_t got, uint64_t want, const char *where, int line)
{
	if (got == want)
		return;
	printf("%s:%d: %s is %lld, not %lld\n", where, line, what, (long long)got, (long long)want);
	failures++;
}

void host_expect_near(const char *what, double got, double want, double percent, const char *where, int line)
{
	if (got >= want * (1 - percent / 100) && got <= want * (1 + percent / 100))
		return;
	printf("%s:%d: %s is %.0f, not within %g %% of %.0f\n", where, line, what, got, percent, want);
	failures++;
}

int host_failed(void)
{
	return failures;
}

static void load(struct host *h, const char *file)
{
	struct err e = { 0 };
	struct image im;

	if (image_load(file, &im, &e))
		die("image", &e);
	h->image_bytes = im.nr_bytes;
	h->image = mmap(NULL, im.nr_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	image_place(&im, (uint64_t)h->image);
	memcpy(h->image, im.bytes, im.nr_bytes);
	for (unsigned i = 0; i < im.nr_parts; i++)
		mprotect(h->image + im.part[i].offset, im.part[i].bytes, im.part[i].prot);
	for (int role = 0; role < PMM_NR_ROLES; role++)
		h->hook[role] = image_hook(&im, role);
	h->hook[PMM_ROLE_NONE] = (uint64_t)h->image + im.start;
	image_fini(&im);
}

/* inject_start() on a stack of its own, with something in all vector registers that must still be there afterwards. */
static long start_on(uint64_t function, void *arg, char *stack_end)
{
	uint64_t after[16][2];
	long ret;

	__asm__ volatile("mov %%rsp, %%r12\nmov %[stack], %%rsp\nmov %[out], %%r13\n"
		"movq %[arg], %%xmm0\npunpcklqdq %%xmm0, %%xmm0\n"
		".irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\nmovdqa %%xmm0, %%xmm\\n\n.endr\n"
		"call *%[function]\nmov %%r12, %%rsp\n"
		".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\nmovups %%xmm\\n, 16*\\n(%%r13)\n.endr\n"
		: "=a"(ret), "+D"(arg)
		: [stack] "r"(stack_end), [out] "r"(after), [arg] "S"(arg), [function] "d"(function)
		: "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
		  "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
	for (int i = 0; i < 32; i++)
		EXPECT(after[i / 2][i % 2], after[0][0]);
	return ret;
}

static void tick(struct host *h)
{
	ledger_tree_tick(&h->tree);
	if (!h->may_go)
		h->tree.head->tick += MINUTE_TICKS;
}

long host_start(struct host *h, const char *file, struct ledger_tree_options o)
{
	char *stack = mmap(NULL, 4096 + STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct err e = { 0 };
	long ret;

	mprotect(stack, 4096, PROT_NONE);
	o.attached = true;
	o.space_bytes = o.file_bytes = UINT64_MAX;
	o.limit_bytes = 256 << 20;
	if (ledger_tree_init(&h->tree, &o, &e))
		die("tree", &e);
	load(h, file);
	h->args.version = PMM_INJECT_VERSION;
	if (!h->no_tree) {
		h->args.tree_bytes = ledger_tree_file_bytes(&h->tree);
		h->args.tree_start = (uint64_t)mmap(NULL, h->args.tree_bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, h->file ? h->file : h->tree.fd, 0);
		madvise((void *)h->args.tree_start, h->args.tree_bytes, MADV_DONTFORK);
	}
	if (h->take_slot)
		h->tree.head->slot[0].state = PMM_SLOT_LIVE;
	tick(h);
	ret = start_on(h->hook[PMM_ROLE_NONE], &h->args, stack + 4096 + STACK_BYTES);
	munmap(stack, 4096 + STACK_BYTES);
	EXPECT(ret, h->args.error);
	if (ret)
		h->args.tree_bytes = 0;		/* it has unmapped it */
	h->nr_slots = 0;
	h->slots = mmap(NULL, MAX_SLOTS * PMM_ENTRY_SLOT_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return ret;
}

void host_end(struct host *h)
{
	munmap(h->image, h->image_bytes);
	munmap(h->slots, MAX_SLOTS * PMM_ENTRY_SLOT_BYTES);
	if (h->args.private_bytes)
		munmap((void *)h->args.private_start, h->args.private_bytes);
	if (h->args.tree_bytes)
		munmap((void *)h->args.tree_start, h->args.tree_bytes);
	ledger_tree_fini(&h->tree);
}

void *host_entry(struct host *h, enum pmm_role role, uint32_t kind, const void *next, struct pmm_entry **entry)
{
	uint8_t *slot = h->slots + PMM_ENTRY_SLOT_BYTES * h->nr_slots++;
	struct pmm_entry *e = (struct pmm_entry *)slot;

	if (h->nr_slots > MAX_SLOTS || !h->hook[role])
		die("entry", NULL);
	*e = (struct pmm_entry){ .next = (uint64_t)next, .hook = h->hook[role], .role = role, .kind = kind,
				 .arg_size = -1, .arg_count = -1, .arg_pointer = -1 };
	detour_stub(role, &(struct detour){ 0 }, slot + PMM_ENTRY_STUB_OFF);
	if (entry)
		*entry = e;
	return slot + PMM_ENTRY_STUB_OFF;
}

struct heap *host_read(struct host *h)
{
	struct ledger_options o = { .running = true };
	struct ledger_map *m;
	struct err e = { 0 };
	struct heap *heap = NULL;

	tick(h);
	if (ledger_map_open_fd(h->tree.fd, h->args.slot, &m, &e) || ledger_read(m, &o, &heap, &e))
		die("ledger", &e);
	ledger_map_close(m);
	return heap;
}
