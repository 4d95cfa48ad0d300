#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace: page faults of each kind of memory, to the page; what waits for files and for swap.

bats_require_minimum_version 1.5.0
load lib
load trace

setup() { needs_bpf; }

teardown() {
	[ -z "${HUGE_BEFORE:-}" ] || echo "$HUGE_BEFORE" >/proc/sys/vm/nr_hugepages
	if [ -n "${ZRAM:-}" ]; then
		swapoff "/dev/zram$ZRAM" 2>/dev/null || :
		echo 1 >"/sys/block/zram$ZRAM/reset"
		echo "$ZRAM" >/sys/class/zram-control/hot_remove
	fi
	[ -z "${CGROUP:-}" ] || without_group "$CGROUP"
}

# touched KIND PAGES [FILE]: trace the victim, each fault with a line; $start, $end, $minor, $major as it says them.
touched() {
	traced 0 faults,major,swap --sample 1 --stack-size 0 -- "$PROG/trace_faults" "$@"
	read -r _ start end minor major < <(grep "^$1 " "$T/err")
}

# among EVENT FILTER: lines of that event in the victim's range.
among() {
	jq -c --argjson from "$start" --argjson to "$end" '
		def hex: ltrimstr("0x") | explode | reduce .[] as $c (0; . * 16 + (if $c > 96 then $c - 87 else $c - 48 end));
		select(.event == "'"$1"'") | select(.address | hex >= $from and hex < $to) | select('"$2"')' "$T/out" | wc -l
}

# Sums of all tables are the same number, that of the lines, and nothing is lost.
adds_up() {
	[ "$(result '.coverage.lost_in_ring + .coverage.lost_in_tables + .coverage.missed_by_recursion')" -eq 0 ]
	local all
	all=$(result '.events[] | select(.event == "fault") | .count')
	[ "$(count fault .)" -eq "$all" ]
	[ "$(result '[.fault_memory[] | .faults] | add')" -eq "$all" ]
	[ "$(result '[.fault_memory[] | .reads + .writes + .fetches + .page_present] | add')" -eq "$all" ]
	[ "$(result '[.fault_processes[] | .faults] | add')" -eq "$all" ]
	[ "$(result '[.fault_processes[] | .anonymous + .heap + .stack + .file + .shared + .huge + .other] | add')" -eq "$all" ]
	[ "$(result '[.fault_files[] | .faults] | add')" -eq "$(result '[.fault_ranges[] | .faults] | add')" ]
}

@test "anonymous pages, written" {
	touched anonymous 2000
	[ "$minor" -eq 2000 ]
	[ "$(among fault '.memory == "anonymous" and .access == "write" and .page_present == false')" -eq 2000 ]
	[ "$(among fault .)" -eq 2000 ]
	adds_up
}

@test "anonymous pages, read first" {
	touched reread 500
	[ "$(among fault '.memory == "anonymous" and .access == "read" and .page_present == false')" -eq 500 ]
	[ "$(among fault '.memory == "anonymous" and .access == "write" and .page_present')" -eq 500 ]
	[ "$(among fault .)" -eq 1000 ]
	[ "$(result '.fault_memory[] | select(.memory == "anonymous") | .page_present')" -ge 500 ]
	adds_up
}

@test "the heap" {
	touched heap 500
	[ "$minor" -eq 500 ]
	[ "$(among fault '.memory == "heap"')" -eq 500 ]
	[ "$(among fault .)" -eq 500 ]
}

@test "the stack, as far as it was and as it grows" {
	touched stack 300
	[ "$minor" -ge 295 ]
	[ "$(among fault '.memory == "stack" or .memory == "stack_growth"')" -eq "$minor" ]
	[ "$(among fault .)" -eq "$minor" ]
	[ "$(among fault '.memory == "stack_growth"')" -ge 200 ]
	adds_up
}

@test "private file: each fault has its path and offset" {
	touched private_file 100 "$T/file"
	[ $((minor + major)) -eq 100 ]
	[ "$(among fault '.memory == "private_file" and .access == "read" and .file == "'"$T"'/file"')" -eq 100 ]
	jq -c 'select(.event == "fault" and .file == "'"$T"'/file") | .offset_bytes' "$T/out" | sort -n | diff - <(seq 0 65536 $((99 * 65536)))
	[ "$(result '.fault_files[] | select(.file == "'"$T"'/file") | .faults')" -eq 100 ]
	[ "$(result '.fault_files[] | select(.file == "'"$T"'/file") | .major')" -eq "$major" ]
	[ "$(among major '.file == "'"$T"'/file"')" -eq "$major" ]
	# 6.4 MB in ranges of 128 KiB
	[ "$(result '[.fault_ranges[] | select(.file == "'"$T"'/file") | select(.size_bytes == 131072 and .faults == 2)] | length')" -eq 50 ]
	adds_up
}

@test "a file below a mount" {
	mountpoint -q /dev/shm || skip "/dev/shm is no mount"
	local file
	file=$(mktemp /dev/shm/pmm-test-XXXXXX)
	touched shared_file 20 "$file"
	rm "$file"
	[ "$(among fault '.memory == "shared_memory" and .file == "'"$file"'"')" -eq 20 ]
}

@test "a file that is gone" {
	mkdir -p "$T/a/b"
	traced 0 faults --sample 1 --stack-size 0 -- sh -c "'$PROG/trace_faults' shared_file 10 '$T/a/b/c'; rm '$T/a/b/c'"
	[ "$(result '.fault_files[] | select(.file == "'"$T"'/a/b/c") | .faults')" -eq 10 ]
	[ "$(result '.fault_memory[] | select(.memory == "shared_file") | .writes')" -eq 10 ]
	local libc
	libc=$(realpath "$(ldd "$PROG/trace_faults" | awk '/libc.so/ { print $3 }')")
	[ "$(result '.fault_files[] | select(.file | endswith("/libc.so.6")) | .file' | head -1)" = "$libc" ]
}

@test "shared memory" {
	touched shared 300
	[ "$minor" -eq 300 ]
	[ "$(among fault '.memory == "shared_memory" and .file == "/dev/zero (deleted)"')" -eq 300 ]
	adds_up
}

@test "by the kernel, for system calls" {
	touched kernel 200
	[ "$minor" -eq 200 ]
	[ "$(among fault '.by_kernel and .memory == "anonymous" and .access == "write"')" -eq 200 ]
	[ "$(among fault .)" -eq 200 ]
	adds_up
}

@test "huge pages by advice" {
	if grep -q '\[never\]' /sys/kernel/mm/transparent_hugepage/enabled; then skip "no huge pages on this machine"; fi
	touched huge 8
	# as many as the kernel has counted: 8, where it had huge pages to give
	[ "$minor" -lt 4096 ] || skip "the kernel had no huge page to give"
	[ "$(among fault '.memory == "anonymous_huge"')" -eq "$minor" ]
	[ "$(result '.fault_memory[] | select(.memory == "anonymous_huge") | .faults')" -eq "$minor" ]
}

@test "hugetlb" {
	[ -w /proc/sys/vm/nr_hugepages ] || skip "/proc/sys/vm/nr_hugepages is not writable"
	HUGE_BEFORE=$(cat /proc/sys/vm/nr_hugepages)
	echo $((HUGE_BEFORE + 4)) >/proc/sys/vm/nr_hugepages
	[ "$(cat /proc/sys/vm/nr_hugepages)" -eq $((HUGE_BEFORE + 4)) ] || skip "the kernel has no four huge pages to give"
	touched hugetlb 4
	[ "$(among fault '.memory == "hugetlb"')" -eq 4 ]
	[ "$(result '.fault_memory[] | select(.memory == "hugetlb") | .faults')" -eq 4 ]
}

@test "an address that is other memory each time" {
	touched change 200 "$T/file"
	[ "$(among fault '.memory == "anonymous" and .file == null')" -eq 200 ]
	[ "$(among fault '.memory == "shared_file" and .file == "'"$T"'/file"')" -eq 200 ]
	[ "$(among fault .)" -eq 400 ]
}

@test "a wild address" {
	traced 139 faults --sample 1 --stack-size 0 -- perl -e 'kill SEGV => $$ if !open(F, "<", "/proc/self/mem"); unpack("p", pack("Q", 4096))'
	[ "$(count fault '.memory == "nowhere" and .address == "0x1000"')" -eq 1 ]
}

@test "300,000 faults: all counted, none lost; stacks of some, which stand for all" {
	traced 0 faults -- "$PROG/trace_faults" again 300000
	[ "$(result '.coverage.lost_in_ring + .coverage.lost_in_tables + .coverage.missed_by_recursion')" -eq 0 ]
	local all weights lines
	all=$(result '.fault_memory[] | select(.memory == "anonymous") | .writes')
	[ "$all" -ge 300000 ]
	[ "$all" -le 300050 ]
	lines=$(count fault .)
	weights=$(jq -s '[.[] | select(.event == "fault") | .weight // 1] | add' "$T/out")
	echo "$lines lines stand for $weights of $all"
	[ "$lines" -lt 20000 ]
	[ "$(result .coverage.sampled_faults)" -eq "$lines" ]
	[ "$weights" -le "$((all + 200))" ]
	[ "$weights" -ge $((all - 65536 - all / 10)) ]
}

@test "a result says of how many faults there are stacks" {
	run -0 "$PMM" trace faults --summary -- "$PROG/trace_faults" again 100000
	grep -qE '^  sampled +[0-9,]+ of 100,[0-9]{3} page faults, one of [0-9]+ on average: sums by stack are multiplied by it$' <<<"$output"
	run -0 "$PMM" trace faults --summary --sample 1 --stack-size 0 -- "$PROG/trace_faults" again 1000
	! grep -q '^  sampled' <<<"$output" || return 1
}

@test "reads of files that wait, without counting all faults" {
	traced 0 major -- "$PROG/trace_faults" private_file 50 "$T/file"
	read -r _ _ _ minor major < <(grep "^private_file " "$T/err")
	[ "$major" -ge 1 ]
	[ "$(count major '.file == "'"$T"'/file"')" -eq "$major" ]
	[ "$(result '[.major_ranges[] | select(.file == "'"$T"'/file") | .faults] | add')" -eq "$major" ]
	[ "$(result '.fault_memory')" = null ]
}

@test "pages that come back from swap" {
	[ -w /sys/fs/cgroup/memory/cgroup.procs ] || skip "no memory control groups of version 1 to write to"
	ZRAM=$(cat /sys/class/zram-control/hot_add 2>/dev/null) || skip "no zram"
	echo 64M >"/sys/block/zram$ZRAM/disksize"
	mkswap "/dev/zram$ZRAM" >/dev/null
	swapon "/dev/zram$ZRAM"
	CGROUP=/sys/fs/cgroup/memory/pmm-test-$$
	mkdir "$CGROUP"
	echo 16M >"$CGROUP/memory.limit_in_bytes"
	traced 0 swap -- sh -c 'echo $$ >"$0/cgroup.procs"; exec "$1" swap 8000' "$CGROUP" "$PROG/trace_faults"
	read -r _ start end minor major < <(grep "^swap " "$T/err")
	# all 8000 had gone, as twice the limit is written in turn; a few others may have to be waited for meanwhile
	[ "$major" -ge 8000 ]
	[ "$major" -le 8020 ]
	[ "$(among swap_in '.memory == "anonymous"')" -eq 8000 ]
	[ "$(result '.coverage.lost_in_ring + .coverage.lost_in_tables + .coverage.missed_by_recursion')" -eq 0 ]
	[ "$(result '.swap_processes[] | select(.command == "trace_faults") | .faults')" -eq "$(count swap_in '.command == "trace_faults"')" ]
	[ "$(result '.swap_processes[] | select(.command == "trace_faults") | .size_bytes / .faults')" -eq 4096 ]
}
