/* SPDX-License-Identifier: MIT */
/*
 * What the hooks of string and memory functions share: the real functions, and the form of a hook.
 *
 * Each is an entry that jumps straight to the real function when a quick look (agent/check/quick.h)
 * says that all is well, and else to a body, whose return address is then the program's. The real
 * functions are found one by one when they are first called: programs call these before anything of
 * ours has run, even before our library is relocated, from resolvers of other libraries' functions.
 * No relocated data is used on the way there.
 *
 * gcc's own calls of memcpy() and its like in libpmm_check.so have other names
 * (agent/check/check_names.h).
 *
 * Functions that fill or empty a buffer of known length, name files, print or are fortified are
 * rows of a macro of their kind (hooks_call.c, hooks_path.c, hooks_print.c, hooks_fortify.c).
 * Those of memory and strings are written out: nearly each has its own rule for what it accesses
 * and for what it does where that is too much, and one table would need a column for each rule.
 */
#ifndef AGENT_STRINGS_STRINGS_H
#define AGENT_STRINGS_STRINGS_H

#include "agent/fault/bounce.h"
#include "agent/check/quick.h"
#include "agent/preload/agent_preload.h"

#define STRING_FUNCTIONS(X)									\
	X(memcpy) X(memmove) X(mempcpy) X(memset) X(memchr) X(memrchr) X(rawmemchr)		\
	X(memcmp) X(bcmp) X(memccpy) X(bcopy) X(bzero)						\
	X(explicit_bzero)									\
	X(strlen) X(strnlen) X(strcpy) X(stpcpy) X(strncpy) X(stpncpy) X(strcat) X(strncat)	\
	X(strcmp) X(strncmp) X(strcasecmp) X(strncasecmp) X(strchr) X(index) X(strchrnul)	\
	X(strrchr) X(rindex) X(strstr) X(strcasestr)						\
	X(strspn) X(strcspn) X(strpbrk) X(strdup) X(strndup) X(memmem) X(strcoll) X(strxfrm)	\
	X(__memcpy_chk) X(__memmove_chk) X(__mempcpy_chk) X(__memset_chk)			\
	X(__explicit_bzero_chk) X(__strcpy_chk) X(__stpcpy_chk)					\
	X(__strncpy_chk) X(__stpncpy_chk) X(__strcat_chk) X(__strncat_chk)			\
	X(vsprintf) X(vsnprintf) X(__vsprintf_chk) X(__vsnprintf_chk)				\
	X(vprintf) X(vfprintf) X(vdprintf) X(vasprintf)						\
	X(__vprintf_chk) X(__vfprintf_chk) X(__vdprintf_chk) X(__vasprintf_chk)			\
	X(read) X(pread) X(pread64) X(recv) X(recvfrom) X(readlink) X(readlinkat) X(getcwd)	\
	X(gethostname) X(realpath)								\
	X(write) X(pwrite) X(pwrite64) X(send) X(sendto) X(readv) X(writev) X(recvmsg)		\
	X(sendmsg)										\
	X(fread) X(fread_unlocked) X(fgets) X(fgets_unlocked) X(getline) X(getdelim)		\
	X(__getdelim)										\
	X(fwrite) X(fwrite_unlocked) X(fputs) X(fputs_unlocked) X(puts)				\
	X(__read_chk) X(__pread_chk) X(__pread64_chk) X(__recv_chk) X(__recvfrom_chk)		\
	X(__readlink_chk) X(__getcwd_chk)							\
	X(__gethostname_chk) X(__readlinkat_chk) X(__realpath_chk) X(__fread_chk)		\
	X(__fread_unlocked_chk)									\
	X(__fgets_chk) X(__fgets_unlocked_chk)							\
	X(fstat) X(fstat64) X(__fxstat) X(__fxstat64) X(fstatfs) X(fstatfs64) X(uname)		\
	X(sysinfo) X(getrusage) X(clock_gettime)						\
	X(getentropy) X(getrandom) X(getdents64) X(pipe) X(pipe2) X(socketpair) X(waitpid)	\
	X(setsockopt) X(bind) X(connect)							\
	X(epoll_ctl) X(epoll_wait) X(poll) X(__poll_chk) X(select) X(getsockopt)		\
	X(getsockname) X(getpeername) X(accept) X(accept4)					\
	X(ioctl) X(open) X(open64) X(__open_2) X(__open64_2) X(openat) X(openat64) X(creat)	\
	X(fopen) X(fopen64) X(opendir) X(access)						\
	X(chdir) X(mkdir) X(rmdir) X(unlink) X(unlinkat) X(remove) X(chmod) X(chown)		\
	X(truncate) X(rename) X(link) X(symlink)						\
	X(stat) X(stat64) X(lstat) X(lstat64) X(fstatat) X(fstatat64) X(__xstat)		\
	X(__xstat64) X(__lxstat) X(__lxstat64)							\
	X(statfs) X(statfs64) X(statx)								\
	X(wcslen) X(wcsnlen) X(wcscpy) X(wcsncpy) X(wcpcpy) X(wcscat) X(wcscmp) X(wmemcpy)	\
	X(wmemmove) X(wmempcpy) X(wmemset)							\
	X(wmemchr) X(wmemcmp) X(wcsncmp) X(wcsncat) X(wcschr) X(wcsrchr) X(wcsstr)		\
	X(__wmemcpy_chk) X(__wmemmove_chk) X(__wmempcpy_chk) X(__wmemset_chk)			\
	X(__wcscpy_chk) X(__wcpcpy_chk) X(__wcsncpy_chk)					\
	X(__wcscat_chk) X(__wcsncat_chk)

enum string_function {
#define X(name) NEXT_##name,
	STRING_FUNCTIONS(X)
#undef X
	NR_STRING_FUNCTIONS
};

/* NULL until it is called first. */
extern void *string_next[NR_STRING_FUNCTIONS] __attribute__((visibility("hidden")));

/* Find one and remember it. */
void *string_find(enum string_function which);

/* The real function behind a hook. */
static inline void *string_next_or_find(enum string_function which)
{
	void *next = LOAD(string_next[which]);

	return likely(next) ? next : string_find(which);
}

#define NEXT(name) ((__typeof__(&hook_##name))string_next_or_find(NEXT_##name))

/*
 * An entry: to the real function `next`, which has the same parameters, if it is known and
 * `passes`, else to the hook's body. Both are jumps.
 */
#define ENTRY(passes, name, next, ...)                                                             \
	do {                                                                                       \
		void *next_ = LOAD(string_next[NEXT_##next]);                                      \
		if (likely(next_) && likely(passes))                                               \
			return ((__typeof__(&hook_##next))next_)(__VA_ARGS__);                     \
		return name##_body(__VA_ARGS__);                                                   \
	} while (0)

/* A hook's declaration and the head of its definition. */
#define HOOK_AS(type, name, ...) EXPORT type hook_##name(__VA_ARGS__) __asm__(#name)
#define HOOK(type, name, ...) EXPORT type hook_##name(__VA_ARGS__)

/* The program's call of this hook, for its body and what that calls. */
#define FROM (&(struct caller[]){ CALLER_HERE() }[0])

HOOK_AS(void *, memcpy, void *to, const void *from, size_t n);
HOOK_AS(void *, memmove, void *to, const void *from, size_t n);
HOOK_AS(void *, mempcpy, void *to, const void *from, size_t n);
HOOK_AS(void *, memset, void *to, int c, size_t n);
HOOK_AS(void *, memchr, const void *s, int c, size_t n);
HOOK_AS(void *, memrchr, const void *s, int c, size_t n);
HOOK_AS(void *, rawmemchr, const void *s, int c);
HOOK_AS(int, memcmp, const void *a, const void *b, size_t n);
HOOK_AS(int, bcmp, const void *a, const void *b, size_t n);
HOOK_AS(void *, memccpy, void *to, const void *from, int c, size_t n);
HOOK_AS(void, bcopy, const void *from, void *to, size_t n);
HOOK_AS(void, bzero, void *to, size_t n);
HOOK_AS(void, explicit_bzero, void *to, size_t n);
HOOK_AS(size_t, strlen, const char *s);
HOOK_AS(size_t, strnlen, const char *s, size_t n);
HOOK_AS(char *, strcpy, char *to, const char *from);
HOOK_AS(char *, stpcpy, char *to, const char *from);
HOOK_AS(char *, strncpy, char *to, const char *from, size_t n);
HOOK_AS(char *, stpncpy, char *to, const char *from, size_t n);
HOOK_AS(char *, strcat, char *to, const char *from);
HOOK_AS(char *, strncat, char *to, const char *from, size_t n);
HOOK_AS(int, strcmp, const char *a, const char *b);
HOOK_AS(int, strncmp, const char *a, const char *b, size_t n);
HOOK_AS(int, strcasecmp, const char *a, const char *b);
HOOK_AS(int, strncasecmp, const char *a, const char *b, size_t n);
HOOK_AS(char *, strchr, const char *s, int c);
HOOK_AS(char *, index, const char *s, int c);
HOOK_AS(char *, strchrnul, const char *s, int c);
HOOK_AS(char *, strrchr, const char *s, int c);
HOOK_AS(char *, rindex, const char *s, int c);
HOOK_AS(char *, strstr, const char *s, const char *what);
HOOK_AS(size_t, strspn, const char *s, const char *set);
HOOK_AS(size_t, strcspn, const char *s, const char *set);
HOOK_AS(char *, strpbrk, const char *s, const char *set);
HOOK_AS(char *, strcasestr, const char *s, const char *what);
HOOK_AS(char *, strtok, char *s, const char *set);
HOOK_AS(char *, strtok_r, char *s, const char *set, char **rest);
HOOK_AS(char *, __strtok_r, char *s, const char *set, char **rest);
HOOK_AS(char *, strsep, char **rest, const char *set);
HOOK_AS(char *, strdup, const char *s);
HOOK_AS(char *, strndup, const char *s, size_t n);
HOOK_AS(void *, memmem, const void *s, size_t bytes, const void *what, size_t what_bytes);

static inline size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Do [a, a + n) and [b, b + n) have no byte in common? */
static inline bool apart(const void *a, const void *b, size_t n)
{
	return (uint64_t)a - (uint64_t)b >= n && (uint64_t)b - (uint64_t)a >= n;
}

/*
 * A finding if a copy is between ranges that overlap. A range onto itself is none: compilers copy
 * structures so.
 */
static inline void overlap_check(const void *to, const void *source, size_t n, const char *function,
				 const struct caller *from)
{
	if (unlikely(!apart(to, source, n)) && to != source && n <= PTRDIFF_MAX)
		bounds_overlap(to, source, n, function, from);
}

/* bounds_fits(), quicker where all is well. */
static inline bool string_stays(const void *p, size_t bytes)
{
	if (!bounds_guarded(p) && bounds_canaried(p) && bytes && quick_look(p, bytes, false))
		return true;
	return bounds_fits(p, bytes);
}

/*
 * Length of the string at s, or as much of it as can be read. `from`: the program's call of
 * `function`.
 */
size_t string_length(const char *s, const char *function, const struct caller *from);

/* ... of at most n bytes. */
size_t string_length_within(const char *s, size_t n, const char *function,
			    const struct caller *from);

/*
 * The string at s, of at most `most` bytes, or where its block holds no end a copy that has one.
 * Then: bounce_end(b, 0).
 */
const char *string_begin(struct bounce *b, const char *s, size_t most, const char *function,
			 const struct caller *from);

/* `function` writes `length` bytes from `source` and a NUL to `to`, as far as may be. */
void string_put(char *to, const char *source, size_t length, const char *function,
		const struct caller *from);

/*
 * Copy the `may` first bytes of n; none of them: what is in the blocks that `to` or `source`
 * begins before, which the program continues with.
 */
void string_copy(void *to, const void *source, size_t n, size_t may);

#endif
