#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Processes that outlive the program that was started: what is said of them, and --wait, which covers them.

bats_require_minimum_version 1.5.0
load lib

setup() {
	cd "$T"
	mkfifo go
	exec 9<>go
	DAEMON=("$PROG/daemon_told" "$T/go") BY=()
}

teardown() {
	echo end. >&9
	exec 9>&-
}

# leaves COMMAND OPTION...: the program's end is that of pmm, which says where the rest is found. PID is the daemon's.
leaves() {
	local status=0
	within "$PMM" "$@" -- "${DAEMON[@]}" >out 2>said 9>&- </dev/null || status=$?
	[ "$status" -eq 4 ] || { echo "status $status"; cat said; return 1; }
	PID=$(sed -n "s/^pmm: hint: 'pmm $1 \([0-9]*\)'.*/\1/p" said)
	[ -d "/proc/$PID" ]
}

# waits COMMAND OPTION...: MONITOR, which stays; returns when the program, behind the words of BY, has ended, and PID, the daemon, goes on.
waits() {
	"$PMM" "$1" --wait "${@:2}" -- "${BY[@]}" "${DAEMON[@]}" >out 2>said 9>&- </dev/null &
	MONITOR=$!
	await -p "$MONITOR" stays
}

# Is SIGINT for the monitor? Until the program has ended it is ignored, as the shell has it ignored for what is in the background.
stays() {
	((!(16#$(sed -n 's/^SigIgn:\t//p' "/proc/$MONITOR/status") & 2))) && PID=$(pgrep -n -f "^${DAEMON[*]}\$")
}

# ended STATUS: it has ended with that.
ended() {
	local status=0
	await test ! -e "/proc/$MONITOR/exe" || { kill -KILL "$MONITOR"; return 1; }
	wait "$MONITOR" || status=$?
	[ "$status" -eq "$1" ] || { echo "status $status, not $1"; cat said; return 1; }
}

# has LINE...: each is said, as a whole line.
has() {
	local line
	for line; do grep -q -x -E -- "$line" said || { echo "must be said: $line"; cat said; return 1; }; done
}

says() { grep -q -- "$1" said; }
runs() { [ -e "/proc/$PID/exe" ]; }	# which a zombie has not

# overruns_later: the hint names the capture, c.PID.pmm, in which the daemon's error is at its end.
overruns_later() {
	has "pmm: hint: 'pmm check $PID' shows what was found in process $PID so far; its capture shows all once it has ended"
	printf 'over\nend.\n' >&9
	await test -s "c.$PID.pmm"
	within "$PMM" check "c.$PID.pmm" >look || [ $? -eq 1 ]
	grep -q 'heap overrun, found in over' look
}

@test "without --wait pmm ends with the program, and says what shows the rest, and until when" {
	leaves check
	has '  processes  2, 1 checked|pmm: 1 of 2 processes checked: .*' 'pmm: 1 process not checked: daemon_told \(still running\)' \
		"pmm: hint: 'pmm check $PID' shows what was found in process $PID so far; when it ends all is lost: --wait waits for that, -o keeps a capture"
	echo over >&9
	met() { ! "$PMM" check "$PID" >look && grep -q 'heap overrun, found in over' look; }
	await met
	leaves leaks
	has "pmm: hint: 'pmm leaks $PID' shows what process $PID has lost so far; when it ends all is lost: --wait waits for that, -o keeps a capture"
}

@test "of several that go on each is named" {
	DAEMON=(sh -c 'for i in 1 2 3; do "$@" & done; exit 4' sh "${DAEMON[@]}")
	leaves check
	has "pmm: hint: the same holds for 2 other processes that still run: [0-9]+, [0-9]+"
	sed -n 's/^pmm: hint: the same .*: \(.*\), \(.*\)/\1 \2/p' said >others
	for PID in $(cat others); do runs && [ "$(ps -o args= -p "$PID")" = "${DAEMON[*]: -2}" ]; done
	printf 'end.\nend.\n' >&9
}

@test "no hint leads to a process that is not tracked" {
	"$PMM" check -- sh -c '"$@"; exit' sh "$PROG/daemon_told_static" "$T/go" >out 2>said 9>&- || [ $? -eq 4 ]
	has 'pmm: WARNING: 1 program was not tracked: daemon_told_static \(static\)' 'pmm: 1 process not checked: daemon_told_sta \(still running\)'
	run ! grep 'pmm check' said
}

@test "with -o what is found later is in the daemon's capture" {
	leaves check -o c.%p.pmm
	overruns_later
	leaves leaks -o l.%p.pmm
	has "pmm: hint: 'pmm leaks $PID' shows what process $PID has lost so far; its capture shows all once it has ended"
	printf 'lose\nend.\n' >&9
	await test -s "l.$PID.pmm"
	within "$PMM" leaks "l.$PID.pmm" >look || [ $? -eq 1 ]
	grep -q '  definitely lost  5,000 bytes in 5 blocks' look
}

@test "check --wait: an error of the daemon is reported at once, and the verdict is of all" {
	waits check --error-exitcode 9
	sleep 0.5	# longer than what is just ending is given without --wait
	echo over >&9
	await -p "$MONITOR" says 'heap overrun, found in over'
	runs
	echo end. >&9
	ended 9
	has '  processes  2, all checked' '  found      1 error: 1 heap overrun'
	run ! grep hint said
	waits check --error-exitcode 9 --fail-on=errors,unchecked
	echo end. >&9
	ended 4
	has 'pmm: 2 processes checked: .*'
	waits check --json
	printf 'over\nend.\n' >&9
	ended 4
	json_is '[2,2,0,["overrun"]]' '[.tree.processes, .tree.looked_at, .tree.missed, [.findings[].type]]' <said
}

@test "leaks --wait, run --wait --leaks: what the daemon loses counts" {
	waits leaks --error-exitcode 9
	printf 'lose\nend.\n' >&9
	ended 9
	has '  processes        2, all searched: .*' '  definitely lost  5,000 bytes in 5 blocks, 1 site'
	waits run --leaks --error-exitcode 9 -o c.%p.pmm
	printf 'lose\nend.\n' >&9
	ended 9
	has '  definitely lost  5,000 bytes in 5 blocks, 1 site' "pmm: .* c.$PID.pmm"
	! says 'still running'
}

@test "--wait: SIGINT, SIGTERM and SIGHUP end the waiting with what is known, and the daemon continues" {
	local sig
	for sig in INT TERM HUP; do
		waits check --error-exitcode 9
		echo over >&9
		await -p "$MONITOR" says 'heap overrun, found in over'
		kill "-$sig" "$MONITOR"
		ended 9
		has '  processes  2, 1 checked' '  found      1 error: 1 heap overrun' \
			"pmm: hint: 'pmm check $PID' shows what was found in process $PID so far; when it ends all is lost: -o keeps a capture"
		runs
		within "$PMM" check "$PID" >look || [ $? -eq 1 ]
		grep -q 'heap overrun, found in over' look
		echo end. >&9
		await eval '! runs'
	done
	waits leaks --fail-on=unsearched
	kill -INT "$MONITOR"
	ended 1
	has "pmm: hint: 'pmm leaks $PID' shows what process $PID has lost so far; when it ends all is lost: -o keeps a capture"
}

@test "--wait with -o, and no more waiting: the daemon's capture is written all the same" {
	waits check -o c.%p.pmm
	kill -INT "$MONITOR"
	ended 4
	overruns_later
}

@test "--wait under nohup: SIGHUP ends nothing" {
	trap '' HUP
	waits check
	trap - HUP
	kill -HUP "$MONITOR"
	sleep 0.5	# longer than what is just ending is given
	echo over >&9
	await -p "$MONITOR" says 'heap overrun, found in over'
	runs
	echo end. >&9
	ended 4
}

@test "--wait at a terminal: it says whom it waits for, and Ctrl-C ends that" {
	within python3 - "$PMM" "${DAEMON[@]}" <<-'END' 9>&-
		import os, pty, re, sys
		pmm, *daemon = sys.argv[1:]
		pid, terminal = pty.fork()
		if not pid:
		    os.execv(pmm, [pmm, "check", "--wait", "--", *daemon])
		said = b""
		def hear(pattern):
		    global said
		    while not (found := re.search(pattern, said)):
		        said += os.read(terminal, 1000)
		    return found[1]
		one = hear(rb"pmm: the program has ended, and process (\d+) is waited for \(Ctrl-C: no more\)")
		os.write(terminal, b"\x03")
		assert hear(rb"hint: 'pmm check (\d+)'") == one, said
		assert os.waitpid(pid, 0)[1] == 4 << 8
	END
}

@test "--wait: a program that cannot be tracked is waited for, too, as it may start others" {
	DAEMON[0]+=_static
	BY=(sh -c '"$@"; exit' sh)
	waits check
	sleep 1.5	# longer than what runs on in the background waits for one without a sign of a ledger
	kill -0 "$MONITOR"
	runs
	echo end. >&9
	ended 4
	has 'pmm: WARNING: 1 program was not tracked: daemon_told_static \(static\)'
	! says 'still running'
}

@test "--wait is refused where it does nothing" {
	refused_with 2 "'--wait' is for a COMMAND" "$PMM" check --wait $$
	refused_with 2 "'--wait' is for a COMMAND" "$PMM" leaks --wait $$
	refused_with 2 "'--uninit' runs Valgrind, which has no '--wait'" "$PMM" check --wait --uninit -- true
	refused_with 2 "'--exhaustive' runs the COMMAND again" "$PMM" check --wait --exhaustive -- true
	refused_with 2 "'--wait' is for children" "$PMM" check --wait --no-follow -- true
	refused_with 2 "'--wait' is for children" "$PMM" run --wait --no-follow true
}
