/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/export/export.c, export_parts.c, export_collapsed.c, export_speedscope.c, export_pprof.c:
 * each form of small heaps to the letter, hostile names, filters, a disk that is full.
 */
#include <zlib.h>

#include "tests/unit/export_made.h"

#define TWO_STACKS                                                                                 \
	"site main>parse>leaf allocs=3 size=100 frees=1\n"                                         \
	"site main>outer|inner allocs=1 size=8\n"

static void check_text(const char *recipe, enum export_form form, enum rank_key key,
		       const struct filter *filter, const char *expected)
{
	struct made m = make(recipe, form, key, filter);

	assert_string_equal(m.bytes, expected);
	free(m.bytes);
}

static void collapsed_has_a_line_for_each_stack(void **state)
{
	(void)state;
	check_text(TWO_STACKS, EXPORT_COLLAPSED, RANK_LIVE, NULL,
		   "main;parse;leaf 200\nmain;outer;inner 8\n");
	check_text(TWO_STACKS, EXPORT_COLLAPSED, RANK_ALLOCATED, NULL,
		   "main;parse;leaf 300\nmain;outer;inner 8\n");
	check_text(TWO_STACKS, EXPORT_COLLAPSED, RANK_CALLS, NULL,
		   "main;parse;leaf 3\nmain;outer;inner 1\n");
	check_text(TWO_STACKS, EXPORT_COLLAPSED, RANK_TEMPORARY, NULL, "");
	check_text("site main>a allocs=5 size=10 frees=5\nsite main allocs=1 size=7\n",
		   EXPORT_COLLAPSED, RANK_LIVE, NULL, "main 7\n");
}

static void collapsed_of_what_a_filter_passes(void **state)
{
	(void)state;
	check_text(TWO_STACKS, EXPORT_COLLAPSED, RANK_LIVE,
		   &(struct filter){ .function = "inner" }, "main;outer;inner 8\n");
	check_text(TWO_STACKS, EXPORT_COLLAPSED, RANK_LIVE,
		   &(struct filter){ .function = "nowhere" }, "");
}

static void hostile_names_stay_one_frame(void **state)
{
	(void)state;
	check_text("site main>a;b>c\033[31m allocs=1 size=3\n"
		   "site main>/lib/x;y.so allocs=1 size=4\n",
		   EXPORT_COLLAPSED, RANK_LIVE, NULL,
		   "main;a:b;c\\x1b[31m 3\nmain;[x:y.so] 4\n");
}

#define SPEEDSCOPE_HEAD(active)                                                                    \
	"{\n  \"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n"              \
	"  \"exporter\": \"pmm " PMM_VERSION "\",\n  \"name\": \"fake\",\n"                        \
	"  \"activeProfileIndex\": " active ",\n  \"shared\": {\n    \"frames\": [\n"

static void speedscope_to_the_letter(void **state)
{
	static const struct filter sized = { .by_size = true, .size_bytes = { 1, 1000 } };

	(void)state;
	check_text("site main>a allocs=2 size=3\nsite main allocs=1 size=4\n", EXPORT_SPEEDSCOPE,
		   RANK_LIVE, &sized,
		   SPEEDSCOPE_HEAD("0")
		   "      {\"name\": \"[stack unknown]\"},\n"
		   "      {\"name\": \"a\", \"file\": \"/src/a.c\", \"line\": 7},\n"
		   "      {\"name\": \"main\", \"file\": \"/src/main.c\", \"line\": 7}\n"
		   "    ]\n  },\n  \"profiles\": [\n"
		   "    {\n      \"type\": \"sampled\",\n      \"name\": \"live bytes\",\n"
		   "      \"unit\": \"bytes\",\n      \"startValue\": 0,\n      \"endValue\": 10,\n"
		   "      \"samples\": [\n        [2],\n        [2, 1]\n      ],\n"
		   "      \"weights\": [4, 6]\n    },\n"
		   "    {\n      \"type\": \"sampled\",\n      \"name\": \"live blocks\",\n"
		   "      \"unit\": \"none\",\n      \"startValue\": 0,\n      \"endValue\": 3,\n"
		   "      \"samples\": [\n        [2],\n        [2, 1]\n      ],\n"
		   "      \"weights\": [1, 2]\n    }\n  ]\n}\n");
}

/* Figures of nothing are left out, but for the one that was asked for, which is shown first. */
static void speedscope_shows_what_was_asked_for(void **state)
{
	struct made m = make("site main allocs=1 size=4 frees=1\n", EXPORT_SPEEDSCOPE, RANK_LIVE,
			     NULL);

	(void)state;
	assert_non_null(strstr(m.bytes, "\"activeProfileIndex\": 0,"));
	assert_non_null(strstr(m.bytes, "\"endValue\": 0,"));
	assert_null(strstr(m.bytes, "live blocks"));
	assert_non_null(strstr(m.bytes, "\"allocations\""));
	free(m.bytes);
	m = make("site main allocs=1 size=4\n", EXPORT_SPEEDSCOPE, RANK_CALLS, NULL);
	assert_non_null(strstr(m.bytes, "\"activeProfileIndex\": 5,"));
	free(m.bytes);
	m = make("", EXPORT_SPEEDSCOPE, RANK_TEMPORARY, NULL);
	assert_non_null(strstr(m.bytes, "\"name\": \"temporary allocations\""));
	assert_null(strstr(m.bytes, "\"name\": \"live bytes\""));
	free(m.bytes);
}

/* ---- pprof: decoded again ---- */

struct message {
	const unsigned char *at, *end;
};

struct field {
	unsigned number;
	uint64_t value;			/* or the length of */
	struct message bytes;
};

static uint64_t varint(struct message *m)
{
	uint64_t n = 0;

	for (unsigned shift = 0;; shift += 7) {
		assert_true(m->at < m->end && shift < 64);
		n |= (uint64_t)(*m->at & 0x7f) << shift;
		if (!(*m->at++ & 0x80))
			return n;
	}
}

static bool next(struct message *m, struct field *f)
{
	uint64_t tag;

	if (m->at == m->end)
		return false;
	tag = varint(m);
	f->number = (unsigned)(tag >> 3);
	f->value = varint(m);
	if ((tag & 7) == 2) {
		assert_true(f->value <= (uint64_t)(m->end - m->at));
		f->bytes = (struct message){ m->at, m->at + f->value };
		m->at += f->value;
	} else {
		assert_int_equal(tag & 7, 0);
	}
	return true;
}

/* The nth field of that number. */
static struct field nth(struct message m, unsigned number, unsigned n)
{
	struct field f;

	while (next(&m, &f))
		if (f.number == number && !n--)
			return f;
	fail_msg("no field %u", number);
	return f;
}

static unsigned count(struct message m, unsigned number)
{
	struct field f;
	unsigned n = 0;

	while (next(&m, &f))
		n += f.number == number;
	return n;
}

static const char *string(struct message profile, uint64_t n)
{
	static char text[8][200];
	static unsigned turn;
	struct field f = nth(profile, 6, (unsigned)n);
	char *to = text[turn++ % 8];

	snprintf(to, sizeof(*text), "%.*s", (int)f.value, (const char *)f.bytes.at);
	return to;
}

static unsigned char room[1 << 16];

static struct message profile_of(const char *recipe, enum rank_key key,
				 const struct filter *filter)
{
	struct made m = make(recipe, EXPORT_PPROF, key, filter);
	z_stream z = { .next_in = (unsigned char *)m.bytes, .avail_in = (unsigned)m.nr,
		       .next_out = room, .avail_out = sizeof(room) };

	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	inflateEnd(&z);
	free(m.bytes);
	return (struct message){ room, room + z.total_out };
}

/* "main>outer>inner 1 8 1 8": the names of a sample's stack, outermost first, and its values. */
static const char *sample(struct message profile, unsigned n)
{
	static char text[500];
	struct message m = nth(profile, 2, n).bytes, ids = nth(m, 1, 0).bytes,
		       values = nth(m, 2, 0).bytes;
	char before[500];

	*text = '\0';
	while (ids.at < ids.end) {
		uint64_t id = varint(&ids);
		unsigned nr = count(profile, 4), i = 0;

		while (i < nr && nth(nth(profile, 4, i).bytes, 1, 0).value != id)
			i++;
		for (unsigned k = 0; k < count(nth(profile, 4, i).bytes, 4); k++) {
			struct message line = nth(nth(profile, 4, i).bytes, 4, k).bytes;
			uint64_t function = nth(line, 1, 0).value;

			/* they are in the order of their numbers, which begin with 1 */
			line = nth(profile, 5, (unsigned)function - 1).bytes;
			assert_int_equal(nth(line, 1, 0).value, function);
			strcpy(before, text);
			snprintf(text, sizeof(text), "%s%s%.200s",
				 string(profile, nth(line, 2, 0).value), *before ? ">" : "",
				 before);
		}
	}
	while (values.at < values.end)
		sprintf(text + strlen(text), " %llu", (unsigned long long)varint(&values));
	return text;
}

static void pprof_has_samples_and_names(void **state)
{
	struct message p = profile_of(TWO_STACKS, RANK_LIVE, NULL), m;

	(void)state;
	assert_int_equal(count(p, 2), 2);
	assert_string_equal(sample(p, 0), "main>parse>leaf 3 300 2 200");
	assert_string_equal(sample(p, 1), "main>outer>inner 1 8 1 8");
	assert_int_equal(count(p, 1), 4);
	assert_string_equal(string(p, nth(nth(p, 1, 3).bytes, 1, 0).value), "inuse_space");
	assert_string_equal(string(p, nth(nth(p, 1, 3).bytes, 2, 0).value), "bytes");
	assert_string_equal(string(p, nth(p, 14, 0).value), "inuse_space");
	assert_string_equal(string(p, 0), "");
	assert_int_equal(nth(p, 12, 0).value, 1);
	assert_int_equal(count(p, 3), 4);
	/* outer and inner are one location: two lines */
	assert_int_equal(count(p, 4), 4);
	assert_int_equal(count(p, 5), 5);
	m = nth(nth(p, 2, 0).bytes, 3, 0).bytes;
	assert_string_equal(string(p, nth(m, 1, 0).value), "largest_request");
	assert_int_equal(nth(m, 3, 0).value, 100);
	assert_string_equal(string(p, nth(profile_of(TWO_STACKS, RANK_CALLS, NULL), 14, 0).value),
			    "alloc_objects");
}

static void pprof_of_what_a_filter_passes(void **state)
{
	static const struct filter sized = { .by_size = true, .size_bytes = { 50, 1000 } };
	struct message p = profile_of(TWO_STACKS, RANK_LIVE, &sized);

	(void)state;
	assert_int_equal(count(p, 2), 1);
	assert_string_equal(sample(p, 0), "main>parse>leaf 0 0 2 200");
	/* the largest request may be one that does not pass */
	assert_int_equal(count(nth(p, 2, 0).bytes, 3), 0);
	assert_int_equal(count(p, 4), 3);
	p = profile_of("", RANK_LIVE, NULL);
	assert_int_equal(count(p, 2), 0);
	assert_int_equal(count(p, 4), 0);
}

static void pprof_names_every_frame(void **state)
{
	struct message p = profile_of("site main>/lib/x.so allocs=1 size=3\n"
				      "site main>a\033[31mb allocs=1 size=4\n",
				      RANK_LIVE, NULL);

	(void)state;
	assert_true(strstr(sample(p, 0), "main>x.so+0x") == sample(p, 0));
	assert_string_equal(sample(p, 1), "main>a\\x1b[31mb 1 4 1 4");
}

/* ---- */

static void a_full_disk_is_said(void **state)
{
	struct heap *h = recipe_heap(TWO_STACKS);
	struct names n;

	(void)state;
	recipe_names(&n, h);
	for (enum export_form form = 0; form < EXPORT_NR; form++) {
		FILE *f = fopen("/dev/full", "w");

		assert_int_equal(export_write(form, &(struct export_source){ h, &n, NULL,
									       RANK_LIVE }, f),
				 -ENOSPC);
		fclose(f);
	}
	names_fini(&n);
	heap_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(collapsed_has_a_line_for_each_stack),
		cmocka_unit_test(collapsed_of_what_a_filter_passes),
		cmocka_unit_test(hostile_names_stay_one_frame),
		cmocka_unit_test(speedscope_to_the_letter),
		cmocka_unit_test(speedscope_shows_what_was_asked_for),
		cmocka_unit_test(pprof_has_samples_and_names),
		cmocka_unit_test(pprof_of_what_a_filter_passes),
		cmocka_unit_test(pprof_names_every_frame),
		cmocka_unit_test(a_full_disk_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
