#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm.h, the compiled-in monitor, in its static form: every way to compile it gives the same exact tables.

bats_require_minimum_version 1.5.0
load shim

# compiled CC STD [FLAG]: the static form alone.
compiled() {
	# shellcheck disable=SC2086
	timeout 60 "$1" $WARN -std="$2" -O2 -fPIE -DPMM_STATIC_SLOTS=1000 "${@:3}" -I"$TOP/include" -c "$SHIM/pmm_static.c" -o "$T/static.o"
}

# linked CC NAME FLAGS...: a program of tests/shim, with the static form as it was compiled last, if PMM is among the flags.
linked() {
	local form=
	[[ " ${*:3} " != *" -DPMM "* ]] || form=$T/static.o
	# shellcheck disable=SC2086
	timeout 60 "$1" $WARN -I"$TOP/include" -O2 -fPIE "${@:3}" "$2.c" $form -o "$T/$2"
}

# matrix CC: C99 to C23, the header first or last, static and dynamic, with threads and without, and without PMM. Each two of
# these meet, all of them only in half of the ways there are.
matrix() {
	local cc=$1 std threads order link name links
	need "$cc"
	for std in c99 c11 c17 gnu2x; do
		links=(-pie -static)
		for threads in -pthread -DPMM_NO_THREADS; do
			compiled "$cc" $std $threads
			for order in FIRST LAST; do
				link=${links[0]}
				links=("${links[1]}" "$link")
				for name in calls misuse; do
					linked "$cc" $name -DPMM -std=$std -DHEADER_$order "$link"
					same $name "$T/$name"
				done
				with_and_without -std=$std -D_GNU_SOURCE -DHEADER_$order "$link" $threads
			done
			links=("${links[1]}" "${links[0]}")	# the other way round
		done
	done
}

# with_and_without FLAGS...: several threads, if there are any; and the monitor left out.
with_and_without() {
	if [[ " $* " = *" -pthread "* ]]; then
		linked "$cc" threads -DPMM "$@"
		said "106668 new, 0 live, 0 errors, 0 passed, 0 foreign" "$T/threads"
	fi
	linked "$cc" calls "$@"
	said "" "$T/calls"
}

@test "gcc: C99, C11, C17 and C23, header first and last, dynamic and static, with threads and without, and without PMM" {
	matrix gcc
}

@test "clang: C99, C11, C17 and C23, header first and last, dynamic and static, with threads and without, and without PMM" {
	matrix clang
}

# Without a device nothing but its line is different.
@test "with the kernel module's ring, and no module: the same figures, and a line that says so" {
	local cc threads
	[ ! -e /dev/pmm ] || skip "the kernel module is loaded"
	for cc in gcc clang; do
		command -v "$cc" >/dev/null || continue
		for threads in -pthread -DPMM_NO_THREADS; do
			compiled "$cc" gnu11 $threads -DPMM_KMOD
			linked "$cc" calls -DPMM -DPMM_KMOD -std=gnu11
			[ "$("$T/calls" 2>&1 | grep -c '^  kernel module: logs nothing, it is not loaded (error 2)$')" -eq 2 ]
			printf '#!/bin/sh\n"%s" 2>&1 | sed "/^  kernel module/d"\n' "$T/calls" >"$T/others"
			chmod +x "$T/others"
			same calls "$T/others"
		done
		compiled "$cc" gnu11 -pthread -DPMM_KMOD
		linked "$cc" threads -DPMM -DPMM_KMOD -std=gnu11 -pthread
		said "106668 new, 0 live, 0 errors, 0 passed, 0 foreign" "$T/threads"
	done
}

cxx() {	# CC CXX
	local std order source link
	need "$2"
	"$1" -O1 -DPMM_STATIC_SLOTS=1000 -I"$TOP/include" -c "$SHIM/pmm_static.c" -o "$T/static.o"
	for std in c++11 c++17 c++20; do
		for order in FIRST LAST; do
			for source in cxx.cc "$SHIM/pmm_new.cc"; do
				# shellcheck disable=SC2086
				"$2" -std=$std $WARN -DPMM -DHEADER_$order -fPIE -I"$TOP/include" -c "$source" -o "$T/$(basename "$source").o"
			done
			for link in -pie -static; do
				"$2" "$T/cxx.cc.o" "$T/pmm_new.cc.o" "$T/static.o" -o "$T/cxx" $link
				same cxx "$T/cxx"
			done
		done
	done
}

@test "C++11, C++17, C++20: new and delete, by g++" { cxx gcc g++; }

@test "C++11, C++17, C++20: new and delete, by clang++" { cxx clang clang++; }

# nothing COMPILER...: nothing.c is the same with the header as without it, and the values it gets are those of a program without a monitor.
nothing() {
	local level
	need "$1"
	for level in -O0 -O1 -O2 -Os; do
		# shellcheck disable=SC2086
		"$@" $WARN $level -I"$TOP/include" -DHEADER -c nothing.c -o "$T/with.o"
		"$@" $WARN $level -c nothing.c -o "$T/without.o"
		diff <(objdump -dr "$T/with.o" | tail -n +4) <(objdump -dr "$T/without.o" | tail -n +4)
		[ "$(objdump -dr "$T/with.o" | grep -Ec 'R_X86_64_PL(T|T32).*(malloc|strdup|free)')" -ge 3 ]
	done
	"$@" $WARN -O1 -I"$TOP/include" -DHEADER -DVALUES nothing.c -o "$T/values"
	"$T/values"
}

@test "without PMM: the same object code as without the header, and values as without a monitor" {
	nothing gcc -std=gnu99
	nothing gcc -std=gnu2x
	nothing clang -std=gnu11
	nothing g++ -std=c++17 -x c++
	nothing clang++ -std=c++17 -x c++
}

@test "blocks of code without the header: one warning, none are lost, and double frees that are sure are told" {
	build gcc 1000 foreign.c "$T/foreign" -std=c99 -O2
	same foreign "$T/foreign"
}

@test "options, and the interface on demand" {
	local cc
	for cc in gcc clang; do
		need $cc
		build $cc 1000 options.c "$T/options" -std=c99 -O2
		same options "$T/options"
	done
}

@test "assertions: abort, retry, ignore, quit, and a function that is asked" {
	build gcc 10 assert.c "$T/assert" -std=c99 -O2
	asserted "$T/assert"
}

@test "what is damaged at the end is told, in threads too; not what the allocator has again" {
	build gcc 1000 ended.c "$T/ended" -std=gnu11 -O2 -pthread
	timeout 60 "$T/ended" >"$T/out" 2>"$T/err"
	[ ! -s "$T/err" ]
	./tidy <"$T/out" | sed '/^  tables:/d' | LC_ALL=C sort | diff ended.table -
}

@test "without an operating system, without threads" {
	build gcc 1000 bare.c "$T/bare" -std=c99 -O2 -DPMM_BARE -DPMM_NO_THREADS
	same bare "$T/bare"
}

@test "a library compiled without the header: gives blocks, frees and resizes ours" {
	build_library gcc
	same library "$T/library"
}

@test "a full table is told once, and what passes is counted" {
	build gcc 4 full.c "$T/full" -std=c99 -O2
	same full "$T/full"
}

@test "each option by itself, and a signal's report without the allocator" {
	build gcc 1000 alone.c "$T/alone" -std=gnu11 -O1
	same alone "$T/alone"
}

@test "a pool recycles blocks and tells one that is put twice" {
	build gcc 1000 pool.c "$T/pool" -std=c99 -O2
	same pool "$T/pool"
}

@test "threads: every block of four threads is counted, with canaries intact" {
	local run
	build gcc 1000 threads.c "$T/threads" -std=gnu11 -O2 -pthread
	for run in 1 2 3; do
		[ "$(timeout 120 "$T/threads")" = "106668 new, 0 live, 0 errors, 0 passed, 0 foreign" ]
	done
}

@test "fork: children of a program with threads take over a lock whose holder they have not" {
	build gcc 1000 forks.c "$T/forks" -std=gnu11 -O2 -pthread
	[ "$(timeout 120 "$T/forks")" = "40 children were well" ]
}

@test "a call site counts on beyond 2^32 requests" {
	# shellcheck disable=SC2086
	gcc $WARN -I"$TOP/include" -DPMM -DPMM_STATIC_SLOTS=100 -std=gnu11 counted.c -o "$T/counted"
	timeout 60 "$T/counted" 2>&1 | grep -q "^4294967298 4294967296 .* a.c(7) f$"
}

@test "cancelled threads and output functions that ask for reports: the program goes on" {
	build gcc 1000 cancel.c "$T/cancel" -std=gnu11 -O2 -pthread
	said "cancelled: 1 1; done: 1" "$T/cancel"
	build gcc 1000 cancel.c "$T/cancel" -std=gnu11 -O2 -pthread -static
	said "cancelled: 1 1; done: 1" "$T/cancel"
	build gcc 1000 again.c "$T/again" -std=gnu11 -O2
	timeout 60 "$T/again" | grep -q "^went on: 1; 0 live, 1 errors$"
}

@test "everything at once in a full table: threads, handlers, children" {
	local slots
	for slots in 4 16; do
		build gcc $slots hostile.c "$T/hostile" -std=gnu11 -O2 -pthread
		said "20 children were well, 0 blocks were not, 0 errors, 0 live, 0 lost, full 1" "$T/hostile"
	done
}

@test "size: at most 17 KiB of code, and RAM as the header's formula says" {
	sized gcc
}

@test "what malloc_usable_size says may be filled: no error, and no byte is changed; <immintrin.h> comes behind the header" {
	local order
	for order in FIRST LAST; do
		build gcc 1000 usable.c "$T/usable" -std=gnu11 -O2 -DHEADER_$order
		same usable "$T/usable"
	done
}

@test "what is behind a block is told once and not written to: it may be the program's" {
	build gcc 1000 filled.c "$T/filled" -std=gnu11 -O2
	same filled "$T/filled"
}

@test "a report that nobody reads any more does not end the program" {
	printf '#include <pmm.h>\nint main(void) { return !malloc(5); }\n' >"$T/left.c"
	build gcc 1000 "$T/left.c" "$T/left" -O2
	mkfifo "$T/nobody"
	exec 7<>"$T/nobody" 6>"$T/nobody" 7>&-
	"$T/left" 2>&6
	exec 6>&-
}

@test "odd places: before main, handlers in the midst, a child, the library's blocks, after exit" {
	build gcc 1000 odd.c "$T/odd" -std=gnu11 -O2
	same odd "$T/odd"
}
