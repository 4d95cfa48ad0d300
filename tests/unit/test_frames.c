/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The index of .eh_frame that pmm makes: against those that the linker has made, and on bytes that
 * make no sense. What the agent reads out of it must be what it reads out of the linker's.
 */
#include "tests/unit/unit.h"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include "agent/unwind/cfi_fde.h"
#include "src/entries/frames.h"

#define MAX_FOUND	(1u << 20)

struct segment {
	const char *name;
	const uint8_t *bytes;
	size_t nr;
	uint64_t hdr, hdr_bytes, code_start, code_end;
};

struct pair {
	uint64_t code, fde;
};

static unsigned nr_seen;

static uint32_t u32_of(const uint8_t *p)
{
	uint32_t n;

	memcpy(&n, p, sizeof(n));
	return n;
}

/* The linker's pairs: GNU ld and its like write 1, pcrel sdata4, udata4, datarel sdata4. */
static size_t linker_pairs(const struct segment *s, struct pair **out)
{
	const uint8_t *h = (const uint8_t *)s->hdr;
	size_t nr = u32_of(h + 8);

	if (h[0] != 1 || h[1] != 0x1b || h[2] != 0x03 || h[3] != 0x3b)
		return 0;
	*out = malloc(nr * sizeof(**out));
	for (size_t i = 0; i < nr; i++)
		(*out)[i] = (struct pair){
			s->hdr + (uint64_t)(int64_t)(int32_t)u32_of(h + 12 + i * 8),
			s->hdr + (uint64_t)(int64_t)(int32_t)u32_of(h + 16 + i * 8)
		};
	return nr;
}

static int has_pair(const struct frames *f, const struct pair *p)
{
	size_t low = 0, high = u32_of(f->index + 12);
	struct pair got;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		memcpy(&got, f->index + 16 + mid * sizeof(got), sizeof(got));
		if (got.code == p->code && got.fde == p->fde)
			return 1;
		if (got.code < p->code || (got.code == p->code && got.fde < p->fde))
			low = mid + 1;
		else
			high = mid;
	}
	return 0;
}

/* The agent finds the same description of the function's first and last byte by either. */
static unsigned agent_differs(const struct segment *s, const struct frames *f, const struct pair *p)
{
	const struct cfi_module theirs = { .start = (uint64_t)s->bytes,
					   .end = (uint64_t)s->bytes + s->nr,
					   .hdr = s->hdr,
					   .hdr_bytes = s->hdr_bytes };
	const struct cfi_module ours = { .start = (uint64_t)s->bytes,
					 .end = (uint64_t)s->bytes + s->nr,
					 .hdr = (uint64_t)f->index,
					 .hdr_bytes = f->nr_bytes,
					 .apart = 1 };
	struct cfi_fde a = { 0 }, b = { 0 };
	int found = cfi_fde_find(&theirs, p->code, &a);

	if (found != cfi_fde_find(&ours, p->code, &b))
		return 1;
	return found && (a.start != b.start || a.end != b.end || a.program.at != b.program.at ||
			 a.initial.at != b.initial.at);
}

static void compare(const struct segment *s)
{
	struct frames f = { 0 };
	struct pair *theirs = NULL;
	size_t nr = linker_pairs(s, &theirs);
	unsigned missing = 0, wrong = 0;

	if (!nr)
		return;
	assert_int_equal(
		frames_index(s->bytes, s->nr, (uint64_t)s->bytes, s->code_start, s->code_end, &f),
		0);
	assert_non_null(f.index);
	for (size_t i = 0; i < nr; i++) {
		missing += !has_pair(&f, &theirs[i]);
		wrong += agent_differs(s, &f, &theirs[i]);
	}
	if (missing || wrong || u32_of(f.index + 12) != nr)
		fprintf(stderr,
			"%s: %zu of the linker's, %u of ours, %u missing, %u read otherwise\n",
			s->name, nr, u32_of(f.index + 12), missing, wrong);
	assert_int_equal(missing, 0);
	assert_int_equal(wrong, 0);
	assert_int_equal(u32_of(f.index + 12), nr);
	nr_seen++;
	free(theirs);
	frames_fini(&f);
}

/* The segment with the header, and where code is. */
static int object_look(struct dl_phdr_info *o, size_t bytes, void *arg)
{
	struct segment s = { .name = o->dlpi_name, .code_start = UINT64_MAX };
	void (*each)(const struct segment *) = *(void (**)(const struct segment *))arg;

	(void)bytes;
	for (int i = 0; i < o->dlpi_phnum; i++) {
		uint64_t start = o->dlpi_addr + o->dlpi_phdr[i].p_vaddr,
			 end = start + o->dlpi_phdr[i].p_memsz;

		if (o->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) {
			s.hdr = start;
			s.hdr_bytes = o->dlpi_phdr[i].p_memsz;
		}
		if (o->dlpi_phdr[i].p_type == PT_LOAD && o->dlpi_phdr[i].p_flags & PF_X) {
			s.code_start = start < s.code_start ? start : s.code_start;
			s.code_end = end > s.code_end ? end : s.code_end;
		}
	}
	for (int i = 0; i < o->dlpi_phnum; i++) {
		uint64_t start = o->dlpi_addr + o->dlpi_phdr[i].p_vaddr;

		if (o->dlpi_phdr[i].p_type == PT_LOAD && s.hdr >= start &&
		    s.hdr < start + o->dlpi_phdr[i].p_filesz) {
			s.bytes = (const uint8_t *)start;
			s.nr = o->dlpi_phdr[i].p_filesz;
		}
	}
	if (s.bytes && *o->dlpi_name)
		each(&s);
	return 0;
}

static void as_the_linker_has_it(void **state)
{
	void (*each)(const struct segment *) = compare;

	(void)state;
	dl_iterate_phdr(object_look, &each);
	assert_true(nr_seen >= 3);
}

/*
 * Bytes changed at random, and cut at random: nothing outside of them is read, and what comes out
 * is in order and within.
 */
static void damage(const struct segment *s)
{
	static unsigned rounds;

	if (!strstr(s->name, "libc.so") || rounds++)
		return;
	for (unsigned n = 0; n < 60; n++) {
		size_t nr = n % 3 ? s->nr : (size_t)rand() % s->nr;
		uint8_t *copy = malloc(nr ? nr : 1);
		struct frames f = { 0 };
		struct pair before = { 0 }, now;

		memcpy(copy, s->bytes, nr);
		for (unsigned i = 0; nr && i < 1u << n % 14; i++)
			copy[(size_t)rand() % nr] = (uint8_t)rand();
		assert_int_equal(
			frames_index(copy, nr, (uint64_t)s->bytes, s->code_start, s->code_end, &f),
			0);
		for (uint32_t i = 0; f.index && i < u32_of(f.index + 12); i++) {
			memcpy(&now, f.index + 16 + i * sizeof(now), sizeof(now));
			assert_true(now.code >= before.code && now.code >= s->code_start &&
				    now.code < s->code_end);
			assert_true(now.fde >= (uint64_t)s->bytes &&
				    now.fde < (uint64_t)s->bytes + nr);
			before = now;
		}
		frames_fini(&f);
		free(copy);
	}
}

static void damaged(void **state)
{
	void (*each)(const struct segment *) = damage;

	(void)state;
	srand(1);
	dl_iterate_phdr(object_look, &each);
}

static void nothing_to_find(void **state)
{
	static const uint8_t zero[4096], ones[4096] = { [0 ... 4095] = 0xff };
	struct frames f = { 0 };

	(void)state;
	for (size_t nr = 0; nr < 64; nr++) {
		assert_int_equal(frames_index(zero, nr, 0x1000, 0, UINT64_MAX, &f), 0);
		assert_int_equal(frames_index(ones, nr, 0x1001, 0, UINT64_MAX, &f), 0);
	}
	assert_int_equal(frames_index(zero, sizeof(zero), 0x1000, 0, UINT64_MAX, &f), 0);
	assert_int_equal(frames_index(ones, sizeof(ones), 0x1000, 0, UINT64_MAX, &f), 0);
	assert_null(f.index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_the_linker_has_it),
		cmocka_unit_test(damaged),
		cmocka_unit_test(nothing_to_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
