/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program to attach to that loads a library only then, and at once enters a function of the library that pmm patches: the thread faults
 * in the function's third instruction (the jump is laid over it and the second), and the handler does not return until it is let go. Nobody can write over these instructions
 * meanwhile. (As a library, with PLUGIN: that function.)
 *   l  load it, enter -> "held"
 *   r  let the thread go -> "released"
 *   p  is the function patched? -> "jump" or "plain"
 *   g  call it 10 times -> "done"
 *   e  end with status 48
 */
#ifdef PLUGIN
#include <stdlib.h>

char gate[4096] __attribute__((aligned(4096), visibility("hidden")));
void *held_new(size_t n);

void *held_new(size_t n) { return malloc(n); }

/* operator new(unsigned long) */
__asm__(".text\n"
	".globl _Znwm\n"
	".type _Znwm, @function\n"
	"_Znwm:\n"
	"	nop\n"
	"	push %rbx\n"
	"	cmpb $0, gate(%rip)\n"
	"	call held_new@PLT\n"
	"	pop %rbx\n"
	"	ret\n"
	".size _Znwm, . - _Znwm\n"
	".section .note.GNU-stack, \"\", @progbits\n"
	".text\n");

void *the_gate(void);
void *the_gate(void) { return gate; }
#else
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "attach.h"

static void *(*make)(size_t);
static void *(*the_gate)(void);
static unsigned char loaded[16];
static sem_t inside, go_on;
static pthread_t thread;

static void on_fault(int sig)
{
	(void)sig;
	sem_post(&inside);
	while (sem_wait(&go_on))
		;
	mprotect(the_gate(), 4096, PROT_READ | PROT_WRITE);
}

static void *enter(void *arg)
{
	free(make(100));
	return arg;
}

static const char *load(const char *path)
{
	struct sigaction sa = { .sa_handler = on_fault };
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	*(void **)&make = lib ? dlsym(lib, "_Znwm") : NULL;
	*(void **)&the_gate = lib ? dlsym(lib, "the_gate") : NULL;
	if (!make || !the_gate)
		return "WRONG\n";
	memcpy(loaded, (void *)make, sizeof(loaded));
	mprotect(the_gate(), 4096, PROT_NONE);
	sigaction(SIGSEGV, &sa, NULL);
	pthread_create(&thread, NULL, enter, NULL);
	sem_wait(&inside);
	return "held\n";
}

SITE static void *late(void) { return fill(make(100), 100); }

static const char *obey(char c, const char *path)
{
	if (c == 'l')
		return load(path);
	if (c == 'p')
		return memcmp(loaded, (void *)make, sizeof(loaded)) ? "jump\n" : "plain\n";
	if (c == 'r') {
		sem_post(&go_on);
		pthread_join(thread, NULL);
		return "released\n";
	}
	for (int i = 0; i < 10; i++)
		hide(late());
	return "done\n";
}

int main(int argc, char **argv)
{
	char c;

	sem_init(&inside, 0, 0);
	sem_init(&go_on, 0, 0);
	say("ready\n");
	while (argc > 1 && (c = order()) && c != 'e')
		say(obey(c, argv[1]));
	return 48;
}
#endif
