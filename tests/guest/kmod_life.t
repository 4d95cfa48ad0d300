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
