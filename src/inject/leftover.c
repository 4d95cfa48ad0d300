/* What a killed pmm left in a process. Everything read is outside data. */
#include "src/inject/leftover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "arch/x86_64/remote_arch.h"
#include "include/pmm/ledger.h"
#include "src/inject/attached.h"
#include "src/target/proc.h"
#include "src/target/task.h"

#define LINK "/memfd:" PMM_MEMFD_NAME
#define SAME_BYTES 64		/* of the agent's file: its ELF header */
#define MAX_PIECES 32
#define WAIT_NS 2000000000ull	/* for threads to stop */
#define TRIES 50		/* to find no thread at work in there, with pauses in between */
#define SLEEP_NS 2000000

struct clearing {
	pid_t pid;
	struct remote *r;		/* NULL = only look */
	unsigned nr;
};

static void found(struct clearing *c, long nr, uint64_t a, uint64_t b)
{
	int64_t result;

	if (!c->r || !remote_syscall(c->r, nr, (const uint64_t[6]){ a, b }, &result, NULL))
		c->nr++;
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Is it the file of a tree that was being made, or made, for this process by somebody else? */
static bool abandoned(pid_t pid, int fd)
{
	struct pmm_attach record;
	struct pmm_tree tree;
	ssize_t n = pread(fd, &tree, sizeof(tree), 0);

	if (n <= 0)
		return n == 0;			/* made, and that was all */
	if (n != (ssize_t)sizeof(tree))
		return false;
	if (!tree.magic && !tree.flags)
		return true;			/* given its size, and that was all */
	if (!(tree.flags & PMM_TREE_ATTACHED))
		return false;
	if (pread(fd, &record, sizeof(record), (off_t)PMM_ATTACH_OFF) != (ssize_t)sizeof(record) ||
	    record.magic != PMM_ATTACH_MAGIC)
		return true;
	return record.monitor_pid != (uint32_t)pid;	/* else it watches another process itself */
}

static void clear_file(struct clearing *c, int dir, const char *name)
{
	char link[sizeof(LINK)];
	int fd;

	if (readlinkat(dir, name, link, sizeof(link)) < (ssize_t)sizeof(LINK) - 1 || memcmp(link, LINK, sizeof(LINK) - 1))
		return;
	fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (abandoned(c->pid, fd))
		found(c, SYS_close, strtoull(name, NULL, 10), 0);
	close(fd);
}

static void clear_files(struct clearing *c)
{
	const struct dirent *entry;
	char path[64];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)task_proc(c->pid));
	d = opendir(path);
	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.')
			clear_file(c, dirfd(d), entry->d_name);
	if (d)
		closedir(d);
}

/* ---- memory --------------------------------------------------------------------------------- */

struct pieces {
	struct { uint64_t start, bytes; } v[MAX_PIECES];
	unsigned nr;
};

/* Where the memory without a file that begins with mapping i ends. */
static uint64_t plain_end(const struct proc_maps *maps, size_t i)
{
	uint64_t end = maps->v[i].start;

	for (; i < maps->nr && maps->v[i].start == end && !*maps->v[i].path; i++)
		end = maps->v[i].end;
	return end;
}

/*
 * Memory may have been mapped without anything having been written down yet. The agent's image and the page of remote_call() are known by
 * their first bytes.
 */
static void pieces_find(pid_t pid, const struct image *im, struct pieces *p)
{
	uint64_t bytes = im->nr_bytes + IMAGE_ROOM_BYTES;
	struct proc_maps maps = { 0 };
	uint8_t now[SAME_BYTES];

	p->nr = 0;
	if (proc_maps_read(pid, &maps, NULL))
		maps.nr = 0;
	for (size_t i = 0; i < maps.nr && p->nr < MAX_PIECES; i++) {
		uint64_t start = maps.v[i].start;
		bool call;

		if (*maps.v[i].path || stop_read(pid, start, now, sizeof(now)))
			continue;
		call = maps.v[i].perms & PROC_MAP_EXEC && !memcmp(now, arch_call_code, sizeof(arch_call_code));
		if (!call && (memcmp(now, im->bytes, sizeof(now)) || plain_end(&maps, i) - start < bytes))
			continue;
		p->v[p->nr].start = start;
		p->v[p->nr++].bytes = call ? REMOTE_CODE_BYTES : bytes;
	}
	proc_maps_fini(&maps);
}

static bool inside(const struct pieces *p, uint64_t at)
{
	for (unsigned i = 0; i < p->nr; i++)
		if (at - p->v[i].start < p->v[i].bytes)
			return true;
	return false;
}

/* Is a thread in the memory, or on it? */
static bool in_use(const struct stopped *all, const struct image *im)
{
	struct pieces p;

	pieces_find(all->pid, im, &p);
	for (size_t i = 0; i < all->nr; i++)
		if (!all->v[i].ended && (inside(&p, all->v[i].regs.rip) || inside(&p, all->v[i].regs.rsp - 1)))
			return true;
	return false;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void clear(struct clearing *c, const struct image *im)
{
	struct pieces p;

	pieces_find(c->pid, im, &p);
	for (unsigned i = 0; i < p.nr; i++)
		found(c, SYS_munmap, p.v[i].start, p.v[i].bytes);
	clear_files(c);
}

unsigned leftover_close(pid_t pid, struct remote *r)
{
	struct clearing c = { .pid = pid, .r = r };

	clear_files(&c);
	return c.nr;
}

static bool seen(pid_t pid, const struct image *im)
{
	struct clearing c = { .pid = pid };

	clear(&c, im);
	return c.nr;
}

/* Wait until no thread does what a pmm made it do that was killed meanwhile: once none does, none comes back there. */
static int leave_alone(pid_t pid, const struct image *im, struct err *e)
{
	for (unsigned tries = 0; tries < TRIES; tries++) {
		struct stopped all;
		bool busy;
		int rc = stop_all(pid, WAIT_NS, &all, e);

		if (rc)
			return rc;
		busy = in_use(&all, im);
		stop_resume(&all);
		if (!busy)
			return 0;
		nanosleep(&(struct timespec){ .tv_nsec = SLEEP_NS }, NULL);
	}
	return err_set(e, -EAGAIN, "a thread of process %d is still at work for a pmm that was killed; try again", (int)pid);
}

int leftover_remove(pid_t pid, const struct image *im, struct err *e)
{
	struct clearing c = { .pid = pid };
	struct stopped one;
	struct attached a;
	int rc;

	if (attached_find(pid, &a, NULL) != -ENOENT || !seen(pid, im))
		return 0;
	rc = leave_alone(pid, im, e);
	if (!rc)
		rc = stop_one(pid, WAIT_NS, &one, e);
	if (rc)
		return rc;
	rc = remote_open(&one, 0, &c.r, e);
	if (!rc)
		clear(&c, im);
	if (c.r)
		remote_close(c.r);
	stop_resume(&one);
	return rc ? rc : (int)c.nr;
}

/* ---- one at a time -------------------------------------------------------------------------- */

int leftover_lock(pid_t pid, struct err *e)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	uint64_t start = 0;
	int fd, length;

	proc_start_time(pid, &start);
	length = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "pmm-attach-%d-%llu", (int)pid, (unsigned long long)start);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (!bind(fd, (struct sockaddr *)&name, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)))
		return fd;
	length = errno;
	close(fd);
	if (length != EADDRINUSE)
		return -1;
	err_set(e, -EBUSY, "another pmm is attaching to process %d or detaching from it", (int)pid);
	err_hint(e, "wait for it to finish and try again");
	return -EBUSY;
}
