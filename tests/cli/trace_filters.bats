#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace: each filter with each event. Two programs do the same (tests/prog/trace_twin.c), one of them outside of the filter: of the one
# inside all is seen, of the other nothing.

bats_require_minimum_version 1.5.0
load lib
load trace

setup() { needs_bpf; touch "$T/file"; }
teardown() {
	local pid
	for pid in "${started[@]}"; do kill -9 "$pid" 2>/dev/null || :; done
	[ -z "${group-}" ] || rmdir "$group/below" "$group" 2>/dev/null || :
}

started=()

# twin NAME [THEN...]: starts one that waits; its number in $twin. `go FD`: let it run; $fd is its FD.
twin() {
	mkfifo "$T/in.$1"
	"${as[@]}" "$PROG/trace_twin" "$1" "$T/file" "${@:2}" <"$T/in.$1" >"$T/pid.$1" 3>&- & started+=($!)
	exec {fd}>"$T/in.$1"
	until [ -s "$T/pid.$1" ]; do sleep 0.02; done
	twin=$(head -1 "$T/pid.$1")
}

# finish: when all twins have ended, so does the trace.
finish() {
	local pid
	for pid in "${started[@]}"; do [ "$pid" = "$tracer" ] || wait "$pid"; done
	kill -INT "$tracer"
	wait "$tracer"
}

# child_of PID: in $child.
child_of() { until child=$(pgrep -P "$1"); do sleep 0.02; done; }

# start OPTION...: trace all events, of what was asked for, in the background.
start() {
	rm -f "$T/err"
	timeout -k 5 60 "$PMM" trace all --counters page_faults --sample 1 --min-size 1 --buffer 64M --json --top 0 "$@" >"$T/out" 2>"$T/err" 3>&- & tracer=$!
	started+=("$tracer")
	until grep -qs '^pmm: tracing ' "$T/err"; do sleep 0.05; kill -0 "$tracer"; done
}

# seen PID...: what there is of these processes and of their children, by events; and "others", of any other process.
seen() {
	jq -s -c --argjson children "${children:-true}" --argjson pids "[$(IFS=,; echo "$*")]" '
		map(select(.event | type == "string")) as $all
		| ($pids + [$all[] | select($children and .event == "fork" and .child_pid != .pid) | select(.pid | IN($pids[])) | .child_pid]) as $in
		| ($all | map(select(.pid | IN($in[])))) as $i
		| ([$i[] | select(.event == "mmap" and .size_bytes == 163840) | .result | ltrimstr("0x")]) as $maps
		| def n(f): [$i[] | select(f)] | length;
		[ n(.event == "mmap" and .size_bytes == 163840), n(.event == "munmap" and .size_bytes == 163840),
		  n(.event == "shmget" and .size_bytes == 163840), n(.event == "open" and (.path | endswith("/file"))),
		  n(.event == "fault" and .memory == "anonymous" and .access == "write" and (.stack[0].function == "fill")),
		  n(.event == "exit" and .exit_status == 7), n(.event == "segv"), n(.event == "page_faults" and .stack[0].function == "fill"),
		  ([.[-1].resident[].pid] | map(select(IN($in[]))) | length) ],
		[ ($all | map(select(.pid | IN($in[]) | not) | .event) | unique[]),
		  (.[-1] | (.resident, .fault_processes, .counters, .processes)[] | select(.pid | IN($in[]) | not) | .pid) ]' "$T/out" | xargs
}

# mine N: what N processes and their children have: mmap, munmap, shmget, open, faults, exits, deaths, samples of faults, resident processes.
mine() { echo "[$((6 * $1)),$((6 * $1)),$((2 * $1)),$((2 * $1)),$((80 * $1)),$((2 * $1)),$((2 * $1)),$((80 * $1)),$((5 * $1))]"; }

# alone PID...: as seen, without children.
alone() { children=false seen "$@"; }

@test "--pid" {
	twin inside; local a=$twin fa=$fd
	twin outside; local fb=$fd
	start -p "$a"
	echo >&"$fb"; sleep 0.2; echo >&"$fa"
	wait "$tracer"
	run seen "$a"; echo "$output"; [ "$output" = "$(mine 1) []" ]
}

@test "--pid of two, of three that do the same" {
	twin one; local a=$twin fa=$fd
	twin two; local b=$twin fb=$fd
	twin outside; local fc=$fd
	start -p "$a" -p "$b"
	echo >&"$fc"; echo >&"$fa"; echo >&"$fb"
	wait "$tracer"
	run seen "$a"; echo "$output"; [[ "$output" == "$(mine 1) "* ]]
	run seen "$b"; echo "$output"; [[ "$output" == "$(mine 1) "* ]]
	run seen "$a" "$b"; echo "$output"; [ "$output" = "$(mine 2) []" ]
}

@test "children from before: not with --pid, all of them with --tree" {
	twin inside child infant; local a=$twin fa=$fd child
	child_of "$a"
	start -p "$a"
	echo >&"$fa"; echo >&"$fa"
	wait "$tracer"
	run seen "$a"; echo "$output"; [ "$output" = "$(mine 1) []" ]

	twin again child infant; a=$twin fa=$fd
	child_of "$a"
	start -p "$a" --tree
	echo >&"$fa"; echo >&"$fa"
	wait "$tracer"
	run seen "$a"; echo "$output"; [[ "$output" == "$(mine 1) "* ]]
	run seen "$child"; echo "$output"; [[ "$output" == "$(mine 1) "* ]]
	run seen "$a" "$child"; echo "$output"; [ "$output" = "$(mine 2) []" ]
	[ "$(result .coverage.scope)" = "process $a and its children" ]
}

@test "--no-follow: no children, neither of a process nor of a command" {
	twin inside child infant; local a=$twin fa=$fd
	start -p "$a" --no-follow
	echo >&"$fa"; echo >&"$fa"
	wait "$tracer"
	run alone "$a"; echo "$output"; [ "$output" = "[6,6,2,2,80,0,0,80,1] []" ]
	[ "$(result .coverage.scope)" = "process $a without children" ]
	# with --tree those that there are, but not theirs
	twin again child infant; a=$twin fa=$fd
	local child; child_of "$a"
	start -p "$a" --tree --no-follow
	echo >&"$fa"; echo >&"$fa"
	wait "$tracer"
	run alone "$a" "$child"; echo "$output"; [ "$output" = "[12,12,4,4,160,0,0,160,2] []" ]
	echo >"$T/line"
	traced 0 life,shm --no-follow -- sh -c '"$0" inside "$1" <"$2"; :' "$PROG/trace_twin" "$T/file" "$T/line"
	[ "$(count shmget .)" -eq 0 ]
	[ "$(grep '^{' "$T/out" | jq -s '[.[] | select(.event).pid] | unique | length')" -eq 1 ]
}

@test "--command: of the process, whatever its threads are called; it may get the name later" {
	twin inside; local a=$twin fa=$fd
	twin outside; local fb=$fd
	twin later name inside; local c=$twin fc=$fd
	start --command inside -d 60
	echo >&"$fb"; echo >&"$fa"; echo >&"$fc"
	finish
	# children of the thread have its name
	run seen "$a"; echo "$output"; [[ "$output" == "[6,6,2,2,80,1,1,80,3] "* ]]
	run seen "$c"; echo "$output"; [[ "$output" == "[6,6,2,2,80,1,1,80,3] "* ]]
	run seen "$a" "$c"; echo "$output"; [ "$output" = "[12,12,4,4,160,2,2,160,6] []" ]
}

@test "--user: also of what becomes another one" {
	need_root
	chmod 755 "$T"
	as=(setpriv --reuid=54321 --clear-groups)
	twin inside; local a=$twin fa=$fd
	as=()
	twin outside; local fb=$fd
	twin later setuid 54321; local c=$twin fc=$fd
	start --user 54321 -d 60
	echo >&"$fb"; echo >&"$fa"; echo >&"$fc"
	finish
	run seen "$a"; echo "$output"; [[ "$output" == "$(mine 1) "* ]]
	run seen "$c"; echo "$output"; [[ "$output" == "$(mine 1) "* ]]
	run seen "$a" "$c"; echo "$output"; [ "$output" = "$(mine 2) []" ]
}

@test "--cgroup: with groups below it, and of what moves there" {
	need_root
	needs_memcg
	group=$MEMCG/pmm_filters.$$
	mkdir -p "$group/below"
	twin inside; local a=$twin fa=$fd
	twin below; local b=$twin fb=$fd
	twin outside; local fc=$fd
	twin later group "$group/below"; local d=$twin fd_=$fd
	echo "$a" >"$group/cgroup.procs"
	echo "$b" >"$group/below/cgroup.procs"
	start --cgroup "$group" -d 60
	echo >&"$fa"; echo >&"$fb"; echo >&"$fc"; echo >&"$fd_"
	finish
	local pid
	for pid in "$a" "$b" "$d"; do
		run seen "$pid"; echo "$output"; [[ "$output" == "$(mine 1) "* ]]
	done
	run seen "$a" "$b" "$d"; echo "$output"; [ "$output" = "$(mine 3) []" ]
	without_group "$group/below"
	without_group "$group"
	group=
}

@test "a command, whose process executes another program" {
	printf '\n\n' >"$T/line"
	timeout -k 5 60 "$PMM" trace all --counters page_faults --sample 1 --buffer 64M --json --top 0 -- \
		sh -c 'exec "$0" inside "$1" exec other <"$2"' "$PROG/trace_twin" "$T/file" "$T/line" >"$T/mixed" 2>"$T/err"
	grep '^{' "$T/mixed" >"$T/out"
	local pid; pid=$(jq -r 'select(.event == "exec").pid' "$T/out" | head -1)
	[ "$(count exec ".pid == $pid")" -eq 3 ]
	run seen "$pid"; echo "$output"; [ "$output" = "[12,12,4,4,160,4,4,160,9] []" ]
}

@test "an option of events that are not traced" {
	run "$PMM" trace mmap --older 5s -- true
	[ "$status" -eq 2 ]
	[ "${lines[0]}" = "pmm: '--older' needs one of these events: kernel, heap" ]
	run "$PMM" trace mmap,life --counters page_faults -- true
	[ "$status" -eq 2 ]
	[ "${lines[0]}" = "pmm: '--counters' needs one of these events: pmc" ]
	run "$PMM" trace mmap,brk --min-latency 10s -- true
	[ "$status" -eq 2 ]
	[ "${lines[0]}" = "pmm: '--min-latency' needs one of these events: reclaim, compaction, migrate" ]
	[ "${lines[1]}" = "pmm: hint: name it among the events, or leave the option out" ]
	run "$PMM" trace mmap --sample 5 -- true
	[ "$status" -eq 2 ]
	[ "${lines[0]}" = "pmm: '--sample' needs one of these events: faults, kernel" ]
	run "$PMM" trace mmap --objects 5 -- true
	[ "$status" -eq 2 ]
	[ "${lines[0]}" = "pmm: '--objects' needs one of these events: kernel" ]
	run "$PMM" trace reclaim --min-size 5 -- true
	[ "$status" -eq 2 ]
	[ "${lines[0]}" = "pmm: '--min-size' needs one of these events: mmap, brk, shm, stack, kernel, rss, cache, heap, libc" ]
}
