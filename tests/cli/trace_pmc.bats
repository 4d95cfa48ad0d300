#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace pmc: samples of counters. The kernel's own (software events) go the same way as the hardware's, and every machine has them.

bats_require_minimum_version 1.5.0
load lib
load trace

setup() { needs_bpf; }

@test "one sample for each page fault, with the stack of the loop that touches the pages" {
	traced 0 pmc --counters page_faults --buffer 64M -- "$PROG/trace_faults" anonymous 500
	[ "$(awk '$1 == "anonymous" { print $4 }' "$T/err")" -eq 500 ]
	[ "$(count page_faults '[.stack[]?.function] | index("touch")')" -eq 500 ]
	[ "$(result '.coverage | .lost_in_ring + .lost_in_tables + .missed_by_recursion')" -eq 0 ]
	local all
	all=$(count page_faults .)
	[ "$all" -ge 500 ]
	[ "$(result '.events[] | select(.event == "page_faults").count')" -eq "$all" ]
	[ "$(result '[.counters[].page_faults] | add')" -eq "$all" ]
	[ "$(result '[.counters[].samples] | add')" -eq "$all" ]
	[ "$(result '.counters[0] | [.cycles, .cpu_ns, .instructions_per_cycle, .llc_miss_percent] | tostring')" = "[0,0,null,null]" ]
}

@test "processor time, as the process itself has counted it" {
	# where the machine itself stands still for a while, a process is charged for that time, and there is no sample of it
	as_counted() {
		traced 0 pmc --counters cpu_clock -- python3 -c '
import os, sys, time
while time.process_time() < 0.5: pass
sys.stderr.write("%d\n" % (sum(os.times()[:2]) * 1e9))' &&
			tail -1 "$T/out" | jq -e --argjson cpu "$(tail -1 "$T/err")" '
				[.counters[] | select(.command | startswith("python3")).cpu_ns] | add | . > $cpu * 0.7 and . < $cpu * 1.4'
	}
	await as_counted || { tail -1 "$T/err"; result .counters; return 1; }
	# each stands for a millisecond
	[ "$(count cpu_clock '.weight == 1000000')" -eq "$(result '[.counters[].samples] | add')" ]
	[ "$(result '[.counters[].cpu_ns] | add')" -eq $(($(count cpu_clock .) * 1000000)) ]
}

@test "a machine without the hardware's counters: the list, the result and the error have the reason" {
	[ "$("$PMM" trace --list --json | jq -r '.events[] | select(.event == "pmc").works')" = no ] || skip "this machine has hardware counters"
	local why
	why=$("$PMM" trace --list --json | jq -r '.events[] | select(.event == "pmc").why')
	[[ "$why" == "this machine has no hardware counters"* ]]
	if grep -qw hypervisor /proc/cpuinfo; then [[ "$why" == *"it is a virtual machine that hides them" ]]; fi
	run -3 "$PMM" trace pmc -- true
	[ "${lines[0]}" = "pmm: pmc cannot be seen: $why" ]
	[ "${lines[1]}" = "pmm: hint: '--counters cpu_clock' samples by the kernel's clock" ]
	traced 0 pmc,brk -- true
	grep -F "not seen: pmc: $why" "$T/err"
	[ "$(result '.not_seen[] | select(.events == "pmc").why')" = "$why" ]
	[ "$(count brk .)" -gt 0 ]
	# some of the chosen counters are there
	traced 0 pmc --counters cycles,page_faults -- true
	[ "$(result '.not_seen[] | select(.events == "pmc") | "\(.partly) \(.why)"')" = "true this processor does not count cycles" ]
	[ "$(count page_faults .)" -gt 0 ]
	"$PMM" trace -s -- true >"$T/out"			# not among the default events
	run -1 grep pmc "$T/out"
}

@test "counters that there are not" {
	run -2 "$PMM" trace pmc --counters cycles,nonsense -- true
	[ "${lines[0]}" = "pmm: there is no counter 'nonsense'" ]
	run -2 "$PMM" trace pmc --counters '' -- true
	[ "${lines[0]}" = "pmm: no counter is named" ]
}
