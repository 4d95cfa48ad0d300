/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/session/attach/attach_events.c, src/document/event.c: what `pmm attach' says of growth while
 * it watches, and that lines are whole.
 */
#include "tests/unit/unit.h"

#include "src/session/attach/attach_events.h"

#define SECOND	1000000000ull

struct say {
	FILE *out;
	bool json;
	struct style style;
	struct attach_scope scope;
};

static char *got;
static size_t size;

static struct say begin(void)
{
	return (struct say){ .out = open_memstream(&got, &size),
			     .scope = { .start_ns = 100 * SECOND, .expire_ns = 30 * SECOND },
			     .style = { .width = 80 } };
}

static void say_growth(struct say *s, uint64_t now_ns, const struct growth *g,
		       const struct limit *limit)
{
	struct event e = attach_event_growth(&s->scope, now_ns, g, limit);

	assert_int_equal(s->json ? event_print_json(&e, s->out)
				 : event_print_text(&e, &s->style, s->out), 0);
	event_fini(&e);
}

static void said(struct say *s, const char *wanted)
{
	fclose(s->out);
	assert_string_equal(got, wanted);
	free(got);
}

static void of_growth(void **state)
{
	const struct growth steady = { .verdict = GROWTH_STEADY,
				       .slope = 10240,
				       .slope_low = 9216,
				       .slope_high = 11264,
				       .since_ns = 130 * SECOND,
				       .until_ns = 190 * SECOND };
	struct say s = begin();

	(void)state;
	say_growth(&s, 160 * SECOND, &(struct growth){ .verdict = GROWTH_UNKNOWN }, NULL);
	say_growth(&s, 170 * SECOND,
		   &(struct growth){ .verdict = GROWTH_NONE, .reason = GROWTH_TURNOVER }, NULL);
	say_growth(&s, 190 * SECOND, &steady, NULL);
	said(&s, "  60.0 s  growth: too short a time to tell (it takes 16 samples and 10 s)\n"
		 "  70.0 s  growth: not certain, because blocks from before the attach were freed\n"
		"          meanwhile, and it may only replace them\n"
		 "  90.0 s  growth: the heap GROWS steadily by 10.0 KiB/s (9.00 KiB/s to\n"
		"          11.0 KiB/s in 19 of 20 cases) for 60.0 s\n");
}

/* Seen for a minute: a hundred minutes ahead at most. */
static void of_the_limit(void **state)
{
	const struct growth steady = { .verdict = GROWTH_STEADY,
				       .slope = 1024,
				       .slope_low = 1024,
				       .slope_high = 1024,
				       .since_ns = 130 * SECOND,
				       .until_ns = 190 * SECOND };
	struct limit limit = { .kind = LIMIT_DATA,
			       .limit_bytes = 10 << 20,
			       .left_bytes = 1024 * 1234 };
	struct say s = begin();

	(void)state;
	s.style.width = 1000;
	say_growth(&s, 190 * SECOND, &steady, &limit);
	limit.left_bytes = 1024 * 6001;
	say_growth(&s, 190 * SECOND, &steady, &limit);
	said(&s, "  90.0 s  growth: the heap GROWS steadily by 1.00 KiB/s (1.00 KiB/s to 1.00 "
		 "KiB/s in 19 of 20 cases) for 60.0 s; "
		 "at this pace it will reach its data limit of 10.0 MiB in about 21 minutes\n"
		 "  90.0 s  growth: the heap GROWS steadily by 1.00 KiB/s (1.00 KiB/s to 1.00 "
		 "KiB/s in 19 of 20 cases) for 60.0 s; "
		 "at this pace it will not reach its data limit of 10.0 MiB within 100 "
		 "minutes\n");
	s = begin();
	s.json = true;
	limit.left_bytes = 1024 * 1234;
	say_growth(&s, 190 * SECOND, &steady, &limit);
	fclose(s.out);
	if (!strstr(got, "\"limit_in_ns\": 1200000000000")) fail_msg("%s", got);
	free(got);
	s = begin();
	s.json = true;
	limit.left_bytes = 1024 * 6001;
	say_growth(&s, 190 * SECOND, &steady, &limit);
	fclose(s.out);
	assert_null(strstr(got, "limit_in_ns"));
	assert_non_null(strstr(got, "bytes_per_second"));
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_growth),
		cmocka_unit_test(of_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
