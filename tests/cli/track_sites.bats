#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Very many call sites: all of them are kept as long as there is room, and what has none is counted and told first.

load lib

# loudly OPTION... -- COMMAND...: as track, but pmm says what it has to say.
loudly() {
	rm -rf "$T/cap"; mkdir -p "$T/cap"
	STATUS=0
	within "$PMM" run -o "$T/cap/%p.pmm" "$@" >"$T/out" 2>"$T/err" </dev/null || STATUS=$?
	CAP=$(only_capture)
}

# few FILTER: of the report with its first rows only, as all of them would be gigabytes.
few() {
	[ -s "$CAP.few" ] || within "$PMM" report --json --top 2 "$CAP" >"$CAP.few"
	jq -c "$1" "$CAP.few"
}

@test "more than a million stacks, each with one block" {
	track stacks 1100000 7
	[ "$STATUS" -eq 0 ]
	[ ! -s "$T/err" ]
	[ "$(few '.totals | [.allocs, .frees, .live_bytes, .live_blocks, .sites]')" = '[1100000,0,26400000,1100000,1100001]' ]
	# one is that of no site; were there blocks '[stack unknown]', or two of one stack, they would come first
	[ "$(few '[.warnings, .sites[0].live_blocks, .sites[0].allocs]')" = '[[],1,1]' ]
}

@test "more stacks than there is room for" {
	local lost sentence
	loudly --ledger-limit=34M -- "$PROG/stacks" 250000 7
	[ "$STATUS" -eq 0 ]
	# blocks are all there, and whose stack is not kept are one call site's
	lost=$(few '.warnings[0].count')
	echo "$lost without a stack"
	[ "$lost" -gt 50000 ]
	[ "$lost" -lt 250000 ]
	[ "$(few '.totals | [.allocs, .live_blocks, .live_bytes]')" = '[250000,250000,6000000]' ]
	[ "$(few '[.sites[0].function, .sites[0].allocs, .sites[0].live_bytes, .sites[1].allocs]')" = "[null,$lost,$((lost * 24)),1]" ]
	[ "$(few '[.warnings[].code]')" = '["stacks_dropped"]' ]
	# told before all figures: at the end of the run, by report, in JSON
	sentence=$(few '.warnings[0].text' | jq -r .)
	[[ $sentence =~ ^[0-9,]+\ of\ 250,000\ allocations\ \([0-9.]+\ MiB\ live\)\ could\ not\ be\ charged\ to\ a\ stack:\ the\ ledger\ was\ at\ its\ limit\ of\ 34.0\ MiB\;\ raise\ --ledger-limit$ ]]
	[ "$(sed -n 2p "$T/err")" = "pmm: WARNING: $sentence" ]
	[ "$(within "$PMM" report "$CAP" | head -1)" = "  !  $sentence" ]
	jq -e 'keys_unsorted | index("warnings") < index("totals")' "$CAP.few"
}

@test "with a quiet run, too" {
	track --ledger-limit=34M stacks 250000 7
	[ "$STATUS" -eq 0 ]
	[[ $(head -1 "$T/err") == "pmm: WARNING: "*" of 250,000 allocations "*"could not be charged to a stack"* ]]
}

@test "blocks without a stack are released like others" {
	local lost
	loudly --ledger-limit=34M -- "$PROG/stacks" 250000 7 free
	[ "$STATUS" -eq 0 ]
	[ "$(few '.totals | [.allocs, .frees, .live_bytes, .live_blocks]')" = '[250000,250000,0,0]' ]
	lost=$(few '.warnings[0].count')
	[ "$lost" -gt 50000 ]
	[ "$(few '[.lifetimes[].frees] | add')" -eq 250000 ]
	grep -q "of 250,000 allocations (0 B live) could not be charged to a stack" "$T/err"
}

@test "a search for leaks says so before its verdict" {
	loudly --leaks --ledger-limit=34M -- "$PROG/stacks" 250000 7
	[ "$STATUS" -eq 0 ]
	[[ $(within "$PMM" leaks "$CAP" | head -1) == "  !  "*" of 250,000 allocations "*"could not be charged to a stack: the ledger was at its limit"* ]]
}
