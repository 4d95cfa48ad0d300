#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A program that keeps its own truth of its blocks (tests/prog/kill_victim.c) is killed under pmm run at random moments, some of them single
# instructions of the agent: the capture says the same, exactly, but for the one operation that each thread was at. So does a reader of the process
# while it runs. Handlers that allocate interrupt the program and the agent meanwhile and leave them by siglongjmp; it forks children, which are killed
# as well, and executes itself, whereupon the ledger of before is complete. A case that fails has a number; "kill_driver PMM VICTIM DIRECTORY 1 SEED
# NUMBER" runs it alone. `make kills` runs some thousand.

load lib

setup() { cd "$T" || return 1; }

figure() { sed "s/.* $1=\([0-9]*\) .*/\1/" said; }

@test "killed at random moments: threads, signal handlers, jumps, forks, execs" {
	within "$PROG/kill_driver" "$PMM" "$PROG/kill_victim" "$T" 140 1 | tee said
	grep -q "^right kills=140 " said
	# The moments were what they are to be: within the agent, and within operations. And all kinds of turns were taken.
	[ "$(figure in_agent)" -ge 5 ]
	[ "$(figure flights)" -ge 140 ]
	[ "$(figure looks)" -ge 20 ]
	[ "$(figure captures)" -ge 160 ]
	[ "$(figure left)" -ge 50 ]
}
