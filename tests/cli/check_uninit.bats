#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm check --uninit: Valgrind runs the program, pmm tells what it found.

bats_require_minimum_version 1.5.0
load lib

setup() {
	[[ $BATS_TEST_DESCRIPTION == *missing* ]] || need valgrind
	mkdir "$T/tmp"
	export TMPDIR=$T/tmp
}

# checked STATUS [OPTION...] -- CMD...: its output in $T/out, messages in $T/err; nothing is left in TMPDIR.
checked() {
	local want=$1 status=0
	shift
	(cd "$T" && within "$PMM" check --uninit "$@") >"$T/out" 2>"$T/err" </dev/null 3>&- || status=$?
	[ "$status" -eq "$want" ] || { echo "status $status"; cat "$T/err"; return 1; }
	[ -z "$(ls -A "$T/tmp")" ] || { find "$T/tmp"; return 1; }
}

# found FILE LINE...: "TYPE ACCESS FUNCTION" of each finding of all documents, FUNCTION the first of check_cases.c.
found() {
	local file=$1
	shift
	diff <(printf '%s\n' "$@") <(jq -r '.findings[] | [.type, .access // "-", (first(.frames[] | select(.stack == "error" and
		((.file // "") | endswith("check_cases.c")))) | .function)] | join(" ")' "$file")
}

@test "uninit: what the program puts among Valgrind's files is not waited for, and goes with them" {
	checked 0 -- sh -c 'cd "$TMPDIR"/pmm-uninit-* && mkfifo 99 && ln -s /dev/zero 98'
	[ "$(cat "$T/err")" = 'pmm: Valgrind found no errors in 3 processes' ]
}

@test "uninit: kinds of errors, their three places" {
	checked 5 --json --report found.json -- "$PROG/check_cases" blank behind after twice
	[ "$(cat "$T/out")" = "done" ]
	[ ! -s "$T/err" ]
	found "$T/found.json" "uninitialised - blank" "overrun write behind" "use-after-free read after" "double-free - drop"
	[ "$(jq -c '[.findings[] | [.block_bytes, ([.frames[].stack] | unique)]]' "$T/found.json")" = \
		'[[null,["allocated","error"]],[48,["allocated","error"]],[32,["allocated","error","freed"]],[24,["allocated","error","freed"]]]' ]
	jq -e '.findings | all(.by == "valgrind")' "$T/found.json"
}

@test "uninit: told at once as text, summed at the end" {
	checked 5 -- "$PROG/check_cases" blank after
	grep -qx 'pmm: uninitialised memory in blank, check_cases.c:[0-9]*' "$T/err"
	grep -qx '  Conditional jump or move depends on uninitialised value(s)' "$T/err"
	grep -qx 'pmm: use after free in after, check_cases.c:[0-9]*' "$T/err"
	grep -qx '  read of 4 bytes, 8 bytes into a block of 32 bytes that was freed' "$T/err"
	[ "$(tail -1 "$T/err")" = "pmm: Valgrind found 2 errors in 1 process" ]
	checked 5 -- "$PROG/check_cases" clean
	[ "$(cat "$T/err")" = "pmm: Valgrind found no errors in 1 process" ]
}

@test "uninit: the exit status is the program's unless errors have one" {
	checked 5 --error-exitcode 9 -- "$PROG/check_cases" clean
	checked 9 --error-exitcode 9 -- "$PROG/check_cases" after
	checked 137 -- "$PROG/check_cases" after kill
	grep -q 'use after free in after' "$T/err"
	checked 0 --error-exitcode 9 -- true
}

@test "uninit: children, and children left alone" {
	checked 9 --error-exitcode 9 -- sh -c "'$PROG/check_cases' after; exit 0"
	grep -q 'use after free in after' "$T/err"
	checked 0 --error-exitcode 9 --no-follow -- sh -c "'$PROG/check_cases' after; exit 0"
	[ "$(cat "$T/out")" = "done" ]
}

@test "uninit: Valgrind is missing" {
	local dir=$T/bin
	mkdir "$dir"
	ln -s "$(command -v sleep)" "$dir/sleep"
	run -3 env PATH="$dir" "$PMM" check --uninit -- "$PROG/check_cases" clean
	[[ "$output" == "pmm: Valgrind, which '--uninit' needs, is not installed"* ]]
	[[ "$output" == *"hint: apt-get install valgrind"* ]]
	[ -z "$(ls -A "$T/tmp")" ]
}

@test "uninit: a program that is not there, a directory, a file that may not be executed" {
	checked 3 -- "$T/nothing"
	[ "$(head -1 "$T/err")" = "pmm: cannot find the program '$T/nothing'" ]
	checked 3 -- "$T"
	checked 3 -- /etc/passwd
}

@test "uninit: threads by Valgrind's count, stacks without its own functions" {
	checked 5 -- "$PROG/check_cases" blank thread
	tr -s ' \n' ' ' <"$T/err" | grep -q "check_cases, pid [0-9]*, main thread, [0-9.]* m*s after the start:.*check_cases, pid [0-9]*, thread 2 by Valgrind's count, [0-9.]* m*s after the start:"
	[ "$(grep -c '^  the memory was allocated with malloc:$' "$T/err")" -eq 2 ]
	[ "$(grep -A1 'allocated with malloc:$' "$T/err" | grep -c '^    make  check_cases.c:[0-9]*$')" -eq 2 ]
	checked 5 --json --report found.json -- "$PROG/check_cases" blank thread
	json_is '[[true,1],[null,2]]' '.process.pid as $pid | [.findings[] | [if .tid then .tid == $pid else null end, .valgrind_thread]]' <"$T/found.json"
	json_is '["check_cases","exited",5,"uninit"]' '[.process | .comm, .end, .exit_status] + [.check.level]' <"$T/found.json"
	jq -e '.findings | all(.frames | all(has("module")))' "$T/found.json"
	run ! grep -q vgpreload "$T/found.json"
}

@test "uninit: nothing found, and a report that cannot be written" {
	checked 5 --json --report found.json -- "$PROG/check_cases" clean
	json_is '[]' .findings <"$T/found.json"
	[ ! -s "$T/err" ]
	checked 3 --json --report /dev/full -- true
	[ "$(head -1 "$T/err")" = "pmm: cannot write the report: No space left on device" ]
	[ "$(wc -l <"$T/err")" -eq 2 ]
}

# ended PID: also when nobody has asked for its status yet.
ended() { [ ! -d "/proc/$1" ] || grep -q '^[0-9]* .*) Z' "/proc/$1/stat"; }

waits() { grep -q waiting "$T/out"; }

@test "uninit: interrupted, it leaves nothing behind" {
	local checker status=0
	mkfifo "$T/in"
	exec 8<>"$T/in"
	# a terminal sends the signal to all of the group; the shell has it ignored in the background
	setsid env --default-signal=INT "$PMM" check --uninit -- "$PROG/check_cases" after wait <"$T/in" >"$T/out" 2>"$T/err" 3>&- 8>&- &
	checker=$!
	await -p "$checker" waits
	[ -n "$(ls -A "$T/tmp")" ]
	kill -INT -- "-$checker"
	await ended "$checker"
	exec 8>&-
	wait "$checker" || status=$?
	[ "$status" -eq 130 ] || { echo "status $status"; cat "$T/err"; return 1; }
	[ -z "$(ls -A "$T/tmp")" ]
	grep -q 'use after free in after' "$T/err"
}

@test "uninit: a signal is passed on to the program" {
	local pid status=0
	mkfifo "$T/in"
	exec 8<>"$T/in"
	"$PMM" check --uninit -- "$PROG/check_cases" wait <"$T/in" >"$T/out" 2>"$T/err" 3>&- 8>&- &
	pid=$!
	await -p "$pid" grep -q waiting "$T/out"
	kill -TERM "$pid"
	wait "$pid" || status=$?
	exec 8>&-
	[ "$status" -eq 143 ] || { echo "status $status"; cat "$T/err"; return 1; }
	[ -z "$(ls -A "$T/tmp")" ]
}

@test "uninit: a signal that a child of the program sends to all of them comes once" {
	local pid status=0
	mkfifo "$T/in"
	exec 8<>"$T/in"
	# shellcheck disable=SC2016 # the program's own
	setsid "$PMM" check --uninit --no-follow -- sh -c 'trap "echo got" USR1; trap "exit 5" TERM
		(trap "" USR1; exec sh -c "echo ready; read x; kill -USR1 0; read x") <"$1" & while :; do wait; done' sh "$T/in" \
		>"$T/out" 2>"$T/err" 3>&- 8>&- &
	pid=$!
	await -p "$pid" grep -q ready "$T/out"
	kill -STOP "$pid"	# until the program's own has been dealt with, so that a second one is not the same
	echo >&8
	await -p "$pid" grep -q got "$T/out"
	kill -TERM "$pid"	# is passed on behind it
	kill -CONT "$pid"
	wait "$pid" || status=$?
	exec 8>&-
	[ "$status" -eq 5 ] || { echo "status $status"; cat "$T/err"; return 1; }
	[ "$(grep -c got "$T/out")" -eq 1 ] || { cat "$T/out"; return 1; }
}
