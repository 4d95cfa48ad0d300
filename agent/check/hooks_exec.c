/*
 * The ways to a new program: it inherits what the program has set, not what the agent has made of it (agent/check/inherit.h).
 *
 * exec*() is wrapped as a whole: its own search for the file stays the C library's. Children of posix_spawn(), which the C library makes
 * without coming by here again, get the mask by an attribute; for those of popen() and system() it is the calling thread's.
 */
#include <stdarg.h>

#include "agent/check/inherit.h"
#include "agent/check/keep.h"
#include "agent/preload/link.h"
#include "agent/preload/preload.h"

typedef char *const *words;

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

#define FORM(TYPE, FAILED, LASTING, NAME, PARAMS, ARGS)					\
EXPORT TYPE NAME PARAMS;								\
EXPORT TYPE NAME PARAMS									\
{											\
	static void *known;								\
	TYPE (*real) PARAMS = (TYPE (*) PARAMS)link_next(&known, #NAME);		\
											\
	return real ? INHERITING(LASTING, TYPE, real ARGS) : FAILED;			\
}

/* ---- exec ----------------------------------------------------------------------------------------------- */

FORM(int, -1, false, execve, (const char *path, words argv, words env), (path, argv, env))
FORM(int, -1, false, execv, (const char *path, words argv), (path, argv))
FORM(int, -1, false, execvp, (const char *file, words argv), (file, argv))
FORM(int, -1, false, execvpe, (const char *file, words argv, words env), (file, argv, env))
FORM(int, -1, false, fexecve, (int fd, words argv, words env), (fd, argv, env))
FORM(int, -1, false, execveat, (int dir, const char *path, words argv, words env, int flags), (dir, path, argv, env, flags))

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

/* On the stack, as the C library has it. */
#define WORDS(FIRST, LIST) words_take(__builtin_alloca((words_count(FIRST, LIST) + 1) * sizeof(char *)), FIRST, &(LIST))

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

/* ---- children ------------------------------------------------------------------------------------------- */

#define SPAWN_SETSIGMASK	0x08

/* posix_spawnattr_t of glibc and musl, which agree so far. */
struct spawn_attr {
	uint16_t flags, high;
	int group;
	uint64_t defaults[16], mask[16];
	uint64_t rest[9];
};

_Static_assert(sizeof(struct spawn_attr) == 336, "as in spawn.h");

typedef int spawn_function(int *pid, const char *path, const void *actions, const struct spawn_attr *attr, words argv, words env);

static int spawned(spawn_function *real, int *pid, const char *path, const void *actions, const struct spawn_attr *attr, words argv,
		   words env)
{
	struct spawn_attr own = { 0 };
	struct inherit h;
	uint64_t mask;
	int ret;

	if (!(attr && attr->flags & SPAWN_SETSIGMASK) && inherit_mask(&mask)) {
		if (attr)
			own = *attr;
		own.flags |= SPAWN_SETSIGMASK;
		own.mask[0] = mask;
		attr = &own;
	}
	inherit_begin_actions(&h, true);
	ret = real(pid, path, actions, attr, argv, env);
	inherit_end(&h);
	return ret;
}

#define ENOSYS	38

#define SPAWN_FORM(NAME)								\
EXPORT int NAME(int *pid, const char *path, const void *actions, const struct spawn_attr *attr, words argv, words env); \
EXPORT int NAME(int *pid, const char *path, const void *actions, const struct spawn_attr *attr, words argv, words env) \
{											\
	static void *known;								\
	spawn_function *real = (spawn_function *)link_next(&known, #NAME);		\
											\
	return real ? spawned(real, pid, path, actions, attr, argv, env) : ENOSYS;	\
}

SPAWN_FORM(posix_spawn)
SPAWN_FORM(posix_spawnp)

struct file;

FORM(struct file *, NULL, true, popen, (const char *line, const char *mode), (line, mode))

/* Handlers that interrupt it have SIGSEGV blocked if what they interrupt has. */
FORM(int, -1, true, system, (const char *line), (line))
