/* SPDX-License-Identifier: GPL-2.0-or-later
 * A C program that loads a library in C++, and the C++ library with it, only while it runs. What
 * must be found is said in cxx_plugin.cc; the output must be the same as natively.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *lib = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	void (*enter)(void);

	if (!lib)
		return 2;
	*(void **)&enter = dlsym(lib, "enter");
	enter();
	return puts("end") < 0;
}
