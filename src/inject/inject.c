/*
 * The agent put into a running process.
 *
 * First, with one thread only: it is made to map memory for the agent and for the ledger's file and to call inject_start(), and the jumps
 * are prepared. Then all threads are stopped for as long as it takes to write the jumps. If we die in between, nothing of the program
 * was changed; what is mapped is found and taken out by the next pmm.
 */
#include "src/inject/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "include/pmm/ledger.h"
#include "src/inject/attached.h"
#include "src/inject/eject.h"
#include "src/inject/image.h"
#include "src/inject/leftover.h"
#include "src/inject/maps_text.h"
#include "src/inject/patch.h"
#include "src/target/proc.h"
#include "src/target/task.h"

#ifndef PIDFD_THREAD
#define PIDFD_THREAD	O_EXCL
#endif

#define PAGE		4096ull
#define STRINGS_OFF	1024u
#define ONE_WAIT_NS	2000000000ull
#define ALL_WAIT_NS	2000000000ull
#define START_WAIT_NS	5000000000ull
#define READY_TRIES	50
#define MAX_LEFT	8
#define READY_SLEEP_NS	2000000

struct job {
	pid_t pid;
	const struct inject_options *o;
	struct image image;
	struct attached a;
	struct stopped one;
	struct remote *remote;
	struct pmm_inject_args args;
	uint64_t args_at;
	int tree_fd;		/* as we have it */
	int64_t their_fd;	/* as the process has it, -1 = none */
};

static void sleep_ns(long ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

/* ---- what the thread is made to do ---------------------------------------------------------- */

/* A system call that must not fail. */
static int must(struct job *j, long nr, const uint64_t args[6], const char *what, int64_t *result, struct err *e)
{
	int rc = remote_syscall(j->remote, nr, args, result, e);

	if (rc)
		return rc;
	if (*result >= 0 || *result < -4095)
		return 0;
	err_set(e, (int)*result, "process %d cannot %s: %s", (int)j->pid, what, strerror((int)-*result));
	if (*result == -EMFILE || *result == -ENFILE)
		err_hint(e, "all its file descriptors are in use; pmm needs one for a moment");
	if (*result == -ENOMEM)
		err_hint(e, "its limits on memory or address space leave no room (see /proc/%d/limits)", (int)j->pid);
	return (int)*result;
}

/* Memory for image, arguments and stack, one after the other; the image in place. */
static int map_image(struct job *j, struct err *e)
{
	uint64_t bytes = j->image.nr_bytes + IMAGE_ROOM_BYTES;
	int64_t at, result;
	int rc = must(j, SYS_mmap, (const uint64_t[6]){ 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0 },
		      "map memory", &at, e);

	if (rc)
		return rc;
	rc = attached_range(&j->a, PMM_RANGE_BLOB, (uint64_t)at, bytes);
	j->args_at = (uint64_t)at + j->image.nr_bytes;
	image_place(&j->image, (uint64_t)at);
	if (!rc)
		rc = stop_write(j->pid, (uint64_t)at, j->image.bytes, j->image.nr_bytes);
	if (rc)
		return err_set(e, rc, "the agent cannot be written to process %d: %s", (int)j->pid, strerror(-rc));
	for (unsigned i = 0; !rc && i < j->image.nr_parts; i++)
		rc = must(j, SYS_mprotect,
			  (const uint64_t[6]){ (uint64_t)at + j->image.part[i].offset, j->image.part[i].bytes,
					(uint64_t)j->image.part[i].prot },
			  "make memory executable", &result, e);
	return rc;
}

/*
 * A copy of a descriptor of the process, with the access that the process has to it: opening it through /proc would be done with our
 * rights, and other threads of the process run and can put any file in its place. pidfd_getfd(2), Linux 5.6; of a process whose first
 * thread has ended Linux 6.9.
 */
static int take_fd(pid_t pid, int fd)
{
	const pid_t live = task_proc(pid);
	int pidfd = (int)syscall(SYS_pidfd_open, live, live == pid ? 0 : PIDFD_THREAD), copy, rc;

	if (pidfd < 0)
		return -errno;
	copy = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	rc = copy < 0 ? -errno : copy;
	close(pidfd);
	return rc;
}

/* Is it the file that was just made: a memory file of that name, empty, unsealed? Nothing else may be sized and written. */
static bool is_fresh(int fd)
{
	static const char want[] = "/memfd:" PMM_MEMFD_NAME " (deleted)";
	char path[64], link[sizeof(want) + 1];
	struct stat st;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, link, sizeof(link));
	return n == (ssize_t)sizeof(want) - 1 && !memcmp(link, want, (size_t)n) && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       !st.st_size && !st.st_nlink && fcntl(fd, F_GET_SEALS) == 0;
}

/* The ledger's file: made by the process, so that it counts as the process's, opened and laid out by us. */
static int make_tree(struct job *j, struct err *e)
{
	uint64_t name_at = j->args_at + STRINGS_OFF;
	int rc = stop_write(j->pid, name_at, PMM_MEMFD_NAME, sizeof(PMM_MEMFD_NAME));

	if (rc)
		return rc;
	rc = must(j, SYS_memfd_create, (const uint64_t[6]){ name_at, MFD_CLOEXEC | MFD_ALLOW_SEALING }, "make a memory file",
		  &j->their_fd, e);
	if (rc)
		return rc;
	j->tree_fd = take_fd(j->pid, (int)j->their_fd);
	if (j->tree_fd < 0) {
		err_set(e, j->tree_fd, "cannot take the ledger's file out of process %d: %s", (int)j->pid, strerror(-j->tree_fd));
		if (j->tree_fd == -EINVAL)
			err_hint(e, "its first thread has ended; to attach to such a process takes Linux 6.9");
		return j->tree_fd;
	}
	if (!is_fresh(j->tree_fd))
		return err_set(e, -EPROTO, "process %d put another file in the place of the ledger's", (int)j->pid);
	rc = j->o->make_tree(j->o->arg, j->tree_fd, e);
	if (rc)
		j->tree_fd = -1;
	return rc;
}

/* What is to be undone, to the file: the agent is not there yet that makes it readable in the process. */
static int record_write(struct job *j, struct err *e)
{
	struct pmm_attach *r = &j->a.record;

	r->magic = PMM_ATTACH_MAGIC;
	r->version = PMM_INJECT_VERSION;
	r->monitor_pid = (uint32_t)getpid();
	proc_start_time(getpid(), &r->monitor_start);
	if (pwrite(j->tree_fd, r, sizeof(*r), (off_t)PMM_ATTACH_OFF) == (ssize_t)sizeof(*r))
		return 0;
	return err_set(e, -errno, "no memory for the ledger: %s", strerror(errno));
}

static int start_failed(const struct job *j, struct err *e)
{
	switch ((enum pmm_off_reason)j->args.error) {
	case PMM_OFF_NO_MEMORY:
		err_set(e, -ENOMEM, "there is no memory for the ledger of process %d", (int)j->pid);
		err_hint(e, "its control group or limits are nearly full; give it less with --ledger-limit, or use --sample");
		return -ENOMEM;
	case PMM_OFF_NO_SLOT:
		return err_set(e, -ENOSPC, "no ledger is free for process %d", (int)j->pid);
	default:
		return err_set(e, -EPROTO, "the agent did not start in process %d (reason %d)", (int)j->pid, j->args.error);
	}
}

static int start_agent(struct job *j, struct err *e)
{
	const struct entries *found = j->o->entries;
	char path[IMAGE_ARGS_BYTES - STRINGS_OFF];
	int64_t result;
	int rc;

	snprintf(path, sizeof(path), "%s", found->allocator_path ? found->allocator_path : "");
	j->args = (struct pmm_inject_args){
		.version = PMM_INJECT_VERSION,
		.tree_fd = (int32_t)j->their_fd,
		.dense = found->dense,
		.single_threaded = found->single_threaded,
		.find_object = found->find_object,
		.vdso_clock = found->vdso_clock,
		.mallinfo2 = found->mallinfo2,
		.allocator_path = *path ? j->args_at + STRINGS_OFF : 0,
	};
	maps_text_put(j->pid, j->tree_fd, &j->args);
	rc = stop_write(j->pid, j->args_at + STRINGS_OFF, path, sizeof(path));
	if (!rc)
		rc = stop_write(j->pid, j->args_at, &j->args, sizeof(j->args));
	if (!rc)
		rc = remote_call(j->remote, j->image.base + j->image.start, j->args_at,
				 j->args_at + IMAGE_ROOM_BYTES, START_WAIT_NS, &result, e);
	if (!rc)
		rc = stop_read(j->pid, j->args_at, &j->args, sizeof(j->args));
	maps_text_remove(j->tree_fd, &j->args);
	if (rc)
		return rc;
	if (j->args.private_bytes)
		attached_range(&j->a, PMM_RANGE_PRIVATE, j->args.private_start, j->args.private_bytes);
	if (j->args.tree_bytes)
		attached_range(&j->a, PMM_RANGE_TREE, j->args.tree_start, j->args.tree_bytes);
	j->a.tree = j->args.tree_start;
	j->a.record.limit_raised_bytes = j->args.limit_raised_bytes;
	for (unsigned i = 0; i < PMM_GUARD_RANGES; i++)
		if (j->args.guards[i].bytes)
			attached_range(&j->a, PMM_RANGE_PRIVATE, j->args.guards[i].start, j->args.guards[i].bytes);
	j->a.record.passing_at = j->args.passing_at;
	j->a.record.rest_at = j->args.rest_at;
	j->a.record.stack_end = j->args_at + IMAGE_ROOM_BYTES;
	if (!j->args.error && found->guards && !j->args.rest_at)
		return err_set(e, -ENOMEM, "there is no address space for guarded blocks in process %d", (int)j->pid);
	return j->args.error ? start_failed(j, e) : 0;
}

/* Close their descriptor, and on failure unmap what was mapped. */
static void clean_up(struct job *j, bool failed)
{
	int64_t result;

	if (!j->remote)
		return;
	if (j->their_fd >= 0)
		remote_syscall(j->remote, SYS_close, (const uint64_t[6]){ (uint64_t)j->their_fd }, &result, NULL);
	if (failed)
		attached_limit_lower(&j->a);
	for (uint32_t i = 0; failed && i < j->a.record.nr_ranges; i++)
		remote_syscall(j->remote, SYS_munmap,
			       (const uint64_t[6]){ j->a.record.range[i].start, j->a.record.range[i].bytes }, &result, NULL);
	remote_close(j->remote);
	j->remote = NULL;
}

/* One thread does all that can be done while the others run. */
static int prepare(struct job *j, struct inject_result *r, struct err *e)
{
	int rc = stop_one(j->pid, ONE_WAIT_NS, &j->one, e), made = 0;

	if (rc)
		return rc;
	rc = remote_open(&j->one, 0, &j->remote, e);
	if (!rc)
		rc = map_image(j, e);
	if (!rc)
		rc = make_tree(j, e);
	if (!rc)
		rc = record_write(j, e);
	if (!rc)
		rc = start_agent(j, e);
	if (!rc) {
		made = patch_prepare(&j->a, j->remote, &j->image, j->o->entries, e);
		rc = made < 0 ? made : record_write(j, e);
	}
	if (!rc && !made)
		rc = err_set(e, -ENOTSUP, "no function of the allocator of process %d can be patched", (int)j->pid);
	clean_up(j, rc != 0);
	r->prepare_ns = stop_resume(&j->one);
	r->slot = j->args.slot;
	r->nr_refused = 0;
	for (size_t i = 0; i < j->o->entries->nr; i++)
		r->nr_refused += j->o->entries->v[i].refused != NULL;
	return rc;
}

/* ---- all threads ---------------------------------------------------------------------------- */

/* Stop all threads at a moment when none stands among the instructions to be replaced, and put the jumps in place. */
static int put_in_place(pid_t pid, struct attached *a, uint32_t first, uint64_t *pause_ns, struct err *e)
{
	struct stopped all;

	for (unsigned tries = 0; tries < READY_TRIES; tries++) {
		int rc = stop_all(pid, ALL_WAIT_NS, &all, e);

		if (rc)
			return rc;
		if (patch_ready(&all, a, first)) {
			rc = patch_apply(&all, a, first, e);
			*pause_ns = stop_resume(&all);
			return rc;
		}
		stop_resume(&all);
		sleep_ns(READY_SLEEP_NS);
	}
	err_set(e, -EAGAIN, "a thread of process %d does not come out of the allocator's first instructions", (int)pid);
	err_hint(e, "a signal handler that interrupted it there does not return; try again");
	return -EAGAIN;
}

static int busy_with(pid_t pid, pid_t monitor, struct err *e)
{
	err_set(e, -EBUSY, "process %d is watched by process %d already", (int)pid, (int)monitor);
	err_hint(e, "'pmm report %d' shows what it has found so far; end it, or use 'pmm detach %d'", (int)pid, (int)pid);
	return -EBUSY;
}

static int still_inside(pid_t pid, struct err *e)
{
	err_set(e, -EBUSY, "a thread of process %d is still inside the agent that an earlier pmm has left", (int)pid);
	err_hint(e, "try again once it has come out of the allocator");
	return -EBUSY;
}

/* Agents of earlier checks stay for blocks that the program has not released: ours jumps on to theirs. */
static int stack_upon(pid_t pid, struct attached *a, struct err *e)
{
	struct attached below;
	int nr = attached_find(pid, &below, e);

	if (nr < 0)
		return nr;
	a->record.generation = below.record.generation + 1;
	if (nr < MAX_LEFT)
		return 0;
	err_set(e, -EBUSY, "process %d holds guarded blocks of %d earlier 'pmm attach --check'", (int)pid, nr);
	err_hint(e, "'pmm detach %d' takes out the agents of those that have been released", (int)pid);
	return -EBUSY;
}

static int attach_locked(pid_t pid, const struct inject_options *o, struct inject_result *r, struct err *e)
{
	struct job j = { .pid = pid, .o = o, .tree_fd = -1, .their_fd = -1, .a = { .pid = pid } };
	pid_t monitor;
	bool removed;
	int rc = inject_present(pid, &monitor, e);

	if (rc == 1)
		return busy_with(pid, monitor, e);
	if (rc == 2) {
		rc = eject(pid, &removed, &r->pause_ns, e);
		if (!rc && !removed)
			return still_inside(pid, e);
		rc = rc > 0 ? stack_upon(pid, &j.a, e) : rc;
	}
	if (!rc)
		rc = image_load(o->agent, &j.image, e);
	if (!rc)
		rc = leftover_remove(pid, &j.image, e);
	if (rc >= 0)
		rc = prepare(&j, r, e);
	if (!rc) {
		rc = put_in_place(pid, &j.a, 0, &r->pause_ns, e);
		if (rc < 0)
			eject_unused(&j.a);
		else
			r->nr_patched = (unsigned)rc;
	}
	image_fini(&j.image);
	return rc < 0 ? rc : 0;
}

int inject_attach(pid_t pid, const struct inject_options *o, struct inject_result *r, struct err *e)
{
	int lock = leftover_lock(pid, e), rc;

	*r = (struct inject_result){ 0 };
	if (lock == -EBUSY)
		return lock;
	rc = attach_locked(pid, o, r, e);
	if (lock >= 0)
		close(lock);
	return rc;
}

int inject_clear(pid_t pid, const char *agent, struct err *e)
{
	struct image im = { 0 };
	int rc = image_load(agent, &im, e), lock = rc ? -1 : leftover_lock(pid, e);

	if (lock == -EBUSY)
		rc = lock;
	if (!rc)
		rc = leftover_remove(pid, &im, e);
	if (lock >= 0)
		close(lock);
	image_fini(&im);
	return rc;
}

/* ---- libraries loaded later ----------------------------------------------------------------- */

static uint64_t blob_base(const struct attached *a)
{
	for (uint32_t i = 0; i < a->record.nr_ranges; i++)
		if (a->record.range[i].use == PMM_RANGE_BLOB)
			return a->record.range[i].start;
	return 0;
}

int inject_more(pid_t pid, const char *agent, struct entries *more, uint64_t *pause_ns, struct err *e)
{
	struct remote *remote = NULL;
	struct image image = { 0 };
	struct stopped one;
	struct attached a;
	uint32_t first;
	int rc = attached_find(pid, &a, e);

	*pause_ns = 0;
	rc = rc < 0 ? rc : 0;
	if (rc || !blob_base(&a) || a.inherited)
		return rc ? rc : -ENOENT;
	rc = image_load(agent, &image, e);
	if (rc)
		return rc;
	image_place(&image, blob_base(&a));
	first = a.record.nr_patches;
	rc = stop_one(pid, ONE_WAIT_NS, &one, e);
	if (!rc) {
		rc = remote_open(&one, 0, &remote, e);
		if (!rc)
			rc = patch_prepare(&a, remote, &image, more, e);
		if (remote)
			remote_close(remote);
		if (rc >= 0)
			attached_store(&a);
		stop_resume(&one);
	}
	if (rc > 0)
		rc = put_in_place(pid, &a, first, pause_ns, e);
	image_fini(&image);
	return rc;
}
