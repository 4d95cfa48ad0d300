/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf() answers EPERM for a dozen reasons. Capabilities are looked at first, then what takes their
 * force away, then what refuses in spite of them.
 */
#include "src/kernel/rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON	38
#define CAP_BPF		39
#endif

#define ALL_IDS		4294967295ul

static FILE *file(const char *root, const char *path)
{
	char full[256];

	if ((size_t)snprintf(full, sizeof(full), "%s%s", root, path) >= sizeof(full))
		return NULL;
	return fopen(full, "re");
}

static long number(const char *root, const char *path)
{
	FILE *f = file(root, path);
	long n = -1;

	if (!f)
		return -1;
	if (fscanf(f, "%ld", &n) != 1)
		n = -1;
	fclose(f);
	return n;
}

static void read_status(const char *root, struct rights *r)
{
	FILE *f = file(root, "/proc/self/status");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "CapEff:", 7))
			r->capabilities = strtoull(line + 7, NULL, 16);
		else if (!strncmp(line, "Seccomp:", 8))
			r->seccomp = strtoul(line + 8, NULL, 10) != 0;
	}
	if (f)
		fclose(f);
}

/* The first user namespace has all numbers as they are. */
static bool in_user_namespace(const char *root)
{
	FILE *f = file(root, "/proc/self/uid_map");
	unsigned long inside, outside, nr;
	bool in = false;

	if (!f)
		return false;
	if (fscanf(f, "%lu %lu %lu", &inside, &outside, &nr) == 3)
		in = inside || outside || nr != ALL_IDS;
	fclose(f);
	return in;
}

/* "none [integrity] confidentiality": the word in brackets holds. */
static enum rights_lockdown read_lockdown(const char *root)
{
	FILE *f = file(root, "/sys/kernel/security/lockdown");
	enum rights_lockdown found = LOCKDOWN_NOT_KNOWN;
	char line[128] = "";

	if (!f)
		return LOCKDOWN_NOT_KNOWN;
	if (fgets(line, sizeof(line), f))
		found = strstr(line, "[confidentiality]") ? LOCKDOWN_CONFIDENTIALITY
		      : strstr(line, "[integrity]") ? LOCKDOWN_INTEGRITY
		      : strstr(line, "[none]") ? LOCKDOWN_NONE : LOCKDOWN_NOT_KNOWN;
	fclose(f);
	return found;
}

void rights_read(const char *root, struct rights *r)
{
	char btf[256];

	*r = (struct rights){ 0 };
	read_status(root, r);
	r->user_namespace = in_user_namespace(root);
	r->bpf_disabled = number(root, "/proc/sys/kernel/unprivileged_bpf_disabled");
	r->perf_paranoid = number(root, "/proc/sys/kernel/perf_event_paranoid");
	r->lockdown = read_lockdown(root);
	snprintf(btf, sizeof(btf), "%s/sys/kernel/btf/vmlinux", root);
	r->btf = !access(btf, R_OK);
}

static bool has(const struct rights *r, int capability)
{
	return r->capabilities >> capability & 1;
}

bool rights_may_bpf(const struct rights *r)
{
	return !r->user_namespace &&
	       (has(r, CAP_SYS_ADMIN) || (has(r, CAP_BPF) && has(r, CAP_PERFMON)));
}

bool rights_is_admin(const struct rights *r)
{
	return has(r, CAP_SYS_ADMIN);
}

static bool is_refusal(int rc)
{
	return rc == -EPERM || rc == -EACCES;
}

#define AS_ROOT	"run pmm as root, or give it CAP_BPF and CAP_PERFMON"

/* Its capabilities do not suffice. */
static void lacks(const struct rights *r, struct rights_reason *reason)
{
	const char *what = has(r, CAP_BPF) ? "CAP_PERFMON"
			 : has(r, CAP_PERFMON) ? "CAP_BPF" : "CAP_BPF and CAP_PERFMON";
	int at = snprintf(reason->why, sizeof(reason->why),
			  "pmm may not load programs into the kernel: it is not root and lacks %s",
			  what);

	if (r->bpf_disabled >= 0)
		snprintf(reason->why + at, sizeof(reason->why) - at,
			 " (kernel.unprivileged_bpf_disabled is %ld)", r->bpf_disabled);
	reason->remedy = AS_ROOT;
}

static void say(struct rights_reason *reason, const char *why, const char *remedy)
{
	snprintf(reason->why, sizeof(reason->why), "%s", why);
	reason->remedy = remedy;
}

/* Refused, or about to be; false: nothing that is known stands in the way. */
static bool why_refused(const struct rights *r, int rc, struct rights_reason *reason)
{
	if (r->user_namespace)
		say(reason, "pmm may not load programs into the kernel: it runs in a user "
			    "namespace, where capabilities do not count for that",
		    "run pmm as root outside of the container");
	else if (!rights_may_bpf(r))
		lacks(r, reason);
	else if (r->lockdown == LOCKDOWN_CONFIDENTIALITY)
		say(reason, "the kernel is locked down (confidentiality): programs may not read "
			    "its memory",
		    "boot with lockdown=integrity, or without lockdown");
	else if (r->seccomp && rc)
		say(reason, "bpf() is refused, probably by the seccomp filter that pmm runs under, "
			    "as in a container",
		    "let the container's seccomp profile allow bpf() and perf_event_open(), or "
		    "run pmm outside of it");
	else if (rc)
		say(reason, "bpf() is refused in spite of pmm's capabilities; why is not known",
		    "look for a security module's message in the kernel's log (dmesg)");
	else
		return false;
	return true;
}

struct rights_reason rights_why_no_bpf(const struct rights *r, int rc)
{
	struct rights_reason reason = { .why = "" };

	if (rc == -ENOSYS)
		say(&reason, "this kernel has no eBPF", "boot a kernel with CONFIG_BPF_SYSCALL=y");
	else if ((!rc || is_refusal(rc)) && why_refused(r, rc, &reason))
		return reason;
	else if (!r->btf)
		say(&reason, "this kernel does not describe its types (no /sys/kernel/btf/vmlinux)",
		    "boot a kernel with CONFIG_DEBUG_INFO_BTF=y");
	else if (rc)
		snprintf(reason.why, sizeof(reason.why), "programs cannot be loaded: %s",
			 strerror(-rc));
	return reason;
}

struct rights_reason rights_why_no_perf(const struct rights *r, int rc)
{
	struct rights_reason reason = { .why = "" };
	bool may = has(r, CAP_PERFMON) || has(r, CAP_SYS_ADMIN);

	if (rc == -ENOSYS)
		say(&reason, "this kernel has no perf events",
		    "boot a kernel with CONFIG_PERF_EVENTS=y");
	else if (!is_refusal(rc))
		snprintf(reason.why, sizeof(reason.why), "perf events cannot be opened: %s",
			 strerror(-rc));
	else if (r->perf_paranoid > 2 && (!may || r->user_namespace)) {
		snprintf(reason.why, sizeof(reason.why),
			 "perf events are closed to users: kernel.perf_event_paranoid is %ld",
			 r->perf_paranoid);
		reason.remedy = "sysctl kernel.perf_event_paranoid=2, or give pmm CAP_PERFMON";
	} else if (r->seccomp)
		say(&reason, "perf_event_open() is refused, probably by the seccomp filter that "
			     "pmm runs under, as in a container",
		    "let the container's seccomp profile allow perf_event_open()");
	else
		say(&reason, "perf_event_open() is refused; why is not known", NULL);
	return reason;
}
