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

test_log_of_the_dead()
{
	loaded
	/prog/kmod_life forgotten
}

test_number_used_again()
{
	loaded
	/prog/kmod_life reused
}

test_stop_and_start()
{
	loaded
	/prog/kmod_life stopped
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
