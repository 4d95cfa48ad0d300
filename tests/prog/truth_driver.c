/* SPDX-License-Identifier: GPL-2.0-or-later
 * Drivers of victims that keep a truth of their blocks: truth_driver.h.
 */
#include "tests/prog/truth_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NR_PRINTED	8

void (*truth_end)(void);

bool truth_arguments(int argc, char **argv, struct truth_cases *c)
{
	*c = (struct truth_cases){ .nr = argc > 5 ? (unsigned)atoi(argv[4]) : 0 };
	if (!c->nr || chdir(argv[3])) {
		fprintf(stderr, "usage: %s PMM VICTIM DIRECTORY CASES SEED [FIRST [TURNS]]\n",
			program_invocation_short_name);
		return false;
	}
	c->pmm = argv[1];
	c->victim = argv[2];
	c->seed = strtoull(argv[5], NULL, 10);
	c->first = argc > 6 ? (unsigned)atoi(argv[6]) : 0;
	c->turns = argc > 7 ? argv[7] : NULL;
	return true;
}

void *truth_new(const char *name, size_t bytes)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	void *p;

	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		truth_fail("no truth: %s", strerror(errno));
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		truth_fail("no memory for the truth");
	close(fd);
	return p;
}

static void print(const char *format, va_list args)
{
	vprintf(format, args);
	putchar('\n');
}

void truth_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(format, args);
	va_end(args);
	if (truth_end)
		truth_end();
	exit(1);
}

void truth_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(format, args);
	va_end(args);
}

void truth_wrong(unsigned *nr_wrong, const char *format, ...)
{
	va_list args;

	if ((*nr_wrong)++ >= NR_PRINTED)
		return;
	va_start(args, format);
	print(format, args);
	va_end(args);
}

void truth_nap_us(unsigned us)
{
	nanosleep(&(struct timespec){ .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L }, NULL);
}

void truth_wait(unsigned *ms, const char *what)
{
	if ((*ms)++ > TRUTH_PATIENCE_MS)
		truth_fail("in vain: %s", what);
	truth_nap_us(1000);
}

/* Which function begins last before the address; -1: none. */
static int function_at(const struct truth_code *code, uint64_t pc)
{
	int found = -1;

	for (unsigned k = 0; k < code->nr_leaves + code->nr_links && pc < code->end; k++)
		if (code->starts[k] <= pc && (found < 0 || code->starts[k] > code->starts[found]))
			found = (int)k;
	return found;
}

uint32_t truth_group(const struct truth_code *code, const struct heap *h, const struct heap_site *s)
{
	const struct heap_node *n = &h->nodes[s->node];
	int leaf = function_at(code, n->pc);
	int link = function_at(code, h->nodes[n->parent].pc) - (int)code->nr_leaves;

	if (leaf < 0 || leaf >= (int)code->nr_leaves || link < 0)
		return TRUTH_NO_GROUP;
	return (uint32_t)leaf * code->nr_links + (uint32_t)link;
}
