# SPDX-License-Identifier: GPL-2.0-or-later
# What /kmod/pmm.ko costs. Processors are emulated and shared with others: ratios, with room. The figures are in the log of the guest's kernel (GUEST_KEEP).

# value KEY: of what the program has said.
value() { sed -n "s/^$1=//p" out; }

# said: the figures go to the kernel's log as errors, which the guest's first serial line shows.
said() { while read -r line; do echo "<3>pmm cost: $line" >/dev/kmsg; done <out; }

# The ratio to an empty call has no limit: each allocation is checked in these guests (slub_debug), which costs more than the record.
test_record_in_a_long_log()
{
	insmod /kmod/pmm.ko scan=0
	/prog/kmod_cost cost >out
	said
	between "a record among 100000 in percent of one among 100" "$(value many_percent)" 50 200
}

test_reading_a_long_log()
{
	insmod /kmod/pmm.ko scan=0
	/prog/kmod_cost reading >out
	said
	between "bytes" "$(value read_bytes)" 5000000 10000000
	between "milliseconds" "$(value read_ms)" 1 20000
	between "microseconds of the slowest call meanwhile" "$(value slowest_call_us)" 1 1000000
}

test_going_to_the_end()
{
	insmod /kmod/pmm.ko scan=0
	/prog/kmod_cost seeking >out
	said
	between "percent of the time for the slowest call meanwhile" "$(($(value slowest_call_us) / 10 / ($(value seek_ms) + 1)))" 0 25
}

test_killed_while_it_waits()
{
	insmod /kmod/pmm.ko scan=0
	/prog/kmod_cost killed
}

# ran: nanoseconds that the kernel thread has run.
ran() { cut -d ' ' -f 1 "/proc/$THREAD/schedstat"; }

test_scan_of_1000()
{
	insmod /kmod/pmm.ko interval_ms=3600000
	mkfifo ready
	/prog/kmod_cost crowd >ready &
	read -r line <ready
	is "crowd" "$line" ready
	is "processes" "$(wc -l </proc/pmm/summary)" 1000
	THREAD=$(pidof pmmthread)
	before=$(ran)
	# Each line has the thread look at all once, at the interval's begin.
	for n in 1 2 3 4 5; do
		samples=$(sed -n '$s/.* samples=\([0-9]*\) .*/\1/p' /proc/pmm/summary)
		echo "INTERVAL 359999$n" >/proc/pmm/cfg
		await sh -c "tail -n 1 /proc/pmm/summary | grep -q samples=$((samples + 1))"
	done
	echo "scan_us=$((($(ran) - before) / 5000))" >out
	said
	between "microseconds of a scan" "$(value scan_us)" 100 500000
	kill -9 $(pidof kmod_cost) 2>/dev/null || :	# some may end with others
}
