/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is a root in real processes, and what is not: children that say where they have put a
 * pointer.
 */
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "include/pmm/check.h"
#include "src/roots/roots_state_priv.h"
#include "tests/unit/roots_host.h"

#define RW	(PROT_READ | PROT_WRITE)
#define PRIVATE	(MAP_PRIVATE | MAP_ANONYMOUS)

static int data_word = 1, bss_word;
static __thread int tls_word = 1;
static const char *const relro_word = "";

static void *area(size_t bytes, int prot, int flags, int fd)
{
	char *p = mmap(NULL, bytes, prot, flags, fd, 0);

	if (p == MAP_FAILED)
		_exit(2);
	if (prot & PROT_WRITE)
		*p = 1;
	return p;
}

/* ---- mappings -------------------------------------------------------------------------------- */

static void maps_child(void)
{
	int memfd = memfd_create("roots", 0), file = open("/proc/self/exe", O_RDONLY);
	char *page = area(8192, RW, MAP_PRIVATE, file);

	if (ftruncate(memfd, 8192))
		_exit(2);
	host_malloc(100);
	host_place("data", &data_word, IS_ROOT);
	host_place("bss", &bss_word, IS_ROOT);
	host_place("RELRO", &relro_word, IS_ROOT);
	host_place("code", (void *)maps_child, IS_NONE);
	host_place("anonymous memory", area(8192, RW, PRIVATE, -1), IS_ROOT);
	host_place("shared anonymous memory", area(8192, RW, MAP_SHARED | MAP_ANONYMOUS, -1),
		   IS_ROOT);
	host_place("memfd", area(8192, RW, MAP_SHARED, memfd), IS_ROOT);
	host_place("memfd, read only", area(8192, PROT_READ, MAP_SHARED, memfd), IS_ROOT);
	host_place("file, shared, read only", area(4096, PROT_READ, MAP_SHARED, file), IS_NONE);
	host_place("file, private, written", page, IS_ROOT);
	host_place("no access", area(4096, PROT_NONE, PRIVATE, -1), IS_NONE);
	host_place("the program's other data", &host, IS_ROOT);
	host_ready();
}

static void each_kind_of_mapping(void **state)
{
	(void)state;
	assert_int_equal(host_run(maps_child, true, false, NULL), 0);
	assert_int_equal(host_run(maps_child, true, true, NULL), 0);
	assert_int_equal(host_run(maps_child, false, true, NULL), 0);
}

/* ---- the agent's own ------------------------------------------------------------------------- */

/* A library by the name of the agent's check form: a copy of another one. */
static void *agent_data(void)
{
	char command[1024], line[512], perms[8], *found = NULL;
	unsigned long start, stop;
	FILE *f;

	snprintf(command, sizeof(command),
		 "d=$(mktemp -d) && cp \"$(ldconfig -p | sed -n 's/.*libm\\.so\\.6.*x86-64.* => "
		 "//p' | head -1)\" $d/libpmm_check.so && echo $d");
	f = popen(command, "r");
	if (!f || !fgets(line, sizeof(line) - 32, f))
		_exit(2);
	pclose(f);
	line[strcspn(line, "\n")] = 0;
	snprintf(command, sizeof(command), "rm -rf '%s'", line);
	strcat(line, "/libpmm_check.so");
	if (!dlopen(line, RTLD_NOW) || system(command))
		_exit(2);
	f = fopen("/proc/self/maps", "r");
	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "libpmm_check.so") &&
		    sscanf(line, "%lx-%lx %7s", &start, &stop, perms) == 3 && perms[1] == 'w')
			found = (char *)stop -
				1024; /* behind the library's data, in the last page of it */
	if (f)
		fclose(f);
	if (!found)
		_exit(2);
	return found;
}

static void own_note(struct pmm_own *own, void *start, size_t bytes, enum pmm_own_what what,
		     uint64_t wrong)
{
	*own = (struct pmm_own){ (PMM_OWN_TAG ^ (uint64_t)own) + wrong, (uint64_t)start,
				 (uint64_t)start + bytes, what };
}

/*
 * What the agent notes as its tables is no root; what only looks like such a note changes nothing;
 * of the pool only pages that there are count.
 */
static void own_child(void)
{
	struct pmm_own *own = agent_data();
	char *tables = area(8192, RW, PRIVATE, -1), *fence = area(4096, PROT_NONE, PRIVATE, -1);
	char *copied = area(8192, RW, PRIVATE, -1), *fence2 = area(4096, PROT_NONE, PRIVATE, -1);
	char *odd = area(8192, RW, PRIVATE, -1), *fence3 = area(4096, PROT_NONE, PRIVATE, -1),
	     *pool = area(16 * 4096, RW, PRIVATE, -1);
	char *fence4 = area(4096, PROT_NONE, PRIVATE, -1);

	madvise(pool, 16 * 4096, MADV_NOHUGEPAGE);
	own_note(&own[4], pool, 16 * 4096, PMM_OWN_POOL, 0);
	host_place("the pool", pool, IS_ROOT);
	host_place("a page of the pool never touched", pool + 8192, IS_NONE);
	host_place("a third fence", fence3, IS_NONE);
	host_place("a fourth fence", fence4, IS_NONE);
	own_note(&own[0], tables, 8192, PMM_OWN_TABLES, 0);
	own_note(&own[1], copied, 8192, PMM_OWN_TABLES, 1);
	own_note(&own[2], odd + 8, 4096, PMM_OWN_TABLES, 0);
	own_note(&own[3], odd, 8192, 7, 0);
	host_place("the agent's tables", tables, IS_NONE);
	host_place("the second page of them", tables + 4096, IS_NONE);
	host_place("what a copy of a note says", copied, IS_ROOT);
	host_place("what a note of nothing says", odd, IS_ROOT);
	host_place("the agent's data", own, IS_NONE);
	host_place("a fence", fence, IS_NONE);
	host_place("another fence", fence2, IS_NONE);
	host_ready();
}

static void the_agents_own_is_no_root(void **state)
{
	(void)state;
	assert_int_equal(host_run(own_child, true, true, NULL), 0);
}

static void changed_child(void)
{
	int file = open("/proc/self/exe", O_RDONLY);
	char *page = area(8192, RW, MAP_PRIVATE, file);

	mprotect(page, 8192, PROT_READ);
	host_place("changed and then read only", page, IS_ROOT);
	host_place("unchanged", page + 4096, IS_NONE);
	host_ready();
}

static void of_a_file_what_was_changed(void **state)
{
	(void)state;
	assert_int_equal(host_run(changed_child, true, true, NULL), 0);
}

static void reserved_child(void)
{
	int memfd = memfd_create("holes", 0);
	char *p = area(1ull << 40, RW, PRIVATE | MAP_NORESERVE, -1), *q;

	if (ftruncate(memfd, 1ll << 40))
		_exit(2);
	q = area(1ull << 40, RW, MAP_SHARED | MAP_NORESERVE, memfd);
	p[1ull << 39] = q[1ull << 39] = 1;
	host_place("first page", p, IS_ROOT);
	host_place("another page", &p[1ull << 39], IS_ROOT);
	host_place("a page never touched", &p[1ull << 38], IS_NONE);
	host_place("first shared page", q, IS_ROOT);
	host_place("another shared page", &q[1ull << 39], IS_ROOT);
	host_place("a shared page never touched", &q[1ull << 38], IS_NONE);
	host_ready();
}

static void terabytes_without_memory_are_left_out(void **state)
{
	uint64_t bytes;

	(void)state;
	assert_int_equal(host_run(reserved_child, true, true, &bytes), 0);
	assert_true(bytes < 64u << 20);
}

/* ---- threads --------------------------------------------------------------------------------- */

static pthread_barrier_t there;

/* An address below the stack pointer of who called it. */
static __attribute__((noinline)) void *deep(void)
{
	char dead[65536];
	void *address = dead;

	__asm__ volatile("" : "+r"(address) : : "memory");
	return address;
}

static void *waits(void *arg)
{
	int local = 1;
	void *below = deep();

	host_malloc(100);
	host_place("a thread's local", &local, IS_ROOT);
	host_place("its dead stack", below, IS_NONE);
	host_place("its static TLS", &tls_word, IS_ROOT);
	host_place("its record", (void *)pthread_self(), IS_ROOT);
	host_stay(&there);
	return arg;
}

static volatile pid_t ended;

static void *ends(void *arg)
{
	int local = 1;

	host_place(arg ? "stack of an ended thread" : "stack of an ended thread that is not joined",
		   &local, IS_NONE);
	host_place(arg ? "its TLS" : "TLS of one that is not joined", &tls_word, IS_NONE);
	ended = gettid();
	host_place(arg ? "its old record" : "record of one that is not joined",
		   (void *)pthread_self(), arg ? IS_NONE : IS_ROOT);
	return &data_word;
}

static void threads_child(void)
{
	pthread_t thread[4];
	int local = 1;

	pthread_barrier_init(&there, NULL, 3);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, waits, NULL);
	pthread_barrier_wait(&there);
	pthread_create(&thread[2], NULL, ends, NULL);
	while (!ended || !tgkill(getpid(), ended, 0))
		sched_yield();
	pthread_create(&thread[3], NULL, ends, &data_word);
	pthread_join(thread[3], NULL);
	host_place("the first thread's local", &local, IS_ROOT);
	host_place("its dead stack", deep(), IS_NONE);
	host_place("its TLS", &tls_word, IS_ROOT);
	host_ready();
}

static void stacks_from_their_pointers_up(void **state)
{
	(void)state;
	assert_int_equal(host_run(threads_child, true, false, NULL), 0);
	assert_int_equal(host_run(threads_child, false, true, NULL), 0);
}

static void handler(int signo)
{
	int local = signo;

	host_place("a local on the signal stack", &local, IS_ROOT);
	host_ready();
}

static void altstack_child(void)
{
	stack_t stack = { .ss_sp = area(65536, RW, PRIVATE, -1), .ss_size = 65536 };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	int local = 1;

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	host_place("a local on the usual stack", &local, IS_ROOT);
	raise(SIGUSR1);
}

static void the_signal_stack_and_the_other(void **state)
{
	(void)state;
	assert_int_equal(host_run(altstack_child, true, false, NULL), 0);
}

static void coroutine(void)
{
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0);

	host_place("the block that is a stack", (void *)sp, IS_NONE);
	__atomic_store_n(&host->ready, true, __ATOMIC_SEQ_CST);
	__asm__ volatile("1: pause; jmp 1b");
}

static void coroutine_child(void)
{
	static ucontext_t there_now, here;
	int local = 1;

	getcontext(&there_now);
	there_now.uc_stack.ss_sp = host_malloc(65536);
	there_now.uc_stack.ss_size = 65536;
	makecontext(&there_now, coroutine, 0);
	host_place("a local of who switched", &local, IS_ROOT);
	swapcontext(&here, &there_now);
}

static void a_coroutine_on_a_block(void **state)
{
	(void)state;
	assert_int_equal(host_run(coroutine_child, true, false, NULL), 0);
}

static void leave_child(void)
{
	int local[2048] = { 1 };

	host->leave_sp = (uintptr_t)&local[1024] & ~7ull;
	host_place("above where it leaves", &local[1030], IS_ROOT);
	host_place("below where it leaves", &local[1000], IS_NONE);
	host_ready();
}

static void at_the_end_from_the_caller_up(void **state)
{
	(void)state;
	assert_int_equal(host_run(leave_child, true, false, NULL), 0);
}

/* Roots of a child, which are read from its copy, or from itself. */
static struct roots roots_of(pid_t pid, bool no_copy)
{
	const struct process_copy_options o = { .no_copy = no_copy };
	struct roots s = { .state = calloc(1, sizeof(*s.state)) };
	struct err e = { 0 };

	assert_non_null(s.state);
	assert_int_equal(process_copy_take(pid, &o, &s.state->copied, &e), 0);
	s.stopped = !s.state->copied.copy;
	return s;
}

static int await_loss(const struct roots *s, struct err *e)
{
	int rc = 0;

	for (unsigned ms = 0; !rc && ms < 60000; ms++) {
		rc = roots_intact(s, e);
		usleep(1000);
	}
	return rc;
}

/* Whose end it was: the copy's alone, or the process's. */
static void killed_while_it_was_searched(void **state)
{
	static const struct {
		bool no_copy, copy_only;
		int rc;
		const char *says;
	} way[] = {
		{ false, true, -ECHILD, "the copy of process %d was killed while it was searched" },
		{ false, false, -ESRCH, "process %d has ended while it was searched" },
		{ true, false, -ESRCH, "process %d was killed while it was searched" },
	};

	(void)state;
	for (unsigned i = 0; i < NR(way); i++) {
		pid_t pid = fork();
		struct err e = { 0 };
		struct roots s;
		char says[128];

		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		s = roots_of(pid, way[i].no_copy);
		if (way[i].copy_only && s.stopped)
			print_message("no copy: %s\n", s.state->copied.why.text);
		assert_int_equal(s.stopped, way[i].no_copy);
		assert_int_equal(roots_intact(&s, &e), 0);
		kill(way[i].copy_only ? s.state->copied.copy : pid, SIGKILL);
		assert_int_equal(await_loss(&s, &e), way[i].rc);
		snprintf(says, sizeof(says), way[i].says, (int)pid);
		assert_string_equal(e.text, says);
		assert_int_equal(strstr(e.hint, "--stop") != NULL, way[i].copy_only);
		roots_free(&s);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_mapping),
		cmocka_unit_test(the_agents_own_is_no_root),
		cmocka_unit_test(of_a_file_what_was_changed),
		cmocka_unit_test(terabytes_without_memory_are_left_out),
		cmocka_unit_test(stacks_from_their_pointers_up),
		cmocka_unit_test(the_signal_stack_and_the_other),
		cmocka_unit_test(a_coroutine_on_a_block),
		cmocka_unit_test(at_the_end_from_the_caller_up),
		cmocka_unit_test(killed_while_it_was_searched),
	};

	return cmocka_run_group_tests_name("scene", tests, NULL, NULL);
}
