#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm.h under the flags that programs have: a header that stays for years must warn nobody and break nothing.

bats_require_minimum_version 1.5.0
load shim

STRICT="$WARN -Wconversion -Wsign-conversion -Wshadow -Wundef -Wcast-qual -Wwrite-strings -Wredundant-decls -Wformat=2 -Wvla -Wdouble-promotion"
OF_C="-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wbad-function-cast"
OF_CXX="-Wold-style-cast -Wzero-as-null-pointer-constant -Wextra-semi"
# What is not about this header: padding, names with a _ of the system's headers, other standards, and what clang thinks of macros in macros.
EVERYTHING="-Weverything -Wno-padded -Wno-reserved-macro-identifier -Wno-reserved-identifier -Wno-disabled-macro-expansion"
EVERYTHING_CXX="-Wno-c++98-compat -Wno-c++98-compat-pedantic"

# strict STANDARDS COMPILER FLAGS...: strict.c, the header first and last, with PMM at two levels, and without it.
strict() {
	local stds=$1 std order pmm
	shift
	need "$1"
	for std in $stds; do
		for order in FIRST LAST; do
			for pmm in "-DPMM -O0" "-DPMM -O2" "-UPMM -O2"; do
				timeout 60 "$@" -std="$std" -D_GNU_SOURCE $pmm -DHEADER_$order -I"$TOP/include" -c strict.c -o "$T/strict.o"
			done
		done
	done
}

# The same of the static form itself: who builds it does so with the program's flags.
static_form() {
	local std
	for std in c99 c11 c2x; do
		timeout 60 "$@" -std=$std -O2 -DPMM_STATIC_SLOTS=10 -I"$TOP/include" -c "$SHIM/pmm_static.c" -o "$T/strict.o"
	done
}

# shellcheck disable=SC2086
@test "gcc: no warning in C, of the header or the static form" {
	strict "c99 c11 c17 c2x gnu89" gcc $STRICT $OF_C -Wno-pedantic
	strict "c99 c2x" gcc $STRICT $OF_C
	static_form gcc $STRICT $OF_C
	static_form gcc $STRICT $OF_C -DPMM_BARE -DPMM_NO_THREADS
}

# shellcheck disable=SC2086
@test "clang: no warning in C with -Weverything" {
	strict "c99 c11 c17 c2x" clang $STRICT $OF_C $EVERYTHING
	static_form clang $STRICT $OF_C
}

# shellcheck disable=SC2086
@test "g++: no warning from C++11 to C++23, std:: and :: are redirected, with and without exceptions" {
	strict "c++11 c++14 c++17 c++20 c++23" g++ -x c++ $STRICT $OF_CXX -Wuseless-cast
	strict "c++17" g++ -x c++ $STRICT $OF_CXX -fno-exceptions -fno-rtti
}

# shellcheck disable=SC2086
@test "clang++: no warning from C++11 to C++20 with -Weverything, std:: and :: are redirected" {
	strict "c++11 c++17 c++20" clang++ -x c++ $STRICT $OF_CXX $EVERYTHING $EVERYTHING_CXX
	strict "c++17" clang++ -x c++ $STRICT $OF_CXX -fno-exceptions -fno-rtti
}

@test "a language that is too old is refused in one sentence" {
	local std
	for std in "-x c -std=c89" "-x c -std=iso9899:199409" "-x c++ -std=c++98"; do
		# shellcheck disable=SC2086
		echo "#include <pmm.h>" | gcc $std -DPMM -I"$TOP/include" -fsyntax-only - 2>"$T/err" && return 1
		grep -q 'error: #error "pmm.h needs C99 or later' "$T/err"
		[ "$(grep -c error: "$T/err")" -eq 1 ]
	done
}

@test "-include pmm.h: sources that know nothing of it, assembler among them; all headers of the C library may follow" {
	local header
	printf '.globl f\nf:\n\t.section .note.GNU-stack,""\n' >"$T/f.S"
	gcc -DPMM -include "$TOP/include/pmm.h" -c "$T/f.S" -o "$T/f.o"
	gcc -D_GNU_SOURCE -DPMM -include "$TOP/include/pmm.h" -DLIBRARY -c library.c -o "$T/unaware.o"
	nm "$T/unaware.o" | grep -q 'U pmm_realloc'
	for header in alloca argz dirent dlfcn envz glob malloc mcheck netdb obstack pthread regex search stdio stdlib string sys/mman uchar unistd wchar wordexp; do
		echo "#include <$header.h>"
	done | gcc -D_GNU_SOURCE -DPMM -include "$TOP/include/pmm.h" -Wall -Wextra -Werror -x c -fsyntax-only -
	need g++
	for header in algorithm filesystem functional future iostream map memory memory_resource mutex new random regex string thread valarray vector; do
		echo "#include <$header>"
	done | g++ -std=c++20 -DPMM -include "$TOP/include/pmm.h" -Wall -Wextra -Werror -x c++ -fsyntax-only -
}

# tables CC FLAGS...: exact, and nothing else said, whatever the code goes through.
tables() {
	local name
	for name in calls options; do
		build "$1" 1000 $name.c "$T/$name" -std=c99 "${@:2}"
		same $name "$T/$name"
	done
}

@test "optimised when linked, fortified, checked by sanitizers: the same tables" {
	local cc
	for cc in gcc clang; do
		need $cc
		tables $cc -O2 -flto -static
		tables $cc -O3 -D_FORTIFY_SOURCE=3 -fstack-protector-all
		tables $cc -O1 -fsanitize=undefined -fno-sanitize-recover=all
		build $cc 1000 calls.c "$T/calls" -O1 -g -fsanitize=address
		same calls "$T/calls"
		build $cc 1000 threads.c "$T/threads" -O1 -g -fsanitize=thread -pthread
		[ "$(timeout 120 "$T/threads" 2>&1)" = "106668 new, 0 live, 0 errors, 0 passed, 0 foreign" ]
	done
}

@test "musl, and a C library without aligned_alloc" {
	need musl-gcc
	build musl-gcc 1000 pool.c "$T/pool" -std=c99 -O2 -static
	same pool "$T/pool"
	build musl-gcc 1000 options.c "$T/options" -std=c99 -O2
	same options "$T/options"
	build gcc 1000 pool.c "$T/pool" -std=c99 -O2 "-DPMM_ALIGNED_ALLOC(align, size)=NULL"
	same pool "$T/pool"
	! nm "$T/pool" | grep -q aligned_alloc@
}
