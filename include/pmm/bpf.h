/* SPDX-License-Identifier: MIT */
/*
 * The verdict of a seccomp filter on a system call of which the number is known, and perhaps some
 * arguments.
 *
 * An interpreter of classic BPF as seccomp has it (linux/seccomp.h, kernel/seccomp.c:
 * seccomp_check_filter()). All jumps go forward, so a program executes at most as many instructions
 * as it has. A program that the kernel does not accept, or that divides by zero, is an error.
 */
#ifndef PMM_BPF_H
#define PMM_BPF_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

struct bpf_call {
	uint32_t nr;
	uint32_t known;		/* 1 << number of each argument that is */
	uint64_t args[6];
};

struct bpf_machine {
	uint32_t a, x;
	uint32_t memory[BPF_MEMWORDS];
	const struct bpf_call *call;
};

static inline int bpf_load(struct bpf_machine *m, uint32_t offset)
{
	const uint32_t first = offsetof(struct seccomp_data, args);
	uint32_t arg = (offset - first) / 8;

	if (offset & 3 || offset >= sizeof(struct seccomp_data))
		return -EINVAL;
	if (offset == offsetof(struct seccomp_data, nr))
		m->a = m->call->nr;
	else if (offset == offsetof(struct seccomp_data, arch))
		m->a = AUDIT_ARCH_X86_64;
	else if (offset >= first && m->call->known & 1u << arg)
		m->a = (uint32_t)(m->call->args[arg] >> (offset & 4) * 8);
	else
		return -ENODATA;
	return 0;
}

static inline int bpf_compute(struct bpf_machine *m, const struct sock_filter *f)
{
	uint32_t by = BPF_SRC(f->code) == BPF_X ? m->x : f->k;

	switch (BPF_OP(f->code)) {
	case BPF_ADD: m->a += by; return 0;
	case BPF_SUB: m->a -= by; return 0;
	case BPF_MUL: m->a *= by; return 0;
	case BPF_AND: m->a &= by; return 0;
	case BPF_OR: m->a |= by; return 0;
	case BPF_XOR: m->a ^= by; return 0;
	case BPF_NEG: m->a = -m->a; return 0;
	}
	if (BPF_OP(f->code) == BPF_DIV ? !by : by > 31)
		return -EINVAL;
	switch (BPF_OP(f->code)) {
	case BPF_DIV: m->a /= by; return 0;
	case BPF_LSH: m->a <<= by; return 0;
	case BPF_RSH: m->a >>= by; return 0;
	}
	return -EINVAL;
}

/* How many instructions a jump skips. -EINVAL. */
static inline int64_t bpf_jump(const struct bpf_machine *m, const struct sock_filter *f)
{
	uint32_t with = BPF_SRC(f->code) == BPF_X ? m->x : f->k;

	switch (BPF_OP(f->code)) {
	case BPF_JA: return f->k;
	case BPF_JEQ: return m->a == with ? f->jt : f->jf;
	case BPF_JGT: return m->a > with ? f->jt : f->jf;
	case BPF_JGE: return m->a >= with ? f->jt : f->jf;
	case BPF_JSET: return m->a & with ? f->jt : f->jf;
	}
	return -EINVAL;
}

/* Loads, stores and moves. */
static inline int bpf_move(struct bpf_machine *m, const struct sock_filter *f)
{
	uint32_t *cell = f->k < BPF_MEMWORDS ? &m->memory[f->k] : NULL;

	switch (f->code) {
	case BPF_LD | BPF_W | BPF_ABS: return bpf_load(m, f->k);
	case BPF_LD | BPF_W | BPF_LEN: m->a = sizeof(struct seccomp_data); return 0;
	case BPF_LDX | BPF_W | BPF_LEN: m->x = sizeof(struct seccomp_data); return 0;
	case BPF_LD | BPF_IMM: m->a = f->k; return 0;
	case BPF_LDX | BPF_IMM: m->x = f->k; return 0;
	case BPF_MISC | BPF_TAX: m->x = m->a; return 0;
	case BPF_MISC | BPF_TXA: m->a = m->x; return 0;
	}
	if (!cell)
		return -EINVAL;
	switch (f->code) {
	case BPF_LD | BPF_MEM: m->a = *cell; return 0;
	case BPF_LDX | BPF_MEM: m->x = *cell; return 0;
	case BPF_ST: *cell = m->a; return 0;
	case BPF_STX: *cell = m->x; return 0;
	}
	return -EINVAL;
}

/*
 * Run a filter of `nr` instructions for a 64-bit system call. 0 with what it returns
 * (SECCOMP_RET_…) in `verdict`; -ENODATA when it reads an argument that is not known, or the
 * address that the call is made from; -EINVAL when the kernel would not accept it. Terminates for
 * any program.
 */
static inline int bpf_run(const struct sock_filter *v, size_t nr, const struct bpf_call *call,
			  uint32_t *verdict)
{
	struct bpf_machine m = { .call = call };

	if (nr > BPF_MAXINSNS)
		return -EINVAL;
	for (uint64_t at = 0; at < nr; at++) {
		const struct sock_filter *f = &v[at];
		int64_t skip = 0;
		int rc = 0;

		if (f->code > 0xff)
			return -EINVAL;
		switch (BPF_CLASS(f->code)) {
		case BPF_RET:
			if (f->code != (BPF_RET | BPF_K) && f->code != (BPF_RET | BPF_A))
				return -EINVAL;
			*verdict = f->code == (BPF_RET | BPF_A) ? m.a : f->k;
			return 0;
		case BPF_JMP:
			skip = bpf_jump(&m, f);
			break;
		case BPF_ALU:
			rc = bpf_compute(&m, f);
			break;
		default:
			rc = bpf_move(&m, f);
		}
		if (rc || skip < 0)
			return rc ? rc : -EINVAL;
		at += (uint64_t)skip;
	}
	return -EINVAL;		/* it ended without a verdict */
}

#endif
