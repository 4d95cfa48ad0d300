#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm attach where it may have few descriptors: whom it attaches to it leaves again.

load attach

# close_all: all descriptors but the first three, whoever has left them open.
close_all() {
	local fd
	for fd in "/proc/$BASHPID/fd/"*; do
		fd=${fd##*/}
		((fd < 3 || fd == 255)) || eval "exec $fd>&-"
	done
}

# limited LIMITS [OPTION...]: attach for a moment with those limits (ulimit). Sets STATUS; messages in $T/err.
limited() {
	local limits=$1
	shift
	STATUS=0
	# shellcheck disable=SC2086
	(close_all; ulimit $limits; exec "$PMM" attach -d 50ms "$@" "$PID") >"$T/said" 2>"$T/err" </dev/null || STATUS=$?
}

# of_16 OPTION...: with a hard limit of 16 it does all, with less nothing, and says why.
of_16() {
	local limit
	start attach_victim
	picture first loose
	for limit in {4..20}; do
		limited "-n $limit" "$@"
		if [ "$limit" -lt 16 ]; then
			[ "$STATUS" -eq 3 ]
			[ "$(cat "$T/err")" = "pmm: too few file descriptors to attach and to detach again: Too many open files
pmm: hint: pmm needs 16 in all, and some more for names: raise its hard limit (ulimit -Hn)" ]
		else
			[ "$STATUS" -eq 0 ] || { cat "$T/err"; return 1; }
			grep -q "^pmm: detached: process $PID is as it was" "$T/err"
		fi
		same_picture first loose
	done
	tell g done
	finish 42
}

@test "each hard limit from 4 to 20" { of_16; }
@test "each hard limit from 4 to 20, with guarded blocks" { of_16 --check --sample=1; }

@test "a soft limit is raised, and the process keeps its own" {
	start attach_victim
	prlimit --pid "$PID" --nofile=99:199
	limited "-S -n 4"
	[ "$STATUS" -eq 0 ] || { cat "$T/err"; return 1; }
	clean
	[ "$(awk '/^Max open files/ { print $4, $5 }' "/proc/$PID/limits")" = "99 199" ]
	tell g done
	finish 42
}

@test "a process that has none left: what to do" {
	start attach_victim
	prlimit --pid "$PID" --nofile=3:
	limited ""
	[ "$STATUS" -eq 3 ]
	grep -q -x "pmm: process $PID cannot make a memory file: Too many open files" "$T/err"
	grep -q -x "pmm: hint: .* raise its limit (prlimit --pid $PID --nofile=NUMBER)" "$T/err"
	clean
	prlimit --pid "$PID" --nofile=10:
	limited ""
	[ "$STATUS" -eq 0 ]
	clean
	tell g done
	finish 42
}
