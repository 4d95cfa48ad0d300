#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# All threads of a process stopped, borrowed and let go (src/ptrace/stop.h, remote.h), through tests/prog/stop_driver. The victims check
# themselves and exit with 7.

load lib
load victim

DRIVER=$PROG/stop_driver

goes_on() { [[ $(states) != *[Tt]* ]]; }

# stays_stopped: all threads, for good.
stays_stopped() {
	await -p "$VICTIM" in_states T
	sleep 0.1
	[ "$(states)" = T ] || { echo "states $(states)"; return 1; }
}

@test "stop: all threads, 400 times, no wait ends early or with EINTR, no signal, byte or register is lost" {
	victim stop_victim
	drive all "$VICTIM" 400 | grep '^threads=11 '
	ends_well
}

@test "stop: one thread borrowed 200 times, with a system call and a function" {
	victim stop_victim
	drive one "$VICTIM" 200
	drive one "$VICTIM" 200 "$FIRST"
	ends_well
}

@test "stop: every thread borrowed, 40 times, whatever it was doing" {
	victim stop_victim
	drive each "$VICTIM" 40 "$FIRST"
	ends_well
}

@test "stop: threads that fault all the time are told of each fault once, where it was, borrowed or not" {
	victim stop_faults
	drive all "$VICTIM" 50 | grep '^threads=6 '
	drive each "$VICTIM" 50 "$FIRST"
	drive one "$VICTIM" 50 "$FIRST"
	ends_well
}

@test "stop: the tracer killed 100 times while threads fault" {
	victim stop_faults
	drive die "$VICTIM" 100 "$FIRST"
	ends_well
}

@test "stop: the tracer killed 200 times at random moments" {
	victim stop_victim killed
	drive die "$VICTIM" 200 "$FIRST"
	grep '^TracerPid:	0$' /proc/"$VICTIM"/status
	ends_well
}

@test "stop: the tracer killed behind each of its requests in turn" {
	victim stop_victim killed
	drive points "$VICTIM" 1 "$FIRST" >points
	cat points
	[[ $(cat points) =~ ^all=([0-9]+)\ one=([0-9]+)\ each=([0-9]+)$ ]]
	[ "${BASH_REMATCH[1]}" -gt 40 ]
	[ "${BASH_REMATCH[2]}" -gt 60 ]
	[ "${BASH_REMATCH[3]}" -gt 300 ]
	ends_well
}

@test "stop: the tracer killed with threads borrowed that have not come to restart their timed call since the last stop" {
	local found
	victim stop_victim killed
	found=$(drive restart "$VICTIM" 6)
	ends_well
	[ "$found" != found=0 ] || skip "no thread was met in that state"
}

@test "stop: a process stopped by SIGSTOP stays so until SIGCONT, also when the tracer is killed" {
	victim stop_victim
	kill -STOP "$VICTIM"
	stays_stopped
	drive all "$VICTIM" 20 | grep '^threads=11 '
	stays_stopped
	drive one "$VICTIM" 20 "$FIRST"
	stays_stopped
	drive each "$VICTIM" 10 "$FIRST"
	stays_stopped
	drive die "$VICTIM" 20 "$FIRST"
	stays_stopped
	kill -CONT "$VICTIM"
	await -p "$VICTIM" goes_on
	ends_well
}

@test "stop: SIGSTOP and SIGCONT while threads are borrowed" {
	victim stop_victim interrupted
	(for ((i = 0; i < 40; i++)); do
		kill -STOP "$VICTIM"; sleep 0.01
		kill -CONT "$VICTIM"; sleep 0.01
	done) 9>&- &
	drive each "$VICTIM" 100 "$FIRST"
	wait $!
	kill -STOP "$VICTIM"
	stays_stopped
	kill -CONT "$VICTIM"
	ends_well
}

# Its parent: is told of each stop and continuation once, and of nothing else. Arguments: driver, victim.
parent() {
	python3 - "$@" <<'EOF'
import os, signal, subprocess, sys
driver, victim = sys.argv[1:]
stdin, end = os.pipe()
stdout, out = os.pipe()
pid = os.fork()
if not pid:
    os.dup2(stdin, 0)
    os.dup2(out, 1)
    os.close(end)
    os.execv(victim, [victim])
os.close(stdin)
function = os.read(stdout, 100).split()[0].decode()
def told(options=0):
    return os.waitpid(pid, os.WUNTRACED | os.WCONTINUED | options)[1]
for number in signal.SIGSTOP, signal.SIGTSTP:
    os.kill(pid, number)
    assert told() == 0x7f | number << 8
    for work in ["all", "20"], ["one", "10"], ["each", "5"], ["die", "10"]:
        subprocess.run([driver, work[0], str(pid), work[1], function], check=True)
        assert told(os.WNOHANG) == 0, work
    os.kill(pid, signal.SIGCONT)
    assert told() == 0xffff
    subprocess.run([driver, "each", str(pid), "5", function], check=True)
    assert told(os.WNOHANG) == 0
os.close(end)
assert told() == 7 << 8, os.read(stdout, 1000)
EOF
}

@test "stop: the parent is told of each SIGSTOP, SIGTSTP and SIGCONT once, and of nothing else" {
	need python3
	parent "$DRIVER" "$PROG/stop_victim"
}

@test "stop: a process with a thread of the kernel's in it" {
	victim stop_roots uring
	[ "$FIRST" = ready ] || skip "this kernel has no io_uring with a thread"
	drive all "$VICTIM" 20 | grep '^threads='
	drive one "$VICTIM" 20
	drive each "$VICTIM" 20
	ends_well
}

@test "stop: 100 threads pause for less than 20 ms" {
	LINES_WANTED=2 victim stop_roots threads 100
	quick() {
		drive all "$VICTIM" 50 >figures
		[[ $(cat figures) =~ ^threads=101\ median_us=([0-9]+) ]] && [ "${BASH_REMATCH[1]}" -lt 20000 ]
	}
	await -p "$VICTIM" quick || { cat figures; return 1; }
	ends_well
}

@test "stop: a process whose first thread has ended" {
	victim stop_roots leader
	await -p "$VICTIM" grep -q '^State:	Z' "/proc/$VICTIM/status"
	drive allowed "$VICTIM"
	drive all "$VICTIM" 20 | grep '^threads=1 '
	drive one "$VICTIM" 20
	ends_well
}

@test "stop: in a storm of threads" {
	victim stop_roots spawn
	drive all "$VICTIM" 300 | grep '^threads='
	drive one "$VICTIM" 100
	ends_well
}

@test "stop: in a storm of children" {
	victim stop_roots fork
	drive all "$VICTIM" 300 | grep '^threads=1 '
	drive one "$VICTIM" 100
	ends_well
}

@test "stop: in a storm of programs launched" {
	victim stop_roots launch
	drive all "$VICTIM" 100 | grep '^threads=2 '
	drive one "$VICTIM" 50
	drive die "$VICTIM" 30
	ends_well
}

@test "stop: a process that starts another program again and again, from a thread" {
	local status
	victim stop_roots exec 600
	for ((i = 0; i < 60; i++)); do
		status=0
		drive "$([ $((i % 2)) = 0 ] && echo all || echo one)" "$VICTIM" 20 >refusal || status=$?
		[ "$status" -eq 0 ] || grep -q '^EAGAIN: ' refusal || { cat refusal; return 1; }
	done
	[ "$(wc -l <out)" -eq 1 ]
	ends_well
}

@test "stop: a process that ends meanwhile" {
	local met=0 ms=150
	for ((n = 0; met < 6; n++)); do
		rm -f in
		victim stop_roots end $ms
		while drive "$([ $((n % 2)) = 0 ] && echo all || echo one)" "$VICTIM" 100000 >refusal || grep -q '^EAGAIN: ' refusal; do :; done
		cat refusal
		if [ "$(cat refusal)" = "ESRCH: process $VICTIM has ended" ]; then
			met=$((met + 1))
		else	# it had ended before the driver came
			[ "$n" -lt 40 ]
			[ "$(cat refusal)" = "ESRCH: no process $VICTIM" ] || [ "$(sed -n 1p refusal)" = "ESRCH: process $VICTIM has ended" ]
			ms=$((ms * 3 / 2))
		fi
		ends_well
	done
}

@test "stop: a thread that cannot be stopped for a while does the others no harm" {
	victim stop_victim vfork
	drive all "$VICTIM" 60 >figures
	cat figures
	grep '^threads=12 ' figures
	drive one "$VICTIM" 60 "$FIRST"
	ends_well
}

@test "stop: a thread that cannot be stopped is named, and nothing is left stopped or traced" {
	victim stop_roots vfork
	await -p "$VICTIM" in_states D
	STOP_WAIT_S=2 refused ETIMEDOUT "thread $VICTIM ('stop_roots') of process $VICTIM does not stop (state D, in kernel_clone)" \
		"it waits in the kernel for something that cannot be interrupted, such as a disk or a child made by vfork; try again" \
		-- drive all "$VICTIM" 1
	grep '^TracerPid:	0$' /proc/"$VICTIM"/status
	ends_well
}

@test "stop refused: no such process, a thread, ended, pmm itself, the kernel's" {
	refused ESRCH "no process 4194304" "'ps -e' lists all processes with their numbers" -- "$DRIVER" allowed 4194304
	refused ESRCH "no process 0" "'ps -e' lists all processes with their numbers" -- "$DRIVER" allowed 0
	sh -c 'exit & exec sleep 100' 9>&- &
	VICTIM=$!
	has_zombie() { read -r zombie _ <"/proc/$VICTIM/task/$VICTIM/children"; grep -q '^State:	Z' "/proc/$zombie/status"; }
	await -p "$VICTIM" has_zombie
	refused ESRCH "process $zombie has ended" "its parent, process $VICTIM, has not asked for its status yet" \
		-- "$DRIVER" allowed "$zombie"
	sh -c 'echo $$; exec "$0" allowed $$' "$DRIVER" >self || true
	[ "$(tail -n +2 self)" = "EINVAL: process $(head -1 self) is pmm itself" ]
	kill -9 "$VICTIM"
	LINES_WANTED=2 victim stop_roots threads 1
	thread=$(ls /proc/"$VICTIM"/task | grep -vx "$VICTIM")
	refused ESRCH "$thread is a thread of process $VICTIM" "use the process: $VICTIM" -- "$DRIVER" allowed "$thread"
	ends_well
	[ "$(cat /proc/2/comm)" = kthreadd ] || skip "no kernel thread is visible here"
	refused EPERM "process 2 is a thread of the kernel" -- "$DRIVER" allowed 2
}

@test "stop refused: another tracer, which is named" {
	victim stop_roots threads 1
	mkfifo until
	"$DRIVER" hold "$VICTIM" <until >held 9>&- &
	holder=$!
	exec 8>until
	await -p "$holder" grep -q held held
	refused EBUSY "process $VICTIM is being traced by 'stop_driver' (process $holder)" \
		"the kernel allows one tracer at a time: let that one detach first" -- "$DRIVER" allowed "$VICTIM" 8>&-
	exec 8>&-
	wait "$holder"
	"$DRIVER" allowed "$VICTIM"
	ends_well
}

@test "stop refused: another user's process, one that hides, from inside a user namespace" {
	need_root
	need setpriv unshare
	victim stop_roots secret
	chmod 755 "$T"
	drive allowed "$VICTIM"
	refused EPERM "process $VICTIM belongs to user 'root'" "run pmm as that user or as root" \
		-- setpriv --reuid 65534 --clear-groups "$DRIVER" allowed "$VICTIM"
	refused EPERM "process $VICTIM is outside of the user namespace that pmm runs in" "run pmm outside of it, as root" \
		-- unshare -Ur "$DRIVER" allowed "$VICTIM"
	ends_well
	rm in
	mkfifo in
	setpriv --reuid 65534 --clear-groups "$PROG/stop_roots" secret <in >out 9>&- &
	VICTIM=$!
	exec 9>in
	await -p "$VICTIM" grep -q ready out
	refused EPERM "process $VICTIM has made itself untraceable (it has or had privileges, or asked for it)" "run pmm as root" \
		-- setpriv --reuid 65534 --clear-groups "$DRIVER" allowed "$VICTIM"
	ends_well
}

@test "filtered system calls, also of one thread" {
	local root=(setpriv --inh-caps -sys_admin --bounding-set -sys_admin)
	[ "$EUID" -eq 0 ] || root=()
	for how in "" thread; do
		rm -f in
		# shellcheck disable=SC2086
		victim stop_roots filter $how
		refused EACCES "process $VICTIM has its system calls filtered (seccomp)" \
			"the filter could end it for what pmm would make it do, and root only may read what it allows; run pmm as root" \
			-- "${root[@]}" "$DRIVER" allowed "$VICTIM"
		[ "$EUID" -ne 0 ] || "$DRIVER" allowed "$VICTIM"
		ends_well
	done
}

# A program for the 80386 that waits: pause in a loop.
small_elf32() {
	printf '\x7fELF\1\1\1\0\0\0\0\0\0\0\0\0\2\0\3\0\1\0\0\0\x54\x80\4\x08\x34\0\0\0\0\0\0\0\0\0\0\0\x34\0\x20\0\1\0\0\0\0\0\0\0'
	printf '\1\0\0\0\0\0\0\0\0\x80\4\x08\0\x80\4\x08\x5d\0\0\0\x5d\0\0\0\5\0\0\0\0\x10\0\0'
	printf '\xb8\x1d\0\0\0\xcd\x80\xeb\xf7'
}

@test "stop refused: a 32-bit program" {
	small_elf32 >small
	chmod +x small
	./small 9>&- &
	VICTIM=$!
	await -p "$VICTIM" grep -q small "/proc/$VICTIM/comm" || { VICTIM=; skip "this kernel runs no 32-bit programs"; }
	refused EOPNOTSUPP "process $VICTIM is not a 64-bit x86-64 program" "only those can be attached to" -- "$DRIVER" allowed "$VICTIM"
}
