/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small programs compiled while the test runs, whose functions, lines and inlined calls are known
 * exactly.
 *
 * fixture_c has, at label pc_inner, inner() line 3 inlined into middle() line 9 inlined into
 * outer() line 14; at label pc_hidden, the static hidden() line 19; and bare, a function in
 * assembler without size.
 */
#ifndef TESTS_UNIT_SYMBOL_FIXTURE_H
#define TESTS_UNIT_SYMBOL_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "src/symbol/symbol.h"

extern const char fixture_c[], fixture_cc[];

/* The test's own directory, absolute; removed at exit. */
const char *fixture_dir(void);

/* DIR/name, in one of a few buffers that take turns. */
const char *fixture_path(const char *name);

/* Write a file under the directory. */
void fixture_write(const char *name, const void *bytes, size_t size);

/* Set-up of a group of tests: fixture_c is chain.c. */
int fixture_chain(void **state);

/* Read a file under the directory whole; free() it. */
void *fixture_read(const char *name, size_t *size);

/* Run a shell command in the directory; fails the test unless it succeeds. */
void fixture_run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * A symbol's ELF address from .symtab of a file under the directory; fails the test if there is
 * none.
 */
uint64_t fixture_address(const char *name, const char *symbol);

/* Build id of a file under the directory: its length, 0 = none. */
size_t fixture_build_id(const char *name, uint8_t id[64]);

/*
 * A symbolizer with one module: the file `name`, with the build id of the file `id_of` (NULL:
 * none), at bias.
 */
struct symbolizer *fixture_symbolizer(const struct symbolizer_options *opt, const char *name,
				      const char *id_of, uint64_t bias);

/* Close its files; answers stay. Later lookups open files again. */
void fixture_close_files(struct symbolizer *sym);

/* Compare a frame to the letter; file NULL: none wanted, else the last part of its path. */
void fixture_expect(const struct symbol_frame *f, const char *function, const char *file,
		    uint32_t line, bool inlined);

#endif
