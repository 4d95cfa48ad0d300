#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The kernel's events joined with heaps: pmm run --trace, pmm attach --trace, pmm trace heap.

bats_require_minimum_version 1.5.0
load lib
load trace

teardown() {
	[ -z "${VICTIM:-}" ] || kill "$VICTIM" 2>/dev/null || :
}

# What a stack's copy has of the environment, and of the room that the kernel leaves at random, takes from what may be
# copied: without both each fault has a stack, and numbers are exact.
bare() { setarch -R env -i "$@"; }

# victim MODE...: it runs, and has written "ready"; number in VICTIM, orders to descriptor 7.
victim() {
	mkfifo "$T/in"
	setarch -R env -i "$PROG/trace_heap" "$@" <"$T/in" >"$T/victim.out" 3>&- 7>&- &
	VICTIM=$!
	exec 7>"$T/in"
	await -p "$VICTIM" grep -q ready "$T/victim.out"
}

# attach OPTION...: run pmm attach to the victim, again as long as it says that the machine is too slow for it.
attach() {
	local end=$((SECONDS + LIMIT))
	while :; do
		run --separate-stderr "$PMM" attach "$@" "$VICTIM"
		[[ $stderr =~ 'the machine is too busy'|'it takes too long' ]] && [ $SECONDS -lt $end ] || return 0
	done
}

# faults_of KIND FUNCTION: faults of memory that it has allocated or mapped, and by whom that was touched.
faults_of() {
	jq -c "[.kernel_fault_sites[] | select(.of == \"$1\" and .function == \"$2\") |
		.faults, .first_touches, (.touched_by[] | .function, .faults)]" "$T/report.json"
}

# Stacks during an exec may be cut: the program's mappings are not there yet.
mostly_complete() { [ "$(jq '.kernel | .complete_stacks * 100 >= .stacks * 94' "$T/report.json")" = true ]; }

report() { "$PMM" report --json "$1" >"$T/report.json"; }

@test "run --trace: page faults by who allocated the memory and who touches it" {
	needs_bpf
	bare "$PMM" run --trace -q -o "$T/c.pmm" -- "$PROG/trace_heap" touch 31
	report "$T/c.pmm"
	[ "$(faults_of block make)" = '[30,30,"touch_it",30]' ]
	[ "$(faults_of mapping map_it)" = '[31,31,"touch_map",31]' ]
	[ "$(jq '.kernel.lost_in_ring + .kernel.lost_in_tables + .kernel.left_out_of_tables' "$T/report.json")" -eq 0 ]
	mostly_complete
	# each row is in the sum of its event
	[ "$(jq '[.kernel_fault_sites[].faults] | add' "$T/report.json")" -eq \
		"$(jq '.kernel_events[] | select(.event == "fault") | .count - .by_agent' "$T/report.json")" ]
	# what the program maps, by its own lines
	[ "$(jq -c '[.kernel_calls[] | select(.function == "map_it") | .event, .count, .size_bytes]' "$T/report.json")" = '["mmap",1,126976]' ]
	[ "$(jq -c '[.kernel_calls[] | select(.function == "make" and .event == "brk") | .count] | add' "$T/report.json")" -eq 2 ]
}

@test "run --trace: page faults are counted to the one, whatever has a record" {
	needs_bpf
	local pages
	for pages in 1000 41000; do
		bare "$PMM" run --trace -q -o "$T/c$pages.pmm" -- "$PROG/trace_faults" anonymous "$pages" 2>"$T/said"
		[ "$(cut -d' ' -f4- "$T/said")" = "$pages 0" ]
		report "$T/c$pages.pmm"
		jq -c '.kernel.page_faults' "$T/report.json" >"$T/faults$pages"
		jq -e '.kernel.page_faults == (.kernel_events[] | select(.event == "fault").count)' "$T/report.json"
	done
	# what the program does besides is the same
	[ $(($(<"$T/faults41000") - $(<"$T/faults1000"))) -eq 40000 ]
	jq -e '(.kernel_events[] | select(.event == "fault").records) < .kernel.page_faults' "$T/report.json"
	run "$PMM" report "$T/c41000.pmm"
	grep -qE '^  page faults  +41,[0-9]+ \(exact\), 41,[0-9]+ minor, [0-9]+ major; by line and stack estimated from [0-9,]+$' <<<"$output"
}

@test "run --trace: of two programs in one process, and of a child, each has its own page faults" {
	needs_bpf
	# the shell executes the second one in place of itself: its own page faults are in no capture
	bare "$PMM" run --trace=faults -q -o "$T/%p.pmm" -- /bin/sh -c "$PROG/trace_faults anonymous 3000; exec $PROG/trace_faults anonymous 9000"
	local capture faults=()
	for capture in "$T"/*.pmm; do
		report "$capture"
		faults+=("$(jq -r '"\(.process.comm):\(.kernel.page_faults / 1000 | floor)"' "$T/report.json")")
	done
	[ "$(printf '%s\n' "${faults[@]}" | sort | tr '\n' ' ')" = "trace_faults:3 trace_faults:9 " ]
}

@test "run --trace: the report says what was traced, and a child's events are the child's" {
	needs_bpf
	bare "$PMM" run --trace=mmap -q -o "$T/%p.pmm" -- /bin/sh -c "$PROG/trace_heap touch 2; :"
	local all=("$T"/*.pmm)
	[ "${#all[@]}" -eq 2 ]
	for capture in "${all[@]}"; do
		report "$capture"
		[ "$(jq -r .kernel.events "$T/report.json")" = mmap ]
		case "$(jq -r .process.comm "$T/report.json")" in
		trace_heap) [ "$(jq '[.kernel_calls[] | select(.function == "map_it") | .count] | add' "$T/report.json")" -eq 1 ] ;;
		*) [ "$(jq '[.kernel_calls[] | select(.function == "map_it")] | length' "$T/report.json")" -eq 0 ] ;;
		esac
	done
}

@test "run --trace: of a child that outlives the program, too" {
	needs_bpf
	bare "$PMM" run --trace -q -o "$T/%p.pmm" -- /bin/sh -c "sh -c ': >$T/there; sleep 0.5; exec $PROG/trace_heap touch 31' >/dev/null & echo \$!
		until [ -e $T/there ]; do :; done" >"$T/pid" 3>&-
	await test -s "$T/$(cat "$T/pid").pmm"
	report "$T/$(cat "$T/pid").pmm"
	[ "$(faults_of block make)" = '[30,30,"touch_it",30]' ]
	[ "$(faults_of mapping map_it)" = '[31,31,"touch_map",31]' ]
}

@test "run --trace: the program's exit code, output, descriptors and priority are its own" {
	needs_bpf
	# shellcheck disable=SC2016
	run --separate-stderr "$PMM" run --trace -q -o "$T/c.pmm" -- /bin/sh -c 'echo out; ls /proc/self/fd | wc -l; nice; exit 7'
	[ "$status" -eq 7 ]
	local traced=$output
	run --separate-stderr "$PMM" run -q -o "$T/d.pmm" -- /bin/sh -c 'echo out; ls /proc/self/fd | wc -l; nice; exit 7'
	[ "$output" = "$traced" ]
	run "$PMM" run --trace -q -o "$T/c.pmm" -- /bin/sh -c 'kill -TERM $$'
	[ "$status" -eq 143 ]
}

@test "run --trace, attach --trace: events that a capture cannot have, and none that there are" {
	run "$PMM" run --trace=faults,kernel -o "$T/c.pmm" -- true
	[ "$status" -eq 2 ]
	[ "${lines[0]}" = "pmm: a capture cannot have these events: kernel" ]
	run "$PMM" run --trace=mmapp -o "$T/c.pmm" -- true
	[ "$status" -eq 2 ]
	[ "${lines[0]}" = "pmm: there is no event 'mmapp'" ]
	run "$PMM" attach --trace=pmc $$
	[ "$status" -eq 2 ]
	[ "${lines[0]}" = "pmm: a capture cannot have these events: pmc" ]
	[ ! -e "$T/c.pmm" ]
}

@test "run --trace LIST: the list is not taken for the program" {
	run "$PMM" run --trace mmap,brk -- true
	[ "$status" -eq 2 ]
	[ "${lines[0]}" = "pmm: there is no program 'mmap,brk'" ]
	[ "${lines[1]}" = "pmm: hint: events are given with '=': --trace=mmap,brk" ]
	# what is no list is a program that is missing
	run "$PMM" run --trace no_such_program
	[ "$status" -eq 3 ]
	[[ "${lines[0]}" == *"cannot find the program 'no_such_program'"* ]]
}

@test "attach --trace: without a capture it says what is missing" {
	needs_bpf
	victim wait
	attach --trace -d 100ms
	[ "$status" -eq 0 ]
	[[ "${stderr_lines[0]}" == "pmm: hint: the kernel's events are summed up in a line at the end; give '-o FILE' "* ]]
	attach --trace -d 100ms -o "$T/c.pmm"
	[[ "$stderr" != *"give '-o FILE'"* ]]
	[ "${stderr_lines[-1]}" = "pmm: hint: pmm report $T/c.pmm" ]
}

@test "attach --trace: what the detach makes the process do is not its own" {
	needs_bpf
	victim wait
	attach --trace -q -d 300ms -o "$T/c.pmm"
	[ "$status" -eq 0 ]
	kill -0 "$VICTIM"
	report "$T/c.pmm"
	# it waits all the time: neither the ledger nor the agent is unmapped by it
	[ "$(jq '.kernel_calls | length' "$T/report.json")" -eq 0 ]
	[ "$(jq '[.kernel_events[] | select(.event == "munmap") | .count] | add // 0' "$T/report.json")" -eq 0 ]
}

@test "run --trace: refused before the program runs where nothing can be seen" {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	needs_bpf
	local dir
	dir=$(mktemp -d)	# $T is root's alone
	chmod 777 "$dir"
	run setpriv --reuid=65534 --regid=65534 --clear-groups "$PMM" run --trace=oom -o "$dir/c.pmm" -- touch "$dir/ran"
	local left
	left=$(ls "$dir")
	rm -rf "$dir"
	[ "$status" -eq 3 ]
	[[ "$output" == *"; without '--trace' the heap alone is recorded"* ]]
	[ -z "$left" ]
}

@test "attach --trace: faults and mappings of a process that runs already" {
	needs_bpf
	victim wait
	"$PMM" attach --trace -o "$T/c.pmm" "$VICTIM" >"$T/attach.out" 2>"$T/attach.err" 3>&- 7>&- &
	local attach=$!
	# the ledger is there before; what the kernel sees is asked for last
	await -p "$attach" grep -q '^pmm: attached to' "$T/attach.err"
	echo >&7
	wait "$attach" || { cat "$T/attach.err"; false; }
	wait "$VICTIM"
	VICTIM=
	report "$T/c.pmm"
	[ "$(faults_of block make)" = '[39,39,"touch_it",39]' ]
	[ "$(faults_of mapping map_it)" = '[40,40,"touch_map",40]' ]
	# the stack goes through the agent, and has none of its frames
	jq -r '.kernel_calls[] | select(.function == "map_it" and .event == "mmap") | .frames[].function' "$T/report.json" |
		grep -v mmap >"$T/frames"
	[ "$(head -3 "$T/frames" | xargs)" = "map_it touch main" ]
	mostly_complete
}

@test "trace heap: what a process has allocated since the attach, by stack; growth and age" {
	victim leak 30000 1000
	"$PMM" trace heap --json --older 300ms -i 500ms -p "$VICTIM" >"$T/out" 2>"$T/err" 3>&- &
	local tracer=$!
	two() { [ "$(wc -l <"$T/out")" -ge 2 ]; }
	await -p "$tracer" two
	kill -INT "$tracer"
	wait "$tracer"
	kill -0 "$VICTIM"
	# and the last one, of less than an interval
	local objects grown=0 n lines
	lines=$(wc -l <"$T/out")
	[ "$lines" -ge 3 ]
	for ((n = 1; n <= lines; n++)); do
		sed -n "${n}p" "$T/out" >"$T/line"
		# none in the first one yet, where the victim had to wait for a processor
		[ "$(jq '.heap_stacks | length' "$T/line")" -eq 1 ] || { [ "$n" -eq 1 ] && [ "$(jq '.heap_stacks | length' "$T/line")" -eq 0 ] && continue; }
		objects=$(jq '.heap_stacks[0].objects' "$T/line")
		[ "$(jq '.heap_stacks[0].size_bytes' "$T/line")" -eq $((objects * 1000)) ]
		[ "$(jq '.heap_stacks[0].allocated' "$T/line")" -eq "$objects" ]
		[ "$(jq '.heap_stacks[0].freed' "$T/line")" -eq 0 ]
		grown=$((grown + $(jq '.heap_stacks[0].grown_objects' "$T/line")))
		[ "$grown" -eq "$objects" ]
		[ "$(jq -r '.heap_stacks[0].stack' "$T/line" | sed 's/ .*;/;/')" != "" ]
		[ "$(jq -r '.heap_stacks[0].pid' "$T/line")" -eq "$VICTIM" ]
		[ "$(jq '.heap_processes[0].objects' "$T/line")" -eq "$objects" ]
		[ "$(jq '.heap_processes[0].attached' "$T/line")" = true ]
	done
	jq -e '.heap_stacks[0] | .old_objects > 0' "$T/line"
	jq -e -s 'map(.heap_stacks[0]) | all(.old_objects <= .objects) and any(.old_objects < .objects)' "$T/out"
	jq -r '.heap_stacks[0].stack' "$T/line" | grep -q 'main.*;leak'
	# nothing of pmm is left in it
	! grep -q pmm "/proc/$VICTIM/maps"
}

@test "trace heap -- COMMAND: from its start, exit code and signals its own" {
	run --separate-stderr "$PMM" trace heap --json -- "$PROG/trace_heap" leak 30 500
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = ready ]
	[ "$(jq -c '[.heap_stacks[] | select(.stack | test("leak$")) | .objects, .size_bytes, .allocated, .freed]' <<<"${lines[1]}")" = "[30,15000,30,0]" ]
	[ "$(jq '.heap_processes[0].attached' <<<"${lines[1]}")" = false ]
	run "$PMM" trace heap -- sh -c 'exit 5'
	[ "$status" -eq 5 ]
	# shellcheck disable=SC2016
	run "$PMM" trace heap -- sh -c 'kill -INT $$; sleep 5'
	[ "$status" -eq 130 ]
	# no event of the kernel is traced: none is said to be seen or lost
	run --separate-stderr "$PMM" trace heap -- "$PROG/trace_heap" leak 3 500
	[[ "$output" == *"Heaps of processes"* ]]
	[ "$(grep -c -E '^  (seen|lost) ' <<<"$output")" -eq 0 ]
	run --separate-stderr "$PMM" trace heap -s -- sh -c nice
	[ "${lines[0]}" -eq "$(nice)" ]
}

@test "trace heap beside events of the kernel: attaching is not among them" {
	needs_bpf
	victim wait
	"$PMM" trace heap,mmap --json -p "$VICTIM" >"$T/out" 2>"$T/err" &
	local trace=$!
	await -p "$trace" grep -q "until Ctrl-C" "$T/err"
	echo >&7
	wait "$trace" || { cat "$T/err"; false; }
	VICTIM=
	# made by the program: the mapping itself, and malloc's for the block
	[ "$(jq -c 'select(.event == "mmap") | .size_bytes' "$T/out" | grep -c -x -e 163840 -e 167936)" -eq 2 ]
	[ "$(result '.heap_stacks[0].size_bytes')" -eq 163840 ]
	[ "$(result '.heap_stacks[0].stack' | sed 's/.*;//')" = make ]
	[ "$(result '.coverage.lost_in_ring')" -eq 0 ]
}

# faults_until_end PID EVENTS: trace it while it goes through `touch 40`.
faults_until_end() {
	"$PMM" trace "$2" -s --json -p "$1" >"$T/out" 2>"$T/err" &
	local trace=$!
	await -p "$trace" grep -q "until Ctrl-C" "$T/err"
	echo >&7
	wait "$trace" || { cat "$T/err"; return 1; }
	[ "$(result '[.fault_sites[] | select(.of != "nothing") | .function, .faults, .first_touches] | @json')" = '["map_it",40,40,"make",39,39]' ]
}

@test "trace faults,heap: by the line that allocated the memory" {
	needs_bpf
	victim wait
	faults_until_end "$VICTIM" heap,faults
	VICTIM=
}

@test "trace faults: by the line that allocated the memory, of a program that another pmm records" {
	needs_bpf
	mkfifo "$T/in"
	setarch -R env -i "$PMM" run -q -o "$T/c.pmm" -- "$PROG/trace_heap" wait <"$T/in" >"$T/victim.out" 3>&- &
	VICTIM=$!
	exec 7>"$T/in"
	await -p "$VICTIM" grep -q ready "$T/victim.out"
	faults_until_end "$(pgrep -P "$VICTIM" trace_heap)" faults
	wait "$VICTIM"
	VICTIM=
}

@test "trace heap: of whom" {
	run "$PMM" trace heap --all
	[ "$status" -eq 2 ]
	[ "${lines[0]}" = "pmm: 'heap' needs processes or a command to attach to" ]
	[ "${lines[1]}" = "pmm: hint: give '--pid PID' or '-- COMMAND'" ]
	run "$PMM" trace heap -- /nonexistent/program
	[ "$status" -ne 0 ]
	[[ "${lines[0]}" == *nonexistent* ]]
}
