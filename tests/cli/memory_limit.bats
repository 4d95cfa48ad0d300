#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# --memory-limit: whatever reads a capture or a ledger takes no more, and says which asks for what and how to allow it.

load lib

teardown() { [ -z "${MONITOR:-}" ] || kill -9 "$MONITOR" $(cat "/proc/$MONITOR/task/$MONITOR/children") 2>/dev/null || true; }

# over CMD...: refused for the limit of 1 MiB, and done with 64 MiB.
over() {
	local status=0
	refused_with 3 "of memory, and the limit is 1.00 MiB" "$PMM" "$1" --memory-limit 1M "${@:2}"
	sed -n 2p "$T/said" | grep -q -e '--memory-limit SIZE'
	within "$PMM" "$1" --memory-limit 64M "${@:2}" >"$T/out" 2>"$T/said" || status=$?
	[ "$status" -le 1 ] || { cat "$T/said"; return 1; }
}

@test "memory limit: captures" {
	track --leaks many 50000 16
	[ "$STATUS" -eq 0 ]
	over report --no-symbols "$CAP"
	grep -q "the capture '$CAP' of .* asks for " <("$PMM" report --memory-limit 1M "$CAP" 2>&1)
	over leaks --no-symbols "$CAP"
	within "$PMM" check --level=light -o "$T/checked.pmm" -- "$PROG/many" 50000 16 >/dev/null 2>&1
	over check --no-symbols "$T/checked.pmm"
}

@test "memory limit: ledgers of running processes" {
	cc -x c - -o "$T/holder" <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <unistd.h>
		int main(void) { for (int i = 0; i < 60000; i++) *(void *volatile *)malloc(16) = NULL; puts("ready"); fflush(stdout); pause(); }
	END
	mkfifo "$T/says"
	"$PMM" run -q -o "$T/x.pmm" -- "$T/holder" >"$T/says" 3>&- &
	MONITOR=$!
	read -r -t "$LIMIT" said <"$T/says"
	[ "$said" = ready ]
	pid=$(tr -d ' ' <"/proc/$MONITOR/task/$MONITOR/children")
	over report --no-symbols "$pid"
	grep -q "^pmm: the ledger of process $pid asks for more than 1.00 MiB" <("$PMM" report --memory-limit 1M "$pid" 2>&1)
	over leaks --no-symbols "$pid"
	over snapshot -o "$T/y.pmm" "$pid"
	await -p "$pid" grep -q '^State:.S' "/proc/$pid/status"
}

@test "memory limit: less than makes sense is refused" {
	refused_with 2 "--memory-limit" "$PMM" report --memory-limit 100 "$T/none.pmm"
}
