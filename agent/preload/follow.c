/* SPDX-License-Identifier: MIT */
/*
 * Into the programs that this process executes: the environment they get, and the message to the
 * monitor.
 */
#include "agent/preload/follow.h"

#include "agent/agent.h"
#include "agent/clock.h"
#include "agent/env.h"
#include "agent/preload/preload_channel.h"
#include "agent/preload/exec_look.h"
#include "agent/preload/link.h"
#include "agent/sys.h"

#define MOST_VARIABLES	8192	/* 64 KiB of stack; no program has that many */
#define MOST_PRELOAD	4096
#define SMALL_BYTES	2048	/* of a copy, for which the stack is not asked: 240 variables */
#define CALL_BYTES	3072	/* what is called with the copy takes less than that */
#define ADDRESS_BYTES	160
#define PRELOAD		"LD_PRELOAD="
#define R_OK		4

/* the value of PMM_ENV, "" = none: the program may write over its own */
static char address[ADDRESS_BYTES];

void follow_start(void)
{
	const char *s = channel_address();
	size_t n = s ? str_length(s) : 0;

	if (n && n < sizeof(address) && agent.monitored)
		memcpy(address, s, n + 1);
}

static const char *agent_path(void)
{
	const struct link_map *self = link_self();

	return self && self->l_name[0] == '/' ? self->l_name : NULL;
}

/*
 * Is this a process that knows its monitor, of a tree that is followed, and free to make system
 * calls?
 */
static bool is_on(void)
{
	return address[0] && agent.monitored && agent.tree->flags & PMM_TREE_FOLLOW &&
	       !LOAD(agent.confined) && agent_path();
}

static const char *base_name(const char *path)
{
	const char *base = path;

	for (; *path; path++)
		if (*path == '/' && path[1])
			base = path + 1;
	return base;
}

static void set_name(struct follow *f, const char *path)
{
	const char *base = base_name(path);
	size_t n = str_length(base);

	if (n >= sizeof(f->name))
		n = sizeof(f->name) - 1;
	memcpy(f->name, base, n);
	f->name[n] = '\0';
}

static void judge_file(struct follow *f, int dir, const char *path)
{
	f->on = true;
	f->time_ns = clock_monitor_ns();
	f->why = exec_look(dir, path);
	if (f->why == PMM_EXEC_TRACKED && !exec_is_readable(agent_path()))
		f->why = PMM_EXEC_ELSEWHERE;
}

void follow_look(struct follow *f, int dir, const char *path)
{
	*f = (struct follow){ .why = PMM_EXEC_TRACKED };
	if (!is_on() || !path)
		return;
	judge_file(f, dir, path);
	if (*path)
		set_name(f, path);
	else
		exec_name_of(dir, f->name);
}

void follow_look_path(struct follow *f, const char *file)
{
	char path[EXEC_PATH_BYTES];

	*f = (struct follow){ .why = PMM_EXEC_TRACKED };
	if (!is_on() || !file)
		return;
	set_name(f, file);
	judge_file(f, SYS_AT_FDCWD, exec_search(file, env_now(), path) ? path : file);
}

/* ---- the environment ---- */

/* Is the agent one of the files in this list? */
static bool names_agent(const char *list, const char *library)
{
	size_t n = str_length(library);

	while (*list) {
		if (str_starts(list, library) && (!list[n] || list[n] == ':' || list[n] == ' '))
			return true;
		while (*list && *list != ':' && *list != ' ')
			list++;
		while (*list == ':' || *list == ' ')
			list++;
	}
	return false;
}

/* Does another pmm launch it? The first character of our own address may change (env_mark()). */
static bool is_of_another(const char *value, const char *preload)
{
	if (!*value || *value == PMM_ENV_HIDDEN || str_equal(value + 1, address + 1))
		return false;
	for (; *preload; preload++)
		if (str_starts(preload, "/libpmm.so") || str_starts(preload, "/libpmm_check.so"))
			return true;
	return false;
}

/*
 * Their loaders say on standard error that they cannot load it; or they do, and the program ends
 * itself, crashes, or does not find what it looks for.
 */
static bool is_in_the_way(uint32_t why)
{
	switch (why) {
	case PMM_EXEC_32BIT:
	case PMM_EXEC_ELSEWHERE:
	case PMM_EXEC_SANITIZER:
	case PMM_EXEC_LEAK_SANITIZER:
	case PMM_EXEC_THREAD_SANITIZER:
		return true;
	default:
		return false;
	}
}

/* May the agent be put in? Where nothing would come of it the program is not to see it either. */
static enum follow_change change_for(const struct follow *f, bool has_address)
{
	if (f->why == PMM_EXEC_TRACKED)
		return f->named && has_address ? FOLLOW_AS_IT_IS : FOLLOW_ADD;
	return f->named && is_in_the_way(f->why) ? FOLLOW_REMOVE : FOLLOW_AS_IT_IS;
}

/*
 * Does the stack have that much left? Page by page, as there may be another mapping below the
 * guard of a thread's. The first thread's grows by that, as far as it may.
 */
static bool has_room(size_t bytes)
{
	uint64_t sp = (uint64_t)__builtin_frame_address(0) & ~7ull;

	for (size_t below = ARCH_PAGE; below < bytes; below += ARCH_PAGE)
		if (!sys_readable(sp - below))
			return false;
	return sys_readable(sp - bytes);
}

size_t follow_plan(struct follow *f, char *const *env)
{
	const char *value = NULL;
	size_t preload_bytes, bytes;

	if (!f->on)
		return 0;
	for (; env && env[f->nr] && f->nr <= MOST_VARIABLES; f->nr++) {
		if (str_starts(env[f->nr], PRELOAD) && !f->preload)
			f->preload = env[f->nr] + sizeof(PRELOAD) - 1;
		if (str_starts(env[f->nr], PMM_ENV "="))
			value = env[f->nr] + sizeof(PMM_ENV);
	}
	if (value && f->preload && is_of_another(value, f->preload)) {
		if (f->why == PMM_EXEC_TRACKED)
			f->why = PMM_EXEC_OTHER;
		return 0;
	}
	f->named = f->preload && names_agent(f->preload, agent_path());
	f->change = change_for(f, value);
	if (f->change == FOLLOW_AS_IT_IS)
		return 0;
	preload_bytes = f->preload ? str_length(f->preload) : 0;
	bytes = (f->nr + 4) * sizeof(char *) + sizeof(PRELOAD) + str_length(agent_path()) + 1 +
		preload_bytes + sizeof(PMM_ENV) + 2 + sizeof(address) + 16;
	if (f->nr > MOST_VARIABLES || preload_bytes > MOST_PRELOAD ||
	    (bytes > SMALL_BYTES && !has_room(bytes + CALL_BYTES))) {
		if (f->change == FOLLOW_ADD)
			f->why = PMM_EXEC_ENVIRONMENT;
		f->change = FOLLOW_AS_IT_IS;
		return 0;
	}
	return bytes;
}

static char *put(char *to, const char *s)
{
	while (*s)
		*to++ = *s++;
	*to = '\0';
	return to;
}

/* "LD_PRELOAD=AGENT:REST", or without the agent; where the next text may begin. */
static char *put_preload(char *to, const struct follow *f)
{
	const char *library = agent_path(), *list = f->preload ? f->preload : "";
	size_t n = str_length(library);

	to = put(to, PRELOAD);
	if (f->change == FOLLOW_ADD) {
		to = put(to, library);
		if (*list)
			*to++ = ':';
		return put(to, list) + 1;
	}
	while (*list) {
		if (str_starts(list, library) && (!list[n] || list[n] == ':' || list[n] == ' ')) {
			list += n;
			list += *list != '\0';
			continue;
		}
		while (*list && *list != ':' && *list != ' ')
			*to++ = *list++;
		if (*list)
			*to++ = *list++;
	}
	*to = '\0';
	return to + 1;
}

/* The two variables that the new program's agent takes out again. */
static void put_hidden(char **end, char *text, char *preload, char how)
{
	char *to = put(text, PMM_ENV "=");

	end[0] = how == PMM_HIDDEN_ALL ? preload : (char *)PMM_ENV_PAD;
	*to++ = PMM_ENV_HIDDEN;
	*to++ = how;
	put(to, address);
	end[1] = text;
	end[2] = NULL;
}

char **follow_env(const struct follow *f, char *const *env, void *memory)
{
	bool own = f->preload, add = f->change == FOLLOW_ADD;
	char **out = memory, **to = out, *preload = (char *)(out + f->nr + 4),
	     *text = put_preload(preload, f);

	for (size_t i = 0; i < f->nr; i++) {
		bool is_preload = env[i] + sizeof(PRELOAD) - 1 == f->preload;

		if (str_starts(env[i], PMM_ENV "="))
			continue;
		if (!is_preload || (add && f->named))
			*to++ = env[i];
		else if (add ? own : preload[sizeof(PRELOAD) - 1])
			*to++ = preload;
	}
	*to = NULL;
	if (add)
		put_hidden(to, text, preload,
			   !own	      ? PMM_HIDDEN_ALL
			   : f->named ? PMM_HIDDEN_NONE
				      : PMM_HIDDEN_REST);
	return out;
}

/* ---- the monitor ---- */

static void say(const struct follow *f, int child, uint32_t why, uint64_t time_ns)
{
	struct pmm_message m = { .number = child, .why = why, .time_ns = time_ns };

	memcpy(m.name, f->name, sizeof(m.name));
	channel_say_exec(&m);
}

void follow_say(struct follow *f, int child)
{
	if (!f->on)
		return;
	f->said = true;
	say(f, child, f->why, f->time_ns);
}

void follow_failed(struct follow *f)
{
	if (f->said)
		say(f, 0, PMM_EXEC_FAILED, 0);
}
