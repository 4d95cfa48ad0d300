# SPDX-License-Identifier: GPL-2.0-or-later
# Helpers of the tests of `pmm leaks`: searching victims (tests/prog/leak.h) at their end, while they wait, and attached; and memcheck.

load attach

setup() { need jq python3; }

# Searches that list everything and judge nothing.
ALL=(--json --top 0 --depth 0 --show all --no-default-suppressions --fail-on none)

# source_of NAME: the source of victim leak_NAME.
source_of() { (cd "$SOURCE" && echo "leak_$1".c*); }

# sums NAME WAYS RESULT: compare with the victim's comment (leak_sums.py).
sums() {
	local difference
	difference=$(python3 "$CLI/leak_sums.py" "$SOURCE/$(source_of "$1")" "$2" "$3") || return 1
	[ -z "$difference" ] || { echo "$1, $2:"; echo "$difference"; return 1; }
}

# search RESULT [OPTION...] FILE|PID: everything that is found, as JSON.
search() {
	local result=$1
	shift
	within "$PMM" leaks "${ALL[@]}" "$@" >"$result" 2>"$T/leaks.err" 3>&- 7>&- 8<&- ||
		{ echo "pmm leaks ended with status $?:"; cat "$T/leaks.err"; return 1; }
}

# at_exit NAME WAYS [OPTION...]: what is found at the victim's end.
at_exit() {
	local name=$1 ways=$2 status=0
	shift 2
	rm -f "$T/exit.pmm"
	echo g | within "$PMM" run -q --leaks -o "$T/exit.pmm" -- "$PROG/leak_$name" >"$T/exit.out" 2>"$T/exit.err" 3>&- || status=$?
	if [ "$status" -ne 0 ] || [ "$(cat "$T/exit.out")" != $'ready\ndone' ]; then
		echo "status $status"; cat "$T/exit.out" "$T/exit.err"
		return 1
	fi
	search "$T/exit.json" "$@" "$T/exit.pmm"
	sums "$name" "$ways" "$T/exit.json"
}

# worked: give the order, until the victim has done its work and waits. What it may have left in registers before that is nobody's.
worked() { tell g "done" && await -p "$PID" asleep; }

# launch NAME [ARGUMENT...]: run a victim tracked until it has done its work and waits. Sets PID, TOP.
launch() {
	rm -f "$T/live.pmm"
	local name=$1
	shift
	start_below "$PMM" run -q -o "$T/live.pmm" -- "$PROG/leak_$name" "$@"
	worked
}

# core NAME: run a victim tracked until it waits, have it dump core: $T/in.NAME/core, $T/NAME.pmm.
core() {
	local pattern
	pattern=$(cat /proc/sys/kernel/core_pattern)
	[ "$pattern" = core ] || skip "core files go to '$pattern' here"
	mkdir -p "$T/in.$1"
	cd "$T/in.$1"
	ulimit -c unlimited || skip "no core files are allowed here"
	start_below "$PMM" run -q -o "$T/$1.pmm" -- "$PROG/leak_$1"
	worked
	kill -SEGV "$PID"
	exec 7>&-
	wait "$TOP" || true
	TOP='' PID=''
	[ -e core ] || mv core.* core
	cd "$SOURCE"
}

# live NAME WAYS [OPTION...]: what is found while it waits; nobody must notice the search.
live() {
	local name=$1 ways=$2
	shift 2
	launch "$name"
	search "$T/live.json" "$@" "$PID"
	clean_of_search
	finish 0
	sums "$name" "$ways" "$T/live.json"
}

# clean_of_search: no thread of the victim is stopped or traced, it has no child.
clean_of_search() {
	local left
	left=$(grep -h TracerPid "/proc/$PID"/task/*/status | grep -v -w 0
		grep -h State: "/proc/$PID"/task/*/status | grep -w '[tTZ]'
		cat "/proc/$PID"/task/*/children) || true
	[ -z "$left" ] || { echo "left of the search: $left"; return 1; }
}

# while_attached NAME WAYS: the same where pmm attaches before the victim makes its blocks.
while_attached() {
	need_attach
	start "$PROG/leak_$1"
	watch
	worked
	search "$T/attached.json" "$PID"
	unwatch
	clean_of_search
	finish 0
	sums "$1" "$2" "$T/attached.json"
}

# by_memcheck NAME: memcheck finds in the victim what its comment says.
by_memcheck() {
	need valgrind
	echo g | LIMIT=300 within valgrind --tool=memcheck --leak-check=full --show-leak-kinds=all --leak-resolution=high --num-callers=30 \
		--run-libc-freeres=no --run-cxx-freeres=no --xml=yes --xml-file="$T/$1.xml" "$PROG/leak_$1" >"$T/memcheck.out" 2>&1 3>&- ||
		{ cat "$T/memcheck.out"; return 1; }
	sums "$1" memcheck "$T/$1.xml"
}
