#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What ends a process is a finding, or is said: faults, abort(), handlers that end it, signals that somebody sent (agent/fault/crash.h).

load lib

setup() { cd "$T" || return 1; }

# died LEVEL HOW: natively and checked: same output and status. What was found is in $T/found, its JSON in $T/found.json.
died() {
	local level=$1 native=0 checked=0
	(ulimit -c 0; within "$PROG/check_crash" "$2" >native.out 2>native.err </dev/null) || native=$?
	(ulimit -c 0; within "$PMM" check --json --report found.json --level="$level" --budget all -- "$PROG/check_crash" "$2" \
		>checked.out 2>checked.err </dev/null) || checked=$?
	cmp native.out checked.out || { echo "$level $2"; diff native.out checked.out; return 1; }
	[ "$native" -eq "$checked" ] || { echo "$level $2: status $checked, natively $native"; cat checked.err; return 1; }
	jq -r '.findings[] | [.type, .signal // "-", .place // "-", .access // "-", .ended_by // .ended_with // "-",
		([.frames[] | select(.stack == "error" and .role == "program") | .function] | first // "-")] | map(tostring) | join(" ")' found.json >found
}

# found LINE...: exactly these, "TYPE SIGNAL PLACE ACCESS END FUNCTION"; none without an argument.
found() {
	diff <([ $# -eq 0 ] || printf '%s\n' "$@") found
}

# crashes LEVELS HOW LINE...
crashes() {
	local levels=$1 how=$2 level
	shift 2
	for level in $levels; do
		died "$level" "$how" || return 1
		found "$@" || { echo "$level $how"; return 1; }
	done
}

ALL="light guard sampled"

# said HOW [OPTION...]: what is told in the end, without numbers of processes.
said() {
	local how=$1
	shift
	(ulimit -c 0; within "$PMM" check --report told "$@" -- "$PROG/check_crash" "$how" >out 2>err </dev/null) || true
	tr '\n' ' ' <told | sed -E 's/pid [0-9]+/pid N/g; s/ +/ /g; s/ $//'
}

@test "a null pointer, also where nothing was ever allocated, and in another thread" {
	crashes "$ALL" null "crash SIGSEGV null write - at"
	crashes "$ALL" bare "crash SIGSEGV null write - at"
	crashes "$ALL" thread "crash SIGSEGV null write - at"
	[ "$(jq -r '.findings[0] | .address, .what, .size_bytes, .count' found.json | tr '\n' ' ')" = \
		"0x20 write of 4 bytes at 0x20, 32 bytes from a null pointer 4 1 " ]
	[ "$(jq '.findings[0].tid == .process.pid' found.json)" = false ]
	crashes "$ALL" jump-null "crash SIGSEGV null execute - mapped"
}

@test "what lies at the address is told: mapped and not accessible, of which file, behind its end, not mapped, impossible" {
	crashes "$ALL" constant "crash SIGSEGV forbidden write - at"
	[ "$(jq -r '.findings[0] | .mapping_access, .mapping' found.json | xargs)" = "r-- $(realpath "$PROG/check_crash")" ]
	crashes "$ALL" read-only-file "crash SIGSEGV forbidden write - at"
	jq -r '.findings[0].what' found.json | grep -q '^write of 4 bytes at 0x[0-9a-f]*, in memory that cannot be written (r--), of data.bin$'
	crashes "$ALL" past-file "crash SIGBUS past-file write - at"
	crashes "$ALL" no-access "crash SIGSEGV forbidden read - from"
	crashes "$ALL" unmapped "crash SIGSEGV unmapped read - from"
	crashes "$ALL" jump-data "crash SIGSEGV forbidden execute - mapped"
	crashes "$ALL" no-address "crash SIGSEGV no-address read - from"
	[ "$(jq -r '.findings[0].what' found.json)" = "read of 4 bytes at 0x4141414141414140, where no memory can be" ]
}

@test "a pointer out of a released block's poison is told as that" {
	crashes light poison "crash SIGSEGV no-address read - chase"
	[ "$(jq -r '.findings[0].what' found.json)" = \
		"read of 4 bytes at 0xfdfdfdfdfdfdfe05, where no memory can be: the pointer was read from a block that was freed" ]
}

@test "the block that it is in or beside is told, with where it was allocated and freed" {
	for level in light guard; do
		died $level jump-heap
		found "crash SIGSEGV forbidden execute - mapped"
		jq -r '.findings[0].what' found.json | grep -q ", at the start of a block of 64 bytes$"
		died $level large
		found "crash SIGSEGV forbidden write - at"
		jq -r '.findings[0].what' found.json | grep -q ", 8,192 bytes behind the end of a block of 4,194,304 bytes$"
		[ "$(jq '[.findings[0].frames[].stack] | unique' -c found.json)" = '["allocated","error"]' ]
		died $level large-freed
		found "crash SIGSEGV unmapped write - at"
		jq -r '.findings[0].what' found.json | grep -q ", where no memory is mapped, 1,000 bytes into a block of 4,194,304 bytes that was freed$"
		[ "$(jq '[.findings[0].frames[].stack] | unique' -c found.json)" = '["allocated","error","freed"]' ]
	done
}

@test "a stack that ran over is one error, and what ended the program" {
	for how in overflow overflow-thread; do
		crashes "$ALL" $how "stack-overflow SIGSEGV - write - deeper"
		[ "$(jq -r '.findings[0].what' found.json)" = "the stack ran over its end; the program ended by it (SIGSEGV)" ]
	done
	crashes "$ALL" overflow-caught "stack-overflow SIGSEGV - write 4 deeper"
	[ "$(jq -r '.findings[0].what' found.json)" = "the stack ran over its end; its handler ended the program with status 4" ]
}

@test "faults that a handler deals with are none, however often" {
	for how in repaired jumped jumped-deep leaves-well; do
		crashes "$ALL" $how
		[ "$(jq -c '[.check.ended_by, .check.findings]' found.json)" = "[null,0]" ]
	done
}

@test "a handler that ends the program has not dealt with the fault, which is told as it was" {
	crashes "$ALL" leaves "crash SIGSEGV null write 4 at"
	crashes "$ALL" leaves-by-exit "crash SIGSEGV null write 5 at"
	crashes "$ALL" leaves-alternate "crash SIGSEGV null write 4 at"
	crashes "$ALL" aborts "crash SIGSEGV null write SIGABRT at"
	crashes "$ALL" raises "crash SIGSEGV null write - at"
	crashes "$ALL" raises-unblocked "crash SIGSEGV null write - at"
	crashes "$ALL" resets "crash SIGSEGV null write - at"
	crashes "$ALL" again "crash SIGSEGV null write - at"
	[ "$(jq -r '.findings[0].address' found.json)" = 0x18 ]		# the second one, in the handler
	crashes "$ALL" small-stack "crash SIGABRT - - - small_stack_handler"
}

@test "other signals of instructions, abort() and what the C library said; a blocked fault" {
	crashes "$ALL" divide "crash SIGFPE - - - divide"
	crashes "$ALL" illegal "crash SIGILL - - - illegal"
	crashes "$ALL" breakpoint "crash SIGTRAP - - - breakpoint"
	crashes "$ALL" abort "crash SIGABRT - - - sent"
	crashes "$ALL" blocked "crash SIGSEGV null write - at"
	crashes "$ALL" asserted "crash SIGABRT - - - sent"
	jq -r '.findings[0].message' found.json | grep -q "check_crash.c:[0-9]*: sent: Assertion .*failed\.$"
}

@test "an abort() of the allocator, with the allocator's locks held, names the block whose end was written over" {
	died light corrupted
	sort found | diff <(printf '%s\n' "crash SIGABRT - - - sent" "overrun - - write - -") -
	[ "$(jq -r '.findings[] | select(.type == "crash").message' found.json)" = "malloc(): corrupted top size" ]
	[ "$(jq -r '.findings[] | select(.type == "overrun") | .by, .block_bytes' found.json | xargs)" = "sweep 24" ]
}

@test "signals that were sent are no crash, but the program is not said to be well" {
	crashes "$ALL" sent
	[ "$(jq -c '[.check.ended_by, .check.sender_pid == .process.pid]' found.json)" = '["SIGSEGV",true]' ]
	[ "$(said sent)" = "pmm: check_crash, pid N: the only block had canaries and guard pages; nothing found until SIGSEGV, which it sent itself, ended it" ]
	[ "$(said term --level=light)" = "pmm: check_crash, pid N: the only block had canaries; nothing found until SIGTERM, which it sent itself, ended it" ]
	[[ $(said kill) == "pmm: check_crash, pid N: the only block had canaries and guard pages; nothing found until SIGKILL ended it"* ]]
	[ "$(said leaves-well)" = "pmm: check_crash, pid N: the only block had canaries and guard pages; no heap errors" ]
}

@test "in forked children; one made by vfork is none of its parent's" {
	for level in light guard; do
		(ulimit -c 0; within "$PMM" check --report told --level=$level --error-exitcode 9 -- "$PROG/check_crash" child) && return 1
		grep -q "^pmm: crash (SIGSEGV) in at, check_crash.c:" told
		grep -q "^  processes  2, all checked$" told
		grep -q "^  found      1 error: 1 crash$" told
		grep -q "^    in check_crash, pid [0-9]*$" told
		crashes $level vforked
		[[ $(said child-killed --level=$level) == "pmm: 2 processes checked: all 2 blocks had canaries"*"; no heap errors, but a signal ended 1 of them" ]]
	done
	[ "$(grep -c "children" told)" -eq 0 ]
	(ulimit -c 0; within "$PMM" check --report told -- "$PROG/check_crash" child-bare) || true
	grep -q "^pmm: crash (SIGSEGV) in at, check_crash.c:" told	# it had allocated nothing
	(ulimit -c 0; within "$PMM" check --report told -- "$PROG/check_crash" child-bare-leaves) || true
	grep -q "null pointer; its handler ended$" told
}

@test "the summary counts it, a capture tells it again, --error-exitcode knows it" {
	run within "$PMM" check -o c.pmm --report told --error-exitcode 9 -- "$PROG/check_crash" constant
	[ "$status" -eq 9 ]
	grep -q "^  found    1 error: 1 crash; 1 canary scan of all live blocks$" told
	run within "$PMM" check c.pmm
	[ "$status" -eq 1 ]
	grep -q "^  crash (SIGSEGV) in at, check_crash.c:" <<<"$output"
	within "$PMM" check --json c.pmm >again.json || [ $? -eq 1 ]
	[ "$(jq -r '.findings[0] | .type, .by, .signal, .signal_code, .place, .mapping_access, .access' again.json | xargs)" = \
		"crash signal SIGSEGV 2 forbidden r-- write" ]
	run within "$PMM" check --report told --error-exitcode 9 -- "$PROG/check_crash" leaves-well
	[ "$status" -eq 0 ]
}

@test "what requests that fail lead to is told" {
	run within "$PMM" check --report told --fail-after 1 --error-exitcode 9 -- "$PROG/check_crash" failed
	[ "$status" -eq 9 ]
	grep -q "^pmm: crash (SIGSEGV) in at, check_crash.c:" told
	grep -q "^  write of 4 bytes at 0x0, a null pointer$" told
	grep -q "^  failed   [1-9][0-9]* requests* made to fail$" told
}

@test "--on-error leaves a crash the signal it has; a core file then comes whatever the limit" {
	mkdir core
	cd core || return 1
	[ "$(cat /proc/sys/kernel/core_pattern)" = core ] || skip "core files go elsewhere"
	for how in abort core; do
		run bash -c 'ulimit -S -c 0; "$@"' _ "$PMM" check --on-error=$how --report told -- "$PROG/check_crash" null
		[ "$status" -eq 139 ]
		grep -q "1 error: 1 crash" told
		[ "$(find . -name 'core*' -type f | wc -l)" -eq $([ $how = core ]; echo $((!$?))) ]
	done
}

@test "a core file has the registers and the signal that it has natively" {
	need gdb
	[ "$(cat /proc/sys/kernel/core_pattern)" = core ] || skip "core files go elsewhere"
	ulimit -S -c unlimited || skip "no core files"
	for how in null aborts illegal again; do
		for with in "" "$PMM check --report told --"; do
			rm -f core*
			# shellcheck disable=SC2086
			within $with "$PROG/check_crash" $how >/dev/null 2>&1 || true
			[ -f core ] || { echo "$how: no core file"; return 1; }
			# shellcheck disable=SC2016
			gdb -nx -q -batch -ex 'bt' -ex 'p $_siginfo.si_signo' -ex 'p $_siginfo.si_code' "$PROG/check_crash" core 2>/dev/null |
				grep -E '^(#|\$)' | sed -E 's/0x[0-9a-f]{6,}/ADDRESS/g' >"bt${with:+.checked}"
		done
		[ "$(wc -l <bt)" -gt 3 ]
		diff bt bt.checked
	done
}
