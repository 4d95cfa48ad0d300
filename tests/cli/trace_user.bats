#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace of an ordinary user: perf events of the user's own processes. Counts are exact.

bats_require_minimum_version 1.5.0
load lib
load trace

setup() {
	[ "$(id -u)" -eq 0 ] || skip "needs root, to give rights away"
	D=$(mktemp -d)		# where others may read
	chmod 755 "$D"
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || skip "kernel.perf_event_paranoid is $(cat /proc/sys/kernel/perf_event_paranoid)"
}

teardown() {
	[ -z "${VICTIM:-}" ] || kill "$VICTIM" 2>/dev/null || :
	[ -z "${D:-}" ] || rm -r "$D"
}

USER_65534=(setpriv --reuid=65534 --regid=65534 --clear-groups)
user() { "${USER_65534[@]}" "$@"; }

# by_user STATUS EVENTS [OPTION...]: as traced() of trace.bash, as user 65534.
by_user() {
	local status=0 expected=$1
	shift
	user timeout -k 5 60 "$PMM" trace "$1" --json --top 0 "${@:2}" >"$T/out" 2>"$T/err" || status=$?
	[ "$status" -eq "$expected" ] || { echo "status $status instead of $expected"; head -5 "$T/err"; return 1; }
}

# in_range EVENT FROM TO: its lines with such an address.
in_range() {
	jq -c --argjson from "$2" --argjson to "$3" '
		def hex: ltrimstr("0x") | explode | reduce .[] as $c (0; . * 16 + (if $c > 96 then $c - 87 else $c - 48 end));
		select(.event == "'"$1"'") | select(.address | hex >= $from and hex < $to)' "$T/out" | wc -l
}

# touched KIND PAGES [FILE]: the victim, each fault with a line; $start, $end, $minor as it says them.
touched() {
	by_user 0 faults --sample 1 --stack-size 0 -- "$PROG/trace_faults" "$@"
	read -r _ start end minor _ < <(grep "^$1 " "$T/err")
	nothing_lost
}

nothing_lost() { result '.coverage | .lost_in_ring + .lost_in_tables + .missed_by_recursion' | grep -qx 0; }

# adds_up: all sums are those of the lines.
adds_up() {
	local all
	all=$(result '.events[] | select(.event == "fault") | .count')
	[ "$(count fault .)" -eq "$all" ]
	[ "$(result .coverage.seen)" -eq "$all" ]
	[ "$(result '[.fault_memory[] | .faults] | add')" -eq "$all" ]
	[ "$(result '[.fault_memory[] | .access_unknown + .fetches] | add')" -eq "$all" ]
	[ "$(result '[.fault_memory[] | .reads + .writes + .page_present + .by_kernel] | add')" -eq 0 ]
	[ "$(result '[.fault_processes[] | .faults] | add')" -eq "$all" ]
	[ "$(result '[.fault_files[] | .faults] | add')" -eq "$(result '[.fault_ranges[] | .faults] | add')" ]
}

@test "the first line says which form this is, why, and what would help" {
	by_user 0 mmap,reclaim,shm -- true
	head -1 "$T/err" >"$T/first"
	grep -q "^pmm: by perf events, which see 'true' and its children alone: pmm may not load programs into the kernel: " "$T/first"
	grep -q "; run pmm as root, or give it CAP_BPF and CAP_PERFMON$" "$T/first"
	grep -qx "pmm: WARNING: not seen: reclaim: only programs in the kernel (BPF) see it" "$T/err"
	[ "$(grep -c 'not seen: shm: ' "$T/err")" -eq 1 ]
	[ "$(result '.coverage.source')" = perf ]
	[ "$(result '[.not_seen[].remedy] | unique | tojson')" = '["run pmm as root, or give it CAP_BPF and CAP_PERFMON"]' ]
	[ "$(result '[.not_seen[] | [.events, .partly]] | sort | tojson')" = '[["mmap",true],["reclaim",false],["shm",false]]' ]
}

@test "nothing of what was asked for can be seen" {
	by_user 3 oom,reclaim,rss -- sh -c "touch $D/ran"
	head -1 "$T/err" | grep -q '^pmm: reclaim, oom, rss cannot be seen: pmm may not load programs'
	sed -n 2p "$T/err" | grep -qx 'pmm: hint: run pmm as root, or give it CAP_BPF and CAP_PERFMON'
	[ ! -s "$T/out" ]
	[ ! -e "$D/ran" ]
}

@test "page faults of each kind of memory, to the page" {
	local kind
	for kind in anonymous heap shared; do
		touched $kind 500
		[ "$minor" -eq 500 ]
		[ "$(in_range fault "$start" "$end")" -eq 500 ]
		adds_up
	done
	touched anonymous 300
	[ "$(jq -c 'select(.event == "fault" and .memory == "anonymous")' "$T/out" | wc -l)" -ge 300 ]
	[ "$(result '[.fault_memory[] | select(.memory == "heap")] | length')" -eq 0 ]
	touched heap 300
	[ "$(result '.fault_memory[] | select(.memory == "heap") | .faults')" -eq 300 ]
	touched shared 300
	[ "$(result '.fault_memory[] | select(.memory == "shared_memory") | .faults')" -eq 300 ]
	touched stack 300
	[ "$(in_range fault "$start" "$end")" -eq "$minor" ]
	[ "$(count fault '.memory == "stack_growth"')" -ge 200 ]
}

@test "page faults of a file have its path and offset" {
	touch "$D/file"; chmod 666 "$D/file"
	touched private_file 100 "$D/file"
	jq -c 'select(.event == "fault" and .file == "'"$D"'/file") | .offset_bytes' "$T/out" | sort -n >"$T/offsets"
	seq 0 65536 $((99 * 65536)) | diff "$T/offsets" -
	[ "$(result '.fault_files[] | select(.file == "'"$D"'/file") | .faults')" -eq 100 ]
	[ "$(result '[.fault_ranges[] | select(.file == "'"$D"'/file") | .faults] | add')" -eq 100 ]
	adds_up
}

@test "memory that a mapping was moved to, which no record says" {
	cat >"$D/moved.c" <<-'END'
		#include <sys/mman.h>
		#include <stdio.h>
		#include <stdint.h>
		int main(void)
		{
			char *p = mmap(NULL, 64 << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			p = mremap(p, 64 << 12, 4096 << 12, MREMAP_MAYMOVE);
			madvise(p, 4096 << 12, MADV_NOHUGEPAGE);
			for (int i = 0; i < 4096; i++)
				((volatile char *)p)[i << 12] = 1;
			fprintf(stderr, "moved %lu %lu\n", (uintptr_t)p, (uintptr_t)p + (4096 << 12));
			getchar();
		}
	END
	gcc -O1 -D_GNU_SOURCE -w -o "$D/moved" "$D/moved.c"
	# it lives until pmm has said all of it
	mkfifo "$D/go"
	chmod 666 "$D/go"
	rm -f "$T/out"
	said() { [ "$(grep -c '"event": *"fault"' "$T/out")" -ge 4096 ]; }
	{ await said; echo >"$D/go"; } 3>&- &
	by_user 0 faults --sample 1 --stack-size 0 -- sh -c "exec $D/moved <>$D/go"
	read -r _ start end < <(grep ^moved "$T/err")
	[ "$(in_range fault "$start" "$end")" -eq 4096 ]
	[ "$(count fault '.memory == "unknown"')" -eq 0 ]
}

@test "each mapping, and what it is of" {
	by_user 3 mmap,life -- "$PROG/trace_calls" 20
	# exec has mapped the program itself; the loader's are those of strace
	[ "$(count mmap '.size_bytes == 1048576 and .protection == "r" and .flags == "private anonymous"')" -eq 21 ]
	[ "$(count mprotect '.size_bytes == 1048576 and .protection == "rw"')" -eq 21 ]
	[ "$(count mmap '.file != null and (.file | endswith("/libc.so.6"))')" -eq 4 ]
	[ "$(count mmap '.file == "/etc/ld.so.cache"')" -eq 1 ]
	[ "$(count mmap '.descriptor != null')" -eq 0 ]
	[ "$(count fork .)" -eq 1 ]
	[ "$(count exit .)" -eq 2 ]
	[ "$(count exit '.exit_status != null')" -eq 0 ]
	[ "$(result '.events[] | select(.event == "mmap") | .count')" -eq "$(count mmap .)" ]
	nothing_lost
}

@test "as many mappings as strace and root see" {
	need strace
	strace -f -qq -e trace=mmap -o "$T/strace" "$PROG/trace_calls" 5 || [ $? -eq 3 ]
	local calls
	calls=$(grep -c 'mmap(.*= 0x' "$T/strace")
	by_user 3 mmap -- "$PROG/trace_calls" 5
	[ "$(count mmap .)" -eq "$calls" ]
	[ "$(strace -f -qq -e trace=mprotect "$PROG/trace_calls" 5 2>&1 | grep -c 'mprotect(.*= 0')" -eq "$(count mprotect .)" ]
}

@test "the heap as it grows" {
	by_user 0 brk -- perl -e 'my @a; push @a, "x" x 1000 for 1 .. 3000'
	[ "$(count brk .)" -ge 5 ]
	jq -s -e '[.[] | select(.event == "brk")] as $b |
		($b | map(.grown_bytes) | add) == $b[-1].heap_bytes and all($b[]; .refused == false)' "$T/out"
}

@test "processes: programs, arguments, names, short-lived children" {
	# the first one lives until pmm has said that it began
	mkfifo "$D/go"
	chmod 666 "$D/go"
	rm -f "$T/out"
	{ await grep -q '"arguments".*"cat"' "$T/out"; echo >"$D/go"; } 3>&- &
	by_user 0 life -- sh -c 'cat "$0" >/dev/null; for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; :' "$D/go"
	[ "$(count exec .)" -eq 12 ]
	[ "$(count exec '.file | endswith("/true")')" -eq 10 ]
	[ "$(count fork .)" -eq 11 ]
	[ "$(count exit '.thread == false')" -eq 12 ]
	# each says who its parent is, and where its arguments could be read, these
	[ "$(jq -c 'select(.event == "exec") | .parent_pid' "$T/out" | sort -u | wc -l)" -eq 2 ]
	jq -c 'select(.event == "exec" and (.file | endswith("/cat"))) | [.arguments, .arguments_cut]' "$T/out" >"$T/exec"
	[ "$(cat "$T/exec")" = '[["cat","'"$D/go"'"],false]' ]
	[ "$(count rename '.new_command == "true"')" -eq 10 ]
	nothing_lost
}

@test "threads that are there, threads and children that are started later" {
	mkfifo "$D/go" "$D/said"
	chmod 666 "$D/go" "$D/said"
	"${USER_65534[@]}" "$PROG/trace_threads" 5 100 <"$D/go" >"$D/said" 3>&- &
	VICTIM=$!
	exec 8>"$D/go"
	read -r start end <"$D/said"
	once_traced 8
	exec 8>&-
	by_user 0 faults,life --sample 1 --stack-size 0 -p "$VICTIM"
	VICTIM=
	[ "$(in_range fault "$start" "$end")" -eq 1500 ]
	[ "$(jq 'select(.event == "fault" and .memory == "anonymous") | .tid' "$T/out" | sort -u | wc -l)" -ge 15 ]
	[ "$(count fork '.child_pid != .child_tid')" -eq 5 ]
	[ "$(count fork '.child_pid == .child_tid')" -eq 5 ]
	[ "$(count exit '.thread')" -eq 10 ]
	[ "$(count exit '.thread == false')" -eq 6 ]
	nothing_lost
}

@test "several processes at once, one of which started the other" {
	"${USER_65534[@]}" sh -c 'sleep 100 & exec sleep 100' 3>&- &
	VICTIM=$!
	await -p "$VICTIM" pgrep -P "$VICTIM" -x sleep
	await -p "$VICTIM" grep -qx sleep "/proc/$VICTIM/comm"
	local child
	child=$(pgrep -P "$VICTIM" -x sleep)
	rm -f "$T/err"
	{ await grep -q '^pmm: tracing ' "$T/err"; kill "$VICTIM" "$child"; } 3>&- &
	by_user 0 life -p "$VICTIM" -p "$child"
	VICTIM=
	[ "$(count exit .)" -eq 2 ]
	[ "$(result .coverage.seen)" -eq 2 ]
}

@test "complete stacks of a distribution's binary" {
	need python3
	# the ring of an ordinary user is small: a pmm that has to wait for a processor loses most
	for _ in {1..20}; do
		by_user 0 faults --sample 1 --stack-size 8K -- python3 -c pass
		result '.coverage | "\(.seen) seen, \(.lost_in_ring) lost, \(.stacks) stacks, \(.complete_stacks) complete"'
		result '.coverage | .complete_stacks >= .stacks * 0.94' | grep -qx true
		! result '.coverage.stacks >= 300' | grep -qx true || break
	done
	result '.coverage.stacks >= 300' | grep -qx true
	# names, too, although it has ended: those of the C library's begin are in the most
	[ "$(count fault '.stack_end == null and ([.stack[].function] | index("_start"))')" -ge 100 ]
}

@test "stacks of some faults stand for all" {
	by_user 0 faults -- "$PROG/trace_faults" again 200000
	local lines weights all lost
	lost=$(result .coverage.lost_in_ring)		# 0, but on a machine that stops for seconds
	[ $(($(result '.fault_memory[] | select(.memory == "anonymous") | .faults') + lost)) -ge 200000 ]
	[ $(($(result .coverage.seen) + lost)) -le 200200 ]
	lines=$(count fault .)
	weights=$(jq -s '[.[] | select(.event == "fault") | .weight] | add' "$T/out")
	all=$(result .coverage.seen)
	echo "$lines lines of $all, which stand for $weights"
	[ "$lines" -lt 100000 ]
	[ "$weights" -le $((all + lines)) ]
	[ "$weights" -ge $((all * 9 / 10)) ]
	by_user 0 faults --sample 50 -- "$PROG/trace_faults" again 50000
	[ "$(count fault .)" -le $(($(result .coverage.seen) / 50 + 1)) ]
	[ "$(count fault .)" -ge 20 ]
}

@test "what does not fit into the ring is lost, and said" {
	user "$PMM" trace faults --json --top 0 --sample 1 --buffer 64K -- "$PROG/trace_faults" again 20000 >"$T/out" 2>"$T/err"
	local seen lost
	seen=$(result .coverage.seen) lost=$(result .coverage.lost_in_ring)
	[ "$lost" -gt 1000 ]
	[ "$(count fault .)" -eq "$seen" ]
	# every fault is one or the other: as many as without stacks
	by_user 0 faults --sample 1 --stack-size 0 -- "$PROG/trace_faults" again 20000
	local all
	all=$(result '.coverage.seen + .coverage.lost_in_ring')		# none is lost, if pmm need not wait for a processor
	[ $((seen + lost)) -ge $((all - 10)) ]
	[ $((seen + lost)) -le $((all + 10)) ]
}

@test "a small limit of locked memory makes rings smaller" {
	(ulimit -l 0; by_user 0 faults --sample 1 --stack-size 0 -- "$PROG/trace_faults" anonymous 500)
	[ "$(result '.fault_memory[] | select(.memory == "anonymous") | .faults')" -ge 500 ]
}

@test "counters of the kernel" {
	by_user 0 pmc --counters cpu_clock -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'
	[ "$(count cpu_clock .)" -ge 20 ]
	[ "$(result '.events[] | select(.event == "cpu_clock") | .count')" -ge 20 ]
}

@test "processes of others, groups, users, all: refused with the reason" {
	sleep 1000 3>&- &
	VICTIM=$!
	by_user 3 life -p "$VICTIM"
	grep -q "process $VICTIM is another user's, which perf events may not see" "$T/err"
	by_user 3 life --all
	by_user 3 life --user root
	grep -q '^pmm: pmm may not load programs' "$T/err"
	by_user 127 life -- /proc/nowhere
	by_user 3 life -p 2147483647
	head -1 "$T/err" | grep -q 'no process 2147483647'
}

@test "--list and the doctor say what can be seen in this form" {
	user "$PMM" trace --list --json | jq -e '.events | map({ (.event): [.works, .by] }) | add |
		.faults == ["partly", "perf"] and .mmap == ["partly", "perf"] and .brk == ["partly", "perf"] and .life == ["partly", "perf"] and
		.major == ["partly", "perf"] and .shm == ["no", null] and .oom == ["no", null] and .rss == ["no", null]'
	user "$PMM" trace --list | grep -q "by perf events, which see given processes of one's own ('-- COMMAND', '--pid PID') alone"
	user "$PMM" doctor --json | jq -e '.events | map(select(.event == "faults"))[0] | .works == "partly" and .by == "perf" and (.remedy | contains("root"))'
}

# without KIND STATUS EVENTS [OPTION...]: pmm trace under a filter of system calls, JSON in $T/out.
without() {
	local status=0 kind=$1 expected=$2
	timeout -k 5 60 "$PROG/attach_filter" "$kind" "$PMM" trace "$3" --json --top 0 "${@:4}" >"$T/out" 2>"$T/err" || status=$?
	[ "$status" -eq "$expected" ] || { echo "status $status instead of $expected"; head -5 "$T/err"; return 1; }
}

@test "no events at all: what the kernel's counters have gained" {
	# it looks five times a second, if it can
	local pause
	for pause in 0.6 4 20; do
		without bpf 7 default -- sh -c "'$PROG/trace_faults' again 20000; sleep $pause; exit 7"
		! result '.processes[].command' | grep -qx sleep || break
	done
	head -1 "$T/err" >"$T/first"
	grep -q '^pmm: no events can be seen: bpf() is refused, probably by the seccomp filter' "$T/first"
	grep -q 'perf_event_open() is refused, probably by the seccomp filter' "$T/first"
	grep -q 'let the container.s seccomp profile allow bpf() and perf_event_open()' "$T/first"
	result .no_events.why | grep -q '^bpf() is refused'
	[ "$(result .no_events.nothing_about)" = "shm, oom, stack, life, files, cache" ]
	# sh and the victim, which both have a few of their own
	[ "$(result .command.minor_faults)" -ge 20000 ]
	[ "$(result .command.minor_faults)" -le 21500 ]
	[ "$(result '.processes[] | select(.command == "sleep") | .began')" = true ]
	[ "$(result '.processes[0].began')" = false ] || [ "$(result '.processes[0].command')" = trace_faults ]
	[ "$(result '[.processes[] | .minor_faults] | . == (sort | reverse)')" = true ]
}

@test "figures of a process that runs" {
	"$PROG/trace_faults" again 200000000 3>&- &
	VICTIM=$!
	await grep -qx trace_faults "/proc/$VICTIM/comm"
	local duration
	for duration in 1.5 6 20; do
		without bpf 0 faults,rss -p "$VICTIM" -d "$duration" -i 0.5
		[ "$(jq -s length "$T/out")" -lt 2 ] || break
	done
	[ "$(jq -s length "$T/out")" -ge 2 ]
	jq -s -e --argjson pid "$VICTIM" 'all(.[]; .processes | length == 1 and .[0].pid == $pid and
		.[0].ended == false and .[0].began == false and .[0].resident_bytes > 0 and .[0].mappings >= 10)' "$T/out"
	# the last interval may be of a moment
	jq -s -e '(map(.processes[0].minor_faults) | add > 300) and (.[0].processes[0].minor_faults > 100)' "$T/out"
	jq -s -e '.[0].machine | map(select(.counter == "pgfault"))[0].gained > 100' "$T/out"
	rm -f "$T/err"
	{ await grep -q '^pmm: no events can be seen' "$T/err"; kill "$VICTIM"; } 3>&- &
	without bpf 0 faults -p "$VICTIM"
	[ "$(result '.processes[0].ended')" = true ]
	VICTIM=
}

@test "figures of all processes, of a user, and those that say nothing" {
	without bpf 0 rss,faults --all -d 0.5
	[ "$(result '.coverage.scope')" = "all processes" ]
	without bpf 3 life,oom -- true
	head -1 "$T/err" | grep -q 'bpf() is refused'
	without bpf 3 faults --all --user root -d 0.1
	without bpf 3 faults --all --command x -d 0.1
	without bpf 127 faults -- /proc/nowhere
	user timeout 60 "$PROG/attach_filter" perf "$PMM" trace faults --json -- ls / >"$T/out" 2>"$T/err"
	grep -q '^pmm: no events can be seen: pmm may not load programs into the kernel' "$T/err"
	[ "$(result '.schema')" = pmm-trace-figures/1.0 ]
	user "$PROG/attach_filter" perf "$PMM" trace --list >"$T/out"
	grep -q 'no events can be seen: perf_event_open() is refused, probably by the seccomp filter' "$T/out"
}
