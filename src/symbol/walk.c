/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stopped thread's stack, frame by frame. libdw decodes .eh_frame; memory is the caller's. */
#include "src/symbol/walk.h"

#include <dwarf.h>
#include <errno.h>

#include "src/symbol/symbolizer.h"

#define MAX_FRAME_BYTES	(1ull << 30)

static uint32_t module_at(const struct symbolizer *sym, uint64_t pc)
{
	for (uint32_t i = 0; i < sym->modules.nr; i++)
		if (sym->modules.v[i].object && pc >= sym->modules.v[i].start &&
		    pc < sym->modules.v[i].end)
			return i;
	return UINT32_MAX;
}

/* A register of the caller. false: it is not known. */
static bool caller_register(Dwarf_Frame *frame, int reg, const struct dwarf_registers *here,
			    const struct dwarf_memory *m, uint64_t *value)
{
	Dwarf_Op memory[3], *op = NULL;
	uint64_t at;
	bool is_value;
	size_t nr;

	if (dwarf_frame_register(frame, reg, memory, &op, &nr))
		return false;
	if (!nr) {
		*value = here->value[reg];
		return !op && here->known >> reg & 1;
	}
	if (nr == 1 && op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {	/* in another one */
		unsigned other = op->atom - (unsigned)DW_OP_reg0;

		*value = other < ARCH_DWARF_REGISTERS ? here->value[other] : 0;
		return other < ARCH_DWARF_REGISTERS && here->known >> other & 1;
	}
	is_value = op[nr - 1].atom == DW_OP_stack_value;
	if (!dwarf_evaluate(op, nr - is_value, here, m, NULL, &at))
		return false;
	*value = at;
	return is_value || m->read(m->arg, at, value, sizeof(*value)) == sizeof(*value);
}

static bool find_cfa(Dwarf_Frame *frame, struct dwarf_registers *here, const struct dwarf_memory *m)
{
	Dwarf_Op *op;
	size_t nr;

	return !dwarf_frame_cfa(frame, &op, &nr) && nr &&
	       dwarf_evaluate(op, nr, here, m, NULL, &here->cfa);
}

/* Registers of the caller. false: the stack ends here. */
static bool step(struct symbolizer *sym, struct walk_frame *f, const struct dwarf_memory *m,
		 struct dwarf_registers *caller, bool *is_signal)
{
	const struct symbol_slot *s = f->module < sym->modules.nr ? &sym->modules.v[f->module]
								  : NULL;
	Dwarf_CFI *cfi = s ? object_cfi(&s->object->object, &sym->options) : NULL;
	Dwarf_Frame *frame;
	bool found = false;

	if (!cfi || dwarf_cfi_addrframe(cfi, f->pc - s->bias, &frame))
		return false;
	*caller = (struct dwarf_registers){ 0 };
	dwarf_frame_info(frame, NULL, NULL, is_signal);
	if (find_cfa(frame, &f->registers, m)) {
		for (int reg = 0; reg < ARCH_DWARF_REGISTERS; reg++)
			if (caller_register(frame, reg, &f->registers, m, &caller->value[reg]))
				caller->known |= 1u << reg;
		caller->value[ARCH_DWARF_STACK] = f->registers.cfa;
		caller->known |= 1u << ARCH_DWARF_STACK;
		if (*is_signal)
			caller_register(frame, ARCH_DWARF_STACK, &f->registers, m,
					&caller->value[ARCH_DWARF_STACK]);
		found = caller->known >> ARCH_DWARF_RETURN & 1 && caller->value[ARCH_DWARF_RETURN];
	}
	free(frame);
	return found;
}

int walk_stack(struct symbolizer *sym, const struct dwarf_registers *first,
	       const struct dwarf_memory *m, struct walk *w)
{
	struct dwarf_registers here = *first, caller;
	uint64_t low = first->value[ARCH_DWARF_STACK] - ARCH_RED_ZONE;
	bool exact = true;				/* pc is the next instruction */

	*w = (struct walk){ 0 };
	while (w->frames.nr < WALK_MAX_FRAMES) {
		struct walk_frame f = { .registers = here,
					.pc = here.value[ARCH_DWARF_RETURN] - !exact,
					.low = low };
		bool goes_on;

		f.module = module_at(sym, f.pc);
		exact = false;
		goes_on = step(sym, &f, m, &caller, &exact);
		f.high = f.registers.cfa;
		if (!goes_on || f.high <= low || f.high - low > MAX_FRAME_BYTES)
			goes_on = exact && goes_on; /* from a signal's handler to another stack */
		if (vec_push(&w->frames, f))
			return -ENOMEM;
		if (!goes_on)
			break;
		low = caller.value[ARCH_DWARF_STACK];
		here = caller;
	}
	return 0;
}

void walk_fini(struct walk *w)
{
	vec_fini(&w->frames);
}

const struct walk_frame *walk_find(const struct walk *w, uint64_t address)
{
	vec_each(&w->frames, f)
		if (address >= f->low && address < f->high)
			return f;
	return NULL;
}
