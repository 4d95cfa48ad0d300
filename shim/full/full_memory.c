/* SPDX-License-Identifier: MIT */
/*
 * Memory for the full form's lists: from the kernel, for a signal handler that marks a pointer may
 * have interrupted the allocator. What is given back is for the next of its kind. Under the lock.
 */
#define CHUNK_BYTES	((size_t)64 << 10)

/* Zeroed; NULL: there is none. */
static void *own_memory(size_t bytes)
{
	size_t chunk = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
	int saved = errno;
	void *p;

	bytes = (bytes + 15) & ~(size_t)15;
	if (bytes > monitor.own_left) {
		p = mmap(NULL, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		errno = saved;
		if (p == MAP_FAILED)
			return NULL;
		monitor.own = (char *)p;
		monitor.own_left = chunk & ~(size_t)15;
	}
	p = monitor.own;
	monitor.own += bytes;
	monitor.own_left -= bytes;
	return p;
}

struct own_text {
	struct own_text *next;
	char text[];
};

/*
 * A copy of a text, one of each: what the program has may go with its library. "?": none, or no
 * memory. The last one asked for comes first.
 */
static const char *own_text(const char *text)
{
	struct own_text *t, **link;
	size_t bytes = text ? strlen(text) + 1 : 0;

	for (link = &monitor.own_texts; bytes && (t = *link); link = &t->next) {
		if (strcmp(t->text, text))
			continue;
		*link = t->next;
		t->next = monitor.own_texts;
		monitor.own_texts = t;
		return t->text;
	}
	t = bytes ? (struct own_text *)own_memory(sizeof(*t) + bytes) : NULL;
	if (!t)
		return "?";
	memcpy(t->text, text, bytes);
	t->next = monitor.own_texts;
	monitor.own_texts = t;
	return t->text;
}

/* One for a list; NULL: no memory. */
static struct listed *listed_new(void)
{
	struct listed *k = monitor.listed_free;

	if (!k)
		return (struct listed *)own_memory(sizeof(*k));
	monitor.listed_free = k->next;
	memset(k, 0, sizeof(*k));
	return k;
}

static void listed_drop(struct listed *k)
{
	memset(&k->slot, 0, sizeof(k->slot));	/* no pointer for `pmm leaks` */
	k->next = monitor.listed_free;
	monitor.listed_free = k;
}
