# SPDX-License-Identifier: GPL-2.0-or-later
# Helpers of the tests of `pmm report --format`: a real capture and a made-up one, and what the report says of them.

load lib

REAL=$BATS_FILE_TMPDIR/real.pmm
export TZ=UTC

setup_file() {
	golden_captures demo
	"$PMM" run -q -o "$REAL" -- /usr/bin/python3 -c 'import json; x = [str(i) for i in range(20000)]'
}

DEMO=$BATS_FILE_TMPDIR/demo.pmm

# total KEY [CAPTURE]: of the report.
total() { "$PMM" report --json "${2:-$REAL}" | jq ".totals.$1"; }
report() { (cd "$T" && "$PMM" report "$@") 2>"$T/said"; }
refuses() { refused_with 2 "$1" "$PMM" report "${@:2}"; }
