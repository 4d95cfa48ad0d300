#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions that allocators have beside those of the C library: what a program does with them is seen to the byte.

load leaks

# is_whole RESULT: what the report has of the victim's functions is what the victim says of them.
is_whole() {
	grep '^hold_' "$T/out" | sort >"$T/says"
	[ -s "$T/says" ] || { cat "$T/out" "$T/err"; return 1; }
	jq -r '.lines[] | select((.function // "") | test("^(hold|gone)_|^filled")) | "\(.function) \(.value_bytes) \(.value_count)"' "$1" |
		sort >"$T/seen"
	diff "$T/says" "$T/seen"
	json_is '[0,0]' '[.totals.untracked_frees, .totals.missed_frees]' <"$1"
}

# recorded COMMAND...: run with $LIBRARY it is seen whole.
recorded() {
	rm -f "$T/c.pmm"
	LD_PRELOAD=$LIBRARY within "$PMM" run -q -o "$T/c.pmm" -- "$@" >"$T/out" 2>"$T/err" 3>&-
	"$PMM" report --top 0 --json "$T/c.pmm" >"$T/c.json"
	is_whole "$T/c.json"
}

# loaded NAME: the library NAME, loaded while the program runs.
loaded() {
	recorded "$(command -v python3)" -c "import ctypes; ctypes.CDLL('$PROG/lib$1.so').main(1, None); ctypes.CDLL(None).fflush(None)"
}

LOST='[.certain[], .likely[], .unlikely[] | select(.class == "definite" or .class == "indirect") | select((.function // "") | test("^hold_"))]
	| [(map(.bytes) | add), (map(.blocks) | add)]'

# lost: what it loses is found to the byte, and what it keeps is not among that.
lost() {
	local sums
	LD_PRELOAD=$LIBRARY within "$PMM" leaks "${ALL[@]}" --report "$T/leaks.json" -- "$PROG/own_names_now" lose >"$T/out" 2>"$T/err" 3>&-
	sums=$(awk '/^hold_/ { bytes += $2; blocks += $3 } END { printf "[%d,%d]", bytes, blocks }' "$T/out")
	json_is "$sums" "$LOST" <"$T/leaks.json"
	LD_PRELOAD=$LIBRARY within "$PMM" leaks "${ALL[@]}" --report "$T/held.json" -- "$PROG/own_names_now" >"$T/out" 2>"$T/err" 3>&-
	json_is '[null,null]' "$LOST" <"$T/held.json"
}

# whole LIBRARY FUNCTION: all of it, under an allocator that has that function.
whole() {
	library "$1"
	recorded "$PROG/own_names_now"
	recorded "$PROG/own_names_lazy"
	grep -q "^hold_$2 " "$T/seen"
	loaded own_names_now
	loaded own_names_lazy
	lost
}

@test "jemalloc: mallocx and its kin" { whole libjemalloc.so.2 mallocx; }
@test "tcmalloc: tc_malloc and its kin" { whole libtcmalloc_minimal.so.4 tc_new_aligned; }
@test "mimalloc: mi_malloc and its kin" { whole libmimalloc.so.2 mi_heap_recalloc; }

@test "the C library: __libc_malloc and its kin" {
	LIBRARY=
	recorded "$PROG/own_names_now"
	recorded "$PROG/own_names_lazy"
	grep -q "^hold___libc_memalign " "$T/seen"
	lost
}

@test "a program finds out by their names which allocator it has: they are none of ours" {
	LIBRARY=
	recorded "$PROG/own_names_now"
	! grep -E '^hold_(mallocx|tc_|mi_)' "$T/says" || return 1
}

@test "a sample of the calls is taken, and blocks that are too small are left out" {
	library libjemalloc.so.2
	LD_PRELOAD=$LIBRARY within "$PMM" run -q --min-size 4000 -o "$T/c.pmm" -- "$PROG/own_names_now" >"$T/out" 2>"$T/err" 3>&-
	"$PMM" report --json "$T/c.pmm" >"$T/c.json"
	json_is '[]' '[.lines[] | select(.function == "hold_mallocx")]' <"$T/c.json"
	json_is 12000 '.lines[] | select(.function == "hold_rallocx") | .value_bytes' <"$T/c.json"
	rm "$T/c.pmm"
	LD_PRELOAD=$LIBRARY within "$PMM" run -q --sample=1 -o "$T/c.pmm" -- "$PROG/own_names_now" >"$T/out" 2>"$T/err" 3>&-
	"$PMM" report --top 0 --json "$T/c.pmm" >"$T/c.json"
	is_whole "$T/c.json"
}

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

@test "check: without such calls the same allocator's blocks are" {
	library libjemalloc.so.2
	LD_PRELOAD=$LIBRARY within "$PMM" check --error-exitcode 9 --fail-on errors,unchecked -- "$(command -v ls)" / >"$T/out" 2>"$T/err" 3>&-
}

# early COMMAND...: what libearly.so's constructor has is seen.
early() {
	rm -f "$T/c.pmm"
	LD_PRELOAD=$LIBRARY within "$PMM" run -q -o "$T/c.pmm" -- "$@" >"$T/out" 2>"$T/err" 3>&-
	"$PMM" report --top 0 --json "$T/c.pmm" >"$T/c.json"
	json_is '[[700,1]]' '[.lines[] | select(.function == "hold_early") | [.value_bytes, .value_count]]' <"$T/c.json"
}

@test "constructors of libraries are seen, before and after the start of the program" {
	library libjemalloc.so.2
	cat >"$T/early.c" <<-'END'
		extern void *mallocx(unsigned long, int);
		void *early;
		__attribute__((constructor)) static void hold_early(void) { early = mallocx(700, 0); }
	END
	gcc -g -O0 -shared -fPIC -o "$T/libearly.so" "$T/early.c"
	echo 'extern void *early; int main(void) { return !early; }' >"$T/main.c"
	gcc -o "$T/main" "$T/main.c" -Wl,-rpath,"$T" "$T/libearly.so" -Wl,--unresolved-symbols=ignore-in-shared-libs
	early "$T/main"
	early "$(command -v python3)" -c "import ctypes; ctypes.CDLL('$T/libearly.so')"
}
