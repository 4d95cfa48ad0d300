/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where functions are patched, and what their files have there.
 *
 * Of a function that begins with a jump only the displacement can be overwritten, and as long as a
 * uprobe is set on it the kernel goes where the file says (detour.c). musl's malloc, free and
 * realloc are such: all that they do is to jump to what does the work. That is patched instead,
 * unless it is a function of its own that is patched anyway. Calls of it from inside the library
 * are seen then, too; of them the outermost counts.
 */
#include <errno.h>
#include <string.h>

#include "src/entries/detour.h"
#include "src/entries/entries_scan.h"

#define PADDING	16u

static int code_read(void *arg, uint64_t at, void *to, size_t bytes)
{
	return scan_code(arg, at, to, bytes);
}

static const struct object *object_of(const struct scan *s, const struct entry_found *f)
{
	for (size_t i = 0; i < s->objects.nr; i++)
		if (s->objects.v[i].start == f->module_start)
			return &s->objects.v[i];
	return NULL;
}

static struct detour_function function_of(const struct entry_found *f, const uint8_t *code,
					  size_t nr)
{
	return (struct detour_function){ .address = f->begin,
					 .code = code,
					 .nr_code = nr,
					 .size = f->begin_size < nr ? f->begin_size : 0,
					 .keep = 0 };
}

/*
 * The place in the same object that the function jumps to at once; no other code has the function's
 * own.
 */
static uint64_t leads_to(const struct scan *s, const struct entry_found *f)
{
	const struct object *o = object_of(s, f);
	uint8_t code[PADDING];
	struct detour_function function = function_of(f, code, sizeof(code));
	uint64_t to;

	if (f->refused || !o || scan_code(s, f->address, code, sizeof(code)))
		return 0;
	to = detour_leads(&function, code_read, (void *)s);
	if (to < o->code_start || to >= o->code_end || to == f->address)
		return 0;
	return f->arg_size < 0 && f->arg_pointer < 0 && f->kind != PMM_KIND_OTHER ? to
	       : to - f->address < f->size					  ? to
										  : 0;
}

/* Is it one of the functions, or what another one leads to as well? */
static bool is_shared(const struct entries *found, const uint64_t *to, size_t i)
{
	for (size_t k = 0; k < found->nr; k++)
		if (found->v[k].address == to[i] || (k != i && to[k] == to[i]))
			return true;
	return false;
}

static int read_file(const struct scan *s, struct entry_found *f)
{
	size_t nr = detour_code_bytes(f->begin_size);

	nr = nr < f->module_end - f->begin ? nr : f->module_end - f->begin;
	f->file = malloc(nr + 1);
	if (!f->file)
		return -ENOMEM;
	f->nr_file = filecode_read(s->files, f->begin, f->file, nr);
	return 0;
}

static void find_area(const struct scan *s, struct entry_found *f)
{
	uint8_t code[2 * PADDING];
	struct detour_function function = function_of(f, code, sizeof(code));

	if (!scan_code(s, f->begin, code, sizeof(code)))
		detour_area(&function, &f->area_low, &f->area_high);
}

int scan_begins(const struct scan *s, struct entries *found)
{
	uint64_t *to = calloc(found->nr + 1, sizeof(*to));
	int rc = to ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < found->nr; i++) {
		found->v[i].begin = found->v[i].address;
		found->v[i].begin_size = found->v[i].size;
		to[i] = leads_to(s, &found->v[i]);
	}
	for (size_t i = 0; !rc && i < found->nr; i++) {
		struct entry_found *f = &found->v[i];

		if (to[i] && !is_shared(found, to, i)) {
			f->begin = to[i];
			f->begin_size = to[i] - f->address < f->size ? f->address + f->size - to[i]
								     : 0;
		}
		find_area(s, f);
		rc = read_file(s, f);
	}
	free(to);
	return rc;
}
