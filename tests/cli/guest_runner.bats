#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# tests/guest/run-guest: a guest that does not come to its end has failed, whatever it said before. A script stands for QEMU.

load lib

setup() {
	need python3 busybox dash jq setpriv
	mkdir -p "$T/build/guest/6.1/lib/modules/6.1.0-test"
	for f in pmm libpmm.so libpmm_check.so libpmm_inject.so tests; do ln -s "$(dirname "$PMM")/$f" "$T/build/$f"; done
	(cd "$T/build/guest/6.1"; echo 6.1.0-test >release; echo none=one >make; echo kernel >vmlinuz; : >lib/modules/6.1.0-test/modules.dep)
	cat >"$T/qemu" <<-'END'
		#!/bin/bash
		for word; do case $word in file:*/console) console=${word#file:} ;; file:*/results) results=${word#file:} ;; esac; done
		echo "the kernel's last line" >"$console"
		exec >"$results"
		echo start >>"$T/starts"
		. "$T/guest"
	END
	chmod +x "$T/qemu"
	export T GUEST_QEMU=$T/qemu
}

# guest LINE...: what happens in it; its TAP is in $T/tap. Sets STATUS. TESTS: a file of tests and functions of it.
guest() {
	printf '%s\n' "$@" >"$T/guest"
	STATUS=0
	PMM=$T/build/pmm GUEST_SECONDS=${SECONDS_MOST:-60} within "$ROOT/tests/guest/run-guest" 6.1 ${TESTS:-commands doctor run} >"$T/tap" || STATUS=$?
}

said() { diff "$T/tap" <(printf '%s\n' "$@"); }

@test "a guest whose tests pass" {
	guest 'printf "begin\nok doctor\r\nok run\r\nok kernel\r\nend\r\n"'
	[ "$STATUS" -eq 0 ]
	said 1..3 'ok 1 - 6.1 commands: doctor' 'ok 2 - 6.1 commands: run' 'ok 3 - 6.1 commands: kernel'
}

@test "a test that fails, with what it said, and one that is skipped" {
	guest 'printf "begin\n# why\nnot ok doctor\nskip run no such thing\nok kernel\nend\n"'
	[ "$STATUS" -eq 1 ]
	said 1..3 '# why' 'not ok 1 - 6.1 commands: doctor' 'ok 2 - 6.1 commands: run # skip no such thing' 'ok 3 - 6.1 commands: kernel'
}

@test "a guest that ends too early, as by a panic" {
	guest 'printf "begin\nok doctor\nok run\nok kernel\n"'
	[ "$STATUS" -eq 1 ]
	said 1..3 'ok 1 - 6.1 commands: doctor' 'ok 2 - 6.1 commands: run' 'ok 3 - 6.1 commands: kernel' \
		"# the guest ended before its tests; the last lines of its kernel:" "# the kernel's last line" "# "
	guest 'printf "begin\nok doctor\n"'
	[ "$STATUS" -eq 1 ]
	grep -q '^not ok 2 - 6.1 commands: run$' "$T/tap"
	grep -q '^not ok 3 - 6.1 commands: kernel$' "$T/tap"
}

@test "a guest that hangs" {
	SECONDS_MOST=3 guest 'printf "begin\nok doctor\nok run\n"' 'exec sleep 1000'
	[ "$STATUS" -eq 1 ]
	grep -q '^not ok 3 - 6.1 commands: kernel$' "$T/tap"
	grep -q '^# the guest did not end within 3 seconds' "$T/tap"
	grep -q "^# the kernel's last line$" "$T/tap"
}

@test "a kernel that does not start is started three times" {
	guest '[ "$(wc -l <"$T/starts")" -lt 3 ] || printf "begin\nok doctor\nok run\nok kernel\nend\n"'
	[ "$STATUS" -eq 0 ]
	guest 'printf "begin\nok doctor\n"'
	[ "$STATUS" -eq 1 ]
	[ "$(wc -l <"$T/starts")" -eq 4 ]
}

@test "a machine that does not start" {
	guest 'echo "no such device" >&2; exit 1'
	[ "$STATUS" -eq 1 ]
	[ "$(grep -c '^not ok' "$T/tap")" -eq 3 ]
	grep -q '^# qemu ended with status 1' "$T/tap"
}

@test "what lacks is named, and the tests are skipped" {
	GUEST_QEMU=no-qemu guest
	[ "$STATUS" -eq 0 ]
	said 1..3 'ok 1 - 6.1 commands: doctor # skip no-qemu is not installed' \
		'ok 2 - 6.1 commands: run # skip no-qemu is not installed' 'ok 3 - 6.1 commands: kernel # skip no-qemu is not installed'
}

@test "the guest's files: pmm, its libraries, victims that the test names, the same bytes each time" {
	need cpio
	guest 'cp "${results%/*}/initramfs" "$T/first"'
	guest 'cp "${results%/*}/initramfs" "$T/second"'
	cmp "$T/first" "$T/second"
	cpio -t --quiet <"$T/first" >"$T/list"
	for f in init dev/console bin/busybox pmm/pmm pmm/libpmm.so prog/threads prog/threads.c t/test lib64/ld-linux-x86-64.so.2; do
		grep -qx "$f" "$T/list" || { echo "no $f"; return 1; }
	done
	grep -q '^lib/x86_64-linux-gnu/libZydis\.so' "$T/list"
	[ "$(cpio -i --quiet --to-stdout t/tests <"$T/first")" = $'doctor\nrun' ]
	mkdir "$T/root"
	(cd "$T/root" && cpio -id --quiet pmm/pmm <"$T/first")
	cmp "$T/root/pmm/pmm" "$PMM"
}

# module COMMAND: headers whose makefile builds the module by that.
module() {
	mkdir -p "$T/build/guest/6.1/headers"
	printf 'modules:\n\t%s\n' "$1" >"$T/build/guest/6.1/headers/Makefile"
}

@test "the kernel module: built once for the kernel of a guest that loads it, and only then" {
	need gcc make
	module 'echo these are its bytes >>$(M)/pmm.ko; echo $(W) $(none) >>$(M)/../../built'
	echo none=some >"$T/build/guest/6.1/make"
	guest 'cp "${results%/*}/initramfs" "$T/without"'
	[ ! -e "$T/build/guest/6.1/kmod" ]
	for _ in 1 2; do
		TESTS="kmod_load load" guest 'printf "begin\nok load\nok kernel\nend\n"' 'cp "${results%/*}/initramfs" "$T/with"'
		[ "$STATUS" -eq 0 ]
		said 1..2 'ok 1 - 6.1 kmod_load: load' 'ok 2 - 6.1 kmod_load: kernel'
	done
	[ "$(cat "$T/build/guest/6.1/built")" = "1 some" ]
	[ "$(grep -ac 'these are its bytes' "$T/with")" -eq 1 ]
	[ "$(grep -ac 'these are its bytes' "$T/without")" -eq 0 ]
}

@test "the kernel module: a warning of its build is a failure, and so is no module" {
	need gcc make
	module 'echo 1 >$(M)/pmm.ko; echo "x.c:1:2: warning: odd"'
	TESTS="kmod_load load" guest 'touch "$T/started"'
	[ "$STATUS" -eq 1 ]
	[ "$(grep -c '^not ok' "$T/tap")" -eq 2 ]
	grep -q '^# x.c:1:2: warning: odd$' "$T/tap"
	module 'echo all is well'
	TESTS="kmod_load load" guest 'touch "$T/started"'
	[ "$STATUS" -eq 1 ]
	[ ! -e "$T/started" ]
	module 'echo 1 >$(M)/pmm.ko; echo "warning: pahole version differs from the one used to build the kernel"'
	TESTS="kmod_load load" guest 'printf "begin\nok load\nok kernel\nend\n"'
	[ "$STATUS" -eq 0 ]
}

@test "the kernel module: without headers its tests are skipped, and others are not" {
	TESTS="kmod_load load" guest
	[ "$STATUS" -eq 0 ]
	said 1..2 'ok 1 - 6.1 kmod_load: load # skip pmm.ko for the kernel 6.1 cannot be built: no headers' \
		'ok 2 - 6.1 kmod_load: kernel # skip pmm.ko for the kernel 6.1 cannot be built: no headers'
	guest 'printf "begin\nok doctor\nok run\nok kernel\nend\n"'
	[ "$STATUS" -eq 0 ]
}
