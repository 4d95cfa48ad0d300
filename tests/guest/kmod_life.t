# SPDX-License-Identifier: GPL-2.0-or-later
# Lives of processes that /kmod/pmm.ko monitors.

loaded() { insmod /kmod/pmm.ko interval_ms=20 "$@"; }

test_fork()
{
	loaded
	/prog/kmod_life forked
}

test_exec()
{
	loaded
	/prog/kmod_life executed
}

test_ring_of_the_program_before()
{
	loaded
	/prog/kmod_life left
}

test_ends()
{
	loaded
	/prog/kmod_life ended
}

# With scanning off, ends are seen as well.
test_ends_without_scanning()
{
	loaded scan=0
	/prog/kmod_life ended
}

# The shell waits for each of them while it waits for grep.
test_text_of_ends()
{
	loaded
	for status in 0 3; do
		sh -c "until [ -e go.$status ]; do sleep 0.1; done; exit $status" &
		echo "START_PID $!" >/proc/pmm/cfg
		touch go.$status
		await grep -q "^\[.*\] PID: $!, .* State: exited (status $status), Log count: 0, 0 bytes\$" /proc/pmm/pid
	done
	sleep 1000 &
	echo "START_PID $!" >/proc/pmm/cfg
	kill -15 $!
	await grep -q "^\[3\] PID: $!, .* State: killed (signal 15), Log count: 0, 0 bytes\$" /proc/pmm/pid
	await grep -q "^pid=$! .* state=killed status=15 number=3 " /proc/pmm/summary
}

test_log_of_the_dead()
{
	loaded
	/prog/kmod_life forgotten
}

test_first_thread_ends()
{
	loaded
	/prog/kmod_life leader
}

test_number_used_again()
{
	loaded
	/prog/kmod_life reused
}

test_number_used_twice()
{
	loaded
	/prog/kmod_life twice
}

test_clear()
{
	loaded scan=0
	/prog/kmod_life cleared
}

test_ring_that_goes()
{
	loaded scan=0
	/prog/kmod_life torn
}

test_ring_that_is_read()
{
	loaded scan=0
	/prog/kmod_life at_once
}

test_stop_and_start()
{
	loaded
	/prog/kmod_life stopped
}

# Who reads goes on to the others behind one that begins anew at their end, and then comes to that.
test_begun_anew_while_it_is_read()
{
	loaded scan=0
	/prog/kmod_hold 1000 &
	first=$!
	await grep -q "^pid=$first .* entries=1000 " /proc/pmm/summary
	sleep 1000 &
	second=$!
	echo "START_PID $second" >/proc/pmm/cfg
	exec 4</proc/pmm/pid
	dd bs=4096 count=1 <&4 >piece 2>/dev/null
	echo "STOP_PID $first" >/proc/pmm/cfg
	is "shown" "$(sed 's/ .*//' /proc/pmm/summary)" "pid=$second"
	echo "START_PID $first" >/proc/pmm/cfg
	cat <&4 >rest
	exec 4<&-
	is "processes" "$(sed -n 's/^\[\([0-9]*\)\] PID: \([0-9]*\), .*Log count: \([0-9]*\), .*/\1 \2 \3/p' piece rest)" "1 $first 1000
2 $second 0
3 $first 0"
	kill $first $second
}

test_too_many()
{
	loaded processes=3
	for n in 1 2 3; do
		sleep 1000 &
		echo "START_PID $!" >/proc/pmm/cfg
	done
	sleep 1000 &
	! echo "START_PID $!" >/proc/pmm/cfg || fail "a fourth one"
	! /prog/kmod_hold 1 >out || fail "a fourth one by itself"
	has out 'is -87, must be 0'
	is "processes" "$(wc -l </proc/pmm/summary)" 3
}

# Three quarters of the table are for processes that begin by themselves; for another one of them the oldest of theirs that is dead goes.
test_the_dead_give_way()
{
	loaded processes=4
	first=
	for n in 1 2 3; do
		/prog/kmod_hold 1 >/dev/null &
		first=${first:-$!}
		await grep -q "^pid=$! .* entries=1 " /proc/pmm/summary
	done
	! /prog/kmod_hold 1 >out || fail "a fourth one by itself"
	has out 'is -87, must be 0'
	kill $first
	await grep -q "^pid=$first .* state=killed " /proc/pmm/summary
	/prog/kmod_hold 1 >/dev/null &
	await grep -q "^pid=$! .* entries=1 " /proc/pmm/summary
	is "processes" "$(grep -c . /proc/pmm/summary) $(grep -c "^pid=$first " /proc/pmm/summary || :)" "3 0"
}

test_the_dead_of_an_administrator_stay()
{
	loaded processes=4
	sleep 1000 &
	dead=$!
	echo "START_PID $dead" >/proc/pmm/cfg
	for n in 1 2; do
		/prog/kmod_hold 1 >/dev/null &
		await grep -q "^pid=$! .* entries=1 " /proc/pmm/summary
	done
	kill $dead
	await grep -q "^pid=$dead .* state=killed " /proc/pmm/summary
	! /prog/kmod_hold 1 >out || fail "in the place of another's"
	has out 'is -87, must be 0'
	sleep 1000 &
	echo "START_PID $!" >/proc/pmm/cfg
	is "processes" "$(grep -c . /proc/pmm/summary) $(grep -c "^pid=$dead " /proc/pmm/summary)" "4 1"
}
