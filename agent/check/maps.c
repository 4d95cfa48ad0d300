/* SPDX-License-Identifier: MIT */
/*
 * The process's mappings, out of /proc/thread-self/maps: no memory but the stack, and not much of
 * that.
 */
#include "agent/check/maps.h"

#include "agent/agent_arena.h"
#include "agent/check/checker.h"

#define LINE_BYTES	(80u + PMM_DEATH_TEXT)
#define CHUNK_BYTES	512

/* A line of the list while it is read: of one that is too long the middle is left out. */
struct line {
	char text[LINE_BYTES];
	size_t nr;
};

/* Fields before the path take less than 80 characters. */
static void line_add(struct line *l, char c)
{
	if (l->nr == LINE_BYTES - 1) {
		for (size_t i = 80; i + 1 < LINE_BYTES - 1; i++)
			l->text[i] = l->text[i + 1];
		l->nr--;
	}
	l->text[l->nr++] = c;
}

static uint32_t access_parse(const char *s)
{
	return (s[0] == 'r' ? 1u : 0) | (s[1] == 'w' ? 2u : 0) | (s[2] == 'x' ? 4u : 0);
}

static void path_copy(struct mapping *m, const char *s)
{
	size_t n = str_length(s);

	if (n >= sizeof(m->path))
		s += n - (sizeof(m->path) - 1);
	n = str_length(s);
	memcpy(m->path, s, n + 1);
}

static void line_parse(const char *s, struct mapping *m)
{
	s = str_number(s, 16, &m->start);
	s = str_number(s + (*s != '\0'), 16, &m->end);
	m->access = 0;
	if (*s != ' ')
		m->end = 0;
	else if (str_length(s) > 4)
		m->access = access_parse(s + 1);
	for (unsigned field = 0; field < 4 && *s; field++) {	/* access, offset, device, inode */
		s += *s == ' ';
		while (*s && *s != ' ')
			s++;
	}
	while (*s == ' ')
		s++;
	m->stack = str_starts(s, "[stack");
	m->heap = str_starts(s, "[heap]");
	path_copy(m, s);
}

static bool lines_read(int fd, bool (*fn)(void *arg, const struct mapping *m), void *arg)
{
	struct line line = { .nr = 0 };
	char chunk[CHUNK_BYTES];
	struct mapping m;
	bool any = false;
	long n;

	while ((n = sys3(read, fd, chunk, sizeof(chunk))) > 0) {
		any = true;
		for (long i = 0; i < n; i++) {
			if (chunk[i] != '\n') {
				line_add(&line, chunk[i]);
				continue;
			}
			line.text[line.nr] = '\0';
			line.nr = 0;
			line_parse(line.text, &m);
			if (!fn(arg, &m))
				return true;
		}
	}
	return any && !n;
}

bool maps_each(bool (*fn)(void *arg, const struct mapping *m), void *arg)
{
	int fd = LOAD(agent.confined) ? -1 : sys_open("/proc/thread-self/maps", SYS_O_RDONLY);
	bool read;

	if (fd < 0)
		return false;
	read = lines_read(fd, fn, arg);
	sys1(close, fd);
	return read;
}

struct search {
	uint64_t address;
	struct mapping *m;
	bool found;
};

static bool is_it(void *arg, const struct mapping *m)
{
	struct search *s = arg;

	s->found = s->address >= m->start && s->address < m->end;
	if (s->found)
		*s->m = *m;
	return !s->found && m->start <= s->address;
}

bool maps_find(uint64_t address, struct mapping *m, bool *readable)
{
	struct search s = { .address = address, .m = m };

	*readable = maps_each(is_it, &s);
	return s.found;
}

/*
 * A thread's control block is at the upper end of its stack, in the same mapping (glibc, musl);
 * the first thread's is elsewhere.
 */
bool maps_is_threads_stack(const struct mapping *m, uint64_t address)
{
	uint32_t nr = LOAD(agent.ledger->nr_ctx);

	for (uint32_t i = 0; i < nr && i < PMM_MAX_CTX; i++) {
		pmm_ref ref = LOAD_ACQUIRE(agent.ledger->ctx[i]);
		const struct tctx *c = ref ? arena_at(ref) : NULL;

		if (c && LOAD(c->tp) > address && LOAD(c->tp) < m->end &&
		    LOAD(c->tid) != agent.ledger->pid)
			return true;
	}
	return false;
}
