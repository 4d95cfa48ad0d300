/* SPDX-License-Identifier: MIT */
/*
 * Evaluates the DWARF expressions that call frame information uses: a stack machine, DWARF 5
 * section 2.5.1.
 *
 * Operations that name objects, types or calls cannot occur there (section 6.4.2) and fail.
 */
#include "agent/unwind/cfi_expr.h"

enum {
	OP_ADDR = 0x03, OP_DEREF = 0x06, OP_CONST1U = 0x08, OP_CONST1S, OP_CONST2U, OP_CONST2S,
	OP_CONST4U, OP_CONST4S, OP_CONST8U, OP_CONST8S, OP_CONSTU, OP_CONSTS, OP_DUP, OP_DROP,
	OP_OVER, OP_PICK, OP_SWAP, OP_ROT, OP_ABS = 0x19, OP_AND, OP_DIV, OP_MINUS, OP_MOD, OP_MUL,
	OP_NEG, OP_NOT, OP_OR, OP_PLUS, OP_PLUS_UCONST, OP_SHL, OP_SHR, OP_SHRA, OP_XOR, OP_BRA,
	OP_EQ, OP_GE, OP_GT, OP_LE, OP_LT, OP_NE, OP_SKIP, OP_LIT0 = 0x30, OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70, OP_BREG31 = 0x8f, OP_BREGX = 0x92, OP_DEREF_SIZE = 0x94, OP_NOP = 0x96,
};

#define MAX_DEPTH	16
#define MAX_STEPS	256

struct machine {
	struct cursor c;
	uint64_t begin;			/* first operation, for branches */
	const struct cfi_expr_env *env;
	unsigned int depth;
	uint64_t stack[MAX_DEPTH];
};

static int push(struct machine *vm, uint64_t val)
{
	if (vm->depth == MAX_DEPTH)
		return -1;
	vm->stack[vm->depth++] = val;
	return 0;
}

static int push_reg(struct machine *vm, uint64_t reg)
{
	int64_t off = cursor_sleb(&vm->c);

	if (reg >= ARCH_DWARF_NR || !(vm->env->regs->known & 1u << reg))
		return -1;
	return push(vm, vm->env->regs->r[reg] + (uint64_t)off);
}

/* Replace the address on top by the `bytes` (1 .. 8) found there. */
static int deref(struct machine *vm, unsigned int bytes)
{
	uint64_t *top;
	uint64_t val;

	if (!vm->depth || !bytes || bytes > 8)
		return -1;
	top = &vm->stack[vm->depth - 1];
	if (vm->env->read(vm->env->ctx, *top, &val))
		return -1;
	*top = bytes == 8 ? val : val & ((1ull << 8 * bytes) - 1);
	return 0;
}

static int branch(struct machine *vm, int taken)
{
	int64_t off = (int16_t)cursor_u16(&vm->c);
	uint64_t to = vm->c.at + (uint64_t)off;

	if (!taken)
		return 0;
	if (to < vm->begin || to > vm->c.end)
		return -1;
	vm->c.at = to;
	return 0;
}

/* Operations that leave one value in place of two: `a` below, `b` on top. */
static int binary(struct machine *vm, uint8_t op)
{
	uint64_t *a, b;
	int64_t sa, sb;

	if (vm->depth < 2)
		return -1;
	b = vm->stack[--vm->depth];
	a = &vm->stack[vm->depth - 1];
	sa = (int64_t)*a;
	sb = (int64_t)b;

	switch (op) {
	case OP_AND:	*a &= b; return 0;
	case OP_OR:	*a |= b; return 0;
	case OP_XOR:	*a ^= b; return 0;
	case OP_PLUS:	*a += b; return 0;
	case OP_MINUS:	*a -= b; return 0;
	case OP_MUL:	*a *= b; return 0;
	case OP_SHL:	*a = b < 64 ? *a << b : 0; return 0;
	case OP_SHR:	*a = b < 64 ? *a >> b : 0; return 0;
	case OP_SHRA:	*a = (uint64_t)(sa >> (b < 64 ? b : 63)); return 0;
	case OP_EQ:	*a = sa == sb; return 0;
	case OP_NE:	*a = sa != sb; return 0;
	case OP_GE:	*a = sa >= sb; return 0;
	case OP_GT:	*a = sa > sb; return 0;
	case OP_LE:	*a = sa <= sb; return 0;
	case OP_LT:	*a = sa < sb; return 0;
	case OP_MOD:
		if (!b)
			return -1;
		*a %= b;
		return 0;
	case OP_DIV:
		if (!b)
			return -1;
		*a = sb == -1 ? 0 - *a : (uint64_t)(sa / sb);	/* INT64_MIN / -1 traps */
		return 0;
	}
	return -1;
}

/* Operations that rearrange the stack. */
static int shuffle(struct machine *vm, uint8_t op)
{
	uint64_t *top, val;
	unsigned int n;

	if (!vm->depth)
		return -1;
	top = &vm->stack[vm->depth - 1];
	switch (op) {
	case OP_DROP:
		vm->depth--;
		return 0;
	case OP_DUP:
	case OP_OVER:
	case OP_PICK:
		n = op == OP_PICK ? cursor_u8(&vm->c) : op == OP_OVER;
		return n < vm->depth ? push(vm, vm->stack[vm->depth - 1 - n]) : -1;
	case OP_SWAP:
		if (vm->depth < 2)
			return -1;
		val = top[0];
		top[0] = top[-1];
		top[-1] = val;
		return 0;
	case OP_ROT:
		if (vm->depth < 3)
			return -1;
		val = top[0];
		top[0] = top[-1];
		top[-1] = top[-2];
		top[-2] = val;
		return 0;
	}
	return -1;
}

static int unary(struct machine *vm, uint8_t op)
{
	uint64_t *top, operand = op == OP_PLUS_UCONST ? cursor_uleb(&vm->c) : 0;

	if (!vm->depth)
		return -1;
	top = &vm->stack[vm->depth - 1];
	switch (op) {
	case OP_ABS:
		*top = (int64_t)*top < 0 ? 0 - *top : *top;
		return 0;
	case OP_NEG:
		*top = 0 - *top;
		return 0;
	case OP_NOT:
		*top = ~*top;
		return 0;
	case OP_PLUS_UCONST:
		*top += operand;
		return 0;
	}
	return -1;
}

/* Constants: their value, *ok = 0 for any other operation. */
static uint64_t constant(struct cursor *c, uint8_t op, int *ok)
{
	*ok = 1;
	if (op >= OP_LIT0 && op <= OP_LIT31)
		return op - OP_LIT0;
	switch (op) {
	case OP_CONST1U:	return cursor_u8(c);
	case OP_CONST1S:	return (uint64_t)(int64_t)(int8_t)cursor_u8(c);
	case OP_CONST2U:	return cursor_u16(c);
	case OP_CONST2S:	return (uint64_t)(int64_t)(int16_t)cursor_u16(c);
	case OP_CONST4U:	return cursor_u32(c);
	case OP_CONST4S:	return (uint64_t)(int64_t)(int32_t)cursor_u32(c);
	case OP_ADDR:
	case OP_CONST8U:
	case OP_CONST8S:	return cursor_u64(c);
	case OP_CONSTU:		return cursor_uleb(c);
	case OP_CONSTS:		return (uint64_t)cursor_sleb(c);
	}
	*ok = 0;
	return 0;
}

static int step(struct machine *vm, uint8_t op)
{
	int ok;
	uint64_t val = constant(&vm->c, op, &ok);

	if (ok)
		return push(vm, val);
	if (op >= OP_BREG0 && op <= OP_BREG31)
		return push_reg(vm, op - OP_BREG0);
	if (op >= OP_DUP && op <= OP_ROT)
		return shuffle(vm, op);

	switch (op) {
	case OP_NOP:
		return 0;
	case OP_BREGX:
		return push_reg(vm, cursor_uleb(&vm->c));
	case OP_DEREF:
		return deref(vm, 8);
	case OP_DEREF_SIZE:
		return deref(vm, cursor_u8(&vm->c));
	case OP_SKIP:
		return branch(vm, 1);
	case OP_BRA:
		return vm->depth ? branch(vm, vm->stack[--vm->depth] != 0) : -1;
	case OP_ABS:
	case OP_NEG:
	case OP_NOT:
	case OP_PLUS_UCONST:
		return unary(vm, op);
	}
	return binary(vm, op);
}

int cfi_expr_eval(struct cursor c, const struct cfi_expr_env *env, const uint64_t *initial,
		  uint64_t *out)
{
	struct machine vm;
	unsigned int steps;

	vm.c = c;
	vm.begin = c.at;
	vm.env = env;
	vm.depth = 0;
	if (initial)
		push(&vm, *initial);
	for (steps = 0; vm.c.at < vm.c.end; steps++)
		if (steps == MAX_STEPS || step(&vm, cursor_u8(&vm.c)) || vm.c.bad)
			return -1;
	if (c.bad || !vm.depth)
		return -1;
	*out = vm.stack[vm.depth - 1];
	return 0;
}
