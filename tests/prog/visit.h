/* SPDX-License-Identifier: GPL-2.0-or-later
 * Loading a library of the victims, calling it, unloading it.
 */
#ifndef VISIT_H
#define VISIT_H

#include <dlfcn.h>
#include <stdio.h>

/* dir/name loaded, its enter() called, unloaded by `unload`, such as dlclose(). 0 = all went well. */
static inline int visit(const char *dir, const char *name, int (*unload)(void *lib))
{
	char path[4096];
	void (*enter)(void);
	void *lib;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	lib = dlopen(path, RTLD_NOW);
	if (!lib)
		return 1;
	*(void **)&enter = dlsym(lib, "enter");
	enter();
	return unload(lib);
}

#endif
