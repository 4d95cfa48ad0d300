/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocators of a program's own, as they are named on the command line:
 * [MODULE:]NAME=FUNCTION(ARGUMENT,...)
 */
#include "src/entries/entries_custom.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/str.h"

#define MAX_ARGUMENTS	2

static const struct form {
	const char *name;
	enum pmm_role role;
	unsigned nr_arguments;
	bool may_be_fixed;
	const char *example;
} forms[] = {
	{ "malloc", PMM_ROLE_CUSTOM_ALLOC, 1, true,
	  "malloc(arg0), where argument 0 is the size, or malloc(16)" },
	{ "calloc", PMM_ROLE_CUSTOM_ALLOC, 2, false,
	  "calloc(arg0,arg1): the number of elements and the size of one" },
	{ "realloc", PMM_ROLE_CUSTOM_REALLOC, 2, false,
	  "realloc(arg0,arg1): the block and its new size" },
	{ "free", PMM_ROLE_CUSTOM_FREE, 1, false, "free(arg0): the block" },
};

#define NR_FORMS (sizeof(forms) / sizeof(forms[0]))

static int bad(const char *text, struct err *e, const char *what)
{
	int rc = err_set(e, -EINVAL, "bad allocator '%s': %s", text, what);

	err_hint(e, "write NAME=malloc(arg0), =calloc(arg0,arg1), =realloc(arg0,arg1) or "
		    "=free(arg0); NAME is a symbol, MODULE:SYMBOL or "
		    "MODULE:0xADDRESS");
	if (e)
		e->exit_code = 2;
	return rc;
}

static const struct form *form_find(const char *at, size_t length)
{
	for (size_t i = 0; i < NR_FORMS; i++)
		if (strlen(forms[i].name) == length && !memcmp(forms[i].name, at, length))
			return &forms[i];
	return NULL;
}

/* "arg0".."arg5"; its number, -1 = not that. Moves *at on. */
static int argument_parse(const char **at)
{
	const char *p = *at;

	if (!str_starts(p, "arg") || p[3] < '0' || p[3] > '5' || isalnum((unsigned char)p[4]))
		return -1;
	*at = p + 4;
	return p[3] - '0';
}

static void skip_blanks(const char **at)
{
	while (**at == ' ')
		(*at)++;
}

/* Does nothing but blanks come before the end? */
static bool ends(const char *at)
{
	skip_blanks(&at);
	return !*at;
}

/* What is in the brackets: number of arguments, -1 = bad. */
static int arguments_parse(const char *at, int v[MAX_ARGUMENTS], uint64_t *fixed)
{
	int nr = 0;

	skip_blanks(&at);
	if (isdigit((unsigned char)*at)) {
		char *end;

		errno = 0;
		*fixed = strtoull(at, &end, 0);
		at = end;
		skip_blanks(&at);
		return *fixed && !errno && *at == ')' && ends(at + 1) ? 0 : -1;
	}
	while (nr < MAX_ARGUMENTS) {
		v[nr] = argument_parse(&at);
		if (v[nr++] < 0)
			return -1;
		skip_blanks(&at);
		if (*at != ',')
			break;
		at++;
		skip_blanks(&at);
	}
	return *at == ')' && ends(at + 1) ? nr : -1;
}

static int arguments_set(const char *text, const struct form *form, const char *at,
			 struct entries_custom *c, struct err *e)
{
	int v[MAX_ARGUMENTS] = { -1, -1 }, nr = arguments_parse(at, v, &c->fixed_bytes);
	struct str what = STR_INIT;

	if (nr == (int)form->nr_arguments || (!nr && form->may_be_fixed)) {
		c->role = form->role;
		if (form->role == PMM_ROLE_CUSTOM_ALLOC) {
			c->arg_size = (int8_t)(nr == 2 ? v[1] : nr == 1 ? v[0] : -1);
			c->arg_count = (int8_t)(nr == 2 ? v[0] : -1);
		} else {
			c->arg_pointer = (int8_t)v[0];
			c->arg_size = (int8_t)(nr == 2 ? v[1] : -1);
		}
		if (nr < 2 || v[0] != v[1])
			return 0;
	}
	str_addf(&what, "expected %s", form->example);
	bad(text, e, str_text(&what));
	str_fini(&what);
	return -EINVAL;
}

/* The length of what stands from `at` to `end`, less the blanks before the end. */
static size_t trimmed(const char *at, const char *end)
{
	while (end > at && end[-1] == ' ')
		end--;
	return (size_t)(end - at);
}

/* MODULE:NAME at `at`, of `text`. A "::" belongs to the name. */
static int name_set(const char *at, size_t length, const char *text, struct entries_custom *c,
		    struct err *e)
{
	const char *colon = length ? memchr(at, ':', length) : NULL;
	size_t module;
	uint64_t address;

	if (colon && (size_t)(colon - at) + 1 < length && colon[1] == ':')
		colon = NULL;
	module = colon ? (size_t)(colon - at) + 1 : 0;
	if (module == 1 || module == length)
		return bad(text, e,
			   module == length ? "a name is missing"
					    : "a module is missing before ':'");
	if (colon)
		c->module = strndup(at, module - 1);
	c->name = strndup(at + module, length - module);
	if (!c->name || (colon && !c->module))
		return err_set(e, -ENOMEM, "out of memory");
	if (str_starts(c->name, "0x") && !entries_custom_address(c, &address))
		return bad(text, e, "the address is no hexadecimal number");
	return 0;
}

int entries_parse_custom(const char *text, struct entries_custom *c, struct err *e)
{
	const char *equals = strrchr(text, '='), *bracket = equals ? strchr(equals, '(') : NULL;
	const char *name = text, *like = equals ? equals + 1 : NULL;
	const struct form *form;
	int rc;

	skip_blanks(&name);
	*c = (struct entries_custom){ .arg_size = -1, .arg_count = -1, .arg_pointer = -1 };
	if (!equals || equals == name)
		return bad(text, e, equals ? "a name is missing before '='" : "'=' is missing");
	if (!bracket)
		return bad(text, e, "it does not say which argument is which");
	skip_blanks(&like);
	form = form_find(like, trimmed(like, bracket));
	if (!form)
		return bad(text, e, "it must act like malloc, calloc, realloc or free");
	rc = arguments_set(text, form, bracket + 1, c, e);
	if (!rc)
		rc = name_set(name, trimmed(name, equals), text, c, e);
	if (rc)
		entries_custom_fini(c);
	return rc;
}

void entries_custom_fini(struct entries_custom *c)
{
	free(c->module);
	free(c->name);
	*c = (struct entries_custom){ 0 };
}

bool entries_custom_address(const struct entries_custom *c, uint64_t *address)
{
	char *end;

	if (!str_starts(c->name, "0x") || !isxdigit((unsigned char)c->name[2]))
		return false;
	errno = 0;
	*address = strtoull(c->name, &end, 16);
	return !errno && !*end;
}

bool entries_custom_names(const struct entries_custom *c, const char *symbol)
{
	return !strcmp(c->name, symbol);
}

bool entries_custom_object(const struct entries_custom *c, const struct object *o)
{
	const char *slash = strrchr(o->path, '/'), *file = slash ? slash + 1 : o->path;
	size_t length;

	if (!c->module)
		return true;
	if (!strcmp(c->module, o->path) || !strcmp(c->module, file))
		return true;
	length = strlen(c->module);
	return !strncmp(c->module, file, length) && str_starts(file + length, ".so");
}
