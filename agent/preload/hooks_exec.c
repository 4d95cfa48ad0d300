/* SPDX-License-Identifier: MIT */
/*
 * The ways to a new program: it inherits what the program has set, not what the agent has made of
 * it (agent/preload/inherit.h), and has the agent in it (agent/preload/follow.h).
 *
 * exec*() is wrapped as a whole: its own search for the file stays the C library's. Children of
 * posix_spawn(), which the C library makes without coming by here again, get the mask by an
 * attribute; for those of popen() and system() it is the calling thread's. What these two hand on
 * is the program's own environment: it is another one for the time of the call, where no other
 * thread can look.
 */
#include <stdarg.h>

#include "agent/env.h"
#include "agent/preload/follow.h"
#include "agent/preload/inherit.h"
#include "agent/preload/link.h"
#include "agent/preload/agent_preload.h"

/* Memory for a new environment is the stack's: a child made by vfork may not allocate. */
#pragma GCC diagnostic ignored "-Walloca"

#define ENOSYS	38

typedef char *const *words;

/* The function that comes after ours; in each place where it is named, looked up once. */
#define NEXT(NAME, TYPE) ({								\
	static void *known_;								\
											\
	(TYPE *)link_next(&known_, NAME);						\
})

/* The call, with the program's own state in place; errno as it left it. */
#define INHERITING(LASTING, TYPE, CALL) ({						\
	struct inherit h_;								\
	TYPE ret_;									\
											\
	inherit_begin(&h_, LASTING);							\
	ret_ = CALL;									\
	inherit_end(&h_);								\
	ret_;										\
})

/* ---- exec ------------------------------------------------------------------------------------ */

typedef int execve_function(const char *path, words argv, words env);
typedef int execv_function(const char *path, words argv);
typedef int fexecve_function(int fd, words argv, words env);
typedef int execveat_function(int dir, const char *path, words argv, words env, int flags);

/*
 * LOOK fills `f`. CALL executes with `env`, SAME as the program has said it: where nothing is to be
 * changed, its own function is called. -1 where the function called is not there.
 */
#define EXECUTING(LOOK, ENV, REAL, SAME, OTHER, CALL) ({				\
	struct follow f;								\
	words env = (ENV);								\
	size_t bytes_;									\
	int result_;									\
											\
	LOOK;										\
	bytes_ = follow_plan(&f, env);							\
	follow_say(&f, 0);								\
	if (bytes_ && (OTHER)) {							\
		env = follow_env(&f, env, __builtin_alloca(bytes_));			\
		result_ = INHERITING(false, int, CALL);					\
	} else {									\
		result_ = (REAL) ? INHERITING(false, int, SAME) : -1;			\
	}										\
	follow_failed(&f);								\
	result_;									\
})

EXPORT int execve(const char *path, words argv, words env_given);
EXPORT int execve(const char *path, words argv, words env_given)
{
	execve_function *real = NEXT("execve", execve_function);

	return EXECUTING(follow_look(&f, SYS_AT_FDCWD, path), env_given, real,
			 real(path, argv, env), real, real(path, argv, env));
}

EXPORT int execvpe(const char *file, words argv, words env_given);
EXPORT int execvpe(const char *file, words argv, words env_given)
{
	execve_function *real = NEXT("execvpe", execve_function);

	return EXECUTING(follow_look_path(&f, file), env_given, real, real(file, argv, env), real,
			 real(file, argv, env));
}

EXPORT int execv(const char *path, words argv);
EXPORT int execv(const char *path, words argv)
{
	execv_function *real = NEXT("execv", execv_function);
	execve_function *other = NEXT("execve", execve_function);

	return EXECUTING(follow_look(&f, SYS_AT_FDCWD, path), env_now(), real, real(path, argv),
			 other, other(path, argv, env));
}

EXPORT int execvp(const char *file, words argv);
EXPORT int execvp(const char *file, words argv)
{
	execv_function *real = NEXT("execvp", execv_function);
	execve_function *other = NEXT("execvpe", execve_function);

	return EXECUTING(follow_look_path(&f, file), env_now(), real, real(file, argv), other,
			 other(file, argv, env));
}

EXPORT int fexecve(int fd, words argv, words env_given);
EXPORT int fexecve(int fd, words argv, words env_given)
{
	fexecve_function *real = NEXT("fexecve", fexecve_function);

	return EXECUTING(follow_look(&f, fd, ""), env_given, real, real(fd, argv, env), real,
			 real(fd, argv, env));
}

EXPORT int execveat(int dir, const char *path, words argv, words env_given, int flags);
EXPORT int execveat(int dir, const char *path, words argv, words env_given, int flags)
{
	execveat_function *real = NEXT("execveat", execveat_function);

	return EXECUTING(follow_look(&f, dir, path), env_given, real,
			 real(dir, path, argv, env, flags), real,
			 real(dir, path, argv, env, flags));
}

EXPORT int execl(const char *path, const char *arg, ...);
EXPORT int execlp(const char *file, const char *arg, ...);
EXPORT int execle(const char *path, const char *arg, ...);

/* How many words there are before the final NULL. */
static size_t words_count(const char *first, va_list list)
{
	va_list rest;
	size_t nr = 0;

	va_copy(rest, list);
	for (const char *s = first; s; s = va_arg(rest, const char *))
		nr++;
	va_end(rest);
	return nr;
}

/* All of them, and NULL; `list` is behind it then. */
static char **words_take(char **to, const char *first, va_list *list)
{
	char **at = to;

	for (const char *s = first; s; s = va_arg(*list, const char *))
		*at++ = (char *)s;
	*at = NULL;
	return to;
}

/*
 * On the stack, as the C library has it, as many as the program itself has put there for the call.
 */
#define WORDS(FIRST, LIST)                                                                         \
	words_take(__builtin_alloca((words_count(FIRST, LIST) + 1) * sizeof(char *)), FIRST,       \
		   &(LIST))

int execl(const char *path, const char *arg, ...)
{
	va_list list;
	char **argv;

	va_start(list, arg);
	argv = WORDS(arg, list);
	va_end(list);
	return execv(path, argv);
}

int execlp(const char *file, const char *arg, ...)
{
	va_list list;
	char **argv;

	va_start(list, arg);
	argv = WORDS(arg, list);
	va_end(list);
	return execvp(file, argv);
}

int execle(const char *path, const char *arg, ...)
{
	va_list list;
	char **argv, **env;

	va_start(list, arg);
	argv = WORDS(arg, list);
	env = va_arg(list, char **);
	va_end(list);
	return execve(path, argv, env);
}

/* ---- children -------------------------------------------------------------------------------- */

#define SPAWN_SETSIGMASK	0x08

/* posix_spawnattr_t of glibc and musl, which agree so far. */
struct spawn_attr {
	uint16_t flags, high;
	int group;
	uint64_t defaults[16], mask[16];
	uint64_t rest[9];
};

_Static_assert(sizeof(struct spawn_attr) == 336, "as in spawn.h");

typedef int spawn_function(int *pid, const char *path, const void *actions,
			   const struct spawn_attr *attr, words argv, words env);

/* The child's number is known when it runs: what is reported of it says when that began. */
static int spawned(spawn_function *real, struct follow *f, int *pid, const char *path,
		   const void *actions, const struct spawn_attr *attr, words argv, words env)
{
	struct spawn_attr own = { 0 };
	struct inherit h;
	int ret, child = 0;
	uint64_t mask;

	if (!(attr && attr->flags & SPAWN_SETSIGMASK) && inherit_mask(&mask)) {
		if (attr)
			own = *attr;
		own.flags |= SPAWN_SETSIGMASK;
		own.mask[0] = mask;
		attr = &own;
	}
	inherit_begin_actions(&h, true);
	ret = real(&child, path, actions, attr, argv, env);
	inherit_end(&h);
	if (!ret) {
		if (pid)
			*pid = child;
		follow_say(f, child);
	}
	return ret;
}

#define SPAWN_FORM(NAME, LOOK)                                                                     \
	EXPORT int NAME(int *pid, const char *path, const void *actions,                           \
			const struct spawn_attr *attr, words argv, words env);                     \
	EXPORT int NAME(int *pid, const char *path, const void *actions,                           \
			const struct spawn_attr *attr, words argv, words env)                      \
	{                                                                                          \
		spawn_function *real = NEXT(#NAME, spawn_function);                                \
		struct follow f;                                                                   \
		size_t bytes;                                                                      \
                                                                                                   \
		if (!real)                                                                         \
			return ENOSYS;                                                             \
		LOOK;                                                                              \
		bytes = follow_plan(&f, env);                                                      \
		if (bytes)                                                                         \
			env = follow_env(&f, env, __builtin_alloca(bytes));                        \
		return spawned(real, &f, pid, path, actions, attr, argv, env);                     \
	}

SPAWN_FORM(posix_spawn, follow_look(&f, SYS_AT_FDCWD, path))
SPAWN_FORM(posix_spawnp, follow_look_path(&f, path))

/* ---- by the shell ---------------------------------------------------------------------------- */

#define SHELL		"/bin/sh"
#define NOT_KNOWN	(-1)	/* the child's number */

/* Whether another thread could see the change, or change it. */
static bool may_replace(void)
{
	return agent.single_threaded && *agent.single_threaded;
}

/*
 * The environment for the time of the call; NULL: unchanged. What will not be tracked is reported.
 */
#define SHELL_ENV(f) ({									\
	size_t bytes_;									\
	char **env_ = NULL;								\
											\
	follow_look(f, SYS_AT_FDCWD, SHELL);						\
	bytes_ = follow_plan(f, env_now());						\
	if (bytes_ && !may_replace())							\
		(f)->why = PMM_EXEC_ENVIRONMENT;					\
	else if (bytes_)								\
		env_ = follow_env(f, env_now(), __builtin_alloca(bytes_));		\
	if ((f)->why != PMM_EXEC_TRACKED)						\
		follow_say(f, NOT_KNOWN);						\
	env_;										\
})

#define BY_SHELL(TYPE, LINE, CALL) ({							\
	struct follow f_;								\
	char **env_was_ = env_now(), **env_new_ = (LINE) ? SHELL_ENV(&f_) : NULL;	\
	TYPE result_;									\
											\
	if (env_new_)									\
		env_replace(env_new_);							\
	result_ = INHERITING(true, TYPE, CALL);						\
	if (env_new_ && env_now() == env_new_)						\
		env_replace(env_was_);							\
	result_;									\
})

struct file;
typedef struct file *popen_function(const char *line, const char *mode);
typedef int system_function(const char *line);

EXPORT struct file *popen(const char *line, const char *mode);
EXPORT struct file *popen(const char *line, const char *mode)
{
	popen_function *real = NEXT("popen", popen_function);

	return real ? BY_SHELL(struct file *, line, real(line, mode)) : NULL;
}

/* Handlers that interrupt it have SIGSEGV blocked if what they interrupt has. */
EXPORT int system(const char *line);
EXPORT int system(const char *line)
{
	system_function *real = NEXT("system", system_function);

	return real ? BY_SHELL(int, line, real(line)) : -1;
}
