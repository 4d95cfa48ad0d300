/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One DWARF compilation unit, indexed on first use: where its functions are, their scopes, its
 * lines.
 *
 * The index looks into namespaces and classes but not into functions; only when an address is in
 * none of the functions found is the unit walked again to the bottom (functions of local classes).
 * DIE trees are stored in order of a walk, so a DIE that is not further on than all before it
 * is damage and ends the walk, which keeps walks linear; so do too deep nesting and the budget.
 * (libdw itself refuses siblings that point backwards.)
 */
#include "src/symbol/dwarfunit.h"

#include <dwarf.h>
#include <string.h>
#include <time.h>

#include "src/base/nanotime.h"
#include "src/base/str.h"

#define DEPTH_MAX	128
#define ORIGINS_MAX	16
#define BROKEN		UINT64_MAX
#define NAME_MAX_BYTES	8192
#define LOOK_NS		10000000ull	/* between two looks at what a budget has used */

struct walk {
	struct dwarf_unit *unit;
	Dwarf_Off last;			/* the furthest DIE seen */
	struct dwarf_budget *budget;
	bool deep;
};

void dwarf_budget_begin(struct dwarf_budget *b, uint64_t more_ns)
{
	b->limit_ns += more_ns;
	b->start_ns = nanotime_of(CLOCK_THREAD_CPUTIME_ID);
}

void dwarf_budget_end(struct dwarf_budget *b)
{
	b->used_ns += nanotime_of(CLOCK_THREAD_CPUTIME_ID) - b->start_ns;
	if (b->used_ns > b->limit_ns)
		b->spent = true;
}

/*
 * A step takes nanoseconds as a rule, and a good part of a second where a file is made for that.
 * The coarse clock costs no system call.
 */
bool dwarf_budget_step(struct dwarf_budget *b)
{
	uint64_t now_ns = nanotime_of(CLOCK_MONOTONIC_COARSE);

	if (now_ns < b->next_ns)
		return !b->spent;
	b->next_ns = now_ns + LOOK_NS;
	if (b->used_ns + (nanotime_of(CLOCK_THREAD_CPUTIME_ID) - b->start_ns) > b->limit_ns ||
	    stop_asked(&b->stop))
		b->spent = true;
	return !b->spent;
}

/* Is the DIE further on than all seen before? If not, BROKEN ends all loops of this walk. */
static bool advance(Dwarf_Off *last, Dwarf_Die *die)
{
	Dwarf_Off at = dwarf_dieoffset(die);

	*last = at > *last ? at : BROKEN;
	return *last != BROKEN;
}

static bool first_child(Dwarf_Off *last, Dwarf_Die *die, Dwarf_Die *child)
{
	return *last != BROKEN && !dwarf_child(die, child) && advance(last, child);
}

static bool next_sibling(Dwarf_Off *last, Dwarf_Die *die)
{
	return *last != BROKEN && !dwarf_siblingof(die, die) && advance(last, die);
}

static void add_function(struct walk *w, Dwarf_Die *die)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;

	if (!dwarf_hasattr(die, DW_AT_low_pc) && !dwarf_hasattr(die, DW_AT_ranges))
		return;
	while (dwarf_budget_step(w->budget) && (at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0) {
		if (elf_file_is_code(w->unit->file, lo) &&
		    ranges_add(&w->unit->functions, lo, hi, dwarf_dieoffset(die))) {
			w->unit->no_memory = true;
			return;
		}
	}
}

static int32_t add_scope(struct walk *w, Dwarf_Die *die, int32_t parent)
{
	struct dwarf_unit *u = w->unit;
	const char *name = dwarf_diename(die);

	if (!name)
		name = dwarf_tag(die) == DW_TAG_namespace ? "(anonymous namespace)" : "{unnamed}";
	if (vec_push(&u->scopes, (struct dwarf_scope){ .begin = dwarf_dieoffset(die),
						       .end = UINT64_MAX,
						       .name = name,
						       .parent = parent })) {
		u->no_memory = true;
		return -1;
	}
	return (int32_t)u->scopes.nr - 1;
}

static void walk_children(struct walk *w, Dwarf_Die *die, int32_t scope, int depth);

static void walk_one(struct walk *w, Dwarf_Die *die, int32_t scope, int depth)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		add_function(w, die);
		/* fall through */
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
		if (w->deep)
			walk_children(w, die, scope, depth + 1);
		break;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		if (dwarf_haschildren(die) > 0)
			walk_children(w, die, add_scope(w, die, scope), depth + 1);
		break;
	default:
		break;
	}
}

static void walk_children(struct walk *w, Dwarf_Die *die, int32_t scope, int depth)
{
	Dwarf_Die child;

	if (depth > DEPTH_MAX || !first_child(&w->last, die, &child))
		return;
	while (dwarf_budget_step(w->budget)) {
		size_t nr_scopes = w->unit->scopes.nr;

		walk_one(w, &child, scope, depth);
		if (!next_sibling(&w->last, &child))
			break;
		if (w->unit->scopes.nr > nr_scopes && w->unit->scopes.v[nr_scopes].parent == scope)
			w->unit->scopes.v[nr_scopes].end = dwarf_dieoffset(&child);
	}
}

static void build_index(struct dwarf_unit *u, struct dwarf_budget *b, bool deep)
{
	struct walk w = { .unit = u, .last = dwarf_dieoffset(&u->die), .budget = b, .deep = deep };

	u->functions.list.nr = 0;
	u->scopes.nr = 0;
	walk_children(&w, &u->die, -1, 0);
	ranges_sort(&u->functions);
	u->indexed = true;
	u->deep = deep;
}

bool dwarf_unit_function(struct dwarf_unit *u, Dwarf *dw, struct dwarf_budget *b, uint64_t address,
			 Dwarf_Die *die, uint64_t *entry)
{
	const struct range *r;

	if (!u->indexed)
		build_index(u, b, false);
	r = ranges_find(&u->functions, address);
	if (!r && !u->deep && !b->spent) {
		build_index(u, b, true);
		r = ranges_find(&u->functions, address);
	}
	if (!r || !dwarf_offdie(dw, r->value, die))
		return false;
	*entry = r->lo;
	return true;
}

struct chain {
	struct dwarf_budget *budget;
	uint64_t address;
	Dwarf_Off last;			/* the furthest DIE seen */
	Dwarf_Die *inlines;
	int nr, max;
};

/* Does the chain continue through one of the children? */
static bool follow(struct chain *c, Dwarf_Die *die, int depth)
{
	Dwarf_Die child;

	if (depth > DEPTH_MAX || c->nr == c->max || !first_child(&c->last, die, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);
		bool block = tag == DW_TAG_lexical_block;
		bool bare = block && !dwarf_hasattr(&child, DW_AT_low_pc) &&
			    !dwarf_hasattr(&child, DW_AT_ranges);

		if (!bare && ((!block && tag != DW_TAG_inlined_subroutine) ||
			      dwarf_haspc(&child, c->address) <= 0))
			continue;
		if (!block)
			c->inlines[c->nr++] = child;
		if (follow(c, &child, depth + 1) || !bare)
			return true;
	} while (dwarf_budget_step(c->budget) && next_sibling(&c->last, &child));
	return false;
}

int dwarf_unit_inlines(Dwarf_Die *function, struct dwarf_budget *b, uint64_t address,
		       Dwarf_Die *inlines, int max)
{
	struct chain c = {
		.budget = b,
		.address = address,
		.last = dwarf_dieoffset(function),
		.inlines = inlines,
		.max = max,
	};

	follow(&c, function, 0);
	return c.nr;
}

/* Is the line program of a unit of a size that makes sense? */
static bool lines_fit(struct dwarf_unit *u)
{
	GElf_Shdr header;
	Elf_Scn *scn = elf_file_section(u->file, ".debug_line", SHT_NULL, &header);
	Elf_Data *data;
	Dwarf_Attribute attr;
	Dwarf_Word at;
	uint32_t bytes;

	if (!scn)
		scn = elf_file_section(u->file, ".zdebug_line", SHT_NULL, &header);
	data = scn ? elf_rawdata(scn, NULL) : NULL;	/* libdw has unfolded it in place */
	if (!data || !data->d_buf || !dwarf_attr(&u->die, DW_AT_stmt_list, &attr) ||
	    dwarf_formudata(&attr, &at) || at > data->d_size || data->d_size - at < sizeof(bytes))
		return false;
	/* of the 64-bit form: all ones */
	memcpy(&bytes, (const char *)data->d_buf + at, sizeof(bytes));
	return bytes <= DWARF_MAX_LINES_BYTES;
}

static void read_lines(struct dwarf_unit *u)
{
	if (u->lines_read)
		return;
	u->lines_read = true;
	if (!lines_fit(u))
		return;
	if (dwarf_getsrclines(&u->die, &u->lines, &u->nr_lines))
		u->nr_lines = 0;
	if (dwarf_getsrcfiles(&u->die, &u->files, &u->nr_files))
		u->nr_files = 0;
}

/*
 * The last row at or below the address; rows are sorted, those that end a sequence before others of
 * their address.
 */
static Dwarf_Line *find_row(struct dwarf_unit *u, uint64_t address)
{
	size_t lo = 0, hi = u->nr_lines;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		Dwarf_Addr at;

		if (dwarf_lineaddr(dwarf_onesrcline(u->lines, mid), &at))
			return NULL;
		if (at <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? dwarf_onesrcline(u->lines, lo - 1) : NULL;
}

bool dwarf_unit_line(struct dwarf_unit *u, uint64_t address, const char **file, uint32_t *line)
{
	Dwarf_Line *row;
	bool end;
	int n;

	read_lines(u);
	row = find_row(u, address);
	if (!row || dwarf_lineendsequence(row, &end) || end)
		return false;
	*file = dwarf_linesrc(row, NULL, NULL);
	*line = !dwarf_lineno(row, &n) && n > 0 ? (uint32_t)n : 0;
	return *file != NULL;
}

const char *dwarf_unit_file(struct dwarf_unit *u, uint64_t number)
{
	read_lines(u);
	return number < u->nr_files ? dwarf_filesrc(u->files, number, NULL, NULL) : NULL;
}

/* The innermost scope around a DIE: index, -1 = none. */
static int32_t scope_of(const struct dwarf_unit *u, Dwarf_Off die)
{
	int32_t found = (int32_t)vec_while(&u->scopes, scope, scope->begin < die) - 1;

	for (int32_t s = found; s >= 0; s = u->scopes.v[s].parent) {
		/* the end of a last child is not known: look at all outer ones */
		if (die >= u->scopes.v[s].end)
			found = u->scopes.v[s].parent;
	}
	return found;
}

static bool names_have_scopes(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Mips_Assembler:
	case DW_LANG_Go:
		return false;
	default:
		return true;
	}
}

/* Go from an instance to the declaration, which is where the scopes are. */
static void to_declaration(Dwarf_Die *die)
{
	for (int i = 0; i < ORIGINS_MAX; i++) {
		Dwarf_Attribute attr;
		Dwarf_Die next;

		if (!dwarf_attr(die, DW_AT_abstract_origin, &attr) &&
		    !dwarf_attr(die, DW_AT_specification, &attr))
			return;
		if (!dwarf_formref_die(&attr, &next))
			return;
		*die = next;
	}
}

static void add_scopes(struct str *s, const struct dwarf_unit *u, int32_t scope, int depth)
{
	if (scope < 0 || depth > DEPTH_MAX)
		return;
	add_scopes(s, u, u->scopes.v[scope].parent, depth + 1);
	str_add(s, u->scopes.v[scope].name);
	str_add(s, "::");
}

const char *dwarf_unit_name(struct dwarf_unit *u, Dwarf_Die *die, struct intern *names)
{
	const char *name = dwarf_diename(die);
	Dwarf_Die declaration = *die;
	struct str s = STR_INIT;
	int64_t number;
	int32_t scope;

	if (!name || !*name || !names_have_scopes(&u->die))
		return name && *name ? name : NULL;
	to_declaration(&declaration);
	scope = declaration.cu == u->die.cu ? scope_of(u, dwarf_dieoffset(&declaration)) : -1;
	if (scope < 0)
		return name;
	add_scopes(&s, u, scope, 0);
	str_add(&s, name);
	number = str_error(&s) ? -ENOMEM
			       : intern_addn(names, str_text(&s),
					     s.len < NAME_MAX_BYTES ? s.len : NAME_MAX_BYTES);
	str_fini(&s);
	u->no_memory |= number < 0;
	return number < 0 ? name : intern_text(names, (uint32_t)number);
}

void dwarf_unit_fini(struct dwarf_unit *u)
{
	ranges_fini(&u->functions);
	vec_fini(&u->scopes);
}
