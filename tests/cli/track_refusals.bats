#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What pmm refuses: exit code 3, one sentence with the cause, and nothing launched.

bats_require_minimum_version 1.5.0
load lib

run_refused() {
	local pattern=$1
	shift
	refused "$pattern" "$PMM" run -o "$T/c.pmm" -- "$@"
	[ ! -e "$T/c.pmm" ]
}

@test "program not found" { run_refused "cannot find the program 'no-such-one'" no-such-one; }
@test "path not found" { run_refused "cannot find the program '/no/such/one'" /no/such/one; }
@test "directory" { run_refused "directory" /tmp; }
@test "not executable" { touch "$T/plain"; run_refused "not executable|permission" "$T/plain"; }
@test "static program" { run_refused "static" "$PROG/leaf_static"; grep -q attach "$T/refused.err"; }
@test "static PIE program" {
	gcc -static-pie -o "$T/sp" "$SOURCE/leaf.c" 2>/dev/null || skip "gcc makes no static PIE here"
	run_refused "static" "$T/sp"
}

@test "program built with a sanitizer" {
	gcc -fsanitize=address -o "$T/asan" "$SOURCE/leaf.c" 2>/dev/null || skip "gcc has no AddressSanitizer here"
	run_refused "sanitizer" "$T/asan"
	gcc -fsanitize=thread -o "$T/tsan" "$SOURCE/leaf.c" 2>/dev/null || skip "gcc has no ThreadSanitizer here"
	run_refused "sanitizer" "$T/tsan"
	run ! grep -q ASAN_OPTIONS "$T/refused.err" # ThreadSanitizer reports no leaks
	grep -q "hint: build it without -fsanitize" "$T/refused.err"
}

@test "program built with LeakSanitizer: 'pmm check' refuses it, and 'pmm run' keeps its verdict" {
	printf '#include <stdlib.h>\nint main(void) { char *volatile p = malloc(77); p = NULL; return p != NULL; }\n' >"$T/lost.c"
	gcc -fsanitize=leak -o "$T/lost" "$T/lost.c" 2>/dev/null || skip "gcc has no LeakSanitizer here"
	run -23 timeout 60 "$T/lost"
	for how in --level=guard --level=light --uninit; do
		[ "$how" != --uninit ] || command -v valgrind >/dev/null || continue
		run -3 timeout 60 "$PMM" check "$how" -- "$T/lost"
		grep -q "lost' is built with LeakSanitizer" <<<"$output"
		grep -q "hint: build it without -fsanitize=leak" <<<"$output"
	done
	run -23 timeout 60 "$PMM" run -q -o "$T/c.pmm" -- "$T/lost"
	grep -q "LeakSanitizer: 77 byte(s) leaked" <<<"$output"
}

@test "program with a malloc of its own: it runs, and pmm says that it sees nothing" {
	"$PMM" run -o "$T/c.pmm" -- "$PROG/own_malloc" 2>"$T/err"
	grep -q "its own malloc" "$T/err"
	"$PMM" report "$T/c.pmm" >"$T/text"
	grep -q -x "  mode     no call is recorded: they go to the program's own malloc" "$T/text"
	"$PMM" run -q --sample=1K -o "$T/s.pmm" -- "$PROG/own_malloc" 2>"$T/err"
	"$PMM" report "$T/s.pmm" >"$T/text"
	grep -q -x "  mode     no call is recorded: they go to the program's own malloc" "$T/text"
	"$PMM" leaks -- "$PROG/own_malloc" 2>"$T/err"
	grep -q -x "pmm: process [0-9]* was not searched for leaks: its blocks are not recorded" "$T/err"
	grep -q "^pmm: hint: 'pmm attach PID'" "$T/err"
	[ "$("$PMM" report --json "$T/c.pmm" | jq -c '[.totals.allocs, .warnings[].code]')" = '[0,"own_allocator"]' ]
}

@test "a forked child of a program with a malloc of its own: nor is its heap seen" {
	mkdir "$T/own"
	"$PMM" run -q -o "$T/own/c.pmm" -- "$PROG/own_malloc" fork 2>"$T/err"
	for c in "$T"/own/*.pmm; do "$PMM" report "$c"; done >"$T/text"
	[ "$(grep -c -x "  mode     no call is recorded: they go to the program's own malloc" "$T/text")" -eq 2 ]
	"$PMM" check -- "$PROG/own_malloc" fork 2>"$T/err"
	grep -q -x "pmm: none of 2 processes was checked" "$T/err"
}

@test "program with a malloc that hands on to the next one: all is seen, and no warning" {
	"$PMM" run -o "$T/c.pmm" -- "$PROG/wrapper" 2>"$T/err"
	[ -z "$(grep WARNING "$T/err")" ]
	check "$T/c.pmm" <<<"$(expected wrapper.c)"
	[ "$("$PMM" report --json "$T/c.pmm" | jq -c '[.warnings[]?.code]')" = '[]' ]
}

@test "setuid program" {
	need_root
	cp "$PROG/leaf" "$T/suid"
	chown nobody "$T/suid"
	chmod 4755 "$T/suid"
	[ -u "$T/suid" ] || skip "no setuid files here"
	run_refused "set-?user-?id|setuid" "$T/suid"
}

@test "program for 32 bits" {
	printf '\177ELF\001\001\001\0\0\0\0\0\0\0\0\0\002\0\003\0\001\0\0\0' >"$T/elf32"
	head -c 1000 /dev/zero >>"$T/elf32"
	chmod 755 "$T/elf32"
	run_refused "32 bits" "$T/elf32"
}

@test "program for another machine" {
	{ head -c 18 "$PROG/leaf"; printf '\267\0'; tail -c +21 "$PROG/leaf"; } >"$T/arm"
	chmod 755 "$T/arm"
	run_refused "another processor" "$T/arm"
}

@test "not a program at all" {
	head -c 500 /dev/zero >"$T/zeros"
	chmod 755 "$T/zeros"
	run_refused "'.*zeros'" "$T/zeros"
}

@test "damaged program" {
	head -c 200 "$PROG/leaf" >"$T/cut"
	chmod 755 "$T/cut"
	run_refused "'.*cut'" "$T/cut"
}

@test "script whose interpreter is missing" {
	printf '#!/no/such/interpreter\n' >"$T/script"
	chmod 755 "$T/script"
	run_refused "interpreter" "$T/script"
}

@test "output that cannot be written" {
	refused "no/such/dir" "$PMM" run -o /no/such/dir/c.pmm -- "$PROG/many" 10 10
	mkdir "$T/d.pmm"
	refused "d.pmm" "$PMM" run -o "$T/d.pmm" -- "$PROG/many" 10 10
}

@test "output directory of another user" {
	need_root
	su -s /bin/sh nobody -c "test -x '$PMM' && test -x '$PROG/many'" ||
		skip "nobody may not reach the build directory"
	mkdir -m 755 "$T/theirs"
	refused "theirs" su -s /bin/sh nobody -c "'$PMM' run -o '$T/theirs/c.pmm' -- '$PROG/many' 10 10"
}

@test "no agent" {
	PMM_AGENT=/no/such/libpmm.so run_refused "libpmm.so" "$PROG/many" 10 10
}

@test "no /proc: that is told, not that pmm is installed badly" {
	need_root
	unshare --mount true 2>/dev/null || skip "no mount namespaces here"
	# shellcheck disable=SC2016
	refused '/proc is not mounted' unshare --mount sh -c 'umount -l /proc; exec "$@"' sh "$PMM" run -o "$T/c.pmm" -- "$PROG/many" 10 10
}

@test "no such process, no such capture" {
	refused "no/such.pmm" "$PMM" report /no/such.pmm
	refused "4194303|process" "$PMM" report 4194303
	refused "4194303|process" "$PMM" snapshot 4194303 -o "$T/s.pmm"
	sleep 1000 3>&- &
	refused "not tracked|ledger|track" "$PMM" report $!
	kill -9 $!
}

# A good capture to damage.
capture() { track leaf; cp "$CAP" "$T/good.pmm"; }

@test "captures cut at every length" {
	local n size
	capture
	size=$(stat -c %s "$T/good.pmm")
	for n in 0 1 7 8 20 64 100 $((size / 4)) $((size / 2)) $((size - 1)); do
		[ "$n" -lt "$size" ] || continue
		head -c "$n" "$T/good.pmm" >"$T/cut.pmm"
		refused "cut.pmm" "$PMM" report "$T/cut.pmm"
	done
}

@test "captures with a byte changed" {
	local at size
	capture
	size=$(stat -c %s "$T/good.pmm")
	for ((at = 0; at < size; at += size / 40 + 1)); do
		cp "$T/good.pmm" "$T/bad.pmm"
		printf '%b' "\\x$(printf %02x $((0x$(xxd -s "$at" -l 1 -p "$T/good.pmm") ^ 0x55)))" |
			dd of="$T/bad.pmm" bs=1 seek="$at" conv=notrunc 2>/dev/null
		refused "bad.pmm" "$PMM" report "$T/bad.pmm"
	done
}

@test "capture of a future version" {
	capture
	{ head -c 8 "$T/good.pmm"; printf '\2\0\0\0'; head -c 16 /dev/zero; } >"$T/head"
	gzip -c "$T/head" | tail -c 8 | head -c 4 >"$T/crc"
	{ cat "$T/head" "$T/crc"; tail -c +33 "$T/good.pmm"; } >"$T/future.pmm"
	refused "version 2|newer" "$PMM" report "$T/future.pmm"
	! grep -q -i damaged "$T/refused.err"
}

@test "nothing of a refused program is left behind" {
	run_refused "static" "$PROG/leaf_static"
	[ -z "$(find "$T" -name '*.pmm*')" ]
}

@test "something else as a capture" {
	refused "leaf" "$PMM" report "$PROG/leaf"
	refused "directory" "$PMM" report /tmp
	: >"$T/empty"
	refused "empty" "$PMM" report "$T/empty"
	refused "null" "$PMM" report /dev/null
}
