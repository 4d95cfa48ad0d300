#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm attach: what it says of blocks that outlive their time and of growth, in text and JSON.

load attach

# listen OPTION...: attach in the background, lines in $T/said.
listen() {
	rm -f "$T/said" "$T/watch.err"
	"$PMM" attach --expire 500ms --interval 100ms "$@" "$PID" >"$T/said" 2>"$T/watch.err" 3>&- 7>&- 8<&- &
	MONITOR=$!
	attached
}

# says PATTERN: it does, some time.
says() { await -p "$MONITOR" grep -q -E -- "$1" "$T/said" || { cat "$T/said" "$T/watch.err"; return 1; }; }

# at_once ORDER LINE: as tell(), between two looks and within one tick of pmm's clock, so that its blocks are of one age.
at_once() {
	halt "$MONITOR"
	tell "$@"
	kill -CONT "$MONITOR"
}

# in_time SECONDS: a test of what is said in the first SECONDS was done by then.
begun=$SECONDS
in_time() { [ $((SECONDS - begun)) -lt "$1" ] || skip "the machine stalled: this took $((SECONDS - begun)) s"; }

# Times and what hangs on them, as words.
timeless() {
	sed -E -e 's/^ *[0-9.]+ m?s  /TIME  /' -e 's/ [0-9.]+ m?s old/ AGE old/' -e 's/\([0-9]+\) for [0-9.]+ m?s/(PID) for TIME/' \
		-e 's/(min|mean|max) [0-9.]+ (m?s )?to [0-9.]+ m?s/\1 RANGE/g' "$T/said"
}

play() {
	at_once l leaked
	says "${1:-#1 3 blocks}"
	at_once l leaked
	says "${2:-#1 again}"
	at_once h held
	says "${3:-#2 4 blocks}"
	at_once u freed
	says "${4:-#2 freed}"
}

@test "a site is told of when its blocks expire, again, and when they are freed" {
	start attach_outlive
	listen
	play
	unwatch
	[ "$STATUS" -eq 1 ]
	in_time 10
	diff -u "$CLI/golden/attach.txt" <(timeless)
	grep -q "detached: process $PID is as it was" "$T/watch.err"
	finish 0
}

@test "the same as JSON" {
	start attach_outlive
	listen --json
	play '"event": "expired".*"number": 1,.*"leak"' '"event": "again", .*"number": 1, "blocks": 3' \
		'"event": "expired".*"number": 2,.*"hold"' '"event": "freed"'
	unwatch
	[ "$STATUS" -eq 1 ]
	[ "$(jq -r .schema "$T/said" | sort -u)" = pmm-attach/1.2 ]
	in_time 10
	jq -c 'select(.event != "totals") |
		[.event, .number, .blocks, .bytes, .expired, .freed_after_expiry, .allocs, .frees, .why, .growth.verdict, .stack[0].function]' \
		"$T/said" | diff -u "$CLI/golden/attach.jsonl" -
	jq -e -s 'map(select(.event == "totals") | .time_ns) | length > 5 and . == sort' "$T/said"
	finish 0
}

@test "a leak grows and reaches its limit, a cache does not" {
	start attach_outlive
	prlimit --pid "$PID" --data=200000000
	listen --expire 5
	tell g grows
	says "the heap GROWS steadily by .* for .*; at this pace it will not reach its data limit of 191 MiB within [1-5][0-9] minutes"
	unwatch
	[ "$STATUS" -eq 1 ]
	grep -q -E '^growth: the heap GROWS steadily by (3[0-9]|4[0-9])\.[0-9] KiB/s ' "$T/said"
	grep -q -E '^ +GROWS steadily by (3[0-9]|4[0-9])\.[0-9] KiB/s ' "$T/said"
	grep -q -E '^ +alone it will not use up what the limit leaves within [0-9]+ minutes' "$T/said"
	finish 0
	start attach_outlive
	listen --expire 1m
	tell c fills
	sleep 11
	unwatch
	cat "$T/said"
	[ "$STATUS" -eq 0 ]
	grep -q -E '^growth: not steady, because (most of it came at one moment|it rose and then levelled off)$' "$T/said"
	grep -q '^expired: none, because the process was watched for less than 60 s' "$T/said"
	finish 0
}

@test "the process ends, or runs another program" {
	start attach_outlive
	listen
	at_once l leaked
	says '#1 3 blocks'
	finish 0
	STATUS=0
	wait "$MONITOR" || STATUS=$?
	MONITOR=
	[ "$STATUS" -eq 1 ]
	grep -q 'the process has ended' "$T/watch.err"
	grep -q '^expired: 3 blocks, 2.93 KiB of 1 site have lived for 500 ms or more' "$T/said"
	start attach_outlive
	listen --json
	at_once h held
	echo x >&7
	STATUS=0
	wait "$MONITOR" || STATUS=$?
	MONITOR=
	[ "$(jq -r 'select(.event == "detached") | .why' "$T/said")" = process_called_exec ]
	[ "$(jq -r 'select(.event == "detached") | .allocs' "$T/said")" = 4 ]
	grep -q 'runs another program now' "$T/watch.err"
	kill "$PID"
}

# end_is EXPECTED: what its capture has of the end. MONITOR has seen it.
end_is() {
	wait "$MONITOR" || [ $? -eq 1 ]
	MONITOR=
	"$PMM" report --json --no-symbols "$T/c.pmm" | json_is "$1" '.process | [.end, .exit_status, .signal]'
}

@test "how the process ended, though it is no child" {
	start attach_outlive
	watch
	finish 0
	end_is '["exited",0,null]'
	start attach_outlive
	watch
	kill -KILL "$PID"
	finish 137
	end_is '["killed",null,9]'
}

# ended: MONITOR has; sets STATUS.
ended() {
	is_gone() { ! kill -0 "$MONITOR"; }
	await is_gone
	STATUS=0
	wait "$MONITOR" || STATUS=$?
	MONITOR=
}

@test "a reader that sleeps does not keep it from ending" {
	start attach_outlive
	mkfifo "$T/pipe"
	exec 6<>"$T/pipe"
	head -c 65536 /dev/zero >"$T/pipe"
	"$PMM" attach --json --interval 10ms "$PID" >"$T/pipe" 2>"$T/watch.err" 3>&- 6>&- 7>&- 8<&- &
	MONITOR=$!
	attached
	clean && false
	kill -INT "$MONITOR"	# one is enough
	ended
	clean
	[ "$STATUS" -eq 3 ]
	[ "$(tail -1 "$T/watch.err")" = "pmm: the output has no reader: the rest of it is lost" ]
	grep -q "detached: process $PID is as it was" "$T/watch.err"
	exec 6>&-
	finish 0
}

@test "a reader that has gone ends it at once, though nothing is to be said" {
	start attach_outlive
	mkfifo "$T/pipe"
	exec 6<>"$T/pipe"
	"$PMM" attach --interval 1h "$PID" >"$T/pipe" 2>"$T/watch.err" 3>&- 6>&- 7>&- 8<&- &
	MONITOR=$!
	attached
	exec 6>&-
	ended
	clean
	[ "$STATUS" -eq 3 ]
	[ "$(tail -1 "$T/watch.err")" = "pmm: the output has no reader any more" ]
	finish 0
}

@test "a file and /dev/null have no reader that could go" {
	start attach_outlive
	for out in "$T/said" /dev/null; do
		within "$PMM" attach -q -d 300ms "$PID" >"$out" 2>"$T/watch.err"
		[ ! -s "$T/watch.err" ]
	done
	grep -q '^no allocations were seen in ' "$T/said"
	finish 0
}

@test "many sites at once: twenty lines in text, all as JSON, the largest in the table" {
	start attach_outlive
	listen --top 5
	at_once m many
	says 'and 10 more of the kind; the table at the end has all sites'
	unwatch
	[ "$(grep -c ' outlived 500 ms' "$T/said")" -eq 20 ]
	grep -q '^expired: 30 blocks, 300 B of 30 sites have lived' "$T/said"
	grep -q '^  25 more sites (--top 0 shows all)' "$T/said"
	[ "$(grep -c '^  *[0-9]* *10 B *1  deep' "$T/said")" -eq 5 ]
	listen --json --top 0
	at_once m many
	says '"number": 30,'
	unwatch
	[ "$(jq -s 'map(select(.event == "expired")) | length' "$T/said")" -eq 30 ]
	[ "$(jq -s 'map(select(.event == "site")) | length' "$T/said")" -eq 30 ]
	finish 0
}

@test "names of a program in another root" {
	need_root
	local lib
	mkdir -p "$T/root"
	cp "$PROG/attach_outlive" "$T/root/"
	for lib in $(ldd "$PROG/attach_outlive" | grep -oE '/[^ ]+'); do
		mkdir -p "$T/root$(dirname "$lib")"
		cp "$lib" "$T/root$lib"
	done
	start chroot "$T/root" /attach_outlive
	listen
	at_once l leaked
	says '^    leak  attach_outlive.c:17'
	unwatch
	finish 0
}

@test "usage" {
	says_usage() {
		local want=$1 status=0
		shift
		"$PMM" attach "$@" $$ 2>"$T/err" || status=$?
		[ "$status" -eq 2 ]
		[ "$(cat "$T/err")" = "$want" ] || { cat "$T/err"; return 1; }
	}
	says_usage "pmm: '--sample' and '--exact' cannot be used together" --sample --exact
	says_usage "pmm: --expire: '0' is out of range
pmm: hint: at least 1 ms" --expire 0
}

@test "attach: a monitor that was stopped for too long says that it has not seen all" {
	start "$PROG/attach_steady"
	listen
	kill -STOP "$MONITOR"
	stopped() { "$PMM" report --json --no-symbols "$PID" 2>/dev/null 3>&- 7>&- 8<&- | grep -q '"tracking_stopped"'; }
	await -p "$PID" stopped
	kill -CONT "$MONITOR"
	unwatch
	grep -q '^tracking stopped early (pmm has ended or was stopped for too long); what came after is missing$' "$T/said" ||
		{ cat "$T/said"; return 1; }
	finish 45 unharmed
}
