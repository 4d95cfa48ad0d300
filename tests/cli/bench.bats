#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The benchmark still works: not its figures, only that all its parts measure something.

load lib

setup() { need /usr/bin/python3 ninja; }

bench() {
	LIMIT=300 within "$ROOT/bench/run" --smoke --build "$(dirname "$PMM")" --json "$T/bench.json" "$@" >"$T/out" 2>"$T/err" ||
		{ tail "$T/err"; return 1; }
}

@test "every part measures every tool there is" {
	need jq
	bench
	local tools=3
	if command -v heaptrack >/dev/null; then tools=$((tools + 1)); fi
	if compgen -G "/usr/lib/*-linux-gnu/liblsan.so.0" >/dev/null; then tools=$((tools + 1)); fi
	[ "$(jq ".parts.programs.cpu_seconds.jq | map(select(.[0] > 0)) | length" "$T/bench.json")" -eq "$tools" ]
	[ "$(jq ".parts.micro.ns_per_pair[\"hot 2 15\"] | length" "$T/bench.json")" -eq "$tools" ]
	[ "$(jq '.parts.memory.peak_kib["100000 blocks of 48 bytes"] | .pmm[0] - .native[0] > 1000' "$T/bench.json")" = true ]
	if [ "$(jq .parts.attach.refused "$T/bench.json")" = null ]; then
		[ "$(jq '.parts.attach.ns_per_pair["hot 15"] | map(select(.[0] > 0)) | length' "$T/bench.json")" -eq 6 ]
		[ "$(jq '.parts.attach.pauses | map(select(.attach_ns > 0 and .detach_ns > 0)) | length' "$T/bench.json")" -eq 2 ]
		[ "$(jq '.parts.attach.cpu_seconds.jq | map(select(.[0] > 0)) | length' "$T/bench.json")" -eq 3 ]
	fi
	[ "$(jq '.parts.report.wall_cpu_rss_kib | length' "$T/bench.json")" -eq 4 ]
	grep -q '^| jq ' "$T/out"
	grep -q '^- bignum: pmm / liblsan: ' "$T/out" || ! compgen -G "/usr/lib/*-linux-gnu/liblsan.so.0" >/dev/null
	grep -q '^- added CPU, pmm / heaptrack, geometric mean: ' "$T/out"
}

@test "a part that is not there is refused" {
	run "$ROOT/bench/run" --smoke --build "$(dirname "$PMM")" --only nonsense
	[ "$status" -ne 0 ]
	[[ "$output" == *"no part or program 'nonsense'"* ]]
}
