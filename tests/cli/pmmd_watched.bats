#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmmd, the daemon of examples/, watched with the monitor inside (both forms), from outside (attach, report, leaks, check) and by signal, with exact
# numbers; and as the README does it.

load pmmd

# ---- watched with the monitor inside

# inside FORM PEAK: what the monitor inside says of each kind of memory and error; so many bytes of the cache at "its" peak.
inside() {
	local leak value buffer label text
	leak=$(at bugs.c 'char *reply = malloc(bytes);')
	value=$(at cache.c 'entry->value = malloc(bytes);')
	buffer=$(at crew.c 'worker->buffer = malloc(BUFFER_BYTES);')
	begin "$1"
	says '10 values of 100 bytes in the cache' alloc 10 100
	says '4 values dropped, 6 left' free 4
	says '3 replies of 50 bytes lost' leak 3 50
	says '2 threads' threads 2
	kill -USR1 "$PID"
	await -p "$PID" grep -q '^  errors: 0' "$LOG"
	blocks_in_log 3 50 "$leak"
	blocks_in_log 6 100 "$value"
	blocks_in_log 2 4096 "$buffer"
	in_log 1 "^ +10 +4 +1000 +600 +$2  $(literal "$value") entry_new\$"
	in_log 1 "^ +3 +0 +150 +150 +150  $(literal "$leak") reply_new\$"
	in_log 0 '^pmm: allocator$'	# not asked by a signal
	says 'written to the log' dump
	in_log 1 '^pmm: allocator$'
	blocks_in_log 6 50 "$leak"
	says 'a byte behind a label is written' overflow
	says 'damaged blocks: 1' check
	says 'damaged blocks: 0' check
	says 'a request was freed twice' doublefree
	label=$(literal "$(at bugs.c 'char *label = malloc(bytes);')")
	in_log 1 "^pmm: $(literal "$(at monitor.c 'return pmm_check();')"): overflow: 1 byte behind block 0x[0-9a-f]+ of 21 bytes from $label changed\$"
	text=$(literal "$(at bugs.c 'request->text = strdup')")
	in_log 1 "^pmm: bugs.c.[0-9]+.: double free of block 0x[0-9a-f]+ of 6 bytes from $text"
	[[ $(ctl stats) == *'; 0 passed untracked; 2 errors' ]]
	end TERM
	blocks_in_log 9 50 "$leak"
	tail -7 "$LOG" | grep -q -E '^  blocks: .* 3 live, '
	tail -7 "$LOG" | grep -q -E '^  bytes: .* 150 live, '
}

@test "static form: blocks, sites and errors of each kind at their places, by signal, by command and at exit" {
	inside static 1000	# its own peak
}

@test "full form: the same" {
	need_full
	inside full 600		# when the process had its peak
}

@test "full form: report and leaks see the running daemon, by lines without debug information; then it is gone" {
	need jq readelf
	need_full
	readelf --debug-dump=info "$PMMD/pmmd-full" >"$T/info" 2>/dev/null
	! grep 'bugs\.c' "$T/info" || return 1	# the library's own may be there
	begin full
	says '10 values of 100 bytes in the cache' alloc 10 100
	says '4 values dropped, 6 left' free 4
	says '3 replies of 50 bytes lost' leak 3 50
	says '2 threads' threads 2
	says 'the queue grows by 1000 bytes/s for 1 s' grow 1000 1
	await -p "$PID" eval 'ctl stats | grep -q "10 records, 1000 bytes\$"'
	now 'own reply_new allocs=3 live=150 blocks=3'
	now 'own entry_new allocs=20 frees=8 live=840'
	now 'own worker_new allocs=4 blocks=4'
	now 'own record_new allocs=20 frees=0 blocks=20 live=1240'
	[ "$(lost "$PID")" = "$(as_place bugs.c 'char *reply = malloc(bytes);') definite 3 150" ]
	within "$PMM" report "$PID" >"$T/report" 3>&-
	grep -q -F "$(as_place cache.c 'entry->value = malloc(bytes);')" "$T/report"
	within "$PMM" snapshot -q -o "$T/s.pmm" "$PID" 3>&-
	found "$T/s.pmm" 'own reply_new allocs=3 live=150'
	says '0 threads' threads 0
	says '10 records written' drain
	says '6 values dropped, 0 left' free 100
	now 'own record_new frees=20 blocks=0'
	now 'own worker_new frees=4 blocks=0'
	[ "$(lost "$PID")" = "$(as_place bugs.c 'char *reply = malloc(bytes);') definite 3 150" ]
	end
	tail -7 "$LOG" | grep -q -E '^  bytes: .* 150 live, '
}

@test "static form: a full table is told once, counted, and harms nothing" {
	begin static
	says '30000 replies of 10 bytes lost' leak 30000 10
	says '10 values of 100 bytes in the cache' alloc 10 100
	says '10 values dropped, 0 left' free 100
	end
	[ "$(grep -c '^pmm: .*all 20000 slots' "$LOG")" -eq 1 ]
	blocks_in_log 19999 10 "$(at bugs.c 'char *reply = malloc(bytes);')"	# one slot was the session's
	in_log 1 '^  requests: .* 10026 passed untracked$'	# 10001 replies, 21 of the cache, 4 answers
	in_log 1 '^  frees: 25 of blocks not tracked, '
	in_log 1 '^  tables: 19999 of 20000 slots in use \(was full\), '
}

# ---- watched from outside

@test "without the monitor SIGUSR1 writes the daemon's own figures" {
	begin plain
	says '3 replies of 50 bytes lost' leak 3 50
	kill -USR1 "$PID"
	await -p "$PID" grep -q 'monitor  none compiled in' "$LOG"
	in_log 1 ' lost     3 replies, 150 bytes$'
	end
}

@test "attach, report, leaks: what it holds and what it lost, at their lines; then it is as it was" {
	need_attach
	begin plain
	says '1 threads' threads 1	# the C library has a handler for threads from the first on
	says '0 threads' threads 0
	picture first loose
	watch
	says '10 values of 100 bytes in the cache' alloc 10 100
	says '4 values dropped, 6 left' free 4
	says '3 replies of 50 bytes lost' leak 3 50
	says '2 threads' threads 2
	says 'the queue grows by 1000 bytes/s for 1 s' grow 1000 1
	await -p "$PID" eval 'ctl stats | grep -q "10 records, 1000 bytes\$"'
	now 'own reply_new allocs=3 live=150 blocks=3'
	now 'site cache_add allocs=21 frees=8'
	now 'own worker_new allocs=4 blocks=4'
	now 'own record_new allocs=20 frees=0 blocks=20 live=1240'
	[ "$(lost "$PID")" = "$(as_place bugs.c 'char *reply = malloc(bytes);') definite 3 150" ]
	says '0 threads' threads 0
	says '10 records written' drain
	unwatch
	same_picture first loose
	found "$T/c.pmm" 'own record_new allocs=20 frees=20 live=0'
	found "$T/c.pmm" 'own worker_new allocs=4 frees=4'
	found "$T/c.pmm" 'own reply_new allocs=3 live=150'
	end
}

@test "attach --check: an overflow and a double free of the running daemon, which goes on" {
	need_attach
	begin plain
	watch --check --sample=1 --budget=all
	says 'a byte behind a label is written' overflow
	says 'a byte behind a label is written' overflow
	says 'a request was freed twice' doublefree
	unwatch
	[ "$STATUS" -eq 1 ]
	"$PMM" check --json "$T/c.pmm" >"$T/check.json" || [ $? -eq 1 ]
	json_is '[["double-free","request_end","request_cancel"],["overrun","bugs_overflow",null]]' '
		def of($stack): [.frames[] | select(.stack == $stack)][0].function;
		[.findings[] | [.type, of("error"), of("freed")]] | sort' <"$T/check.json"
	says '0 values dropped, 0 left' free 1
	end
}

# checked PROGRAM: under pmm check, told to damage two blocks; the findings are in check.json.
checked() {
	rm "$LOG"
	"$PMM" check --budget=all --json --report "$T/check.json" -- "$PMMD/$1" -f "$D" >"$T/out" 2>"$T/err" 3>&- &
	OTHER=$!
	await -p "$OTHER" grep -q 'is ready' "$LOG"
	says 'a byte behind a label is written' overflow
	says 'a request was freed twice' doublefree
	says '' quit
	wait "$OTHER" || [ $? -eq 1 ]
	OTHER=
}

@test "run and check: a daemon started under pmm is followed into the background" {
	need jq
	within "$PMM" run -q -o "$T/%p.pmm" -- "$PMMD/pmmd-plain" "$D" 3>&-
	PID=$(cat "$D/pmmd.pid")
	says '10 values of 100 bytes in the cache' alloc 10 100
	says '3 replies of 50 bytes lost' leak 3 50
	now 'own reply_new allocs=3 live=150'
	[ "$(lost "$PID")" = "$(as_place bugs.c 'char *reply = malloc(bytes);') definite 3 150" ]
	CAP=$T/$PID.pmm
	end
	await test -s "$CAP"
	found "$CAP" 'own reply_new allocs=3 live=150'
	found "$CAP" 'site cache_add frees=21'

	checked pmmd-plain
	json_is '[["double-free","request_end"],["overrun","label_new"]]' '[.findings[] | [.type, .frames[0].function]] | sort' <"$T/check.json"
}

@test "static form: under pmm run its blocks are told at the program's lines, not at the monitor's" {
	need jq
	within "$PMM" run -q -o "$T/%p.pmm" -- "$PMMD/pmmd-static" "$D" 3>&-
	PID=$(cat "$D/pmmd.pid")
	says '3 replies of 50 bytes lost' leak 3 50
	says '10 values of 100 bytes in the cache' alloc 10 100
	within "$PMM" report --json --top 0 "$PID" >"$T/json" 3>&-
	[ "$(jq -r '[.lines[] | select(.function == "reply_new" or .function == "entry_new") | "\(.function) \(.value_count) \(.value_bytes)"] | sort | join(", ")' "$T/json")" = \
		"entry_new 10 1080, entry_new 10 480, reply_new 3 174" ]
	[ "$(jq '[.lines[].file // "" | select(test("static_[a-z]*.c$"))] | length' "$T/json")" -eq 0 ]
	end
}

@test "full form: under pmm run and pmm check its blocks are recorded once, by line, and it ends" {
	need jq
	need_full
	within "$PMM" run -q -o "$T/%p.pmm" -- "$PMMD/pmmd-full" "$D" 3>&-
	PID=$(cat "$D/pmmd.pid")
	says '3 replies of 50 bytes lost' leak 3 50
	now 'own reply_new allocs=3 live=150 blocks=3'
	[ "$(lost "$PID")" = "$(as_place bugs.c 'char *reply = malloc(bytes);') definite 3 150" ]
	CAP=$T/$PID.pmm
	end
	await test -s "$CAP"
	found "$CAP" 'own reply_new allocs=3 live=150'

	checked pmmd-full
	json_is '["double-free","overrun"]' '[.findings[].type] | sort' <"$T/check.json"
}

# ---- as others do it

@test "the commands of the README, word by word" {
	# a client's session is a block until the daemon sees that the client has gone
	local build=${PMM%/pmm} settled="await eval '[ \$(build/pmm report --json \$(cat /tmp/pmmd/pmmd.pid) | jq .totals.live_blocks) -eq 4 ]'"
	need_attach
	need_full
	sed -n '/^## Watch a daemon/,/^## [^W]/p' "$ROOT/README.md" | sed -n -E 's/^    ((mkdir|build|ctl|sleep|kill|cat)\b.*)/\1/p' >"$T/commands"
	[ "$(wc -l <"$T/commands")" -eq 29 ]
	{
		# shellcheck disable=SC2016
		echo '. "$CLI/wait.bash"; rmdir "$D"'
		sed "s#^build/pmm report .*#$settled\n&#" "$T/commands" |
		sed "s|build/|$build/|g; s|/tmp/pmmd|$D|g; s|^sleep 30$|sleep 1|" |
			sed "0,/^sleep 2$/s||await grep -q 'attached to' $D/watched|; s|^sleep 2$|await grep -q 'attached to' $D/guarded|"
	} >"$T/walk"
	PROG=$PROG CLI=$CLI D=$D within bash "$T/walk" >"$T/out" 2>"$T/err" 3>&-
	[ ! -s "$T/err" ] || { cat "$T/err"; return 1; }
	[ "$(grep -c '^  definitely lost  150 bytes in 3 blocks, 1 site$' "$T/out")" -eq 2 ]
	[ "$(grep -c '^ *150 B  87.7% *3 *1  reply_new  bugs.c:[0-9]*$' "$T/out")" -eq 1 ]
	grep -q '^pmm: double free in request_end, bugs.c:' "$T/out"
	grep -q '^a request was freed twice$' "$T/out"
	grep -q '^damaged blocks: 1$' "$T/out"
	[ "$(grep -c 'pmm: detached: process' "$T/out")" -eq 2 ]
	blocks_in_log 6 50 "$(at bugs.c 'char *reply = malloc(bytes);')"
	[ ! -e "$D/pmmd.pid" ]
}

# ---- made elsewhere

@test "made by make outside the tree, with what is installed" {
	need pkg-config make
	(cd "$ROOT" && tools/install "$(dirname "$PMM")" '' "$T/usr" >/dev/null)
	cp -r "$ROOT/examples/pmmd" "$T/source"
	PKG_CONFIG_PATH=$T/usr/lib/pkgconfig within make -s -C "$T/source" CFLAGS='-O2 -g -Wall -Wextra -Wpedantic -Werror' 3>&-
	PMMD=$T/source
	begin static
	says '3 replies of 50 bytes lost' leak 3 50
	end
	blocks_in_log 3 50 "$(at bugs.c 'char *reply = malloc(bytes);')"
	begin plain
	end
	need_full
	begin full
	says '3 replies of 50 bytes lost' leak 3 50
	[ "$(lost "$PID")" = "$(as_place bugs.c 'char *reply = malloc(bytes);') definite 3 150" ]
}
