/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Languages whose interpreters have pools of their own. */
#include "src/model/pools.h"

#include <string.h>

#include "src/base/str.h"

static const struct {
	const char *program;	/* and then its version or its kind: python3.11, php-fpm8.2 */
	const char *language, *setting;
} pools[POOL_NR] = {
	[POOL_PYTHON] = { "python", "Python", "PYTHONMALLOC=malloc" },
	[POOL_PHP] = { "php", "PHP", "USE_ZEND_ALLOC=0" },
};

unsigned pools_of(const struct heap *h)
{
	const char *name = h->exe[0] ? str_basename(h->exe) : h->comm;

	/* strchr() finds the end of the name as well */
	for (unsigned i = 0; i < POOL_NR; i++)
		if (str_starts(name, pools[i].program) &&
		    strchr("-.0123456789", name[strlen(pools[i].program)]))
			return 1u << i;
	return 0;
}

const char *pool_language(enum pool p)
{
	return pools[p].language;
}

const char *pool_setting(enum pool p)
{
	return pools[p].setting;
}
