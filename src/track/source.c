/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The heap that a FILE|PID argument names.
 */
#include "src/track/source.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "include/pmm/ledger.h"
#include "src/import/import.h"
#include "src/ledger/ledger_heap.h"
#include "src/proc/proc.h"
#include "src/roots/glibc/figures.h"
#include "src/store/capture.h"

/* A tracked process: its ledger, and the allocator's own figures out of its memory. */
static int process_read(const char *what, uint64_t max_bytes, struct heap **out, struct err *e)
{
	struct ledger_options o = { .running = true, .usage = true, .pid = proc_parse_pid(what) };
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
		*out = NULL;
		rc = err_set(e, -ENOMEM, "not enough memory to read the allocator's figures");
	}
	ledger_map_close(m);
	return rc;
}

/* A capture, or a profile that another tool recorded. */
static int file_read(const char *path, uint64_t max_bytes, struct heap **out, struct err *e)
{
	enum heap_tool tool = import_recognise(path);

	return tool == HEAP_TOOL_PMM ? capture_read(path, max_bytes, out, e)
				     : import_read(path, tool, max_bytes, out, e);
}

bool source_is_process(const char *what)
{
	return *what && what[strspn(what, "0123456789")] == '\0' && access(what, F_OK);
}

int source_read(const char *what, uint64_t max_bytes, struct heap **out, struct err *e)
{
	return source_is_process(what) ? process_read(what, max_bytes, out, e) :
					 file_read(what, max_bytes, out, e);
}
