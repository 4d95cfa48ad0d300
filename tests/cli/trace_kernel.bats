#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace kernel, rss, cache: the kernel's own memory, resident sizes, the page cache.

bats_require_minimum_version 1.5.0
load lib
load trace

setup() { needs_bpf; }

teardown() { [ -z "${keeper:-}" ] || kill "$keeper" 2>/dev/null || :; }

# of allocations by a function: FILTER of the sum of its rows
by() { result "[.kernel_stacks[] | select(.stack | endswith(\";$1\") or test(\";$1\\\\+0x[0-9a-f]+\$\"))] | $2"; }

@test "pipes that stay open: each allocation, by call site and cache" {
	traced 0 kernel --sample 1 --objects 1048576 --older 1ns -- "$PROG/trace_kernel" keep 200
	keeper=$(head -1 "$T/out")
	[ "$(result .kernel.sample)" -eq 1 ]
	[ "$(result .kernel.not_followed)" -eq 0 ]
	# a struct pipe_inode_info, its buffers, which have two callers in one function
	[ "$(by alloc_pipe_info 'map(.objects) | add')" -eq 400 ]
	[ "$(by alloc_pipe_info 'map(.grown_objects) | add')" -eq 400 ]
	[ "$(by alloc_pipe_info 'map(.old_objects) | add')" -eq 400 ]
	[ "$(by alloc_pipe_info 'map(.freed) | add')" -eq 0 ]
	# two struct files, an inode and a name each
	[ "$(by alloc_empty_file 'map(select(.stack | test("pipe"))) | map(.objects) | add')" -eq 400 ]
	[ "$(by alloc_inode 'map(select(.stack | test("pipe"))) | map(.objects) | add')" -eq 200 ]
	[ "$(by __d_alloc 'map(select(.stack | test("pipe"))) | map(.objects) | add')" -eq 200 ]
	[ "$(result '.kernel_caches[] | select(.cache == "filp") | .objects')" -ge 400 ]
	# sums agree
	[ "$(result '([.kernel_stacks[].size_bytes] | add) == ([.kernel_sorts[].size_bytes] | add)')" = true ]
	[ "$(result '([.kernel_caches[].objects] | add) == ([.kernel_sorts[].objects] | add)')" = true ]
	grep -q '^pmm: every allocation of the kernel is followed' "$T/err"
}

@test "pipes that are closed leave nothing" {
	traced 0 kernel --sample 1 -- "$PROG/trace_kernel" loop 300
	[ "$(by alloc_pipe_info 'map(.allocated) | add')" -eq 600 ]
	[ "$(by alloc_pipe_info 'map(.objects) | add')" -eq 0 ]
}

@test "a sample, multiplied: near the number, and a multiple of the factor" {
	traced 0 kernel --sample 5 -- "$PROG/trace_kernel" keep 400
	keeper=$(head -1 "$T/out")
	[ "$(result .kernel.sample)" -eq 8 ]
	local n
	n=$(by alloc_pipe_info 'map(.objects) | add')
	[ $((n % 8)) -eq 0 ]
	[ "$n" -ge 400 ]
	[ "$n" -le 1200 ]
}

@test "a table of objects that is full is counted" {
	traced 0 kernel --sample 1 --objects 64 -- "$PROG/trace_kernel" keep 200
	keeper=$(head -1 "$T/out")
	[ "$(result '.kernel.not_followed > 200')" = true ]
	# the counts are read after the table
	[ "$(result '.coverage.lost_in_tables >= .kernel.not_followed')" = true ]
	[ "$(result '[.kernel_sorts[].objects] | add')" -le 64 ]
}

@test "growth from one look to the next" {
	"$PMM" trace kernel --sample 1 --all --command trace_kernel --json --top 0 --interval 1 --duration 60 --summary >"$T/out" 2>"$T/err" &
	local pid=$!
	until [ "$(wc -l <"$T/out")" -ge 1 ]; do sleep 0.05; done
	"$PROG/trace_kernel" keep 100 >"$T/keeper"	# which the child has open as well
	keeper=$(cat "$T/keeper")
	local at
	at=$(wc -l <"$T/out")
	until [ "$(wc -l <"$T/out")" -ge $((at + 2)) ]; do sleep 0.05; done
	kill -INT "$pid"
	wait "$pid"
	# all of it in one look or two, nothing in others
	pipes='[.kernel_stacks[] | select(.stack | test(";alloc_pipe_info[+]0x[0-9a-f]+$"))]'
	[ "$(jq -s "map($pipes | map(.grown_objects) | add // 0) | add" "$T/out")" -eq 200 ]
	[ "$(jq -s "map($pipes | map(.grown_objects) | add // 0) | first" "$T/out")" -eq 0 ]
	[ "$(jq -s "map($pipes | map(.grown_objects) | add // 0) | last" "$T/out")" -eq 0 ]
	[ "$(jq -s "map($pipes | map(.objects) | add // 0) | last" "$T/out")" -eq 200 ]
}

@test "slab caches are those of /proc/slabinfo" {
	[ -r /proc/slabinfo ] || skip "no /proc/slabinfo for this user"
	# others may make some, or take them away
	as_in_proc() { traced 0 kernel -- true && [ "$(result '.slabs | length')" -eq "$(($(wc -l </proc/slabinfo) - 2))" ]; }
	await as_in_proc || { result .slabs; return 1; }
	[ "$(result '.slabs[] | select(.cache == "kmalloc-64") | .object_bytes')" -eq 64 ]
}

@test "large allocations have a line" {
	traced 0 kernel --sample 1 --min-size 1000 -- "$PROG/trace_kernel" loop 50
	[ "$(count kernel_alloc '.sort == "kmalloc" and .size_bytes == 1024')" -ge 50 ]
	[ "$(count kernel_alloc '.size_bytes < 1000')" -eq 0 ]
	[ "$(count kernel_alloc '.function // "" | test("^alloc_pipe_info[+]")')" -eq 50 ]
}

@test "resident size is what smaps says, to the byte" {
	traced 0 rss -- "$PROG/trace_pages" rss 16
	kb() { awk -v name="$1:" '$1 == name { print $2 * 1024 }' "$T/err"; }
	[ "$(kb Rss)" -gt 16777216 ]
	[ "$(result '.resident[0].resident_bytes')" -eq "$(kb Rss)" ]
	[ "$(result '.resident[0].anonymous_bytes')" -eq "$(kb Anonymous)" ]
	[ "$(result '.resident[0].peak_bytes')" -ge "$(kb Rss)" ]
	# a line for each MiB; pmm's fork of before the exec has had a part of the first already
	[ "$(count rss '.kind == "anonymous"')" -ge 15 ]
	[ "$(count rss '.kind == "anonymous" and .change_bytes != 1048576')" -eq 0 ]
	[ "$(result '.coverage.lost_in_ring + .coverage.lost_in_tables + .coverage.missed_by_recursion')" -eq 0 ]
}

@test "who fills the page cache, page by page" {
	dd if=/dev/urandom of="$T/file" bs=4096 count=700 status=none
	sync "$T/file"
	case $(stat -f -c %T "$T/file") in tmpfs) skip "$T is a tmpfs: the kernel does not say when it adds pages" ;; esac
	python3 -c "import os; fd = os.open('$T/file', os.O_RDONLY); os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)"
	traced 0 cache -- "$PROG/trace_pages" cache "$T/file" 600
	[ "$(result ".cache_files[] | select(.file == \"$T/file\") | .added_bytes")" -eq $((600 * 4096)) ]
	[ "$(result ".cache_files[] | select(.file == \"$T/file\") | .inode")" -eq "$(stat -c %i "$T/file")" ]
	[ "$(result '[.cache_processes[] | select(.command == "trace_pages") | .added_bytes] | add')" -ge $((600 * 4096)) ]
	[ "$(count cache_add ".size_bytes == 1048576")" -eq 2 ]
	# again: it is all there, unless another one empties the cache meanwhile
	for _ in 1 2 3 4 5; do
		traced 0 cache -- "$PROG/trace_pages" cache "$T/file" 600
		[ "$(result "[.cache_files[] | select(.file == \"$T/file\")] | length")" -ne 0 ] || return 0
	done
	return 1
}
