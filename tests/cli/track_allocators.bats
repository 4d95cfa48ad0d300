#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Another allocator preloaded: pmm stands in front of it, and the numbers are the same.

load lib

# over LIBRARY: the victims under it.
over() {
	library "$1"
	export LD_PRELOAD=$LIBRARY
	track dense; check "$CAP" <<<"$(expected dense.c | grep -v total)"
	track leaf; check "$CAP" <<<"$(expected leaf.c | grep -v total)"
	track many 20000 8
	found "$CAP" site many allocs=20000 live=160000
	found "$CAP" site tiny allocs=20000 live=20000
	track threads; check "$CAP" <<<"$(expected threads.c | grep -v worker)"
	track temporary; check "$CAP" <<<"$(expected temporary.c | grep -v total)"
	track peak; check "$CAP" <<<"$(expected peak.c | grep -v total)"
	track cxx_new; check "$CAP" <<<"$(expected cxx_new.cc | grep -v kinds)"
	unset LD_PRELOAD
	look "$CAP" allocator_path | grep -q "$(basename "$LIBRARY" | cut -d. -f1)"
}

@test "jemalloc" { over libjemalloc.so.2; }
@test "tcmalloc" { over libtcmalloc_minimal.so.4; }
@test "mimalloc" { over libmimalloc.so.2; }

@test "a library that is not there is ld.so's affair" {
	export LD_PRELOAD=/no/such.so
	track leaf
	[ "$STATUS" -eq 0 ]
	check "$CAP" <<<"$(expected leaf.c)"
}
