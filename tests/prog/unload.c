/*
 * Loads, calls and unloads two libraries of the same layout in turn, 50 times each, most likely at
 * one address. Each block must be charged to the library that was there then, and both be named
 * although neither is loaded at the end.
 *
 * expect:
 *   site only_in_a  allocs=50 frees=0 bytes=2500 live=2500 blocks=50
 *   site only_in_b  allocs=50 frees=0 bytes=3500 live=3500 blocks=50
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "victim.h"

static int visit(const char *dir, const char *name)
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
	return dlclose(lib);
}

int main(int argc, char **argv)
{
	int bad = argc != 2;

	for (int i = 0; i < 50 && !bad; i++)
		bad = visit(argv[1], "libvictim_a.so") || visit(argv[1], "libvictim_b.so");
	return bad;
}
