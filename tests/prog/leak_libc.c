/* SPDX-License-Identifier: GPL-2.0-or-later
 * Blocks that the C library holds: all reachable, however many and large they are in this version of it. Only of the table by which
 * unwinders find loaded objects it keeps a pointer to the first aligned address within.
 *
 * expect:
 *   open_file      reachable=+
 *   environment    reachable=+
 *   handlers       reachable=+ exit:any memcheck:any
 *   locale         reachable=+
 *   line           reachable=1/120
 *   directory      reachable=+
 *   loaded         reachable=+ possible=*
 *   time_zone      any
 */
#include <dirent.h>
#include <dlfcn.h>
#include <locale.h>
#include <stdio.h>
#include <time.h>

#include "leak.h"

static FILE *volatile file;
static DIR *volatile dir;
static char *text;

static void handler(void) {}

SITE static void open_file(void)
{
	file = fopen("/proc/self/maps", "r");
	if (!file || fgetc(file) == EOF)
		_exit(97);
	file = NULL;
}

SITE static void environment(void)
{
	setenv("LEAK_VICTIM", "a value that is long enough to be worth a block of its own", 1);
	setenv("LEAK_VICTIM", "another one, because the first is kept for ever by the library", 1);
}

SITE static void handlers(void)
{
	for (int i = 0; i < 100; i++)
		atexit(handler);
}

SITE static void locale(void) { setlocale(LC_ALL, "C.UTF-8"); }
SITE static void directory(void) { dir = opendir("/"); }
SITE static void loaded(void) { dlopen("libleak_lib.so", RTLD_NOW); }

SITE static void time_zone(void)
{
	setenv("TZ", "Europe/Berlin", 1);
	tzset();
}

SITE static void line(void)
{
	size_t room = 0;
	FILE *f = fopen("/proc/self/status", "r");

	if (getline(&text, &room, f) < 0)
		_exit(96);
	fclose(f);
}

static void cases(void) { open_file(), environment(), handlers(), locale(), line(), directory(), loaded(), time_zone(); }
