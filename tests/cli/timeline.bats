#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What captures have over time beside the heap: the kernel's figures of the process, read from outside, and what happened when.

load lib
load wait

# json CAPTURE|PID: its report, into $T/json.
json() { "$PMM" report --json --no-symbols "$1" >"$T/json"; }

# is EXPECTED FILTER: of that report.
is() { [ "$(jq -c "$2" "$T/json")" = "$1" ] || { jq -c "$2" "$T/json"; return 1; }; }

# looked FILTER COMMAND...: pmm run, again as long as the filter does not hold of the report: pmm had no processor when it wanted to look. Each time
# the command is told to take a longer time, its last argument, in tenths of a second.
looked() {
	local filter=$1 tenths
	shift
	for tenths in 10 50 200; do
		rm -f "$T/c.pmm"
		"$PMM" run -q -o "$T/c.pmm" -- "$@" "$tenths"
		json "$T/c.pmm"
		! jq -e "$filter" "$T/json" >"$T/looked" || return 0
	done
	cat "$T/looked"
}

@test "run: page faults and memory rise, the last point is the end's, children are marks" {
	# the child lives until pmm, which is told of it, has had a second to look at it
	looked '(.usage_history | length >= 3) and any(.marks[]; .what == "child_exec")' perl -e \
		'$p = fork // die; exec "sleep", "600" if !$p; for (1..60) { push @a, "x" x 1000000; select undef, undef, undef, $ARGV[0] / 500 }
		kill 9, $p; wait;'
	is '["known"]' '[.usage.times]'
	is true '.usage_history | length >= 3 and (map(.time_ns) | . == sort) and (.[:-1] | all(.threads == 1))'
	is '[0,null,null]' '.usage_history[-1] | [.threads, .anon_bytes, .pss_bytes]'
	is true '.usage_history as $u | $u[-1].minor_faults > $u[0].minor_faults + 1000 and $u[-1].minor_faults >= $u[-2].minor_faults'
	is true '[.usage_history[].anon_bytes // empty] | .[-1] > .[0] + 5000000'
	is true '.usage.took_ns > 0'
	is '["fork","child_exec","end"]' '[.marks[].what] | unique | sort_by({fork: 1, child_exec: 2, end: 3}[.])'
	is '[1,"sleep"]' '.marks[] | select(.what == "child_exec") | [.count, .name]'
	is true '.process.run_ns == .marks[-1].time_ns and .marks[-1].what == "end"'
}

@test "snapshot and report of a running process: one point, with PSS" {
	"$PMM" run -q -o "$T/%c.%p.pmm" -- sleep 600 &
	local run=$! pid=
	for _ in $(seq 600); do
		pid=$(pgrep -P $run -x sleep) && "$PMM" snapshot -q -o "$T/s.pmm" "$pid" 2>"$T/err" && break
		sleep 0.1
	done
	"$PMM" report --json --no-symbols "$pid" >"$T/json" || true
	kill "${pid:-$run}" || true	# before anything is judged: nothing is left behind
	wait $run || true
	is '[[],1]' '[.marks, (.usage_history | length)]'
	is true '.usage_history[0] | .pss_bytes > 4096 and .pss_bytes <= .anon_bytes + .file_bytes + .shmem_bytes and .threads == 1'
	json "$T/s.pmm"
	is '["snapshot"]' '[.marks[].what]'
	is '["known","known",1,true]' '[.usage.times, .usage.pss, (.usage_history | length), .usage_history[0].pss_bytes > 4096]'
}

@test "run: a thread that has ended before the process, and its last name" {
	looked '.threads[1].name == "late"' "$PROG/thread_ends"
	is '[null,"late",false]' '.threads | [.[0].alive, .[1].name, .[1].alive]'
}

@test "run: the peak has one time, that of the first look that saw it" {
	local held
	looked '.totals.peak_ns < 900000000' "$PROG/thread_ends"
	is true '.totals.peak_ns == .history.time_ns[.history.peak_index]'
	is true '.totals.peak_ns < 900000000 and .totals.peak_bytes == .history.live_bytes[.history.peak_index]'
	held=$("$PMM" report "$T/c.pmm" | grep -o 'peak .*')
	[ "$(grep -c . <<<"$held")" -ge 2 ]
	[ "$(grep -o '[0-9]* ms' <<<"$held" | sort -u | wc -l)" -eq 1 ]
}
