#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Errors of forked children with blocks of the processes that they were forked from: all three places are known (agent/guard/ancestor.h).

load lib

setup() { cd "$T" || return 1; }

# The captures of a parent and its child, also of one that pmm does not wait for, are complete.
all_told() { [ "$1" != orphan ] || [ "$(find . -name '*.pmm' | wc -l)" -eq 2 ]; }

# finds HOW OPTION... <TABLE of "ERROR: WANTED": exactly that of all processes together, in the words of check_found.jq.
finds() {
	local how=$1 status error
	shift
	sort >wanted
	: >got
	for error in $(cut -d: -f1 wanted | uniq) ok; do
		status=0
		within "$PMM" check --json --report found.json "$@" -o "$T/%p.pmm" -- "$PROG/check_forked" "$error" "$how" 2>err || status=$?
		[ "$status" -eq 3 ] || [ "$how" = orphan ] || { echo "$error: status $status"; cat err; return 1; }
		await all_told "$how"
		for capture in ./*.pmm; do
			"$PMM" check --json "$capture" || [ $? -eq 1 ]
		done | jq -r -f "$CLI/check_found.jq" | sed "s/ $how: /: /" >>got
		rm -f ./*.pmm
	done
	sort -o got got
	diff wanted got
}

# What happened, by which stacks the block was allocated and freed, and that it was before the fork.
LIGHT='overrun: overrun release write - end+0 100 malloc drops makes - free parent
underrun: underrun release write - start-1 100 malloc drops makes - free parent
head: underrun release write - start-16 100 - drops - - free parent
head-size: underrun release write - start-9 300000 malloc drops makes - free parent
inside: bad-free function - - start+16 100 malloc drops makes - free inside parent
copy: overrun function write 110 end+0 100 malloc copy makes - memcpy parent
copy-later: overrun function write 110 end+0 100 malloc copy makes - memcpy parent
middle: overrun function write 30 end+0 100 malloc middle makes - memset parent
read: overrun function read 25 end+0 100 malloc read_on makes - memcpy parent
reads-gone: use-after-free function read 20 start+10 50 malloc reads_gone makes drops_first memcpy parent
writes-gone: use-after-free function write 20 start+10 50 malloc writes_gone makes drops_first memset parent
far: overrun function read 110 end+0 5000 malloc far_on makes - memcpy parent
overlap: overlap function - 20 start+8 100 malloc overlap makes - memcpy parent
overlap-far: overlap function - 20 start+10008 300000 malloc overlap_far makes - memcpy parent
twice: double-free function - - start+0 100 malloc drops makes drops_first free parent
again: double-free function - - start+0 50 malloc drops makes drops_first free parent
late: use-after-free quarantine write - start+3 50 malloc - makes drops_first parent
pair: mismatched-free function - - start+0 40 new[] drops makes_new - free parent
resize: overrun release write - end+0 200 realloc drops resize - free'

GUARD='overrun: overrun release write - end+0 100 malloc drops makes - free parent guarded
underrun: underrun release write - start-1 100 malloc drops makes - free parent guarded
head: underrun release write - start-16 100 malloc drops makes - free parent guarded
head-size: underrun release write - start-9 300000 malloc drops makes - free parent guarded
inside: bad-free function - - start+16 100 malloc drops makes - free inside parent guarded
copy: overrun function write 110 end+0 100 malloc copy makes - memcpy parent guarded
copy-later: overrun function write 110 end+0 100 malloc copy makes - memcpy parent guarded
middle: overrun function write 30 end+0 100 malloc middle makes - memset parent guarded
read: overrun function read 25 end+0 100 malloc read_on makes - memcpy parent guarded
reads-gone: use-after-free function read 20 start+10 50 malloc reads_gone makes drops_first memcpy parent guarded
writes-gone: use-after-free function write 20 start+10 50 malloc writes_gone makes drops_first memset parent guarded
far: overrun function read 110 end+0 5000 malloc far_on makes - memcpy parent guarded
overlap: overlap function - 20 start+8 100 malloc overlap makes - memcpy parent guarded
overlap-far: overlap function - 20 start+10008 300000 malloc overlap_far makes - memcpy parent guarded
twice: double-free function - - start+0 100 malloc drops makes drops_first free parent guarded
again: double-free function - - start+0 50 malloc drops makes drops_first free parent guarded
late: use-after-free access write 1 start+3 50 malloc late makes drops_first parent guarded
pair: mismatched-free function - - start+0 40 new[] drops makes_new - free parent guarded
resize: overrun release write - end+0 200 realloc drops resize - free guarded'

@test "light: a child" { for how in fork raw; do finds $how --level=light --budget all <<<"$LIGHT"; done; }

@test "light: a child's child" { finds grand --level=light --budget all <<<"$LIGHT"; }

@test "light: a child whose parent goes on, with other blocks where its own were" { finds changed --level=light --budget all <<<"$LIGHT"; }

@test "light: a child whose parent has ended" { finds orphan --level=light --budget all <<<"$LIGHT"; }

@test "guard: children" { for how in fork raw grand changed orphan; do finds $how --budget all <<<"$GUARD"; done; }

# storm WANTED OPTION...: a hundred children, one finding of each or none.
storm() {
	local wanted=$1
	shift
	[ "$(within "$PMM" check --json --report found.json --budget all "$@" 2>err)" = done ]
	for capture in ./*.pmm; do
		[ ! -e "$capture" ] || "$PMM" check --json "$capture" || [ $? -eq 1 ]
	done | jq -r -f "$CLI/check_found.jq" | sort | uniq -c | sed 's/^ *//' >got
	rm -f ./*.pmm
	diff <([ -z "$wanted" ] || echo "$wanted") got
}

@test "children forked while threads allocate" {
	local storm=$PROG/check_forked_storm option=(-o "$T/%p.pmm")
	storm "100 100: overrun release write - end+0 100 malloc main makes - free parent" --level=light "${option[@]}" -- "$storm" 100
	storm "100 100: overrun release write - end+0 100 malloc main makes - free parent guarded" "${option[@]}" -- "$storm" 100
	storm "" --level=light "${option[@]}" -- "$storm" 100 ok
	storm "" "${option[@]}" -- "$storm" 100 ok
}
