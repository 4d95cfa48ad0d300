/* SPDX-License-Identifier: GPL-2.0-or-later
 * Frees and allocates past whoever is preloaded: by a library that is loaded apart (RTLD_DEEPBIND), or by the C library's own functions.
 *
 *	apart	libunseen.so, which is loaded apart, releases 40 blocks of 16 bytes; it makes one of 500 bytes that it loses
 *	lazy	the same, bound when it is called
 *	real	240 blocks of 6 sizes are released by the C library's free, and their memory is handed out anew by its malloc; then one of 10000 bytes is lost
 *	over	10 blocks of 100 bytes, one after the other, each released by the C library's free
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void (*real_free)(void *);
static void *(*real_malloc)(size_t);

static int apart(int flags)
{
	void *lib = dlopen("libunseen.so", flags | RTLD_DEEPBIND), *p[40];
	void (*take)(void *) = lib ? (void (*)(void *))dlsym(lib, "take") : NULL;
	void (*lose)(void) = lib ? (void (*)(void))dlsym(lib, "lose") : NULL;

	if (!take || !lose)
		return 3;
	for (int i = 0; i < 40; i++)
		p[i] = memset(malloc(16), 1, 16);
	for (int i = 0; i < 40; i++)
		take(p[i]);
	memset(p, 0, sizeof(p));
	lose();
	return 0;
}

static int real(void)
{
	static const size_t size[] = { 16, 100, 600, 2000, 5000, 200000 };
	static void *mine;
	void *p[40];

	for (int s = 0; s < 6; s++) {
		for (int i = 0; i < 40; i++)
			p[i] = memset(malloc(size[s]), 1, size[s]);
		for (int i = 0; i < 40; i++)
			real_free(p[i]);
	}
	memset(p, 0, sizeof(p));
	mine = memset(real_malloc(19000), 0, 19000);
	return !mine || !memset(malloc(10000), 1, 10000);
}

static int over(void)
{
	for (int i = 0; i < 10; i++)
		real_free(malloc(100));
	return 0;
}

int main(int argc, char **argv)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW);
	const char *way = argc > 1 ? argv[1] : "";

	real_free = (void (*)(void *))dlsym(libc, "free");
	real_malloc = (void *(*)(size_t))dlsym(libc, "malloc");
	return !strcmp(way, "apart") ? apart(RTLD_NOW) : !strcmp(way, "lazy") ? apart(RTLD_LAZY) : !strcmp(way, "real") ? real() : over();
}
