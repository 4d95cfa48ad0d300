#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm check: where guarded blocks lie, whose errors beside them are.

bats_require_minimum_version 1.5.0
load lib

setup() { cd "$T" || return 1; }

# told OPTIONS PROGRAM ARG...: exit status 0 and the same output as natively; findings in found.json.
told() {
	local options=$1 name
	name=$(path "$2"); shift 2
	within "$name" "$@" >native.out </dev/null
	# shellcheck disable=SC2086
	within "$PMM" check --json --report found.json --budget all $options -- "$name" "$@" >checked.out 2>checked.err </dev/null
	cmp native.out checked.out || { diff native.out checked.out | head; return 1; }
}

# beside ZEROS OPTIONS ARG...: the same of check_beside, which natively may do damage; so many bytes of its block are written.
beside() {
	local zeros=$1 options=$2 name
	name=$(path check_beside); shift 2
	# shellcheck disable=SC2086
	within "$PMM" check --json --report found.json --budget all $options -- "$name" "$@" >checked.out 2>checked.err </dev/null
	diff <(echo "$zeros") checked.out
}

# findings: "TYPE BY ACCESS COUNT BLOCK_BYTES OFFSET" each.
findings() {
	jq -r 'def hex: ltrimstr("0x") | ascii_downcase | explode | reduce .[] as $c (0; . * 16 + (if $c > 96 then $c - 87 else $c - 48 end));
		.findings[] | "\(.type) \(.by) \(.access) \(.count) \(.block_bytes) \((.address | hex) - (.block_address | hex))"' found.json | sort
}

@test "blocks have the alignment that they would have had, guarded and canaried, at either end" {
	local options
	for options in "" --right --left --no-madvise-guard --level=light; do
		told "$options" check_align
		grep -q '^posix_memalign 8 20: 0$' native.out
		[ "$(grep -vc ': 0$' native.out)" -eq 0 ]
	done
	[ "$(wc -l <native.out)" -gt 3000 ]
}

@test "what a function does before a block is its underrun, at any distance; in the block it is done" {
	local distance bytes function inside
	for function in memcpy memmove memset; do
		for distance in 1 8 100 2000 2047 4000; do
			for bytes in 8 $((distance + 1)) 4500; do
				inside=$((bytes > distance ? bytes - distance : 0))
				beside $((inside > 100 ? 100 : inside)) --left $function "$distance" "$bytes"
				[ "$bytes" -gt "$distance" ] || [ "$distance" -le 2048 ] || continue
				diff <(echo "underrun function write 1 100 -$distance") <(findings)
			done
		done
	done
	beside 32 --left strncpy 8 40
	beside 32 --right memcpy 8 40
	diff <(echo "underrun function write 1 100 -8") <(findings)
}

@test "what is nearer to the block before is that one's overrun" {
	beside 0 --left memcpy 4000 8
	diff <(echo "overrun function write 1 4000 4192") <(findings)
	beside 100 --left memset 4096 4500
	diff <(echo "underrun function write 1 100 -4096") <(findings)
	beside 0 --left store 2096 1
	diff <(echo "underrun access write 1 100 -2096") <(findings)
	beside 0 --left store 2097 1
	diff <(echo "overrun access write 1 4000 6095") <(findings)
}

@test "one block of eight lies at the start of its pages: repeated errors on both sides are found in one run" {
	told "" check_mixed
	diff <(printf '%s\n' "overrun access read 70 64 64" "underrun access read 10 64 -1") <(findings)
	cp found.json first.json
	told "" check_mixed		# the same blocks each time
	diff <(jq '[.findings[] | [.type, .count]]' first.json) <(jq '[.findings[] | [.type, .count]]' found.json)
	told --right check_mixed
	diff <(echo "overrun access read 80 64 64") <(findings)
	told --left check_mixed
	diff <(echo "underrun access read 80 64 -1") <(findings)
}
