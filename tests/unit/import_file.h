/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile in a file of its own, read as a heap. */
#ifndef TESTS_UNIT_IMPORT_FILE_H
#define TESTS_UNIT_IMPORT_FILE_H

#include <fcntl.h>
#include <unistd.h>

#include "src/import/import.h"
#include "tests/unit/unit.h"

static char import_name[64];
static struct err import_error;

static inline void write_profile(const void *bytes, size_t nr)
{
	int fd;

	snprintf(import_name, sizeof(import_name), "/tmp/pmm-import-XXXXXX");
	fd = mkostemp(import_name, O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, nr), (ssize_t)nr);
	close(fd);
}

/* Read it with so much memory; *h is set where it is 0. The file is gone. */
static inline int read_profile(const void *bytes, size_t nr, enum heap_tool tool,
			       uint64_t max_bytes, struct heap **h)
{
	int rc;

	write_profile(bytes, nr);
	import_error = (struct err){ .text = "" };
	*h = NULL;
	assert_int_equal(import_recognise(import_name), tool);
	rc = import_read(import_name, tool, max_bytes, h, &import_error);
	assert_int_equal(!rc, !!*h);
	assert_int_equal(!!rc, !!import_error.text[0]);
	unlink(import_name);
	return rc;
}

static inline struct heap *heap_of(const char *text, enum heap_tool tool)
{
	struct heap *h;

	if (read_profile(text, strlen(text), tool, 1 << 24, &h))
		fail_msg("%s", import_error.text);
	return h;
}

/* Refused with this error, and words of it. */
static inline void refused(const char *text, enum heap_tool tool, int rc, const char *words)
{
	struct heap *h;

	assert_int_equal(read_profile(text, strlen(text), tool, 1 << 24, &h), rc);
	if (!strstr(import_error.text, words))
		fail_msg("'%s' is not in '%s'", words, import_error.text);
}

/* Function, file and line of a node that is a place. */
static inline void assert_place(const struct heap *h, uint32_t node, const char *function,
				const char *file, uint32_t line)
{
	const struct heap_srcloc *p = heap_srcloc(h, &h->nodes[node]);

	assert_non_null(p);
	assert_string_equal(p->function, function);
	assert_string_equal(p->file, file);
	assert_int_equal(p->line, line);
}

#endif
