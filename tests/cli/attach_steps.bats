#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm killed or stopped behind its N-th step (tests/tool/single_step.c) while it attaches, watches, detaches, searches: what it leaves goes away, and
# the victim, whose threads allocate all the time and check themselves, goes on.
#
# Each test takes steps at random for some seconds. PMM_EVERY_STEP=1: each step in turn, however long it takes. PMM_STEP=N: that one.

load attach

STEP=${PMM_STEP_TOOL:-$(dirname "$PMM")/tests/tool/step}
SECONDS_EACH=${PMM_STEP_SECONDS:-5}
GUARDS=(--check --sample=1 --budget=all)

# begin ARG...: the victim, and what pmm is called with. COUNT: how many steps that takes.
begin() {
	WHAT=("$@")
	start attach_steady
	picture first steady
	before
	COUNT=$(taken 1000000000 | sed -n 's/^ended [0-9]* //p')
	echo "$COUNT steps"
	[ "$COUNT" -gt 20 ]
}
before() { :; }

# taken N [OPTION...]: pmm up to its step N. Says the tool's last line.
taken() { within "$STEP" -t "${@:2}" "$1" "$PMM" "${WHAT[@]}" "$PID" 2>/dev/null </dev/null 3>&- 7>&- 8<&- | tail -1; }

# through FUNCTION: with each number of a step that is to be looked at.
through() {
	local end=$((SECONDS + SECONDS_EACH)) n rounds=0
	if [ -n "${PMM_STEP:-}" ]; then
		"$1" "$PMM_STEP"
		return
	fi
	for ((n = 1; ${PMM_EVERY_STEP:-0} ? n <= COUNT : SECONDS < end; n++, rounds++)); do
		STEP_AT=$((${PMM_EVERY_STEP:-0} ? n : (RANDOM << 15 | RANDOM) % COUNT + 1))
		"$1" "$STEP_AT" || { echo "behind step $STEP_AT of $COUNT: $SAID"; return 1; }
	done
	echo "$rounds rounds"
}

# nothing_left: pmm detach has nothing to do. Guarded blocks that live keep the agent there until the victim has released them.
nothing_left() { [ "$("$PMM" detach "$PID" 2>&1)" = "pmm: process $PID has nothing in it that 'pmm attach' left" ]; }
# detached: the first pmm detach does all that there is to do, if no guarded blocks live.
detached() {
	local status=0
	patiently "$PMM" detach -q "$PID" || status=$?
	if ! grep -q 'guarded block' "$T/watch.err"; then
		[ "$status" -eq 0 ] || { cat "$T/watch.err"; return 1; }
		nothing_left
		return
	fi
	await -p "$PID" nothing_left
}

as_first() { same_picture first steady && tell p on; }

# killed N: it and its watchdog.
killed() {
	before
	SAID=$(taken "$1" -a)
	detached && as_first
}

# abandoned N: it alone; nobody detaches.
abandoned() {
	before
	SAID=$(taken "$1")
	await -p "$PID" as_first || { as_first; return 1; }
}

# interrupted N: by Ctrl-C; nobody detaches.
interrupted() {
	SAID=$(taken "$1" -i 2)
	await -p "$PID" as_first || { as_first; return 1; }
}

# stopped N: it alone; the victim goes on while it stands there, and is free of it in the end.
stopped() {
	before
	rm -f "$T/step.out"
	"$STEP" -t -s 1000 "$1" "$PMM" "${WHAT[@]}" "$PID" >"$T/step.out" 2>/dev/null </dev/null 3>&- 7>&- 8<&- &
	HELD=$!
	await -p "$HELD" grep -q -E '^(stopped|ended) ' "$T/step.out" || return 1
	tell p on || { cat "$T/step.out"; return 1; }
	kill -TERM "$HELD" 2>/dev/null || true
	wait "$HELD" || true
	SAID=$(tr '\n' ' ' <"$T/step.out")
	after
}
after() { detached && as_first; }

ends() { finish 45 unharmed; }

# left [OPTION...]: attached by a monitor that was killed.
left() {
	watch "$@"
	kill_monitor
}
# The victim has got on under it, too.
attached() { await -p "$MONITOR" grep -q '^pmm: attached to ' "$T/watch.err" && tell p on; }

@test "killed while it attaches and leaves" {
	begin attach -q -d 1ms
	through killed
	ends
}

@test "killed while it attaches with guarded blocks, and leaves" {
	begin attach -q "${GUARDS[@]}" -d 30ms
	through killed
	ends
}

@test "killed while it detaches" {
	before() { left; }
	begin detach -q
	through killed
	ends
}

@test "killed while it detaches from guarded blocks" {
	before() { left "${GUARDS[@]}"; }
	begin detach -q
	through killed
	ends
}

@test "killed alone: the victim is as it was though nobody detaches" {
	begin attach -q -d 1ms
	through abandoned
	ends
}

@test "interrupted: the victim is as it was, whenever that is" {
	begin attach -q -d 1ms
	through interrupted
	ends
}

@test "stopped while it attaches and leaves: the victim goes on" {
	begin attach -q -d 1ms
	through stopped
	ends
}

@test "stopped while it detaches: the victim goes on" {
	before() { left; }
	begin detach -q
	through stopped
	ends
}

@test "stopped while it searches for leaks: the victim goes on" {
	start attach_steady
	watch
	WHAT=(leaks)
	COUNT=$(taken 1000000000 | sed -n 's/^ended [0-9]* //p')
	[ "$COUNT" -gt 20 ]
	after() { :; }
	through stopped
	unwatch
	await -p "$PID" clean
	ends
}

@test "ended by a signal that a fault of its own would raise: the victim is as it was" {
	local signal
	start attach_steady
	picture first steady
	for signal in SEGV BUS ABRT USR1 KILL; do
		watch
		kill -"$signal" "$MONITOR"
		wait "$MONITOR" 2>/dev/null || true
		MONITOR=
		await -p "$PID" as_first
	done
	ends
}

@test "the watchdog holds nothing of its caller's and ends with pmm" {
	local dog
	start attach_steady
	watch
	dog=$(cat "/proc/$MONITOR/task/$MONITOR/children")
	dog=${dog% }
	# of descriptors also the way to pmm and a reference to it
	alone() {
		[ "$(cat "/proc/$dog/comm")" = pmm-watchdog ] &&
			[ "$(readlink "/proc/$dog/cwd")" = / ] &&
			[ "$(readlink "/proc/$dog/fd/"{0,1,2} | sort -u)" = /dev/null ] &&
			[ "$(find "/proc/$dog/fd" -type l | wc -l)" -eq 5 ] &&
			[ "$(awk '{ print $6 }' "/proc/$dog/stat")" -eq "$dog" ]
	}
	await -p "$dog" alone || { ls -l "/proc/$dog/cwd" "/proc/$dog/fd"; return 1; }
	echo "$(awk '/^(Rss|Pss|Private_Dirty):/ { printf "%s %s KiB ", $1, $2 }' "/proc/$dog/smaps_rollup")"
	[ "$(awk '/^Private_Dirty:/ { print $2 }' "/proc/$dog/smaps_rollup")" -lt 2048 ]
	kill -TERM "$dog"
	kill -INT "$dog"
	unwatch
	[ ! -d "/proc/$dog" ]
	clean
	ends
}

@test "the watchdog needs no /dev/null" {
	need_root
	unshare --mount mount -t tmpfs none /dev 2>/dev/null || skip "no mount namespaces here"
	start attach_steady
	picture first steady
	# shellcheck disable=SC2016
	unshare --mount sh -c 'mount -t tmpfs none /dev; exec "$@"' sh "$PMM" attach "$PID" >"$T/watch.out" 2>"$T/watch.err" 3>&- 7>&- 8<&- &
	MONITOR=$!
	attached
	kill -9 "$MONITOR"
	wait "$MONITOR" 2>/dev/null || true
	MONITOR=
	await -p "$PID" as_first || { as_first; return 1; }
	ends
}
