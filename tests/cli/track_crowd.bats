#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Very many processes at once, and the monitor's death under them.

load lib

all_captured() { [ "$(captures | wc -l)" -eq "$1" ]; }

@test "5000 children at once: each has its ledger" {
	local nr=5000
	(($(ulimit -Hn) >= 3 * nr + 500 && $(ulimit -Hu | sed s/unlimited/1000000/) >= 2 * nr)) ||
		skip "fewer than $((3 * nr + 500)) descriptors or $((2 * nr)) processes are allowed here (ulimit -Hn, -Hu)"
	(($(awk '/^MemAvailable/ { print $2 }' /proc/meminfo) >= 8000000)) || skip "less than 8 GB of memory are free"
	track crowd $nr
	[ "$STATUS" -eq 0 ] || { cat "$T/err"; return 1; }
	grep -qx "$nr at once" "$T/out"
	! grep 'could not be tracked' "$T/err" || return 1
	for ((i = 0; i < 600; i++)); do		# the last ones are written in the background
		all_captured $((nr + 1)) && break
		sleep 0.2
	done
	all_captured $((nr + 1))
	rm -rf "$T/cap"
}

@test "processes that come faster than they are captured: pmm keeps few of them at a time, and loses none" {
	local nr=6006 pid fds most=0
	(($(ulimit -Hn) >= 10000)) || skip "fewer than 10000 descriptors are allowed here (ulimit -Hn)"
	mkdir "$T/cap"
	"$PMM" run -q -o "$T/cap/%p.pmm" -- "$PROG/fork_rush" >"$T/out" 2>"$T/err" 3>&- &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do	# until it has ended, when what is left is heard at once
		fds=$(find "/proc/$pid/fd" -mindepth 1 2>/dev/null | wc -l)
		! kill -0 "$(pgrep -P "$pid" -x fork_rush | head -1)" 2>/dev/null || most=$((fds > most ? fds : most))
		sleep 0.1
	done
	wait "$pid"
	cat "$T/err"
	[ ! -s "$T/err" ]
	echo "$most descriptors"
	((most < 5000))
	for ((i = 0; i < 300; i++)); do
		all_captured $((nr + 1)) && break
		sleep 0.2
	done
	all_captured $((nr + 1))
	rm -rf "$T/cap"
}

# ended PID: it runs no more.
ended() { [ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }

# killed WHEN OPTION...: pmm is killed before the program ends, or while it waits at its end for a pmm that is stopped. Milliseconds that its end
# was late in LATE.
killed() {
	local when=$1 begin pid monitor waits=yes
	shift
	rm -f "$T/pid" "$T/go"
	mkfifo "$T/go"
	"$PMM" "$@" -o "$T/k.pmm" -- sh -c 'echo $$ >"$0"; read -r _ <"$1"; exit 3' "$T/pid" "$T/go" >/dev/null 2>&1 3>&- &
	monitor=$!
	await test -s "$T/pid"
	pid=$(cat "$T/pid")
	if [ "$when" = before ]; then
		kill -9 "$monitor"
		wait "$monitor" || true
		begin=$(date +%s%3N)
		echo >"$T/go"
	else
		kill -STOP "$monitor"
		await grep -q '^State:.T' "/proc/$monitor/status"
		echo >"$T/go"
		sleep 0.5
		! ended "$pid" || waits=no
		begin=$(date +%s%3N)
		kill -9 "$monitor"
		wait "$monitor" || true
	fi
	await ended "$pid"
	LATE=$(($(date +%s%3N) - begin))
	[ "$waits" = yes ] || LATE=never
}

# soon ARGUMENTS...: as killed, and the program's end is not late. A machine that does much else may be: it is tried some times.
soon() {
	local try
	for try in 1 2 3 4 5; do
		killed "$@"
		[ "$LATE" = never ] || ((LATE >= 3000)) || return 0
	done
	echo "$*: $LATE ms"
	return 1
}

@test "a monitor that dies is known at once: nobody waits for it at his end" {
	local when
	# who does not know it waits for four seconds
	for when in before waiting; do
		soon $when run -q --leaks
		soon $when check
	done
}
