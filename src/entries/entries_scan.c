/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was found in a process's symbols.
 */
#include "src/entries/entries_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	return rc ? err_set(e, rc, "the functions of process %d cannot be searched for: %s",
			    (int)pid, strerror(-rc))
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
