#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm run --leaks: what is found at the end of a process, on all ways out. The mechanism alone: leaving.bats.

bats_require_minimum_version 1.5.0
load leaks

# ends WAY ARG...: leave_exit natively and searched: same output and status; what is found is what its comment says for WAY.
ends() {
	local way=$1 native=0 searched=0
	shift
	within "$PROG/leave_exit" "$@" >"$T/native.out" 2>/dev/null </dev/null || native=$?
	rm -f "$T/exit.pmm"
	within "$PMM" run -q --leaks -o "$T/exit.pmm" -- "$PROG/leave_exit" "$@" >"$T/exit.out" 2>"$T/exit.err" </dev/null || searched=$?
	[ "$native" -eq "$searched" ] || { echo "$*: status $searched, natively $native"; cat "$T/exit.err"; return 1; }
	cmp "$T/native.out" "$T/exit.out" || return 1
	search "$T/exit.json" "$T/exit.pmm" || { cat "$T/exit.err"; return 1; }
	difference=$(python3 "$CLI/leak_sums.py" "$SOURCE/leave_exit.c" "$way" "$T/exit.json") || return 1
	[ -z "$difference" ] || { echo "$*:"; echo "$difference"; cat "$T/exit.err"; return 1; }
}

@test "main has returned: what its frame held is lost" {
	ends returned return
	ends returned return threads
	ends returned return closed
	ends returned raise ignored
}

@test "exit, _exit, _Exit, quick_exit: frames and registers of the callers hold" {
	local how
	for how in exit _exit _Exit quick_exit; do
		ends held "$how"
		ends held "$how" thread
	done
}

@test "exit by the C library, exit_group through syscall" {
	ends held err
	ends held syscall
}

@test "deadly signals" {
	local how
	for how in segv trap raise realtime abort; do
		ends held "$how"
	done
	ends held segv thread
	ends held raise threads
	ends held raise handler
	ends held raise once
}

@test "SIGBUS of broken memory that the thread did not touch kills, too" {
	within "$PROG/leave_memory" || [ $? -eq 135 ]
	run -135 "$PMM" run -q --leaks -o "$T/memory.pmm" -- "$PROG/leave_memory"
	search "$T/memory.json" "$T/memory.pmm"
	[ "$(python3 "$CLI/leak_sums.py" --total "$T/memory.json")" = "definite 3/300 indirect 0/0 possible 0/0" ]
}

@test "a hundred threads" {
	ends held exit threads
	ends held _exit threads
}

@test "the text is told on stderr, the exit code is the program's unless asked for" {
	run -3 --separate-stderr "$PMM" run --leaks -o "$T/x.pmm" -- "$PROG/leave_exit" exit
	[ "$output" = $'handler\ndestructor\nbefore' ]
	grep -q "definitely lost  300 bytes in 3 blocks" <<<"$stderr"
	run -9 "$PMM" run --leaks --error-exitcode 9 -o "$T/x.pmm" -- "$PROG/leave_exit" exit
	run -0 --separate-stderr "$PMM" run -q --leaks --error-exitcode 9 -o "$T/x.pmm" -- /bin/true
	[ -z "$stderr" ]
}

@test "suppressions" {
	printf 'leak:^lost$\n' >"$T/lost.supp"
	run -3 --separate-stderr "$PMM" run -q --leaks --error-exitcode 9 --suppressions "$T/lost.supp" -o "$T/x.pmm" -- "$PROG/leave_exit" exit
	[ -z "$stderr" ]
	run -3 --separate-stderr "$PMM" run --leaks --suppressions "$T/none" -o "$T/x.pmm" -- "$PROG/leave_exit" exit
	[ -z "$output" ]
}

@test "a child is searched for its own blocks" {
	rm -rf "$T/cap"; mkdir "$T/cap"
	run -10 "$PMM" run -q --leaks -o "$T/cap/%p.pmm" -- "$PROG/leave_exit" segv fork
	local file nr=0
	for file in "$T"/cap/*.pmm; do
		search "$T/child.json" "$file"
		[ "$(jq .search.how "$T/child.json")" = '"exit"' ]
		if [ "$(jq -r .process.began "$T/child.json")" = fork ]; then
			jq -e '[.certain, .likely, .growing, .unlikely | .[]? | select(.function == "registered")] == [] | not' "$T/child.json"
			jq -e '[.certain, .likely, .growing, .unlikely | .[]? | select(.function == "lost")] == []' "$T/child.json"
		fi
		nr=$((nr + 1))
	done
	[ "$nr" -eq 2 ]
}

@test "SIGKILL: nothing can be searched, and that is said" {
	run -137 --separate-stderr "$PMM" run -q --leaks -o "$T/x.pmm" -- "$PROG/leave_exit" kill
	grep -q SIGKILL <<<"$stderr"
}

# unsearched PATTERN CMD...: not searched, with that reason in one sentence, whatever it ends with.
unsearched() {
	local pattern=$1
	shift
	within "$PMM" run -q --leaks -o "$T/x.pmm" -- "$@" >/dev/null 2>"$T/x.err" || true
	grep -q "was not searched for leaks: .*$pattern" "$T/x.err" && [ "$(grep -c "^pmm: [^h]" "$T/x.err")" -eq 1 ] ||
		{ echo "$*"; cat "$T/x.err"; return 1; }
}

@test "programs that the agent is not in, and ends that it does not see: the cause is said, and what to do instead" {
	within "$PMM" run -q --leaks -o "$T/x.pmm" -- sh -c 'exec "$0"' "$PROG/leaf_static" >/dev/null 2>"$T/x.err"
	[ "$(head -1 "$T/x.err")" = "pmm: WARNING: 1 program was not tracked: leaf_static (static)" ]
	grep -q "^pmm: hint: 'pmm attach PID'" "$T/x.err"
	[ "$(wc -l <"$T/x.err")" -eq 2 ]
	unsearched "signal 11 .*stack" "$PROG/leave_exit" overflow
	unsearched "_exit() inside the C library .*or a system call of its own" "$PROG/leave_exit" raw
	grep -q "hint: 'pmm leaks PID'" "$T/x.err"
	within "$PMM" run -q --leaks -o "$T/x.%p.pmm" -- "$PROG/leave_exit" daemon >/dev/null 2>"$T/x.err" || true
	grep -q "was not searched for leaks: it ended as pmm's agent does not see it, by _exit() inside the C library (daemon()" "$T/x.err"
}

searched() { VICTIM=$(pgrep -P "$MONITOR" -x many) && grep -q '^State:.t' "/proc/$VICTIM/status"; }
searched_or_gone() { searched || [ -e "$T/many.pmm" ]; }

# in_search SIGNAL WHOM: the signal to VICTIM, a program with much to search, or to MONITOR, which searches it, in the midst of that: both stand
# still then. A search may be over before it is met: once more. STATUS is pmm's, what is said in $T/many.out and .err.
in_search() {
	local met=
	for _ in {1..20}; do
		rm -f "$T/many.pmm"
		"$PMM" run -q --leaks -o "$T/many.pmm" -- "$PROG/many" 1000000 16 >"$T/many.out" 2>"$T/many.err" &
		MONITOR=$! STATUS=0
		await -p "$MONITOR" searched_or_gone
		! kill -STOP "$MONITOR" || ! searched || met=yes
		[ -z "$met" ] || kill "-$1" "${!2}"
		kill -CONT "$MONITOR" || [ -z "$met" ]
		wait "$MONITOR" || STATUS=$?
		[ -z "$met" ] || return 0
	done
	echo "never met in the search"
	return 1
}

@test "SIGKILL during the search: nothing is called lost because it can no longer be read" {
	in_search KILL VICTIM
	[ "$STATUS" -eq 137 ] || { echo "status $STATUS"; cat "$T/many.err"; return 1; }
	# its memory may be readable to the end of the search all the same: then the capture has that
	grep -q SIGKILL "$T/many.err" || within "$PMM" leaks "$T/many.pmm" | grep -q '^  searched '
	! grep "lost" "$T/many.err"
}

# exec_while_waiting CMD...: what CMD becomes at last, behind a byte of input and exec by another thread while it waits to be searched, is searched.
exec_while_waiting() {
	mkfifo "$T/in"
	"$PMM" run -q --leaks -o "$T/exec.pmm" -- "$@" <"$T/in" >"$T/exec.out" 2>"$T/exec.err" &
	local monitor=$! status=0
	exec 9>"$T/in"
	await -p "$monitor" pgrep -P "$monitor" -x leave_exec
	kill -STOP "$monitor"
	printf x >&9
	await grep -q ready "$T/exec.out"
	kill -CONT "$monitor"
	sleep 0.5			# it could search now
	echo g >&9
	await -p "$monitor" grep -q "done" "$T/exec.out"
	exec 9>&-
	wait "$monitor" || status=$?
	[ "$status" -eq 0 ] || { echo "status $status"; cat "$T/exec.err"; return 1; }
	search "$T/exec.json" "$T/exec.pmm"
	sums data exit "$T/exec.json"
}

@test "exec by another thread while the process waits: the new program is not searched in its place, but at its own end" {
	exec_while_waiting "$PROG/leave_exec" "$PROG/leak_data"
}

@test "the same within one tick of pmm's clock" {
	exec_while_waiting /bin/sh -c 'kill -STOP "$PPID"; exec "$0" "$1"' "$PROG/leave_exec" "$PROG/leak_data"
}

@test "processes that go on in the background are searched at their end" {
	printf '(read -r _ <"%s"; exec "%s" exit) >/dev/null 2>&1 &\n' "$T/go" "$PROG/leave_exit" >"$T/script"
	mkfifo "$T/go"
	rm -rf "$T/cap"; mkdir "$T/cap"
	"$PMM" run -q --leaks -o "$T/cap/%c.%p.pmm" -- /bin/sh "$T/script"
	echo >"$T/go"
	await compgen -G "$T/cap/leave_exit.*.pmm"
	search "$T/back.json" "$T"/cap/leave_exit.*.pmm
	sums_of_exit=$(python3 "$CLI/leak_sums.py" "$SOURCE/leave_exit.c" held "$T/back.json")
	[ -z "$sums_of_exit" ] || { echo "$sums_of_exit"; return 1; }
}

@test "SIGTERM to pmm during the search at the end comes too late" {
	in_search TERM MONITOR
	[ "$STATUS" -eq 0 ] || { echo "status $STATUS"; cat "$T/many.err"; return 1; }
	[ "$(cat "$T/many.out")" = unharmed ]
}

# together STATUS... -- ARG...: leave_together, 25 times: one of these is its status, and each time it is searched.
together() {
	local good=() status difference
	while [ "$1" != -- ]; do good+=("$1"); shift; done
	shift
	for _ in $(seq 25); do
		status=0
		rm -f "$T/race.pmm"
		within "$PMM" run -q --leaks -o "$T/race.pmm" -- "$PROG/leave_together" "$@" >"$T/race.out" 2>"$T/race.err" </dev/null || status=$?
		[[ " ${good[*]} " == *" $status "* ]] || { echo "$*: status $status"; cat "$T/race.err"; return 1; }
		search "$T/race.json" "$T/race.pmm"
		[ "$(jq -r .search.how "$T/race.json")" = "exit" ] || { echo "$*: not searched"; cat "$T/race.err"; return 1; }
		difference=$(python3 "$CLI/leak_sums.py" "$SOURCE/leave_together.c" exit "$T/race.json") || return 1
		[ -z "$difference" ] || { echo "$*:"; echo "$difference"; return 1; }
		! grep "^pmm:" "$T/race.err" || return 1
	done
}

@test "twenty threads in exit() at once: searched, once" { together 7 -- pause exit; }
@test "twenty threads in _exit() at once" { together 7 -- pause _exit; }
@test "twenty threads in quick_exit() at once" { together 7 -- pause quick_exit; }
@test "twenty threads raise SIGTERM at once" { together 143 -- pause term; }
@test "twenty threads end the process in five ways while main returns" { together 7 143 -- main exit _exit quick_exit err term; }

@test "the first thread has ended long before the last one ends the process" {
	run -7 "$PMM" run -q --leaks -o "$T/first.pmm" -- "$PROG/endings" main-first
	search "$T/first.json" "$T/first.pmm"
	[ "$(python3 "$CLI/leak_sums.py" --total "$T/first.json")" = "definite 13/1170 indirect 0/0 possible 0/0" ]
}

# busy N CMD...: while N processes keep the processor of CMD busy.
busy() {
	local nr=$1 cpu hogs=() status=0
	shift
	cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')
	for _ in $(seq "$nr"); do
		taskset -c "$cpu" timeout "$LIMIT" sh -c 'while :; do :; done' 3>&- &
		hogs+=($!)
	done
	(taskset -cp "$cpu" "$BASHPID" >/dev/null; "$@") || status=$?
	kill "${hogs[@]}" 2>/dev/null || true
	wait "${hogs[@]}" 2>/dev/null || true
	return "$status"
}

# seizes: three small processes that hardly get a processor, searched one after the other behind a byte of input; how often pmm seized threads.
seizes() {
	local monitor
	"$PMM" run -q --leaks -o "$T/busy.pmm" -- sh -c 'read -r x; for i in 1 2 3; do nice -n 10 "$0" return; done; :' "$PROG/leave_exit" \
		<"$T/go" >/dev/null 2>"$T/busy.err" 3>&- &
	monitor=$!
	exec 9>"$T/go"
	await -p "$monitor" pgrep -P "$monitor"
	strace -f -qq -e trace=ptrace -o "$T/ptrace" -p "$monitor" 2>/dev/null 3>&- 9>&- &
	await -p "$monitor" grep -q '^TracerPid:.[1-9]' "/proc/$monitor/status"
	echo >&9
	exec 9>&-
	wait "$monitor"
	wait $!
	grep -c PTRACE_SEIZE "$T/ptrace"
}

@test "on a busy machine a small process is stopped for its search once" {
	need strace
	mkfifo "$T/go"
	run -0 busy 4 seizes
	[ "$output" = 4 ]
	! grep "was not searched" "$T/busy.err"
}

@test "a leak among a cache and tables is likely once it has grown for long, and growing before" {
	within "$PMM" run -q --leaks -o "$T/grower.pmm" -- "$PROG/grower" 22 </dev/null >"$T/out" 2>"$T/err" 3>&-
	says() {
		"$PMM" leaks --json --show=all "${@:2}" "$T/grower.pmm" >"$T/grower.json" || [ $? -eq 1 ]
		json_is "$1" '[.likely, .growing | [.[].function] - ["table"]]' <"$T/grower.json" || { jq . "$T/grower.json"; return 1; }
	}
	says '[["kept"],[]]' --old 500ms	# 15 s are long then
	says '[[],["kept"]]'
	"$PMM" leaks --json --show=all --old 500ms "$T/grower.pmm" | json_is '"steady many spread pace kept long"' '.likely[0].evidence'
	"$PMM" leaks --json --show=all --old 500ms "$T/grower.pmm" | json_is '[]' '[.likely[], .growing[], .certain[] | select(.function == "cached")]'
	status=0
	"$PMM" leaks --old 500ms "$T/grower.pmm" >"$T/text" || status=$?
	[ "$status" -eq 1 ]
	"$PMM" leaks "$T/grower.pmm" >"$T/text"
	grep -q '^Growing: a leak, or a cache that fills$' "$T/text"
	status=0
	"$PMM" leaks --fail-on=growth "$T/grower.pmm" >"$T/text" || status=$?
	[ "$status" -eq 1 ]
}
