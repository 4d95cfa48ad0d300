/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hardware counters have a driver (PMU), which finds none in many virtual machines. */
#include "src/kernel/counters.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool counters_is_missing(int rc)
{
	return rc == -ENOENT || rc == -EOPNOTSUPP || rc == -EINVAL || rc == -ENODEV ||
	       rc == -ENXIO;
}

/* Has the processor the flag that hypervisors set? */
static bool is_virtual(const char *root)
{
	char path[256], line[4096];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = !strncmp(line, "flags", 5) && strstr(line, " hypervisor");
	if (f)
		fclose(f);
	return found;
}

static bool has_driver(const char *root)
{
	static const char *const devices[] = { "cpu", "cpu_core", "cpu_atom" };
	char path[256];

	for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++) {
		snprintf(path, sizeof(path), "%s/sys/bus/event_source/devices/%s", root,
			 devices[i]);
		if (!access(path, F_OK))
			return true;
	}
	return false;
}

void counters_why_none(const char *root, int rc, char *why, size_t room)
{
	if (!has_driver(root))
		snprintf(why, room, "this machine has no hardware counters%s",
			 is_virtual(root) ? ": it is a virtual machine that hides them"
					  : " that the kernel knows of");
	else if (rc == -EOPNOTSUPP)
		snprintf(why, room, "the hardware counters of this machine cannot interrupt, which "
				    "sampling needs");
	else
		snprintf(why, room, "this processor does not have the counters (%s)",
			 strerror(-rc));
}
