/* SPDX-License-Identifier: MIT */
/*
 * The real string and memory functions, and what several hooks do alike.
 */
#include "agent/strings/strings.h"

#include "agent/preload/link.h"

void *string_next[NR_STRING_FUNCTIONS];

static const char names[] =
#define X(name) #name "\0"
	STRING_FUNCTIONS(X)
#undef X
	;

/* In functions that resolve others (STT_GNU_IFUNC) nothing of ours is called again. */
SLOW void *string_find(enum string_function which)
{
	const char *name = names;
	struct link_map *self = link_self();
	void *found;

	for (unsigned i = which; i; i--)
		name += str_length(name) + 1;
	found = self ? link_symbol_from(self->l_next, name, NULL) : NULL;
	if (!found)
		__builtin_trap();	/* who called it would not have been started without us */
	STORE(string_next[which], found);
	return found;
}

/*
 * All of them, while there is one thread only. Those that this C library does not have stay
 * unknown.
 */
static __attribute__((constructor(101))) void find_all(void)
{
	struct link_map *self = link_self();
	const char *name = names;

	for (unsigned i = 0; self && i < NR_STRING_FUNCTIONS; i++, name += str_length(name) + 1)
		if (!string_next[i])
			STORE(string_next[i], link_symbol_from(self->l_next, name, NULL));
}

static SLOW size_t length_careful(const char *s, const char *function, const struct caller *from)
{
	size_t left = bounds_left(s, 1), n, may;

	if (left == SIZE_MAX)
		return NEXT(strlen)(s);
	n = NEXT(strnlen)(s, left);
	if (likely(n < left))
		return n;
	may = bounds_over(s, SIZE_MAX, PMM_ACCESS_READ, function, from);
	return may == SIZE_MAX ? NEXT(strlen)(s) : NEXT(strnlen)(s, may);
}

size_t string_length(const char *s, const char *function, const struct caller *from)
{
	size_t n;

	if (bounds_guarded(s))
		return length_careful(s, function, from);
	if (bounds_canaried(s) && quick_length(s, &n))
		return n;
	n = NEXT(strlen)(s);
	return string_stays(s, n + 1) ? n : length_careful(s, function, from);
}

static SLOW size_t length_within_careful(const char *s, size_t n, const char *function,
					 const struct caller *from)
{
	size_t left = least(n, bounds_left(s, n != 0)), found = NEXT(strnlen)(s, left);

	if (found < left || left == n)
		return found;
	return NEXT(strnlen)(s, least(n, bounds_over(s, n, PMM_ACCESS_READ, function, from)));
}

size_t string_length_within(const char *s, size_t n, const char *function,
			    const struct caller *from)
{
	size_t found;

	if (bounds_guarded(s))
		return length_within_careful(s, n, function, from);
	found = NEXT(strnlen)(s, n);
	return string_stays(s, found + (found < n)) ? found
						    : length_within_careful(s, n, function, from);
}

const char *string_begin(struct bounce *b, const char *s, size_t most, const char *function,
			 const struct caller *from)
{
	size_t n = most == SIZE_MAX ? string_length(s, function, from)
				    : string_length_within(s, most, function, from);

	*b = (struct bounce){ .block = NULL };
	if (likely(!bounds_guarded(s) || n >= most || n < bounds_left(s, 1)))
		return s;
	return bounce_begin(b, s, n + 1, n);
}

void string_put(char *to, const char *source, size_t length, const char *function,
		const struct caller *from)
{
	size_t may = length + 1;

	if (unlikely(!string_stays(to, may)))
		may = bounds_check(to, may, PMM_ACCESS_WRITE, function, from);
	overlap_check(to, source, length + 1, function, from);
	string_copy(to, source, length, least(length, may));
	if (may > length || (!may && bounds_before(to, length + 1) && bounds_left(to + length, 1)))
		to[length] = 0;
}

void string_copy(void *to, const void *source, size_t n, size_t may)
{
	size_t skip = may ? 0 : bounds_before(to, n), other = may ? 0 : bounds_before(source, n);

	skip = skip > other ? skip : other;
	if (skip) {
		to = (char *)to + skip;
		source = (const char *)source + skip;
		may = least(n - skip,
			    least(bounds_left(to, n - skip), bounds_left(source, n - skip)));
	}
	NEXT(memmove)(to, source, may);
}
