/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detours run: a patched function comes to its hook, and from there to its body, in the state that
 * it would have had. So it does when the kernel has stepped over its first instruction elsewhere,
 * as where a uprobe is set, and so does a thread that was among the overwritten instructions. Done
 * with every function of the allocators that are installed, their files mapped as they are, and
 * with random beginnings.
 */
#include "tests/unit/unit.h"

#include <signal.h>
#include <sys/mman.h>

#include "src/entries/detour.h"
#include "src/entries/entries_names.h"
#include "src/entries/insn.h"
#include "src/proc/elffile.h"
#include "tests/unit/file_image.h"
#include "tests/unit/libraries.h"
#include "tests/unit/state_run.h"

#define NR_STATES	12u
#define NR_RANDOM	3000u

/* ---- one function --------------------------------------------------------------------------- */

struct patched {
	const char *name;
	uint8_t *code;
	uint64_t size, address;
	/* argument registers that the hook reads, and passes on */
	unsigned keep, passed, entry_reg;
	struct detour d;
	uint8_t *slot;
	uint64_t hook, stepped;
	uint8_t first[INSN_MAX_BYTES];
	unsigned nr_first;
	uint64_t stops[16];
	uint8_t under[16];
	unsigned nr_stops;
	bool calls_kernel;		/* which sets rcx and r11 */
	unsigned nr_skipped;		/* states in which its first instruction is a fault */
};

static void stop_add(struct patched *p, uint64_t at, uint64_t low, uint64_t high)
{
	if (at < low || at >= high || p->nr_stops == NR(p->stops))
		return;
	for (unsigned i = 0; i < p->nr_stops; i++)
		if (p->stops[i] == at)
			return;
	p->stops[p->nr_stops++] = at;
}

/* Where the sequence of moved instructions is left, within the file's code. */
static void stops_find(struct patched *p, uint64_t low, uint64_t high)
{
	uint64_t end = p->d.address - p->address + p->d.nr_moved;
	struct insn in;

	p->nr_stops = 0;
	p->calls_kernel = false;
	for (uint64_t at = 0; at < end && at < p->size; at += in.length) {
		assert_true(insn_decode(p->code + at, INSN_MAX_BYTES, p->address + at, &in));
		p->calls_kernel |= in.length == 2 && !memcmp(in.bytes, "\x0f\x05", 2);
		if (in.has_target && in.target - p->address >= end)
			stop_add(p, in.target, low, high);
	}
	stop_add(p, p->address + end, low, high);
}

static void stops_set(struct patched *p, bool set)
{
	for (unsigned i = 0; i < p->nr_stops; i++) {
		if (set)
			p->under[i] = *(uint8_t *)p->stops[i];
		*(uint8_t *)p->stops[i] = set ? 0xcc : p->under[i];
	}
}

static void slot_make(struct patched *p, const struct pmm_entry *like)
{
	struct pmm_entry entry = *like;
	uint64_t stub = (uint64_t)p->slot + PMM_ENTRY_STUB_OFF;
	uint8_t *step = p->slot + 2 * PMM_ENTRY_SLOT_BYTES;
	const char *why;
	struct insn in;
	unsigned n;

	p->hook = (uint64_t)p->slot + PMM_ENTRY_SLOT_BYTES;
	entry.hook = p->hook;
	entry.next = (uint64_t)p->slot + PMM_ENTRY_MOVED_OFF;
	memset(p->slot, 0xcc, 4 * PMM_ENTRY_SLOT_BYTES);
	memcpy(p->slot, &entry, sizeof(entry));
	detour_stub(like->role, &p->d, p->slot + PMM_ENTRY_STUB_OFF);
	memcpy(p->slot + PMM_ENTRY_MOVED_OFF, p->d.moved, p->d.nr_moved_out);
	memcpy(p->slot + PMM_ENTRY_POINTER_OFF, &stub, sizeof(stub));
	p->entry_reg = pmm_role_register(like->role) < 6 ? arg_of[pmm_role_register(like->role)]
							 : R11;
	/* what the kernel does at a uprobe: the first instruction elsewhere, then on behind it */
	assert_true(insn_decode(p->code, INSN_MAX_BYTES, p->address, &in));
	p->nr_first = in.length;
	memcpy(p->first, p->code, in.length);
	n = insn_move(&in, (uint64_t)step, step, &why);
	assert_true(n > 0);
	insn_jump((uint64_t)step + n, p->address + in.length, step + n);
	p->stepped = (uint64_t)step;
}

/* By the hooks' signatures (agent/inject/agent_inject.h). */
static unsigned passed(enum pmm_role role)
{
	switch (role) {
	case PMM_ROLE_MALLOC: case PMM_ROLE_NEW: case PMM_ROLE_USABLE_SIZE:
		return 1;
	case PMM_ROLE_CALLOC:
	case PMM_ROLE_REALLOC:
	case PMM_ROLE_MEMALIGN:
	case PMM_ROLE_NEW_NOTHROW:
	case PMM_ROLE_NEW_ALIGNED:
	case PMM_ROLE_MUNMAP:
		return 3;
	case PMM_ROLE_REALLOCARRAY:
	case PMM_ROLE_FREE:
	case PMM_ROLE_POSIX_MEMALIGN:
	case PMM_ROLE_NEW_ALIGNED_NOTHROW:
	case PMM_ROLE_SIGACTION:
		return 7;
	case PMM_ROLE_MREMAP:
		return 31;
	default:
		return UNDO_ARGS;
	}
}

static bool may_differ(const struct patched *p, unsigned reg)
{
	return p->calls_kernel && (reg == RCX || reg == R11);
}

static bool in_stack(uint64_t sp)
{
	return sp >= (uint64_t)state_stack && sp < (uint64_t)(state_stack + STACK_WORDS);
}

/*
 * The same, but for registers that the function has not set and that a hook may have changed to
 * what `trashed` has? What is not, in `e`.
 */
static bool same_end(const struct patched *p, const struct state *was, const struct state *trashed,
		     const struct state *is, struct err *e)
{
	if (was->signal != is->signal)
		return err_set(e, 0, "signal %d, must be %d", is->signal, was->signal);
	for (unsigned i = 0; i < NR_REGS; i++)
		if (is->reg[i] != was->reg[i] && !may_differ(p, i) && is->reg[i] != trashed->reg[i])
			return err_set(e, 0, "register %u is %#lx, must be %#lx", i, is->reg[i],
				       was->reg[i]);
	for (uint64_t at = was->reg[RSP] & ~7ull; in_stack(at); at += 8) {
		size_t i = (at - (uint64_t)state_stack) / 8;

		if (is->stack[i] != was->stack[i] && is->stack[i] != trashed->stack[i])
			return err_set(e, 0, "the stack at %+ld is %#lx, must be %#lx",
				       (long)(at - was->reg[RSP]), is->stack[i], was->stack[i]);
	}
	return true;
}

static void assert_ends(const struct patched *p, const char *how, const struct state *was,
			const struct state *trashed, const struct state *is)
{
	struct err e = { 0 };

	if (!same_end(p, was, trashed, is, &e))
		fail_msg("%s: %s: %s", p->name, how, e.text);
}

static bool is_extended(uint64_t from, uint64_t to)
{
	return to == (uint32_t)from || to == (uint16_t)from || to == (uint8_t)from ||
	       to == (uint64_t)(int32_t)from || to == (uint64_t)(int16_t)from ||
	       to == (uint64_t)(int8_t)from || to == (uint32_t)(int16_t)from ||
	       to == (uint32_t)(int8_t)from;
}

/*
 * The lower bits of an argument, where the function cannot tell the rest: of an int the upper half.
 * `was`: how the function ends.
 */
static bool is_as_good(const struct patched *p, const struct state *s, const struct state *was,
		       unsigned reg, uint64_t value)
{
	struct state other = *s, end;

	if (!is_extended(s->reg[reg], value))
		return false;
	other.reg[reg] = value;
	state_run((uint64_t)p->slot + PMM_ENTRY_MOVED_OFF, &other, &end);
	return same_end(p, was, &other, &end, NULL);
}

/* At the hook everything that matters is as it was when the function was called. */
static void assert_hooked(const struct patched *p, const char *how, const struct state *s,
			  const struct state *was, const struct state *h)
{
	static const unsigned kept[] = { RSP, RBX, RBP, R12, R13, R14, R15 };

	if (h->signal != SIGTRAP || h->pc != p->hook + 1)
		fail_msg("%s: %s: does not come to its hook but to %#lx (signal %d)", p->name, how,
			 h->pc, h->signal);
	for (unsigned i = 0; i < NR(kept); i++)
		if (h->reg[kept[i]] != s->reg[kept[i]])
			fail_msg("%s: %s: register %u is %#lx at the hook, was %#lx", p->name, how,
				 kept[i], h->reg[kept[i]], s->reg[kept[i]]);
	for (unsigned i = 0; i < NR(arg_of); i++)
		if (p->keep & UNDO_ARG(i) && h->reg[arg_of[i]] != s->reg[arg_of[i]] &&
		    !is_as_good(p, s, was, arg_of[i], h->reg[arg_of[i]]))
			fail_msg("%s: %s: argument %u is %#lx at the hook, was %#lx", p->name, how,
				 i, h->reg[arg_of[i]], s->reg[arg_of[i]]);
	assert_int_equal(h->reg[p->entry_reg], (uint64_t)p->slot);
	for (const uint64_t *w = (const uint64_t *)s->reg[RSP]; w < state_stack + STACK_WORDS; w++)
		assert_int_equal(s->stack[w - state_stack], h->stack[w - state_stack]);
}

static void patch_write(const struct patched *p, bool in_place)
{
	memcpy((void *)p->d.address, in_place ? p->d.patch : p->d.original, p->d.nr_bytes);
}

/*
 * From the function's beginning, by whatever way, to the hook and on to the end: as the function as
 * it was does from where the hook left off.
 */
static void check_way(const struct patched *p, const char *how, uint64_t pc, const struct state *s,
		      const struct state *was)
{
	struct state hooked, other, end, plain;

	state_run(pc, s, &hooked);
	assert_hooked(p, how, s, was, &hooked);
	other = hooked;			/* had the hook left all as it found it, and the stub too */
	other.reg[p->entry_reg] = s->reg[p->entry_reg];
	other.flags = s->flags;
	memcpy(other.stack, s->stack, (s->reg[RSP] - (uint64_t)state_stack));
	state_run((uint64_t)p->slot + PMM_ENTRY_MOVED_OFF, &other, &end);
	assert_ends(p, how, was, was, &end);
	state_trash(&hooked, p->passed);
	state_run((uint64_t)p->slot + PMM_ENTRY_MOVED_OFF, &hooked, &end);
	patch_write(p, false);
	state_run(p->address, &hooked, &plain);
	patch_write(p, true);
	assert_ends(p, how, &plain, &plain, &end);
	if ((end.flags ^ plain.flags) & ARITHMETIC)
		fail_msg("%s: %s: flags are %#lx, must be %#lx", p->name, how, end.flags,
			 plain.flags);
	if (end.signal == SIGTRAP)
		assert_int_equal(end.pc, plain.pc);
}

/* A thread that stood among the overwritten instructions goes on in the copy. */
static void check_moved_out(struct patched *p, const struct state *s, const struct state *was)
{
	for (unsigned i = 0; i < p->d.nr_moved; i++) {
		uint8_t *at = (uint8_t *)p->d.address + i, under = *at;
		struct state there, end;

		if (p->d.boundary[i] == 0xff)
			continue;
		*at = 0xcc;
		state_run(p->address, s, &there);
		*at = under;
		if (there.pc != (uint64_t)at + 1)
			continue;		/* it went elsewhere before */
		state_run((uint64_t)p->slot + PMM_ENTRY_MOVED_OFF + p->d.boundary[i], &there, &end);
		assert_ends(p, "moved out", was, was, &end);
	}
}

static void check_state(struct patched *p, unsigned which)
{
	struct state s, was;

	state_make(&s, which);
	stops_set(p, true);
	state_run(p->address, &s, &was);
	if (was.pc == p->address) {		/* the first instruction is a fault */
		stops_set(p, false);
		p->nr_skipped++;
		return;
	}
	check_moved_out(p, &s, &was);
	stops_set(p, false);
	patch_write(p, true);
	stops_set(p, true);
	check_way(p, "patched", p->address, &s, &was);
	if (!p->d.bypassed)
		check_way(p, "stepped over", p->stepped, &s, &was);
	p->code[0] = 0xcc;		/* a uprobe comes ... */
	p->code[0] = p->first[0];	/* ... and goes: what the file has is put back */
	check_way(p, "with its first byte put back", p->address, &s, &was);
	stops_set(p, false);
	patch_write(p, false);
}

/*
 * The function at `code`, of which the file's code is [low, high). How many states were looked at,
 * or -ENOTSUP and the reason.
 */
static int check_function(const char *name, uint8_t *code, uint64_t size,
			  const struct pmm_entry *entry, uint8_t *slot, uint64_t low, uint64_t high,
			  struct err *e)
{
	struct patched p = { .name = name,
			     .code = code,
			     .address = (uint64_t)code,
			     .size = size,
			     .slot = slot,
			     .keep = detour_keep(entry),
			     .passed = passed(entry->role) };
	struct detour_function f = { .address = p.address,
				     .code = code,
				     .nr_code = size + 16,
				     .size = size,
				     .keep = p.keep };
	uint8_t before[64];

	if (f.nr_code > high - p.address)
		f.nr_code = high - p.address;
	if (detour_plan(&f, (uint64_t)slot + PMM_ENTRY_STUB_OFF,
			(uint64_t)slot + PMM_ENTRY_MOVED_OFF, &p.d, e))
		return -ENOTSUP;
	memcpy(before, code, size < sizeof(before) ? size : sizeof(before));
	slot_make(&p, entry);
	stops_find(&p, low, high);
	for (unsigned i = 0; i < NR_STATES; i++)
		check_state(&p, i);
	assert_memory_equal(before, code, size < sizeof(before) ? size : sizeof(before));
	return (int)(NR_STATES - p.nr_skipped);
}

/* ---- allocators ------------------------------------------------------------------------------ */

struct mapped {
	uint8_t *base, *slot;
	uint64_t bytes, code_low, code_high;
};

/* The file's segments in memory of ours, a page for slots behind them. */
static void library_map(const struct elf_file *f, struct mapped *m)
{
	size_t nr, size = 0;
	const uint8_t *image = file_image(f->path, &size);
	GElf_Phdr ph;

	assert_int_equal(elf_getphdrnum(f->elf, &nr), 0);
	*m = (struct mapped){ 0 };
	for (size_t i = 0; i < nr; i++)
		if (gelf_getphdr(f->elf, (int)i, &ph) && ph.p_type == PT_LOAD &&
		    ph.p_vaddr + ph.p_memsz > m->bytes)
			m->bytes = (ph.p_vaddr + ph.p_memsz + 4095) & ~4095ull;
	m->base = mmap(NULL, m->bytes + 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(m->base != MAP_FAILED);
	m->slot = m->base + m->bytes;
	for (size_t i = 0; i < nr; i++) {
		if (!gelf_getphdr(f->elf, (int)i, &ph) || ph.p_type != PT_LOAD)
			continue;
		memcpy(m->base + ph.p_vaddr, image + ph.p_offset, ph.p_filesz);
		if (ph.p_flags & PF_X) {
			m->code_low = (uint64_t)m->base + ph.p_vaddr;
			m->code_high = m->code_low + ph.p_filesz;
		}
	}
}

static void test_library(void **state)
{
	const struct library *library = *state;
	struct entries_names names;
	struct elf_file f;
	struct mapped m;
	GElf_Shdr header;
	Elf_Data *data;
	unsigned nr = 0;

	if (elf_file_open(&f, library->path))
		skip();			/* the test's name says what is missing */
	state_runs();
	random_seed = 88172645463325252ull;
	assert_int_equal(entries_names_init(&names), 0);
	library_map(&f, &m);
	data = elf_getdata(elf_file_section(&f, NULL, SHT_DYNSYM, &header), NULL);
	assert_non_null(data);
	for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
		const struct entries_name *name;
		enum names_prefix prefix;
		struct err e = { 0 };
		GElf_Sym sym;
		int rc;

		assert_non_null(gelf_getsym(data, (int)i, &sym));
		name = entries_names_find(&names, elf_strptr(f.elf, header.sh_link, sym.st_name),
					  &prefix);
		if (!name || !name->role || sym.st_shndx == SHN_UNDEF)
			continue;
		rc = check_function(name->name, m.base + sym.st_value, sym.st_size,
				    &(struct pmm_entry){ .role = name->role,
							 .arg_size = name->arg_size,
							 .arg_count = name->arg_count,
							 .arg_pointer = name->arg_pointer },
				    m.slot, m.code_low, m.code_high, &e);
		if (rc != (int)NR_STATES)
			fail_msg("%s: %s: %d, %s", library->path, name->name, rc, e.text);
		nr++;
	}
	assert_true(nr >= library->least);
	munmap(m.base, m.bytes + 4096);
	entries_names_fini(&names);
	elf_file_close(&f);
}

/* ---- random beginnings ----------------------------------------------------------------------- */

/*
 * Instructions by their bytes. In byte low - 1 bits 0..2 are a register, in byte high - 1 bits
 * 3..5; 0 = none. Random bytes follow.
 */
static const struct piece {
	const char *bytes;
	uint8_t nr, low, high, immediate;
} pieces[] = {
	{ "\x50", 1, 1, 0, 0 },
	{ "\x41\x54", 2, 0, 0, 0 }, /* push rax, r12 */
	{ "\x41\x50", 2, 2, 0, 0 },
	{ "\x6a", 1, 0, 0, 1 },
	{ "\x68", 1, 0, 0, 4 },
	{ "\xff\x74\x24\x08", 4, 0, 0, 0 },
	{ "\x9c", 1, 0, 0, 0 }, /* push [rsp + 8]; pushfq */
	{ "\x48\x83\xec", 3, 0, 0, 1 },
	{ "\x48\x81\xec\x80\x01\x00\x00", 7, 0, 0, 0 },
	{ "\x48\x83\xc4\x80", 4, 0, 0, 0 },
	{ "\x48\x8d\x64\x24\xe8", 5, 0, 0, 0 }, /* lea rsp, [rsp - 24] */
	{ "\x48\x89\xc0", 3, 3, 3, 0 },
	{ "\x89\xc0", 2, 2, 2, 0 },
	{ "\x49\x89\xc0", 3, 3, 3, 0 },
	{ "\x4c\x89\xc0", 3, 3, 3, 0 },
	{ "\x48\x63\xc0", 3, 3, 3, 0 },
	{ "\x0f\xb6\xc0", 3, 3, 3, 0 },
	{ "\x0f\xbf\xc0", 3, 3, 3, 0 },
	{ "\xb8", 1, 1, 0, 4 },
	{ "\x48\xc7\xc0", 3, 3, 0, 4 },
	{ "\xb0", 1, 1, 0, 1 },
	{ "\x66\xb8", 2, 0, 0, 2 },
	{ "\x31\xc0", 2, 2, 2, 0 },
	{ "\x48\x29\xc0", 3, 3, 3, 0 },
	{ "\x48\x21\xc0", 3, 3, 3, 0 },
	{ "\x48\x01\xc0", 3, 3, 3, 0 },
	{ "\x48\x83\xc0", 3, 3, 0, 1 },
	{ "\x48\x83\xe8", 3, 3, 0, 1 },
	{ "\x83\xc0", 2, 2, 0, 1 },
	{ "\x81\xe8", 2, 2, 0, 4 },
	{ "\x48\x83\xe0", 3, 3, 0, 1 },
	{ "\x48\x83\xc8", 3, 3, 0, 1 },
	{ "\x48\x83\xf0", 3, 3, 0, 1 },
	{ "\x83\xf8", 2, 2, 0, 1 },
	{ "\x48\xff\xc0", 3, 3, 0, 0 },
	{ "\xff\xc8", 2, 2, 0, 0 },
	{ "\x48\xf7\xd8", 3, 3, 0, 0 },
	{ "\xf7\xd0", 2, 2, 0, 0 },
	{ "\x48\x0f\xc8", 3, 3, 0, 0 },
	{ "\x48\x85\xc0", 3, 3, 3, 0 },
	{ "\x39\xc0", 2, 2, 2, 0 },
	{ "\x48\x8d\x80", 3, 3, 3, 4 },
	{ "\x8d\x80", 2, 2, 2, 4 },
	{ "\x48\x8d\x05\x10\x00\x00\x00", 7, 0, 3, 0 },
	{ "\x48\x8b\x44\x24\x08", 5, 0, 3, 0 },
	{ "\x48\x89\x44\x24\xf0", 5, 0, 3, 0 },
	{ "\x48\x89\x44\x24\x08", 5, 0, 3, 0 },
	{ "\x48\x0f\xaf\xc0", 4, 4, 4, 0 },
	{ "\x48\x6b\xc0\x18", 4, 3, 3, 0 },
	{ "\x48\xc1\xe0\x04", 4, 3, 0, 0 },
	{ "\x48\xd1\xe8", 3, 3, 0, 0 },
	{ "\x64\x48\x8b\x04\x25\x28\x00\x00\x00", 9, 0, 0, 0 },
	{ "\x66\x0f\xef\xc0", 4, 4, 4, 0 },
	{ "\x66\x48\x0f\x6e\xc0", 5, 5, 5, 0 },
	{ "\x0f\x1f\x44\x00\x00", 5, 0, 0, 0 },
	{ "\x90", 1, 0, 0, 0 },
	{ "\xf3\x0f\x1e\xfa", 4, 0, 0, 0 },
	{ "\x48\x87\xc0", 3, 3, 3, 0 },
	{ "\x48\xf7\xe0", 3, 3, 0, 0 },
	{ "\x48\x99", 2, 0, 0, 0 },
	{ "\xc8\x10\x00\x00", 4, 0, 0, 0 },
	{ "\x58", 1, 1, 0, 0 },
	{ "\x0f\x94\xc0", 3, 3, 0, 0 },
	{ "\x48\x0f\x44\xc0", 4, 4, 4, 0 },
	{ "\x48\x11\xc0", 3, 3, 3, 0 },
	{ "\x86\xc4", 2, 2, 0, 0 },
};

static unsigned piece_put(uint8_t *at)
{
	const struct piece *p = &pieces[random64() % NR(pieces)];
	unsigned n = p->nr, low = (unsigned)(random64() & 7), high = (unsigned)(random64() & 7);

	memcpy(at, p->bytes, n);
	if (p->low)
		at[p->low - 1] |= (uint8_t)(low == 4 && n > 1 && p->bytes[n - 2] == '\x8d'
						    ? 3
						    : low); /* rsp would take one byte more there */
	if (p->high)
		at[p->high - 1] |= (uint8_t)(high << 3);
	for (unsigned i = 0; i < p->immediate; i++)
		at[n++] = (uint8_t)random64();
	return n;
}

static void test_random(void **state)
{
	static const unsigned keeps[] = { PMM_ROLE_MALLOC, PMM_ROLE_CALLOC, PMM_ROLE_POSIX_MEMALIGN,
					  PMM_ROLE_MMAP };
	uint8_t *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned planned = 0, states = 0;

	(void)state;
	assert_true(page != MAP_FAILED);
	state_runs();
	random_seed = 2463534242;
	for (unsigned i = 0; i < NR_RANDOM; i++) {
		unsigned n = 0, pieces_wanted = 4 + (unsigned)(random64() & 3);
		char name[128] = "";
		struct err e = { 0 };
		int rc;

		memset(page, 0xcc, 128);
		for (unsigned k = 0; k < pieces_wanted; k++)
			n += piece_put(page + n);
		/* so that its return is not among what is moved and run */
		memset(page + n, 0x90, 16);
		n += 16;
		page[n++] = 0xc3;
		for (unsigned k = 0; k < n && 2 * k + 3 < sizeof(name); k++)
			snprintf(name + 2 * k, sizeof(name) - 2 * k, "%02x", page[k]);
		rc = check_function(name, page, n,
				    &(struct pmm_entry){ .role = keeps[i % NR(keeps)] },
				    page + 4096, (uint64_t)page, (uint64_t)page + 4096, &e);
		planned += rc >= 0;
		states += rc > 0 ? (unsigned)rc : 0;
	}
	print_message("# %u of %u planned, %u states\n", planned, NR_RANDOM, states);
	assert_true(planned > NR_RANDOM / 4 && states > NR_RANDOM);
	munmap(page, 8192);
}

int main(void)
{
	struct CMUnitTest tests[NR(libraries) + 1];

	for (size_t i = 0; i < NR(libraries); i++)
		tests[i] = (struct CMUnitTest){ strrchr(libraries[i].path, '/') + 1, test_library,
						NULL, NULL, (void *)&libraries[i] };
	tests[NR(libraries)] = (struct CMUnitTest){ "random", test_random, NULL, NULL, NULL };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
