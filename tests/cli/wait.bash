# SPDX-License-Identifier: GPL-2.0-or-later
# How tests wait: for what must come, with one limit that only a hang reaches, as a machine of CI may stall for a long while. Whoever
# waits in vain prints what the other process does.

LIMIT=60

# doing PID...: what these processes, their children and all their threads do. For threads the kernel's stack, if it may be read.
doing() {
	local pid task
	for pid; do
		[ -d "/proc/$pid/task" ] || { echo "process $pid: there is none"; continue; }
		echo "process $pid: $(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline")"
		for task in "/proc/$pid/task"/*; do
			echo "  thread ${task##*/}: state $(sed 's/.*) //; s/ .*//' "$task/stat"), wchan $(cat "$task/wchan"), syscall $(cat "$task/syscall")"
			sed 's/^/    /' "$task/stack"
		done 2>/dev/null
		# shellcheck disable=SC2046
		doing $(cat "/proc/$pid/task"/*/children 2>/dev/null)
	done
}

# await [-p PID]... CMD...: until CMD succeeds. Fails at once when a process -p has ended and CMD still does not.
await() {
	local end=$((SECONDS + LIMIT)) pids=() pid ended
	while [ "$1" = -p ]; do pids+=("$2"); shift 2; done
	for (( ; ; )); do
		ended=
		for pid in "${pids[@]}"; do [ -d "/proc/$pid" ] || ended=$pid; done
		! "$@" >/dev/null 2>&1 || return 0
		[ -z "$ended" ] || { echo "process $ended has ended; in vain: $*"; return 1; }
		((SECONDS <= end)) || { echo "in vain for $LIMIT s: $*"; doing "${pids[@]}"; return 1; }
		sleep 0.02
	done
}

# next_line FD PID: LINE is what process PID says next there.
next_line() {
	LINE=
	read -r -t "$LIMIT" LINE <&"$1" || [ -n "$LINE" ] || { echo "nothing is said"; doing "$2"; return 1; }
}

# within CMD...: run it; what takes longer than twice the limit is shown and killed, status 124.
within() { "$PROG/within" "$CLI/wait.bash" $((2 * LIMIT)) "$@"; }
