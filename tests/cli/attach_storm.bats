#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm attach and detach at bad moments: into a program that never pauses, forks, loads libraries, is showered with signals, starts,
# and with the monitor killed anywhere. The victim checks itself all the time.

load attach

RANDOM=${SEED:-$(date +%s)}

mappings() { wc -l <"/proc/$PID/maps"; }

# storm KINDS ROUNDS: attach so often for a moment.
storm() {
	local at rss
	start nice -n 10 "$PROG/attach_stress" "$1"	# so that pmm gets on
	for i in $(seq "$2"); do
		patiently "$PMM" attach -q -d "$((RANDOM % 40 + 1))ms" "$PID" || [ $? -eq 1 ] ||
			{ echo "round $i"; cat "$T/watch.err"; return 1; }
		if [ "$i" -eq 5 ]; then at=$(mappings) rss=$(rss_kib); fi
	done
	echo "mappings $at to $(mappings), KiB $rss to $(rss_kib)"
	[ "$(mappings)" -le $((at + 12)) ]
	[ "$(rss_kib)" -le $((rss + rss / 4 + 2048)) ]
	clean
	finish 45 unharmed
}

# PMM_ATTACH_ROUNDS=200: each round waits until all eight have had a processor. From the fifth on nothing may grow: 20 rounds
# that each leave one mapping are noticed.
ROUNDS=${PMM_ATTACH_ROUNDS:-20}
@test "8 threads that allocate without pause" { storm "" "$ROUNDS"; }
@test "8 threads, three times as often" { storm q $((3 * ROUNDS)); }
@test "fork storm" { storm fq "$ROUNDS"; }
@test "dlopen storm" { storm lq "$ROUNDS"; }
@test "signal storm" { storm sq "$ROUNDS"; }
@test "all at once" { storm flsq "$ROUNDS"; }

@test "the monitor is killed at random moments, then pmm detach" {
	local status
	start attach_stress q
	picture first loose
	for i in $(seq 25); do
		killed_early
		status=0
		patiently "$PMM" detach "$PID" || status=$?
		[ "$status" -eq 0 ] || [ "$status" -eq 3 ] || { echo "round $i: $status"; cat "$T/watch.err"; return 1; }
		same_picture first loose
	done
	finish 45 unharmed
}

@test "the monitor is killed at random moments, then the next attaches" {
	start attach_stress flsq
	for _ in {1..25}; do killed_early; done
	watch
	sleep 0.2
	unwatch
	clean
	finish 45 unharmed
}

@test "at random moments of a program's start" {
	local status pid
	for i in $(seq 20); do
		"$PROG/many" 20000 30 >"$T/many.out" 3>&- &
		pid=$!
		sleep "0.0$(printf %02d $((RANDOM % 20)))"
		status=0
		within "$PMM" attach -q -d 20ms "$pid" >/dev/null 2>"$T/watch.err" || status=$?
		[ "$status" -le 1 ] || grep -q '^pmm: ' "$T/watch.err"
		wait "$pid"
		[ "$(cat "$T/many.out")" = unharmed ]
	done
}

@test "children of an attached process outlive it and the monitor" {
	start attach_stress fq
	watch
	sleep 0.3
	kill_monitor
	sleep 0.3
	within "$PMM" detach "$PID"
	clean
	finish 45 unharmed
}
