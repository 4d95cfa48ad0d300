/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What DWARF says about a code address: functions, the inlined ones too, and lines.
 *
 * Two steps: which unit (an index over the ranges of all unit DIEs, built once: .debug_aranges may
 * lack the units of some compilers), then which function in that unit (indexed on first use).
 * Ranges that are not in executable segments belong to code the linker has dropped.
 */
#include "src/symbol/dwarfinfo.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "src/symbol/dwarfunit.h"

#define BUDGET_NS	2000000000ull	/* CPU time for one file */
/* more for each byte of it: reading all of it takes a tenth of that */
#define BUDGET_BYTE_NS	100ull
#define BUDGET_LOOKUP_NS	1000000ull	/* and for each lookup */
#define INLINES_MAX	64
#define BYTES_PER_LINE	64		/* of a decoded row in libdw, roughly */

struct dwarf_info {
	Dwarf *dw, *alt;
	const struct elf_file *file;
	VEC(struct dwarf_unit) units;
	struct ranges ranges;		/* value: index of the unit */
	struct intern names;
	struct dwarf_budget budget;
	size_t bytes;
	int error;			/* elf_file_unseen(), the first one */
};

static void heed(struct dwarf_info *info, int rc)
{
	if (!info->error)
		info->error = rc;
}

static int add_unit(struct dwarf_info *info, Dwarf_Die *die)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;

	if (vec_push(&info->units, (struct dwarf_unit){ .die = *die, .file = info->file }))
		return -ENOMEM;
	while (dwarf_budget_step(&info->budget) &&
	       (at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0) {
		if (elf_file_is_code(info->file, lo) &&
		    ranges_add(&info->ranges, lo, hi, info->units.nr - 1))
			return -ENOMEM;
	}
	return 0;
}

static int index_units(struct dwarf_info *info)
{
	Dwarf_CU *cu = NULL;
	uint8_t type;
	Dwarf_Die die;
	int rc = 0;

	dwarf_budget_begin(&info->budget, BUDGET_NS + BUDGET_BYTE_NS * info->file->size_bytes);
	while (!rc && !info->budget.spent &&
	       !dwarf_get_units(info->dw, cu, &cu, NULL, &type, &die, NULL)) {
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		rc = add_unit(info, &die);
	}
	ranges_sort(&info->ranges);
	dwarf_budget_end(&info->budget);
	return rc;
}

struct dwarf_info *dwarf_info_new(const struct elf_file *f, const struct elf_file *alt,
				  const struct stop *stop)
{
	struct dwarf_info *info = calloc(1, sizeof(*info));
	int rc;

	if (!info)
		return NULL;
	info->file = f;
	if (stop)
		info->budget.stop = *stop;
	errno = 0;
	info->dw = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	heed(info, elf_file_trouble());
	if (info->dw && alt) {
		info->alt = dwarf_begin_elf(alt->elf, DWARF_C_READ, NULL);
		dwarf_setalt(info->dw, info->alt);
	}
	rc = !info->dw || (alt && !info->alt) ? -ENODATA : index_units(info);
	heed(info, elf_file_trouble());
	if (rc && info->error)
		rc = info->error;
	if (rc) {
		dwarf_info_free(info);
		info = NULL;
	}
	errno = -rc;
	return info;
}

int dwarf_info_error(const struct dwarf_info *info)
{
	return info->error;
}

void dwarf_info_free(struct dwarf_info *info)
{
	if (!info)
		return;
	vec_each(&info->units, u)
		dwarf_unit_fini(u);
	vec_fini(&info->units);
	ranges_fini(&info->ranges);
	intern_fini(&info->names);
	dwarf_end(info->dw);
	dwarf_end(info->alt);
	free(info);
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		name = dwarf_formstring(&attr);
	return name && *name ? name : NULL;
}

static void name_frame(struct dwarf_info *info, struct dwarf_unit *u, Dwarf_Die *die,
		       struct dwarf_frame *frame)
{
	frame->linkage = linkage_name(die);
	frame->name = dwarf_unit_name(u, die, &info->names);
}

/* Where an inlined subroutine was called: goes into the frame that it was inlined into. */
static void call_place(struct dwarf_unit *u, Dwarf_Die *die, struct dwarf_frame *frame)
{
	Dwarf_Attribute attr;
	Dwarf_Word n;

	frame->file = NULL;
	frame->line = 0;
	if (dwarf_attr(die, DW_AT_call_file, &attr) && !dwarf_formudata(&attr, &n))
		frame->file = dwarf_unit_file(u, n);
	if (frame->file && dwarf_attr(die, DW_AT_call_line, &attr) && !dwarf_formudata(&attr, &n) &&
	    n <= UINT32_MAX)
		frame->line = (uint32_t)n;
}

static int find_in_unit(struct dwarf_info *info, struct dwarf_unit *u, uint64_t address,
			struct dwarf_frame *frames, int max)
{
	Dwarf_Die function, inlines[INLINES_MAX];
	struct dwarf_frame innermost = { 0 };
	bool has_line = dwarf_unit_line(u, address, &innermost.file, &innermost.line);
	uint64_t entry;
	int nr;

	frames[0] = innermost;
	if (!dwarf_unit_function(u, info->dw, &info->budget, address, &function, &entry))
		return has_line;
	nr = dwarf_unit_inlines(&function, &info->budget, address, inlines,
				max - 1 < INLINES_MAX ? max - 1 : INLINES_MAX);
	for (int i = 0; i < nr; i++) {	/* inlines are outermost first */
		struct dwarf_frame *inner = &frames[nr - 1 - i], *outer = &frames[nr - i];

		*inner = (struct dwarf_frame){ .inlined = true };
		name_frame(info, u, &inlines[i], inner);
		call_place(u, &inlines[i], outer);
	}
	frames[0].file = innermost.file;
	frames[0].line = innermost.line;
	frames[nr].entry = entry;
	frames[nr].inlined = false;
	name_frame(info, u, &function, &frames[nr]);
	return nr + 1;
}

int dwarf_info_find(struct dwarf_info *info, uint64_t address, struct dwarf_frame *frames, int max)
{
	const struct range *r = ranges_find(&info->ranges, address);
	struct dwarf_unit *u;
	size_t before;
	int nr;

	if (!r || max < 1 || info->budget.spent)
		return 0;
	u = &info->units.v[r->value];
	before = u->nr_lines * BYTES_PER_LINE + u->functions.list.nr * sizeof(struct range);
	dwarf_budget_begin(&info->budget, BUDGET_LOOKUP_NS);
	errno = 0;
	nr = find_in_unit(info, u, address, frames, max);
	heed(info, u->no_memory ? -ENOMEM : elf_file_trouble());
	dwarf_budget_end(&info->budget);
	info->bytes += u->nr_lines * BYTES_PER_LINE + u->functions.list.nr * sizeof(struct range) -
		       before;
	return nr;
}

size_t dwarf_info_bytes(const struct dwarf_info *info)
{
	return info->bytes;
}

Dwarf *dwarf_info_main(const struct dwarf_info *info)
{
	return info->dw;
}

Dwarf *dwarf_info_alt(const struct dwarf_info *info)
{
	return info->alt;
}

bool dwarf_info_function(struct dwarf_info *info, uint64_t address, Dwarf_Die *function)
{
	const struct range *r = ranges_find(&info->ranges, address);
	uint64_t entry;
	bool found;

	if (!r || info->budget.spent)
		return false;
	dwarf_budget_begin(&info->budget, BUDGET_LOOKUP_NS);
	found = dwarf_unit_function(&info->units.v[r->value], info->dw, &info->budget, address,
				    function, &entry);
	dwarf_budget_end(&info->budget);
	return found;
}

const char *dwarf_info_directory(const struct dwarf_info *info, uint64_t address)
{
	const struct range *r = ranges_find(&info->ranges, address);
	Dwarf_Attribute attr;

	if (!r || info->budget.spent)
		return NULL;
	return dwarf_formstring(dwarf_attr(&info->units.v[r->value].die, DW_AT_comp_dir, &attr));
}

void dwarf_info_variables(struct dwarf_info *info, struct dwarf_vars *vars)
{
	dwarf_budget_begin(&info->budget, BUDGET_NS + BUDGET_BYTE_NS * info->file->size_bytes);
	errno = 0;
	dwarf_vars_build(vars, info->dw, &info->budget);
	heed(info, vars->no_memory ? -ENOMEM : elf_file_trouble());
	dwarf_budget_end(&info->budget);
}

const char *dwarf_info_declared(Dwarf_Die *die, uint32_t *line)
{
	const char *file = dwarf_decl_file(die);
	int n;

	*line = file && !dwarf_decl_line(die, &n) && n > 0 ? (uint32_t)n : 0;
	return file;
}
