#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What is counted: victims whose numbers are known to the byte, compared with what their first
# comment says.

load lib

@test "every entry of the C library" { as_expected entries.c; }
@test "failing, empty and huge requests" {
	track --warn-size=1M fail
	check "$CAP" <<<"$(expected fail.c)"
}

@test "allocations made inside the C library" { as_expected inside.c; }
@test "mappings are counted apart from the heap" { as_expected maps.c; }
@test "the break" { as_expected brk.c; }
@test "every form of operator new and delete" { as_expected cxx_new.cc; }
@test "operator new that fails" { as_expected cxx_fail.cc; }
@test "temporary blocks" { as_expected temporary.c; }
@test "composition at the peak: two rises, churn, realloc" { as_expected peak.c; }
@test "composition at the peak: two threads" { as_expected peak_threads.c; }
@test "table of sizes" { as_expected classes.c; }
@test "eight threads, blocks freed by another" { as_expected threads.c; }

@test "1000 threads in turn, 100 at once" {
	as_expected threads_many.c
	local whole='[threads[] | select([.allocs, .frees, .bytes] == [10, 9, 384])] | length'
	[ "$(look "$CAP" "$whole")" -eq 1100 ]
}

@test "before main and after it" { as_expected ends.c; }
@test "thread-local storage, keys, cancellation" { as_expected tls.c; }
@test "blocks 8 and 16 bytes apart" { as_expected dense.c; }
@test "an allocator whose functions call one another" { as_expected inner.c; }
@test "non-PIE program" { track leaf_nopie; check "$CAP" <<<"$(expected leaf.c)"; }

@test "errno, alignment and usable size are as natively" { same errno; }
@test "failing operator new behaves as natively" { same cxx_fail; }

@test "lifetimes fall into their buckets" {
	# a busy machine may stretch a sleep beyond its bucket, but hardly so often
	for _ in {1..20}; do
		track lifetime
		found "$CAP" site briefly allocs=1000 frees=1000
		[ "$(lives "$CAP" briefly 0 0)" -ge 990 ] || continue
		[ "$(lives "$CAP" a_moment 5 5)" -eq 100 ] || continue
		[ "$(lives "$CAP" a_while 7 7)" -eq 50 ] || continue
		return 0
	done
	return 1
}

@test "the block list holds exactly the live blocks" {
	track blocks
	[ "$(wc -l <"$T/out")" -eq 6 ]
	diff <(sort "$T/out") <(blocks "$CAP")
}

@test "peak of two threads is theirs and what starting them takes" {
	track peak_threads
	local peak
	peak=$(fact "$CAP" total peak)
	[ "$peak" -ge 70000 ] && [ "$peak" -le 71000 ]
}

@test "--min-size counts what it passes over, exactly" {
	track --min-size=20 many 5000 30
	found "$CAP" total allocs=5000 bytes=150000 live=150000 skipped=5000 skipped_bytes=5000
	found "$CAP" site many allocs=5000 live=150000
	found "$CAP" site tiny allocs=0
}

@test "a block of exactly --min-size is tracked" {
	track --min-size=30 many 100 30
	found "$CAP" total allocs=100 skipped=100
	track --min-size=31 many 100 30
	found "$CAP" total allocs=0 skipped=200
}
