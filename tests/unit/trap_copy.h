/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A copy of this thread's stack at one instruction, as the kernel would hand it over, beside what
 * the C library's own unwinder says the stack is.
 *
 * trap() is interrupted by a signal at its first instruction. The handler copies registers and
 * stack; backtrace() leads from it through the signal frame to the outermost frame.
 */
#ifndef TESTS_UNIT_TRAP_COPY_H
#define TESTS_UNIT_TRAP_COPY_H

#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "src/base/nanotime.h"
#include "src/kernel/user_stack.h"

#define TRAP_BYTES	(60 * 1024)

struct trap_copy {
	struct user_stack_copy copy;
	uint64_t time_ns;
	uint64_t truth[512];		/* what to look up: exact, then return addresses - 1 */
	unsigned nr_truth;
	uint8_t bytes[TRAP_BYTES];
};

static struct trap_copy *trap_out;

void trap(void);
__asm__(".text\n.globl trap\n.type trap, @function\n"
	"trap:\n	.cfi_startproc\n	ud2\n	ret\n	.cfi_endproc\n"
	".size trap, .-trap\n");

/* Page by page, up to the stack's end. */
static size_t trap_read(uint64_t from, uint8_t *to, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		size_t part = 4096 - (from + done) % 4096;
		struct iovec local = { to + done, part < bytes - done ? part : bytes - done };
		struct iovec remote = { (void *)(from + done), local.iov_len };

		if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != (ssize_t)local.iov_len)
			break;
		done += local.iov_len;
	}
	return done;
}

/* The order of trace_regs.saved[] is that of bpf/trace_abi.h. */
static inline void trap_registers(struct trace_regs *r, const greg_t *g)
{
	*r = (struct trace_regs){
		.ip = (uint64_t)g[REG_RIP],
		.sp = (uint64_t)g[REG_RSP],
		.saved = { (uint64_t)g[REG_RBP], (uint64_t)g[REG_RBX], (uint64_t)g[REG_R12],
			   (uint64_t)g[REG_R13], (uint64_t)g[REG_R14], (uint64_t)g[REG_R15],
			   (uint64_t)g[REG_R10], (uint64_t)g[REG_R11] },
	};
}

/* Is it where a handler returns to: mov $15, %rax; syscall? What is outside was interrupted. */
static inline bool trap_is_return(const void *pc)
{
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 5 };

	return !memcmp(pc, code, sizeof(code));
}

static void trap_handler(int number, siginfo_t *info, void *context)
{
	static void *all[600];
	greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct trap_copy *t = trap_out;
	int nr, i = 0;

	(void)number;
	(void)info;
	t->time_ns = nanotime();
	t->copy = (struct user_stack_copy){ .bytes = t->bytes };
	trap_registers(&t->copy.regs, g);
	t->copy.nr_bytes = trap_read(t->copy.regs.sp, t->bytes, TRAP_BYTES);
	t->copy.cut = t->copy.nr_bytes == TRAP_BYTES;
	nr = backtrace(all, 600);
	while (i < nr && (uint64_t)all[i] != t->copy.regs.ip)
		i++;
	t->nr_truth = 0;
	for (; i < nr && t->nr_truth < NR(t->truth); i++, t->nr_truth++)
		t->truth[t->nr_truth] = (uint64_t)all[i] -
					(t->nr_truth && !trap_is_return(all[i - 1]));
	g[REG_RIP] += 2;
}

/* Have the handler fill *t. It runs on a stack of its own. */
static inline void trap_begin(struct trap_copy *t)
{
	static uint8_t stack[256 * 1024];
	const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	void *warm[4];

	backtrace(warm, 4);		/* loads libgcc */
	trap_out = t;
	assert_return_code(sigaltstack(&alternate, NULL), errno);
}

/* In the test itself, before each trap(): cmocka has handlers of its own in the meantime. */
static inline void trap_arm(void)
{
	struct sigaction act = {
		.sa_sigaction = trap_handler, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
	};

	assert_return_code(sigaction(SIGILL, &act, NULL), errno);
}

/* The file and the address in it of a run-time address of this process. */
static inline const char *trap_place(uint64_t pc, uint64_t *address)
{
	struct link_map *map = NULL;
	Dl_info info;

	*address = pc;
	if (!dladdr1((void *)pc, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return NULL;
	*address = pc - map->l_addr;
	return map->l_name[0] ? map->l_name : "/proc/self/exe";
}

#endif
