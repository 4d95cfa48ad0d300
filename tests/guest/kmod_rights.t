# SPDX-License-Identifier: GPL-2.0-or-later
# Who may do and see what with /kmod/pmm.ko, and who pays for its memory.

# field PID KEY: of /proc/pmm/summary.
field() { sed -n "s/^pid=$1 .* $2=\([^ ]*\).*/\1/p" /proc/pmm/summary; }

test_callers()
{
	insmod /kmod/pmm.ko
	is "mode and owner" "$(stat -c '%a %u %g' /dev/pmm)" "600 0 0"
	/prog/kmod_rights callers
}

test_pointers()
{
	insmod /kmod/pmm.ko
	/prog/kmod_rights pointers
}

test_pid_namespaces()
{
	insmod /kmod/pmm.ko
	/prog/kmod_rights namespaces
}

# hold GROUP N [ring]: a process in the group with that many entries. Sets PID.
hold() {
	mkfifo fifo
	group=$1
	shift
	sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$G/t_$group" /prog/kmod_hold "$@" >fifo &
	PID=$!
	read -r line <fifo
	is "kmod_hold" "$line" ready
	rm fifo
}

# slab GROUP: bytes of kernel memory that it pays for.
slab() { awk '$1 == "slab" { print $2 }' "$G/t_$1/memory.stat"; }

# paid HOW: entries are paid for by the group of the process that they are of, whoever enters them.
paid() {
	insmod /kmod/pmm.ko
	group payer max
	hold payer 1 $1
	one=$(slab payer)
	kill "$PID"
	wait "$PID" || :
	echo "STOP_PID $PID" >/proc/pmm/cfg
	hold payer 20000 $1
	is "entries" "$(field "$PID" entries)" 20000
	between "bytes for each entry" $((($(slab payer) - one) / 20000)) 90 600
	echo "STOP_PID $PID" >/proc/pmm/cfg
	between "bytes for each entry after its end" $((($(slab payer) - one) / 20000 + 1)) 0 20
	kill "$PID"
}

test_memory_of_calls() { paid ''; }

test_memory_of_rings() { paid ring; }

# A process that goes to another group is paid for by the one in which its log began: only that can have the entries given back.
test_memory_of_the_moved()
{
	insmod /kmod/pmm.ko
	group began max
	group moved max
	hold began 1
	began=$(slab began)
	kill "$PID"
	wait "$PID" || :
	echo "STOP_PID $PID" >/proc/pmm/cfg
	hold began 20000 "$G/t_moved"
	has "/proc/$PID/cgroup" '/t_moved$'
	is "entries" "$(field "$PID" entries)" 20000
	between "bytes for each entry where it began" $((($(slab began) - began) / 20000)) 90 600
	between "bytes for each entry where it is" $(($(slab moved) / 20000)) 0 20
	kill "$PID"
}
