/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that have an agent already. */
#include "src/ledger/launched.h"

#include <errno.h>
#include <stdbool.h>

#include "include/pmm/check.h"
#include "src/ledger/ledger_find.h"
#include "src/ledger/ledger_map.h"

int launched_refuse(pid_t pid, struct err *e)
{
	struct ledger_map *m;
	bool attached, checked, alone;
	int rc;

	rc = ledger_map_open_pid(pid, &m, NULL);
	if (rc == -ENOENT && ledger_awaited(pid)) {
		err_set(e, -EBUSY,
			"process %d was started by 'pmm run' or 'pmm check', which record it from "
			"its first allocation on",
			(int)pid);
		err_hint(e, "'pmm report %d' shows then what it allocates", (int)pid);
		return -EBUSY;
	}
	if (rc)
		return 0;
	attached = m->tree.flags & PMM_TREE_ATTACHED;
	checked = m->tree.check.level != PMM_CHECK_NONE;
	alone = m->tree.flags & PMM_TREE_STANDALONE;
	ledger_map_close(m);
	if (attached)
		return 0;		/* inject_attach() knows more about it */
	if (alone)
		err_set(e, -EBUSY,
			"process %d has a monitor in it, of pmm.h or libpmm.so, which records what "
			"it allocates",
			(int)pid);
	else
		err_set(e, -EBUSY,
			"process %d was started by 'pmm %s', which records what it allocates",
			(int)pid, checked ? "check" : "run");
	err_hint(e,
		 checked ? "'pmm report %d' shows that, 'pmm check --sweep %d' scans all its "
			   "blocks"
			 : "'pmm report %d' shows that, 'pmm snapshot %d' keeps it",
		 (int)pid, (int)pid);
	return -EBUSY;
}
