#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The end of a process noticed, on all ways out, without the program's seeing anything of it (src/track/leaving.h, agent/preload/leave.h),
# through tests/prog/leave_driver. What is made of it: leaks_exit.bats.

load lib

AGENT=${PMM_AGENT:-$(dirname "$PMM")/libpmm.so}

setup() { cd "$T" || return 1; }

# both [-DRIVEROPTION...] ARG...: leave_exit natively and seen off: same output, messages and status; ends are in $T/ends.
both() {
	local options=() native=0 seen=0
	while [[ $1 == -* ]]; do options+=("$1"); shift; done
	rm -f ends
	within "$PROG/leave_exit" "$@" >native.out 2>native.err </dev/null || native=$?
	within "$PROG/leave_driver" "${options[@]}" ends "$AGENT" "$PROG/leave_exit" "$@" >seen.out 2>seen.err </dev/null || seen=$?
	[ "$native" -eq "$seen" ] || { echo "$*: status $seen, natively $native"; return 1; }
	cmp native.out seen.out && cmp native.err seen.err
}

# ends LINE...: exactly these were seen.
ends() {
	diff <(printf '%s\n' "$@") ends
}

@test "main returns: its frame is dead" {
	both return
	ends "leave_exit return from main 0 main held="
	both return closed
	ends "leave_exit return from main 0 main held="
}

@test "exit, _exit, _Exit, quick_exit: what the caller has in frames and registers is held" {
	both exit
	ends "leave_exit exit() 3 main held=123"
	both _exit
	ends "leave_exit _exit() 5 main held=123"
	both _Exit
	ends "leave_exit _exit() 6 main held=123"
	both quick_exit
	ends "leave_exit quick_exit() 7 main held=123"
}

@test "exit called by the C library and exit_group through syscall: nothing is taken for dead" {
	both err
	ends "leave_exit exit() 0 main held="
	both syscall
	ends "leave_exit syscall(SYS_exit_group) 8 main held="
}

@test "another thread ends the process" {
	both exit thread
	ends "leave_exit exit() 3 other held=3"
	both _exit thread
	ends "leave_exit _exit() 5 other held=3"
	both segv thread
	ends "leave_exit death by a signal 11 other held=3"
	both trap thread
	ends "leave_exit death by a signal 5 other held=3"
}

@test "a hundred other threads" {
	both exit threads
	ends "leave_exit exit() 3 main held=123"
	both raise threads
	ends "leave_exit death by a signal 15 main held=123"
}

@test "deadly signals: by fault, by kill, real-time, abort" {
	both segv
	ends "leave_exit death by a signal 11 main held=123"
	both trap
	ends "leave_exit death by a signal 5 main held=123"
	both raise
	ends "leave_exit death by a signal 15 main held=123"
	both realtime
	grep -q "^leave_exit death by a signal 37 main held=123$" ends
	both abort
	grep -q "^leave_exit death by a signal 6 main held=123$" ends
}

@test "what cannot be seen: SIGKILL and a stack that has run over" {
	both kill
	[ ! -s ends ]
	both overflow
	[ ! -s ends ]
}

@test "the program's own wishes for signals count, and it sees only those" {
	both raise handler
	ends "leave_exit _exit() 44 main held=123"
	both raise ignored
	ends "leave_exit return from main 0 main held="
	both raise once
	grep -q "^leave_exit death by a signal 15 main held=123$" ends
	both raise seen
	ends "leave_exit death by a signal 15 main held=123"
}

@test "a deadly signal stays what it is where the alternate stack is too small for a handler" {
	both raise cramped
	ends "leave_exit death by a signal 15 main held=123"
}

@test "forked children are seen off each, children made by vfork not" {
	both exit fork
	ends "leave_exit exit() 3 main held=123" "leave_exit return from main 0 main held="
	both segv fork
	ends "leave_exit death by a signal 11 main held=123" "leave_exit return from main 0 main held="
	both return vfork
	ends "leave_exit return from main 0 main held="
}

@test "all processes of a shell's script" {
	printf 'for i in 1 2 3 4 5 6; do "%s" exit; (:); done | tail -n +1\nexec "%s" _exit\n' "$PROG/leave_exit" "$PROG/leave_exit" >script
	local status=0
	within "$PROG/leave_driver" ends "$AGENT" /bin/sh script >out || status=$?
	[ "$status" -eq 5 ]
	[ "$(grep -c before out)" -eq 6 ]
	[ "$(grep -c "^leave_exit exit() 3" ends)" -eq 6 ]
	[ "$(grep -c "^leave_exit _exit() 5" ends)" -eq 1 ]
}

@test "signals that come while the process waits are handled" {
	within "$PROG/leave_driver" -s 1000 ends "$AGENT" "$PROG/leave_exit" return timer >out || [ $? -eq 12 ]
	ends "leave_exit return from main 0 main held="
	[ "$(grep -c signal out)" -ge 3 ]
	grep -q before out
}

@test "threads end the process at the same moment: the first one's way counts" {
	local status number
	for ((i = 0; i < 20; i++)); do
		status=0
		within "$PROG/leave_driver" ends "$AGENT" "$PROG/leave_race" >out 2>&1 || status=$?
		[ "$(wc -l <ends)" -eq 1 ]
		number=$(sed 's/.* \([0-9]*\) [a-z]* held=$/\1/' ends)
		! grep -q signal ends || number=$((128 + number))
		[ "$number" -eq "$status" ] || { cat ends; echo "status $status"; return 1; }
	done
}

@test "a deadly signal that comes while the process waits is too late" {
	local status=0
	within "$PROG/leave_driver" -t -s 300 ends "$AGENT" "$PROG/leave_exit" exit >out || status=$?
	[ "$status" -eq 3 ]
	printf 'handler\ndestructor\nbefore\n' | cmp - out
}

@test "a long search is waited for" {
	both -s6000 exit
	ends "leave_exit exit() 3 main held=123"
}

@test "it is killed while it waits" {
	local status=0
	within "$PROG/leave_driver" -k ends "$AGENT" "$PROG/leave_exit" exit >out || status=$?
	[ "$status" -eq 137 ]
}

@test "the monitor is killed while it waits: it goes on, and nothing is lost" {
	local status=0
	within "$PROG/leave_driver" -K ends "$AGENT" "$PROG/leave_exit" exit | cat >out
	printf 'handler\ndestructor\nbefore\n' | cmp - out	# cat ends when the program has
}

@test "the process and the monitor are stopped, then go on" {
	"$PROG/leave_driver" ends "$AGENT" "$PROG/leave_exit" sleep >out &
	local monitor=$! victim status=0
	pauses() { victim=$(pgrep -P "$monitor" -x leave_exit) && [ "$(cut -d' ' -f1 "/proc/$victim/syscall")" = 34 ]; }
	await -p "$monitor" pauses
	kill -STOP "$victim" "$monitor"
	kill -TERM "$victim"
	kill -CONT "$victim" "$monitor"
	wait "$monitor" || status=$?
	[ "$status" -eq 143 ]
	grep -q "^leave_exit death by a signal 15 main held=123$" ends
}

@test "a deadly signal leaves the core file it would" {
	[ "$(cat /proc/sys/kernel/core_pattern)" = core ] || skip "core files do not go to the working directory here"
	ulimit -c unlimited || skip "no core files allowed"
	need gdb
	"$PROG/leave_driver" ends "$AGENT" "$PROG/leave_exit" segv thread || [ $? -eq 139 ]
	[ -s ends ]
	local core
	core=$(find . -name "core*")
	within gdb -batch -ex bt "$PROG/leave_exit" "$core" >trace 2>&1
	grep -q SIGSEGV trace
	grep -q "#0 .* end (" trace || { cat trace; return 1; }
}
