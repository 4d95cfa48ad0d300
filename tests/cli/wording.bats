#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What every command prints for people: wording.py finds lines that a terminal of 80 columns breaks, words cut in files, rows and columns of zeros,
# "1 blocks", digits that no clock has measured.

load attach

setup_file() { golden_captures demo tree leaks check kernel; }

# on_terminal COLUMNS COMMAND: its output there in $T/shown, without colours.
on_terminal() {
	local columns=$1
	shift
	need script
	{ within script -qec "stty cols $columns rows 50; $*" /dev/null </dev/null 2>&1 || :; } | tr -d '\r' | sed 's/\x1b\[[0-9;]*m//g' >"$T/shown"
}

# looks COLUMNS: of $T/shown.
looks() {
	[ -s "$T/shown" ] || { echo "nothing is shown: $COMMAND"; return 1; }
	python3 "$CLI/wording.py" "$1" "$T/shown" || { echo "of: $COMMAND ($1 columns)"; return 1; }
}

# all_looks <TABLE: each line a command, for terminals of 80 and 200 columns, and for a file with what is said on stderr.
all_looks() {
	local COMMAND rc=0
	export LC_ALL=C.UTF-8
	cd "$T" || return 1
	while read -r COMMAND; do
		for columns in 80 200; do
			on_terminal "$columns" "$COMMAND"
			looks "$columns" || rc=1
		done
		within bash -c "$COMMAND" >"$T/shown" 2>&1 </dev/null || :	# what it finds is its status
		looks 0 || rc=1
	done
	return "$rc"
}

@test "words: the lines of reports, leaks and errors fit" {
	capture_of unnamed 'module /usr/lib/x86_64-linux-gnu/libwithoutnames-1.0.so.2 build-id=fedcba9876543210fedcba9876543210fedcba98' \
		'site /usr/lib/x86_64-linux-gnu/libwithoutnames-1.0.so.2+0x98765 size=100' \
		'module /lib/liba.so build-id=0123456789abcdef0123456789abcdef01234567' 'site /lib/liba.so+0x98765 size=100'
	all_looks <<-END
	'$PMM' report '$BATS_FILE_TMPDIR/demo.pmm'
	'$PMM' report --sort peak --top 3 '$BATS_FILE_TMPDIR/demo.pmm'
	'$PMM' report --functions '$BATS_FILE_TMPDIR/demo.pmm'
	'$PMM' report --top-down '$BATS_FILE_TMPDIR/tree.pmm'
	'$PMM' report --bottom-up '$BATS_FILE_TMPDIR/tree.pmm'
	'$PMM' report --blocks --top 20 '$BATS_FILE_TMPDIR/demo.pmm'
	'$PMM' report --age 2s: '$BATS_FILE_TMPDIR/demo.pmm'
	'$PMM' report '$BATS_FILE_TMPDIR/kernel.pmm'
	'$PMM' report --top 1 --depth 1 '$BATS_FILE_TMPDIR/kernel.pmm'
	'$PMM' report unnamed.pmm
	'$PMM' diff '$BATS_FILE_TMPDIR/demo.pmm' '$BATS_FILE_TMPDIR/tree.pmm'
	'$PMM' diff --sort calls --fail-on 'line.calls>5' --fail-on 'grow>1%,1K' '$BATS_FILE_TMPDIR/tree.pmm' '$BATS_FILE_TMPDIR/leaks.pmm'
	'$PMM' diff --trend '$BATS_FILE_TMPDIR/demo.pmm' '$BATS_FILE_TMPDIR/tree.pmm' '$BATS_FILE_TMPDIR/leaks.pmm'
	'$PMM' leaks '$BATS_FILE_TMPDIR/leaks.pmm'
	'$PMM' leaks --show=all '$BATS_FILE_TMPDIR/leaks.pmm'
	'$PMM' check '$BATS_FILE_TMPDIR/check.pmm'
	'$PMM' check --json nothing
	END
}

@test "words: a narrow terminal has all words of what was found" {
	export LC_ALL=C.UTF-8
	local columns status_of
	for columns in 200 50; do
		status_of=0
		"$PMM" check --width "$columns" "$BATS_FILE_TMPDIR/check.pmm" >"$T/check" || status_of=$?
		[ "$status_of" -eq 1 ]
		tr -s ' \n' '\n' <"$T/check" >"$T/words.$columns"
		status_of=0
		"$PMM" leaks --width "$columns" "$BATS_FILE_TMPDIR/leaks.pmm" >"$T/leaks" || status_of=$?
		[ "$status_of" -eq 1 ]
		tr -s ' \n' '\n' <"$T/leaks" >>"$T/words.$columns"
	done
	[ "$(wc -l <"$T/words.200")" -gt 300 ]
	diff "$T/words.200" "$T/words.50"
}

@test "words: help fits" {
	local command
	{
		echo "'$PMM' help"
		echo "'$PMM' nonsense"
		for command in $("$PMM" help --list); do echo "'$PMM' $command --help"; done
	} | all_looks
}

@test "words: what a run says at its end fits, and is over on a terminal" {
	all_looks <<-END
	'$PMM' run -o a.pmm -- '$PROG/leaf'
	'$PMM' report a.pmm
	'$PMM' run -o a.pmm -- '$PROG/fork'
	'$PMM' run -o a.pmm --sample=64 -- '$PROG/leaf'
	'$PMM' run -o a.pmm --trace -- '$PROG/leaf'
	'$PMM' report a.pmm
	'$PMM' run -o a.pmm -- '$PROG/own_malloc'
	'$PMM' run -o a.pmm --leaks -- '$PROG/leaf'
	'$PMM' leaks a.pmm
	'$PMM' leaks -- '$PROG/leak_shapes'
	'$PMM' leaks --holds=kept -- '$PROG/grower' 1
	'$PMM' check -- '$PROG/check_victim' overrun
	'$PMM' check --level=light -- sh -c 'ls >/dev/null; ls >/dev/null'
	'$PMM' doctor
	END
}

@test "words: what is said of a running process fits" {
	start attach_victim
	all_looks <<-END
	'$PMM' attach --duration 300ms -o b.pmm $PID
	'$PMM' report b.pmm
	'$PMM' leaks $PID
	'$PMM' report $PID
	END
	finish 42
}

# sentences: each of standard input with 10.0 to 90.0 ms where it has TIME, a line each.
sentences() {
	local sentence tens
	while read -r sentence; do
		for tens in 1 2 3 4 5 6 7 8 9; do echo "  ${sentence//TIME/${tens}0.0 ms}"; done
	done
}

@test "words: times of finer clocks than the agent's may be any" {
	local line
	sentences >"$T/finer" <<-END
	pmm: '/usr/bin/true' exited with status 0 after TIME
	pmm: 'a' killed by signal 11 (SIGSEGV, core dumped) after TIME
	process  leaf, pid 1, ran TIME from 2026-11-28 08:05:22, exited with status 0
	process  victim, pid 1, watched while it ran for TIME from 2026-11-28 08:05:22, running when captured
	no allocations were seen in TIME: the program did not call its allocator
	pmm: attached to 'victim' (1): allocator glibc, 9 functions patched, all threads stopped for TIME, one for TIME before
	pmm: detached: process 1 is as it was, all threads stopped for TIME
	pmm: process 1 is as it was before pmm (stopped for TIME)
	ok     attach      a trial attach left it as it was; stopped for TIME and TIME
	searched  1.00 KiB in TIME, in a copy; the program was stopped for TIME
	searched  3 B in TIME, at the processes' ends; none was held up for more than TIME
	searched  1.00 MiB in TIME, at the program's end; it was held up for TIME
	stopped  for TIME
	(as it was about TIME before the end)
	pmm: kernel       TIME lost in reclaim, 2 waits
	without what took less than TIME, which is counted only
	traced   process 1, for TIME from 2026-11-28 08:05:22
	END
	[ "$(wc -l <"$T/finer")" -eq 153 ]
	# broken at each blank, as a narrow terminal may
	{
		cat "$T/finer"
		sed 's/^  pmm:/pmm:/; s/\([^ ]\) \+/\1\npmm:   /g' "$T/finer"
		sed 's/\([^ ]\) \+/\1\n           /g' "$T/finer"
		echo "Kernel events"
		echo "  event     count    time  longest"
		sentences <<<"reclaim       2  TIME  TIME"
	} | python3 "$CLI/wording.py" 0
	sentences >"$T/agent" <<-END
	peak     1.00 MiB after TIME
	peak     1.00 MiB in the first TIME
	allocated from TIME to 200 ms; 7 freed
	allocated from 200 ms to TIME; 7 freed
	7 freed, median lifetime TIME
	7 freed, median lifetime under TIME
	more; oldest TIME, newest 200 ms
	all under TIME old
	the oldest TIME old
	thread 1 (worker), TIME after the start; 3 times
	it was freed by the same thread, TIME before:
	1  1000 B  0x555555000010  calloc  TIME  2023-11-14 22:13:22  main
	TIME  1.00 s      1   20%  ####
	END
	[ "$(wc -l <"$T/agent")" -eq 117 ]
	while IFS= read -r line; do
		status=0
		said=$(python3 "$CLI/wording.py" 0 <<<"$line") || status=$?
		[ "$status" -eq 1 ] && [ "$said" = "more digits than the clock has: $line" ] || { echo "passes: $line"; return 1; }
	done <"$T/agent"
}

@test "words: how long a process ran is known finer than by the agent's clock" {
	local summary report
	cd "$T"
	summary=$("$PMM" run -o a.pmm -- true 2>&1 | sed -n "s/.*exited with status 0 after //p")
	report=$("$PMM" report a.pmm | sed -n 's/.*, ran \(.*\) from .*/\1/p')
	[ -n "$summary" ]
	[ "$summary" = "$report" ]
	"$PMM" report --json a.pmm | jq -e '.process | .run_ns > 0 and .run_ns % 10000000 != 0 and .taken_realtime_ns > .start_realtime_ns'
	# held at its end for a search
	"$PMM" check --report=told -o a.pmm -- true
	"$PMM" report --json a.pmm | jq -e '.process.run_ns | . > 0 and . % 10000000 != 0'
	# a child has no status that the monitor waits for
	"$PMM" run -q -o '%p.pmm' -- sh -c 'ls >/dev/null; ls >/dev/null'
	for capture in [0-9]*.pmm; do
		"$PMM" report --json "$capture" | jq -e '.process.run_ns | . > 0 and . % 10000000 != 0' || { "$PMM" report "$capture"; return 1; }
	done
}

@test "words: a series that goes on while a process is held at its end ends with it" {
	cd "$T"
	for ((i = 0; i < 20; i++)); do
		rm -f a.pmm
		"$PMM" check --report=told -o a.pmm -- "$PROG/check_cases" behind slack >/dev/null || [ $? -eq 5 ]
		"$PMM" report --json a.pmm | jq -e '.history.time_ns as $t | $t == ($t | sort) and $t[-1] <= .process.run_ns'
	done
}

@test "words: in JSON, moments of the agent's clock are whole steps of it" {
	cd "$T"
	"$PMM" run -q -o a.pmm -- "$PROG/grower" 1 </dev/null
	"$PMM" report --json --blocks --top 0 a.pmm | jq -e '[.totals.peak_ns, .sites[].first_ns, .sites[].last_ns, .blocks[].age_ns, .blocks[].birth_ns, .threads[].start_ns]
		| length > 100 and any(. > 0) and all(. % 10000000 == 0)'
}
