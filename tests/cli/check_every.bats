#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm check looks at every block, whatever that costs: all have canaries and a place in the quarantine, the budget is for guard pages alone, and
# the first thing said is how much was looked at.

bats_require_minimum_version 1.5.0
load lib

setup() { cd "$T" || return 1; }

# every OPTION... -- ARG...: run the victim, its JSON in found.json.
every() {
	local options=()
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	shift
	within "$PMM" check "${options[@]}" --json --report found.json -- "$PROG/check_every" "$@" >out
}

FIGURES='.check | [.blocks, .guarded_blocks, .canaried_blocks, .unchecked_blocks, .unguarded_for_budget]'

# covered BLOCKS FINDING ARG: at all levels that look at every block, with nothing to spend on guard pages and with all.
covered() {
	every --level=light -- "$3"
	told "$2" "$3"
	diff <(echo "[$1,0,$1,0,0]") <(jq -c "$FIGURES" found.json)
	every --budget=0 -- "$3"
	told "$2" "$3"
	diff <(echo "[$1,0,$1,0,$1]") <(jq -c "$FIGURES" found.json)
	every --budget=all -- "$3"
	diff <(echo "[$1,$1,0,0,0]") <(jq -c "$FIGURES" found.json)
	every -- "$3"
	diff <(echo "[$1,$1,0]") <(jq -c '.check | [.blocks, .guarded_blocks + .canaried_blocks, .unchecked_blocks]' found.json)
}

# told FINDING ARG
told() {
	[ "$(cat out)" = "done" ]
	diff <([ -z "$1" ] || echo "$2: $1") <(jq -r -f "$CLI/check_found.jq" found.json)
}

# 1000 of the loop, 334 of those resized, a late one
@test "each block is counted, and none is left out" { covered 1335 "" none; }

@test "threads: so are those of each" {
	covered 2670 "" threads
	every --level=light -- threads		# each thread may use all of the quarantine
	[ "$(jq .check.unkept_for_size found.json)" = 0 ]
}

@test "the last block of very many is looked at" {
	covered 1335 "overrun release write - end+0 40 malloc by_free<main by_late - free" late
}

@test "free of the middle of a block, of the first and of a later one" {
	covered 1335 "bad-free function - - start+16 35 malloc by_free<main by_loop - free inside" inside
	every --level=light -- inside-later
	told "bad-free function - - start+16 100033 malloc by_free<main by_loop - free inside" inside-later
}

@test "free of a variable" { covered 1335 "bad-free function - - - - - by_free<main - - free static" static; }

@test "double free" {
	covered 1335 "double-free function - - start+0 34 malloc by_free<main by_loop by_free free" twice
}

@test "a forked child: its blocks are counted, and the parent's" {
	within "$PMM" check --level=light -o '%p.pmm' -- "$PROG/check_every" fork
	diff <(printf '%s\n' '[1334,0,1334,0,0]' '[1334,0,1334,0,0]') \
		<(for capture in *.pmm; do "$PMM" check --json "$capture" | jq -c "$FIGURES"; done)
}

@test "two errors among 600,000 short-lived blocks are found at every level that looks at all" {
	every --level=light -- request
	diff - <(jq -r -f "$CLI/check_found.jq" found.json) <<-'END'
		request: overrun release write - end+0 16 malloc by_free<request by_loop - free
		request: use-after-free quarantine write - start+3 116 malloc - by_loop by_free
	END
	[ "$(jq -c "$FIGURES" found.json)" = "[600000,0,600000,0,0]" ]
	every -- request
	diff <(printf '%s\n' overrun use-after-free) <(jq -r '.findings[].type' found.json)
	[ "$(jq -c '.check | [.blocks, .guarded_blocks + .canaried_blocks, .unchecked_blocks]' found.json)" = "[600000,600000,0]" ]
	[ "$(jq '.check.guarded_blocks > 0' found.json)" = true ]
}

@test "ten million short-lived blocks: all counted, in little memory" {
	every --level=light -- short 10000000
	[ "$(jq -c '.check | [.blocks, .unchecked_blocks, .unkept_for_size]' found.json)" = "[10000000,0,0]" ]
	[ "$(cut -d" " -f1 out)" -lt 60000 ]
}

# less MS OPTION...: milliseconds that the program takes with a block guarded at each hit, or MS if it is less.
less() {
	local ms
	every --level=sampled --sample=1 "${@:2}" -- short 1000000
	ms=$(cut -d" " -f2 out)
	echo $((ms < $1 ? ms : $1))
}

# Of each but the last the least of three turns. What else a machine does adds to that, for a while: more turns then.
@test "sampled: the budget is kept" {
	local none=1000000 some=1000000 most=1000000 turn
	for turn in {1..12}; do
		none=$(less "$none" --budget=0)
		some=$(less "$some" --budget=5)
		[ "$(jq '.check.guarded_blocks > 0' found.json)" = true ]
		[ "$turn" -lt 3 ] || [ "$some" -gt $((none * 3 / 2 + 20)) ] || break
	done
	most=$(less "$most" --budget=all)	# some thirty times as much, and seconds: once is enough
	echo "$none $some $most"
	[ "$some" -le $((none * 3 / 2 + 20)) ]
	[ "$most" -ge $((none * 3)) ]
}

@test "the quarantine stays below its bound" {
	every --level=light --quarantine 64K -- short 100000
	[ "$(jq -c '.check | [.blocks, .unkept_for_size]' found.json)" = "[100000,0]" ]
}

@test "what is too large for the quarantine is said to be, and what for guard pages" {
	every --budget=all -- large
	[ "$(jq -c '.check | [.blocks, .canaried_blocks, .unguarded_for_size, .unkept_for_size]' found.json)" = "[40,40,40,40]" ]
	[ "$(jq -r .check.coverage found.json)" = \
		"all 40 blocks had canaries, none guard pages; canaries only: 40 for their size; not quarantined after release: 40 too large (--quarantine)" ]
}

@test "coverage is the first line" {
	within "$PMM" check --level=light -- "$PROG/check_every" none >out 2>err
	[ "$(sed 's/pid [0-9]*/pid N/' err)" = "pmm: check_every, pid N: all 1,335 blocks had canaries; no heap errors" ]
	within "$PMM" check --budget=0 -- "$PROG/check_every" none >out 2>err
	[ "$(sed 's/pid [0-9]*/pid N/' err | tr '\n' ' ')" = \
		"pmm: check_every, pid N: all 1,335 blocks had canaries, none guard pages; no heap errors; canaries only: 1,335 for their cost (--budget) " ]
	within "$PMM" check --budget=all -o all.pmm -- "$PROG/check_every" twice >out 2>err
	[ "$(grep -A1 "^$PROG/check_every" err | tail -1)" = "  blocks   all 1,335 blocks had canaries and guard pages" ]
	[ "$("$PMM" check all.pmm | sed -n 2p)" = "  blocks   all 1,335 blocks had canaries and guard pages" ]
}

@test "--budget is for guard pages" {
	within "$PMM" check --level=light --budget=all -- true 2>err
	run -2 within "$PMM" check --level=light --budget=5 -- true
	grep -q "'--budget' is for guard pages" <<<"$output"
}

@test "a heap that begins at low addresses, where free(NULL) points, too" {
	setarch -R true || skip "this machine does not allow to turn address randomisation off"
	within setarch -R "$PMM" check --level=light --json --report found.json -- "$PROG/check_every_low" none >out
	[ "$(cat out)" = "done" ]
	[ "$(jq -c "$FIGURES" found.json)" = "[1335,0,1335,0,0]" ]
}

# mapped FINDING ARG: the victim of blocks that the C library maps one by one, with nothing to spend and with all.
mapped() {
	local options
	for options in --level=light --budget=0 --budget=all; do
		within "$PMM" check "$options" --json --report found.json -- "$PROG/check_mapped" "$2" >out
		told "$1" "$2"
	done
}

@test "blocks mapped one by one, whatever their alignment" { mapped "" none; }

@test "free of memory behind a page that cannot be read, which nobody allocated" {
	mapped "bad-free function - - - - - by_free<main - - free unknown" hole
}

@test "malloc_usable_size of a block that was freed" { mapped "" usable; }

# over LIBRARY LEVEL: the same with another allocator, which may have a block or two of its own.
over() {
	local what
	library "$1"
	for what in none threads late inside static twice; do
		LD_PRELOAD=$LIBRARY within "$PMM" check --level="$2" --json --report "$what.json" -- "$PROG/check_every" "$what" >out
		[ "$(cat out)" = "done" ]
		[ "$(jq .check.unchecked_blocks "$what.json")" = 0 ]
	done
	diff - <(jq -r -f "$CLI/check_found.jq" none.json threads.json late.json inside.json static.json twice.json | sed 's/ access write 1 / release write - /') <<-END
		late: overrun release write - end+0 40 malloc by_free<main by_late - free
		inside: bad-free function - - start+16 35 malloc by_free<main by_loop - free inside
		static: bad-free function - - - - - by_free<main - - free static
		twice: double-free function - - start+0 34 malloc by_free<main by_loop by_free free
	END
}

@test "jemalloc" { over libjemalloc.so.2 light; }
@test "tcmalloc" { over libtcmalloc_minimal.so.4 light; }
@test "mimalloc" { over libmimalloc.so.2 light; }
