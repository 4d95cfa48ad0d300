#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# SIGINT and SIGTERM to commands that read: they end at once, or as soon as they have let go of a process.

load lib

@test "signals: the middle of long work, and output that nobody reads, do not keep a command from ending" {
	[ "$(stat -f -c %T "$T")" != ramfs ] || skip "no holes in files here"
	python3 "$CLI/signals.py" "$PMM" "$T"
}
