/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program to attach to that loads a library only then (the argument: attach_cxx.cc as a library).
 *   l  loads it -> "loaded"
 *   p  is the library's own operator new patched? -> "jump" or "plain"
 *   g  calls it -> "done"
 *   u  unloads it -> "unloaded"
 *   e  end with status 47
 */
#include <dlfcn.h>

#include "attach.h"

static void *lib;
static int good = 1;
static unsigned char loaded[16];	/* the operator's first bytes: read at once, before pmm looks for libraries again */

static const char *obey(char c, const char *path)
{
	int (*enter)(void) = NULL;
	const unsigned char *code;

	if (c == 'l') {
		good &= (lib = dlopen(path, RTLD_NOW | RTLD_LOCAL)) != NULL;
		code = lib ? dlsym(lib, "_Znwm") : NULL;
		if (code)
			memcpy(loaded, code, sizeof(loaded));
		return "loaded\n";
	}
	if (c == 'u') {
		good &= !dlclose(lib);
		return "unloaded\n";
	}
	if (c == 'p') {
		code = dlsym(lib, "_Znwm");
		return memcmp(loaded, code, sizeof(loaded)) ? "jump\n" : "plain\n";
	}
	*(void **)&enter = dlsym(lib, "enter");
	good &= enter && enter();
	return good ? "done\n" : "WRONG\n";
}

int main(int argc, char **argv)
{
	char c;

	say("ready\n");
	while (argc > 1 && (c = order()) && c != 'e')
		say(obey(c, argv[1]));
	return good ? 47 : 98;
}
