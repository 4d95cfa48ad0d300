# SPDX-License-Identifier: GPL-2.0-or-later
# Helpers for tests of pmm trace.

# needs_bpf: skip where programs cannot be put into the kernel.
needs_bpf() {
	"$PMM" trace --list --json >"$T/list.json" 2>"$T/list.err" || skip "pmm trace --list: $(head -1 "$T/list.err")"
	local why
	why=$(jq -r '[.events[] | select(.works == "no" and .event != "pmc") | .why] | first // ""' "$T/list.json")
	[ -z "$why" ] || skip "$why"
}

# traced STATUS EVENTS [OPTION...] -- COMMAND...: trace it; JSON lines in $T/out.
traced() {
	local status=0 expected=$1
	shift
	timeout -k 5 60 "$PMM" trace "$1" --json --top 0 "${@:2}" >"$T/out" 2>"$T/err" || status=$?
	[ "$status" -eq "$expected" ] || { echo "status $status instead of $expected"; head -5 "$T/err"; return 1; }
}

# once_traced FD: in the background, a line there when pmm, whose messages are in $T/err, traces.
once_traced() {
	rm -f "$T/err"
	{ await grep -q '^pmm: tracing ' "$T/err"; echo; } >&"$1" 3>&- &
}

# traces PID: the pmm that process PID, a timeout, has started has its programs in place.
traces() { [ "$(ps -o ni= -p "$(pgrep -P "$1")")" -eq -15 ]; }

# count EVENT FILTER: lines of that event for which the filter holds.
count() { jq -c "select(.event == \"$1\") | select($2)" "$T/out" | wc -l; }

# result FILTER: of the document at the end.
result() { tail -1 "$T/out" | jq -r "$1"; }

# without_group DIR: this control group goes. What is freed late keeps one for a moment after its last process.
without_group() { await rmdir "$1"; }

# needs_memcg: the memory controller's hierarchy in MEMCG, the file of its limit in MEMCG_LIMIT; skip where groups cannot be made.
needs_memcg() {
	MEMCG=/sys/fs/cgroup/memory MEMCG_LIMIT=memory.limit_in_bytes
	if [ ! -e "$MEMCG/$MEMCG_LIMIT" ]; then
		MEMCG=/sys/fs/cgroup MEMCG_LIMIT=memory.max
		grep -qw memory "$MEMCG/cgroup.subtree_control" 2>/dev/null || skip "no memory controller in /sys/fs/cgroup"
	fi
	[ -w "$MEMCG" ] || skip "$MEMCG cannot be written to"
}
