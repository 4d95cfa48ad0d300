/* SPDX-License-Identifier: MIT */
/*
 * A file that is about to be executed, looked at. Reads some hundred bytes of it. The kernel
 * executes nothing but regular files, and only such are opened: opening others has effects.
 */
#include "agent/preload/exec_look.h"

#include <stddef.h>

#include "agent/preload/exec_elf.h"
#include "agent/sys.h"

enum {
	O_NONBLOCK = 04000,
	AT_EMPTY_PATH = 0x1000,
	S_IFMT = 0170000,
	S_IFREG = 0100000,
	S_ISUID = 04000,
	S_ISGID = 02000,
	S_IXGRP = 010,
	S_IXANY = 0111,
};

/* STATX_TYPE | STATX_MODE | STATX_UID | STATX_GID */
#define STATX_TYPE_MODE_OWNER	0x1bu
#define SCRIPT_LINE		256		/* BINPRM_BUF_SIZE */
#define MOST_NESTED		5		/* scripts whose interpreter is a script */
#define LINK_BYTES		1024

struct kind {
	uint32_t uid, gid;
	uint16_t mode;
};

/* Apart, so that what is called after it has the stack. */
static __attribute__((noinline)) bool kind_of(int dir, const char *path, struct kind *k)
{
	/* struct statx: stx_uid at byte 20, stx_gid at 24, stx_mode at 28 */
	union { uint32_t word[64]; uint16_t half[128]; } st;

	if (sys_failed(arch_syscall(ARCH_SYS_statx, dir, (long)path, *path ? 0 : AT_EMPTY_PATH,
				    STATX_TYPE_MODE_OWNER, (long)&st, 0)))
		return false;
	*k = (struct kind){ .uid = st.word[5], .gid = st.word[6], .mode = st.half[14] };
	return (k->mode & S_IFMT) == S_IFREG;
}

/*
 * Does it get rights that its caller does not have? The loader then takes no advice from the
 * environment. That the file system may be mounted without such rights comes out when the agent
 * turns up.
 */
static bool is_secure(int fd, const struct kind *k)
{
	uint32_t uid = (uint32_t)sys0(getuid);

	return (k->mode & S_ISUID && k->uid != uid) ||
	       ((k->mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
		k->gid != (uint32_t)sys0(getgid)) ||
	       (uid && fd >= 0 && sys4(fgetxattr, fd, "security.capability", NULL, 0) > 0);
}

/* The interpreter that a script's first line names, in place; NULL: it is no script. */
static char *interpreter(int fd, char line[SCRIPT_LINE + 1])
{
	long n = sys4(pread64, fd, line, SCRIPT_LINE, 0);
	char *s = line + 2, *end;

	if (n < 3 || line[0] != '#' || line[1] != '!')
		return NULL;
	line[n] = '\0';
	while (*s == ' ' || *s == '\t')
		s++;
	for (end = s; *end && *end != '\n' && *end != ' ' && *end != '\t' && *end != '\r'; end++)
		;
	*end = '\0';
	return *s ? s : NULL;
}

/* Scripts have no rights of their own: those of their interpreters count. */
static uint32_t judge_format(int fd, const char *path, const struct kind *k,
			     char line[SCRIPT_LINE + 1], char **next)
{
	*next = interpreter(fd, line);
	if (*next)
		return PMM_EXEC_TRACKED;
	return is_secure(fd, k) ? PMM_EXEC_SECURE : exec_elf(fd, path);
}

uint32_t exec_look(int dir, const char *path)
{
	uint32_t why = PMM_EXEC_TRACKED;
	char line[SCRIPT_LINE + 1], *next;
	struct kind k;
	int fd;

	for (unsigned i = 0; i <= MOST_NESTED && kind_of(dir, path, &k); i++) {
		fd = *path ? (int)sys4(openat, dir, path, SYS_O_RDONLY | SYS_O_CLOEXEC | O_NONBLOCK,
				       0)
			   : dir;
		if (fd < 0)
			return is_secure(-1, &k) ? PMM_EXEC_SECURE : PMM_EXEC_TRACKED;
		why = judge_format(fd, path, &k, line, &next);
		if (*path)
			sys1(close, fd);
		if (!next)
			return why;
		path = next;
		dir = SYS_AT_FDCWD;
	}
	return why;
}

/* ---- PATH ---- */

static const char *path_of(char *const *env)
{
	for (; env && *env; env++)
		if (str_starts(*env, "PATH="))
			return *env + sizeof("PATH=") - 1;
	return "/bin:/usr/bin";
}

/* "DIRECTORY/FILE"; an empty one is the working directory. False: too long. */
static bool join(char to[EXEC_PATH_BYTES], const char *dir, size_t n, const char *file)
{
	size_t bytes = str_length(file) + 1;

	if (n + 1 + bytes > EXEC_PATH_BYTES)
		return false;
	for (size_t i = 0; i < n; i++)
		*to++ = dir[i];
	if (n)
		*to++ = '/';
	for (size_t i = 0; i < bytes; i++)
		*to++ = file[i];
	return true;
}

static size_t up_to_colon(const char *s)
{
	size_t n = 0;

	while (s[n] && s[n] != ':')
		n++;
	return n;
}

bool exec_search(const char *file, char *const *env, char path[EXEC_PATH_BYTES])
{
	const char *dirs = path_of(env);
	struct kind k;

	for (const char *s = file; *s; s++)
		if (*s == '/')
			return join(path, "", 0, file);
	for (size_t n = up_to_colon(dirs);; dirs += n + 1, n = up_to_colon(dirs)) {
		if (join(path, dirs, n, file) && kind_of(SYS_AT_FDCWD, path, &k) &&
		    k.mode & S_IXANY)
			return true;
		if (!dirs[n])
			return false;
	}
}

bool exec_is_readable(const char *path)
{
	struct kind k;

	return kind_of(SYS_AT_FDCWD, path, &k);
}

void exec_name_of(int fd, char name[PMM_EXEC_NAME])
{
	char link[64] = "/proc/thread-self/fd/", path[LINK_BYTES], digits[12], *to = link + 21;
	const char *base = path;
	int nr = 0;
	long n;

	for (unsigned rest = (unsigned)fd; !nr || rest; rest /= 10)
		digits[nr++] = (char)('0' + rest % 10);
	while (nr)
		*to++ = digits[--nr];
	*to = '\0';
	n = sys3(readlink, link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	for (const char *s = path; *s; s++)
		if (*s == '/')
			base = s + 1;
	for (n = 0; base[n] && n < PMM_EXEC_NAME - 1; n++)
		name[n] = base[n];
	name[n] = '\0';
}
