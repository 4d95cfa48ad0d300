/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options whose argument is a list of names. */
#include "src/cmd/options/opt_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/str.h"
#include "src/cmd/cmd.h"

int cmd_parse_list(const char *option, const char *text, const struct cmd_choice *known,
		   unsigned *bits, struct err *e)
{
	char *copy = strdup(text), *rest = copy, *name;
	struct str all = STR_INIT;
	int rc = 0;

	if (!copy)
		return err_set(e, -ENOMEM, "out of memory");
	for (const struct cmd_choice *w = known; w->name; w++)
		str_addf(&all, "%s%s", w == known ? "" : ", ", w->name);
	*bits = 0;
	while (!rc && (name = strsep(&rest, ","))) {
		const struct cmd_choice *w = known;

		while (w->name && strcmp(w->name, name))
			w++;
		*bits |= w->bits;
		if (w->name)
			continue;
		rc = err_set(e, -EINVAL, "'%s' is no value of '--%s'", name, option);
		err_hint(e, "one or more of %s, separated by commas", str_text(&all));
		if (e)
			e->exit_code = CMD_USAGE;
	}
	str_fini(&all);
	free(copy);
	return rc;
}
