#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Profiles of other tools, recorded here by those tools: pmm report has their own figures, names and forms; what they do not know is said and
# not asked for in vain.

load lib

PRELOAD=/usr/lib/x86_64-linux-gnu

setup_file() {
	cat >"$BATS_FILE_TMPDIR/v.c" <<-'END'
	#include <stdlib.h>
	void *kept[1000], *volatile p;
	__attribute__((noinline)) void keep(int i) { kept[i] = malloc(1024 + 32 * (i % 8)); }
	__attribute__((noinline)) void drop(int i) { p = malloc(8192); free(p); }
	int main(void)
	{
		for (int i = 0; i < 1000; i++) { keep(i); drop(i); }
		for (int i = 0; i < 500; i++) free(kept[i]);
	}
	END
	gcc -g -O1 -o "$BATS_FILE_TMPDIR/v" "$BATS_FILE_TMPDIR/v.c"
}

V=$BATS_FILE_TMPDIR/v

report() { "$PMM" report "$@"; }
# jq_is FILTER FILE: of the report as JSON.
jq_is() { report --json "$2" >"$T/json" && jq -e "$1" "$T/json" >/dev/null || { jq . "$T/json" | head -60; false; }; }
# sum_of FILE FUNCTION KEY: of the stacks that this function answers for; line_of: the line that is named.
sum_of() { report --json "$1" | jq -r --arg f "$2" '[.sites[] | select(.function == $f) | .'"$3"'] | add'; }
line_of() { report --json "$1" | jq -r --arg f "$2" '.lines[] | select(.function == $f) | .line'; }

@test "heaptrack: its figures to the byte, lines by name, a history" {
	need heaptrack
	heaptrack -o "$T/h" "$V" >"$T/said" 2>&1
	[ -s "$T/h.zst" ]
	[ "$(sum_of "$T/h.zst" keep live_bytes)" = 568256 ]
	[ "$(sum_of "$T/h.zst" keep live_blocks)" = 500 ]
	[ "$(line_of "$T/h.zst" keep)" = 3 ]
	jq_is '.import | .tool == "heaptrack" and .comm == "v" and .history and .allocated' "$T/h.zst"
	jq_is '.history.time_ns | length >= 2' "$T/h.zst"
	heaptrack_print -n 0 "$T/h.zst" >"$T/printed"
	[ "$(awk '/^calls to allocation functions:/ { print $5 }' "$T/printed")" = "$(jq .totals.allocs "$T/json")" ]
	# 1000 temporary blocks of ours, some of the program's start
	jq_is '.totals.temporary >= 1000 and .totals.temporary <= 1003' "$T/h.zst"
	jq_is '.totals.peak_bytes == .totals.peak_accounted_bytes' "$T/h.zst"
	[ "$(awk '/^peak heap memory consumption:/ { print $5 }' "$T/printed")" = \
		"$(jq -r '.totals.peak_bytes / 10000 | round / 100 | tostring + "M"' "$T/json")" ]
}

@test "heaptrack: unpacked and packed anew it is the same; raw data is refused with the way out" {
	need heaptrack
	heaptrack --raw -o "$T/h" "$V" >/dev/null 2>&1
	refused_with 3 "is heaptrack's raw data" "$PMM" report "$T"/h.raw.*
	grep -q -- "'heaptrack --interpret'" "$T/said"
	heaptrack -o "$T/i" "$V" >/dev/null 2>&1
	zstd -q -d -o "$T/plain" "$T/i.zst"
	gzip -k "$T/plain"
	report --json "$T/i.zst" >"$T/1"
	report --json "$T/plain" | cmp - "$T/1"
	report --json "$T/plain.gz" | cmp - "$T/1"
}

@test "heaptrack: a frame without a name has its module" {
	printf '%s\n' 'v 10400 3' 'X /opt/prog' 'I 1000 100' 's 8 /opt/lib' 's 9 libx.so.1' 's 4 main' 'i 401000 1 3' 'i 7f0000 2' 't 1 0' 't 2 1' \
		'a 64 2' '+ 0' 'c 5' >"$T/h"
	report "$T/h" >"$T/text"
	grep -q '^ *100 B .* 1 *\[libx.so.1\]$' "$T/text" || { cat "$T/text"; false; }
	[ "$(grep -c '?$' "$T/text")" = 0 ]
}

@test "heaptrack: cut off anywhere, it is truncated" {
	local n
	{ printf '%s\n' 'v 10400 3' 'X /opt/prog' 'I 1000 100'; seq -f 's 4 %04.0f' 9999; } >"$T/h"
	zstd -q "$T/h"
	gzip -k "$T/h"
	for n in 5 12 20 100 1000; do
		head -c $n "$T/h.zst" >"$T/cut.zst"
		refused_with 3 "is truncated" "$PMM" report "$T/cut.zst"
		head -c $n "$T/h.gz" >"$T/cut.gz"
		refused_with 3 "is truncated" "$PMM" report "$T/cut.gz"
	done
}

@test "jemalloc: every block sampled, what is live and what was allocated" {
	[ -e "$PRELOAD/libjemalloc.so.2" ] || skip "no libjemalloc.so.2"
	MALLOC_CONF=prof:true,prof_final:true,prof_accum:true,lg_prof_sample:0,prof_prefix:$T/j LD_PRELOAD=$PRELOAD/libjemalloc.so.2 "$V"
	set -- "$T"/j.*.heap
	# jemalloc counts blocks in its own sizes: 1024 stays, 1056 to 1248 become 1280
	[ "$(sum_of "$1" keep live_blocks)" = 500 ]
	[ "$(sum_of "$1" keep live_bytes)" = $((63 * 1024 + 437 * 1280)) ] || [ "$(sum_of "$1" keep live_bytes)" = $((62 * 1024 + 438 * 1280)) ]
	jq_is '.import.tool == "jemalloc" and .import.allocated and (.import.history | not) and (.totals | has("peak_bytes") | not)' "$1"
	jq_is '[.sites[] | select(.function == "drop")][0] | .allocs == 1000 and .live_bytes == 0' "$1"
	jq_is '.warnings[0].code == "not_in_profile"' "$1"
}

@test "jemalloc: a sample gives estimates with their error" {
	[ -e "$PRELOAD/libjemalloc.so.2" ] || skip "no libjemalloc.so.2"
	MALLOC_CONF=prof:true,prof_final:true,lg_prof_sample:12,prof_prefix:$T/j LD_PRELOAD=$PRELOAD/libjemalloc.so.2 "$V"
	# 5 standard errors, not two: one run in two million fails by chance
	jq_is '.totals.mode == "sampled" and .totals.sample_bytes == 4096 and .totals.live_error_bytes > 20000' "$T"/j.*.heap
	jq_is '[.sites[] | select(.function == "keep")][0].live_bytes as $b | ($b - 625000 | fabs) < 250000' "$T"/j.*.heap
	jq_is '.import.allocated | not' "$T"/j.*.heap
}

@test "gperftools: its text profile" {
	[ -e "$PRELOAD/libtcmalloc.so.4" ] || skip "no libtcmalloc.so.4"
	HEAPPROFILE=$T/g LD_PRELOAD=$PRELOAD/libtcmalloc.so.4 "$V" 2>"$T/said"
	set -- "$T"/g.*.heap
	[ "$(sum_of "${!#}" keep live_bytes)" = 568256 ]
	[ "$(sum_of "${!#}" keep allocs)" = 1000 ]
	[ "$(sum_of "${!#}" drop allocated_bytes)" = 8192000 ]
	jq_is '.import.tool == "gperftools" and .totals.mode == "exact"' "${!#}"
}

@test "pprof: what pmm writes it reads again, to the byte" {
	track "$V"
	report --format pprof -o "$T/p.pb.gz" "$CAP" 2>/dev/null
	report --json "$CAP" >"$T/own"
	jq_is '.import.tool == "pprof" and .import.comm == "v"' "$T/p.pb.gz"
	for key in live_bytes live_blocks allocs frees allocated_bytes freed_bytes; do
		[ "$(jq ".totals.$key" "$T/json")" = "$(jq ".totals.$key" "$T/own")" ] || { echo "$key"; false; }
	done
	[ "$(jq -c '[.lines[] | [.function, .file, .line, .value_bytes, .value_count]] | sort' "$T/json")" = \
		"$(jq -c '[.lines[] | [.function, .file, .line, .value_bytes, .value_count]] | sort' "$T/own")" ]
	report --format pprof -o "$T/again.pb.gz" "$T/p.pb.gz" 2>/dev/null
	[ "$(go tool pprof -raw "$T/again.pb.gz" | sed -n '/^Samples/,/^Locations/p' | grep -c '^ *[0-9]')" = \
		"$(go tool pprof -raw "$T/p.pb.gz" | sed -n '/^Samples/,/^Locations/p' | grep -c '^ *[0-9]')" ]
}

@test "pprof: Go's own heap profile; one of CPU time is refused by name" {
	need go
	cat >"$T/p.go" <<-'END'
	package main
	import ("os"; "runtime"; "runtime/pprof")
	var kept [][]byte
	func hold() { for i := 0; i < 100; i++ { kept = append(kept, make([]byte, 100000)) } }
	func main() {
		runtime.MemProfileRate = 1
		cpu, _ := os.Create(os.Args[2]); pprof.StartCPUProfile(cpu)
		hold(); runtime.GC(); pprof.StopCPUProfile()
		f, _ := os.Create(os.Args[1]); pprof.WriteHeapProfile(f); f.Close()
	}
	END
	(cd "$T" && GO111MODULE=off GOFLAGS= HOME=$T within go build -o p p.go) || skip "go does not build here"
	"$T/p" "$T/heap" "$T/cpu"
	# sizes as Go's allocator has them: 100000 becomes 106496
	[ "$(sum_of "$T/heap" main.hold live_bytes)" -ge 10649600 ]
	[ "$(sum_of "$T/heap" main.hold live_bytes)" -lt 10700000 ]
	refused_with 3 "is no profile of memory: its samples are of samples, cpu" "$PMM" report "$T/cpu"
}

@test "what a profile does not know is refused, not answered with nothing" {
	local key
	printf 'heap_v2/1\n@ 0x401000\n  t*: 2: 64 [0: 0]\n\nMAPPED_LIBRARIES:\n' >"$T/j"
	refused_with 3 "no single blocks, which --blocks lists" "$PMM" report --blocks "$T/j"
	refused_with 3 "no single blocks, which --thread, --size and --age select" "$PMM" report --size 1: "$T/j"
	refused_with 3 "no figures for '--sort peak'" "$PMM" report --sort peak "$T/j"
	for key in allocated calls; do
		refused_with 3 "no allocations that were freed again, which '--sort $key' is about" "$PMM" report --sort $key "$T/j"
		refused_with 3 "no allocations that were freed again" "$PMM" report --format collapsed --sort $key "$T/j"
	done
	jq_is '[.totals, .sites[]] | map(keys[]) | map(select(test("^(allocs|frees|allocs_per_second|allocated_bytes|freed_bytes)$"))) == []' "$T/j"
	report "$T/j" >"$T/text"
	[ "$(grep -c ' calls' "$T/text")" = 0 ]
	report --format pprof -o "$T/j.pb.gz" "$T/j" 2>/dev/null
	[ "$(go tool pprof -raw "$T/j.pb.gz" 2>/dev/null | sed -n '/^Samples/{n;p;n;p}' | xargs)" = "inuse_objects/count inuse_space/bytes[dflt] 2 64: 1" ]
	jq_is '[.import.allocated, .totals.live_bytes, .totals.live_blocks] == [false, 64, 2]' "$T/j.pb.gz"
	refused_with 3 "was not searched for leaks" "$PMM" leaks "$T/j"
	refused_with 3 "was not checked for heap errors" "$PMM" check "$T/j"
	report "$T/j" | grep -q "^  !  what another tool recorded does not have single blocks"
	printf 'heap_v2/1\n@ 0x401000\n  t*: 2: 64\n' >"$T/bad"
	refused_with 3 "is damaged: line 3 makes no sense" "$PMM" report "$T/bad"
	printf 'heap_v2/1\n@ 0x401000\n  t*: 2: 64 [0: 0]\n' >"$T/cut"
	refused_with 3 "is truncated" "$PMM" report "$T/cut"
}

@test "diff and budget: what one of the two does not know is neither compared nor judged" {
	track "$V"
	printf 'heap_v2/1\n@ 0x401000\n  t*: 2: 64 [0: 0]\n\nMAPPED_LIBRARIES:\n' >"$T/j"
	"$PMM" diff --json "$T/j" "$CAP" | jq -e '[.totals[].what] == ["live"]'
	"$PMM" diff "$T/j" "$CAP" | grep -q "^  before  $T/j: not named, recorded by jemalloc's profiler$"
	refused_with 3 "has no figures for 'peak', which --sort is about" "$PMM" diff --sort peak "$T/j" "$CAP"
	refused_with 3 "has no figures for 'allocated', which --fail-on is about" "$PMM" diff --fail-on 'allocated>5%' "$T/j" "$CAP"
}

@test "forms: what a profile does not know is left out or refused, not written as 0" {
	printf 'heap_v2/1\n@ 0x401000\n  t*: 2: 64 [0: 0]\n\nMAPPED_LIBRARIES:\n' >"$T/j"
	local form key
	for form in massif dhat heaptrack chrome-trace; do
		refused_with 3 "the profile has no peak and no times, which '--format $form' is about" \
			"$PMM" report --format "$form" -o "$T/made.gz" "$T/j"
		[ ! -e "$T/made.gz" ]
	done
	for form in svg collapsed speedscope; do
		for key in peak temporary; do
			refused_with 3 "no figures for '--sort $key'" "$PMM" report --format "$form" --sort "$key" -o "$T/made" "$T/j"
			[ ! -e "$T/made" ]
		done
	done
	[ "$(report --format openmetrics "$T/j" 2>/dev/null | grep -o '^pmm_heap_[a-z_]*' | xargs)" = "pmm_heap_live_bytes pmm_heap_live_blocks" ]
	[ "$(report --format speedscope -o - "$T/j" 2>/dev/null | jq -r '[.profiles[].name] | join(",")')" = "live bytes,live blocks" ]
	# one with what was freed
	printf 'heap profile: 2: 64 [5: 160] @ heapprofile\n2: 64 [5: 160] @ 0x401000\n\nMAPPED_LIBRARIES:\n' >"$T/g"
	[ "$(report --format openmetrics "$T/g" 2>/dev/null | grep -o '^pmm_heap_[a-z_]*' | xargs)" = \
		"pmm_heap_live_bytes pmm_heap_live_blocks pmm_heap_allocated_bytes pmm_heap_freed_bytes pmm_heap_allocations pmm_heap_frees" ]
	[ "$(report --format speedscope -o - "$T/g" 2>/dev/null | jq -r '[.profiles[].name] | join(",")')" = \
		"live bytes,live blocks,allocated bytes,allocations" ]
}

@test "the page of a comparison has the figures that both know, no others" {
	printf 'heap_v2/1\n@ 0x401000\n  t*: 2: 64 [0: 0]\n\nMAPPED_LIBRARIES:\n' >"$T/j"
	capture_of own 'site main allocs=3 size=100 frees=1'
	capture_of two 'site main allocs=4 size=100 frees=1'
	"$PMM" diff --format html -o "$T/page.html" "$T/j" "$T/own.pmm" 2>"$T/said" || {
		if grep -q "was built without pages" "$T/said"; then skip "esbuild or libjs-dygraphs was missing when pmm was built"; fi
		cat "$T/said"
		false
	}
	part about "$T/page.html" | jq -e '.metrics == ["live", "bytes", "live", "blocks", "live", "bytes", "live", "blocks"]'
	"$PMM" diff --format html -o "$T/page.html" "$T/two.pmm" "$T/own.pmm" 2>"$T/said"
	part about "$T/page.html" |
		jq -e '[.metrics[range(0; 28; 2)]] | .[:7] == .[7:] and .[:7] == ["live", "live", "peak", "peak", "allocated", "allocations", "temporary"]'
}
