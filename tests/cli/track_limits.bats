#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm short of memory, space or room: the program is unharmed, and what was not recorded is counted
# and told.

load lib
load trace

BLOCKS=

# told PATTERN: pmm itself said so (run without -q).
loudly() {
	rm -rf "$T/cap"; mkdir -p "$T/cap"
	STATUS=0
	within "$PMM" run -o "$T/cap/%p.pmm" "$@" >"$T/out" 2>"$T/err" </dev/null || STATUS=$?
	CAP=$(only_capture)
}

@test "a ledger too small for 2 million blocks" {
	local dropped recorded
	loudly --ledger-limit=1M -- "$PROG/many" 1000000 16
	[ "$STATUS" -eq 0 ]
	[ "$(cat "$T/out")" = unharmed ]
	dropped=$(fact "$CAP" total dropped)
	recorded=$(fact "$CAP" total blocks)
	echo "recorded $recorded, dropped $dropped"
	[ "$dropped" -gt 1000000 ]
	[ $((recorded + dropped)) -eq 2000000 ]
	grep -q -i 'limit' "$T/err"
	grep -q -- '--ledger-limit' "$T/err"
	"$PMM" report "$CAP" >"$T/text"
	grep -q -x "  mode     exact, but at least [0-9,]* calls are missing" "$T/text"
}

# grows LIMIT COMMAND ...: in a memory control group of that size; what pmm leaves to say is $T/err.
grows() {
	local limit=$1
	shift
	needs_memcg
	CGROUP=$MEMCG/pmm-test-$$
	mkdir "$CGROUP"
	echo "$limit" >"$CGROUP/$MEMCG_LIMIT"
	for swap in memsw.limit_in_bytes swap.max; do
		[ ! -e "$CGROUP/memory.$swap" ] || echo "$limit" >"$CGROUP/memory.$swap"
	done
	STATUS=0
	within sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$CGROUP" "$@" >"$T/out" 2>"$T/err" </dev/null 3>&- || STATUS=$?
}

teardown() {
	[ -z "${CGROUP:-}" ] || without_group "$CGROUP"
}

@test "a control group whose memory runs out is named" {
	grows 40M "$PMM" run -q -o "$T/c.pmm" -- "$PROG/many" 3000000 16
	[ "$STATUS" -eq 137 ]
	# others than this test may have lacked memory as well: it is the machine that counts
	grep -E -x "pmm: WARNING: memory ran out, and the kernel killed (1 process, probably it|[0-9]+ processes, probably it among them): \
the control group allows 40.0 MiB for .*" "$T/err"
	grep -x "pmm: hint: give it more, or let pmm take less: 'pmm run --sample', 'pmm check --level=sampled'" "$T/err"
}

oom_kills() { awk '$1 == "oom_kill" { print $2 }' /proc/vmstat; }

@test "a program that another killed is not said to have lacked memory" {
	local before
	for _ in {1..10}; do
		before=$(oom_kills)
		loudly -- sh -c 'kill -9 $$'
		[ "$STATUS" -eq 137 ]
		[ "$(oom_kills)" -ne "$before" ] || break	# of others meanwhile
	done
	run ! grep "memory ran out" "$T/err"
}

@test "a large enough ledger drops nothing" {
	track many 1000000 16
	[ "$STATUS" -eq 0 ]
	found "$CAP" total allocs=2000000 live=17000000 blocks=2000000 dropped=0
}

@test "an address space limit that leaves no room for the ledger" {
	rm -rf "$T/cap"; mkdir -p "$T/cap"
	run within bash -c "ulimit -v 200000; exec '$PMM' run -o '$T/cap/%p.pmm' -- \
		'$PROG/many' 1000 16"
	echo "$output"
	# either refused with the reason before the launch, or run unharmed with the reason told
	if [ "$status" -eq 3 ]; then
		[[ $output == *"pmm: "* && $output != *unharmed* ]]
	else
		[ "$status" -eq 0 ]
		[[ $output == *unharmed* && $output == *"pmm: "* ]]
	fi
}

@test "the program limits its address space in the middle" {
	track confined as
	[ "$STATUS" -eq 0 ]
	[ "$(cat "$T/out")" = unharmed ]
}

# limited HOW ROUNDS: an address space limit means the same as natively after that many exec.
limited() {
	same limited "$1" "$2"
	[ "$STATUS" -eq 0 ]
	[[ $(head -1 "$T/out") == "small 0, large 12" ]]
}

@test "an address space limit, then exec" { limited soft 1; }
@test "a hard address space limit, then exec" { limited hard 1; }
@test "an address space limit, then exec three times" { limited soft 3; limited hard 3; }

@test "an address space limit of the shell" {
	same bash -c 'ulimit -S -v 409600; "$1"; exec "$1"' - "$PROG/limited"
	[ "$(sort -u "$T/out" | head -1)" = "limit 19000000 of ffffffffffffffff" ]
	[ "$(sort -u "$T/out" | tail -1)" = "small 0, large 12" ]
}

@test "no space for the capture: it goes elsewhere, and that is told" {
	need_root
	mkdir -p "$T/full" "$T/elsewhere"
	mount -t tmpfs -o size=64K none "$T/full" 2>/dev/null || skip "cannot mount a tmpfs here"
	head -c 1M /dev/zero >"$T/full/taken" 2>/dev/null || true
	TMPDIR=$T/elsewhere run within "$PMM" run -o "$T/full/c.pmm" -- "$PROG/many" 20000 100
	ls -A "$T/full" >"$T/left"
	umount "$T/full"
	echo "$output"
	[[ $output == *unharmed* ]]
	[[ $output == *"pmm: "*"$T/full/c.pmm"* ]]
	[[ $output == *[Nn]"o space left"* ]]
	[ "$(cat "$T/left")" = taken ]
	CAP=$(find "$T/elsewhere" -name '*.pmm')
	found "$CAP" site many allocs=20000 live=2000000
}

@test "a root directory without /dev/null" {
	local status=0
	need_root
	unshare --mount mount -t tmpfs none /dev 2>/dev/null || skip "no mount namespaces here"
	# shellcheck disable=SC2016
	within unshare --mount sh -c 'mount -t tmpfs none /dev; exec "$@"' sh "$PMM" run -o "$T/c.pmm" -- "$PROG/many" 1000 10 \
		>"$T/out" 2>"$T/err" || status=$?
	cat "$T/err"
	[ "$status" -eq 0 ]
	[ "$(cat "$T/out")" = unharmed ]
	[ "$("$PMM" report --json "$T/c.pmm" | jq '.totals.allocs >= 1000')" = true ]
}

@test "the monitor is killed: the program goes on unharmed" {
	local monitor
	"$PMM" run -q -o "$T/c.pmm" -- bash -c "touch '$T/ready'; until [ -e '$T/go' ]; do sleep 0.05; done; '$PROG/many' 20000 30; echo \$? >'$T/status'" \
		>"$T/out" 2>/dev/null &
	monitor=$!
	await [ -e "$T/ready" ]
	kill -9 "$monitor"
	wait "$monitor" 2>/dev/null || true
	touch "$T/go"
	await [ -s "$T/status" ]
	[ "$(cat "$T/status")" = 0 ]
	[ "$(cat "$T/out")" = unharmed ]
}
