#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmmd, the daemon of examples/: that it is one, that clients cannot harm it, and what a storm of both leaves.

load pmmd

# ---- it is a daemon

@test "ready when its starter returns; no terminal, session, directory or descriptor of its starter" {
	local sid tty old
	exec 9>"$T/open"
	(umask 0; cd "$T"; trap '' USR2 TERM; begin plain)
	PID=$(cat "$D/pmmd.pid")
	exec 9>&-
	says '0 values dropped, 0 left' free 1
	read -r _ _ _ ppid _ sid tty _ <"/proc/$PID/stat"
	[ "$tty" -eq 0 ]
	[ "$sid" -ne "$PID" ]
	[ ! -d "/proc/$sid" ]
	[ "$ppid" -ne $$ ]
	[ "$(readlink "/proc/$PID/cwd")" = / ]
	grep -q '^Umask:.0077' "/proc/$PID/status"
	grep -q '^SigIgn:.0000000[01][08]0001000' "/proc/$PID/status"	# SIGPIPE; 32 and 33, the C library's own, as posix_spawn() leaves them
	for fd in 0 1 2; do [ "$(readlink "/proc/$PID/fd/$fd")" = /dev/null ]; done
	[ -z "$(find "/proc/$PID/fd" -lname "$T/open")" ]
	[ "$(find "/proc/$PID/fd" -type l | wc -l)" -eq 8 ]	# pid file, socket, log, signals, time
	[ "$(cd "$D" && stat -c '%a %n' pmmd.*)" = $'600 pmmd.log\n600 pmmd.pid\n600 pmmd.sock' ]
	[ "$(cat "$D/pmmd.pid")" = "$PID" ]
	old=$PID
	end TERM
	in_log 1 "^20[0-9]{2}-[0-9-]{5} [0-9:]{8}Z pmmd $old is ready$"
	in_log 1 "Z pmmd $old ends$"
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
	[ "$(ls "$D")" = pmmd.log ]
	[ ! -s "$T/file" ]
	rm "$D/pmmd.log"
	begin plain
	fails "a pmmd runs in that directory already, process $PID" "$D"
	fails "a pmmd runs in that directory already, process $PID" -f "$D"
	says '0 values dropped, 0 left' free 1
	end
}

@test "who calls it wrongly is told how it is called" {
	local args status
	for args in '' '-f' '--kmod' '--frob' '-f --frob a' 'a b' 'ctl' "ctl $D/pmmd.sock"; do
		status=0
		# shellcheck disable=SC2086
		within "$PMMD/pmmd-plain" $args >"$T/out" 2>"$T/err" 3>&- || status=$?
		[ "$status" -eq 2 ]
		[ ! -s "$T/out" ]
		[ "$(head -1 "$T/err")" = "usage: pmmd [-f] [--kmod] DIRECTORY            start; -f: stay in the foreground" ]
	done
	within "$PMMD/pmmd-plain" --help >"$T/out" 2>"$T/err" 3>&-
	[ ! -s "$T/err" ]
	[ "$(sed -n '/^commands:$/,/^$/p' "$T/out" | grep -c '^  [a-z]')" -eq 13 ]
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
	fails "another daemon listens at '$D/pmmd.sock' already" "$D"
	[ "$(ls "$D")" = pmmd.sock ]
	kill -9 "$OTHER"
	wait "$OTHER" || true
	OTHER=
	begin plain
	kill -9 "$PID"
	await is_gone "$PID"
	[ -S "$D/pmmd.sock" ]
	[ -s "$D/pmmd.pid" ]
	[ "$(ctl free 1)" = "pmmd: no pmmd answers at '$D/pmmd.sock': it has ended" ]
	begin plain
	end
	[ "$(ctl free 1)" = "pmmd: no pmmd answers at '$D/pmmd.sock': No such file or directory" ]
}

# without_module FORM WHY: with --kmod it is told to the starter and in the log, once each, and the daemon runs.
without_module() {
	within "$PMMD/pmmd-$1" --kmod "$D" >"$T/out" 2>"$T/err" 3>&-
	PID=$(cat "$D/pmmd.pid")
	[ ! -s "$T/out" ]
	[ "$(cat "$T/err")" = "pmmd: nothing is logged to the kernel module: $2" ]
	in_log 1 "Z nothing is logged to the kernel module: $2\$"
	says "pmmd: nothing is logged to the kernel module: $2" kmod 1
	says 'requests are no more logged to the kernel module' kmod 0
	says '10 values of 100 bytes in the cache' alloc 10 100
	end
}

@test "--kmod without the kernel module: that is said, and it goes on" {
	[ ! -e /dev/pmm ] || skip "the kernel module is loaded"
	without_module plain 'this pmmd has no monitor inside'
	without_module static "it is not loaded, which 'pmm kmod load' does as root"
	rm "$LOG"
	begin static
	end
	in_log 0 'kernel module'	# neither of it where nobody asks
}

@test "full form: the same" {
	[ ! -e /dev/pmm ] || skip "the kernel module is loaded"
	need_full
	without_module full "it is not loaded, which 'pmm kmod load' does as root"
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
	says "pmmd: 0|1 is a number from 0 to 1, not '2'" kmod 2
	says 'pmmd: nothing is logged to the kernel module: this pmmd has no monitor inside' kmod 1
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
	! grep -q -v '^[ -~]*$' "$LOG" || return 1
	blocks_in_log 1002 10 "$(at bugs.c 'char *reply = malloc(bytes);')"
	in_log 1 '^  blocks: .* 1002 live, '
	in_log 1 '^  errors: 0$'
}

# storm FORM: signals while eight threads and the clients have it allocate.
storm() {
	local i nr
	begin "$1"
	says '8 threads' threads 8
	for ((i = 0; i < 100; i++)); do
		kill -USR1 "$PID"
		((i % 10)) || kill -HUP "$PID"
		((i % 10)) || says 'written to the log' dump
		((i % 5)) || says '10 values of 100 bytes in the cache' alloc 10 100
	done
	says '200 values dropped, 0 left' free 1000
	says '0 threads' threads 0
	end
	! grep -v -E '^(pmm: |  |20[0-9]{2}-)' "$LOG" || return 1
	nr=$(grep -c '^pmm: totals' "$LOG")
	[ "$nr" -ge 12 ]	# ten by command, one at the end, and signals, which the kernel may join
	[ "$nr" -le 111 ]
	[ "$nr" -eq "$(grep -c '^  errors: 0$' "$LOG")" ]
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
