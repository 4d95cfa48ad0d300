#!/usr/bin/env bats
# pmmd, the daemon of examples/: that it is one, that clients cannot harm it, and that it is watched with the monitor inside (static form),
# from outside (attach, report, leaks, check) and by signal, with exact numbers.

load attach

PMMD=$(dirname "$PMM")/examples/pmmd
D=$T/d
LOG=$D/pmmd.log

setup() {
	mkdir -p "$D"
	PID=
}

teardown() {
	stop_all
	[ -z "${OTHER:-}" ] || kill -9 "$OTHER" 2>/dev/null || true
	PID=$(cat "$D/pmmd.pid" 2>/dev/null) || return 0
	[[ $(readlink "/proc/$PID/exe") != */pmmd-* ]] || kill -9 "$PID"
}

# begin FORM: a daemon with the monitor in that form, or "plain". Sets PID.
begin() {
	FORM=$1
	within "$PMMD/pmmd-$FORM" "$D" >"$T/begin.out" 2>"$T/begin.err" 3>&- || { echo "status $?"; cat "$T/begin.err"; return 1; }
	[ ! -s "$T/begin.out" ] && [ ! -s "$T/begin.err" ] || { cat "$T/begin.out" "$T/begin.err"; return 1; }
	PID=$(cat "$D/pmmd.pid")
}

# ctl WORD...: a command, its answer on standard output, errors too.
ctl() { within "$PMMD/pmmd-plain" ctl "$D/pmmd.sock" "$@" 2>&1 3>&-; }

# says TEXT WORD...: a command is answered so.
says() {
	local said
	said=$(ctl "${@:2}") || true
	[ "$said" = "$1" ] || { echo "'${*:2}': '$said', must be '$1'"; return 1; }
}

# is_gone PID: it has ended; in a container whose first process reaps nobody, it stays as a zombie.
is_gone() { [ ! -d "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"; }

# end [SIGNAL]: the daemon ends, by command unless told, and leaves nothing but its log.
end() {
	if [ $# -gt 0 ]; then kill -"$1" "$PID"; else says '' quit; fi
	await is_gone "$PID"
	PID=
	[ "$(ls "$D")" = pmmd.log ] || { ls -l "$D"; return 1; }
}

# at FILE TEXT: the place of the only line of the daemon's FILE with that text, as the monitor says it.
at() {
	local line
	line=$(grep -n -F "$2" "$ROOT/examples/pmmd/$1" | cut -d : -f 1)
	[[ $line =~ ^[0-9]+$ ]] || { echo "'$2' is not just once in $1" >&2; return 1; }
	echo "$1($line)"
}

# in_log COUNT PATTERN: so many lines of the log match.
in_log() {
	local nr
	nr=$(grep -c -E -- "$2" "$LOG") || true
	[ "$nr" -eq "$1" ] || { echo "$nr lines match '$2', must be $1:"; tail -40 "$LOG"; return 1; }
}

need_full() { [ "$(uname -m)" = x86_64 ] || skip "the full form knows x86-64 only"; }

# literal TEXT: as a pattern.
literal() { sed 's/[][().*+?{}|^$\\]/\\&/g' <<<"$1"; }

# blocks_in_log COUNT SIZE PLACE: so many rows of tables of blocks.
blocks_in_log() { in_log "$1" "^ +[0-9]+ +$2 0x[0-9a-f]+ . +[0-9:]+  $(literal "$3")\$"; }

# ---- it is a daemon

@test "ready when its starter returns; no terminal, session, directory or descriptor of its starter" {
	local sid tty
	exec 9>"$T/open"
	(umask 0; cd "$T"; trap '' USR2 TERM; begin plain)
	PID=$(cat "$D/pmmd.pid")
	exec 9>&-
	says '0 values dropped, 0 left' free 1
	read -r _ _ _ ppid _ sid tty _ <"/proc/$PID/stat"
	[ "$tty" -eq 0 ] && [ "$sid" -ne "$PID" ] && [ ! -d "/proc/$sid" ] && [ "$ppid" -ne $$ ]
	[ "$(readlink "/proc/$PID/cwd")" = / ]
	grep -q '^Umask:.0077' "/proc/$PID/status"
	grep -q '^SigIgn:.0000000[01][08]0001000' "/proc/$PID/status"	# SIGPIPE; 32 and 33, the C library's own, as posix_spawn() leaves them
	for fd in 0 1 2; do [ "$(readlink "/proc/$PID/fd/$fd")" = /dev/null ]; done
	[ -z "$(find "/proc/$PID/fd" -lname "$T/open")" ]
	[ "$(find "/proc/$PID/fd" -type l | wc -l)" -eq 8 ]	# pid file, socket, log, signals, time
	[ "$(cd "$D" && stat -c '%a %n' pmmd.*)" = $'600 pmmd.log\n600 pmmd.pid\n600 pmmd.sock' ]
	[ "$(cat "$D/pmmd.pid")" = "$PID" ]
	end TERM
	in_log 1 "pmmd [0-9]+ is ready"
	in_log 1 "pmmd [0-9]+ ends"
}

@test "SIGTERM, SIGINT and the command end it; SIGHUP opens the log anew" {
	local how
	for how in TERM INT ''; do
		begin static
		end $how
	done
	begin plain
	mv "$LOG" "$D/old"
	kill -HUP "$PID"
	await -p "$PID" grep -q 'the log is opened anew' "$LOG"
	rm "$D/old"
	end
	in_log 1 ''"pmmd [0-9]+ ends"
}

@test "in the foreground its own status says how it ended" {
	local status=0
	"$PMMD/pmmd-plain" -f "$D" >"$T/out" 2>&1 3>&- &
	PID=$!
	await -p "$PID" grep -q 'is ready' "$LOG"
	kill -TERM "$PID"
	wait "$PID" || status=$?
	PID=
	[ "$status" -eq 0 ] && [ ! -s "$T/out" ] && [ "$(ls "$D")" = pmmd.log ]
}

# fails TEXT ARG...: the starter ends with 1 and says that.
fails() {
	local status=0
	within "$PMMD/pmmd-plain" "${@:2}" >"$T/out" 2>"$T/err" 3>&- || status=$?
	[ "$status" -eq 1 ] && [ ! -s "$T/out" ] && [ "$(cat "$T/err")" = "pmmd: $1" ] ||
		{ echo "status $status"; cat "$T/out" "$T/err"; return 1; }
}

@test "what keeps it from starting is told by the starter, and nothing is left or changed" {
	local long
	fails "directory '$T/none' cannot be used: No such file or directory" "$T/none"
	touch "$T/file"
	fails "'$T/file' is no directory" "$T/file"
	long=$T/$(printf 'l%.0s' {1..100})
	mkdir "$long"
	fails "the name of directory '$long' is too long for that of a socket, which has 107 characters at most" "$long"
	touch "$D/pmmd.sock"
	fails "'$D/pmmd.sock' is in the way, and is no socket" "$D"
	[ "$(ls "$D")" = pmmd.sock ]
	rm "$D/pmmd.sock"
	mkfifo "$D/pmmd.pid"
	fails "'$D/pmmd.pid' is no plain file" "$D"
	rm "$D/pmmd.pid"
	ln -s "$T/file" "$D/pmmd.log"
	fails "'$D/pmmd.log' cannot be opened: Too many levels of symbolic links" "$D"
	[ "$(ls "$D")" = pmmd.log ] && [ ! -s "$T/file" ]
	rm "$D/pmmd.log"
	begin plain
	fails "a pmmd runs in that directory already, process $PID" "$D"
	fails "a pmmd runs in that directory already, process $PID" -f "$D"
	says '0 values dropped, 0 left' free 1
	end
	within "$PMMD/pmmd-plain" >"$T/out" 2>"$T/err" && return 1
	[ ! -s "$T/out" ] && [ "$(head -1 "$T/err")" = "usage: pmmd [-f] DIRECTORY                     start; -f: stay in the foreground" ]
}

@test "a socket that somebody else listens at is left alone, what a killed daemon left is cleared away" {
	need python3
	python3 -c 'import socket, sys, time
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
time.sleep(1000)' "$D/pmmd.sock" 3>&- &
	OTHER=$!
	await -p "$OTHER" grep -q "00010000 0001 .* $D/pmmd.sock" /proc/net/unix
	fails "somebody listens at '$D/pmmd.sock' already" "$D"
	[ "$(ls "$D")" = pmmd.sock ]
	kill -9 "$OTHER"
	wait "$OTHER" || true
	OTHER=
	begin plain
	kill -9 "$PID"
	await is_gone "$PID"
	[ -S "$D/pmmd.sock" ] && [ -s "$D/pmmd.pid" ]
	[ "$(ctl free 1)" = "pmmd: no pmmd answers at '$D/pmmd.sock': it has ended" ]
	begin plain
	end
	[ "$(ctl free 1)" = "pmmd: no pmmd answers at '$D/pmmd.sock': No such file or directory" ]
}

# ---- clients

@test "bad commands get a sentence" {
	begin plain
	says "pmmd: there is no command 'frob': pmmd --help lists them" frob
	says "pmmd: there is no command '$(printf 'x%.0s' {1..40})...': pmmd --help lists them" "$(printf 'x%.0s' {1..400})"
	says 'pmmd: that is no command: pmmd --help lists them' ''
	says 'pmmd: it is called so: alloc N SIZE' alloc 1
	says 'pmmd: it is called so: alloc N SIZE' alloc 1 2 3
	says 'pmmd: it is called so: stats' stats 1
	says 'pmmd: it is called so: grow BYTES/S SECONDS' grow
	says "pmmd: N is a number from 1 to 1000000, not '0'" alloc 0 1
	says "pmmd: N is a number from 1 to 1000000, not '-1'" alloc -1 1
	says "pmmd: N is a number from 1 to 1000000, not '1e3'" free 1e3
	says "pmmd: N is a number from 1 to 1000000, not '99999999999999999999'" leak 99999999999999999999 1
	says "pmmd: SIZE is a number from 1 to 1073741824, not '1073741825'" alloc 1 1073741825
	says "pmmd: N is a number from 0 to 64, not '65'" threads 65
	says 'pmmd: that would be more than the 1073741824 bytes that pmmd takes: 1073741824 are left' alloc 1000000 1074
	says '1 values of 1000 bytes in the cache' alloc 1 1000
	says 'pmmd: that would be more than the 1073741824 bytes that pmmd takes: 1073740824 are left' grow 1000000 2000
	says 'pmmd: this pmmd has no monitor inside: pmm attach PID and pmm report PID look from outside' dump
	[[ $(ctl check) == 'pmmd: this pmmd has no monitor inside:'* ]]
	says 'pmmd: a command is one line of 4095 characters at most' $'leak 1\nquit'
	[ "$(ctl stats | sed 's/  */ /g; 1d')" = 'cache 1 values, 1000 bytes
queue 0 records, 0 bytes
crew 0 threads, 0 jobs
lost 0 replies, 0 bytes
monitor none compiled in' ]
	end
}

# client WAY: what such a client (pmmd_client.py) is answered.
client() { within python3 "$CLI/pmmd_client.py" "$D/pmmd.sock" "$1" 3>&-; }

@test "odd clients: long lines, single bytes, zeros, those that leave or do not listen, too many; not a byte is lost" {
	local fds
	need python3
	begin static
	fds=$(find "/proc/$PID/fd" -type l | wc -l)
	[ "$(client long)" = $'error a line has 4095 characters at most\nok 0 values dropped, 0 left' ]
	[ "$(client endless)" = 'error a line has 4095 characters at most' ]
	[ "$(client bytes)" = $'ok 2 replies of 10 bytes lost\nok 0 values dropped, 0 left' ]
	[ "$(client heap | sort | uniq -c)" = '   1000 ok 1 replies of 10 bytes lost' ]
	[ "$(client zero)" = "error a line with a zero byte is no command
error a line with a zero byte is no command
error that is no command: pmmd --help lists them
error that is no command: pmmd --help lists them
error there is no command '??[31m': pmmd --help lists them
ok 0 values dropped, 0 left" ]
	client unfinished
	client unread
	client silent
	[ "$(client deaf)" = $'ok 0 values dropped, 0 left\nerror there is no command \'nonsense\': pmmd --help lists them' ]
	[ "$(client crowd)" = 'error all sessions are taken: try again later' ]
	await -p "$PID" grep -q 'is gone in the midst of a command' "$LOG"
	await -p "$PID" eval "[ \$(find /proc/$PID/fd -type l | wc -l) -eq $fds ]"
	[ "$(ctl stats | sed -n 's/  */ /g; 2,5p')" = 'cache 0 values, 0 bytes
queue 0 records, 0 bytes
crew 0 threads, 0 jobs
lost 1002 replies, 10020 bytes' ]
	end
	! grep -q -v '^[ -~]*$' "$LOG"
	blocks_in_log 1002 10 "$(at bugs.c 'char *reply = malloc(bytes);')"
	in_log 1 '^  blocks: .* 1002 live, '
	in_log 1 '^  errors: 0$'
}

# storm FORM: signals while eight threads and the clients have it allocate.
storm() {
	local i
	begin "$1"
	says '8 threads' threads 8
	for ((i = 0; i < 100; i++)); do
		kill -USR1 "$PID"
		((i % 10)) || kill -HUP "$PID"
		((i % 5)) || says '10 values of 100 bytes in the cache' alloc 10 100
	done
	says '200 values dropped, 0 left' free 1000
	says '0 threads' threads 0
	end
	! grep -v -E '^(pmm: |  |20[0-9]{2}-)' "$LOG"
	[ "$(grep -c '^pmm: totals' "$LOG")" -ge 2 ]
	[ "$(grep -c '^pmm: totals' "$LOG")" -eq "$(grep -c '^  errors: 0$' "$LOG")" ]
	tail -7 "$LOG" | grep -q '^  blocks: .* 0 live, '
	tail -7 "$LOG" | grep -q ' 0 passed untracked$'
}

@test "static form: a storm of signals interrupts nothing: commands are obeyed, dumps are whole, nothing is lost" {
	storm static
}

@test "full form: the same storm" {
	need_full
	storm full
}

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
	says 'written to the log' dump
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
	! readelf -S "$PMMD/pmmd-full" | grep -q debug_line
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

# lost PID|FILE: what pmm leaks finds, "FILE:LINE CLASS BLOCKS BYTES" a line.
lost() {
	within "$PMM" leaks --json --top 0 --fail-on none "$1" 2>"$T/leaks.err" 3>&- >"$T/leaks.json" || { cat "$T/leaks.err"; return 1; }
	jq -r '.certain[] | "\(.frames[0].file | sub(".*/"; "")):\(.frames[0].line) \(.class) \(.blocks) \(.bytes)"' "$T/leaks.json"
}

# as_place FILE TEXT: the same place as pmm says it.
as_place() { at "$@" | sed 's/(/:/; s/)//'; }

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

	rm "$LOG"
	"$PMM" check --budget=all --json --report "$T/check.json" -- "$PMMD/pmmd-plain" -f "$D" >"$T/out" 2>"$T/err" 3>&- &
	OTHER=$!
	await -p "$OTHER" grep -q 'is ready' "$LOG"
	says 'a byte behind a label is written' overflow
	says 'a request was freed twice' doublefree
	says '' quit
	wait "$OTHER" || [ $? -eq 1 ]
	OTHER=
	json_is '[["double-free","request_end"],["overrun","label_new"]]' '[.findings[] | [.type, .frames[0].function]] | sort' <"$T/check.json"
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

	rm "$LOG"
	"$PMM" check --budget=all --json --report "$T/check.json" -- "$PMMD/pmmd-full" -f "$D" >"$T/out" 2>"$T/err" 3>&- &
	OTHER=$!
	await -p "$OTHER" grep -q 'is ready' "$LOG"
	says 'a byte behind a label is written' overflow
	says 'a request was freed twice' doublefree
	says '' quit
	wait "$OTHER" || [ $? -eq 1 ]
	OTHER=
	json_is '["double-free","overrun"]' '[.findings[].type] | sort' <"$T/check.json"
}

# ---- as others do it

@test "the commands of the README, word by word" {
	local build=${PMM%/pmm}
	need_attach
	need_full
	sed -n '/^## Watch a daemon/,/^## [^W]/p' "$ROOT/README.md" | sed -n -E 's/^    ((mkdir|build|ctl|sleep|kill|cat)\b.*)/\1/p' >"$T/commands"
	[ "$(wc -l <"$T/commands")" -eq 29 ]
	{
		# shellcheck disable=SC2016
		echo '. "$CLI/wait.bash"; rmdir "$D"'
		sed "s|build/|$build/|g; s|/tmp/pmmd|$D|g; s|^sleep 30$|sleep 1|" "$T/commands" |
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
