#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm attach leaves a process as it was, however it ends itself.

load attach

# as_before SIGNAL: attach to an idle victim, end so: all is as before to the byte, mappings and registers included.
as_before() {
	start attach_victim
	picture idle
	watch
	unwatch "$1"
	grep -q -E 'detached: .* all threads stopped for [1-9]' "$T/watch.err"
	same_picture idle
	tell g done
	finish 42 "sum 41400"
}

@test "Ctrl-C" { as_before INT; }
@test "SIGTERM" { as_before TERM; }
@test "SIGHUP" { as_before HUP; }

@test "--duration" {
	start attach_victim
	picture idle
	run within "$PMM" attach --duration 300ms "$PID"
	[ "$status" -eq 0 ]
	same_picture idle
	finish 42
}

@test "nobody reads its output any more" {
	start attach_victim
	picture first loose
	"$PMM" attach --expire 10ms --interval 10ms "$PID" 2>"$T/watch.err" 3>&- 7>&- 8<&- > >(sed '/leak_a/q' >"$T/read") &
	MONITOR=$!
	attached
	ends() { tell g done; ! kill -0 "$MONITOR"; }
	await ends
	STATUS=0
	wait "$MONITOR" || STATUS=$?
	MONITOR=
	cat "$T/watch.err"
	[ "$STATUS" -eq 3 ]
	grep -q "detached: process $PID is as it was" "$T/watch.err"
	[ "$(tail -1 "$T/watch.err")" = "pmm: the output has no reader any more" ]
	same_picture first loose
	finish 42
}

@test "output that cannot be written" {
	start attach_victim
	picture first loose
	for options in "" "--json" "-q --json" "-q -o $T/c.pmm"; do
		STATUS=0
		# shellcheck disable=SC2086
		within "$PMM" attach -d 300ms $options "$PID" >/dev/full 2>"$T/watch.err" || STATUS=$?
		cat "$T/watch.err"
		[ "$STATUS" -eq 3 ]
		[ "$(tail -1 "$T/watch.err")" = "pmm: cannot write to standard output: No space left on device" ]
		same_picture first loose
	done
	[ -s "$T/c.pmm" ]
	finish 42
}

@test "an idle process: no event is said as such, not as no leaks" {
	start attach_victim
	within "$PMM" attach -d 1 "$PID" >"$T/watch.out" 2>"$T/watch.err"
	cat "$T/watch.out" "$T/watch.err"
	grep -q -i -E 'no (calls|events|allocat)|nothing (was )?(seen|called)|0 (calls|events)' "$T/watch.out" "$T/watch.err"
	finish 42
}

@test "attach and detach 200 times, the target does not grow" {
	local before after n=${PMM_ATTACH_ROUNDS:-200}
	start attach_victim
	within "$PMM" attach -q -d 1ms "$PID" >/dev/null
	picture idle
	before=$(rss_kib)
	for i in $(seq "$n"); do
		within "$PMM" attach -q -d 1ms "$PID" >/dev/null || { echo "round $i"; return 1; }
	done
	same_picture idle
	after=$(rss_kib)
	echo "before: $before KiB, after: $after KiB"
	[ "$after" -le $((before + 64)) ]
	tell g done
	finish 42
}

@test "attached, left, attached again: only what came since is known" {
	start attach_victim
	watch
	tell g done
	unwatch
	tell g done
	watch
	tell g done
	unwatch
	clean
	found "$T/c.pmm" total allocs=1434 frees=1258 untracked=64 live=57784
	finish 42 "sum 124200"
}

@test "two at a time: the second is refused, the first sees all" {
	start attach_victim
	watch
	refused "attached|watch" "$PMM" attach -d 1 "$PID"
	tell g done
	unwatch
	clean
	check "$T/c.pmm" <<<"$(expected attach_victim.c)"
	finish 42
}

@test "another tracer holds it at the end: that the agent is left is said, and pmm detach takes it out" {
	local status=0
	start attach_victim
	watch
	trace_victim
	kill -INT "$MONITOR"
	wait "$MONITOR" || status=$?
	MONITOR=
	[ "$status" -eq 3 ]
	grep -q "^pmm: process $PID is being traced by 'attach_refuse'" "$T/watch.err"
	grep -q "^pmm: hint: .*let that one detach first; pmm's agent may still be in process $PID, .*'pmm detach $PID' takes it out" "$T/watch.err"
	leave_victim
	within "$PMM" detach "$PID" 2>/dev/null
	clean
	tell g done
	finish 42
}

@test "the monitor is killed: pmm detach takes it out" {
	start attach_victim
	picture first loose
	watch
	kill_monitor
	tell g done
	within "$PMM" detach "$PID"
	same_picture first loose
	# what is asked for is so already
	within "$PMM" detach "$PID" 2>"$T/said"
	[ "$(cat "$T/said")" = "pmm: process $PID has nothing in it that 'pmm attach' left" ]
	within "$PMM" detach -q "$PID" 2>"$T/said"
	[ ! -s "$T/said" ]
	tell g done
	finish 42 "sum 82800"
}

@test "the monitor is killed: the next attach takes over" {
	start attach_victim
	picture first loose
	watch
	tell g done
	kill_monitor
	watch
	tell g done
	unwatch
	same_picture first loose
	found "$T/c.pmm" total allocs=1434 frees=1258 untracked=64 live=57784
	finish 42 "sum 82800"
}

@test "a stopped process stays stopped" {
	start attach_victim
	halt "$PID"
	within "$PMM" attach -d 200ms "$PID" >"$T/said" 2>"$T/err"
	grep -q 'State:.T' "/proc/$PID/status"
	grep -q -x "no allocations were seen in [0-9.]* m\?s; process $PID is stopped, and 'kill -CONT $PID' continues it" "$T/said"
	grep -qx "pmm: process $PID is stopped: nothing is recorded until 'kill -CONT $PID'" "$T/err"
	within "$PMM" attach -q -d 50ms --json "$PID" >"$T/said"
	json_is true 'select(.event == "detached") | .stopped' <"$T/said"
	kill -CONT "$PID"
	within "$PMM" attach -q -d 50ms --json "$PID" >"$T/said"
	json_is false 'select(.event == "detached") | .stopped' <"$T/said"
	clean
	tell g done
	finish 42
}

@test "a file that a monitor left that was killed before it wrote anything into it" {
	local bytes
	for bytes in 0 1000000; do
		start python3 -c "import os, sys
fd = os.memfd_create('pmm-ledger')
os.ftruncate(fd, $bytes)
print('ready', flush=True)
sys.stdin.read()
sys.exit(42)"
		watch
		unwatch
		clean
		finish 42
	done
}
