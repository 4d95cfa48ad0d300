#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A program that keeps its own truth of its blocks (tests/prog/kill_victim.c) is killed under pmm run at random moments, some of them single
# instructions of the agent: the capture says the same, exactly, but for the one operation that each thread was at. So does a reader of the process
# while it runs. A case that fails has a number; "kill_driver PMM VICTIM DIRECTORY 1 SEED NUMBER" runs it alone. `make kills` runs some thousand.

load lib

setup() { cd "$T" || return 1; }

@test "killed at random moments, in one thread and in several" {
	within "$PROG/kill_driver" "$PMM" "$PROG/kill_victim" "$T" 70 1 | tee said
	grep -q "^right kills=70 " said
	# The moments were what they are to be: within the agent, and within operations.
	[ "$(sed 's/.* in_agent=\([0-9]*\) .*/\1/' said)" -ge 5 ]
	[ "$(sed 's/.* flights=\([0-9]*\) .*/\1/' said)" -ge 70 ]
	[ "$(sed 's/.* looks=\([0-9]*\) .*/\1/' said)" -ge 20 ]
}
