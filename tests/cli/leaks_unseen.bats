#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Blocks that were freed where no hook is are not called lost, and are counted; what only the end of a block points to counts where that end is in use.

load leaks

# leaks_of RESULT COMMAND...: the search at the command's end, as JSON; its output is in $T/out.
leaks_of() {
	local result=$1
	shift
	within "$PMM" leaks "${ALL[@]}" --report "$result" -- "$@" >"$T/out" 2>"$T/err" 3>&- ||
		{ echo "pmm leaks ended with status $?:"; cat "$T/err"; return 1; }
}

# is EXPECTED JQ-FILTER RESULT
is() {
	local got
	got=$(jq -c "$2" "$3")
	[ "$got" = "$1" ] || { echo "$2 is $got, must be $1"; return 1; }
}

DEFINITE='[.totals[] | select(.class == "definite") | .bytes, .blocks]'
MISSED='[.warnings[] | select(.code == "missed_frees") | .count]'

@test "a library that is loaded apart is seen: its frees, and what it loses" {
	for way in apart lazy; do
		leaks_of "$T/$way.json" "$PROG/unseen" "$way"
		is '[500,1]' "$DEFINITE" "$T/$way.json"
		is '"lose"' '.certain[0].function' "$T/$way.json"
		is '[]' "$MISSED" "$T/$way.json"
		is true .search.complete "$T/$way.json"
	done
}

@test "a library that is loaded apart, its bindings read-only by now" {
	mkdir "$T/lib"
	gcc -shared -fPIC -O1 -fno-builtin -Wl,-z,now,-z,relro -o "$T/lib/libunseen.so" "$SOURCE/unseen_lib.c"
	gcc -O1 -fno-builtin -Wl,-rpath,"$T/lib" -o "$T/host" "$SOURCE/unseen.c"
	leaks_of "$T/relro.json" "$T/host" apart
	is '[500,1]' "$DEFINITE" "$T/relro.json"
	is '[]' "$MISSED" "$T/relro.json"
}

@test "freed past the hooks: what the allocator has free, or handed out anew, is not lost" {
	leaks_of "$T/real.json" "$PROG/unseen" real
	is '[10000,1]' "$DEFINITE" "$T/real.json"
	is '[240]' "$MISSED" "$T/real.json"
	is false .search.complete "$T/real.json"
	within "$PMM" leaks -- "$PROG/unseen" real >"$T/out" 2>"$T/text" 3>&-
	grep -q "240 blocks were freed past pmm's hooks" "$T/text"
}

@test "freed past the hooks: the capture has it, and so has its report" {
	within "$PMM" run -q --leaks -o "$T/c.pmm" -- "$PROG/unseen" real >"$T/out" 2>"$T/err" 3>&-
	search "$T/again.json" "$T/c.pmm"
	is '[10000,1]' "$DEFINITE" "$T/again.json"
	is '[240]' "$MISSED" "$T/again.json"
	within "$PMM" report --json "$T/c.pmm" >"$T/report.json"
	is '[240,240]' '[.totals.missed_frees, .totals.frees]' "$T/report.json"
}

@test "freed past the hooks: a block that another one takes the place of counts as freed, without a search" {
	within "$PMM" run -q -o "$T/c.pmm" -- "$PROG/unseen" over >"$T/out" 2>"$T/err" 3>&-
	within "$PMM" report --json "$T/c.pmm" >"$T/report.json"
	is '[9,9,1]' '[.totals.missed_frees, .totals.frees, ([.sites[] | select(.function == "over") | .live_blocks] | add)]' "$T/report.json"
	within "$PMM" report "$T/c.pmm" >"$T/report"
	grep -q "9 blocks were freed past pmm's hooks" "$T/report"
}

@test "freed past the hooks of an allocator that does not show which: possibly lost, and why is said" {
	library libmimalloc.so.2
	POSSIBLE='[.totals[] | select(.class == "possible") | .bytes, .blocks]'
	LD_PRELOAD=$LIBRARY leaks_of "$T/destroy.json" "$PROG/leak_destroy"
	is '[0,0]' "$DEFINITE" "$T/destroy.json"
	is '[100000,100]' "$POSSIBLE" "$T/destroy.json"
	is '[200]' "$MISSED" "$T/destroy.json"
	LD_PRELOAD=$LIBRARY within "$PMM" leaks --error-exitcode 9 -- "$PROG/leak_destroy" >"$T/out" 2>"$T/text" 3>&-
	grep -q '100 blocks are possibly lost, not certainly: blocks were freed past' "$T/text"
	grep -q 'no leaks were found that are certain' "$T/text"
	LD_PRELOAD=$LIBRARY within "$PMM" run -q --leaks -o "$T/c.pmm" -- "$PROG/leak_destroy" >"$T/out" 2>"$T/err" 3>&-
	search "$T/again.json" "$T/c.pmm"
	is '[100000,100]' "$POSSIBLE" "$T/again.json"
}

@test "an allocator that keeps something of its own before each block: all blocks count" {
	cat >"$T/keeps.c" <<-'C'
		#include <stdlib.h>
		#include <string.h>
		void *kept[50];
		int main(void) { for (int i = 0; i < 50; i++) kept[i] = memset(malloc(100 + (size_t)i), 1, 100); memset(malloc(700), 1, 700); return 0; }
	C
	gcc -g -O1 -fno-builtin -o "$T/keeps" "$T/keeps.c" "$PROG/libunseen_before.so" -Wl,--no-as-needed -Wl,-rpath,"$PROG"
	leaks_of "$T/before.json" "$T/keeps"
	is '[]' "$MISSED" "$T/before.json"
	is '[50]' '[.certain[], .likely[], .unlikely[] | select(.function == "main" and .class == "reachable") | .blocks]' "$T/before.json"
}

@test "php: nothing is definitely lost" {
	need php
	echo '<?php $a = []; for ($i = 0; $i < 1000; $i++) $a[] = str_repeat("x", $i); echo count($a), preg_replace("/x+/", "y", $a[10]), json_encode([1, 2]), "\n";' >"$T/a.php"
	leaks_of "$T/php.json" php "$T/a.php"
	[ "$(cat "$T/out")" = '1000y[1,2]' ]
	is '[0,0]' "$DEFINITE" "$T/php.json"
}

@test "slack: a block that hangs on bytes that malloc_usable_size() gave is reachable" {
	leaks_of "$T/grown.json" "$PROG/slack" grown
	is '[0,0]' "$DEFINITE" "$T/grown.json"
	is '[0,0]' '[.totals[] | select(.class == "possible") | .bytes, .blocks]' "$T/grown.json"
	is 0 .search.slack_blocks "$T/grown.json"
}

@test "slack: of a block of which nobody has asked it hides no leak" {
	leaks_of "$T/stale.json" "$PROG/slack" stale
	is '[40,1]' "$DEFINITE" "$T/stale.json"
}

@test "slack: attached, a block that hangs on it is possibly lost, and why is said" {
	need_attach
	start "$PROG/slack" wait
	watch
	worked
	search "$T/attached.json" "$PID"
	within "$PMM" leaks --fail-on none "$PID" >"$T/text" 2>&1 3>&- 7>&- 8<&-
	unwatch
	finish 0
	is '[0,0]' "$DEFINITE" "$T/attached.json"
	is '[15,1]' '[.totals[] | select(.class == "possible") | .bytes, .blocks]' "$T/attached.json"
	is 1 .search.slack_blocks "$T/attached.json"
	grep -q '1 block possibly lost: only the bytes behind what other blocks were asked for' "$T/text"
}

@test "a static program: stacks are whole to its start" {
	need_attach
	start attach_static
	watch
	tell g "done"
	unwatch
	finish 42 "sum 41400"
	within "$PMM" report --json "$T/c.pmm" >"$T/report.json"
	is '["_start"]' '[.sites[] | .frames[-1].function] | unique' "$T/report.json"
	is true '[.sites[] | select(.function == "leak_a") | [.frames[].function] | index("main") > 0] | any' "$T/report.json"
}

@test "a static program without section headers: its unwind information is found all the same" {
	need_attach
	need python3
	local malloc free
	malloc=0x$(nm "$PROG/attach_static" | awk '$3 == "malloc" { print $1 }')
	free=0x$(nm "$PROG/attach_static" | awk '$3 == "free" { print $1 }')
	python3 - "$PROG/attach_static" "$T/bare" <<'P'
import sys
b = bytearray(open(sys.argv[1], "rb").read())
b[0x28:0x30] = bytes(8)		# e_shoff, e_shnum, e_shstrndx
b[0x3c:0x40] = bytes(4)
open(sys.argv[2], "wb").write(b)
P
	chmod +x "$T/bare"
	start "$T/bare"
	watch --alloc "bare:$malloc=malloc(arg0)" --alloc "bare:$free=free(arg0)"
	tell g "done"
	unwatch
	finish 42
	within "$PMM" report --json "$T/c.pmm" >"$T/report.json"
	is true '[.sites[] | select(.live_blocks > 50) | (.frames | length) > 4] | all' "$T/report.json"
}
