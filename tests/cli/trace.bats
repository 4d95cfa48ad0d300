#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace: events by programs in the kernel, whom they are of, what is left behind.

bats_require_minimum_version 1.5.0
load lib
load trace

setup() { needs_bpf; }

@test "every call of a command and its child, exactly" {
	traced 3 mmap -- "$PROG/trace_calls" 100
	# 100 by the command, 1 by its child; what the dynamic linker maps is beside these
	[ "$(count munmap '.error == "EINVAL"')" -eq 101 ]
	[ "$(count munmap '.size_bytes == 3145728 and .error == null')" -eq 101 ]
	[ "$(count mmap '.size_bytes == 1048576 and .protection == "r"')" -eq 101 ]
	[ "$(count mprotect '.size_bytes == 1048576')" -eq 101 ]
	[ "$(count madvise '.size_bytes == 1048576')" -eq 101 ]
	[ "$(count mremap .)" -eq 101 ]
	[ "$(result '.coverage.lost_in_ring + .coverage.lost_in_tables + .coverage.missed_by_recursion')" -eq 0 ]
	[ "$(result '.events[] | select(.event == "mremap") | .count')" -eq 101 ]
	[ "$(result '[.processes[] | select(.event == "mremap") | .count] | sort | join(",")')" = 1,100 ]
}

@test "shared memory of all sorts, the break, and an arena of malloc" {
	traced 0 mmap,brk,shm -- "$PROG/trace_shm"
	[ "$(count shmget '.size_bytes == 8192 and .key == "0x0" and .mode == 384')" -eq 1 ]
	[ "$(count shmat '.result != null')" -eq 1 ]
	[ "$(count shmdt '.error == null')" -eq 1 ]
	[ "$(count shmdt '.error == "EINVAL"')" -eq 1 ]
	[ "$(count shmctl '.operation == "RMID"')" -eq 1 ]
	[ "$(count shm_open '.name | startswith("pmm_trace_shm.")')" -eq 1 ]
	[ "$(count shm_open '.name == "pmm no such name" and .error == "ENOENT"')" -eq 1 ]
	[ "$(count shm_unlink '.name | startswith("pmm_trace_shm.")')" -eq 1 ]
	[ "$(count memfd_create '.name == "a name"')" -eq 1 ]
	[ "$(count mmap '.malloc_arena')" -eq 1 ]
	# sbrk(+1 MiB), sbrk(-512 KiB), and one that cannot be
	[ "$(count brk '.grown_bytes == 1048576')" -eq 1 ]
	[ "$(count brk '.grown_bytes == -524288')" -eq 1 ]
	[ "$(jq -c 'select(.event == "brk") | .grown_bytes' "$T/out" | tail -1)" -eq 0 ]
}

@test "--min-size: smaller calls are counted only, failed ones and those that give back are as large as they asked" {
	traced 3 mmap --min-size 3M -- "$PROG/trace_calls" 10
	[ "$(jq -r '.event | strings' "$T/out" | grep -v -c -E '^(mmap|mremap|munmap|exec|fork|exit)$')" -eq 0 ]
	[ "$(count mremap .)" -eq 11 ]
	[ "$(count munmap '.size_bytes == 3145728 and .error == null')" -eq 11 ]
	[ "$(count munmap '.size_bytes == 4096')" -eq 0 ]
	[ "$(count mmap '.size_bytes < 3145728')" -eq 0 ]
	[ "$(result '[.events[] | select(.event == "madvise") | .count] | add // 0')" -eq 0 ]
	[ "$(result '[.stacks[] | select(.event == "madvise" or .event == "mprotect")] | length')" -eq 0 ]
	[ "$(result .coverage.seen)" -ge 66 ]
	traced 0 brk,shm --min-size 512K -- "$PROG/trace_shm"
	[ "$(jq -r 'select(.event == "brk") | .grown_bytes' "$T/out" | paste -sd' ')" = "1048576 -524288 0" ]
	[ "$(count shmget .)" -eq 0 ]
	[ "$(count memfd_create '.name == "a name"')" -eq 1 ]
}

@test "stacks are complete without frame pointers, with names, by the caller" {
	traced 3 mmap -- "$PROG/trace_calls" 5 wait
	jq -c 'select(.event == "mremap" and .command == "trace_calls") | [.stack[].function]' "$T/out" | sort -u >"$T/stacks"
	[ "$(wc -l <"$T/stacks")" -eq 1 ] || { cat "$T/stacks"; return 1; }
	jq -s -e 'all(index("calls") != null and index("main") == index("calls") + 1 and .[-1] == "_start")' "$T/stacks"
	[ "$(count mremap '.stack_end != null')" -eq 0 ]
	[ "$(result '[.stacks[] | select(.event == "mremap") | .count] | sort | join(",")')" = 1,5 ]
}

@test "folded stacks, by bytes" {
	run -3 "$PMM" trace mmap --folded --sort bytes -- "$PROG/trace_calls" 5 wait
	[ "$(grep -c '^mremap;_start;.*;main;calls;__mremap 15728640$' <<<"$output")" -eq 1 ]
	[ "$(grep -c '^mremap;_start;.*;main;calls;__mremap 3145728$' <<<"$output")" -eq 1 ]
	[ "$(grep -v -c -E '^[a-z]+;.* [0-9]+$' <<<"$output")" -eq 0 ]
	run -2 "$PMM" trace mmap --folded --json -- true
}

@test "frames of a stack in text" {
	run -3 "$PMM" trace mmap -s --sort bytes --top 1 --frames 2 -- "$PROG/trace_calls" 5 wait
	sed -n '/^Stacks/,$p' <<<"$output" >"$T/stacks"
	[ "$(grep -c -E '^ {20,}' "$T/stacks")" -eq 3 ] || { cat "$T/stacks"; return 1; }
	grep -q '^ *munmap *5  *15.0 MiB  calls ' "$T/stacks"
	grep -q '^ *calls (trace_calls.c:[0-9]*)$' "$T/stacks"
	grep -q '^ *\.\.\. 4 more callers$' "$T/stacks"
}

@test "a result for each interval has what happened in it" {
	# each half goes on until there is a result, so that there are two before the last one
	# shellcheck disable=SC2016 # the shell that is traced expands it
	traced 0 mmap --summary --interval 0.2 -- sh -c 'results() { until [ "$(grep -c schema "$1")" -ge "$2" ]; do sleep 0.05; done; }
		"$0" 10; results "$1" 1; "$0" 20; results "$1" 2' "$PROG/trace_calls" "$T/out"
	# what the kernel counts while a result is made, its record is in the next one
	jq -s -e 'def events: [.events[].count] | add // 0;
		length >= 3 and all(.coverage.stacks == events and (.coverage.seen - events | fabs) < 50)
			and (map(.coverage.seen) | add) == (map(events) | add)' "$T/out"
	# 11 and 21, whichever intervals they fall into
	[ "$(jq -s '[.[].events[] | select(.event == "mremap") | .count] | add' "$T/out")" -eq 32 ]
}

@test "who begins, executes and ends" {
	traced 0 life -- sh -c 'sh -c "exit 7"; :'
	[ "$(count exec '.file | endswith("/sh")')" -eq 2 ]
	[ "$(count exit '.thread == false and .exit_status == 7')" -eq 1 ]
	[ "$(count exit '.thread == false and .exit_status == 0')" -eq 1 ]
	[ "$(count exit '.peak_resident_bytes > 0 and .thread == false')" -eq 2 ]
	[ "$(count fork .)" -eq 1 ]
	# not with the time that the command has waited for the trace to begin
	[ "$(count exit '.age_ns <= .since_start_ns')" -eq 2 ]
}

@test "files, and the arguments of programs" {
	mkdir "$T/work"
	traced 0 life,files -- sh -c 'cd "$0"; echo x >a; mv a b; rm b; mkdir d; rmdir d; cat nosuch; true "with blank"; :' "$T/work"
	[ "$(count open '.path == "a" and .creates and .truncates and .access == "write" and .error == null')" -eq 1 ]
	[ "$(count rename_file '.path == "a" and .new_path == "b"')" -eq 1 ]
	[ "$(count unlink '.path == "b" and .directory == false and .error == null')" -eq 1 ]
	[ "$(count mkdir '.path == "d" and .mode == 511')" -eq 1 ]
	[ "$(count unlink '.path == "d" and .directory')" -eq 1 ]
	[ "$(count open '.path == "nosuch" and .error == "ENOENT" and .command == "cat"')" -eq 1 ]
	[ "$(count exec '.arguments == ["mv", "a", "b"]')" -eq 1 ]
	local shell
	shell=$(jq -r 'select(.event == "exec" and .arguments[1] == "-c") | .pid' "$T/out")
	[ "$(count exec ".parent_pid == $shell")" -eq 5 ]
}

@test "others are not traced" {
	"$PROG/trace_calls" 1000 & other=$!
	traced 0 mmap,life -- sleep 0.3
	wait "$other" || :
	[ "$(count mremap .)" -eq 0 ]
	[ "$(jq -r 'select(.event == "exit") | .command' "$T/out" | sort -u)" = sleep ]
}

@test "nothing is left in the kernel when pmm is killed" {
	"$PMM" trace mmap --all --duration 1000 >/dev/null 2>"$T/err" 3>&- & local pid=$!
	await -p "$pid" grep -q '^pmm: tracing ' "$T/err"
	"$PROG/bpf_programs" "$pid" >"$T/held"
	grep -q '^link' "$T/held"
	[ "$("$PROG/bpf_programs" <"$T/held")" -eq "$(wc -l <"$T/held")" ]
	[ "$(grep -c '^map' "$T/held")" -ge 3 ]
	[ "$(grep -c '^prog' "$T/held")" -ge 1 ]
	kill -9 "$pid"
	wait "$pid" || [ "$?" -eq 137 ]
	# the kernel frees them a moment later
	none_held() { [ "$("$PROG/bpf_programs" <"$T/held")" -eq 0 ]; }
	await none_held
}

@test "bad input" {
	run -2 "$PMM" trace
	[ "${lines[0]}" = "pmm: nothing to trace" ]
	run -2 "$PMM" trace mmap --all -- true
	run -2 "$PMM" trace -p 12x
	run -2 "$PMM" trace mmap --buffer 3M -- true
	run -127 "$PMM" trace mmap -- /nowhere/program
	"$PMM" help --man trace | grep -qx '\.B 126, 127'
	run -127 "$PMM" trace mmmap
	grep -qx "pmm: cannot execute 'mmmap': No such file or directory" <<<"$output"
	grep -q "'pmm trace --list' has the names of events" <<<"$output"
	run -3 timeout 60 "$PMM" trace mmap -p 4194304
	[ "${lines[0]}" = "pmm: no process 4194304" ]
	[ "${lines[1]}" = "pmm: hint: 'ps -e' lists all processes with their numbers" ]
	refuses 2 "there is no event 'mmaps'" "did you mean 'mmap'\? 'pmm trace --list' has all names" mmaps -p 1
	refuses 2 "there is no event 'rcliam'" "did you mean 'reclaim'\\? 'pmm trace --list' has all names" brk,rcliam -- true
	refuses 2 "there is no event 'sbrk'" "did you mean 'brk'\\? 'pmm trace --list' has all names" sbrk -- true
	refuses 2 "there is no event 'bogus'" "'pmm trace --list' names them" bogus -- true
	refuses 2 "unexpected argument 'brk'" "several events are a list with commas: mmap,brk" mmap brk --all
	refuses 2 "a command, '--pid' and '--all' exclude each other" "'--command', '--cgroup' and '--user' go with each of them" -p 1 --all
	refuses 2 "command names have 1 to 15 characters" "the kernel cuts longer ones: 'ps -o comm= -p PID' shows the name" --command "" --all
	refuses 3 "'/proc' is not a control group of the memory controller" "give its directory,.*" --cgroup /proc
	refuses 3 "there is no control group ''" "give its directory,.*" --cgroup ""
}

# refuses STATUS SENTENCE HINT [ARGUMENT...]: both lines whole; the hint is a pattern.
refuses() {
	run "-$1" timeout 60 "$PMM" trace "${@:4}"
	[ "${lines[0]}" = "pmm: $2" ]
	[[ "${lines[1]}" =~ ^"pmm: hint: "$3$ ]]
}

@test "a command that is named like an event, behind two dashes" {
	cp "$(type -P true)" "$T/life"
	PATH=$T:$PATH traced 0 brk -- life
	PATH=$T:$PATH timeout 60 "$PMM" trace --json -s -- life >"$T/out"
	[ "$(result .coverage.scope)" = "'life' and its children" ]
}

@test "output that cannot be written says why" {
	local form
	for form in --summary --json --folded; do
		run -3 timeout 60 bash -c '"$0" trace brk "$1" -- true >/dev/full' "$PMM" "$form"
		[ "${lines[0]}" = "pmm: cannot write to standard output: No space left on device" ]
	done
}

@test "Ctrl-C ends it with the result" {
	"$PMM" trace life --all --json >"$T/out" 2>"$T/err" & local pid=$!
	until [ -s "$T/out" ]; do sh -c :; done
	kill -INT "$pid"
	wait "$pid"
	tail -1 "$T/out" | jq -e '.schema == "pmm-trace/1.0" and .coverage.scope == "all processes"'
}

@test "a stopped pmm loses exactly what it counts as lost" {
	mkfifo "$T/go"
	"$PMM" trace mmap --json --top 0 -- sh -c 'read -r _ <"$0"; exec "$1" 20000' "$T/go" "$PROG/trace_calls" >"$T/out" 2>"$T/err" & local pid=$!
	until [ -s "$T/out" ]; do sleep 0.02; done
	kill -STOP "$pid"
	local child
	child=$(pgrep -P "$pid")
	echo >"$T/go"
	until grep -qs '^State:.Z' "/proc/$child/status"; do sleep 0.05; done
	kill -CONT "$pid"
	wait "$pid" || [ "$?" -eq 3 ]
	# 20,001 times six calls, besides those of the dynamic linker and the shell
	local seen lost
	seen=$(result .coverage.seen)
	lost=$(result '.coverage.lost_in_ring + .coverage.lost_in_tables')
	[ "$lost" -gt 0 ]
	[ "$seen" -gt 120006 ]
	[ "$seen" -lt 120200 ]
	[ "$(jq -c 'select(.event)' "$T/out" | wc -l)" -eq $((seen - lost)) ]
	[ "$(result '[.events[].count] | add')" -eq $((seen - lost)) ]
}

@test "--output: an older file stays until there is something, then what was traced is there whatever becomes of pmm" {
	local pid child
	echo old >"$T/file"
	run -127 "$PMM" trace mmap -o "$T/file" -- "$T/none"
	run -2 "$PMM" trace nothing -o "$T/file" -- true
	[ "$(cat "$T/file")" = old ]
	"$PMM" trace mmap -s -o "$T/file" -- sh -c 'cp "$0" "$1"' "$T/file" "$T/during"
	[ "$(cat "$T/during")" = old ]
	grep -q '^ *mmap  ' "$T/file"
	[ "$(stat -c %a "$T/file")" = 600 ]
	echo old >"$T/file"
	"$PMM" trace mmap -o "$T/file" -- sleep 60 2>"$T/err" & pid=$!
	until grep -q ' mmap  ' "$T/file"; do [ -e "/proc/$pid" ] && sleep 0.05; done
	child=$(pgrep -P "$pid" -x sleep)
	kill -KILL "$pid" "$child"
	wait "$pid" || true
	[ "$(grep -c old "$T/file")" = 0 ]
	[ "$(grep -c ' sleep .* mmap  ' "$T/file")" -ge 1 ]
}

@test "forms: --format, short forms, files" {
	local pid
	"$PMM" trace mmap --format json -o "$T/json" -- sh -c 'echo hello; exec "$0" 3; :' "$PROG/trace_calls" >"$T/out" 2>"$T/err" || [ $? -eq 3 ]
	[ "$(cat "$T/out")" = hello ]
	[ "$(jq -c 'select(.event == "mremap")' "$T/json" | wc -l)" -eq 4 ]
	# as JSON all rows, unless it is said how many
	jq -s -e '.[-1] | (.events | map(select(.event == "mremap")) | .[0].count == 4) and (.stacks | length > 10)' "$T/json"
	"$PMM" trace mmap --json --top 2 -s -o "$T/json" -- true
	[ "$(jq '.stacks | length' "$T/json")" -eq 2 ]
	"$PMM" trace mmap --format folded -o "$T/folded" -- "$PROG/trace_calls" 3 || [ $? -eq 3 ]
	"$PMM" trace mmap --folded -o "$T/folded.short" -- "$PROG/trace_calls" 3 || [ $? -eq 3 ]
	grep -q -E '^mremap;.*;main;calls.* 3$' "$T/folded" || { cat "$T/folded"; return 1; }
	diff <(sed 's/ld-linux.*//' "$T/folded" | sort) <(sed 's/ld-linux.*//' "$T/folded.short" | sort)
	"$PMM" trace --list --json -o "$T/list"
	[ "$(jq -r '.events[0].event' "$T/list")" = mmap ]
	run -3 "$PMM" trace mmap -o "$T/none/file" -- true
	[ "${lines[0]}" = "pmm: cannot write to '$T/none/file': No such file or directory" ]
	[ "${lines[1]}" = "pmm: hint: name a file in a directory that you may write to" ]
	run -3 "$PMM" trace mmap -o /dev/full -- true
	[ "$output" = "pmm: cannot write to /dev/full: No space left on device" ]
	run -2 "$PMM" trace --json --folded --all
	run -2 "$PMM" trace --format text2 --all
	[ "${lines[1]}" = "pmm: hint: one of: text, json, folded" ]
	run -2 "$PMM" trace --format folded --stack-size 0 --all
	run -2 "$PMM" trace --format json --folded --all
}

@test "-q: no messages; else it says when it traces" {
	run -0 --separate-stderr "$PMM" trace life --all -s -d 50ms
	[ "$stderr" = "pmm: tracing all processes for 50 ms" ]
	run -0 --separate-stderr "$PMM" trace life --all -s -d 50ms -q
	[ -z "$stderr" ]
}
