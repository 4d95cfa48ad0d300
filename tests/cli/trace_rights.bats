#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace and pmm doctor: which rights they need, and what they say without them.

bats_require_minimum_version 1.5.0
load lib
load trace

setup() {
	[ "$(id -u)" -eq 0 ] || skip "needs root, to give rights away"
	needs_bpf
}

# as CAPABILITIES COMMAND...: as user 65534 with those only; "" = none.
as() {
	local caps=()
	[ -z "$1" ] || caps=(--inh-caps="$1" --ambient-caps="$1")
	timeout -k 5 60 setpriv --reuid=65534 --regid=65534 --clear-groups "${caps[@]}" "${@:2}"
}

@test "CAP_BPF and CAP_PERFMON are enough for every event" {
	local all
	all=$("$PMM" trace --list --json | jq -c '[.events[] | [.event, .works]]')
	[ "$(as +bpf,+perfmon "$PMM" trace --list --json | jq -c '[.events[] | [.event, .works]]')" = "$all" ]
	[ "$(jq -r '[.[] | select(.[1] == "no")[0]] | join(" ")' <<<"$all" | sed 's/pmc//')" = "" ]	# machines without counters
	as +bpf,+perfmon "$PMM" trace mmap --json -- "$PROG/trace_calls" 20 >"$T/out" || [ $? -eq 3 ]
	[ "$(count mremap .)" -eq 21 ]
}

@test "each capability that is missing is named" {
	local lacks='pmm: pmm may not load programs into the kernel: it is not root and lacks'
	run -3 as +bpf "$PMM" trace oom --all
	[[ "${lines[0]}" == "$lacks CAP_PERFMON"* ]]
	[ "${lines[1]}" = "pmm: hint: run pmm as root, or give it CAP_BPF and CAP_PERFMON" ]
	run -3 as +perfmon "$PMM" trace oom --all
	[[ "${lines[0]}" == "$lacks CAP_BPF (kernel.unprivileged_bpf_disabled is "* ]]
	run -3 as "" "$PMM" trace oom --all
	[[ "${lines[0]}" == "$lacks CAP_BPF and CAP_PERFMON"* ]]
	run -3 timeout 60 unshare -Ur "$PMM" trace oom --all
	[[ "${lines[0]}" == *"it runs in a user namespace, where capabilities do not count for that" ]]
}

@test "the doctor has the events as --list has them, with and without rights" {
	local caps
	for caps in "" +bpf,+perfmon; do
		as "$caps" "$PMM" trace --list --json | jq -c .events >"$T/list"
		as "$caps" "$PMM" doctor --json | jq -c .events >"$T/doctor"
		diff "$T/list" "$T/doctor"
	done
	as "" "$PMM" doctor --json | jq -e '.checks[] | select(.check == "ebpf") | .state == "note" and (.found | contains("lacks CAP_BPF and CAP_PERFMON"))'
	as "" "$PMM" doctor --json | jq -e '.verdict.run_works'
}
