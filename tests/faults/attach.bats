#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# An allocation or a system call of pmm fails, or transfers half: what it looks at is unharmed, and pmm ends as documented.

load ../cli/faults

@test "attach, no memory" { faults attach memory; }
@test "attach, failing system calls" { faults attach call call1 short; }
@test "attach --check, no memory" { faults attach-check memory; }
@test "attach --check, failing system calls" { faults attach-check call; }
@test "detach, no memory" { faults detach memory; }
@test "detach, failing system calls" { faults detach call call1 short; }
@test "leaks PID, no memory" { faults leaks-pid memory; }
@test "leaks PID, failing system calls" { faults leaks-pid call short; }
@test "snapshot and report PID, no memory" { faults snapshot-pid memory && faults report-pid memory; }
@test "snapshot and report PID, failing system calls" { faults snapshot-pid call && faults report-pid call; }
