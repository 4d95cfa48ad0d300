/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/entries/undo.c: instructions are run, taken back and run again, with registers full of random
 * numbers: what must be as it was is, and the second time does what the first one did. What cannot
 * be taken back is refused, with its reason.
 */
#include "tests/unit/unit.h"

#include <sys/mman.h>

#include "src/entries/undo.h"

#define NR_REGS	16
#define SP	4
#define CALLERS	(1u << 3 | 1u << 5 | 0xf000u)	/* rbx rbp r12..r15 */

/* rdi rsi rdx rcx r8 r9, as encoded */
static const uint8_t arg_number[] = { 7, 6, 2, 1, 8, 9 };

/* ---- running --------------------------------------------------------------------------------- */

/* In the order in which registers are encoded. */
extern uint64_t undo_in[NR_REGS] __attribute__((visibility("hidden"))),
	undo_out[NR_REGS] __attribute__((visibility("hidden")));
extern void *undo_code __attribute__((visibility("hidden"))),
	*undo_back __attribute__((visibility("hidden")));
extern void undo_run(void) __attribute__((visibility("hidden")));

#define EACH(op)                                                                                   \
	op(0, rax) op(1, rcx) op(2, rdx) op(3, rbx) op(5, rbp) op(6, rsi) op(7, rdi) op(8, r8)     \
		op(9, r9) op(10, r10) op(11, r11) op(12, r12) op(13, r13) op(14, r14) op(15, r15)
#define LOAD(n, r)	"mov undo_in+8*" #n "(%rip), %" #r "\n"
#define STORE(n, r)	"mov %" #r ", undo_out+8*" #n "(%rip)\n"

__asm__(".data\n.balign 16\n"
	".globl undo_in, undo_out, undo_code, undo_back\n.hidden undo_in, undo_out, undo_code, "
	"undo_back\n"
	"undo_in: .fill 16, 8\nundo_out: .fill 16, 8\nundo_code: .quad 0\nundo_back: .quad "
	"undo_return\nundo_saved: .quad 0\n"
	".text\n.globl undo_run\n.hidden undo_run\n"
	"undo_run: push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\n"
	"mov %rsp, undo_saved(%rip)\nmov %rsp, undo_in+32(%rip)\n" EACH(
		LOAD) "jmp *undo_code(%rip)\n"
		      "undo_return: mov %rsp, undo_out+32(%rip)\nmov undo_saved(%rip), %rsp\n" EACH(
			      STORE) "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop "
				     "%rbx\nret\n");

static uint8_t *memory;
static uint32_t seed = 1;

static uint64_t any(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < 4; i++)
		n = n << 16 | (seed = seed * 1664525 + 1013904223) >> 16;
	return n;
}

/* The registers behind these instructions. */
static void run(const uint8_t *code, size_t nr, uint64_t out[NR_REGS])
{
	uint8_t *p = memory;

	undo_code = memory;
	memcpy(p, code, nr);
	p += nr;
	memcpy(p, "\xff\x25\0\0\0\0", 6);		/* jmp *0(%rip) */
	memcpy(p + 6, &undo_back, 8);
	undo_run();
	memcpy(out, undo_out, sizeof(undo_out));
}

static struct insn decoded(const uint8_t *bytes, size_t nr)
{
	struct insn in = { 0 };

	if (!insn_decode(bytes, nr, 0x1000, &in))
		in.length = 0;
	return in;
}

/*
 * Bits that an argument has where the function begins with that: of one that is taken for less than
 * 64 the rest means nothing.
 */
static unsigned bits_of(const uint8_t *b)
{
	unsigned rex = (b[0] & 0xf0) == 0x40 ? *b++ : 0;

	if (b[0] == 0x0f && (b[1] == 0xb6 || b[1] == 0xbe))
		return 8;
	if (b[0] == 0x0f && (b[1] == 0xb7 || b[1] == 0xbf))
		return 16;
	return b[0] == 0x63 || !(rex & 8) ? 32 : 64;
}

static unsigned nr_undone, nr_nothing, nr_refused;

static void check(const uint8_t *bytes, const struct insn *in, unsigned keep)
{
	uint8_t undo[UNDO_MAX_BYTES], code[3 * 16];
	uint64_t once[NR_REGS], back[NR_REGS], twice[NR_REGS];
	const char *why = NULL;
	int n = undo_make(in, keep, undo, &why);

	if (n < 0) {
		assert_int_equal(n, -ENOTSUP);
		assert_non_null(why);
		nr_refused++;
		return;
	}
	assert_true(n <= UNDO_MAX_BYTES);
	nr_undone += n > 0;
	nr_nothing += n == 0;
	for (unsigned i = 0; i < NR_REGS; i++)
		undo_in[i] = any();
	memcpy(code, bytes, in->length);
	run(code, in->length, once);
	memcpy(code + in->length, undo, (size_t)n);
	run(code, in->length + (size_t)n, back);
	memcpy(code + in->length + n, bytes, in->length);
	run(code, 2u * in->length + (size_t)n, twice);
	assert_int_equal(back[SP], undo_in[SP]);
	for (unsigned i = 0; i < NR_REGS; i++) {
		bool kept = CALLERS >> i & 1;
		uint64_t mask = UINT64_MAX;

		for (unsigned k = 0; k < NR(arg_number); k++)
			kept |= arg_number[k] == i && keep & UNDO_ARG(k);
		/* it is the one that is changed */
		if (once[i] != undo_in[i] && bits_of(bytes) < 64)
			mask = (1ull << bits_of(bytes)) - 1;
		if (kept && (back[i] ^ undo_in[i]) & mask)
			fail_msg("%02x %02x %02x %02x %02x, keep %x: register %u is %lx, was %lx",
				 bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], keep, i,
				 (unsigned long)back[i], (unsigned long)undo_in[i]);
		if (twice[i] != once[i])
			fail_msg("%02x %02x %02x %02x %02x, keep %x: register %u is %lx, %lx the "
				 "second time",
				 bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], keep, i,
				 (unsigned long)once[i], (unsigned long)twice[i]);
	}
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* Those of registers and constants, by their opcodes. */
static const struct shape {
	uint8_t opcode[2];
	uint8_t nr, imm;		/* bytes */
	/*
	 * in the middle of ModRM; -1: a register, -2: there is no ModRM, the register is in the
	 * opcode
	 */
	int8_t extension;
} shapes[] = {
	{ { 0x89 }, 1, 0, -1 },	      { { 0x8b }, 1, 0, -1 },	    { { 0x88 }, 1, 0, -1 },
	{ { 0xc7 }, 1, 4, 0 },	      { { 0xb8 }, 1, 4, -2 },	    { { 0x0f, 0xb6 }, 2, 0, -1 },
	{ { 0x0f, 0xb7 }, 2, 0, -1 }, { { 0x0f, 0xbe }, 2, 0, -1 }, { { 0x0f, 0xbf }, 2, 0, -1 },
	{ { 0x63 }, 1, 0, -1 },	      { { 0x01 }, 1, 0, -1 },	    { { 0x29 }, 1, 0, -1 },
	{ { 0x31 }, 1, 0, -1 },	      { { 0x21 }, 1, 0, -1 },	    { { 0x09 }, 1, 0, -1 },
	{ { 0x83 }, 1, 1, 0 },	      { { 0x83 }, 1, 1, 5 },	    { { 0x83 }, 1, 1, 6 },
	{ { 0x83 }, 1, 1, 4 },	      { { 0x83 }, 1, 1, 1 },	    { { 0x83 }, 1, 1, 7 },
	{ { 0x81 }, 1, 4, 0 },	      { { 0x81 }, 1, 4, 5 },	    { { 0x81 }, 1, 4, 6 },
	{ { 0x81 }, 1, 4, 4 },	      { { 0x81 }, 1, 4, 1 },	    { { 0xff }, 1, 0, 0 },
	{ { 0xff }, 1, 0, 1 },	      { { 0xf7 }, 1, 0, 2 },	    { { 0xf7 }, 1, 0, 3 },
	{ { 0x0f, 0xc8 }, 2, 0, -2 }, { { 0x0f, 0xaf }, 2, 0, -1 }, { { 0x6b }, 1, 1, -1 },
	{ { 0x85 }, 1, 0, -1 },	      { { 0x39 }, 1, 0, -1 },	    { { 0x50 }, 1, 0, -2 },
	{ { 0x6a }, 1, 1, -3 },	      { { 0x68 }, 1, 4, -3 },	    { { 0xc1 }, 1, 1, 4 },
	{ { 0x0f, 0x44 }, 2, 0, -1 }, { { 0x87 }, 1, 0, -1 },	    { { 0x99 }, 1, 0, -3 },
	{ { 0x11 }, 1, 0, -1 },
};

static size_t build(const struct shape *s, uint8_t *b)
{
	uint64_t r = any();
	unsigned x = r & 15, y = r >> 4 & 15, rex = r >> 8 & 1 ? 8 : 0;
	size_t n = 0;

	if (r >> 9 & 1)
		y = x;					/* often the same one */
	if (s->extension >= 0)
		x = (unsigned)s->extension;
	rex |= (s->extension == -1 ? x >> 3 << 2 : 0) | (s->extension > -3 ? y >> 3 : 0);
	if (rex || r >> 10 & 1)
		b[n++] = (uint8_t)(0x40 | rex);
	for (unsigned i = 0; i < s->nr; i++)
		b[n++] = s->opcode[i];
	if (s->extension == -2)
		b[n - 1] |= y & 7;
	if (s->extension >= -1)
		b[n++] = (uint8_t)(0xc0 | (x & 7) << 3 | (y & 7));
	for (unsigned i = 0; i < s->imm; i++)
		b[n++] = (uint8_t)any();
	if (s->opcode[0] == 0xb8 && rex & 8)		/* of 8 bytes */
		for (unsigned i = 0; i < 4; i++)
			b[n++] = (uint8_t)any();
	return n;
}

/* lea disp32(base, index, scale), register; SP as an index is none. */
static size_t build_lea(uint8_t *b)
{
	uint64_t r = any();
	unsigned to = r & 15, base = r >> 4 & 1 ? to : r >> 5 & 15,
		 index = r >> 9 & 1 ? SP : r >> 10 & 15;
	uint32_t disp = (uint32_t)any() >> (r >> 14 & 31);

	b[0] = (uint8_t)(0x40 | (r >> 20 & 1) << 3 | to >> 3 << 2 | index >> 3 << 1 | base >> 3);
	b[1] = 0x8d;
	b[2] = (uint8_t)(0x80 | (to & 7) << 3 | 4);
	b[3] = (uint8_t)((r >> 21 & 3) << 6 | (index & 7) << 3 | (base & 7));
	memcpy(b + 4, &disp, 4);
	return 8;
}

static void what_is_taken_back_is_as_it_was(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 60000; round++) {
		uint8_t bytes[16] = { 0 };
		size_t n = round % 8 ? build(&shapes[any() % NR(shapes)], bytes) : build_lea(bytes);
		struct insn in = decoded(bytes, n);

		if (in.length != n)
			continue;
		check(bytes, &in, (unsigned)(any() & UNDO_ARGS));
	}
	assert_true(nr_undone > 3000);
	assert_true(nr_nothing > 8000);
	assert_true(nr_refused > 10000);
}

/* ---- by hand --------------------------------------------------------------------------------- */

static void is(const char *bytes, size_t nr, unsigned keep, const char *undo, int undo_bytes,
	       const char *why)
{
	struct insn in = decoded((const uint8_t *)bytes, nr);
	uint8_t out[UNDO_MAX_BYTES];
	const char *got = NULL;
	int n;

	assert_int_equal(in.length, nr);
	n = undo_make(&in, keep, out, &got);
	if (why) {
		assert_int_equal(n, -ENOTSUP);
		assert_string_equal(got, why);
		return;
	}
	assert_int_equal(n, undo_bytes);
	assert_memory_equal(out, undo, (size_t)n);
}

#define UNDONE(bytes, undo)									\
	is(bytes, sizeof(bytes) - 1, UNDO_ARGS, undo, sizeof(undo) - 1, NULL)
#define NOTHING(bytes, keep)	is(bytes, sizeof(bytes) - 1, keep, "", 0, NULL)
#define REFUSED(bytes, keep, why) is(bytes, sizeof(bytes) - 1, keep, NULL, 0, why)

static void each_way(void **state)
{
	(void)state;
	UNDONE("\x55", "\x5d");						/* push rbp */
	UNDONE("\x41\x57", "\x41\x5f");					/* push r15 */
	/* push 5: lea 8(%rsp), %rsp */
	UNDONE("\x6a\x05", "\x48\x8d\xa4\x24\x08\0\0\0");
	UNDONE("\x48\x83\xec\x18", "\x48\x8d\xa4\x24\x18\0\0\0");	/* sub rsp, 24 */
	UNDONE("\x48\xff\xc7", "\x48\x8d\xbf\xff\xff\xff\xff");		/* inc rdi */
	UNDONE("\x83\xc7\x10", "\x8d\xbf\xf0\xff\xff\xff");		/* add edi, 16 */
	UNDONE("\x48\xf7\xde", "\x48\xf7\xde");				/* neg rsi */
	UNDONE("\x48\x0f\xcf", "\x48\x0f\xcf");				/* bswap rdi */
	NOTHING("\x31\xc0", UNDO_ARGS);					/* xor eax, eax */
	NOTHING("\x48\x89\xf8", UNDO_ARGS);				/* mov rax, rdi */
	NOTHING("\x89\xff", UNDO_ARGS);					/* mov edi, edi */
	NOTHING("\x48\x8b\x07", UNDO_ARGS);				/* mov rax, [rdi] */
	/* xor edx, edx, where that is no argument */
	NOTHING("\x31\xd2", UNDO_ARG(0));
	NOTHING("\x83\xe7\xf0", UNDO_ARG(1));				/* and edi, -16 */
	NOTHING("\x48\x89\x7c\x24\xf8", UNDO_ARGS);			/* mov [rsp - 8], rdi */
	NOTHING("\x66\x0f\xef\xc0", UNDO_ARGS);				/* pxor xmm0, xmm0 */
	NOTHING("\xf3\x0f\x6f\x07", UNDO_ARGS);				/* movdqu xmm0, [rdi] */
}

static void each_reason(void **state)
{
	(void)state;
	REFUSED("\x31\xd2", UNDO_ARGS, "it changes an argument");
	REFUSED("\x83\xe7\xf0", UNDO_ARG(0), "what it changes cannot be restored");
	REFUSED("\x48\x89\x3e", 0, "it writes to memory");		/* mov [rsi], rdi */
	/* mov [rsp - 4], rdi: half of it is above */
	REFUSED("\x48\x89\x7c\x24\xfc", 0, "it writes to memory");
	/* mov [rsp - 136], rdi */
	REFUSED("\x48\x89\xbc\x24\x78\xff\xff\xff", 0, "it writes to memory");
	/* mov rbx, rdi */
	REFUSED("\x48\x89\xfb", 0, "it changes a register that is the caller's");
	REFUSED("\x48\x89\xfc", 0, "it sets the stack pointer");		/* mov rsp, rdi */
	REFUSED("\x48\x83\xc4\x08", 0, "it moves the stack pointer up");
	REFUSED("\x83\xec\x08", 0, "it sets the stack pointer");		/* sub esp, 8 */
	REFUSED("\x48\x83\xe4\xf0", 0, "it sets the stack pointer");		/* and rsp, -16 */
	REFUSED("\x54", 0, "it pushes something odd");			/* push rsp */
	REFUSED("\x66\x55", 0, "it pushes something odd");		/* push bp */
	/* mov sil, 1 */
	REFUSED("\x40\xb6\x01", UNDO_ARG(0), "it changes a part of a register");
	NOTHING("\xb0\x01", UNDO_ARGS);					/* mov al, 1 */
	REFUSED("\x48\x01\xf7", 0, "what it changes cannot be restored");	/* add rdi, rsi */
	REFUSED("\x0f\x44\xc7", 0, "what it does cannot be undone");	/* cmove eax, edi */
	/* lock add [rdi], rax */
	REFUSED("\xf0\x48\x01\x07", 0, "what it does cannot be undone");
	REFUSED("\xc3", 0, "it goes elsewhere");
	REFUSED("\xe8\0\0\0\0", 0, "it goes elsewhere");
	REFUSED("\x74\x05", 0, "it goes elsewhere");
	REFUSED("\x0f\xb6\xf4", UNDO_ARG(1), "it changes an argument");	/* movzx esi, ah */
}

static int begin(void **state)
{
	(void)state;
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	return memory == MAP_FAILED;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_taken_back_is_as_it_was),
		cmocka_unit_test(each_way),
		cmocka_unit_test(each_reason),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
