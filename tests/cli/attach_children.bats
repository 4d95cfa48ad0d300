#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm attach on processes that fork and call exec while they are watched.

load attach

# forked: the victim forks while it is watched; PARENT and PID are the two then.
forked() {
	start attach_victim
	watch
	tell g done
	tell k forked
	TOP=$PID PARENT=$PID
	PID=$(cat "/proc/$PARENT/task/$PARENT/children")
	PID=${PID% }
}

@test "a child forked while watched goes on after the detach, and can be attached to itself" {
	forked
	tell g done
	unwatch
	(PID=$PARENT clean)
	tell g done
	found "$T/c.pmm" total allocs=1434 live=57784
	watch
	tell g done
	unwatch
	clean
	found "$T/c.pmm" total allocs=1434 frees=1258 untracked=64 live=57784
	finish 42 "sum 165600"
}

@test "pmm detach of a child that was forked while its parent was watched" {
	forked
	kill_monitor
	tell g done
	within "$PMM" detach "$PARENT"
	within "$PMM" detach "$PID"
	clean
	(PID=$PARENT clean)
	tell g done
	finish 42 "sum 124200"
}

@test "the process runs another program meanwhile" {
	start attach_victim
	watch
	tell g done
	tell x ready
	wait "$MONITOR" || [ $? -eq 1 ]
	MONITOR=
	grep -q "another program" "$T/watch.err"
	clean
	tell g done
	check "$T/c.pmm" <<<"$(expected attach_victim.c)"
	finish 42 "sum 41400"
}

@test "the process runs another program just before the end" {
	start attach_victim
	watch
	tell g done
	halt "$MONITOR"		# else it may notice before it is told to end
	tell x ready
	kill -INT "$MONITOR"
	kill -CONT "$MONITOR"
	wait "$MONITOR" || [ $? -eq 1 ]
	MONITOR=
	grep -q "another program" "$T/watch.err"
	! grep -q "as it was" "$T/watch.err" || return 1
	check "$T/c.pmm" <<<"$(expected attach_victim.c)"
	finish 42 "sum 0"
}
