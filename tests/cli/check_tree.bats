#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm check of trees of processes: how many were checked, equal errors of many processes as one, the worst first.

bats_require_minimum_version 1.5.0
load lib
load tree

# checks STATUS OPTION... -- COMMAND...
checks() { ends_with "$1" "$PMM" check "${@:2}"; }

@test "the same error in forty children is told once, with how many they were" {
	checks 9 --error-exitcode 9 --report "$T/report" -- "$PROG/leak_tree" overrun 40
	[ "$(grep -c '^pmm: heap overrun in overrun' "$T/report")" -eq 1 ]
	[ "$(grep -c '^pmm: use after free in overrun' "$T/report")" -eq 1 ]
	grep -q '^  processes  42, all checked$' "$T/report"
	grep -q '^  found  *2 errors: 1 heap overrun, 1 use after free; met 41 times$' "$T/report"
	[ "$(sed -n '/^Errors, the worst first$/,$p' "$T/report" | grep -c '^  [hu]')" -eq 2 ]
	sed -n '/^Errors, the worst first$/{n;p}' "$T/report" | grep -q '^  heap overrun in overrun, leak_tree.c:[0-9]*$'
	grep -q '^    40 times, in 40 processes of leak_tree: pid ' "$T/report"
	checks 9 --error-exitcode 9 --json --report "$T/tree.json" -- "$PROG/leak_tree" overrun 40
	tree '[.findings[] | [.type, .count, .processes, (.pids | unique | length)]]' '[["overrun",40,40,5],["use-after-free",1,1,1]]'
	tree '[.tree.processes, .tree.looked_at, .tree.missed, .tree.not_tracked]' '[42,42,0,0]'
	tree '.findings[0].frames | map(select(.stack == "error") | .function)[0]' '"overrun"'
}

@test "no errors: how many processes that is true of" {
	checks 0 -- sh -c "$PROG/leak_tree clean; $PROG/leak_tree clean; :"
	[[ $(tr '\n' ' ' <"$T/err") =~ ^"pmm: 3 processes checked: all "[0-9]+" blocks had canaries and guard pages; no heap errors "$ ]]
	checks 0 -- "$PROG/leak_tree" clean
	grep -q '^pmm: leak_tree, pid [0-9]*: .* had canaries' "$T/err"
}

@test "what was not tracked is said before the verdict, which is of the others" {
	checks 0 -- sh -c "$PROG/leak_tree clean; $PROG/leaf_static; :"
	[ "$(head -1 "$T/err")" = "pmm: WARNING: 1 program was not tracked: leaf_static (static)" ]
	grep -q '^pmm: 2 of 3 processes checked: all ' "$T/err"
	checks 0 --json --report "$T/tree.json" -- sh -c "$PROG/leak_tree clean; $PROG/leaf_static; :"
	tree '.untracked | map([.program, .why, .processes])' '[["leaf_static","static",1]]'
	tree '[.tree.processes, .tree.looked_at, .tree.not_tracked]' '[3,2,1]'
}

@test "--fail-on: errors, processes that were not checked, or both" {
	checks 0 --fail-on=errors -- sh -c "$PROG/leak_tree clean; $PROG/leaf_static; :"
	checks 1 --fail-on=unchecked -- sh -c "$PROG/leak_tree clean; $PROG/leaf_static; :"
	checks 9 --fail-on=errors,unchecked --error-exitcode 9 -- sh -c "$PROG/leak_tree clean; $PROG/leaf_static; :"
	checks 1 --fail-on=unchecked --exhaustive -- sh -c "$PROG/leak_tree clean; $PROG/leaf_static; :"
	checks 0 --fail-on=errors --exhaustive -- sh -c "$PROG/leak_tree clean; $PROG/leaf_static; :"
	checks 0 --fail-on=errors,unchecked -- sh -c "$PROG/leak_tree clean; $PROG/leak_tree clean; :"
	checks 1 --fail-on=errors -- "$PROG/leak_tree" overrun 2
	checks 0 --fail-on=unchecked -- "$PROG/leak_tree" overrun 2
	checks 3 --fail-on=unchecked -- "$PROG/leaf_static"
	checks 2 --fail-on=leaks -- true
	grep -qx 'pmm: hint: one or more of errors, unchecked, separated by commas' "$T/err"
}
