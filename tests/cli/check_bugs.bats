#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Generated programs with one known heap bug each, and their correct twins (tests/bugs/bugs.py): what is found is just what its rules say. A case that
# fails has a number; "bugs.py --seed SEED --case NUMBER --level LEVEL" shows it alone. `make bugs` runs some thousands.

bats_require_minimum_version 1.5.0
load lib

LIMIT=300	# compilers and hundreds of processes

setup() {
	need python3 gcc g++
	cd "$T" || return 1
}

# bugs COUNT OPTION...: that many of each level, and nothing was otherwise.
bugs() {
	local count=$1 level
	shift
	within python3 "$ROOT/tests/bugs/bugs.py" --pmm "$PMM" --count "$count" "$@" >said || { cat said; return 1; }
	grep "^[a-z-]*: [0-9]* bugs: " said >levels
	grep -q "^attached: \|: $count bugs: " levels || { cat said; return 1; }
	! grep -v "; 0 of the twins$" levels
}

@test "bugs: found or missed as the rules say, nothing of the twins: light, guard" {
	bugs 200 --seed 1 --level light,guard
	[ "$(wc -l <levels)" -eq 2 ]
}

@test "bugs: found or missed as the rules say, nothing of the twins: left, sampled" {
	bugs 120 --seed 2 --level left,sampled
	[ "$(wc -l <levels)" -eq 2 ]
}

@test "bugs: found or missed as the rules say, nothing of the twins: a process that runs already" {
	bugs 130 --seed 7 --level attached
	[ "$(sed 's/^attached: \([0-9]*\) .*/\1/' levels)" -gt 50 ]
}

@test "bugs: the rules are no empty ones: a level that checks nothing is noticed" {
	run -1 python3 "$ROOT/tests/bugs/bugs.py" --pmm "$PMM" --count 60 --seed 1 --level none
	[ "$(grep -c "^none: case .*: missed: " <<<"$output")" -gt 30 ]
}
