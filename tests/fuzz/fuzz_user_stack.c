/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: user stacks out of copies that may hold anything, through the code of this program.
 *
 * Input: flags, how much of the copy is missing, then words: eight registers, then the stack. A
 * word whose top byte is 0xc0 is a place in this program's code, 0xd0 one in the stack, so that
 * mutations make frames.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/kernel/user_stack.h"
#include "tests/fuzz/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STACK	0x7ffd00001008ull

extern char __executable_start[], etext[];

static uint64_t word_of(uint64_t word)
{
	uint64_t code = (uint64_t)__executable_start, bytes = (uint64_t)etext - code;

	switch (word >> 56) {
	case 0xc0:
		return code + (word & 0xffffffff) % bytes;
	case 0xd0:
		return STACK + (word & 0xffff);
	}
	return word;
}

static void check(const struct user_stack *out, const struct user_stack *again)
{
	if (!out->nr || out->nr > USER_STACK_MAX_FRAMES || out->end >= USER_STACK_NR_ENDS)
		abort();
	if (out->nr != again->nr || out->end != again->end ||
	    memcmp(out->frame, again->frame, out->nr * sizeof(out->frame[0])))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct images images;
	static struct user_stacks *stacks;
	struct user_stack_copy copy = { 0 };
	struct user_stack out, again;
	struct input in = { data, size };
	uint64_t word[8] = { 0 }, *stack;
	uint8_t flags[4] = { 0 };

	take(&in, flags, sizeof(flags));
	take(&in, word, sizeof(word));
	stack = malloc(in.size + 1);	/* of its own, so that a read beyond it is noticed */
	if (!stacks)
		stacks = user_stacks_new(&images);
	if (!stack || !stacks)
		return 0;
	memcpy(stack, in.data, in.size);
	for (size_t i = 0; i < in.size / 8; i++)
		stack[i] = word_of(stack[i]);
	copy.regs.ip = word_of(word[0]);
	copy.regs.sp = flags[0] & 4 ? word[1] : STACK;
	for (int i = 0; i < 6; i++)
		copy.regs.saved[i] = word_of(word[2 + i]);
	copy.bytes = stack;
	copy.nr_bytes = in.size;
	copy.cut = flags[0] & 1;
	copy.at = flags[0] & 2 ? USER_STACK_AFTER_CALL : USER_STACK_AT_FAULT;
	copy.missing = flags[0] & 8 ? flags[1] : 0;
	user_stack_walk(stacks, getpid(), 1, &copy, &out);
	user_stack_walk(stacks, getpid(), 1, &copy, &again);
	check(&out, &again);
	free(stack);
	return 0;
}
