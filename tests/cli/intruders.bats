#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Another user, and descendants that became one, against pmm and the processes it looks at: see doc/security.md.

load lib

setup_file() {
	[ "$(id -u)" -eq 0 ] || return 0
	BOX=$(mktemp -d /tmp/pmm-intruder.XXXXXX)	# a place that the other user can read
	OTHER=pmm-${BOX##*.}
	OTHER=$(tr '[:upper:]' '[:lower:]' <<<"$OTHER")
	chmod 755 "$BOX"
	useradd -M -N -s /usr/sbin/nologin "$OTHER" || return 1
	OTHER_UID=$(id -u "$OTHER")
	cp "$PROG/intruder" "$BOX/intruder"
	export BOX OTHER OTHER_UID
}

teardown_file() {
	[ -n "${OTHER:-}" ] || return 0
	userdel "$OTHER"
	rm -rf "$BOX"
}

setup() {
	need_root
	STARTED=()
}

teardown() {
	local pid
	for pid in "${STARTED[@]}"; do
		kill -9 "$pid" 2>/dev/null || true
	done
}

# other CMD...: as the other user, with nothing of our environment.
other() { within setpriv --reuid="$OTHER_UID" --regid="$(id -g "$OTHER")" --clear-groups env -i PATH="$PATH" "$@"; }

# service OPTION...: a program under pmm run that starts another one each 0.2 seconds, which says in $T/mapped what it has mapped of pmm's. SERVICE and
# MONITOR are their pids, FIELD the address of the monitor.
service() {
	local value
	mkdir -p "$T/service.cap"
	"$PMM" run -q -o "$T/service.cap/%p.pmm" "$@" -- \
		sh -c 'echo $$ >"$0"; while :; do sleep 0.2; grep memfd:pmm- /proc/self/maps >>"$1"; done' "$T/service" "$T/mapped" >/dev/null 2>&1 3>&- &
	MONITOR=$!
	STARTED+=("$MONITOR")
	await test -s "$T/service"
	SERVICE=$(cat "$T/service")
	STARTED+=("$SERVICE")
	value=$(tr '\0' '\n' <"/proc/$SERVICE/environ" | sed -n 's/^PMM_LEDGER=//p')
	IFS=: read -r -a FIELD <<<"$value"	# PID BOARD COOKIE START UID SOCKET ADDRESS
	ADDRESS=pmm-${FIELD[6]}
}

drops() {
	cat "$T/out" "$T/err"
	[ "$STATUS" -eq 5 ]
	grep -qx unharmed "$T/out"
	grep -qx 'foreign=0 boards=[1-9]* openable=0 opened=0 own=1' "$T/out"
}

@test "a child that gave up its rights has nothing of its parent's, its monitor's and the board's to write" {
	for how in fork raw; do
		track dropper "$OTHER_UID" "$how"
		drops
		[ "$(captures | wc -l)" -eq 2 ]
	done
}

@test "the same under pmm check" {
	for how in fork raw; do
		STATUS=0
		within "$PMM" check -o "$T/%p.pmm" -- "$PROG/dropper" "$OTHER_UID" "$how" >"$T/out" 2>"$T/err" || STATUS=$?
		drops
	done
}

# scribbled OPTION...: every way to write over the head of a ledger file ends as the program wants, and does not wait for long.
scribbled() {
	local mode status begin
	for mode in states head asking ones child; do
		status=0 begin=$SECONDS
		within "$PMM" "$@" -- "$PROG/scribbler" $mode >"$T/out" 2>"$T/err" || status=$?
		[ "$status" -eq 7 ] || { echo "$mode: status $status"; cat "$T/err"; return 1; }
		grep -qx done "$T/out"
		((SECONDS - begin < LIMIT)) || { echo "$mode: $((SECONDS - begin)) seconds"; return 1; }
	done
}

@test "a program that writes over its ledger's head ends: pmm run" { scribbled run -q -o "$T/%p.pmm"; }
@test "a program that writes over its ledger's head ends: pmm run --leaks" { scribbled run -q --leaks -o "$T/%p.pmm"; }
@test "a program that writes over its ledger's head ends: pmm check" { scribbled check -o "$T/%p.pmm"; }

@test "strangers get no answer, and no descriptor" {
	service
	other "$BOX/intruder" ask "$ADDRESS" 0 | grep -qx 'answered 0 descriptors 0'
	other "$BOX/intruder" ask "$ADDRESS" "${FIELD[2]%?}" | grep -qx 'answered 0 descriptors 0'
	kill "$SERVICE"
	wait "$MONITOR" || [ $? -eq 143 ]
}

@test "a file that somebody hands over as his ledger harms nobody" {
	service
	other "$BOX/intruder" give "$ADDRESS" "${FIELD[2]}" </dev/null | grep -qx given
	other "$BOX/intruder" give "$ADDRESS" 1 </dev/null | grep -qx given
	sleep 0.5
	within "$PMM" report --json "$SERVICE" | jq -e '.process.pid == '"$SERVICE"
	kill "$SERVICE"
	wait "$MONITOR" || [ $? -eq 143 ]
	[ -s "$T/service.cap/$SERVICE.pmm" ]
}

has_captures() { [ "$(captures | wc -l)" -eq "$1" ]; }

@test "a flood of connections keeps no process from being tracked" {
	service
	other "$BOX/intruder" flood 5 >"$T/flood" &
	STARTED+=("$!")
	sleep 0.5
	track fork_storm
	[ "$STATUS" -eq 0 ]
	await has_captures 201		# of those that outlived the program, too
	await grep -q '^connected [1-9]' "$T/flood"
	kill "$SERVICE"
	wait "$MONITOR" || [ $? -eq 143 ]
}

@test "when the monitor is dead, who takes its address is told nothing" {
	service
	kill -9 "$MONITOR"
	wait "$MONITOR" || true
	other "$BOX/intruder" pose "$ADDRESS" 3 >"$T/pose"
	cat "$T/pose"
	grep -qx taken "$T/pose"
	grep -qx 'asked 0 given 0' "$T/pose"
	kill "$SERVICE"
}

# As process number N: CMD... in the background. The shell does not take well to two jobs of one number, so another program does it. Status 77: a
# process of somebody else has that number.
as_pid() {
	python3 - "$@" 3>&- <<-'END'
		import os, sys, time
		last = "/proc/sys/kernel/ns_last_pid"
		def then(pid):
		    with open(last, "w") as f:
		        f.write(str(pid))
		with open(last) as f:
		    before = int(f.read())
		end = time.monotonic() + 30
		while time.monotonic() < end:
		    then(int(sys.argv[1]) - 1)
		    pid = os.fork()
		    if not pid:
		        if os.getpid() != int(sys.argv[1]):
		            os._exit(1)
		        os.execvp(sys.argv[2], sys.argv[2:])
		    then(before)	# others that run count on numbers that have not been there lately
		    if pid == int(sys.argv[1]):
		        sys.exit(0)
		    os.waitpid(pid, 0)
		    time.sleep(0.02)
		sys.exit(77)
	END
}

# The service's new programs have ledgers of their own.
has_ledgers() { [ "$(grep -c 'rw-s 00000000 .*memfd:pmm-ledger' "$T/mapped")" -ge 3 ]; }

# ended PID: also where nobody asks for its status.
ended() { [ ! -d "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"; }

@test "when the monitor is dead, who takes its number and shows a forged board is not believed" {
	local inode status=0
	service
	kill -9 "$MONITOR"
	wait "$MONITOR" || true
	touch "$BOX/held"
	chmod 666 "$BOX/held"
	[ -w /proc/sys/kernel/ns_last_pid ] || skip "process numbers cannot be chosen here (ns_last_pid)"
	as_pid "$MONITOR" sh -c 'exec setpriv --reuid="$1" --regid=65534 --clear-groups "$2" hold "$3" "$4" "$5" 300 >"$6" 2>&1' sh \
		"$OTHER_UID" "$BOX/intruder" "${FIELD[1]}" "${FIELD[2]}" "${FIELD[4]}" "$BOX/held" || status=$?
	[ "$status" -ne 77 ] || skip "another process has got the monitor's number"
	[ "$status" -eq 0 ]
	await grep -q "^holding $MONITOR inode" "$BOX/held"
	inode=$(sed -n 's/^holding .* inode //p' "$BOX/held")
	grep -q " $inode  */memfd:pmm-board" "/proc/$MONITOR/maps"
	: >"$T/mapped"
	await -p "$MONITOR" has_ledgers
	! grep " $inode  */memfd" "$T/mapped" || return 1
	kill -9 "$MONITOR"
	await ended "$MONITOR"	# or its user cannot be deleted
	kill "$SERVICE"
}

@test "another user may look at nothing of root's, and says so" {
	local command
	service
	cp "$PMM" "$BOX/pmm"
	for command in report leaks check snapshot attach detach; do
		status=0
		other "$BOX/pmm" $command "$SERVICE" >"$T/said" 2>&1 || status=$?
		[ "$status" -eq 3 ] || { echo "$command: status $status"; cat "$T/said"; return 1; }
		grep -q '^pmm: ' "$T/said"
	done
	kill "$SERVICE"
	wait "$MONITOR" || [ $? -eq 143 ]
}
