/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of a running process for the record and the ledger. */
#include "src/inject/reserve.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "include/pmm/ledger.h"
#include "src/inject/eject.h"
#include "src/inject/memfile.h"
#include "src/ptrace/gadget.h"
#include "src/proc/limits.h"
#include "src/proc/proc.h"
#include "src/ptrace/remote.h"

#define WAIT_NS	2000000000ull

struct room {
	struct attached *a;
	const struct inject_options *o;
	struct remote *remote;
	int64_t their_fd;		/* of the ledger's file, as the process has it, -1 = none */
	int tree_fd;			/* ... as we have it */
	uint64_t bytes;			/* its size */
	/* on address space, as it will be; where the record says so */
	struct rlimit limit;
	uint64_t taken;			/* it stays: what the ledger takes of it */
};

int reserve_no_room(pid_t pid, struct err *e)
{
	err_set(e, -ENOMEM, "there is no memory for the ledger of process %d", (int)pid);
	err_hint(e, "its control group or limits are nearly full; give it less with "
		    "--ledger-limit, or use --sample");
	return -ENOMEM;
}

/* Made by the process, opened and laid out by us. */
static int make_file(struct room *m, struct err *e)
{
	struct stat st;
	int rc = memfile_make(m->a->pid, m->remote, PMM_MEMFD_NAME, &m->their_fd, &m->tree_fd, e);

	if (rc && m->tree_fd >= 0)
		close(m->tree_fd);
	if (!rc)
		rc = m->o->make_tree(m->o->arg, m->tree_fd, e);
	if (rc) {
		m->tree_fd = -1;
		return rc;
	}
	if (fstat(m->tree_fd, &st))
		return err_set(e, -errno, "the ledger's file cannot be examined: %s",
			       strerror(errno));
	m->bytes = (uint64_t)st.st_size;
	m->a->record.tree_inode = st.st_ino;
	return 0;
}

/*
 * The program keeps what address space it may have: the limit is to be raised by what the ledger
 * takes, if it may be.
 */
static void plan_limit(struct room *m)
{
	struct pmm_attach *r = &m->a->record;
	uint64_t now, most;

	if (limits_space(m->a->pid, &now, &most) || now > RLIM_INFINITY - m->bytes)
		return;
	m->limit = (struct rlimit){ now, most };
	m->limit.rlim_cur += m->bytes;
	r->limit_raised_bytes = m->bytes;
	r->limit_raised_to = m->limit.rlim_cur;
	if (m->limit.rlim_max < RLIM_INFINITY - m->bytes)
		r->limit_most_to = m->limit.rlim_max + m->bytes;
}

/*
 * The hard limit too, by us and before the soft one: that takes a privilege. False: the soft one
 * alone has to do, or nothing can be raised.
 */
static bool raise_both(struct room *m)
{
	struct pmm_attach *r = &m->a->record;
	struct rlimit both = { r->limit_raised_to, r->limit_most_to };

	if (!r->limit_most_to)
		return false;
	if (!prlimit(m->a->pid, RLIMIT_AS, &both, NULL))
		return true;
	r->limit_most_to = 0;
	if (m->limit.rlim_cur > m->limit.rlim_max) {
		m->taken = m->bytes;
		r->limit_raised_bytes = r->limit_raised_to = 0;
	}
	return false;
}

/*
 * By the process: for its own limits it needs no rights. Where a filter does not let it, it stays;
 * then the mapping may fail.
 */
static int raise_limit(struct room *m, struct err *e)
{
	const uint64_t at = remote_scratch(m->remote);
	int64_t result;
	int rc;

	if (raise_both(m) || !m->a->record.limit_raised_bytes)
		return 0;
	rc = stop_write(m->a->pid, at, &m->limit, sizeof(m->limit));
	if (rc)
		return err_set(e, rc, "the stack of a thread of process %d cannot be written: %s",
			       (int)m->a->pid, strerror(-rc));
	return remote_syscall(m->remote, SYS_prlimit64, (const uint64_t[6]){ 0, RLIMIT_AS, at, 0 },
			      &result, e);
}

static int write_record(struct room *m, struct err *e)
{
	struct pmm_attach *r = &m->a->record;
	int rc;

	plan_limit(m);
	r->monitor_pid = (uint32_t)getpid();
	r->monitor_space = attached_own_space();
	proc_start_time(getpid(), &r->monitor_start);
	rc = attached_create(m->a);
	return rc ? err_set(e, rc, "the memory of process %d cannot be written: %s", (int)m->a->pid,
			    strerror(-rc))
		  : 0;
}

static int map_file(struct room *m, struct err *e)
{
	int64_t at, result = 0;
	int rc = remote_syscall(m->remote, SYS_mmap,
				(const uint64_t[6]){ 0, m->bytes, PROT_NONE,
						     MAP_SHARED | MAP_NORESERVE,
						     (uint64_t)m->their_fd, 0 },
				&at, e);

	if (rc)
		return rc;
	if (at < 0 && at > -4096)
		return reserve_no_room(m->a->pid, e);
	m->a->tree = (uint64_t)at;
	m->a->end = m->a->tree + m->bytes;
	rc = remote_syscall(m->remote, SYS_madvise,
			    (const uint64_t[6]){ m->a->tree, m->bytes, MADV_DONTFORK }, &result, e);
	return !rc && result ? reserve_no_room(m->a->pid, e) : rc;
}

static int make_all(struct room *m, struct err *e)
{
	int rc = memfile_map(m->a->pid, m->remote, PMM_RECORD_NAME, PMM_RECORD_BYTES,
			     PROT_READ | PROT_WRITE, &m->a->at, NULL, e);

	if (!rc)
		rc = make_file(m, e);
	if (!rc)
		rc = write_record(m, e);
	if (!rc)
		rc = raise_limit(m, e);
	return rc ? rc : map_file(m, e);
}

/* The fittest thread that can be used. */
static int use_fittest(struct stopped *all, struct remote **out, struct err *e)
{
	struct remote_walk walk = { 0 };
	int rc = -EAGAIN;
	size_t i;

	while (rc && remote_next(all, &walk, &i))
		rc = remote_open(all, i, out, e);
	return rc;
}

int reserve(struct attached *a, const struct inject_options *o, int *tree_fd,
	    uint64_t *taken_bytes, uint64_t *pause_ns, struct err *e)
{
	struct room m = { .a = a, .o = o, .their_fd = -1, .tree_fd = -1 };
	struct gadget gadget;
	struct stopped all;
	int64_t result;
	uint64_t ns;
	/* takes a while: not while they are stopped */
	bool found = !gadget_find(a->pid, &gadget, NULL);
	int rc = stop_all(a->pid, WAIT_NS, &all, e);

	*tree_fd = -1;
	*taken_bytes = 0;
	if (rc)
		return rc;
	all.gadget = found ? &gadget : NULL;
	rc = use_fittest(&all, &m.remote, e);
	if (!rc)
		rc = make_all(&m, e);
	*taken_bytes = m.taken;
	if (m.their_fd >= 0)
		remote_syscall(m.remote, SYS_close, (const uint64_t[6]){ (uint64_t)m.their_fd },
			       &result, NULL);
	if (rc && m.remote)
		eject_memory(a, m.remote, NULL);
	remote_close(m.remote);
	ns = stop_resume(&all);
	*pause_ns = ns > *pause_ns ? ns : *pause_ns;
	*tree_fd = m.tree_fd;
	return rc;
}
