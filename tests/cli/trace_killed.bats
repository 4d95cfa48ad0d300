#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace is killed, stopped, or loses its reader: what is left behind, what is counted. TRACE_KILLS: how often it is killed (20).

bats_require_minimum_version 1.5.0
load lib
load trace

setup() { needs_bpf; }

# held PID: what it holds in the kernel, in $T/held; its children in $T/children.
held() {
	"$PROG/bpf_programs" "$1" >"$T/held"
	cat "/proc/$1/task/"*/children 2>/dev/null | tr ' ' '\n' | grep . >"$T/children" || :
}

# gone: all of it goes within a while, and no copy of pmm waits for one that has ended. The command that runs is ended here.
gone() {
	local child
	await none_held || { echo "left in the kernel:"; cat "$T/held"; return 1; }
	for child in $(cat "$T/children"); do
		await is_no_pmm "$child" || { echo "left: process $child"; return 1; }
		[ "$(cat "/proc/$child/comm" 2>/dev/null)" != sleep ] || kill -9 "$child"
	done
}
none_held() { [ "$("$PROG/bpf_programs" <"$T/held")" -eq 0 ]; }
is_no_pmm() { [ "$(cat "/proc/$1/comm" 2>/dev/null)" != pmm ]; }

# A random moment, in ms, below $1.
moment() { echo $((SRANDOM % $1)); }

@test "killed at any moment, whatever it traces, it leaves nothing behind" {
	local classes=(mmap life,files faults kernel rss,cache reclaim,compaction,migrate,thp oom,stack,swap,major all pmc) i ms pid nr=0 whole=0
	local counters whom=("--all" "-- sleep 60" "--pid $$")
	ls /sys/fs/bpf >"$T/pinned" 2>/dev/null || :
	for ((i = 0; i < ${TRACE_KILLS:-20}; i++)); do
		ms=$(moment 500)
		[[ ${classes[i % ${#classes[@]}]} = @(all|pmc) ]] && counters=(--counters cpu_clock) || counters=()
		# shellcheck disable=SC2086
		"$PMM" trace "${classes[i % ${#classes[@]}]}" "${counters[@]}" --duration 60 ${whom[i % 3]} >/dev/null 2>&1 3>&- & pid=$!
		# the first time when all is in place, whenever that is on this machine
		if [ "$i" -eq 0 ]; then
			until held "$pid" && grep -q '^link' "$T/held"; do sleep 0.02; done
		else
			sleep "0.$(printf %03d "$ms")"
		fi
		# stopped, so that what is seen of it is what it has
		kill -STOP "$pid"
		until grep -q '^State:.[TtZ]' "/proc/$pid/status"; do sleep 0.001; done
		held "$pid"
		kill -9 "$pid"
		wait "$pid" 2>/dev/null || [ "$?" -eq 137 ]
		gone || { echo "killed after $ms ms, ${classes[i % ${#classes[@]}]} ${whom[i % 3]}"; return 1; }
		nr=$((nr + $(wc -l <"$T/held")))
		[ "$(grep -c '^link' "$T/held")" -eq 0 ] || whole=$((whole + 1))
	done
	echo "# $i times killed, with $nr programs, maps and links, $whole times with links" >&3
	ls /sys/fs/bpf 2>/dev/null | diff "$T/pinned" -
	# so that it is no test of nothing
	[ "$nr" -gt 0 ]
	[ "$whole" -gt 0 ]
}

# ended SIGNAL STATUS: while it prints, pmm gets the signal: status, a result at the end, nothing left.
ended() {
	local pid rc=0
	rm -f "$T/out"		# of the signal before
	"$PMM" trace life --all --json >"$T/out" 2>"$T/err" 3>&- & pid=$!
	until grep -qs '"event":' "$T/out"; do sh -c :; done
	held "$pid"
	grep -q '^link' "$T/held"
	kill "-$1" "$pid"
	wait "$pid" || rc=$?
	[ "$rc" -eq "$2" ] || { echo "SIG$1: status $rc"; cat "$T/err"; return 1; }
	gone
	# each line is whole
	jq -e . "$T/out" >/dev/null
	tail -1 "$T/out" | jq -e '.schema == "pmm-trace/1.0"' >/dev/null
}

@test "SIGINT, SIGTERM and SIGHUP end it with the result and leave nothing behind" {
	ended INT 0
	ended TERM 0
	ended HUP 0
}

@test "a signal while the programs are being loaded ends it as well" {
	local i pid rc
	for ((i = 0; i < 10; i++)); do
		"$PMM" trace all,life --summary --all >"$T/out" 2>"$T/err" 3>&- & pid=$!
		# from here on signals wait for the trace
		until grep -q '^SigBlk:.*4003$' "/proc/$pid/status"; do sleep 0.001; done
		sleep "0.$(printf %03d "$(moment 300)")"
		held "$pid"
		kill -TERM "$pid"
		rc=0
		wait "$pid" || rc=$?
		[ "$rc" -eq 0 ] || { echo "status $rc"; cat "$T/err"; return 1; }
		grep -q '^  traced  *all processes' "$T/out"
		gone
	done
}

@test "output that nobody reads any more ends it and leaves nothing behind" {
	local pid rc=0
	mkfifo "$T/pipe"
	"$PMM" trace life --all >"$T/pipe" 2>"$T/err" 3>&- & pid=$!
	exec 7<"$T/pipe"
	read -r _ <&7
	until held "$pid" && grep -q '^link' "$T/held"; do sleep 0.02; done
	exec 7<&-
	until grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null || ! kill -0 "$pid" 2>/dev/null; do sh -c :; done
	wait "$pid" || rc=$?
	[ "$rc" -eq 3 ] || { echo "status $rc"; cat "$T/err"; return 1; }
	gone
}

# stopped CLASSES [OPTION...]: a victim makes 20,001 times six calls while pmm is stopped: lines and lost are what was seen.
stopped() {
	local pid child seen lost
	mkfifo "$T/go"
	rm -f "$T/out"
	"$PMM" trace "$1" --json --top 0 "${@:2}" -- sh -c 'read -r _ <"$0"; exec "$1" 20000' "$T/go" "$PROG/trace_calls" >"$T/out" 2>"$T/err" 3>&- & pid=$!
	until [ -s "$T/out" ]; do sleep 0.02; done
	child=$(pgrep -P "$pid")
	kill -STOP "$pid"
	echo >"$T/go"
	until grep -qs '^State:.Z' "/proc/$child/status"; do sleep 0.05; done
	held "$pid"
	kill -CONT "$pid"
	wait "$pid" || [ "$?" -eq 3 ]
	rm "$T/go"
	gone
	seen=$(result .coverage.seen)
	lost=$(result '.coverage.lost_in_ring + .coverage.lost_in_tables')
	echo "# $*: seen $seen, lost $lost" >&3
	[ "$lost" -gt 0 ]
	[ "$(jq -c 'select(.event)' "$T/out" | wc -l)" -eq $((seen - lost)) ]
	[ "$(result '[.events[].count] | add')" -eq $((seen - lost)) ]
	[ "$(result .coverage.missed_by_recursion)" -eq 0 ]
	# what the victim did, and the dynamic linker and the shell besides
	[ "$seen" -ge 120006 ]
	[ "$seen" -lt 120300 ]
}

# few_stacks: when the ring was half full, what came had its innermost frame alone; and so more events had room.
few_stacks() {
	[ "$(jq -c 'select(.event and .stack_end == "ring_was_filling" and (.stack | map(select(.inlined | not)) | length) == 1)' "$T/out" | wc -l)" -ge 50 ]
	[ "$(jq -c 'select(.event and .stack_end == null and (.stack | length) > 2)' "$T/out" | wc -l)" -ge 2 ]
	[ "$(jq -c 'select(.event == "exec" or .event == "fork" or .event == "exit") | select(.stack_end)' "$T/out" | wc -l)" -eq 0 ]
}

@test "stopped, with little room, it loses exactly what it counts as lost" {
	stopped mmap --buffer 64K
	few_stacks
	stopped mmap --buffer 256K --stack-size 0
	stopped mmap,brk,life --buffer 1M --stack-size 4K
	few_stacks
}
