/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slabinfo(5), version 2.1: a line for each cache. */
#include "src/kernel/slabinfo.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int add_line(struct slabinfo *s, const char *line)
{
	unsigned long long used, objects, bytes, pages_per_slab, slabs;
	struct slab_cache c = { 0 };
	const char *data = strstr(line, ": slabdata");

	if (!data ||
	    sscanf(line, "%39s %llu %llu %llu %*u %llu", c.name, &used, &objects, &bytes,
		   &pages_per_slab) != 5 ||
	    sscanf(data, ": slabdata %*u %llu", &slabs) != 1)
		return -EINVAL;
	c.used = used;
	c.objects = objects;
	c.object_bytes = bytes;
	c.slabs = slabs;
	c.slab_bytes = pages_per_slab * (uint64_t)sysconf(_SC_PAGESIZE);
	return vec_push(&s->v, c);
}

static int by_name(const void *a, const void *b)
{
	const struct slab_cache *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Comments, the version and empty lines are no caches. */
static bool is_heading(const char *line)
{
	return !*line || *line == '#' || !strncmp(line, "slabinfo", 8);
}

int slabinfo_parse(struct slabinfo *s, char *text, struct err *e)
{
	char *rest;

	s->v.nr = 0;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		int rc = is_heading(line) ? 0 : add_line(s, line);

		if (rc == -ENOMEM)
			return err_set(e, rc, "out of memory");
		if (rc)
			return err_set(e, rc, "/proc/slabinfo has a form that pmm does not know");
	}
	vec_sort(&s->v, by_name);
	return 0;
}

static int read_all(FILE *f, char **text)
{
	size_t room = 0, nr = 0, got;
	char *grown;

	*text = NULL;
	do {
		grown = vec_grow(*text, &room, nr + 65536, 1);
		if (!grown)
			return -ENOMEM;
		*text = grown;
		got = fread(*text + nr, 1, room - nr - 1, f);
		nr += got;
	} while (got);
	(*text)[nr] = '\0';
	return ferror(f) ? -EIO : 0;
}

int slabinfo_read(struct slabinfo *s, struct err *e)
{
	FILE *f = fopen("/proc/slabinfo", "re");
	char *text = NULL;
	int rc;

	s->v.nr = 0;
	if (!f) {
		rc = -errno;
		err_set(e, rc, "/proc/slabinfo cannot be read: %s", strerror(-rc));
		if (rc == -EACCES)
			err_hint(e, "run pmm as root");
		return rc;
	}
	rc = read_all(f, &text);
	fclose(f);
	rc = rc ? err_set(e, rc, "/proc/slabinfo cannot be read: %s", strerror(-rc))
		: slabinfo_parse(s, text, e);
	free(text);
	return rc;
}

const struct slab_cache *slabinfo_find(const struct slabinfo *s, const char *name)
{
	size_t i = vec_while(&s->v, c, strcmp(c->name, name) < 0);

	return i < s->v.nr && !strcmp(s->v.v[i].name, name) ? &s->v.v[i] : NULL;
}

void slabinfo_fini(struct slabinfo *s)
{
	vec_fini(&s->v);
}
