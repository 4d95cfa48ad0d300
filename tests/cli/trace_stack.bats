#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace stack: signals of memory, and which of them are stack overflows.

bats_require_minimum_version 1.5.0
load lib
load trace

setup() { needs_bpf; }

# dies HOW STATUS FILTER: trace_segv HOW ends with that status; one event, for which the filter holds.
dies() {
	traced "$2" stack -- "$PROG/trace_segv" "$1"
	[ "$(count segv "$3")" -eq 1 ] || { cat "$T/out"; return 1; }
	[ "$(count segv .)" -eq 1 ]
}

@test "stack overflows: deep recursion, a thread's, one large frame" {
	dies deep 139 '.stack_overflow and .signal_name == "SIGSEGV" and .pid == .tid and .stack[0].function == "deeper"'
	dies thread 139 '.stack_overflow and .pid != .tid and .stack[0].function == "deeper"'
	dies frame 139 '.stack_overflow and .pid != .tid and .stack[0].function == "wide"'
}

@test "other bad accesses, and signals that processes send" {
	dies null 139 '.stack_overflow == false and .address == "0x0" and .why == "nothing is mapped there" and .stack[0].function == "main"'
	dies kill 139 '.sent'
	dies bus 135 '.signal_name == "SIGBUS" and .why == "the file ends before it" and .stack_overflow == false'
}
