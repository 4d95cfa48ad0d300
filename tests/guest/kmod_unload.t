# SPDX-License-Identifier: GPL-2.0-or-later
# /kmod/pmm.ko is not unloaded while it is in use, and leaves nothing when it is.

# start CASE: it is ready; `finish` lets it continue.
start() {
	mkfifo out in
	/prog/kmod_unload "$1" <in >out &
	PID=$!
	exec 5>in 6<out
	ready
}

ready() {
	read -r line <&6
	is "kmod_unload" "$line" ready
}

finish() {
	exec 5>&-
	status=0
	wait "$PID" || status=$?
	[ $status = 0 ] || cat <&6
	exec 6<&-
	rm in out
	is "status" $status 0
}

refused() {
	! rmmod pmm 2>err || fail "it is unloaded"
	has err 'busy|temporarily unavailable'
}

test_mapped_ring()
{
	insmod /kmod/pmm.ko
	start ring
	refused
	is "entries" "$(grep -c '^{MALLOC ' /proc/pmm/pid)" 1
	printf x >&5
	ready
	is "entries" "$(grep -o ' allocations=[0-9]*' /proc/pmm/summary)" " allocations=2"
	rmmod pmm
	finish
}

test_half_read_text()
{
	insmod /kmod/pmm.ko interval_ms=10
	start half
	rmmod pmm
	finish
	insmod /kmod/pmm.ko
	is "text" "$(cat /proc/pmm/pid)" ""
}

# While it is loaded with work it stays; when that has ended it goes at once.
test_under_load()
{
	for how in ioctl ring; do
		insmod /kmod/pmm.ko interval_ms=10
		/prog/kmod_storm $how 8 2000000000 >out 2>&1 &
		await sh -c '[ "$(grep -c " allocations=[1-9]" /proc/pmm/summary)" = 8 ]'
		for n in 1 2 3 4 5 6 7 8 9 10; do refused; done
		kill -9 $(pidof kmod_storm) 2>/dev/null || :	# some may end with others
		wait
		await rmmod pmm
		[ ! -e /proc/pmm ] || fail "/proc/pmm is left"
	done
}

# Readers of its files do not keep it, and do not break.
test_while_it_is_read()
{
	for n in 1 2 3 4 5; do
		insmod /kmod/pmm.ko interval_ms=10
		/prog/kmod_hold 500 >out &
		await grep -q entries=500 /proc/pmm/summary
		for file in pid summary cfg; do
			while cat /proc/pmm/$file; do :; done >/dev/null 2>&1 &
		done
		sleep 0.3
		kill -9 $(pidof kmod_hold) 2>/dev/null || :	# some may end with others
		await rmmod pmm
		wait
	done
}

available() { awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo; }

# areas: of the kernel's virtual memory, those of code that is not there any more or of the module.
areas() { grep -v unpurged /proc/vmallocinfo | grep -c -E '^[^ ]+ +[0-9]+ (0x|.*\[pmm\])' || :; }

test_nothing_is_left()
{
	for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		insmod /kmod/pmm.ko interval_ms=10
		/prog/kmod_unload use
		rmmod pmm
		is "slab caches" "$(grep -c pmm /proc/slabinfo)$(ls /sys/kernel/slab | grep -c pmm)" 00
		is "areas" "$(areas)" 0
		# The first ones fill caches of the kernel's own.
		[ "$n" != 3 ] || before=$(available)
	done
	after=$(available)
	# The rings alone would be 34 MiB, the entries 15.
	[ $((before - after)) -lt 6000 ] || fail "$before KiB were available, and now $after KiB"
}
