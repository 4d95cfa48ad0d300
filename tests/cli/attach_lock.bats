#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Several pmm at one process: one at a time gets on, wherever they run, and nobody else has a say in it.

load attach

@test "a socket's name that another user has taken keeps nobody off" {
	start attach_victim
	picture first loose
	python3 - "$PID" >"$T/squat" 3>&- 7>&- 8<&- <<'END' &
import os, socket, sys, time
pid = sys.argv[1]
start = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[19]
if os.getuid() == 0:
    os.setuid(65534)
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(f"\0pmm-attach-{pid}-{start}")
print("taken", flush=True)
time.sleep(1000)
END
	SQUATTER=$!
	await -p "$SQUATTER" grep -q taken "$T/squat"
	watch
	tell g done
	unwatch
	kill "$SQUATTER"
	same_picture first loose
	finish 42
}

attached_in() { grep -q "^pmm: attached to '" "$T/err.$1"; }
refused_in() { grep -q -E '^pmm: (process [0-9]+ is watched by process|another pmm has attached to|thread [0-9]+ of process [0-9]+ is being traced by process)' "$T/err.$1"; }
one_each() { { attached_in 1 && refused_in 2; } || { attached_in 2 && refused_in 1; }; }

# two FIRST SECOND: attach by both commands at once. One watches until SIGINT, the other is refused.
two() {
	local pids=() i status
	for i in 1 2; do
		"${@:i:1}" "$PMM" attach "$PID" >/dev/null 2>"$T/err.$i" 3>&- 7>&- 8<&- &
		pids+=($!)
	done
	await one_each || { cat "$T/err.1" "$T/err.2"; return 1; }
	for i in 1 2; do
		status=0
		! attached_in "$i" || kill -INT "${pids[i - 1]}"
		wait "${pids[i - 1]}" || status=$?
		[ "$status" -eq "$(attached_in "$i" && echo 0 || echo 3)" ] || { echo "status $status"; cat "$T/err.$i"; return 1; }
	done
}

@test "two at once, twenty times: one is refused" {
	start attach_steady
	picture first steady
	for _ in {1..20}; do two env env; done
	same_picture first steady
	finish 45 unharmed
}

@test "two at once from two network namespaces, twenty times: one is refused" {
	need_root
	need unshare
	unshare -n true 2>/dev/null || skip "no network namespace is to be had"
	printf '#!/bin/sh\nexec unshare -n "$@"\n' >"$T/elsewhere"
	chmod +x "$T/elsewhere"
	start attach_steady
	picture first steady
	for _ in {1..20}; do two env "$T/elsewhere"; done
	same_picture first steady
	finish 45 unharmed
}

@test "a monitor in another pid namespace is seen to live" {
	need_root
	need unshare
	unshare -p -f --mount-proc true 2>/dev/null || skip "no pid namespace is to be had"
	# shellcheck disable=SC2016
	start unshare -p -f --mount-proc sh -c \
		'{ until [ -e "$3" ]; do sleep 0.1; done
		   exec "$1" attach 1; } >/dev/null 2>"$2" </dev/null 3>&- & exec "$0"' \
		"$PROG/attach_victim" "$PMM" "$T/inner.err" "$T/ready"
	touch "$T/ready"
	TOP=$PID
	PID=$(cut -d ' ' -f 1 "/proc/$TOP/task/$TOP/children")
	await -p "$PID" grep -q '^pmm: attached to ' "$T/inner.err" || { cat "$T/inner.err"; return 1; }
	refused "process $PID is watched by process" "$PMM" attach -q -d 1 "$PID"
	tell g done
	finish 42
}

# crowd SECONDS: attach, detach, be killed.
crowd() {
	local end=$((SECONDS + $1))
	while [ $SECONDS -lt "$end" ]; do
		case $((RANDOM % 6)) in
		0 | 1) "$PMM" attach -q -d "$((RANDOM % 30 + 1))ms" "$PID" ;;
		2) "$PMM" attach -q --check --sample=4K -d "$((RANDOM % 30 + 1))ms" "$PID" ;;
		3) "$PMM" detach -q "$PID" ;;
		4) timeout -s KILL "0.0$((RANDOM % 90 + 10))" "$PMM" attach -q "$PID" ;;
		5) timeout -s KILL "0.0$((RANDOM % 90 + 10))" "$PMM" detach -q "$PID" ;;
		esac || true
	done >/dev/null 2>>"$T/crowd.err" </dev/null 3>&- 7>&- 8<&-
}

@test "three that attach, detach and are killed all the time" {
	local pids=()
	start attach_steady
	picture first steady
	for _ in 1 2 3; do
		crowd "${PMM_CROWD_SECONDS:-6}" &
		pids+=($!)
	done
	wait "${pids[@]}"
	nothing() { "$PMM" detach -q "$PID" || [ $? -eq 3 ]; same_picture first steady; }
	await -p "$PID" nothing || nothing
	tell p on
	finish 45 unharmed
}
