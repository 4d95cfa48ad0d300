/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Languages whose interpreters have pools of their own. */
#include "src/model/pools.h"

#include <string.h>

#include "src/base/str.h"

static const struct {
	/* and then a version or a kind: python3.11, php-fpm8.2, libpython3.11.so.1.0 */
	const char *program, *library;
	const char *language, *setting;
} pools[POOL_NR] = {
	[POOL_PYTHON] = { "python", "libpython", "Python", "PYTHONMALLOC=malloc" },
	[POOL_PHP] = { "php", "libphp", "PHP", "USE_ZEND_ALLOC=0" },
};

static bool is_named(const char *name, const char *begin)
{
	/* strchr() finds the end of the name as well */
	return str_starts(name, begin) && strchr("-.0123456789", name[strlen(begin)]);
}

static bool has_library(const struct heap *h, const char *begin)
{
	for (uint32_t i = 1; i < h->nr_modules; i++)
		if (is_named(str_basename(h->modules[i].path), begin))
			return true;
	return false;
}

unsigned pools_of(const struct heap *h)
{
	const char *name = h->exe[0] ? str_basename(h->exe) : h->comm;
	unsigned found = 0;

	for (unsigned i = 0; i < POOL_NR; i++)
		if (is_named(name, pools[i].program) || has_library(h, pools[i].library))
			found |= 1u << i;
	return found;
}

const char *pool_language(enum pool p)
{
	return pools[p].language;
}

const char *pool_setting(enum pool p)
{
	return pools[p].setting;
}
