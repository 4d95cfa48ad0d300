/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Loads libcheck_deep.so, found by this program's run path, with RTLD_DEEPBIND: it releases what the C library allocated. Nothing is wrong. */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
	void *lib = dlopen("libcheck_deep.so", RTLD_NOW | RTLD_DEEPBIND);
	int (*enter)(void) = lib ? (int (*)(void))dlsym(lib, "enter") : NULL;

	if (!enter) {
		puts(dlerror());
		return 1;
	}
	printf("%d\n", enter());
	return dlclose(lib);
}
