#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Every error of tests/prog/check_victim* with a block of each entry, at each level: exactly what check_matrix.table says, and nothing of the
# correct twins.

load lib

setup() { cd "$T" || return 1; }

table() { awk "$@" -f "$CLI/check_matrix.awk" "$CLI/check_matrix.table"; }

# What the C library says where a level leaves an error to it; nothing else may be said.
ABORTS=

# checked CASES OPTION...: run each line of a file, "PROGRAM:ARGUMENTS"; what was found is in got, with how those ended that did not end with 0. The
# report of a tree has equal errors of many processes once: what each of them had is in its capture.
checked() {
	local cases=$1
	shift
	rm -f ./*.pmm ./*.pmm.json
	within "$PMM" check --json --report found.json -o %p.pmm "$@" -- \
		"$PROG/each_line" "$PROG/check_victim" "$PROG/check_victim_cxx" <"$cases" >ends 2>err || { echo "status $?"; cat err; return 1; }
	! grep -v -x -F "$ABORTS" err || return 1
	[ "$(wc -l <ends)" -eq "$(wc -l <"$cases")" ] || { echo "not all were run"; return 1; }
	{ each_found; sed -n '/: 0$/d; s/^[01]:\(.*\): /\1: status /p' ends; } | sort >got
}

# The findings of all captures; none where the tree has none. As many processes as are told of in the report.
each_found() {
	[ "$(jq '.findings | length' found.json)" -gt 0 ] || return 0
	find . -name '*.pmm' -print0 | xargs -0 -n 1 -P 2 sh -c '"$0" check --json "$1" >"$1.json" || true' "$PMM"
	find . -name '*.pmm.json' -size +0 -exec cat {} + | jq -r -f "$CLI/check_found.jq"
}

# silent CASES OPTION...
silent() {
	checked "$@" || return 1
	[ ! -s got ] || { cat got; return 1; }
}

# level NAME OPTION...
level() {
	local name=$1
	shift
	table -v level= >cases
	table -v level="$name" | sort >wanted
	[ "$(wc -l <wanted)" -gt 300 ] && ! grep "no rule" wanted || return 1
	checked cases "$@"
	diff wanted got
	sed '/:as-/d; s/$/ twin/' cases >twins
	silent twins "$@"
}

@test "light: canaries, quarantine, pairs and functions" { level light --level=light --budget all; }

@test "guard: blocks at the end of their pages" { level right --budget all; }

@test "guard: blocks at the start of their pages" { level left --budget all --left; }

@test "guard by mprotect(), as on older kernels" { level right --budget all --no-madvise-guard; }

@test "sampled: as guard where a block is, nothing where not" {
	ABORTS='free(): invalid pointer'
	level sampled --level=sampled --sample 1 --budget all
}

# places LEVEL OPTION...: the same in other places, with blocks of malloc; but for what may be nearer to another block.
places() {
	local level=$1 place
	shift
	export LD_LIBRARY_PATH=$PROG
	for place in thread signal exec atexit library child constructor destructor; do
		table -v level= | sed -n "/far-before/d; /^0:[^a].* malloc$/s/$/ error $place/p" >>cases
		table -v level="$level" | sed -n "/far-before/d; /^[^a].* malloc: /s/ malloc: / malloc error $place: /p" >>wanted
	done
	sed -i 's/ error exec: / error: /' wanted
	sort -o wanted wanted
	[ "$(wc -l <cases)" -eq 216 ]
	checked cases "$@"
	diff wanted got
	sed 's/ error / twin /' cases >twins
	silent twins "$@"
}

@test "light: in threads, handlers, libraries, children, before main and behind it" { places light --level=light --budget all; }

@test "guard: in threads, handlers, libraries, children, before main and behind it" { places right --budget all; }

# owned OPTION... <WANTED: a child's errors with a block of its parent.
owned() {
	local error
	for error in write-behind write-freed read-freed write-kept double-free memset-behind free-middle; do
		echo "0:$error malloc error child-of-owner"
	done >cases
	sort >wanted
	checked cases "$@"
	sed -i 's/ malloc error child-of-owner: /: /' got
	diff wanted got
	sed -i 's/ error / twin /' cases
	silent cases "$@"
}

@test "light: a forked child with a block of its parent" {
	owned --level=light --budget all <<-'EOF'
		write-behind: overrun release write - end+0 64 malloc by_free<dropped by_malloc - free parent
		write-freed: use-after-free quarantine write - start+24 64 malloc - by_malloc by_free parent
		double-free: double-free function - - start+0 64 malloc by_free<double_free by_malloc by_free free parent
		memset-behind: overrun function write 67 end+0 64 malloc memset_behind by_malloc - memset parent
		free-middle: bad-free function - - start+16 64 malloc by_free<free_middle by_malloc - free inside parent
	EOF
}

@test "guard: a forked child with a block of its parent" {
	owned --budget all <<-'EOF'
		write-behind: overrun access write 1 end+0 64 malloc write_behind by_malloc - parent guarded
		write-freed: use-after-free access write 1 start+24 64 malloc write_freed by_malloc by_free parent guarded
		read-freed: use-after-free access read 1 start+24 64 malloc read_freed by_malloc by_free parent guarded
		write-kept: overrun access write 1 end+0 64 malloc write_kept by_malloc - parent guarded
		double-free: double-free function - - start+0 64 malloc by_free<double_free by_malloc by_free free parent guarded
		memset-behind: overrun function write 67 end+0 64 malloc memset_behind by_malloc - memset parent guarded
		free-middle: bad-free function - - start+16 64 malloc by_free<free_middle by_malloc - free inside parent guarded
	EOF
}

@test "light: a block whose canary was found damaged is kept as any other, and what happens to it then is told with all its places" {
	printf '0:damaged-%s\n' "twice malloc" "freed malloc" "twice memalign" "freed memalign" "twice valloc" >cases
	checked cases --level=light --budget all
	sort >wanted <<-'EOF'
		damaged-twice malloc: overrun release write - end+0 64 malloc by_free<dropped by_malloc - free
		damaged-twice malloc: double-free function - - start+0 64 malloc by_free<damaged_twice by_malloc by_free free
		damaged-freed malloc: underrun release write - start-1 64 malloc by_free<dropped by_malloc - free
		damaged-freed malloc: use-after-free quarantine write - start+24 64 malloc - by_malloc by_free
		damaged-twice memalign: overrun release write - end+0 64 memalign by_free<dropped by_memalign - free
		damaged-twice memalign: double-free function - - start+0 64 memalign by_free<damaged_twice by_memalign by_free free
		damaged-freed memalign: underrun release write - start-1 64 memalign by_free<dropped by_memalign - free
		damaged-freed memalign: use-after-free quarantine write - start+24 64 memalign - by_memalign by_free
		damaged-twice valloc: overrun release write - end+0 4096 valloc by_free<dropped by_valloc - free
		damaged-twice valloc: double-free function - - start+0 4096 valloc by_free<damaged_twice by_valloc by_free free
	EOF
	diff wanted got
	sed -i 's/$/ twin/' cases
	silent cases --level=light --budget all
}
