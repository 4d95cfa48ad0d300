// SPDX-License-Identifier: GPL-2.0-or-later
/* Records and the log of them: what is taken, what is refused, what comes out again. */
#include "kmod_test.h"

#define OPEN_EVERY	16	/* each so many-th entry of `pieces` lives from its begin to its end */

static long put(int fd, const struct pmm_kmod_record *r)
{
	return call(fd, PMM_RECORD_LOG, r);
}

/* Fields that make no sense, each in a record that is good else. */
static void refused(void)
{
	int fd = device(0);
	const int kinds[] = { 0, PMM_KMOD_NR_KINDS, 255, 0xffff };
	struct pmm_kmod_record r;

	for (int i = 0; i < 4; i++) {
		r = record_of(kinds[i], 16, 1);
		IS(put(fd, &r), -EINVAL);
	}
	for (int kind = PMM_KMOD_MALLOC; kind < PMM_KMOD_NR_KINDS; kind++) {
		r = record_of(kind, 0, 1);
		IS(put(fd, &r), -EINVAL);
		r = record_of(kind, 16, 1);
		r.prev = 32;
		IS(put(fd, &r), kind == PMM_KMOD_REALLOC ? 0 : -EINVAL);
		r.prev = 0;
		r.flags = PMM_KMOD_PREV_GONE;
		IS(put(fd, &r), kind == PMM_KMOD_REALLOC ? 0 : -EINVAL);
		r.flags = 2;
		IS(put(fd, &r), -EINVAL);
		r.flags = 0;
		r.reserved = 1;
		IS(put(fd, &r), -EINVAL);
		r.reserved = 0;
		memset(r.function, 'f', sizeof(r.function));
		IS(put(fd, &r), -EINVAL);
		memset(r.function, 0, sizeof(r.function));
		memset(r.file, 'f', sizeof(r.file));
		IS(put(fd, &r), -EINVAL);
	}
	/* taken were two reallocs only, one of them of what there was not */
	IS(process_of(fd, getpid()).allocations, 2);
	IS(process_of(fd, getpid()).entries, 1);
	IS(process_of(fd, getpid()).foreign_frees, 1);
	close(fd);
}

/* A record with all fields comes out as it went in. */
static void fields(void)
{
	int fd = device(0);
	struct pmm_kmod_record in = record_of(PMM_KMOD_REALLOC, 0x8000000000000010ull, ~0ull >> 1);
	struct pmm_kmod_record out;
	struct timespec now;

	in.prev = 0x7fffffffffffull;
	in.caller = 0xdeadbeefcafeull;
	in.time_ns = 1;
	in.line = ~0u;
	in.tid = 77;
	memset(in.function, 'f', sizeof(in.function) - 1);
	memset(in.file, 'F', sizeof(in.file) - 1);
	IS(put(fd, &in), 0);
	memset(&out, 0xff, sizeof(out));
	IS(read_log(fd, getpid(), 0, &out, 1), 1);
	in.tid = (__u32)syscall(SYS_gettid);
	IS(memcmp(&in, &out, sizeof(in)), 0);
	IS(read_log(fd, getpid(), 0, &out, 1), 0);
	/* the present and the future are now */
	for (int i = 0; i < 2; i++) {
		in = record_of(PMM_KMOD_MALLOC, 0x1000u + (unsigned int)i, 0);
		in.time_ns = i ? ~0ull : 0;
		IS(put(fd, &in), 0);
		IS(read_log(fd, getpid(), 0, &out, 1), 1);
		clock_gettime(CLOCK_REALTIME, &now);
		IS((now.tv_sec * 1000000000ll + now.tv_nsec - (long long)out.time_ns) / 10000000000ll,
		   0);
		IS(out.function[0] | out.file[0] | (int)out.line, 0);
	}
	close(fd);
}

static long kind_of(int fd, int kind, uint64_t pointer, uint64_t bytes, uint64_t prev, int flags)
{
	struct pmm_kmod_record r = record_of(kind, pointer, bytes);

	r.prev = prev;
	r.flags = (__u16)flags;
	return put(fd, &r);
}

/* Each kind and what it does to the log, counted. */
static void kinds(void)
{
	int fd = device(0), pid = getpid();
	struct pmm_kmod_record r;
	struct pmm_kmod_process p;

	IS(kind_of(fd, PMM_KMOD_MALLOC, 0x100, 100, 0, 0), 0);
	IS(kind_of(fd, PMM_KMOD_CALLOC, 0x200, 200, 0, 0), 0);
	IS(kind_of(fd, PMM_KMOD_ALIGNED, 0x300, 300, 0, 0), 0);
	IS(kind_of(fd, PMM_KMOD_MMAP, 0x10000, 0x4000, 0, 0), 0);
	IS(process_of(fd, pid).entry_bytes, 600 + 0x4000);
	/* grown in place, moved, from nothing, and after a free that was logged before */
	IS(kind_of(fd, PMM_KMOD_REALLOC, 0x100, 1000, 0x100, 0), 0);
	IS(kind_of(fd, PMM_KMOD_REALLOC, 0x400, 400, 0x200, 0), 0);
	IS(kind_of(fd, PMM_KMOD_REALLOC, 0x500, 500, 0, 0), 0);
	IS(kind_of(fd, PMM_KMOD_FREE, 0x300, 0, 0, 0), 0);
	IS(kind_of(fd, PMM_KMOD_FREE, 0x300, 0, 0, 0), 0);
	IS(kind_of(fd, PMM_KMOD_REALLOC, 0x600, 600, 0x300, PMM_KMOD_PREV_GONE), 0);
	p = process_of(fd, pid);
	IS(p.allocations, 8);
	IS(p.frees, 3);
	IS(p.entries, 5);
	IS(p.entry_bytes, 1000 + 400 + 500 + 600 + 0x4000);
	IS(p.allocated_bytes, 600 + 0x4000 + 1000 + 400 + 500 + 600);
	IS(p.freed_bytes, 600);
	IS(p.peak_bytes, p.entry_bytes);
	IS(p.peak_entries, 5);
	IS(p.double_frees, 1);
	/* of nobody, as a realloc's previous pointer too; a pointer that comes again */
	IS(kind_of(fd, PMM_KMOD_FREE, 0x999, 0, 0, 0), 0);
	IS(kind_of(fd, PMM_KMOD_REALLOC, 0x700, 700, 0x999, 0), 0);
	IS(kind_of(fd, PMM_KMOD_MALLOC, 0x700, 70, 0, 0), 0);
	p = process_of(fd, pid);
	IS(p.double_frees, 1);
	IS(p.foreign_frees, 2);
	IS(p.replaced, 1);
	IS(p.entries, 6);
	/* the first half of a mapping, the rest, and what is no mapping */
	IS(kind_of(fd, PMM_KMOD_MUNMAP, 0x10000, 0x1000, 0, 0), 0);
	IS(process_of(fd, pid).entry_bytes, 1000 + 400 + 500 + 600 + 70 + 0x3000);
	IS(kind_of(fd, PMM_KMOD_MUNMAP, 0x10000, 0x1000, 0, 0), 0);
	IS(kind_of(fd, PMM_KMOD_MUNMAP, 0x11000, 0x3000, 0, 0), 0);
	IS(kind_of(fd, PMM_KMOD_MUNMAP, 0x100, 1000, 0, 0), 0);
	p = process_of(fd, pid);
	IS(p.foreign_frees, 4);
	IS(p.allocations, 10);
	IS(p.frees, 4);
	IS(p.entries, 5);
	IS(p.bad | p.torn | p.overflows | p.no_memory | p.evicted | p.over_limit | p.sites_lost, 0);
	IS(p.allocated_bytes, 3100 + 0x4000 + 770);
	IS(p.freed_bytes, 600 + 0x4000);
	IS(p.lost_bytes, 700);
	IS(p.peak_bytes, 3200 + 0x4000);
	IS(p.peak_entries, 6);
	IS(read_log(fd, pid, 0, &r, 1), 1);
	IS(r.pointer, 0x100);
	IS(r.bytes, 1000);
	/* what is cleared begins anew */
	IS(monitor(fd, PMM_KMOD_SET_CLEAR, pid), 0);
	p = process_of(fd, pid);
	IS(p.entries | p.entry_bytes | p.allocations | p.frees | p.double_frees, 0);
	IS(p.allocated_bytes | p.freed_bytes | p.lost_bytes | p.peak_bytes | p.peak_entries, 0);
	close(fd);
}

/* A child that adds and frees entries around those that stay, until it is killed. */
static int churn(int nr)
{
	int ready[2], pid;
	char byte;

	if (pipe(ready) || (pid = fork()) < 0)
		die("fork");
	if (!pid) {
		int fd = device(0);

		for (int i = 0; i < nr; i++)
			add(fd, 0x100000u + (unsigned int)i, (unsigned int)i);
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		for (unsigned int n = 0;; n = (n + 1) % (unsigned int)nr) {
			if (n % OPEN_EVERY == 0)
				continue;
			drop(fd, 0x100000u + n);
			add(fd, 0x200000u + n, n);
			drop(fd, 0x200000u + n);
			add(fd, 0x100000u + n, n);
		}
	}
	if (read(ready[0], &byte, 1) != 1)
		die("the child");
	return pid;
}

/* Whoever reads in pieces gets each entry that stays once, and in order. */
static void pieces(void)
{
	static struct pmm_kmod_record r[1000];
	const unsigned int sizes[] = { 1, 7, 1000 };
	const int nr = 1600;
	int fd = device(0), pid = churn(nr);

	for (int s = 0; s < 3; s++) {
		unsigned int expected = 0, more = 0, flags = PMM_KMOD_RESTART;
		long got;

		/* who adds faster than it is read would be read without an end */
		while ((got = read_log(fd, pid, flags, r, sizes[s])) > 0 && more < 100) {
			flags = 0;
			for (long i = 0; i < got; i++) {
				if (r[i].pointer >= 0x200000 || r[i].bytes % OPEN_EVERY)
					continue;
				IS(r[i].pointer, 0x100000u + expected);
				expected += OPEN_EVERY;
			}
			more += expected == (unsigned int)nr;
		}
		IS(got < 0, 0);
		IS(expected, nr);
	}
	end(pid);
	close(fd);
}

/* Places: the same one has the same number, and records of the text file show them. */
static void sites(void)
{
	int fd = device(0);
	struct pmm_kmod_site s = { .size = sizeof(s), .version = PMM_KMOD_VERSION, .line = 7 };

	strcpy(s.function, "main");
	strcpy(s.file, "a.c");
	for (unsigned int i = 1; i <= 200; i++) {
		s.line = i;
		s.id = 0;
		IS(call(fd, PMM_ADD_SITE, &s), 0);
		IS(s.id, i);
	}
	s.line = 7;
	s.id = 0;
	IS(call(fd, PMM_ADD_SITE, &s), 0);
	IS(s.id, 7);
	IS(call(fd, PMM_ADD_SITE, &s), -EINVAL);
	s.id = 0;
	strcpy(s.function, "other");
	IS(call(fd, PMM_ADD_SITE, &s), 0);
	IS(s.id, 201);
	s.id = 0;
	memset(s.function, 'f', sizeof(s.function));
	IS(call(fd, PMM_ADD_SITE, &s), -EINVAL);
	s.function[0] = 0;
	memset(s.file, 'f', sizeof(s.file));
	IS(call(fd, PMM_ADD_SITE, &s), -EINVAL);
	close(fd);
}

/* Prints /proc/pmm/pid of a log that the test knows. */
static void text(void)
{
	int fd = device(0);
	struct pmm_kmod_record r = record_of(PMM_KMOD_MALLOC, 0x5000, 100);

	r.time_ns = (12 * 3600 + 34 * 60 + 56) * 1000000000ull;
	r.caller = 0x401234;
	r.line = 207;
	strcpy(r.function, "main");
	strcpy(r.file, "pmd.c");
	IS(put(fd, &r), 0);
	r.kind = PMM_KMOD_REALLOC;
	r.pointer = 0x6000;
	r.prev = 0x5000;
	r.bytes = 200;
	IS(put(fd, &r), 0);
	r = record_of(PMM_KMOD_CALLOC, 0x7000, 0);
	r.time_ns = 1;
	IS(put(fd, &r), 0);
	r = record_of(PMM_KMOD_MMAP, 0x8000, 1ull << 62);
	r.time_ns = 86399999999999ull;
	strcpy(r.function, "a b\n\\\"");
	strcpy(r.file, "/a b/\xc3\xa9.c");
	IS(put(fd, &r), 0);
	r = record_of(PMM_KMOD_FREE, 0x5000, 0);
	r.time_ns = 1000000000;
	IS(put(fd, &r), 0);
	r.pointer = 0x9999;
	r.caller = 0x401235;
	IS(put(fd, &r), 0);
	fflush(stdout);
	if (system("cat /proc/pmm/pid"))
		die("cat");
	close(fd);
}

CASES({ "refused", refused }, { "fields", fields }, { "kinds", kinds }, { "pieces", pieces },
      { "sites", sites }, { "text", text })
