/* SPDX-License-Identifier: MIT */
/*
 * Streams of the C library: buffers that it fills or empties, lines.
 *
 * It copies by itself what it can, and lets the kernel do the rest: as with system calls, a buffer
 * in the guard pool that does not hold all is stood in for.
 */
#include "agent/fault/bounce.h"
#include "agent/strings/hooks_io.h"

/* ---- filled ---------------------------------------------------------------------------------- */

static void came(struct bounce *b, size_t got, size_t left, const char *function,
		 const struct caller *from)
{
	if (got > left)
		got = least(got, bounds_over(b->block, got, PMM_ACCESS_WRITE, function, from));
	bounce_end(b, got);
}

typedef size_t read_items(void *to, size_t each, size_t nr, struct file *f);

/* `left`, which is less than what is asked for. */
static SLOW size_t read_bounded(void *to, size_t each, size_t nr, struct file *f, size_t left,
				read_items *real, const char *function, const struct caller *from)
{
	struct bounce b;
	size_t got = real(bounce_begin(&b, to, each * nr, 0), each, nr, f);

	came(&b, got * each, left, function, from);
	return got;
}

#define READS_ITEMS(name)							\
HOOK(size_t, name, void *to, size_t each, size_t nr, struct file *f)		\
{										\
	size_t n, left;								\
										\
	if (__builtin_mul_overflow(each, nr, &n) || n <= (left = bounds_left(to, n != 0)))	\
		return NEXT(name)(to, each, nr, f);				\
	return read_bounded(to, each, nr, f, left, NEXT(name), #name, FROM);	\
}

READS_ITEMS(fread)
READS_ITEMS(fread_unlocked)

typedef char *read_line(char *to, int n, struct file *f);

static SLOW char *line_bounded(char *to, int n, struct file *f, size_t left, read_line *real,
			       const char *function, const struct caller *from)
{
	struct bounce b;
	char *line = real(bounce_begin(&b, to, (size_t)n, 0), n, f);

	came(&b, line ? NEXT(strnlen)(line, (size_t)n - 1) + 1 : 0, left, function, from);
	return line ? to : NULL;
}

#define READS_LINE(name)							\
HOOK(char *, name, char *to, int n, struct file *f)				\
{										\
	size_t left = bounds_left(to, n > 0);					\
										\
	if (n <= 0 || (size_t)n <= left)					\
		return NEXT(name)(to, n, f);					\
	return line_bounded(to, n, f, left, NEXT(name), #name, FROM);		\
}

READS_LINE(fgets)
READS_LINE(fgets_unlocked)

/*
 * What the program says of its buffer's size may be wrong: it is looked at what came, unless that
 * has a new one.
 */
static long line_came(char **line, const char *old, size_t left, long got, const char *function,
		      const struct caller *from)
{
	/* an access to the next page was reported, in the pool */
	size_t page = -((uint64_t)old + left) % ARCH_PAGE;

	if (unlikely(got >= 0 && (size_t)got >= left) && *line == old &&
	    (!bounds_guarded(old) || (size_t)got + 1 - left <= page))
		bounds_over(old, (size_t)got + 1, PMM_ACCESS_WRITE, function, from);
	return got;
}

#define READS_GROWING(name, called, params, args)						\
EXPORT long hook_##name params								\
{											\
	const char *old = line ? *line : NULL;						\
	size_t left = old ? bounds_left(old, 1) : SIZE_MAX;				\
											\
	return line_came(line, old, left, NEXT(name) args, called, FROM);		\
}

READS_GROWING(getline, "getline", (char **line, size_t *bytes, struct file *f), (line, bytes, f))
READS_GROWING(getdelim, "getdelim", (char **line, size_t *bytes, int end, struct file *f),
	      (line, bytes, end, f))
/* What getline() is where glibc's headers have it inline. */
READS_GROWING(__getdelim, end == '\n' ? "getline" : "getdelim",
	      (char **line, size_t *bytes, int end, struct file *f), (line, bytes, end, f))

/* ---- emptied --------------------------------------------------------------------------------- */

typedef size_t write_items(const void *from, size_t each, size_t nr, struct file *f);

static SLOW size_t write_bounded(const void *items, size_t each, size_t nr, struct file *f,
				 write_items *real, const char *function, const struct caller *from)
{
	size_t n = each * nr, may = bounds_check(items, n, PMM_ACCESS_READ, function, from), done;
	struct bounce b;

	if (may == n)
		return real(items, each, nr, f);
	done = real(bounce_begin(&b, items, n, may), each, nr, f);
	bounce_end(&b, 0);
	return done;
}

#define WRITES_ITEMS(name)                                                                         \
	static SLOW size_t name##_body(const void *items, size_t each, size_t nr, struct file *f)  \
	{                                                                                          \
		if (likely(bounds_fits(items, each * nr)))                                         \
			return NEXT(name)(items, each, nr, f);                                     \
		return write_bounded(items, each, nr, f, NEXT(name), #name, FROM);                 \
	}                                                                                          \
                                                                                                   \
	HOOK(size_t, name, const void *items, size_t each, size_t nr, struct file *f)              \
	{                                                                                          \
		size_t n;                                                                          \
                                                                                                   \
		ENTRY(__builtin_mul_overflow(each, nr, &n) || quick_fits(items, n, false), name,   \
		      name, items, each, nr, f);                                                   \
	}

WRITES_ITEMS(fwrite)
WRITES_ITEMS(fwrite_unlocked)

#define WRITES_TEXT(name, params, args)				\
static SLOW int name##_body params				\
{								\
	struct bounce b;					\
	int done;						\
								\
	s = string_begin(&b, s, SIZE_MAX, #name, FROM);			\
	done = NEXT(name) args;					\
	bounce_end(&b, 0);					\
	return done;						\
}								\
								\
EXPORT int hook_##name params					\
{								\
	void *next = LOAD(string_next[NEXT_##name]);		\
								\
	if (likely(next) && !bounds_suspect(s))			\
		return ((__typeof__(&hook_##name))next) args;	\
	return name##_body args;				\
}

WRITES_TEXT(fputs, (const char *s, struct file *f), (s, f))
WRITES_TEXT(fputs_unlocked, (const char *s, struct file *f), (s, f))
WRITES_TEXT(puts, (const char *s), (s))
