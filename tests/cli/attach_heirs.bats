#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Children that a process forks while pmm is attached to it: what they have of it, and what they can do with that (doc/security.md). The victim is
# tests/prog/heir.c.

load attach

NOBODY=65534

# private: all that is private memory of pmm's files in the victim, as a sum.
private() {
	python3 - "$PID" <<-'END'
		import hashlib, sys
		proc = f"/proc/{sys.argv[1]}"
		with open(f"{proc}/maps") as maps, open(f"{proc}/mem", "rb", 0) as mem:
		    for line in maps:
		        if "memfd:pmm-" not in line or line.split()[1][3] == "s" or line.split()[1][0] != "r":
		            continue
		        start, end = (int(x, 16) for x in line.split()[0].split("-"))
		        mem.seek(start)
		        print(line.strip(), hashlib.sha1(mem.read(end - start)).hexdigest())
	END
}

totals() { within "$PMM" report --json "$PID" | jq -c '[.totals.allocs, .totals.live_bytes, .totals.live_blocks]'; }

# harmless [OPTION...]: a child without rights writes over all that it has of pmm's; then all is as before, and the victim goes on.
harmless() {
	need_root
	start heir $NOBODY random
	picture first loose
	watch "$@"
	tell g done
	private >"$T/private"
	grep -q memfd:pmm-agent-record "$T/private"
	totals >"$T/totals"
	echo k >&7
	next_line 8 "$PID"
	echo "$LINE"
	[[ $LINE == "shared=0 written="[1-9]*" opened=0" ]]	# it has written over copies of its own
	private | diff "$T/private" -
	totals | diff "$T/totals" -
	tell g done
	tell f freed
	unwatch
	same_picture first loose
	tell g done
	finish 46
}

@test "a child that gave up its rights shares nothing, and what it writes is its own" { harmless; }
@test "the same while blocks are guarded" { harmless --check --sample=1 --budget=all; }

@test "the record is not the program's to write" {
	start heir $NOBODY random
	watch
	[ "$(grep -c 'r--p 00001000 .*/memfd:pmm-agent-record' "/proc/$PID/maps")" -eq 1 ]
	unwatch
	clean
	finish 46
}

@test "the files that code comes from are sealed" {
	need_root
	start heir $NOBODY random
	watch
	python3 - "$PID" >"$T/seals" <<-'END'
		import fcntl, os, sys
		proc, seen = f"/proc/{sys.argv[1]}", set()
		for line in open(f"{proc}/maps"):
		    if "memfd:pmm-agent" in line:
		        fd = os.open(f"{proc}/map_files/{line.split()[0]}", os.O_RDONLY)
		        inode = os.fstat(fd).st_ino
		        if inode not in seen:
		            print(line.split()[5], fcntl.fcntl(fd, fcntl.F_GET_SEALS))
		        seen.add(inode)
		        os.close(fd)
	END
	cat "$T/seals"
	[ "$(cut -d ' ' -f 1 "$T/seals" | sort -u | wc -l)" -eq 2 ]
	[ "$(cut -d ' ' -f 2 "$T/seals" | sort -u)" = 15 ]	# F_SEAL_SEAL, _SHRINK, _GROW and _WRITE
	unwatch
	finish 46
}

@test "a hard limit on address space is raised and lowered, or it is said what the ledger takes of it" {
	local status=0
	need_root
	need setpriv
	# shellcheck disable=SC2016
	start sh -c 'ulimit -v 200000; exec setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource "$0" 65534 none' "$PROG/heir"
	if prlimit --pid "$PID" --as=204800001 2>/dev/null; then
		prlimit --pid "$PID" --as=204800000
		watch
		[ "$(prlimit --pid "$PID" --as --noheadings --output HARD,SOFT | awk '{ print $1 == $2 && $1 > 204800000 }')" -eq 1 ]
		unwatch
	fi
	[ "$(prlimit --pid "$PID" --as --noheadings --output HARD,SOFT | xargs)" = "204800000 204800000" ]
	setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource "$PMM" attach -q -d 100ms -o "$T/a.pmm" "$PID" >"$T/said" 2>"$T/err" || status=$?
	[ "$status" -eq 0 ]
	grep 'WARNING: the limit on address space (ulimit -v) cannot be raised; [0-9.]* MiB of it go to the ledger' "$T/err"
	[ "$(prlimit --pid "$PID" --as --noheadings --output HARD,SOFT | xargs)" = "204800000 204800000" ]
	[ "$("$PMM" report --json "$T/a.pmm" | jq -r '.warnings[].code')" = address_space_taken ]
	finish 46
}

# space: the limit on address space, in bytes.
space() { prlimit --pid "$PID" --as --noheadings --output SOFT | tr -d ' '; }

@test "a limit on address space is raised for the ledger, and lowered in the process and in its child" {
	local top
	# shellcheck disable=SC2016
	start sh -c 'ulimit -S -v 4000000; exec "$0" 65534 none' "$PROG/heir"
	top=$PID
	picture first loose
	watch
	[ "$(space)" -gt 4096000000 ]
	tell h harmed
	PID=$(awk '{ print $NF }' "/proc/$top/task/$top/children")
	[ "$(space)" -gt 4096000000 ]
	within "$PMM" detach -q "$PID"
	[ "$(space)" -eq 4096000000 ]
	clean
	kill -USR1 "$PID"
	hear works
	kill -9 "$PID"
	PID=$top
	unwatch
	same_picture first loose
	[ "$(space)" -eq 4096000000 ]
	finish 46
}

# attack MODE: whatever a process says of itself in its record, pmm ends in time, and says what is wrong if anything is. If that is the record, it has
# changed nothing in the process, which goes on. Its parent is as it was in any case.
attack() {
	local end=$((SECONDS + ${PMM_HEIRS_SECONDS:-4})) rounds=0 found=0 command status top
	start heir $NOBODY "$1"
	top=$PID
	picture first loose
	watch
	while ((rounds == 0 || SECONDS < end)); do
		tell h harmed
		PID=$(awk '{ print $NF }' "/proc/$top/task/$top/children")
		for command in "report" "leaks" "check --sweep" "attach -q -d 10ms" "detach -q" "detach -q"; do
			status=0
			# shellcheck disable=SC2086
			within "$PMM" $command "$PID" >"$T/said" 2>&1 || status=$?
			[ "$status" -le 3 ] || { echo "$command: status $status"; cat "$T/said"; return 1; }
			[ "$status" -ne 3 ] || grep -q '^pmm: ' "$T/said"
		done
		if grep -q 'was overwritten: the process is left as it is' "$T/said"; then
			kill -USR1 "$PID"
			hear works
			found=$((found + 1))
		fi
		kill -9 "$PID"
		PID=$top
		rounds=$((rounds + 1))
	done
	echo "$rounds rounds, $found found out"
	FOUND_ALL=$((found == rounds))
	tell g done
	unwatch
	same_picture first loose
	finish 46
}

@test "a record written over with ones" {
	attack ones
	[ "$FOUND_ALL" -eq 1 ]
}
@test "a record written over with zeros" { attack zeros; }
@test "a record written over at random" { attack random; }
@test "a record with one bit changed" { attack word; }

@test "children that are forked while pmm attaches hold nothing of it" {
	local i
	start heir $NOBODY random
	tell w forking
	for i in {1..15}; do
		patiently "$PMM" attach -q -d 20ms "$PID" || { cat "$T/watch.err"; return 1; }
	done
	echo s >&7
	next_line 8 "$PID"
	echo "$LINE"
	[[ $LINE == "held 0 of "* ]]
	clean
	finish 46
}

@test "a limit on address space that is lowered meanwhile counts the ledger: that is said, once each time" {
	local limit
	start attach_victim
	limit="WARNING: the limit on address space (ulimit -v) of process $PID"
	watch
	prlimit --pid "$PID" --as=900000000:
	await -p "$MONITOR" grep -q "$limit was lowered to 858 MiB while pmm's ledger takes [0-9.]* .iB" "$T/watch.err"
	await -p "$MONITOR" grep -q "^pmm: hint: end 'pmm attach' (Ctrl-C), or raise the limit .*(prlimit --pid $PID --as=BYTES)" "$T/watch.err"
	prlimit --pid "$PID" --as=800000000:
	await -p "$MONITOR" grep -q "$limit was lowered to 763 MiB" "$T/watch.err"
	[ "$(grep -c WARNING "$T/watch.err")" -eq 2 ]
	unwatch
	clean
	[ "$(space)" = 800000000 ]
	tell g done
	finish 42
}
