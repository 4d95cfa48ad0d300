/*
 * A detour planned: whole instructions from the function's start on that cover the 5 bytes of a jump.
 *
 * What must hold so that the function stays what it was, and what is refused when it does not:
 *   - nothing else comes to the overwritten bytes: every branch of the function is looked at (to its end, or where that is not
 *     known to the first return or jump that no branch goes beyond). A branch back to the entry would go through the hook each time
 *     round and is refused too, unless it is among the moved instructions, which then go round by themselves;
 *   - no return address lies strictly inside them: a call that ends there is not moved, one that ends behind them is (insn.h);
 *   - the bytes are the function's, or padding that the compiler put behind it.
 */
#include "src/inject/detour.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "src/inject/insn.h"

#define JUMP_BYTES	5u
#define FUNCTION_ALIGN	16u
#define NO_BOUNDARY	0xff

static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

/* Everything below is relative to the function's address. */
struct plan {
	const struct detour_function *f;
	uint64_t first;			/* to be overwritten from here */
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
	return at < limit && insn_decode(p->f->code + at, limit - at, p->f->address + at, in);
}

/* Nothing behind it is reached from before it. */
static bool ends(const struct insn *in)
{
	return in->flow == INSN_FLOW_JUMP || in->flow == INSN_FLOW_JUMP_INDIRECT || in->flow == INSN_FLOW_RETURN ||
	       in->flow == INSN_FLOW_TRAP;
}

/* ---- the whole function: where it ends, what jumps where ------------------------------------ */

/* May this branch of the function stay? `at`: its place. */
static int check_branch(struct plan *p, uint64_t at, const struct insn *in)
{
	uint64_t to = in->target - p->f->address;

	if (!in->has_target)
		return 0;
	if (to > p->first && to < p->first + JUMP_BYTES)
		return refuse(p, at, "a branch goes to bytes that would be overwritten");
	if (in->flow != INSN_FLOW_CALL && to <= p->first && at >= p->moved_end)
		return refuse(p, at, "a branch goes back to the function's entry");
	return 0;
}

/*
 * Decode from the end of what is moved on. Where the size is not known, the function ends at the first instruction after which
 * nothing follows, unless a branch goes beyond it.
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
		if (in.has_target && in.flow != INSN_FLOW_CALL && in.target - p->f->address < limit &&
		    in.target - p->f->address > referenced)
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

/* Skip padding from the function's end up to `to`: no-operations and int3, not beyond the next boundary. 0 or -ENOTSUP. */
static int skip_padding(struct plan *p, uint64_t *at, uint64_t to)
{
	uint64_t start = p->f->address + p->end;
	uint64_t limit = p->end + (-start & (FUNCTION_ALIGN - 1));
	struct insn in;

	if (limit > p->f->nr_code)
		limit = p->f->nr_code;
	while (*at < to) {
		if (!decode(p, *at, limit, &in) || (in.flow != INSN_FLOW_NOP && p->f->code[*at] != 0xcc))
			return err_set(p->e, -ENOTSUP, "the function is only %" PRIu64 " bytes long", p->end);
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
		at += in.length;
		ended = ends(&in);
		if (in.flow == INSN_FLOW_TRAP)
			return refuse(p, at - in.length, p->f->code[at - in.length] == 0xcc ?
				      "a breakpoint is set there" : "it is a trap");
		if ((in.flow == INSN_FLOW_CALL || in.flow == INSN_FLOW_CALL_INDIRECT) && at < to)
			return refuse(p, at - in.length, "a call returns to bytes that would be overwritten");
	}
	if (at < to) {
		if (!ended)
			return err_set(p->e, -ENOTSUP, "the function is only %" PRIu64 " bytes long", p->end);
		if (skip_padding(p, &at, to))
			return -ENOTSUP;
	}
	p->moved_end = at;
	return 0;
}

/* A branch of the moved instructions back to the entry goes to the moved instructions. */
static void retarget(const struct plan *p, struct insn *in, uint64_t moved_at)
{
	uint64_t to = in->target - p->f->address;

	if (in->has_target && in->flow != INSN_FLOW_CALL && to <= p->first)
		in->target = moved_at;
}

static int move(struct plan *p, uint64_t moved_at, struct detour *d)
{
	uint8_t bytes[INSN_MAX_MOVED_BYTES];
	unsigned n = 0, length;
	const char *why = NULL;
	struct insn in;

	memset(d->boundary, NO_BOUNDARY, sizeof(d->boundary));
	for (uint64_t at = p->first; at < p->moved_end && at < p->end; at += in.length) {
		if (!decode(p, at, p->end, &in))
			return refuse(p, at, "no instruction");
		retarget(p, &in, moved_at);
		length = insn_move(&in, moved_at + n, bytes, &why);
		if (!length)
			return err_set(p->e, -ENOTSUP, "at +0x%" PRIx64 ": an instruction cannot be moved: %s", at, why);
		if (n + length + JUMP_BYTES > sizeof(d->moved))
			return refuse(p, at, "the moved instructions take too much room");
		d->boundary[at - p->first] = (uint8_t)n;
		memcpy(d->moved + n, bytes, length);
		n += length;
	}
	if (!insn_reaches(moved_at + n + JUMP_BYTES, p->f->address + p->moved_end))
		return err_set(p->e, -ENOTSUP, "the moved instructions would be too far away");
	d->nr_moved_out = n + insn_jump(moved_at + n, p->f->address + p->moved_end, d->moved + n);
	return 0;
}

static int prepare(struct plan *p)
{
	const struct detour_function *f = p->f;

	if (f->size > f->nr_code || !f->nr_code)
		return err_set(p->e, -ENOTSUP, "its code cannot be read to the end");
	if (f->nr_code >= sizeof(endbr64) && (!f->size || f->size >= sizeof(endbr64)) &&
	    !memcmp(f->code, endbr64, sizeof(endbr64)))
		p->first = sizeof(endbr64);
	p->end = f->size ? f->size : f->nr_code;
	if (p->first < f->nr_code && f->code[p->first] == 0xcc)
		return refuse(p, p->first, "a breakpoint is set there");
	return 0;
}

int detour_plan(const struct detour_function *f, uint64_t stub, uint64_t moved_at, struct detour *d, struct err *e)
{
	struct plan p = { .f = f, .e = e };
	int rc = prepare(&p);

	memset(d, 0, sizeof(*d));
	if (!rc && !f->size) {		/* its end first: what lies behind must not be moved */
		p.moved_end = f->nr_code;
		rc = scan(&p);
	}
	if (!rc)
		rc = measure(&p);
	if (!rc)
		rc = scan(&p);
	if (!rc && !insn_reaches(f->address + p.first + JUMP_BYTES, stub))
		rc = err_set(e, -ENOTSUP, "the stub would be too far away");
	if (!rc)
		rc = move(&p, moved_at, d);
	if (rc)
		return rc;
	d->address = f->address + p.first;
	d->nr_bytes = JUMP_BYTES;
	d->nr_moved = (unsigned)(p.moved_end - p.first);
	memcpy(d->original, f->code + p.first, d->nr_moved);
	insn_jump(d->address, stub, d->patch);
	return 0;
}

/* ---- the stub --------------------------------------------------------------------------------- */

unsigned detour_stub(enum pmm_role role, uint8_t stub[PMM_ENTRY_MOVED_OFF - PMM_ENTRY_STUB_OFF])
{
	static const uint8_t number[] = { 7, 6, 2, 1, 8, 9, 11 };	/* rdi rsi rdx rcx r8 r9 r11 as they are encoded */
	unsigned reg = number[pmm_role_register(role)];
	int32_t entry = -(PMM_ENTRY_STUB_OFF + 7), hook = (int32_t)offsetof(struct pmm_entry, hook) - (PMM_ENTRY_STUB_OFF + 13);

	stub[0] = reg < 8 ? 0x48 : 0x4c;		/* lea entry(%rip), register */
	stub[1] = 0x8d;
	stub[2] = (uint8_t)(0x05 | (reg & 7) << 3);
	memcpy(stub + 3, &entry, sizeof(entry));
	stub[7] = 0xff;					/* jmp *hook(%rip) */
	stub[8] = 0x25;
	memcpy(stub + 9, &hook, sizeof(hook));
	return 13;
}

/* ---- what a function calls --------------------------------------------------------------------- */

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
	return insn_decode(code + skip, sizeof(code) - skip, at + skip, &in) && in.flow == INSN_FLOW_JUMP_INDIRECT &&
	       in.refers && points_to_wanted(m, in.reference);
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
		} else if ((in.flow == INSN_FLOW_CALL_INDIRECT || in.flow == INSN_FLOW_JUMP_INDIRECT) && in.refers &&
			   points_to_wanted(&m, in.reference)) {
			return true;
		}
		if (!f->size && ends(&in))
			break;
	}
	return false;
}
