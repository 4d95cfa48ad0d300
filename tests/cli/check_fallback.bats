#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What pmm check does where guarding is limited, refused or impossible, each forced: blocks have canaries instead, errors are found by them, the
# program is not harmed.

load lib

setup() { cd "$T" || return 1; }

WRITE_ACCESS="overrun access write 1 end+0 64 malloc write_behind by_malloc - guarded"
WRITE_RELEASE="overrun release write - end+0 64 malloc by_free<dropped by_malloc - free"
FREED_ACCESS="use-after-free access write 1 start+24 64 malloc write_freed by_malloc by_free guarded"
FREED_QUARANTINE="use-after-free quarantine write - start+24 64 malloc - by_malloc by_free"
TWICE="double-free function - - start+0 64 malloc by_free<double_free by_malloc by_free free"

# finds FINDING OPTION... -- ARG...: the victim's one, or none if it is empty; it ends with status 0, natively and so. Its counts are in counts.
finds() {
	local wanted=$1 options=() status=0
	shift
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	within "$PMM" check --json --report found.json "${options[@]}" -- "$PROG/check_victim" "${@:2}" >out 2>err || status=$?
	[ "$status" -eq 0 ] || { echo "status $status"; cat out err; return 1; }
	jq -c '.check | [.guarded_blocks, .canaried_blocks, .unguarded_for_limit, .unguarded_for_budget, .unguarded_refused]' found.json >counts
	diff <([ -z "$wanted" ] || echo "$wanted") <(jq -r -f "$CLI/check_found.jq" found.json | sed 's/^[^:]*: //')
}

# counted GUARDED CANARIED LIMIT BUDGET REFUSED
counted() { diff <(echo "[$1,$2,$3,$4,$5]") counts; }

@test "more blocks than may be guarded" {
	finds "$WRITE_RELEASE" --max-guarded 0 -- write-behind malloc
	counted 0 3 3 0 0
	finds "$WRITE_RELEASE" --max-guarded 1 -- write-behind malloc
	counted 1 2 2 0 0
	finds "$WRITE_ACCESS" --max-guarded 2 -- write-behind malloc
	counted 2 1 1 0 0
	finds "$WRITE_ACCESS" --max-guarded 10 -- write-behind malloc
	counted 3 0 0 0 0
	finds "$FREED_QUARANTINE" --max-guarded 0 -- write-freed malloc
	finds "$TWICE" --max-guarded 0 -- double-free malloc
}

@test "a budget of nothing guards none, and all have canaries; one of all guards all" {
	finds "$WRITE_RELEASE" --budget 0 -- write-behind malloc
	counted 0 3 0 3 0
	finds "$WRITE_ACCESS" --budget all -- write-behind malloc
	counted 3 0 0 0 0
}

@test "kernels without guard regions, and the limit on mappings reached" {
	finds "$WRITE_ACCESS" --no-madvise-guard -- write-behind malloc
	[ "$(jq -r .check.mechanism found.json)" = mprotect ]
	counted 3 0 0 0 0
	finds "$WRITE_RELEASE" --no-madvise-guard --max-mappings 1 -- write-behind malloc
	counted 0 3 0 0 3
	finds "$FREED_QUARANTINE" --no-madvise-guard --max-mappings 1 -- write-freed malloc
	finds "$TWICE" --no-madvise-guard --max-mappings 1 -- double-free malloc
	finds "" --no-madvise-guard --max-mappings 1 -- write-freed malloc twin
}

@test "no quarantine: what is freed is the allocator's at once, no error is seen there" {
	finds "" --level=light --quarantine 0 -- write-freed malloc
	finds "$WRITE_RELEASE" --level=light --quarantine 0 -- write-behind malloc
	finds "$TWICE" --level=light --quarantine 0 -- double-free malloc
	finds "" --level=light --quarantine 0 -- double-free malloc twin
}

@test "little address space: no pool of guarded blocks, canaries" {
	ulimit -v 300000
	finds "$WRITE_ACCESS" -- write-behind malloc
	ulimit -v 100000
	finds "$WRITE_RELEASE" -- write-behind malloc
	counted 0 3 0 0 3
	finds "$FREED_QUARANTINE" -- write-freed malloc
	finds "" -- write-freed malloc twin
}

@test "memory that is locked" {
	[ "$(ulimit -l)" = unlimited ] || need_root
	for options in "" --no-madvise-guard; do
		finds "$WRITE_ACCESS" $options -- write-behind malloc error locked
		finds "$FREED_ACCESS" $options -- write-freed malloc error locked
		finds "$TWICE guarded" $options -- double-free malloc error locked
		finds "" $options -- write-freed malloc twin locked
	done
	finds "$FREED_QUARANTINE" --level=light -- write-freed malloc error locked
}

@test "under seccomp: canaries; the ledger does not grow any more, so call sites are not known" {
	local options
	for options in --level=light --level=guard "--level=guard --no-madvise-guard"; do
		# shellcheck disable=SC2086 # options
		finds "overrun release write - end+0 64 malloc - - - free" $options -- write-behind malloc error filtered
		# shellcheck disable=SC2086
		finds "use-after-free quarantine write - start+24 64 malloc - - -" $options -- write-freed malloc error filtered
		# shellcheck disable=SC2086
		finds "" $options -- write-freed malloc twin filtered
	done
	finds "" --level=sampled --sample 1 -- write-behind malloc error filtered
}

@test "a ledger that is full: errors are found, and what allocated the block is in its head" {
	within "$PMM" check --level=light --ledger-limit 1M --json --report found.json -- "$PROG/check_many" 100000 2>err
	grep -q 'blocks were not recorded: the ledger reached its limit' err
	[ "$(jq -r -f "$CLI/check_found.jq" found.json)" = "100000: overrun release write - end+0 24 malloc main last - free" ]
}

# many LEVEL FILTER WANTED: a million live blocks; FILTER of the report is WANTED.
many() {
	within "$PMM" check --level="$1" --budget all --json --report found.json -- "$PROG/check_many" 1000000
	json_is "$3" "$2" <found.json
}

@test "a million live blocks" {
	local guarded='(.check | .guarded_blocks + .canaried_blocks == 1142858, .guarded_most_blocks <= 65536, .unchecked_blocks)'
	local error='.findings[] | [.type, .by, .access, .block_bytes, (.frames | map(select(.stack == "allocated"))[0].function)]'
	many light "[$guarded, ($error)]" '[true,true,0,["overrun","release","write",24,"last"]]'
	many guard "[$guarded, ($error)]" '[true,true,0,["overrun","release","write",24,"last"]]'
	many sampled '[.check.canaried_blocks, .check.guarded_blocks > 0, (.findings | length)]' '[0,true,0]'
}

@test "core files, where the machine writes them into the working directory" {
	local pattern status=0 core
	pattern=$(cat /proc/sys/kernel/core_pattern)
	[[ $pattern != \|* && $pattern != */* ]] || skip "core files go to '$pattern'"
	[ "$(ulimit -H -c)" = unlimited ] || skip "core files may not be written"
	ulimit -S -c 0
	within "$PMM" check --on-error=abort -- "$PROG/check_victim" write-behind malloc >out 2>err || status=$?
	[ "$status" -eq 134 ]
	[ -z "$(find . -name '*core*')" ]
	status=0
	within "$PMM" check --on-error=core -- "$PROG/check_victim" write-behind malloc >out 2>err || status=$?
	[ "$status" -eq 134 ]
	core=$(find . -name '*core*')
	[ -s "$core" ]
	[ "$(grep '^pmm: core file ' err)" = "pmm: core file    $(realpath "$core")" ]
	[ "$(stat -c %s "$core")" -lt $((256 << 20)) ]		# what of the pool is in use
	need gdb
	within gdb -q -nx --batch -ex bt "$PROG/check_victim" "$core" >stack 2>&1
	grep -q 'write_behind' stack
	# another directory: what lies here is of another process
	mkdir elsewhere
	within "$PMM" check --on-error=core -- sh -c 'cd elsewhere; exec "$@"' _ "$PROG/check_victim" write-behind malloc >out 2>err || status=$?
	[ -n "$(find elsewhere -name '*core*')" ]
	grep -qxF "pmm: core file    written as '$pattern' says in /proc/sys/kernel/core_pattern; relative to the directory that the program was in" err
	within bash -c 'ulimit -H -c 0; "$@"' _ "$PMM" check --on-error=core -- "$PROG/check_victim" write-behind malloc >out 2>err || status=$?
	[ "$(grep 'core file' err)" = "pmm: no core file was written: the hard limit on core files is 0" ]
}

@test "so many requests fail as is said" {
	local n
	finds "" --fail-rate 0 -- write-behind malloc twin
	[ "$(jq .check.failed_on_purpose found.json)" -eq 0 ]
	for n in 0 1 2; do
		within "$PMM" check --fail-after $n --json --report found.json -- "$PROG/check_many" 100 || true
		[ "$(jq .check.failed_on_purpose found.json)" -ge 1 ]
		[ "$(jq '.check | .guarded_blocks + .canaried_blocks' found.json)" -eq $n ]
	done
}

@test "each block of each thread is counted, also of a process that is killed" {
	blocks() {
		within "$PMM" check --json --report found.json "${OPTIONS[@]}" -- "$PROG/check_counts" "$@" || true
		jq -c '.check | [.canaried_blocks, .unguarded_for_budget]' found.json
	}
	OPTIONS=(--level light)
	few=$(blocks exit 30)
	jq -e '.[0] >= 4 * 30' <<<"$few"
	for how in exit _exit kill; do
		[ "$(blocks $how 37)" = "$(jq -c '.[0] += 4 * 7' <<<"$few")" ]
	done
}
