/*
 * agent/check/guard.c and what is below it: blocks on pages of their own, what happens around them, limits, threads, forks.
 *
 * A pool cannot be given back: each test runs in a forked child, which says by its exit status how it went.
 */
#include "tests/unit/agent_host.h"

#include "tests/unit/unit.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/check/area.h"
#include "agent/check/budget.h"
#include "agent/check/guard.h"
#include "agent/check/pages.h"

#define PAGE 4096ul
#define SECRET 0x123456789abcdefull

/* Every test is run with each of these. */
static uint32_t flags;
static const struct pmm_check usual = {
	.level = PMM_CHECK_GUARD, .secret = SECRET, .max_guarded = 100000, .max_mappings = 65530, .budget_permille = UINT64_MAX,
};

/* In a child: ends it when the condition does not hold. */
#define CHECK(condition) do {								\
	if (!(condition)) {								\
		fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);		\
		_exit(1);								\
	}										\
} while (0)

static void in_child(void (*test)(void))
{
	int status;
	pid_t child = fork();

	if (!child) {
		alarm(100);
		test();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void start_with(struct pmm_check options)
{
	static uint32_t alive = 1;

	agent_host_init(256 << 20);
	A.state = AGENT_ON;
	A.alive = &alive;
	options.flags |= flags;
	CHECK(guard_start(&options));
	CHECK(A.ledger->check.mechanism == (flags & PMM_CHECK_MPROTECT ? PMM_GUARD_MPROTECT : PMM_GUARD_MADVISE));
}

static void start(void)
{
	start_with(usual);
}

static uint32_t block_try(size_t size, size_t align, enum guard_refusal *why)
{
	uint32_t run = guard_alloc(size, align, why);

	if (run != NO_RUN) {
		CHECK(*why == GUARD_OK);
		guard_publish(run);
	}
	return run;
}

static uint32_t block(size_t size, size_t align)
{
	enum guard_refusal why;
	uint32_t run = block_try(size, align, &why);

	CHECK(run != NO_RUN);
	return run;
}

static uint8_t *at(uint32_t run)
{
	return (uint8_t *)guard_at(run)->address;
}

static void give(uint32_t run)
{
	CHECK(guard_release(run));
	guard_close(run);
}

/* ---- where accesses are stopped ------------------------------------------------------------------------- */

static sigjmp_buf back;
static volatile uint64_t stopped_at;

static void stopped(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)context;
	stopped_at = (uint64_t)info->si_addr;
	siglongjmp(back, 1);
}

/* Is a read, and a write, of this byte stopped? Both or none. */
static bool stops(const volatile uint8_t *p)
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

/* A block's pages, its neighbours' first bytes, its canary. */
static void look_at(uint32_t run, size_t size, size_t align)
{
	const struct pmm_guard *r = guard_at(run);
	uint64_t pages = size ? (size + PAGE - 1) / PAGE : 1;
	uint64_t lo = r->address & -PAGE, hi, damaged;

	if (!(flags & PMM_CHECK_LEFT) && !size)
		lo -= PAGE;
	hi = lo + pages * PAGE;
	CHECK(r->size_bytes == size && r->pages == pages && r->address % align == 0 && r->state == PMM_GUARD_LIVE);
	if (flags & PMM_CHECK_LEFT)
		CHECK(r->address % PAGE == 0);
	else
		CHECK(r->address + size <= hi && hi - r->address - size < align);
	CHECK(stops((uint8_t *)lo - 1) && !stops((uint8_t *)lo) && !stops((uint8_t *)hi - 1) && stops((uint8_t *)hi));
	for (uint64_t p = lo; p < hi; p++) {
		bool inside = p - r->address < size;

		CHECK(*(uint8_t *)p == (inside ? 0 : pmm_canary_byte(SECRET, r->address, p)));
	}
	CHECK(guard_block(r->address) == run && guard_in_pool(r->address) && guard_find(r->address) == run);
	CHECK(guard_find(lo) == run && guard_find(hi) == run && guard_find(hi + PAGE - 1) == run);
	CHECK(guard_block(r->address + 1) == NO_RUN);
	CHECK(!guard_damage(run, &damaged));
}

static void every_area(void)
{
	static const size_t sizes[] = { 0, 1, 8, 15, 16, 17, 100, 4080, 4095, 4096, 4097, 8192, 8193, 12288, 12289, 20000, 33000, 66000, 131072,
					131073, 270000, 600000, 1048575, 1048576 };

	start();
	for (unsigned i = 0; i < NR(sizes); i++)
		for (size_t align = 1; align <= PAGE; align *= 4) {
			uint32_t run = block(sizes[i], align);

			look_at(run, sizes[i], align);
			memset(at(run), 0xee, sizes[i]);	/* for those who come after */
			give(run);
			CHECK(stops(at(run)) && stops(at(run) + sizes[i]) && (!sizes[i] || stops(at(run) + sizes[i] - 1)));
			CHECK(guard_block((uint64_t)at(run)) == NO_RUN && guard_find((uint64_t)at(run)) == run);
			CHECK(!guard_release(run));
		}
	CHECK(A.ledger->check.guarded == NR(sizes) * 7 && !A.ledger->check.guarded_now && A.ledger->check.guarded_most == 1);
}

/* Runs that come back were used by blocks of other sizes: all of them zero, and guarded as the first time. */
static void used_again(void)
{
	struct pmm_check options = usual;
	uint32_t first = NO_RUN;
	unsigned again = 0;

	options.max_guarded = 1;
	start_with(options);
	for (unsigned i = 0; i < 3000; i++) {
		size_t size = 16 * PAGE + 1 + i * 31 % (16 * PAGE);
		uint32_t run = block(size, 16);

		if (!i)
			first = run;
		again += run == first;
		if (i % 64 == 0 || run == first)
			look_at(run, size, 16);
		memset(at(run), 0xee, size);
		give(run);
	}
	CHECK(again >= 2);
}

/* ---- order ---------------------------------------------------------------------------------------------- */

/* A released run is not met again before as many others as the area has, and all of them are met in the order of their release. */
static void oldest_first(void)
{
	struct pmm_check options = usual;
	uint32_t area = 6, runs, *seen;

	options.max_guarded = 4;
	start_with(options);
	runs = A.ledger->check.area_runs[area];
	CHECK(runs >= 512 && runs < 600);
	seen = calloc(runs, sizeof(*seen));
	for (uint32_t i = 0; i < 5 * runs; i++) {
		uint32_t run = block(64 * PAGE, 16), place = i % (areas.area[area].kept + 1);

		if (i > areas.area[area].kept)
			CHECK(seen[place] == run);
		else
			for (uint32_t j = 0; j < i; j++)
				CHECK(seen[j] != run);
		seen[place] = run;
		give(run);
	}
}

/* ---- limits --------------------------------------------------------------------------------------------- */

static void most_blocks(void)
{
	struct pmm_check options = usual;
	enum guard_refusal why;
	uint32_t run[1000];

	options.max_guarded = 1000;
	start_with(options);
	for (unsigned area = 0; area < PMM_GUARD_AREAS; area++) {
		for (unsigned i = 0; i < 1000; i++)
			run[i] = block(PAGE << area, 16);
		CHECK(block_try(1, 1, &why) == NO_RUN && why == GUARD_LIMIT);
		give(run[500]);
		run[500] = block(1, 1);
		CHECK(block_try(1, 1, &why) == NO_RUN && why == GUARD_LIMIT);
		CHECK(A.ledger->check.guarded_now == 1000);
		for (unsigned i = 0; i < 1000; i++)
			give(run[i]);
	}
	CHECK(A.ledger->check.guarded_most == 1000 && !A.ledger->check.guarded_now);
}

static void too_large(void)
{
	enum guard_refusal why;

	start();
	CHECK(block_try((1 << 20) + 1, 16, &why) == NO_RUN && why == GUARD_LARGE);
	CHECK(block_try(SIZE_MAX, 16, &why) == NO_RUN && why == GUARD_LARGE);
	CHECK(block_try(16, 2 * PAGE, &why) == NO_RUN && why == GUARD_LARGE);
	look_at(block(16, 0), 16, 16);
}

static void confined(void)
{
	enum guard_refusal why;
	uint32_t run;

	start();
	run = block(100, 16);
	memset(at(run), 1, 100);
	A.confined = true;
	CHECK(block_try(1, 1, &why) == NO_RUN && why == GUARD_KERNEL);
	give(run);
	CHECK(!guard_page_open((uint64_t)at(run) & -PAGE));
	A.confined = false;
	for (unsigned i = 0; i < 1000; i++)		/* it is not used again: its page is open */
		CHECK(block(100, 16) != run);
}

static unsigned mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned n = 0;
	int c;

	while ((c = getc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

/* What the blocks add to the mappings stays below three quarters of what may be, also after they came and went at random. */
static void few_mappings(void)
{
	struct pmm_check options = usual;
	static uint32_t run[1000];
	unsigned nr = 0, before, refused = 0;
	enum guard_refusal why;

	options.max_mappings = 400;
	start_with(options);
	before = mappings();
	srandom(1);
	for (unsigned i = 0; i < 20000; i++) {
		unsigned k = (unsigned)random() % NR(run);

		if (k < nr) {
			give(run[k]);
			run[k] = run[--nr];
		} else if ((run[nr] = block_try(1 + (size_t)random() % 20000, 16, &why)) != NO_RUN) {
			nr++;
		} else {
			CHECK(why == GUARD_KERNEL);
			refused++;
		}
		if (i % 500 == 0)
			CHECK(mappings() < before + 300 + 4 * PMM_GUARD_AREAS);
	}
	CHECK(!!refused == !!(flags & PMM_CHECK_MPROTECT));
	while (nr)
		give(run[--nr]);
	CHECK(mappings() < before + 4 * PMM_GUARD_AREAS);
	if (refused)
		CHECK(refused > 100);
}

static void little_address_space(void)
{
	struct rlimit l = { 4ul << 30, 4ul << 30 };
	struct pmm_check options = usual;
	void *p;

	CHECK(!setrlimit(RLIMIT_AS, &l));
	options.max_guarded = 1 << 20;
	start_with(options);
	look_at(block(100, 16), 100, 16);
	p = mmap(NULL, 3ul << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(p != MAP_FAILED);
}

static void no_address_space(void)
{
	struct rlimit l = { 128 << 20, 128 << 20 };
	static uint32_t alive = 1;
	enum guard_refusal why;

	agent_host_init(1 << 20);
	A.state = AGENT_ON;
	A.alive = &alive;
	CHECK(!setrlimit(RLIMIT_AS, &l));
	CHECK(!guard_start(&usual));
	CHECK(guard_alloc(1, 1, &why) == NO_RUN && why == GUARD_KERNEL);
	CHECK(!guard_in_pool((uint64_t)&why) && guard_block((uint64_t)&why) == NO_RUN);
}

/* The program locks all its memory: the pool stays usable, blocks are zeroed, released ones inaccessible. */
static void locked(void)
{
	uint32_t run[100];

	start();
	for (unsigned i = 0; i < 50; i++)
		run[i] = block(5000, 16);
	CHECK(!mlockall(MCL_CURRENT | MCL_FUTURE));
	for (unsigned round = 0; round < 600; round++) {
		for (unsigned i = 50; i < 100; i++) {
			run[i] = block(5000, 16);
			for (unsigned j = 0; j < 5000; j += 100)
				CHECK(!at(run[i])[j]);
			memset(at(run[i]), 0xee, 5000);
		}
		for (unsigned i = 50; i < 100; i++) {
			give(run[i]);
			CHECK(stops(at(run[i])));
		}
	}
	for (unsigned i = 0; i < 50; i++)
		give(run[i]);
}

/* ---- damage --------------------------------------------------------------------------------------------- */

static void each_byte_of_canary(void)
{
	static const size_t sizes[] = { 0, 1, 5, 16, 1001, 4090, 5000 };
	uint64_t damaged;

	start();
	for (unsigned i = 0; i < NR(sizes); i++) {
		uint32_t run = block(sizes[i], 16);
		uint64_t bytes, lo = block_pages(area_of_run(run), run - area_of_run(run)->first, &bytes);

		for (uint64_t p = lo; p < lo + bytes; p++) {
			uint8_t *byte = (uint8_t *)p, was = *byte;

			*byte ^= 0x10;
			if (p - guard_at(run)->address < sizes[i]) {
				CHECK(!guard_damage(run, &damaged));
			} else {
				CHECK(guard_damage(run, &damaged) && damaged == p);
				*byte = was;
			}
		}
		CHECK(!guard_damage(run, &damaged));
		give(run);
	}
}

/* ---- pages opened for one access ------------------------------------------------------------------------ */

static void page_by_page(void)
{
	uint32_t run[3] = { block(100, 16), block(3 * PAGE, 16), block(100, 16) };
	uint64_t page = (uint64_t)at(run[1]) & -PAGE, first = run_start(area_of_run(run[1]), run[1] - area_of_run(run[1])->first);
	uint64_t outside[4] = { first - PAGE, (flags & PMM_CHECK_LEFT) ? first + 3 * PAGE : first, first + 4 * PAGE, 0 };

	for (unsigned i = 0; i < 3; i++) {	/* beside the block's pages */
		CHECK(stops((uint8_t *)outside[i]) && guard_page_open(outside[i]) && !stops((uint8_t *)outside[i]));
		CHECK(!*(uint8_t *)outside[i]);
		*(uint8_t *)outside[i] = 1;
		guard_page_close(outside[i]);
		CHECK(stops((uint8_t *)outside[i]));
	}
	*at(run[1]) = 77;			/* its own page is not closed under it */
	CHECK(guard_page_open(page));
	guard_page_close(page);
	CHECK(*at(run[1]) == 77);
	give(run[1]);
	CHECK(guard_page_open(page) && !*(uint8_t *)page);
	*(uint8_t *)page = 1;
	guard_page_close(page);
	CHECK(stops((uint8_t *)page));
	CHECK(guard_page_open(page) && !*(uint8_t *)page);
	guard_page_close(page);
}

static void one_access(void)
{
	start();
	page_by_page();
	CHECK(!guard_page_open(A.ledger->check.pool_end - PAGE));	/* where nothing was ever */
	CHECK(!guard_page_open((uint64_t)&usual & -PAGE));
	CHECK(guard_find(A.ledger->check.pool_end - PAGE) == NO_RUN);
}

/* While a page of it is open a run is not taken, however many others are. */
static void held(void)
{
	struct pmm_check options = usual;
	uint32_t run, n;
	uint64_t page;

	options.max_guarded = 1;
	start_with(options);
	run = block(PAGE << 7, 16);
	give(run);
	page = (uint64_t)at(run) & -PAGE;
	CHECK(guard_page_open(page));
	n = A.ledger->check.area_runs[7];
	for (uint32_t i = 0; i < 3 * n; i++) {
		uint32_t other = block(PAGE << 7, 16);

		CHECK(other != run);
		give(other);
	}
	guard_page_close(page);
	CHECK(stops((uint8_t *)page));
	for (uint32_t i = 0;; i++) {
		uint32_t other = block(PAGE << 7, 16);

		CHECK(i < 3 * n);
		if (other == run)
			break;
		give(other);
	}
	look_at(run, PAGE << 7, 16);
}

/* ---- threads and forks ---------------------------------------------------------------------------------- */

#define THREADS 8

static uint32_t *owner;			/* by run: which thread has it, + 1 */
static unsigned rounds;
static bool stop;

static void own(uint32_t run, uint32_t me)
{
	uint32_t nobody = 0;

	CHECK(__atomic_compare_exchange_n(&owner[run], &nobody, me, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
}

static void *hammer(void *arg)
{
	uint32_t me = (uint32_t)(uintptr_t)arg, mine[64], nr = 0;
	unsigned seed = me;
	uint64_t damaged;

	for (unsigned i = 0; i < rounds && !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		enum guard_refusal why;
		uint32_t k = (uint32_t)rand_r(&seed) % NR(mine);
		size_t size = (size_t)rand_r(&seed) % (i % 100 ? 200 : 20000);

		if (k >= nr) {
			mine[nr] = block_try(size, 16, &why);
			CHECK(mine[nr] != NO_RUN || why == GUARD_KERNEL);
			if (mine[nr] == NO_RUN)
				continue;
			own(mine[nr], me);
			for (size_t j = 0; j < size; j++)
				CHECK(!at(mine[nr])[j]);
			memset(at(mine[nr]), (int)me, size);
			nr++;
		} else {
			const struct pmm_guard *r = guard_at(mine[k]);

			for (size_t j = 0; j < r->size_bytes; j++)
				CHECK(at(mine[k])[j] == me);
			CHECK(guard_block(r->address) == mine[k] && !guard_damage(mine[k], &damaged));
			CHECK(__atomic_exchange_n(&owner[mine[k]], 0, __ATOMIC_SEQ_CST) == me);
			give(mine[k]);
			mine[k] = mine[--nr];
		}
	}
	while (nr) {
		CHECK(__atomic_exchange_n(&owner[mine[--nr]], 0, __ATOMIC_SEQ_CST) == me);
		give(mine[nr]);
	}
	return NULL;
}

static void threads_begin(pthread_t *thread, uint32_t first)
{
	owner = mmap(NULL, PMM_MAX_GUARDS * sizeof(*owner), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (uint32_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, hammer, (void *)(uintptr_t)(first + i)));
}

static void threads_end(pthread_t *thread)
{
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void threads(void)
{
	struct pmm_check options = usual;
	pthread_t thread[THREADS];

	options.max_guarded = THREADS * 64;
	rounds = flags & PMM_CHECK_MPROTECT ? 20000 : 100000;
	start_with(options);
	threads_begin(thread, 1);
	threads_end(thread);
	CHECK(!A.ledger->check.guarded_now && A.ledger->check.guarded_most <= options.max_guarded);
	for (unsigned i = 0; i < options.max_guarded; i++)
		block(10, 16);
}

/* What was allocated before the fork is there in the child, and it can go on itself, whatever the parent's threads were at. */
static void forks(void)
{
	pthread_t thread[THREADS];
	uint32_t run[10];

	rounds = UINT_MAX;
	start();
	for (unsigned i = 0; i < NR(run); i++) {
		run[i] = block(100 + i, 16);
		memset(at(run[i]), (int)i + 1, 100 + i);
	}
	threads_begin(thread, 1);
	for (unsigned round = 0; round < 30; round++) {
		pid_t child = fork();
		int status;

		if (!child) {
			alarm(60);
			guard_forked();
			for (unsigned i = 0; i < NR(run); i++) {
				CHECK(*at(run[i]) == i + 1 && guard_block((uint64_t)at(run[i])) == run[i]);
				give(run[i]);
				CHECK(stops(at(run[i])));
			}
			rounds = 2000;
			if (round % 3 == 0) {
				threads_begin(thread, 101);
				threads_end(thread);
			} else {
				memset(owner, 0, PMM_MAX_GUARDS * sizeof(*owner));
				hammer((void *)(uintptr_t)100);
			}
			_exit(0);
		}
		CHECK(waitpid(child, &status, 0) == child && !status);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	threads_end(thread);
}

/* ---- the budget ----------------------------------------------------------------------------------------- */

static void spin(unsigned ms)
{
	clock_t end = clock() + ms * (CLOCKS_PER_SEC / 1000);

	while (clock() < end)
		;
}

/* Cycles of work that are allowed until it says no; asked often enough for it to look at the clock. */
static uint64_t drain(struct tctx *c, bool preferred, uint64_t step)
{
	uint64_t cycles = 0;

	for (;;) {
		bool more = false;

		for (unsigned i = 0; i < 64 && !more; i++, c->events++)
			more = budget_allows(c, preferred);
		if (!more)
			return cycles;
		budget_spent(step);
		cycles += step;
	}
}

static void budget(void)
{
	static struct tctx c;
	uint64_t per_ms = arch_cycles(), got;

	usleep(20000);
	per_ms = (arch_cycles() - per_ms) / 20;		/* a little too much on a busy machine */
	agent_host_init(1 << 20);
	budget_start(UINT64_MAX);
	for (unsigned i = 0; i < 1000; i++) {
		CHECK(budget_allows(&c, false));
		budget_spent(UINT64_MAX / 2000);
	}
	budget_start(100);
	got = drain(&c, false, 10000);
	CHECK(got > 30 * 3000000ull && got < 45 * 3000000ull);
	CHECK(!budget_allows(&c, false) && budget_allows(&c, true));
	got = drain(&c, true, 10000);
	CHECK(got > 8 * 3000000ull && got < 16 * 3000000ull);
	usleep(50000);					/* sleeping earns nothing */
	got = drain(&c, true, 10000);
	CHECK(got < 2 * per_ms);
	spin(200);					/* 20 ms of it */
	got = drain(&c, true, 10000);
	CHECK(got > 10 * per_ms && got < 30 * per_ms);
	budget_forked();
	drain(&c, true, 10000);
	spin(200);
	got = drain(&c, true, 10000);
	CHECK(got > 10 * per_ms && got < 50 * per_ms);
}

/* ---- all of them ---------------------------------------------------------------------------------------- */

static bool markers_known(void)
{
	char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool known = p != MAP_FAILED && !madvise(p, PAGE, SYS_MADV_GUARD_INSTALL);

	munmap(p, PAGE);
	return known;
}

static void markers_only(void)
{
	if (markers_known())
		return;
	print_message("skipped: this kernel has no MADV_GUARD_INSTALL (Linux 6.13)\n");
	skip();
}

#define WITH(TEST, NAME, FLAGS)								\
static void TEST##_##NAME(void **state)							\
{											\
	(void)state;									\
	flags = FLAGS;									\
	if (!(flags & PMM_CHECK_MPROTECT))						\
		markers_only();								\
	in_child(TEST);									\
}

#define BOTH(TEST) WITH(TEST, madvise, 0) WITH(TEST, mprotect, PMM_CHECK_MPROTECT)
#define LEFT(TEST) WITH(TEST, left, PMM_CHECK_LEFT) WITH(TEST, left_mprotect, PMM_CHECK_LEFT | PMM_CHECK_MPROTECT)

BOTH(every_area) LEFT(every_area)
BOTH(used_again) LEFT(used_again)
BOTH(oldest_first)
BOTH(most_blocks)
BOTH(too_large)
BOTH(confined)
BOTH(few_mappings)
BOTH(little_address_space)
BOTH(no_address_space)
BOTH(each_byte_of_canary) LEFT(each_byte_of_canary)
BOTH(one_access) LEFT(one_access)
BOTH(held)
BOTH(threads)
BOTH(forks)

static void locked_with(uint32_t with)
{
	struct rlimit l;

	getrlimit(RLIMIT_MEMLOCK, &l);
	if (geteuid() && l.rlim_cur != RLIM_INFINITY) {
		print_message("skipped: mlockall() needs root or an unlimited RLIMIT_MEMLOCK\n");
		skip();
	}
	flags = with;
	if (!with)
		markers_only();
	in_child(locked);
}

static void locked_madvise(void **state)
{
	(void)state;
	locked_with(0);
}

static void locked_mprotect(void **state)
{
	(void)state;
	locked_with(PMM_CHECK_MPROTECT);
}

static void budget_alone(void **state)
{
	(void)state;
	in_child(budget);
}

#define TESTS(TEST) cmocka_unit_test(TEST##_madvise), cmocka_unit_test(TEST##_mprotect)
#define LEFT_TESTS(TEST) cmocka_unit_test(TEST##_left), cmocka_unit_test(TEST##_left_mprotect)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TESTS(every_area), LEFT_TESTS(every_area),
		TESTS(used_again), LEFT_TESTS(used_again),
		TESTS(oldest_first),
		TESTS(most_blocks),
		TESTS(too_large),
		TESTS(confined),
		TESTS(few_mappings),
		TESTS(little_address_space),
		TESTS(no_address_space),
		TESTS(locked),
		TESTS(each_byte_of_canary), LEFT_TESTS(each_byte_of_canary),
		TESTS(one_access), LEFT_TESTS(one_access),
		TESTS(held),
		TESTS(threads),
		TESTS(forks),
		cmocka_unit_test(budget_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
