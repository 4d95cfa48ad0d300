# SPDX-License-Identifier: GPL-2.0-or-later
# Events and alerts of /kmod/pmm.ko.

# field PID KEY: of /proc/pmm/summary.
field() { sed -n "s/^pid=$1 .* $2=\([^ ]*\).*/\1/p" /proc/pmm/summary; }

# least PID KEY VALUE: it is that much or more.
least() { [ "$(field "$1" "$2")" -ge "$3" ]; }

# lines PATTERN: of the kernel's log, from this module.
lines() { dmesg | grep -c "] pmm: $1" || :; }

# victim HOW MIB STEPS MS: one that is monitored. Sets PID.
victim() {
	/prog/kmod_events "$@" &
	PID=$!
	await grep -q kmod_events "/proc/$PID/comm"
}

test_reading()
{
	insmod /kmod/pmm.ko scan=0
	/prog/kmod_events reading
}

test_waiting()
{
	insmod /kmod/pmm.ko scan=0
	/prog/kmod_events waiting
}

test_more_than_are_kept()
{
	insmod /kmod/pmm.ko scan=0
	/prog/kmod_events lost
}

test_eventfd()
{
	insmod /kmod/pmm.ko scan=0
	/prog/kmod_events eventfds
}

test_others_processes()
{
	insmod /kmod/pmm.ko scan=0
	/prog/kmod_events own
}

test_alert_and_again()
{
	insmod /kmod/pmm.ko
	before=$(lines 'process [0-9]* (kmod_events): has outstanding 1001 bytes, limit 1000$')
	/prog/kmod_events alerts
	is "lines" "$(lines 'process [0-9]* (kmod_events): has outstanding 1001 bytes, limit 1000$')" $((before + 3))
}

test_alert_by_size()
{
	insmod /kmod/pmm.ko interval_ms=20 growth_kib=0 resident_kib=20480
	victim grow 40 40 10
	echo "START_PID $PID" >/proc/pmm/cfg
	await least "$PID" resident_bytes 41943040
	is "alerts" "$(field "$PID" alerts)" 1
	is "above" "$(($(field "$PID" flags) & 0x20))" 32
	is "lines" "$(lines "process $PID (kmod_events): has resident [2-4][0-9]* bytes, limit 20971520\$")" 1
	kill "$PID"
}

test_looks()
{
	insmod /kmod/pmm.ko interval_ms=20 scan=0
	/prog/kmod_events looks
}

test_alert_by_growth()
{
	# On a slow machine it grows by far less than the 20 MiB/s that it would like to.
	insmod /kmod/pmm.ko interval_ms=50 window=64 growth_kib=2048
	victim grow 80 160 25
	echo "START_PID $PID" >/proc/pmm/cfg
	await least "$PID" resident_bytes 83886080
	# How fast it grows depends on the machine; where that stops for a while, another alert follows.
	between "alerts" "$(field "$PID" alerts)" 1 20
	between "lines" "$(lines "process $PID (kmod_events): grows steadily, by [0-9]* bytes, limit 2097152\$")" 1 20
	has /proc/pmm/pid '^Growth: [0-9]+ bytes/s over [0-9]+ looks, Threads: 1, Faults: [0-9]+ minor, 0 major, Alerts: [1-9]'
	kill "$PID"
}

test_no_alert()
{
	# The window is long beside a tooth of the saw, also where memory takes long to touch.
	insmod /kmod/pmm.ko interval_ms=50 window=64 growth_kib=1024
	for how in steady saw; do
		victim $how 4 4000 20
		await grep -q 'VmHWM:.* [456][0-9][0-9][0-9] kB' "/proc/$PID/status"
		echo "START_PID $PID" >/proc/pmm/cfg
		[ $how = saw ] || steady=$PID
	done
	await least "$PID" samples 64
	sleep 1
	is "alerts" "$(field "$steady" alerts) $(field "$PID" alerts)" "0 0"
	is "lines" "$(lines "process \($steady\|$PID\) ")" 0
	kill "$steady" "$PID"
}
