#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Accesses that the kernel stops, and all else of SIGSEGV and its like, which stays the program's (agent/fault/fault.h, agent/fault/reserved.h).

load lib

setup() { cd "$T" || return 1; }

# told [-OPTION...] NAME ARG...: natively and checked: same output and status. What was found is in $T/found.
told() {
	local options=() native=0 checked=0 name
	while [[ $1 == -* ]]; do options+=("$1"); shift; done
	name=$(path "$1"); shift
	within "$name" "$@" >native.out 2>native.err </dev/null || native=$?
	within "$PMM" check --json --report found.json --budget all "${options[@]}" -- "$name" "$@" >checked.out 2>checked.err </dev/null || checked=$?
	cmp native.out checked.out || { diff native.out checked.out; return 1; }
	[ "$native" -eq "$checked" ] || { echo "$*: status $checked, natively $native"; cat checked.err; return 1; }
	jq -r '.findings[] | [.type, .access, .count, (.frames[0].function // "?")] | map(tostring) | join(" ")' found.json | sort >found
}

# lines LINE...: each on its own, sorted.
lines() {
	[ $# -eq 0 ] || printf '%s\n' "$@" | sort
}

# found LINE...: exactly these findings, "TYPE ACCESS COUNT FUNCTION".
found() {
	diff <(lines "$@") found
}

# summed LINE...: the same in sums, "COUNT TYPE ACCESS".
summed() {
	diff <(lines "$@") <(awk '{ n[$1 " " $2] += $3 } END { for (i in n) print n[i], i }' found | sort)
}

@test "every kind of instruction is let through, and its registers and flags are as natively" {
	told --no-madvise-guard check_fault_step
	mv found found.other
	told check_fault_step
	diff found.other found
	summed "1 overrun read" "2 overrun write" "1 underrun write" "1009 use-after-free write" "13 use-after-free read" \
		"1 use-after-free execute"
}

@test "instructions that access many closed pages at once, and handlers of SIGTRAP with errors" {
	local reads=3 writes=12
	! grep -q -w avx512bw /proc/cpuinfo || reads=6 writes=14
	told --no-madvise-guard check_fault_wide
	summed "$writes use-after-free write" "$reads use-after-free read"
	told check_fault_wide
	summed "$writes use-after-free write" "$reads use-after-free read"
}

@test "a program whose signals another one watches (strace) is let through as well" {
	local name status
	need strace
	for name in check_fault_step check_fault_signals check_fault_threads; do
		told "$name"
		cp found.json alone.json
		status=0
		within strace -f -qq -o trace "$PMM" check --json --report found.json --budget all -- "$(path "$name")" >out 2>err </dev/null || status=$?
		[ "$status" -eq 0 ] || { echo "$name: $status"; cat err; return 1; }
		cmp native.out out
		grep -q 'SIGTRAP {si_signo=SIGTRAP, si_code=TRAP_TRACE' trace
		[ $name = check_fault_threads ] || diff <(jq '[.findings[].count] | add' alone.json) <(jq '[.findings[].count] | add' found.json)
	done
}

@test "handlers see signals, masks, stacks and contexts as natively, with errors in and between them" {
	told --no-madvise-guard check_fault_signals
	told check_fault_signals
	summed "288 overrun read"
	told --level=light check_fault_signals
	summed
}

@test "masks and alternate stacks are shown as natively, and no blocked signal makes an error deadly" {
	told --no-madvise-guard check_fault_masks
	told check_fault_masks
	[ "$(awk '{ n += $3 } END { print n }' found)" -eq "$(grep -c " on " native.out)" ]
	told --level=light check_fault_masks
	summed
}

@test "death is as natively: by faults, sent signals, in threads, in handlers, with signals ignored and blocked" {
	local how crash
	while read -r how crash; do
		told check_fault_death "$how"
		found "overrun write 1 main" ${crash:+"crash $crash"}
		told --level=light check_fault_death "$how"
		diff <([ -z "$crash" ] || echo "crash $crash") <(grep ^crash found)
	done <<-'END'
		segv write 1 crash
		thread write 1 crash
		ignored write 1 crash
		in-handler write 1 crash
		handler write 1 crash
		jump
		jump-plain write 1 crash
		reset write 1 crash
		kill
		bus
		fpe null 1 divide
		fpe-handler null 1 divide
		trap null 1 main
		trap-flag null 1 main
		ill null 1 main
		abort null 1 __pthread_kill_implementation
		vfork write 1 crash
		stkflt
	END
}

@test "what is blocked and sent waits, what is blocked and caused kills; errors meanwhile do not" {
	told check_fault_death blocked
	found "overrun write 1 main" "overrun write 1 main" "crash write 1 crash"
	told check_fault_death stkflt-handler
	summed "2 overrun write"
	told check_fault_death pending
	found "overrun write 1 main" "overrun write 1 pending"
}

@test "who waits for SIGSEGV gets what was sent while it was blocked" {
	told check_fault_waits
	summed "6 use-after-free read"
	told --level=light check_fault_waits
	found
}

@test "under seccomp that forbids what guarding takes death is as natively, and errors, not told of any more, do no harm" {
	for how in confined confined-handler confined-trap confined-error; do
		told check_fault_death $how
		case $how in
		confined) found "overrun write 1 main" "crash null 1 ?" ;;	# where, nobody could note any more
		confined-trap) found "overrun write 1 main" "crash null 1 ?" ;;
		*) found "overrun write 1 main" ;;
		esac
		told --level=light check_fault_death $how
	done
}

# confined CALLS: killed for these system calls the program lives on as natively, at every level and with both kinds of guards.
confined() {
	for options in --level=guard --no-madvise-guard --level=light --level=sampled; do
		# shellcheck disable=SC2086
		told $options check_confined "$@" || { echo "$options $*"; return 1; }
		mv found "found.$options"
	done
	cp found.--level=guard found
}

@test "under a filter without the agent's calls nothing harms: errors are told before it, and after it where it allows what that takes" {
	confined prctl process_madvise mmap openat futex sched_yield
	diff found found.--no-madvise-guard
	summed "3 overrun write" "1 use-after-free read"
	confined vfork mprotect madvise
	summed "3 overrun write" "1 use-after-free read"
	for calls in rt_sigaction rt_sigprocmask "getpid gettid tgkill"; do
		# shellcheck disable=SC2086
		confined prctl $calls
		summed "2 overrun write"
	done
	for calls in mprotect madvise "mprotect madvise process_madvise mmap rt_sigaction rt_sigprocmask getpid gettid tgkill openat futex"; do
		# shellcheck disable=SC2086
		confined syscall $calls
		summed "1 overrun write"
	done
}

@test "threads that meet errors meanwhile survive one that puts itself under seccomp" {
	for _ in 1 2 3 4 5; do
		confined threads mprotect madvise process_madvise rt_sigaction rt_sigprocmask tgkill
	done
}

@test "under seccomp what is missing is told by its cause" {
	told check_confined prctl mprotect
	grep -q '^pmm: WARNING: the ledger could not grow any more: the program put itself under seccomp' checked.err
	[ "$(grep -c -e '--ledger-limit' checked.err)" -eq 0 ]
	told check_confined strict
	grep -q '^pmm: WARNING: tracking stopped early (the program put itself under seccomp); what came after is missing$' checked.err
	told check_confined none
	[ "$(grep -c -i seccomp checked.err)" -eq 0 ]
	within "$PMM" check --budget all -- "$(path check_confined)" prctl mprotect >out 2>err </dev/null
	tr -s ' \n' ' ' <err | grep -q '3,000 as the program had put itself under seccomp'
	track check_confined prctl mprotect
	[ "$STATUS" -eq 0 ]
	grep -q '^pmm: WARNING: the ledger could not grow any more: the program put itself under seccomp' err
	[ "$(grep -c -e '--ledger-limit' err)" -eq 0 ]
	within "$PMM" report "$CAP" | tr -s ' \n' ' ' | grep -q 'the ledger could not grow any more: the program put itself under seccomp'
	track check_confined strict
	[ "$STATUS" -eq 0 ]
	grep -q 'tracking stopped early (the program put itself under seccomp); what came after is missing$' err
}

@test "threads that are stopped at the same pages, with faults of their own, signals and forks" {
	told --no-madvise-guard check_fault_threads
	told check_fault_threads
	grep -q "^use-after-free write [0-9]* touch" found
	! grep -v "^use-after-free [a-z]* [0-9]* touch" found || return 1
	told --level=light check_fault_threads
}

@test "actions and masks that are set by system calls without the C library do not make an error deadly" {
	for how in own syscall; do
		told check_raw $how
		summed "$((2 * 11)) overrun write" "1 crash write"
		told --no-madvise-guard check_raw $how
		summed "$((2 * 11)) overrun write" "1 crash write"
		told --level=light check_raw $how
	done
}

@test "Go with C: its handlers run on its own stacks, and panics are recovered from, with errors in between" {
	need go gcc
	cat >v.go <<-'END'
	package main

	/*
	#include <stdlib.h>
	#include <string.h>
	static __attribute__((noinline)) void overrun(void) { volatile char *p = malloc(64); p[64] = 1; free((void *)p); }
	*/
	import "C"
	import (
		"fmt"
		"os"
		"os/signal"
		"sync"
		"syscall"
	)

	var nothing *int

	func recovered(n int) (what string) {
		defer func() { what = fmt.Sprint(recover()) }()
		C.overrun()
		*nothing = n
		return "no panic"
	}

	func main() {
		var all sync.WaitGroup
		come := make(chan os.Signal, 1)
		signal.Notify(come, syscall.SIGUSR1)
		fmt.Println(recovered(1))
		for g := 0; g < 8; g++ {
			all.Add(1)
			go func() { defer all.Done(); for k := 0; k < 50; k++ { C.overrun(); recovered(k) } }()
		}
		all.Wait()
		syscall.Kill(os.Getpid(), syscall.SIGUSR1)
		fmt.Println(<-come)
		*nothing = 2
	}
	END
	GO111MODULE=off CGO_ENABLED=1 GOFLAGS= within go build -o v v.go || skip "go does not build with cgo here"
	told ./v
	summed "801 overrun write"
	told --level=light ./v
	told --level=sampled ./v
}

@test "a new program inherits the mask and the ignored signals that the program has set" {
	for how in none s a as si ai asi sf; do
		told check_inherit $how "$PROG/check_inherit_static"
		found "overrun read 11 overrun"
		grep -q '^system: ' native.out
		told --level=light check_inherit $how "$PROG/check_inherit_static"
	done
}

@test "a forked child has its own errors and handlers" {
	told check_fault_death fork
	found "overrun write 1 main" "overrun write 1 main" "crash write 1 crash"
}

@test "a stack that runs over is told with the function that does, and ends as natively" {
	for how in "" thread "caught thread" caught large "large thread" "large caught"; do
		# shellcheck disable=SC2086
		told check_fault_stack $how
		case $how in
		large*) found "stack-overflow write $([[ $how == *caught* ]] && echo 3 || echo 1) deeper_by_far" ;;
		*) found "stack-overflow write $([[ $how == *caught* ]] && echo 3 || echo 1) deeper" ;;
		esac
	done
	told --level=light check_fault_stack caught
	found "stack-overflow write 3 deeper"
}

@test "the first error ends the program when that is asked for" {
	local status=0
	within "$PMM" check --on-error=abort -- "$(path check_fault_death)" handler >out 2>err </dev/null || status=$?
	[ "$status" -eq 134 ]
}

@test "pages of its blocks that the program protects itself stay its own: write barriers, guard pages of stacks" {
	for options in --left --no-madvise-guard --level=guard; do
		told $options check_fault_protect
		summed "40 use-after-free read" "1 overrun read" "10 stack-overflow write"
	done
	told --level=light check_fault_protect
	summed "10 stack-overflow write"
}

@test "between two blocks an access belongs to the nearer one" {
	told check_fault_near
	found "overrun write 8 behind" "underrun write 8 before"
}

@test "an error met in a loop does not hold the program up, and is told of; other errors there are found later" {
	within "$PMM" check --json --report found.json --budget all -- "$(path check_fault_often)" >out </dev/null
	jq -e '[.findings[] | select(.count > 1000) | .frames[0].function] | sort == ["behind", "released"]' found.json
	jq -e '[.findings[] | select(.count == 1) | .frames[0].function] == ["one_more"]' found.json
	jq -e '.check.left_open > 0' found.json
}

# How often the C library accesses what is not counted; the two reads of a comparison are two.
@test "one error is told once, however many accesses it is made of" {
	within "$PMM" check --right --budget all --json --report found.json -- "$(path check_alike)" >out 2>err
	jq -r -f "$CLI/check_found.jq" found.json | sed -E '/ (compares|sorts|formats) /s/ x[0-9]+//; s/^: //' >got
	diff - got <<-'EOF'
		use-after-free access read 1 start+1 300 malloc compares makes main guarded
		use-after-free access read 1 start+2 300 malloc compares makes main guarded
		use-after-free access read 1 start+1 300 malloc sorts makes main guarded
		use-after-free access write 1 start+1 300 malloc sorts makes main guarded
		overrun access write 1 end+0 96 malloc formats makes - guarded
		overrun access write 16 end+0 96 malloc assigns makes - guarded
		overrun access write 16 end+16 96 malloc assigns makes - guarded
		overrun access write 16 end+32 96 malloc assigns makes - guarded
		overrun access write 1 end+12 100 malloc writes_on makes - x28 guarded
		overrun access write 1 end+0 112 malloc two makes - guarded
		overrun access write 1 end+288 112 malloc two makes - guarded
	EOF
}

@test "a handler that asks for an alternate stack has room in a thread that has none" {
	for level in light guard; do
		told --level=$level check_fault_onstack
		found
		diff <(echo "handled 10") checked.out
	done
}
