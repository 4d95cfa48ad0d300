/*
 * The injected agent's start, and the table of its hooks.
 *
 * inject_start() runs once, on a thread of the process that was stopped anywhere: system calls and our own memory only, nothing of the C
 * library, no thread-local data, no registers but the general ones. When it fails it leaves nothing mapped.
 */
#include "agent/inject/inject.h"

#include <elf.h>

#include "agent/inject/borrow.h"
#include "agent/inject/guards.h"
#include "agent/module.h"
#include "agent/segment.h"

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static const struct pmm_inject_args *start_args;

uint64_t *ctx_countdown(struct tctx *c)
{
	return &c->bytes_left;
}

/* Write a mapping of ours down, at once: pmm may be killed before it does, and the process lives on. */
static void range_note(uint32_t use, const void *start, uint64_t bytes)
{
	struct pmm_attach *record = (struct pmm_attach *)((char *)A.tree + PMM_ATTACH_OFF);
	uint32_t nr = record->nr_ranges;

	if (!(A.tree->flags & PMM_TREE_ATTACHED) || nr >= PMM_MAX_RANGES)
		return;
	record->range[nr] = (struct pmm_range){ (uint64_t)start, bytes, use, 0 };
	STORE_RELEASE(record->nr_ranges, nr + 1);
}

int segment_open(void)
{
	int ret = segment_map(start_args->tree_fd, NULL);

	if (!ret) {
		range_note(PMM_RANGE_PRIVATE, A.private_start, A.private_bytes);
		range_note(PMM_RANGE_TREE, A.tree, A.reserved_bytes);
	}
	return ret;
}

int segment_renew(void)
{
	return -1;
}

/* Our own unwind information: stacks go through hooks of functions that allocate themselves. */
static void own_find(void)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)__ehdr_start;
	const Elf64_Phdr *ph = (const Elf64_Phdr *)(__ehdr_start + e->e_phoff);

	A.own.start = (uint64_t)__ehdr_start;
	A.own.end = (uint64_t)_end;
	for (unsigned i = 0; i < e->e_phnum; i++)
		if (ph[i].p_type == PT_GNU_EH_FRAME) {
			A.own.hdr = A.own.start + ph[i].p_vaddr;
			A.own.hdr_bytes = ph[i].p_filesz;
		}
}

static void args_take(const struct pmm_inject_args *args)
{
	A.dense = args->dense;
	A.single_threaded = (const uint8_t *)args->single_threaded;
	A.next.mallinfo2 = (void *)args->mallinfo2;
	A.allocator_path = (const char *)args->allocator_path;
}

static uint32_t why_not(void)
{
	if (!A.tree)
		return PMM_OFF_NO_MEMORY;
	return A.ledger ? PMM_OFF_NO_MEMORY : PMM_OFF_NO_SLOT;
}

__attribute__((visibility("default"))) long inject_start(struct pmm_inject_args *args);

long inject_start(struct pmm_inject_args *args)
{
	struct module_text maps;
	bool has_proc;

	if (args->version != PMM_INJECT_VERSION)
		return args->error = PMM_OFF_INTERNAL;
	start_args = args;
	args_take(args);
	own_find();
	if (!agent_start()) {
		args->error = (int32_t)why_not();
		segment_unmap();
		if (A.private_start)
			sys2(munmap, A.private_start, A.private_bytes);
		return args->error;
	}
	A.ledger->attached = 1;
	maps = (struct module_text){ args->tree_fd, args->maps_off, args->maps_off + args->maps_bytes };
	has_proc = module_start(&maps);
	borrow_find();
	A.ledger->hook_pc = A.borrowed - 1;
	if (has_proc)
		A.module_gen--;		/* read again by the first hook, which may ask the loader and use its vector registers */
	A.find_object = (int (*)(void *, void *))args->find_object;
	A.vdso_clock = (long (*)(int, int64_t *))args->vdso_clock;
	args->slot = (uint32_t)(A.slot - A.tree->slot);
	args->private_start = (uint64_t)A.private_start;
	args->private_bytes = A.private_bytes;
	args->tree_start = (uint64_t)A.tree;
	args->tree_bytes = A.reserved_bytes;
	guards_start(args);
	args->limit_raised_bytes = A.limit_raised_bytes;
	args->passing_at = (uint64_t)&A.passing;
	return args->error = 0;
}

extern const uint64_t inject_hooks[PMM_NR_ROLES] __attribute__((visibility("default")));

const uint64_t inject_hooks[PMM_NR_ROLES] = {
	[PMM_ROLE_MALLOC]		= (uint64_t)inject_malloc,
	[PMM_ROLE_CALLOC]		= (uint64_t)inject_calloc,
	[PMM_ROLE_REALLOC]		= (uint64_t)inject_realloc,
	[PMM_ROLE_REALLOCARRAY]		= (uint64_t)inject_reallocarray,
	[PMM_ROLE_FREE]			= (uint64_t)inject_free,
	[PMM_ROLE_POSIX_MEMALIGN]	= (uint64_t)inject_posix_memalign,
	[PMM_ROLE_MEMALIGN]		= (uint64_t)inject_memalign,
	[PMM_ROLE_NEW]			= (uint64_t)inject_new,
	[PMM_ROLE_NEW_NOTHROW]		= (uint64_t)inject_new_nothrow,
	[PMM_ROLE_NEW_ALIGNED]		= (uint64_t)inject_new_aligned,
	[PMM_ROLE_NEW_ALIGNED_NOTHROW]	= (uint64_t)inject_new_aligned_nothrow,
	[PMM_ROLE_MMAP]			= (uint64_t)inject_mmap,
	[PMM_ROLE_MUNMAP]		= (uint64_t)inject_munmap,
	[PMM_ROLE_MREMAP]		= (uint64_t)inject_mremap,
	[PMM_ROLE_CUSTOM_ALLOC]		= (uint64_t)inject_custom_alloc,
	[PMM_ROLE_CUSTOM_REALLOC]	= (uint64_t)inject_custom_realloc,
	[PMM_ROLE_CUSTOM_FREE]		= (uint64_t)inject_custom_free,
	[PMM_ROLE_PRCTL]		= (uint64_t)inject_prctl,
	[PMM_ROLE_SYSCALL]		= (uint64_t)inject_syscall,
	[PMM_ROLE_USABLE_SIZE]		= (uint64_t)inject_usable_size,
	[PMM_ROLE_SIGACTION]		= (uint64_t)inject_sigaction,
};
