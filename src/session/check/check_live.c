/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heap errors of a running process. */
#include "src/session/check/check_live.h"

#include <errno.h>
#include <stdlib.h>

#include "include/pmm/check.h"
#include "src/ledger/ledger_find.h"
#include "src/ledger/ledger_heap.h"
#include "src/ledger/canary_scan.h"

struct check_live {
	const struct check_live_options *options;
	const struct session_sink *to;
	pid_t pid;
	struct canary_scan scan;
	uint64_t looks;
	uint64_t nr_noted;		/* findings of its agent that were reported */
	bool found;
};

/* The ledger of a process that is checked. 0 or -errno with `e`. */
static int open_ledger(const struct check_live *l, struct ledger_map **m, struct err *e)
{
	pid_t pid = l->pid;
	int rc = ledger_map_open_pid(pid, m, e);

	if (rc == -ENOENT && ledger_awaited(pid))
		return rc;		/* it is said already */
	if (rc == -ENOENT && l->looks) {
		ledger_let_go(pid, e);
	} else if (rc == -ENOENT) {
		err_set(e, rc, "process %d is not checked: pmm does not track it", (int)pid);
		err_hint(e,
			 "start the program with 'pmm check -- COMMAND'; 'pmm attach --check %d' "
			 "guards a sample of a running one's blocks",
			 (int)pid);
	} else if (!rc && (*m)->tree.check.level == PMM_CHECK_NONE) {
		rc = err_set(e, -ENODATA, "process %d is recorded, but not checked", (int)pid);
		err_hint(e, "start the program with 'pmm check -- COMMAND'; 'pmm leaks' and 'pmm "
			    "report' look at this one");
		ledger_map_close(*m);
		*m = NULL;
	}
	return rc;
}

/*
 * The heap with what is new in it; findings from index *from on have not been reported. 0 or -errno
 * with `e`.
 */
static int read_news(struct check_live *l, struct heap **out, uint64_t *from, struct err *e)
{
	const struct ledger_options o = { .running = true, .pid = l->pid };
	struct ledger_map *m = NULL;
	uint64_t swept = 0;
	int rc = open_ledger(l, &m, e);

	if (!rc)
		m->max_bytes = l->options->report->memory_bytes;
	if (!rc && l->options->scan) {
		rc = canary_scan_process(&l->scan, l->pid, m,
					 PMM_MAX_FINDINGS + (uint32_t)l->scan.seen.nr, out, e);
		swept = rc > 0 ? (uint64_t)rc : 0;
		rc = rc < 0 ? rc : 0;
	} else if (!rc) {
		rc = ledger_read(m, &o, out, e);
	}
	ledger_map_close(m);
	if (rc)
		return rc;
	*from = l->nr_noted;
	l->nr_noted = (*out)->nr_findings - swept;
	return 0;
}

static bool again_swept(const void *scan, const struct heap_finding *f)
{
	return canary_scan_has_found(scan, f);
}

static int report_new(struct check_live *l, const struct heap *h, uint64_t from, struct err *e)
{
	struct check_report_options o = *l->options->report;
	uint64_t new = h->nr_findings > from ? h->nr_findings - from : 0;
	int rc = 0;

	o.pid = l->pid;
	o.view.from = from;
	o.view.again = again_swept;
	o.view.again_ctx = &l->scan;
	o.view.no_head = !o.whole && l->looks > 1;
	for (uint64_t i = from; i < h->nr_findings; i++)
		l->found |= !canary_scan_has_found(&l->scan, &h->findings[i]);
	session_released(l->to, l->found);
	o.follows = l->looks > 1;
	if (l->looks == 1 || new)
		rc = check_report(h, &o, l->to, e);
	return rc < 0 ? rc : 0;
}

int check_live_look(struct check_live *l, struct err *e)
{
	struct heap *h = NULL;
	uint64_t from = 0;
	int rc;

	/* the process is read and never held */
	session_released(l->to, l->found);
	rc = read_news(l, &h, &from, e);
	l->looks++;
	if (!rc)
		rc = report_new(l, h, from, e);
	heap_free(h);
	return rc ? rc : l->found;
}

struct check_live *check_live_new(pid_t pid, const struct check_live_options *o,
				  const struct session_sink *to)
{
	struct check_live *l = calloc(1, sizeof(*l));

	if (l)
		*l = (struct check_live){ .options = o, .to = to, .pid = pid };
	return l;
}

void check_live_free(struct check_live *l)
{
	if (l)
		canary_scan_fini(&l->scan);
	free(l);
}
