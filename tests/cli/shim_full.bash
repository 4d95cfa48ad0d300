# SPDX-License-Identifier: GPL-2.0-or-later
# Helpers of shim_full.bats: programs of tests/shim with the full form in them.

TOP=$(realpath "$BATS_TEST_DIRNAME/../..")
FULL=$(dirname "$PMM")/libpmm_shim.a
WARN="-Wall -Wextra -Wpedantic -Werror"

setup() {
	[ -f "$FULL" ] || skip "libpmm_shim.a is not built"
	cd "$TOP/tests/shim" || return 1	# so that __FILE__ is a bare name
}

teardown() {
	[ -z "${PID:-}" ] || kill "$PID" 2>/dev/null || true
}

need() {
	command -v "$1" >/dev/null || skip "$1 is not installed"
}

# full CC SOURCE EXE FLAGS...
full() {
	local cc=$1 source=$2 exe=$3
	shift 3
	# shellcheck disable=SC2086
	timeout 120 "$cc" $WARN -I"$TOP/include" -DPMM "$@" "$source" "$FULL" -o "$exe"
}

# start COMMAND...: run it until it says "ready"; PID. It goes on until finish.
start() {
	rm -f "$T/in" "$T/said"
	mkfifo "$T/in" "$T/said"
	"$@" <"$T/in" >"$T/said" 2>"$T/err" &
	PID=$!
	exec 8>"$T/in" 9<"$T/said"
	next_line 9 "$PID"
	[ "${LINE%% *}" = ready ]
}

# finish STATUS: let it end, with that status and nothing said on standard error.
finish() {
	local status=0
	exec 8>&-
	wait "$PID" || status=$?
	exec 9<&-
	PID=
	[ "$status" -eq "$1" ] && [ ! -s "$T/err" ] || { echo "status $status"; cat "$T/err"; return 1; } >&2
}
