/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of /proc/PID, see proc(5). */
#include "src/proc/process_usage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KIB	1024u

static FILE *open_file(const char *root, pid_t pid, const char *name)
{
	char path[256];

	if ((size_t)snprintf(path, sizeof(path), "%s/proc/%d/%s", root, (int)pid, name) >=
	    sizeof(path))
		return NULL;
	return fopen(path, "re");
}

/* The name is in brackets and may have any characters: it ends with the last bracket. */
static bool take_stat(char *line, struct process_usage *out)
{
	char *name = strchr(line, '('), *end = strrchr(line, ')');
	size_t length;

	if (!name || !end || end < name)
		return false;
	length = (size_t)(end - name - 1);
	if (length >= sizeof(out->comm))
		length = sizeof(out->comm) - 1;
	memcpy(out->comm, name + 1, length);
	out->comm[length] = 0;
	return sscanf(end + 1,
		      " %*c %*d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64
		      " %*u %*u %*u %*d %*d %*d %*d %*d %*d %" SCNu64,
		      &out->minor_faults, &out->major_faults, &out->start_ticks) == 3;
}

static int read_stat(const char *root, pid_t pid, struct process_usage *out)
{
	FILE *f = open_file(root, pid, "stat");
	char line[1024];
	bool taken;

	if (!f)
		return -ESRCH;
	taken = fgets(line, sizeof(line), f) && take_stat(line, out);
	fclose(f);
	return taken ? 0 : -ESRCH;
}

/* "NAME:  123 kB" of a file; false: the file cannot be read. */
static bool read_sizes(const char *root, pid_t pid, const char *file, const char *resident,
		       const char *swapped, struct process_usage *out)
{
	FILE *f = open_file(root, pid, file);
	char line[256], name[64];
	uint64_t kib;
	bool found = false;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63[^:]: %" SCNu64, name, &kib) != 2)
			continue;
		if (!strcmp(name, resident)) {
			out->resident_bytes = kib * KIB;
			found = true;
		} else if (!strcmp(name, swapped)) {
			out->swapped_bytes = kib * KIB;
		}
	}
	if (f)
		fclose(f);
	return found;
}

static uint64_t count_mappings(const char *root, pid_t pid)
{
	FILE *f = open_file(root, pid, "maps");
	uint64_t nr = 0;
	int c;

	if (!f)
		return 0;
	while ((c = getc(f)) != EOF)
		nr += c == '\n';
	fclose(f);
	return nr;
}

int process_usage_read(const char *root, pid_t pid, bool exact, struct process_usage *out)
{
	*out = (struct process_usage){ 0 };
	if (read_stat(root, pid, out))
		return -ESRCH;
	if (!exact || !read_sizes(root, pid, "smaps_rollup", "Rss", "Swap", out))
		read_sizes(root, pid, "status", "VmRSS", "VmSwap", out);
	if (exact)
		out->nr_mappings = count_mappings(root, pid);
	return 0;
}
