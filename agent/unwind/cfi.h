/* SPDX-License-Identifier: MIT */
/*
 * Call frame information: from .eh_frame as it is in memory to simple unwind rules.
 *
 * Freestanding, and safe wherever a hook can run: no libc, no allocation, no locks, no static
 * state, at most 1 KiB of stack. What a module contains is outside data: every read is checked
 * against the module's bounds and every loop ends. doc/unwinding.md says how it works.
 */
#ifndef AGENT_UNWIND_CFI_H
#define AGENT_UNWIND_CFI_H

#include <stdint.h>

#include "arch/agent_arch.h"

/*
 * How to get from a frame to its caller's. Except for CFI_END, _SIGFRAME and _SLOW the return
 * address is at CFA - 8 and the caller's sp is the CFA. `fp` and `sp` below are the frame's own.
 */
enum cfi_kind {
	CFI_NONE,      /* no rule: unknown code, or information that makes no sense */
	CFI_END,       /* return address undefined: outermost frame */
	CFI_SP,        /* CFA = sp + cfa_off */
	CFI_FP,        /* CFA = fp + cfa_off */
	CFI_FP_DEREF,  /* CFA = *(fp + cfa_off), caller's fp = *fp: gcc's realigned stacks */
	CFI_SIGFRAME,  /* rt_sigframe: pc, sp, fp from the ucontext at sp (ARCH_SIGFRAME_*) */
	CFI_SLOW,      /* anything else: cfi_step_slow() */
};

struct cfi_rule {
	uint8_t kind;		/* enum cfi_kind */
	int16_t fp_off;		/* CFI_SP, CFI_FP: caller's fp at CFA + 8 * fp_off, 0 = same */
	int32_t cfa_off;	/* bytes */
};

/*
 * Where a module's information is; addresses of this process. All of [start, end) must be
 * readable.
 */
struct cfi_module {
	uint64_t start, end;		/* the mapping that holds .eh_frame_hdr and .eh_frame */
	uint64_t hdr, hdr_bytes;	/* .eh_frame_hdr (PT_GNU_EH_FRAME); hdr 0 = none */
	/* 1 = hdr is not in that mapping but in memory of ours, hdr_bytes long */
	uint64_t apart;
	uint64_t frame, frame_bytes;	/* .eh_frame; frame 0 = as the header says, up to `end` */
};

/* Registers of a frame by DWARF number (ARCH_DWARF_*); r[ARCH_DWARF_RA] is its pc. */
struct cfi_regs {
	uint64_t r[ARCH_DWARF_NR];
	uint32_t known;			/* bit k: r[k] has a meaning */
};

/* Read the 8 bytes at `addr`, usually of the stack. Returns 0, or -1 where nothing can be read. */
typedef int (*cfi_read_fn)(void *ctx, uint64_t addr, uint64_t *val);

/*
 * The rule for `pc`: for a frame that called, the return address - 1; for one that was interrupted,
 * its exact pc. Returns out->kind; *out is always set.
 */
int cfi_rule_find(const struct cfi_module *m, uint64_t pc, struct cfi_rule *out);

/* Does a function begin right behind `pc`, which is in none? */
int cfi_begins_behind(const struct cfi_module *m, uint64_t pc);

/*
 * Replace *regs by the caller's, by full interpretation. `pc` as above; r[ARCH_DWARF_RA] is the
 * frame's own pc and sp must be known. Registers whose value the caller's code cannot rely on
 * become unknown. Returns 1 stepped, 2 stepped and the new pc was interrupted there (look it up as
 * it is, not - 1), 0 end of the stack, -1 unknown; *regs is untouched unless > 0.
 */
int cfi_step_slow(const struct cfi_module *m, uint64_t pc, struct cfi_regs *regs, cfi_read_fn read,
		  void *ctx);

#endif
