#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What pmm attach refuses: exit code 3, the cause, and the process as it was.

load attach

# victim_refused PATTERN: and nothing has changed; ends the victim, with status 48.
victim_refused() {
	picture idle
	refused "$1" "$PMM" attach -d 1 "$PID"
	same_picture idle
	[ $# -lt 2 ] || finish "$2"
}

@test "no such process" {
	refused "no process|no such process|not exist" "$PMM" attach -d 1 4194303
	refused "no process|no such process|not exist" "$PMM" detach 4194303
}

@test "usage" {
	for bad in "" "x" "0" "-1" "1 2" "12x" "99999999999999999999"; do
		# shellcheck disable=SC2086
		run within "$PMM" attach $bad
		[ "$status" -eq 2 ] || { echo "attach $bad: $status $output"; return 1; }
	done
	run within "$PMM" attach -o "" $$
	[ "$status $output" = "2 pmm: the capture's name is empty
pmm: hint: name a file, such as pmm.%c.%p.pmm" ]
	run within "$PMM" detach nginx
	[ "$output" = "pmm: 'nginx' is not a process number
pmm: hint: 'pgrep -a nginx' lists the processes of that name with their numbers" ]
	run within "$PMM" attach "$T"
	[[ $output == *"hint: it is a file, and this command is about a running process"* ]]
	for bad in "-d x" "-d -1" "--expire x" "--sample=x" "--top x" "--nonsense"; do
		# shellcheck disable=SC2086
		run within "$PMM" attach $bad $$
		[ "$status" -eq 2 ] || { echo "attach $bad: $status $output"; return 1; }
	done
}

@test "a process that has ended and is not waited for" {
	start_zombie() { start attach_refuse zombie; }
	mkfifo "$T/in" "$T/out"
	"$PROG/attach_refuse" zombie <"$T/in" >"$T/out" 3>&- &
	PID=$!
	exec 7>"$T/in" 8<"$T/out"
	next_line 8 "$PID"
	zombie=${LINE#zombie }
	hear ready
	refused "ended" "$PMM" attach -d 1 "$zombie"
	finish 48
}

@test "another tracer" {
	start attach_victim
	trace_victim
	refused "$TRACER|attach_refuse|trac" "$PMM" attach -d 1 "$PID"
	grep -q "$TRACER" "$T/refused.err"
	grep -q "TracerPid:.$TRACER" "/proc/$PID/status"
	leave_victim
	clean
	tell g done
	finish 42
}

@test "a program for 32 bits" {
	gcc -m32 -O1 -fno-pie -no-pie -nostdlib -static -fno-stack-protector -o "$T/bare32" "$SOURCE/attach_bare.c" 2>/dev/null ||
		skip "gcc makes no programs for 32 bits"
	"$T/bare32" 3>&- &
	PID=$!
	await -p "$PID" grep -q bare32 "/proc/$PID/comm" || skip "the kernel runs no programs for 32 bits"
	refused "64-bit|32.bit" "$PMM" attach -d 1 "$PID"
	clean
	kill -0 "$PID"
}

@test "no allocator: says what was looked for" {
	"$PROG/attach_bare" 3>&- &
	PID=$!
	await -p "$PID" grep -q attach_bare "/proc/$PID/comm"
	picture idle
	refused "malloc" "$PMM" attach -d 1 "$PID"
	grep -q -- --alloc "$T/refused.err"
	same_picture idle
}

# filter_refuses KIND CALL: the filter does not allow that system call; the victim is as it was, and works.
filter_refuses() {
	need_root
	start attach_filter "$1" "$PROG/attach_victim"
	picture idle loose
	refused "process $PID has its system calls filtered \(seccomp\), and the filter does not simply allow '$2'" "$PMM" attach -d 1 "$PID"
	same_picture idle loose
	tell g done
	finish 42 "sum 41400"
}

@test "a seccomp filter without memfd_create" { filter_refuses memfd memfd_create; }
@test "a deadly seccomp filter without madvise" { filter_refuses madvise madvise; }
@test "a deadly seccomp filter without restart_syscall" { filter_refuses restart restart_syscall; }
@test "a seccomp filter that looks at what is mapped" { filter_refuses mmap mmap; }

# A timed call that is stopped goes on by restart_syscall: it begins anew instead, where that would be the end.
@test "a deadly seccomp filter without restart_syscall, in a timed call" {
	need_root
	"$PROG/attach_filter" restart "$(command -v sleep)" 1000 3>&- &
	PID=$!
	sleeps() { grep -q '^Name:.sleep' "/proc/$PID/status" && grep -q '^State:.S' "/proc/$PID/status"; }
	await -p "$PID" sleeps
	grep -q nanosleep "/proc/$PID/wchan" || skip "/proc does not say what it sleeps in"
	refused "'restart_syscall'" "$PMM" attach -d 1 "$PID"
	await -p "$PID" grep -q nanosleep "/proc/$PID/wchan"
}

@test "a seccomp filter that may not be read" {
	need_root
	need setpriv
	start attach_refuse filter
	picture idle
	refused "seccomp" setpriv --inh-caps -sys_admin --bounding-set -sys_admin "$PMM" attach -d 1 "$PID"
	grep -q "run pmm as root" "$T/refused.err"
	refused "seccomp" "$PROG/attach_filter" all "$PMM" attach -d 1 "$PID"
	grep -q "outside of containers" "$T/refused.err"
	same_picture idle
	finish 48
}

@test "memory that may not be made executable" {
	local kernel; kernel=$(uname -r)
	[ "$(printf '%s\n' 6.3 "$kernel" | sort -V | head -1)" = 6.3 ] || skip "PR_SET_MDWE takes Linux 6.3"
	start attach_refuse mdwe
	victim_refused "process $PID cannot make memory executable" 48
	grep -q "^pmm: hint: .*MemoryDenyWriteExecute=" "$T/refused.err"
}

@test "seccomp's strict mode" { start attach_refuse strict; victim_refused "seccomp" 48; }

@test "a kernel thread" {
	grep -q kthreadd /proc/2/comm 2>/dev/null || skip "no kernel threads are seen here"
	refused "kernel" "$PMM" attach -d 1 2
}

@test "itself" {
	refused "itself" bash -c 'exec "$0" attach -d 1 $$' "$PMM"
}

@test "a process that pmm run watches" {
	start_below "$PMM" run -q -o "$T/run.pmm" -- "$PROG/attach_victim"
	victim_run=$PID
	refused "pmm run|tracked|already|preload" "$PMM" attach -d 1 "$PID"
	PID=$victim_run
	tell g done
	finish 42
}

@test "output that cannot be written: nothing is done to the process" {
	start attach_victim
	picture idle
	refused "no/such" "$PMM" attach -d 1 -o /no/such/dir/c.pmm "$PID"
	same_picture idle
	finish 42
}

GROUP=
teardown() {
	[ -z "$GROUP" ] || echo "$THAWED" >"$FREEZER"
	stop_all
	[ -z "$GROUP" ] || await rmdir "$GROUP" 2>/dev/null
}

# freeze DIR FILE WORD THAWED: the victim goes into a control group of its own below that, which is frozen.
freeze() {
	GROUP=$1/pmm-test-$PID
	FREEZER=$GROUP/$2
	THAWED=$4
	[ -n "$1" ] && mkdir "$GROUP" 2>/dev/null && [ -w "$FREEZER" ] || { GROUP=; skip "no control group that can be frozen in '$1'"; }
	echo "$PID" >"$GROUP/cgroup.procs"
	echo "$3" >"$FREEZER"
}

# frozen DIR FILE WORD EVENT LINE THAWED: it is refused as long as the group is frozen, and no longer.
frozen() {
	need_root
	start attach_victim
	freeze "$1" "$2" "$3" "$6"
	await -p "$PID" grep -q -x "$5" "$GROUP/$4"
	refused_with 3 "process $PID is frozen with its control group" "$PMM" attach -d 100ms "$PID"
	grep -q -x "pmm: hint: thaw '$GROUP', or the group above it that was frozen, and try again" "$T/said"
	refused_with 3 "process $PID is frozen with its control group" "$PMM" detach "$PID"
	echo "$THAWED" >"$FREEZER"
	picture first loose
	within "$PMM" attach -q -d 100ms "$PID"
	same_picture first loose
	tell g done
	finish 42
}
@test "frozen, version 2" { frozen "$(findmnt -n -t cgroup2 -o TARGET | head -1)" cgroup.freeze 1 cgroup.events "frozen 1" 0; }
@test "frozen, version 1" { frozen /sys/fs/cgroup/freezer freezer.state FROZEN freezer.state FROZEN THAWED; }

@test "the child of a tracked program, before it has a ledger: each command says so" {
	local child how status=0
	for how in run check; do
		mkfifo "$T/$how.in"
		"$PMM" $how -o "$T/$how.%p.pmm" -- "$PROG/quiet_child" <"$T/$how.in" >"$T/$how.out" 2>"$T/$how.err" 3>&- &
		PID=$!
		exec 7>"$T/$how.in"
		await -p "$PID" test -s "$T/$how.out"
		read -r child <"$T/$how.out"
		refused_with 3 "process $child was started by 'pmm run' or 'pmm check'" "$PMM" attach -d 100ms "$child"
		for command in report leaks check snapshot; do
			refused_with 3 "process $child has allocated nothing since it was forked" "$PMM" "$command" "$child"
		done
		exec 7>&-
		wait "$PID" || status=$?
		PID=
		[ "$status" -eq 7 ]
		found "$T/$how.$child.pmm" site in_child allocs=10 live=1000
	done
}

@test "a process that has ended, whose parent does not ask: each command says so" {
	local child
	sh -c 'true & exec sleep 100' 3>&- &
	PID=$!
	zombie() { child=$(cat "/proc/$PID/task/$PID/children") && grep -q -w 'Z (zombie)' "/proc/${child% }/status"; }
	await -p "$PID" zombie
	for command in attach report leaks check snapshot detach; do
		refused_with 3 "process ${child% } has ended" "$PMM" "$command" "${child% }"
	done
}

@test "no agent" {
	start attach_victim
	picture idle
	PMM_INJECT=/no/such/agent.so refused "no/such/agent" "$PMM" attach -d 1 "$PID"
	same_picture idle
	finish 42
}
