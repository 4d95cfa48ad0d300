#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace: user stacks of processes that have ended before pmm looks at them, and of files that come and go.

bats_require_minimum_version 1.5.0
load lib
load trace

setup() { needs_bpf; }

# all_complete: every stack of the result is.
all_complete() {
	result '.coverage | "\(.stacks) stacks, \(.complete_stacks) complete, \(.mappings_lost) lost"'
	result '.coverage | .stacks > 0 and .complete_stacks == .stacks and .mappings_lost == 0' | grep -qx true
}

# moves COMMAND: the functions of the stacks of its mremap, without doubles.
moves() { jq -c "select(.event == \"mremap\" and .command == \"$1\") | [.stack_end, [.stack[].function]]" "$T/out" | sort -u; }

@test "a command of a few milliseconds" {
	mkdir "$T/empty"		# standard output has pmm's lines
	traced 0 mmap,brk -- ls "$T/empty"
	all_complete
	[ "$(count mmap '.stack_end == null and (.stack | length) > 1')" -ge 10 ]
	[ "$(count mmap '.stack_end != null')" -eq 0 ]
}

@test "ten of them, by a shell" {
	traced 0 mmap,brk,life -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do ls >/dev/null; done'
	[ "$(count exec '.file | endswith("/ls")')" -eq 10 ]
	all_complete
}

@test "page faults from the first instruction on" {
	mkdir "$T/empty"
	traced 0 faults -- ls "$T/empty"
	[ "$(count fault .)" -ge 50 ]
	# the kernel's own accesses during exec, with registers of the program before; frames on pages of the stack that are not there yet
	[ "$(count fault '.stack_end == "unknown_code"')" -le 4 ]
	[ "$(count fault '.stack_end == "outside_copy"')" -le 8 ]
	# a pmm that had no processor for a while leaves out copies before the ring is full, and says so
	jq -r 'select(.event == "fault") | .stack_end // "complete"' "$T/out" | sort | uniq -c >"$T/ends"
	[ "$(grep -c -v -E ' (complete|unknown_code|outside_copy|ring_was_filling)$' "$T/ends")" -eq 0 ] || { cat "$T/ends"; false; }
}

@test "a stripped program, and a static one" {
	strip -o "$T/trace_calls" "$PROG/trace_calls"
	traced 3 mmap -- "$T/trace_calls" 5
	all_complete
	gcc -g -O1 -D_GNU_SOURCE -static -o "$T/trace_calls" "$ROOT/tests/prog/trace_calls.c"
	traced 3 mmap -- "$T/trace_calls" 5
	all_complete
	[ "$(count mremap '[.stack[].function] | index("calls") != null and index("main") == index("calls") + 1')" -eq 6 ]
}

@test "two libraries in turn at one address" {
	cat >"$T/turn.c" <<-'END'
		#include <dlfcn.h>
		int main(int argc, char **argv)
		{
			for (int i = 0; i < 20; i++) {
				void *lib = dlopen(argv[1 + i % 2], RTLD_NOW);
				((void (*)(void))dlsym(lib, "move"))();
				dlclose(lib);
			}
			return argc != 3;
		}
	END
	cat >"$T/lib.c" <<-'END'
		#define _GNU_SOURCE
		#include <sys/mman.h>
		__attribute__((noinline)) void NAME(void)
		{
			char *p = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			p = mremap(p, 4096, 8192, MREMAP_MAYMOVE);
			munmap(p, 8192);
		}
		void move(void) { NAME(); __asm__(""); }
	END
	gcc -O1 -o "$T/turn" "$T/turn.c"
	gcc -O1 -shared -fPIC -DNAME=in_a -o "$T/a.so" "$T/lib.c"
	gcc -O1 -shared -fPIC -DNAME=in_b -o "$T/b.so" "$T/lib.c"
	traced 0 mmap -- "$T/turn" "$T/a.so" "$T/b.so"
	all_complete
	[ "$(count mremap '[.stack[].function] | index("in_a") != null and index("main") == index("in_a") + 2')" -eq 10 ]
	[ "$(count mremap '[.stack[].function] | index("in_b") != null and index("main") == index("in_b") + 2')" -eq 10 ]
}

@test "a program that deletes its own file" {
	# it lives until pmm has looked
	cp "$PROG/trace_hidden" "$T/hidden"
	traced 0 mmap -- "$T/hidden" 3 wait
	[ "$(count mremap '[.stack[].function] | index("hidden_calls") != null and index("main") == index("hidden_calls") + 1')" -eq 3 ]
	# it may have ended by then: what is not known is said
	cp "$PROG/trace_hidden" "$T/hidden"
	traced 0 mmap -- "$T/hidden" 3
	[ "$(count mremap '.stack_end == "file_unusable" or ([.stack[].function] | index("hidden_calls") != null)')" -eq 3 ]
}

@test "a program of another mount namespace, where pmm has another file at its path" {
	unshare --mount true 2>/dev/null || skip "no mount namespaces here"
	mkdir "$T/there" "$T/here"
	cp "$PROG/trace_hidden" "$T/there/hidden"
	cp "$PROG/trace_calls" "$T/here/hidden"
	traced 0 mmap -- unshare --mount sh -c "mount --bind '$T/there' '$T/here' && exec '$T/here/hidden' 3 wait"
	[ "$(count mremap '[.stack[].function] | index("hidden_calls") != null')" -eq 3 ]
	[ -e "$T/here/hidden" ]
	cp "$PROG/trace_calls" "$T/there/hidden"
	cp "$PROG/trace_hidden" "$T/here/hidden"
	traced 3 mmap -- unshare --mount sh -c "mount --bind '$T/there' '$T/here' && exec '$T/here/hidden' 5"
	[ "$(count mremap '.stack_end == "file_unusable" or ([.stack[].function] | index("calls") != null)')" -eq 6 ]
	[ "$(count mremap '[.stack[].function] | index("hidden_calls") != null')" -eq 0 ]
}

# The page at the stack pointer is not there yet, nor are some between two frames.
@test "a stack that is just growing" {
	cat >"$T/grow.c" <<-'END'
	__attribute__((noinline)) static int grow(int n)
	{
		char v[6000];
		int r;

		__asm__ volatile("" : : "g"(v) : "memory");
		r = n ? grow(n - 1) + 1 : 0;
		v[0] = (char)r;
		__asm__ volatile("" : : "g"(v) : "memory");
		return r;
	}
	int main(void) { return grow(7) - 7; }
	END
	gcc -O2 -fno-optimize-sibling-calls -o "$T/grow" "$T/grow.c"
	traced 0 faults --stack-size 64K -- "$T/grow"
	jq -c 'select(.event == "fault" and .memory == "stack" and .stack[0].function == "grow")
		| [.stack_end, ([.stack[] | select(.function == "grow")] | length), .stack[-1].function]' "$T/out" >"$T/stacks"
	[ "$(wc -l <"$T/stacks")" -ge 4 ] || { cat "$T/stacks"; return 1; }
	[ "$(jq -s 'map(select(.[0] != null or .[2] != "_start")) | length' "$T/stacks")" -eq 0 ] || { cat "$T/stacks"; return 1; }
	[ "$(jq -s 'map(.[1]) | max' "$T/stacks")" -eq 8 ]
}
