#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Sweeps of the live blocks of a process that runs (pmm check --sweep PID): what is overwritten though no block is released, once, and between which
# two sweeps; the process goes on unharmed.

load lib

NR=20000

setup() { cd "$T" || return 1; }

teardown() {
	[ -z "${SWEEPER:-}" ] || kill "$SWEEPER" 2>/dev/null || true
	exec 8>&- 9<&-
	[ -z "${CHECKER:-}" ] || wait "$CHECKER" || true
}

# begin OPTION...: a victim with NR blocks, checked; PID is its pid, CHECKER that of pmm.
begin() {
	mkfifo in out
	"$PMM" check --json --report end.json "$@" -- "$PROG/check_sweep" $NR <in >out 2>err &
	CHECKER=$!
	exec 8>in 9<out
	next_line 9 "$CHECKER"
	PID=$LINE
}

# hurt BLOCK OFFSET
hurt() {
	echo "$@" >&8
	next_line 9 "$PID"
	[ "$LINE" = "done" ]
}

# finish: the victim ends as it does natively.
finish() {
	local status=0
	exec 8>&-
	next_line 9 "$CHECKER"
	[ "$LINE" = "unharmed $NR" ] || { echo "$LINE"; return 1; }
	wait "$CHECKER" || status=$?
	CHECKER=
	[ "$status" -eq 0 ] || { echo "status $status"; cat err; return 1; }
	[ ! -s err ] || { cat err; return 1; }
}

# swept STATUS LINE...: one sweep ends with STATUS and finds exactly these, as in check_found.jq.
swept() {
	local wanted=$1 status=0
	shift
	within "$PMM" check --sweep --json "$PID" >sweep.json || status=$?
	[ "$status" -eq "$wanted" ] || { echo "status $status, must be $wanted"; return 1; }
	diff <([ $# -eq 0 ] || printf '%s\n' "$@" | sort) <(jq -r -f "$CLI/check_found.jq" sweep.json | sed 's/^[^:]*: //' | sort)
}

OVER="overrun sweep write - end+0 20 malloc - keep -"
UNDER="underrun sweep write - start-1 20 malloc - keep -"

@test "each sweep on demand finds what is damaged then, also of blocks that are guarded; the end finds it once" {
	local level guarded
	for level in "--budget all --level=light" "--budget all --level=guard --max-guarded 0" "--budget all --level=guard"; do
		rm -f in out
		# shellcheck disable=SC2086 # options
		begin $level
		guarded=
		[[ $level != *guard ]] || guarded=" guarded"
		swept 0
		hurt 17777 20
		swept 1 "$OVER$guarded"
		hurt 17776 -1
		swept 1 "$UNDER$guarded" "$OVER$guarded"
		hurt 3 20
		swept 1 "$OVER x2$guarded" "$UNDER$guarded"
		finish
		[ "$(jq '[.findings[] | select(.by == "release") | .count] | add' end.json)" -eq 3 ]
		[ "$(jq '[.findings[].count] | add' end.json)" -eq 3 ]
	done
}

documents() { [ "$(jq -s length sweeps.json)" -ge "$1" ]; }

# sweeps COUNT: begin so many, 100 ms apart; the first has been told of.
sweeps() {
	"$PMM" check --sweep=100ms --count "$1" --json "$PID" >sweeps.json 8>&- 9<&- &
	SWEEPER=$!
	await -p "$SWEEPER" documents 1
}

@test "sweeps in turn tell of each once, and between which two it happened" {
	local status=0
	begin --level=light --budget all
	sleep 0.05	# the first sweep is to be in a later tick (10 ms) than the births: else nobody can tell that it has seen the blocks
	hurt 5 20
	sweeps 1000000
	hurt 7 20
	await -p "$SWEEPER" documents 2
	hurt 7 21
	hurt 8 -1
	await -p "$SWEEPER" documents 3
	kill "$SWEEPER"
	wait "$SWEEPER" || status=$?
	SWEEPER=
	[ "$status" -eq 1 ]
	jq -s 'map(.findings[] | [.type, .count, has("well_at_ns")])' sweeps.json |
		json_is '[["overrun",1,false],["overrun",1,true],["underrun",1,true]]' .
	[ "$(jq -s '[.[].findings[].block_address] | unique | length' sweeps.json)" -eq 3 ]
	[ "$(jq -s 'map(.findings[] | select(has("well_at_ns")) | .well_at_ns < .first_ns) | all' sweeps.json)" = true ]
	[ "$(jq -s '.[1].findings[0].first_ns <= .[2].findings[0].well_at_ns' sweeps.json)" = true ]
	finish
}

@test "a sweep that is killed, and two at a time, harm nothing" {
	local other
	begin --level=light --budget all
	hurt 5 20
	sweeps 1000000
	kill -9 "$SWEEPER"
	wait "$SWEEPER" || true
	SWEEPER=
	sweeps 4
	"$PMM" check --sweep=20ms --count 10 --json "$PID" >others.json 8>&- 9<&- &
	other=$!
	wait "$other" || [ $? -eq 1 ]
	wait "$SWEEPER" || [ $? -eq 1 ]
	SWEEPER=
	[ "$(jq -s 'map(.findings[]) | length' sweeps.json)" -eq 1 ]
	[ "$(jq -s 'map(.findings[]) | length' others.json)" -eq 1 ]
	swept 1 "$OVER"
	finish
}

@test "what a function wrote past is not found again, be it thousands of blocks" {
	local level
	for level in light guard; do
		within "$PMM" check --json --report found.json --level=$level --budget all -- "$PROG/check_over_all" 1500 </dev/null
		jq -r '.findings[] | "\(.type) \(.by) \(.count) \(.block_bytes)"' found.json >found
		diff <(echo "overrun function 1500 20") found
	done
}
