/* SPDX-License-Identifier: GPL-2.0-or-later
 * How many bytes of the caller's stack each call overwrites, a line "NAME BYTES" each, for tests/cli/stack_use.bats to compare without and with
 * pmm. "NAME" is a call from a place that has not called before, "NAME_again" the fourth from there.
 *
 * What is below the stack pointer is filled with a pattern before the call, and looked through afterwards. Nothing else runs: no stdio, all
 * functions bound at the start.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "attach.h"
#ifdef PMM
#include <pmm.h>
#endif

#define PATTERN		0x5ab07e5e70bac0deull
#define PAINTED		(48u << 10)
#define STACK		(128u << 10)

static void *block, *mapping, *library;
static char *stack_of_child;	/* shared with children: what they have overwritten is seen here */

/* ---- the measure ----------------------------------------------------------------------------- */

SITE static void paint(volatile uint64_t *from, volatile uint64_t *end)
{
	while (from < end)
		*from++ = PATTERN;
}

SITE static uint64_t unpainted(const volatile uint64_t *from, const volatile uint64_t *end)
{
	while (from < end && *from == PATTERN)
		from++;
	return (uint64_t)end - (uint64_t)from;
}

/* Bytes below the stack pointer of here that call() overwrites, its own frame and return address among them. */
SITE static uint64_t used_by(void (*call)(void))
{
	uint64_t *sp;

	__asm__ volatile("mov %%rsp, %0" : "=r"(sp));
	/* short of paint()'s own return address */
	paint(sp - PAINTED / 8, sp - 8);
	call();
	return unpainted(sp - PAINTED / 8, sp);
}

static void told(const char *name, const char *when, uint64_t bytes)
{
	char line[80];

	strcat(strcat(strcpy(line, name), when), " ");
	say_number(line, bytes);
}

struct one {
	const char *name;
	void (*before)(void);
	void (*call)(void);
	void (*after)(void);
	int in_thread;		/* also as the first call of a thread */
};

SITE static void measure(const struct one *o)
{
	uint64_t used[4];

	for (unsigned int i = 0; i < 4; i++) {
		if (o->before)
			o->before();
		used[i] = used_by(o->call);
		if (o->after)
			o->after();
	}
	told(o->name, "", used[0]);
	told(o->name, "_again", used[3]);
}

/* ---- calls ----------------------------------------------------------------------------------- */

SITE static void put(void) { free(block); block = NULL; }
SITE static void get(void) { block = malloc(100); }
SITE static void call_malloc(void) { block = hide(malloc(100)); }
SITE static void call_malloc_large(void) { block = hide(malloc(1 << 20)); }
SITE static void call_calloc(void) { block = hide(calloc(10, 10)); }
SITE static void call_realloc_new(void) { block = hide(realloc(NULL, 100)); }
SITE static void call_realloc(void) { block = hide(realloc(block, 3000)); }
SITE static void call_free(void) { free(block); block = hide(NULL); }
SITE static void call_memalign(void) { block = hide(aligned_alloc(256, 512)); }
SITE static void call_posix_memalign(void) { posix_memalign(&block, 256, 512); hide(block); }
SITE static void call_fails(void) { block = hide(malloc((size_t)1 << 50)); }

SITE static void map(void) { mapping = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }
SITE static void unmap(void) { munmap(mapping, 1 << 16); hide(NULL); }
SITE static void remap(void) { mapping = mremap(mapping, 1 << 16, 1 << 17, MREMAP_MAYMOVE); hide(NULL); }
SITE static void unmap_two(void) { munmap(mapping, 1 << 17); hide(NULL); }

SITE static void open_library(void) { library = dlopen("libvictim_a.so", RTLD_NOW); hide(NULL); }
SITE static void close_library(void) { dlclose(library); hide(NULL); }
SITE static void find_symbol(void) { hide(dlsym(RTLD_DEFAULT, "victim_no_such_thing")); }

SITE static void handle(void) { struct sigaction a = { .sa_handler = SIG_IGN }; sigaction(SIGUSR2, &a, NULL); hide(NULL); }

/* A library's code is on the stack for the first time: its unwind information is read. */
static void (*by_library)(void);
static void open_and_find(void) { open_library(); by_library = (void (*)(void))dlsym(library, "enter"); }
SITE static void call_library(void) { by_library(); hide(NULL); }

/* Keeps its CFA in a stack slot, which takes an expression to say. */
void by_expression(void (*call)(void));
__asm__(".text\n"
	"by_expression:\n"
	"	.cfi_startproc\n"
	"	mov %rsp, %rax\n"
	"	.cfi_def_cfa_register %rax\n"
	"	sub $56, %rsp\n"
	"	and $-64, %rsp\n"
	"	mov %rax, 48(%rsp)\n"
	"	.cfi_escape 0x0f, 0x06, 0x77, 0x30, 0x06, 0x23, 0x08, 0x96\n"	/* deref(rsp + 48) + 8 */
	"	call *%rdi\n"
	"	mov 48(%rsp), %rsp\n"
	"	.cfi_def_cfa %rsp, 8\n"
	"	ret\n"
	"	.cfi_endproc\n");
SITE static void call_by_expression(void) { by_expression(call_malloc); hide(NULL); }

static void in_handler(int number) { (void)number; call_malloc(); hide(NULL); }
SITE static void call_in_handler(void)
{
	raise(SIGUSR1);
	hide(NULL);
}
static void handler_set(void)
{
	struct sigaction a = { .sa_handler = in_handler };

	sigaction(SIGUSR1, &a, NULL);
}

static void *nothing(void *arg) { return arg; }
SITE static void call_thread(void)
{
	pthread_t t;

	if (!pthread_create(&t, NULL, nothing, NULL))
		pthread_join(t, NULL);
	hide(NULL);
}

SITE static void call_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	hide(NULL);
}

SITE static void call_spawn(void)
{
	static char *argv[] = { (char *)"true", NULL };
	extern char **environ;
	pid_t pid;

	if (!posix_spawnp(&pid, "true", NULL, NULL, argv, environ))
		waitpid(pid, NULL, 0);
	hide(NULL);
}

SITE static void call_system(void) { system("exit 0"); hide(NULL); }
SITE static void call_vectors(void)
{
	char c[2] = "";
	struct iovec v[2] = { { &c[0], 1 }, { &c[1], 1 } };
	int fd = open("/dev/null", O_RDWR);

	writev(fd, v, 2);
	readv(fd, v, 2);
	close(fd);
	hide(c);
}
SITE static void call_messages(void)
{
	char c = 1;
	struct iovec v = { &c, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds))
		return;
	sendmsg(fds[0], &m, 0);
	recvmsg(fds[1], &m, 0);
	close(fds[0]);
	close(fds[1]);
	hide(&c);
}
SITE static void call_strings(void)
{
	char a[64], b[64];

	strcpy(hide(a), hide("a string"));
	memcpy(hide(b), hide(a), opaque(64));
	strcat(hide(a), hide("another"));
	strlen(hide(a));
	hide(b);
}
SITE static void call_snprintf(void)
{
	char a[64];

	snprintf(hide(a), opaque(64), "%d %s", 1, "two");
	hide(a);
}

static const struct one all[] = {
	{ "malloc", NULL, call_malloc, put, 1 },
	{ "free", get, call_free, NULL },
	{ "calloc", NULL, call_calloc, put, 1 },
	{ "realloc_new", NULL, call_realloc_new, put, 1 },
	{ "realloc", get, call_realloc, put },
	{ "aligned_alloc", NULL, call_memalign, put, 1 },
	{ "posix_memalign", NULL, call_posix_memalign, put },
	{ "malloc_large", NULL, call_malloc_large, put },
	{ "malloc_fails", NULL, call_fails, put },
	{ "malloc_expression", NULL, call_by_expression, put },
	{ "malloc_handler", handler_set, call_in_handler, put },
	{ "mmap", NULL, map, unmap, 1 },
	{ "munmap", map, unmap, NULL },
	{ "mremap", map, remap, unmap_two },
	{ "dlopen", NULL, open_library, close_library },
	{ "malloc_library", open_and_find, call_library, close_library },
	{ "dlsym", NULL, find_symbol, NULL },
	{ "dlclose", open_library, close_library, NULL },
	{ "sigaction", NULL, handle, NULL },
	{ "strings", NULL, call_strings, NULL },
	{ "snprintf", NULL, call_snprintf, NULL },
	{ "vectors", NULL, call_vectors, NULL },
	{ "messages", NULL, call_messages, NULL },
	{ "pthread_create", NULL, call_thread, NULL },
	{ "fork", NULL, call_fork, NULL },
	{ "posix_spawnp", NULL, call_spawn, NULL },
	{ "system", NULL, call_system, NULL },
};

/* ---- the first call of a thread -------------------------------------------------------------- */

static void *thread(void *arg)
{
	const struct one *o = arg;
	uint64_t used = used_by(o->call);

	told("thread_", o->name, used);
	put();
	return NULL;
}

static void in_thread(const struct one *o)
{
	pthread_t t;

	if (pthread_create(&t, NULL, thread, (void *)o))
		_exit(98);
	pthread_join(t, NULL);
}

/* ---- children: on a stack that is seen from here ---------------------------------------------- */

static void (*child_call)(void);
static ucontext_t child_from, child_at;

static void child_runs(void)
{
	uint64_t *sp;

	__asm__ volatile("mov %%rsp, %0" : "=r"(sp));
	paint((uint64_t *)stack_of_child + 1, sp - 8);
	*(uint64_t **)stack_of_child = sp;
	child_call();
	_exit(0);
}

static void in_child(const char *name, void (*call)(void))
{
	uint64_t *sp;
	pid_t pid;

	child_call = call;
	pid = fork();
	if (!pid) {
		getcontext(&child_at);
		child_at.uc_stack.ss_sp = stack_of_child;
		child_at.uc_stack.ss_size = STACK;
		makecontext(&child_at, child_runs, 0);
		swapcontext(&child_from, &child_at);
	}
	waitpid(pid, NULL, 0);
	sp = *(uint64_t **)stack_of_child;
	told("child_", name, unpainted((uint64_t *)stack_of_child + 1, sp));
}

SITE static void call_exit(void) { put(); exit(0); }
SITE static void call_exec(void)
{
	put();
	execl("/bin/true", "true", NULL);
	_exit(1);
}
SITE static void call_exec_search(void)
{
	put();
	execlp("true", "true", NULL);
	_exit(1);
}
SITE static void call_exec_bare(void)
{
	static char *argv[] = { (char *)"true", NULL }, *env[] = { NULL };

	execve("/bin/true", argv, env);
	_exit(1);
}

/* With an argument: says "ready" and waits for an order. */
int main(int argc, char **argv)
{
	(void)argv;
	stack_of_child = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc > 1) {
		say("ready\n");
		order();
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		measure(&all[i]);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].in_thread)
			in_thread(&all[i]);
	in_child("malloc", call_malloc);
	in_child("exit", call_exit);
	in_child("exec", call_exec);
	in_child("exec_bare", call_exec_bare);
	in_child("exec_search", call_exec_search);
	say("done\n");
	return 0;
}
