#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace reclaim, compaction, migrate, thp: what a small memory control group and huge pages make the kernel do. Reclaim of the whole machine,
# kswapd and compaction are tried in guests (tests/guest/trace_reclaim.t).

bats_require_minimum_version 1.5.0
load lib
load trace

CGROUPS=/sys/fs/cgroup/memory
FEW=8

setup() {
	needs_bpf
	GROUP=$CGROUPS/pmm_trace_$$_$BATS_TEST_NUMBER
}

teardown() { [ ! -d "${GROUP:-}" ] || without_group "$GROUP"; }

# small_group BYTES: a memory control group with that limit.
small_group() {
	mkdir "$GROUP" 2>"$T/mkdir" || skip "no memory control groups of version 1 that may be made: $(cat "$T/mkdir")"
	echo "$1" >"$GROUP/memory.limit_in_bytes"
}

# inside COMMAND...: as an argument of traced: run it in the group.
inside() { printf '%s\0' sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$GROUP" "$@"; }

# huge_pages: skip where they cannot be asked for.
huge_pages() {
	local enabled
	enabled=$(cat /sys/kernel/mm/transparent_hugepage/enabled 2>"$T/thp.err") || skip "no transparent huge pages: $(cat "$T/thp.err")"
	[[ $enabled != *"[never]"* ]] || skip "transparent huge pages are switched off"
}

@test "reclaim in a memory cgroup: every page" {
	local inside pages listed
	small_group 32M
	head -c 60M /dev/zero >"$T/file"
	mapfile -d '' inside < <(inside "$PROG/trace_reclaim" "$T/file")
	traced 0 reclaim -- "${inside[@]}"
	pages=$(awk '$1 == "reclaimed" { print $2 }' "$T/out")
	sed -i '/^reclaimed/d' "$T/out"
	[ "$pages" -ge 7000 ]
	# what mincore() misses, and a few pages of the group that are not the file's (directories, output)
	listed=$(result '.reclaim_lists[] | select(.pages == "files") | .reclaimed')
	[ "$listed" -ge "$pages" ]
	[ "$listed" -le $((pages + FEW)) ]
	[ "$(jq -s '[.[] | select(.event == "memcg_reclaim") | .reclaimed_bytes] | add / 4096' "$T/out")" -eq "$listed" ]
	[ "$(result '.reclaim_waits[] | select(.event == "memcg_reclaim") | .size_bytes / 4096')" -eq "$listed" ]
	[ "$(result '[.memcg_reclaim_latency[].count] | add')" -eq "$(count memcg_reclaim .)" ]
	[ "$(count memcg_reclaim '.latency_ns > 0 and .order == 0 and .command == "trace_reclaim"')" -eq "$(count memcg_reclaim .)" ]
	# of the whole machine, which has some free memory and less than there is
	[ "$(count memcg_reclaim ".free_bytes > 1000000 and .free_bytes / 1024 < $(awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo)")" -eq \
		"$(count memcg_reclaim .)" ]
	[ "$(count memcg_reclaim ".memory_cgroup == $(stat -c %i "$GROUP")")" -eq "$(count memcg_reclaim .)" ]
	[ "$(result '.coverage | .lost_in_ring + .lost_in_tables + .missed_by_recursion + .unpaired')" -eq 0 ]
}

@test "shrinkers by name, counted alike in table and histogram" {
	local inside
	small_group 32M
	head -c 60M /dev/zero >"$T/file"
	# names that are not there are kept, too: 3000 objects of the group's
	# shellcheck disable=SC2016 # the shell in the group expands it
	mapfile -d '' inside < <(inside sh -c 'i=0; while [ $i -lt 3000 ]; do [ -e "$1.$i" ] || i=$((i + 1)); done; exec "$0" "$1"' \
		"$PROG/trace_reclaim" "$T/file")
	traced 0 reclaim -- "${inside[@]}"
	sed -i '/^reclaimed/d' "$T/out"
	[ "$(result '[.shrinkers[] | select(.shrinker == "super_cache_scan")] | length')" -eq 1 ]
	[ "$(result '[.shrinkers[].calls] | add')" -eq "$(result '[.shrinker_latency[].count] | add')" ]
	# records only of those that take longer than what is asked for
	[ "$(count shrink_slab .)" -eq 0 ]
	traced 0 reclaim --min-latency 1ns -- "${inside[@]}"
	sed -i '/^reclaimed/d' "$T/out"
	[ "$(count shrink_slab .)" -gt 0 ]
	[ "$(count shrink_slab .)" -eq "$(result '[.shrinkers[].calls] | add')" ]
}

@test "what is shorter than a limit is counted only" {
	local inside
	small_group 32M
	head -c 60M /dev/zero >"$T/file"
	mapfile -d '' inside < <(inside "$PROG/trace_reclaim" "$T/file")
	traced 0 reclaim --min-latency 1h -- "${inside[@]}"
	sed -i '/^reclaimed/d' "$T/out"
	[ "$(count memcg_reclaim .)" -eq 0 ]
	[ "$(result .coverage.seen)" -gt 10 ]
	[ "$(result '.reclaim_lists[] | select(.pages == "files") | .reclaimed')" -ge 7000 ]
}

@test "huge pages by faults and by madvise, exactly" {
	huge_pages
	traced 0 thp -- "$PROG/trace_huge" 32 4 3
	# shellcheck disable=SC2046 # four words
	set -- $(awk '$1 == "huge" { print $2, $3, $5 }' "$T/out")
	sed -i '/^huge /d' "$T/out"
	local faulted=$1 collapsed=$2 refused=$3
	# a fault that found no huge page is one, too
	[ "$(count huge_fault .)" -eq 32 ]
	[ "$(count huge_fault '.allocated and .size_bytes == 2097152')" -eq $((faulted / 2048)) ]
	[ "$(count huge_fault '.gfp | startswith("GFP_TRANSHUGE")')" -eq 32 ]
	[ "$(count collapse '.by == "madvise" and .status == "succeeded"')" -eq $((collapsed / 2048)) ]
	[ "$(count huge_scan '.by == "madvise" and .status == "succeeded"')" -eq $((collapsed / 2048)) ]
	[ "$(count huge_scan '.by == "madvise" and .status == "page_pmd_mapped"')" -eq $((collapsed / 2048)) ]
	[ "$refused" -ge 3 ]
	[ "$(result '[.collapses[] | select(.by == "madvise" and .step == "collapse") | .count] | add')" -eq "$(count collapse '.by == "madvise"')" ]
	# the machine has at least what this process has
	[ "$(result '.thp_vmstat[] | select(.counter == "thp_fault_alloc") | .gained')" -ge $((faulted / 2048)) ]
}

@test "results of intervals have what was counted in each" {
	local inside
	small_group 32M
	head -c 60M /dev/zero >"$T/file"
	# shellcheck disable=SC2016 # the shell in the group expands it
	mapfile -d '' inside < <(inside sh -c 'results() { until [ "$(grep -c schema "$2")" -ge "$3" ]; do sleep 0.05; done; }
		"$0" "$1"; results "$@" 1; "$0" "$1"; results "$@" 2' "$PROG/trace_reclaim" "$T/file" "$T/out")
	traced 0 reclaim --summary --interval 200ms -- "${inside[@]}"
	local pages listed
	pages=$(awk '$1 == "reclaimed" { n += $2 } END { print n }' "$T/out")
	sed -i '/^reclaimed/d' "$T/out"
	[ "$(grep -c '"schema"' "$T/out")" -ge 3 ]
	listed=$(jq -s '[.[].reclaim_lists[]? | select(.pages == "files") | .reclaimed] | add' "$T/out")
	echo "$pages of the file, $listed listed; $(jq -c .coverage "$T/out")"
	[ "$listed" -ge "$pages" ]
	[ "$listed" -le $((pages + FEW)) ]
}
