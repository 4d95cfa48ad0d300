#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm leaks --holds: who holds the blocks of a call site or the block at an address, over which pointers, and what each of them holds alone.

load leaks

# chains WHAT OPERAND...: one line for each root and each pointer on the chain, without lines of the source and numbers of threads.
chains() {
	local what=$1
	shift
	within "$PMM" leaks --json --holds "$what" "$@" >"$T/hold.json" 2>"$T/hold.err" 3>&- 7>&- 8<&- || [ $? -eq 1 ] ||
		{ cat "$T/hold.err"; return 1; }
	[ ! -s "$T/hold.err" ] || { cat "$T/hold.err"; return 1; }
	jq -r '.holders[] | "\(.text): \(.held_blocks)/\(.held_bytes), alone \(.alone_blocks)/\(.alone_bytes)",
		(.chain[] | "  \(.pointer) -> \(if .points_into > 0 then "\(.points_into) of " else "" end)\(.type // "?") \(.bytes), alone \(.alone_blocks)/\(.alone_bytes)")' \
		"$T/hold.json" | sed -E 's/ \([a-z_]+\.cc?:[0-9]+\)//g; s/thread [0-9]+/thread/; s/0x[0-9a-f]+/0x/'
}

# holds WHAT OPERAND... <<<EXPECTED
holds() {
	local got
	got=$(chains "$@") || { echo "$got"; return 1; }
	diff - <(echo "$got") || { echo "--holds $*"; return 1; }
}

# expectations OPERAND...: the chains of leak_hold.
expectations() {
	holds make_entry "$@" <<-'END'
	variable cache: 10/240, alone 22/462
	  cache.slots -> struct entry *[16] 128, alone 21/438
	  [3] -> struct entry 24, alone 20/310
	END
	holds make_name "$@" <<-'END'
	variable cache: 10/70, alone 22/462
	  cache.slots -> struct entry *[16] 128, alone 21/438
	  [3] -> struct entry 24, alone 20/310
	  .name -> char [7] 7, alone 1/7
	END
	holds make_last "$@" <<-'END'
	variable cache: 1/24, alone 22/462
	  cache.stat[2].last -> struct entry 24, alone 1/24
	END
	holds make_leaf "$@" <<-'END'
	variable root: 1/24, alone 4/96
	  root -> struct tree 24, alone 4/96
	  .right -> struct tree 24, alone 2/48
	  .left -> struct tree 24, alone 1/24
	END
	holds make_in_bag "$@" <<-'END'
	variable bag: 1/24, alone 2/96
	  bag -> struct flexible 72, alone 2/96
	  .of[5] -> struct entry 24, alone 1/24
	END
	holds make_behind "$@" <<-'END'
	variable untyped: 1/48, alone 2/112
	  untyped -> void *[8] 64, alone 2/112
	  [3] -> ? 48, alone 1/48
	END
	holds make_middle "$@" <<-'END'
	variable middle: 1/100, alone 1/100
	  middle -> 40 of char [100] 100, alone 1/100
	END
	holds make_shared "$@" <<-'END'
	variable shared: 1/24, alone 1/24
	  shared.one -> struct entry 24, alone 0/0
	END
	holds make_ring "$@" <<-'END'
	variable ring: 3/72, alone 3/72
	  ring -> struct entry 24, alone 3/72
	END
	holds make_static "$@" <<-'END'
	static variable kept of hold_static(): 1/24, alone 1/24
	  kept[2] -> struct entry 24, alone 1/24
	END
	holds make_in_library "$@" <<-'END'
	variable lib_bss of libleak_lib.so: 1/72, alone 1/72
	  lib_bss -> ? 72, alone 1/72
	END
}

# threads OPERAND...: what belongs to threads, while they run.
threads() {
	holds make_tls "$@" <<-'END'
	thread-local variable of_thread of thread (worker): 1/24, alone 1/24
	  of_thread -> struct entry 24, alone 1/24
	END
	holds make_local "$@" <<-'END'
	variable mine of worker() on the stack of thread (worker): 1/24, alone 1/24
	  mine -> struct entry 24, alone 1/24
	END
	holds make_in_register "$@" <<-'END'
	r12 of thread (leak_hold) in keeper(): 1/88, alone 1/88
	  register -> ? 88, alone 1/88
	END
}

@test "holds: variables, fields, arrays, static ones, libraries, rings, threads of a running process" {
	launch hold
	expectations "$PID"
	threads "$PID"
	clean_of_search
	finish 0
}

@test "holds: a list of a thousand is told of by its ends" {
	launch hold
	chains make_end "$PID" >"$T/list"
	[ "$(head -2 "$T/list")" = $'variable list: 1/24, alone 1001/24024\n  list -> struct entry 24, alone 1001/24024' ]
	[ "$(tail -1 "$T/list")" = "  .next -> struct entry 24, alone 1/24" ]
	[ "$(jq -c '.holders[0] | [.chain_blocks, (.chain | length), ([.chain[].left_out_before] | add)]' "$T/hold.json")" = "[1001,20,981]" ]
	within "$PMM" leaks --holds make_end "$PID" >"$T/text" 3>&- 7>&- 8<&-
	grep -q '^ *\.\.\. 981 blocks$' "$T/text"
	finish 0
}

@test "holds: with the program stopped, and at its end" {
	launch hold
	expectations --stop "$PID"
	finish 0
	echo g | within "$PMM" leaks --json --holds make_leaf --report "$T/end.json" -- "$PROG/leak_hold" >"$T/end.out" 3>&-
	[ "$(cat "$T/end.out")" = $'ready\ndone' ]
	[ "$(jq -r '.holders[] | .text, (.chain[] | .pointer)' "$T/end.json" | sed 's/ (.*//' | xargs)" = "variable root root .right .left" ]
}

@test "holds: an address, and one within its block" {
	launch hold
	chains make_in_bag "$PID" >"$T/by_site"
	address=$(jq -r '.holders[0].chain[-1].block' "$T/hold.json")
	chains "$address" "$PID" >"$T/by_address"
	diff "$T/by_site" "$T/by_address"
	chains "$(printf '0x%x' $((address + 8)))" "$PID" >"$T/by_address"
	diff "$T/by_site" "$T/by_address"
	[ "$(jq -r .asked.asked "$T/hold.json")" = "the block at $address, which $(printf '0x%x' $((address + 8))) is 8 B into" ]
	finish 0
}

@test "holds: a site by line, by file and by number" {
	launch hold
	line=$(grep -n 'void \*make_in_library(void)' "$SOURCE/leak_hold.c" | cut -d: -f1)
	chains make_in_library "$PID" >"$T/by_function"
	site=$(jq .holders[0].chain[-1].site "$T/hold.json")
	for what in "leak_hold.c:$line" "prog/leak_hold.c:$line" "$site"; do
		chains "$what" "$PID" >"$T/by_line"
		diff "$T/by_function" "$T/by_line"
	done
	[ "$(chains leak_hold.c "$PID" | grep -c ': [0-9]*/')" -ge 10 ]
	[ "$(within "$PMM" leaks --json --top 2 --holds leak_hold.c "$PID" 3>&- 7>&- 8<&- | jq '.holders | length')" = 2 ]
	finish 0
}

@test "holds: blocks that nothing holds are lost, and that is the exit code" {
	launch hold
	status=0
	within "$PMM" leaks --holds make_lost "$PID" >"$T/text" 3>&- 7>&- 8<&- || status=$?
	[ "$status" = 1 ]
	grep -q 'lost .*1 block, 24 B, definitely lost: no pointer to it is left' "$T/text"
	finish 0
}

@test "holds: what is asked for in vain is told with the reason" {
	launch hold
	refused 'no live block of a call site .no_such_function' "$PMM" leaks --holds no_such_function "$PID"
	refused 'no live block is at address 0x10: it was freed, or never was' "$PMM" leaks --holds 0x10 "$PID"
	refused "'0xzz' is no address" "$PMM" leaks --holds 0xzz "$PID"
	refused 'has the blocks of a process but not its memory' "$PMM" leaks --holds make_entry "$T/live.pmm"
	refused_with 2 'needs a call site or an address' "$PMM" leaks --holds '' "$PID"
	refused_with 2 'searches once' "$PMM" leaks --holds make_entry --every 1s "$PID"
	refused 'pmm does not track it' "$PMM" leaks --holds make_entry $$
	refused 'no live block of a call site .no_such_function' "$PMM" leaks --holds no_such_function -- true
	finish 0
}

@test "holds: thread-local storage of a library loaded later" {
	launch hold
	holds make_in_library_tls "$PID" <<-'END'
	thread-local variable lib_tls of libleak_lib.so of thread (leak_hold): 1/80, alone 1/80
	  lib_tls -> ? 80, alone 1/80
	END
	finish 0
}

@test "holds: a stripped program, by section and offset; with its debug file apart, by name" {
	need objcopy strip
	objcopy --only-keep-debug "$PROG/leak_hold" "$T/leak_hold.debug"
	strip -o "$T/leak_hold" "$PROG/leak_hold"
	cp "$PROG/libleak_lib.so" "$T"
	start_below env LD_LIBRARY_PATH="$T" "$PMM" run -q -o "$T/live.pmm" -- "$T/leak_hold"
	worked
	address=$(within "$PMM" report --json --blocks --top 0 "$PID" 3>&- 7>&- 8<&- | jq -r '[.blocks[] | select(.size_bytes == 72 and .module == "'"$T"'/leak_hold")][-1].address')
	chains "$address" "$PID" >"$T/stripped"
	grep -Eq '^(\.bss\+0x of leak_hold|variable lib_bss of libleak_lib.so): 1/72' "$T/stripped"
	objcopy --add-gnu-debuglink="$T/leak_hold.debug" "$T/leak_hold" "$T/leak_hold.linked"
	finish 0
	start_below env LD_LIBRARY_PATH="$T" "$PMM" run -q -o "$T/live.pmm" -- "$T/leak_hold.linked"
	worked
	holds make_leaf "$PID" <<-'END'
	variable root: 1/24, alone 4/96
	  root -> struct tree 24, alone 4/96
	  .right -> struct tree 24, alone 2/48
	  .left -> struct tree 24, alone 1/24
	END
	finish 0
}

@test "holds: C++ objects, bases, containers, smart pointers, static members" {
	launch hold_cxx
	# Registers of AVX-512 may still have pointers that were moved through them: what is held alone differs.
	diff - <(chains make_part "$PID" | sed 's/, alone.*//') <<-'END'
	variable shop::store: 1/8
	  shop::store.items._M_impl._M_start -> struct Item *[8] 64
	  [3] -> struct Item 56
	  .part -> struct Part 8
	END
	diff - <(chains make_mapped "$PID" | sed 's/, alone.*//') <<-'END'
	variable shop::store: 1/8
	  shop::store.by_number._M_t._M_impl._M_header._M_parent -> struct _Rb_tree_node_base 48
	  offset 40 -> ? 8
	END
	diff - <(chains make_unique_part "$PID" | tail -1) <<<"  shop::store.unique._M_t._M_t._M_head_impl -> struct Part 8, alone 1/8"
	holds make_store "$PID" <<-'END'
	variable shop::Store::instance: 1/80, alone 1/80
	  shop::Store::instance -> struct Store 80, alone 1/80
	END
	finish 0
}

@test "holds: a core file" {
	core hold
	expectations --core "$T/in.hold/core" "$T/hold.pmm"
	# What threads are called now a capture has only when pmm has looked at them since.
	chains make_tls --core "$T/in.hold/core" "$T/hold.pmm" >"$T/tls"
	grep -qxE "thread-local variable of_thread of thread \((leak_hold|worker)\): 1/24, alone 1/24" "$T/tls"
	[ "$(chains make_local --core "$T/in.hold/core" "$T/hold.pmm" | tail -1)" = "  mine -> struct entry 24, alone 1/24" ]
	[ "$(chains make_in_register --core "$T/in.hold/core" "$T/hold.pmm" | head -1)" = "r12 of thread (leak_hold) in keeper(): 1/88, alone 1/88" ]
}

@test "holds: a static program that pmm has attached to" {
	need cc
	need_attach
	cc -static -g -O1 -fno-builtin -fno-optimize-sibling-calls -DSTATIC -pthread -o "$T/static" "$SOURCE/leak_hold.c" 2>"$T/cc.err" ||
		skip "no static C library here"
	start "$T/static"
	watch
	worked
	holds make_leaf "$PID" <<-'END'
	variable root: 1/24, alone 4/96
	  root -> struct tree 24, alone 4/96
	  .right -> struct tree 24, alone 2/48
	  .left -> struct tree 24, alone 1/24
	END
	holds make_tls "$PID" <<-'END'
	thread-local variable of_thread of thread (worker): 1/24, alone 1/24
	  of_thread -> struct entry 24, alone 1/24
	END
	unwatch
	finish 0
}

# root FUNCTION: of the entry of blocks made there, in $T/all.json.
root() { jq -r "[.certain, .likely, .unlikely | .[] | select(any(.frames[]; .function == \"$1\")) | .root] | join(\"; \")" "$T/all.json" | sed -E 's/thread [0-9]+/thread/'; }

@test "holds: the report on leaks names a root of what is reachable" {
	launch hold
	search "$T/all.json" "$PID"
	[ "$(root make_behind)" = "variable untyped" ]
	[ "$(root make_listed)" = "variable list" ]
	[ "$(root make_middle)" = "variable middle" ]
	[ "$(root make_in_library)" = "variable lib_bss of libleak_lib.so" ]
	[ "$(root make_local)" = "the stack of thread (worker)" ]
	[ "$(root make_in_register)" = "a register of thread (leak_hold)" ]
	[ "$(root make_lost)" = "" ]
	within "$PMM" leaks --show=all --top 0 "$PID" >"$T/text" 3>&- 7>&- 8<&- || [ $? -eq 1 ]
	[ "$(grep -c '^ *hangs on variable untyped$' "$T/text")" = 2 ]
	[ "$(grep -c '^ *at least one hangs on variable list$' "$T/text")" = 1 ]
	finish 0
}
