#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm attach --check: heap errors of a program that runs already, blocks that outlive the watching, and a program that notices nothing.

load attach

# guard [OPTION...]: attach with every block sampled, whatever it costs.
guard() { watch --check --sample=1 --budget=all "$@"; }

checked() { "$PMM" check --json "$T/c.pmm" >"$T/check.json" || [ $? -eq 1 ]; }

# error TYPE BY FUNCTION...: the capture has just one such heap error, with these functions in its stacks.
error() {
	local function
	checked
	jq -c --arg type "$1" --arg by "$2" '.findings[] | select(.type == $type and .by == $by)' "$T/check.json" >"$T/error.json"
	[ "$(wc -l <"$T/error.json")" -eq 1 ] || { echo "not one '$1' by $2:"; jq -c '.findings[] | [.type, .by, .what]' "$T/check.json"; return 1; }
	for function in "${@:3}"; do
		jq -e --arg f "$function" '[.frames[] | select(.stack + ":" + .function == $f)] | length > 0' "$T/error.json" >/dev/null ||
			{ echo "no $function:"; cat "$T/error.json"; return 1; }
	done
}

@test "errors are told at once and kept, with all stacks" {
	start attach_check
	guard
	tell o over
	await -p "$MONITOR" grep -q overrun "$T/watch.err"
	tell u late
	tell w under
	tell d twice
	tell p padded
	unwatch
	[ "$STATUS" -eq 1 ]
	sed -n "s/^watched 'attach_check' ($PID) for \(.*\): .*/\1/p" "$T/watch.out" >"$T/times"
	sed -n 's/^  process .*, watched for \(.*\), still running$/\1/p' "$T/watch.err" >>"$T/times"
	[ "$(wc -l <"$T/times")" -eq 2 ] && [ "$(uniq "$T/times" | wc -l)" -eq 1 ] || { cat "$T/times"; return 1; }
	clean
	error overrun access error:overrun allocated:make allocated:main
	error use-after-free access error:used_late allocated:make freed:release freed:used_late
	error underrun access error:underrun allocated:make
	error double-free function error:twice allocated:make freed:release
	error overrun release error:padded allocated:padded
	finish 42
}

# calm [LINE]: nothing was found, the victim ends as always.
calm() {
	[ "$STATUS" -eq 0 ] || { echo "status $STATUS"; cat "$T/watch.err"; return 1; }
	! grep -q -E 'beside|freed already|not checked to the end' "$T/watch.err"
}
# left N: pmm says so many guarded blocks stay.
left() { grep -q -E "the agent stays in process $PID for $1 guarded blocks? that it still uses; when they have been released, 'pmm detach $PID' takes it out" "$T/watch.err" || { echo "not $1 left:"; cat "$T/watch.err"; return 1; }; }
guarded() { checked; jq -e '.check.guarded_blocks >= 100' "$T/check.json" >/dev/null || { jq -c .check "$T/check.json"; return 1; }; }

@test "a correct program: all its blocks are used, resized and released while it is watched" {
	start attach_check
	picture first loose
	guard
	tell k kept
	tell c good
	tell a freed
	unwatch
	calm
	guarded
	same_picture first loose
	tell k kept
	finish 42
}

@test "threads: what the C library keeps for later ones is theirs as long as it likes" {
	start attach_check
	guard
	tell t joined
	tell t joined
	unwatch
	calm
	guarded
	tell t joined
	tell k kept
	tell c good
	finish 42
}

# outlived: a victim with 200 guarded blocks that was watched and is no more; what it was like before is picture "first".
outlived() {
	start attach_check
	picture first loose
	guard
	tell k kept
	unwatch
	calm
	left 200
}

@test "blocks that outlive the watching are released later, then pmm detach takes out the rest" {
	outlived
	tell f freed
	refused "still uses 100 guarded blocks" "$PMM" detach "$PID"
	tell k kept
	tell c good
	tell a freed
	refused "still uses 100 guarded blocks" "$PMM" detach "$PID"
	tell o over
	tell t joined
	finish 42
}

@test "the last guarded block is gone: pmm detach leaves the process as it was" {
	outlived
	tell c good
	tell a freed
	within "$PMM" detach "$PID"
	same_picture first loose
	tell t joined
	finish 42
}

# same_patched FILE FILE: both attaches patched the same number of functions, all that they found.
same_patched() {
	sed -n 's/.*, \([0-9]* functions patched\).*/\1/p' "$1" >"$T/patched.1"
	sed -n 's/.*, \([0-9]* functions patched\).*/\1/p' "$2" >"$T/patched.2"
	[ -s "$T/patched.1" ] && diff "$T/patched.1" "$T/patched.2" && ! grep 'not patched' "$@"
}

@test "attached, left and attached again, with blocks of the first time alive" {
	outlived
	cp "$T/watch.err" "$T/first.err"
	watch
	tell f freed
	unwatch
	guard
	same_patched "$T/first.err" "$T/watch.err"
	tell u late
	unwatch
	error use-after-free access error:used_late freed:release
	tell a freed
	within "$PMM" detach "$PID"
	same_picture first loose
	finish 42
}

# running WANTED FILTER COMMAND...: JSON of a command on the running victim.
running() { "$PMM" "${@:3}" --json "$PID" >"$T/running.json" && json_is "$1" "$2" <"$T/running.json"; }

@test "what is read of it is the ledger of who watches now, not one of an earlier time" {
	local of
	outlived
	refused "is not tracked by pmm" "$PMM" report "$PID"
	refused "is not tracked by pmm" "$PMM" snapshot -o "$T/s.pmm" "$PID"
	refused "does not track it" "$PMM" leaks "$PID"
	refused "is not checked: pmm does not track it" "$PMM" check --sweep "$PID"
	watch
	tell c good
	of=('[.totals.live_blocks, .totals.live_bytes, .totals.allocs]' report)
	running '[200,1093632,333]' "${of[@]}"
	running '[200,1093632]' '[.certain, .likely, .growing, .unlikely | .[]] | [map(.blocks), map(.bytes) | add]' leaks --show=all
	within "$PMM" snapshot -o "$T/s.pmm" "$PID"
	PID=$T/s.pmm running '[200,1093632,333]' "${of[@]}"
	refused "is recorded, but not checked" "$PMM" check --sweep "$PID"
	unwatch
	same_picture first loose
	finish 42
}

@test "whoever searches or sweeps again and again hears that the attach has ended" {
	local how=('leaks --top 0 --every=50ms' 'check --sweep=50ms') i status pids=()
	start attach_check
	guard
	for i in 0 1; do
		# shellcheck disable=SC2086
		"$PMM" ${how[i]} "$PID" >"$T/again.$i" 2>"$T/said.$i" 3>&- 7>&- 8<&- &
		pids+=($!)
		await -p $! test -s "$T/again.$i"
	done
	unwatch
	for i in 0 1; do
		status=0
		wait "${pids[i]}" || status=$?
		[ "$status" -eq 3 ]
		grep -q "process $PID is not watched any more: the pmm that watched it has ended or was detached" "$T/said.$i"
		grep -q "hint: 'pmm attach $PID' watches it again" "$T/said.$i"
	done
	finish 42
}

@test "eight times with blocks alive, the ninth is refused, all are released" {
	start attach_check
	picture first loose
	for _ in {1..8}; do
		guard
		tell k kept
		tell c good
		unwatch
	done
	refused "guarded blocks of 8 earlier" "$PMM" attach --check -d 1 "$PID"
	tell c good
	finish 42
}

@test "the monitor is killed: blocks are released, errors end nothing, pmm detach" {
	start attach_check
	picture first loose
	guard
	tell k kept
	kill_monitor
	tell c good
	tell o over
	tell u late
	tell a freed
	sleep 2.5
	tell o over
	within "$PMM" detach "$PID"
	same_picture first loose
	tell t joined
	finish 42
}

@test "the monitor is killed with blocks alive, the next watches" {
	start attach_check
	picture first loose
	guard
	tell k kept
	kill_monitor
	guard
	tell c good
	tell u late
	tell a freed
	unwatch
	error use-after-free access error:used_late
	same_picture first loose
	finish 42
}

@test "the program's own handler for SIGSEGV: set while it is watched, before, and after" {
	start attach_check
	guard
	tell k kept
	tell h caught
	tell o over
	tell h caught
	unwatch
	[ "$STATUS" -eq 1 ]
	error overrun access error:overrun
	tell h caught
	guard
	tell o over
	tell h caught
	kill_monitor
	tell h caught
	tell u late
	tell a freed
	within "$PMM" detach "$PID"
	clean
	tell h caught
	finish 42
}

@test "pages of guarded blocks that the program protects itself: its handler is told of each write" {
	start attach_check
	tell m barred
	guard
	tell m barred
	tell o over
	tell m barred
	tell k kept
	unwatch
	[ "$STATUS" -eq 1 ]
	error overrun access error:overrun
	checked
	[ "$(jq '.findings | length' "$T/check.json")" -eq 1 ]
	tell m barred
	finish 42
}

@test "a fault of its own kills it as ever" {
	local status=0
	start attach_check
	guard
	tell k kept
	kill -SEGV "$PID"
	wait "$PID" || status=$?
	[ "$status" -eq 139 ]
	PID=
	wait "$MONITOR" || true
	MONITOR=
}

@test "children go on with what their parent had" {
	start attach_check
	guard
	tell k kept
	tell y child
	tell c good
	unwatch
	calm
	tell y child
	tell a freed
	tell y child
	within "$PMM" detach "$PID"
	clean
	finish 42
}

@test "exec leaves all behind" {
	start attach_check
	guard
	tell k kept
	tell x ready
	STATUS=0
	wait "$MONITOR" || STATUS=$?
	MONITOR=
	[ "$STATUS" -eq 0 ]
	clean
	tell k kept
	finish 42
}

@test "a program that blocks SIGSEGV, or sets it behind our back, is not guarded any more" {
	local how
	for how in "b blocked blocks" "n behind 'its own system call'"; do
		eval "set -- $how"
		start attach_check
		guard
		tell k kept
		tell "$1" "$2"
		unwatch
		cat "$T/watch.err"
		grep -q "not checked to the end.*$3" "$T/watch.err"
		tell u late
		tell c good
		tell a freed
		within "$PMM" detach "$PID"
		clean
		finish 42
	done
}

@test "refused: SIGSEGV blocked, --exact" {
	start attach_check
	tell b blocked
	refused "blocks SIGSEGV" "$PMM" attach --check -d 1 "$PID"
	clean
	run "$PMM" attach --check --exact "$PID"
	[ "$status" -eq 2 ]
	finish 42
}

@test "refused: a process that is checked or recorded already" {
	local how
	for how in check run; do
		start_below "$PMM" "$how" -o "$T/already.pmm" -- "$PROG/attach_check"
		refused "process $PID was started by 'pmm $how'" "$PMM" attach --check -d 1 "$PID"
		tell k kept
		tell c good
		tell a freed
		finish 42
	done
}

# made COMPILER ARG...: the victim built so, started.
made() {
	need "$1"
	"$1" -O1 -g -fno-builtin -w -I"$SOURCE" -o "$T/made" "$SOURCE/attach_check.c" -pthread "${@:2}" 2>"$T/cc.err" ||
		{ head -3 "$T/cc.err"; skip "$1 ${*: -1} does not work here"; }
	start "$T/made"
}

# checked_already COMPILER SANITIZER
checked_already() {
	made "$1" "-fsanitize=$2"
	picture idle loose
	refused "checked already, by the sanitizer in " "$PMM" attach --check -d 1 "$PID"
	same_picture idle loose
	tell k kept
	finish 42
}

@test "refused: AddressSanitizer" { checked_already gcc address; }
@test "refused: AddressSanitizer, static" { checked_already clang address; }
@test "refused: ThreadSanitizer" { checked_already gcc thread; }
@test "refused: LeakSanitizer" { checked_already gcc leak; }

@test "refused: jemalloc" {
	local library
	library=$(ldconfig -p | awk '/libjemalloc.so.2 .*x86-64/ { print $NF; exit }')
	[ -n "$library" ] || skip "libjemalloc.so.2 is not installed"
	start env LD_PRELOAD="$library" "$PROG/attach_check"
	refused "its allocator, in .*libjemalloc.so.2, is not the C library's" "$PMM" attach --check -d 1 "$PID"
	finish 42
}

# told: an error is; the victim is as it was.
told() {
	picture first loose
	guard
	tell k kept
	tell c good
	tell u late
	tell a freed
	unwatch
	[ "$STATUS" -eq 1 ]
	error use-after-free access error:used_late freed:release
	same_picture first loose
	finish 42
}

# an_error COMPILER ARG...: of the victim built so.
an_error() { made "$@" && told; }

@test "a library has functions that ask the C library's, as libbsd" {
	echo 'void *realloc(void *, unsigned long);
		void *reallocarray(void *p, unsigned long n, unsigned long each) { return realloc(p, n * each); }
		void *reallocf(void *p, unsigned long n) { return realloc(p, n); }' | gcc -shared -fPIC -O1 -w -o "$T/compat.so" -x c -
	start env LD_PRELOAD="$T/compat.so" "$PROG/attach_check"
	told
}

@test "a static program" { an_error gcc -static; }
@test "musl" { an_error musl-gcc; }
@test "musl, static" { an_error musl-gcc -static; }

@test "a thread waits beside sigaction's code" {
	start attach_check
	tell i waits
	guard
	tell o over
	unwatch
	[ "$STATUS" -eq 1 ]
	clean
	finish 42
}

# data_kib: what counts against its limit on data.
data_kib() { awk '/^VmData:/ { print $2 }' "/proc/$PID/status"; }

@test "what stays behind counts little against limits on data" {
	local before
	start attach_check
	tell k kept
	tell a freed
	before=$(data_kib)
	guard
	tell k kept
	unwatch
	left 200
	echo "$before KiB before, $(data_kib) now"
	[ $(($(data_kib) - before)) -lt 65536 ]
	tell c good
	tell t joined
	finish 42
}

@test "--budget: none, all, and what is no percentage" {
	start attach_check
	guard
	tell k kept
	unwatch
	calm
	guarded
	jq -e '.check.unguarded_for_budget == 0' "$T/check.json"
	tell a freed
	guard --budget=0
	tell k kept
	unwatch
	calm
	checked
	jq -e '.check | .guarded_blocks == 0 and .unguarded_for_budget >= 200' "$T/check.json"
	finish 42
	run "$PMM" attach --check --budget=much $$
	[ "$status" -eq 2 ]
	[[ $output == "pmm: --budget: 'much' is not a percentage"* ]]
	run "$PMM" attach --budget=1 $$
	[ "$status" -eq 2 ] && [[ $output == "pmm: '--budget' is for '--check'"* ]]
}

# refused_well: what pmm said of its own accord is that an earlier one has left something that is in use, or that the machine is too slow.
refused_well() { grep -q -E "is still inside the agent|guarded blocks of [0-9]+ earlier|$TOO_BUSY" "$T/watch.err" || { cat "$T/watch.err"; return 1; }; }

@test "attaching and detaching at bad moments, for a while" {
	local end=$((SECONDS + ${PMM_ATTACH_CHECK_SECONDS:-15})) rounds=0 status
	start nice -n 10 "$PROG/attach_check"
	tell s storming
	while [ $SECONDS -lt $end ]; do
		rounds=$((rounds + 1))
		if [ $((RANDOM % 4)) -eq 0 ]; then
			"$PMM" attach -q --check --sample=4K "$PID" >/dev/null 2>"$T/watch.err" 3>&- 7>&- 8<&- &
			MONITOR=$!
			sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
			kill -0 "$MONITOR" 2>/dev/null || refused_well
			kill -9 "$MONITOR" 2>/dev/null || true
			wait "$MONITOR" 2>/dev/null || true
			MONITOR=
		else
			status=0
			patiently "$PMM" attach -q --check --sample=4K -d "$((RANDOM % 90 + 1))ms" "$PID" || status=$?
			[ "$status" -le 1 ] || refused_well
		fi
	done
	echo "${rounds} rounds, $(grep -c pmm-ledger "/proc/$PID/maps") ledgers left"
	finish 42
}
