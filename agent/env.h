/*
 * The environment the process was started with, read without libc.
 */
#ifndef AGENT_ENV_H
#define AGENT_ENV_H

/* The value of a variable, or NULL. Valid as long as the program leaves its initial environment alone. */
const char *env_get(const char *name);

#endif
