#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# An allocation or a system call of pmm fails: some of those that tests/faults tries. FAULTS_SEED tells which; 0 unless set.

load faults

# some EVERY SCENE KIND: each EVERY-th of them fails.
some() { FAULTS_EVERY=$1 FAULTS_SEED=${FAULTS_SEED:-0} faults "${@:2}"; }

@test "detach, no memory" { some 18 detach memory; }
@test "detach, failing system calls" { some 16 detach call; }
@test "detach, half of a read or write" { some 8 detach short; }
@test "attach, no memory" { some 110 attach memory; }
@test "attach, failing system calls" { some 160 attach call; }
@test "leaks PID, no memory" { some 300 leaks-pid memory; }
@test "leaks PID, failing system calls" { some 100 leaks-pid call; }
@test "run, no memory" { some 24 run memory; }
@test "run, failing system calls" { some 24 run call; }
@test "check, failing system calls" { some 60 check call; }
@test "report FILE, failing reads" { some 16 report call; }
@test "trace, failing calls of bpf() and perf_event_open()" {
	FAULTS_EVERY=14 FAULTS_SEED=${FAULTS_SEED:-0} trace_faults call bpf perf_event_open
	FAULTS_EVERY=40 FAULTS_SEED=${FAULTS_SEED:-7} trace_faults call1 bpf perf_event_open
}
