/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's figures of a process as points of its heap. */
#include "src/ledger/usage_point.h"

#include <errno.h>
#include <stdlib.h>

#include "src/base/nanotime.h"
#include "src/base/thread.h"
#include "src/proc/task.h"

uint8_t usage_why(int rc)
{
	switch (rc) {
	case 0:
		return HEAP_USAGE_KNOWN;
	case -ENOENT:
		return HEAP_USAGE_NONE;
	case -EACCES:
	case -EPERM:
		return HEAP_USAGE_DENIED;
	case -ESRCH:
		return HEAP_USAGE_DEAR;
	default:
		return HEAP_USAGE_FAILED;
	}
}

void usage_point_fill(struct heap_usage_point *p, const struct process_figures *f, uint8_t known)
{
	p->known |= known;
	if (known & HEAP_USAGE_TIMES) {
		p->threads = f->threads;
		p->minor_faults = f->minor_faults;
		p->major_faults = f->major_faults;
		p->user_ns = f->user_ns;
		p->system_ns = f->system_ns;
	}
	if (known & HEAP_USAGE_SIZES) {
		p->anon_bytes = f->anon_bytes;
		p->file_bytes = f->file_bytes;
		p->shmem_bytes = f->shmem_bytes;
		p->swap_bytes = f->swap_bytes;
	}
	if (known & HEAP_USAGE_PSS)
		p->pss_bytes = f->pss_bytes;
}

int usage_sizes(pid_t *pid, struct process_figures *f)
{
	int rc = process_figures_status("", *pid, f);

	if (rc != -ESRCH)
		return rc;
	*pid = task_proc(*pid);
	return process_figures_status("", *pid, f);
}

int usage_now(pid_t pid, struct heap *h)
{
	struct heap_usage_point *p = calloc(1, sizeof(*p));
	const uint64_t start_ns = thread_cpu_ns();
	struct process_figures f;
	uint64_t pss_ns;
	int rc;

	if (!p)
		return -ENOMEM;
	free(h->usage_points);
	h->usage_points = p;
	h->nr_usage_points = 0;
	p->time_ns = h->taken_ns;
	rc = process_figures_stat("", pid, &f);
	h->usage = (struct heap_usage){ .sampled = true, .why = usage_why(rc) };
	if (!rc)
		usage_point_fill(p, &f, HEAP_USAGE_TIMES);
	if (!usage_sizes(&pid, &f))
		usage_point_fill(p, &f, HEAP_USAGE_SIZES);
	pss_ns = nanotime();
	rc = process_figures_rollup("", pid, &f);
	h->usage.pss_took_ns = nanotime() - pss_ns;
	h->usage.pss_why = usage_why(rc);
	if (!rc)
		usage_point_fill(p, &f, HEAP_USAGE_PSS);
	h->usage.took_ns = thread_cpu_ns() - start_ns;
	h->nr_usage_points = p->known != 0;
	return 0;
}
