/* SPDX-License-Identifier: MIT */
/*
 * Into the programs that this process executes: whether the agent can be in them is found out, said
 * to the monitor, and made so where the environment that they are given is without it.
 *
 * Works in children made by vfork: nothing is allocated or kept, and descriptors are closed again.
 * errno is not touched. In a process that is confined, or not followed, nothing is done.
 *
 *     follow_look(), follow_look_path()  what is it?
 *     follow_plan()                      what does its environment need, and how much memory does
 *                                        that take?
 *     follow_env()                       the environment that it is to get
 *     follow_say()                       it will be executed now
 *     follow_failed()                    it was not
 */
#ifndef AGENT_PRELOAD_FOLLOW_H
#define AGENT_PRELOAD_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/pmm/channel.h"

enum follow_change {
	FOLLOW_AS_IT_IS,
	FOLLOW_ADD,		/* the agent is not in it */
	FOLLOW_REMOVE,		/* the agent is in it, where the loader would complain of it */
};

struct follow {
	bool on;		/* else nothing is done */
	bool said;
	uint32_t why;		/* enum pmm_exec */
	enum follow_change change;
	size_t nr;		/* variables in the environment given */
	const char *preload;	/* its LD_PRELOAD, NULL = none */
	bool named;		/* ... names the agent */
	uint64_t time_ns;
	char name[PMM_EXEC_NAME];
};

/* At the process's start: what is to be handed on. */
void follow_start(void);

/* The file `path` of the directory `dir`, as execveat() has it; "" is `dir` itself. */
void follow_look(struct follow *f, int dir, const char *path);

/* The file as execvp() finds it. */
void follow_look_path(struct follow *f, const char *file);

/* Bytes that follow_env() needs for what is to be called with `env` instead; 0: call with `env`. */
size_t follow_plan(struct follow *f, char *const *env);

/* The environment in `memory`, aligned as malloc's would be. It points to variables of `env`. */
char **follow_env(const struct follow *f, char *const *env, void *memory);

/* `child`: of posix_spawn(), which has been made by now; 0 = this process. */
void follow_say(struct follow *f, int child);
void follow_failed(struct follow *f);

#endif
