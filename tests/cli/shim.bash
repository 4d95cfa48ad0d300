# Helpers of the tests of pmm.h, the compiled-in monitor: sources in tests/shim/, exact tables in tests/shim/*.table.

TOP=$(realpath "$BATS_TEST_DIRNAME/../..")
SHIM=$TOP/shim
WARN="-Wall -Wextra -Wpedantic -Werror"

setup() {
	T=$BATS_TEST_TMPDIR
	cd "$TOP/tests/shim" || return 1	# so that __FILE__ is a bare name
}

need() {
	command -v "$1" >/dev/null || skip "$1 is not installed"
}

# build CC SLOTS SOURCE EXE FLAGS...: a program of tests/shim with the static form in it.
build() {
	local cc=$1 slots=$2 source=$3 exe=$4
	shift 4
	# shellcheck disable=SC2086
	timeout 120 "$cc" $WARN -I"$TOP/include" -DPMM -DPMM_STATIC_SLOTS="$slots" "$@" "$source" "$SHIM/pmm_static.c" -o "$exe"
}

# same NAME COMMAND...: what the command prints is NAME.table.
same() {
	local name=$1 status=0
	shift
	timeout 60 "$@" >"$T/out" 2>"$T/err" || status=$?
	./tidy <"$T/out" >"$T/tidy"
	diff "$name.table" "$T/tidy" && [ "$status" -eq 0 ] && [ ! -s "$T/err" ] ||
		{ echo "$*: status $status"; cat "$T/err"; return 1; } >&2
}
