/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a program comes to load the agent: which libpmm.so, and the environment that makes it so.
 */
#ifndef LEDGER_PRELOAD_H
#define LEDGER_PRELOAD_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/ledger/ledger_tree.h"

/*
 * The agent's file: $PMM_AGENT, else libpmm.so beside the pmm program, else in PMM_LIBDIR. 0;
 * -ENOENT not found, -EINVAL its path cannot be said in LD_PRELOAD.
 */
int preload_find(char path[PATH_MAX], struct err *e);

/* The file of the agent's injected form: $PMM_INJECT, else libpmm_inject.so there. 0, -ENOENT. */
int preload_find_injected(char path[PATH_MAX], struct err *e);

/*
 * The file of the agent's check form: $PMM_CHECK_AGENT, else libpmm_check.so there. 0, -ENOENT,
 * -EINVAL.
 */
int preload_find_check(char path[PATH_MAX], struct err *e);

/* Is this the file of the agent, in one of the forms that programs load? */
bool preload_is_agent(const char *path);

/*
 * What PMM_LEDGER is set to (include/pmm/channel.h): the board, a descriptor of the private socket
 * (-1 = none), the public one's address.
 */
#define PRELOAD_VALUE_BYTES 128
void preload_value(const struct ledger_tree *board, int socket_fd, uint64_t address,
		   char value[PRELOAD_VALUE_BYTES]);

/*
 * The environment `env` with LD_PRELOAD led by `agent`, without other agents, and PMM_LEDGER set to
 * `value`. An array to be released by preload_env_free(), NULL when out of memory.
 */
char **preload_env(char **env, const char *agent, const char *value);
void preload_env_free(char **env);

#endif
