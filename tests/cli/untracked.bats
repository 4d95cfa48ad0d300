#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that are executed in a tree: those whose environment was emptied are tracked and do not notice; those that cannot be tracked are said.

bats_require_minimum_version 1.5.0
load lib

setup() {
	cd "$T"
}

teardown() {
	[ -z "${OPEN:-}" ] || rm -rf "$OPEN"
}

WAYS="execve execle execvpe fexecve execveat execv execl execvp execlp vfork posix_spawn posix_spawnp system popen missing"

# bare COMMAND-OF-PMM WAY [VARIABLE=VALUE...]: env executed in that way prints what it prints natively, and has a capture of its own.
bare() {
	local pmm=$1 way=$2 native=0 tracked=0
	shift 2
	rm -rf cap; mkdir cap
	within "$PROG/exec_bare" "$way" /usr/bin/env "$@" >native.out 2>native.err </dev/null || native=$?
	within "$PMM" $pmm -o "$T/cap/%c.%p.pmm" -- "$PROG/exec_bare" "$way" /usr/bin/env "$@" >tracked.out 2>tracked.err </dev/null || tracked=$?
	cmp native.out tracked.out || { echo "$pmm $way $*"; diff native.out tracked.out; return 1; }
	[ "$native" -eq "$tracked" ] || { echo "$pmm $way $*: status $tracked, natively $native"; return 1; }
	[ "$(find cap -name 'env.*.pmm' | wc -l)" -eq 1 ] || { echo "$pmm $way $*"; ls cap; cat tracked.err; return 1; }
	run ! grep "not tracked" tracked.err
}

@test "an emptied environment: tracked, and empty for the program" {
	local way
	for way in $WAYS; do
		bare "run -q" "$way"
		bare check "$way"
	done
}

@test "an environment of its own: tracked, and as it was given" {
	local way
	for way in $WAYS; do
		bare "run -q" "$way" A=1 B=2
		bare "run -q" "$way" A=1 LD_PRELOAD= B=2
		bare check "$way" LD_PRELOAD=libm.so.6 Z=3
	done
}

@test "env -i, env -u: output as natively, and what env starts is tracked" {
	run -0 --separate-stderr "$PMM" run -q -o x.pmm -- env -i /usr/bin/env
	[ -z "$output$stderr" ]
	run -0 --separate-stderr "$PMM" run -q -o x.pmm -- env -i A=b /usr/bin/env
	[ "$output$stderr" = A=b ]
	run -1 --separate-stderr "$PMM" leaks --fail-on=definite -- env -i "$PROG/leak_tree" lose 77
	grep -q '^  definitely lost  77 bytes in 1 block, 1 site$' <<<"$stderr"
	run -1 --separate-stderr "$PMM" leaks --fail-on=definite -- env -u LD_PRELOAD "$PROG/leak_tree" lose 77
	# two deep, and by shells that have nothing in their environment
	run -1 --separate-stderr "$PMM" leaks --fail-on=definite -- env -i sh -c "env -i sh -c '$PROG/leak_tree lose 77; :'; :"
	grep -q '^ *in leak_tree, pid [0-9]*$' <<<"$stderr"
}

# said PATTERN COMMAND...: said first, in one line, whatever is asked for; the figures of the verdict are of the others.
said() {
	local pattern=$1 status=0
	shift
	within "$PMM" run -q -o x.pmm -- "$@" >/dev/null 2>said || status=$?
	grep -q "^pmm: WARNING: $pattern$" said || { cat said; return 1; }
	case $pattern in
	*static* | *set-user-ID* | *'root directory'* | *environment*) grep -q "^pmm: hint: 'pmm attach PID' watches such a program while it runs$" said ;;
	*) run ! grep -q 'hint: .pmm attach PID' said ;;
	esac
	within "$PMM" leaks -- "$@" >/dev/null 2>said || status=$?
	head -1 said | grep -q "^pmm: WARNING: $pattern$" || { cat said; return 1; }
	within "$PMM" leaks --json --report leaks.json -- "$@" >/dev/null 2>said || status=$?
	[ "$(jq '.tree.not_tracked == (.untracked | map(.processes) | add) and .tree.not_tracked > 0' leaks.json)" = true ]
}

@test "static programs" {
	said '1 program was not tracked: leaf_static (static)' sh -c "$PROG/leaf_static; :"
	said '3 programs were not tracked: 3 of leaf_static (static)' sh -c "for i in 1 2 3; do $PROG/leaf_static; done"
	printf '#!%s\n' "$PROG/leaf_static" >script
	chmod +x script
	said '1 program was not tracked: script (static)' sh -c './script; :'
	said '1 program was not tracked: leaf_static (static)' env -i "$PROG/leaf_static"
	run -0 --separate-stderr "$PMM" leaks -- sh -c "$PROG/leaf_static; :"
	grep -q '^  processes *2, 1 searched: ' <<<"$stderr"
	grep -q '^  no leaks were found in what was searched$' <<<"$stderr"
	run -1 --separate-stderr "$PMM" leaks --fail-on=unsearched -- sh -c "$PROG/leaf_static; :"
}

@test "a static program does not find pmm in an environment that was emptied" {
	if ! gcc -static -o shows -x c - <<<'extern char **environ; int main(void) { int n = 0; while (environ[n]) n++; return n; }' 2>/dev/null; then
		skip "no static C library"
	fi
	run -0 --separate-stderr "$PMM" run -q -o x.pmm -- env -i ./shows
	grep -q 'not tracked: shows (static)' <<<"$stderr"
}

@test "set-user-ID programs, and another root directory" {
	[ "$(id -u)" -eq 0 ] || skip "only root can give files away and change its root directory"
	cp "$PROG/leaf" owned
	chown 65534 owned
	chmod 4755 owned
	said '1 program was not tracked: owned (set-user-ID)' sh -c './owned; :'
	mkdir -p root/lib64 root/lib/x86_64-linux-gnu
	cp "$PROG/leaf" /usr/bin/env root/
	cp /lib64/ld-linux-x86-64.so.2 root/lib64/
	cp /lib/x86_64-linux-gnu/libc.so.6 root/lib/x86_64-linux-gnu/
	said "1 program was not tracked: leaf (pmm's agent is not in its root directory)" sh -c 'chroot root /leaf; :'
	# the loader there would say on stderr that it cannot load the agent
	run -0 --separate-stderr "$PMM" run -q -o x.pmm -- chroot root /leaf
	run ! grep -q 'ld.so' <<<"$stderr"
	run -0 --separate-stderr "$PMM" run -q -o x.pmm -- chroot root /env
	run ! grep -q 'libpmm' <<<"$output"
}

@test "32-bit programs" {
	printf '.globl _start\n_start: mov $1, %%eax\nxor %%ebx, %%ebx\nint $0x80\n' >small.S
	gcc -m32 -nostdlib -static -o small small.S 2>/dev/null && ./small || skip "no 32-bit programs here"
	said '1 program was not tracked: small (32-bit)' sh -c './small; :'
}

@test "programs built with AddressSanitizer run as natively" {
	echo 'int main(void) { return 7; }' >seven.c
	gcc -fsanitize=address -o seven seven.c 2>/dev/null && { ./seven || [ $? -eq 7 ]; } || skip "no AddressSanitizer here"
	run -7 --separate-stderr "$PMM" run -q -o x.pmm -- sh -c './seven'
	[ "$stderr" = "pmm: WARNING: 1 program was not tracked: seven (built with AddressSanitizer)" ]
	run -7 --separate-stderr "$PMM" run -q -o x.pmm -- env LD_PRELOAD= ./seven
}

@test "programs built with clang's AddressSanitizer as a library run as natively" {
	local lib
	lib=$(clang -print-file-name=libclang_rt.asan-x86_64.so 2>/dev/null) && [ -e "$lib" ] || skip "no clang with an AddressSanitizer here"
	echo 'int main(void) { return 7; }' >seven.c
	clang -shared-libsan -Wl,-rpath,"${lib%/*}" -fsanitize=address -o seven seven.c
	run -7 ./seven
	for how in run check; do
		run -7 --separate-stderr "$PMM" "$how" -- sh -c './seven; exit $?'
		grep -q -x "pmm: WARNING: 1 program was not tracked: seven (built with AddressSanitizer)" <<<"$stderr"
		run -3 --separate-stderr "$PMM" "$how" -- ./seven
		grep -q "is built with a sanitizer" <<<"$stderr"
	done
}

@test "programs built with LeakSanitizer keep its verdict: under pmm check as they are not tracked" {
	printf '#include <stdlib.h>\nint main(void) { char *volatile p = malloc(77); p = NULL; return p != NULL; }\n' >lost.c
	gcc -fsanitize=leak -o lost lost.c 2>/dev/null || skip "no LeakSanitizer here"
	run -23 ./lost
	local how
	for how in './lost; exit $?' 'exec env LD_PRELOAD= ./lost' 'exec env -i ./lost'; do
		run -23 --separate-stderr "$PMM" check -- sh -c "$how"
		grep -q "LeakSanitizer: 77 byte(s) leaked" <<<"$stderr"
		grep -q -x "pmm: WARNING: 1 program was not tracked: lost (built with LeakSanitizer)" <<<"$stderr"
		run -23 --separate-stderr "$PMM" run -q -o x.pmm -- sh -c "$how"
		grep -q "LeakSanitizer: 77 byte(s) leaked" <<<"$stderr"
		run ! grep "not tracked" <<<"$stderr"
	done
}

@test "programs built with ThreadSanitizer" {
	echo 'int main(void) { return 7; }' >seven.c
	gcc -fsanitize=thread -o seven seven.c 2>/dev/null && { ./seven || [ $? -eq 7 ]; } || skip "no ThreadSanitizer here"
	run -7 --separate-stderr "$PMM" check -- sh -c './seven; exit $?'
	grep -q -x "pmm: WARNING: 1 program was not tracked: seven (built with ThreadSanitizer)" <<<"$stderr"
	run -7 --separate-stderr "$PMM" run -q -o x.pmm -- sh -c './seven; exit $?'
	[ -z "$stderr" ]
}

@test "programs under memcheck, which calls its own malloc: output as natively, and no verdict on them" {
	command -v valgrind >/dev/null || skip "no Valgrind here"
	run -0 --separate-stderr valgrind -q "$PROG/leaf"
	[ -z "$stderr" ] || skip "memcheck complains of the C library here"
	run -0 --separate-stderr "$PMM" check -- sh -c 'valgrind -q "$0"; exit $?' "$PROG/leaf"
	grep -q -x "pmm: WARNING: 1 program was not tracked: memcheck-[a-z0-9]*-linux (static)" <<<"$stderr"
	grep -q "^pmm: 1 of 2 processes checked: " <<<"$stderr"
	run ! grep sigprocmask <<<"$stderr"
	run -0 --separate-stderr "$PMM" run -q -o x.pmm -- sh -c 'valgrind -q "$0"; exit $?' "$PROG/leaf"
	grep -q -x "pmm: WARNING: 1 program was not tracked: memcheck-[a-z0-9]*-linux (static)" <<<"$stderr"
	run ! grep sigprocmask <<<"$stderr"
}

@test "programs with capabilities of their own" {
	[ "$(id -u)" -eq 0 ] || skip "only root can give capabilities"
	OPEN=$(mktemp -d)
	cp "$PROG/leaf" "$OPEN/able"
	setcap cap_net_raw+ep "$OPEN/able" 2>/dev/null || skip "no capabilities of files here"
	chmod 755 "$OPEN" "$OPEN/able"
	said '1 program was not tracked: able (set-user-ID)' setpriv --reuid=65534 --clear-groups sh -c "$OPEN/able; :"
}

@test "a shell started by system() in a program with threads and an emptied environment" {
	said "1 program was not tracked: sh (its environment is without pmm's agent)" "$PROG/exec_bare" system_threads "$PROG/leaf"
}

@test "what the agent does not start in, though nothing was in the way" {
	# no C library, so no allocator that could be hooked
	echo 'int nothing;' >empty.c
	echo 'void _start(void) { __asm__ volatile("syscall" : : "a"(231), "D"(0)); __builtin_unreachable(); }' >bare.c
	gcc -nostdlib -nostartfiles -shared -o empty.so empty.c
	gcc -nostdlib -nostartfiles -o bare bare.c -Wl,--no-as-needed "$T/empty.so"
	said "1 program was not tracked: bare (pmm's agent did not start in it)" sh -c './bare; :'
	within "$PMM" leaks --json --report leaks.json -- ./bare 2>said
	grep -q 'nothing was seen: the agent never started in this program' said
	[ "$(jq -c '[.tree.processes, .tree.looked_at, (.untracked | map(.program))]' leaks.json)" = '[1,0,["./bare"]]' ]
	run -3 "$PMM" leaks --fail-on=definite -- ./bare
	run -3 "$PMM" check --error-exitcode 9 -- ./bare
}

# inside OUTER INNER: pmm runs pmm, which runs a program; that one has the agent of the inner one alone.
inside() {
	local outer=$1 inner=$2 status=0
	rm -f ./*.pmm said
	within "$PMM" $outer -o outer.pmm -- "$PMM" $inner -o 'inner.%c.pmm' -- "$PROG/leaf" >said 2>&1 || status=$?
	[ "$status" -eq 0 ] || { echo "pmm $outer -- pmm $inner: $status"; cat said; return 1; }
	grep -q "^pmm: WARNING: 1 program was not tracked: leaf (another pmm tracks it, or its PMM_LEDGER was changed)$" said ||
		{ echo "pmm $outer -- pmm $inner:"; cat said; return 1; }
	[ -s inner.leaf.pmm ] && [ -s outer.pmm ] || { echo "pmm $outer -- pmm $inner:"; ls; return 1; }
}

@test "pmm below pmm: what the inner one launches is its own" {
	local outer inner
	for outer in run check; do
		for inner in run check; do
			inside $outer $inner
		done
	done
}

@test "programs that are not there, or that replace each other, are not called untracked" {
	run -0 --separate-stderr "$PMM" run -q -o x.pmm -- sh -c 'nonexistent_program; exec sh -c "exec sh -c :"'
	run ! grep -q 'not tracked' <<<"$stderr"
	run -0 --separate-stderr "$PMM" run -q -o x.pmm -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do perl -e "exec q(/nonexistent) or 1" & done 2>/dev/null; wait'
	run ! grep -q 'not tracked' <<<"$stderr"
	run -0 --separate-stderr "$PMM" run -q --no-follow -o x.pmm -- sh -c "$PROG/leaf_static; :"
	run ! grep -q 'not tracked' <<<"$stderr"
}
