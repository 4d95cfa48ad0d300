/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What generated programs with one known heap bug each share (bugs.py): the parts of a bug, how they are put together, and what the parts are made of.
 * A bug and its correct twin are the same code; `wrong` alone tells them apart.
 */
#ifndef TESTS_BUGS_H
#define TESTS_BUGS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function that stays one, so that its name is in the stacks. */
#define SITE __attribute__((noipa))

struct bug {
	int number;
	const char *flow;
	int whole;	/* the flow leads to all parts, not to act() alone */
	int company;	/* live blocks before and behind the block */
	char *(*make)(int wrong);
	void (*before)(char *p, int wrong);
	void (*act)(char *p, int wrong);
	void (*after)(char *p, int wrong);
};

/* Bugs are found through the section they are in. */
#define BUG(n) static const struct bug *const ref_##n __attribute__((section("bugs"), used)) = &bug_##n

/* A way to a bug: it calls go() with what says how wrong it is to be, once or more. False: there is none of that name. */
typedef void go_fn(int wrong);
int flow_cxx(const char *name, go_fn *go, int wrong);

/* ---- what the parts are made of ---- */

/* The same pointer, of which the compiler knows nothing. */
static inline char *hide(void *p)
{
	__asm__ volatile("" : "+r"(p) : : "memory");
	return (char *)p;
}

/* One of two numbers, which the compiler cannot check against limits. */
static inline long pick(int wrong, long bad, long good)
{
	long n = wrong ? bad : good;

	__asm__ volatile("" : "+r"(n));
	return n;
}

#define SCALAR(bytes, type) typedef type __attribute__((may_alias, aligned(1))) w##bytes
SCALAR(1, uint8_t);
SCALAR(2, uint16_t);
SCALAR(4, uint32_t);
SCALAR(8, uint64_t);
typedef char w16 __attribute__((vector_size(16), may_alias, aligned(1)));
typedef char w32 __attribute__((vector_size(32), may_alias, aligned(1)));

#define WRITE(bytes, p) (*(volatile w##bytes *)(p) = (w##bytes){ 1 })
#define READ(bytes, p) do { w##bytes got_ = *(volatile w##bytes *)(p); __asm__ volatile("" : : "m"(got_)); } while (0)

/* One instruction each, whatever the optimisation. */
#define ADD(bytes, p) __atomic_fetch_add((w##bytes *)(p), 1, __ATOMIC_RELAXED)
#define INC(p) __asm__ volatile("incb %0" : "+m"(*(char *)(p)))

static inline void rep_store(char *p, size_t n)
{
	__asm__ volatile("rep stosb" : "+D"(p), "+c"(n) : "a"(1) : "memory");
}

static inline void rep_move(char *to, const char *from, size_t n)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

extern volatile char seen;	/* what was read goes here */
extern char room[];		/* large; for whatever is copied out of a block */

char *text(size_t n);		/* n letters and a NUL, in static memory; the last two are kept */
wchar_t *wtext(size_t n);
char *stuffed(char *p, size_t from, size_t n, int wrong);	/* p[from, n) filled with digits, without a NUL if wrong */
char *wstuffed(char *p, size_t from, size_t n, int wrong);
int file_of(size_t n);		/* a descriptor to read n bytes from; the same one each time */
int socket_of(size_t n);	/* likewise, to recv() from */
int sink(void);			/* a descriptor to write to, and one to send() to */
int socket_sink(void);
FILE *stream_of(size_t n);
FILE *stream_sink(void);
void churn(int nr, size_t bytes);	/* so many other blocks are allocated, then released */
void take(int nr, size_t bytes);	/* allocated, and kept */
char *in_stream(size_t n);	/* blocks of the C library's making */
char *by_getline(size_t n);
char *by_scanf(size_t n);
char *by_posix_memalign(size_t align, size_t n);
void in_thread(void (*drop)(char *p), char *p);
int compare_bytes(const void *a, const void *b);

extern char *volatile moved;	/* what realloc() gave */
extern char *volatile other;	/* a second block of the bug's */

#ifdef __cplusplus
}
#endif
#endif
