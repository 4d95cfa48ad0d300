# SPDX-License-Identifier: GPL-2.0-or-later
# Helpers of the command line tests: where pmm is, running things tracked, comparing reports with
# what must be found.

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
PMM=${PMM:-$ROOT/build/pmm}
PROG=${PMM_VICTIMS:-$(dirname "$PMM")/tests/prog}
SOURCE=$ROOT/tests/prog
MKCAPTURE=$(dirname "$PMM")/tests/fake/mkcapture
CLI=$ROOT/tests/cli
T=$BATS_TEST_TMPDIR
. "$CLI/wait.bash"
export NO_COLOR=1 LC_ALL=C DEBUGINFOD_URLS=
unset COLUMNS		# some shells export the width of their terminal

# path NAME: a victim of that name, else the name itself.
path() {
	if [ -x "$PROG/$1" ]; then echo "$PROG/$1"; else echo "$1"; fi
}

# track [-OPTION...] CMD [ARG...]: run tracked. Sets STATUS; leaves the
# program's output in $T/out, messages in $T/err, captures in $T/cap/PID.pmm and, if there is only
# one, its name in CAP.
track() {
	local options=() command
	while [[ ${1:-} == -* ]]; do options+=("$1"); shift; done
	command=$(path "$1"); shift
	rm -rf "$T/cap"; mkdir -p "$T/cap"; chmod 1777 "$T/cap"
	STATUS=0
	within "$PMM" run -q -o "$T/cap/%p.pmm" "${options[@]}" -- "$command" "$@" \
		>"$T/out" 2>"$T/err" </dev/null || STATUS=$?
	CAP=$(only_capture)
}

# captures: the names of all captures that track left.
captures() { find "$T/cap" -name '*.pmm' | sort; }

# only_capture: the capture's name when there is exactly one, else nothing.
only_capture() {
	local all
	mapfile -t all < <(captures)
	if [ ${#all[@]} -eq 1 ]; then echo "${all[0]}"; fi
}

# golden_captures NAME...: $BATS_FILE_TMPDIR/NAME.pmm of the recipes of these names, for setup_file.
golden_captures() {
	local name
	for name; do "$MKCAPTURE" "$CLI/golden/$name.recipe" "$BATS_FILE_TMPDIR/$name.pmm" || return 1; done
}

# capture_of NAME LINE...: $T/NAME.pmm of a recipe (tests/fake/fake.c) of these lines.
capture_of() { printf '%s\n' "${@:2}" | "$MKCAPTURE" /dev/stdin "$T/$1.pmm"; }

# part NAME FILE: the data of that name in a page.
part() {
	python3 -c 'import base64, re, sys, zlib
text = open(sys.argv[2]).read()
packed = re.search("id=\"pmm-data-%s\">([^<]*)<" % sys.argv[1], text)[1]
sys.stdout.buffer.write(zlib.decompress(base64.b64decode(packed, validate=True), -15))' "$1" "$2"
}

# json CAPTURE: its whole report as JSON, made once; with the live blocks unless BLOCKS is made
# empty.
BLOCKS=--blocks
json() {
	[ -s "$1.json" ] || within "$PMM" report --json --top 0 $BLOCKS "$1" >"$1.json" || return 1
	cat "$1.json"
}

# facts CAPTURE EXPECTED VALUE: facts.jq over its report.
facts() {
	json "$1" | jq -r --arg expected "$2" --argjson value "$3" "$(cat "$CLI/names.jq" "$CLI/facts.jq")"
}

# check CAPTURE <EXPECTATIONS: compare with lines "KIND [NAME] KEY=NUMBER..." as in the victims'
# comments; see facts.jq. Fails with a line for each difference.
check() {
	local difference expected
	[ -n "$1" ] || { echo "not exactly one capture:"; ls -l "$T/cap"; cat "$T/err"; return 1; }
	expected=$(cat)
	[ -n "$expected" ] || { echo "nothing is expected"; return 1; }
	difference=$(facts "$1" "$expected" false) || return 1
	[ -z "$difference" ] || { echo "$difference"; return 1; }
}

# found CAPTURE EXPECTATION...: check a single line.
found() {
	local capture=$1
	shift
	check "$capture" <<<"$*"
}

# expected SOURCE: the expectations in a victim's first comment.
expected() {
	awk '/^ \* expect:/ { on = 1; next } !on { next } !sub(/^ \*   /, "") { exit } 1' "$SOURCE/$1"
}

# as_expected SOURCE [ARG...]: run a victim tracked, compare with its comment.
as_expected() {
	local source=$1
	shift
	track "${source%.*}" "$@"
	[ "$STATUS" -eq 0 ] || { echo "status $STATUS"; cat "$T/err"; return 1; }
	check "$CAP" <<<"$(expected "$source")"
}

# stacks CAPTURE FUNCTION: the stacks with blocks made in FUNCTION's own frame, innermost first, up
# to main, a line each.
stacks() {
	json "$1" | jq -r --arg f "$2" "$(cat "$CLI/names.jq")"'
		sites[] | names | select(.[0] == $f) |
		(index("main") // (length - 1)) as $n | .[:$n + 1] | join(" ")' | sort -u
}

# fact CAPTURE WHAT [NAME] KEY: a single number.
fact() {
	local capture=$1 key=${*: -1}
	shift
	set -- "${@:1:$#-1}"
	facts "$capture" "$* $key=0" true
}

# look CAPTURE FILTER: a jq filter over its report, with the short names of names.jq.
look() { json "$1" | jq -r "$(cat "$CLI/names.jq") $2"; }

# blocks CAPTURE: the live blocks, "ADDRESS SIZE ENTRY" a line, sorted.
blocks() { look "$1" 'blocks[] | "\(.address) \(.size) \(.kind)"' | sort; }

# sized CAPTURE MIN [MAX]: how many live blocks have that size.
sized() { look "$1" "[blocks[] | select(.size >= $2 and .size <= ${3:-$2})] | length"; }

# lives CAPTURE FUNCTION FROM TO: how many of its blocks lived as long as the buckets FROM to TO
# say.
lives() {
	look "$1" "[sites[] | select(names | index(\"$2\")) | .lifetimes[$3:$4 + 1][]] | add // 0"
}

# same CMD...: output, messages and status of CMD are the same natively and tracked.
same() {
	local command native=0
	command=$(path "$1"); shift
	within "$command" "$@" >"$T/out.native" 2>"$T/err.native" </dev/null || native=$?
	track "$command" "$@"
	[ "$STATUS" -eq "$native" ] || { echo "status $STATUS, natively $native"; cat "$T/err"; return 1; }
	cmp "$T/out.native" "$T/out" && cmp "$T/err.native" "$T/err" && [ -n "$(captures)" ]
}

# refused PATTERN CMD...: exit code 3, a message in $T/refused.err that matches, nothing on stdout.
refused() {
	local pattern=$1 status=0
	shift
	within "$@" >"$T/refused.out" 2>"$T/refused.err" </dev/null 3>&- 7>&- || status=$?
	cat "$T/refused.err"
	[ "$status" -eq 3 ] || { echo "exit code $status"; return 1; }
	grep -q '^pmm: ' "$T/refused.err"
	grep -q -i -E -- "$pattern" "$T/refused.err" || { echo "must match: $pattern"; return 1; }
	[ ! -s "$T/refused.out" ]
}

# refused_with STATUS TEXT CMD...: ends with STATUS, a sentence that holds TEXT and a hint in $T/said, nothing on stdout.
refused_with() {
	local want=$1 text=$2 status=0
	shift 2
	within "$@" >"$T/out" 2>"$T/said" || status=$?
	[ "$status" -eq "$want" ] || { echo "status $status"; cat "$T/said"; return 1; }
	[ ! -s "$T/out" ] || { cat "$T/out"; return 1; }
	head -1 "$T/said" | grep -q "^pmm: .*$text" || { cat "$T/said"; return 1; }
	sed -n 2p "$T/said" | grep -q "^pmm: hint: " || { cat "$T/said"; return 1; }
}

# json_is WANTED FILTER: JSON on standard input through jq is WANTED.
json_is() {
	local got
	got=$(jq -c "$2") || return 1
	[ "$got" = "$1" ] || { echo "$2: $got, must be $1"; return 1; }
}

# library NAME: LIBRARY is where it is; a skip where it is not.
library() {
	LIBRARY=$(/sbin/ldconfig -p | awk -v name="$1" '$1 == name { print $NF; exit }')
	[ -n "$LIBRARY" ] || skip "$1 is not installed"
}

# need TOOL...: skip the test, by name, when a tool is missing.
need() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null || skip "$tool is not installed"
	done
}

need_root() { [ "$(id -u)" -eq 0 ] || skip "needs root"; }
