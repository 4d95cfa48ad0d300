/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmm help: what there is; also the man pages and completions, made from the tables of options. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/base/str.h"
#include "src/base/wrap.h"
#include "src/cmd/cmd.h"
#include "src/cmd/help/manual.h"
#include "src/cmd/help/meant.h"
#include "src/cmd/report/forms.h"
#include "src/cmd/terminal.h"
#include "src/document/doc.h"
#include "src/page/page.h"

#define HELP_COLUMN 27
#define HELP_WIDTH 96

static bool want_man, want_list;
static int completion;
static bool want_completion;

static const char *const shells[] = { "bash", "zsh", NULL };

static const struct opt help_opts[] = {
	{ "man", 0, OPT_FLAG, NULL, "print the man page (of COMMAND) as roff", &want_man },
	{ "list", 0, OPT_FLAG, NULL, "print the names of the commands, one a line", &want_list },
	{ "completion", 0, OPT_CHOICE, "SHELL",
	  "print the completion script for a shell: bash or zsh", &completion,
	  .given = &want_completion, .choices = shells },
	{ 0 }
};

const struct cmd *cmd_find(const char *name)
{
	size_t i;

	for (i = 0; cmd_table[i]; i++)
		if (!strcmp(cmd_table[i]->name, name))
			return cmd_table[i];
	return NULL;
}

int cmd_unknown(const char *name)
{
	const char *names[32] = { NULL };
	struct err e = { .exit_code = CMD_USAGE };
	const char *near;
	size_t i;

	for (i = 0; cmd_table[i] && i < 31; i++)
		names[i] = cmd_table[i]->name;
	err_set(&e, -EINVAL, "no command '%.100s'", name);
	near = opt_nearest(name, names);
	if (near)
		err_hint(&e, "did you mean 'pmm %s'?", near);
	else if (meant_program(name))
		err_hint(&e,
			 "'pmm run %s' tracks a program from its start; 'pmm leaks -- %s' and 'pmm "
			 "check -- %s' look for its leaks and heap errors",
			 name, name, name);
	else
		err_hint(&e, "'pmm help' lists the commands");
	return cmd_fail(&e);
}

/* A wide terminal's lines would be hard to read. */
static unsigned help_width(void)
{
	unsigned width = terminal_style(stdout).width;

	return width < HELP_WIDTH ? width : HELP_WIDTH;
}

/*
 * Print a text of which each line begins at column `used`, where the first already is, and
 * continues at `hang`.
 */
static void print_wrapped(const char *text, unsigned used, unsigned hang)
{
	struct str out = STR_INIT, line = STR_INIT, before = STR_INIT;

	str_pad(&before, ' ', hang);
	for (size_t n; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		str_clear(&line);
		str_addn(&line, text, n);
		wrap_add(&out, str_text(&line), help_width(), str_text(&before), used);
		str_addc(&out, '\n');
		used = 0;
	}
	fputs(str_text(&out), stdout);
	str_fini(&out);
	str_fini(&line);
	str_fini(&before);
}

static void print_option(const struct opt *o)
{
	struct str left = STR_INIT;

	str_addf(&left, o->letter ? "  -%c, " : "      ", o->letter);
	opt_usage(o, &left);
	printf("%s", str_text(&left));
	if (left.len + 2 > HELP_COLUMN) {
		putchar('\n');
		left.len = 0;
	}
	printf("%*s", (int)(HELP_COLUMN - left.len), "");
	print_wrapped(o->help, HELP_COLUMN, HELP_COLUMN);
	str_fini(&left);
}

/* The command whole: it is there to be copied. */
static void print_example(const struct cmd_pair *p)
{
	printf("  %s\n      ", p->left);
	print_wrapped(p->right, 6, 6);
}

void cmd_print_help(const struct cmd *cmd)
{
	static const struct opt help = { "help", 'h', OPT_FLAG, NULL, "show this", NULL };
	const struct cmd_pair *p;
	const struct opt *o;
	int used = printf("usage: pmm %s ", cmd->name);

	print_wrapped(cmd->usage, (unsigned)used, (unsigned)used);
	putchar('\n');
	print_wrapped(cmd->summary, 0, 0);
	puts("\noptions:");
	for (o = cmd->opts; o && o->name; o++)
		print_option(o);
	print_option(&help);
	if (cmd->examples)
		puts("\nexamples:");
	for (p = cmd->examples; p && p->left; p++)
		print_example(p);
	printf("\n'pmm help --man %s | man -l -' shows the whole manual\n", cmd->name);
}

static void print_commands(void)
{
	size_t i;

	print_wrapped("usage: pmm COMMAND [options] ...\n\n" PMM_SUMMARY "\n\ncommands:", 0, 0);
	for (i = 0; cmd_table[i]; i++) {
		printf("  %-10s ", cmd_table[i]->name);
		print_wrapped(cmd_table[i]->summary, 13, 13);
	}
	print_wrapped("\n'pmm COMMAND --help' lists the options of a command; 'pmm --version' the "
		      "version\n"
		      "to build the monitor into a program, compile it with pmm.h: 'pmm help "
		      "--man | man -l -'",
		      0, 0);
}

static void print_names(void)
{
	size_t i;

	for (i = 0; cmd_table[i]; i++)
		puts(cmd_table[i]->name);
}

/* What is in a form, and whether this pmm has it. */
static void print_about(enum form form)
{
	const char *missing = form == FORM_HTML ? page_missing() : NULL;
	struct str s = STR_INIT;

	str_add(&s, form_table[form].about);
	if (missing)
		str_addf(&s, "; NOT in this pmm, which was built without %s", missing);
	printf("  %-13s ", form_table[form].name);
	print_wrapped(str_error(&s) ? "out of memory" : str_text(&s), 16, 16);
	str_fini(&s);
}

static void print_forms(void)
{
	print_wrapped("forms of results, what is in each and who reads it:", 0, 0);
	for (unsigned i = 0; i < FORM_NR; i++)
		print_about((enum form)i);
	for (unsigned i = 0; i < FORM_NR_WRITERS; i++) {
		struct str s = STR_INIT;

		str_addf(&s, "%s'%s --format': ", i ? "" : "\n", form_writers[i].command);
		form_add_names(&s, form_writers[i].writer);
		print_wrapped(str_error(&s) ? "out of memory" : str_text(&s), 0, 4);
		str_fini(&s);
	}
	print_wrapped("\n'--format FORM -o FILE' writes it to a file; doc/formats.md says more", 0,
		      0);
}

static int help_run(int argc, char **argv)
{
	const struct cmd *cmd = NULL;

	if (argc > 0 && !strcmp(argv[0], "formats")) {
		print_forms();
		return CMD_OK;
	}
	if (argc > 0) {
		cmd = cmd_find(argv[0]);
		if (!cmd)
			return cmd_unknown(argv[0]);
	}
	if (want_completion && completion == 0)
		completion_print_bash(stdout);
	else if (want_completion)
		completion_print_zsh(stdout);
	else if (want_list)
		print_names();
	else if (want_man)
		manual_print(stdout, cmd);
	else if (cmd)
		cmd_print_help(cmd);
	else
		print_commands();
	return CMD_OK;
}

static const struct cmd_pair help_examples[] = {
	{ "pmm help run", "the options of 'pmm run'" },
	{ "pmm help --man run | man -l -", "its manual page" },
	{ "pmm help formats", "the forms of results, and who reads them" },
	{ "source <(pmm help --completion bash)", "complete commands and options in this shell" },
	{ 0 }
};

const struct cmd cmd_help = {
	.name = "help",
	.summary = "explain pmm or one of its commands",
	.usage = "[options] [COMMAND|formats]",
	.description = "Without a command, lists the commands. With one, lists its options. "
		       "'pmm help formats' lists the forms that results have.",
	.opts = help_opts,
	.examples = help_examples,
	.max_operands = 1,
	.run = help_run,
};
