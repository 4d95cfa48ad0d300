#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm leaks PID: what is told of a running process, again and again, and how that ends. What must be found in which victim is tested elsewhere.

load leaks

# entry RESULT FUNCTION CLASS KEY...: figures of the entry of blocks made in FUNCTION, of the last document in RESULT.
entry() {
	local result=$1 function=$2 class=$3 keys
	shift 3
	keys=$(printf ', .%s' "$@")
	jq -r -s "last | [.certain[], .likely[], .growing[], .unlikely[] | select(.class == \"$class\" and any(.frames[]; .function == \"$function\")) |
		[${keys#, }] | join(\" \")] | join(\"; \")" "$result"
}

# every [OPTION...]: search again and again in the background, JSON in $T/every. Sets MONITOR.
every() {
	rm -f "$T/every"
	"$PMM" leaks --json --top 0 --show all --every 100ms "$@" "$PID" >"$T/every" 2>"$T/watch.err" 3>&- 7>&- 8<&- &
	MONITOR=$!
}

# documents N: so many are there, whole.
documents() { [ "$(jq -s length "$T/every" 2>/dev/null)" -ge "$1" ]; }

# ended: its status in STATUS.
ended() {
	STATUS=0
	wait "$MONITOR" || STATUS=$?
	MONITOR=
}

@test "leaks: a process that is not tracked" {
	refused 'pmm does not track it' "$PMM" leaks $$
	grep -q "hint: 'pmm attach $$' first" "$T/refused.err"
	refused 'cannot|no process|does not' "$PMM" leaks 4194300
}

@test "leaks: three that search one process again and again take turns" {
	local i status others=()
	launch shapes
	for i in 1 2 3; do
		within "$PMM" leaks --json --every 20ms --count 10 "$PID" >"$T/every.$i" 2>"$T/said.$i" 3>&- 7>&- 8<&- &
		others+=($!)
	done
	for i in 1 2 3; do
		status=0
		wait "${others[i - 1]}" || status=$?
		[ "$status" -le 1 ] || { cat "$T/said.$i"; return 1; }
		[ ! -s "$T/said.$i" ] || { cat "$T/said.$i"; return 1; }
		[ "$(jq -s length "$T/every.$i")" -ge 1 ]
	done
	clean_of_search
}

@test "leaks: a running process is told of, with the pause, and stays as it is" {
	launch shapes
	picture before loose
	within "$PMM" leaks "$PID" >"$T/text" 2>"$T/said" 3>&- 7>&- 8<&- || [ $? -eq 1 ]
	[ ! -s "$T/said" ] || { cat "$T/said"; return 1; }
	clean_of_search
	picture after loose
	diff "$T/before.picture" "$T/after.picture"
	grep -q 'in a copy; the program was stopped for [0-9]' "$T/text"
	grep -q 'definitely lost: nothing points to' "$T/text"
	grep -q 'leak_shapes.c:' "$T/text"
	search "$T/live.json" "$PID"
	[ "$(jq -r '.search | "\(.how) \(.complete) \(.pause_ns > 0) \(.read_bytes > 0)"' "$T/live.json")" = "copy true true true" ]
	[ "$(entry "$T/live.json" ring definite blocks bytes indirect_blocks indirect_bytes new_blocks)" = "1 56 2 112 1" ]
	[ "$(entry "$T/live.json" ring indirect blocks bytes holder_file)" = "2 112 $(jq -r '.certain[0].frames[0].file' "$T/live.json")" ]
	finish 0
}

# page_table_kib: of the victim.
page_table_kib() { awk '$1 == "VmPTE:" { print $2 }' "/proc/$PID/status"; }

@test "leaks: large blocks are read where they were ever touched, no page tables are made for the rest" {
	local blocks gib option how before
	[ "$(cat /proc/sys/vm/overcommit_memory)" -ne 2 ] || skip "memory is not overcommitted on this machine"
	while read -r blocks gib option how; do
		launch vast "$blocks" "$gib"
		before=$(page_table_kib)
		search "$T/vast.json" "$option" "$PID"
		[ "$(entry "$T/vast.json" vast reachable blocks bytes)" = "$blocks $((blocks * gib * 1073741824)); $blocks $((blocks * 77))" ]
		[ "$(entry "$T/vast.json" lost definite blocks bytes)" = "1 78" ]
		[ "$(jq -r '.search | "\(.how) \(.unread_bytes) \(.read_bytes < 1073741824)"' "$T/vast.json")" = "$how 0 true" ]
		[ $(($(page_table_kib) - before)) -lt 4096 ]
		finish 0
	done <<-END
		3 2 --threads=2 copy
		50 4 --stop stopped
	END
}

@test "leaks: a process that is too large to stand still unasked goes on where it cannot be copied; --stop searches it" {
	launch vast 2 1 whole
	refused "no copy could be made: process $PID has its system calls filtered" "$PMM" leaks "$PID"
	grep -Eq "hint: without one it is stopped while all of its 2[.0-9]* GiB are read.*: --stop does that$" "$T/refused.err"
	clean_of_search
	search "$T/vast.json" --stop "$PID"
	[ "$(entry "$T/vast.json" vast reachable blocks bytes)" = "2 2147483648; 2 154" ]
	[ "$(jq '.search.read_bytes > 2147483648' "$T/vast.json")" = true ]
	finish 0
}

@test "leaks: memory that a copy does not get, gets empty or shares is read during the pause, up to a limit, and that is told" {
	local kind mib held late notes
	while read -r kind mib held late notes; do
		launch apart "$kind" "$mib"
		search "$T/apart.json" "$PID"
		within "$PMM" leaks --fail-on none "$PID" >"$T/text" 3>&- 7>&- 8<&-
		finish 0
		[ "$(entry "$T/apart.json" held reachable blocks bytes) $(entry "$T/apart.json" lost definite blocks bytes)" = "1 77 1 78" ]
		[ "$(jq -r '.search | "\(.held_bytes / 1048576 | floor) \(.late)"' "$T/apart.json")" = "$held $late" ]
		grep -Eq 'the program was stopped for [^,]*, while [0-9.]+ MiB were read that a copy does not get or shares$' "$T/text"
		[ "$(grep -c "part of the memory that a copy shares or gets empty was read after the pause" "$T/text")" -eq "$notes" ]
	done <<-END
		kept 20 20 false 0
		wiped 3 3 false 0
		wiped 20 16 true 1
		shared 3 3 false 0
		shared 20 16 true 1
	END
}

@test "leaks --stop: no copy, and that is told" {
	launch shapes
	search "$T/live.json" --stop "$PID"
	clean_of_search
	[ "$(jq -r '.search | "\(.how) \(.pause_ns > 0) \(.took_ns >= .pause_ns)"' "$T/live.json")" = "stopped true true" ]
	"$PMM" leaks --stop --fail-on none "$PID" >"$T/text" 3>&- 7>&- 8<&-
	grep -q 'searched .* in .*; the program was stopped for' "$T/text"
	finish 0
}

@test "leaks --show-bytes: contents, only where they are asked for" {
	launch shapes
	search "$T/plain.json" "$PID"
	! grep -q example_contents "$T/plain.json" || return 1
	search "$T/bytes.json" --show-bytes "$PID"
	# a ring of three of 56 bytes: a pointer, then nothing
	entry "$T/bytes.json" ring definite example_contents | grep -q -E '^[0-9a-f]{12}0000(00){24}$'
	"$PMM" leaks --show-bytes --top 0 --fail-on none "$PID" >"$T/text" 3>&- 7>&- 8<&-
	grep -A2 -E 'at 0x[0-9a-f]+, 56 bytes:$' "$T/text" >"$T/found" || { cat "$T/text"; return 1; }
	sed -n 2p "$T/found" | grep -q -E '^ +[0-9a-f]{12}0000 0{16}$'
	sed -n 3p "$T/found" | grep -q -E '^ +0{16} 0{16} \.\.\.$'
	finish 0
}

# twice: the ring is there a second time, and was told of anew once.
twice() {
	jq -s -c '[.[1:][] | .certain[] | select(.class == "definite" and any(.frames[]; .function == "ring"))] |
		[last.blocks, (map(.new_blocks) | add)]' "$T/every" >"$T/ring" && [ "$(cat "$T/ring")" = "[2,1]" ]
}

@test "leaks --every: first all, then what is new, to the end of the process" {
	launch shapes
	every
	await -p "$MONITOR" documents 1
	[ "$(entry "$T/every" ring definite blocks new_blocks)" = "1 1" ]
	tell g "done"
	# it may be caught in the middle of that: twice as many in the end, each told once
	await -p "$MONITOR" twice
	finish 0
	ended
	[ "$STATUS" -eq 1 ]
	grep -q 'the process has ended' "$T/watch.err"
	[ "$(jq -s '[.[1:][] | .certain[]] | all(.new_blocks > 0)' "$T/every")" = true ]
	twice || { cat "$T/ring"; return 1; }
}

@test "leaks --every: nothing new is not told; Ctrl-C and --count end it" {
	launch shapes
	every --count 3
	ended
	[ "$STATUS" -eq 1 ]
	[ "$(jq -s length "$T/every")" -eq 1 ]
	every
	await -p "$MONITOR" documents 1
	kill -INT "$MONITOR"
	ended
	[ "$STATUS" -eq 1 ]
	await -p "$PID" clean_of_search	# a copy that was under way takes a moment to end
	finish 0
}

# The ledger can be opened by root through the process's mappings, by others only through the monitor's descriptors.
@test "leaks: the user who attached may search as well" {
	local user=(setpriv --reuid 65534 --regid 65534 --clear-groups) count=(--format json --show all --fail-on none)
	need_root
	need setpriv
	cp "$PROG/leak_shapes" "$T/theirs"
	chmod 755 "$T" "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" 2>/dev/null || true
	"${user[@]}" test -x "$T/theirs" || skip "nobody cannot reach the victim"
	"${user[@]}" test -x "$PMM" || skip "nobody cannot run pmm"
	start "${user[@]}" "$T/theirs"
	"${user[@]}" "$PMM" attach "$PID" >"$T/watch.out" 2>"$T/watch.err" 3>&- 7>&- 8<&- &
	MONITOR=$!
	attached "$T/watch.out"
	tell g done
	within "${user[@]}" "$PMM" leaks "${count[@]}" "$PID" >"$T/theirs.json" 2>"$T/leaks.err" 3>&- 7>&- 8<&- || { cat "$T/leaks.err"; return 1; }
	within "$PMM" leaks "${count[@]}" "$PID" >"$T/root.json" 2>"$T/leaks.err" 3>&- 7>&- 8<&-
	jq -e '.totals | map(.blocks) | add > 0' "$T/theirs.json"
	diff <(jq .totals "$T/theirs.json") <(jq .totals "$T/root.json")
	unwatch
}
