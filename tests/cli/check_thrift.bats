#!/usr/bin/env bats
# What pmm check does when its budget is used up: blocks pass unchecked and go back unharmed, the first ones of each call site are checked all
# the same, and errors with what was checked are found.

load lib

setup() { cd "$T" || return 1; }

# thrift CANARIED PASSED FINDING ARG: the victim with nothing to spend, at both levels.
thrift() {
	local level beyond=0
	for level in light guard; do
		[ "$level" = light ] || beyond=$1
		within "$PMM" check --level="$level" --budget 0 --json --report found.json -- "$PROG/check_thrift" "$4" >out
		[ "$(cat out)" = "done" ]
		diff <(echo "[0,$1,$2,$beyond]") \
			<(jq -c '.check | [.guarded_blocks, .canaried_blocks, .unchecked_blocks, .unguarded_for_budget]' found.json)
		diff <([ -z "$3" ] || echo "$4: $3") <(jq -r -f "$CLI/check_found.jq" found.json)
	done
}

# 16 blocks of the loop, 6 of those resized, one late one, the buffer of stdout
@test "blocks beyond the budget pass, and nothing is wrong with that" { thrift 24 984 "" none; }

@test "threads: the first blocks of each are checked" { thrift 47 1968 "" threads; }

@test "the first blocks of a call site are checked, however late" {
	thrift 24 984 "overrun release write - end+0 40 malloc by_free<main by_late - free" late
}

@test "free of the middle of a checked block, and of one that passed" {
	thrift 24 984 "bad-free function - - start+16 35 malloc by_free<main by_loop - free inside" inside
	thrift 24 984 "bad-free function - - - - - by_free<main - - free unknown" inside-passed
}

@test "a heap that begins at low addresses, where free(NULL) points, too" {
	setarch -R true || skip "this machine does not allow to turn address randomisation off"
	within setarch -R "$PMM" check --level=light --budget 0 --json --report found.json -- "$PROG/check_thrift_low" none >out
	[ "$(cat out)" = "done" ]
	[ "$(jq -c '.check | [.canaried_blocks, .unchecked_blocks]' found.json)" = "[24,984]" ]
}

@test "free of a variable" { thrift 24 984 "bad-free function - - - - - by_free<main - - free static" static; }

@test "double free of a checked block" {
	thrift 24 984 "double-free function - - start+0 34 malloc by_free<main by_loop by_free free" twice
}

@test "with --budget=all, or where requests are counted or filled, none passes" {
	local option
	for option in --budget=all --garbage --fail-after=1000000 --fail-rate=0 --limit=1G; do
		within "$PMM" check --level=light --budget 0 "$option" --json --report found.json -- "$PROG/check_thrift" none >out
		[ "$(jq -c .check.unchecked_blocks found.json)" = 0 ]
		[ "$(cat out)" = "done" ]
	done
}

# mapped FINDING ARG: the victim of blocks that the C library maps one by one, with nothing to spend and with all.
mapped() {
	local level budget
	for level in light guard; do
		for budget in --budget=0 --budget=all; do
			within "$PMM" check --level="$level" "$budget" --json --report found.json -- "$PROG/check_mapped" "$2" >out
			[ "$(cat out)" = "done" ]
			diff <([ -z "$1" ] || echo "$2: $1") <(jq -r -f "$CLI/check_found.jq" found.json)
		done
	done
}

@test "blocks mapped one by one pass, whatever their alignment, and are told when they come back" { mapped "" none; }

@test "free of memory behind a page that cannot be read, which nobody allocated" {
	mapped "bad-free function - - - - - by_free<main - - free unknown" hole
}

@test "malloc_usable_size of a block that was freed" { mapped "" usable; }

# over LIBRARY: the same with another allocator, which may have a block or two of its own.
over() {
	local what
	library "$1"
	for what in none threads late inside static twice; do
		LD_PRELOAD=$LIBRARY within "$PMM" check --level="$2" --budget 0 --json --report "$what.json" -- "$PROG/check_thrift" "$what" >out
		[ "$(cat out)" = "done" ]
		[ "$(jq .check.unchecked_blocks "$what.json")" = "$([ "$what" = threads ] && echo 1968 || echo 984)" ]
	done
	diff - <(jq -r -f "$CLI/check_found.jq" none.json threads.json late.json inside.json static.json twice.json) <<-END
		late: overrun release write - end+0 40 malloc by_free<main by_late - free
		inside: bad-free function - - start+16 35 malloc by_free<main by_loop - free inside
		static: bad-free function - - - - - by_free<main - - free static
		twice: double-free function - - start+0 34 malloc by_free<main by_loop by_free free
	END
}

@test "jemalloc" { over libjemalloc.so.2 light; over libjemalloc.so.2 guard; }
@test "tcmalloc" { over libtcmalloc_minimal.so.4 light; }
@test "mimalloc" { over libmimalloc.so.2 light; }
