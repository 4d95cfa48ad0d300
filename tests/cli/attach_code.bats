#!/usr/bin/env bats
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
