/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program around generated bugs: NUMBER bug|twin does one of them and ends with 0 when it gets there. "-" reads such lines and does one after the
 * other, each in this process ("NUMBER done" is printed then) or, with "- fork", in a child ("NUMBER PID STATUS").
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bugs.h"

#define MOST (4u << 20)

volatile char seen;
char room[MOST];
char *volatile moved, *volatile other;

/* ---- what the parts are made of ---- */

char *text(size_t n)
{
	static char texts[2][MOST];
	static int turn;
	char *t = texts[turn = !turn];

	memset(t, 'x', n);
	t[n] = '\0';
	return t;
}

wchar_t *wtext(size_t n)
{
	wchar_t *t = (wchar_t *)text((n + 1) * sizeof(*t));

	wmemset(t, L'x', n);
	t[n] = L'\0';
	return t;
}

char *stuffed(char *p, size_t from, size_t n, int wrong)
{
	for (size_t i = from; i < n; i++)
		((volatile char *)p)[i] = '1';
	if (!wrong)
		p[n - 1] = '\0';
	return p + from;
}

char *wstuffed(char *p, size_t from, size_t n, int wrong)
{
	wchar_t *end = (wchar_t *)(p + n);

	for (volatile wchar_t *at = (wchar_t *)(p + from); at < end; at++)
		*at = L'1';
	if (!wrong)
		end[-1] = L'\0';
	return p + from;
}

int file_of(size_t n)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("bytes", MFD_CLOEXEC);
	if (ftruncate(fd, 0) || pwrite(fd, text(n), n, 0) != (ssize_t)n || lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

static int pair[2] = { -1, -1 };

static void paired(void)
{
	if (pair[0] < 0 && socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair))
		abort();
}

int socket_of(size_t n)
{
	paired();
	if (send(pair[0], text(n), n, 0) != (ssize_t)n)
		abort();
	return pair[1];
}

int socket_sink(void)
{
	paired();
	return pair[1];
}

int sink(void)
{
	return file_of(0);
}

FILE *stream_of(size_t n)
{
	static FILE *f;
	int fd = file_of(n);

	if (!f)
		f = fdopen(fd, "r+");
	if (!f || fseek(f, 0, SEEK_SET))
		abort();
	return f;
}

FILE *stream_sink(void)
{
	static FILE *f;

	if (!f)
		f = fopen("/dev/null", "w");
	return f;
}

void churn(int nr, size_t bytes)
{
	for (int i = 0; i < nr; i++)
		free(hide(malloc(bytes)));
}

void take(int nr, size_t bytes)
{
	static char *volatile taken;

	for (int i = 0; i < nr; i++) {
		char *p = malloc(bytes < sizeof(p) ? sizeof(p) : bytes);

		*(char **)p = taken;
		taken = p;
	}
}

char *in_stream(size_t n)
{
	char *p = NULL;
	size_t length = 0;
	FILE *f = open_memstream(&p, &length);

	if (!f || fwrite(text(n - 1), 1, n - 1, f) != n - 1 || fclose(f))
		abort();
	return p;
}

/* The C library takes 120 bytes for a line as short as this. */
char *by_getline(size_t n)
{
	char line[] = "a short line\n", *p = NULL;
	size_t length = 0;
	FILE *f = fmemopen(line, sizeof(line) - 1, "r");

	(void)n;
	if (!f || getline(&p, &length, f) < 0 || fclose(f))
		abort();
	return p;
}

char *by_scanf(size_t n)
{
	char *p = NULL;

	if (sscanf(text(n - 1), "%ms", &p) != 1)
		abort();
	return p;
}

char *by_posix_memalign(size_t align, size_t n)
{
	void *p = NULL;

	return posix_memalign(&p, align, n) ? NULL : p;
}

struct drop {
	void (*fn)(char *p);
	char *p;
};

static void *dropping(void *arg)
{
	struct drop *d = arg;

	d->fn(d->p);
	return NULL;
}

void in_thread(void (*fn)(char *p), char *p)
{
	struct drop d = { fn, p };
	pthread_t thread;

	if (pthread_create(&thread, NULL, dropping, &d) || pthread_join(thread, NULL))
		abort();
}

int compare_bytes(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

/* ---- flows ---- */

static const struct bug *bug;
static char *volatile block;
static go_fn *pending;
static int pending_wrong;

static void go_whole(int wrong)
{
	char *sides[2] = { NULL, NULL };
	char *p;

	if (bug->company)
		sides[0] = malloc(12000);
	p = bug->make(wrong);
	if (bug->company)
		sides[1] = malloc(12000);
	bug->before(p, wrong);
	bug->act(p, wrong);
	bug->after(p, wrong);
	free(sides[0]);
	free(sides[1]);
}

static void go_act(int wrong)
{
	bug->act(block, wrong);
}

static void *thread_body(void *arg)
{
	pending(arg != NULL);
	return NULL;
}

static void flow_thread(go_fn *go, int wrong)
{
	pthread_t thread;

	pending = go;
	if (pthread_create(&thread, NULL, thread_body, wrong ? &thread : NULL) || pthread_join(thread, NULL))
		abort();
}

static void later(void)
{
	if (pending)
		pending(pending_wrong);
}

static void handler(int sig)
{
	(void)sig;
	pending(pending_wrong);
}

static void flow_signal(go_fn *go, int wrong)
{
	(void)go, (void)wrong;
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
}

static void flow_altstack(go_fn *go, int wrong)
{
	static char memory[256 << 10];
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	(void)go, (void)wrong;
	if (sigaltstack(&stack, NULL) || sigaction(SIGUSR2, &action, NULL))
		abort();
	raise(SIGUSR2);
}

SITE static void deeper(int depth, go_fn *go, int wrong)
{
	volatile char frame[64];

	frame[0] = 1;
	if (depth)
		deeper(depth - 1, go, wrong);
	else
		go(wrong);
	frame[1] = 2;
}

static void flow_recursion(go_fn *go, int wrong)
{
	deeper(12, go, wrong);
}

static jmp_buf back;

SITE static void jumps(int depth)
{
	if (depth)
		jumps(depth - 1);
	else
		longjmp(back, 1);
}

static void flow_jump(go_fn *go, int wrong)
{
	if (!setjmp(back))
		jumps(6);
	else
		go(wrong);
}

static void flow_fork(go_fn *go, int wrong)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		go(wrong);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		abort();
	if (WIFSIGNALED(status))
		_exit(128 + WTERMSIG(status));
	if (WEXITSTATUS(status))
		_exit(WEXITSTATUS(status));
}

static void times(int nr, go_fn *go, int wrong)
{
	for (int i = 1; i < nr; i++)
		go(0);
	go(wrong);
}

static void flow_loop(go_fn *go, int wrong)
{
	times(7, go, wrong);
}

static void flow_busy(go_fn *go, int wrong)
{
	times(3000, go, wrong);
}

static void flow_straight(go_fn *go, int wrong)
{
	go(wrong);
}

/* Through a pointer that is chosen while the program runs, and a tail call. */
static void flow_pointer(go_fn *go, int wrong)
{
	static go_fn *volatile chosen;

	chosen = go;
	chosen(wrong);
}

static void flow_atexit(go_fn *go, int wrong)
{
	pending = go;
	pending_wrong = wrong;
	atexit(later);
}

static go_fn *last;

static void flow_destructor(go_fn *go, int wrong)
{
	last = go;
	pending_wrong = wrong;
}

__attribute__((destructor)) static void at_the_end(void)
{
	if (last)
		last(pending_wrong);
}

static const struct flow {
	const char *name;
	void (*fn)(go_fn *go, int wrong);
	int late;	/* after main */
} flows[] = {
	{ "straight", flow_straight, 0 }, { "loop", flow_loop, 0 }, { "busy", flow_busy, 0 }, { "recursion", flow_recursion, 0 },
	{ "pointer", flow_pointer, 0 }, { "thread", flow_thread, 0 }, { "signal", flow_signal, 0 }, { "altstack", flow_altstack, 0 },
	{ "fork", flow_fork, 0 }, { "jump", flow_jump, 0 }, { "atexit", flow_atexit, 1 }, { "destructor", flow_destructor, 1 },
};

static int flow(const char *name, go_fn *go, int wrong)
{
	pending = go;
	pending_wrong = wrong;
	for (size_t i = 0; i < sizeof(flows) / sizeof(*flows); i++)
		if (!strcmp(flows[i].name, name)) {
			flows[i].fn(go, wrong);
			return 1;
		}
	return flow_cxx(name, go, wrong);
}

/* Act and what comes after it, for flows that run after main. */
static void go_end(int wrong)
{
	bug->act(block, wrong);
	bug->after(block, wrong);
}

static int is_late(const char *name)
{
	return !strcmp(name, "atexit") || !strcmp(name, "destructor") || !strcmp(name, "static");
}

static int commit(const struct bug *b, int wrong)
{
	bug = b;
	if (b->whole)
		return flow(b->flow, go_whole, wrong);
	if (b->company)
		take(1, 12000);
	block = b->make(wrong);
	if (b->company)
		take(1, 12000);
	b->before(block, wrong);
	if (is_late(b->flow) || !strcmp(b->flow, "fork"))
		return flow(b->flow, go_end, wrong);
	if (!flow(b->flow, go_act, wrong))
		return 0;
	b->after(block, wrong);
	return 1;
}

/* ---- the program ---- */

/* Programs in C have none of C++'s flows. */
__attribute__((weak)) int flow_cxx(const char *name, go_fn *go, int wrong)
{
	(void)name, (void)go, (void)wrong;
	return 0;
}

extern const struct bug *const __start_bugs[], *const __stop_bugs[];

static int one(int number, const char *how)
{
	for (const struct bug *const *b = __start_bugs; b < __stop_bugs; b++)
		if ((*b)->number == number)
			return commit(*b, !strcmp(how, "bug")) ? 0 : 65;
	return 66;
}

static int lines(int forks)
{
	int number, status;
	char how[16];
	pid_t pid;

	while (scanf("%d %15s", &number, how) == 2) {
		if (!forks) {
			one(number, how);
			printf("%d done\n", number);
			fflush(stdout);
			continue;
		}
		pid = fork();
		if (!pid) {
			alarm(120);
			exit(one(number, how));
		}
		waitpid(pid, &status, 0);
		printf("%d %d %d\n", number, (int)pid, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct rlimit no_core, stack = { 1 << 20, RLIM_INFINITY };

	setrlimit(RLIMIT_CORE, &no_core);
	setrlimit(RLIMIT_STACK, &stack);
	if (argc < 2)
		return 64;
	if (*argv[1] == '-')
		return lines(argc > 2);
	alarm(30);
	return one(atoi(argv[1]), argc > 2 ? argv[2] : "twin");
}
