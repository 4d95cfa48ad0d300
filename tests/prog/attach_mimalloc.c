/* SPDX-License-Identifier: GPL-2.0-or-later
 * With mimalloc, to attach to: says "ready", and at each g calls what only mimalloc has -> "done". At d it makes 100 blocks
 * in a heap three times and destroys that -> "done".
 *
 * expect:
 *   site of_heap     allocs=7 frees=7 bytes=714 blocks=0
 *   site strings     allocs=2 frees=2 bytes=19 blocks=0
 *   site aligned     allocs=2 frees=2 bytes=300 blocks=0
 *   site expanded    allocs=2 frees=1 bytes=101 live=51 blocks=1
 *   total            untracked=0 failed=0 blocks=1
 */
#include <dlfcn.h>

#include "attach.h"

static void *function(const char *name)
{
	void *f = dlsym(RTLD_DEFAULT, name);

	if (!f)
		_exit(97);
	return f;
}

/* the type of a function, by an example of its arguments */
#define CALL(NAME, RESULT, ...) ((RESULT(*)(__VA_ARGS__))function(#NAME))

SITE static void of_heap(void)
{
	void *heap = CALL(mi_heap_get_default, void *, void)(), *p[4];

	p[0] = CALL(mi_heap_malloc, void *, void *, size_t)(heap, 100);
	p[1] = CALL(mi_heap_calloc, void *, void *, size_t, size_t)(heap, 3, 10);
	p[2] = CALL(mi_heap_zalloc, void *, void *, size_t)(heap, 20);
	p[3] = CALL(mi_heap_mallocn, void *, void *, size_t, size_t)(heap, 4, 16);
	p[0] = CALL(mi_heap_realloc, void *, void *, void *, size_t)(heap, hide(p[0]), 200);
	p[1] = CALL(mi_heap_reallocn, void *, void *, void *, size_t, size_t)(heap, hide(p[1]), 5, 20);
	p[2] = CALL(mi_heap_rezalloc, void *, void *, void *, size_t)(heap, hide(p[2]), 200);
	for (int i = 0; i < 4; i++)
		CALL(mi_free, void, void *)(hide(p[i]));
}

SITE static void strings(void)
{
	char path[4096], *p = CALL(mi_strdup, char *, const char *)("hello, world");
	char *q = CALL(mi_strndup, char *, const char *, size_t)("hello, world", 5);

	CALL(mi_realpath, char *, const char *, char *)("/", path);
	CALL(mi_free, void, void *)(hide(p));
	CALL(mi_free, void, void *)(hide(q));
}

SITE static void aligned(void)
{
	void *p = CALL(mi_zalloc_aligned_at, void *, size_t, size_t, size_t)(100, 64, 0);

	p = CALL(mi_realloc_aligned, void *, void *, size_t, size_t)(hide(p), 200, 64);
	CALL(mi_free, void, void *)(hide(p));
}

SITE static void expanded(void)
{
	void *p = CALL(mi_malloc, void *, size_t)(50);

	if (CALL(mi_expand, void *, void *, size_t)(hide(p), 51) != p)
		_exit(96);
	CALL(mi_expand, void *, void *, size_t)(hide(p), 1u << 20);
}

SITE static void destroyed(void)
{
	void *heap = CALL(mi_heap_new, void *, void)();

	for (int i = 0; i < 100; i++)
		hide(CALL(mi_heap_malloc, void *, void *, size_t)(heap, 1000));
	CALL(mi_heap_destroy, void, void *)(heap);
}

int main(void)
{
	char c;

	say("ready\n");
	while ((c = order())) {
		for (int i = 0; c == 'd' && i < 3; i++)
			destroyed();
		if (c == 'd') {
			say("done\n");
			continue;
		}
		of_heap();
		strings();
		aligned();
		expanded();
		say("done\n");
	}
	return 42;
}
