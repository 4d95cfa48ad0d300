# SPDX-License-Identifier: GPL-2.0-or-later
# Helpers of tests in which a driver ($DRIVER) does something to a victim that checks itself and exits with 7.

setup() { cd "$T" || return 1; }

teardown() {
	exec 9>&-
	[ -z "${VICTIM:-}" ] || kill -9 "$VICTIM" 2>/dev/null || true
}

# victim NAME [ARG...]: start it; VICTIM is its pid, its first line is in FIRST. It ends when descriptor 9 is closed.
victim() {
	local program=$1
	shift
	mkfifo in
	: >out
	"$PROG/$program" "$@" <in >out 2>&1 &
	VICTIM=$!
	exec 9>in
	await -p "$VICTIM" has_lines "${LINES_WANTED:-1}"
	FIRST=$(head -1 out)
}

has_lines() { [ "$(wc -l <out)" -ge "$1" ]; }

# ends_well: let it end; its own checks were right, nothing else happened to it.
ends_well() {
	local status=0
	exec 9>&-
	wait "$VICTIM" || status=$?
	VICTIM=
	[ "$status" -eq 7 ] || { echo "victim: status $status"; cat out; return 1; }
}

# states: of the threads, each once.
states() { sed 's/.*) //' /proc/"$VICTIM"/task/*/stat | cut -c1 | sort -u | tr -d '\n'; }

in_states() { [ "$(states)" = "$1" ]; }

drive() { within "$DRIVER" "$@" 9>&-; }

# figured DRIVER ARGS...: into `figures`, which are shown should it fail.
figured() { drive "$@" >figures || { echo "status $?"; cat figures; return 1; }; }

# drove EXPECTED DRIVER ARGS...: that is all it prints.
drove() {
	local expected=$1
	shift
	figured "$@" && diff <(echo "$expected") figures
}

# refused CODE SENTENCE [HINT] -- DRIVER ARGS...: status 3 and exactly that.
refused() {
	local expected="$1: $2" status=0
	[ "$3" = -- ] || { expected+=$'\nhint: '"$3"; shift; }
	shift 3
	"$@" >refusal 9>&- || status=$?
	[ "$status" -eq 3 ] || { echo "status $status"; cat refusal; return 1; }
	diff <(echo "$expected") refusal
}
