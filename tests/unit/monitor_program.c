/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The programs that test_monitor launches: one a mode, each with an agent that is made up. */
#include "tests/unit/monitor_program.h"

#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/fake_agent.h"

#define MIB (1ull << 20)
static struct fake_agent agent;

static void start_agent(void)
{
	if (fake_agent_find(&agent, getenv(PMM_ENV)) || fake_agent_claim_by(&agent, 0, 1))
		_exit(99);
}

static void play_exit(void)
{
	start_agent();
	fake_agent_record(&agent, 5, 3);
	agent.ledger->state = PMM_STATE_EXITED;
	agent.ledger->end_tick = agent.board->tick;
	_exit(7);
}

static void play_kill(void)
{
	start_agent();
	fake_agent_record(&agent, 4, 0);
	kill(getpid(), SIGKILL);
}

static void play_gone(void)
{
	start_agent();
	fake_agent_record(&agent, 2, 2);
	_exit(5);
}

/* The test counts here how often it was told. Waiting has an end: the test may have failed. */
static void wait_told(uint64_t times)
{
	for (unsigned i = 0;
	     i < 100000 && __atomic_load_n(&agent.ledger->check.passed, __ATOMIC_ACQUIRE) < times;
	     i++)
		usleep(1000);
}

/* The test may judge what was recorded. */
static void say_recorded(void)
{
	__atomic_store_n(&agent.ledger->check.passed_early, 1, __ATOMIC_RELEASE);
}

/* Three children: one with events and exit code 9, one killed, one that does nothing. */
static void play_family(void)
{
	start_agent();
	fake_agent_record(&agent, 1, 0);
	for (int i = 0; i < 3; i++) {
		if (fork())
			continue;
		if (fake_agent_claim(&agent))
			_exit(99);
		fake_agent_record(&agent, i < 2 ? 10 + (uint64_t)i : 0, 0);
		if (i == 1)
			raise(SIGTERM);
		_exit(9);
	}
	wait_told(4); /* they are zombies until all three have been seen to end */
	for (int i = 0; i < 3; i++)
		wait(NULL);
	_exit(0);
}

/* A child that outlives its parent. */
static void play_daemon(void)
{
	start_agent();
	fake_agent_record(&agent, 1, 1);
	if (fork())
		_exit(0);
	fake_agent_claim(&agent);
	fake_agent_record(&agent, 20, 0);
	say_recorded();
	wait_told(1);
	_exit(0);
}

/* exec: the second image hands in a ledger of its own, and the first is replaced. */
static void play_exec(char *self)
{
	start_agent();
	fake_agent_record(&agent, 30, 0);
	execl(self, self, "--agent", "exec2", NULL);
}

static void play_exec2(void)
{
	start_agent();
	fake_agent_record(&agent, 40, 0);
	usleep(50000);
	_exit(0);
}

/* A heap error's place; it is complete when its type is set. */
static struct pmm_finding *note_finding(uint32_t nr)
{
	struct pmm_ledger *l = agent.ledger;
	struct pmm_finding *f = (struct pmm_finding *)((char *)l + PMM_ARENA_OFF + 3 * 65536) + nr;

	l->finding_dir[0] = (PMM_ARENA_OFF + 3 * 65536) >> PMM_REF_SHIFT;
	*f = (struct pmm_finding){ .by = PMM_BY_ACCESS, .count = 1, .site = 1 };
	__atomic_store_n(&l->check.nr_findings, nr + 1, __ATOMIC_RELEASE);
	return f;
}

/*
 * Heap errors: one, one that is not complete at first, the first again, and one right before exec.
 */
static void play_findings(char *self)
{
	struct pmm_finding *first, *second;

	start_agent();
	fake_agent_record(&agent, 1, 0);
	first = note_finding(0);
	__atomic_store_n(&first->type, PMM_FINDING_OVERRUN, __ATOMIC_RELEASE);
	wait_told(1);
	second = note_finding(1);
	usleep(30000);
	__atomic_store_n(&second->type, PMM_FINDING_UNDERRUN, __ATOMIC_RELEASE);
	wait_told(2);
	__atomic_store_n(&first->count, 6, __ATOMIC_RELEASE);
	wait_told(3);
	__atomic_store_n(&note_finding(2)->type, PMM_FINDING_WILD, __ATOMIC_RELEASE);
	execl(self, self, "--agent", "exec2", NULL);
}

static void play_socket(void)
{
	if (setgid(65534) || setuid(65534) || prctl(PR_SET_DUMPABLE, 0))
		_exit(98);
	if (!fake_agent_find(&agent, getenv(PMM_ENV)))
		_exit(97); /* meant to be impossible: then the socket is not tested */
	if (fake_agent_find_public(&agent, getenv(PMM_ENV)) || fake_connect(&agent.env, 0) >= 0 ||
	    fake_agent_claim_by(&agent, 1, 1))
		_exit(99);
	fake_agent_record(&agent, 3, 0);
	_exit(0);
}

static void play_slow(void)
{
	start_agent();
	fake_agent_record(&agent, 10, 0);
	usleep(300000);
	_exit(0);
}

/* Ten blocks more whenever the monitor has been round twice. */
static void play_paced(void)
{
	start_agent();
	for (uint64_t i = 0; i < 30; i++) {
		fake_agent_record(&agent, 10 * i, 0);
		wait_told(2 * i + 2);
	}
	_exit(0);
}

/* What the program was given: exit code is a bit set of what differs from what the test set up. */
static void play_given(void)
{
	struct sigaction sa;
	struct rlimit lim;
	sigset_t mask;
	int wrong = 0;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int sig = 1; sig < NSIG; sig++)
		if (sig != SIGUSR2 && sigismember(&mask, sig) == 1)
			wrong |= 1;
	if (!sigismember(&mask, SIGUSR2))
		wrong |= 1;
	for (int sig = 1; sig < 32; sig++) {
		sigaction(sig, NULL, &sa);
		if ((sa.sa_handler == SIG_IGN) != (sig == SIGQUIT || sig == SIGHUP))
			wrong |= 2;
	}
	getrlimit(RLIMIT_NOFILE, &lim);
	if (lim.rlim_cur != 100)
		wrong |= 4;
	getrlimit(RLIMIT_FSIZE, &lim);
	if (lim.rlim_cur != 64 * MIB)
		wrong |= 8;
	for (int fd = 3; fd < 100; fd++)
		if ((fcntl(fd, F_GETFD) >= 0) != (fd == 77))
			wrong |= 16;
	if (getpgrp() != getpgid(getppid()))
		wrong |= 32;
	_exit(wrong);
}

static void play_signal(int sig)
{
	(void)sig;
	_exit(42);
}

/* Code comes while it runs: a file mapped executable, after the monitor's first look. */
/*
 * Map code, again and again until the monitor has noticed: when it looks depends on what a look
 * costs.
 */
static void play_code(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);

	start_agent();
	for (int i = 0; i < 40 && !__atomic_load_n(&agent.board->code_epoch, __ATOMIC_RELAXED);
	     i++) {
		usleep(600000);
		mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		for (int k = 0;
		     k < 90 && !__atomic_load_n(&agent.board->code_epoch, __ATOMIC_RELAXED); k++)
			usleep(10000);
	}
	_exit(0);
}

/* A child whose parent waits for it: there is no zombie to look at. */
static void play_reaped(void)
{
	start_agent();
	fake_agent_record(&agent, 1, 1);
	if (!fork()) {
		fake_agent_claim(&agent);
		fake_agent_record(&agent, 8, 0);
		wait_told(1);
		_exit(9);
	}
	wait(NULL);
	wait_told(2);
	_exit(0);
}

/* A child of which nothing is left by the time that the monitor hears of it. */
static void play_brief(void)
{
	start_agent();
	fake_agent_record(&agent, 1, 1);
	if (!fork()) {
		fake_agent_claim(&agent);
		fake_agent_record(&agent, 8, 0);
		_exit(9);
	}
	wait(NULL);
	_exit(0);
}

/* A child that has no ledger for a while: it is waited for all the same. */
static void play_late(void)
{
	sigset_t set;
	int sig;

	start_agent();
	fake_agent_record(&agent, 1, 1);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (fork())
		_exit(0);
	alarm(100); /* the test may have failed */
	sigwait(&set, &sig);
	fake_agent_claim(&agent);
	fake_agent_record(&agent, 6, 0);
	_exit(0);
}

/* A child that is number 1 in a pid namespace of its own. */
static void play_inner(void)
{
	start_agent();
	fake_agent_record(&agent, 1, 1);
	if (unshare(CLONE_NEWPID))
		_exit(98);
	if (!fork()) {
		if (getpid() != 1 || fake_agent_claim(&agent))
			_exit(99);
		for (int i = 0; i < 50; i++) {
			fake_agent_record(&agent, 1 + (uint64_t)i, 0);
			usleep(10000);
		}
		wait_told(1);
		_exit(3);
	}
	wait(NULL);
	_exit(0);
}

static void play_wait(void)
{
	alarm(200); /* not left over when the test dies */
	signal(SIGTERM, play_signal);
	start_agent();
	fake_agent_record(&agent, 1, 0);
	say_recorded();
	for (;;)
		pause();
}

int monitor_program(const char *mode, char *self)
{
	static const struct {
		const char *mode;
		void (*play)(void);
	} modes[] = {
		{ "exit", play_exit },	   { "kill", play_kill },     { "gone", play_gone },
		{ "family", play_family }, { "daemon", play_daemon }, { "exec2", play_exec2 },
		{ "socket", play_socket }, { "slow", play_slow },     { "given", play_given },
		{ "paced", play_paced },   { "wait", play_wait },     { "code", play_code },
		{ "late", play_late },	   { "inner", play_inner },   { "reaped", play_reaped },
		{ "brief", play_brief },
	};

	if (!strcmp(mode, "exec"))
		play_exec(self);
	if (!strcmp(mode, "findings"))
		play_findings(self);
	for (size_t i = 0; i < NR(modes); i++)
		if (!strcmp(modes[i].mode, mode))
			modes[i].play();
	return 96;
}
