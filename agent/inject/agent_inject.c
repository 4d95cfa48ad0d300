/* SPDX-License-Identifier: MIT */
/*
 * The injected agent's start, and the table of its hooks.
 *
 * inject_start() runs once, on a thread of the process that was stopped anywhere: system calls and
 * our own memory only, nothing of the C library, no thread-local data, no registers but the general
 * ones. When it fails it leaves nothing mapped.
 */
#include "agent/inject/agent_inject.h"

#include <elf.h>

#include "agent/inject/inject_borrow.h"
#include "agent/inject/guards.h"
#include "agent/limit.h"
#include "agent/unwind/module.h"
#include "agent/segment.h"

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static struct pmm_attach_record *record;	/* NULL = nothing will be undone by it */

/* pmm writes to none while we do. */
static struct pmm_attach *record_copy(void)
{
	return record ? &record->copy[record->current & 1] : NULL;
}

uint64_t *ctx_countdown(struct tctx *c)
{
	return &c->bytes_left;
}

/* Write a mapping of ours down: pmm may be killed before it could, and the process lives on. */
static void range_note(uint32_t use, const void *start, uint64_t bytes)
{
	struct pmm_attach *to = record_copy();
	uint32_t nr = to ? to->nr_ranges : 0;

	if (!bytes || !to || nr >= PMM_MAX_RANGES)
		return;
	to->range[nr] =
		(struct pmm_range){ .start = (uint64_t)start, .bytes = bytes, .use = use };
	STORE_RELEASE(to->nr_ranges, nr + 1);
}

bool segment_closed(void)
{
	return false;		/* the pmm that injects has checked the filters */
}

/*
 * The file that pmm has mapped. What it says of itself is taken from there, and the clock: the
 * monitor has it mapped.
 */
int segment_open(void)
{
	const struct pmm_tree *t = (const struct pmm_tree *)agent.file;
	const uint64_t head = (sizeof(*t) + ARCH_PAGE - 1) & ~(ARCH_PAGE - 1);

	if (!t || sys_failed(sys3(mprotect, agent.file, head, SYS_PROT_READ | SYS_PROT_WRITE)) ||
	    !segment_sane(t) || t->slots_off + t->slot_bytes != agent.reserved_bytes)
		return -1;
	sys3(madvise, agent.file, agent.reserved_bytes, SYS_MADV_DONTDUMP);
	agent.tree = t;
	range_note(PMM_RANGE_PRIVATE, agent.private_start, agent.private_bytes);
	return 0;
}

/* It has one ledger, which is this process's. */
int segment_file(void)
{
	if (agent.generation)
		return -1;
	agent.file = (char *)agent.tree;
	return LOAD(agent.tree->slot[0].state) == PMM_SLOT_FREE ? 0 : -1;
}

void segment_publish(bool new_image)
{
	(void)new_image;
}

void segment_lost(void)
{
}

uint32_t limit_inherited(void)
{
	return PMM_LIMIT_AS_IT_WAS;
}

/* Our own unwind information: stacks go through hooks of functions that allocate themselves. */
static void own_find(void)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)__ehdr_start;
	const Elf64_Phdr *ph = (const Elf64_Phdr *)(__ehdr_start + e->e_phoff);

	agent.own.start = (uint64_t)__ehdr_start;
	agent.own.end = (uint64_t)_end;
	for (unsigned i = 0; i < e->e_phnum; i++)
		if (ph[i].p_type == PT_GNU_EH_FRAME) {
			agent.own.hdr = agent.own.start + ph[i].p_vaddr;
			agent.own.hdr_bytes = ph[i].p_filesz;
		}
}

static void args_take(const struct pmm_inject_args *args)
{
	agent.file = (char *)args->tree_start;
	agent.reserved_bytes = args->tree_bytes;
	agent.limit_raised_bytes = args->limit_raised_bytes;
	agent.limit_shifted = args->limit_raised_bytes;
	agent.limit_most_raised = args->limit_most_raised;
	agent.limit_taken = !agent.limit_shifted && limit_of(RLIMIT_AS) != UINT64_MAX;
	agent.dense = args->dense;
	agent.single_threaded = (const uint8_t *)args->single_threaded;
	agent.next.mallinfo2 = (void *)args->mallinfo2;
	agent.allocator_path = (const char *)args->allocator_path;
	agent.given = (struct cfi_module){
		.start = args->frames_start,
		.end = args->frames_end,
		.hdr = args->index,
		.hdr_bytes = args->index_bytes,
		.apart = 1,
	};
}

static uint32_t why_not(void)
{
	if (!agent.tree)
		return PMM_OFF_NO_MEMORY;
	return agent.ledger ? PMM_OFF_NO_MEMORY : PMM_OFF_NO_SLOT;
}

__attribute__((visibility("default"))) long inject_start(struct pmm_inject_args *args);

static bool record_protect(int access)
{
	return record && !sys_failed(sys3(mprotect, record, PMM_RECORD_BYTES, access));
}

/*
 * A child that another thread forks in between keeps a mapping that is not recorded; the other way
 * round it would unmap what may be the program's by then.
 */
static long inject_leave(void *unused)
{
	struct pmm_attach *of = record_copy();

	(void)unused;
	if (!record_protect(SYS_PROT_READ | SYS_PROT_WRITE))
		return -1;
	for (uint32_t i = 0; i < of->nr_ranges && i < PMM_MAX_RANGES; i++) {
		struct pmm_range *r = &of->range[i];

		if (r->use != PMM_RANGE_PRIVATE)
			continue;
		STORE(r->use, PMM_RANGE_NONE);
		if (sys_failed(sys2(munmap, r->start, r->bytes)))
			STORE(r->use, PMM_RANGE_PRIVATE);
	}
	return 0;
}

/*
 * What has to be undone, the rest of it. pmm reads it from there as well; the program is not to
 * write over it.
 */
static void record_fill(const struct pmm_inject_args *args)
{
	struct pmm_attach *to = record_copy();
	struct limit l = { 0 };

	if (!to)
		return;
	for (unsigned i = 0; i < PMM_GUARD_RANGES; i++)
		range_note(PMM_RANGE_PRIVATE, (const void *)args->guards[i].start,
			   args->guards[i].bytes);
	if (agent.limit_raised_bytes && !sys_failed(sys4(prlimit, 0, RLIMIT_AS, 0, &l))) {
		to->limit_raised_bytes = agent.limit_raised_bytes;
		to->limit_raised_to = l.now;
		to->limit_most_to = agent.limit_most_raised ? l.most : 0;
	}
	to->passing_at = (uint64_t)&agent.passing;
	to->rest_at = args->rest_at;
	to->ledger_at = (uint64_t)agent.base;
	STORE_RELEASE(to->leave_at, (uint64_t)inject_leave);
	record_protect(SYS_PROT_READ);
}

/*
 * Of the list of mappings in the ledger's file, where nothing is recorded yet, if that is there.
 * Returns whether it was not needed.
 */
static bool modules_find(const struct pmm_inject_args *args)
{
	const uint64_t at = (uint64_t)agent.file + args->maps_off,
		       bytes = (args->maps_bytes + ARCH_PAGE - 1) & ~(ARCH_PAGE - 1);
	struct module_text text = { -1, at, at + args->maps_bytes };
	bool there = bytes && !sys_failed(sys3(mprotect, at, bytes, SYS_PROT_READ)),
	     has_proc = module_start(there ? &text : NULL);

	if (there)
		sys3(mprotect, at, bytes, SYS_PROT_NONE);
	return has_proc;
}

long inject_start(struct pmm_inject_args *args)
{
	bool has_proc;

	if (args->version != PMM_INJECT_VERSION)
		return args->error = PMM_OFF_INTERNAL;
	record = (struct pmm_attach_record *)args->record;
	args_take(args);
	own_find();
	if (!agent_start()) {
		args->error = (int32_t)why_not();
		segment_unmap();
		if (agent.private_start)
			sys2(munmap, agent.private_start, agent.private_bytes);
		return args->error;
	}
	agent.ledger->attached = 1;
	has_proc = modules_find(args);
	borrow_find();
	agent.ledger->hook_pc = agent.borrowed - 1;
	if (has_proc)
		agent.module_gen--; /* read again by the first hook, which may ask the loader and
				   use its vector registers */
	agent.find_object = (int (*)(void *, void *))args->find_object;
	agent.vdso_clock = (long (*)(int, int64_t *))args->vdso_clock;
	args->slot = 0;
	args->private_start = (uint64_t)agent.private_start;
	args->private_bytes = agent.private_bytes;
	guards_start(args);
	record_fill(args);
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
	[PMM_ROLE_STRING]		= (uint64_t)inject_string,
	[PMM_ROLE_EXPAND]		= (uint64_t)inject_expand,
	[PMM_ROLE_XALLOCX]		= (uint64_t)inject_xallocx,
};
