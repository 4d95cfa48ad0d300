# SPDX-License-Identifier: GPL-2.0-or-later
# Helpers of the tests of `pmm attach`: a victim that obeys (tests/prog/attach.h), pmm attached to it, what must be as before.

load lib

# start CMD [ARG...]: a victim, or any command that becomes one. Sets PID; it is "ready" then.
start() {
	local command
	command=$(path "$1"); shift
	rm -f "$T/in" "$T/out"
	mkfifo "$T/in" "$T/out"
	"$command" "$@" <"$T/in" >"$T/out" 2>"$T/victim.err" 3>&- &
	PID=$!
	exec 7>"$T/in" 8<"$T/out"
	hear ready
}

# start_below CMD...: the same where the victim is a descendant of the command.
start_below() {
	local child
	start "$@"
	TOP=$PID
	while child=$(cat "/proc/$PID/task/$PID/children") && [ -n "$child" ]; do PID=${child%% *}; done
}

# asleep: the victim waits, as for an order. It said that it is ready or done just before that.
asleep() {
	local stat
	read -r stat <"/proc/$PID/stat" && [[ ${stat##*) } == S* ]]
}

# trace_victim: another process, TRACER, traces the victim until leave_victim.
trace_victim() {
	mkfifo "$T/tin" "$T/tout"
	"$PROG/attach_refuse" trace "$PID" <"$T/tin" >"$T/tout" 3>&- 7>&- 8<&- &
	TRACER=$!
	exec 9>"$T/tin" 6<"$T/tout"
	next_line 6 "$TRACER"
	[ "$LINE" = ready ]
}

leave_victim() {
	exec 9>&- 6<&-
	wait "$TRACER" || true
}

# hear LINE: the victim's next line is that.
hear() {
	next_line 8 "$PID" && [ "$LINE" = "$1" ] || { echo "the victim says '$LINE', must say '$1'"; cat "$T/victim.err"; return 1; }
}

# tell ORDER LINE: give an order and hear the answer.
tell() { echo "$1" >&7; hear "$2"; }

# finish STATUS [LINE]: end of input; it must say that and end so.
finish() {
	local status=0
	exec 7>&-
	[ $# -lt 2 ] || hear "$2"
	wait "${TOP:-$PID}" || status=$?
	exec 8<&-
	[ "$status" -eq "$1" ] || { echo "the victim's status is $status, must be $1"; return 1; }
	PID=
}

# watch [OPTION...]: attach in the background, capture in $T/c.pmm; all calls are seen when it returns. Sets MONITOR.
watch() {
	rm -f "$T/c.pmm" "$T/c.pmm.json" "$T/watch.out" "$T/watch.err"
	"$PMM" attach -o "$T/c.pmm" "$@" "$PID" >"$T/watch.out" 2>"$T/watch.err" 3>&- 7>&- 8<&- &
	MONITOR=$!
	attached "$T/watch.out"
}

# attached [FILE...]: MONITOR says so, in $T/watch.err or there.
attached() {
	await -p "$MONITOR" grep -q -i attached "$T/watch.err" "$@" || { cat "$T/watch.err"; return 1; }
}

# unwatch [SIGNAL]: end it, by SIGINT unless told; sets STATUS to its status.
unwatch() {
	STATUS=0
	kill -"${1:-INT}" "$MONITOR"
	wait "$MONITOR" || STATUS=$?
	MONITOR=
	[ "$STATUS" -le 1 ] || { echo "attach ended with status $STATUS:"; cat "$T/watch.err"; return 1; }
}

# halt PID: until it goes on by SIGCONT. Fails where it has ended.
halt() { kill -STOP "$1" 2>/dev/null && await -p "$1" grep -q '^State:.T' "/proc/$1/status"; }

# kill_monitor: it ends without having left the victim, and its watchdog before it: stopped, it does not just make one.
kill_monitor() {
	halt "$MONITOR" || return 1
	# shellcheck disable=SC2046
	kill -9 $(cat "/proc/$MONITOR/task/$MONITOR/children") "$MONITOR"
	wait "$MONITOR" 2>/dev/null || true
	MONITOR=
}

# killed_early: a monitor is killed within the first 60 ms, anywhere. On a machine that is too busy it may have ended by then.
killed_early() {
	"$PMM" attach -q "$PID" >/dev/null 2>"$T/early.err" 3>&- 7>&- 8<&- &
	MONITOR=$!
	sleep "0.0$(printf %02d $((RANDOM % 60)))"
	kill_monitor || { grep -q -E "$TOO_BUSY" "$T/early.err" && MONITOR=; }
}

# What pmm says where the machine is too slow for it.
TOO_BUSY='the machine is too busy|it takes too long'

# patiently CMD...: pmm, messages in $T/watch.err, again as long as it says so. Its status.
patiently() {
	local status end=$((SECONDS + LIMIT))
	while :; do
		status=0
		within "$@" >/dev/null 2>"$T/watch.err" || status=$?
		grep -q -E "$TOO_BUSY" "$T/watch.err" && [ $SECONDS -lt $end ] || return "$status"
	done
}

# picture NAME [loose], same_picture NAME [loose]: what must not change, before and after.
# FACE: a thread by which the kernel shows what all of them share, where the first one has ended.
FACE=
picture() {
	[ $# -gt 1 ] || await -p "$PID" asleep	# its registers are in the picture
	python3 "$CLI/picture.py" "${FACE:-$PID}" "${@:2}" >"$T/$1.picture"
}
same_picture() {
	clean
	cp "$T/$1.picture" "$T/before.picture"
	picture after "${@:2}"
	diff "$T/before.picture" "$T/after.picture"
}

# clean: nothing of ours is in the victim, nobody traces it, no thread is stopped.
clean() {
	local left
	left=$(grep -E 'memfd:pmm|libpmm' "/proc/${FACE:-$PID}/maps"
		find "/proc/${FACE:-$PID}/fd" -lname '*memfd:pmm*'
		grep -h TracerPid "/proc/$PID"/task/*/status 2>/dev/null | grep -v -w 0
		grep -h State: "/proc/$PID"/task/*/status 2>/dev/null | grep -w '[tT]') || true
	[ -z "$left" ] || { echo "left in the process: $left"; return 1; }
}

# now EXPECTATION...: a line that holds for the running victim as well.
now() {
	rm -f "$T/$PID.json"
	(cd "$T" && BLOCKS="" found "$PID" "$@")
}

# rss_kib: what is resident of it, page by page: the figures of its status are counters of each processor, which lag behind.
rss_kib() { awk '/^Rss:/ { print $2 }' "/proc/$PID/smaps_rollup"; }

# seen: attach to attach_victim, one round, seen while it runs, detach; the victim is as it was, the capture complete.
seen() {
	picture first loose
	watch
	tell g done
	now site leak_a allocs=100 live=4800
	unwatch
	same_picture first loose
	check "$T/c.pmm" <<<"$(expected attach_victim.c)"
}

# seen_once STATUS: attach, one round, detach, another round unseen, end.
seen_once() {
	watch
	tell g done
	unwatch
	clean
	tell g done
	finish "$1"
}

# round SOURCE STATUS [OPTION...]: attach, one round, compare with the victim's comment (but for lines that match EXCEPT, ".": for all), detach,
# another round unseen, end.
EXCEPT='^$'
round() {
	local source=$1 status=$2
	shift 2
	picture first loose
	watch "$@"
	tell g done
	unwatch
	same_picture first loose
	tell g done
	finish "$status" ${SUM:+"$SUM"}
	[ "$EXCEPT" = . ] || check "$T/c.pmm" <<<"$(expected "$source" | grep -v -E "$EXCEPT")"
}

# Ends what a failed test has left.
stop_all() {
	exec 7>&- 8<&-
	[ -z "${MONITOR:-}" ] || kill -9 "$MONITOR" 2>/dev/null || true
	[ -z "${TOP:-}" ] || kill -9 "$TOP" 2>/dev/null || true
	[ -z "${PID:-}" ] || kill -9 "$PID" 2>/dev/null || true
}
teardown() { stop_all; }

may_trace() {
	local other said
	sleep 1000 >/dev/null 3>&- &
	other=$!
	said=$("$PROG/attach_refuse" trace "$other" </dev/null)
	kill -9 "$other"
	[ "$said" = ready ] || { echo "${said:-no answer}"; return 1; }
}

need_attach() {
	[ "$(uname -m)" = x86_64 ] || skip "attach knows x86-64 only"
	need python3 jq
	[ -x "$PROG/attach_refuse" ] || { echo "$PROG/attach_refuse is not built"; return 1; }
	[ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" -eq 0 ] || need_root
	local why
	why=$(may_trace) || skip "ptrace is not allowed here: $why"
}
setup() { need_attach; }
