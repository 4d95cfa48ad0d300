# SPDX-License-Identifier: GPL-2.0-or-later
# Helpers of the tests of pmmd, the daemon of examples/: started in a directory of its own, told what to do, and what its log says.

load attach

PMMD=$(dirname "$PMM")/examples/pmmd
D=$T/d
LOG=$D/pmmd.log

setup() {
	mkdir -p "$D"
	PID=
}

teardown() {
	stop_all
	[ -z "${OTHER:-}" ] || kill -9 "$OTHER" 2>/dev/null || true
	PID=$(cat "$D/pmmd.pid" 2>/dev/null) || return 0
	[[ $(readlink "/proc/$PID/exe") != */pmmd-* ]] || kill -9 "$PID"
}

# begin FORM: a daemon with the monitor in that form, or "plain". Sets PID.
begin() {
	FORM=$1
	within "$PMMD/pmmd-$FORM" "$D" >"$T/begin.out" 2>"$T/begin.err" 3>&- || { echo "status $?"; cat "$T/begin.err"; return 1; }
	[ ! -s "$T/begin.out" ] && [ ! -s "$T/begin.err" ] || { cat "$T/begin.out" "$T/begin.err"; return 1; }
	PID=$(cat "$D/pmmd.pid")
}

# ctl WORD...: a command, its answer on standard output, errors too.
ctl() { within "$PMMD/pmmd-plain" ctl "$D/pmmd.sock" "$@" 2>&1 3>&-; }

# says TEXT WORD...: a command is answered so.
says() {
	local said
	said=$(ctl "${@:2}") || true
	[ "$said" = "$1" ] || { echo "'${*:2}': '$said', must be '$1'"; return 1; }
}

# is_gone PID: it has ended; in a container whose first process reaps nobody, it stays as a zombie.
is_gone() { [ ! -d "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"; }

# end [SIGNAL]: the daemon ends, by command unless told, and leaves nothing but its log.
end() {
	if [ $# -gt 0 ]; then kill -"$1" "$PID"; else says '' quit; fi
	await is_gone "$PID"
	PID=
	[ "$(ls "$D")" = pmmd.log ] || { ls -l "$D"; return 1; }
}

# at FILE TEXT: the place of the only line of the daemon's FILE with that text, as the monitor says it.
at() {
	local line
	line=$(grep -n -F "$2" "$ROOT/examples/pmmd/$1" | cut -d : -f 1)
	[[ $line =~ ^[0-9]+$ ]] || { echo "'$2' is not just once in $1" >&2; return 1; }
	echo "$1($line)"
}

# in_log COUNT PATTERN: so many lines of the log match.
in_log() {
	local nr
	nr=$(grep -c -E -- "$2" "$LOG") || true
	[ "$nr" -eq "$1" ] || { echo "$nr lines match '$2', must be $1:"; tail -40 "$LOG"; return 1; }
}

need_full() { [ "$(uname -m)" = x86_64 ] || skip "the full form knows x86-64 only"; }

# literal TEXT: as a pattern.
literal() { sed 's/[][().*+?{}|^$\\]/\\&/g' <<<"$1"; }

# blocks_in_log COUNT SIZE PLACE: so many rows of tables of blocks.
blocks_in_log() { in_log "$1" "^ +[0-9]+ +$2 0x[0-9a-f]+ . +[0-9:]+  $(literal "$3")\$"; }

# lost PID|FILE: what pmm leaks finds, "FILE:LINE CLASS BLOCKS BYTES" a line.
lost() {
	within "$PMM" leaks --json --top 0 --fail-on none "$1" 2>"$T/leaks.err" 3>&- >"$T/leaks.json" || { cat "$T/leaks.err"; return 1; }
	jq -r '.certain[] | "\(.frames[0].file | sub(".*/"; "")):\(.frames[0].line) \(.class) \(.blocks) \(.bytes)"' "$T/leaks.json"
}

# as_place FILE TEXT: the same place as pmm says it.
as_place() { at "$@" | sed 's/(/:/; s/)//'; }
