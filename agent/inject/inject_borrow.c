/* SPDX-License-Identifier: MIT */
/*
 * Frames of hooks that the program's own unwinder can walk through.
 *
 * A C++ exception that leaves the function which a hook has called must pass through the hook's
 * frame, but the program's unwinder does not know our code and would end the program. Telling it
 * (__register_frame) takes its locks and leaves something behind. So the frame is made to look like
 * one that it knows: the function returns not to us but into some function of the C library or of
 * the program, to an indirect jump or call through a register, whose frame at that place is larger
 * than ours and has saved that register on the stack. The stack is laid out just as the unwind
 * information for that place says: return address, saved registers, size. The register leads to us,
 * so when the function returns, the jump brings us back; when it throws, the unwinder steps over
 * "that function's" frame to the program's, with all registers as they were. Nothing is written to
 * the program's code, no return address of its own is touched.
 *
 * Asked for: CFA by sp, at least sizeof(struct arch_call) and a multiple of 16; registers saved in
 * the last 64 bytes; no personality routine, which would have its own ideas; a module that is never
 * unloaded (the C library, the program itself).
 */
#include "agent/inject/inject_borrow.h"

#include <elf.h>
#include <stdbool.h>

#include "agent/agent.h"
#include "agent/unwind/cfi_fde.h"
#include "agent/unwind/cfi_row.h"
#include "agent/unwind/module.h"
#include "agent/sys.h"
#include "arch/inject_arch.h"

#define FRAME_MAX	2048	/* of the program's stack for each call */
#define CHUNK		(64u << 10)
#define ROOM_ENOUGH	64		/* bytes of stack: not worth a search for less */
#define LOWEST_SLOT	(-8 - (int64_t)sizeof(((struct arch_call *)0)->slot))

struct arch_borrow arch_borrow __attribute__((visibility("hidden")));

ARCH_ANY_HOOK_RETURN;

/* Is the row what is asked for, with saved[which] on the stack? */
static bool row_fits(const struct cfi_row *row, int which)
{
	if (row->cfa.how != HOW_REGISTER || row->cfa.reg != ARCH_DWARF_SP || row->cfa.val % 16 ||
	    row->cfa.val < (int32_t)sizeof(struct arch_call) || row->cfa.val > FRAME_MAX)
		return false;
	if (row->reg[ARCH_DWARF_RA].how != HOW_OFFSET || row->reg[ARCH_DWARF_RA].val != -8)
		return false;
	for (unsigned i = 0; i < ARCH_DWARF_NR - 1; i++) {
		const struct cfi_reg_rule *r = &row->reg[i];

		if (r->how > HOW_OFFSET ||
		    (r->how == HOW_OFFSET && (r->val % 8 || r->val > -16 || r->val < LOWEST_SLOT)))
			return false;
	}
	return row->reg[arch_saved_dwarf[which]].how == HOW_OFFSET;
}

static void borrow_if_better(uint64_t code, const struct cfi_row *row, int which, bool is_call)
{
	uint64_t room = (uint64_t)row->cfa.val - sizeof(struct arch_call);

	if (arch_borrow.code != (uint64_t)arch_own_code && room >= arch_borrow.room)
		return;
	arch_borrow = (struct arch_borrow){ .code = code, .room = room };
	arch_borrow.back = is_call ? (uint64_t)arch_back_called : (uint64_t)arch_back;
	arch_borrow.is_in[which] = 1;
	for (unsigned i = 0; i < ARCH_CALL_SAVED; i++) {
		const struct cfi_reg_rule *r = &row->reg[arch_saved_dwarf[i]];

		arch_borrow.slot[i] = r->how == HOW_OFFSET ? r->val : 0;
	}
}

/* The three bytes of code at `at`. */
static void try_code(const struct cfi_module *m, uint64_t at, const uint8_t code[3])
{
	bool is_call;
	int which = arch_indirect(code, &is_call);
	struct cfi_fde fde;
	struct cfi_row row;

	/* the unwinder looks up the byte before, where the call would be */
	if (which >= 0 && cfi_fde_find(m, at - 1, &fde) && !fde.signal && !fde.personality &&
	    at < fde.end && cfi_row_find(m, &fde, at - 1, &row) && row_fits(&row, which))
		borrow_if_better(at, &row, which, is_call);
}

static bool good_enough(void)
{
	return arch_borrow.code != (uint64_t)arch_own_code && arch_borrow.room <= ROOM_ENOUGH;
}

/* Code is read by the kernel, so that a hole in it is no fault. */
static void search(const struct agent_module *m)
{
	uint8_t *buf = (uint8_t *)agent.scratch;

	for (uint64_t at = m->start + 1; at + CHUNK <= m->end && !good_enough(); at += CHUNK - 2) {
		if (!module_copy(buf, at, CHUNK))
			continue;
		for (uint32_t i = 0; i + 3 <= CHUNK; i++)
			if (buf[i] == 0xff || buf[i] == 0x41)
				try_code(&m->cfi, at + i, buf + i);
	}
}

static bool is_libc(const struct agent_module *m)
{
	const char *path = agent.paths + m->path, *base = path;
	uint32_t length = m->rec.path_len;

	for (uint32_t i = 0; i < length; i++)
		if (path[i] == '/')
			base = path + i + 1;
	return length - (uint32_t)(base - path) >= 9 && str_starts(base, "libc.so.6");
}

static bool is_program(const struct agent_module *m)
{
	const char *path = agent.paths + m->path;
	const char *exe = agent.base + ((uint64_t)agent.ledger->exe << PMM_REF_SHIFT);

	if (m->rec.path_len != agent.ledger->exe_len || !agent.ledger->exe_len)
		return false;
	for (uint32_t i = 0; i < m->rec.path_len; i++)
		if (path[i] != exe[i])
			return false;
	return true;
}

static void search_those(bool (*wanted)(const struct agent_module *m))
{
	for (uint32_t i = 0; i < agent.nr_modules; i++)
		if (agent.modules[i].cfi.hdr && wanted(&agent.modules[i]))
			search(&agent.modules[i]);
}

/*
 * The C library first. A program may be a hundred times as large, and a thread of it is stopped
 * meanwhile: each chunk costs four stops and brings pages of the file into memory.
 */
void borrow_find(void)
{
	arch_borrow = (struct arch_borrow){ .code = (uint64_t)arch_own_code,
					    .back = (uint64_t)arch_back,
					    .is_in = { 1 } };
	search_those(is_libc);
	search_those(is_program);
	agent.borrowed = arch_borrow.code;
}
