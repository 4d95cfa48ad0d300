/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_programs PID: the BPF maps, programs and links that a process holds, a line "map 12" each.
 * bpf_programs: how many of those on standard input are in the kernel yet. Root.
 */
#include <dirent.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name, *format;
	int command;
} sorts[] = {
	{ "map", "map_id: %u", BPF_MAP_GET_FD_BY_ID },
	{ "prog", "prog_id: %u", BPF_PROG_GET_FD_BY_ID },
	{ "link", "link_id: %u", BPF_LINK_GET_FD_BY_ID },
};

#define NR_SORTS (sizeof(sorts) / sizeof(sorts[0]))

/* A link's file names its program, too: the first id that fits is printed. */
static void print_held(const char *path)
{
	unsigned id, found[NR_SORTS] = { 0 };
	FILE *f = fopen(path, "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		for (unsigned i = 0; i < NR_SORTS; i++)
			if (sscanf(line, sorts[i].format, &id) == 1)
				found[i] = id;
	if (f)
		fclose(f);
	for (unsigned i = 0; i < NR_SORTS; i++)
		if (found[i])
			printf("%s %u\n", sorts[i].name, found[i]);
}

static int print_all(const char *pid)
{
	char path[512];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo", pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, d->d_name);
		print_held(path);
	}
	return 0;
}

static int is_there(const char *name, unsigned id)
{
	union bpf_attr attr;
	int fd = -1;

	memset(&attr, 0, sizeof(attr));
	attr.map_id = id;		/* the first member of each */
	for (unsigned i = 0; i < NR_SORTS; i++)
		if (!strcmp(sorts[i].name, name))
			fd = (int)syscall(SYS_bpf, sorts[i].command, &attr, sizeof(attr));
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int main(int argc, char **argv)
{
	unsigned id, nr = 0;
	char name[8];

	if (argc > 1)
		return print_all(argv[1]);
	while (scanf("%7s %u", name, &id) == 2)
		nr += is_there(name, id);
	printf("%u\n", nr);
	return 0;
}
