#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Standard output that cannot be written: every command says so in one sentence and ends with 3; what pmm launches finds its descriptors as
# they were.

bats_require_minimum_version 1.5.0
load attach

# refuses REASON OPERANDS...: pmm with the standard output that the caller has set up; again as long as it says that the machine is too slow for it.
refuses() {
	local reason=$1 status end=$((SECONDS + LIMIT))
	shift
	while :; do
		status=0
		within "$PMM" "$@" 2>"$T/refused.err" 3>&- 7>&- 8<&- || status=$?
		grep -q -E 'the machine is too busy|it takes too long' "$T/refused.err" && [ $SECONDS -lt $end ] || break
	done
	[ "$status" -eq 3 ] && [ "$(wc -l <"$T/refused.err")" -eq 1 ] && grep -q "^pmm: cannot .*: $reason$" "$T/refused.err" ||
		{ echo "pmm $*: status $status"; cat "$T/refused.err"; return 1; } >&2
}

captured() { cat "$T/c.pmm" 2>/dev/null | sha1sum; }

# neither OPERANDS...: neither to a full device nor where nothing is open; a file of pmm's own is not written to instead.
neither() {
	local before
	refuses "No space left on device" "$@" >/dev/full
	before=$(captured)
	refuses "Bad file descriptor" "$@" >&-
	refuses "Bad file descriptor" "$@" <&- >&-
	[ "$(captured)" = "$before" ]
}

@test "every command whose standard output cannot be written ends with 3 and one sentence" {
	local c=$T/c.pmm
	"$PMM" run -q --leaks -o "$c" -- "$PROG/leave_exit" exit >/dev/null 2>&1 || [ $? -eq 3 ]
	while read -r -a words; do
		neither "${words[@]}"
	done <<-EOF
		--version
		--help
		help
		help leaks
		help --man
		help --man attach
		help --list
		help --completion bash
		help --completion zsh
		run --help
		report $c
		report --json $c
		leaks $c
		leaks --json $c
		leaks --format valgrind-xml $c
		leaks --gen-suppressions $c
		leaks --gen-suppressions=lsan $c
		doctor
		doctor --json
	EOF
}

@test "... of a process that runs, too" {
	need_attach
	start "$PROG/attach_victim"
	neither attach -q -d 1 "$PID"
	neither attach -q --json -d 1 "$PID"
	watch
	neither leaks "$PID"
	neither leaks --json --every 1 --count 2 "$PID"
	neither report "$PID"
	unwatch
	clean
	finish 42
}

@test "a program that is launched without standard descriptors has none" {
	local fds='for fd in 0 1 2 9; do [ ! -e /proc/self/fd/$fd ] || printf "%s " "$fd" >&9; done'
	[ -z "$(sh -c "$fds" 9>&1 >&- <&- 2>&- | tr -d ' 9')" ]
	[ "$("$PMM" run -q -o "$T/c.pmm" -- sh -c "$fds" 9>&1 >&- <&- 2>&-)" = "9 " ]
	[ "$("$PMM" leaks --report "$T/verdict" -- sh -c "$fds" 9>&1 >&- <&- 2>&-)" = "9 " ]
	grep -q "still reachable" "$T/verdict"
}
