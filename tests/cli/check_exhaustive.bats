#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm check --exhaustive: several runs of a program, one report.

bats_require_minimum_version 1.5.0
load lib

setup() { cd "$T" || return 1; }

# exhausted STATUS OPTIONS CASE...: check_exact in all runs; findings in found.json, output in out, messages in err, nothing else left behind.
exhausted() {
	local want=$1 options=$2 status=0
	shift 2
	mkdir -p tmp
	# shellcheck disable=SC2086
	TMPDIR=$T/tmp within "$PMM" check --exhaustive --json --report found.json --budget all $options -- "$(path check_exact)" "$@" >out 2>err \
		<"${INPUT:-/dev/null}" || status=$?
	[ "$status" -eq "$want" ] || { echo "status $status"; cat err; return 1; }
	[ ! -s err ] || { cat err; return 1; }
	rmdir tmp
}

# findings: "TYPE BY ACCESS COUNT FUNCTION RUNS" each; runs: "NAME ENDED STATUS FINDINGS LEFT_OUT GUARDED OTHERS" each.
findings() {
	jq -r '.findings[] | "\(.type) \(.by) \(.access // "-") \(.count) \([.frames[] | select(.stack == "error")][0].function) \(.runs)"' found.json | sort
}

runs() {
	jq -r '.runs[] | "\(.name) \(.ended) \(.status) \(.findings) \(.left_out) \(.guarded_blocks) \(.other_processes)"' found.json
}

@test "each error is told once, with the runs that met it, by the one that met it in the act" {
	exhausted 0 "" late before slack
	diff <(printf '%s\n' "overrun access read 1 slack exact" "overrun access write 3 late right,left,exact" "underrun access read 1 before left") \
		<(findings)
	diff <(printf '%s\n' "right exited 0 1 0 3 0" "left exited 0 2 0 3 0" "exact exited 0 2 0 3 0") <(runs)
	[ "$(jq '.check.findings' found.json)" -eq 3 ]
}

@test "a crash at an address that no processor has" {
	local status=0
	within "$PMM" check --exhaustive --json --report found.json -- "$PROG/check_crash" no-address >out 2>err </dev/null || status=$?
	[ "$status" -eq 139 ]
	[ "$(jq -r '.findings[] | "\(.type) \(.place) \(.runs)"' found.json)" = "crash no-address right,left,exact" ]
}

@test "without errors: three runs that say so" {
	exhausted 0 ""
	diff /dev/null <(findings)
	within "$PMM" check --exhaustive -- "$(path check_exact)" 2>err </dev/null
	grep -q '^  found    no heap errors' err
	[ "$(grep -c 'exited with status 0; no blocks were allocated$' err)" -eq 3 ]
}

@test "code that cannot stand byte-exact ends is no error, and the report says so" {
	exhausted 0 "" slack header
	diff <(echo "overrun access read 1 slack exact") <(findings)
	diff <(printf '%s\n' "right exited 0 0 0 2 0" "left exited 0 0 0 2 0" "exact killed 11 2 1 2 0") <(runs)	# the crash is left out
	exhausted 0 "" tag
	diff /dev/null <(findings)
	diff <(printf '%s\n' "right exited 0 0 0 1 0" "left exited 0 0 0 1 0" "exact exited 0 1 1 1 0") <(runs)
	within "$PMM" check --exhaustive -- "$(path check_exact)" tag header 2>err </dev/null
	tr -s ' \n' ' ' <err >err.line
	grep -q "exact: killed by signal 11 (SIGSEGV); all 2 blocks had canaries and guard pages" err.line
	grep -q "the run 'exact' ended in another way than the others: blocks are aligned there only as far as their size is" err.line
	grep -q "That is no error of the program's. 2 errors of other kinds met in the run 'exact' alone are left out, since code may lack alignment there." err.line
}

@test "the exit status is the program's, or the one asked for errors" {
	exhausted 7 "" status 7
	exhausted 7 "" late status 7
	exhausted 9 "--error-exitcode 9" late status 7
	exhausted 7 "--error-exitcode 9" status 7
	exhausted 0 "--error-exitcode 9" header
}

@test "children's errors are told once as well" {
	exhausted 0 "" child slack
	diff <(printf '%s\n' "overrun access read 1 slack exact" "overrun access read 1 slack exact" "overrun access write 3 late right,left,exact") \
		<(findings)
	within "$PMM" check --exhaustive -- "$(path check_exact)" child 2>err </dev/null
	grep -q "exited with status 0; no blocks were allocated; 1 other process" <(tr -s " \n" " " <err)
	grep -q "in the run 'exact', in another process, check_exact, main thread" <(tr -s ' \n' ' ' <err)
	[ "$(jq -r '[.findings[] | .process // "-"] | sort | join(" ")' found.json)" = "- check_exact check_exact" ]
	diff <(printf '%s\n' "right exited 0 1 0 1 1" "left exited 0 1 0 1 1" "exact exited 0 3 0 1 1") <(runs)
}

@test "standard input is read again from where it was; what cannot be is refused" {
	printf 'first\nsecond\n' >in
	INPUT=in exhausted 0 "" input
	diff <(printf 'first\nsecond\nfirst\nsecond\nfirst\nsecond\n') out
	(read -r line; [ "$line" = first ]; exec within "$PMM" check --exhaustive -- "$(path check_exact)" input >out 2>err) <in || true
	[ "$(wc -l <out)" -eq 0 ]		# bash has read all of it
	refused_with 2 "standard input can be read only once, and '--exhaustive' runs the program several times" \
		bash -c 'true | "$@"' - "$PMM" check --exhaustive -- "$(path check_exact)" input
	within "$PMM" check --exhaustive -- "$(path check_exact)" late 2>err <&-
	grep -q '1 heap overrun' err
}

@test "what does not go with it is refused" {
	local option
	for option in --left --right "-o x.pmm"; do
		# shellcheck disable=SC2086
		refused_with 2 "'--exhaustive' is for both ends, and keeps no captures" "$PMM" check --exhaustive $option -- true </dev/null
	done
	refused_with 2 "'--exhaustive' does nothing with '--level=light'" "$PMM" check --exhaustive --level=light -- true </dev/null
	refused_with 3 "cannot find the program 'nothing-there'" "$PMM" check --exhaustive -- nothing-there </dev/null
}

@test "the text: a run's name with each error, names of functions from whichever run it was" {
	within "$PMM" check --exhaustive -- "$(path check_exact)" late before 2>err </dev/null
	diff <(printf '%s\n' "in the run 'left'" "in the runs 'right', 'left', 'exact'") \
		<(grep -o "in the runs* '[a-z]*'\(, '[a-z]*'\)*" err | sort)
	[ "$(grep -c '  main  check_exact.c:' err)" -eq 4 ]
	! grep -q 'alone' err || false
	[ "$(grep -c '  late  check_exact.c:' err)" -eq 2 ]
}

@test "a program that is interrupted is not run again" {
	local pid status=0
	"$PMM" check --exhaustive -- sh -c 'echo started; exec sleep 100' >out 2>err </dev/null 3>&- &
	pid=$!
	await -p $pid test -s out
	kill -TERM $pid
	wait $pid || status=$?
	[ $status -eq 143 ] || { echo "status $status"; cat err; return 1; }
	grep -q 'right: killed by signal 15' err
	grep -q 'left: not made$' err
	grep -q 'exact: not made$' err
	[ "$(cat out)" = started ]
}

@test "a program that never ends for want of alignment is ended" {
	within "$PMM" check --exhaustive -- "$(path check_exact)" slack hang 2>err </dev/null
	tr -s ' \n' ' ' <err >err.line
	grep -q 'exact: ended by pmm, as it took ten times longer than the others; all 2 blocks had canaries and guard pages' err.line
	grep -q "in the run 'exact'" err
	grep -q 'found 1 error: 1 heap overrun' err.line
	grep -q "1 error met in the run 'exact' alone: code that rounds the addresses of its blocks up to 16 before it uses them may be right" err.line
}

@test "a run whose pmm is killed is said to be lost" {
	local status=0
	within "$PMM" check --exhaustive -- sh -c 'kill -9 $PPID' 2>err </dev/null || status=$?
	[ "$status" -eq 137 ] || { echo "status $status"; cat err; return 1; }
	grep -q -x 'pmm: WARNING: run 1 of 3 is lost: signal 9 ended the pmm that made it' err
}
