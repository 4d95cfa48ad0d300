#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm leaks PID of a program that runs under pmm check: what the agent keeps of its blocks, their heads, canaries and guard pages change nothing.

load leaks

# checked NAME LEVEL [OPTION...]: what is found in a victim while it waits, all of it read.
checked() {
	local name=$1
	shift
	rm -f "$T/live.pmm"
	start_below "$PMM" check --level="$1" --budget=all "${@:2}" -o "$T/live.pmm" -- "$PROG/leak_$name"
	worked
	search "$T/live.json" "$PID"
	[ "$("$PMM" report --json --no-symbols "$PID" | jq '.totals.live_blocks')" -eq "$(jq '[.totals[].blocks] | add' "$T/live.json")" ]
	clean_of_search
	finish 0
	sums "$name" live "$T/live.json" || { echo "level $*"; return 1; }
	[ "$(jq '.search.unread_bytes' "$T/live.json")" -eq 0 ]
	jq -e '.search.complete' "$T/live.json" >/dev/null
}

# each NAME...: at all levels that check every block, also where guards are mprotected, and where there are few.
each() {
	local name
	for name; do
		checked "$name" light
		checked "$name" guard
		checked "$name" guard --left
		checked "$name" guard --no-madvise-guard
		checked "$name" guard --max-guarded 20
	done
}

@test "leaks of checked programs: trees, lists, rings" { each shapes; }
@test "leaks of checked programs: pointers into blocks" { each inside; }
@test "leaks of checked programs: stacks, registers, alternate stacks, keys, ended threads" { each threads; }
@test "leaks of checked programs: thread-local storage" { each tls; }
@test "leaks of checked programs: data, bss, relro, libraries" { each data; }
@test "leaks of checked programs: freed blocks and dead frames" { each freed; }
@test "leaks of checked programs: coroutines" { each coro; }
@test "leaks of checked programs: chains of a million links" { each deep; }	# far more blocks than guards
@test "leaks of checked programs: what the C library holds" { each libc; }
@test "leaks of checked programs: mappings and the break" { each maps; }
@test "leaks of checked programs: what the kernel holds" { each kernel; }
