#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace libc: what malloc asks of the kernel, by the probes of a C library and by its system calls.

bats_require_minimum_version 1.5.0
load lib
load trace

setup() { needs_bpf; }

# A process with a libc.so.6 that has probes; it passes each TIMES times when there is a line in fd 7. Its number in $victim.
waiting() {
	mkdir -p "$T/lib"
	[ -e "$T/lib/libc.so.6" ] || cp "$PROG/libc_probes.so" "$T/lib/libc.so.6"
	mkfifo "$T/go"
	"$PROG/libc_victim" "$T/lib/libc.so.6" "$1" <"$T/go" >"$T/said" 3>&- & victim=$!
	exec 7>"$T/go"
	await -p "$victim" grep -q ready "$T/said"
}

# watches NAME [OPTION...]: pmm traces the victim into $T/NAME. Its number in $tracer.
watches() {
	timeout -k 5 60 "$PMM" trace libc --json --top 0 -p "$victim" "${@:2}" >"$T/$1" 2>"$T/err.$1" 3>&- 7>&- & tracer=$!
	await -p "$tracer" traces "$tracer"
}

# sums NAME FILTER EXPRESSION: of the lines of $T/NAME.
sums() { jq -s -r "[.[] | select(.event) | select($2)] | $3" "$T/$1"; }

# all_probes NAME TIMES: each was seen so often, with its arguments.
all_probes() {
	local kind
	for kind in sbrk_more sbrk_less heap_new heap_more heap_less heap_free arena_new arena_reuse arena_free_list arena_wait arena_retry double_free; do
		[ "$(sums "$1" ".event == \"libc_$kind\"" length)" -eq "$2" ] || { echo "$kind"; return 1; }
	done
	[ "$(sums "$1" '.event == "libc_retry"' length)" -eq $((4 * $2)) ]
	[ "$(sums "$1" '.event == "libc_mallopt"' length)" -eq $((3 * $2)) ]
	[ "$(sums "$1" '.event == "libc_sbrk_more" and .probe == "memory_sbrk_more" and .address == "0x10000" and .size_bytes == 4096' length)" -eq 1 ]
	[ "$(sums "$1" '.event == "libc_sbrk_more"' 'map(.size_bytes) | add')" -eq $((4096 * $2 * ($2 + 1) / 2)) ]
	[ "$(sums "$1" '.event == "libc_arena_wait" and .address == "0x30000"' length)" -eq 1 ]
	[ "$(sums "$1" '.event == "libc_arena_retry" and .size_bytes == 500 and .address == "0x30000"' length)" -eq 1 ]
	[ "$(sums "$1" '.probe == "memory_calloc_retry"' 'map(.size_bytes) | add')" -eq $((2000 * $2 * ($2 + 1) / 2)) ]
	[ "$(sums "$1" '.probe == "memory_realloc_retry" and .address == "0x50000"' length)" -eq 1 ]
	[ "$(sums "$1" '.probe == "memory_mallopt" and .parameter == -8 and .parameter_name == "M_ARENA_MAX" and .value == 1' length)" -eq 1 ]
	[ "$(sums "$1" '.probe == "memory_mallopt_arena_max" and .value == 1 and .former_value == 0' length)" -eq 1 ]
	[ "$(sums "$1" '.event == "libc_double_free" and .address == "0x60000"' length)" -eq 1 ]
	[ "$(sums "$1" '.stack[0].function == "pass_probes" and .stack[1].function == "main" and .stack_end == null' length)" -eq $((19 * $2)) ]
	[ "$(sums "$1" true length)" -eq $((19 * $2)) ]
	[ "$(tail -1 "$T/$1" | jq -r '.libc | "\(.by) \(.libraries_with_probes)"')" = "probes 1" ]
	[ "$(tail -1 "$T/$1" | jq -r '.coverage | .lost_in_ring + .lost_in_tables + .missed_by_recursion')" -eq 0 ]
}

@test "probes: each with its arguments and its stack; two tracers at once" {
	need_root
	local one two
	waiting 5
	watches one; one=$tracer
	watches two; two=$tracer
	echo >&7
	exec 7>&-
	wait "$victim" "$one" "$two"
	all_probes one 5
	all_probes two 5
}

@test "probes: small ones are counted only; sums of each second; not those of other processes" {
	need_root
	local other
	waiting 20
	mkfifo "$T/other"
	exec 8<>"$T/other"
	"$PROG/libc_victim" "$T/lib/libc.so.6" 3 <&8 >"$T/other.said" 3>&- 7>&- & other=$!
	await -p "$other" grep -q ready "$T/other.said"
	watches out --min-size 8K --interval 1
	echo >&8
	wait "$other"
	echo >&7
	exec 7>&- 8>&-
	wait "$victim" "$tracer"
	[ "$(sums out '.event == "libc_sbrk_more"' length)" -eq 19 ]	# all but the first
	[ "$(jq -s '[.[] | .events // [] | .[] | select(.event == "libc_sbrk_more").count] | add' "$T/out")" -eq 20 ]
	[ "$(jq -s '[.[] | .coverage.seen // empty] | add' "$T/out")" -eq 380 ]
}

# without a libc that has probes here
no_probes() {
	local why
	why=$(jq -r '.events[] | select(.event == "libc").why' "$T/list.json")
	[[ $why == *"has no probes (.note.stapsdt)" ]] || skip "this machine's libc.so.6 has probes"
}

@test "system calls: what glibc's malloc has asked for" {
	no_probes
	local grown
	traced 0 libc --buffer 64M -- "$PROG/libc_heaps"
	grown=$(awk '$1 == "grown" { print $2 }' "$T/out")
	sed -i '/^{/!d' "$T/out"
	[ "$grown" -gt 1900000 ]
	# the first heap's beginning, of 132 KiB, was before
	[ "$(sums out '.event == "libc_sbrk_more"' 'map(.size_bytes) | add')" -eq $((grown + 135168)) ]
	[ "$(count libc_mmap '.size_bytes == 1052672')" -eq 1 ]
	[ "$(count libc_munmap '.size_bytes == 1052672')" -eq 1 ]
	[ "$(count libc_mmap .)" -eq 1 ]
	[ "$(count libc_munmap .)" -eq 1 ]
	[ "$(count libc_arena_new '.pid != .tid')" -eq 1 ]
	[ "$(count libc_arena_new .)" -eq 1 ]
	[ "$(count libc_heap_new '.pid != .tid')" -eq 2 ]
	[ "$(count libc_heap_free '.size_bytes == 67108864')" -eq 1 ]
	# 180 times 400 KiB, with what a block and a heap need themselves
	[ "$(sums out '.event == "libc_heap_new" or .event == "libc_heap_more"' 'map(.size_bytes) | add | . > 73728000 and . < 74500000')" = true ]
	[ "$(sums out '.event == "libc_heap_more" and ([.stack[].function] | index("second") == null)' length)" -eq 0 ]
	[ "$(result '.libc | "\(.by) \(.libraries_with_probes)"')" = "calls 0" ]
	[ "$(result '.libc.other_calls')" -ge 2 ]
	[ "$(result '.libc.unknown_calls')" -eq 0 ]
	[ "$(result '.not_seen[] | select(.events == "libc") | .partly')" = true ]
	[ "$(result .coverage.seen)" -eq "$(sums out true length)" ]
}

@test "system calls: not without stacks, and beside the calls themselves" {
	no_probes
	traced 0 libc --stack-size 0 -- "$PROG/libc_heaps"
	sed -i '/^{/!d' "$T/out"
	[ "$(sums out true length)" -eq 0 ]
	timeout 60 "$PMM" trace libc -s --stack-size 0 -- "$PROG/libc_heaps" >"$T/text"
	grep -q "seen by  *nothing: which calls are malloc's is known by copies of stacks alone" "$T/text"
	traced 0 libc,brk -- "$PROG/libc_heaps"
	sed -i '/^{/!d' "$T/out"
	[ "$(count brk '.grown_bytes > 0' 2>/dev/null || count brk .)" -gt 10 ]
	[ "$(count libc_sbrk_more .)" -gt 10 ]
	timeout 60 "$PMM" trace libc -s -- "$PROG/libc_heaps" >"$T/text"
	traced 0 libc --buffer 64K -- "$PROG/libc_heaps"
	[ "$(result '.libc.unknown_calls + .coverage.lost_in_ring')" -ge 50 ]
	grep -q '^  seen by  *system calls that malloc and free make: retries, reused arenas, mallopt and double frees are not known$' "$T/text"
	grep -q "^  no probes  */.*/libc.so.6 has no probes (.note.stapsdt)$" "$T/text"
}

@test "a program that is linked statically is not taken for glibc's" {
	no_probes
	need cc
	cc -static -o "$T/static" "$SOURCE/libc_heaps.c" 2>"$T/cc" || skip "no static C library: $(head -1 "$T/cc")"
	traced 0 libc --buffer 64M -- "$T/static"
	sed -i '/^{/!d' "$T/out"
	[ "$(sums out true length)" -eq 0 ]
	[ "$(result '.libc.other_calls')" -ge 180 ]
}
