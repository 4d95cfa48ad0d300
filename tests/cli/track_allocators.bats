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

# The agent's operators come before the library's: each call goes on to these, and what they gave comes back to them.
@test "a library that replaces some operators new keeps them" {
	cat >"$T/arrays.cc" <<-'C'
		#include <cstddef>
		#include <cstdlib>
		#include <new>
		static char pool[1 << 20];
		static std::size_t used;
		static int calls;
		void *operator new[](std::size_t bytes) { calls++; void *p = pool + used; used += (bytes + 15) & ~15ul; return p; }
		void operator delete[](void *p) noexcept { if (p && ((char *)p < pool || (char *)p >= pool + sizeof pool)) abort(); }
		void operator delete[](void *p, std::size_t) noexcept { operator delete[](p); }
		int nr_calls() { return calls; }
		char *made() { return new char[10]; }
	C
	cat >"$T/main.cc" <<-'C'
		#include <cstdio>
		int nr_calls();
		char *made();
		int main() { for (int i = 0; i < 10; i++) { char *volatile p = new char[100]; delete[] p; } delete[] made(); std::printf("%d\n", nr_calls()); }
	C
	local bind form
	for bind in '' -Wl,-Bsymbolic-functions; do
		g++ -g -O1 -fno-builtin -shared -fPIC $bind -o "$T/libarrays.so" "$T/arrays.cc"
		g++ -g -O1 -fno-builtin -o "$T/main" "$T/main.cc" -L"$T" -larrays -Wl,-rpath,"$T"
		for form in "run -q -o $T/c.pmm" check; do
			within "$PMM" $form -- "$T/main" >"$T/out" 2>"$T/err" 3>&-
			[ "$(cat "$T/out")" = 11 ]
		done
	done
}
