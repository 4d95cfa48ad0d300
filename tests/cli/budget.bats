#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm budget: a real program by its functions, and the shell part of the recipe for CI in doc/budget.md.

load lib

setup() {
	need gcc make
	cd "$T" || return 1
	capture_of try 'site main allocs=1 size=1'
	printf '[try]\n' >.pmm-budget
	"$PMM" budget try.pmm >out 2>said || ! grep -q 'was built without libinih' said || skip "libinih was missing when pmm was built"
	rm .pmm-budget
	cat >app.c <<-'END'
		#include <stdlib.h>
		char *volatile keep;
		__attribute__((noinline)) static void parse(void) { for (int i = 0; i < 10; i++) free(keep = malloc(1000)); }
		__attribute__((noinline)) static void lose(void) { for (int i = 0; i < 4; i++) keep = malloc(500); keep = NULL; }
		int main(void) { parse(); lose(); keep = malloc(3000); return 0; }
	END
	gcc -g -O1 -o app app.c
	printf 'test: ; ./app\n' >Makefile
}

# judged STATUS [OPTION...]: pmm budget over app.pmm ends with that, output in out.
judged() {
	local status=0
	within "$PMM" budget "${@:2}" app.pmm >out 2>said || status=$?
	[ "$status" -eq "$1" ] || { echo "status $status"; cat out said; return 1; }
}

@test "functions of a real program, to the byte" {
	within "$PMM" run -q --leaks -o app.pmm -- ./app
	printf '%s\n' '[app]' 'function.parse.allocated = 10000' 'function.parse.live_at_end = 0' 'function.main.live_at_end = 5000' \
		'function.lose.leaked = 2000' 'allocations = 15' 'function.pars.allocated = 0' >.pmm-budget
	judged 0
	grep -q "0 B of 0 B (no stack has a function 'pars')" out
	printf '%s\n' '[app]' 'function.parse.allocated = 9999' 'leaked = 1999' >.pmm-budget
	judged 1
	grep -A1 '^  exceeded  app.pmm \[app\] leaked: 1.95 KiB, 1 B (<0.1%) over 1.95 KiB' out | grep -E '1\.95 KiB in lose +app\.c:4'
	judged 1 --format sarif
	jq -e '[.runs[0].results[] | [.ruleId, .locations[0].physicalLocation.region.startLine]] == [["budget-allocated", 3], ["budget-leaked", 4]]' out
	jq -c '[.runs[0].results[].partialFingerprints]' out >first
	# lines move, the fingerprint stays
	sed -i '1i\\n\n' app.c
	gcc -g -O1 -o app app.c
	within "$PMM" run -q --leaks -o app.pmm -- ./app
	judged 1 --format sarif
	jq -c '[.runs[0].results[].partialFingerprints]' out | cmp first
	judged 1 --format junit
	xmllint --noout out
}

@test "a leak in a file that was compiled from another folder, with a relative path, in a thread" {
	mkdir -p build src/lib
	printf '%s\n' '#include <stdlib.h>' 'void *volatile kept;' 'void *lose(void *a) { kept = malloc(700); kept = NULL; return a; }' >src/lib/lose.c
	printf '%s\n' '#include <pthread.h>' 'void *lose(void *a);' \
		'int main(void) { pthread_t t; pthread_create(&t, 0, lose, 0); return pthread_join(t, 0); }' >src/app.c
	(cd build && gcc -g -O1 -o ../app ../src/app.c ../src/lib/lose.c -pthread)
	within "$PMM" run -q --leaks -o app.pmm -- ./app
	printf '%s\n' '[app]' 'leaked = 0' >.pmm-budget
	judged 1 --format sarif
	jq -e '.runs[0].results | map(.locations[0].physicalLocation) ==
		[{artifactLocation: {uri: "src/lib/lose.c", uriBaseId: "SRCROOT"}, region: {startLine: 3}}]' out
	# nothing is below the root but what is there
	jq -r '[.. | objects | select(.uriBaseId == "SRCROOT") | .uri] | unique[]' out | while read -r uri; do [ -f "$uri" ] || exit 1; done
	judged 1 --format junit
	grep -q '^    lose (src/lib/lose.c:3) \[app\]$' out
	# the same of a report of leaks, by kept names too
	"$PMM" leaks --format sarif app.pmm >out 2>said || [ $? -eq 1 ]
	jq -e '.runs[0].results | map(.locations[0].physicalLocation.artifactLocation.uri) == ["src/lib/lose.c"]' out
}

@test "a profile of heaptrack, to the byte; what it does not know is not measured" {
	need heaptrack
	heaptrack -o h ./app >said 2>&1
	printf '%s\n' '[app]' 'function.parse.allocated = 9999' 'function.lose.live_at_end = 2000' 'allocations = 1000' 'leaked = 1M' >.pmm-budget
	local status=0
	within "$PMM" budget --json h.zst >out || status=$?
	[ "$status" -eq 1 ]
	jq -e '.budgets | map([.key, .state, .value, .why]) | .[:2] + .[3:] == [["function.parse.allocated", "exceeded", 10000, null],
		["function.lose.live_at_end", "kept", 2000, null],
		["leaked", "not_measured", null, "another tool\u0027s profile has no search for leaks"]]' out
	jq -e '.budgets[2] | .key == "allocations" and .state == "kept" and .value >= 15' out
	# a file that is not packed may lack its end, which nothing tells
	zstd -q -d -o whole h.zst
	head -n "$(($(grep -c '' whole) / 2))" whole >half
	printf '%s\n' '[app]' 'peak = 100M' >.pmm-budget
	for file in whole half; do
		status=0
		within "$PMM" budget "$file" >out || status=$?
		[ "$status" -eq 3 ]
		grep -q 'not measured.*: a file that is not packed may be cut off' out
	done
	head -c -1 whole >open
	status=0
	within "$PMM" budget open >out 2>said || status=$?
	[ "$status" -eq 3 ]
	grep -q 'line [0-9]* has no end' said
}

@test "the recipe for CI" {
	local status=0
	sed -n '/^<!-- tested by/,/^<!-- end/s/^    //p' "$ROOT/doc/budget.md" >memory.sh
	[ "$(grep -c 'pmm budget' memory.sh)" -eq 3 ]
	ln -s "$PMM" pmm
	export PATH=$T:$PATH
	printf '%s\n' '[app]' 'peak = 1M' 'leaked = 2000' >.pmm-budget
	within sh -e memory.sh >out 2>said || { cat out said; false; }
	jq -e '.runs[0].results == []' memory.sarif
	rm -f memory-*
	printf '%s\n' '[app]' 'peak = 1M' 'leaked = 1000' >.pmm-budget
	within sh -e memory.sh >out 2>said || status=$?
	[ "$status" -eq 1 ] || { echo "status $status"; cat out said; false; }
	grep -q '^  exceeded  memory-app-' out
	grep -q '<failure' memory.xml
	jq -e '.runs[0].results | length == 1' memory.sarif
	# the tests fail: budgets are judged all the same, and the exit code is that of the tests
	rm -f memory-* memory.xml memory.sarif
	printf 'test: ; ./app; false\n' >Makefile
	status=0
	within sh -e memory.sh >out 2>said || status=$?
	[ "$status" -eq 2 ]
	grep -q '^  exceeded  memory-app-' out
	[ "$(grep -c '<failure' memory.xml)" -eq 1 ]
	jq -e '.runs[0].results | length == 1' memory.sarif
}

@test "what is no file of budgets is refused with the reason; a pipe that is open is read; a full disk is said" {
	within "$PMM" run -q --leaks -o app.pmm -- ./app
	mkfifo pipe
	refused_with 3 "cannot open 'pipe': it is a named pipe" "$PMM" budget -f pipe app.pmm
	refused_with 3 "cannot open '.': Is a directory" "$PMM" budget -f . app.pmm
	printf '[app]\nallocations = 15\n' >b
	"$PMM" budget -f <(cat b) app.pmm
	"$PMM" budget -f /dev/stdin app.pmm < <(cat b)
	! "$PMM" budget -f b app.pmm >/dev/full 2>said || return 1
	[[ "$(cat said)" == *"cannot write the result: No space left on device"* ]]
	cp app.pmm b.pmm
	! "$PMM" diff app.pmm b.pmm >/dev/full 2>said || return 1
	[[ "$(cat said)" == *"cannot write the comparison: No space left on device"* ]]
}
