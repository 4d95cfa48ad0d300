/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/ptrace/register_words.c: which bytes of a thread's registers are words that may be pointers.
 */
#include "tests/unit/unit.h"

#include "src/ptrace/register_words.h"

#define REGS	(sizeof(struct user_regs_struct) / sizeof(uint64_t))

static uint8_t image[1024];
static struct process_copy_thread t;

static void fill(size_t bytes)
{
	assert_int_equal(register_words_fill(&t, image, bytes), 0);
	assert_memory_equal(t.words, &t.regs, sizeof(t.regs));
}

static void of_an_image_the_registers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(image); i++)
		image[i] = (uint8_t)(i / 8);
	memset(&t.regs, 0xab, sizeof(t.regs));
	fill(0);
	assert_int_equal(t.nr_words, REGS);
	fill(415);					/* one that is cut short has none */
	assert_int_equal(t.nr_words, REGS);
	fill(416);
	assert_int_equal(t.nr_words, REGS + 48);
	assert_memory_equal(t.words + REGS, image + 32, 384);
	fill(576);					/* the header, and nothing behind it */
	assert_int_equal(t.nr_words, REGS + 48);
	fill(1024);
	assert_int_equal(t.nr_words, REGS + 48 + 56);
	assert_memory_equal(t.words + REGS + 48, image + 576, 448);
	fill(1021);					/* whole words only */
	assert_int_equal(t.nr_words, REGS + 48 + 55);
	fill(584);
	assert_int_equal(t.nr_words, REGS + 48 + 1);
	fill(577);
	assert_int_equal(t.nr_words, REGS + 48);
	free(t.words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_an_image_the_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
