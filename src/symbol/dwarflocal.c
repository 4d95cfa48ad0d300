/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables of functions: where they are while a frame is at a certain instruction. */
#include "src/symbol/dwarflocal.h"

#include <dwarf.h>

#include "src/symbol/dwarftype.h"

#define STACK		32
#define MAX_DEPTH	16
#define MAX_STEPS	65536
#define MAX_TYPE_STEPS	4096

/* ---- expressions ---- */

struct machine {
	const struct dwarf_registers *r;
	const struct dwarf_memory *m;
	const uint64_t *frame_base;
	uint64_t stack[STACK];
	unsigned nr;
	bool failed;
};

static void push(struct machine *k, uint64_t value)
{
	if (k->nr < STACK)
		k->stack[k->nr++] = value;
	else
		k->failed = true;
}

static uint64_t pop(struct machine *k)
{
	if (k->nr)
		return k->stack[--k->nr];
	k->failed = true;
	return 0;
}

static void push_register(struct machine *k, uint64_t reg, uint64_t offset)
{
	if (reg >= ARCH_DWARF_REGISTERS || !(k->r->known >> reg & 1))
		k->failed = true;
	else
		push(k, k->r->value[reg] + offset);
}

static void two(struct machine *k, unsigned atom)
{
	uint64_t b = pop(k), a = pop(k);

	switch (atom) {
	case DW_OP_plus:
		push(k, a + b);
		break;
	case DW_OP_minus:
		push(k, a - b);
		break;
	case DW_OP_and:
		push(k, a & b);
		break;
	case DW_OP_or:
		push(k, a | b);
		break;
	case DW_OP_mul:
		push(k, a * b);
		break;
	case DW_OP_shl:
		push(k, b < 64 ? a << b : 0);
		break;
	case DW_OP_shr:
		push(k, b < 64 ? a >> b : 0);
		break;
	case DW_OP_ge:
		push(k, (int64_t)a >= (int64_t)b);
		break;
	default:
		k->failed = true;
	}
}

static void load(struct machine *k)
{
	uint64_t word;

	if (!k->m || k->m->read(k->m->arg, pop(k), &word, sizeof(word)) != sizeof(word))
		k->failed = true;
	else
		push(k, word);
}

static void one(struct machine *k, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		push_register(k, op->atom - DW_OP_breg0, op->number);
	} else if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		push(k, op->atom - DW_OP_lit0);
	} else if (op->atom == DW_OP_bregx) {
		push_register(k, op->number, op->number2);
	} else if (op->atom == DW_OP_call_frame_cfa) {
		k->failed |= !k->r->cfa;
		push(k, k->r->cfa);
	} else if (op->atom == DW_OP_fbreg) {
		k->failed |= !k->frame_base;
		push(k, (k->frame_base ? *k->frame_base : 0) + op->number);
	} else if (op->atom == DW_OP_plus_uconst) {
		push(k, pop(k) + op->number);
	} else if (op->atom == DW_OP_deref) {
		load(k);
	} else if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts) {
		push(k, op->number);
	} else if (op->atom == DW_OP_addr) {
		push(k, op->number);
	} else {
		two(k, op->atom);
	}
}

bool dwarf_evaluate(const Dwarf_Op *op, size_t nr, const struct dwarf_registers *r,
		    const struct dwarf_memory *m, const uint64_t *frame_base, uint64_t *value)
{
	struct machine k = { .r = r, .m = m, .frame_base = frame_base };

	for (size_t i = 0; i < nr && !k.failed; i++)
		one(&k, &op[i]);
	*value = pop(&k);
	return !k.failed;
}

/* ---- variables ---- */

struct finding {
	uint64_t pc, address;
	int reg;
	const struct dwarf_registers *r;
	const struct dwarf_memory *m;
	uint64_t frame_base;
	bool has_base;
	unsigned steps;
	Dwarf_Die *variable;
	uint64_t *start;
};

static bool location(Dwarf_Die *die, unsigned name, uint64_t pc, Dwarf_Op **op, size_t *nr)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, name, &attr) &&
	       dwarf_getlocation_addr(&attr, pc, op, nr, 1) == 1 && *nr > 0;
}

static void find_base(struct finding *f, Dwarf_Die *function)
{
	Dwarf_Op *op;
	size_t nr;

	if (!location(function, DW_AT_frame_base, f->pc, &op, &nr))
		return;
	if (nr == 1 && op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
		unsigned reg = op->atom - DW_OP_reg0;

		f->has_base = reg < ARCH_DWARF_REGISTERS && f->r->known >> reg & 1;
		f->frame_base = f->has_base ? f->r->value[reg] : 0;
	} else {
		f->has_base = dwarf_evaluate(op, nr, f->r, f->m, NULL, &f->frame_base);
	}
}

static bool is_it(struct finding *f, Dwarf_Die *die)
{
	struct dwarf_types types = { .steps = MAX_TYPE_STEPS };
	uint64_t start, bytes;
	Dwarf_Die type;
	Dwarf_Op *op;
	size_t nr;

	if (!location(die, DW_AT_location, f->pc, &op, &nr))
		return false;
	if (nr == 1 && op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		return f->reg == (int)(op->atom - DW_OP_reg0);
	if (f->reg >= 0 || op->atom == DW_OP_addr ||
	    !dwarf_evaluate(op, nr, f->r, f->m, f->has_base ? &f->frame_base : NULL, &start))
		return false;
	bytes = dwarf_type_of(&types, die, &type) ? dwarf_type_bytes(&type) : 0;
	*f->start = start;
	return f->address >= start && f->address - start < (bytes ? bytes : 8);
}

static bool find_in(struct finding *f, Dwarf_Die *scope, unsigned depth)
{
	Dwarf_Die die;

	if (dwarf_child(scope, &die))
		return false;
	do {
		int tag = dwarf_tag(&die);

		if (!f->steps || !--f->steps)
			return false;
		if ((tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) &&
		    depth < MAX_DEPTH && dwarf_haspc(&die, f->pc) == 1 &&
		    find_in(f, &die, depth + 1))
			return true;
		if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) && is_it(f, &die)) {
			*f->variable = die;
			return true;
		}
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

bool dwarf_local_find(Dwarf_Die *function, uint64_t pc, const struct dwarf_registers *r,
		      const struct dwarf_memory *m, uint64_t address, int reg, Dwarf_Die *variable,
		      uint64_t *start)
{
	struct finding f = {
		.pc = pc,
		.address = address,
		.reg = reg,
		.r = r,
		.m = m,
		.steps = MAX_STEPS,
		.variable = variable,
		.start = start,
	};

	*start = address;
	find_base(&f, function);
	return find_in(&f, function, 0);
}
