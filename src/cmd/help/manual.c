/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Man pages as roff (man(7)), made from the tables of commands and options. */
#include "src/cmd/help/manual.h"

#include <ctype.h>
#include <string.h>

static const struct cmd_pair usual_exits[] = {
	{ "0", "everything went well" },
	{ "2", "the command line was wrong" },
	{ "3", "it could not be done; the message says why" },
	{ 0 }
};

static const struct cmd_pair environment[] = {
	{ "COLUMNS", "columns of a line of text, where '--width' is not given" },
	{ "NO_COLOR", "when set and not empty, no colours" },
	{ "PMM_AGENT", "file used instead of the libpmm.so that was built with pmm" },
	{ 0 }
};

/*
 * Text with roff's special characters disarmed. An empty line becomes a paragraph. A macro takes
 * double quotes away from its arguments.
 */
static void put_text(FILE *out, const char *text)
{
	bool start = true;

	for (; *text; text++) {
		if (start && (*text == '.' || *text == '\''))
			fputs("\\&", out);
		if (*text == '\n' && text[1] == '\n') {
			fputs("\n.PP", out);
			continue;
		}
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else if (*text == '"')
			fputs("\\(dq", out);
		else
			putc(*text, out);
		start = *text == '\n';
	}
}

static void put_title(FILE *out, const char *name)
{
	fputs(".TH PMM", out);
	if (name)
		putc('-', out);
	for (; name && *name; name++)
		putc(toupper((unsigned char)*name), out);
	fputs(" 1 \"\" \"pmm " PMM_VERSION "\" \"User Commands\"\n", out);
}

static void put_section(FILE *out, const char *title, const char *text)
{
	if (!text)
		return;
	fprintf(out, ".SH %s\n", title);
	put_text(out, text);
	putc('\n', out);
}

/* Tagged paragraphs: the left part bold, the right as text. */
static void put_pairs(FILE *out, const char *title, const struct cmd_pair *pairs)
{
	if (!pairs || !pairs->left)
		return;
	fprintf(out, ".SH %s\n", title);
	for (; pairs->left; pairs++) {
		fputs(".TP\n.B ", out);
		put_text(out, pairs->left);
		putc('\n', out);
		put_text(out, pairs->right);
		putc('\n', out);
	}
}

static void put_option(FILE *out, const struct opt *o)
{
	struct str usage = STR_INIT;

	if (o->letter)
		str_addf(&usage, "-%c, ", o->letter);
	opt_usage(o, &usage);
	fputs(".TP\n.B ", out);
	put_text(out, str_text(&usage));
	putc('\n', out);
	put_text(out, o->help);
	putc('\n', out);
	str_fini(&usage);
}

static void put_options(FILE *out, const struct opt *table)
{
	static const struct opt help = { "help", 'h', OPT_FLAG, NULL, "show the options and exit",
					 NULL };

	fputs(".SH OPTIONS\n", out);
	for (; table && table->name; table++)
		put_option(out, table);
	put_option(out, &help);
}

static void put_see_also(FILE *out, const struct cmd *self)
{
	size_t i;

	fputs(".SH SEE ALSO\n", out);
	if (self)
		fputs(".BR pmm (1)", out);
	for (i = 0; cmd_table[i]; i++)
		if (cmd_table[i] != self)
			fprintf(out, "%s.BR pmm\\-%s (1)", self || i ? ",\n" : "",
				cmd_table[i]->name);
	putc('\n', out);
}

static void print_command_page(FILE *out, const struct cmd *cmd)
{
	put_title(out, cmd->name);
	fprintf(out, ".SH NAME\npmm\\-%s \\- ", cmd->name);
	put_text(out, cmd->summary);
	fprintf(out, "\n.SH SYNOPSIS\n.B pmm %s\n", cmd->name);
	put_text(out, cmd->usage);
	putc('\n', out);
	put_section(out, "DESCRIPTION", cmd->description);
	put_options(out, cmd->opts);
	put_pairs(out, "EXAMPLES", cmd->examples);
	put_pairs(out, "EXIT STATUS", cmd->exits ? cmd->exits : usual_exits);
	put_see_also(out, cmd);
}

static void print_main_page(FILE *out)
{
	size_t i;

	put_title(out, NULL);
	fputs(".SH NAME\npmm \\- ", out);
	put_text(out, PMM_SUMMARY);
	fputs("\n.SH SYNOPSIS\n.B pmm\n.I COMMAND\n[options] ...\n", out);
	put_section(out, "DESCRIPTION",
					"pmm keeps a ledger of the live heap of a running "
					"program: every block, its size, its age and the call "
					"stack that allocated it. The ledger is in memory that "
					"pmm shares with the program. It can be read at any "
					"moment and survives any end of the program. A capture "
					"(.pmm file) is a heap of one moment, compressed.\n\n"
					"Results go to standard output, messages to standard "
					"error.");
	put_section(out, "COMPILED IN",
					"A program can contain the monitor, with #include "
					"<pmm.h> and -DPMM. It then reports by file and line what "
					"it allocates, loses and damages: on its own, at exit, by "
					"signal or by function. Linked with 'pkg-config --cflags "
					"--libs pmm', it can be read by 'pmm report', 'pmm leaks' "
					"and 'pmm snapshot' at any time. With pmm_static.c, which "
					"includes the files beside it, it runs on anything that "
					"has a C compiler. <pmm.h> says what each function does; "
					"doc/shim.md has the rest.\n\n"
					"doc/ and examples/ are in share/doc/pmm where pmm is "
					"installed.");
	fputs(".SH COMMANDS\n", out);
	for (i = 0; cmd_table[i]; i++) {
		fprintf(out, ".TP\n.BR pmm\\-%s (1)\n", cmd_table[i]->name);
		put_text(out, cmd_table[i]->summary);
		putc('\n', out);
	}
	put_section(out, "SIZES AND TIMES",
		    "Sizes are bytes, or take K, M, G or T (powers of 1024): 4096, 64K, 1.5M. "
		    "Times are seconds, or take ns, us, ms, s, m, h or d: 10ms, 5s, 2m.");
	put_pairs(out, "EXIT STATUS", usual_exits);
	put_pairs(out, "ENVIRONMENT", environment);
	put_see_also(out, NULL);
}

void manual_print(FILE *out, const struct cmd *cmd)
{
	if (cmd)
		print_command_page(out, cmd);
	else
		print_main_page(out);
}
