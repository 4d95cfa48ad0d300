/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine's counters of memory: /proc/vmstat. */
#ifndef KERNEL_VMSTAT_H
#define KERNEL_VMSTAT_H

#include <stdint.h>

#include "src/base/vec.h"

#define VMSTAT_NAME_BYTES	56

struct vmstat_counter {
	char name[VMSTAT_NAME_BYTES];
	uint64_t value;
};

/* All zero is empty: nothing is known. */
struct vmstat {
	VEC(struct vmstat_counter) v;	/* in the file's order */
};

/* Read it anew. 0, or -errno: it is empty then. */
int vmstat_read(struct vmstat *s);

/* The same of text of that form; lines of another form are left out. 0 or -ENOMEM. */
int vmstat_parse(struct vmstat *s, const char *text);

/* NULL: there is no such counter. */
const struct vmstat_counter *vmstat_find(const struct vmstat *s, const char *name);

void vmstat_fini(struct vmstat *s);

#endif
