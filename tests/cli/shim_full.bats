#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm.h in its full form (libpmm_shim.a): the program runs on its own, and all of pmm sees it, with the macro's file and line.

bats_require_minimum_version 1.5.0
load lib
load shim_full

# same NAME COMMAND...: what the command prints is NAME.full.
same() {
	local name=$1 status=0
	shift
	within "$@" >"$T/out" 2>"$T/errors" || status=$?
	./tidy <"$T/out" >"$T/tidy"
	diff "$name.full" "$T/tidy" && [ "$status" -eq 0 ] && [ ! -s "$T/errors" ] ||
		{ echo "$*: status $status"; cat "$T/errors"; return 1; } >&2
}

# matrix CC: C99 to C23, the header first and last, static and dynamic.
matrix() {
	local cc=$1 std order link name
	need "$cc"
	for std in c99 c11 c17 gnu2x; do
		for order in FIRST LAST; do
			for link in -pie -static; do
				for name in calls misuse; do
					full "$cc" $name.c "$T/$name" -std=$std -DHEADER_$order -O2 -fPIE $link
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

@test "C++17: new and delete, by g++ and by clang++" {
	local cxx link
	for cxx in g++ clang++; do
		need $cxx
		for link in -pie -static; do
			# shellcheck disable=SC2086
			$cxx -std=c++17 $WARN -DPMM -fPIE -I"$TOP/include" cxx.cc "$TOP/shim/pmm_new.cc" "$FULL" -o "$T/cxx" $link
			timeout 60 "$T/cxx" | ./tidy | diff cxx.table -
		done
	done
}

# Without a device nothing but its line is different; without PMM_KMOD there is no line.
@test "with the kernel module's log, and no module: the same figures, and a line that says so" {
	local cc flags link
	[ ! -e /dev/pmm ] || skip "the kernel module is loaded"
	for cc in gcc clang; do
		command -v "$cc" >/dev/null || continue
		for link in -pie -static; do
			for flags in '' -flto -fvisibility=hidden -Wl,--gc-sections; do
				# shellcheck disable=SC2086
				full "$cc" calls.c "$T/calls" -std=c99 -O2 -fPIE $link -DPMM_KMOD $flags
				within "$T/calls" >"$T/out" 2>"$T/errors"
				[ ! -s "$T/errors" ]
				[ "$(grep -c '^  kernel module: logs nothing, it is not loaded (error 2)$' "$T/out")" -eq 2 ] ||
					{ echo "$cc $link $flags"; cat "$T/out"; return 1; } >&2
				sed '/^  kernel module/d' "$T/out" | ./tidy | diff calls.full -
			done
		done
	done
}

@test "a file of the program, C or C++, with PMM_KMOD is enough; one of a library is not" {
	local with status
	[ ! -e /dev/pmm ] || skip "the kernel module is loaded"
	printf '#include <pmm.h>\nint other(void);\nint other(void) { free(malloc(1)); return 0; }\n' >"$T/other.c"
	cat >"$T/main.c" <<-END
		#include <pmm.h>
		#include <stdio.h>
		int other(void);
		int main(void)
		{
			free(malloc(2));
			pmm_set(PMM_AT_EXIT, 0);
			printf("%d %d\n", other(), pmm_kmod_status());
			return 0;
		}
	END
	sed 's/^int other(void);/extern "C" int other(void);/' "$T/main.c" >"$T/main.cc"
	for with in -UPMM_KMOD -DPMM_KMOD; do
		status=0
		[ $with != -DPMM_KMOD ] || status=-2
		# shellcheck disable=SC2086
		gcc $WARN -DPMM $with -fPIC -I"$TOP/include" -c "$T/other.c" -o "$T/other.o"
		full gcc "$T/main.c" "$T/main" "$T/other.o"
		[ "$("$T/main")" = "0 $status" ]
		gcc -shared "$T/other.o" "$FULL" -o "$T/libother.so"
		# shellcheck disable=SC2086
		gcc $WARN -DPMM -I"$TOP/include" "$T/main.c" "$FULL" "$T/libother.so" -o "$T/main"
		[ "$("$T/main")" = "0 0" ]
		# shellcheck disable=SC2086
		g++ $WARN -DPMM -DPMM_KMOD -I"$TOP/include" "$T/main.cc" "$FULL" "$T/libother.so" -o "$T/main"
		[ "$("$T/main")" = "0 -2" ]
	done
}

@test "each option by itself, and a signal's report without the allocator" {
	full gcc alone.c "$T/alone" -std=gnu11 -O1
	same alone "$T/alone"
}

@test "a pool recycles blocks and tells one that is put twice" {
	full gcc pool.c "$T/pool" -std=c99 -O2
	same pool "$T/pool"
}

@test "what is damaged at the end is told, in threads too; not what the allocator has again" {
	full gcc ended.c "$T/ended" -std=gnu11 -O2 -pthread
	timeout 60 "$T/ended" >"$T/out" 2>"$T/err"
	[ ! -s "$T/err" ]
	# a block that is given out where a listed one was says that this was freed: by code without the header, of which the table knows nothing
	./tidy <"$T/out" | sed '/^  tables:/d; /^  blocks:/d; /^  bytes:/d' | LC_ALL=C sort | diff <(sed '/^  blocks:/d; /^  bytes:/d' ended.table) -
	./tidy <"$T/out" | grep -q '^  blocks: 19 new, 2 freed, 17 live, '
}

@test "canaries before some blocks only: none takes another one's place" {
	local shifted
	full gcc tiny.c "$T/tiny" -std=gnu11 -O2
	for shifted in "" shifted; do
		# shellcheck disable=SC2086
		diff <(printf '3000 live, 24000 bytes, 0 foreign, 0 errors\n0 live, 0 bytes, 0 foreign, 0 errors\n') <(within "$T/tiny" $shifted)
	done
}

@test "threads: every block of four threads is counted, with canaries intact" {
	local run
	full gcc threads.c "$T/threads" -std=gnu11 -O2 -pthread
	for run in 1 2 3; do
		[ "$(timeout 120 "$T/threads")" = "106668 new, 0 live, 0 errors, 0 passed, 0 foreign" ]
	done
}

@test "what malloc_usable_size says may be filled: no error, and no byte is changed; <immintrin.h> comes behind the header" {
	local order
	for order in FIRST LAST; do
		full gcc usable.c "$T/usable" -std=gnu11 -O2 -DHEADER_$order
		same usable "$T/usable"
		"$PMM" run -o "$T/usable.pmm" -- "$T/usable" | diff usable.table -
	done
}

@test "what is behind a block is told once and not written to: it may be the program's" {
	full gcc filled.c "$T/filled" -std=gnu11 -O2
	same filled "$T/filled"
	"$PMM" run -q -o "$T/filled.pmm" "$T/filled" | ./tidy | diff filled.table -
}

@test "under valgrind there is a ledger, and no error is taken for the program's" {
	need valgrind
	printf '#include <pmm.h>\nint main(void) { free(malloc(5)); return 0; }\n' >"$T/one.c"
	full gcc "$T/one.c" "$T/one"
	within valgrind -q --error-exitcode=9 "$T/one" 2>"$T/errors"
	grep -q "blocks: 1 new, 1 freed, 0 live" "$T/errors"
}

@test "a report that nobody reads any more does not end the program" {
	printf '#include <pmm.h>\nint main(void) { return !malloc(5); }\n' >"$T/left.c"
	full gcc "$T/left.c" "$T/left" -O2
	mkfifo "$T/nobody"
	exec 7<>"$T/nobody" 6>"$T/nobody" 7>&-
	"$T/left" 2>&6
	exec 6>&-
}

@test "there are never more blocks than the most at a time" {
	printf '#include <pmm.h>\nint main(void) { int i; free(malloc(1000)); for (i = 0; i < 5; i++) if (!malloc(10)) return 1; return 0; }\n' >"$T/many.c"
	full gcc "$T/many.c" "$T/many"
	within "$T/many" 2>"$T/errors"
	grep "blocks:" "$T/errors" | diff - <(echo "  blocks: 6 new, 1 freed, 5 live, 5 at most")
}

@test "odd places: before main, handlers in the midst, a child, the library's blocks, after exit" {
	full gcc odd.c "$T/odd" -std=gnu11 -O2
	same odd "$T/odd"
}

# says NAME TEXT ARGUMENT...: what the program prints.
says() {
	local name=$1 text=$2
	shift 2
	diff <(echo "$text") <(timeout 120 "$T/$name" "$@" 2>"$T/err"; echo "status $?" | grep -v ' 0$')
}

@test "looking at blocks while other threads release them" {
	full gcc watched.c "$T/watched" -std=gnu11 -O2 -pthread
	says watched "0 damaged, 0 errors, 0 live"
	says watched "0 damaged, 0 errors, 0 live" before
}

@test "memory of blocks that others have freed is not written to, and damage is told once" {
	full gcc lent.c "$T/lent" -std=gnu11 -O2
	says lent "at the same address: 1, changed: 0
found 1, again 0, told 2"
}

@test "fork: a child that allocates nothing has nothing" {
	full gcc heir.c "$T/heir" -std=gnu11 -O2
	says heir "pmm: blocks in use
    number      bytes address            entry  time UTC  file(line)
0 damaged, 0 live, 0 new, 0 errors, changed: 0"
}

@test "a thread that is cancelled in a report does not take the lock along" {
	full gcc cancelled.c "$T/cancelled" -std=gnu11 -O2 -pthread
	says cancelled "0 damaged"
}

@test "limits on address space, file sizes and descriptors leave room for a smaller ledger" {
	local both="program: 1 new, 0 passed
child: 1 new, 0 passed"
	full gcc limited.c "$T/limited" -std=gnu11 -O2
	says limited "$both" a 68719476736
	says limited "$both" a 4294967296
	says limited "$both" a 400000000
	says limited "program: 0 new, 1 passed
child: 0 new, 1 passed" a 200000000
	grep -q "no memory for a ledger" "$T/err"
	says limited "$both" f 1000
	says limited "$both" n 3
}

@test "report: a program with little address space, and what it has of a ledger" {
	full gcc live.c "$T/live" -std=gnu11 -O2
	start sh -c 'ulimit -v 600000 && exec "$1"' sh "$T/live"
	within "$PMM" report --json --top 0 "$PID" >"$T/json"
	diff <(echo "$LIVE") <(lines <"$T/json")
	finish 3
}

@test "a handler marks pointers however deep in the allocator the program is" {
	full gcc marking.c "$T/marking" -std=gnu11 -O2 -pthread
	says marking "0 live, 0 errors"
}

@test "300000 blocks with canaries before them, freed in any order" {
	full gcc fronts.c "$T/fronts" -std=gnu11 -O2
	says fronts "child 0, 0 live, 0 foreign, 0 errors"
}

@test "trace: short types and what is not printed; realloc of an idle block of a pool" {
	full gcc written.c "$T/written" -std=gnu11 -O2 -Wno-format -Wno-unused-result
	says written "ff -7 65535 -3 7
[   3] [3   ] [?] text
resized: 0"
}

# hosted FLAGS...: host.c, and two modules with copies of the library.
hosted() {
	local name
	for name in one two; do
		full gcc plugin.c "$T/$name.so" -std=gnu11 -O2 -fPIC -shared -DNAME=$name -D__FILE__="\"$name.c\"" -Wno-builtin-macro-redefined "$@"
	done
	full gcc host.c "$T/host" -std=gnu11 -O2 -D__FILE__='"host.c"' -Wno-builtin-macro-redefined "$@"
}

@test "modules that are loaded and unloaded record where the program does, by their own lines" {
	local flags
	for flags in -fvisibility=default -Wl,-Bsymbolic; do
		hosted $flags
		says host "dlerror: none
m 3 of host.c(39)
m 10 of one.c(15)
m 20 of two.c(15)
7 new, 3 live, 0 foreign, 0 errors
0 bad" "$T/one.so" "$T/two.so"
	done
}

@test "modules that find the program's functions: texts of one that is gone are not taken for another's" {
	hosted -rdynamic
	says host "dlerror: none
m 3 of host.c(39)
m 10 of one.c(15)
k 0 of one.c(30)
m 20 of two.c(15)
k 0 of two.c(30)
7 new, 3 live, 0 foreign, 1 errors
0 bad" "$T/one.so" "$T/two.so" twice
}

@test "cancelled threads and output functions that ask for reports: the program goes on" {
	full gcc cancel.c "$T/cancel" -std=gnu11 -O2 -pthread
	[ "$(timeout 60 "$T/cancel" 2>&1)" = "cancelled: 1 1; done: 1" ]
	full gcc again.c "$T/again" -std=gnu11 -O2
	timeout 60 "$T/again" | grep -q "^went on: 1; 0 live, 1 errors$"
}

@test "everything at once: threads, handlers, children" {
	full gcc hostile.c "$T/hostile" -std=gnu11 -O2 -pthread
	says hostile "20 children were well, 0 blocks were not, 0 errors, 0 live, 0 lost, full 0"
}

@test "the library shows nothing but pmm.h's functions" {
	sed -n '/^.. ---- monitored/,/^.. ---- not monitored/p' "$TOP/include/pmm.h" | grep PMM_NOEXCEPT.*\; |
		grep -oE '\bpmm_[a-z_]+[(](PMM_AT|void|enum|struct|pmm_|int|size_t|const|unsigned)' | sed 's/(.*/ T/' | sort >"$T/declared"
	[ -s "$T/declared" ]
	nm -g --defined-only "$FULL" | awk 'NF == 3 { print $3, $2 }' | sort | diff "$T/declared" -
}

# lines <JSON: "FILE:LINE FUNCTION BLOCKS BYTES" for each call site with live blocks.
lines() {
	jq -r '.sites[] | select(.live_blocks > 0) | .frames[0] as $f | "\($f.file):\($f.line) \($f.function) \(.live_blocks) \(.live_bytes)"' | sort
}

LIVE="live.c:11 wrapped 2 400
live.c:19 main 5 25
live.c:20 main 1 6
live.c:21 main 1 200
live.c:22 main 1 5000"

@test "report: a program on its own, exact, with file, line and function and no debug information" {
	full gcc live.c "$T/live" -std=gnu11 -O2 -s
	start "$T/live"
	within "$PMM" report --json --top 0 "$PID" >"$T/json"
	diff <(echo "$LIVE") <(lines <"$T/json")
	[ "$(jq -r '[.totals.allocs, .totals.frees, .totals.live_bytes, .totals.live_blocks] | join(" ")' "$T/json")" = "12 2 5631 10" ]
	finish 3
}

@test "leaks: what nothing points to any more, and nothing else" {
	full gcc live.c "$T/live" -std=gnu11 -O2
	start "$T/live"
	within "$PMM" leaks --json "$PID" >"$T/json" || [ $? -eq 1 ]
	[ "$(jq -r '[.certain[] | "\(.frames[0].file):\(.frames[0].line) \(.blocks) \(.bytes)"] | join(" ")' "$T/json")" = "live.c:19 5 25" ]
	finish 3
}

@test "leaks: what the monitor itself remembers of an address is no pointer to what is there now" {
	local before
	full gcc remembered.c "$T/remembered" -std=gnu11 -O2
	for before in '' before; do
		start "$T/remembered" $before
		within "$PMM" leaks --json "$PID" >"$T/json" || [ $? -eq 1 ]
		[ "$(jq -r '[.certain[] | "\(.frames[0].line) \(.blocks) \(.bytes)"] | join(" ")' "$T/json")" = "22 200 6400" ]
		finish 0
	done
}

@test "leaks: what a block of code without pmm.h points to is no leak" {
	full gcc held.c "$T/held" -std=gnu11 -O2
	start "$T/held"
	within "$PMM" leaks --json "$PID" >"$T/json" || [ $? -eq 1 ]
	[ "$(jq -r '[.certain[] | "\(.frames[0].file):\(.frames[0].line) \(.blocks) \(.bytes)"] | join(" ")' "$T/json")" = "held.c:15 1 55" ]
	finish 0
}

@test "snapshot: a capture has the lines, and reads back the same" {
	full gcc live.c "$T/live" -std=gnu11 -O2
	start "$T/live"
	within "$PMM" snapshot -q -o "$T/cap.pmm" "$PID"
	finish 3
	within "$PMM" report --json --top 0 "$T/cap.pmm" >"$T/json"
	diff <(echo "$LIVE") <(lines <"$T/json")
}

@test "names of all kinds: blanks, UTF-8, line ends, quotes, 6000 bytes, lines beyond 65535, no function" {
	local long
	full gcc names.c "$T/names" -std=gnu11 -O2 -s
	start "$T/names"
	within "$PMM" report --json --top 0 "$PID" >"$T/json"
	within "$PMM" report --top 0 "$PID" >"$T/text"
	within "$PMM" snapshot -q -o "$T/cap.pmm" "$PID"
	within "$PMM" report --json --top 0 "$T/cap.pmm" >"$T/again"
	finish 0
	long() { head -c 4096 /dev/zero | tr '\0' "$1"; }
	jq -r '.sites[] | .frames[0] as $f | "\($f.file)|\($f.line)|\($f.function)|\(.live_bytes)"' "$T/json" | sort -t '|' -k 4n |
		sed "s/$(long d)/D/; s/$(long f)/F/" >"$T/names.said"
	diff - "$T/names.said" <<'END'
dir with space/a b.c|1|blanks|10
d/ä€.c|2|fä|20
new line .c|3|g|30
"quote'\.c|4|<&>"'|40
bad???.c|5|h?|50
D|6|F|60
long.c|70000|far|70
long.c|2147483647|farthest|80
outside.cc|9|null|90
t.cc|10|main()::<lambda(T*)> [with T = int; U = std::map<int, int>]|100
no_line.c|null|nowhere|110
one.h|12|in_header|120
two/one.h|12|in_header|130
END
	diff <(jq '.sites, .lines, (.totals | del(.allocs_per_second, .resident_bytes, .resident_ns, .resident_peak_bytes, .resident_peak_ns, .resident_peak_live_bytes))' "$T/json") <(jq '.sites, .lines, (.totals | del(.allocs_per_second, .resident_bytes, .resident_ns, .resident_peak_bytes, .resident_peak_ns, .resident_peak_live_bytes))' "$T/again")
	grep -q '  ?  outside.cc:9$' "$T/text"
	! grep -q 0x0 "$T/text"
}

@test "report: says that only calls through the header were recorded" {
	full gcc live.c "$T/live" -std=gnu11 -O2
	start "$T/live"
	within "$PMM" report "$PID" >"$T/text"
	within "$PMM" report --json "$PID" >"$T/json"
	finish 3
	grep -q '^  mode     exact: every call through pmm.h, and no others$' "$T/text"
	[ "$(awk '!NF && blank { print NR } { blank = !NF }' "$T/text")" = "" ]	# no graph, and no room for one
	grep -q '^  mappings   not known: only calls through pmm.h were recorded$' "$T/text"
	[ "$(jq '[.mapping[]] | all(. == null)' "$T/json")" = true ]
}

@test "leaks: suppressions made of pmm.h's lines suppress these, each for itself" {
	local form
	full gcc names.c "$T/names" -std=gnu11 -O2 -s
	start "$T/names" lost
	within "$PMM" leaks --top 0 --gen-suppressions "$PID" >"$T/supp" || [ $? -eq 1 ]
	[ "$(grep -c '^   Memcheck:Leak$' "$T/supp")" -eq 13 ]
	grep -q '^   src:outside.cc:9$' "$T/supp"
	! grep -q 'obj:\*' "$T/supp" || return 1
	within "$PMM" leaks --json --suppressions "$T/supp" "$PID" >"$T/json"
	[ "$(jq -c '[.certain[].bytes]' "$T/json")" = "[]" ]
	within "$PMM" leaks --top 0 --gen-suppressions=lsan "$PID" >"$T/supp" || [ $? -eq 1 ]
	within "$PMM" leaks --json --suppressions "$T/supp" "$PID" >"$T/json" || [ $? -eq 1 ]
	[ "$(jq -c '[.certain[].bytes]' "$T/json")" = "[90]" ]	# it knows no lines
	printf 'leak:two/one.h\nleak:^far$\n' >"$T/supp"
	printf '{\n a\n Memcheck:Leak\n fun:malloc\n src:a b.c:1\n}\n{\n b\n Memcheck:Leak\n ...\n src:a b.c:2\n}\n' >"$T/supp.line"
	within "$PMM" leaks --json --top 0 --suppressions "$T/supp" --suppressions "$T/supp.line" "$PID" >"$T/json" || [ $? -eq 1 ]
	[ "$(jq -c '[.certain[].bytes] | sort' "$T/json")" = "[20,30,40,50,60,80,90,100,110,120]" ]
	within "$PMM" leaks --top 0 --format valgrind-xml "$PID" >"$T/xml" || [ $? -eq 1 ]
	python3 -c 'import sys, xml.etree.ElementTree as e; sys.exit(len(e.parse(sys.argv[1]).findall("error")) != 13)' "$T/xml"
	finish 0
}

@test "a statically linked program is seen as well" {
	full gcc live.c "$T/live" -std=gnu11 -O2 -static
	start "$T/live"
	within "$PMM" report --json --top 0 "$PID" >"$T/json"
	diff <(echo "$LIVE") <(lines <"$T/json")
	finish 3
}

@test "under Valgrind: the tables are the same, and it takes nothing of ours for an error" {
	need valgrind
	full gcc calls.c "$T/calls" -std=gnu11 -O2
	within valgrind -q --error-exitcode=9 "$T/calls" >"$T/out"
	./tidy <"$T/out" | diff calls.full -
}

@test "under Valgrind: the stack's words are looked at as nobody's, wherever the stack is" {
	need valgrind
	full gcc deep.c "$T/deep" -std=gnu11 -O1
	within valgrind -q --error-exitcode=9 "$T/deep"
}

@test "behind a seccomp filter: what the monitor asks for is what doc/shim.md says, and may be refused" {
	local answer status
	full gcc filtered.c "$T/filtered" -std=gnu11 -O1
	for answer in kill fail; do
		status=0
		within "$T/filtered" $answer >"$T/out" 2>&1 || status=$?
		[ $status -eq 1 ] || { cat "$T/out"; return 1; }
		sed -E 's/0x[0-9a-f]+/ADDRESS/; /^  tables/d' "$T/out" | tr -s ' ' | diff filtered.full -
	done
}

@test "PMM_KEEP: blocks of 0 bytes do not gather" {
	full gcc empty.c "$T/empty" -std=gnu11 -O1
	within "$T/empty"
}

@test "at exit: up to 1000 blocks are listed, for more the call sites" {
	full gcc many.c "$T/many" -std=gnu11 -O1
	[ "$("$T/many" 1000 2>&1 | grep -c ' 10 0x.* m .*many.c(10)$')" -eq 1000 ]
	"$T/many" 1001 2>&1 | tr -s ' ' | diff - <(cat <<-'END'
		pmm: call sites
		 new freed bytes new bytes live at the peak file(line) function
		 1001 0 10010 10010 10010 many.c(10) main
		pmm: totals
		 blocks: 1001 new, 0 freed, 1001 live, 1001 at most
		 bytes: 10010 new, 0 freed, 10010 live, 10010 at most
		 requests: 0 failed, 0 for 0 bytes, 0 huge, 0 passed untracked
		 frees: 0 of blocks not tracked, 0 given up
		 tables: 1001 blocks and marks, 1 of 65535 call sites
		 errors: 0
	END
	)
}

# callers <JSON: "LINE FUNCTION... BLOCKS BYTES" for each line and its callers, up to main, with live blocks.
callers() {
	jq -r '[.sites[] | select(.live_blocks > 0) | {blocks: .live_blocks, bytes: .live_bytes, line: .frames[0].line, by: [.frames[].function]}
		| .by |= .[0:(index("main") // length) + 1]] | group_by([.line, .by])[]
		| "\(.[0].line) \(.[0].by | join(" ")) \(map(.blocks) | add) \(map(.bytes) | add)"'
}

@test "PMM_STACKS: who called the line, of blocks from then on; dynamic and static" {
	local link
	for link in -pie -static-pie "-static -Wl,--eh-frame-hdr"; do
		# shellcheck disable=SC2086
		full gcc stacks.c "$T/stacks" -std=gnu11 -O2 $link
		start "$T/stacks"
		within "$PMM" report --json --top 0 "$PID" >"$T/json"
		diff - <(callers <"$T/json") <<-'END'
			10 wrapped 2 1010
			10 wrapped large main 1 1000
			10 wrapped small main 2 20
		END
		finish 0
	done
}

@test "fork without /proc, behind a filter: each child has a ledger" {
	full gcc rootless.c "$T/rootless" -std=gnu11 -O2
	says rootless "150 tracked"
}

@test "musl: the library links with another C library, dynamic and static" {
	local link
	need musl-gcc
	for link in -pie -static; do
		full musl-gcc live.c "$T/live" -std=gnu11 -O2 -fPIE $link
		start "$T/live"
		within "$PMM" report --json --top 0 "$PID" >"$T/json"
		diff <(echo "$LIVE") <(lines <"$T/json")
		finish 3
	done
}

@test "fork: a child that resizes first writes to its own ledger, not to its parent's" {
	full gcc resized.c "$T/resized" -std=gnu11 -O2
	says resized "child: 1 new, 1 freed, 1 foreign
parent: 3 new, 1 freed, 0 foreign"
}

@test "fork: each of 101 children has a ledger of its own, and its report" {
	local child
	full gcc fork.c "$T/fork" -std=gnu11 -O2
	[ "$(within "$T/fork" before </dev/null | sed 's/ .*//')" = ready ]
	start "$T/fork"
	child=${LINE#ready }
	within "$PMM" report --json --top 0 "$PID" >"$T/json"
	[ "$(lines <"$T/json")" = "fork.c:18 hold_two 2 20" ]
	within "$PMM" report --json --top 0 "$child" >"$T/json"
	[ "$(lines <"$T/json")" = "fork.c:36 stay 3 30" ]
	[ "$(jq -r .process.began "$T/json")" = fork ]
	finish 4
}

@test "fork: threads that are first at once in a child have one ledger, also beyond 64 children" {
	full gcc rush.c "$T/rush" -std=gnu11 -O1 -pthread
	says rush "40 well" 0 40
	says rush "40 well" 70 40
	says rush "40 well" 0 40 raw
}

@test "fork: while another thread is in the first call, in the loader or in the agent's start" {
	local slow
	full gcc starting.c "$T/starting" -std=gnu11 -O1 -pthread
	for slow in loader clock; do
		timeout 420 "$T/starting" $slow >"$T/out" 2>"$T/err"
		[ "$(cat "$T/out")" = "20 children were tracked" ]
		grep -qxE '[0-9]+ in the midst' "$T/err"
	done
	[ "$(cut -d' ' -f1 "$T/err")" -gt 0 ]
}

@test "fork: of a hundred children at a time each has a ledger, and is told of, leaks and all" {
	local child grandchild
	full gcc crowd.c "$T/crowd" -std=gnu11 -O1
	start "$T/crowd"
	read -r _ child grandchild <<<"$LINE"
	within "$PMM" report --json --top 0 "$PID" >"$T/json"
	[ "$(lines <"$T/json")" = "crowd.c:57 main 1 10" ]
	within "$PMM" report --json --top 0 "$child" >"$T/json"
	[ "$(lines <"$T/json")" = $'crowd.c:33 thread 1 40\ncrowd.c:44 child 1 30' ]
	[ "$(jq -r .process.began "$T/json")" = fork ]
	within "$PMM" report --json --top 0 "$grandchild" >"$T/json"
	[ "$(lines <"$T/json")" = "crowd.c:50 child 1 50" ]
	within "$PMM" leaks --json --show all --top 0 "$grandchild" >"$T/json"
	[ "$(jq -r '.totals[] | select(.class == "reachable") | "\(.blocks) \(.bytes)"' "$T/json")" = "1 50" ]
	finish 0
}

@test "fork: a hundred children of an ordinary user's, told of to that user" {
	local child user="setpriv --reuid 65534 --regid 65534 --clear-groups"
	need setpriv
	[ "$(id -u)" -eq 0 ] || skip "needs root to be another user"
	full gcc crowd.c "$T/crowd" -std=gnu11 -O1
	cp "$PMM" "$T/pmm"
	chmod 755 "$T" "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" 2>/dev/null || true
	$user test -x "$T/crowd" || skip "nobody (uid 65534) cannot reach the program"
	# shellcheck disable=SC2086
	start $user "$T/crowd"
	read -r _ child _ <<<"$LINE"
	# shellcheck disable=SC2086
	within $user "$T/pmm" report --json --top 0 "$child" >"$T/json"
	[ "$(lines <"$T/json")" = $'crowd.c:33 thread 1 40\ncrowd.c:44 child 1 30' ]
	finish 0
}

# loaded WANTED FLAGS...: a program linked like this, with a library that has a form of its own, holds these lines.
loaded() {
	local wanted=$1
	shift
	full gcc loading.c "$T/loading" -std=gnu11 -O2 "$@"
	start "$T/loading" "$T/liblines.so"
	within "$PMM" report --json --top 0 "$PID" >"$T/json"
	finish 0
	diff <(echo "$wanted") <(lines <"$T/json")
}

@test "a library with the form in it: its lines are in the program's ledger, whether it sees the program's functions or not" {
	full gcc loading.c "$T/liblines.so" -std=gnu11 -O2 -DLIBRARY -fPIC -shared
	loaded "$(printf 'loading.c:11 get_block 1 77\nloading.c:28 main 1 1000')"
	loaded "$(printf 'loading.c:11 get_block 1 77\nloading.c:28 main 1 1000')" -Wl,--export-dynamic-symbol='pmm_*'
}

@test "a library that is unloaded takes nothing along that tables and errors name" {
	full gcc gone.c "$T/libgone.so" -std=gnu11 -O2 -DLIBRARY -fPIC -shared -Wno-use-after-free
	full gcc gone.c "$T/gone" -std=gnu11 -O0 -rdynamic -Wno-use-after-free
	same gone sh -c 'exec "$@" 2>&1' sh "$T/gone" "$T/libgone.so"
}

@test "pmm run: each block is recorded once, by its line, with the stack above it" {
	full gcc live.c "$T/live" -std=gnu11 -O2 -fno-inline -fno-optimize-sibling-calls
	within "$PMM" run -q -o "$T/cap.pmm" "$T/live" </dev/null >/dev/null || [ $? -eq 3 ]
	within "$PMM" report --json --top 0 "$T/cap.pmm" >"$T/json"
	diff <(sed "1s/.*/live.c:11 wrapped 1 100\nlive.c:11 wrapped 1 300/" <<<"$LIVE") <(jq '.sites |= map(select(.frames[0].file == "live.c"))' "$T/json" | lines)
	[ "$(jq '[.sites[] | select(.frames[0].line == 11) | .frames[1].function] == ["main", "main"]' "$T/json")" = true ]
	[ "$(jq '[.sites[] | select(.function == "pmm_malloc" or .frames[0].function == "pmm_malloc")] | length' "$T/json")" = 0 ]
}

@test "pmm run --min-size: blocks that pass are the program's lines', not pmm.h's" {
	full gcc live.c "$T/live" -std=gnu11 -O2 -g
	within "$PMM" run -q --min-size 1 -o "$T/cap.pmm" "$T/live" </dev/null >/dev/null || [ $? -eq 3 ]
	within "$PMM" report --json --top 0 "$T/cap.pmm" >"$T/json"
	diff - <(jq -r '.lines[] | select(.function == "main" and .line < 23 or .function == "wrapped") | "\(.line) \(.value_count) \(.value_bytes)"' "$T/json" | sort) <<-END
		11 2 400
		19 5 25
		20 1 6
		21 1 200
		22 1 5000
	END
	[ "$(jq '[.lines[], .sites[] | .function | select(test("pass_block|full_get|pmm_"))] | length' "$T/json")" -eq 0 ]
}

@test "pmm run: the program's own tables are what they are without it" {
	full gcc misuse.c "$T/misuse" -std=gnu11 -O2
	same misuse "$PMM" run -q -o "$T/cap.pmm" "$T/misuse"
}

@test "pmm check: each of the program's calls comes by its hooks" {
	full gcc live.c "$T/live" -std=gnu11 -O2
	within "$PMM" check --budget=all -- "$T/live" </dev/null >/dev/null 2>"$T/err" || [ $? -eq 3 ]
	grep -q "live, pid [0-9]*: all 14 blocks had canaries and guard pages; no heap" "$T/err"	# the buffers of two streams among them
}

@test "pmm check: errors of calls through the header are told as the program's" {
	local kind
	full gcc errors.c "$T/errors" -std=gnu11 -O0 -g
	for kind in double inside overrun; do
		within "$PMM" check --level=light -- "$T/errors" $kind </dev/null 2>"$T/$kind"
	done
	grep -q '^pmm: double free in main, errors.c:' "$T/double"
	grep -q '^pmm: bad free in main, errors.c:' "$T/inside"
	grep -q '^pmm: heap overrun, found in main, errors.c:' "$T/overrun"
}

@test "pmm attach: a program with the monitor in it is left as it is" {
	full gcc live.c "$T/live" -std=gnu11 -O2
	start "$T/live"
	! within "$PMM" attach --duration 0.2 -o "$T/attached.pmm" "$PID" 2>"$T/refusal" || return 1
	grep -q "process $PID has a monitor in it, of pmm.h" "$T/refusal"
	refused "process $PID has nothing in it that 'pmm attach' left" "$PMM" detach "$PID"
	within "$PMM" report --json --top 0 "$PID" >"$T/json"
	diff <(echo "$LIVE") <(lines <"$T/json")
	finish 3
}

@test "installed: pkg-config says how to compile and link" {
	local flags
	need pkg-config
	(cd "$TOP" && sh tools/install "$(dirname "$PMM")" "$T/dest" /usr >/dev/null)
	flags=$(PKG_CONFIG_SYSROOT_DIR=$T/dest PKG_CONFIG_PATH=$T/dest/usr/lib/pkgconfig PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 \
		pkg-config --cflags --libs pmm)
	# shellcheck disable=SC2086
	gcc -DPMM calls.c $flags -o "$T/calls"
	same calls "$T/calls"
}

# left DIRECTORY: the example prints its text, and with the monitor inside, at exit, the block it left.
left() {
	local form
	[ -z "$("$1/program-none" 2>&1)" ] || return 1
	for form in static full; do
		"$1/program-$form" 2>&1 | "$TOP/tests/shim/tidy" >"$T/left"
		[ "$(grep -c '^lost$' "$T/left")" -eq 1 ] && [ "$(grep -Ec '^ +2 +5 ADDRESS d +hh:mm:ss .*program.c.10.$' "$T/left")" -eq 1 ] ||
			{ echo "$1, $form:"; cat "$T/left"; return 1; } >&2
	done
}

@test "installed: the examples for make, CMake and Meson build each form, which finds what is left" {
	need pkg-config
	(cd "$TOP" && sh tools/install "$(dirname "$PMM")" '' "$T/usr" >/dev/null)
	export PKG_CONFIG_PATH=$T/usr/lib/pkgconfig
	cp -r "$T/usr/share/doc/pmm/examples/shim" "$T/shim"
	cd "$T/shim"
	make -s
	left .
	make -s -B INCLUDE="$TOP/include" SHIM="$TOP/shim" FULL="$FULL"
	left .
	meson setup with-meson >/dev/null
	ninja -C with-meson >/dev/null
	left with-meson
	need cmake
	cmake -S . -B with-cmake >/dev/null
	make -s -C with-cmake >/dev/null
	left with-cmake
}
