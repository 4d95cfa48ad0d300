#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A program that runs: its ledger is read while it changes, also without the monitor.

load lib

BLOCKS=

# begin CMD...: start a command around the victim 'steady'; sets PID (the victim's) and JOB.
begin() {
	mkfifo "$T/stdin"
	"$@" "$PROG/steady" <"$T/stdin" >"$T/pid" 2>"$T/err" &
	JOB=$!
	exec 7>"$T/stdin"
	await -p "$JOB" [ -s "$T/pid" ]
	PID=$(cat "$T/pid")
	[ -n "$PID" ]
}

end() { exec 7>&-; wait "$JOB"; }

teardown() { if { true >&7; } 2>/dev/null; then exec 7>&-; fi; }

# steady WHAT: exactly what is known.
steady() {
	rm -f "$1.json"
	(cd "$T" && found "$1" site steady allocs=3000 frees=0 bytes=300000 live=300000 blocks=3000)
	(cd "$T" && found "$1" map mapped allocs=1 live=1048576)
}

@test "10 looks at a running program" {
	begin "$PMM" run -q -o "$T/c.pmm" --
	for _ in $(seq 10); do
		steady "$PID"
		[ "$(cd "$T" && fact "$PID" site churned blocks)" -le 202 ]
	done
	end
	found "$T/c.pmm" site steady live=300000
	found "$T/c.pmm" site churned live=0 blocks=0
}

@test "snapshots of a running program" {
	begin "$PMM" run -q -o "$T/c.pmm" --
	for i in 1 2 3 4 5; do
		"$PMM" snapshot "$PID" -o "$T/s$i.pmm"
		steady "$T/s$i.pmm"
		[ "$(stat -c %a "$T/s$i.pmm")" = 600 ]
	done
	end
}

@test "the monitor is killed, the program still tells" {
	begin "$PMM" run -q -o "$T/c.pmm" --
	kill -9 "$JOB"
	wait "$JOB" || true
	sleep 0.2
	steady "$PID"
	exec 7>&-
	await [ ! -d "/proc/$PID" ]
}

@test "preloaded by hand, without a monitor" {
	begin env LD_PRELOAD="$(dirname "$PMM")/libpmm.so"
	steady "$PID"
	end
}

@test "without a monitor the process keeps the time itself" {
	cd "$T"
	mkfifo in
	LD_PRELOAD=$(dirname "$PMM")/libpmm.so bash -c 'sleep 0.5; printf -v x %0200000d 1; echo ready; read -r' <in >out 3>&- &
	PID=$!
	exec 9>in
	await -p "$PID" grep -q ready out
	"$PMM" report --json "$PID" >now.json
	exec 9>&-
	wait "$PID" || true
	jq -e '.totals.peak_ns >= 450000000' now.json
	jq -e '[.sites[] | select(.live_bytes >= 200000) | .first_ns >= 450000000] | length > 0 and all' now.json
}
