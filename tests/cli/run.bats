#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm run as a command: status, streams, signals, names of captures, summary, background, refusals. What it finds in
# programs is told by track_*.bats.

load lib

setup() { cd "$T" || return 1; }

# run_pmm ARG...: pmm run; STATUS, $T/out, $T/err.
run_pmm() {
	STATUS=0
	within "$PMM" run "$@" >"$T/out" 2>"$T/err" </dev/null || STATUS=$?
}

@test "run: the exit status is passed on" {
	local code
	for code in 0 1 2 3 42 127 255; do
		run_pmm -q -- sh -c "exit $code"
		[ "$STATUS" -eq "$code" ]
	done
}

@test "run: death by a signal becomes 128 + its number" {
	local signal
	for signal in 1 2 6 9 11 15; do
		run_pmm -q -- sh -c "kill -$signal \$\$"
		[ "$STATUS" -eq $((128 + signal)) ]
		ls pmm.sh.*.pmm
		rm pmm.sh.*.pmm
	done
}

@test "run: stdin, stdout and stderr are the program's" {
	printf 'a\nb\n' | "$PMM" run -q -- sh -c 'cat; echo c >&2' >out 2>err
	[ "$(cat out)" = $'a\nb' ]
	[ "$(cat err)" = c ]
}

@test "run: -- may be left out, and the program's options stay its own" {
	run_pmm -q -o x.pmm echo -q --help
	[ "$STATUS" -eq 0 ]
	[ "$(cat out)" = "-q --help" ]
}

@test "run: no descriptor of pmm's reaches the program, those of the caller do" {
	local here
	exec 9>kept
	here=$(sh -c 'ls /proc/self/fd' | tr '\n' ' ')
	run_pmm -q -- sh -c 'ls /proc/self/fd; echo yes >&9'
	exec 9>&-
	[ "$(tr '\n' ' ' <out)" = "$here" ]
	[ "$(cat kept)" = yes ]
}

@test "run: signal dispositions and limits are what pmm was given" {
	(
		trap '' INT USR1
		ulimit -S -n 300
		ulimit -S -f 9999
		sh -c 'grep Sig[BI] /proc/self/status; ulimit -n; ulimit -f' >native
		"$PMM" run -q -- sh -c 'grep Sig[BI] /proc/self/status; ulimit -n; ulimit -f' >out
	)
	diff native out
}

@test "run: default name in the current directory, mode 0600" {
	run_pmm -q -- sh -c 'exit 0'
	[ "$(ls)" = "$(printf 'err\nout\n%s' pmm.sh.*.pmm)" ]
	[ "$(stat -c %a pmm.sh.*.pmm)" = 600 ]
}

@test "run: -o FILE, %p and %c; further processes get their pid before .pmm" {
	run_pmm -q -o one.pmm -- sh -c 'exit 0'
	[ -f one.pmm ]
	run_pmm -q -o 'x-%c-%p' -- sh -c 'echo $$'
	[ -f "x-sh-$(cat out)" ]
	run_pmm -q -o fam.pmm -- sh -c 'ls / >/dev/null; exit 0'
	[ -f fam.pmm ]
	[ "$(find . -name 'fam.*.pmm' | wc -l)" -eq 1 ]
}

@test "run: a process with the number of an earlier one has a capture of its own" {
	local pid
	run_pmm -q -o run.pmm -- "$PROG/fork_same_pid"
	[ "$STATUS" -ne 77 ] || skip "numbers of processes cannot be chosen here"
	[ "$STATUS" -eq 0 ]
	pid=$(cat out)
	[ "$("$PMM" report --json "run.$pid.pmm" | jq .totals.allocated_bytes)" -eq 100 ]
	[ "$("$PMM" report --json "run.$pid-2.pmm" | jq .totals.allocated_bytes)" -eq 200 ]
}

@test "run: --no-follow leaves one capture" {
	run_pmm -q --no-follow -o fam.pmm -- sh -c 'ls / >/dev/null; ls / >/dev/null; exit 0'
	[ "$(ls ./*.pmm)" = ./fam.pmm ]
}

@test "run: summary on stderr says what ran, what is live and where the capture is" {
	run_pmm -o s.pmm -- sh -c 'exit 5'
	[ "$STATUS" -eq 5 ]
	[ ! -s out ]
	grep -x "pmm: 'sh -c exit 5' exited with status 5 after .*" err
	grep -E '^pmm: peak +[0-9.]+ [KM]?i?B' err
	grep -E '^pmm: live at end +[0-9.]+ [KM]?i?B in [0-9]+ blocks' err
	grep -E '^pmm: calls +[0-9]+ allocations' err
	grep -E '^pmm: capture +s.pmm$' err
	grep -x 'pmm: hint: pmm report s.pmm' err
	[ "$(wc -l <err)" -le 15 ]
}

@test "run: too few descriptors are no want of memory" {
	local nr seen=0
	for nr in {4..14}; do
		(ulimit -n "$nr"; "$PMM" run -q -o few.pmm -- true) 2>few 3>&- && continue
		grep -q '^pmm: .*Too many open files$' few || continue
		[ "$(grep -c -e 'memory' -e board -e 'ulimit -v' few)" -eq 0 ]
		grep -q '^pmm: hint: raise the limit on open files (ulimit -n)$' few || { cat few; return 1; }
		seen=$((seen + 1))
	done
	[ "$seen" -ge 8 ]
}

@test "run: the hint is a command, whatever the capture is called" {
	local name hint
	for name in "a b's.pmm" $'x \xff\\ y.pmm'; do
		run_pmm -o "$name" -- true
		hint=$(sed -n 's/^pmm: hint: pmm report /"$PMM" report /p' err)
		eval "$hint" >out
		grep -q '^  process  true, ' out
	done
}

@test "run: a program that only maps memory may have an allocator of its own, and how that is seen is said" {
	cat >"$T/maps.c" <<-'C'
		#include <sys/mman.h>
		#include <unistd.h>
		int main(void) { _exit(mmap(0, 3 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED); }
	C
	gcc -g -O1 -o "$T/maps" "$T/maps.c"
	"$PMM" run -o "$T/maps.pmm" -- "$T/maps" 2>"$T/err"
	grep -qx 'pmm: it never called malloc or a similar function' "$T/err"
	grep -qx 'pmm: mapped       3.00 MiB of address space in 1 mapping by mmap, .*' "$T/err"
	grep -qx "pmm: hint: a program may bring an allocator under names of its own (jemalloc in Rust programs): 'pmm attach PID' finds it" "$T/err"
	"$PMM" run -o "$T/true.pmm" -- true 2>"$T/err"
	run ! grep -q 'allocator under names' "$T/err"
}

@test "run: -q is silent" {
	run_pmm -q -o s.pmm -- sh -c 'exit 0'
	[ ! -s err ]
}

@test "run: a program that clears the environment before exec is captured as far as it was seen" {
	run_pmm -o s.pmm -- env -i sh -c 'exit 0'
	[ "$STATUS" -eq 0 ]
	[ -f s.pmm ]
}

@test "run: SIGTERM to pmm reaches the program, and the capture is written" {
	"$PMM" run -q -o s.pmm -- sh -c 'trap "exit 33" TERM; touch ready; while :; do sleep 0.05; done' &
	await test -f ready
	kill $!
	STATUS=0
	wait $! || STATUS=$?
	[ "$STATUS" -eq 33 ]
	[ -f s.pmm ]
}

@test "run: Ctrl-C ends the program, pmm writes the capture, also when it is pressed twice" {
	STATUS=0
	python3 - "$PMM" <<-'END' || STATUS=$?
		import os, signal, subprocess, sys, time
		p = subprocess.Popen([sys.argv[1], "run", "-q", "-o", "s.pmm", "--", "sh", "-c", "touch ready; exec sleep 60"],
		                     start_new_session=True)
		while not os.path.exists("ready"): time.sleep(0.02)
		time.sleep(0.1)
		for i in range(2):
		    try: os.killpg(p.pid, signal.SIGINT)
		    except ProcessLookupError: pass
		sys.exit(p.wait())
	END
	[ "$STATUS" -eq 130 ]
	[ -f s.pmm ]
}

@test "run: pmm goes on with the program, whoever stopped and continued that" {
	cd "$T"
	within python3 "$CLI/run_stop.py" "$PMM" "$T/c.pmm"
	[ -s c.pmm ]
}

@test "run: the program goes on when pmm is killed" {
	"$PMM" run -q -o s.pmm -- sh -c 'touch ready; until [ -e go ]; do sleep 0.05; done; touch done' &
	await test -f ready
	kill -9 $!
	touch go
	await test -f done
}

@test "run: children that outlive the program are watched in the background" {
	mkfifo go
	# it ends when pmm knows of a child: a shell that was executed, not one that was forked and has not done anything yet
	run_pmm -o s.pmm -- sh -c 'sh -c ": >there; cat go; ls /" >/dev/null & until [ -e there ]; do :; done; exit 4'
	[ "$STATUS" -eq 4 ]
	grep -E "process(es are| is) still running \(pid [0-9]+" err
	[ "$(find . -name 's.*.pmm' | wc -l)" -eq 0 ]
	echo >go
	captured() { [ "$(find . -name 's.*.pmm' | wc -l)" -ge 2 ]; }
	await captured
}

@test "run: a pipe on stderr ends when pmm does, whatever goes on in the background" {
	mkfifo go
	within "$PMM" run -o s.pmm -- sh -c 'sh -c ": >there; cat go; :" >/dev/null 2>&1 & until [ -e there ]; do :; done; exit 0' 2>&1 | cat >piped
	grep -q -E '(is|are) still running' piped
	pgrep -f "^$PMM run -o s.pmm" >/dev/null
	echo >go
}

@test "run: a full disk does not lose the capture" {
	need_root
	mkdir small
	mount -t tmpfs -o size=16k none small || skip "cannot mount a tmpfs"
	head -c 16k /dev/zero >small/fill
	mkdir other
	TMPDIR=$T/other run_pmm -q -o small/x.pmm -- sh -c 'exit 7'
	umount small
	[ "$STATUS" -eq 7 ]
	grep "No space left" err
	grep "'$T/other/pmm.sh.[0-9]*.pmm' instead" err
	[ -f "$T"/other/pmm.sh.*.pmm ]
}

@test "run: unwritable output is refused before the program runs" {
	run_pmm -o "$T/none/x.pmm" -- touch "$T/ran"
	[ "$STATUS" -eq 3 ]
	grep "^pmm: cannot write captures into '$T/none': No such file" err
	grep '^pmm: hint: ' err
	run_pmm -o "$T" -- touch "$T/ran"
	[ "$STATUS" -eq 3 ]
	grep "is a directory" err
	run_pmm -o /dev/full -- touch "$T/ran"
	[ "$STATUS" -eq 3 ]
	grep "^pmm: cannot write the capture '/dev/full': it is not a regular file$" err
	[ ! -e ran ]
}

@test "run: no room for a ledger is refused before the program runs" {
	(
		ulimit -v 50000
		run_pmm -- touch "$T/ran"
		[ "$STATUS" -eq 3 ]
	)
	grep 'no memory for the ledger' err
	[ ! -e ran ]
}

@test "run: a small address space gets a small ledger" {
	(
		ulimit -v 400000
		run_pmm -q -o s.pmm -- sh -c 'ulimit -v'
		[ "$STATUS" -eq 0 ]
	)
	[ "$(cat out)" = 400000 ]
	[ -f s.pmm ]
}

# Without the right to raise hard limits.
powerless() {
	[ "$(id -u)" -ne 0 ] || set -- setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource "$@"
	"$@"
}

@test "run: a hard limit on address space stays the program's, or it is said that it is not" {
	(
		need setpriv
		ulimit -v 130000
		"$PROG/limited" >native
		status=0
		powerless "$PMM" run -o s.pmm -- "$PROG/limited" >out 2>err || status=$?
		[ "$status" -eq 0 ]
		head -1 out | grep 'small 12, '
		tail -1 out | diff <(tail -1 native) -
		grep 'WARNING: the limit on address space (ulimit -v) cannot be raised; 62.1 MiB of it go to the ledger' err
		[ "$("$PMM" report --json s.pmm | jq -r '.warnings[] | "\(.code) \(.count)"')" = "address_space_taken 65077248" ]
		# with hooks that lower what they cannot raise, a limit may still be lowered
		powerless bash -c 'ulimit -S -v 120000; ulimit -S -v' >native
		powerless "$PMM" run -q -o t.pmm -- bash -c 'ulimit -S -v 120000; ulimit -S -v' 2>/dev/null | diff native -
		cat >lower.py <<-'END'
			import ctypes, resource
			libc, limit = ctypes.CDLL(None, use_errno=True), (ctypes.c_ulong * 2)(120000 << 10, 130000 << 10)
			print(libc.setrlimit(resource.RLIMIT_AS, limit), libc.prlimit(0, resource.RLIMIT_AS, limit, None), ctypes.get_errno())
		END
		powerless "$PMM" run -q -o t.pmm -- /usr/bin/python3 lower.py >out 2>err
		[ "$(cat out)" = "0 0 0" ]
	)
	(ulimit -v 130000; prlimit --pid $BASHPID --as=140000000) 2>/dev/null || skip "hard limits are not to be raised here"
	(
		ulimit -v 130000
		"$PROG/limited" >native
		run_pmm -o s.pmm -- "$PROG/limited"
		diff native out
		[ "$(grep -c WARNING err)" -eq 0 ]
		run_pmm -o s.pmm -- "$PROG/limited" again 2
		diff native out
		[ "$("$PMM" report --json s.pmm | jq '.warnings | length')" -eq 0 ]
	)
}

@test "run: a limit on data that is too small for the agent is named" {
	need setpriv
	(
		ulimit -d 1000
		powerless "$PMM" run -o s.pmm -- true >out 2>err
	)
	grep 'hint: the limit on data (ulimit -d) of 1000 KiB is too small' err
}

@test "run: a changed PMM_LEDGER is not taken for another pmm" {
	run_pmm -o s.pmm -- env PMM_LEDGER=garbage "$PROG/leaf"
	grep 'leaf (another pmm tracks it, or its PMM_LEDGER was changed)' err
}

@test "run: a missing agent is refused" {
	PMM_AGENT=/nonexistent/libpmm.so run_pmm -- touch "$T/ran"
	[ "$STATUS" -eq 3 ]
	grep "cannot find the agent '/nonexistent/libpmm.so'" err
	[ ! -e ran ]
	PMM_AGENT="$T" run_pmm -- touch "$T/ran"
	[ "$STATUS" -eq 3 ]
	grep -x "pmm: cannot use the agent '$T': Is a directory" err
	[ ! -e ran ]
}

@test "run: an agent whose path LD_PRELOAD cannot name is refused" {
	mkdir "a b"
	cp "$(dirname "$PMM")/libpmm.so" "a b/"
	PMM_AGENT="$T/a b/libpmm.so" run_pmm -- touch "$T/ran"
	[ "$STATUS" -eq 3 ]
	grep "has a space or a colon" err
	[ ! -e ran ]
}

@test "run: an LD_PRELOAD of the user's is kept behind the agent" {
	LD_PRELOAD=libm.so.6 run_pmm -q -- sh -c 'echo "$LD_PRELOAD"'
	[ "$(cat out)" = "$(realpath "$(dirname "$PMM")/libpmm.so"):libm.so.6" ]
}

@test "run: usage errors" {
	run_pmm
	[ "$STATUS" -eq 2 ]
	run_pmm --frames 513 true
	[ "$STATUS" -eq 2 ]
	run_pmm --frames 0 true
	[ "$STATUS" -eq 2 ]
	run_pmm --ledger-limit 12Q true
	[ "$STATUS" -eq 2 ]
	run_pmm --nonsense true
	[ "$STATUS" -eq 2 ]
}

@test "doctor: this machine can run, and says so in JSON as well" {
	"$PMM" doctor >out
	grep -E "^ *ok +trial +a trial run of /bin/sh was tracked: [0-9]+ allocations" out
	grep "'pmm run' works here" out
	need jq
	[ "$("$PMM" doctor --json | jq -r '.schema, .verdict.run_works, (.checks | map(select(.check == "trial"))[0].state)' | tr '\n' ' ')" = "pmm-doctor/1.0 true ok " ]
}

@test "doctor: a trial attach" {
	[ "$("$PMM" doctor --json | jq -r '.checks | map(select(.check == "attach"))[0].state')" = ok ]
	PMM_INJECT=/nonexistent "$PMM" doctor >out
	grep -q 'no .*attach .*/nonexistent' out
	grep -q "works here" out				# pmm run does
}

@test "doctor: without an agent it exits with 1 and says why" {
	STATUS=0
	PMM_AGENT=/nonexistent "$PMM" doctor >out || STATUS=$?
	[ "$STATUS" -eq 1 ]
	grep -E "^ *no +agent +cannot find the agent '/nonexistent'" out
	grep "does NOT work here" out
	STATUS=0
	PMM_AGENT="$T" "$PMM" doctor >out || STATUS=$?
	[ "$STATUS" -eq 1 ]
	grep -E "^ *no +agent +cannot use the agent '$T': Is a directory" out
}

@test "the peak of resident memory is the kernel's, between two looks as well" {
	local peak pause
	need python3
	cd "$T"
	# until pmm has had a processor to look once more
	for pause in 0.5 5 20; do
		within "$PMM" run -q -o resident.pmm -- /usr/bin/python3 -c "x = bytearray(50 << 20); del x; import time; time.sleep($pause)"
		"$PMM" report --json resident.pmm >report.json
		peak=$(jq .totals.resident_peak_bytes report.json)
		echo "peak $peak"
		[ "$peak" -lt $((50 << 20)) ] || break
	done
	[ "$peak" -ge $((50 << 20)) ]
	[ "$peak" -lt $((100 << 20)) ]
}
