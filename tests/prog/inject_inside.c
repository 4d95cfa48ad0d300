/* SPDX-License-Identifier: GPL-2.0-or-later
 * Scenarios of inject_self: allocators that call themselves, empty a thread's cache, and signal handlers that interrupt them.
 */
#include "tests/prog/inject_self.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- an allocator that calls itself -------------------------------------------------------------------------- */

static NOIPA void *calloc_of_malloc(size_t n, size_t each)
{
	void *p = hooked_malloc(n * each);

	return p ? memset(p, 0, n * each) : NULL;
}

static NOIPA void *realloc_of_malloc(void *old, size_t size)
{
	void *p = hooked_malloc(size);

	if (p && old) {
		memcpy(p, old, size);
		hooked_free(old, 0, 0);
	}
	return p;
}

static NOIPA void free_of_free(void *p, size_t a, size_t b)
{
	hooked_free(p, a, b);
	__asm__ volatile("");
}

/* musl's: no unwind information. */
void *blind_malloc(size_t size);
__asm__(".text\nblind_malloc:\nsub $0x58, %rsp\nmov %rdi, (%rsp)\nmov hooked_malloc(%rip), %rax\ncall *%rax\nadd $0x58, %rsp\nret\n");

void recursion(void)
{
	void *(*outer_calloc)(size_t, size_t), *(*outer_realloc)(void *, size_t), *(*outer_malloc)(size_t), *a, *b;
	void (*outer_free)(void *, size_t, size_t);

	start_exact();
	outer_calloc = host_entry(&h, PMM_ROLE_CALLOC, PMM_KIND_CALLOC, calloc_of_malloc, NULL);
	outer_realloc = host_entry(&h, PMM_ROLE_REALLOC, PMM_KIND_REALLOC, realloc_of_malloc, NULL);
	outer_malloc = host_entry(&h, PMM_ROLE_MALLOC, PMM_KIND_MALLOC, blind_malloc, NULL);
	outer_free = host_entry(&h, PMM_ROLE_FREE, 0, free_of_free, NULL);
	for (int i = 0; i < 1000; i++) {
		a = outer_calloc(10, 20);
		a = outer_realloc(a, 100);
		b = outer_malloc(30);
		outer_free(a, 0, 0);
		outer_free(b, 0, 0);
	}
	a = outer_realloc(NULL, 7);
	heap_free(LEDGER(3001, 3000, 330007, 330000));
	outer_free(a, 0, 0);
}

/* ---- an allocator that empties a thread's cache ------------------------------------------------------------------ */

/* What is patched, and a way to it as by the PLT. */
void (*hooked_ends)(void *, size_t, size_t);		/* known to assembly */
void direct_free(void *p);
__asm__(".text\ndirect_free:\njmp *hooked_ends(%rip)\n.p2align 4\nlinked_free:\njmp direct_free\n");

/* A function that has an instruction in it, calls such a free with its argument, and N more times with NULL. */
#define ENDS(name, instruction, free, n)										\
	void name(void *p);												\
	__asm__(".text\n" #name ":\n.cfi_startproc\nsub $8, %rsp\n.cfi_adjust_cfa_offset 8\njmp 1f\n" instruction	\
		"\n1: call " #free "\n.rept " #n "\nxor %edi, %edi\ncall " #free "\n.endr\n"				\
		"add $8, %rsp\n.cfi_adjust_cfa_offset -8\nret\n.cfi_endproc\n")

ENDS(ends_local, "movb $1, %fs:-40", direct_free, 1);		/* static, ... */
ENDS(ends_rdx, "movb $1, %fs:(%rdx)", direct_free, 1);		/* ... and shared */
ENDS(ends_rbp, "movb $1, %fs:(%rbp)", direct_free, 1);
ENDS(ends_r12, "movb $1, %fs:(%r12)", direct_free, 1);
ENDS(ends_r15, "movb $1, %fs:0x128(%r15)", direct_free, 1);
ENDS(ends_far, ".fill 1000, 1, 0x90\nmovb $1, %fs:(%rax)\n.fill 2000, 1, 0x90", direct_free, 1);
ENDS(other_clears, "movb $0, %fs:(%rdx)", direct_free, 1);
ENDS(other_word, "movl $1, %fs:(%rdx)", direct_free, 1);
ENDS(other_plain, "movb $1, (%rdx)", direct_free, 1);
ENDS(other_register, "movb $1, %dl", direct_free, 1);
ENDS(other_compares, "cmpb $1, %fs:(%rdx)", direct_free, 1);
ENDS(other_once, "movb $1, %fs:(%rdx)", direct_free, 0);
ENDS(other_linked, "movb $1, %fs:(%rdx)", linked_free, 1);
ENDS(other_long, ".fill 8000, 1, 0x90\nmovb $1, %fs:(%rdx)", direct_free, 1);
/* ... of the program's own, beside which glibc's is nearer to free(). */
__asm__(".text\n.fill 40000, 1, 0x90\n");
ENDS(other_distant, "movb $1, %fs:(%rdx)", direct_free, 1);

void thread_end(void)
{
	static void (*const ends[])(void *) = { ends_local, ends_rdx, ends_rbp, ends_r12, ends_r15, ends_far };
	static void (*const other[])(void *) = { other_clears, other_word, other_plain, other_register, other_compares, other_once,
						 other_linked, other_long, other_distant };
	const unsigned nr_ends = sizeof(ends) / sizeof(ends[0]), nr_other = sizeof(other) / sizeof(other[0]);
	struct pmm_entry *e;
	struct heap *p;

	start_exact();
	hooked_ends = host_entry(&h, PMM_ROLE_FREE, 0, free, &e);
	e->function = (uint64_t)direct_free;
	for (unsigned i = 0; i < 3 * nr_ends; i++)
		ends[i % nr_ends](malloc(20));
	p = LEDGER(0, 0, 0, 0);
	EXPECT(p->untracked_frees, 0);
	heap_free(p);
	for (unsigned i = 0; i < nr_ends; i++)
		ends[i](hooked_malloc(20));
	for (unsigned i = 0; i < 3 * nr_other; i++)
		other[i % nr_other](malloc(20));
	p = LEDGER(nr_ends, nr_ends, 20 * nr_ends, 20 * nr_ends);
	EXPECT(p->untracked_frees, 3 * nr_other);
	heap_free(p);
}

/* ---- signal handlers that interrupt the allocator -------------------------------------------------------------- */

void *from_handler[8];		/* known to assembly */
int nr_from_handler;

static NOIPA void handler(int sig)
{
	(void)sig;
	from_handler[nr_from_handler++] = hooked_malloc(1000);
}

/* ... written without unwind information. */
void blind_handler(int sig);
__asm__(".text\nblind_handler:\nsub $0x38, %rsp\ncall handler_blind\nadd $0x38, %rsp\nret\n");
__asm__(".text\nhandler_blind:\nsub $8, %rsp\nmov $1000, %edi\nmov hooked_malloc(%rip), %rax\ncall *%rax\n"
	"movslq nr_from_handler(%rip), %rcx\nlea from_handler(%rip), %rdx\nmov %rax, (%rdx,%rcx,8)\n"
	"incl nr_from_handler(%rip)\nadd $8, %rsp\nret\n");

static NOIPA void *interrupted_malloc(size_t size)
{
	raise(SIGUSR1);
	return malloc(size);
}

void handlers(void)
{
	static char stack[65536];
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };
	void *(*outer_malloc)(size_t), *(*outer_calloc)(size_t, size_t), *v[5];
	struct heap *p;

	start_exact();
	outer_malloc = host_entry(&h, PMM_ROLE_MALLOC, PMM_KIND_MALLOC, interrupted_malloc, NULL);
	sigaltstack(&ss, NULL);
	for (int i = 0; i < 4; i++) {
		struct sigaction sa = { .sa_handler = i & 1 ? blind_handler : handler, .sa_flags = i & 2 ? SA_ONSTACK : 0 };

		sigaction(SIGUSR1, &sa, NULL);
		v[i] = outer_malloc(10);
	}
	EXPECT(nr_from_handler, 4);
	heap_free(LEDGER(8, 0, 4040, 0));
	/* a handler while an inner call passes: the allocator's calloc calls its malloc, which is interrupted */
	hooked_malloc = outer_malloc;
	outer_calloc = host_entry(&h, PMM_ROLE_CALLOC, PMM_KIND_CALLOC, calloc_of_malloc, NULL);
	signal(SIGUSR1, SIG_IGN);
	v[4] = outer_calloc(3, 5);
	for (int i = 0; i < 5; i++)
		hooked_free(v[i], 0, 0);
	for (int i = 0; i < 4; i++)
		hooked_free(from_handler[i], 0, 0);
	p = LEDGER(9, 9, 4055, 4055);
	EXPECT(p->untracked_frees, 0);
	heap_free(p);
}
