#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm leaks -- COMMAND: the program's output and status stay its own, the verdict goes elsewhere, exit codes are as asked for.

bats_require_minimum_version 1.5.0
load leaks

# command STATUS OPTION...: leak_shapes, its cases made once. Its output must be what it always is; messages in $T/err, $T as working directory.
command_is() {
	local want=$1 status=0
	shift
	(cd "$T" && echo g | within "$PMM" leaks "$@" -- "$PROG/leak_shapes") >"$T/out" 2>"$T/err" 3>&- || status=$?
	[ "$status" -eq "$want" ] || { echo "status $status"; cat "$T/err"; return 1; }
	[ "$(cat "$T/out")" = $'ready\ndone' ] || { cat "$T/out"; return 1; }
}

@test "leaks -- COMMAND: the verdict is on standard error, nothing is left behind" {
	command_is 0
	grep -q 'definitely lost' "$T/err"
	grep -q "at the program's end; it was held up for" "$T/err"
	grep -q 'leak_shapes.c:' "$T/err"
	[ -z "$(find "$T" -name '*.pmm')" ]
}

@test "leaks -- COMMAND: figures, in a file; the capture tells the same" {
	command_is 0 "${ALL[@]}" --report "$T/report.json" -o "$T/c.pmm"
	[ ! -s "$T/err" ] || { cat "$T/err"; return 1; }
	sums shapes exit "$T/report.json"
	search "$T/again.json" "$T/c.pmm"
	diff <(jq 'del(.tree, .untracked, .not_looked_at)' "$T/report.json") <(jq . "$T/again.json")
	[ "$(jq -c '[.tree.processes, .tree.looked_at]' "$T/report.json")" = "[1,1]" ]
}

@test "leaks -- COMMAND: Valgrind's form, read as memcheck's" {
	need xmllint
	command_is 0 --format valgrind-xml --show all --top 0 --no-default-suppressions --report "$T/report.xml"
	xmllint --noout "$T/report.xml"
	sums shapes exit "$T/report.xml"
}

@test "leaks -- COMMAND: exit codes" {
	command_is 0					# its own, whatever was found
	command_is 1 --fail-on=definite
	command_is 0 --fail-on=growth
	command_is 9 --error-exitcode 9
	command_is 9 --error-exitcode 9 --max-leaked 1
	command_is 0 --error-exitcode 9 --max-leaked 1M
	command_is 1 --max-leaked 1
	local status=0
	"$PMM" leaks --error-exitcode 9 -- false 2>"$T/err" || status=$?
	[ "$status" -eq 1 ]
	grep -q 'no leaks were found' "$T/err"
	status=0
	"$PMM" leaks -- sh -c 'kill -TERM $$' 2>"$T/err" || status=$?
	[ "$status" -eq 143 ]
}

@test "leaks -- COMMAND: no verdict is no good one, when it was asked for" {
	"$PMM" leaks -- env "$PROG/leaf_static" 2>"$T/err"
	run -3 "$PMM" leaks --fail-on=definite -- env "$PROG/leaf_static"
	run -0 "$PMM" leaks --fail-on=definite -- env -u LD_PRELOAD true
	run -3 "$PMM" leaks --fail-on=definite --report /dev/full -- true
	run -5 "$PMM" leaks --fail-on=definite -- env -u LD_PRELOAD sh -c 'exit 5'
}

@test "leaks -- COMMAND: suppressions that it wrote itself" {
	command_is 1 --gen-suppressions --show all --fail-on definite --report "$T/own.supp"
	command_is 0 --fail-on definite,indirect,possible --suppressions "$T/own.supp"
	grep -q 'suppressed' "$T/err"
}

@test "leaks -- COMMAND: children are told of, each" {
	(cd "$T" && echo g | within "$PMM" leaks --fail-on none -- sh -c "$PROG/leak_shapes; exit 5") >"$T/out" 2>"$T/err" || [ $? -eq 5 ]
	[ "$(cat "$T/out")" = $'ready\ndone' ]
	grep -q 'leak_shapes, pid' "$T/err"
}

@test "leaks -- COMMAND: bad input is refused before it runs" {
	local status
	refuse() {
		status=0
		"$PMM" leaks "${@:2}" -- touch "$T/ran" >"$T/out" 2>"$T/err" || status=$?
		[ "$status" -eq "$1" ] && [ ! -e "$T/ran" ] && [ ! -s "$T/out" ] || { echo "status $status"; cat "$T/err"; return 1; }
		sed -n 2p "$T/err" | grep -q '^pmm: hint: ' || { cat "$T/err"; return 1; }
	}
	refuse 2 --every 1s
	refuse 2 --show-bytes
	refuse 2 --core "$T/core"
	refuse 3 --report "$T/none/report"
	refuse 3 -o "$T/none/c.pmm"
	refuse 3 --suppressions "$T/none"
	status=0
	"$PMM" leaks "$PROG/leak_shapes" 2>"$T/err" || status=$?
	[ "$status" -eq 3 ]
	grep -q "hint: a program is run with '--' before it" "$T/err"
	status=0
	"$PMM" leaks "$PROG/leak_shapes" more 2>"$T/err" || status=$?
	[ "$status" -eq 2 ] && grep -q "hint: a program is run with '--' before it" "$T/err"
}

@test "leaks, check: a verdict that its file has no room for is said, and the exit code stays its own" {
	need_root
	cd "$T"
	local what full="pmm: cannot write the report 'small/r': No space left on device"
	mkdir small
	mount -t tmpfs -o size=4k none small || skip "cannot mount a tmpfs"
	head -c 4k /dev/zero >small/fill
	"$PMM" run --leaks -q -o lost.pmm -- "$PROG/leak_shapes" <<<g >out
	for what in "leaks -- $PROG/leak_shapes" "leaks lost.pmm" "leaks --json lost.pmm" "check -- $PROG/check_cases after"; do
		# shellcheck disable=SC2086
		run -9 within "$PMM" ${what%% *} --error-exitcode 9 --report small/r ${what#* } <<<g
		[[ $output == *leak_shapes.c*"$full"* || $output == *"check_cases.c"*"$full"* ]]
	done
	run -3 "$PMM" leaks --report small/r -- true
	[[ $output == *"no leaks were found"*"$full"* ]]
	# the file is there already, and has room for some of it
	rm small/fill
	run -9 within "$PMM" check --error-exitcode 9 --report small/r -- "$PROG/check_trickle"
	cp small/r got
	umount small
	grep -q 'found in f0,' got
	[[ $output == *"found in f19,"*"20 errors"*"$full"* ]]
	[[ $output != *"found in f0,"* ]]
}

@test "leaks, check: the file of a report is replaced when that is complete, and stays when there is none" {
	local cmd
	cd "$T"
	"$PMM" run -q -o plain.pmm -- true
	for cmd in leaks check; do
		echo older >r
		refused_with 3 "was not" "$PMM" $cmd --report r plain.pmm
		refused_with 3 "cannot" "$PMM" $cmd --report r missing.pmm
		run "$PMM" $cmd --report r -- ./no-such-program
		run "$PMM" $cmd --report r -- "$PROG/leaf_static"
		[ "$(cat r)" = older ]
		run -0 "$PMM" $cmd --report r -- true
		[ -s r ]
		[ "$(cat r)" != older ]
		[ "$(stat -c %a r)" = 600 ]
		[ "$(echo .pmm-*)" = '.pmm-*' ]
	done
}

@test "leaks, check: --report has no name of a process, no stdout of a COMMAND, no pipe without a reader" {
	local cmd
	cd "$T"
	mkfifo pipe
	for cmd in leaks check; do
		refused_with 2 "standard output is the program's" "$PMM" $cmd --report - -- true
		refused_with 2 "have no meaning in its name" "$PMM" $cmd --report r.%p -- true
		refused_with 3 "cannot write to 'pipe': no process reads it" "$PMM" $cmd --report pipe -- true
		[ ! -e - ]
		rm -f got
		exec 9<>pipe		# a reader, whenever the other one comes
		cat pipe >got 3>&- 9>&- &
		within "$PMM" $cmd --report pipe -- true 9>&-
		await -p $! test -s got
		exec 9>&-
		wait $!
		[ -s got ]
	done
	refused_with 3 "cannot read the suppressions in 'pipe': it is a named pipe" "$PMM" leaks --suppressions pipe -- true
	"$PMM" leaks --suppressions <(:) -- true
	"$PMM" check -o c.pmm -- true
	[ "$("$PMM" check --report - c.pmm)" = "$("$PMM" check c.pmm)" ]
	[ ! -e - ]
}

# The report of a program that runs on is there when there is something in it, in place of an older file.
@test "check --report: an error is in the file while the program runs, whatever becomes of pmm" {
	cat >"$T/v.c" <<-'END'
	#include <stdlib.h>
	#include <unistd.h>
	int main(void) { char *p = malloc(20); free(p); (void)*(volatile char *)p; write(1, "x", 1); sleep(600); }
	END
	gcc -g -o "$T/v" "$T/v.c"
	echo older >"$T/file"
	"$PMM" check --report "$T/file" -- "$T/v" >"$T/out" 2>"$T/said" 3>&- &
	local pid=$! found='' children
	! await -p "$pid" grep -q "use after free in main, v.c:3" "$T/file" || found=1
	children=$(pgrep -P "$pid")
	kill -KILL "$pid"	# first: when the program has ended, it writes once more
	wait "$pid" || true
	# shellcheck disable=SC2086
	kill -KILL $children
	[ "$found" = 1 ] || { cat "$T/file" "$T/said"; false; }
	[ "$(grep -c older "$T/file")" -eq 0 ]
	[ "$(stat -c %a "$T/file")" = 600 ]
}
