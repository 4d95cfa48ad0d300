#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm attach on every kind of program: exactly what it allocates meanwhile is found, and it stays as it was.

load attach

SUM="sum 82800"

victim() {
	start "$1"
	round attach_victim.c 42
}

preloaded() {
	library "$1"
	start env LD_PRELOAD="$LIBRARY" "$PROG/attach_victim"
	round attach_victim.c 42
	look "$T/c.pmm" allocator_path | grep -q "${1%%.*}"
}

# made COMPILER ARG...: the victim built so.
made() {
	"$1" -O1 -g -fno-builtin -fno-optimize-sibling-calls -o "$T/made" "$SOURCE/attach_victim.c" "${@:2}" 2>"$T/cc.err" ||
		{ head -3 "$T/cc.err"; skip "$1 ${*: -1} does not work here"; }
	victim "$T/made"
}

@test "glibc" { victim attach_victim; }
@test "glibc, without frame pointers" { victim attach_omit; }
@test "static" { victim attach_static; }
@test "static PIE" { victim attach_static_pie; }
@test "musl" { need musl-gcc; made musl-gcc; }
@test "musl, static" { need musl-gcc; made musl-gcc -static; }
@test "jemalloc preloaded" { preloaded libjemalloc.so.2; }
@test "tcmalloc preloaded" { preloaded libtcmalloc_minimal.so.4; }
@test "mimalloc preloaded" { preloaded libmimalloc.so.2; }
@test "jemalloc linked" { library libjemalloc.so.2; made gcc -Wl,--no-as-needed "$LIBRARY"; }
@test "tcmalloc linked" { library libtcmalloc_minimal.so.4; made gcc -Wl,--no-as-needed "$LIBRARY"; }
@test "mimalloc linked" { library libmimalloc.so.2; made gcc -Wl,--no-as-needed "$LIBRARY"; }
@test "what only mimalloc has, of a heap, strings, in place" {
	library libmimalloc.so.2
	start env LD_PRELOAD="$LIBRARY" "$PROG/attach_mimalloc"
	SUM='' round attach_mimalloc.c 42
	start env LD_PRELOAD="$LIBRARY" "$PROG/attach_mimalloc"
	watch
	tell d done
	unwatch
	found "$T/c.pmm" site destroyed allocs=303
	grep -q '^past the hooks: 200 of these frees, as new blocks in their place show' "$T/watch.out"
	finish 42
}
@test "built by clang" { need clang; made clang; }
@test "linked with lazy binding and without PIE" { made gcc -no-pie -Wl,-z,lazy; }
@test "control flow protection" { made gcc -fcf-protection=full; }

# ends VICTIM: threads that end. What the allocator itself releases then is none of the blocks from before.
ends() {
	local before
	start "$1"
	for before in 0 120; do
		watch
		tell t done
		[ "$before" -eq 0 ] || tell b done
		unwatch
		found "$T/c.pmm" total allocs=$((before ? 1000 : 500)) frees=$((before ? 1000 : 500)) blocks=0 untracked=$before
	done
	clean
	echo e >&7
	finish 49
}

@test "threads that end" { ends attach_ends; }
@test "threads that end, static" { ends attach_ends_static; }

@test "static and stripped: nothing to be found, but --alloc with addresses" {
	local malloc calloc realloc free memalign
	for f in malloc calloc realloc free posix_memalign; do
		local "$f=0x$(nm "$PROG/attach_static" | awk -v f="$f" '$3 == f { print $1 }')"
	done
	strip -o "$T/stripped" "$PROG/attach_static"
	start "$T/stripped"
	picture idle
	refused "malloc" "$PMM" attach -d 1 "$PID"
	same_picture idle
	watch --alloc "stripped:$malloc=malloc(arg0)" --alloc "stripped:$calloc=calloc(arg0,arg1)" \
		--alloc "stripped:$realloc=realloc(arg0,arg1)" --alloc "stripped:$free=free(arg0)"
	tell g done
	unwatch
	clean
	finish 42 "sum 41400"
	found "$T/c.pmm" total allocs=1432 frees=1258 blocks=174
}

@test "static and stripped, with a separate debug file" {
	need objcopy
	cp "$PROG/attach_static" "$T/apart"
	objcopy --only-keep-debug "$T/apart" "$T/apart.debug"
	(cd "$T" && objcopy --strip-all --add-gnu-debuglink=apart.debug apart)
	victim "$T/apart"
}

@test "blocks from before the attach are unknown, their frees counted" {
	start attach_victim
	tell g done
	watch
	tell f freed
	tell r moved
	now total allocs=1 untracked=11 live=7000
	tell g done
	unwatch
	found "$T/c.pmm" total allocs=1435 untracked=75 live=64784 blocks=177
	finish 42 "sum 82800"
}

# One that has ended has no mappings, no memory, no descriptors and no executable in /proc.
@test "the first thread has ended" {
	start attach_leader
	await -p "$PID" grep -q "^State:.Z" "/proc/$PID/task/$PID/status"
	FACE=$(find "/proc/$PID/task" -mindepth 1 -maxdepth 1 ! -name "$PID" -printf %f)
	picture first loose
	watch
	tell g done
	now site leak_a allocs=100 live=4800
	"$PMM" snapshot "$PID" -o "$T/s.pmm"
	found "$T/s.pmm" site leak_b allocs=7 live=21000
	unwatch
	same_picture first loose
	check "$T/c.pmm" <<<"$(expected attach_victim.c)"
	[ "$(look "$T/c.pmm" exe)" = "$PROG/attach_leader" ]
	watch
	kill_monitor
	tell g done
	within "$PMM" detach "$PID"
	same_picture first loose
	tell g done
	finish 42 "sum 124200"
}

@test "what a running process has, by report and snapshot" {
	start attach_victim
	watch
	tell g done
	tell g done
	now site leak_a allocs=200 live=9600
	now total allocs=2868 live=99184 blocks=288
	"$PMM" snapshot "$PID" -o "$T/s.pmm"
	found "$T/s.pmm" site leak_b allocs=14 live=42000
	unwatch
	clean
	finish 42
}

@test "the program ends while it is watched" {
	start attach_victim
	watch
	tell g done
	finish 42 "sum 41400"
	await [ -s "$T/c.pmm" ]
	wait "$MONITOR" || [ $? -eq 1 ]
	MONITOR=
	check "$T/c.pmm" <<<"$(expected attach_victim.c)"
}

# stack_of PID: its first thread's, "from-to"
stack_of() { awk '$6 == "[stack]" { print $1 }' "/proc/$1/maps"; }

@test "the only thread waits where its stack has never been deeper" {
	start attach_deep
	watch
	tell a done
	unwatch
	clean
	found "$T/c.pmm" site obey allocs=10 live=1000
	finish 42
}

@test "the only thread waits where its stack may not become deeper" {
	local stack
	start attach_deep
	stack=$(stack_of "$PID")
	prlimit --pid "$PID" --stack=$((0x${stack#*-} - 0x${stack%-*})):
	within "$PMM" attach -d 1 "$PID" >/dev/null 2>"$T/err" && return 1
	grep -q "has used up its stack" "$T/err"
	[ "$(stack_of "$PID")" = "$stack" ]
	clean
	tell a done
	finish 42
}

# code_kib: what is resident of the victim's own file.
code_kib() { awk '$1 ~ /^[0-9a-f]+-/ { own = $6 == "'"$T/wide"'" } own && /^Rss:/ { n += $2 } END { print n + 0 }' "/proc/$PID/smaps"; }

@test "a program of 32 MiB of code is not read for a place that the C library has" {
	need gcc
	local before
	printf '.section .text.wide, "ax"\n.skip 32 << 20, 0x90\n.section .note.GNU-stack, "", @progbits\n' >"$T/wide.s"
	gcc -O1 -g -fno-builtin -fno-optimize-sibling-calls -o "$T/wide" "$SOURCE/attach_victim.c" "$T/wide.s"
	start "$T/wide"
	before=$(code_kib)
	watch
	[ "$(code_kib)" -le $((before + 2048)) ] || { echo "$before KiB, now $(code_kib)"; return 1; }
	unwatch
	finish 42
}
