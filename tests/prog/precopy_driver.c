/* SPDX-License-Identifier: GPL-2.0-or-later
 * Freezes the blocks of precopy_victim again and again, threads stopped through src/ptrace/stop.h, and compares with what the victim itself
 * says of them (precopy_truth.h):
 *
 *	precopy_driver FILE TIMES [exact | sampled | min=BYTES]
 *
 * Every block that no operation is under way with must be there, with its size, and nothing else (sampled: nothing else). A block being
 * moved must be in the table, at its old or its new place, or be told of as a move, and then its contents must be where the move says.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/vec.h"
#include "src/ledger/precopy.h"
#include "src/ptrace/stop.h"
#include "tests/prog/precopy_truth.h"

#define STOP_NS	30000000000u

struct flight {
	struct truth_thread t;
	bool is_map, old_found, new_found;
};

struct comparison {
	VEC(struct truth_slot) blocks, maps;	/* certain, by address */
	struct flight flight[TRUTH_THREADS];
	unsigned nr_flights;
};

static struct err e;
static bool sampled;
static uint64_t min_size;

static int by_address(const void *a, const void *b)
{
	const struct truth_slot *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* From a copy of the truth as of the stop. */
static int sort_out(const struct truth *truth, struct comparison *c)
{
	uint64_t nr = (uint64_t)truth->nr_threads * truth->nr_slots;
	int rc = 0;

	for (unsigned i = 0; i < truth->nr_threads; i++)
		if (truth->thread[i].op)
			c->flight[c->nr_flights++] = (struct flight){ truth->thread[i], truth->thread[i].op >= TRUTH_MAP, false, false };
	for (uint64_t i = 0; i < nr && !rc; i++) {
		bool certain = truth->slot[i].address;

		for (unsigned k = 0; k < c->nr_flights; k++)
			certain &= c->flight[k].t.slot != i;
		if (certain && truth->nr_maps_of && i % truth->nr_slots % truth->nr_maps_of == 0)
			rc = vec_push(&c->maps, truth->slot[i]);
		else if (certain && truth->slot[i].size >= min_size)
			rc = vec_push(&c->blocks, truth->slot[i]);
	}
	vec_sort(&c->blocks, by_address);
	vec_sort(&c->maps, by_address);
	return rc;
}

/* Does an operation under way explain a block that is in the table? */
static bool explained(struct comparison *c, const struct heap_block *b, bool is_map)
{
	for (unsigned i = 0; i < c->nr_flights; i++) {
		struct flight *f = &c->flight[i];

		if (f->is_map != is_map)
			continue;
		if (!f->old_found && f->t.old.address == b->address && f->t.old.size == b->size_bytes)
			return f->old_found = true;
		if (!f->new_found && f->t.new_size == b->size_bytes && f->t.op != TRUTH_FREE && f->t.op != TRUTH_UNMAP)
			return f->new_found = true;
	}
	return false;
}

static unsigned compare(struct comparison *c, const struct heap_block *b, uint64_t nr, const struct truth_slot *s, size_t nr_certain, bool is_map)
{
	unsigned wrong = 0;
	size_t k = 0;

	for (uint64_t i = 0; i < nr; i++) {
		if (b[i].size_bytes % 8 != TRUTH_ODD)
			continue;
		for (; k < nr_certain && s[k].address < b[i].address; k++)
			if (!sampled && ++wrong < 5)
				printf("missing: %#llx, %llu bytes\n", (unsigned long long)s[k].address, (unsigned long long)s[k].size);
		if (k < nr_certain && s[k].address == b[i].address && s[k].size == b[i].size_bytes)
			k++;
		else if (!explained(c, &b[i], is_map) && ++wrong < 5)
			printf("not there: %#llx, %llu bytes\n", (unsigned long long)b[i].address, (unsigned long long)b[i].size_bytes);
	}
	for (; k < nr_certain; k++)
		if (!sampled && ++wrong < 5)
			printf("missing: %#llx, %llu bytes\n", (unsigned long long)s[k].address, (unsigned long long)s[k].size);
	return wrong;
}

/* Does a word lead to the contents of a block on its way, or to the allocator's header before it? */
static bool leads_there(pid_t pid, uint64_t word, uint64_t mark)
{
	uint64_t there;

	for (unsigned i = 0; i < 5; i++)	/* one by one: a guarded block's memory ends with it */
		if (!stop_read(pid, word + 8 * i, &there, sizeof(there)) && there == mark)
			return true;
	return false;
}

/* Does one of the thread's words, as the contract of struct precopy_move has it? */
static bool found_by_words(pid_t pid, const struct stopped *s, const struct precopy_move *m)
{
	uint64_t mark = m->from ^ TRUTH_KEY, word;

	for (size_t i = 0; i < s->nr; i++) {
		const struct user_regs_struct *regs = &s->v[i].regs;

		if (regs->rsp > m->sp || m->sp - regs->rsp > 65536)
			continue;
		for (size_t k = 0; k < sizeof(*regs) / 8; k++) {
			memcpy(&word, (const char *)regs + 8 * k, 8);
			if (leads_there(pid, word, mark))
				return true;
		}
		for (uint64_t sp = regs->rsp; sp < m->sp; sp += 8)
			if (!stop_read(pid, sp, &word, 8) && leads_there(pid, word, mark))
				return true;
	}
	return false;
}

/* While the threads are stopped. */
static unsigned check_moves(pid_t pid, const struct stopped *s, const struct precopy *f)
{
	unsigned wrong = 0;

	vec_each(&f->moves, m) {
		uint64_t word = 0;

		if (stop_read(pid, m->from, &word, sizeof(word)) || word != (m->from ^ TRUTH_KEY))
			if (!found_by_words(pid, s, m)) {
				printf("lost: what was moved from %#llx\n", (unsigned long long)m->from);
				wrong++;
			}
	}
	return wrong;
}

static unsigned check_reallocs(const struct comparison *c, const struct precopy *f)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < c->nr_flights; i++) {
		const struct flight *x = &c->flight[i];
		bool told = x->t.op != TRUTH_REALLOC || x->old_found || x->new_found || sampled || min_size;

		vec_each(&f->moves, m)
			told |= m->from == x->t.old.address && m->to_bytes == m->bytes + PRECOPY_HEADER_BYTES &&
				(m->bytes == x->t.old.size || m->bytes == x->t.new_size) && m->bytes <= x->t.new_size;
		if (!told && ++wrong)
			printf("nowhere: %#llx, which realloc has\n", (unsigned long long)x->t.old.address);
	}
	return wrong;
}

struct figures {
	uint64_t begin_ns, now_ns, late_bytes;
	size_t moves;
};

static int once(const struct truth *truth, size_t bytes, struct truth *copy, struct figures *fig)
{
	struct ledger_options o = { .running = true, .pid = (pid_t)truth->pid };
	struct comparison c = { 0 };
	struct ledger_map *map;
	struct stopped s = { 0 };
	struct heap *h = NULL;
	struct precopy f;
	unsigned wrong;
	int rc = ledger_map_open_pid((pid_t)truth->pid, &map, &e);

	if (rc)
		return rc;
	fig->begin_ns = now_ns();
	rc = precopy_begin(&f, map, &e);
	fig->begin_ns = now_ns() - fig->begin_ns;
	if (!rc)
		rc = stop_all((pid_t)truth->pid, STOP_NS, &s, &e);
	if (rc)
		goto out;
	fig->now_ns = now_ns();
	rc = precopy_now(&f, &e);
	fig->now_ns = now_ns() - fig->now_ns;
	memcpy(copy, truth, bytes);
	wrong = check_moves((pid_t)truth->pid, &s, &f);
	stop_resume(&s);
	fig->late_bytes = f.late_bytes;
	fig->moves = f.moves.nr;
	if (!rc)
		rc = precopy_heap(&f, &o, &h, &e);
	if (!rc)
		rc = sort_out(copy, &c);
	if (!rc) {
		wrong += compare(&c, h->blocks, h->nr_blocks, c.blocks.v, c.blocks.nr, false);
		wrong += compare(&c, h->maps, h->nr_maps, c.maps.v, c.maps.nr, true);
		wrong += check_reallocs(&c, &f);
		rc = wrong ? (int)wrong : 0;
	}
	heap_free(h);
	vec_fini(&c.blocks);
	vec_fini(&c.maps);
out:
	precopy_end(&f);
	ledger_map_close(map);
	return rc;
}

int main(int argc, char **argv)
{
	unsigned times = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	int fd = open(argc > 1 ? argv[1] : "truth", O_RDONLY);
	uint64_t *begin = calloc(times + 1, 8), *now = calloc(times + 1, 8), *late = calloc(times + 1, 8);
	const struct truth *truth;
	struct truth *copy;
	struct stat st;
	size_t moves = 0;

	sampled = argc > 3 && !strcmp(argv[3], "sampled");
	min_size = argc > 3 && !strncmp(argv[3], "min=", 4) ? strtoull(argv[3] + 4, NULL, 10) : 0;
	if (fd < 0 || fstat(fd, &st) || !times || !begin || !now || !late)
		return 2;
	truth = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
	copy = malloc((size_t)st.st_size);
	memset(copy, 0, (size_t)st.st_size);
	for (unsigned i = 0; i < times; i++) {
		struct figures fig;
		int rc = once(truth, (size_t)st.st_size, copy, &fig);

		if (rc < 0)
			return fprintf(stderr, "%s\n%s\n", e.text, e.hint), 3;
		if (rc)
			return printf("round %u: %d wrong\n", i, rc), 1;
		begin[i] = fig.begin_ns;
		now[i] = fig.now_ns;
		late[i] = fig.late_bytes;
		moves += fig.moves;
	}
	qsort(begin, times, 8, by_value);
	qsort(now, times, 8, by_value);
	qsort(late, times, 8, by_value);
	printf("right times=%u moves=%zu begin_us=%llu now_us=%llu now_max_us=%llu late_bytes=%llu late_max_bytes=%llu\n", times, moves,
	       (unsigned long long)begin[times / 2] / 1000, (unsigned long long)now[times / 2] / 1000,
	       (unsigned long long)now[times - 1] / 1000, (unsigned long long)late[times / 2], (unsigned long long)late[times - 1]);
	return 0;
}
