/* SPDX-License-Identifier: MIT */
/*
 * A file that is about to be executed: can the agent be in what comes of it? As execve(2) and
 * ld.so(8) see it, without the C library.
 */
#ifndef AGENT_PRELOAD_EXEC_LOOK_H
#define AGENT_PRELOAD_EXEC_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "include/pmm/channel.h"

#define EXEC_PATH_BYTES 768	/* on the stack; longer ones are not looked at */

/*
 * enum pmm_exec: PMM_EXEC_TRACKED also where the file cannot be read or is none that can be
 * executed. `path` "": the descriptor `dir` itself.
 */
uint32_t exec_look(int dir, const char *path);

/* The file that execvp() runs, by PATH in `env`. False: none was found, or its path is too long. */
bool exec_search(const char *file, char *const *env, char path[EXEC_PATH_BYTES]);

/* May a file be read, where programs executed now see it? */
bool exec_is_readable(const char *path);

/* The name of an open file, without directories. */
void exec_name_of(int fd, char name[PMM_EXEC_NAME]);

#endif
