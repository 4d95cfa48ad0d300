/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Crashes, and programs that were killed, in words: src/view/check/check_crash.c. */
#include "tests/unit/check_view_of.h"

#define CRASH "site main>a size=1\nfinding type=crash by=signal site=main>a thread=main "

/* The sentence of a crash: a recipe's lines for the finding and for the end. */
static void expect_crash(const char *finding, const char *death, const char *title,
			 const char *what)
{
	char recipe[1000], text[1000];

	snprintf(recipe, sizeof(recipe),
		 PROCESS "check light\nthread main tid=42\n" CRASH "%s\ndeath finding=0 %s\n",
		 finding, death);
	snprintf(text, sizeof(text),
		 "pmm: %s in a, a.c:7\n%s  demo, pid 42, main thread, 1.00 s after the start:\n    "
		 "a  a.c:7\n    main  main.c:7\n",
		 title, what);
	expect(recipe, (struct check_view_options){ .no_head = true }, text);
}

static void crashes_say_what_was_there(void **state)
{
	(void)state;
	expect_crash("access=read place=null", "signal=11 fault=11 code=1", "crash (SIGSEGV)",
		     "  read at 0x0, a null pointer\n");
	expect_crash("access=write place=null address=18 code=8b", "signal=11 fault=11 code=1",
		     "crash (SIGSEGV)",
		     "  write of 4 bytes at 0x18, 24 bytes from a null pointer\n");
	expect_crash("access=write place=forbidden address=5000 text=/lib/x.so",
		     "signal=11 fault=11 code=2 map-access=13", "crash (SIGSEGV)",
		     "  write at 0x5000, in memory that cannot be written (r-x), of x.so\n");
	expect_crash("access=exec place=forbidden address=5000 text=[heap]",
		     "signal=11 fault=11 code=2 map-access=11", "crash (SIGSEGV)",
		     "  execution at 0x5000, in memory that cannot be executed (rw-), of [heap]\n");
	expect_crash("access=read place=stack-guard address=5000", "signal=11 fault=11 code=2",
		     "crash (SIGSEGV)", "  read at 0x5000, in the guard area below a stack\n");
	expect_crash("access=read place=past-file address=5000 text=/data/y",
		     "signal=7 fault=7 code=2 map-access=9", "crash (SIGBUS)",
		     "  read at 0x5000, mapped from y, but behind the end of that file\n");
	expect_crash("access=read place=unmapped address=1040 block=1000 block-size=24",
		     "signal=11 fault=11", "crash (SIGSEGV)",
		     "  read at 0x1040, where no memory is mapped, 40 bytes behind the end of a\n  "
		     "block of 24 bytes\n");
	expect_crash("access=read place=unmapped address=ff8 block=1000 block-size=24",
		     "signal=11 fault=11", "crash (SIGSEGV)",
		     "  read at 0xff8, where no memory is mapped, 8 bytes before the start of a\n  "
		     "block of 24 bytes\n");
	expect_crash("place=no-address code=8b", "signal=11 fault=11 code=128", "crash (SIGSEGV)",
		     "  write of 4 bytes at 0xfdfdfdfdfdfdfe05, where no memory can be: the "
		     "pointer\n  was read from a block that was freed\n");
	expect_crash("place=no-address", "signal=11 fault=11 code=128", "crash (SIGSEGV)",
		     "  access at an address that no memory can have\n");
}

static void crashes_say_who_ended_it(void **state)
{
	(void)state;
	expect_crash(
		"access=read place=null", "fault=11 status=3", "crash (SIGSEGV)",
		"  read at 0x0, a null pointer; its handler ended the program with status 3\n");
	expect_crash("access=read place=null", "signal=6 fault=11", "crash (SIGSEGV)",
		     "  read at 0x0, a null pointer; its handler ended the program with SIGABRT\n");
	expect_crash("text=free():_invalid_size", "signal=6", "crash (SIGABRT)",
		     "  abort() was called, which said 'free():_invalid_size'\n");
	expect_crash("", "signal=8 fault=8 code=1", "crash (SIGFPE)",
		     "  division of an integer by zero, or with a result that is too large\n");
	expect_crash("", "signal=8 fault=8 code=3", "crash (SIGFPE)", "  arithmetic error\n");
	expect_crash("", "signal=4 fault=4", "crash (SIGILL)",
		     "  an instruction that the processor does not have\n");
	expect_crash("", "signal=5 fault=5 code=128", "crash (SIGTRAP)",
		     "  a breakpoint instruction\n");
	expect(PROCESS "check light\nfinding type=stack-overflow number=4\ndeath signal=11 "
		       "fault=11 finding=4\n",
	       (struct check_view_options){ .no_head = true },
	       "pmm: stack overflow\n  the stack ran over its end; the program ended by it "
	       "(SIGSEGV)\n  demo, pid 42, 1.00 s after the start:\n"
	       "    [stack unknown]\n");
	expect(PROCESS
	       "check light\nfinding type=crash by=signal\ndeath signal=31 fault=31 finding=0\n",
	       (struct check_view_options){ .no_head = true },
	       "pmm: crash (SIGSYS)\n  a signal of this kind ended the program; where that was is "
	       "not known\n"
	       "  demo, pid 42, 1.00 s after the start:\n    [stack unknown]\n");
}

/* Who died by a signal is not said to be without errors. */
static void who_was_killed_is_not_said_to_be_well(void **state)
{
	(void)state;
	expect(PROCESS "check light canaried=1 sweeps=1\ndeath signal=15 sender=7\n",
	       (struct check_view_options){ .brief = true },
	       "pmm: demo, pid 42: the only block had canaries; nothing found until SIGTERM\nfrom "
	       "process 7 ended it\n");
	expect(PROCESS "check light canaried=1 sweeps=1\ndeath signal=11 sender=42\n",
	       (struct check_view_options){ 0 },
	       "demo\n"
	       "  blocks   the only block had canaries\n"
	       "  process  demo, pid 42, ran 10.0 s, still running\n"
	       "  found    nothing until SIGSEGV, which it sent itself, ended it; 1 canary scan\n"
	       "           of all live blocks\n");
	expect(PROCESS "check light canaried=1 sweeps=1\ndeath signal=13 sender=42\n",
	       (struct check_view_options){ .brief = true },
	       "pmm: demo, pid 42: the only block had canaries; nothing found until SIGPIPE\n"
	       "(as when no process reads what it writes) ended it\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crashes_say_what_was_there),
		cmocka_unit_test(crashes_say_who_ended_it),
		cmocka_unit_test(who_was_killed_is_not_said_to_be_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
