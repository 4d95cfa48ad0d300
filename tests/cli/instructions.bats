#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The agent's instructions for each malloc and free, counted one by one (bench/instructions), have not grown by more than 10 %: a witness of its speed
# that no other load on the machine changes.

load lib

LIMIT=300

count() { within "$ROOT/bench/instructions" --build "$(dirname "$PMM")" "$@"; }

@test "no workload takes more instructions than is recorded" {
	count
}

@test "what has grown by more than a tenth is named, what has fallen too" {
	sed 's/^hot 1 1 .*/hot 1 1 100/' "$ROOT/bench/instructions.counts" >"$T/counts"
	count --only "hot 1 1" --counts "$T/counts" >"$T/said" && return 1
	grep -q "^GROWN: hot 1 1, from 100 to [0-9]*, more than 10 %$" "$T/said"
	sed 's/^hot 1 1 .*/hot 1 1 99999/' "$ROOT/bench/instructions.counts" >"$T/counts"
	count --only "hot 1 1" --counts "$T/counts" >"$T/said"
	grep -q "^fallen: hot 1 1, from 99999 to [0-9]* " "$T/said"
}
