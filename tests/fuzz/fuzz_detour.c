/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detours of random bytes: what is planned keeps its promises, checked by decoding it again.
 *
 * Input: two bytes choose the address and what is known of the size, the rest is code.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/entries/detour.h"
#include "src/entries/insn.h"

#define BASE	0x10000000ull
#define STUB	0x10004040ull
#define MOVED	0x10004060ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static int memory_read(void *arg, uint64_t at, void *to, size_t bytes)
{
	const struct detour_function *f = arg;

	if (at < f->address || at - f->address > f->nr_code ||
	    bytes > f->nr_code - (at - f->address))
		return -1;
	memcpy(to, f->code + (at - f->address), bytes);
	return 0;
}

/* The moved instructions: they decode, and the last is a jump back. */
static void check_moved(const struct detour *d)
{
	struct insn in = { 0 };
	unsigned at;

	must(d->nr_moved_out <= DETOUR_MOVED_MAX);
	for (at = 0; at < d->nr_moved_out; at += in.length) {
		must(insn_decode(d->moved + at, d->nr_moved_out - at, MOVED + at, &in));
		must(in.flow != INSN_FLOW_CALL && in.flow != INSN_FLOW_CALL_INDIRECT &&
		     in.flow != INSN_FLOW_TRAP);
		must(!in.has_target || in.target <= d->address ||
		     in.target >= d->address + d->nr_bytes);
	}
	must(at == d->nr_moved_out && in.flow == INSN_FLOW_JUMP && in.length == 5 &&
	     in.target == d->address + d->nr_moved);
}

/*
 * The function's first instruction goes to the stub, by way of the slot's pointer if it is
 * indirect.
 */
static void check_redirected(const struct detour_function *f, const struct detour *d)
{
	uint8_t code[INSN_MAX_BYTES + 1];
	unsigned at = (unsigned)(d->address - f->address);
	struct insn in;

	must(d->nr_bytes == 4 && d->nr_moved == 4 && d->bypassed && at >= 1);
	memcpy(code, f->code, at);
	memcpy(code + at, d->patch, 4);
	must(insn_decode(code, at + 4, f->address, &in) && in.length == at + 4);
	must(in.has_target ? in.target == STUB
			   : in.refers && in.reference == STUB - PMM_ENTRY_STUB_OFF +
								  PMM_ENTRY_POINTER_OFF);
}

/* What takes the first instruction back: one instruction that goes on to the next. */
static void check_undo(const struct detour *d)
{
	struct insn in;

	must(!d->nr_undo || (insn_decode(d->undo, d->nr_undo, STUB, &in) &&
			     in.length == d->nr_undo && in.flow == INSN_FLOW_ON));
}

/* Each instruction of the original has its place among the moved, and refers to the same. */
static void check_original(const struct detour *d)
{
	struct insn in, moved;

	for (unsigned at = 0; at < d->nr_moved; at++) {
		if (d->boundary[at] == 0xff)
			continue;
		must(insn_decode(d->original + at, d->nr_moved - at, d->address + at, &in));
		must(d->boundary[at] < d->nr_moved_out);
		must(insn_decode(d->moved + d->boundary[at], d->nr_moved_out - d->boundary[at],
				 MOVED + d->boundary[at], &moved));
		if (in.flow == INSN_FLOW_ON && in.refers)
			must(moved.refers && moved.reference == in.reference &&
			     moved.opcode == in.opcode);
		if (in.flow == INSN_FLOW_JUMP && in.target > d->address)
			must(moved.flow == INSN_FLOW_JUMP && moved.target == in.target);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct detour_function f = { 0 };
	struct insn in;
	struct detour d;
	struct err e;

	if (size < 3 || size > 4096)
		return 0;
	f.address = BASE + data[0];
	f.code = data + 2;
	f.nr_code = size - 2;
	f.size = data[1] == 255 ? UINT64_MAX : data[1];
	f.breakpoints = data[0] * 0x8040201u;
	f.keep = data[0] & UNDO_ARGS;
	detour_calls(&f, (const uint64_t[]){ BASE, BASE + 64 }, 2, memory_read, &f);
	if (detour_plan(&f, STUB, MOVED, &d, &e))
		return 0;
	must(d.nr_moved >= d.nr_bytes && d.nr_moved <= PMM_PATCH_BYTES &&
	     d.nr_undo <= UNDO_MAX_BYTES);
	must(d.address - f.address <= INSN_MAX_BYTES);
	must(!memcmp(d.original, f.code + (d.address - f.address), d.nr_moved));
	must(!(f.breakpoints >> (d.address - f.address) & ((1ull << d.nr_moved) - 1)));
	if (d.nr_bytes == 5)
		must(insn_decode(d.patch, 5, d.address, &in) && in.target == STUB &&
		     in.flow == INSN_FLOW_JUMP);
	else
		check_redirected(&f, &d);
	check_undo(&d);
	check_moved(&d);
	check_original(&d);
	return 0;
}
