# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace faults, major, swap: to the page on each kernel; without look-up of areas (before 5.17) what is known all the same.

# state CLASS: whether it works on this kernel, and what is missing.
state() { jq -r --arg c "$1" '.events[] | select(.event == $c) | "\(.works) \(.why // "")"' list.json; }

# touch KIND PAGES [FILE]: trace the victim, each fault with a line; $from, $to, $minor, $major as it says them.
touch_pages() {
	status=0
	pmm trace faults,major,swap --json --top 0 --sample 1 --stack-size 0 -- /prog/trace_faults "$@" >trace.json 2>said || status=$?
	is "the status of pmm trace" "$status" 0
	is "lost events" "$(result '.coverage | .lost_in_ring + .lost_in_tables + .missed_by_recursion')" 0
	read -r _ from to minor major <<-END
		$(grep "^$1 " said)
	END
}

# among EVENT FILTER: lines of that event in the victim's range.
among() {
	jq -c --argjson from "$from" --argjson to "$to" '
		def hex: ltrimstr("0x") | explode | reduce .[] as $c (0; . * 16 + (if $c > 96 then $c - 87 else $c - 48 end));
		select(.event == "'"$1"'") | select(.address | hex >= $from and hex < $to) | select('"$2"')' trace.json | wc -l
}

# memory KIND: as this kernel knows it.
memory() {
	if since 5.17; then echo ".memory == \"$1\""; else echo '.memory == "unknown"'; fi
}

test_groups()
{
	pmm trace --list --json >list.json
	for class in faults major swap; do
		if since 5.17; then
			is "$class" "$(state $class)" "yes "
		else
			has list.json 'before 5.17'
			is "$class" "$(state $class | cut -d' ' -f1)" partly
		fi
	done
}

test_anonymous()
{
	touch_pages anonymous 500
	is "the kernel's own count" "$minor" 500
	is faults "$(among fault "$(memory anonymous) and .access == \"write\"")" 500
	is "all faults there" "$(among fault .)" 500
	touch_pages reread 200
	is "reads and writes" "$(among fault '.page_present == false') $(among fault .page_present)" "200 200"
}

test_heap_and_stack()
{
	touch_pages heap 200
	is heap "$(among fault '.memory == "heap"')" 200
	touch_pages stack 200
	is stack "$(among fault .)" "$minor"
	is "of the stack" "$(among fault '.memory == "stack" or .memory == "stack_growth"')" "$minor"
}

test_files()
{
	since 5.17 || skip "before 5.17 faults have no file"
	touch_pages private_file 100 /tmp/file
	is faults "$(among fault '.memory == "private_file" and .file == "/tmp/file"')" 100
	is "of the file" "$(result '.fault_files[] | select(.file == "/tmp/file") | .faults')" 100
	touch_pages shared 100
	is "shared memory" "$(among fault '.memory == "shared_memory" and (.file | startswith("/dev/zero"))')" 100
}

# The cache of areas meets an address that is other memory each time.
test_changes()
{
	since 5.17 || skip "before 5.17 faults have no file"
	touch_pages change 200 /tmp/file
	is anonymous "$(among fault '.memory == "anonymous"')" 200
	is "of the file" "$(among fault '.memory == "shared_file" or .memory == "shared_memory"')" 200
}

# Pages of hugetlbfs, which are set aside before: one fault for each, and none for the 511 small pages behind its first.
test_hugetlb()
{
	echo 1 >/proc/sys/vm/compact_memory
	echo 8 >/proc/sys/vm/nr_hugepages
	is "huge pages set aside" "$(cat /proc/sys/vm/nr_hugepages)" 8
	touch_pages hugetlb 8
	is "the kernel's own count" "$minor" 8
	is "all faults there" "$(among fault .)" 8
	is "2 MiB apart" "$(jq -s --argjson from "$from" '
		def hex: ltrimstr("0x") | explode | reduce .[] as $c (0; . * 16 + (if $c > 96 then $c - 87 else $c - 48 end));
		[.[] | select(.event == "fault") | .address | hex - $from | select(. >= 0 and . < 16777216)] == [range(8) * 2097152]' trace.json)" true
	is faults "$(among fault "$(memory hugetlb)")" 8
	if since 5.17; then
		is "faults in the table" "$(result '[.fault_memory[] | select(.memory == "hugetlb") | .faults] | add')" 8
	fi
	echo 0 >/proc/sys/vm/nr_hugepages
}

# Transparent huge pages: one fault each, if the kernel finds them; what is split is seen by what it moves.
test_transparent_huge_pages()
{
	echo madvise >/sys/kernel/mm/transparent_hugepage/enabled
	echo always >/sys/kernel/mm/transparent_hugepage/defrag
	echo 1 >/proc/sys/vm/compact_memory
	before=$(vmstat thp_fault_alloc)
	touch_pages huge 8
	is "huge pages by faults" "$(($(vmstat thp_fault_alloc) - before))" 8
	is "all faults there" "$(among fault .)" 8
	is faults "$(among fault "$(memory anonymous_huge)")" 8
}

test_system_calls()
{
	touch_pages kernel 100
	is "by the kernel" "$(among fault ".by_kernel and ($(memory anonymous))")" 100
	is "all faults there" "$(among fault .)" 100
}

test_swap()
{
	swap_on 64
	group swap 16M
	before=$(vmstat pswpin)
	status=0
	pmm trace swap,major --json --top 0 --stack-size 0 -- \
		sh -c 'echo $$ >"$0/cgroup.procs"; exec /prog/trace_faults swap 8000' "$G/t_swap" >trace.json 2>said || status=$?
	is "the status of pmm trace" "$status" 0
	after=$(vmstat pswpin)
	swap_off
	read -r _ from to minor major <<-END
		$(grep "^swap " said)
	END
	# a page that is still in the swap cache, because it is just being written, comes back without a major fault
	between "major faults" "$major" 7900 8100
	most=8000 least=8000
	[ "$major" -ge 8000 ] || most=$major least=$((major - 100))
	is "lost events" "$(result '.coverage | .lost_in_ring + .lost_in_tables + .missed_by_recursion')" 0
	if since 5.17; then
		between swap-ins "$(among swap_in '.memory == "anonymous"')" $least $most
	else
		between "major faults" "$(among major '.memory == "unknown"')" $least $most
	fi
	between "pages read from swap" $((after - before)) $least 20000
}
