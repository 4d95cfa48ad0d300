/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An index over all DIEs of a file: variables that have an address, and definitions of types.
 *
 * As in dwarfunit.c a DIE that is not further on than all before it is damage and ends the
 * walk of its unit, which keeps walks linear; so do too deep nesting and the budget.
 */
#include "src/symbol/dwarfvars.h"

#include <dwarf.h>
#include <string.h>

#define DEPTH_MAX	64

struct walk {
	struct dwarf_vars *v;
	struct dwarf_budget *budget;
	Dwarf_Off last;			/* the furthest DIE seen */
	struct { Dwarf_Die die; uint64_t function; } at[DEPTH_MAX];
};

/* Where a variable is. false: in no place of its own. */
static bool place_of(Dwarf_Die *die, uint64_t *address, bool *tls)
{
	Dwarf_Attribute attr, operand;
	Dwarf_Addr value;
	Dwarf_Op *op;
	size_t nr;

	if (!dwarf_attr(die, DW_AT_location, &attr) || dwarf_getlocation(&attr, &op, &nr) ||
	    nr < 1 || nr > 2)
		return false;
	*tls = nr == 2;
	if (*tls && op[1].atom != DW_OP_GNU_push_tls_address &&
	    op[1].atom != DW_OP_form_tls_address)
		return false;
	switch (op[0].atom) {
	case DW_OP_addr:
	case DW_OP_const8u:
	case DW_OP_const4u:
		*address = op[0].number;
		return *tls || op[0].atom == DW_OP_addr;
	case DW_OP_addrx:
	case DW_OP_constx:
	case DW_OP_GNU_addr_index:
	case DW_OP_GNU_const_index:
		if (dwarf_getlocation_attr(&attr, op, &operand) || dwarf_formaddr(&operand, &value))
			return false;
		*address = value;
		return true;
	default:
		return false;
	}
}

static void add_variable(struct walk *w, Dwarf_Die *die, uint64_t function)
{
	struct dwarf_var v = { .die = dwarf_dieoffset(die), .function = function };

	if (place_of(die, &v.address, &v.tls) && vec_push(&w->v->vars, v))
		w->v->no_memory = true;
}

static uint64_t key_of(const char *name)
{
	return hash_bytes(name, strnlen(name, DWARF_NAME_MAX));
}

/* Definitions of one name that differ in size are not one type. */
static void add_type(struct walk *w, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);
	Dwarf_Die other;
	uint32_t *at;
	bool added;

	if (!name || dwarf_hasattr(die, DW_AT_declaration))
		return;
	at = hash_add(&w->v->by_name, key_of(name), (uint32_t)w->v->types.nr, &added);
	if (!at || (added && vec_push(&w->v->types, dwarf_dieoffset(die)))) {
		w->v->no_memory = true;
	} else if (!added && w->v->types.v[*at]) {
		if (!dwarf_offdie(dwarf_cu_getdwarf(die->cu), w->v->types.v[*at], &other) ||
		    dwarf_bytesize(&other) != dwarf_bytesize(die))
			w->v->types.v[*at] = 0;
	}
}

static bool advance(struct walk *w, Dwarf_Die *die)
{
	Dwarf_Off at = dwarf_dieoffset(die);
	bool further = at > w->last;

	w->last = at;
	return further && dwarf_budget_step(w->budget) && !w->v->no_memory;
}

/* Note what it is; is there more to be found in it? */
static bool note_die(struct walk *w, Dwarf_Die *die, uint64_t *function)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_variable:
		add_variable(w, die, *function);
		return false;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		add_type(w, die);
		return true;
	case DW_TAG_subprogram:
		*function = dwarf_dieoffset(die);
		return true;
	case DW_TAG_namespace:
	case DW_TAG_lexical_block:
		return true;
	default:
		return false;
	}
}

static void walk_unit(struct walk *w, Dwarf_Die *unit)
{
	unsigned depth = 0;

	w->last = dwarf_dieoffset(unit);
	if (dwarf_child(unit, &w->at[0].die) || !advance(w, &w->at[0].die))
		return;
	w->at[0].function = 0;
	for (;;) {
		uint64_t function = depth ? w->at[depth - 1].function : 0;
		bool deeper = note_die(w, &w->at[depth].die, &function);

		w->at[depth].function = function;
		if (deeper && depth + 1 < DEPTH_MAX &&
		    !dwarf_child(&w->at[depth].die, &w->at[depth + 1].die)) {
			if (!advance(w, &w->at[++depth].die))
				return;
			continue;
		}
		while (dwarf_siblingof(&w->at[depth].die, &w->at[depth].die))
			if (!depth--)
				return;
		if (!advance(w, &w->at[depth].die))
			return;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct dwarf_var *x = a, *y = b;

	if (x->tls != y->tls)
		return x->tls ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->die < y->die ? -1 : x->die > y->die;
}

void dwarf_vars_build(struct dwarf_vars *v, Dwarf *dw, struct dwarf_budget *b)
{
	struct walk *w = calloc(1, sizeof(*w));
	Dwarf_CU *cu = NULL;
	uint8_t type;
	Dwarf_Die die;

	v->built = true;
	v->no_memory = !w;
	if (!w)
		return;
	w->v = v;
	w->budget = b;
	while (!b->spent && !v->no_memory && !dwarf_get_units(dw, cu, &cu, NULL, &type, &die, NULL))
		if (type == DW_UT_compile || type == DW_UT_partial)
			walk_unit(w, &die);
	vec_sort(&v->vars, by_address);
	free(w);
}

void dwarf_vars_fini(struct dwarf_vars *v)
{
	vec_fini(&v->vars);
	vec_fini(&v->types);
	hash_fini(&v->by_name);
	*v = (struct dwarf_vars){ 0 };
}

const struct dwarf_var *dwarf_vars_find(const struct dwarf_vars *v, uint64_t address, bool tls)
{
	size_t at = vec_while(&v->vars, p, p->tls != tls ? p->tls : p->address <= address);

	return at && v->vars.v[at - 1].tls == tls ? &v->vars.v[at - 1] : NULL;
}

uint64_t dwarf_vars_type(const struct dwarf_vars *v, const char *name)
{
	uint32_t *at = hash_find(&v->by_name, key_of(name));

	return at ? v->types.v[*at] : 0;
}
