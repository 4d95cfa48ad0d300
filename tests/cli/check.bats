#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm check as a command: what is told where, exit codes, each option, captures, running processes, sweeps, children.

bats_require_minimum_version 1.5.0
load lib

GOLDEN=$BATS_TEST_DIRNAME/golden
CHECK=$BATS_FILE_TMPDIR/check.pmm

setup_file() { golden_captures check; }

# checked STATUS [OPTION...] -- CASE...: check_cases; its output in $T/out, messages in $T/err, $T as working directory.
checked() {
	local want=$1 options=() status=0
	shift
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	shift
	(cd "$T" && within "$PMM" check "${options[@]}" -- "$PROG/check_cases" "$@") >"$T/out" 2>"$T/err" </dev/null 3>&- || status=$?
	[ "$status" -eq "$want" ] || { echo "status $status"; cat "$T/err"; return 1; }
}

# found STATUS "TYPE BY COUNT,..." [OPTION...] -- CASE...: what JSON tells.
found() {
	local status=$1 want=$2 got
	shift 2
	checked "$status" --json --report found.json --budget all "$@" || return 1
	[ ! -s "$T/err" ] || { cat "$T/err"; return 1; }
	got=$(jq -r '.findings[] | "\(.type) \(.by) \(.count)"' "$T/found.json" | paste -sd,)
	[ "$got" = "$want" ] || { echo "found: $got"; return 1; }
}

# plain FILE: without what differs from run to run.
plain() {
	sed -E 's/pid [0-9]+/pid N/; s/thread [0-9]+/thread N/; s/0x[0-9a-f]+/ADDRESS/; s/[0-9.]+ (s|ms) (after|before)/TIME \2/
		s/under TIME/TIME/g; s/ran (under )?[0-9.]+ m?s/ran TIME/' "$1" | tr -s ' \n' ' '
}

refuses() { refused_with "$1" "$2" "$PMM" check "${@:3}"; }

@test "check: a variable is told as one wherever it lies" {
	local level
	for level in light guard; do
		within "$PMM" check --level=$level --json --report "$T/found.json" -- "$PROG/check_static"
		diff <(printf 'free_%s static\n' filled constant empty large last) <(jq -r '.findings[] |
			"\(first(.frames[] | select(.role == "program")).function) \(.place)"' "$T/found.json")
	done
}

@test "check: an error is told at once, with its three places" {
	checked 5 -- after
	diff <(plain "$T/err") <(tr -s ' \n' ' ' <<-EOF
		pmm: use after free in after, check_cases.c:$(grep -n 'void after' "$SOURCE/check_cases.c" | cut -d: -f1)
		 read of 4 bytes, 8 bytes into a block of 32 bytes that was freed
		 check_cases, pid N, main thread, TIME after the start:
		 after check_cases.c:$(grep -n 'void after' "$SOURCE/check_cases.c" | cut -d: -f1)
		 do_case check_cases.c:$(grep -n '"after"' "$SOURCE/check_cases.c" | cut -d: -f1)
		 main check_cases.c:$(grep -n 'do_case(argv' "$SOURCE/check_cases.c" | cut -d: -f1)
		 the block at ADDRESS was allocated with malloc by the same thread, TIME before:
		 make check_cases.c:$(grep -n 'char \*make' "$SOURCE/check_cases.c" | cut -d: -f1)
		 after check_cases.c:$(grep -n 'void after' "$SOURCE/check_cases.c" | cut -d: -f1)
		 do_case check_cases.c:$(grep -n '"after"' "$SOURCE/check_cases.c" | cut -d: -f1)
		 main check_cases.c:$(grep -n 'do_case(argv' "$SOURCE/check_cases.c" | cut -d: -f1)
		 it was freed by the same thread, TIME before:
		 drop check_cases.c:$(grep -n 'void drop' "$SOURCE/check_cases.c" | cut -d: -f1)
		 after check_cases.c:$(grep -n 'void after' "$SOURCE/check_cases.c" | cut -d: -f1)
		 do_case check_cases.c:$(grep -n '"after"' "$SOURCE/check_cases.c" | cut -d: -f1)
		 main check_cases.c:$(grep -n 'do_case(argv' "$SOURCE/check_cases.c" | cut -d: -f1)
		 $PROG/check_cases after
		 blocks the only block had canaries and guard pages
		 process check_cases, pid N, ran TIME, exited with status 5
		 found 1 error: 1 use after free; 1 canary scan of all live blocks
	EOF
	)
	[ "$(cat "$T/out")" = "done" ]
	[ -z "$(find "$T" -name '*.pmm')" ]
}

@test "check: no errors are one line; errors stand apart" {
	checked 5 -- clean
	[ "$(plain "$T/err")" = "pmm: check_cases, pid N: no blocks were allocated; no heap errors " ]
	checked 5 -- behind after twice
	[ "$(grep -c '^pmm: ' "$T/err")" -eq 3 ]
	[ "$(grep -c '^$' "$T/err")" -eq 3 ]
	[[ "$(plain "$T/err")" == *" found 3 errors: 1 heap overrun, 1 use after free, 1 double free; 1 canary scan of all live blocks "* ]]
}

@test "check: exit codes" {
	checked 5 -- clean
	checked 5 --error-exitcode 9 -- clean
	checked 9 --error-exitcode 9 -- after
	checked 137 -- after kill
	[[ "$(plain "$T/err")" == *"! its live blocks were not scanned at its end"* ]]
	checked 9 --error-exitcode 9 -- after kill
	run -0 "$PMM" check -- true
	run -3 "$PMM" check --error-exitcode 9 -- env "$PROG/leaf_static"
	run -0 "$PMM" check -- env "$PROG/leaf_static"
	run -0 "$PMM" check --error-exitcode 9 -- env -u LD_PRELOAD true
	run -4 "$PMM" check --error-exitcode 9 -- env -u LD_PRELOAD sh -c 'exit 4'
	run -3 "$PMM" check --error-exitcode 9 --report /dev/full -- true
}

@test "check: what cannot be told is counted, with its cause" {
	local full="pmm: cannot write the report: No space left on device" hint="pmm: hint: --report FILE writes it elsewhere"
	checked 5 --report /dev/full -- after twice
	[ "$(cat "$T/err")" = "$full; 2 heap errors were not reported"$'\n'"$hint" ]
	checked 5 --report /dev/full --json -- after
	[ "$(cat "$T/err")" = "$full"$'\n'"$hint" ]
	checked 9 --error-exitcode 9 --report /dev/full -- after
	[ "$(cat "$T/err")" = "$full; 1 heap error was not reported"$'\n'"$hint" ]
	refused_with 3 "${full#pmm: }" "$PMM" check --report /dev/full -- true
	refused_with 3 "${full#pmm: }" "$PMM" check --report /dev/full "$CHECK"
	within "$PMM" check "$CHECK" >/dev/full 2>"$T/err" || [ $? -eq 3 ]
	[ "$(cat "$T/err")" = "$full"$'\n'"$hint" ]
}

@test "check: levels" {
	found 5 "overrun release 1,double-free function 1,overrun sweep 1" --level=light -- behind after twice slack
	found 5 "overrun access 1,use-after-free access 1,double-free function 1,overrun sweep 1" -- behind after twice slack
	found 5 "overrun access 1,use-after-free access 1,double-free function 1,overrun sweep 1" --level=sampled --sample 1 --budget all -- behind after twice slack
	found 5 "" --level=sampled --sample 1T -- behind after slack
	[ "$(jq -r '.check | "\(.level) \(.guarded_blocks) \(.canaried_blocks)"' "$T/found.json")" = "sampled 0 0" ]
}

@test "check: identical errors are counted" {
	found 5 "use-after-free access 3" -- after after after
	found 5 "double-free function 2" --level=light -- twice twice
}

@test "check: requests that fail are none of the blocks that were not guarded" {
	found 5 "" -- vast vast
	[ "$(jq -c '.check | [.guarded_blocks, .canaried_blocks, .unguarded_for_size]' "$T/found.json")" = "[0,0,0]" ]
}

@test "check: limits make blocks canaried" {
	found 5 "overrun release 1" --max-guarded 0 -- behind after
	[ "$(jq -c '.check | [.guarded_blocks, .canaried_blocks, .unguarded_for_limit]' "$T/found.json")" = "[0,2,2]" ]
	found 5 "overrun access 1,use-after-free access 1" --no-madvise-guard -- behind after
	[ "$(jq -r .check.mechanism "$T/found.json")" = mprotect ]
	found 5 "overrun access 1" --no-madvise-guard --max-mappings 50000 -- behind
	found 5 "" --level=light --quarantine 0 -- clean
}

@test "check: blocks that begin at a page" {
	found 5 "overrun release 1" --left -- behind
	found 5 "overrun access 1" --right -- behind
}

@test "check: functions are asked, unless they are not to be" {
	found 5 "overrun function 1" -- fill
	[ "$(jq -r '.findings[0] | "\(.function_called) \(.size_bytes)"' "$T/found.json")" = "memset 49" ]
	found 5 "overrun access 1" --no-strings -- fill
	found 5 "overrun release 1" --no-strings --level=light -- fill
}

@test "check: names from outside do no harm to a terminal; lines fit 80 columns" {
	cp "$PROG/check_cases" "$T/"$'e\033[31mvil'
	(cd "$T" && within "$PMM" check --ledger-limit 64M -- ./e*vil behind after slack) >"$T/out" 2>"$T/err" 3>&- || [ $? -eq 5 ]
	grep -q 'use after free' "$T/err"
	run ! grep -q $'\033' "$T/err"
	checked 5 -- behind after twice slack fill fork
	[ "$(grep -vF "$PROG" "$T/err" | awk '{ if (length > n) n = length } END { print n }')" -le 80 ]	# a path is not broken
}

@test "check: no stack has a frame of the agent, wherever in a function of pmm's the error is met" {
	within "$PMM" check --json --report "$T/found.json" -- "$PROG/check_inside"
	[ "$(jq -r '.findings[].frames[].module' "$T/found.json" | grep -c libpmm)" -eq 0 ]
	diff <(printf 'in_%s\n' snprintf strlen strcmp memcpy wcslen strdup posix_memalign sigaction sigprocmask) <(jq -r '.findings[] |
		first(.frames[] | select(.stack == "error" and .role == "program") | .function)' "$T/found.json" | uniq)
	[ "$(jq -r '[.findings[] | select(.access == "write") | .frames[0].function] | join(" ")' "$T/found.json")" = in_posix_memalign ]
}

@test "check: requests for 0 bytes, garbage, requests that fail" {
	found 5 "" -- zero
	found 5 "size function 1" --zero-size -- zero
	checked 5 --garbage -- new
	grep -qx 'new aa' "$T/out"
	checked 5 --garbage=17 --level=light -- new
	grep -qx 'new 11' "$T/out"
	checked 5 --limit 63 -- new
	grep -qx none "$T/out"
	checked 5 --limit 64 -- new
	[ "$(grep -c '^new' "$T/out")" -eq 1 ]
	checked 5 --fail-rate 100 -- new new
	[ "$(grep -c none "$T/out")" -eq 2 ]
	checked 5 --fail-after 1 -- new new new
	[ "$(cut -c1-4 "$T/out" | paste -sd,)" = "new ,none,none,done" ]
	[[ "$(plain "$T/err")" == *"; 2 requests made to fail "* ]]
}

@test "check: after an error" {
	checked 5 --on-error=continue -- after
	checked 134 --on-error=abort -- after
	[ ! -s "$T/out" ]
	grep -q 'use after free in after' "$T/err"
	grep -q 'killed by signal 6' "$T/err"
	checked 134 --on-error=core -- after
	checked 9 --on-error=abort --error-exitcode 9 -- twice
}

@test "check: contents of memory only when asked for" {
	checked 5 -- slack
	run ! grep -q 'now at' "$T/err"
	found 5 "overrun sweep 1" -- slack
	[ "$(jq -c '.findings[0] | has("contents")' "$T/found.json")" = false ]
	checked 5 --show-bytes -- slack
	grep -q 'now at 0x[0-9a-f]*: 53' "$T/err"
	found 5 "overrun sweep 1" --show-bytes -- slack
	[ "$(jq -r '.findings[0].contents[:2]' "$T/found.json")" = 53 ]
}

@test "check: a report in a file, shallow stacks, no names" {
	checked 5 --report told --depth 1 -- after
	[ ! -s "$T/err" ]
	grep -q '^pmm: use after free' "$T/told"
	grep -q 'more frames (--depth 0 shows all)' "$T/told"
	checked 5 --no-symbols -- after
	run ! grep -q 'check_cases.c' "$T/err"
	grep -q 'check_cases+0x' "$T/err"
}

@test "check: children are checked, unless they are not to be" {
	checked 9 --error-exitcode 9 -- fork
	grep -q 'use after free in after' "$T/err"
	grep -q '^  processes  2, all checked$' "$T/err"
	grep -q '^    in check_cases, pid [0-9]*$' "$T/err"
	checked 5 --error-exitcode 9 --no-follow -- fork
	run ! grep -q 'processes' "$T/err"
	"$PMM" check -- sh -c 'ls / >/dev/null; ls / >/dev/null; true' 2>"$T/err"
	grep -q '^pmm: 3 processes checked: all [1-9][0-9,]* blocks had canaries' "$T/err"
	"$PMM" check --json --report "$T/found.json" -- sh -c 'ls / >/dev/null; ls / >/dev/null; true'
	json_is 2 .check.other_processes <"$T/found.json"
	checked 5 --json --report found.json -- fork
	[ "$(jq -c '[.process.exit_status, (.findings | length), .tree.processes]' "$T/found.json")" = "[5,1,2]" ]
}

@test "check: captures tell it again, reports name it" {
	checked 5 --json --report found.json -o c.pmm -- behind slack
	run -1 "$PMM" check "$T/c.pmm"
	run -7 "$PMM" check --error-exitcode 7 "$T/c.pmm"
	"$PMM" check --json "$T/c.pmm" >"$T/again.json" || [ $? -eq 1 ]
	diff "$T/found.json" "$T/again.json"
	"$PMM" report "$T/c.pmm" | grep -q "errors   2 heap errors, see 'pmm check $T/c.pmm'"
	"$PMM" check --top 1 "$T/c.pmm" >"$T/top" || [ $? -eq 1 ]
	grep -q '^  1 more (--top 0 shows all)$' "$T/top"
	run -1 "$PMM" check --report "$T/written" "$T/c.pmm"
	grep -q 'heap overrun' "$T/written"
	checked 5 -o c.pmm -- behind
	grep -q "^pmm: 'pmm check .*c.pmm' shows it again$" "$T/err"
	"$PMM" run -q -o "$T/d.pmm" -- true
	refuses 3 'the process of this capture was not checked for heap errors' "$T/d.pmm"
}

@test "check: the schema's keys are the documented ones" {
	"$PMM" check --json --show-bytes "$CHECK" >"$T/all.json" || [ $? -eq 1 ]
	jq -r 'to_entries[] | select(.key != "schema")
		| "\(.key): \([.value | if type == "array" then .[] else . end | keys[]] | unique | join(" "))"' "$T/all.json" | sort >"$T/keys"
	[ "$(jq -r .schema "$T/all.json")" = pmm-check/1.1 ]
	diff -u "$GOLDEN/check.keys.txt" "$T/keys"
	sed '/^process\|^warnings/d; s/.*: //' "$GOLDEN/check.keys.txt" | tr ' ' '\n' | while read -r key; do
		grep -q "[\`.]$key\`" "$ROOT/doc/json.md" || { echo "not in doc/json.md: $key"; return 1; }
	done
	jq -r '.findings[].frames[] | keys[]' "$T/all.json" | sort -u | while read -r key; do
		grep -q "[\`.]$key\`" "$ROOT/doc/json.md" || { echo "not in doc/json.md: $key"; return 1; }
	done
}

@test "check: what makes no sense is refused in a sentence" {
	refuses 2 "'--left' and '--right' contradict each other" --left --right -- true
	refuses 2 "'--uninit' runs Valgrind" --uninit --level=light -- true
	refuses 2 "'--uninit' runs Valgrind" --uninit -o x -- true
	refuses 2 "--fail-rate: '200' is not a percentage" --fail-rate 200 -- true
	refuses 2 "--fail-rate: 'nan' is not a percentage" --fail-rate nan -- true
	refuses 2 "--budget: 'x' is not a percentage" --budget x -- true
	refuses 2 "--budget: '-1' is not a percentage" --budget=-1 -- true
	refuses 2 "canary scans are not possible that often" --sweep=1ms -- true
	refuses 2 "canary scans are not possible that often" --sweep=0 $$
	refuses 2 "'foo' is not a choice of --level" --level=foo -- true
	refuses 2 "--limit: '0' is out of range" --limit=0 -- true
	refuses 2 "--garbage: '256' is out of range" --garbage=256 -- true
	refuses 2 "'--count' is for running processes" --count 3 -- true
	refuses 2 "'--count' is for running processes" --count 3 "$CHECK"
	refuses 2 "'--count' is for repeated canary scans" --count 3 --sweep $$
	refuses 2 "'--limit' is for a COMMAND" --limit 1M $$
	refuses 2 "'--level' is for a COMMAND" --level light "$CHECK"
	refuses 2 "'--uninit' is for a COMMAND" --uninit $$
	refuses 2 "'--uninit' runs Valgrind, which has no '--limit'" --uninit --limit 1M -- true
	refuses 2 "'--left' does nothing with '--level=light'" --left --level=light -- true
	refuses 2 "'--sample' does nothing with '--level=guard'" --sample 1K -- true
	grep -q "choose '--level=sampled'" "$T/said"
	refuses 2 "one capture or process at a time" "$CHECK" "$CHECK"
	refuses 2 "'--output' is for a COMMAND" -o x true
	refuses 2 "'--sweep' is for running processes" --sweep "$CHECK"
	refuses 3 "no process 99999999" 99999999
	refuses 3 "cannot find the program '$T/nothing'" -- "$T/nothing"
	refuses 3 "'/etc/passwd' may not be executed" -- /etc/passwd
	refuses 3 "'$T' is a directory" -- "$T"
	refuses 3 "cannot open '$T/nothing'" "$T/nothing"
	grep -q "a program is run with '--' before it: pmm check -- $T/nothing" "$T/said"
	refuses 3 "'$T' is a directory" "$T"
	mkfifo "$T/fifo"
	refuses 3 "'$T/fifo' is not a regular file" "$T/fifo"
	refuses 3 "'$PMM' is not a pmm capture" "$PMM"
	grep -q "a program is run with '--' before it: pmm check -- $PMM" "$T/said"
	head -c 300 /dev/zero >"$T/zero.pmm"
	refuses 3 "'$T/zero.pmm' is not a pmm capture" "$T/zero.pmm"
}

# begin [OPTION...] -- CASE...: check_cases in the background, until it waits; CHILD is its pid, CHECKER pmm's, its input is fd 8.
begin() {
	local options=()
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	shift
	mkfifo "$T/in"
	exec 8<>"$T/in"
	"$PMM" check "${options[@]}" -- "$PROG/check_cases" "$@" <"$T/in" >"$T/out" 2>"$T/err" 3>&- &
	CHECKER=$!
	await -p "$CHECKER" grep -q waiting "$T/out"
	CHILD=$(awk '/waiting/ { print $2 }' "$T/out")
}

# finish STATUS: everything that waits goes on.
finish() {
	local status=0
	printf 'go\ngo\ngo\n' >&8
	wait "$CHECKER" || status=$?
	exec 8>&-
	[ "$status" -eq "$1" ] || { echo "status $status"; cat "$T/err"; return 1; }
}

@test "check PID: what is known of a running process, and sweeps of it" {
	begin -- behind slack wait
	run -1 "$PMM" check --json "$CHILD"
	[ "$(jq -c '[.findings[].by]' <<<"$output")" = '["access"]' ]
	run -1 "$PMM" check --json --sweep "$CHILD"
	[ "$(jq -c '[[.findings[].by], .check.sweeps]' <<<"$output")" = '[["access","sweep"],1]' ]
	run -1 "$PMM" check --sweep=10ms --count 3 "$CHILD"
	[ "$(grep -c '^  heap overrun' <<<"$output")" -eq 2 ]
	finish 5
}

# recorded PID: CHILD is its child, which is tracked.
recorded() { CHILD=$(cat "/proc/$1/task/$1/children") && CHILD=${CHILD% } && [ -n "$CHILD" ] && "$PMM" report "$CHILD"; }

@test "check PID: a process that nobody checks is refused" {
	local pid runner
	sleep 1000 3>&- &
	pid=$!
	refuses 3 "process $pid is not checked: pmm does not track it" "$pid"
	grep -q "hint: start the program with 'pmm check -- COMMAND'; 'pmm attach --check $pid'" "$T/said"
	refuses 3 "process $pid is not checked: pmm does not track it" --sweep "$pid"
	kill "$pid"
	"$PMM" run -q -o "$T/x.pmm" -- sleep 1000 3>&- &
	runner=$!
	await -p "$runner" recorded "$runner"
	refuses 3 "process $CHILD is recorded, but not checked" "$CHILD"
	grep -q "hint: start the program with 'pmm check -- COMMAND'" "$T/said"
	refuses 3 "process $CHILD is recorded, but not checked" --sweep "$CHILD"
	kill "$CHILD"
	wait "$runner" || [ $? -eq 143 ]
	"$PMM" run -q -o "$T/x.pmm" -- "$PROG/check_cases" clean >/dev/null || [ $? -eq 5 ]
	refuses 3 "the process of this capture was not checked" "$T/x.pmm"
}

told() { [[ "$(plain "$T/err")" == *"$1"* ]]; }

# overruns N: so many have been told. (A sweep may come between allocation and damage; what it says then is another thing.)
overruns() { [ "$(grep -c 'heap overrun, of a block from' "$T/err")" -ge "$1" ]; }

@test "check --sweep=TIME -- COMMAND: found while it runs, between which sweeps, in the capture" {
	begin --sweep=20ms -o "$T/c.pmm" -- hold slack wait hurt wait
	await -p "$CHECKER" overruns 1
	printf 'x\n' >&8
	await -p "$CHECKER" overruns 2
	await -p "$CHECKER" told 'between the canary scans'
	finish 5
	"$PMM" check --json "$T/c.pmm" >"$T/c.json" || [ $? -eq 1 ]
	json_is '[["overrun","sweep"],["overrun","sweep"]]' '[.findings[] | [.type, .by]]' <"$T/c.json"
	json_is true '.findings[1] | has("well_at_ns")' <"$T/c.json"
	[ "$(jq '.check.sweeps > 2' "$T/c.json")" = true ]
	jq -e '.findings[1] | .well_at_ns < .first_ns' "$T/c.json"
}

@test "check --sweep=TIME -- COMMAND: what a sweep has found is no second error when the block is freed" {
	begin --sweep=20ms --level=light -o "$T/c.pmm" -- hold hurt wait let wait
	await -p "$CHECKER" overruns 1
	printf 'x\n' >&8
	await -p "$CHECKER" told 'heap overrun, found again in drop'
	await -p "$CHECKER" told 'free of a block of 33 bytes at ADDRESS, whose damage a canary scan has reported'
	finish 5
	told 'found 1 error: 1 heap overrun;'
	"$PMM" check --json "$T/c.pmm" >"$T/c.json" || [ $? -eq 1 ]
	json_is '[["sweep","free",true,true]]' '[.findings[] | [.by, .release, .freed_ns >= .first_ns,
		(first(.frames[] | select(.stack == "freed")) | .function == "drop")]]' <"$T/c.json"
	"$PMM" check "$T/c.pmm" | tr -s ' \n' ' ' | grep -q 'found again by its free in the main thread, [0-9.]* m*s later: drop'
}

@test "check --sweep=TIME PID: what a sweep has found is no second error when the block is freed" {
	local pid
	begin --level=light -- hold hurt wait let wait
	"$PMM" check --sweep=20ms "$CHILD" >"$T/sweeps" 2>&1 3>&- &
	pid=$!
	await -p "$pid" grep -q 'heap overrun, of a block from make' "$T/sweeps"
	printf 'x\n' >&8
	await -p "$pid" grep -q 'heap overrun, found again in drop' "$T/sweeps"
	finish 5
	wait "$pid" || [ $? -eq 1 ]
	[ "$(grep -c 'heap overrun, ' "$T/sweeps")" -eq 2 ]
	told 'found 1 error: 1 heap overrun;'
}

@test "check: a sample in which no block was says that nothing could be found" {
	local said="no block was in the sample that has guard pages, so no heap error could be found (--sample=BYTES sets how many are)"
	cd "$T"
	within "$PMM" check --level=sampled --sample=1T --width 300 -- "$PROG/leaf" 2>err
	[ "$(tr '\n' ' ' <err | sed "s/.*: no block/no block/; s/ *$//")" = "$said" ]
	within "$PMM" check --level=sampled --sample=1T --json --report found.json -- "$PROG/leaf"
	[[ $(jq -r .check.coverage found.json) = "$said"* ]]
	within "$PMM" run -q --sample=1M -o none.pmm -- "$PROG/leaf"
	"$PMM" report --width 300 none.pmm | grep -q '^  mode     sampled every 1.00 MiB: no live block was in the sample, so less than 3.00 MiB is live in 19 of 20 cases$'
}
