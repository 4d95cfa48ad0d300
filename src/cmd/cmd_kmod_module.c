/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmm kmod load, unload. */
#include "src/cmd/cmd_kmod.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "src/base/str.h"
#include "src/cmd/cmd.h"
#include "src/kmod/kmod_module.h"

/* A directory by its place as seen from that of this program; NULL: no memory. */
static char *from_here(const char *place)
{
	char here[PATH_MAX], *path;
	ssize_t n = readlink("/proc/self/exe", here, sizeof(here) - 1);
	char *slash;

	here[n > 0 ? n : 0] = '\0';
	slash = strrchr(here, '/');
	if (slash)
		*slash = '\0';
	for (; str_starts(place, "../") && (slash = strrchr(here, '/')); place += 3)
		*slash = '\0';
	return asprintf(&path, "%s/%s", here, place) < 0 ? NULL : path;
}

static int load_from(const char *const *beside, const char *parameters, struct err *e)
{
	char path[PATH_MAX];
	struct utsname u;
	int rc = uname(&u) ? -errno : kmod_module_find("/lib/modules", u.release, beside, path, e);

	if (!rc)
		rc = kmod_module_load(&kmod_module_kernel, path, parameters, e);
	if (!rc)
		cmd_note("loaded '%s'", path);
	return rc;
}

int cmd_kmod_load(char *const *words, int nr, struct err *e)
{
	/* installed; in pmm's source, from its build */
	char *installed = from_here("../share/pmm/kmod"), *source = from_here("../kmod");
	const char *const beside[] = { installed, source, NULL };
	struct str parameters = STR_INIT;
	int rc = installed && source ? kmod_module_parameters(words, nr, &parameters, e) : -ENOMEM;

	if (rc == -EINVAL)
		e->exit_code = CMD_USAGE;
	if (!rc)
		rc = load_from(beside, str_text(&parameters), e);
	str_fini(&parameters);
	free(installed);
	free(source);
	return rc;
}

int cmd_kmod_unload(struct err *e)
{
	int rc = kmod_module_unload(&kmod_module_kernel, e);

	if (!rc)
		cmd_note("unloaded the kernel module");
	return rc;
}
