/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's file and the environment that loads it. */
#include "src/ledger/preload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/str.h"

#define AGENT_FILE  "libpmm.so"
#define CHECK_FILE  "libpmm_check.so"
#define INJECT_FILE "libpmm_inject.so"

bool preload_is_agent(const char *path)
{
	return str_ends(path, "/" AGENT_FILE) || str_ends(path, "/" AGENT_FILE " (deleted)") ||
	       str_ends(path, "/" CHECK_FILE) || str_ends(path, "/" CHECK_FILE " (deleted)");
}

/*
 * A readable file at `place`, relative to the directory this program is in; path is the real
 * one.
 */
static bool from_here(const char *place, char path[PATH_MAX])
{
	char here[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", here, PATH_MAX - 1);
	char *slash;

	if (n < 0)
		return false;
	here[n] = '\0';
	slash = strrchr(here, '/');
	if (!slash)
		return false;
	snprintf(slash + 1, sizeof(here) - (size_t)(slash + 1 - here), "%s", place);
	return !access(here, R_OK) && realpath(here, path);
}

/* A file that the loader can map? 0, else errno. */
static int unusable(const char *path)
{
	struct stat st;

	if (access(path, R_OK) || stat(path, &st))
		return errno;
	return S_ISREG(st.st_mode) ? 0 : S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
}

/* The file `name`: what the environment's `variable` says, beside pmm, or installed. */
static int find(const char *name, const char *variable, char path[PATH_MAX], struct err *e)
{
	const char *wanted = getenv(variable);
	char installed[64];
	int why;

	if (wanted && *wanted) {
		why = realpath(wanted, path) ? unusable(path) : errno;
		if (!why)
			return 0;
		err_set(e, -why, "cannot %s the agent '%s': %s", why == ENOENT ? "find" : "use",
			wanted, strerror(why));
		err_hint(e, "%s names it; unset it to use the one that came with pmm", variable);
		return -ENOENT;
	}
	snprintf(installed, sizeof(installed), "../lib/pmm/%s", name);
	if (from_here(name, path) || from_here(installed, path))
		return 0;
	snprintf(path, PATH_MAX, "%s/%s", PMM_LIBDIR, name);
	if (!access(path, R_OK))
		return 0;
	err_set(e, -ENOENT, "cannot find the agent '%s'", name);
	if (access("/proc/self", F_OK))
		err_hint(e, "it is looked for beside the pmm program, and that by /proc/self/exe: "
			    "/proc is not mounted here");
	else
		err_hint(e, "it belongs beside the pmm program or into '%s'", PMM_LIBDIR);
	return -ENOENT;
}

int preload_find_injected(char path[PATH_MAX], struct err *e)
{
	return find(INJECT_FILE, "PMM_INJECT", path, e);
}

/* The same for a file that LD_PRELOAD is to name. */
static int find_preloaded(const char *name, const char *variable, char path[PATH_MAX],
			  struct err *e)
{
	int rc = find(name, variable, path, e);

	if (rc)
		return rc;
	if (strpbrk(path, " :")) { /* ld.so(8): both separate names in LD_PRELOAD */
		err_set(e, -EINVAL, "the agent's path '%s' has a space or a colon", path);
		err_hint(e, "LD_PRELOAD cannot name it; copy %s elsewhere and point %s to it", name,
			 variable);
		return -EINVAL;
	}
	return 0;
}

int preload_find(char path[PATH_MAX], struct err *e)
{
	return find_preloaded(AGENT_FILE, "PMM_AGENT", path, e);
}

int preload_find_check(char path[PATH_MAX], struct err *e)
{
	return find_preloaded(CHECK_FILE, "PMM_CHECK_AGENT", path, e);
}

static char *formatted(struct str *s)
{
	char *text = str_steal(s);

	str_fini(s);
	return text;
}

void preload_value(const struct ledger_tree *board, int socket_fd, uint64_t address,
		   char value[PRELOAD_VALUE_BYTES])
{
	const struct pmm_tree *h = board->head;

	snprintf(value, PRELOAD_VALUE_BYTES, "%u:%d:%016" PRIx64 ":%" PRIu64 ":%u:%d:%016" PRIx64,
		 h->monitor_pid, board->fd, board->cookie, h->monitor_start, h->monitor_uid,
		 socket_fd, address);
}

/* Append what a list of LD_PRELOAD names but for agents: of a tree that pmm itself runs in. */
static void add_preload(struct str *to, const char *list)
{
	char name[PATH_MAX];
	size_t n;

	for (; *list; list += n) {
		n = strcspn(list, ": ");
		snprintf(name, sizeof(name), "%.*s", (int)n, list);
		if (n && !preload_is_agent(name))
			str_addf(to, ":%.*s", (int)n, list);
		n += list[n] != '\0';
	}
}

char **preload_env(char **env, const char *agent, const char *value)
{
	struct str preload = STR_INIT, ledger = STR_INIT;
	size_t nr = 0, to = 0;
	char **out;

	while (env[nr])
		nr++;
	out = calloc(nr + 3, sizeof(*out));
	if (!out)
		return NULL;
	str_addf(&preload, "LD_PRELOAD=%s", agent);
	str_addf(&ledger, PMM_ENV "=%s", value);
	for (size_t i = 0; i < nr; i++) {
		if (str_starts(env[i], PMM_ENV "="))
			continue;
		if (!str_starts(env[i], "LD_PRELOAD="))
			out[to++] = strdup(env[i]);
		else
			add_preload(&preload, env[i] + strlen("LD_PRELOAD="));
	}
	out[to++] = formatted(&preload);
	out[to++] = formatted(&ledger);
	for (size_t i = 0; i < to; i++) {
		if (out[i])
			continue;
		for (size_t j = 0; j < to; j++) /* a hole ends the list for preload_env_free() */
			free(out[j]);
		free(out);
		return NULL;
	}
	return out;
}

void preload_env_free(char **env)
{
	for (char **p = env; p && *p; p++)
		free(*p);
	free(env);
}
