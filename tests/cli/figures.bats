#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The allocator's own figures: what pmm reads out of a process's memory is to the byte what mallinfo2() says in it (tests/prog/figures.c); what is
# not known is said to be so, with the reason.

load lib
load attach

teardown() {
	stop_all
	[ -z "${TOP:-}" ] || kill -9 "$TOP" 2>/dev/null || true
}

# tracked CMD...: the victim, under 'pmm run', capture in $T/c.pmm.
tracked() { start_below "$PMM" run -q -o "$T/c.pmm" -- "$@"; }

# ask ORDER: the victim's figures into SAID.
ask() {
	echo "$1" >&7
	next_line 8 "$PID"
	SAID=$(jq -cS . <<<"$LINE")
}

# allocator CAPTURE|PID: JSON's record.
allocator() { within "$PMM" report --json "$1" | jq -cS .allocator; }

# says CAPTURE|PID: the same figures as the victim's, read out of its memory.
says() {
	local record
	record=$(allocator "$1")
	[ "$(jq -cS 'del(.arenas, .path, .taken_ns, .source, .approximate)' <<<"$record")" = "$SAID" ] &&
		[ "$(jq -r .source <<<"$record")" = memory ] && [ "$(jq -r .approximate <<<"$record")" = false ] ||
		{ printf 'said: %s\nread: %s\n' "$SAID" "$record"; return 1; }
}

# told CAPTURE|PID TEXT: the report's line.
told() {
	within "$PMM" report "$1" >"$T/report"
	grep '^  allocator ' "$T/report"
	[ "$(sed -n 's/^  allocator  //p' "$T/report")" = "$2" ]
}

# ended: the victim and pmm have.
ended() {
	exec 7>&-
	wait "$TOP" || true
	TOP=
}

@test "a running process and its snapshot: to the byte, in several arenas, with chunks mapped by themselves" {
	tracked "$PROG/figures"
	for _ in 1 2 3; do
		ask g
		says "$PID"
		"$PMM" snapshot -q -o "$T/s.pmm" "$PID"
		says "$T/s.pmm"
	done
	allocator "$PID" | jq -e '.arenas > 1 and .fast_chunks > 0 and .free_chunks > 10 and .mmapped_chunks == 1 and .mmapped_bytes == 1052672'
	ended
}

@test "a process that was attached to, and what is left of it when it is let go" {
	start figures
	ask g
	watch
	says "$PID"
	ask g
	says "$PID"
	unwatch
	says "$T/c.pmm"
	finish 0
}

@test "linked statically; stripped, with its symbols elsewhere" {
	cp "$PROG/figures_static" "$T/apart"
	objcopy --only-keep-debug "$T/apart" "$T/apart.debug"
	objcopy -S --add-gnu-debuglink="$T/apart.debug" "$T/apart" 
	for program in "$PROG/figures_static" "$T/apart"; do
		start "$program"
		watch
		ask g
		says "$PID"
		unwatch
		says "$T/c.pmm"
		finish 0
	done
}

@test "a process that has ended by itself says it itself" {
	tracked "$PROG/figures"
	ask g
	ended
	allocator "$T/c.pmm" | jq -e '.source == "mallinfo2" and .approximate == false and .arena_bytes > 0'
}

# last ORDER HOW CHECK...: asked by ORDER the victim says its figures, and ends by HOW when the monitor has had time to look; then CHECK. On a busy
# machine it needs more.
last() {
	local order=$1 how=$2 wait
	shift 2
	for wait in 0.3 1 4 15; do
		tracked "$PROG/figures"
		ask "$order"
		sleep "$wait"
		printf %s "$how" >&7
		ended
		! "$@" || return 0
	done
	return 1
}

# uncounted: the capture has what is known without counting, as SAID has it.
uncounted() {
	local record
	record=$(allocator "$T/c.pmm")
	echo "$record"
	[ "$(jq -c '[.source, .unknown, .free_bytes, .arena_bytes, .top_bytes]' <<<"$record")" = \
		"$(jq -c '["memory", "many_chunks", null, .arena_bytes, .top_bytes]' <<<"$SAID")" ]
}

@test "killed, ended past exit(), or with too many free chunks to count at exit: the last ones, with their age" {
	for how in k x; do
		last g "$how" says "$T/c.pmm"
		within "$PMM" report "$T/c.pmm" | grep -E '^             \(as it was (about [0-9.]+ m?s|shortly) before the end\)$'
	done
	last m "" uncounted
	within "$PMM" report "$T/c.pmm" | grep -q '^             what is used and free is not known, because there are too many free chunks to count$'
}

@test "killed before anybody looked" {
	for _ in {1..100}; do		# on a busy machine it may live long enough
		STATUS=0
		within "$PMM" run -q -o "$T/c.pmm" -- sh -c 'kill -9 $$' || STATUS=$?
		[ "$STATUS" -eq 137 ]
		[ "$(allocator "$T/c.pmm" | jq -r .source)" = memory ] || break
	done
	told "$T/c.pmm" "libc.so.6: figures not known, because the program was killed"
	[ "$(allocator "$T/c.pmm" | jq -r .unknown)" = killed ]
}

@test "written over: nothing of it is believed" {
	tracked "$PROG/figures"
	tell o done
	told "$PID" "libc.so.6: figures not known, because its lists of free chunks contradict each other: something has written over them"
	[ "$(allocator "$PID")" = "{\"path\":\"$(realpath /lib/x86_64-linux-gnu/libc.so.6)\",\"unknown\":\"written_over\"}" ]
	kill -9 "$PID"
	ended
}

@test "another allocator" {
	for name in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
		library "$name"
		name=$(basename "$(realpath "$LIBRARY")")
		export LD_PRELOAD=$LIBRARY
		tracked "$PROG/figures"
		unset LD_PRELOAD
		echo g >&7
		next_line 8 "$PID"
		told "$PID" "figures not known, because the program uses $name, and pmm can read glibc's only"
		[ "$(allocator "$PID" | jq -r .unknown)" = other_allocator ]
		ended
		told "$T/c.pmm" "figures not known, because the program uses $name, and pmm can read glibc's only"
	done
}

@test "another C library" {
	need musl-gcc
	musl-gcc -w -o "$T/musl" "$SOURCE/figures.c"
	musl-gcc -w -static -o "$T/static" "$SOURCE/figures.c"
	start "$T/musl"
	watch
	tell g done
	told "$PID" "figures not known, because the program uses $(realpath /lib/ld-musl-x86_64.so.1), and pmm can read glibc's only"
	unwatch
	finish 0
	shape="nothing allocated, another allocator, or a version that pmm does not know"
	start "$T/static"
	watch
	tell g done
	told "$PID" "static: figures not known, because no arena of glibc's was found in it: $shape"
	unwatch
	finish 0
}
