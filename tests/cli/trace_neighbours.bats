#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace beside others, and of processes that are not plain: namespaces, debuggers, other users, many of them, none.

bats_require_minimum_version 1.5.0
load lib
load trace

setup() { needs_bpf; }

# what sleeps for long
teardown() { [ -z "${parent:-}" ] || kill "$parent"; }

# names EVENT: the commands of its lines, sorted, and how often each.
names() { jq -r "select(.event == \"$1\") | .command" "$T/out" | sort | uniq -c | awk '{ print $2 "=" $1 }' | xargs; }

# A process that waits for a line in $T/go, then is trace_calls N; its number in $victim.
waiting() {
	mkfifo "$T/go"
	bash -c 'read -r _ <"$0"; exec "$1" "$2"' "$T/go" "$PROG/trace_calls" "$1" 3>&- & victim=$!
}

# in_place PID MESSAGES: the pmm of that number, which writes its messages there, has its programs in the kernel.
in_place() { await -p "$1" grep -q '^pmm: tracing ' "$2"; }

# following OPTION...: traced life of processes that read to the end of $T/end, which comes when all is in place.
following() {
	local tracer
	rm -f "$T/err"
	"$PMM" trace life --json --top 0 "$@" >"$T/out" 2>"$T/err" 3>&- 9>&- & tracer=$!
	in_place "$tracer" "$T/err"
	exec 9>&-
	wait "$tracer"
}

@test "three at once on one process: each has all" {
	local i tracer=()
	waiting 100
	for i in 1 2 3; do
		"$PMM" trace mmap,life --json --top 0 -p "$victim" >"$T/out.$i" 2>"$T/err.$i" 3>&- & tracer[i]=$!
	done
	for i in 1 2 3; do in_place "${tracer[i]}" "$T/err.$i"; done
	echo >"$T/go"
	wait "$victim" || [ "$?" -eq 3 ]
	for i in 1 2 3; do
		wait "${tracer[i]}"
		mv "$T/out.$i" "$T/out"
		[ "$(count mremap .)" -eq 101 ]
		[ "$(count munmap '.error == "EINVAL"')" -eq 101 ]
		[ "$(result '.coverage.lost_in_ring + .coverage.lost_in_tables + .coverage.missed_by_recursion')" -eq 0 ]
	done
}

@test "a process that gdb has stopped and lets go on" {
	need gdb
	local tracer
	waiting 100
	"$PMM" trace mmap --json --top 0 -p "$victim" >"$T/out" 2>"$T/err" 3>&- & tracer=$!
	in_place "$tracer" "$T/err"
	# the line comes once gdb has it: the shell that writes it waits for who reads
	within gdb -batch -nx -iex 'set debuginfod enabled off' -p "$victim" -ex 'catch exec' -ex "shell echo >'$T/go' &" -ex continue -ex delete \
		-ex 'break munmap' -ex continue -ex delete -ex detach >"$T/gdb" 2>&1 3>&-
	wait "$victim" || [ "$?" -eq 3 ]
	wait "$tracer"
	[ "$(count mremap .)" -eq 101 ]
	[ "$(count munmap '.error == "EINVAL"')" -eq 101 ]
}

@test "a pid namespace inside: numbers are pmm's" {
	need_root
	traced 0 life -- unshare -p --fork --mount-proc sh -c 'sh -c "exit 7"; :'
	[ "$(names exec)" = "sh=2 unshare=1" ]
	local shell
	shell=$(jq -r 'select(.event == "exit" and .exit_status == 7).parent_pid' "$T/out")
	[ "$(count exec ".pid == $shell and .command == \"sh\"")" -eq 1 ]
	[ "$(count fork ".pid == $shell")" -eq 1 ]
	[ "$shell" -gt 2 ]
}

@test "pmm in a pid namespace: numbers are those of it, children are traced" {
	need_root
	timeout -k 5 60 unshare -p --fork --mount-proc "$PMM" trace life,mmap --json --top 0 -- sh -c 'sh -c "exit 7"; "$0" 10; :' "$PROG/trace_calls" >"$T/out"
	[ "$(jq -c 'select(.event == "exec") | [.pid, .parent_pid, .command]' "$T/out" | xargs)" = "[2,1,sh] [3,2,sh] [4,2,trace_calls]" ]
	[ "$(jq -c 'select(.event == "fork") | [.pid, .child_pid]' "$T/out" | xargs)" = "[2,3] [2,4] [4,5]" ]
	[ "$(count exit '.pid == 3 and .exit_status == 7')" -eq 1 ]
	[ "$(count mremap '.pid == 4')" -eq 10 ]
	[ "$(count mremap '.pid == 5')" -eq 1 ]
}

@test "pmm in a pid namespace, and one more inside of it" {
	need_root
	timeout -k 5 60 unshare -p --fork --mount-proc "$PMM" trace life,mmap --json --top 0 -- \
		unshare -p --fork --mount-proc sh -c '"$0" 10; :' "$PROG/trace_calls" >"$T/out"
	[ "$(jq -c 'select(.event == "exec") | [.pid, .parent_pid, .command]' "$T/out" | xargs)" = "[2,1,unshare] [3,2,sh] [4,3,trace_calls]" ]
	[ "$(count mremap '.pid == 4')" -eq 10 ]
	[ "$(count mremap '.pid == 5')" -eq 1 ]
}

@test "pmm in a pid namespace does not see those outside" {
	need_root
	"$PROG/trace_calls" 20000 3>&- & local other=$!
	timeout -k 5 60 unshare -p --fork --mount-proc "$PMM" trace mmap --json --top 0 --all --duration 300ms >"$T/out"
	wait "$other" || :
	[ "$(count mremap .)" -eq 0 ]
}

@test "a filter holds for each process, and children of others are followed" {
	need_root
	traced 0 life,mmap --command trace_calls -- sh -c 'sh -c "\"$0\" 10; :" "$0"; :' "$PROG/trace_calls"
	[ "$(names exec)" = "trace_calls=1" ]
	[ "$(count mremap .)" -eq 11 ]
	traced 0 life,mmap --user 65534 -- \
		sh -c 'setpriv --reuid=65534 --clear-groups sh -c "\"$0\" 10; :" "$0"; "$0" 20; :' "$PROG/trace_calls"
	[ "$(count mremap .)" -eq 11 ]
	[ "$(names exec)" = "sh=1 trace_calls=1" ]
}

@test "a control group that a child joins, one below it, and the way out" {
	need_root
	needs_memcg
	mkdir -p "$MEMCG/pmm_a.$$/pmm_b"
	cat >"$T/joins" <<-'JOINS'
		#!/bin/sh
		echo $$ >"$3/cgroup.procs"
		"$1" "$2"
		:
	JOINS
	chmod +x "$T/joins"
	# the first one stays outside, the second one is in it, the third one below it, which counts, too
	traced 0 life,mmap --cgroup "$MEMCG/pmm_a.$$" -- \
		sh -c '"$0" 10; "$1" "$2" 20 "$3"; "$1" "$2" 40 "$3/pmm_b"; :' "$PROG/trace_calls" "$T/joins" "$PROG/trace_calls" "$MEMCG/pmm_a.$$"
	without_group "$MEMCG/pmm_a.$$/pmm_b"
	without_group "$MEMCG/pmm_a.$$"
	[ "$(count mremap .)" -eq 62 ]
	[ "$(names exec)" = "trace_calls=2" ]
}

@test "a thousand children that end at once" {
	traced 0 life -- bash -c 'for ((i = 0; i < 1000; i++)); do /bin/true; done; exit 0'
	[ "$(count exec .)" -eq 1001 ]
	[ "$(count fork .)" -eq 1000 ]
	[ "$(count exit '.thread == false')" -eq 1001 ]
	[ "$(names exec)" = "bash=1 true=1000" ]
	[ "$(result .coverage.seen)" -eq "$(jq -c 'select(.event)' "$T/out" | wc -l)" ]
}

@test "many processes are given; the trace ends with the last" {
	local i all=()
	mkfifo "$T/end"
	exec 9<>"$T/end"
	for ((i = 0; i < 60; i++)); do
		cat <"$T/end" 3>&- 9>&- &
		all+=(-p $!)
	done
	following "${all[@]}"
	[ "$(count exit .)" -eq 60 ]
	[ "$(result .coverage.scope)" = "60 processes and their children" ]
}

@test "what is no process, has ended, is given twice, or is the kernel's" {
	run -3 timeout 60 "$PMM" trace life -p 4194304
	[ "${lines[0]}" = "pmm: no process 4194304" ]
	run -2 timeout 60 "$PMM" trace life -p 0
	mkfifo "$T/end"
	exec 9<>"$T/end"
	cat <"$T/end" 3>&- 9>&- & local victim=$!
	following -p "$victim" -p "$victim"
	[ "$(count exit .)" -eq 1 ]
	[ "$(result .coverage.scope)" = "process $victim and its children" ]
	# a zombie has ended
	python3 -c 'import os, sys, time
p = os.fork() or os._exit(0)
print(p, flush=True)
time.sleep(1000)' >"$T/zombie" 3>&- & parent=$!
	until [ -s "$T/zombie" ] && grep -q '^State:.Z' "/proc/$(cat "$T/zombie")/status"; do sleep 0.02; done
	traced 0 life -p "$(cat "$T/zombie")"
	[ "$(result .coverage.seen)" -eq 0 ]
	kill "$parent"
	parent=
	traced 0 life -p 2 --duration 100ms
}

@test "a thread's number is none of a process, which is said" {
	python3 -c 'import threading, time
t = threading.Thread(target=lambda: (print(threading.get_native_id(), flush=True), time.sleep(1000)), daemon=True)
t.start(); time.sleep(1000)' >"$T/tid" 3>&- & parent=$!
	await -p "$parent" grep -q . "$T/tid"
	run -3 timeout 60 "$PMM" trace life -p "$(cat "$T/tid")"
	[ "${lines[0]}" = "pmm: $(cat "$T/tid") is a thread of process $parent" ]
	[ "${lines[1]}" = "pmm: hint: give the process: '--pid $parent'" ]
}

@test "a process that ends while the trace begins" {
	local i
	for i in 0.01 0.05 0.1 0.2 0.3; do
		sleep "$i" 3>&- &
		timeout -k 5 60 "$PMM" trace life --summary -p $! >"$T/out" 2>"$T/err" || { [ $? -eq 3 ] && grep -qx "pmm: no process $!" "$T/err"; }
	done
}
