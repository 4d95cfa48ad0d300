/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines "name value". */
#include "src/kernel/vmstat.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Larger than any kernel's file. */
#define FILE_BYTES	(64u << 10)

int vmstat_parse(struct vmstat *s, const char *text)
{
	struct vmstat_counter c;
	const char *end;

	s->v.nr = 0;
	for (const char *line = text; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		if (sscanf(line, "%55s %" SCNu64, c.name, &c.value) == 2 &&
		    vec_push(&s->v, c))
			return -ENOMEM;
	}
	return 0;
}

int vmstat_read(struct vmstat *s)
{
	FILE *f = fopen("/proc/vmstat", "re");
	char *text;
	size_t got;
	int rc = 0;

	s->v.nr = 0;
	if (!f)
		return -errno;
	text = malloc(FILE_BYTES + 1);
	if (text) {
		got = fread(text, 1, FILE_BYTES, f);
		text[got] = '\0';
		rc = vmstat_parse(s, text);
	}
	free(text);
	fclose(f);
	return text ? rc : -ENOMEM;
}

const struct vmstat_counter *vmstat_find(const struct vmstat *s, const char *name)
{
	vec_each(&s->v, c)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

void vmstat_fini(struct vmstat *s)
{
	vec_fini(&s->v);
}
