/* SPDX-License-Identifier: MIT */
/*
 * The environment the process was started with, read without libc.
 */
#ifndef AGENT_ENV_H
#define AGENT_ENV_H

/*
 * The value of a variable, or NULL. Valid as long as the program leaves its initial environment
 * alone.
 */
const char *env_get(const char *name);

/*
 * Replace the first character of its value, which is not empty, where programs that are executed
 * from now on find it.
 */
void env_mark(const char *name, char c);

/* The environment that the program has now, as execv() hands it on; NULL: not known. */
char **env_now(void);

/* Have the program continue with another one. */
void env_replace(char **env);

/*
 * Take out of the program's sight what was put into its environment when it was executed
 * (PMM_ENV_HIDDEN). Before its own code runs.
 */
void env_hide(void);

#endif
