/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's list of modules (agent/unwind/module.c) in a test's own process: its memory, made-up
 * lines of /proc/PID/maps, and what is in the ledger of it.
 */
#ifndef TESTS_UNIT_MODULE_HOST_H
#define TESTS_UNIT_MODULE_HOST_H

#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/agent_host.h"
#include "tests/unit/unit.h"

#include "agent/agent_arena.h"
#include "agent/unwind/module.h"

#define MODULE_HOST_SCRATCH	(1u << 20)

static inline void module_host_begin(void)
{
	agent_host_init(16 << 20);
	agent.scratch = calloc(1, MODULE_HOST_SCRATCH + AGENT_PATHS_BYTES);
	agent.paths = agent.scratch + MODULE_HOST_SCRATCH;
	agent.modules = calloc(AGENT_MAX_MODULES, sizeof(*agent.modules));
}

static inline void module_host_end(void)
{
	free(agent.modules);
	free(agent.scratch);
	agent_host_fini();
}

static inline const struct pmm_module *recorded(uint32_t nr)
{
	return arena_chunk(agent.ledger->module_dir, nr, PMM_MODULE_SHIFT,
			   sizeof(struct pmm_module));
}

/* A process without /proc, which has the list from somewhere else. */
static inline void read_text(const char *text, size_t before)
{
	struct module_text t = { .at = before };
	int fd = memfd_create("maps", MFD_CLOEXEC);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	t.fd = fd;
	t.end = strlen(text);
	agent.confined = true;
	assert_false(module_start(&t));
	assert_int_equal(t.at, before);
	close(fd);
}

#endif
