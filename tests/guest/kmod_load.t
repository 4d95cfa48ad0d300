# SPDX-License-Identifier: GPL-2.0-or-later
# /kmod/pmm.ko is loaded and unloaded.

# threads: how many kernel threads of the module there are.
threads() { cat /proc/[0-9]*/comm 2>/dev/null | grep -c '^pmmthread$' || :; }

# there: all that the module shows.
there() {
	[ -d /sys/module/pmm ] || fail "no module"
	[ -c /dev/pmm ] || fail "no /dev/pmm"
	[ -d /proc/pmm ] || fail "no /proc/pmm"
	is "kernel threads" "$(threads)" 1
	[ -d /sys/kernel/slab/pmm_entry ] || fail "no slab cache"
}

# gone: nothing of it is left.
gone() {
	[ ! -e /sys/module/pmm ] || fail "the module is there"
	[ ! -e /dev/pmm ] || fail "/dev/pmm is there"
	[ ! -e /proc/pmm ] || fail "/proc/pmm is there"
	! grep pmm /proc/misc || fail "the device is there"
	is "kernel threads" "$(threads)" 0
	is "slab caches" "$(ls -d /sys/kernel/slab/*pmm* 2>/dev/null)" ""
	! grep '\[pmm\]' /proc/vmallocinfo || fail "memory is left"
}

test_load()
{
	insmod /kmod/pmm.ko
	there
	is "mode and owner" "$(stat -c '%a %u %g' /dev/pmm)" "600 0 0"
	is "major number" "$(stat -c %t /dev/pmm)" a
	is "minor number" "$((0x$(stat -c %T /dev/pmm)))" "$(awk '$2 == "pmm" { print $1 }' /proc/misc)"
	is "files" "$(cd /proc/pmm && echo *)" "cfg pid summary"
	for file in cfg pid summary; do
		[ "$(stat -c %u /proc/pmm/$file)" = 0 ] || fail "$file is not root's"
		cat "/proc/pmm/$file" >/dev/null
	done
	is "processes" "$(cat /proc/pmm/summary)" ""
	is "users" "$(lsmod | awk '$1 == "pmm" { print $3 }')" 0
	! insmod /kmod/pmm.ko || fail "it is loaded twice"
	rmmod pmm
	gone
}

test_held()
{
	insmod /kmod/pmm.ko
	exec 4</dev/pmm
	! rmmod pmm 2>err || fail "it is unloaded while the device is open"
	has err 'busy|temporarily unavailable'
	there
	sleep 100 <&4 &
	exec 4<&-
	! rmmod pmm 2>err || fail "it is unloaded while a child has the device"
	there
	kill $!
	wait $! || :
	rmmod pmm
	gone
}

# An open file of /proc does not hold the module, nor does the module wait for it to be closed.
test_open_files()
{
	insmod /kmod/pmm.ko
	exec 4</proc/pmm/cfg 5</proc/pmm/pid 6</proc/pmm/summary
	cat <&4 >/dev/null
	rmmod pmm
	gone
	for fd in 4 5 6; do
		! cat <&$fd 2>err || fail "descriptor $fd is read after the module is gone"
		has err 'Input/output error|I/O error'
	done
	exec 4<&- 5<&- 6<&-
}

test_parameters()
{
	for bad in interval_ms=9 interval_ms=0 interval_ms=3600001 interval_ms=-1 interval_ms=4294967306 interval_ms=soon scan=2 window=7 window=65 \
		processes=0 processes=65537 entries_per_process=0 entries_per_process=16777217 entries_in_all=0 entries_in_all=16777217 keep_s=2592001; do
		! insmod /kmod/pmm.ko $bad 2>err || fail "$bad is accepted"
		gone
	done
	for good in interval_ms=10 interval_ms=3600000 scan=0 window=8 window=64 processes=1 processes=65536 entries_per_process=1 \
		entries_per_process=16777216 entries_in_all=1 entries_in_all=16777216 keep_s=0 keep_s=2592000 growth_kib=0 resident_kib=1 logged_kib=1; do
		insmod /kmod/pmm.ko $good
		there
		value=$(cat "/sys/module/pmm/parameters/${good%=*}")
		[ "$value" != N ] || value=0
		is "$good" "$value" "${good#*=}"
		rmmod pmm
		gone
	done
	# The parameters are read only: what changes them is /proc/pmm/cfg.
	insmod /kmod/pmm.ko
	is "modes" "$(stat -c %a /sys/module/pmm/parameters/* | sort -u)" 444
}

test_twenty_times()
{
	for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		insmod /kmod/pmm.ko interval_ms=10
		there
		[ $((n % 2)) = 0 ] || cat /proc/pmm/* >/dev/null
		rmmod pmm
		gone
	done
}
