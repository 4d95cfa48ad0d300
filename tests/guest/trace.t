# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace on other kernels: what can be traced at all, system calls and processes, the OOM killer.

# list WORKS: the events of which --list says so ("yes", "partly", "no").
list() { jq -r --arg w "$1" '[.events[] | select(.works == $w).event] | sort | join(" ")' list.json; }

test_list()
{
	pmm trace --list --json >list.json
	cat list.json
	is "what cannot be traced" "$(list no)" pmc
	is "what can be traced in part without a reason" "$(jq '[.events[] | select(.works == "partly" and .why == null)] | length' list.json)" 0
	case $(uname -r) in
	5.10.*) is "reclaim and huge pages" "$(list partly | grep -o -E 'reclaim|thp' | sort | xargs)" "reclaim thp" ;;
	6.1.*) is "huge pages" "$(list partly | grep -o -E 'reclaim|thp' | xargs)" thp ;;
	esac
}

test_calls()
{
	status=0
	pmm trace mmap --json -- /prog/trace_calls 100 >trace.json || status=$?
	is "the command's status" "$status" 3
	is mremap "$(events mremap true length)" 101
	is "munmap that failed" "$(events munmap '.error == "EINVAL"' length)" 101
	is mprotect "$(events mprotect '.size_bytes == 1048576' length)" 101
	is madvise "$(events madvise '.size_bytes == 1048576' length)" 101
	is "lost events" "$(result '.coverage | .lost_in_ring + .lost_in_tables + .missed_by_recursion')" 0
}

test_stacks()
{
	status=0
	pmm trace mmap --json -- /prog/trace_calls 5 wait >trace.json || status=$?
	is "the command's status" "$status" 3
	is "complete stacks" "$(events mremap '.stack_end == null' length)" 6
	is "their functions" "$(events mremap true 'map([.stack[].function] | index("main") - index("calls")) | unique | join(" ")')" 1
}

test_processes()
{
	pmm trace life --json -- sh -c 'sh -c "exit 7"; :' >trace.json
	is exec "$(events exec '.file | endswith("/sh")' length)" 2
	is fork "$(events fork true length)" 1
	is "ended with 7" "$(events exit '.thread == false and .exit_status == 7' length)" 1
	is "ended with 0" "$(events exit '.thread == false and .exit_status == 0' length)" 1
}

# Numbers are those of pmm's namespace; also of a namespace below it. 1 is pmm (a shell executes its last command itself), 2 and 5 are mount.
test_pid_namespaces()
{
	unshare -m -p -f sh -c 'mount -t proc none /proc
		pmm trace life,mmap --json --top 0 -- unshare -m -p -f sh -c "mount -t proc none /proc; /prog/trace_calls 10; :"' >trace.json
	is programs "$(events exec '.file | test("/(unshare|busybox|trace_calls)$")' 'map("\(.pid) \(.command)") | join(",")' | grep -o '[0-9]* trace_calls')" "6 trace_calls"
	is "its calls" "$(events mremap '.pid == 6' length)" 10
	is "those of its child" "$(events mremap '.pid == 7' length)" 1
	is "lost events" "$(result '.coverage | .lost_in_ring + .lost_in_tables + .missed_by_recursion')" 0
}

# in_group FILTER GROUP...: what is seen of a shell that moves through these groups and makes 11 calls in each.
in_group() {
	pmm trace mmap --json --top 0 --stack-size 0 --cgroup "$1" -- \
		sh -c 'for g; do echo $$ >"$g/cgroup.procs"; /prog/trace_calls 10; done; exit 0' sh "$2" "$3" "$4" >trace.json
	is "lost events" "$(result '.coverage | .lost_in_ring + .lost_in_tables + .missed_by_recursion')" 0
	CALLS=$(events mremap true length)
}

# Of the unified hierarchy: a group without the memory controller is accounted with the one above it.
test_control_groups()
{
	group a 200M
	mkdir "$G/t_a/below"
	in_group /t_a "$G" "$G/t_a" "$G/t_a/below"
	is "calls in the group and in the one below" "$CALLS" 22
	in_group "$G/t_a" "$G/t_a" "$G" "$G"
	is "calls in the group" "$CALLS" 11
	pmm trace mmap --cgroup /t_a/below -- true 2>errors && fail "a group without the controller"
	has errors 'not a control group of the memory controller'
	await eval 'echo +memory >"$G/t_a/cgroup.subtree_control"'
	in_group /t_a "$G" "$G/t_a/below" "$G"
	is "calls below, where the controller is" "$CALLS" 11
	in_group /t_a/below "$G" "$G/t_a/below" "$G"
	is "calls of the one below" "$CALLS" 11
	await rmdir "$G/t_a/below"
}

killed() { awk '$1 == "oom_kill" { print $2 }' "$1"; }

test_oom_in_a_memory_control_group()
{
	group small 24M
	tracing oom
	status=0
	inside small /prog/trace_pressure 100 0 </dev/null || status=$?
	is "the victim's status" "$status" 137
	traced
	is "victims of the group" "$(killed "$G/t_small/memory.events")" 1
	is "victims" "$(events oom_kill true length)" 1
	events oom_kill true '.[0]'
	events oom_victim true '.[0]'
	events oom_context true '.[0]'
	is "the one" "$(events oom_kill '.victim_pid == .pid and .victim_oom_score_adj == 0' 'map(.command) | join(" ")')" trace_pressure
	is "the group and its limit" "$(events oom_context true 'map("\(.cgroup) \(.limit_bytes)") | join(" ")')" "/t_small 25165824"
	between "its anonymous memory" "$(events oom_victim true 'map(.anonymous_bytes) | add')" 20000000 26000000
}

test_oom_of_the_machine()
{
	tracing oom
	echo -1000 >"/proc/$TRACER/oom_score_adj"
	was=$(killed /proc/vmstat)
	status=0
	/prog/trace_pressure 460 0 </dev/null || status=$?
	is "the victim's status" "$status" 137
	traced
	events oom_kill true '.[0]'
	events oom_victim true '.[0]'
	events oom_context true '.[0]'
	is "victims" "$(events oom_kill true length)" "$(($(killed /proc/vmstat) - was))"
	is "the one" "$(events oom_kill true 'map(.victim_pid) | join(" ")')" "$(events exec '.command == "trace_pressure"' 'map(.pid) | join(" ")')"
	between "its anonymous memory" "$(events oom_victim true 'map(.anonymous_bytes) | add')" 300000000 500000000
}

# of pipe(): a struct pipe_inode_info and its buffers each.
test_kernel_allocations()
{
	pmm trace kernel --sample 1 --objects 262144 --json --top 0 --summary -- /prog/trace_kernel keep 200 >trace.json
	kill "$(head -n 1 trace.json)"
	by() { result "[.kernel_stacks[] | select(.stack | test(\";alloc_pipe_info([+]0x[0-9a-f]+)?\$\"))] | $1"; }
	by .
	is "objects not followed" "$(result .kernel.not_followed)" 0
	is "objects of 200 pipes" "$(by 'map(.objects) | add')" 400
	is "those freed" "$(by 'map(.freed) | add')" 0
	is "sums" "$(result '([.kernel_stacks[].size_bytes] | add) == ([.kernel_sorts[].size_bytes] | add)')" true
}

# Before 6.2 threads count up to 64 pages for themselves.
test_resident_size()
{
	pmm trace rss --json --summary -- /prog/trace_pages rss 16 >trace.json 2>smaps
	result .resident
	rss=$(awk '$1 == "Rss:" { print $2 * 1024 }' smaps)
	between "resident bytes by smaps" "$rss" 16777216 33554432
	if since 6.2; then
		is "resident bytes" "$(result '.resident[0].resident_bytes')" "$rss"
	else
		between "resident bytes" "$(result '.resident[0].resident_bytes')" $((rss - 3 * 64 * 4096)) $((rss + 3 * 64 * 4096))
	fi
}

# A sample for each page fault. The program of each counter is the same: the hardware's load here, too, and find no counter.
test_counters()
{
	pmm trace pmc --counters page_faults --json --top 0 -- /prog/trace_faults anonymous 500 >trace.json
	between "samples" "$(events page_faults '.command == "trace_faults" and (.stack | length) > 0' length)" 500 700
	is "the sum" "$(result '[.counters[].page_faults] | add')" "$(events page_faults true length)"
	pmm trace pmc -- true 2>errors && fail "this machine has counters"
	has errors "this machine has no hardware counters"
}

# overflow HOW FILTER: trace_overflow HOW dies of a stack overflow for which the filter holds.
overflow()
{
	status=0
	pmm trace stack --json --top 0 -- /prog/trace_overflow "$1" >trace.json || status=$?
	is "the status of $1" "$status" 139
	grep '"event": "segv"' trace.json | jq -c 'del(.stack)'
	is "overflows of $1" "$(grep '"event": "segv"' trace.json | jq "select(.stack_overflow and ($2)) | 1")" 1
}

# Before 5.17 the first thread's stack alone is known.
test_stack_overflows()
{
	ulimit -S -s 1024
	overflow main-deep '.stack_sort == "first_thread" and .stack_limit_bytes == 1048576 and .overflow_cause == "limit" and .repeats > 900'
	if since 5.17; then
		overflow far '.stack_sort == "thread" and .frame_bytes == 2097048 and .overflow_cause == "below" and .stack[0].function == "far"'
		overflow guard '.stack_sort == "thread" and .guard_bytes == 65536 and .overflow_cause == "guard"'
	else
		overflow deep '.stack_sort == null and .overflow_cause == "protection"'
	fi
}

test_thread_stacks()
{
	local list=first
	ulimit -S -s 8192
	! since 5.17 || list='thread|first'
	pmm trace stack --json --top 0 --summary -- /prog/trace_depth 4 64 300 1000 >both
	grep -E "^($list) " both | cut -d' ' -f2- | sort >truth
	grep '^{' both >trace.json
	result '.thread_stacks[] | "\(.tid) \(.depth_bytes)"' | sort >table
	diff truth table || fail "depths differ"
	is "lost events" "$(result '.coverage | .lost_in_ring + .lost_in_tables')" 0
}
