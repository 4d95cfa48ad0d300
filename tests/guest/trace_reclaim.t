# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace reclaim, compaction, migrate, thp: what would disturb the machine, against what /proc/vmstat counts meanwhile.

# before, gained KEY...: what the counters have gained since, together.
before() { cat /proc/vmstat >vmstat.before; }
after() { cat /proc/vmstat >vmstat.after; }
gained() {
	awk -v keys=" $* " 'NR == FNR { if (index(keys, " " $1 " ")) n -= $2; next } index(keys, " " $1 " ") { n += $2 } END { print n + 0 }' \
		vmstat.before vmstat.after
}

# A victim that says "ready" when it has done its work. Sets PID.
start() {
	rm -f in out
	mkfifo in out
	"$@" <in >out &
	PID=$!
	exec 7>in 8<out
	read -r line <&8 || line=nothing
	is "the victim's line" "$line" ready
}

stop() {
	exec 7>&-
	wait "$PID"
}

# of EVENT COLUMN: of the row of an event in the table of all.
of() { result ".events[] | select(.event == \"$1\").$2"; }

# state CLASS: whether it works on this kernel, and what is missing.
state() { jq -r --arg c "$1" '.events[] | select(.event == $c) | "\(.works) \(.why // "")"' list.json; }

test_groups()
{
	pmm trace --list --json >list.json
	is compaction "$(state compaction)" "yes "
	if since 6.1; then
		is reclaim "$(state reclaim)" "yes "
		is migrate "$(state migrate)" "yes "
	else
		is reclaim "$(state reclaim)" "partly this kernel has no tracepoint mm_vmscan_throttled"
		is migrate "$(state migrate)" "partly this kernel has no tracepoint mm_migrate_pages_start"
	fi
	if since 6.12; then
		is thp "$(state thp)" "yes "
	elif since 6.1; then
		is thp "$(state thp)" "partly this kernel has no tracepoint mm_khugepaged_collapse_file"
	else
		is thp "$(state thp | cut -d' ' -f1)" partly
	fi
}

# The writer compacts each zone by itself; nothing else moves pages meanwhile: kcompactd would, unasked, every half second that memory is in pieces.
test_compaction_and_migration()
{
	echo 0 >/proc/sys/vm/compaction_proactiveness
	start /prog/trace_fragments 134217728
	tracing compaction,migrate
	before
	sh -c 'echo 1 >/proc/sys/vm/compact_memory; echo $$ >writer'
	after
	traced
	stop
	result '.compaction_waits, .compaction, .migration'
	by="select(.pid == $(cat writer))"
	is "zones compacted" "$(events compaction 'true' "map($by) | length")" "$(grep -c '^Node.*zone *DMA' /proc/zoneinfo)"
	is "others" "$(events compaction 'true' "map(.pid) | unique | length")" 1
	if since 6.1; then
		is "what it was for" "$(events compaction true 'map(.whole_zone) | unique | join(" ")')" true
	fi
	is "its end" "$(events compaction true 'map(.status) | unique | join(" ")')" complete
	is "what was moved" "$(events migrate '.reason == "compaction"' 'map(.moved_bytes) | add / 4096')" "$(gained pgmigrate_success)"
	is "what was not" "$(events migrate true 'map(.not_moved_bytes) | add / 4096')" "$(gained pgmigrate_fail)"
	is "the same, summed up" "$(of migrate size_bytes)" "$(($(gained pgmigrate_success) * 4096))"
	between "pages moved" "$(gained pgmigrate_success)" 1 32768
}

# What is free is in pieces: a fault that wants a huge page makes one, or waits in vain.
test_compaction_that_a_fault_waits_for()
{
	echo madvise >/sys/kernel/mm/transparent_hugepage/enabled
	echo always >/sys/kernel/mm/transparent_hugepage/defrag
	start /prog/trace_fragments $((($(awk '$1 == "MemFree:" { print $2 }' /proc/meminfo) - 65536) * 1024))
	tracing compaction,thp
	before
	/prog/trace_huge 60 1 0 >huge
	after
	traced
	stop
	cat huge
	result '.compaction_waits, .compaction'
	grep compact_ vmstat.after
	is "huge page faults" "$(events huge_fault '.command == "trace_huge"' length)" 60
	is "huge pages by faults" "$(events huge_fault .allocated length)" "$(gained thp_fault_alloc)"
	[ "$(gained compact_stall)" -gt 0 ] || skip "no fault had to wait for compaction"
	by='.command == "trace_huge"'
	# one for each zone that is tried; a stall may end before the first
	between compactions "$(events compaction "$by" length)" 1 $(($(gained compact_stall) * 2))
	is "those for huge pages" "$(events compaction "$by and .order == 9 and (.gfp | startswith(\"GFP_TRANSHUGE\"))" length)" \
		"$(events compaction "$by" length)"
	is "their sum" "$(result '[.compaction[].count] | add')" "$(events compaction true length)"
	is "latencies of 0" "$(events compaction '.latency_ns == 0' length)" 0
}

# kswapd is done, nobody else reclaims.
settled() {
	grep -E 'allocstall|pageoutrun' /proc/vmstat >settled.1
	sleep 0.5
	grep -E 'allocstall|pageoutrun' /proc/vmstat | cmp -s - settled.1
}

# More than there is: kswapd begins, then everybody reclaims for himself, pmm too, which does not trace itself.
test_direct_reclaim_and_kswapd()
{
	swap_on 512
	tracing reclaim
	before
	start /prog/trace_pressure 480 0
	await settled
	after
	stop
	traced
	swap_off
	result '.reclaim_waits'
	grep -E 'allocstall|pgsteal|pageoutrun' vmstat.after
	stalls=$(gained allocstall_dma allocstall_dma32 allocstall_normal allocstall_movable)
	pages=$(events direct_reclaim true 'map(.reclaimed_bytes) | add / 4096')
	between stalls "$stalls" 10 100000
	between "those of other processes" "$(of direct_reclaim count)" $((stalls / 2)) "$stalls"
	between "those of the victim" "$(events direct_reclaim ".pid == $PID" length)" $((stalls / 2)) "$stalls"
	between "pages reclaimed" "$pages" $(($(gained pgsteal_direct) / 2)) $(($(gained pgsteal_direct) + $(gained slabs_scanned)))
	is "the same, summed up" "$(($(of direct_reclaim size_bytes) / 4096))" "$pages"
	is "latencies of 0" "$(events direct_reclaim '.latency_ns == 0' length)" 0
	is "kswapd's wakes" "$(of kswapd_wake count)" "$(gained pageoutrun)"
	is "who wakes" "$(events kswapd_wake true 'map(.command) | unique | join(" ")')" kswapd0
}

test_shrinkers()
{
	find /sys -type f >files
	tracing reclaim
	before
	echo 2 >/proc/sys/vm/drop_caches
	after
	traced
	result '.shrinkers'
	is "calls" "$(result '[.shrinkers[].calls] | add')" "$(result '[.shrinker_latency[].count] | add')"
	between "objects freed" "$(result '.shrinkers[] | select(.shrinker == "super_cache_scan").freed')" 1000 "$(gained slabs_scanned)"
	between "objects looked at" "$(gained slabs_scanned)" 1000 "$(result '[.shrinkers[].asked] | add')"
}

# The kernel switches huge pages off where there is little memory.
test_huge_pages()
{
	echo madvise >/sys/kernel/mm/transparent_hugepage/enabled
	echo 1 >/proc/sys/vm/compact_memory
	tracing thp
	before
	/prog/trace_huge 8 4 2 >huge
	after
	traced
	cat huge
	is "huge pages by faults" "$(of huge_fault count)" "$(gained thp_fault_alloc)"
	is "the same, of smaps" "huge $(($(of huge_fault count) * 2048))" "$(cut -d ' ' -f 1,2 huge)"
	is "the same, of the victim" "$(of huge_fault count)" 8
	if since 6.1; then
		is "huge pages made of small ones" "$(events collapse '.status == "succeeded" and .command == "trace_huge"' length)" 4
		is "the same, of the machine" "$(events collapse '.status == "succeeded"' length)" "$(gained thp_collapse_alloc)"
	fi
}

# 48 MiB of 80 fit: written and then read in the same order, each page has gone before it comes back.
test_swap_in()
{
	swap_on 256
	group small 48M
	tracing swap,major
	before
	start inside small /prog/trace_pressure 80 1
	after
	stop
	traced
	swap_off
	grep -E 'pswp|pgmaj' vmstat.after
	swapped=$(of swap_in count) major=$(of major count)
	# Beside its 20480 pages some of its stack and libraries. Major faults of this script's commands may be outside of the two looks at the counters.
	between "swap-ins and major faults" $((swapped + major)) "$(gained pgmajfault)" $(($(gained pgmajfault) + major))
	between "the same" $((swapped + major)) 20448 20544
	# before, the kernel does not say what memory an address is of
	if since 5.17; then
		# some may still be in the swap cache as they are read, because they are just being written: no major fault
		between "swap-ins of the victim" "$(result '.swap_processes[] | select(.command == "trace_pressure").faults')" 20448 20512
		between "others and libraries" "$major" 0 32
	fi
}
