#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A program that keeps its own truth of its blocks (tests/prog/readers_victim.c) is read at random moments while its threads, signal handlers and
# children are at work: its totals, its largest sites, all of its ledger, its blocks of one moment. What was done before must be in what was read, what
# was not begun afterwards must not: each counter of each call site, kind, thread, and each block with its size, site, thread and kind. Now and then all
# threads are parked: then every figure is exact. Blocks are of glibc, or of an allocator of which four are in a granule of 32 bytes. A case that fails
# has a number; "readers_driver PMM VICTIM DIRECTORY 1 SEED NUMBER" runs it again, though not at the same moments. `make readers` has some thousand.

load lib

setup() { cd "$T" || return 1; }

figure() { sed "s/.* $1=\([0-9]*\).*/\1/" said; }

@test "read at random moments: totals, sites, blocks, pre-copies of what threads, handlers, jumps, forks do" {
	within "$PROG/readers_driver" "$PMM" "$PROG/readers_victim" "$T" 40 1 | tee said
	grep -q "^right cases=40 " said
	# Each kind of look was taken, and found what it is to look at.
	for kind in all sites totals top frozen still; do [ "$(figure $kind)" -ge 30 ]; done
	[ "$(figure events)" -ge 20000 ]
	[ "$(figure certain)" -ge 20000 ]
	[ "$(figure peaks)" -ge 30 ]
	[ "$(figure flights)" -ge 40 ]
	[ "$(figure left)" -ge 10 ]
}
