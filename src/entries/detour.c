/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A detour planned: a jump to a stub, 5 bytes, behind the function's first instruction.
 *
 * The first instruction stays, for an int3 may be set on it at any time by the kernel (uprobes) or
 * a debugger: the thread that hits it steps over a copy of the instruction as the file has it and
 * continues behind it, and when the int3 goes, the file's first byte comes back. So the jump is
 * right behind it, the stub undoes what the instruction did (undo.h), and the function as it was is
 * run from its beginning on. endbr64 and nop do nothing: nothing is undone then, nor done again.
 *
 * Nothing is behind a jump, and a call pushes what can be dropped: of a function that begins with
 * one only its displacement is overwritten. Its first byte is what the file has, too; as long as an
 * int3 is there the kernel goes where the file says, past the hook. Of a function that does nothing
 * but return any byte can be overwritten: with the first one put back it returns as before.
 *
 * What must hold so that the function stays what it was, and what is refused when it does not:
 *   - nothing else comes to the overwritten bytes: every branch of the function is looked at (to
 *     its end, or where that is not known to the first return or jump that no branch goes beyond).
 *     A branch back to the entry would go through the hook each time round and is refused too,
 *     unless it is among the moved instructions, which then go round by themselves;
 *   - no return address is strictly inside them: a call that ends there is not moved, one that
 *     ends behind them is (insn.h);
 *   - no int3 is set on them: its owner would step over the file's instruction and continue in the
 *     midst of the jump;
 *   - the bytes are the function's, or padding that the compiler put behind it.
 *
 * Where the process has a jump of an earlier agent, all this is looked at in the code as it was
 * before. That jump is what is moved then, with the first instruction before it; it must be just
 * where ours goes.
 */
#include "src/entries/detour.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "src/entries/insn.h"

#define JUMP_BYTES	5u
#define DISP_BYTES	4u
#define FUNCTION_ALIGN	16u
#define NO_BOUNDARY	0xff
#define CODE_MAX	65536u		/* looked at of one function: jemalloc's are above 10000 */
#define CODE_GUESS	512u		/* ... where its size is not known */
#define BREAKPOINTS	64u		/* bits of detour_function.breakpoints */

static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

/* Everything below is relative to the function's address. */
struct plan {
	const struct detour_function *f;
	const uint8_t *code;		/* of f; when it comes to moving, of `stacked` */
	/* the first instruction and the jump below */
	uint8_t stacked[INSN_MAX_BYTES + PMM_PATCH_BYTES];
	/* of what is moved: behind a first instruction that does nothing, else 0 */
	uint64_t begin;
	uint64_t first;			/* to be overwritten from here */
	uint64_t nr;			/* bytes to overwrite */
	uint64_t end;			/* of the function */
	uint64_t moved_end;		/* of the moved instructions */
	struct err *e;
};

static int refuse(struct plan *p, uint64_t at, const char *why)
{
	return err_set(p->e, -ENOTSUP, "at +0x%" PRIx64 ": %s", at, why);
}

static bool decode(const struct plan *p, uint64_t at, uint64_t limit, struct insn *in)
{
	return at < limit && insn_decode(p->code + at, limit - at, p->f->address + at, in);
}

/* Nothing behind it is reached from before it. */
static bool ends(const struct insn *in)
{
	return in->flow == INSN_FLOW_JUMP || in->flow == INSN_FLOW_JUMP_INDIRECT ||
	       in->flow == INSN_FLOW_RETURN || in->flow == INSN_FLOW_TRAP;
}

static int check_trap(struct plan *p, uint64_t at, const struct insn *in)
{
	if (in->flow != INSN_FLOW_TRAP)
		return 0;
	return refuse(p, at, p->f->code[at] == 0xcc ? "a breakpoint is set there" : "it is a trap");
}

/* ---- the whole function: where it ends, what jumps where ------------------------------------ */

/* May this branch of the function stay? `at`: its place. */
static int check_branch(struct plan *p, uint64_t at, const struct insn *in)
{
	uint64_t to = in->target - p->f->address;
	bool calls = in->flow == INSN_FLOW_CALL, is_moved = at < p->moved_end;

	if (!in->has_target || to >= p->first + p->nr)
		return 0;
	if (!to || to == p->begin)
		return calls || is_moved
			       ? 0
			       : refuse(p, at, "a branch goes back to the function's entry");
	if (to == p->first && is_moved && !calls)
		return 0;
	return refuse(p, at,
		      to < p->first ? "a branch goes into the first instruction"
				    : "a branch goes to bytes that would be overwritten");
}

/*
 * Decode from the end of what is moved on. Where the size is not known, the function ends at the
 * first instruction after which nothing follows, unless a branch goes beyond it.
 */
static int scan(struct plan *p)
{
	uint64_t limit = p->f->size ? p->end : p->f->nr_code, referenced = 0, at = 0;
	struct insn in;
	int rc;

	while (at < limit) {
		if (!decode(p, at, limit, &in)) {
			if (!p->f->size && limit - at < INSN_MAX_BYTES)
				break;		/* the end of what is known of it */
			return refuse(p, at, "no instruction");
		}
		rc = check_branch(p, at, &in);
		if (rc)
			return rc;
		if (in.has_target && in.flow != INSN_FLOW_CALL &&
		    in.target - p->f->address < limit && in.target - p->f->address > referenced)
			referenced = in.target - p->f->address;
		at += in.length;
		if (!p->f->size && ends(&in) && referenced < at)
			break;
	}
	if (!p->f->size)
		p->end = at;
	return 0;
}

/* ---- the moved instructions ------------------------------------------------------------------ */

/*
 * Skip padding from the function's end up to `to`: no-operations and int3, not beyond the next
 * boundary. 0 or -ENOTSUP.
 */
static int skip_padding(struct plan *p, uint64_t *at, uint64_t to)
{
	uint64_t start = p->f->address + p->end;
	uint64_t limit = p->end + (-start & (FUNCTION_ALIGN - 1));
	struct insn in;

	if (limit > p->f->nr_code)
		limit = p->f->nr_code;
	while (*at < to) {
		if (!decode(p, *at, limit, &in) ||
		    (in.flow != INSN_FLOW_NOP && p->f->code[*at] != 0xcc))
			return err_set(p->e, -ENOTSUP,
				       "the function is only %" PRIu64 " bytes long", p->end);
		*at += in.length;
	}
	return 0;
}

/* Where does the instruction end that covers the last byte to be overwritten? */
static int measure(struct plan *p)
{
	uint64_t at = p->first, to = p->first + JUMP_BYTES;
	bool ended = false;
	struct insn in;

	while (at < to && at < p->end) {
		if (!decode(p, at, p->end, &in))
			return refuse(p, at, "no instruction");
		if (check_trap(p, at, &in))
			return -ENOTSUP;
		at += in.length;
		ended = ends(&in);
		if ((in.flow == INSN_FLOW_CALL || in.flow == INSN_FLOW_CALL_INDIRECT) && at < to)
			return refuse(p, at - in.length,
				      "a call returns to bytes that would be overwritten");
	}
	if (at < to) {
		if (!ended)
			return err_set(p->e, -ENOTSUP,
				       "the function is only %" PRIu64 " bytes long", p->end);
		if (skip_padding(p, &at, to))
			return -ENOTSUP;
	}
	p->moved_end = at;
	return 0;
}

/*
 * A branch of the moved instructions to one of them goes to where that is now. `behind`: where what
 * was behind the first is.
 */
static void retarget(const struct plan *p, struct insn *in, uint64_t moved_at, unsigned behind)
{
	uint64_t to = in->target - p->f->address;

	if (in->has_target && in->flow != INSN_FLOW_CALL && to <= p->first)
		in->target = moved_at + (to == p->first ? behind : 0);
}

static int move(struct plan *p, uint64_t moved_at, struct detour *d)
{
	uint8_t bytes[INSN_MAX_MOVED_BYTES], boundary[2 * PMM_PATCH_BYTES];
	unsigned n = 0, length;
	const char *why = NULL;
	struct insn in;

	memset(boundary, NO_BOUNDARY, sizeof(boundary));
	for (uint64_t at = p->begin; at < p->moved_end && at < p->end; at += in.length) {
		if (!decode(p, at, p->end, &in))
			return refuse(p, at, "no instruction");
		boundary[at] = (uint8_t)n;
		retarget(p, &in, moved_at, boundary[p->first]);
		length = insn_move(&in, moved_at + n, bytes, &why);
		if (!length)
			return err_set(p->e, -ENOTSUP,
				       "at +0x%" PRIx64 ": an instruction cannot be moved: %s", at,
				       why);
		if (n + length + JUMP_BYTES > sizeof(d->moved))
			return refuse(p, at, "the moved instructions take too much room");
		memcpy(d->moved + n, bytes, length);
		n += length;
	}
	memcpy(d->boundary, boundary + p->first, sizeof(d->boundary));
	if (!insn_reaches(moved_at + n + JUMP_BYTES, p->f->address + p->moved_end))
		return err_set(p->e, -ENOTSUP, "the moved instructions would be too far away");
	d->nr_moved_out = n + insn_jump(moved_at + n, p->f->address + p->moved_end, d->moved + n);
	return 0;
}

/* ---- the first instruction ------------------------------------------------------------------- */

/*
 * The jump or call at the entry goes to the stub instead: what is between its displacement and
 * the next instruction is overwritten.
 */
static int redirect(struct plan *p, const struct insn *in, uint64_t stub, struct detour *d)
{
	static const uint8_t drop[] = { 0x48, 0x8d, 0x64, 0x24, 0x08 };	/* lea 8(%rsp), %rsp */
	uint64_t back = p->f->address + in->length,
		 to = in->has_target ? stub : stub - PMM_ENTRY_STUB_OFF + PMM_ENTRY_POINTER_OFF;
	uint32_t displacement = (uint32_t)(to - back);

	p->begin = 0;
	p->first = in->has_target ? in->length - DISP_BYTES : in->disp_at;
	p->nr = DISP_BYTES;
	p->moved_end = in->length;
	if (p->first + DISP_BYTES != in->length)
		return refuse(p, 0, "it is a jump that cannot be turned aside");
	memcpy(d->patch, &displacement, sizeof(displacement));
	if (in->flow == INSN_FLOW_CALL || in->flow == INSN_FLOW_CALL_INDIRECT) {
		memcpy(d->undo, drop, sizeof(drop));
		d->nr_undo = sizeof(drop);
	}
	d->bypassed = true;
	return insn_reaches(back, to) ? 0
				      : err_set(p->e, -ENOTSUP, "the stub would be too far away");
}

/* With a 32-bit displacement, and its first byte apart from that. */
static bool is_redirectable(const struct insn *in)
{
	if (in->odd)
		return false;
	if (in->flow == INSN_FLOW_JUMP || in->flow == INSN_FLOW_CALL)
		return in->length > DISP_BYTES && (in->bytes[in->length - DISP_BYTES - 1] & 0xfe) ==
							  0xe8; /* a short one has prefixes */
	return (in->flow == INSN_FLOW_JUMP_INDIRECT || in->flow == INSN_FLOW_CALL_INDIRECT) &&
	       in->refers && in->length <= 8 &&
	       !(in->bytes[in->modrm_at] >> 3 & 1); /* FF /2, FF /4; /3 and /5 are far */
}

/* A function of one byte, a return: with that byte put back it returns, whatever is behind. */
static int replace(struct plan *p, uint64_t stub, struct detour *d)
{
	p->nr = JUMP_BYTES;
	p->first = p->begin = 0;
	d->bypassed = true;
	insn_jump(p->f->address, stub, d->patch);
	return insn_reaches(p->f->address + JUMP_BYTES, stub)
		       ? 0
		       : err_set(p->e, -ENOTSUP, "the stub would be too far away");
}

/* A jump behind the first instruction. */
static int jump_behind(struct plan *p, const struct insn *in, uint64_t stub, struct detour *d)
{
	const char *why = "no instruction";
	bool idle = in->flow == INSN_FLOW_NOP ||
		    (in->length == sizeof(endbr64) && !memcmp(in->bytes, endbr64, sizeof(endbr64)));
	int nr = idle ? 0 : undo_make(in, p->f->keep, d->undo, &why);

	if (nr < 0)
		return err_set(p->e, -ENOTSUP,
			       "at +0x0: its first instruction must stay, and cannot be undone: %s",
			       why);
	d->nr_undo = (unsigned)nr;
	p->nr = JUMP_BYTES;
	p->first = in->length;
	p->begin = idle ? in->length : 0;
	if (!insn_reaches(p->f->address + p->first + JUMP_BYTES, stub))
		return err_set(p->e, -ENOTSUP, "the stub would be too far away");
	insn_jump(p->f->address + p->first, stub, d->patch);
	return 0;
}

/* What is left of the first instruction, and what is overwritten? */
static int prepare(struct plan *p, uint64_t stub, struct detour *d)
{
	const struct detour_function *f = p->f;
	struct insn in;

	if (f->size > f->nr_code || !f->nr_code)
		return err_set(p->e, -ENOTSUP, "its code cannot be read to the end");
	p->end = f->size ? f->size : f->nr_code;
	if (!decode(p, 0, p->end, &in))
		return refuse(p, 0, "no instruction");
	if (check_trap(p, 0, &in))
		return -ENOTSUP;
	if (in.flow == INSN_FLOW_RETURN && in.length == 1)
		return replace(p, stub, d);
	return is_redirectable(&in) ? redirect(p, &in, stub, d) : jump_behind(p, &in, stub, d);
}

static int check_breakpoints(struct plan *p)
{
	for (uint64_t at = p->first; at < p->moved_end && at < BREAKPOINTS; at++)
		if (p->f->breakpoints >> at & 1)
			return refuse(p, at,
				      "a breakpoint is set there (a uprobe, or a debugger's): "
				      "remove it, or set it at +0x0");
	return 0;
}

/* What is moved is the jump that is there. */
static int stack_upon(struct plan *p, const struct pmm_patch *below)
{
	if (below->address >= p->f->address + p->moved_end)
		return 0;		/* another function's */
	if (below->address != p->f->address + p->first || below->nr_bytes != p->nr)
		return err_set(p->e, -ENOTSUP,
			       "a jump that an earlier pmm has left is in the way: detach that");
	memcpy(p->stacked, p->f->code, p->first);
	memcpy(p->stacked + p->first, below->patched, p->nr);
	p->code = p->stacked;
	p->moved_end = p->end = p->first + p->nr;
	return 0;
}

int detour_plan(const struct detour_function *f, uint64_t stub, uint64_t moved_at, struct detour *d,
		struct err *e)
{
	struct plan p = { .f = f, .code = f->code, .e = e };
	int rc;

	memset(d, 0, sizeof(*d));
	rc = prepare(&p, stub, d);
	if (!rc && !f->size) {		/* its end first: what is behind must not be moved */
		uint64_t moved_end = p.moved_end;

		p.moved_end = f->nr_code;
		rc = scan(&p);
		p.moved_end = moved_end;
	}
	if (!rc && p.nr == JUMP_BYTES)
		rc = measure(&p);
	if (!rc)
		rc = scan(&p);
	if (!rc)
		rc = check_breakpoints(&p);
	if (!rc && f->below)
		rc = stack_upon(&p, f->below);
	if (!rc)
		rc = move(&p, moved_at, d);
	if (rc)
		return rc;
	d->address = f->address + p.first;
	d->nr_bytes = (unsigned)p.nr;
	d->nr_moved = (unsigned)(p.moved_end - p.first);
	memcpy(d->original, p.code + p.first, d->nr_moved);
	return 0;
}

size_t detour_code_bytes(uint64_t size)
{
	return !size				  ? CODE_GUESS
	       : size + FUNCTION_ALIGN < CODE_MAX ? size + FUNCTION_ALIGN
						  : CODE_MAX;
}

void detour_area(const struct detour_function *f, uint64_t *low, uint64_t *high)
{
	struct plan p = { .f = f, .code = f->code };
	struct detour d;
	bool planned = !prepare(&p, f->address, &d);

	*low = planned ? f->address + (p.begin == p.first ? p.first : 0) + 1 : 0;
	*high = planned ? f->address + p.first + p.nr : 0;
}

/* ---- the stub -------------------------------------------------------------------------------- */

unsigned detour_keep(const struct pmm_entry *entry)
{
	unsigned keep = 0;

	switch (entry->role) {
	case PMM_ROLE_MALLOC:
	case PMM_ROLE_FREE:
	case PMM_ROLE_NEW:
	case PMM_ROLE_NEW_NOTHROW:
	case PMM_ROLE_USABLE_SIZE:
		return UNDO_ARG(0);
	case PMM_ROLE_CALLOC:
	case PMM_ROLE_REALLOC:
	case PMM_ROLE_MEMALIGN:
	case PMM_ROLE_NEW_ALIGNED:
	case PMM_ROLE_NEW_ALIGNED_NOTHROW:
	case PMM_ROLE_MUNMAP:
		return UNDO_ARG(0) | UNDO_ARG(1);
	case PMM_ROLE_REALLOCARRAY: case PMM_ROLE_POSIX_MEMALIGN: case PMM_ROLE_SIGACTION:
		return UNDO_ARG(0) | UNDO_ARG(1) | UNDO_ARG(2);
	case PMM_ROLE_CUSTOM_ALLOC: case PMM_ROLE_CUSTOM_REALLOC: case PMM_ROLE_CUSTOM_FREE:
	case PMM_ROLE_STRING: case PMM_ROLE_EXPAND: case PMM_ROLE_XALLOCX:
		keep |= entry->arg_size >= 0 ? UNDO_ARG(entry->arg_size) : 0;
		keep |= entry->arg_count >= 0 ? UNDO_ARG(entry->arg_count) : 0;
		return keep | (entry->arg_pointer >= 0 ? UNDO_ARG(entry->arg_pointer) : 0);
	case PMM_ROLE_MREMAP:
		return UNDO_ARGS & ~UNDO_ARG(5);
	default:
		return UNDO_ARGS;
	}
}

unsigned detour_stub(enum pmm_role role, const struct detour *d,
		     uint8_t stub[PMM_ENTRY_MOVED_OFF - PMM_ENTRY_STUB_OFF])
{
	/* rdi rsi rdx rcx r8 r9 r11 as they are encoded */
	static const uint8_t number[] = { 7, 6, 2, 1, 8, 9, 11 };
	unsigned reg = number[pmm_role_register(role)], n = d->nr_undo;
	int32_t entry = -(int32_t)(PMM_ENTRY_STUB_OFF + n + 7);
	int32_t hook = (int32_t)offsetof(struct pmm_entry, hook) -
		       (int32_t)(PMM_ENTRY_STUB_OFF + n + 13);

	_Static_assert(UNDO_MAX_BYTES + 13 <= PMM_ENTRY_MOVED_OFF - PMM_ENTRY_STUB_OFF,
		       "room for the stub");
	memcpy(stub, d->undo, n);
	stub[n] = reg < 8 ? 0x48 : 0x4c;		/* lea entry(%rip), register */
	stub[n + 1] = 0x8d;
	stub[n + 2] = (uint8_t)(0x05 | (reg & 7) << 3);
	memcpy(stub + n + 3, &entry, sizeof(entry));
	stub[n + 7] = 0xff;				/* jmp *hook(%rip) */
	stub[n + 8] = 0x25;
	memcpy(stub + n + 9, &hook, sizeof(hook));
	return n + 13;
}

/* ---- what a function calls ------------------------------------------------------------------- */

struct memory {
	const uint64_t *addresses;
	size_t nr;
	int (*read)(void *arg, uint64_t at, void *to, size_t bytes);
	void *arg;
};

static bool wanted(const struct memory *m, uint64_t address)
{
	for (size_t i = 0; i < m->nr; i++)
		if (m->addresses[i] == address)
			return true;
	return false;
}

static bool points_to_wanted(const struct memory *m, uint64_t pointer)
{
	uint64_t value;

	return !m->read(m->arg, pointer, &value, sizeof(value)) && wanted(m, value);
}

/* Is `at` a PLT entry, [endbr64] jmp *x(%rip), that goes to one of the addresses? */
static bool plt_goes_to_wanted(const struct memory *m, uint64_t at)
{
	uint8_t code[16];
	struct insn in;
	size_t skip;

	if (m->read(m->arg, at, code, sizeof(code)))
		return false;
	skip = memcmp(code, endbr64, sizeof(endbr64)) ? 0 : sizeof(endbr64);
	return insn_decode(code + skip, sizeof(code) - skip, at + skip, &in) &&
	       in.flow == INSN_FLOW_JUMP_INDIRECT && in.refers && points_to_wanted(m, in.reference);
}

bool detour_calls(const struct detour_function *f, const uint64_t *addresses, size_t nr,
		  int (*read)(void *arg, uint64_t at, void *to, size_t bytes), void *arg)
{
	const struct memory m = { addresses, nr, read, arg };
	uint64_t end = f->size && f->size < f->nr_code ? f->size : f->nr_code;
	struct insn in;

	for (uint64_t at = 0; at < end; at += in.length) {
		if (!insn_decode(f->code + at, end - at, f->address + at, &in))
			return false;
		if (in.flow == INSN_FLOW_CALL || in.flow == INSN_FLOW_JUMP) {
			if (wanted(&m, in.target))
				return true;
			if (in.target - f->address >= end && plt_goes_to_wanted(&m, in.target))
				return true;
		} else if ((in.flow == INSN_FLOW_CALL_INDIRECT ||
			    in.flow == INSN_FLOW_JUMP_INDIRECT) &&
			   in.refers && points_to_wanted(&m, in.reference)) {
			return true;
		}
		if (!f->size && ends(&in))
			break;
	}
	return false;
}

uint64_t detour_leads(const struct detour_function *f,
		      int (*read)(void *arg, uint64_t at, void *to, size_t bytes), void *arg)
{
	uint8_t code[2 * INSN_MAX_BYTES];
	struct insn in, there;
	size_t skip;

	if (!insn_decode(f->code, f->nr_code, f->address, &in) || in.flow != INSN_FLOW_JUMP ||
	    in.odd || read(arg, in.target, code, sizeof(code)))
		return 0;
	skip = memcmp(code, endbr64, sizeof(endbr64)) ? 0 : sizeof(endbr64);
	if (!insn_decode(code + skip, sizeof(code) - skip, in.target + skip, &there) ||
	    there.flow == INSN_FLOW_JUMP_INDIRECT)
		return 0;
	return in.target;
}
