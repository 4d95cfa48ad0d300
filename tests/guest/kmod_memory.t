# SPDX-License-Identifier: GPL-2.0-or-later
# Allocations of /kmod/pmm.ko that fail, where the kernel can be told to (tests/guest/debug.config).

test_each_allocation_fails()
{
	[ -e /proc/self/fail-nth ] || skip "this kernel has no fault injection"
	# Those that may wait fail as well, and single pages.
	for fault in failslab fail_page_alloc; do echo N >/sys/kernel/debug/$fault/ignore-gfp-wait; done
	echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
	for fault in failslab fail_page_alloc fail_usercopy; do echo 0 >/sys/kernel/debug/$fault/verbose; done
	insmod /kmod/pmm.ko scan=0 interval_ms=10 keep_s=0
	status=0
	/prog/kmod_memory >out || status=$?
	while read -r line; do echo "<3>pmm memory: $line" >/dev/kmsg; done <out
	cat out
	is "status" "$status" 0
	await rmmod pmm
}

# To load it can fail as well: then nothing of it is there.
test_loading_fails()
{
	[ -e /proc/self/make-it-fail ] || skip "this kernel has no fault injection"
	for fault in failslab fail_page_alloc; do
		echo N >/sys/kernel/debug/$fault/ignore-gfp-wait
		echo Y >/sys/kernel/debug/$fault/task-filter
		echo 0 >/sys/kernel/debug/$fault/verbose
		echo -1 >/sys/kernel/debug/$fault/times
		echo 7 >/sys/kernel/debug/$fault/probability
	done
	echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
	failed=0
	for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
		if sh -c 'echo 1 >/proc/self/make-it-fail; exec insmod /kmod/pmm.ko' 2>err; then
			rmmod pmm
		else
			failed=$((failed + 1))
		fi
		[ ! -e /proc/pmm ] && [ ! -e /dev/pmm ] && [ ! -e /sys/kernel/slab/pmm_entry ] || fail "something is left"
	done
	for fault in failslab fail_page_alloc; do echo 0 >/sys/kernel/debug/$fault/probability; done
	between "failed loads" $failed 1 30
	insmod /kmod/pmm.ko
}
