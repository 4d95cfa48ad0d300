/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types as DWARF has them. Files are outside data: types that contain themselves, or are nested
 * without end, use up the steps.
 */
#include "src/symbol/dwarftype.h"

#include <dwarf.h>
#include <inttypes.h>
#include <string.h>

#define DIMENSIONS	4
#define NAME_DEPTH	8

static bool step(struct dwarf_types *t)
{
	return t->steps && --t->steps;
}

static bool is_aggregate(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static void define(struct dwarf_types *t, Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);
	uint64_t die;

	if (!is_aggregate(dwarf_tag(type)) || !dwarf_hasattr(type, DW_AT_declaration) || !name ||
	    !t->vars)
		return;
	die = dwarf_vars_type(t->vars, name);
	if (die)
		dwarf_offdie(t->main, die, type);
}

bool dwarf_type_of(struct dwarf_types *t, Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	int tag;

	if (!dwarf_attr_integrate(die, DW_AT_type, &attr) || !dwarf_formref_die(&attr, type))
		return false;
	while (step(t)) {
		tag = dwarf_tag(type);
		if (tag != DW_TAG_typedef && tag != DW_TAG_const_type &&
		    tag != DW_TAG_volatile_type && tag != DW_TAG_restrict_type &&
		    tag != DW_TAG_atomic_type) {
			define(t, type);
			return true;
		}
		if (!dwarf_attr_integrate(type, DW_AT_type, &attr) ||
		    !dwarf_formref_die(&attr, type))
			return false;
	}
	return false;
}

uint64_t dwarf_type_bytes(Dwarf_Die *type)
{
	Dwarf_Word bytes;

	return dwarf_aggregate_size(type, &bytes) ? 0 : bytes;
}

static bool is_pointer(int tag)
{
	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type;
}

/* Elements in each dimension, the outermost first; 0 = any number. Their number. */
static unsigned dimensions(Dwarf_Die *array, uint64_t *nr)
{
	unsigned n = 0;
	Dwarf_Die range;

	if (dwarf_child(array, &range))
		return 0;
	do {
		Dwarf_Attribute attr;
		Dwarf_Word value;

		if (dwarf_tag(&range) != DW_TAG_subrange_type)
			continue;
		nr[n] = 0;
		if (dwarf_attr(&range, DW_AT_count, &attr) && !dwarf_formudata(&attr, &value))
			nr[n] = value;
		else if (dwarf_attr(&range, DW_AT_upper_bound, &attr) &&
			 !dwarf_formudata(&attr, &value) && value < UINT64_MAX)
			nr[n] = value + 1;
		n++;
	} while (n < DIMENSIONS && !dwarf_siblingof(&range, &range));
	return n;
}

/* The element that an offset is in; what is left is the offset in that. */
static bool enter_array(struct dwarf_types *t, Dwarf_Die *type, uint64_t *offset, struct str *path)
{
	uint64_t nr[DIMENSIONS], bytes, index, stride = 1;
	Dwarf_Die element;
	unsigned n;

	if (!dwarf_type_of(t, type, &element))
		return false;
	bytes = dwarf_type_bytes(&element);
	n = dimensions(type, nr);
	if (!bytes || !n)
		return false;
	index = *offset / bytes;
	*offset %= bytes;
	for (unsigned i = 1; i < n; i++)
		stride = nr[i] && stride <= UINT64_MAX / nr[i] ? stride * nr[i] : 0;
	for (unsigned i = 0; i < n && stride; i++) {
		str_addf(path, "[%" PRIu64 "]", index / stride);
		index %= stride;
		if (i + 1 < n)
			stride /= nr[i + 1];
	}
	*type = element;
	return true;
}

static uint64_t member_offset(Dwarf_Die *member)
{
	Dwarf_Attribute attr;
	Dwarf_Word value = 0;

	return dwarf_attr(member, DW_AT_data_member_location, &attr) &&
			       !dwarf_formudata(&attr, &value)
		       ? value
		       : 0;
}

/* Does a member cover an offset? One without a size (a flexible array) covers all behind it. */
static bool covers(struct dwarf_types *t, Dwarf_Die *member, uint64_t offset, Dwarf_Die *type)
{
	int tag = dwarf_tag(member);
	uint64_t at, bytes;

	if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
	    dwarf_hasattr(member, DW_AT_external) || dwarf_hasattr(member, DW_AT_bit_size) ||
	    !dwarf_type_of(t, member, type))
		return false;
	at = member_offset(member);
	if (offset < at)
		return false;
	bytes = dwarf_type_bytes(type);
	return bytes ? offset - at < bytes : dwarf_tag(type) == DW_TAG_array_type;
}

static bool at_offset(struct dwarf_types *t, Dwarf_Die type, uint64_t offset, struct str *path,
		      Dwarf_Die *pointee, uint64_t *rest, unsigned depth);

/*
 * Of a union's members the first one in which there is a pointer; of a structure's the one there.
 */
static bool enter_members(struct dwarf_types *t, Dwarf_Die *aggregate, uint64_t offset,
			  struct str *path, Dwarf_Die *pointee, uint64_t *rest, unsigned depth)
{
	Dwarf_Die member, type;
	size_t len = path->len;

	if (dwarf_child(aggregate, &member))
		return false;
	do {
		const char *name;

		if (!step(t))
			return false;
		if (!covers(t, &member, offset, &type))
			continue;
		if (path->s)
			path->s[path->len = len] = '\0';
		name = dwarf_tag(&member) == DW_TAG_member ? dwarf_diename(&member) : NULL;
		if (name) {
			str_addc(path, '.');
			str_addn(path, name, strnlen(name, DWARF_NAME_MAX));
		}
		if (at_offset(t, type, offset - member_offset(&member), path, pointee, rest,
			      depth + 1))
			return true;
	} while (!dwarf_siblingof(&member, &member));
	return false;
}

static bool at_offset(struct dwarf_types *t, Dwarf_Die type, uint64_t offset, struct str *path,
		      Dwarf_Die *pointee, uint64_t *rest, unsigned depth)
{
	*rest = offset;
	while (step(t) && depth < 16) {
		int tag = dwarf_tag(&type);

		if (tag == DW_TAG_array_type) {
			if (!enter_array(t, &type, &offset, path))
				return false;
			*rest = offset;
		} else if (is_aggregate(tag)) {
			return enter_members(t, &type, offset, path, pointee, rest, depth);
		} else if (is_pointer(tag) && !offset) {
			if (!dwarf_type_of(t, &type, pointee))
				pointee->addr = NULL;
			*rest = 0;
			return true;
		} else {
			return false;
		}
	}
	return false;
}

bool dwarf_type_pointer(struct dwarf_types *t, Dwarf_Die *type, uint64_t offset, struct str *path,
			Dwarf_Die *pointee, uint64_t *rest)
{
	pointee->addr = NULL;
	return at_offset(t, *type, offset, path, pointee, rest, 0);
}

bool dwarf_type_is_open(struct dwarf_types *t, Dwarf_Die *type)
{
	uint64_t nr[DIMENSIONS] = { 1 };
	Dwarf_Die member, of;
	bool open = false;

	if (!is_aggregate(dwarf_tag(type)) || dwarf_child(type, &member))
		return false;
	do {
		if (dwarf_tag(&member) == DW_TAG_member && step(t) &&
		    dwarf_type_of(t, &member, &of))
			open = dwarf_tag(&of) == DW_TAG_array_type && dimensions(&of, nr) && !nr[0];
	} while (t->steps && !dwarf_siblingof(&member, &member));
	return open;
}

/* ---- names ---- */

static void name_plain(Dwarf_Die *type, struct str *to)
{
	const char *name = dwarf_diename(type);
	int tag = dwarf_tag(type);

	if (tag == DW_TAG_structure_type)
		str_add(to, "struct ");
	else if (tag == DW_TAG_union_type)
		str_add(to, "union ");
	else if (tag == DW_TAG_class_type)
		str_add(to, "class ");
	else if (tag == DW_TAG_enumeration_type)
		str_add(to, "enum ");
	if (tag == DW_TAG_subroutine_type)
		str_add(to, "function");
	else if (name)
		str_addn(to, name, strnlen(name, DWARF_NAME_MAX));
	else
		str_add(to, "(unnamed)");
}

void dwarf_type_name(Dwarf_Die *type, struct str *to)
{
	struct dwarf_types t = { .steps = 256 };
	char after[2 * NAME_DEPTH + 1] = "";
	Dwarf_Die at = *type, inner;
	unsigned n = 0;

	while (n < 2 * NAME_DEPTH) {
		int tag = dwarf_tag(&at);

		if (is_pointer(tag)) {
			after[n++] = tag == DW_TAG_pointer_type ? '*' : '&';
		} else if (tag == DW_TAG_array_type) {
			after[n++] = '[';
		} else {
			name_plain(&at, to);
			break;
		}
		if (!dwarf_type_of(&t, &at, &inner)) {
			str_add(to, "void");
			break;
		}
		at = inner;
	}
	if (n)
		str_addc(to, ' ');
	while (n--)
		str_add(to, after[n] == '[' ? "[]" : after[n] == '*' ? "*" : "&");
}
