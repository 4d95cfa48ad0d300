/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What kind of executable is it? Asked before a program is launched with a preloaded library.
 */
#ifndef PROC_ELF_CHECK_H
#define PROC_ELF_CHECK_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "src/base/err.h"

enum elf_check_kind {
	ELF_CHECK_OK,			/* dynamically linked, preload works */
	ELF_CHECK_NOT_FOUND,
	ELF_CHECK_DIRECTORY,
	ELF_CHECK_NOT_EXECUTABLE,	/* no x permission, or not a regular file */
	ELF_CHECK_UNREADABLE,		/* may be executed but not looked at */
	ELF_CHECK_NOT_ELF,
	ELF_CHECK_DAMAGED,		/* an ELF file whose headers make no sense */
	ELF_CHECK_WRONG_ARCH,		/* 32-bit, or another processor */
	ELF_CHECK_STATIC,
	ELF_CHECK_STATIC_PIE,
	ELF_CHECK_NO_LOADER,		/* the dynamic loader it names does not exist */
	ELF_CHECK_SETUID,		/* set-user-ID or set-group-ID to another user or group */
	ELF_CHECK_CAPABILITIES,		/* file capabilities that would be gained */
	ELF_CHECK_BAD_SCRIPT,		/* interpreter missing or nested too deep */
	ELF_CHECK_SANITIZER,		/* linked with a sanitizer that must come first itself */
	ELF_CHECK_NR,
};

struct elf_check {
	enum elf_check_kind kind;
	char path[PATH_MAX];		/* the file `name` stands for; "" = not found */
	char program[PATH_MAX]; /* the ELF file that will run: path, or a script's interpreter */
	bool script;
	/*
	 * of a program of kind ELF_CHECK_OK: it needs LeakSanitizer's library, whose malloc has to
	 * be called for each block
	 */
	bool leak_sanitizer;
};

/*
 * Classify what execvp(name) would run as this user: looked for in PATH unless it holds a '/',
 * scripts followed to their interpreter. Fills `c` and, unless the kind is ELF_CHECK_OK, `e` with
 * sentence and hint. Returns the kind.
 */
enum elf_check_kind elf_check(const char *name, struct elf_check *c, struct err *e);

/*
 * For launches where another malloc than the program's is called: with LeakSanitizer -ENOEXEC and
 * `e`, else 0.
 */
int elf_check_leak_sanitizer(const struct elf_check *c, struct err *e);

/* The same as elf_check(), judged for a user and group other than the caller's (real ids). */
enum elf_check_kind elf_check_as(const char *name, uid_t uid, gid_t gid, struct elf_check *c,
				 struct err *e);

#endif
