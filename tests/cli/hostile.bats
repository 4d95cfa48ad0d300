#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Names from outside that would drive a terminal, wherever they are: nothing that pmm says has any of it.

load lib

@test "hostile names: no control character, no forged line, from any command to a pipe or a terminal" {
	cd "$T"
	export LC_ALL=C.UTF-8
	looked=$(python3 "$CLI/hostile_names.py" "$PMM" "$MKCAPTURE" "$T")
	[ "$looked" -gt 500 ]
}
