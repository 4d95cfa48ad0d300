# SPDX-License-Identifier: GPL-2.0-or-later
# Logs of /kmod/pmm.ko give way where memory is short: nobody is killed because of them, and what is gone is counted.

# field PID KEY: of /proc/pmm/summary.
field() { sed -n "s/^pid=$1 .* $2=\([^ ]*\).*/\1/p" /proc/pmm/summary; }

# event GROUP KEY, stat GROUP KEY: of its memory.events, its memory.stat.
event() { awk -v k="$2" '$1 == k { print $2 }' "$G/t_$1/memory.events"; }
stat_of() { awk -v k="$2" '$1 == k { print $2 }' "$G/t_$1/memory.stat"; }

# full HOW: a program logs ten times as much as its group has memory for, beside its own 4 MiB.
full() {
	insmod /kmod/pmm.ko scan=0
	group full 12M
	inside full /prog/kmod_group "$1" 120000 4
	is "killed" "$(event full oom_kill)" 0
	rmmod pmm
	between "kernel memory of the group afterwards" "$(stat_of full slab)" 0 1000000
}

test_log_by_calls() { full call; }

test_log_by_ring() { full ring; }

test_log_by_drains() { full drain; }

# held N GROUP: a process in the group with that many entries. Sets PID.
held() {
	mkfifo fifo
	sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$G/t_$2" /prog/kmod_hold "$1" >fifo &
	PID=$!
	read -r line <fifo
	is "kmod_hold" "$line" ready
	rm fifo
}

# The log of a process that has ended gives way to others of its group, and only these are why. It has some 4 MB, where an entry takes no more than
# its 96 bytes; others use two more than there are left.
test_log_of_the_dead()
{
	insmod /kmod/pmm.ko scan=0
	group other max
	group dead max
	held 20000 other
	other=$PID
	held 40000 dead
	kill "$PID"
	wait "$PID" || :
	now=$(cat "$G/t_dead/memory.current")
	echo $((now + 1000000)) >"$G/t_dead/memory.max"
	inside dead /prog/kmod_group touch 3
	is "killed" "$(event dead oom_kill)" 0
	between "evicted" "$(field "$PID" evicted)" 1 40000
	is "with and without an entry" $(($(field "$PID" entries) + $(field "$PID" evicted))) 40000
	is "shown" "$(grep -c "^Lost: 0 ring full, 0 over the limit, 0 no memory, $(field "$PID" evicted) evicted, 0 torn, 0 senseless, 0 without place\$" /proc/pmm/pid)" 1
	is "entries of the other group" "$(field "$other" entries)" 20000
	kill "$other"
}

# Whoever has all groups give back what they can is obeyed: entries, and the memory that they took.
test_logs_of_all()
{
	insmod /kmod/pmm.ko scan=0
	group all max
	held 20000 all
	before=$(stat_of all slab)
	echo 2 >/proc/sys/vm/drop_caches
	evicted=$(field "$PID" evicted)
	between "evicted" "$evicted" 5000 20000
	is "with and without an entry" $(($(field "$PID" entries) + evicted)) 20000
	between "bytes given back for each" $(((before - $(stat_of all slab)) / evicted)) 90 600
	kill "$PID"
}
