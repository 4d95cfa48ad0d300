#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Threads that allocate, link, hand on and free at full speed, searched again and again: whatever is said to be lost is a false alarm.

load leaks

# How often; the long run takes 100.
SEARCHES=${LEAK_SEARCHES:-8}

# never_lost: no block of the victim is said to be lost, search after search.
never_lost() {
	local n lost
	for n in $(seq "$SEARCHES"); do
		search "$T/soak.json" "$PID"
		lost=$(jq -r '[.totals[] | select(.class == "definite" or .class == "indirect") | "\(.class) \(.blocks)"] | join(" ")' "$T/soak.json")
		[ "$lost" = "definite 0 indirect 0" ] || { echo "search $n: $lost"; jq .certain "$T/soak.json" | head -100; return 1; }
		tell g "done"
	done
	clean_of_search
}

# soak [ARG]: no block of the victim may ever be lost.
soak() {
	start_below "$PMM" run -q -o "$T/soak.pmm" -- "$PROG/leak_soak" "$@"
	never_lost
	exec 7>&-
	next_line 8 "$PID"
	[[ $LINE = "blocks "* ]]
	wait "$TOP"
	TOP='' PID=''
}

@test "a program at full speed is searched again and again without a false alarm" { soak; }
@test "the same of a program that pmm has attached to in the middle of that" {
	need_attach
	start "$PROG/leak_soak"
	tell g "done"
	watch
	never_lost
	unwatch
	exec 7>&-
	next_line 8 "$PID"
	[[ $LINE = "blocks "* ]]
	wait "$PID"
	PID=
}
@test "the same where the lists begin in memory that a copy does not get" { soak kept; }
@test "the same where they begin in memory that a copy gets empty" { soak wiped; }
@test "the same where they begin in shared memory" { soak shared; }
