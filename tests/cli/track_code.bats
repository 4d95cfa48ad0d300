#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Code that is hard on a tracer: signals, jumps, exceptions, coroutines, odd frames, libraries that
# come and go.

load lib

@test "SIGSEGV handler on an alternate stack" { as_expected sigstack.c; }
@test "longjmp out of nested calls" { as_expected jump.c; }
@test "exceptions" { as_expected cxx_throw.cc; }
@test "coroutines" { as_expected coro.c; }
@test "frames that are hard to walk" { as_expected frames.c; }
@test "deep recursion" { as_expected recurse.c; }

@test "handler that allocates while main does: every event is counted" {
	local n
	track sigalloc
	[ "$STATUS" -eq 0 ]
	check "$CAP" <<<"$(expected sigalloc.c)"
	n=$(cut -d' ' -f1 "$T/out")
	[ "$n" -ge 100 ]
	found "$CAP" site in_handler allocs="$n" frees=$((n / 2)) bytes=$((n * 24)) \
		live=$(((n - n / 2) * 24))
}

@test "handler that jumps out of malloc" {
	as_expected sigjump.c
	[ "$(cat "$T/out")" = unharmed ]
}

@test "stacks are whole: jump, exception, coroutine" {
	track jump
	[ "$(stacks "$CAP" landed)" = "landed main" ]
	[ "$(stacks "$CAP" deep | head -1)" = "deep deep deep deep deep main" ]
	track cxx_throw
	[ "$(stacks "$CAP" after)" = "after main" ]
	track coro
	[ "$(stacks "$CAP" in_coro | cut -d' ' -f1-3 | uniq)" = "in_coro step body" ]
	"$PMM" report "$CAP" >"$T/report"
	run ! grep "stack lost" "$T/report"
}

@test "stacks are whole: alloca, arrays, realignment, large frame, lost frame pointer" {
	track frames
	diff <(stacks "$CAP" leaf) - <<-END
	leaf by_alloca main
	leaf by_large main
	leaf by_realigned main
	leaf by_saving main
	leaf by_vla by_realigned_too main
	leaf by_vla main
	leaf main
	END
}

@test "a deep stack keeps its innermost frames" {
	track recurse
	[ "$(stacks "$CAP" bottom | cut -d' ' -f1-4)" = "bottom down down down" ]
	[ "$(stacks "$CAP" bottom | wc -w)" -ge 127 ]
	track --frames=3 leaf
	check "$CAP" <<<"$(expected leaf.c)"
	[ "$(stacks "$CAP" kept | cut -d' ' -f1-2)" = "kept main" ]
}

@test "libraries unloaded since: names are right" {
	as_expected unload.c "$PROG"
	[ "$(stacks "$CAP" only_in_a)" = "only_in_a enter visit main" ]
	[ "$(stacks "$CAP" only_in_b)" = "only_in_b enter visit main" ]
}

@test "program headers in a segment of their own: stacks are whole, in the program and in libraries" {
	local name
	mkdir "$T/moved"
	for name in jump coro libvictim_a.so libvictim_b.so; do
		/usr/bin/python3 "$CLI/move_headers.py" "$PROG/$name" "$T/moved/$name"
		chmod +x "$T/moved/$name"
	done
	track "$T/moved/jump"
	[ "$(stacks "$CAP" deep | head -1)" = "deep deep deep deep deep main" ]
	track "$T/moved/coro"
	[ "$(stacks "$CAP" in_coro | cut -d' ' -f1-3 | uniq)" = "in_coro step body" ]
	track unload "$T/moved"
	[ "$(stacks "$CAP" only_in_a)" = "only_in_a enter visit main" ]
	[ "$(stacks "$CAP" only_in_b)" = "only_in_b enter visit main" ]
}

@test "libraries unloaded where nobody sees it" {
	same vanish "$PROG"
	[ "$STATUS" -eq 0 ]
	[ "$(cat "$T/out")" = unharmed ]
	check "$CAP" <<<"$(expected vanish.c)"
	[ "$(stacks "$CAP" only_in_c)" = "only_in_c enter visit main" ]
	[ "$(stacks "$CAP" only_in_b)" = "only_in_b enter visit main" ]
}

@test "threads, forks, dlopen and signals at once" {
	local capture
	track stress "$PROG/libvictim_a.so"
	[ "$STATUS" -eq 0 ] || { cat "$T/err"; return 1; }
	[ "$(cat "$T/out")" = unharmed ]
	[ "$(captures | wc -l)" -ge 10 ]
	for capture in $(captures | head -20); do
		found "$capture" total dropped=0
	done
	capture=$(ls -S "$T"/cap/*.pmm | head -1)
	[ "$(fact "$capture" site churner live)" -eq 0 ]
	[ "$(fact "$capture" site churner allocs)" -ge 10000 ]
}
