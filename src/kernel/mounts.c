/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines "ID PARENT MAJOR:MINOR ROOT POINT ...", proc_pid_mountinfo(5). */
#include "src/kernel/mounts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINOR_BITS	20

/* "\040" is a space: octal numbers of three digits. */
static void decode(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

static int add_line(struct mounts *m, char *line)
{
	unsigned major, minor;
	char *field[5], *rest;

	for (int i = 0; i < 5; i++) {
		field[i] = strtok_r(i ? NULL : line, " ", &rest);
		if (!field[i])
			return 0;
	}
	if (sscanf(field[2], "%u:%u", &major, &minor) != 2)
		return 0;
	decode(field[3]);
	decode(field[4]);
	if (vec_push(&m->v, (struct mount){ .device = major << MINOR_BITS | minor }))
		return -ENOMEM;
	vec_last(&m->v)->root = strdup(field[3]);
	vec_last(&m->v)->point = strdup(field[4]);
	return vec_last(&m->v)->root && vec_last(&m->v)->point ? 0 : -ENOMEM;
}

int mounts_parse(struct mounts *m, char *text)
{
	char *rest;
	int rc = 0;

	mounts_fini(m);
	for (char *line = strtok_r(text, "\n", &rest); line && !rc;
	     line = strtok_r(NULL, "\n", &rest))
		rc = add_line(m, line);
	return rc;
}

int mounts_read(struct mounts *m, struct err *e)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t room = 0;
	int rc = f ? 0 : -errno;

	mounts_fini(m);
	while (!rc && getline(&line, &room, f) > 0)
		rc = add_line(m, line);
	free(line);
	if (f)
		fclose(f);
	return rc ? err_set(e, rc, "/proc/self/mountinfo cannot be read: %s", strerror(-rc)) : 0;
}

/* What of `path` is below `root`; NULL: it is not below. */
static const char *below(const char *path, const char *root)
{
	size_t length = strlen(root);

	if (!strcmp(root, "/"))
		return path;
	return !strncmp(path, root, length) && (path[length] == '/' || !path[length]) ?
		       path + length : NULL;
}

bool mounts_path(const struct mounts *m, uint32_t device, const char *path, struct str *out)
{
	vec_each(&m->v, mount) {
		const char *rest = mount->device == device ? below(path, mount->root) : NULL;

		if (!rest)
			continue;
		if (strcmp(mount->point, "/"))
			str_add(out, mount->point);
		str_add(out, rest);
		return true;
	}
	str_add(out, path);
	return false;
}

void mounts_fini(struct mounts *m)
{
	vec_each(&m->v, mount) {
		free(mount->root);
		free(mount->point);
	}
	vec_fini(&m->v);
}
