/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words that a program has entrusted to the kernel: epoll's data, POSIX timers' values. */
#include "src/proc/entrusted.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/nanotime.h"
#include "src/base/str.h"

#define PAUSE_NS	1000000u	/* that reading epolls may add to the pause */
#define EPOLL_LINK	"anon_inode:[eventpoll]"

/* ---- lines ----------------------------------------------------------------------------------- */

/* A number in base 16 that a space or the line's end follows. */
static bool hexadecimal(const char *text, uint64_t *value)
{
	char *end;

	while (*text == ' ' || *text == '\t')
		text++;
	if (!isxdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 16);
	return !errno && (!*end || isspace((unsigned char)*end));
}

bool entrusted_epoll_line(const char *line, uint64_t *word)
{
	const char *data = str_starts(line, "tfd:") ? strstr(line, " data:") : NULL;

	return data && hexadecimal(data + 6, word);
}

bool entrusted_timer_line(const char *line, uint64_t *word)
{
	const char *value = str_starts(line, "signal:") ? strchr(line, '/') : NULL;

	return value && hexadecimal(value + 1, word);
}

/* The words in the lines of a file, which may be gone. 0 or -ENOMEM. */
static int read_words(struct entrusted *x, const char *path,
		      bool (*parse)(const char *, uint64_t *))
{
	FILE *f = fopen(path, "re");
	size_t room = 0;
	char *line = NULL;
	uint64_t word;
	int rc = 0;

	while (!rc && f && getline(&line, &room, f) > 0)
		if (parse(line, &word) && word)
			rc = vec_push(&x->words, word);
	if (f)
		fclose(f);
	free(line);
	return rc;
}

/* ---- epolls ---------------------------------------------------------------------------------- */

static int read_epoll(struct entrusted *x, pid_t pid, int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)pid, fd);
	return read_words(x, path, entrusted_epoll_line);
}

/* Which descriptors are epolls. */
static int find_epolls(struct entrusted *x, pid_t pid)
{
	char path[64], link[sizeof(EPOLL_LINK) + 1];
	const struct dirent *entry;
	int rc = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	d = opendir(path);
	while (!rc && d && (entry = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), entry->d_name, link, sizeof(link));

		if (n == sizeof(EPOLL_LINK) - 1 && !memcmp(link, EPOLL_LINK, (size_t)n))
			rc = vec_push(&x->epolls,
				      (struct entrusted_epoll){ .fd = atoi(entry->d_name) });
	}
	if (d)
		closedir(d);
	return rc;
}

/*
 * How long each takes is tried while the program runs. What was read of the slow ones stays: what
 * is there then and later was there meanwhile.
 */
int entrusted_before(struct entrusted *x, pid_t pid)
{
	uint64_t left_ns = PAUSE_NS;
	int rc = find_epolls(x, pid);

	for (size_t i = 0; !rc && i < x->epolls.nr; i++) {
		size_t before = x->words.nr;
		uint64_t begin_ns = nanotime(), ns;

		rc = read_epoll(x, pid, x->epolls.v[i].fd);
		ns = nanotime() - begin_ns;
		x->epolls.v[i].slow = ns > left_ns;
		if (x->epolls.v[i].slow)
			continue;
		x->words.nr = before;
		left_ns -= ns;
	}
	return rc;
}

static int read_epolls(struct entrusted *x, pid_t pid, bool slow)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < x->epolls.nr; i++)
		if (x->epolls.v[i].slow == slow)
			rc = read_epoll(x, pid, x->epolls.v[i].fd);
	return rc;
}

int entrusted_stopped(struct entrusted *x, pid_t pid)
{
	char path[64];
	int rc = read_epolls(x, pid, false);

	snprintf(path, sizeof(path), "/proc/%d/timers", (int)pid);
	return rc ? rc : read_words(x, path, entrusted_timer_line);
}

int entrusted_after(struct entrusted *x, pid_t pid)
{
	return read_epolls(x, pid, true);
}

void entrusted_fini(struct entrusted *x)
{
	vec_fini(&x->words);
	vec_fini(&x->epolls);
}
