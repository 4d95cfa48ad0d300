# SPDX-License-Identifier: GPL-2.0-or-later
# Many processes log into /kmod/pmm.ko at once: not a record is lost without being counted.

# sum KEY: over all processes of /proc/pmm/summary.
sum() { tr ' ' '\n' </proc/pmm/summary | awk -F = -v key="$1" '$1 == key { n += $2 } END { print n + 0 }'; }

# readers: two that read all the time, until they are killed.
readers() {
	for file in pid summary; do
		while :; do cat "/proc/pmm/$file" >/dev/null; done &
		READERS="${READERS:-} $!"
	done
}

test_by_calls()
{
	insmod /kmod/pmm.ko interval_ms=20
	readers
	/prog/kmod_storm ioctl 64 200
	kill $READERS
	is "processes" "$(wc -l </proc/pmm/summary)" 64
	is "allocations" "$(sum allocations)" 12800
	is "frees" "$(sum frees)" 6400
	is "entries" "$(sum entries)" 6400
	is "bytes" "$(sum entry_bytes)" $((64 * 100 * 101))
	is "log lines" "$(grep -c '^{MALLOC ' /proc/pmm/pid)" 6400
}

test_by_rings()
{
	insmod /kmod/pmm.ko interval_ms=20
	readers
	/prog/kmod_storm ring 64 1000
	kill $READERS
	is "processes" "$(wc -l </proc/pmm/summary)" 64
	is "taken and lost" $(($(sum allocations) + $(sum overflows))) 64000
	is "entries" "$(sum entries)" "$(sum allocations)"
	is "senseless" "$(sum bad)$(sum torn)$(sum replaced)$(sum sites_lost)" 0000
}

# Rings that are too small for what is written: most is lost, and all of it counted.
test_rings_overflow()
{
	insmod /kmod/pmm.ko scan=0 interval_ms=3600000
	/prog/kmod_storm ring 4 20000
	is "taken and lost" $(($(sum allocations) + $(sum overflows))) 80000
	between "lost" "$(sum overflows)" 1 80000
	is "shown" "$(grep -c '^Lost: [1-9][0-9]* ring full, 0 over the limit, 0 no memory, 0 evicted, 0 torn, 0 senseless, 0 without place$' /proc/pmm/pid)" 4
}

# Limits of entries hold at any moment and in all.
test_limits()
{
	insmod /kmod/pmm.ko scan=0 entries_per_process=40 entries_in_all=100
	! /prog/kmod_storm ioctl 8 200 >out || fail "no limit"
	is "allocations" "$(sum allocations)" 1600
	between "entries" "$(sum entries)" 92 100
	[ "$(awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^entries=/) print substr($i, 9) }' /proc/pmm/summary | sort -n | tail -n 1)" -le 40 ] || fail "over the limit"
	is "with and without an entry" $(($(sum entries) + $(sum frees) + $(sum over_limit))) 1600
}

# A ring that is full is drained soon, however long the interval is.
test_rings_between_two_looks()
{
	insmod /kmod/pmm.ko interval_ms=3600000
	/prog/kmod_hold 5000 ring >out &
	await grep -q ready out
	is "entries" "$(sum entries)" 5000
	kill $!
}
