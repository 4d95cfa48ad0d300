#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm under a small limit on stacks, which the program under it gets as it is.

bats_require_minimum_version 1.5.0
load attach

# small CMD...: with stacks of 64 KiB, soft and hard.
small() { (ulimit -Ss 64; ulimit -Hs 64; "$@"); }

asleep() { grep -q '^sleep$' "/proc/$SLEEPER/comm" && grep -q '^State:.S' "/proc/$SLEEPER/status"; }

setup() {
	sleep 1000 3>&- &
	SLEEPER=$!
	await -p "$SLEEPER" asleep
}

teardown() { kill "$SLEEPER" 2>/dev/null || true; }

@test "commands that launch a program" {
	run -0 small "$PMM" run -q --leaks -o "$T/one.pmm" -- ls /
	[ -s "$T/one.pmm" ]
	run -0 small "$PMM" leaks -- ls /
	run -0 small "$PMM" check -- ls /
	run -0 small "$PMM" run -q -o "$T/limits.pmm" -- sh -c 'ulimit -Ss; ulimit -Hs'
	[ "$output" = "64
64" ]
}

@test "commands that read captures" {
	"$PMM" run -q --leaks -o "$T/one.pmm" -- ls /
	for command in report leaks; do
		"$PMM" "$command" "$T/one.pmm" >"$T/large"
		small "$PMM" "$command" "$T/one.pmm" >"$T/small"
		cmp "$T/large" "$T/small"
	done
}

@test "commands for running processes" {
	# shellcheck disable=SC2016
	patiently bash -c 'ulimit -Ss 64; ulimit -Hs 64; exec "$@"' - "$PMM" attach -q -d 100ms -o "$T/attached.pmm" "$SLEEPER"
	[ -s "$T/attached.pmm" ]
	for command in snapshot leaks check report detach; do
		run small "$PMM" "$command" "$SLEEPER"
		[ "$status" -lt 128 ] || { echo "$command: status $status"; return 1; }
	done
	run -0 small "$PMM" doctor
}
