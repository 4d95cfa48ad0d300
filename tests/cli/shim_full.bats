#!/usr/bin/env bats
# pmm.h in its full form (libpmm_shim.a): the program runs on its own, and all of pmm sees it, with the macro's file and line.

bats_require_minimum_version 1.5.0
load lib
load shim_full

# lines <JSON: "FILE:LINE FUNCTION BLOCKS BYTES" for each call site with live blocks.
lines() {
	jq -r '.sites[] | select(.live_blocks > 0) | .frames[0] as $f | "\($f.file):\($f.line) \($f.function) \(.live_blocks) \(.live_bytes)"' | sort
}

LIVE="live.c:11 wrapped 2 400
live.c:19 main 5 25
live.c:20 main 1 6
live.c:21 main 1 200
live.c:22 main 1 5000"

@test "report: a program on its own, exact, with file, line and function and no debug information" {
	full gcc live.c "$T/live" -std=gnu11 -O2 -s
	start "$T/live"
	within "$PMM" report --json --top 0 "$PID" >"$T/json"
	diff <(echo "$LIVE") <(lines <"$T/json")
	[ "$(jq -r '[.totals.allocs, .totals.frees, .totals.live_bytes, .totals.live_blocks] | join(" ")' "$T/json")" = "12 2 5631 10" ]
	finish 3
}

@test "leaks: what nothing points to any more, and nothing else" {
	full gcc live.c "$T/live" -std=gnu11 -O2
	start "$T/live"
	within "$PMM" leaks --json "$PID" >"$T/json" || [ $? -eq 1 ]
	[ "$(jq -r '[.certain[] | "\(.frames[0].file):\(.frames[0].line) \(.blocks) \(.bytes)"] | join(" ")' "$T/json")" = "live.c:19 5 25" ]
	finish 3
}

@test "snapshot: a capture has the lines, and reads back the same" {
	full gcc live.c "$T/live" -std=gnu11 -O2
	start "$T/live"
	within "$PMM" snapshot -q -o "$T/cap.pmm" "$PID"
	finish 3
	within "$PMM" report --json --top 0 "$T/cap.pmm" >"$T/json"
	diff <(echo "$LIVE") <(lines <"$T/json")
}
