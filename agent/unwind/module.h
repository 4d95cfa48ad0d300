/* SPDX-License-Identifier: MIT */
/*
 * Which ELF file a pc is in.
 */
#ifndef AGENT_UNWIND_MODULE_H
#define AGENT_UNWIND_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/agent.h"
#include "agent/unwind/cfi.h"
#include "include/pmm/ledger.h"

#define AGENT_MAX_MODULES	2048
#define AGENT_PATHS_BYTES	(256u << 10)

struct agent_module {
	uint64_t start, end;
	uint64_t dev, ino;
	uint32_t id;		/* number in the ledger, 0 = not recorded */
	uint32_t seen;		/* scan that saw it last */
	struct pmm_module rec;	/* as in the ledger, for a forked child's */
	uint32_t path;		/* offset in agent.paths */
	struct cfi_module cfi;
	bool listed;		/* the loader knows it as we do */
};

/* What module_find() copies of it: on stacks that may be small. */
struct module_at {
	uint64_t start, end;
	uint32_t id;
	struct cfi_module cfi;
};

/* Is this the injected agent's own code? */
static inline bool module_own(uint64_t pc)
{
	return pc - agent.own.start < agent.own.end - agent.own.start;
}

/* Text as in /proc/PID/maps, part of a file, or memory. */
struct module_text {
	int fd;				/* -1 = memory */
	uint64_t at, end;		/* offsets, or addresses */
};

/*
 * Read the list of modules now, while the process can still open files; from `text` when it has no
 * /proc, NULL = none. Returns whether it has.
 */
bool module_start(const struct module_text *text);

/*
 * The module that holds pc, reading /proc/self/maps when none is known. Copies it to *out; false
 * when there is none.
 */
bool module_find(uint64_t pc, struct module_at *out);

/*
 * Does the loader (glibc's) have an object there, its .bss included, which /proc/self/maps does not
 * show as part of any?
 */
bool module_loaded(uint64_t address);

/* Copy memory of this process; false where there is a hole. */
bool module_copy(void *to, uint64_t from, size_t bytes);

/* A forked child's ledger: record all modules known again, under the same numbers. */
void module_record_all(void);

#endif
