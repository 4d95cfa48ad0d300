/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libc_victim LIBRARY TIMES: once there is a line to be read, pass the library's probes so often. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void (*pass)(long) = library ? (void (*)(long))dlsym(library, "pass_probes") : NULL;

	if (!pass)
		return 1;
	puts("ready");
	fflush(stdout);
	getchar();
	pass(atol(argv[2]));
	return 0;
}
