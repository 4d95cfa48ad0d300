/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was found in a process's symbols.
 */
#include "src/entries/entries_scan.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "src/entries/entries_custom.h"

static void candidate_add(struct scan *s, const struct candidate *c,
			  const struct object_symbol *symbol)
{
	struct candidate copy = *c;

	copy.object = s->object;
	copy.local = s->local;
	copy.address = symbol->address;
	copy.size = symbol->size;
	copy.type = symbol->type;
	copy.symbol = strdup(symbol->name);
	if (!copy.symbol || vec_push(&s->found, copy)) {
		free(copy.symbol);
		s->error = -ENOMEM;
	}
}

static void symbol_custom(struct scan *s, const struct object_symbol *symbol)
{
	for (size_t i = 0; i < s->nr_custom; i++) {
		struct candidate c = { .custom = &s->custom[i] };

		if (entries_custom_names(&s->custom[i], symbol->name) &&
		    entries_custom_object(&s->custom[i], &s->objects.v[s->object])) {
			s->custom_found[i] = true;
			candidate_add(s, &c, symbol);
		}
	}
}

void scan_symbol(void *scan, const struct object_symbol *symbol)
{
	struct scan *s = scan;
	struct candidate c = { 0 };

	if (s->nr_custom && symbol->type != STT_OBJECT)
		symbol_custom(s, symbol);
	c.name = s->only_custom ? NULL : entries_names_find(&s->names, symbol->name, &c.prefix);
	/*
	 * a local function named free can be anything, but linking statically also makes the C
	 * library's local
	 */
	if (!c.name || (s->local && s->objects.v[s->object].has_loader &&
			(c.prefix == NAMES_PUBLIC || c.prefix == NAMES_LIBC) && c.name->role))
		return;
	s->marks[s->object] |= c.name->mark;
	if (c.name->info && !s->info[c.name->info])
		s->info[c.name->info] = symbol->address;
	if (c.name->role && (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC ||
			     symbol->type == STT_NOTYPE))
		candidate_add(s, &c, symbol);
}

bool candidate_is(const struct candidate *c, const char *name)
{
	return c->name && c->prefix == NAMES_PUBLIC && !strcmp(c->name->name, name);
}

bool scan_has_allocator(const struct scan *s)
{
	bool allocates = false, releases = false;

	for (size_t i = 0; i < s->found.nr; i++) {
		const struct candidate *c = &s->found.v[i];

		if (!c->name || s->marks[c->object] & NAMES_MARK_LOADER)
			continue;
		allocates |= c->name->role == PMM_ROLE_MALLOC;
		releases |= c->name->role == PMM_ROLE_FREE;
	}
	return allocates && releases;
}

static int read_dynamic(struct scan *s)
{
	for (s->object = 0; !s->error && s->object < s->objects.nr; s->object++) {
		const struct object *o = &s->objects.v[s->object];

		if (object_symbols(&s->objects, o, scan_symbol, s) == -ENOMEM)
			s->error = -ENOMEM;
	}
	return s->error;
}

int scan_read(pid_t pid, const struct entries_custom *custom, size_t nr_custom, struct scan *s,
	      struct err *e)
{
	int rc;

	*s = (struct scan){ .custom = custom, .nr_custom = nr_custom };
	rc = objects_open(pid, &s->objects, e);
	if (rc)
		return rc;
	s->marks = calloc(s->objects.nr + 1, sizeof(*s->marks));
	s->custom_found = calloc(nr_custom + 1, sizeof(*s->custom_found));
	s->files = malloc(sizeof(*s->files));
	if (s->files)
		filecode_init(s->files, pid);
	if (!s->marks || !s->custom_found || !s->files || entries_names_init(&s->names))
		return err_set(e, -ENOMEM, "out of memory");
	rc = jumps_read(pid, &s->jumps, e);
	if (rc)
		return rc;
	rc = read_dynamic(s);
	if (!rc)
		rc = scan_files(s);
	if (rc == -ENOMEM)
		return err_set(e, rc, "out of memory");
	return rc ? err_set(e, rc, "the functions of process %d cannot be looked for: %s", (int)pid,
			    strerror(-rc))
		  : 0;
}

int scan_code(const struct scan *s, uint64_t at, void *to, size_t bytes)
{
	int rc = objects_read(&s->objects, at, to, bytes);
	uint8_t *file;

	if (rc)
		return rc;
	file = malloc(bytes);
	if (!file)
		return -ENOMEM;
	jumps_lift(&s->jumps, at, to, bytes);
	filecode_mend(to, bytes, file, filecode_read(s->files, at, file, bytes));
	free(file);
	return 0;
}

void scan_fini(struct scan *s)
{
	vec_each(&s->found, c)
		free(c->symbol);
	vec_fini(&s->found);
	free(s->marks);
	free(s->custom_found);
	str_fini(&s->looked);
	entries_names_fini(&s->names);
	if (s->files)
		filecode_fini(s->files);
	free(s->files);
	jumps_fini(&s->jumps);
	objects_close(&s->objects);
}
