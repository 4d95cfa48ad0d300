#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Leaks of trees of processes: every process counts, whatever its place; equal ones of many processes are one finding; what was not searched is said.

bats_require_minimum_version 1.5.0
load leaks
load tree

# leaks STATUS OPTION... -- COMMAND...
leaks() { ends_with "$1" "$PMM" leaks "${@:2}"; }

@test "one leaking child behind ten clean ones" {
	printf '%s\n' 'for i in 1 2 3 4 5 6 7 8 9 10; do perl -e 1; done' "$PROG/leak_tree lose 700" >"$T/clean.sh"
	leaks 1 --fail-on=definite --report "$T/report" -- sh "$T/clean.sh"
	grep -q '^  definitely lost *700 bytes in 1 block, 1 site$' "$T/report"
	grep -q '^ *in leak_tree, pid [0-9]*$' "$T/report"
	run ! grep -q 'no leaks were found' "$T/report"
	leaks 1 --fail-on=definite --json --report "$T/tree.json" -- sh "$T/clean.sh"
	tree '[.certain[] | [.bytes, .blocks, .processes, (.pids | length)]]' '[[700,1,1,1]]'
	tree '[.tree.processes, .tree.looked_at, .tree.missed, .tree.not_tracked]' '[12,12,0,0]'
	leaks 0 --fail-on=definite --max-leaked 700 -- sh "$T/clean.sh"
}

@test "one leaking child behind sixty suppressed ones, in nested shells" {
	printf 'leak:lose_below\n' >"$T/known.supp"
	leaks 1 --fail-on=definite --suppressions "$T/known.supp" --json --report "$T/tree.json" -- \
		sh -c "sh -c '$PROG/leak_tree same 60; sh -c \"$PROG/leak_tree clean; $PROG/leak_tree lose 33; :\"; :'; :"
	tree '[.certain[] | [.bytes, .processes]]' '[[33,1]]'
	tree '.totals[] | select(.class == "suppressed") | [.bytes, .blocks]' '[6000,60]'
	leaks 0 --fail-on=definite --suppressions "$T/known.supp" -- sh -c "sh -c '$PROG/leak_tree same 60; :'; :"
	leaks 1 --fail-on=definite -- sh -c "sh -c '$PROG/leak_tree same 60; :'; :"
}

@test "the same leak in forty children is one finding" {
	leaks 1 --error-exitcode 1 --report "$T/report" -- "$PROG/leak_tree" same 40
	[ "$(grep -c 'definitely lost: ' "$T/report")" -eq 1 ]
	grep -q '^  definitely lost *4,000 bytes in 40 blocks, 1 site$' "$T/report"
	grep -q '^ *in 40 processes of leak_tree: pid ' "$T/report"
	grep -q ' and 35 more$' "$T/report"
	leaks 1 --error-exitcode 1 --json --report "$T/tree.json" -- "$PROG/leak_tree" same 40
	tree '[.certain[] | [.function, .bytes, .blocks, .processes, (.pids | unique | length)]]' '[["lose",4000,40,40,5]]'
	tree '[.tree.processes, .tree.looked_at, .tree.blocks]' '[41,41,40]'
}

@test "different leaks in fifty children: the worst first, as many as --top says, and how many more" {
	leaks 5 --error-exitcode 5 --top=5 --report "$T/report" -- "$PROG/leak_tree" each 50
	[ "$(grep -c 'definitely lost: ' "$T/report")" -eq 5 ]
	grep -q '^  45 more (--top 0 shows all)$' "$T/report"
	grep -q '^  definitely lost *20,400 bytes in 50 blocks, 50 sites$' "$T/report"
	leaks 5 --error-exitcode 5 --top=0 --json --report "$T/tree.json" -- "$PROG/leak_tree" each 50
	tree '[.certain[].bytes] == [range(50; 0; -1) * 16]' true
	tree '[.certain[].processes] | unique' '[1]'
}

@test "processes that go on after the program are called by their own names" {
	mkfifo "$T/up" "$T/hold"
	exec 7<>"$T/up" 8<>"$T/hold"
	# without our two ends of the pipes, or nothing ends them
	printf '%s\n' "exec 7>&- 8>&-" "perl -e 'print \"up\\n\"; close STDOUT; <STDIN>' <$T/hold >$T/up &" \
		"awk 'BEGIN { print \"up\"; fflush(); getline }' <$T/hold >$T/up &" "read -r _ <$T/up; read -r _ <$T/up" >"$T/go_on.sh"
	leaks 0 --report "$T/report" -- sh "$T/go_on.sh"
	exec 7>&- 8>&-
	tr -s '\n ' ' ' <"$T/report" >"$T/words"
	grep -q -E ': (perl \(still running\), awk|awk \(still running\), perl) \(still running\) ' "$T/words" || { cat "$T/report"; return 1; }
	grep -q -x -E "pmm: hint: 'pmm leaks ([0-9]+)' shows what process \\1 has lost so far; when it ends all is lost: --wait .*" "$T/err"
}

@test "every form of the report has every process" {
	leaks 0 --format valgrind-xml --report "$T/xml" -- "$PROG/leak_tree" each 12
	[ "$(grep -c '<kind>Leak_DefinitelyLost</kind>' "$T/xml")" -eq 10 ]
	leaks 0 --format valgrind-xml --top 0 --report "$T/xml" -- "$PROG/leak_tree" each 12
	[ "$(grep -c '<kind>Leak_DefinitelyLost</kind>' "$T/xml")" -eq 12 ]
	python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$T/xml"
	leaks 0 --gen-suppressions --report "$T/gen.supp" -- "$PROG/leak_tree" each 12
	[ "$(grep -c '^{' "$T/gen.supp")" -eq 12 ]
	leaks 0 --fail-on=definite --suppressions "$T/gen.supp" -- "$PROG/leak_tree" each 12
}

@test "captures of all processes, and pmm run --leaks" {
	mkdir "$T/cap"
	leaks 1 --fail-on=definite -o "$T/cap/%c.%p.pmm" -- "$PROG/leak_tree" same 12
	[ "$(find "$T/cap" -name 'leak_tree.*.pmm' | wc -l)" -eq 13 ]
	local file nr=0
	for file in "$T"/cap/*.pmm; do
		within "$PMM" leaks --json "$file" >"$T/tree.json" || nr=$((nr + 1))
	done
	[ "$nr" -eq 12 ]
	run -9 --separate-stderr "$PMM" run -q --leaks --error-exitcode 9 -o "$T/cap/%p.pmm" -- sh -c "$PROG/leak_tree same 8; :"
	grep -q '^ *in 8 processes of leak_tree: pid ' <<<"$stderr"
	run -0 --separate-stderr "$PMM" run -q --leaks --error-exitcode 9 -o "$T/cap/%p.pmm" -- sh -c "$PROG/leak_tree clean; $PROG/leak_tree clean; :"
	[ -z "$stderr" ]
}

@test "who was not searched is said, and --fail-on=unsearched fails for it" {
	leaks 0 --report "$T/report" -- sh -c "$PROG/leak_tree clean; perl -e 'kill 9, \$\$'; :"
	grep -q '^  processes  *3, 2 searched: ' "$T/report"
	grep -q '^  !  *1 process was not searched for leaks: perl (killed by SIGKILL)$' "$T/report"
	grep -q '^  no leaks were found in what was searched$' "$T/report"
	leaks 0 --fail-on=definite -- sh -c "$PROG/leak_tree clean; perl -e 'kill 9, \$\$'; :"
	leaks 1 --fail-on=definite,unsearched -- sh -c "$PROG/leak_tree clean; perl -e 'kill 9, \$\$'; :"
	leaks 0 --fail-on=definite,unsearched --report "$T/report" -- sh -c "$PROG/leak_tree clean; :"
	grep -q '^  no leaks were found$' "$T/report"
	leaks 0 --json --report "$T/tree.json" -- sh -c "$PROG/leak_tree clean; perl -e 'kill 9, \$\$'; :"
	tree '[.not_looked_at[] | [.program, .why, .processes]]' '[["perl","killed by SIGKILL",1]]'
	tree '[.tree.processes, .tree.looked_at, .tree.missed]' '[3,2,1]'
}

@test "processes that were not searched for the same reason are one entry" {
	leaks 0 --json --report "$T/tree.json" -- sh -c "$PROG/confined seccomp; $PROG/confined seccomp; :"
	tree '[.not_looked_at[] | [.program, .processes]]' '[["confined",2]]'
	tree '.not_looked_at[0].why | test("^at its end .return from main.: it has its system calls filtered")' true
}
