/* SPDX-License-Identifier: GPL-2.0-or-later
 * Blocks held by thread-local variables, of the first thread and of another: the program's, of a library loaded with it, of one loaded later.
 *
 * expect:
 *   own            reachable=2/802
 *   initial        reachable=2/804
 *   dynamic        reachable=2/806 memcheck:any
 */
#include <dlfcn.h>
#include <pthread.h>

#include "leak.h"

extern __thread void *leak_initial;
static __thread void *volatile own_tls;
static void **(*dynamic_at)(void);
static int done[2], never[2];

SITE static void own(void) { own_tls = make(401); }
SITE static void initial(void) { leak_initial = make(402); }
SITE static void dynamic(void) { *dynamic_at() = make(403); }
SITE static void touch(void) { *dynamic_at() = NULL; }

static void all(void) { touch(), own(), initial(), dynamic(); }

static void *body(void *arg)
{
	all();
	if (write(done[1], "x", 1) == 1)
		rest(never[0]);
	return arg;
}

static void cases(void)
{
	void *lib = dlopen("libleak_lib.so", RTLD_NOW);
	pthread_t t;

	dynamic_at = lib ? (void **(*)(void))dlsym(lib, "lib_tls_at") : NULL;
	if (!dynamic_at || pipe(done) || pipe(never))
		_exit(97);
	all();
	pthread_create(&t, NULL, body, NULL);
	rest(done[0]);
}
