/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Branches from other functions to behind a function's first byte: compilers put a function's rare
 * parts elsewhere ("name.cold"), and what is there may jump back to anywhere.
 *
 * All code of the object is searched for 32-bit displacements that lead to bytes that would be
 * overwritten. Any byte can look like the beginning of a branch; a hit counts if instructions
 * decoded from some way before it on end up there.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arch/code_arch.h"
#include "src/entries/entries_scan.h"
#include "src/entries/insn.h"

#define CHUNK		(1u << 20)
/* bytes read beyond a chunk: a branch may begin at its end */
#define BEHIND		16u
#define MAX_CODE	(64ull << 20)	/* searched of one object; what is larger is trusted */
#define RUN_UP		96u		/* bytes before a hit from which on is decoded */
#define NR_STARTS	16u

struct target {
	uint64_t low, high;		/* an instruction must not be branched to in [low, high) */
	struct entry_found *entry;
};

struct search {
	const struct scan *scan;
	const struct object *object;
	VEC(struct target) targets;	/* by address */
	uint64_t low, high;		/* of all of them */
	int error;
};

static struct target *target_find(const struct search *s, uint64_t to)
{
	size_t i = vec_while(&s->targets, t, t->high <= to);

	return i < s->targets.nr && s->targets.v[i].low <= to ? &s->targets.v[i] : NULL;
}

/* Memory without jumps of pmm's own. 0 or -errno. */
static int code_read(const struct search *s, uint64_t at, void *to, size_t bytes)
{
	int rc = objects_read(&s->scan->objects, at, to, bytes);

	if (!rc)
		jumps_lift(&s->scan->jumps, at, to, bytes);
	return rc;
}

/*
 * Does an instruction begin at `at`? Decoding finds its way into step from nearly anywhere; most
 * starts must agree.
 */
static bool is_instruction(const struct search *s, uint64_t at)
{
	uint8_t code[RUN_UP + INSN_MAX_BYTES];
	unsigned agreed = 0;

	if (at - s->object->code_start < RUN_UP || code_read(s, at - RUN_UP, code, sizeof(code)))
		return true;
	for (unsigned start = 0; start < NR_STARTS; start++) {
		unsigned i = start;
		struct insn in;

		while (i < RUN_UP)
			i += insn_decode(code + i, sizeof(code) - i, 0, &in) ? in.length : 1;
		agreed += i == RUN_UP;
	}
	return agreed > NR_STARTS / 2;
}

/*
 * A branch at `at` seems to go to `to`, which is between the first and the last that are looked
 * for.
 */
static void hit(struct search *s, uint64_t at, uint64_t to)
{
	struct target *t = target_find(s, to);
	char why[96];

	/* its own branches are looked at when it is planned */
	if (!t || t->entry->refused ||
	    (at >= t->entry->begin && at - t->entry->begin < t->entry->begin_size) ||
	    !is_instruction(s, at))
		return;
	snprintf(why, sizeof(why),
		 "a branch from elsewhere (0x%" PRIx64 ") goes to bytes that would be overwritten",
		 at - s->object->bias);
	t->entry->refused = strdup(why);
	if (!t->entry->refused)
		s->error = -ENOMEM;
}

static void search_chunk(struct search *s, const uint8_t *p, size_t nr, uint64_t address)
{
	for (size_t i = 0; i < nr; i++) {
		unsigned skip = arch_branch(&p[i]);
		int32_t displacement;
		uint64_t to;

		if (!skip)
			continue;
		memcpy(&displacement, p + i + skip, sizeof(displacement));
		to = address + i + skip + sizeof(displacement) + (uint64_t)(int64_t)displacement;
		if (to >= s->low && to < s->high)
			hit(s, address + i, to);
	}
}

static void search_object(struct search *s)
{
	const struct object *object = s->object;
	uint8_t *chunk = malloc(CHUNK + BEHIND);

	if (!chunk)
		s->error = -ENOMEM;
	for (uint64_t at = object->code_start; chunk && !s->error && at < object->code_end;
	     at += CHUNK) {
		size_t nr = object->code_end - at < CHUNK ? object->code_end - at : CHUNK;
		size_t more = object->code_end - at - nr < BEHIND ? 0 : BEHIND;

		memset(chunk + nr, 0, BEHIND);
		if (!code_read(s, at, chunk, nr + more))
			search_chunk(s, chunk, nr, at);
	}
	free(chunk);
}

static int target_add(struct search *s, struct entry_found *f)
{
	if (!s->targets.nr || f->area_low < s->low)
		s->low = f->area_low;
	if (f->area_high > s->high)
		s->high = f->area_high;
	return vec_push(&s->targets, (struct target){ f->area_low, f->area_high, f });
}

static int compare_targets(const void *a, const void *b)
{
	const struct target *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

int scan_branches(const struct scan *scan, struct entries *found)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < scan->objects.nr; i++) {
		struct search s = { .scan = scan, .object = &scan->objects.v[i] };

		for (size_t k = 0; !rc && k < found->nr; k++)
			if (found->v[k].module_start == s.object->start && !found->v[k].refused &&
			    found->v[k].area_high)
				rc = target_add(&s, &found->v[k]);
		vec_sort(&s.targets, compare_targets);
		if (!rc && s.targets.nr && s.object->code_end - s.object->code_start <= MAX_CODE)
			search_object(&s);
		vec_fini(&s.targets);
		rc = rc ? rc : s.error;
	}
	return rc;
}
