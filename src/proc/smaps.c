/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mappings by their flags. */
#include "src/proc/smaps.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/str.h"

/* Is the flag one of the words of a line? */
static bool has_flag(const char *line, const char *flag)
{
	const char *at = str_starts(line, "VmFlags:") ? line + strlen("VmFlags:") : NULL;
	size_t n;

	for (; at && *at; at += n) {
		at += strspn(at, " \n");
		n = strcspn(at, " \n");
		if (n == strlen(flag) && !memcmp(at, flag, n))
			return true;
	}
	return false;
}

/*
 * The first line of a mapping ends in its file's name, which is of any length; the kernel writes a
 * newline in it as \012.
 */
int smaps_read(FILE *f, const char *flag, struct page_runs *to)
{
	struct page_run at = { 0 }, next;
	size_t room = 0;
	char *line = NULL;
	int rc = 0;

	while (!rc && getline(&line, &room, f) > 0) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &next.start, &next.end) == 2)
			at = next;
		else if (at.start < at.end && has_flag(line, flag))
			rc = vec_push(to, at);
	}
	free(line);
	return rc;
}

int smaps_flagged(pid_t pid, const char *flag, struct page_runs *to)
{
	char path[64];
	int rc = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)pid);
	f = fopen(path, "re");
	if (f) {
		rc = smaps_read(f, flag, to);
		fclose(f);
	}
	return rc;
}
