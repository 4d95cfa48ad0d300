/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address -> variable. */
#include "src/symbol/variables.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "src/symbol/dwarftype.h"
#include "src/symbol/symbolizer.h"

#define TYPE_STEPS	65536u

static struct symbol_object *object_of(struct symbolizer *sym, uint32_t module)
{
	return module < sym->modules.nr ? sym->modules.v[module].object : NULL;
}

static const char *intern(struct symbolizer *sym, const char *text)
{
	int64_t number;

	if (!text || sym->strings_bytes >= SYMBOL_MAX_NAMES_BYTES)
		return NULL;
	number = intern_addn(&sym->strings, text, strnlen(text, SYMBOL_MAX_NAME_BYTES));
	if (number < 0) {
		if (!sym->error)
			sym->error = -ENOMEM;
		return NULL;
	}
	return intern_text(&sym->strings, (uint32_t)number);
}

static const char *intern_readable(struct symbolizer *sym, const char *name)
{
	char *buf = name ? malloc(SYMBOL_MAX_NAME_BYTES) : NULL;
	const char *kept = buf && symbol_demangle(name, buf, SYMBOL_MAX_NAME_BYTES)
				   ? intern(sym, buf)
				   : intern(sym, name);

	free(buf);
	return kept;
}

/* ---- DWARF ---- */

static struct dwarf_info *dwarf_of(struct symbolizer *sym, struct symbol_object *o,
				   struct dwarf_types *types)
{
	struct dwarf_info *info = object_dwarf(&o->object, &sym->options);

	if (info && !o->object.vars.built)
		dwarf_info_variables(info, &o->object.vars);
	*types = (struct dwarf_types){ .vars = &o->object.vars,
				       .main = info ? dwarf_info_main(info) : NULL,
				       .steps = TYPE_STEPS };
	return info;
}

static uint32_t number_of(const struct symbolizer *sym, const struct symbol_object *o)
{
	for (uint32_t i = 0; i < sym->objects.nr; i++)
		if (sym->objects.v[i] == o)
			return i + 1;
	return 0;
}

static struct symbol_type type_out(const struct symbolizer *sym, const struct symbol_object *o,
				   Dwarf_Die *die)
{
	Dwarf *dw = die->addr ? dwarf_cu_getdwarf(die->cu) : NULL;

	if (!dw)
		return (struct symbol_type){ 0 };
	return (struct symbol_type){ .object = number_of(sym, o),
				     .die = dwarf_dieoffset(die),
				     .shared = dw != dwarf_info_main(o->object.dwarf) };
}

/*
 * The DIE of a type, which may have been handed out before the DWARF was closed and opened again.
 */
static struct symbol_object *type_in(struct symbolizer *sym, const struct symbol_type *type,
				     struct dwarf_types *types, Dwarf_Die *die)
{
	struct symbol_object *o = type->object && type->object <= sym->objects.nr
					  ? sym->objects.v[type->object - 1]
					  : NULL;
	struct dwarf_info *info = o ? dwarf_of(sym, o, types) : NULL;
	Dwarf *dw = info ? (type->shared ? dwarf_info_alt(info) : dwarf_info_main(info)) : NULL;

	return dw && dwarf_offdie(dw, type->die, die) ? o : NULL;
}

static void describe(struct symbolizer *sym, const struct symbol_object *o,
		     struct dwarf_types *types, Dwarf_Die *die, struct symbol_variable *v,
		     uint64_t *bytes)
{
	Dwarf_Attribute attr;
	Dwarf_Die type;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr))
		name = intern_readable(sym, dwarf_formstring(&attr));
	v->name = name ? name : intern(sym, dwarf_diename(die));
	v->file = intern(sym, dwarf_info_declared(die, &v->line));
	*bytes = 0;
	if (!dwarf_type_of(types, die, &type))
		return;
	*bytes = dwarf_type_bytes(&type);
	v->type = type_out(sym, o, &type);
}

static bool by_dwarf(struct symbolizer *sym, struct symbol_object *o, uint64_t address, bool tls,
		     struct symbol_variable *v)
{
	struct dwarf_types types;
	struct dwarf_info *info = dwarf_of(sym, o, &types);
	const uint64_t shift = tls ? 0 : o->object.dwarf_shift;
	const struct dwarf_var *var = info ? dwarf_vars_find(&o->object.vars, address - shift, tls)
					   : NULL;
	Dwarf_Die die, function;
	uint64_t bytes;

	if (!var || !dwarf_offdie(dwarf_info_main(info), var->die, &die))
		return false;
	describe(sym, o, &types, &die, v, &bytes);
	if (!v->name || address - shift - var->address >= (bytes ? bytes : 1)) {
		v->name = v->file = NULL;
		v->type = (struct symbol_type){ 0 };
		return false;
	}
	if (var->function && dwarf_offdie(dwarf_info_main(info), var->function, &function))
		v->function = intern(sym, dwarf_diename(&function));
	v->start = var->address + shift;
	v->end = v->start + bytes;
	return true;
}

/* ---- symbol tables and sections ---- */

static bool by_symbol(struct symbolizer *sym, struct symbol_object *o, uint64_t address, bool tls,
		      struct symbol_variable *v)
{
	const char *name;

	errno = 0;
	name = datatab_find(object_data(&o->object, &sym->options), address, tls, &v->start,
			    &v->end);
	if (name) {
		char *plain = strndup(name, strcspn(name, "@"));	/* symbol version */

		v->name = intern_readable(sym, plain);
		free(plain);
	}
	return v->name;
}

static bool by_section(struct symbolizer *sym, struct symbol_object *o, uint64_t address, bool tls,
		       struct symbol_variable *v)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr h;
	size_t names;

	object_open(&o->object, &sym->options);
	if (!o->object.has_main || elf_getshdrstrndx(o->object.main.elf, &names))
		return false;
	while ((scn = elf_nextscn(o->object.main.elf, scn))) {
		if (!gelf_getshdr(scn, &h) || !(h.sh_flags & SHF_ALLOC) ||
		    !(h.sh_flags & SHF_TLS) != !tls || address < h.sh_addr ||
		    address - h.sh_addr >= h.sh_size)
			continue;
		v->section = intern(sym, elf_strptr(o->object.main.elf, names, h.sh_name));
		v->start = h.sh_addr;
		v->end = h.sh_addr + h.sh_size;
		return v->section;
	}
	return false;
}

/* Offsets in a thread's block begin with the first thread-local section. */
static uint64_t tls_base(struct symbolizer *sym, struct symbol_object *o)
{
	size_t nr = 0;
	GElf_Phdr ph;

	object_open(&o->object, &sym->options);
	if (!o->object.has_main || elf_getphdrnum(o->object.main.elf, &nr))
		return 0;
	for (size_t i = 0; i < nr; i++)
		if (gelf_getphdr(o->object.main.elf, (int)i, &ph) && ph.p_type == PT_TLS)
			return ph.p_vaddr;
	return 0;
}

static bool find_variable(struct symbolizer *sym, uint32_t module, uint64_t address, bool plain,
			  struct symbol_variable *v)
{
	struct symbol_object *o = object_of(sym, module);
	uint64_t bias;

	*v = (struct symbol_variable){ .module = o ? o->basename : "" };
	if (!o)
		return false;
	bias = sym->modules.v[module].bias;
	if ((plain || !by_dwarf(sym, o, address - bias, false, v)) &&
	    !by_symbol(sym, o, address - bias, false, v) &&
	    !by_section(sym, o, address - bias, false, v))
		return false;
	v->start += bias;
	v->end += v->end ? bias : 0;
	return true;
}

bool symbol_variable(struct symbolizer *sym, uint32_t module, uint64_t address,
		     struct symbol_variable *v)
{
	return find_variable(sym, module, address, false, v);
}

bool symbol_variable_plain(struct symbolizer *sym, uint32_t module, uint64_t address,
			   struct symbol_variable *v)
{
	return find_variable(sym, module, address, true, v);
}

bool symbol_thread_variable(struct symbolizer *sym, uint32_t module, uint64_t offset,
			    struct symbol_variable *v)
{
	struct symbol_object *o = object_of(sym, module);
	uint64_t base;

	*v = (struct symbol_variable){ .module = o ? o->basename : "" };
	if (!o)
		return false;
	if (by_dwarf(sym, o, offset, true, v) || by_symbol(sym, o, offset, true, v))
		return true;
	base = tls_base(sym, o);
	if (!by_section(sym, o, base + offset, true, v))
		return false;
	v->start -= base;
	v->end -= base;
	return true;
}

bool symbol_local(struct symbolizer *sym, const struct walk_frame *f, const struct dwarf_memory *m,
		  uint64_t address, int reg, struct symbol_variable *v)
{
	struct symbol_object *o = object_of(sym, f->module);
	struct dwarf_types types;
	struct dwarf_info *info = o ? dwarf_of(sym, o, &types) : NULL;
	uint64_t pc, start, bytes;
	Dwarf_Die function, die;

	*v = (struct symbol_variable){ .module = o ? o->basename : "" };
	if (!info)
		return false;
	pc = f->pc - sym->modules.v[f->module].bias - o->object.dwarf_shift;
	if (!dwarf_info_function(info, pc, &function) ||
	    !dwarf_local_find(&function, pc, &f->registers, m, address, reg, &die, &start))
		return false;
	describe(sym, o, &types, &die, v, &bytes);
	v->start = start;
	v->end = start + (bytes ? bytes : 8);
	v->in_register = reg >= 0;
	return v->name;
}

/* ---- types ---- */

bool symbol_type_pointer(struct symbolizer *sym, const struct symbol_type *type, uint64_t offset,
			 struct str *path, struct symbol_type *to, uint64_t *rest)
{
	struct dwarf_types types;
	struct symbol_object *o;
	Dwarf_Die die, pointee;
	bool found;

	*to = (struct symbol_type){ 0 };
	*rest = offset;
	o = type_in(sym, type, &types, &die);
	if (!o)
		return false;
	found = dwarf_type_pointer(&types, &die, offset, path, &pointee, rest);
	if (found)
		*to = type_out(sym, o, &pointee);
	return found;
}

uint64_t symbol_type_bytes(struct symbolizer *sym, const struct symbol_type *type)
{
	struct dwarf_types types;
	Dwarf_Die die;

	return type_in(sym, type, &types, &die) && !dwarf_type_is_open(&types, &die)
		       ? dwarf_type_bytes(&die)
		       : 0;
}

void symbol_type_name(struct symbolizer *sym, const struct symbol_type *type, struct str *to)
{
	struct dwarf_types types;
	Dwarf_Die die;

	if (type_in(sym, type, &types, &die))
		dwarf_type_name(&die, to);
}
