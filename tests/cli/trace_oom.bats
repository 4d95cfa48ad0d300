#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace oom: a control group that is too small for a program.

bats_require_minimum_version 1.5.0
load lib
load trace

setup() {
	needs_bpf
	needs_memcg
	GROUP=pmm_trace_oom.$$.$BATS_TEST_NUMBER
	mkdir "$MEMCG/$GROUP"
	echo 24M >"$MEMCG/$GROUP/$MEMCG_LIMIT"
}

teardown() { [ -z "${GROUP:-}" ] || without_group "$MEMCG/$GROUP"; }

# in_group COMMAND...: run it in the group.
in_group() { sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$MEMCG/$GROUP" "$@"; }

@test "the victim, its limit, and the time before" {
	cat >"$T/grow.sh" <<-END
		sleep "\$1"
		sh -c 'echo \$\$ >"$MEMCG/$GROUP/cgroup.procs"; exec perl -e "\\\$x = qq(x) x 100000000"'
		echo "ended \$?" >&2
	END
	# pmm looks once a second, if it can
	for seconds in 2.2 8 30; do
		traced 0 oom --summary -- sh "$T/grow.sh" "$seconds"
		grep -qx 'ended 137' "$T/err"
		[ "$(count oom_context '(.before | length) >= 2')" -eq 0 ] || break
	done
	[ "$(count oom_kill '.victim_command == "perl" and .victim_uid == 0 and .victim_oom_score_adj == 0')" -eq 1 ]
	[ "$(count oom_kill '.victim_pid == .pid')" -eq 1 ]
	[ "$(count oom_victim '.anonymous_bytes > 16000000 and .anonymous_bytes < 26000000')" -eq 1 ]
	[ "$(count oom_victim '.mapped_bytes > 100000000')" -eq 1 ]
	[ "$(count oom_context ".cgroup == \"/$GROUP\" and .limit_bytes == 25165824")" -eq 1 ]
	[ "$(count oom_context '(.before | length) >= 2 and .before[0].available_bytes > 0')" -eq 1 ]
	[ "$(result '.events[] | select(.event == "oom_kill") | .count')" -eq 1 ]
}

@test "--cgroup: only what its processes do" {
	"$PMM" trace mmap --cgroup "$GROUP" --json >"$T/out" 2>"$T/err" & local pid=$!
	until in_group true && [ -s "$T/out" ]; do :; done
	in_group "$PROG/trace_calls" 10 || [ "$?" -eq 3 ]
	"$PROG/trace_calls" 10 || [ "$?" -eq 3 ]
	kill -INT "$pid"
	wait "$pid"
	[ "$(count mremap .)" -eq 11 ]
	[ "$(result .coverage.scope)" = "processes of control group '$GROUP'" ]
	run -3 "$PMM" trace mmap --cgroup nosuch
	[ "${lines[0]}" = "pmm: there is no control group 'nosuch'" ]
}
