/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What decides whether this process may see the kernel's events, and why it may not: capabilities,
 * settings of the kernel, lockdown, a seccomp filter, a user namespace.
 */
#ifndef KERNEL_RIGHTS_H
#define KERNEL_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

enum rights_lockdown {
	LOCKDOWN_NOT_KNOWN,
	LOCKDOWN_NONE,
	LOCKDOWN_INTEGRITY,
	LOCKDOWN_CONFIDENTIALITY,
};

struct rights {
	uint64_t capabilities;		/* effective */
	bool user_namespace;		/* not the first one: capabilities hold inside it only */
	bool seccomp;			/* a filter looks at system calls */
	long bpf_disabled;		/* kernel.unprivileged_bpf_disabled; -1: not known */
	long perf_paranoid;		/* kernel.perf_event_paranoid; -1: not known */
	enum rights_lockdown lockdown;
	bool btf;			/* the kernel describes its types */
};

/* Why not: a sentence without its full stop, and what helps. */
struct rights_reason {
	char why[160];
	const char *remedy;		/* constant; NULL: nothing is known to help */
};

/* Of this process; `root` goes before /proc and /sys. */
void rights_read(const char *root, struct rights *out);

/* May this process load programs, as far as its capabilities say? */
bool rights_may_bpf(const struct rights *r);

/* Has it CAP_SYS_ADMIN? */
bool rights_is_admin(const struct rights *r);

/* bpf() has answered -errno; 0: nothing was tried, and it is said what would stand in the way. */
struct rights_reason rights_why_no_bpf(const struct rights *r, int rc);

/* perf_event_open() on a child of this process has answered -errno. */
struct rights_reason rights_why_no_perf(const struct rights *r, int rc);

#endif
