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
