#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm attach on programs in which uprobes are set, before, meanwhile and afterwards, on every function of the allocator: as bpftrace, perf and
# system-wide profilers set them.

load attach

setup() {
	need_attach
	local why
	why=$("$PROG/uprobe" -n) || skip "$why"
}

SUM="sum 124200"

# probe FILE [OPTION...] -- FUNCTION...: set uprobes in the victim, in the background. PROBES: descriptor that takes them away when closed.
probe() {
	local options=() file=$1
	shift
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	shift
	rm -f "$T/probe.in" "$T/probe.out"
	mkfifo "$T/probe.in" "$T/probe.out"
	"$PROG/uprobe" "${options[@]}" "$PID" "$file" "$@" <"$T/probe.in" >"$T/probe.out" 2>"$T/probe.err" 3>&- 7>&- 8<&- &
	PROBER=$!
	exec 5>"$T/probe.in" 6<"$T/probe.out"
	next_line 6 "$PROBER" && [ "$LINE" = set ] || { echo "uprobes: '$LINE'"; cat "$T/probe.err"; return 1; }
}

# unprobe: take them away; sets HITS.
unprobe() {
	echo >&5
	next_line 6 "$PROBER"
	HITS=${LINE#hits }
	exec 5>&- 6<&-
	wait "$PROBER"
	PROBER=
}

teardown() {
	exec 5>&- 6<&-
	[ -z "${PROBER:-}" ] || kill -9 "$PROBER" 2>/dev/null || true
	stop_all
}

# same_code: the victim's code is what its files have.
same_code() {
	clean
	python3 - "$PID" <<-'EOF'
	import sys
	pid = sys.argv[1]
	with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb") as memory:
	    for line in maps:
	        fields = line.split()
	        if "x" not in fields[1] or len(fields) < 6 or fields[5][0] != "/":
	            continue
	        start, end = (int(x, 16) for x in fields[0].split("-"))
	        memory.seek(start)
	        now = memory.read(end - start)
	        with open(fields[5], "rb") as file:
	            file.seek(int(fields[2], 16))
	            other = [i for i, (a, b) in enumerate(zip(now, file.read(end - start))) if a != b]
	        if other:
	            sys.exit(f"{fields[5]}: {len(other)} bytes differ, the first at {start + other[0]:#x}: {now[other[0]:][:16].hex()}")
	EOF
}

# all_of FILE: its allocator's functions, whichever name, each once.
all_of() { "$PROG/uprobe" -l "$1" | sort -u; }

# probed FILE: the victim runs; a round under uprobes on all of the file's functions that were there before the attach, were set and taken
# away while it is watched, stay when pmm has gone. What is found is exact throughout.
probed() {
	local file=$1 functions
	mapfile -t functions < <(all_of "$file")
	[ "${#functions[@]}" -ge 4 ] || { echo "no functions in $file"; return 1; }
	probe "$file" -- "${functions[@]}"		# before
	watch
	[ "$(grep -c 'not patched' "$T/watch.err")" -eq 0 ] || { cat "$T/watch.err"; return 1; }
	tell g done
	now site leak_a allocs=100 live=4800
	unprobe						# while it is watched
	[ "$HITS" -gt 1000 ] || { echo "$HITS hits"; return 1; }
	unwatch
	check "$T/c.pmm" <<<"$(expected attach_victim.c)"
	clean
	watch
	probe "$file" -- "${functions[@]}"		# afterwards
	tell g done
	unwatch						# and stays
	check "$T/c.pmm" <<<"$(expected attach_victim.c | sed "s/untracked=0/untracked=64/")"
	clean
	tell g done
	unprobe
	[ "$HITS" -gt 2000 ] || { echo "$HITS hits"; return 1; }
	same_code
	tell c good
	finish 42 "$SUM"
}

libc_of() { awk '$2 ~ /x/ && $6 ~ /\/libc[.-]|\/ld-musl|\/libc\.so/ { print $6; exit }' "/proc/$PID/maps"; }

preloaded() {
	library "$1"
	start env LD_PRELOAD="$LIBRARY" "$PROG/attach_victim"
	probed "$(readlink -f "$LIBRARY")"
}

musl() {
	need musl-gcc
	musl-gcc -O1 -g -fno-builtin -fno-optimize-sibling-calls -o "$T/made" "$SOURCE/attach_victim.c" "$@" 2>"$T/cc.err" ||
		{ head -3 "$T/cc.err"; skip "musl-gcc $* does not work here"; }
	start "$T/made"
}

@test "glibc" { start attach_victim; probed "$(libc_of)"; }
@test "glibc, static" { start attach_static; probed "$PROG/attach_static"; }
@test "musl" { musl; probed "$(libc_of)"; }
@test "musl, static" { musl -static; probed "$T/made"; }
@test "jemalloc" { preloaded libjemalloc.so.2; }
@test "tcmalloc" { preloaded libtcmalloc_minimal.so.4; }
@test "mimalloc" { preloaded libmimalloc.so.2; }

@test "one after the other, coming and going while the program works" {
	local libc function
	start attach_victim
	libc=$(libc_of)
	watch
	for function in $(all_of "$libc"); do
		"$PROG/uprobe" -t 5 "$PID" "$libc" "$function" >/dev/null
		probe "$libc" -- "$function"
		tell g done
		unprobe
		tell g done
	done
	unwatch
	same_code
	tell c good
	finish 42
}

# Where it is never come by: in a function that is not called. pmm leaves it there, its owner puts back what was.
@test "on the jump itself, while pmm is attached: all is as it was afterwards" {
	local libc
	start attach_victim
	libc=$(libc_of)
	watch
	probe "$libc" -- valloc+8 pvalloc+7
	tell g done
	unwatch
	unprobe
	same_code
	tell g done
	finish 42
}

@test "set and taken away all the time, while pmm comes and goes" {
	local libc
	start nice -n 10 "$PROG/attach_stress" q
	libc=$(libc_of)
	"$PROG/uprobe" -t 100000 "$PID" "$libc" malloc free calloc realloc >"$T/probe.out" 2>&1 3>&- 7>&- 8<&- &
	PROBER=$!
	for _ in 1 2 3 4 5 6; do
		patiently "$PMM" attach -q -d 0.3 "$PID" || [ $? -eq 1 ] || { cat "$T/watch.err"; return 1; }
		[ "$(grep -c "not patched" "$T/watch.err")" -eq 0 ] || { cat "$T/watch.err"; return 1; }
		kill -0 "$PID"
	done
	kill "$PROBER"
	wait "$PROBER" || true
	PROBER=
	same_code
	finish 45 unharmed
}

# The kernel puts an address of its own in the place of the return address: who called is not known then, and said to be so.
@test "uretprobes: nothing is lost but who called" {
	local libc functions
	start attach_victim
	libc=$(libc_of)
	mapfile -t functions < <(all_of "$libc")
	probe "$libc" -r -- "${functions[@]}"
	watch
	tell g done
	now total allocs=1434 frees=1258 blocks=176 live=57784 untracked=0
	unprobe
	tell g done
	unwatch
	clean
	found "$T/c.pmm" total allocs=2868
	found "$T/c.pmm" site leak_a allocs=100 live=4800
	"$PMM" report --top=0 "$T/c.pmm" >"$T/report"
	grep -q "stack lost here: code without unwind information" "$T/report"
	watch
	probe "$libc" -r -- "${functions[@]}"
	tell g done
	unwatch
	unprobe
	same_code
	tell c good
	finish 42 "$SUM"
}

# The kernel would go on in the midst of the jump.
@test "behind the first instruction: the function is left alone and named" {
	local libc
	start attach_victim
	libc=$(libc_of)
	probe "$libc" -- malloc+2
	watch
	await -p "$MONITOR" grep -q "not patched: malloc: at +0x2: a breakpoint is set there (a uprobe, or a debugger's)" "$T/watch.err"
	tell g done
	unwatch
	unprobe
	same_code
	tell c good
	finish 42 "sum 41400"
}

# As long as the probe is there, the kernel jumps to where the file says.
@test "on a function that only jumps elsewhere: left alone and named, unless that is patched" {
	library libmimalloc.so.2
	start env LD_PRELOAD="$LIBRARY" "$PROG/attach_victim"
	probe "$(readlink -f "$LIBRARY")" -- malloc_good_size posix_memalign
	watch --alloc "malloc_good_size=malloc(arg0)"
	await -p "$MONITOR" grep -q "not patched" "$T/watch.err"
	[ "$(grep "not patched" "$T/watch.err")" = "pmm: not patched: malloc_good_size: a uprobe is set on it, which leads past the first\
 instruction, a jump: remove it and attach again" ] || { cat "$T/watch.err"; return 1; }
	tell g done
	now site leak_d allocs=2 live=600
	unwatch
	unprobe
	same_code
	finish 42
}

@test "a debugger's breakpoint on the allocator while pmm is attached" {
	need gdb
	start attach_victim
	watch
	gdb -nx -q -batch -p "$PID" -ex 'break malloc' -ex 'break free' -ex 'shell echo g >>"'"$T"'/in"' -ex continue -ex continue -ex continue \
		-ex delete -ex detach >"$T/gdb.out" 2>&1 7>&- 8<&- 3>&- || { cat "$T/gdb.out"; return 1; }
	grep -q "Breakpoint 1" "$T/gdb.out" || { cat "$T/gdb.out"; return 1; }
	hear done
	unwatch
	check "$T/c.pmm" <<<"$(expected attach_victim.c)"
	clean
	tell c good
	finish 42 "sum 41400"
}
