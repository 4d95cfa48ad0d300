# SPDX-License-Identifier: GPL-2.0-or-later
# Helpers of the tests in which something comes in pmm's own way (faults.py).

load "$(dirname "${BASH_SOURCE[0]}")/lib"

# Each test looks at a share of all N; FAULTS_SECONDS=0 looks at all of them.
export FAULTS_SECONDS=${FAULTS_SECONDS:-8}

need_faults() {
	need python3
	TOOL=$(dirname "$PMM")/tests/tool
	[ "$(uname -m)" = x86_64 ] || skip "nth knows x86-64 only"
	[ -x "$TOOL/nth" ] || { echo "$TOOL/nth is not built"; return 1; }
	"$TOOL/nth" fail 0 -- true 2>/dev/null || skip "ptrace is not allowed here"
}

setup() { need_faults; }

# trace_faults KIND CALL...: calls of those names fail while pmm trace loads, runs and ends. Nothing to try where it does not work.
trace_faults() {
	load "$CLI/trace"
	needs_bpf
	PMM=$PMM PROG=$PROG TOOL=$TOOL timeout -k 10 "${FAULTS_TIMEOUT:-850}" python3 "$CLI/faults.py" trace "$@"
}

# faults SCENE KIND...: faults.py finds none.
faults() {
	local scene=$1 kind status=0
	shift
	for kind; do
		PMM=$PMM PROG=$PROG TOOL=$TOOL timeout -k 10 "${FAULTS_TIMEOUT:-850}" python3 "$CLI/faults.py" "$scene" "$kind" || status=1
	done
	return $status
}
