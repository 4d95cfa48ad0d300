/* SPDX-License-Identifier: MIT */
/*
 * System calls with the name of a file, and those that fill something besides
 * (agent/strings/passing.h).
 */
#include "agent/strings/passing.h"
#include "agent/strings/strings.h"

#define STATX_BYTES	256u

struct file;
struct directory;

/* A function `name`, with its parameters and arguments in brackets, one of which is `path`. */
#define NAMES(type, name, said, params, args)					\
EXPORT type hook_##name params __asm__(#name);					\
EXPORT type hook_##name params							\
{										\
	struct passing w;							\
	type got;								\
										\
	path = passing_text(&w, path, said, FROM);				\
	got = NEXT(name) args;							\
	passing_end(&w, 0, said, FROM);						\
	return got;								\
}

NAMES(int, open, "open", (const char *path, int flags, unsigned mode), (path, flags, mode))
NAMES(int, open64, "open", (const char *path, int flags, unsigned mode), (path, flags, mode))
NAMES(int, __open_2, "open", (const char *path, int flags), (path, flags))
NAMES(int, __open64_2, "open", (const char *path, int flags), (path, flags))
NAMES(int, openat, "openat", (int dir, const char *path, int flags, unsigned mode),
      (dir, path, flags, mode))
NAMES(int, openat64, "openat", (int dir, const char *path, int flags, unsigned mode),
      (dir, path, flags, mode))
NAMES(int, creat, "creat", (const char *path, unsigned mode), (path, mode))
NAMES(struct file *, fopen, "fopen", (const char *path, const char *mode), (path, mode))
NAMES(struct file *, fopen64, "fopen", (const char *path, const char *mode), (path, mode))
NAMES(struct directory *, opendir, "opendir", (const char *path), (path))
NAMES(int, access, "access", (const char *path, int mode), (path, mode))
NAMES(int, chdir, "chdir", (const char *path), (path))
NAMES(int, mkdir, "mkdir", (const char *path, unsigned mode), (path, mode))
NAMES(int, rmdir, "rmdir", (const char *path), (path))
NAMES(int, unlink, "unlink", (const char *path), (path))
NAMES(int, unlinkat, "unlinkat", (int dir, const char *path, int flags), (dir, path, flags))
NAMES(int, remove, "remove", (const char *path), (path))
NAMES(int, chmod, "chmod", (const char *path, unsigned mode), (path, mode))
NAMES(int, chown, "chown", (const char *path, unsigned user, unsigned group), (path, user, group))
NAMES(int, truncate, "truncate", (const char *path, long n), (path, n))

/* Two names. */
#define NAMES_TWO(name)								\
EXPORT int hook_##name(const char *path, const char *other) __asm__(#name);	\
EXPORT int hook_##name(const char *path, const char *other)			\
{										\
	struct passing one, two;						\
	int got;								\
										\
	path = passing_text(&one, path, #name, FROM);				\
	other = passing_text(&two, other, #name, FROM);				\
	got = NEXT(name)(path, other);						\
	passing_end(&one, 0, #name, FROM);					\
	passing_end(&two, 0, #name, FROM);					\
	return got;								\
}

NAMES_TWO(rename)
NAMES_TWO(link)
NAMES_TWO(symlink)

/* A name, and n bytes that are filled. */
#define NAMES_FILLS(name, said, params, args, n)				\
EXPORT int hook_##name params __asm__(#name);					\
EXPORT int hook_##name params							\
{										\
	struct passing text, w;							\
	int got;								\
										\
	path = passing_text(&text, path, said, FROM);				\
	to = passing_begin(&w, to, n, PASS_OUT, said, FROM);			\
	got = NEXT(name) args;							\
	passing_end(&text, 0, said, FROM);					\
	passing_end(&w, got == 0 ? (n) : 0, said, FROM);			\
	return got;								\
}

NAMES_FILLS(stat, "stat", (const char *path, void *to), (path, to), STAT_BYTES)
NAMES_FILLS(stat64, "stat", (const char *path, void *to), (path, to), STAT_BYTES)
NAMES_FILLS(lstat, "lstat", (const char *path, void *to), (path, to), STAT_BYTES)
NAMES_FILLS(lstat64, "lstat", (const char *path, void *to), (path, to), STAT_BYTES)
NAMES_FILLS(fstatat, "fstatat", (int dir, const char *path, void *to, int flags),
	    (dir, path, to, flags), STAT_BYTES)
NAMES_FILLS(fstatat64, "fstatat", (int dir, const char *path, void *to, int flags),
	    (dir, path, to, flags), STAT_BYTES)
NAMES_FILLS(__xstat, "stat", (int v, const char *path, void *to), (v, path, to), STAT_BYTES)
NAMES_FILLS(__xstat64, "stat", (int v, const char *path, void *to), (v, path, to), STAT_BYTES)
NAMES_FILLS(__lxstat, "lstat", (int v, const char *path, void *to), (v, path, to), STAT_BYTES)
NAMES_FILLS(__lxstat64, "lstat", (int v, const char *path, void *to), (v, path, to), STAT_BYTES)
NAMES_FILLS(statfs, "statfs", (const char *path, void *to), (path, to), STATFS_BYTES)
NAMES_FILLS(statfs64, "statfs", (const char *path, void *to), (path, to), STATFS_BYTES)
NAMES_FILLS(statx, "statx", (int dir, const char *path, int flags, unsigned mask, void *to),
	    (dir, path, flags, mask, to), STATX_BYTES)
