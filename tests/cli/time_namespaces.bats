#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Processes in time namespaces, where CLOCK_MONOTONIC is not the monitor's.

bats_require_minimum_version 1.5.0
load attach

# space OPTION...: an unshare(1) that makes one.
space() {
	need unshare jq
	unshare --time "$@" --fork true 2>/dev/null || skip "unshare --time $* does not work here"
}

# times CAPTURE LEAST: it began within the last minute and ran for so many seconds at least.
times() {
	local said
	said=$(json "$1" | jq -c --argjson now "$(date +%s)" --argjson least "$2" '.process |
		[.run_ns / 1e9 >= $least, .run_ns / 1e9 < 60, .start_realtime_ns / 1e9 - $now < 1, .start_realtime_ns / 1e9 - $now > -60]')
	[ "$said" = "[true,true,true,true]" ] || { echo "times of $1: $said"; json "$1" | jq -c .process; return 1; }
}

# attached_in OFFSET: attach to a process with that offset for more than a second.
attached_in() {
	space --monotonic "$1"
	start_below unshare --time --monotonic "$1" --fork "$PROG/attach_victim"
	watch --expire 1s
	tell g done
	await -p "$MONITOR" grep -q "outlived 1 s" "$T/watch.out"
	now site leak_a allocs=100 live=4800
	unwatch
	clean
	finish 42
	times "$T/c.pmm" 1
	[ "$(json "$T/c.pmm" | jq '[.sites[].last_ns] | max < 60e9')" = true ]
	check "$T/c.pmm" <<<"$(expected attach_victim.c)"
}

@test "attach to a process whose clock is ahead" { attached_in 1000000; }
@test "attach to a process whose clock is behind" { attached_in -100; }

# launched_in OFFSET OPTION...: two programs, of which the second is in the namespace.
launched_in() {
	space --monotonic "$1"
	track unshare --time --monotonic "$@" sleep 1.1
	[ "$STATUS" -eq 0 ]
	cat "$T/err"
	run ! grep -q "not tracked" "$T/err"
	captures >"$T/all"
	[ "$(wc -l <"$T/all")" -ge 1 ]
	while read -r capture; do times "$capture" 1; done <"$T/all"
}

@test "launch a process whose clock is ahead" { launched_in 1000000 --fork; }
@test "launch a process whose clock is behind" { launched_in -100 --fork; }
@test "a clock that is ahead from exec on" { launched_in 1000000; }
@test "a clock that is behind from exec on" { launched_in -100; }

@test "heap errors where the clock is ahead" {
	space --monotonic 1000000
	within "$PMM" check -o "$T/%p.pmm" -- unshare --time --monotonic 1000000 --fork sleep 1.1 >"$T/out" 2>"$T/err" || { cat "$T/err"; return 1; }
	run ! grep -q "not tracked" "$T/err"
	[ "$(find "$T" -name '*.pmm' | wc -l)" -eq 2 ]
	for capture in "$T"/*.pmm; do times "$capture" 1; done
}

# alone_in OFFSET: no monitor, and a look from outside the namespace.
alone_in() {
	space --monotonic "$1"
	start_below env LD_PRELOAD="$(dirname "$PMM")/libpmm.so" unshare --time --monotonic "$1" --fork "$PROG/attach_victim"
	sleep 1.1
	within "$PMM" snapshot -o "$T/c.pmm" "$PID"
	finish 42
	times "$T/c.pmm" 1
}

@test "no monitor, and the clock is ahead" { alone_in 1000000; }
@test "no monitor, and the clock is behind" { alone_in -100; }
