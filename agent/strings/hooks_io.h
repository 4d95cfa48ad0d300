/* SPDX-License-Identifier: MIT */
/*
 * The hooks of system calls and streams, for those of their fortified forms.
 */
#ifndef AGENT_STRINGS_HOOKS_IO_H
#define AGENT_STRINGS_HOOKS_IO_H

#include "agent/strings/strings.h"

struct file;

#define PATH_BYTES	4096u		/* any path there is, with its end */

HOOK_AS(long, read, int fd, void *to, size_t n);
HOOK_AS(long, pread, int fd, void *to, size_t n, long at);
HOOK_AS(long, pread64, int fd, void *to, size_t n, long at);
HOOK_AS(long, recv, int fd, void *to, size_t n, int flags);
HOOK_AS(long, recvfrom, int fd, void *to, size_t n, int flags, void *peer, void *peer_bytes);
HOOK_AS(long, readlink, const char *path, char *to, size_t n);
HOOK_AS(long, readlinkat, int dir, const char *path, char *to, size_t n);
HOOK_AS(char *, getcwd, char *to, size_t n);
HOOK_AS(int, gethostname, char *to, size_t n);
HOOK_AS(char *, realpath, const char *path, char *to);
HOOK_AS(long, write, int fd, const void *from, size_t n);
HOOK_AS(long, pwrite, int fd, const void *from, size_t n, long at);
HOOK_AS(long, pwrite64, int fd, const void *from, size_t n, long at);
HOOK_AS(long, send, int fd, const void *from, size_t n, int flags);
HOOK_AS(long, sendto, int fd, const void *from, size_t n, int flags, const void *peer,
	unsigned peer_bytes);

HOOK_AS(size_t, fread, void *to, size_t each, size_t nr, struct file *f);
HOOK_AS(size_t, fread_unlocked, void *to, size_t each, size_t nr, struct file *f);
HOOK_AS(char *, fgets, char *to, int n, struct file *f);
HOOK_AS(char *, fgets_unlocked, char *to, int n, struct file *f);
HOOK_AS(size_t, fwrite, const void *from, size_t each, size_t nr, struct file *f);
HOOK_AS(size_t, fwrite_unlocked, const void *from, size_t each, size_t nr, struct file *f);
HOOK_AS(int, fputs, const char *s, struct file *f);
HOOK_AS(int, fputs_unlocked, const char *s, struct file *f);
HOOK_AS(int, puts, const char *s);
HOOK_AS(long, getline, char **line, size_t *bytes, struct file *f);
HOOK_AS(long, getdelim, char **line, size_t *bytes, int end, struct file *f);
HOOK_AS(long, __getdelim, char **line, size_t *bytes, int end, struct file *f);

#endif
