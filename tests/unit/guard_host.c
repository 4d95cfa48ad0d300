/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pool of guarded blocks in a test program.
 */
#include "tests/unit/guard_host.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

uint32_t guard_flags;

const struct pmm_check guard_usual = {
	.level = PMM_CHECK_GUARD,
	.secret = SECRET,
	.max_guarded = 100000,
	.max_mappings = 65530,
	.budget_permille = UINT64_MAX,
};

static bool markers_known(void)
{
	char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool known = p != MAP_FAILED && !madvise(p, PAGE, SYS_MADV_GUARD_INSTALL);

	munmap(p, PAGE);
	return known;
}

void in_child(void (*test)(void), uint32_t flags)
{
	int status;
	pid_t child;

	if (!(flags & PMM_CHECK_MPROTECT) && !markers_known()) {
		print_message("skipped: this kernel has no MADV_GUARD_INSTALL (Linux 6.13)\n");
		skip();
	}
	guard_flags = flags;
	child = fork();
	if (!child) {
		alarm(250);
		test();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

void start_with(struct pmm_check options)
{
	static uint32_t alive = 1;

	agent_host_init(256 << 20);
	agent.state = AGENT_ON;
	agent.alive = &alive;
	options.flags |= guard_flags;
	CHECK(guard_start(&options));
	CHECK(agent.ledger->check.mechanism ==
	      (guard_flags & PMM_CHECK_MPROTECT ? PMM_GUARD_MPROTECT : PMM_GUARD_MADVISE));
}

void start(void)
{
	start_with(guard_usual);
}

uint32_t block_try(size_t size, size_t align, enum guard_refusal *why)
{
	uint32_t run = guard_alloc(size, align, guard_bias(0, 0), why);

	if (run != NO_RUN) {
		CHECK(*why == GUARD_OK);
		guard_publish(run);
	}
	return run;
}

uint32_t block(size_t size, size_t align)
{
	enum guard_refusal why;
	uint32_t run = block_try(size, align, &why);

	CHECK(run != NO_RUN);
	return run;
}

uint8_t *at(uint32_t run)
{
	return (uint8_t *)guard_at(run)->address;
}

void give(uint32_t run)
{
	CHECK(guard_release(run));
	guard_close(run);
}

static sigjmp_buf back;
static volatile uint64_t stopped_at;

static void stopped(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)context;
	stopped_at = (uint64_t)info->si_addr;
	siglongjmp(back, 1);
}

bool stops(const volatile uint8_t *p)
{
	struct sigaction on = { .sa_sigaction = stopped, .sa_flags = SA_SIGINFO | SA_NODEFER };
	volatile bool read_stopped = true, write_stopped = true;

	sigaction(SIGSEGV, &on, NULL);
	if (!sigsetjmp(back, 1)) {
		(void)*p;
		read_stopped = false;
	}
	CHECK(!read_stopped || stopped_at == (uint64_t)p);
	if (!sigsetjmp(back, 1)) {
		*(volatile uint8_t *)p = *p;
		write_stopped = false;
	}
	CHECK(read_stopped == write_stopped);
	return read_stopped;
}

void look_at(uint32_t run, size_t size, size_t align)
{
	const struct pmm_guard *r = guard_at(run);
	uint64_t pages = size ? (size + PAGE - 1) / PAGE : 1;
	uint64_t lo = r->address & -PAGE, hi, damaged;

	align = align > 16 ? align : 16;
	if (!(guard_flags & PMM_CHECK_LEFT) && !size)
		lo -= PAGE;
	hi = lo + pages * PAGE;
	CHECK(r->size_bytes == size && r->pages == pages && r->address % align == 0 &&
	      r->state == PMM_GUARD_LIVE);
	if (guard_flags & PMM_CHECK_LEFT)
		CHECK(r->address % PAGE == 0);
	else
		CHECK(r->address + size <= hi && hi - r->address - size < align);
	CHECK(stops((uint8_t *)lo - 1) && !stops((uint8_t *)lo) && !stops((uint8_t *)hi - 1) &&
	      stops((uint8_t *)hi));
	for (uint64_t p = lo; p < hi; p++) {
		bool inside = p - r->address < size;

		CHECK(*(uint8_t *)p == (inside ? 0 : pmm_canary_byte(SECRET, r->address, p)));
	}
	CHECK(guard_block(r->address) == run && guard_in_pool(r->address) &&
	      guard_find(r->address) == run);
	CHECK(guard_find(lo) == run && guard_find(hi) == run && guard_find(hi + PAGE - 1) == run);
	CHECK(guard_block(r->address + 1) == NO_RUN);
	CHECK(!guard_damage(run, &damaged));
}

