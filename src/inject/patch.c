/* The jumps in a process's code. */
#include "src/inject/patch.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "include/pmm/ledger.h"
#include "src/inject/detour.h"
#include "src/inject/flow.h"
#include "src/inject/gap.h"
#include "src/inject/inside.h"
#include "src/target/proc.h"

#define PAGE		4096ull
#define CODE_MAX	65536u		/* looked at of one function: jemalloc's are above 10000 */
#define ENDBR_BYTES	4u
#define CODE_GUESS	512u		/* ... where its size is not known */
#define NO_BOUNDARY	0xff		/* in pmm_patch.boundary */
#define GAP_TRIES	100

/* ---- slots ---------------------------------------------------------------------------------- */

static bool patched_already(const struct attached *a, uint64_t function)
{
	for (uint32_t i = 0; i < a->record.nr_patches; i++)
		if (function <= a->record.patch[i].address && a->record.patch[i].address <= function + 4 &&
		    a->record.patch[i].applied)
			return true;
	return false;
}

static bool wanted(const struct attached *a, const struct entry_found *f)
{
	return !f->refused && !patched_already(a, f->address);
}

/* Map memory in a gap near a module; -EEXIST when another thread has just taken that. */
static int gap_map(const struct proc_maps *maps, struct remote *r, uint64_t low, uint64_t high, uint64_t bytes, uint64_t *at,
		   struct err *e)
{
	int64_t result;
	int rc;

	*at = gap_near(maps, low, high, bytes);
	if (!*at)
		return err_set(e, -ENOMEM, "no free address space within 2 GiB of the allocator's code");
	rc = remote_syscall(r, SYS_mmap,
			    (const uint64_t[6]){ *at, bytes, PROT_READ | PROT_EXEC,
					  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, (uint64_t)-1, 0 }, &result, e);
	if (rc || (uint64_t)result == *at)
		return rc;
	return err_set(e, result < 0 ? (int)result : -ENOMEM, "the process got no executable memory: %s",
		       strerror(result < 0 ? (int)-result : ENOMEM));
}

/* Memory for `nr` slots near a module; `maps` is read, and is the caller's. 0 or -errno. */
static int slots_map(struct attached *a, struct remote *r, struct proc_maps *maps, uint64_t low, uint64_t high, size_t nr,
		     uint64_t *at, struct err *e)
{
	uint64_t bytes = (nr * PMM_ENTRY_SLOT_BYTES + PAGE - 1) & ~(PAGE - 1);
	int rc = -EEXIST;

	for (unsigned tries = 0; rc == -EEXIST && tries < GAP_TRIES; tries++) {
		proc_maps_fini(maps);
		rc = proc_maps_read(a->pid, maps, e);
		if (!rc)
			rc = gap_map(maps, r, low, high, bytes, at, e);
	}
	if (rc)
		return rc;
	rc = attached_range(a, PMM_RANGE_SLOTS, *at, bytes);
	return rc ? rc : attached_store(a);	/* at once: we may be killed any time */
}

static void slot_fill(uint8_t slot[PMM_ENTRY_SLOT_BYTES], uint64_t at, const struct entry_found *f, const struct image *im,
		      const struct detour *d, bool guards)
{
	struct pmm_entry entry = {
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

	memset(slot, 0xcc, PMM_ENTRY_SLOT_BYTES);
	memcpy(slot, &entry, sizeof(entry));
	detour_stub(f->role, slot + PMM_ENTRY_STUB_OFF);
	memcpy(slot + PMM_ENTRY_MOVED_OFF, d->moved, d->nr_moved_out);
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
		code = address >= maps->v[i].start && address < maps->v[i].end && bytes <= maps->v[i].end - address &&
		       (maps->v[i].perms & ~PROC_MAP_READ) == PROC_MAP_EXEC;
	return code;
}

/* One function: plan it, fill its slot, note the patch. 1, 0 when it cannot be patched, -errno. */
static int prepare_one(struct attached *a, const struct proc_maps *maps, const struct image *im, struct entry_found *f, uint64_t slot,
		       bool guards)
{
	uint8_t code[CODE_MAX], bytes[PMM_ENTRY_SLOT_BYTES];
	struct detour_function function = { .address = f->address, .code = code, .size = f->size };
	struct pmm_patch *p = &a->record.patch[a->record.nr_patches];
	uint64_t nr = f->size ? f->size + 16 : CODE_GUESS;
	struct err why = { 0 };
	struct detour d;

	nr = nr < CODE_MAX ? nr : CODE_MAX;
	nr = nr < f->module_end - f->address ? nr : f->module_end - f->address;
	function.nr_code = nr;
	if (!is_code(maps, f->address, PMM_PATCH_BYTES))
		return refuse(f, "it does not lie in the program's code"), 0;
	if (!image_hook(im, f->role))
		return refuse(f, "the agent has no hook for it"), 0;
	if (a->record.nr_patches == PMM_MAX_PATCHES)
		return refuse(f, "too many functions"), 0;
	if (stop_read(a->pid, f->address, code, nr))
		return refuse(f, "its code cannot be read"), 0;
	if (detour_plan(&function, slot + PMM_ENTRY_STUB_OFF, slot + PMM_ENTRY_MOVED_OFF, &d, &why))
		return refuse(f, why.text), 0;
	if (f->role == PMM_ROLE_SIGACTION)
		flow_follow(a->pid, f->address, &a->setting);
	slot_fill(bytes, slot, f, im, &d, guards);
	if (stop_write(a->pid, slot, bytes, sizeof(bytes)))
		return refuse(f, "its slot cannot be written"), 0;
	*p = (struct pmm_patch){ .address = d.address, .entry = slot, .nr_bytes = d.nr_bytes, .nr_moved = d.nr_moved, .role = f->role };
	memcpy(p->original, d.original, d.nr_moved);
	memcpy(p->patched, d.patch, d.nr_bytes);
	memcpy(p->boundary, d.boundary, sizeof(p->boundary));
	a->record.nr_patches++;
	return 1;
}

/* All functions of one module, v[0 .. nr). */
static int prepare_module(struct attached *a, struct remote *r, const struct image *im, struct entry_found *v, size_t nr,
			  bool guards, struct err *e)
{
	struct proc_maps maps = { 0 };
	size_t want = 0;
	uint64_t slot = 0;
	int rc, made = 0;

	for (size_t i = 0; i < nr; i++)
		want += wanted(a, &v[i]);
	if (!want)
		return 0;
	rc = slots_map(a, r, &maps, v->module_start, v->module_end, want, &slot, e);
	for (size_t i = 0; !rc && i < nr; i++)
		if (wanted(a, &v[i])) {
			made += prepare_one(a, &maps, im, &v[i], slot, guards);
			slot += PMM_ENTRY_SLOT_BYTES;
		}
	proc_maps_fini(&maps);
	return rc ? rc : made;
}

static const struct pmm_patch *patch_of(const struct attached *a, uint64_t function)
{
	for (uint32_t i = 0; i < a->record.nr_patches; i++)
		if (a->record.patch[i].address - function <= ENDBR_BYTES)
			return &a->record.patch[i];
	return NULL;
}

/* Where what stands in for an operator new is patched itself, its moved instructions are called. */
static int plain_bypass(const struct attached *a, const struct entries *entries, struct err *e)
{
	for (size_t i = 0; i < entries->nr; i++) {
		const struct entry_found *f = &entries->v[i];
		const struct pmm_patch *p = f->plain ? patch_of(a, f->address) : NULL, *to = p ? patch_of(a, f->plain) : NULL;
		uint64_t next = to ? to->entry + PMM_ENTRY_MOVED_OFF : 0;

		if (to && stop_write(a->pid, p->entry + offsetof(struct pmm_entry, plain), &next, sizeof(next)))
			return err_set(e, -EFAULT, "the slot of '%s' cannot be written", f->name);
	}
	return 0;
}

int patch_prepare(struct attached *a, struct remote *r, const struct image *im, struct entries *entries, struct err *e)
{
	int made = 0, rc;

	for (size_t i = 0, next; i < entries->nr; i = next) {
		for (next = i; next < entries->nr && entries->v[next].module_start == entries->v[i].module_start; next++)
			;
		rc = prepare_module(a, r, im, &entries->v[i], next - i, entries->guards, e);
		if (rc < 0)
			return rc;
		made += rc;
	}
	rc = plain_bypass(a, entries, e);
	return rc ? rc : made;
}

/* ---- threads -------------------------------------------------------------------------------- */

/* The patch behind whose first instruction `pc` stands, among those that it replaces. NULL: none. */
static const struct pmm_patch *patch_around(const struct attached *a, uint32_t first, uint64_t pc)
{
	for (uint32_t i = first; i < a->record.nr_patches; i++)
		if (pc > a->record.patch[i].address && pc - a->record.patch[i].address < a->record.patch[i].nr_moved)
			return &a->record.patch[i];
	return NULL;
}

struct among {
	const struct attached *a;
	uint32_t first;
};

static bool is_among(void *arg, uint64_t rip, uint64_t rsp)
{
	const struct among *among = arg;

	(void)rsp;
	return flow_has(&among->a->setting, rip) ||	/* it would be shown the agent's handler */
	       patch_around(among->a, among->first, rip);
}

/*
 * Let a thread that stands among the instructions to be replaced go on in the slot's copy of them, which does the same whether the
 * jump will be there or not. (Stepping it out would leave it a trace trap behind should we be killed.)
 */
static bool move_out(struct stopped *s, size_t i, const struct attached *a, uint32_t first)
{
	struct user_regs_struct regs = s->v[i].regs;
	const struct pmm_patch *p = patch_around(a, first, regs.rip);
	uint8_t to;

	if (!p)
		return true;
	to = p->boundary[regs.rip - p->address];
	if (to == NO_BOUNDARY)
		return false;
	regs.rip = p->entry + PMM_ENTRY_MOVED_OFF + to;
	return !stop_set_regs(s, i, &regs);
}

bool patch_ready(struct stopped *s, const struct attached *a, uint32_t first)
{
	struct among among = { a, first };
	struct proc_maps maps = { 0 };
	bool ready = !proc_maps_read(s->pid, &maps, NULL);

	for (size_t i = 0; i < s->nr && ready; i++)
		ready = s->v[i].ended || (move_out(s, i, a, first) && !inside_each(s, &s->v[i], &maps, is_among, &among));
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

static bool code_is(pid_t pid, uint64_t address, const uint8_t *bytes, unsigned nr)
{
	uint8_t now[PMM_PATCH_BYTES];

	return !stop_read(pid, address, now, nr) && !memcmp(now, bytes, nr);
}

int patch_apply(const struct stopped *s, struct attached *a, uint32_t first, struct err *e)
{
	int nr = 0, rc;

	for (uint32_t i = first; i < a->record.nr_patches; i++) {
		struct pmm_patch *p = &a->record.patch[i];

		p->applied = code_is(s->pid, p->address, p->original, p->nr_moved);	/* else it changed meanwhile */
		nr += p->applied;
	}
	rc = attached_store(a);		/* before the first byte of the program is changed */
	for (uint32_t i = first; !rc && i < a->record.nr_patches; i++)
		if (a->record.patch[i].applied)
			rc = code_write(s->pid, a->record.patch[i].address, a->record.patch[i].patched,
					a->record.patch[i].nr_bytes);
	if (!rc)
		return nr;
	patch_restore(s, a, PATCH_ALL);
	return err_set(e, rc, "the program's code cannot be changed: %s", strerror(-rc));
}

/* Functions that may be given blocks. */
static bool takes_blocks(uint32_t role)
{
	return role == PMM_ROLE_FREE || role == PMM_ROLE_REALLOC || role == PMM_ROLE_REALLOCARRAY || role == PMM_ROLE_USABLE_SIZE;
}

static bool stays(uint32_t role, enum patch_but but)
{
	return (but != PATCH_ALL && takes_blocks(role)) || (but == PATCH_BUT_GUARDS && role == PMM_ROLE_SIGACTION);
}

unsigned patch_restore(const struct stopped *s, struct attached *a, enum patch_but but)
{
	unsigned nr = 0;

	for (uint32_t i = a->record.nr_patches; i-- > 0; ) {
		struct pmm_patch *p = &a->record.patch[i];

		if (!p->applied || stays(p->role, but))
			continue;
		if (!code_is(s->pid, p->address, p->patched, p->nr_bytes))
			p->applied = 0;		/* nothing of ours there */
		else if (!code_write(s->pid, p->address, p->original, p->nr_bytes)) {
			p->applied = 0;
			nr++;
		}
	}
	attached_store(a);
	return nr;
}
