# SPDX-License-Identifier: GPL-2.0-or-later
# Calls of /dev/pmm of /kmod/pmm.ko and the texts of /proc/pmm, with exact results.

# loaded [PARAMETER...]: the module, which looks at processes only when a test wants it.
loaded() { insmod /kmod/pmm.ko scan=0 "$@"; }

test_refused_calls()
{
	for case in sizes versions unknown addresses; do
		loaded
		/prog/kmod_calls $case
		rmmod pmm
	done
}

test_mappings()
{
	for case in mappings many large; do
		loaded
		/prog/kmod_calls $case
		rmmod pmm
	done
}

test_records()
{
	loaded
	for case in refused fields kinds sites; do /prog/kmod_log $case; done
}

test_reading_in_pieces()
{
	loaded
	/prog/kmod_log pieces
}

test_configuration()
{
	for case in bad_lines good_lines ranges pids; do
		loaded
		/prog/kmod_cfg $case
		rmmod pmm
	done
}

test_text_of_cfg()
{
	loaded interval_ms=250
	cat >expected <<-'END'
	INTERVAL 250      milliseconds between two looks at the processes
	SCAN 0            1: they are looked at, 0: they are not
	START_PID n       begin to monitor the process n
	STOP_PID n        stop, and forget its log
	END
	diff expected /proc/pmm/cfg
	is "permissions" "$(stat -c '%a %u %g' /proc/pmm/cfg /proc/pmm/pid /proc/pmm/summary | tr '\n' ' ')" "600 0 0 400 0 0 400 0 0 "
	is "of the folder" "$(stat -c '%a' /proc/pmm)" 555
	# One line at a time, by what writes lines.
	echo "INTERVAL 777" >/proc/pmm/cfg
	has /proc/pmm/cfg '^INTERVAL 777 '
	! echo "INTERVAL 7" >/proc/pmm/cfg || fail "7 ms are taken"
	has /proc/pmm/cfg '^INTERVAL 777 '
}

test_text_of_pid()
{
	loaded
	/prog/kmod_log text >text
	# The figures are those of a process that runs; these are known. Before 6.2 a kernel counts pages of files in portions: it may have none yet.
	sed -E -e 's/PID: [0-9]+, Comp: kmod_log, PPID: [0-9]+/PID: 9, Comp: kmod_log, PPID: 8/' \
		-e '/^Footprint:/s/shared 0 /shared N /' -e '/^Footprint:|^Growth:/s/[1-9][0-9]*/N/g' text >actual
	cat >expected <<-'END'
	[1] PID: 9, Comp: kmod_log, PPID: 8, State: running, Log count: 3, 4611686018427388104 bytes
	Footprint: virtual N KiB, resident N KiB, shared N KiB, code N KiB, data N KiB, stack N KiB, swap 0 KiB, page tables N KiB
	Growth: 0 bytes/s over N looks, Threads: N, Faults: N minor, 0 major, Alerts: 0
	Logged: 4 allocations, 4611686018427388204 bytes; 1 frees, 100 bytes; lost 0 bytes; peak 3 entries, 4611686018427388104 bytes
	Frees: 1 double, 1 foreign, 0 maybe of evicted; 0 missing
	{DOUBLE FREE @00:00:01} Pointer: 0x5000 Caller: 0x0 ?
	{FOREIGN FREE @00:00:01} Pointer: 0x9999 Caller: 0x401235 ?
	{REALLOC @12:34:56} Sz: 200B Pointer: 0x6000 Prev Pointer: 0x5000 Caller: 0x401234 main() 207 pmd.c
	{CALLOC @00:00:00} Sz: 0B Pointer: 0x7000 Caller: 0x0 ?
	{MMAP @23:59:59} Sz: 4611686018427387904B Pointer: 0x8000 Caller: 0x0 a\x20b\x0a\x5c"() 0 /a\x20b/\xc3\xa9.c
	END
	diff expected actual
}

test_text_of_summary()
{
	loaded
	sleep 1000 &
	pid=$!
	await grep -q sleep "/proc/$pid/comm"
	echo "START_PID $pid" >/proc/pmm/cfg
	echo "START_PID 1" >/proc/pmm/cfg
	is "lines" "$(wc -l </proc/pmm/summary)" 2
	is "keys" "$(sed -n '1s/=[^ ]*//gp' /proc/pmm/summary)" "pid ppid comm state status number flags virtual_bytes resident_bytes shared_bytes\
 code_bytes data_bytes stack_bytes swap_bytes page_table_bytes minor_faults major_faults threads growth_bytes_per_s samples alerts entries entry_bytes\
 allocations frees allocated_bytes freed_bytes lost_bytes peak_entries peak_bytes double_frees foreign_frees replaced evicted evicted_frees over_limit\
 no_memory overflows torn bad sites_lost"
	has /proc/pmm/summary "^pid=$pid ppid=$$ comm=sleep state=running status=0 number=1 flags=0x4 "
	has /proc/pmm/summary "^pid=1 ppid=0 comm=init state=running status=0 number=2 flags=0x4 "
	kill $pid
	wait $pid || :
}

# Longer than a page, of several processes, and read in pieces of any size: the same.
test_long_texts()
{
	loaded
	/prog/kmod_hold 1000 &
	first=$!
	/prog/kmod_hold 3 &
	second=$!
	await grep -q "^pid=$first .* entries=1000 " /proc/pmm/summary
	await grep -q "^pid=$second .* entries=3 " /proc/pmm/summary
	cat /proc/pmm/pid >whole
	is "entries" "$(grep -c '^{MALLOC ' whole)" 1003
	is "processes" "$(grep -c '^\[[12]\] PID: ' whole)" 2
	for size in 1 13 4096 1000000; do
		dd if=/proc/pmm/pid bs=$size of=pieces 2>/dev/null
		cmp whole pieces
	done
	dd if=/proc/pmm/pid bs=1000 skip=20 of=rest 2>/dev/null
	tail -c +20001 whole | cmp - rest
	kill $first $second
}

test_program_of_32_bits()
{
	[ -x /prog/kmod_calls32 ] || skip "no compiler for 32 bits, or another architecture"
	loaded
	/prog/kmod_calls32
}
