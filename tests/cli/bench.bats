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
	[ "$(jq '.parts.memory.blocks_at_peak["100000 blocks of 48 bytes"]' "$T/bench.json")" -eq 100000 ]
	[ "$(jq '[.parts.memory.peak_pss_kib[].pmm[] | select(. > 0)] | length' "$T/bench.json")" -eq 4 ]
	[ "$(jq '.parts.sampled.cpu_seconds.jq | map(select(.[0] > 0)) | length' "$T/bench.json")" -eq 2 ]
	[ "$(jq '.parts.start.cpu_seconds[0].true | map(select(. > 0)) | length' "$T/bench.json")" -eq "$tools" ]
	[ "$(jq '.parts.start.cpu_seconds | length' "$T/bench.json")" -eq 2 ]
	[ "$(jq '.parts.stacks.ns["1024 new stacks"] | map(select(.own[0] > 0)) | length' "$T/bench.json")" -eq "$tools" ]
	[ "$(jq '.parts.stacks.ns["100000 events by 16384"] | map(select(.own[0] > 0)) | length' "$T/bench.json")" -eq "$tools" ]
	if [ "$(jq .parts.attach.refused "$T/bench.json")" = null ]; then
		[ "$(jq '.parts.attach.ns_per_pair["hot 15"] | map(select(.[0] > 0)) | length' "$T/bench.json")" -eq 6 ]
		[ "$(jq '.parts.attach.pauses | map(select(.attach_ns > 0 and .detach_ns > 0)) | length' "$T/bench.json")" -eq 2 ]
		[ "$(jq '.parts.attach.cpu_seconds.jq | map(select(.[0] > 0)) | length' "$T/bench.json")" -eq 3 ]
	fi
	[ "$(jq '.parts.report.wall_cpu_rss_kib | length' "$T/bench.json")" -eq 4 ]
	grep -q '^| jq ' "$T/out"
	grep -q '^- bignum: pmm / liblsan: ' "$T/out" || ! compgen -G "/usr/lib/*-linux-gnu/liblsan.so.0" >/dev/null
	grep -q '^- added CPU, pmm / heaptrack, geometric mean: ' "$T/out"
	grep -q '^- ms that pmm adds to each further process of a tree: ' "$T/out"
	grep -q '^- what pmm adds, 16384 stacks over 1024: ' "$T/out"
	grep -q '^- of programs that take less than 3 s natively: jq$' "$T/out"
}

@test "the peak of a tree is seen by who looks seldom, the ledger under whatever number" {
	flock "$(dirname "$PMM")/.bench-lock" ninja -C "$(dirname "$PMM")" bench/bench_micro >/dev/null
	within /usr/bin/python3 "$CLI/measured.py" "$ROOT/bench" "$(dirname "$PMM")/bench/bench_micro" "$T" >"$T/out"
	cat "$T/out"
	grep -qx 'live: seen, with PSS' "$T/out"
	grep -qx 'ledger: seen' "$T/out"
}

@test "another build is measured beside this one" {
	need jq
	bench --only start --only memory --base "$(dirname "$PMM")"
	[ "$(jq '.parts.start.cpu_seconds[1]["sh -c :"].base > 0' "$T/bench.json")" = true ]
	[ "$(jq '.parts.memory.peak_kib.jq.base[0] > .parts.memory.peak_kib.jq.native[0]' "$T/bench.json")" = true ]
	grep -q '^- added memory, pmm / base, geometric mean: ' "$T/out"
	run "$ROOT/bench/run" --smoke --build "$(dirname "$PMM")" --base /nonexistent
	[ "$status" -ne 0 ]
	[[ "$output" == *"'/nonexistent/pmm' is not there"* ]]
}

@test "a part that is not there is refused" {
	run "$ROOT/bench/run" --smoke --build "$(dirname "$PMM")" --only nonsense
	[ "$status" -ne 0 ]
	[[ "$output" == *"no part or program 'nonsense'"* ]]
}
