/*
 * Which ELF file a pc lies in.
 */
#ifndef AGENT_MODULE_H
#define AGENT_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/cfi.h"
#include "include/pmm/ledger.h"

#define AGENT_MAX_MODULES	2048
#define AGENT_PATHS_BYTES	(256u << 10)

struct agent_module {
	uint64_t start, end;
	uint64_t dev, ino;
	uint32_t id;		/* number in the ledger, 0 = not recorded */
	uint32_t seen;		/* scan that saw it last */
	struct pmm_module rec;	/* as in the ledger, for a forked child's */
	uint32_t path;		/* offset in A.paths */
	struct cfi_module cfi;
	bool listed;		/* the loader knows it as we do */
};

/* Read the list of modules now, while the process can still open files. */
void module_start(void);

/* The module that holds pc, reading /proc/self/maps when none is known. Copies it to *out; false when there is none. */
bool module_find(uint64_t pc, struct agent_module *out);

/* A forked child's ledger: record all modules known again, under the same numbers. */
void module_record_all(void);

#endif
