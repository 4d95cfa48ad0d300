# SPDX-License-Identifier: GPL-2.0-or-later
# Random calls of all that /kmod/pmm.ko has (tests/prog/kmod_fuzz.c); then it works exactly, and goes.

# fuzz SEED CALLS [user]
fuzz() {
	insmod /kmod/pmm.ko interval_ms=20
	chmod 666 /dev/pmm
	[ $# = 2 ] || chmod 666 /proc/pmm/*
	status=0
	/prog/kmod_fuzz "$@" >out || status=$?
	cat out
	is "status" "$status" 0
	rmmod pmm
	[ ! -e /sys/kernel/slab/pmm_entry ] || fail "its slab cache is left"
	# Not a bit of it is left in the next one's life.
	insmod /kmod/pmm.ko scan=0
	/prog/kmod_log kinds
}

test_as_root() { fuzz 1 50000; }

test_as_another_user() { fuzz 2 50000 user; }

# Several at once, which start, stop and read each other.
test_at_once()
{
	insmod /kmod/pmm.ko interval_ms=10
	chmod 666 /dev/pmm /proc/pmm/*
	for seed in 11 12 13; do
		{ /prog/kmod_fuzz $seed 8000 || echo "seed $seed: status $?"; } >"out.$seed" 2>&1 &
	done
	/prog/kmod_fuzz 14 8000 user >out.14
	wait
	cat out.*
	is "ended" "$(cat out.* | grep -c '^seed 1[1-4]: 8000 calls, [1-9][0-9]* of them taken$')" 4
	rmmod pmm
	insmod /kmod/pmm.ko scan=0
	/prog/kmod_log kinds
}
