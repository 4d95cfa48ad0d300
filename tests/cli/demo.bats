#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# `make demo`: what a newcomer sees first.

load lib

@test "the demonstration names what holds the memory" {
	need xmllint
	for _ in 1 2 3 4 5; do		# on a busy machine the program may end before pmm has read its allocator's figures
		"$ROOT/tools/demo" "$(dirname "$PMM")" >"$T/out" 2>"$T/err"
		! grep -q '^  allocator  libc.so.6: [1-9]' "$T/out" || break
	done
	grep -qx '3154' "$T/out"
	grep -q "^pmm: peak  *[1-9][0-9.]* MiB" "$T/err"
	grep -q '^  peak  *[1-9][0-9.]* MiB' "$T/out"
	grep -q 'xmlSAX2StartElementNs' "$T/out"
	grep -q '^  allocator  libc.so.6: [1-9]' "$T/out"
}
