/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completion scripts for bash and zsh, made from the tables of commands and options. */
#include "src/cmd/help/manual.h"

#include <string.h>

/* Operands that are processes, and files: as the usage says. */
static bool takes_pid(const struct cmd *cmd)
{
	return cmd->max_operands && cmd->usage && strstr(cmd->usage, "PID");
}

static bool takes_file(const struct cmd *cmd)
{
	return cmd->max_operands && (!takes_pid(cmd) || strstr(cmd->usage, "FILE"));
}

static bool takes_argument(const struct opt *o)
{
	return o->type != OPT_FLAG && !o->if_omitted;
}

/* ---- bash ------------------------------------------------------------------------------------ */

static void bash_previous(FILE *out, const struct opt *o)
{
	size_t i;

	if (o->type == OPT_FLAG)
		return;
	fprintf(out, "\t--%s=", o->name);
	if (takes_argument(o))
		fprintf(out, "|--%s", o->name);
	if (o->letter && takes_argument(o))
		fprintf(out, "|-%c", o->letter);
	fputs(") ", out);
	if (o->type == OPT_CHOICE) {
		fputs("COMPREPLY=($(compgen -W '", out);
		for (i = 0; o->choices[i]; i++)
			fprintf(out, "%s%s", i ? " " : "", o->choices[i]);
		fputs("' -- \"$cur\")); return ;;\n", out);
	} else if (o->type == OPT_FILE) {
		fputs("compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n",
		      out);
	} else {
		fputs("return ;;\n", out);
	}
}

static void bash_command(FILE *out, const struct cmd *cmd)
{
	const struct opt *o;

	fprintf(out, "_pmm_%s() {\n", cmd->name);
	if (cmd->stop_at_operand)
		fputs("\t_pmm_program && return\n", out);
	fputs("\tcase $prev in\n", out);
	for (o = cmd->opts; o && o->name; o++)
		bash_previous(out, o);
	fputs("\tesac\n\tif [[ $cur == -* ]]; then\n\t\tCOMPREPLY=($(compgen -W '--help", out);
	for (o = cmd->opts; o && o->name; o++)
		fprintf(out, " --%s", o->name);
	fputs("' -- \"$cur\"))\n", out);
	if (cmd->stop_at_operand)
		fputs("\telse\n\t\tCOMPREPLY=($(compgen -c -- \"$cur\"))\n", out);
	else if (cmd == &cmd_help)
		fputs("\telse\n\t\tCOMPREPLY=($(compgen -W \"$commands\" -- \"$cur\"))\n", out);
	else if (cmd->max_operands)
		fputs("\telse\n", out);
	if (!cmd->stop_at_operand && cmd != &cmd_help && takes_file(cmd))
		fputs("\t\tcompopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\"))\n", out);
	if (!cmd->stop_at_operand && takes_pid(cmd))
		fputs("\t\t_pmm_pids\n", out);
	fputs("\tfi\n}\n\n", out);
}

static void bash_pids(FILE *out)
{
	fputs("_pmm_pids() {\n"
	      "\tlocal dir\n"
	      "\tfor dir in /proc/[0-9]*; do\n"
	      "\t\t[[ ${dir#/proc/} == \"$cur\"* ]] && COMPREPLY+=(\"${dir#/proc/}\")\n"
	      "\tdone\n"
	      "}\n\n", out);
}

/*
 * Options of `run` that take the next word, as a pattern, so that the traced program is found on
 * the line.
 */
static void bash_program(FILE *out)
{
	size_t i;

	fputs("# Past the options: complete as the program itself would be.\n"
	      "_pmm_program() {\n"
	      "\tlocal i\n"
	      "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	      "\t\tcase ${COMP_WORDS[i]} in\n"
	      "\t\t--) ((i++)); break ;;\n"
	      "\t\t--*=*) ;;\n", out);
	for (i = 0; cmd_table[i]; i++) {
		const struct opt *o;

		for (o = cmd_table[i]->stop_at_operand ? cmd_table[i]->opts : NULL; o && o->name;
		     o++) {
			if (!takes_argument(o))
				continue;
			fprintf(out, "\t\t--%s", o->name);
			if (o->letter)
				fprintf(out, "|-%c", o->letter);
			fputs(") ((i++)) ;;\n", out);
		}
	}
	fputs("\t\t-*) ;;\n"
	      "\t\t*) break ;;\n"
	      "\t\tesac\n"
	      "\tdone\n"
	      "\t((i < COMP_CWORD)) || [[ ${COMP_WORDS[i-1]} == -- ]] || return 1\n"
	      "\tif declare -F _command_offset >/dev/null; then\n"
	      "\t\t_command_offset \"$i\"\n"
	      "\telse\n"
	      "\t\tcompopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\"))\n"
	      "\tfi\n"
	      "}\n\n", out);
}

void completion_print_bash(FILE *out)
{
	size_t i;

	fputs("# bash completion for pmm, made by 'pmm help --completion bash'\n\n", out);
	bash_program(out);
	bash_pids(out);
	for (i = 0; cmd_table[i]; i++)
		bash_command(out, cmd_table[i]);
	fputs("_pmm() {\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} commands='",
	      out);
	for (i = 0; cmd_table[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", cmd_table[i]->name);
	fputs("'\n"
	      "\tCOMPREPLY=()\n"
	      "\tif [[ $cur == = ]]; then\n"
	      "\t\tcur='' prev+='='\n"
	      "\telif [[ $prev == = ]]; then\n"
	      "\t\tprev=${COMP_WORDS[COMP_CWORD-2]}=\n"
	      "\tfi\n"
	      "\tif ((COMP_CWORD == 1)); then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$commands --help --version\" -- \"$cur\"))\n"
	      "\telif declare -F \"_pmm_${COMP_WORDS[1]}\" >/dev/null; then\n"
	      "\t\t\"_pmm_${COMP_WORDS[1]}\"\n"
	      "\tfi\n"
	      "}\n"
	      "complete -F _pmm pmm\n", out);
}

/* ---- zsh ------------------------------------------------------------------------------------- */

/* Text inside '...[...]' of an _arguments specification. */
static void zsh_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else if (strchr("[]:\\", *text))
			fprintf(out, "\\%c", *text);
		else
			putc(*text == '\n' ? ' ' : *text, out);
	}
}

static void zsh_option(FILE *out, const struct opt *o)
{
	size_t i;

	fputs("\t\t", out);
	if (o->letter)
		fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter,
			takes_argument(o) ? "+" : "", o->name, takes_argument(o) ? "=" : "");
	else
		fprintf(out, "'--%s%s[", o->name,
			o->if_omitted ? "=-" : takes_argument(o) ? "=" : "");
	zsh_text(out, o->help);
	putc(']', out);
	if (o->type != OPT_FLAG) {
		fprintf(out, "%s:%s:", o->if_omitted ? ":" : "", o->arg ? o->arg : "choice");
		if (o->type == OPT_FILE)
			fputs("_files", out);
		for (i = 0; o->type == OPT_CHOICE && o->choices[i]; i++)
			fprintf(out, "%s%s", i ? " " : "(", o->choices[i]);
		if (o->type == OPT_CHOICE)
			putc(')', out);
	}
	fputs("' \\\n", out);
}

static void zsh_command(FILE *out, const struct cmd *cmd)
{
	const struct opt *o;

	fprintf(out, "\t%s)\n\t\t_arguments -s -S \\\n", cmd->name);
	for (o = cmd->opts; o && o->name; o++)
		zsh_option(out, o);
	fputs("\t\t'(-h --help)'{-h,--help}'[show the options]'", out);
	if (cmd->stop_at_operand)
		fputs(" \\\n\t\t'(-)1:program:_command_names -e' \\\n\t\t'*::arguments:_normal'",
		      out);
	else if (cmd == &cmd_help)
		fputs(" \\\n\t\t'1:command:(${commands%%:*})'", out);
	else if (takes_pid(cmd))
		fputs(takes_file(cmd) ? " \\\n\t\t'*: : _alternative \"pids:process:_pids\" "
					"\"files:file:_files\"'"
				      : " \\\n\t\t'*:process:_pids'",
		      out);
	else if (cmd->max_operands)
		fputs(" \\\n\t\t'*:file:_files'", out);
	fputs("\n\t\t;;\n", out);
}

void completion_print_zsh(FILE *out)
{
	size_t i;

	fputs("#compdef pmm\n"
	      "# zsh completion for pmm, made by 'pmm help --completion zsh'\n\n"
	      "_pmm() {\n"
	      "\tlocal -a commands\n"
	      "\tcommands=(\n", out);
	for (i = 0; cmd_table[i]; i++) {
		fprintf(out, "\t\t'%s:", cmd_table[i]->name);
		zsh_text(out, cmd_table[i]->summary);
		fputs("'\n", out);
	}
	fputs("\t)\n"
	      "\tif ((CURRENT == 2)); then\n"
	      "\t\t_describe command commands\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tshift words\n"
	      "\t((CURRENT--))\n"
	      "\tcase $words[1] in\n", out);
	for (i = 0; cmd_table[i]; i++)
		zsh_command(out, cmd_table[i]);
	fputs("\tesac\n"
	      "}\n\n"
	      "[[ $funcstack[1] == _pmm ]] && _pmm \"$@\" || compdef _pmm pmm\n", out);
}
