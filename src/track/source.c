/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which source serves a FILE|PID argument, and the source that reads running processes.
 */
#include "src/track/source.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "include/pmm/ledger.h"
#include "src/ledger/ledger_heap.h"
#include "src/proc/proc.h"
#include "src/roots/glibc/figures.h"

static int capture_ledger_read(const char *what, uint64_t max_bytes, struct heap **out,
			       struct err *e)
{
	struct ledger_options o = { .running = true, .pid = proc_parse_pid(what) };
	struct ledger_map *m;
	int rc;

	if (!o.pid) {
		err_set(e, -EINVAL, "'%.64s' is not a process number", what);
		err_hint(e, "'ps -e' lists all processes with their numbers");
		return -EINVAL;
	}
	rc = ledger_map_open_pid(o.pid, &m, e);
	if (rc)
		return rc;
	m->max_bytes = max_bytes;
	rc = ledger_read(m, &o, out, e);
	if (!rc &&
	    figures_read(o.pid, ledger_map_tick(m) * PMM_TICK_NS, FIGURES_MAX_CHUNKS, *out) < 0) {
		heap_free(*out);
		rc = err_set(e, -ENOMEM, "not enough memory to read the allocator's figures");
	}
	ledger_map_close(m);
	return rc;
}

const struct capture_ops capture_ledger = {
	.name = "ledger",
	.read = capture_ledger_read,
};

const struct capture_ops *capture_for(const char *what)
{
	if (!strncmp(what, "fake:", 5))
		return &capture_fake;
	if (*what && what[strspn(what, "0123456789")] == '\0' && access(what, F_OK))
		return &capture_ledger;
	return &capture_file;
}
