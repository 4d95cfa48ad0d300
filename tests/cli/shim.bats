#!/usr/bin/env bats
# pmm.h, the compiled-in monitor, in its static form: every way to compile it gives the same exact tables.

bats_require_minimum_version 1.5.0
load shim

# matrix CC: C99 to C23, the header first or last, static and dynamic.
matrix() {
	local cc=$1 std order link name
	need "$cc"
	for std in c99 c11 c17 gnu2x; do
		for order in FIRST LAST; do
			for link in -pie -static; do
				for name in calls misuse; do
					build "$cc" 1000 $name.c "$T/$name" -std=$std -DHEADER_$order -O2 -fPIE $link
					same $name "$T/$name"
				done
			done
		done
	done
}

@test "gcc: C99, C11, C17 and C23, header first and last, dynamic and static" {
	matrix gcc
}

@test "clang: C99, C11, C17 and C23, header first and last, dynamic and static" {
	matrix clang
}

cxx() {	# CC CXX
	local order link
	need "$2"
	"$1" -O1 -DPMM_STATIC_SLOTS=1000 -I"$TOP/include" -c "$SHIM/pmm_static.c" -o "$T/static.o"
	for order in FIRST LAST; do
		for link in -pie -static; do
			# shellcheck disable=SC2086
			"$2" -std=c++17 $WARN -DPMM -DHEADER_$order -fPIE -I"$TOP/include" cxx.cc "$SHIM/pmm_new.cc" "$T/static.o" -o "$T/cxx" $link
			same cxx "$T/cxx"
		done
	done
}

@test "C++17: new and delete, by g++ and by clang++" {
	cxx gcc g++
	cxx clang clang++
}

@test "without PMM: the same object code as without the header" {
	local cc level
	for cc in gcc clang; do
		for level in -O0 -O2; do
			$cc -std=gnu11 $level -w -I"$TOP/include" -DHEADER -c nothing.c -o "$T/with.o"
			$cc -std=gnu11 $level -w -c nothing.c -o "$T/without.o"
			diff <(objdump -dr "$T/with.o" | tail -n +4) <(objdump -dr "$T/without.o" | tail -n +4)
		done
	done
	[ "$(objdump -d "$T/with.o" | grep -c call)" -gt 2 ]
}

@test "a full table is told once, and what passes is counted" {
	build gcc 4 full.c "$T/full" -std=c99 -O2
	same full "$T/full"
}

@test "threads: every block of four threads is counted, with canaries intact" {
	local run
	build gcc 1000 threads.c "$T/threads" -std=gnu11 -O2 -pthread
	for run in 1 2 3; do
		[ "$(timeout 120 "$T/threads")" = "106668 new, 0 live, 0 errors, 0 passed, 0 foreign" ]
	done
}

# object_size SLOTS SITES: code and RAM of the object, bytes.
object_size() {
	gcc -Os -fno-asynchronous-unwind-tables -DPMM_STATIC_SLOTS="$1" -DPMM_STATIC_SITES="$2" -I"$TOP/include" -c "$SHIM/pmm_static.c" -o "$T/s.o"
	size "$T/s.o" | awk 'NR == 2 { print $1, $2 + $3 }'
}

# formula SLOTS SITES: what the header says of the RAM.
formula() {
	printf '#include <stdio.h>\n#include <pmm.h>\nint main(void) { printf("%%zu\\n", PMM_STATIC_RAM); }\n' >"$T/ram.c"
	gcc -DPMM_STATIC_SLOTS="$1" -DPMM_STATIC_SITES="$2" -I"$TOP/include" "$T/ram.c" -o "$T/ram" && "$T/ram"
}

@test "size: at most 16 KiB of code, and RAM as the header's formula says" {
	local slots sites code ram
	for slots in 1 1000 65537; do
		for sites in 1 64; do
			read -r code ram <<<"$(object_size $slots $sites)"
			echo "$slots slots, $sites sites: $code bytes of code, $ram of RAM, formula $(formula $slots $sites)"
			[ "$code" -le 16384 ] && [ "$ram" -eq "$(formula $slots $sites)" ]
		done
	done
}
