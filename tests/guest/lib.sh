# SPDX-License-Identifier: GPL-2.0-or-later
# What tests of guests (tests/guest/*.t) use, beside busybox, jq, pmm and the programs of tests/prog.

G=/sys/fs/cgroup

# skip WHY: this kernel cannot be tried.
skip() { echo "$*"; exit 77; }

fail() { echo "$*"; exit 1; }

# since VERSION: the guest's kernel is that one or newer (6.1).
since() { [ "$(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -n 1)" = "$1" ]; }

# is WHAT ACTUAL EXPECTED
is() { [ "$2" = "$3" ] || fail "$1 is '$2', must be '$3'"; }

# between WHAT ACTUAL LEAST MOST
between() {
	case $2 in ''|*[!0-9]*) fail "$1 is '$2', must be a number" ;; esac
	[ "$2" -ge "$3" ] && [ "$2" -le "$4" ] || fail "$1 is $2, must be from $3 to $4"
}

# has FILE PATTERN: a line of it is like that.
has() { grep -q -E -e "$2" "$1" || { cat "$1"; fail "no line like '$2' in $1"; }; }

# await CMD...: run it again and again until it holds; the limit of the test is the limit.
await() { until "$@" 2>/dev/null; do sleep 0.1; done; }

# vmstat KEY: its count in /proc/vmstat.
vmstat() { awk -v k="$1" '$1 == k { print $2 }' /proc/vmstat; }

# group NAME BYTES: a memory control group t_NAME with a limit.
group() {
	mkdir -p "$G/t_$1"
	echo "$2" >"$G/t_$1/memory.max"
}

# inside NAME CMD...: in the memory control group t_NAME.
inside() {
	local in="$G/t_$1"
	shift
	sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$in" "$@"
}

# check VICTIM CAPTURE: the report has what the victim's first comment expects.
check() {
	awk '/^ \* expect:/ { on = 1; next } !on { next } !sub(/^ \*   /, "") { exit } 1' "/prog/$1.c" >expected
	[ -s expected ] || fail "nothing is expected of $1"
	pmm report --json --top 0 "$2" >report.json
	jq -r --arg expected "$(cat expected)" --argjson value false "$(cat /t/names.jq /t/facts.jq)" report.json >difference
	[ ! -s difference ] || { cat difference; fail "$2 differs from what $1 expects"; }
}

# tracing EVENTS [OPTION...]: pmm traces these events of all processes into trace.json; all programs are in place when it returns. Sets TRACER.
tracing() {
	local wanted=$1
	shift
	rm -f trace.json
	pmm trace "life,$wanted" --all --json --top 0 --stack-size 0 "$@" >trace.json 2>trace.err &
	TRACER=$!
	until [ -s trace.json ]; do
		[ -d "/proc/$TRACER" ] || { cat trace.err; fail "pmm trace ended"; }
		sh -c :
		sleep 0.1
	done
}

# traced: end it; nothing was lost.
traced() {
	kill -INT "$TRACER"
	status=0
	wait "$TRACER" || status=$?
	cat trace.err
	is "the status of pmm trace" "$status" 0
	is "lost events" "$(result '.coverage | .lost_in_ring + .lost_in_tables + .missed_by_recursion')" 0
}

# events EVENT FILTER EXPRESSION: EXPRESSION over the array of those events for which FILTER holds.
events() { jq -s -r "[.[] | select(.event == \"$1\") | select($2)] | $3" trace.json; }

# result EXPRESSION: over the document at the end.
result() { tail -n 1 trace.json | jq -r "$1"; }

# swap_on MIB: swap to memory that is compressed, read page by page.
swap_on() {
	[ -e /sys/block/zram0 ] || skip "this kernel has no zram"
	echo "$1M" >/sys/block/zram0/disksize
	mkswap /dev/zram0 >mkswap.out
	swapon /dev/zram0
	echo 0 >/proc/sys/vm/page-cluster
}

swap_off() {
	swapoff /dev/zram0
	echo 1 >/sys/block/zram0/reset
}
