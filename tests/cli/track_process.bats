#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Processes of every shape: forks, launches, daemons, endings, and programs that confine themselves.

load lib

# total_of FUNCTION KEY: the sum over all captures.
total_of() {
	local capture sum=0
	for capture in $(captures); do
		sum=$((sum + $(fact "$capture" site "$1" "$2")))
	done
	echo "$sum"
}

# named COMMAND: the captures of processes whose executable has that name.
named() {
	local capture
	for capture in $(captures); do
		if [ "$(basename "$(look "$capture" exe)")" = "$1" ]; then
			echo "$capture"
		fi
	done
}

@test "fork: each has its own, a block of the parent's is an untracked free" {
	local capture parent=0 child=0
	track fork
	[ "$STATUS" -eq 0 ]
	[ "$(captures | wc -l)" -eq 2 ]
	for capture in $(captures); do
		if [ "$(fact "$capture" site in_child allocs)" -eq 0 ]; then
			found "$capture" site in_parent allocs=10 live=1000 blocks=10
			found "$capture" total allocs=10 live=1000 untracked=0
			parent=1
		else
			found "$capture" site in_child allocs=20 live=2000 blocks=20
			found "$capture" total allocs=20 live=2000 frees=0 untracked=1
			child=1
		fi
	done
	[ $parent$child = 11 ]
}

@test "200 forks" {
	track fork_storm
	[ "$STATUS" -eq 0 ]
	[ "$(captures | wc -l)" -eq 201 ]
	for capture in $(captures); do
		"$PMM" report --json --no-symbols --top 1 "$capture"
	done | jq .totals.allocs >"$T/allocs"
	diff <(seq 0 200) <(sort -n "$T/allocs")
}

# launched HOW [N]: N leaves in N captures of their own, and the launcher's unless it was replaced
# by exec.
launched() {
	track launch "$1" "$PROG/leaf"
	[ "$STATUS" -eq 0 ] || { cat "$T/err"; return 1; }
	[ "$(named leaf | wc -l)" -eq "${2:-1}" ] || { ls "$T/cap"; return 1; }
	for capture in $(named leaf); do
		check "$capture" <<<"$(expected leaf.c)"
	done
	[[ $1 == exec* ]] || [ "$(total_of before live)" -eq 300 ]
}

@test "vfork and exec" {
	launched vfork
	[ "$(total_of in_vfork live)" -eq 61 ]
}

@test "posix_spawn" { launched spawn; }
@test "system()" { launched system 2; }
@test "exec" { launched exec; }
@test "exec with every descriptor closed" { launched exec-closed; }
@test "exec from another directory" { launched exec-chdir; }

@test "a child that cannot be tracked is unharmed" {
	track launch spawn "$PROG/leaf_static"
	[ "$STATUS" -eq 0 ]
	found "$CAP" site before allocs=5
	track env -i "$PROG/confined" none
	[ "$STATUS" -eq 0 ]
	[ "$(cat "$T/out")" = unharmed ]
}

@test "exec after privileges are dropped" {
	need_root
	su -s /bin/sh nobody -c "test -x '$PROG/leaf'" || skip "nobody may not reach the build directory"
	launched exec-setuid
}

@test "--no-follow tracks the program alone" {
	track --no-follow launch spawn "$PROG/leaf"
	[ "$STATUS" -eq 0 ]
	[ -n "$CAP" ]
	found "$CAP" site before allocs=5
	track --no-follow fork
	[ "$STATUS" -eq 0 ]
	found "$CAP" total allocs=10 live=1000
}

@test "a daemon that outlives the program launched" {
	complete() { [ "$(total_of in_daemon allocs)" -eq 30 ]; }
	track daemon
	[ "$STATUS" -eq 0 ]
	await complete || { ls -l "$T/cap"; return 1; }
	[ "$(total_of in_daemon live)" -eq 2100 ]
}

# ending HOW STATUS: the status is passed on, and the ledger complete.
ending() {
	track endings "$1"
	[ "$STATUS" -eq "$2" ] || { echo "status $STATUS, must be $2"; cat "$T/err"; return 1; }
	found "$CAP" site kept allocs=13 frees=0 bytes=1170 live=1170 blocks=13
}

@test "return from main" { ending none 3; }
@test "_exit" { ending _exit 4; }
@test "SIGKILL" { ending kill 137; }
@test "abort" { ending abort 134; }
@test "SIGSEGV" { ending segv 139; }
@test "quick_exit" { ending quick 8; }
@test "exit from a thread" { ending thread 5; }
@test "main thread ends first" { ending main-first 7; }

@test "exit in a signal handler, in the middle of malloc" {
	for _ in $(seq 15); do
		within "$PMM" run -q -o "$T/c.pmm" -- "$PROG/exit_handler" || STATUS=$?
		[ "$STATUS" -eq 4 ]
	done
}

@test "exit in a signal handler, in the middle of malloc_trim" {
	for _ in $(seq 5); do
		track exit_trim
		[ "$STATUS" -eq 7 ] || { echo "status $STATUS"; cat "$T/err"; return 1; }
	done
}

# strict CALL: after seccomp's strict mode as natively, all from before it recorded, and the end of
# tracking told.
strict() {
	local native=0
	"$PROG/strict" "$1" >"$T/native" || native=$?
	track strict "$1"
	[ "$native/$STATUS" = 5/5 ] || { echo "status $STATUS, natively $native"; return 1; }
	cmp "$T/native" "$T/out"
	[ "$(cat "$T/out")" = unharmed ]
	grep -q 'tracking stopped early' "$T/err"
	[ "$(wc -l <"$T/err")" -eq 1 ]
	check "$CAP" <<<"$(expected strict.c)"
}

@test "strict seccomp by prctl" { strict prctl; }
@test "strict seccomp by syscall" { strict syscall; }
@test "strict seccomp by seccomp" { strict seccomp; }

@test "processes with one number, in pid namespaces of their own" {
	need_root
	need unshare
	unshare -p -f true 2>/dev/null || skip "no pid namespaces here"
	for _ in $(seq 4); do
		track bash -c 'for _ in {1..8}; do unshare -p -f "$1" & p+=($!); done
			for i in "${p[@]}"; do wait "$i" || echo "status $?"; done' - "$PROG/namesake"
		[ "$STATUS" -eq 0 ]
		[ ! -s "$T/out" ] || { cat "$T/out"; return 1; }
		[ -n "$(named namesake)" ]
	done
}

# confined HOW: unharmed, and every block recorded.
confined() {
	track confined "$1"
	[ "$STATUS" -eq 0 ] || { echo "status $STATUS"; cat "$T/err"; return 1; }
	[ "$(cat "$T/out")" = unharmed ]
	found "$CAP" site confined allocs=2000 frees=1000 bytes=100000 live=50000 blocks=1000
}

@test "all descriptors closed" { confined fds; }
@test "RLIMIT_AS" { confined as; }
@test "RLIMIT_DATA" { confined data; }
@test "RLIMIT_NOFILE" { confined nofile; }
@test "RLIMIT_NPROC, another user" { need_root; confined nproc; }
@test "chroot, another user" { need_root; confined chroot; }
@test "mlockall" { need_root; confined mlock; }
@test "seccomp filter" { confined seccomp; }

# closed WARNS ARG...: the victim is unharmed; its report warns, or not, that what it began is not tracked.
closed() {
	local warns=$1 first
	shift
	track closed "$@"
	[ "$STATUS" -eq 0 ] || { echo "$*: status $STATUS"; cat "$T/err"; return 1; }
	[ "$(grep -c 'processes that it started since, and programs that it or they executed, are not tracked' "$T/err")" -eq "$warns" ]
	first=$(captures | head -1)
	[ "$("$PMM" report --json "$first" | jq '[.warnings[] | select(.code == "children_closed")] | length')" -eq "$warns" ]
	found "$first" site before allocs=100 frees=0 blocks=100
}

@test "a seccomp filter that kills for what a ledger takes: what begins under it is unharmed, and said to be untracked" {
	closed 1 fork
	[ "$(captures | wc -l)" -eq 1 ]
	closed 1 exec /bin/echo hello
	[ "$(captures | wc -l)" -eq 1 ]
	[ "$(cat "$T/out")" = hello ]
	closed 1 both /usr/bin/env echo hello
	[ "$(captures | wc -l)" -eq 1 ]
	[ "$(cat "$T/out")" = hello ]
	closed 0 inside
	for level in light guard; do
		within "$PMM" check "--level=$level" -- "$PROG/closed" both /bin/echo hello >"$T/out" 2>"$T/err" || { cat "$T/err"; return 1; }
		[ "$(cat "$T/out")" = hello ]
		[ "$(grep -c 'are not tracked' "$T/err")" -eq 1 ]
	done
}

@test "a forked child that sets such a filter before all else is tracked" {
	track closed late
	[ "$STATUS" -eq 0 ] || { echo "status $STATUS"; cat "$T/err"; return 1; }
	local child
	[ "$(captures | wc -l)" -eq 2 ]
	for child in $(captures); do
		[ "$("$PMM" report --json "$child" | jq -r .process.began)" != fork ] || break
	done
	found "$child" site after allocs=100 frees=0 blocks=100
}

@test "RLIMIT_FSIZE" {
	track sh -c "'$PROG/confined' fsize | cat"
	[ "$STATUS" -eq 0 ]
	[ "$(cat "$T/out")" = unharmed ]
	found "$(named confined)" site confined allocs=2000 frees=1000 live=50000
}

@test "a process that does not run for a while as it reports itself is tracked" {
	need strace
	cd "$T"
	local delay
	for delay in 1500000 6000000 20000000; do
		rm -f ./*.pmm
		STATUS=0
		within strace -f -qq -o trace -e trace=sendmsg -e inject=sendmsg:delay_enter=$delay:when=1 "$PMM" run -q -o %p.pmm -- \
			sh -c "'$PROG/leaf'; exit 3" || STATUS=$?
		[ "$STATUS" -eq 3 ]
		[ "$(grep -c EPIPE trace)" -lt 2 ] || break
	done
	[ "$(grep -c EPIPE trace)" -ge 2 ]	# both were late, also for a monitor that was itself
	[ "$(for capture in *.pmm; do "$PMM" report --json "$capture" | jq -r .process.comm; done | sort | xargs)" = "leaf sh" ]
}
