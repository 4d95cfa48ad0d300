#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Heap errors at a process's end and in forked children; requests that are made to fail; ends that were asked for (agent/check/agent_check.h).

bats_require_minimum_version 1.5.0
load lib

setup() { cd "$T" || return 1; }

# checked LEVEL ARG...: what was found, of all processes, is in $T/found; what the program said in checked.out.
checked() {
	local level=$1 status=0
	shift
	within "$PMM" check --json --report found.json --level="$level" --budget all -o "$T/%p.pmm" -- "$PROG/check_process" "$@" >checked.out || status=$?
	for capture in ./*.pmm; do
		"$PMM" check --json "$capture" || [ $? -eq 1 ]
	done | jq -r '.findings[] | [.type, .by, .count, if .parent_pid then "parent" else "own" end] | map(tostring) | join(" ")' | sort >found
	rm -f ./*.pmm
	return $status
}

# same LEVEL ARG...: also that output and status are as natively.
same() {
	local native=0 status=0
	within "$PROG/check_process" "${@:2}" >native.out || native=$?
	checked "$@" || status=$?
	cmp native.out checked.out
	[ "$native" -eq "$status" ]
}

# found LINE...: exactly these, "TYPE BY COUNT own|parent".
found() {
	diff <([ $# -eq 0 ] || printf '%s\n' "$@" | sort) found
}

@test "nothing is wrong with a child that releases and resizes what its parent allocated" {
	for level in light guard sampled; do
		same $level release child
		found
		same $level resize child
		found
	done
}

@test "errors of a child with its parent's blocks" {
	for level in light guard; do
		same $level overrun child
		found "overrun release 1 parent"
		run checked $level again child
		[ "$status" -eq 7 ]
		found "double-free function 1 parent"
	done
	same light late child
	found "use-after-free quarantine 1 parent"
	same guard late child
	found "use-after-free access 1 parent"
}

@test "released blocks are looked at however the process ends" {
	for how in late quick at_once vforked; do
		same light $how
		found "use-after-free quarantine 1 own"
	done
}

@test "a library that was to have the real allocator's functions gets ours" {
	for level in light guard sampled; do
		run within "$PMM" check --report r --level=$level --error-exitcode 9 -- "$PROG/check_deep"
		[ "$status" -eq 0 ]
		[ "$output" = 42 ]
	done
}

@test "errno stays" {
	for level in light guard; do
		run checked $level errno
		[ "$status" -eq 7 ]
		[ "$(cat checked.out)" = "errno 77" ]
		found "overrun release 1 own" "double-free function 1 own"
	done
}

@test "the process ends with the first error where that is asked for" {
	for how in abort core; do
		run --separate-stderr within "$PMM" check --json --report r --level=light --on-error=$how -- "$PROG/check_process" errno
		[ "$status" -eq 134 ]
		[ -z "$output" ]
		# where the core file is, or why there is none
		grep -v -e '^pmm: .*core' -e '^pmm: hint: ' <<<"$stderr" >said || :
		[ "$how" = core ] || echo -n "$stderr" >said
		[ ! -s said ] || { cat said; return 1; }
		[ "$(jq -r '.findings[] | .type + " " + (.count | tostring)' r)" = "overrun 1" ]
	done
}

# The C++ library has one block of its own at the start; each failure of new asks for an exception too, and what is printed for a buffer.
@test "requests fail where that is asked for, and of operator new by an exception" {
	for level in light guard; do
		run within "$PMM" check --json --report r --level=$level --fail-after 100 -- "$PROG/check_fail"
		[ "$output" = "$(cat <<-END
			malloc: 41 of 140 failed, the first after 99, errno 12
			new: 50 of 50 threw
			new(nothrow): 50 of 50 null
		END
		)" ]
		[ "$(jq .check.failed_on_purpose r)" -eq $((41 + 2 * 50 + 2 * 50 + 1)) ]
		[ "$(jq '.findings | length' r)" -eq 0 ]
	done
}

@test "a child fills a large block that its parent filled" {
	for level in light guard sampled; do
		run within "$PMM" check --report r --level=$level --error-exitcode 9 -- "$PROG/check_fork_large"
		[ "$status" -eq 0 ]
		[ "$output" = unharmed ]
	done
}
