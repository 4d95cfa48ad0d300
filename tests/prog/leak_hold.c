/* SPDX-License-Identifier: GPL-2.0-or-later
 * Blocks held in every way there is, each made in a function of its own; tests/cli/leaks_hold.bats says which chains must be found.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "leak.h"

struct entry {
	struct entry *next;
	char *name;
	long number;
};

struct table {
	long nr;
	struct entry **slots;
	struct { void *nothing; struct entry *last; } stat[4];
};

struct tree { struct tree *left, *right; long key; };
struct flexible { long nr; struct entry *of[]; };

static struct table cache __attribute__((used));
struct tree *root;
#define KEPT __attribute__((used))	/* although nobody reads it */

static KEPT struct flexible *bag;
static KEPT void **untyped;
static KEPT char *middle;
static KEPT struct { struct entry *one, *two; } shared;
static KEPT __thread struct entry *of_thread;
static KEPT struct entry *ring;
static KEPT struct entry *list;

SITE static char *make_name(const char *text) { return strdup(text); }
SITE static struct entry **make_slots(long nr) { return calloc((size_t)nr, sizeof(struct entry *)); }

SITE static struct entry *make_entry(struct entry *next, const char *name)
{
	struct entry *e = malloc(sizeof(*e));

	e->next = next;
	e->name = name ? make_name(name) : NULL;
	e->number = 0;
	return e;
}

SITE static void fill_cache(void)
{
	cache.nr = 16;
	cache.slots = make_slots(16);
	for (int i = 0; i < 10; i++)
		cache.slots[3] = make_entry(cache.slots[3], "a name");
}

SITE static struct entry *make_last(void) { return calloc(1, sizeof(struct entry)); }
SITE static struct tree *make_tree(void) { return calloc(1, sizeof(struct tree)); }
SITE static struct tree *make_leaf(void) { return calloc(1, sizeof(struct tree)); }
SITE static struct flexible *make_bag(void) { return calloc(1, sizeof(struct flexible) + 8 * sizeof(void *)); }
SITE static struct entry *make_in_bag(void) { return calloc(1, sizeof(struct entry)); }
SITE static void **make_untyped(void) { return calloc(1, 64); }
SITE static void *make_behind(void) { return calloc(1, 48); }
SITE static char *make_middle(void) { return calloc(1, 100); }
SITE static struct entry *make_shared(void) { return calloc(1, sizeof(struct entry)); }
SITE static struct entry *make_ring(void) { return calloc(1, sizeof(struct entry)); }
SITE static struct entry *make_static(void) { return calloc(1, sizeof(struct entry)); }
SITE static struct entry *make_tls(void) { return calloc(1, sizeof(struct entry)); }
SITE static struct entry *make_local(void) { return calloc(1, sizeof(struct entry)); }
SITE static struct entry *make_listed(void) { return calloc(1, sizeof(struct entry)); }
SITE static struct entry *make_end(void) { return calloc(1, sizeof(struct entry)); }
__attribute__((unused)) SITE static void *make_in_library(void) { return calloc(1, 72); }
__attribute__((unused)) SITE static void *make_in_library_tls(void) { return calloc(1, 80); }
SITE static void *make_in_register(void) { return hide(calloc(1, 88)); }
SITE static struct entry *make_lost(void) { return calloc(1, sizeof(struct entry)); }

SITE static void grow_tree(void)
{
	root = make_tree();
	root->left = make_tree();
	root->right = make_tree();
	root->right->left = make_leaf();
}

SITE static void grow_list(void)
{
	struct entry **at = &list;

	for (int i = 0; i < 1000; i++, at = &(*at)->next)
		*at = make_listed();
	*at = make_end();
}

SITE static void hold_static(void)
{
	static KEPT struct entry *kept[3];

	kept[2] = make_static();
}

SITE static void make_ring_of_three(void)
{
	ring = make_ring();
	ring->next = make_ring();
	ring->next->next = make_ring();
	ring->next->next->next = ring;
}

static pthread_barrier_t arrived;

SITE static void wait_with(struct entry *volatile *mine)
{
	rest(-1);
	pthread_barrier_wait(&arrived);
	pause();
	(void)mine;
}

static void *worker(void *unused)
{
	struct entry *volatile mine = make_local();

	pthread_setname_np(pthread_self(), "worker");
	of_thread = make_tls();
	wait_with(&mine);
	return unused;
}

static volatile int in_register;

/* Nowhere but in r12, in a system call that does not return. */
SITE static void *keeper(void *unused)
{
	void *p = make_in_register();

	scrub();
	__asm__ volatile("mov %1, %%r12\n xor %%ebx, %%ebx\n xor %%ebp, %%ebp\n xor %%r13d, %%r13d\n xor %%r14d, %%r14d\n"
			 "xor %%r15d, %%r15d\n xor %%edi, %%edi\n xor %%esi, %%esi\n xor %%edx, %%edx\n movq $0, %0\n"
			 CLEAR_REGISTERS "movl $1, %2\n 1: mov $34, %%eax\n syscall\n jmp 1b"
			 : "=m"(p)
			 : "r"(p), "m"(in_register)
			 : "rax", "rcx", "r11", "memory", "rbx", "r12", "r13", "r14", "r15", "rdi", "rsi", "rdx");
	return unused;
}

static void start(void *(*run)(void *))
{
	pthread_t t;

	if (pthread_create(&t, NULL, run, NULL))
		_exit(96);
}

/* In a library that the program keeps no pointer into. */
SITE static void fill_library(void)
{
#ifndef STATIC
	void *lib = dlopen("libleak_lib.so", RTLD_NOW), **bss = lib ? dlsym(lib, "lib_bss") : NULL;
	void **(*tls)(void) = lib ? (void **(*)(void))dlsym(lib, "lib_tls_at") : NULL;

	if (!bss || !tls)
		_exit(97);
	*bss = make_in_library();
	*tls() = make_in_library_tls();
#endif
}

SITE static void cases(void)
{
	fill_cache();
	cache.stat[2].last = make_last();
	grow_tree();
	bag = make_bag();
	bag->of[5] = make_in_bag();
	untyped = make_untyped();
	untyped[3] = make_behind();
	middle = make_middle() + 40;
	shared.one = make_shared();
	shared.two = shared.one;
	hold_static();
	make_ring_of_three();
	make_lost();
	grow_list();
	fill_library();
	pthread_barrier_init(&arrived, NULL, 2);
	start(worker);
	pthread_barrier_wait(&arrived);
	start(keeper);
	while (!in_register)
		usleep(1000);
}
