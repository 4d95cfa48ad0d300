#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions that allocators have beside those of the C library: what a program does with them is not recorded, and everything says so.

load leaks

SAID="calls [_a-z]*(), a function of its allocator's own: what it allocates and releases so is not recorded"

# said LIBRARY: in the summary, in the report of the capture and in what leaks says; and nothing is certain.
said() {
	local how
	library "$1"
	for how in now lazy; do
		rm -f "$T/c.pmm"
		LD_PRELOAD=$LIBRARY within "$PMM" run -o "$T/c.pmm" -- "$PROG/own_names_$how" >"$T/out" 2>"$T/err" 3>&-
		grep -q "^pmm: WARNING: the program $SAID$" "$T/err"
		"$PMM" report --json "$T/c.pmm" >"$T/c.json"
		json_is '[1]' '[.warnings[] | select(.code == "own_calls") | .count]' <"$T/c.json"
		"$PMM" report "$T/c.pmm" >"$T/text"
		grep -q "^  mode     exact, but calls of the allocator's own functions are missing$" "$T/text"
	done
	LD_PRELOAD=$LIBRARY within "$PMM" leaks "${ALL[@]}" --report "$T/leaks.json" -- "$PROG/own_names_now" >"$T/out" 2>"$T/err" 3>&-
	json_is 0 '.certain | length' <"$T/leaks.json"
	LD_PRELOAD=$LIBRARY within "$PMM" leaks -- "$PROG/own_names_now" 2>&1 >"$T/out" 3>&- | grep -q "^pmm: WARNING: the program $SAID$"
}

@test "jemalloc: mallocx and its kin" { said libjemalloc.so.2; }
@test "tcmalloc: tc_malloc and its kin" { said libtcmalloc_minimal.so.4; }
@test "mimalloc: mi_malloc and its kin" { said libmimalloc.so.2; }

@test "glibc: __libc_malloc and its kin, beside malloc" {
	cat >"$T/names.c" <<-'END'
		#include <stdlib.h>
		extern void *__libc_malloc(size_t bytes);
		extern void __libc_free(void *block);
		int main(int argc, char **argv)
		{
			void *volatile p = argc > 1 ? __libc_malloc(100) : malloc(100);
			(void)argv;
			argc > 1 ? free(p) : __libc_free(p);
			return 0;
		}
	END
	gcc -o "$T/names" "$T/names.c"
	within "$PMM" run -o "$T/c.pmm" -- "$T/names" >"$T/out" 2>"$T/err" 3>&-
	grep -q "^pmm: WARNING: the program $SAID$" "$T/err"
	"$PMM" report --json "$T/c.pmm" >"$T/c.json"
	json_is '[1]' '[.warnings[] | select(.code == "own_calls") | .count]' <"$T/c.json"
	# its block of malloc would be the middle of another one to __libc_free()
	"$T/names"
	within "$PMM" check -- "$T/names" >"$T/out" 2>"$T/err" 3>&-
	tr '\n' ' ' <"$T/err" >"$T/line"
	grep -q "none of 1 process was checked.*it calls __libc_[a-z]*() of glibc, its allocator's own function" "$T/line"
}

@test "glibc: who only compares __libc_malloc with malloc, as pmm.h does, calls nothing of it" {
	cat >"$T/compares.c" <<-'END'
		#include <stdlib.h>
		extern void *__libc_malloc(size_t bytes) __attribute__((weak));
		int main(void)
		{
			free(malloc(100));
			return !(&__libc_malloc && (void *)__libc_malloc == (void *)malloc);
		}
	END
	gcc -o "$T/compares" "$T/compares.c"
	"$PMM" run -o "$T/c.pmm" -- "$T/compares" >"$T/out" 2>"$T/err" 3>&- || true
	run ! grep 'WARNING' "$T/err"
	"$PMM" report "$T/c.pmm" | grep -q '^  mode     exact: every call$'
}

@test "without such calls nothing is said" {
	library libjemalloc.so.2
	LD_PRELOAD=$LIBRARY "$PMM" run -o "$T/c.pmm" -- "$(command -v ls)" / >"$T/out" 2>"$T/err" 3>&-
	run ! grep 'own' "$T/err"
	"$PMM" report "$T/c.pmm" | grep -q '^  mode     exact: every call$'
}

# looks LIBRARY FUNCTION: nothing is missing of a program that only asks by that for a block's size; but it must not get other blocks.
looks() {
	library "$1"
	sed "s/FUNCTION/$2/g" >"$T/looks.c" <<-'END'
		#include <stdlib.h>
		extern size_t FUNCTION(const void *block, int flags) __attribute__((weak));
		int main(void)
		{
			void *p = malloc(100);
			return FUNCTION && FUNCTION(p, 0) < 100;
		}
	END
	gcc -o "$T/looks" "$T/looks.c"
	rm -f "$T/c.pmm"
	LD_PRELOAD=$LIBRARY within "$PMM" run -o "$T/c.pmm" -- "$T/looks" >"$T/out" 2>"$T/err" 3>&-
	[ -z "$(grep -e own -e WARNING "$T/err")" ]
	"$PMM" report "$T/c.pmm" >"$T/text"
	grep -q '^  mode     exact: every call$' "$T/text"
	rm -f "$T/c.pmm"
	LD_PRELOAD=$LIBRARY within "$PMM" check -o "$T/c.pmm" -- "$T/looks" >"$T/out" 2>"$T/err" 3>&-
	tr '\n' ' ' <"$T/err" >"$T/line"
	grep -q "none of 1 process was checked.* calls $2() of $1" "$T/line"
	run ! grep 'WARNING' "$T/err"
}

@test "jemalloc: a look at a block's size" { looks libjemalloc.so.2 sallocx; }
@test "tcmalloc: a look at a block's size" { looks libtcmalloc_minimal.so.4 tc_malloc_size; }
@test "mimalloc: a look at a block's size" { looks libmimalloc.so.2 mi_usable_size; }

# unchecked COMMAND...: under pmm check it runs as without, and is not checked.
unchecked() {
	local status=0 allocator
	allocator=$(basename "$(realpath "$LIBRARY")")
	LD_PRELOAD=$LIBRARY within "$@" >"$T/alone" 2>&1 3>&-
	LD_PRELOAD=$LIBRARY within "$PMM" check -- "$@" >"$T/out" 2>"$T/err" 3>&-
	diff "$T/alone" "$T/out"
	tr '\n' ' ' <"$T/err" |
		grep -q "none of 1 process was checked.*it calls [_a-z]*() of $allocator, its allocator's own function"
	LD_PRELOAD=$LIBRARY within "$PMM" check --json --error-exitcode 9 --fail-on errors,unchecked -- "$@" >"$T/out" 2>"$T/json" 3>&- || status=$?
	[ "$status" -eq 9 ]
}

@test "check: a program that calls them is not checked" {
	library libjemalloc.so.2
	unchecked "$PROG/own_names_now"
}

@test "check: children of such a program are not checked either, at any level, though nothing is seen of what they allocate" {
	local level
	library libjemalloc.so.2
	cat >"$T/children.c" <<-'END'
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		extern void *mallocx(size_t bytes, int flags) __attribute__((weak));
		int main(void)
		{
			void *volatile p = mallocx ? mallocx(100, 0) : NULL;
			for (int i = 0; i < 3; i++)
				if (!fork())
					_exit(posix_memalign((void **)&p, 64, 10));
			while (wait(NULL) > 0)
				;
			return !p;
		}
	END
	gcc -o "$T/children" "$T/children.c"
	for level in light guard sampled; do
		LD_PRELOAD=$LIBRARY within "$PMM" check --json --level=$level --report "$T/c.json" -- "$T/children" 2>"$T/err" 3>&-
		json_is '[4,0,0,4]' '.tree | [.processes, .looked_at, .idle, .missed]' <"$T/c.json"
		LD_PRELOAD=$LIBRARY within "$PMM" check --level=$level -- "$T/children" 2>"$T/err" 3>&-
		grep -q -x "pmm: none of 4 processes was checked" "$T/err"
	done
}

@test "check: without such calls the same allocator's blocks are" {
	library libjemalloc.so.2
	LD_PRELOAD=$LIBRARY within "$PMM" check --error-exitcode 9 --fail-on errors,unchecked -- "$(command -v ls)" / >"$T/out" 2>"$T/err" 3>&-
}
