# SPDX-License-Identifier: GPL-2.0-or-later
# Helpers of the tests of trees of processes.

# ends_with STATUS CMD...: that exit code; its output in $T/out, text in $T/err.
ends_with() {
	local want=$1 status=0
	shift
	within "$@" >"$T/out" 2>"$T/err" </dev/null || status=$?
	[ "$status" -eq "$want" ] || { echo "status $status, not $want"; cat "$T/err"; return 1; }
}

# tree FILTER EXPECTED: of the JSON in $T/tree.json.
tree() {
	local is
	is=$(jq -c "$1" "$T/tree.json")
	[ "$is" = "$2" ] || { echo "$1: $is, not $2"; jq . "$T/tree.json" | head -120; return 1; }
}
