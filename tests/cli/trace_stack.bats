#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace stack: how deep stacks become; signals of memory, and which of them are stack overflows.

bats_require_minimum_version 1.5.0
load lib
load trace

setup() { needs_bpf; }

# need_areas: skip where the kernel cannot look up areas.
need_areas() {
	local why
	why=$(jq -r '.events[] | select(.event == "stack" and .works == "partly").why' "$T/list.json")
	[ -z "$why" ] || skip "$why"
}

# dies PROGRAM HOW STATUS FILTER: it ends with that status; one event, for which the filter holds.
dies() {
	traced "$3" stack -- "$PROG/$1" "$2"
	[ "$(count segv "$4")" -eq 1 ] || { echo "$2"; grep '"segv"' "$T/out"; return 1; }
	[ "$(count segv .)" -eq 1 ]
}

# overflows HOW FILTER: trace_overflow HOW dies of a stack overflow for which the filter holds.
overflows() { dies trace_overflow "$1" 139 ".stack_overflow and ($2)"; }

first='.stack_sort == "first_thread" and .stack_limit_bytes == 8388608 and .pid == .tid'
thread='.stack_sort == "thread" and .stack_limit_bytes == 262144 and .pid != .tid'
large='.overflow_cause == "below" and .in_guard == false and .frame_bytes >= 523776 and .frame_bytes < 524800'

@test "stack overflows: deep recursion, a thread's, one large frame" {
	need_areas
	ulimit -S -s 8192
	dies trace_segv deep 139 ".stack_overflow and $first"' and .overflow_cause == "limit" and .stack[0].function == "deeper"'
	dies trace_segv thread 139 ".stack_overflow and $thread"' and .overflow_cause == "guard" and .guard_bytes == 4096 and .stack[0].function == "deeper"'
	dies trace_segv frame 139 ".stack_overflow and $thread"' and .stack[0].function == "wide"'" and $large"
	# behind a frame that has left its stack: all callers
	dies trace_segv frame 139 '([.stack[].function] | index("in_thread") == 1) and .stack_end == null and .stack_used_bytes < 16384'
}

@test "frames that are entered at their far end, touched page by page, or made by alloca" {
	need_areas
	overflows far "$thread"' and .frame_bytes == 2097048 and .overflow_cause == "below"'
	overflows far-reserved "$thread"' and .frame_bytes == 2097048 and .overflow_cause == "below"'
	overflows probed "$thread"' and .frame_bytes == 2093064 and .overflow_cause == "guard"'
	overflows alloca "$thread"' and .frame_bytes >= 524288 and .frame_bytes < 525312 and .stack[0].function == "allocated"'
	ulimit -S -s 8192
	traced 0 stack -- "$PROG/trace_overflow" main-far
	[ "$(count segv .)" -eq 0 ]
	[ "$(result '.thread_stacks[] | .depth_bytes >= 2097152 and .depth_bytes < 2097152 + 65536')" = true ]
}

@test "guards of another size, none at all; coroutines" {
	need_areas
	overflows guard "$thread"' and .guard_bytes == 65536 and .overflow_cause == "guard"'
	overflows no-guard '.stack_sort == "other" and .guard_bytes == null and .overflow_cause == "below" and .stack_limit_bytes >= 262144'
	overflows coroutine '.stack_sort == "other" and .guard_bytes == 4096 and .overflow_cause == "guard"'
	overflows coroutine-bare '.stack_sort == "other" and .guard_bytes == null and .overflow_cause == "below"'
}

@test "recursion: how often" {
	need_areas
	local calls repeats
	ulimit -S -s 8192
	traced 7 stack -- "$PROG/trace_overflow" count
	calls=$(grep -E -x '[0-9]+' "$T/out")
	sed -i '/^{/!d' "$T/out"
	repeats=$(jq -r 'select(.event == "segv" and .handled and .repeats_function == "deeper" and .repeats_estimated) | .repeats' "$T/out")
	[ "$calls" -gt 7500 ]
	# what lies above main() is taken for calls as well
	[ "$repeats" -ge $((calls - 2)) ] && [ "$repeats" -le $((calls + 150)) ] || { echo "$calls $repeats"; return 1; }
	overflows cyclic "$thread"' and .repeats >= 450 and .repeats <= 490 and (.repeats_function == "odd" or .repeats_function == "even")'
}

@test "signals that are handled, blocked, ignored, or find no room themselves" {
	need_areas
	ulimit -S -s 8192
	overflows blocked "$first and .handled == false"
	overflows ignored "$first and .handled == false"
	traced 139 stack -- "$PROG/trace_overflow" no-room
	[ "$(count segv '.stack_overflow and .handled')" -eq 1 ]
	[ "$(count segv '.stack_overflow == false and .address == null and .stack_used_bytes > 8380000')" -eq 1 ]
	[ "$(count segv .)" -eq 2 ]
}

@test "the first thread's stack meets another mapping" {
	need_areas
	ulimit -S -s 8192
	overflows neighbour "$first"' and .overflow_cause == "neighbour" and .neighbour_bytes > 1044480 and .neighbour_bytes <= 1048576'
	[ "$(count segv '.stack_used_bytes < 540000')" -eq 1 ]
}

@test "other bad accesses, and signals that processes send" {
	dies trace_segv null 139 '.stack_overflow == false and .address == "0x0" and .why == "nothing is mapped there" and .stack[0].function == "main"'
	dies trace_segv kill 139 '.sent'
	dies trace_segv bus 135 '.signal_name == "SIGBUS" and .why == "the file ends before it" and .stack_overflow == false'
	# near the stack pointer, which points to no stack
	dies trace_overflow pointer 139 '.stack_overflow == false and .stack_pointer == "0x10000000" and .stack_sort == null'
	dies trace_overflow data 139 '.stack_overflow == false and .stack_sort == null'
	need_areas
	# in the guard, by an address of another origin
	dies trace_overflow below 139 '.stack_overflow == false and .in_guard and .guard_bytes == 4096'
}

# depths: "TID BYTES" of the table, against what the program has printed.
depths() {
	[ "$(grep -c -E "^(thread|first) " "$T/out")" -gt 0 ]
	grep -E '^(thread|first) ' "$T/out" | cut -d' ' -f2- | sort >"$T/truth"
	sed -i '/^{/!d' "$T/out"
	result '.thread_stacks[] | "\(.tid) \(.depth_bytes)"' | sort >"$T/table"
	diff "$T/truth" "$T/table"
}

@test "how deep stacks become, by thread" {
	need_areas
	ulimit -S -s 8192
	traced 0 stack -- "$PROG/trace_depth" 4 64 300 1000
	depths
	[ "$(wc -l <"$T/truth")" -eq 5 ]
	[ "$(result '[.thread_stacks[] | .stack_limit_bytes] | sort | map(tostring) | join(" ")')" = "4194304 4194304 4194304 4194304 8388608" ]
	[ "$(result '[.thread_stacks[].stack_sort] | group_by(.) | map("\(.[0]) \(length)") | join(" ")')" = "first_thread 1 thread 4" ]
	[ "$(result '[.thread_stacks[].depth_bytes] | . == (sort | reverse)')" = true ]
	# a line for each doubling from 256 KiB on: 300 one, 1000 two, 1024 and what main() is called by three
	[ "$(count stack_growth '.stack[0].function == "use"')" -eq 6 ]
	[ "$(count stack_growth .)" -eq 6 ]
	[ "$(result '.events[] | select(.event == "stack_growth").count')" -eq 6 ]
	[ "$(result '.coverage.lost_in_ring + .coverage.lost_in_tables')" -eq 0 ]
	# for each MiB, of which there is one
	traced 0 stack --min-size 1M -- "$PROG/trace_depth" 4 64 300 1000
	depths
	[ "$(count stack_growth '.pid == .tid and .depth_bytes == 1048576')" -eq 1 ]
	[ "$(count stack_growth .)" -eq 1 ]
	timeout 60 "$PMM" trace stack -s --top 2 -- "$PROG/trace_depth" 4 64 300 1000 >"$T/text"
	grep -A4 '^Stacks by thread' "$T/text" | grep -q '^  3 more rows (--top=0 shows all)$'
}

@test "a limit that is raised later" {
	need_areas
	traced 0 stack -- bash -c 'ulimit -S -s 512; exec "$0" raise' "$PROG/trace_depth"
	depths
	[ "$(result '.thread_stacks[] | select(.command == "trace_depth").stack_limit_bytes')" -eq 8388608 ]
}

@test "threads that began before the trace; filters" {
	need_areas
	local victim tracer
	ulimit -S -s 8192
	mkfifo "$T/go"
	"$PROG/trace_depth" wait 64 300 <"$T/go" >"$T/said" 3>&- & victim=$!
	exec 7>"$T/go"
	await -p "$victim" grep -q ready "$T/said"
	timeout 60 "$PMM" trace stack --json --top 0 -p "$victim" >"$T/traced" 2>"$T/err" 3>&- & tracer=$!
	await -p "$tracer" traces "$tracer"
	echo >&7
	exec 7>&-
	wait "$victim"
	wait "$tracer"
	cat "$T/said" "$T/traced" >"$T/out"
	depths
	[ "$(result '[.thread_stacks[].stack_limit_bytes] | sort | map(tostring) | join(" ")')" = "4194304 4194304 8388608" ]
	traced 0 stack --command nobody_has_this -- "$PROG/trace_depth" 64
	[ "$(result '.thread_stacks // [] | length')" -eq 0 ]
	[ "$(result .coverage.seen)" -eq 0 ]
}
