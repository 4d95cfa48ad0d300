/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that were executed, against the agents that turned up. */
#include "src/track/census.h"

#include <string.h>

#include "src/proc/proc.h"

static void untracked(struct census *c, const char name[PMM_EXEC_NAME], uint32_t why, pid_t pid)
{
	struct census_untracked new = { .why = why, .pid = pid, .nr = 1 };

	vec_each(&c->untracked, u) {
		if (u->why != why || strcmp(u->name, name))
			continue;
		u->nr++;
		return;
	}
	memcpy(new.name, name, sizeof(new.name));
	if (c->untracked.nr >= CENSUS_MAX_UNTRACKED || vec_push(&c->untracked, new))
		c->nr_more++;
}

/* What was expected has not come, and cannot any more. */
static void miss(struct census *c, struct census_process *p)
{
	if (p->expected_ns && p->here_ns <= p->expected_ns)
		untracked(c, p->name, p->why, p->pid);
	p->expected_ns = 0;
}

/*
 * True when all is said of it, and then counts it if it had no agent: its agent is there, or it has
 * ended; and others reported much since it was last asked about, so nothing is on its way.
 */
static bool settle(struct census *c, struct census_process *p)
{
	const bool expects = p->expected_ns && p->here_ns <= p->expected_ns;

	if (!p->old) {
		p->old = true;
		return false;
	}
	if (expects && proc_alive(p->pid))
		return false;
	miss(c, p);
	return true;
}

/* Millions of programs may be executed, in as many processes. */
static void make_room(struct census *c)
{
	size_t nr = 0;

	hash_fini(&c->by_pid);
	vec_each(&c->processes, p)
		if (!settle(c, p) && !hash_put(&c->by_pid, (uint64_t)p->pid, (uint32_t)nr))
			c->processes.v[nr++] = *p;
	c->processes.nr = nr;
	c->room = nr > CENSUS_FORGETS / 2 ? 2 * nr : CENSUS_FORGETS;
	c->room = c->room < CENSUS_MAX_PROCESSES ? c->room : CENSUS_MAX_PROCESSES;
}

static struct census_process *process_of(struct census *c, pid_t pid)
{
	struct census_process new = { .pid = pid };
	uint32_t *at = hash_find(&c->by_pid, (uint64_t)pid);

	if (at) {
		c->processes.v[*at].old = false;
		return &c->processes.v[*at];
	}
	if (c->processes.nr >= CENSUS_FORGETS && c->processes.nr >= c->room &&
	    c->nr_refused++ % CENSUS_FORGETS == 0)
		make_room(c);
	if (c->processes.nr >= CENSUS_MAX_PROCESSES || vec_push(&c->processes, new))
		return NULL;
	if (hash_put(&c->by_pid, (uint64_t)pid, (uint32_t)c->processes.nr - 1)) {
		c->processes.nr--;
		return NULL;
	}
	c->nr_refused = 0;
	return vec_last(&c->processes);
}

/*
 * Of which process is it said? 0: that is not known, as the sender counts processes in another
 * namespace.
 */
static pid_t subject(const struct pmm_message *m, pid_t from)
{
	if (!m->number)
		return from;
	return m->number > 0 && m->self == from ? m->number : 0;
}

void census_exec(struct census *c, const struct pmm_message *m, pid_t from)
{
	pid_t pid = subject(m, from);
	char name[PMM_EXEC_NAME];
	struct census_process *p;

	memcpy(name, m->name, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	/* no process withdraws what others expect */
	if (m->why >= PMM_NR_EXECS || (m->why == PMM_EXEC_FAILED && m->number))
		return;
	if (!pid) {		/* it cannot be known whether its agent turned up */
		if (m->why != PMM_EXEC_TRACKED && m->why != PMM_EXEC_FAILED)
			untracked(c, name, m->why, 0);
		return;
	}
	p = process_of(c, pid);
	if (!p) {
		c->nr_more += m->why != PMM_EXEC_TRACKED && m->why != PMM_EXEC_FAILED;
		return;
	}
	if (m->why == PMM_EXEC_FAILED) {
		p->expected_ns = 0;
		return;
	}
	if (m->time_ns && (m->time_ns < p->expected_ns || m->time_ns < p->here_ns))
		return; /* of who made the process, heard late: it has executed another program
			   since, or its agent is there */
	/* an untracked program says nothing: the number is another process's now */
	miss(c, p);
	p->expected_ns = m->time_ns ? m->time_ns : 1;
	p->why = m->why;
	memcpy(p->name, name, sizeof(p->name));
}

void census_here(struct census *c, pid_t pid, uint64_t time_ns)
{
	struct census_process *p = process_of(c, pid);

	if (p && time_ns > p->here_ns)
		p->here_ns = time_ns;
}

uint64_t census_expects_since(const struct census *c, pid_t pid)
{
	const uint32_t *at = hash_find(&c->by_pid, (uint64_t)pid);
	const struct census_process *p = at ? &c->processes.v[*at] : NULL;

	return p && p->here_ns <= p->expected_ns ? p->expected_ns : 0;
}

bool census_expects(const struct census *c, pid_t pid)
{
	return census_expects_since(c, pid) != 0;
}

void census_close(struct census *c)
{
	vec_each(&c->processes, p)
		miss(c, p);
}

const char *census_why(uint32_t why)
{
	static const char *const text[PMM_NR_EXECS] = {
		[PMM_EXEC_TRACKED] = "pmm's agent did not start in it",
		[PMM_EXEC_STATIC] = "static",
		[PMM_EXEC_32BIT] = "32-bit",
		[PMM_EXEC_FOREIGN] = "for another processor",
		[PMM_EXEC_SECURE] = "set-user-ID",
		[PMM_EXEC_SANITIZER] = "built with AddressSanitizer",
		[PMM_EXEC_ELSEWHERE] = "pmm's agent is not in its root directory",
		[PMM_EXEC_ENVIRONMENT] = "its environment is without pmm's agent",
		[PMM_EXEC_FAILED] = "not executed",
		[PMM_EXEC_OTHER] = "another pmm tracks it, or its PMM_LEDGER was changed",
		[PMM_EXEC_LEAK_SANITIZER] = "built with LeakSanitizer",
		[PMM_EXEC_THREAD_SANITIZER] = "built with ThreadSanitizer",
	};

	return why < PMM_NR_EXECS ? text[why] : "unknown";
}

bool census_can_be_attached(uint32_t why)
{
	return why == PMM_EXEC_STATIC || why == PMM_EXEC_SECURE || why == PMM_EXEC_ELSEWHERE ||
	       why == PMM_EXEC_ENVIRONMENT;
}

void census_fini(struct census *c)
{
	hash_fini(&c->by_pid);
	vec_fini(&c->processes);
	vec_fini(&c->untracked);
	*c = (struct census){ 0 };
}
