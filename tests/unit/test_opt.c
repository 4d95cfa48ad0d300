/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of src/cmd/options/opt.c. */
#include "src/cmd/options/opt.h"

#include "tests/unit/unit.h"

static bool quiet, sampled, completed;
static const char *output, *pattern;
static uint64_t frames, sample, interval;
static struct fmt_range size, age;
static int sort;
static struct opt_list also;
static const char *const orders[] = { "live", "peak", "calls", NULL };

static const struct opt table[] = {
	{ "quiet", 'q', OPT_FLAG, NULL, "say nothing", &quiet, .given = &completed },
	{ "output", 'o', OPT_FILE, "FILE", "write there", &output },
	{ "function", 0, OPT_STRING, "PATTERN", "only those", &pattern },
	{ "frames", 'n', OPT_UINT, "N", "depth", &frames, .min = 1, .max = 512 },
	{ "sample", 's', OPT_SIZE, "BYTES", "sample", &sample, .if_omitted = "512K",
	  .given = &sampled },
	{ "interval", 0, OPT_DURATION, "SECONDS", "pause", &interval, .min = 10000000 },
	{ "size", 0, OPT_SIZE_RANGE, "MIN[:MAX]", "sizes", &size },
	{ "age", 0, OPT_DURATION_RANGE, "MIN[:MAX]", "ages", &age },
	{ "sort", 0, OPT_CHOICE, NULL, "order", &sort, .choices = orders },
	{ "also", 0, OPT_LIST, "NAME", "again and again", &also },
	{ 0 }
};

static char *words[32];
static int nr_words;
static struct err why;
static bool help;

static int parse(bool stop, const char *line)
{
	static char copy[256];
	char *p;

	quiet = sampled = completed = help = false;
	output = pattern = NULL;
	frames = sample = interval = sort = 0;
	size = age = (struct fmt_range){ 0 };
	why = (struct err){ .text = "" };
	also = (struct opt_list){ 0 };
	nr_words = 0;
	snprintf(copy, sizeof(copy), "pmm %s", line);
	for (p = strtok(copy, " "); p; p = strtok(NULL, " "))
		words[nr_words++] = p;
	words[nr_words] = NULL;
	return opt_parse(table, stop, nr_words, words, &help, &why);
}

static void every_type_and_form(void **state)
{
	(void)state;
	assert_int_equal(parse(false,
			       "-q -o a.pmm --function=f* --frames 64 --sample --interval=50ms "
			       "--size 1K:2K --age 5s --sort peak"),
			 15);
	assert_true(quiet && completed && sampled);
	assert_string_equal(output, "a.pmm");
	assert_string_equal(pattern, "f*");
	assert_int_equal(frames, 64);
	assert_int_equal(sample, 524288);
	assert_int_equal(interval, 50000000);
	assert_true(size.min == 1024 && size.max == 2048);
	assert_true(age.min == 5000000000 && age.max == UINT64_MAX);
	assert_int_equal(sort, 1);

	assert_int_equal(parse(false, "--sample=64K -qob.pmm"), 3);
	assert_true(quiet);
	assert_int_equal(sample, 65536);
	assert_string_equal(output, "b.pmm");
	assert_int_equal(parse(false, "-s1M -qn 3"), 4);
	assert_int_equal(sample, 1048576);
	assert_int_equal(frames, 3);
	/* optional: the next word is an operand */
	assert_int_equal(parse(false, "-s 1M"), 2);
	assert_int_equal(sample, 524288);
	assert_int_equal(parse(false, "--frames 1"), 3);
	assert_int_equal(frames, 1);
	assert_int_equal(parse(false, "--frames 512"), 3);
	assert_int_equal(frames, 512);
	assert_int_equal(parse(false, "--interval 10ms"), 3);
	assert_int_equal(parse(false, "--output="), 2);
	assert_string_equal(output, "");
	assert_false(sampled);
}

static void operands_come_last_in_order(void **state)
{
	(void)state;
	assert_int_equal(parse(false, "one -q two --frames 7 three -- -q --x"), 5);
	assert_int_equal(nr_words, 10);
	assert_string_equal(words[4], "--");
	assert_string_equal(words[5], "one");
	assert_string_equal(words[7], "three");
	assert_string_equal(words[8], "-q");
	assert_int_equal(parse(false, "one --frames 7 two"), 3);
	assert_string_equal(words[1], "--frames");
	assert_string_equal(words[2], "7");
	assert_string_equal(words[3], "one");
	assert_string_equal(words[4], "two");
	assert_int_equal(parse(false, "-"), 1);
	assert_int_equal(parse(false, ""), 1);
}

static void run_stops_at_the_program(void **state)
{
	(void)state;
	assert_int_equal(parse(true, "-q ls -o x --help"), 2);
	assert_null(output);
	assert_false(help);
	assert_string_equal(words[2], "ls");
	assert_int_equal(parse(true, "-q -- -o x"), 3);
	assert_string_equal(words[3], "-o");
}

static void help_wins(void **state)
{
	(void)state;
	parse(false, "one --help --nonsense");
	assert_true(help);
	parse(false, "-qh");
	assert_true(help && quiet);
}

static void errors_are_sentences(void **state)
{
	static const struct {
		const char *line, *text, *hint;
	} cases[] = {
		{ "--outptu x", "unknown option '--outptu'", "did you mean '--output'?" },
		{ "--hlep", "unknown option '--hlep'", "did you mean '--help'?" },
		{ "--xyzzy=3", "unknown option '--xyzzy'", "" },
		{ "-x", "unknown option '-x'", "" },
		{ "-o", "option '-o' needs an argument", "" },
		{ "--output", "option '--output' needs an argument", "" },
		{ "--quiet=1", "option '--quiet' takes no argument", "" },
		{ "--frames 0", "--frames: '0' is out of range", "from 1 to 512" },
		{ "--frames 513", "--frames: '513' is out of range", "from 1 to 512" },
		{ "--frames 1K", "--frames: '1K' is not a number", "decimal digits only" },
		{ "--sample=x", "--sample: 'x' is not a size",
		  "a number of bytes, or with K, M, G or T: 4096, 64K, 1.5M" },
		{ "--interval 1ms", "--interval: '1ms' is out of range", "at least 10 ms" },
		{ "--size 2:1", "--size: the range '2:1' is empty", "" },
		{ "--sort size", "'size' is not a choice of --sort", "one of: live, peak, calls" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(cases); i++) {
		assert_int_equal(parse(false, cases[i].line), -EINVAL);
		assert_string_equal(why.text, cases[i].text);
		assert_string_equal(why.hint, cases[i].hint);
		assert_int_equal(why.exit_code, 2);
	}
	assert_false(sampled);
}

static void commands_without_options(void **state)
{
	char *argv[] = { "x", "-q", NULL };

	(void)state;
	assert_int_equal(opt_parse(NULL, false, 2, argv, &help, &why), -EINVAL);
	assert_int_equal(opt_parse(NULL, false, 1, argv, &help, NULL), 1);
}

static void usage_of_an_option(void **state)
{
	static const char *const expected[] = {
		"--quiet",	    "--output FILE",	"--function PATTERN",
		"--frames N",	    "--sample[=BYTES]", "--interval SECONDS",
		"--size MIN[:MAX]", "--age MIN[:MAX]",	"--sort live|peak|calls",
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(expected); i++) {
		struct str s = STR_INIT;

		opt_usage(&table[i], &s);
		assert_string_equal(str_text(&s), expected[i]);
		str_fini(&s);
	}
}

static void a_list_takes_every_one(void **state)
{
	char line[250] = "";

	(void)state;
	assert_int_equal(parse(false, "--also a -q --also=b operand --also c"), 7);
	assert_int_equal(also.nr, 3);
	assert_string_equal(also.v[0], "a");
	assert_string_equal(also.v[1], "b");
	assert_string_equal(also.v[2], "c");
	also.nr = OPT_LIST_MAX;
	snprintf(line, sizeof(line), "--also=x");
	words[1] = line;
	words[2] = NULL;
	assert_int_equal(opt_parse(table, false, 2, words, &help, &why), -EINVAL);
	assert_string_equal(why.text, "--also: given more than 64 times");
}

static void nearest_word(void **state)
{
	static const char *const names[] = { "run", "report", "snapshot", "doctor", "help", NULL };
	static char longest[200];

	(void)state;
	assert_string_equal(opt_nearest("reprot", names), "report");
	assert_string_equal(opt_nearest("docter", names), "doctor");
	/* one slip in up to three letters */
	assert_string_equal(opt_nearest("rn", names), "run");
	assert_string_equal(opt_nearest("rnu", names), "run");
	assert_string_equal(opt_nearest("rux", names), "run");
	assert_string_equal(opt_nearest("xxrun", names), "run");	/* two in up to six */
	assert_string_equal(opt_nearest("runxx", names), "run");
	assert_string_equal(opt_nearest("hepl", names), "help");
	assert_null(opt_nearest("hpx", names));
	assert_string_equal(opt_nearest("snaphsot", names), "snapshot");
	assert_null(opt_nearest("nur", names));
	assert_null(opt_nearest("rxxxn", names));
	assert_string_equal(opt_nearest("help", names), "help");
	assert_null(opt_nearest("quux", names));
	assert_null(opt_nearest("", names));
	memset(longest, 'x', sizeof(longest) - 1);
	assert_null(opt_nearest(longest, names));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_and_form),
		cmocka_unit_test(operands_come_last_in_order),
		cmocka_unit_test(run_stops_at_the_program),
		cmocka_unit_test(help_wins),
		cmocka_unit_test(errors_are_sentences),
		cmocka_unit_test(commands_without_options),
		cmocka_unit_test(usage_of_an_option),
		cmocka_unit_test(a_list_takes_every_one),
		cmocka_unit_test(nearest_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
