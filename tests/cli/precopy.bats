#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The block tables of a running process frozen at one moment (src/ledger/precopy.h), through tests/prog/precopy_driver: compared with what the
# victim itself, four threads at full speed, says of its blocks.

load attach

TIMES=20

setup() { cd "$T" || return 1; }

teardown() {
	exec 7>&- 8<&-
	[ -z "${MONITOR:-}" ] || kill -9 "$MONITOR" 2>/dev/null || true
	[ -z "${PID:-}" ] || kill -9 "$PID" 2>/dev/null || true
}

# victim [RUN OPTION...]: tracked by pmm run, its threads at work.
victim() {
	start "$PMM" run -q -o c.pmm "$@" -- "$PROG/precopy_victim" truth 4 6400
	tell go running
}

drive() { within "$PROG/precopy_driver" truth "$@" 7>&- 8<&-; }

@test "every block, its size and nothing else, $TIMES times" {
	victim
	drive $TIMES | tee out.drive
	finish 0
	grep -q "^right times=$TIMES " out.drive
}

@test "large blocks only" {
	victim --min-size 100
	drive $TIMES min=100
	finish 0
}

@test "a sample" {
	victim --sample=4096
	drive $TIMES sampled
	finish 0
}

@test "a process that is attached to" {
	start "$PROG/precopy_victim" truth 4 6400
	watch
	tell go running
	drive $TIMES
	unwatch
	finish 0
}

@test "pmm leaks: nothing of a program that loses nothing is lost, whatever its threads are at" {
	victim
	for _ in 1 2 3; do
		"$PMM" leaks --json --no-symbols "$(od -An -tu4 -N4 truth | tr -d ' ')" >found 7>&- 8<&-
		[ "$(jq '.totals[] | select(.class == "definite").blocks' found)" -eq 0 ]
		[ "$(jq '.totals[] | select(.class == "reachable").blocks' found)" -gt 10000 ]
	done
	finish 0
}

@test "pmm is killed again and again while the agent marks: the next one goes on, nobody else minds" {
	victim
	for i in 1 2 3 4 5 6 7 8 9 10; do
		"$PROG/precopy_driver" truth 1000 >/dev/null 7>&- 8<&- &
		sleep "0.0$i"
		kill -9 $!
		wait $! || true
	done
	drive 5
	finish 0
}

@test "guarded blocks, which are in no table" {
	start "$PMM" check --budget=all -o c.pmm -- "$PROG/precopy_victim" truth 4 1600
	tell go running
	drive $TIMES
	finish 0
}
