#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Sampled mode: estimates of a program whose numbers are known.
#
# With blocks of s bytes sampled with probability p = 1 - exp(-s / R), n of them give an estimate
# whose standard error is s * sqrt(n * (1 - p) / p). The bounds are six of it: a wrong failure is
# rarer than one in 5 * 10^8.

load lib

# close_to VALUE TRUE BYTES COUNT MEAN: VALUE is within six standard errors of TRUE.
close_to() {
	awk -v v="$1" -v t="$2" -v s="$3" -v n="$4" -v r="$5" 'BEGIN {
		p = 1 - exp(-s / r); e = s * sqrt(n * (1 - p) / p)
		printf "estimate %d of %d, standard error %d\n", v, t, e
		exit !(v >= t - 6 * e - 1 && v <= t + 6 * e + 1)
	}'
}

# estimates MEAN: all three sites.
estimates() {
	track --sample="$1" sampled
	[ "$STATUS" -eq 0 ]
	close_to "$(fact "$CAP" site small bytes)" 40000000 100 400000 "$1"
	close_to "$(fact "$CAP" site small live)" 20000000 100 200000 "$1"
	close_to "$(fact "$CAP" site medium live)" 40000000 8000 5000 "$1"
	close_to "$(fact "$CAP" site large live)" 40000000 1000000 40 "$1"
}

@test "mean 64K" { estimates 65536; }
@test "mean 4K" { estimates 4096; }

@test "the default mean is 512K" {
	track --sample sampled
	[ "$(look "$CAP" sample_bytes)" -eq 524288 ]
	close_to "$(fact "$CAP" site small bytes)" 40000000 100 400000 524288
	close_to "$(fact "$CAP" site medium live)" 40000000 8000 5000 524288
}

@test "ten runs together have no bias" {
	local sum=0
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		track --sample=65536 sampled
		sum=$((sum + $(fact "$CAP" site medium live)))
	done
	close_to "$sum" 400000000 8000 50000 65536
}

@test "counts are estimates too" {
	local n
	track --sample=4096 sampled
	n=$(fact "$CAP" site small allocs)
	close_to $((n * 100)) 40000000 100 400000 4096
}

@test "mean of one byte: every block is sampled" {
	track --sample=1 sampled
	found "$CAP" site medium allocs=5000 live=40000000 blocks=5000
	found "$CAP" site large allocs=40 live=40000000 blocks=40
}

@test "threads and signals are unharmed when sampled" {
	track --sample=4096 stress "$PROG/libvictim_a.so"
	[ "$STATUS" -eq 0 ]
	[ "$(cat "$T/out")" = unharmed ]
}
