/* SPDX-License-Identifier: GPL-2.0-or-later
 * Blocks held by the memory of objects: the program's own, a library's, a library's in another namespace, one unloaded since.
 *
 * expect:
 *   in_data        reachable=1/101
 *   in_bss         reachable=1/102
 *   in_relro       reachable=1/103 memcheck:definite=1/103
 *   in_lib_data    reachable=1/104
 *   in_lib_bss     reachable=1/105
 *   in_namespace   reachable=1/106
 *   in_unmapped    definite=1/107
 *   nowhere        definite=1/108
 *   variable       any
 *   unload         any
 */
#include <dlfcn.h>
#include <sys/mman.h>

#include "leak.h"

static void *volatile data = (void *)&data, *volatile bss;
static void *relro __attribute__((section(".data.rel.ro"))) = &relro;

SITE static void in_data(void) { data = make(101); }
SITE static void in_bss(void) { bss = make(102); }
SITE static void nowhere(void) { make(108); }

SITE static void in_relro(void)
{
	char *page = hide((void *)((uintptr_t)&relro & -4096ul));

	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	*(void **)hide(&relro) = make(103);
	mprotect(page, 4096, PROT_READ);
}

/* Where a library keeps what it is given: its variable's address. The program keeps no pointer into the library. */
SITE static void **variable(const char *path, int namespace, const char *name)
{
	void *lib = namespace ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) : dlopen(path, RTLD_NOW);
	void **at = lib ? dlsym(lib, name) : NULL;

	if (!at)
		_exit(97);
	return at;
}

SITE static void in_lib_data(void) { *variable("libleak_lib.so", 0, "lib_data") = make(104); }
SITE static void in_lib_bss(void) { *variable("libleak_lib.so", 0, "lib_bss") = make(105); }
SITE static void in_namespace(void) { *variable("libleak_lib.so", 1, "lib_data") = make(106); }

SITE static void unload(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_NOLOAD);

	if (dlclose(lib) || dlclose(lib) || dlopen(path, RTLD_NOW | RTLD_NOLOAD))
		_exit(96);
}

SITE static void in_unmapped(void)
{
	*variable("libleak_gone.so", 0, "lib_data") = make(107);
	unload("libleak_gone.so");
}

static void cases(void)
{
	in_data(), in_bss(), in_relro(), nowhere();
	in_lib_data(), in_lib_bss(), in_namespace(), in_unmapped();
}
