#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# JSON of pmm trace: each event that can be provoked here, and each result, is what doc/json/trace.schema.json says.

bats_require_minimum_version 1.5.0
load lib
load trace

# what the documents of all tests here have
SEEN=$BATS_FILE_TMPDIR/seen

setup() {
	needs_bpf
	need jq
	/usr/bin/python3 -c 'import jsonschema' 2>/dev/null || skip "python3-jsonschema is not installed"
	GROUP=
}

teardown() { [ -z "$GROUP" ] || without_group "$GROUP"; }

schema() { /usr/bin/python3 "$CLI/json_schema.py" "$@"; }

# done_here: this test was run to its end.
done_here() { echo "$BATS_TEST_NUMBER" >>"$BATS_FILE_TMPDIR/done"; }

# valid STATUS EVENTS [OPTION...] -- COMMAND...: trace it; each line of JSON is what its schema says, and there is more than the result.
valid() {
	local nr
	traced "$@"
	grep '^{' "$T/out" >"$T/lines"
	nr=$(schema check "$SEEN" "$T/lines") || { echo "$nr"; return 1; }
	[ "$nr" -gt 1 ] || { echo "$nr lines"; return 1; }
}

# met EVENT...: there were lines of each.
met() {
	local event
	for event; do
		[ "$(jq -c "select(.event == \"$event\")" "$T/lines" | wc -l)" -gt 0 ] || { echo "no $event"; return 1; }
	done
}

# in_group BYTES COMMAND...: as arguments of traced, the command in a memory control group with that limit.
in_group() {
	needs_memcg
	GROUP=$MEMCG/pmm_trace_json.$$.$BATS_TEST_NUMBER
	mkdir "$GROUP"
	echo "$1" >"$GROUP/$MEMCG_LIMIT"
	mapfile -d '' inside < <(printf '%s\0' sh -c 'sh -c '\''echo $$ >"$0/cgroup.procs"; exec "$@"'\'' "$@"; :' - "$GROUP" "${@:2}")
}

@test "the list" {
	"$PMM" trace --list --json >"$T/list"
	[ "$(schema check "$SEEN" "$T/list")" = 1 ]
	done_here
}

@test "mappings, the break, shared memory" {
	valid 3 mmap,brk -- "$PROG/trace_calls" 3 wait
	met mmap munmap mremap mprotect madvise brk
	valid 0 mmap,brk,shm -- "$PROG/trace_shm"
	met shmget shmat shmdt shmctl shm_open shm_unlink memfd_create
	# the same, refused
	valid 0 mmap,shm --stack-size 0 -- python3 -c '
import ctypes
c = ctypes.CDLL(None)
p = ctypes.c_void_p
c.mmap(p(0), ctypes.c_size_t(0), 3, 0x22, -1, p(0))
c.mremap(p(1), ctypes.c_size_t(4096), ctypes.c_size_t(8192), 1)
c.mprotect(p(1), ctypes.c_size_t(4096), 3)
c.madvise(p(1), ctypes.c_size_t(4096), 999)
c.shmget(0x7ffffff1, ctypes.c_size_t(4096), 0o600)
c.shmat(0x7ffffff1, p(0), 0)
c.shmdt(p(4096))
c.shmctl(0x7ffffff1, 0, p(0))
c.syscall(319, b"x", 0x7fffffff)
c.shm_open(b"/pmm no such name", 0, 0)
c.shm_unlink(b"/pmm no such name")'
	[ "$(jq -r 'select(.error) | .event' "$T/lines" | sort -u | wc -l)" -ge 10 ]
	done_here
}

@test "processes and files" {
	local long
	long=$(printf 'x%.0s' {1..200})/$(printf 'y%.0s' {1..200})
	# shellcheck disable=SC2016 # the traced shell expands it
	valid 0 life,files -- bash -c 'cd "$0"; echo x >a; mv a b; rm b; mkdir d; rmdir d; mkdir "$1"; rmdir "$1"; mv "$1" "$1.b"; rm -f "$1"; : <"$1"; "./$1"
		mkdir /; sh -c "ulimit -c 0; kill -9 \$\$"; echo 5 >/proc/self/oom_score_adj; python3 -c "import threading
t = threading.Thread(target=print); t.start(); t.join()"; true "$1"; :' "$T" "$long"
	met exec exec_failed fork exit rename oom_score open unlink mkdir rename_file
	jq -e -s 'any(.event == "exit" and .signal == 9 and .core_dumped == false and .exit_status == null)' "$T/lines"
	jq -e -s 'all(.event != "exit" or .thread or (.exit_status == null) != (.signal == null))' "$T/lines"
	jq -e -s 'any(.event == "exit" and .thread)' "$T/lines"
	done_here
}

@test "the kernel's memory, resident sizes, the page cache" {
	local inside
	valid 0 kernel,rss --sample 1 --objects 1048576 --older 1ns --min-size 4096 -- "$PROG/trace_kernel" loop 50
	met kernel_alloc rss
	valid 0 kernel,rss -- "$PROG/trace_pages" rss 16
	head -c 3M /dev/urandom >"$T/file"
	sync "$T/file"
	case $(stat -f -c %T "$T/file") in tmpfs) skip "$T is a tmpfs: the kernel does not say when it adds pages" ;; esac
	python3 -c "import os; fd = os.open('$T/file', os.O_RDONLY); os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)"
	valid 0 cache -- "$PROG/trace_pages" cache "$T/file" 600
	met cache_add
	done_here
}

@test "page faults, segmentation faults" {
	valid 0 faults,major --sample 1 -- "$PROG/trace_faults" private_file 100 "$T/file"
	met fault
	head -c 3M /dev/urandom >"$T/cold"
	sync "$T/cold"
	python3 -c "import os; fd = os.open('$T/cold', os.O_RDONLY); os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)"
	valid 0 major -- python3 -c "
import mmap
f = open('$T/cold', 'rb')
m = mmap.mmap(f.fileno(), 0, access = mmap.ACCESS_READ)
print(sum(m[i] for i in range(0, len(m), 4096)))"
	met major
	valid 139 stack -- "$PROG/trace_segv" null
	valid 139 stack -- sh -c 'kill -SEGV $$'
	valid 139 stack -- "$PROG/trace_overflow" main-cyclic
	valid 139 stack -- "$PROG/trace_overflow" guard
	valid 139 stack -- "$PROG/trace_overflow" neighbour
	# shellcheck disable=SC2016 # the shell that is traced expands it
	valid 0 stack -- sh -c 'ulimit -s unlimited && exec "$0" 1 600' "$PROG/trace_depth"
	valid 7 stack -- "$PROG/trace_overflow" count
	met segv stack_growth
	done_here
}

@test "what malloc asks of the kernel" {
	valid 0 libc --buffer 64M -- "$PROG/libc_heaps"
	[ "$(jq -s -r '.[-1].libc.by' "$T/lines")" != calls ] ||
		met libc_sbrk_more libc_heap_new libc_heap_more libc_heap_free libc_arena_new libc_mmap libc_munmap
	need_root
	local victim
	mkdir "$T/lib"
	cp "$PROG/libc_probes.so" "$T/lib/libc.so.6"
	mkfifo "$T/go"
	"$PROG/libc_victim" "$T/lib/libc.so.6" 2 <"$T/go" >"$T/said" 3>&- & victim=$!
	exec 7>"$T/go"
	await -p "$victim" grep -q ready "$T/said"
	once_traced 7
	exec 7>&-
	valid 0 libc -p "$victim"
	met libc_sbrk_more libc_arena_wait libc_arena_reuse libc_arena_free_list libc_arena_retry libc_retry libc_mallopt libc_double_free
	done_here
}

@test "huge pages" {
	local enabled
	enabled=$(cat /sys/kernel/mm/transparent_hugepage/enabled 2>"$T/thp.err") || skip "no transparent huge pages: $(cat "$T/thp.err")"
	[[ $enabled != *"[never]"* ]] || skip "transparent huge pages are switched off"
	valid 0 thp -- "$PROG/trace_huge" 4 2 1
	met huge_fault collapse huge_scan
	done_here
}

@test "reclaim in a memory control group" {
	local inside
	head -c 60M /dev/zero >"$T/file"
	# shellcheck disable=SC2016 # the shell in the group expands it
	in_group 32M sh -c 'i=0; while [ $i -lt 3000 ]; do [ -e "$1.$i" ] || i=$((i + 1)); done; exec "$0" "$1"' "$PROG/trace_reclaim" "$T/file"
	valid 0 reclaim --min-latency 1ns -- "${inside[@]}"
	met memcg_reclaim shrink_slab
	done_here
}

@test "the OOM killer" {
	local inside
	in_group 24M sh -c 'sleep 1.2; exec perl -e "\$x = qq(x) x 100000000"'
	valid 0 oom -- "${inside[@]}"
	met oom_kill oom_victim oom_context
	done_here
}

@test "heaps, of one that is traced by another program as well" {
	need strace
	local traced pids
	valid 0 heap,mmap --older 1ms -- "$PROG/trace_heap" leak 5 100
	valid 0 heap,faults --sample 1 -- "$PROG/trace_heap" touch 5
	[ "$(tail -1 "$T/lines" | jq -c '[.fault_sites[] | select(.of == "block" and .function == "make") | .first_touches >= 1]')" = "[true]" ]
	strace -qq -o "$T/strace" sleep 200 3>&- &
	STRACE=$!
	"$PROG/trace_heap" leak 30000 100 >"$T/victim" 3>&- &
	pids=$!
	await -p "$STRACE" pgrep -P "$STRACE" sleep
	await -p "$pids" grep -q ready "$T/victim"
	traced=$(pgrep -P "$STRACE" sleep)
	"$PMM" trace heap --json -d 200ms -p "$pids" -p "$traced" >"$T/lines" 2>"$T/err"
	kill "$traced" "$STRACE" "$pids" 2>/dev/null || :
	[ "$(schema check "$SEEN" "$T/lines")" -eq 1 ]
	[ "$(jq -c '[.heap_processes[] | .objects == null]' "$T/lines")" = "[false,true]" ]
	jq -e '.heap_processes[1].why | test("traced|strace")' "$T/lines"
	done_here
}

@test "samples of counters" {
	valid 0 pmc --counters cpu_clock,page_faults -- /usr/bin/python3 -c 'sum(range(3000000))'
	met cpu_clock page_faults
	done_here
}

@test "what cannot be seen" {
	printf '#!/bin/sh\nexec "%s" perf "%s" "$@"\n' "$PROG/attach_filter" "$PMM" >"$T/pmm"
	chmod +x "$T/pmm"
	PMM=$T/pmm valid 0 major,mmap -- true
	tail -1 "$T/lines" | jq -e '.not_seen | length == 1 and .[0].events == "major" and .[0].partly == false'
	done_here
}

@test "perf events of an ordinary user" {
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || skip "kernel.perf_event_paranoid is $(cat /proc/sys/kernel/perf_event_paranoid)"
	printf '#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 --clear-groups "%s" "$@"\n' "$PMM" >"$T/pmm"
	chmod +x "$T/pmm"
	PMM=$T/pmm valid 0 mmap,life,faults,oom --sample 1 -- ls /
	tail -1 "$T/lines" | jq -e '.coverage.source == "perf" and (.not_seen | length == 4)'
	done_here
}

@test "figures, where no events can be seen" {
	printf '#!/bin/sh\nexec "%s" bpf "%s" "$@"\n' "$PROG/attach_filter" "$PMM" >"$T/pmm"
	chmod +x "$T/pmm"
	PMM=$T/pmm traced 0 faults,life,rss -- sh -c 'sleep 0.5; ls /'
	grep '^{' "$T/out" >"$T/lines"
	[ "$(schema check "$SEEN" "$T/lines")" -eq 1 ]
	PMM=$T/pmm traced 0 rss --all -d 0.3
	[ "$(schema check "$SEEN" "$T/out")" -eq 1 ]
	done_here
}

@test "every key that can be missing was there and was missing in the tests above" {
	[ "$(sort -u "$BATS_FILE_TMPDIR/done" | wc -l)" -eq $((BATS_TEST_NUMBER - 1)) ] || skip "not all tests of this file were run"
	schema seen "$SEEN" trace trace-list trace-figures
}
