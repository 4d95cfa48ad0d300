#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm attach on programs in C++ and with allocators of their own.

load attach

@test "C++" {
	start attach_cxx
	EXCEPT=kinds round attach_cxx.cc 43
}

@test "C++ with tcmalloc's operators" {
	LIBRARY=$(/sbin/ldconfig -p | awk '$1 == "libtcmalloc_minimal.so.4" { print $NF; exit }')
	[ -n "$LIBRARY" ] || skip "tcmalloc is not installed"
	start env LD_PRELOAD="$LIBRARY" "$PROG/attach_cxx"
	EXCEPT=kinds round attach_cxx.cc 43
	found "$T/c.pmm" kinds "new=40" "new(aligned)=3"	# new[] is the same code
}

@test "C++ with operators of its own that do not call malloc, and throw" {
	start attach_own_new
	round attach_cxx.cc 43
}

# There is no frame in it that a hook could borrow for an exception to pass: not recorded.
@test "a static program in C++ with operators of its own: they work as before" {
	need g++
	g++ -O1 -static -DOWN -fno-builtin -I"$SOURCE" -o "$T/static" "$SOURCE/attach_cxx.cc" 2>"$T/cc.err" ||
		{ head -3 "$T/cc.err"; skip "g++ -static does not work here"; }
	start "$T/static"
	EXCEPT=. round attach_cxx.cc 43
}

@test "a library in C++ loaded after the attach, then unloaded" {
	start attach_host "$PROG/libattach_plugin.so"
	watch
	tell l loaded
	tell g done
	unwatch
	tell u unloaded
	clean
	finish 47
	check "$T/c.pmm" <<<"$(expected attach_cxx.cc | grep -v -E 'kinds|fails')"
	found "$T/c.pmm" site fails failed=3	# the library's thread-local data is made there
}

@test "a library with operators of its own, loaded after the attach: patched, then as before" {
	start attach_host "$PROG/libattach_own_plugin.so"
	watch
	tell l loaded
	patched() { echo p >&7; next_line 8 "$PID"; [ "$LINE" = jump ]; }
	await -p "$PID" patched
	tell g done
	unwatch
	tell p plain
	tell g done
	check "$T/c.pmm" <<<"$(expected attach_cxx.cc)"
	tell u unloaded
	clean
	finish 47
}

@test "a library that is unloaded while attached" {
	start attach_host "$PROG/libattach_own_plugin.so"
	watch
	tell l loaded
	tell g done
	tell u unloaded
	tell l loaded
	tell g done
	unwatch
	tell p plain
	tell g done
	clean
	finish 47
}

# held: attached to a program that cannot be patched now where it has just loaded a library.
held() {
	start attach_held "$PROG/libattach_held_plugin.so"
	watch --json
	tell l held
	await -p "$MONITOR" grep -q 'keeps trying' "$T/watch.err"
	grep '^pmm: WARNING: 1 function of libraries that were loaded meanwhile is not seen: a thread of process' "$T/watch.err"
	tell p plain
}

@test "a library that cannot be patched when it is loaded: later, as soon as that is possible" {
	held
	tell r released
	patched() { echo p >&7; next_line 8 "$PID"; [ "$LINE" = jump ]; }
	await -p "$PID" patched
	await -p "$MONITOR" grep -q 'seen from now on' "$T/watch.err"
	tell g done
	unwatch
	[ "$(grep -c WARNING "$T/watch.err")" -eq 1 ]
	[ "$(grep -c functions_late "$T/watch.out")" -eq 0 ]
	tell p plain
	tell g done
	found "$T/c.pmm" site late allocs=10 live=1000
	found "$T/c.pmm" kinds new=10
	clean
	finish 48
}

@test "a library that cannot be patched to the end: that is said last" {
	held
	made=$(grep -c memfd:pmm "/proc/$PID/maps")
	sleep 2
	[ "$(grep -c memfd:pmm "/proc/$PID/maps")" -eq "$made" ]	# nothing new for each attempt
	unwatch
	[ "$(grep -c '^pmm: WARNING: 1 function of libraries .* a thread of process' "$T/watch.err")" -eq 2 ]
	tail -1 "$T/watch.out" | grep '"functions_late": *1, *"functions_late_reason": *"a thread of process'
	tell r released
	tell p plain
	clean
	finish 48
}

POOL=(--alloc "pool_get=malloc(arg0)" --alloc "pool_put=free(arg0)" --alloc "pool_many=calloc(arg0,arg1)"
	--alloc "pool_more=realloc(arg1,arg2)" --alloc "pool_slot=malloc(64)")

@test "a pool of its own, beside malloc" {
	start attach_pool
	round attach_pool.c 44 "${POOL[@]}"
}

@test "an --alloc that is not there, or makes no sense" {
	start attach_pool
	picture idle
	refused "pool_gone" "$PMM" attach -d 1 --alloc "pool_gone=malloc(arg0)" "$PID"
	for bad in "x" "pool_get=" "pool_get=malloc" "pool_get=malloc(arg9)" "pool_get=frob(arg0)" "=malloc(arg0)"; do
		run within "$PMM" attach -d 1 --alloc "$bad" "$PID"
		[ "$status" -eq 2 ] || { echo "$bad: $status $output"; return 1; }
	done
	same_picture idle
	finish 44
}
