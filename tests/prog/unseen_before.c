/* SPDX-License-Identifier: GPL-2.0-or-later */ /* An allocator that stands before the C library's: 32 bytes of its own are before each block. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define OWN	32

void *malloc(size_t bytes);
void *calloc(size_t n, size_t each);
void *realloc(void *p, size_t bytes);
void free(void *p);
void *__libc_malloc(size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void __libc_free(void *p);

void *malloc(size_t bytes)
{
	char *p = __libc_malloc(bytes + OWN);

	return p ? p + OWN : NULL;
}

void *calloc(size_t n, size_t each)
{
	void *p = malloc(n * each);

	return p ? memset(p, 0, n * each) : NULL;
}

void *realloc(void *p, size_t bytes)
{
	char *to = __libc_realloc(p ? (char *)p - OWN : NULL, bytes + OWN);

	return to ? to + OWN : NULL;
}

void free(void *p)
{
	if (p)
		__libc_free((char *)p - OWN);
}
