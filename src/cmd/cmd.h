/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands of pmm: one file per command, one table in main.c.
 *
 * To add a command `frob`:
 *   1. src/cmd/cmd_frob.c reads top-down: what it is, options, body, and at its end the struct that
 *      describes it:
 *
 *	static const char *output;
 *	static uint64_t top = 10;
 *	static const struct opt frob_opts[] = {
 *		{ "output", 'o', OPT_FILE, "FILE", "write there instead", &output },
 *		{ "top", 0, OPT_UINT, "N", "rows shown (default 10, 0 = all)", &top },
 *		{ 0 }
 *	};
 *
 *	static int frob_run(int argc, char **argv)
 *	{
 *		... argv[0] is the first operand ...
 *		return CMD_OK;
 *	}
 *
 *	const struct cmd cmd_frob = {
 *		.name = "frob", .summary = "do what must be done", .usage = "[options] FILE|PID",
 *		.opts = frob_opts, .min_operands = 1, .max_operands = 1, .run = frob_run,
 *		.description = "Paragraphs for the man page.\n\nSeparated by an empty line.",
 *	};
 *
 *   2. add cmd_frob.c to src/cmd/meson.build, `cmd_frob` to the declarations below and to the table
 *      in main.c.
 *   3. --help, `pmm help frob`, pmm-frob(1), completion and the checks of operands and options
 *      follow by themselves; tests/cli/frob.bats says what it must do. Only this room prints:
 *      results on stdout, messages on stderr through cmd_fail() and cmd_note().
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <stdbool.h>

#include "src/base/err.h"
#include "src/cmd/options/opt.h"

enum cmd_exit { CMD_OK = 0, CMD_FOUND = 1, CMD_USAGE = 2, CMD_FAILED = 3 };

struct cmd_pair {
	/* exit code and meaning, or command line and what it does */
	const char *left, *right;
};

struct cmd {
	const char *name;
	const char *summary;		/* one line, lower case, no full stop */
	const char *usage;		/* after "pmm NAME " */
	const char *description;	/* paragraphs separated by an empty line */
	const struct opt *opts;		/* ends with { 0 }; may be NULL */
	const struct cmd_pair *exits;	/* ends with { 0 }; NULL = the usual 0, 2, 3 */
	const struct cmd_pair *examples;	/* ends with { 0 }; may be NULL */
	unsigned min_operands;
	unsigned max_operands;		/* 0 = none allowed, CMD_ANY = any number */
	bool stop_at_operand;		/* options end at the first operand (run) */
	int (*run)(int argc, char **argv);	/* operands only; returns the exit code */
};

#define CMD_ANY (~0u)

/*
 * A row of the options of a command that reads what others wrote; `target` is a uint64_t, 0 =
 * limits_share().
 */
#define CMD_MEMORY_LIMIT(target, ...)                                                              \
	{                                                                                          \
		"memory-limit", 0, OPT_SIZE, "SIZE",                                               \
			"memory that reading a capture, a ledger, or the debug information of a "  \
			"program may take, each (default a quarter of RAM, "                       \
			"or of the control group's)",                                              \
			(target), .min = 1 << 20, __VA_ARGS__                                      \
	}

/* Rows of a command that counts what is leaked as 'pmm leaks' does; a struct opt_list, a bool. */
#define CMD_LEAKED(files, no_default)                                                              \
	{ "suppressions", 0, OPT_LIST, "FILE",                                                     \
	  "do not count as leaked what FILE suppresses (Valgrind's or LeakSanitizer's form; "      \
	  "may be given again)",                                                                   \
	  (files) },                                                                               \
	{ "no-default-suppressions", 0, OPT_FLAG, NULL,                                            \
	  "also count as leaked what the C library and run-time systems keep on purpose",          \
	  (no_default) }

/* All commands, ends with NULL (main.c). */
extern const struct cmd *const cmd_table[];

extern const struct cmd cmd_attach, cmd_budget, cmd_check, cmd_detach, cmd_diff, cmd_doctor,
	cmd_help, cmd_kmod, cmd_leaks, cmd_report, cmd_run, cmd_snapshot, cmd_trace;

/* The command of that name, NULL = none. */
const struct cmd *cmd_find(const char *name);

/* Say that there is no such command and which one comes near; returns CMD_USAGE. */
int cmd_unknown(const char *name);

/*
 * Print an error and its hint on stderr; returns the exit code it asks for (CMD_FAILED by default).
 */
int cmd_fail(const struct err *e);

/*
 * A usage error: -EINVAL with `e`, which makes cmd_fail() return CMD_USAGE. `hint` may be NULL.
 */
int cmd_refuse(struct err *e, const char *text, const char *hint);

/* Print "pmm: ..." on stderr. */
void cmd_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Print `pmm NAME --help` on stdout. */
void cmd_print_help(const struct cmd *cmd);

#endif
