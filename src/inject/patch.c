/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The jumps in a process's code. */
#include "src/inject/patch.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "arch/code_arch.h"
#include "arch/regs_arch.h"
#include "include/pmm/ledger.h"
#include "src/entries/detour.h"
#include "src/entries/filecode.h"
#include "src/entries/flow.h"
#include "src/inject/gap.h"
#include "src/inject/inside.h"
#include "src/inject/memfile.h"
#include "src/proc/proc.h"

#define PAGE		4096ull
#define CODE_MAX	65536u		/* of a function */
#define NO_BOUNDARY	0xff		/* in pmm_patch.boundary */
#define GAP_TRIES	100

/* ---- slots ---------------------------------------------------------------------------------- */

/* `from`: where patches begin that are not in place yet and will be (patch_pending()). */
static bool has_patch(const struct attached *a, uint32_t from, uint64_t function)
{
	for (uint32_t i = 0; i < a->record.nr_patches; i++)
		if (a->record.patch[i].function == function &&
		    (a->record.patch[i].applied || i >= from))
			return true;
	return false;
}

/* Map memory in a gap near a module; -EEXIST when another thread has just taken that. */
static int gap_map(pid_t pid, const struct proc_maps *maps, struct remote *r, uint64_t low,
		   uint64_t high, uint64_t bytes, uint64_t *at, struct err *e)
{
	*at = gap_near(maps, low, high, bytes);
	if (!*at)
		return err_set(e, -ENOMEM,
			       "no free address space within 2 GiB of the allocator's code");
	return memfile_map(pid, r, PMM_AGENT_NAME, bytes, PROT_READ | PROT_EXEC, at, NULL, e);
}

/* Memory for `nr` slots near a module; `maps` is read, and is the caller's. 0 or -errno. */
static int slots_map(struct attached *a, struct remote *r, struct proc_maps *maps, uint64_t low,
		     uint64_t high, size_t nr, uint64_t *at, struct err *e)
{
	uint64_t bytes = (nr * PMM_ENTRY_SLOT_BYTES + PAGE - 1) & ~(PAGE - 1);
	int rc = -EEXIST;

	for (unsigned tries = 0; rc == -EEXIST && tries < GAP_TRIES; tries++) {
		proc_maps_fini(maps);
		rc = proc_maps_read(a->pid, maps, e);
		if (!rc)
			rc = gap_map(a->pid, maps, r, low, high, bytes, at, e);
	}
	if (rc)
		return rc;
	rc = attached_range(a, PMM_RANGE_SLOTS, *at, bytes);
	return rc ? rc : attached_store(a);	/* at once: we may be killed any time */
}

static struct pmm_entry entry_of(const struct entry_found *f, const struct image *im, uint64_t at,
				 bool guards)
{
	return (struct pmm_entry){
		.next = at + PMM_ENTRY_MOVED_OFF,
		.hook = image_hook(im, f->role),
		.function = f->address,
		.role = f->role,
		.kind = f->kind,
		.arg_size = f->arg_size,
		.arg_count = f->arg_count,
		.arg_pointer = f->arg_pointer,
		.plain = f->plain,
		.fixed_bytes = f->fixed_bytes,
		.guards = guards,
	};
}

static void slot_fill(uint8_t slot[PMM_ENTRY_SLOT_BYTES], uint64_t at,
		      const struct pmm_entry *entry, const struct detour *d)
{
	uint64_t stub = at + PMM_ENTRY_STUB_OFF;

	memset(slot, ARCH_BREAKPOINT, PMM_ENTRY_SLOT_BYTES);
	memcpy(slot, entry, sizeof(*entry));
	detour_stub(entry->role, d, slot + PMM_ENTRY_STUB_OFF);
	memcpy(slot + PMM_ENTRY_MOVED_OFF, d->moved, d->nr_moved_out);
	memcpy(slot + PMM_ENTRY_POINTER_OFF, &stub, sizeof(stub));
}

static void refuse(struct entry_found *f, const char *why)
{
	free(f->refused);
	f->refused = strdup(why);
}

/* Only what is mapped executable, private and not writable is overwritten. */
static bool is_code(const struct proc_maps *maps, uint64_t address, uint64_t bytes)
{
	bool code = false;

	for (size_t i = 0; i < maps->nr && !code; i++)
		code = address >= maps->v[i].start && address < maps->v[i].end &&
		       bytes <= maps->v[i].end - address &&
		       (maps->v[i].perms & ~PROC_MAP_READ) == PROC_MAP_EXEC;
	return code;
}

struct making {
	struct attached *a;
	const struct proc_maps *maps;
	const struct image *im;
	const struct entries *entries;
	uint32_t pending;		/* patches from there on wait to be put in place */
	struct jumps jumps;		/* of agents that are there already */
	uint8_t *code;			/* CODE_MAX bytes, for one function at a time */
};

static int memory_read(void *arg, uint64_t at, void *to, size_t bytes)
{
	return stop_read(*(pid_t *)arg, at, to, bytes);
}

/* Does the function jump to one that is patched, too? 1, 0, -ENOMEM. */
static int leads_to_another(const struct making *m, const struct detour_function *function)
{
	uint64_t *others = calloc(m->entries->nr + 1, sizeof(*others));
	size_t nr = 0;
	bool leads;

	if (!others)
		return -ENOMEM;
	for (size_t i = 0; i < m->entries->nr; i++)
		if (m->entries->v[i].begin != function->address && !m->entries->v[i].refused)
			others[nr++] = m->entries->v[i].begin;
	leads = detour_calls(function, others, nr, memory_read, &m->a->pid);
	free(others);
	return leads;
}

/*
 * The code of a function as it is without breakpoints and jumps, and a plan for it. 0; -ENOTSUP and
 * `why`; another -errno says nothing of the function.
 */
static int plan(const struct making *m, const struct entry_found *f, const struct pmm_entry *entry,
		uint64_t slot, struct detour *d, struct err *why)
{
	uint8_t *code = m->code;
	struct detour_function function = {
		.address = f->begin, .code = code, .size = f->begin_size, .keep = detour_keep(entry)
	};
	uint64_t nr = detour_code_bytes(f->begin_size);
	int rc;

	function.nr_code = nr = nr < f->module_end - f->begin ? nr : f->module_end - f->begin;
	rc = stop_read(m->a->pid, f->begin, code, nr);
	if (rc)
		return rc == -EFAULT ? err_set(why, -ENOTSUP, "its code cannot be read") : rc;
	function.below = jumps_lift(&m->jumps, f->begin, code, nr);
	function.breakpoints = filecode_mend(code, nr, f->file, f->nr_file);
	rc = detour_plan(&function, slot + PMM_ENTRY_STUB_OFF, slot + PMM_ENTRY_MOVED_OFF, d, why);
	if (rc || !d->bypassed || !(function.breakpoints & 1))
		return rc;
	rc = leads_to_another(m, &function);
	if (!rc)
		return err_set(why, -ENOTSUP,
			       "a uprobe is set on it, which leads past the first instruction, a "
			       "jump: remove it and attach again");
	return rc < 0 ? rc : 0;
}

/* One function: plan it, fill its slot, note the patch. 1, 0 when it cannot be patched, -errno. */
static int prepare_one(const struct making *m, struct entry_found *f, uint64_t slot)
{
	struct attached *a = m->a;
	struct pmm_patch *p = &a->record.patch[a->record.nr_patches];
	struct pmm_entry entry = entry_of(f, m->im, slot, m->entries->guards);
	uint8_t bytes[PMM_ENTRY_SLOT_BYTES];
	struct err why = { 0 };
	struct detour d;
	int rc;

	if (!is_code(m->maps, f->begin, PMM_PATCH_BYTES))
		return refuse(f, "it is not in the program's code"), 0;
	if (!entry.hook)
		return refuse(f, "the agent has no hook for it"), 0;
	if (a->record.nr_patches == PMM_MAX_PATCHES)
		return refuse(f, "too many functions"), 0;
	rc = plan(m, f, &entry, slot, &d, &why);
	if (rc && rc != -ENOTSUP)
		return rc; /* says nothing of the function: without it, blocks would be made and
			      never released, or the other way round */
	if (rc)
		return refuse(f, why.text), 0;
	if (f->role == PMM_ROLE_SIGACTION)
		flow_follow(a->pid, d.bypassed ? f->begin : d.address,
			    &a->setting); /* a breakpoint may be set on the first instruction */
	slot_fill(bytes, slot, &entry, &d);
	rc = stop_write(a->pid, slot, bytes, sizeof(bytes));
	if (rc)
		return rc;
	*p = (struct pmm_patch){
		.function = f->address,
		.address = d.address,
		.entry = slot,
		.nr_bytes = d.nr_bytes,
		.nr_moved = d.nr_moved,
		.role = f->role,
	};
	memcpy(p->original, d.original, d.nr_moved);
	memcpy(p->patched, d.patch, d.nr_bytes);
	memcpy(p->boundary, d.boundary, sizeof(p->boundary));
	a->record.nr_patches++;
	return 1;
}

static bool wanted(const struct making *m, const struct entry_found *f)
{
	return !f->refused && !has_patch(m->a, m->pending, f->address);
}

/* All functions of one module, v[0 .. nr). */
static int prepare_module(struct making *m, struct remote *r, struct entry_found *v, size_t nr,
			  struct err *e)
{
	struct proc_maps maps = { 0 };
	size_t want = 0;
	uint64_t slot = 0;
	int rc, made = 0;

	for (size_t i = 0; i < nr; i++)
		want += wanted(m, &v[i]);
	if (!want)
		return 0;
	m->maps = &maps;
	rc = slots_map(m->a, r, &maps, v->module_start, v->module_end, want, &slot, e);
	for (size_t i = 0; !rc && i < nr; i++)
		if (wanted(m, &v[i])) {
			rc = prepare_one(m, &v[i], slot);
			if (rc < 0)
				err_set(e, rc, "'%s' of process %d cannot be patched: %s",
					v[i].name, (int)m->a->pid, strerror(-rc));
			made += rc > 0;
			slot += PMM_ENTRY_SLOT_BYTES;
			rc = rc < 0 ? rc : 0;
		}
	proc_maps_fini(&maps);
	return rc ? rc : made;
}

static const struct pmm_patch *patch_of(const struct attached *a, uint64_t function)
{
	for (uint32_t i = 0; i < a->record.nr_patches; i++)
		if (a->record.patch[i].function == function)
			return &a->record.patch[i];
	return NULL;
}

/* Where what stands in for an operator new is patched itself, its moved instructions are called. */
static int plain_bypass(const struct attached *a, const struct entries *entries, struct err *e)
{
	for (size_t i = 0; i < entries->nr; i++) {
		const struct entry_found *f = &entries->v[i];
		const struct pmm_patch *p = f->plain ? patch_of(a, f->address) : NULL,
				       *to = p ? patch_of(a, f->plain) : NULL;
		uint64_t next = to ? to->entry + PMM_ENTRY_MOVED_OFF : 0;

		if (to && stop_write(a->pid, p->entry + offsetof(struct pmm_entry, plain), &next,
				     sizeof(next)))
			return err_set(e, -EFAULT, "the slot of '%s' cannot be written", f->name);
	}
	return 0;
}

static int prepare_all(struct making *m, struct remote *r, struct entries *entries, struct err *e)
{
	int made = 0, rc = 0;

	for (size_t i = 0, next; rc >= 0 && i < entries->nr; i = next) {
		for (next = i; next < entries->nr &&
			       entries->v[next].module_start == entries->v[i].module_start;
		     next++)
			;
		rc = prepare_module(m, r, &entries->v[i], next - i, e);
		made += rc;
	}
	return rc < 0 ? rc : made;
}

int patch_prepare(struct attached *a, struct remote *r, const struct image *im, uint32_t pending,
		  struct entries *entries, struct err *e)
{
	struct making m = {
		.a = a, .im = im, .entries = entries, .pending = pending, .code = malloc(CODE_MAX)
	};
	int made = 0, rc = m.code ? 0 : err_set(e, -ENOMEM, "out of memory");

	if (!rc)
		rc = jumps_read(a->pid, &m.jumps, e);
	if (!rc)
		made = prepare_all(&m, r, entries, e);
	jumps_fini(&m.jumps);
	free(m.code);
	rc = made < 0 ? made : rc;
	if (!rc)
		rc = plain_bypass(a, entries, e);
	if (!rc && entries->guards)
		rc = entries_still_guardable(entries, a->pid, e);
	return rc ? rc : made;
}

/* ---- threads -------------------------------------------------------------------------------- */

/*
 * The patch behind whose first instruction `pc` stands, among those that it replaces. NULL: none.
 */
static const struct pmm_patch *patch_around(const struct attached *a, uint32_t first, uint64_t pc)
{
	for (uint32_t i = first; i < a->record.nr_patches; i++)
		if (pc > a->record.patch[i].address &&
		    pc - a->record.patch[i].address < a->record.patch[i].nr_moved)
			return &a->record.patch[i];
	return NULL;
}

struct among {
	const struct attached *a;
	uint32_t first;
};

static bool is_among(void *arg, uint64_t pc, uint64_t sp)
{
	const struct among *among = arg;

	(void)sp;
	return flow_has(&among->a->setting, pc) ||	/* it would be shown the agent's handler */
	       patch_around(among->a, among->first, pc);
}

/*
 * Let a thread that is among the instructions to be replaced continue in the slot's copy of
 * them, which does the same whether the jump will be there or not. (Stepping it out would leave it
 * a trace trap behind should we be killed.)
 */
static bool move_out(struct stopped *s, size_t i, const struct attached *a, uint32_t first)
{
	struct user_regs_struct regs = s->v[i].regs;
	const struct pmm_patch *p = patch_around(a, first, arch_pc(&regs));
	uint8_t to;

	if (!p)
		return true;
	to = p->boundary[arch_pc(&regs) - p->address];
	if (to == NO_BOUNDARY)
		return false;
	arch_set_pc(&regs, p->entry + PMM_ENTRY_MOVED_OFF + to);
	return !stop_set_regs(s, i, &regs);
}

bool patch_ready(struct stopped *s, const struct attached *a, uint32_t first)
{
	struct among among = { a, first };
	struct proc_maps maps = { 0 };
	bool ready = !proc_maps_read(s->pid, &maps, NULL);

	for (size_t i = 0; i < s->nr && ready; i++)
		ready = s->v[i].ended || (move_out(s, i, a, first) &&
					  !inside_each(s, &s->v[i], &maps, is_among, &among));
	proc_maps_fini(&maps);
	return ready;
}

/* ---- code ----------------------------------------------------------------------------------- */

/* Write and read back. */
static int code_write(pid_t pid, uint64_t address, const uint8_t *bytes, unsigned nr)
{
	uint8_t now[PMM_PATCH_BYTES];
	int rc = stop_write(pid, address, bytes, nr);

	if (!rc)
		rc = stop_read(pid, address, now, nr);
	return rc ? rc : memcmp(now, bytes, nr) ? -EIO : 0;
}

/* 1, 0 also where nothing is mapped any more; -errno when it cannot be known. */
static int code_is(pid_t pid, uint64_t address, const uint8_t *bytes, unsigned nr)
{
	uint8_t now[PMM_PATCH_BYTES];
	int rc = stop_read(pid, address, now, nr);

	return rc == -EFAULT ? 0 : rc ? rc : !memcmp(now, bytes, nr);
}

/* Functions that may be given blocks. */
static bool takes_blocks(uint32_t role)
{
	return role == PMM_ROLE_FREE || role == PMM_ROLE_REALLOC || role == PMM_ROLE_REALLOCARRAY ||
	       role == PMM_ROLE_USABLE_SIZE;
}

/*
 * Write the jumps that were found possible. First those of functions that are to know guarded
 * blocks, then those of the functions that make some: pmm may be killed in between, and the program
 * continues.
 */
static int write_jumps(const struct stopped *s, const struct attached *a, uint32_t first)
{
	int rc = 0;

	for (int makers = 0; makers < 2; makers++)
		for (uint32_t i = first; !rc && i < a->record.nr_patches; i++) {
			const struct pmm_patch *p = &a->record.patch[i];
			bool knows = takes_blocks(p->role) || p->role == PMM_ROLE_SIGACTION;

			if (p->applied && knows == !makers)
				rc = code_write(s->pid, p->address, p->patched, p->nr_bytes);
		}
	return rc;
}

uint32_t patch_pending(struct attached *a)
{
	struct pmm_attach *r = &a->record;
	uint32_t first = r->nr_patches, nr;

	while (first && !r->patch[first - 1].applied)
		first--;
	nr = first;
	for (uint32_t i = first; i < r->nr_patches; i++)
		if (code_is(a->pid, r->patch[i].address, r->patch[i].original,
			    r->patch[i].nr_moved) > 0)
			r->patch[nr++] = r->patch[i];
	r->nr_patches = nr;
	return first;
}

int patch_apply(const struct stopped *s, struct attached *a, uint32_t first, struct err *e)
{
	int nr = 0, rc = 0;

	for (uint32_t i = first; !rc && i < a->record.nr_patches; i++) {
		struct pmm_patch *p = &a->record.patch[i];
		/* else it changed meanwhile */
		int same = code_is(s->pid, p->address, p->original, p->nr_moved);

		/* guarded blocks take all of them */
		rc = same < 0 ? same : !same && a->record.rest_at ? -EAGAIN : 0;
		p->applied = same > 0;
		nr += p->applied;
	}
	if (!rc)
		rc = attached_store(a); /* before the first byte of the program is changed */
	if (!rc)
		rc = write_jumps(s, a, first);
	if (!rc)
		return nr;
	patch_restore(s, a, first, PATCH_ALL);
	return err_set(e, rc, "the program's code cannot be changed: %s", strerror(-rc));
}

void patch_missed(const struct attached *a, uint32_t first, struct entries *entries)
{
	for (size_t i = 0; i < entries->nr; i++)
		for (uint32_t k = first; k < a->record.nr_patches && !entries->v[i].refused; k++)
			if (a->record.patch[k].function == entries->v[i].address &&
			    !a->record.patch[k].applied)
				refuse(&entries->v[i], "its code was changed meanwhile, or a "
						       "breakpoint set in it: attach again");
}

/*
 * Is a jump of ours there, or a part of one that could not be written to its end? 1; 0 when it is
 * the program's own code, or another's, or nothing; -errno when it cannot be known. There may be a
 * breakpoint in it that was set since: what was behind it goes back to its place, and the owner of
 * the breakpoint puts back what the file has there.
 */
static int is_ours(pid_t pid, const struct pmm_patch *p, uint8_t back[PMM_PATCH_BYTES])
{
	uint8_t now[PMM_PATCH_BYTES];
	int rc = stop_read(pid, p->address, now, p->nr_bytes);

	if (rc)
		return rc == -EFAULT ? 0 : rc;
	return jump_lift(now, p->patched, p->original, p->nr_bytes, back);
}

static bool stays(uint32_t role, enum patch_but but)
{
	return (but != PATCH_ALL && takes_blocks(role)) ||
	       (but == PATCH_BUT_GUARDS && role == PMM_ROLE_SIGACTION);
}

int patch_restore(const struct stopped *s, struct attached *a, uint32_t first, enum patch_but but)
{
	int rc = 0;

	for (uint32_t i = a->record.nr_patches; i-- > first; ) {
		struct pmm_patch *p = &a->record.patch[i];
		uint8_t bytes[PMM_PATCH_BYTES];
		int ours;

		if (!p->applied || stays(p->role, but))
			continue;
		ours = is_ours(s->pid, p, bytes);
		if (ours > 0)
			ours = code_write(s->pid, p->address, bytes, p->nr_bytes);
		p->applied = ours < 0;
		rc = rc ? rc : ours;
	}
	attached_store(a);		/* or it says more than there is, which does no harm */
	return rc;
}
