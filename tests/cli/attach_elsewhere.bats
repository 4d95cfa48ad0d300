#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm attach on processes of other users, in other namespaces (containers), with large numbers.

load attach

# space OPTION...: the victim in new namespaces.
space() {
	unshare "$@" true 2>/dev/null || skip "unshare $* does not work here"
	start_below unshare "$@" "$PROG/attach_victim"
	seen
	finish 42 "sum 41400"
}

@test "another PID namespace" { space --pid --fork; }
@test "another user namespace" { space --user; }
@test "another user, PID, mount, network and IPC namespace" { space --user --map-root-user --pid --fork --mount --net --ipc; }

# room NAME: a root directory of its own with the victim and nothing but what it needs.
room() {
	mkdir -p "$T/root"
	cp "$PROG/$1" "$T/root/victim"
	ldd "$PROG/$1" 2>/dev/null | grep -o '/[^ ]*' | while read -r lib; do
		mkdir -p "$T/root${lib%/*}"
		cp -L "$lib" "$T/root$lib"
	done
}

# inside_room VICTIM: it runs in a mount namespace where its files have names that are not there outside.
inside_room() {
	need_root
	unshare --mount true 2>/dev/null || skip "no mount namespaces here"
	room "$1"
	start unshare --mount chroot "$T/root" /victim
	[ ! -e /victim ]
	seen
	finish 42
}

@test "another root directory, static" { inside_room attach_static; }
@test "another root directory, dynamic" { inside_room attach_victim; }

@test "another user's process, as root" {
	need_root
	need setpriv
	cp "$PROG/attach_static" "$T/theirs"
	chmod 755 "$T" "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" 2>/dev/null || true
	setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$T/theirs" || skip "nobody cannot reach the victim"
	start setpriv --reuid 65534 --regid 65534 --clear-groups "$T/theirs"
	grep -q 'Uid:.65534' "/proc/$PID/status"
	round attach_victim.c 42
}

@test "not our process: refused with the reason" {
	need_root
	need setpriv
	setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$PMM" || skip "nobody cannot run pmm"
	start attach_victim
	picture idle
	refused "permission|not permitted|user|root|capab" setpriv --reuid 65534 --regid 65534 --clear-groups "$PMM" attach -d 1 "$PID"
	same_picture idle
	finish 42
}

# Where the limit of process numbers belongs to the PID namespace (Linux 6.14), nothing outside changes.
@test "a process number above 65535" {
	local before
	before=$(cat /proc/sys/kernel/pid_max)
	unshare --pid --fork --mount-proc true 2>/dev/null || skip "no PID namespaces here"
	cat >"$T/inner" <<-'END'
	echo 4194304 >/proc/sys/kernel/pid_max 2>/dev/null && echo 99998 >/proc/sys/kernel/ns_last_pid 2>/dev/null || exit 77
	mkfifo "$1/i" "$1/o"
	"$2" <"$1/i" >"$1/o" &
	exec 7>"$1/i" 8<"$1/o"
	read -r line <&8
	[ $! -gt 65535 ] || exit 77
	"$3" attach -o "$1/c.pmm" $! 2>"$1/watch.err" >/dev/null 7>&- 8<&- &
	. "$4"
	await -p "$(jobs -p %2)" grep -q -i attached "$1/watch.err" || exit 1
	echo g >&7; read -r line <&8
	"$3" report --json --top 1 "$(jobs -p %1)" >"$1/report.json" || exit 1
	kill -INT "$(jobs -p %2)"
	wait %2
	[ $? -le 1 ] || exit 1
	! grep -E 'memfd:pmm|libpmm' "/proc/$(jobs -p %1)/maps" || exit 1
	exec 7>&-
	wait %1
	END
	STATUS=0
	within unshare --pid --fork --mount-proc bash "$T/inner" "$T" "$PROG/attach_victim" "$PMM" "$CLI/wait.bash" 3>&- >"$T/inner.out" 2>&1 ||
		STATUS=$?
	[ "$(cat /proc/sys/kernel/pid_max)" = "$before" ] || echo "$before" >/proc/sys/kernel/pid_max
	cat "$T/inner.out"
	[ "$STATUS" -ne 77 ] || skip "process numbers cannot be raised here"
	cat "$T/watch.err"
	[ "$STATUS" -eq 42 ]
	check "$T/c.pmm" <<<"$(expected attach_victim.c)"
}

# confined VICTIM: under a list of allowed system calls as containers have it, and another one for all threads; attached to, left,
# attached to again by a pmm that is killed, and cleared.
confined() {
	need_root
	start "$PROG/attach_filter" list "$PROG/attach_filter" list "$PROG/$1"
	grep -q "Seccomp_filters:.2" "/proc/$PID/status" || skip "the kernel does not count filters"
	seen
	tell g done
	watch
	kill_monitor
	"$PMM" detach "$PID"
	same_picture first loose
	finish 42
}

@test "a seccomp filter that allows what is needed" { confined attach_victim; }
