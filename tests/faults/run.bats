#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# An allocation or a system call of pmm fails: the program that it runs prints and ends as natively, and what is read of captures is right or refused.

load ../cli/faults

@test "report FILE, no memory" { faults report memory; }
@test "report FILE, failing system calls" { faults report call short; }
@test "leaks FILE, no memory" { faults leaks-file memory; }
@test "leaks FILE, failing system calls" { faults leaks-file call short; }
@test "run, no memory" { faults run memory; }
@test "run, failing system calls" { faults run call short; }
@test "run --leaks, no memory" { faults run-leaks memory; }
@test "run --leaks, failing system calls" { faults run-leaks call; }
@test "check, no memory" { faults check memory; }
@test "check, failing system calls" { faults check call; }
@test "trace, no memory" { trace_faults memory; }
@test "trace, failing calls of bpf() and perf_event_open()" {
	trace_faults call bpf perf_event_open
	trace_faults call1 bpf perf_event_open
}
