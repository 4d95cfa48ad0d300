# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace kernel, rss, cache: what differs between kernels.

# by FUNCTION FILTER: of the rows of allocations that this function has asked for.
by() { result "[.kernel_stacks[] | select(.stack | test(\";$1[+]0x[0-9a-f]+\$\"))] | $2"; }

# pmm trace to the end of its command.
traced_to_end() { pmm trace "$@" >trace.json 2>err || { cat err; fail "pmm trace $*: $?"; }; }

test_whether_they_work()
{
	pmm trace --list --json >trace.json
	for event in kernel rss cache; do
		is "$event" "$(jq -c ".events[] | select(.event == \"$event\") | [.works, .why]" trace.json)" '["yes",null]'
	done
}

test_kernel_memory()
{
	traced_to_end kernel --json --top 0 --sample 1 --older 1ns -- /prog/trace_kernel keep 100
	kill "$(head -n 1 trace.json)"
	result '.coverage, .kernel, .kernel_sorts'
	is "pipes and their buffers" "$(by alloc_pipe_info 'map(.objects) | add')" 200
	is "the same, by age" "$(by alloc_pipe_info 'map(.old_objects) | add')" 200
	is "freed" "$(by alloc_pipe_info 'map(.freed) | add')" 0
	is "files" "$(by '(alloc_empty_file|__alloc_file)' 'map(select(.stack | test("pipe"))) | map(.objects) | add')" 200
	is "not followed" "$(result '.kernel.not_followed')" 0
	if since 6.1; then
		is "names of caches" "$(result '[.kernel_caches[] | select(.cache == "filp") | .objects >= 200] | any')" true
	fi
	is "per-CPU memory" "$(result '.kernel_sorts[] | select(.sort == "per-CPU") | .allocated >= 0')" true
	traced_to_end kernel --json --top 0 --sample 1 -- /prog/trace_kernel loop 300
	is "closed pipes" "$(by alloc_pipe_info 'map(.allocated, .objects) | add')" 600
}

# Until 6.1 a thread keeps up to 64 pages of each kind to itself.
test_resident_size()
{
	traced_to_end rss --json --top 0 -- /prog/trace_pages rss 8
	result '.coverage, .resident'
	anonymous=$(awk '$1 == "Anonymous:" { print $2 * 1024 }' err)
	if since 6.12; then
		is "anonymous" "$(result '.resident[0].anonymous_bytes')" "$anonymous"
		is "all" "$(result '.resident[0].resident_bytes')" "$(awk '$1 == "Rss:" { print $2 * 1024 }' err)"
	else
		between "anonymous" "$(result '.resident[0].anonymous_bytes')" $((anonymous - 64 * 4096)) $((anonymous + 64 * 4096))
	fi
	between "lines" "$(jq -c 'select(.event == "rss" and .kind == "anonymous")' trace.json 2>jq.err | wc -l)" 7 8
}

test_page_cache()
{
	mkdir -p ram
	mount -t ramfs none ram
	mkdir ram/sub
	traced_to_end cache --json --top 0 -- sh -c 'dd if=/dev/zero of=ram/sub/file bs=4096 count=300 2>/dev/null; rm ram/sub/file'
	result '.coverage, .cache_files, .cache_processes'
	umount ram
	file='.cache_files[] | select(.file | endswith("/ram/sub/file"))'
	is "added" "$(result "$file | .added_bytes")" $((300 * 4096))
	is "removed" "$(result "$file | .removed_bytes")" $((300 * 4096))
	is "by dd" "$(result '.cache_processes[] | select(.command == "dd") | .added_bytes')" $((300 * 4096))
	is "lines" "$(events cache_add true length)" 1
	is "events" "$(result .coverage.seen)" 600
}
