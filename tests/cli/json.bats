#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# JSON of all commands, over made-up captures and real processes: it is what the schemas in doc/json/ say, complete, and doc/json.md has every key.

bats_require_minimum_version 1.5.0
load leaks

DEMO=$BATS_FILE_TMPDIR/demo.pmm
TREE=$BATS_FILE_TMPDIR/tree.pmm
LEAKS=$BATS_FILE_TMPDIR/leaks.pmm
CHECK=$BATS_FILE_TMPDIR/check.pmm
KERNEL=$BATS_FILE_TMPDIR/kernel.pmm
# what the documents of all tests here have
SEEN=$BATS_FILE_TMPDIR/seen
export TZ=UTC

setup_file() { golden_captures demo tree leaks check kernel; }

setup() {
	need jq
	/usr/bin/python3 -c 'import jsonschema' 2>/dev/null || skip "python3-jsonschema is not installed"
	echo "$BATS_TEST_NUMBER" >>"$BATS_FILE_TMPDIR/begun"
}

schema() { /usr/bin/python3 "$CLI/json_schema.py" "$@"; }

# valid NR FILE: so many documents, each what its schema says. "+": one or more.
valid() {
	local nr
	nr=$(schema check "$SEEN" "$2") || { echo "$nr"; return 1; }
	[ "$nr" = "$1" ] || { [ "$1" = + ] && [ "$nr" -ge 1 ]; } || { echo "$nr documents, not $1"; return 1; }
}

# says STATUS CMD...: pmm CMD, which ends with that status; its one document is valid, and in $T/json.
says() {
	local want=$1 status=0
	shift
	within "$PMM" "$@" >"$T/json" 2>"$T/said" </dev/null 3>&- 7>&- 8<&- || status=$?
	[ "$status" -eq "$want" ] || { echo "status $status: pmm $*"; cat "$T/said"; return 1; }
	valid 1 "$T/json"
}

# is WANTED FILTER: of the last document.
is() { json_is "$1" "$2" <"$T/json"; }

# made LINE...: the name of a capture of a recipe of these lines.
made() { capture_of made "$@" && echo "$T/made.pmm"; }

# recipe LINE...: the report of a heap made of that.
recipe() { says 0 report --json "$(made "$@")"; }

@test "json: the schemas are sound, and the page has each of their keys" {
	schema sound
	[ "$(schema page)" -gt 600 ]
	python3 "$ROOT/tools/json-doc" --check
}

@test "json: reports on recipes" {
	says 0 report --json --blocks --functions "$DEMO"
	is '{"sort":"peak","shape":"stacks"}' .selection
	says 0 report --json --top-down "$TREE"
	says 0 report --json --bottom-up --sort live "$TREE"
	says 0 report --json --bottom-up --depth 1 "$TREE"
	is '[1,["bottom-up"]]' '[.selection.depth, [.selection.shape]]'
	says 0 report --json --function 'main' --file x --module '*' "$TREE"
	is '["main","x","*",false]' '.selection | [.function, .file, .module, .passes_any]'
	says 0 report --json --thread worker --size 16:1K --age 1:5 "$DEMO"
	is '["worker",16,1024,1000000000,5000000000]' \
		'.selection | [.thread, .size_min_bytes, .size_max_bytes, .age_min_ns, .age_max_ns]'
	says 0 report --json --size 1: --age 0: "$DEMO"
	is '[false,false]' '.selection | [has("size_max_bytes", "age_max_ns")]'
	recipe 'process end=killed status=11' 'watch mode=sampled sample=4K' 'site main allocs=9 size=64' 'site - kind=mmap size=4K' \
		'site - allocs=2 size=8' 'totals missed-frees=2 skipped=3 skipped-bytes=30'
	is '["SIGSEGV",11]' '.process | [.signal_name, .signal]'
	recipe 'process end=killed status=40 forked'
	is '[40,false]' '.process | [.signal, has("signal_name")]'
	recipe 'process end=gone status=7 attached' 'drop block-full=1 site-full=2 ctx-full=3 nested=4 module-full=5 address=6' 'watch drift=7'
	is '["addresses_dropped","blocks_dropped","drift","modules_dropped","nested_dropped","stacks_dropped","threads_dropped"]' \
		'[.warnings[].code] | sort'
	recipe 'kmod over-limit=1 no-memory=2 overflows=3 torn=4 bad=5 sites-lost=6 replaced=7 foreign=8 double=9' 'site main allocs=2 size=8'
	is '["ring_overflows",3]' '[.warnings[0].code, .warnings[0].count]'
	is '["log",false,false,false,true,2]' '.totals | [.mode, has("allocated_bytes", "freed_bytes", "lost_bytes", "peak_ns"), .allocs]'
	recipe 'kmod evicted=4 lost=70 peak=900 peak-blocks=3' 'site main allocs=2 size=8'
	is '["entries_evicted",4]' '[.warnings[0].code, .warnings[0].count]'
	is '["log",16,0,70,900,false]' '.totals | [.mode, .allocated_bytes, .freed_bytes, .lost_bytes, .peak_bytes, has("peak_ns")]'
	recipe 'process taken=70000s' 'site main frees=1 life=60000s' 'module /lib/x.so load=1s unload=2s'
	is '[null,2000000000]' '[.lifetimes[-1].to_ns, .modules[-1].unload_ns]'
	recipe 'process attach=1s' 'usage-point 2s pss=1K' 'mark 2s name=a' 'check guard' 'site main size=1' \
		'finding type=overrun first=3s last=5s count=4 number=7'
	is '[[1000000000,null,null,1024],["fork",1,null,null,"a"],["error",4,7],["end",1,null]]' \
		'[(.usage_history[0] | [.time_ns, .threads, .anon_bytes, .pss_bytes]), (.marks[0] | [.what, .count, .error, .pid, .name]),
		(.marks[1:][] | [.what, .count, .error])]'
	recipe 'process end=running' 'point 5s live=100 blocks=1 allocs=1 rss=4M'
	recipe 'process end=replaced' 'generate sites=50 blocks=200 threads=3 points=20'
	for reason in 1 2 3 4 5 6 7 8 9 10; do recipe "watch off=$reason"; done
}

@test "json: what the kernel did, as far as it was traced" {
	local main real list
	says 0 report --json "$KERNEL"
	is '["kernel_events_dropped","kernel_events_lost","kernel_events_not_seen"]' '[.warnings[].code] | sort'
	is '[8000,2000,1000,500,300,150]' '[.kernel_fault_sites[].faults]'
	is 'true' '[.kernel_fault_sites, .kernel_fault_stacks] | map(map(.faults) | add) | .[0] == .[1] and .[0] == 11950'
	is 'true' '.kernel_fault_sites | all(.faults == ([.touched_by[].faults] | add))'
	is '[["block","block","mapping","nothing","nothing","unknown"],["private_file","stack"]]' \
		'[[.kernel_fault_sites[].of], ([.kernel_fault_sites[] | select(.of == "nothing").memory] | sort)]'
	is 'true' '[.kernel_events[] | select(.event != "fault")] | all(.records == .count)'
	# all events of the rows are in one of the lists, those of the agent in the first alone
	is 'true' '(.kernel_events | map(select(.event != "fault") | .count - .by_agent) | add) ==
		([.kernel_fault_sites[] | .major + .swap_ins] + [.kernel_calls[], .kernel_waits[], .kernel_others[] | .count] | add)'
	is '["fault","kind 99","major","memcg_reclaim","mmap","oom_kill","swap_in"]' '[.kernel_bins[].event] | unique'
	says 0 report --json --function main "$KERNEL"
	is 'false' '[has("kernel", "kernel_events", "kernel_bins", "kernel_calls")] | any'
	is '{"kernel_fault_sites":0,"kernel_fault_stacks":0,"kernel_calls":0,"kernel_waits":0}' \
		'.left_out | with_entries(select(.key | startswith("kernel")))'
	says 0 report --json "$DEMO"
	is 'false' '[keys[], (.left_out | keys[])] | any(startswith("kernel"))'
	for list in kernel_fault_sites kernel_fault_stacks kernel_calls kernel_waits; do
		says 0 report --json "$KERNEL"
		all=$(jq ".$list | map(select(.of != \"nothing\" and .of != \"unknown\")) | length" "$T/json")
		says 0 report --json --top 1 "$KERNEL"
		is "$all" ".left_out.$list + 1"
	done
	# a frame that has all names, of every list; one without any
	main=$(nm "$PROG/leaf" | awk '$3 == "main" { print $1 }')
	real="$PROG/leaf+0x$main"
	recipe "site $real size=8" 'site - size=8' 'kernel sample=16 no-stacks rows-lost=1 bins-lost=1 faults=9 major=1' \
		"event fault $real of=block site=$real" 'event fault - of=block site=-' 'event fault - area=stack' \
		"event mmap $real bytes=4K" 'event mmap -' "event memcg_reclaim $real took=5ms" 'event compaction -'
	is '["main","main","main","main","main"]' \
		'[.kernel_fault_sites[0], .kernel_fault_sites[0].touched_by[0], .kernel_fault_stacks[1], .kernel_calls[0], .kernel_waits[0]] | map(.function)'
	is '[16,9,1,false,false]' '.kernel | [.fault_sample, .page_faults, .major_faults, has("stacks", "why_not_seen")]'
}

@test "json: what is known of the allocator" {
	local why
	for why in changed busy many other shape several senseless denied gone long locked; do
		recipe "allocator /lib/x.so arena=1M used=1 free=2 at=1s arenas=2 source=memory why=$why" 'site main'
	done
	recipe 'allocator /lib/x.so arena=1M used=1 free=2 at=1s' 'site main'
	is '"mallinfo2"' .allocator.source
	recipe 'process end=killed status=9' 'site main'
	is '"killed"' .allocator.unknown
}

@test "json: all rows are there unless --top is given, and what it leaves out is counted" {
	local sort
	recipe "$(for i in $(seq 1 150); do echo "site main>f$i allocs=2 frees=1 size=$i"; done)" 'site main>gone allocs=1 frees=1 size=7' \
		"$(for i in $(seq 1 120); do echo "site main>m$i kind=mmap size=4K"; done)" \
		"$(for i in $(seq 1 70); do echo "thread t$i tid=$((5000 + i))"; done)" >/dev/null
	is '[151,120,71,{"lines":0,"functions":0,"blocks":0,"sites":0,"tree":0,"map_sites":0}]' \
		'[(.sites | length), (.map_sites | length), (.threads | length), .left_out]'
	is '150' '.lines | length'
	says 0 report --json --top 4 --blocks --functions "$DEMO"
	is '[4,4,1]' '[(.lines | length), (.blocks | length), (.map_sites | length)]'
	says 0 report --json --blocks --functions "$DEMO"
	for list in lines functions blocks sites map_sites; do
		all=$(jq ".$list | length" "$T/json")
		"$PMM" report --json --blocks --functions --top 1 "$DEMO" >"$T/top.json"
		[ "$(jq "(.$list | length) + .left_out.$list" "$T/top.json")" -eq "$all" ] || { echo "$list: not $all"; return 1; }
	done
	# also of what has nothing that the list is sorted by
	for sort in live temporary; do
		says 0 report --json --sort $sort --top 1 "$DEMO"
		is '[1,3,1]' '[(.sites | length), .left_out.sites, .selection.top]'
	done
	says 0 report --json --top-down --top 1 "$TREE"
	is 'true' '.left_out.tree > 0 and .left_out.tree == ([.tree[].more // 0] | add)'
}

@test "json: 200,000 sites, each once, in bounded time and memory" {
	local half whole nr
	# time and memory that grow with the square of the number would quadruple here
	need /usr/bin/time
	within /usr/bin/time -f '%U %M' -o "$T/half" "$PMM" report --no-symbols --json \
		"$(made 'generate sites=100750 blocks=1000 depth=3')" >/dev/null
	within /usr/bin/time -f '%U %M' -o "$T/whole" "$PMM" report --no-symbols --json \
		"$(made 'generate sites=201500 blocks=1000 depth=3')" >"$T/whole.json"
	# some of the stacks are alike or made nothing; a person is told of how many there are beside the first ten
	"$PMM" report --no-symbols --sort calls "$T/made.pmm" >"$T/text"
	nr=$(sed -n 's/^  \([0-9,]*\) more stacks (--top 0 shows all)$/\1/p' "$T/text" | tr -d ,)
	nr=$((nr + 10))
	[ "$nr" -ge 200000 ]
	[ "$(grep -c '^      "site": ' "$T/whole.json")" -eq "$nr" ]
	[ "$(grep '^      "site": ' "$T/whole.json" | sort -u | wc -l)" -eq "$nr" ]
	read -ra half <"$T/half"
	read -ra whole <"$T/whole"
	echo "100,000: ${half[*]}, 200,000: ${whole[*]} (s, KiB)"
	[ "${whole[1]}" -lt $((3 * half[1])) ]
	awk -v half="${half[0]}" -v whole="${whole[0]}" 'BEGIN { exit !(whole < 3 * half + 0.5) }'
}

@test "json: integers of 64 bits are exact, bad UTF-8 and control characters are harmless" {
	recipe 'site main allocs=1 bytes-in=9007199254740993' \
		$'site main>\e[31m\xc2\x9b\xe2\x80\xaex allocs=1 size=9' $'process cmdline="x\x07y"'
	grep -q '"allocated_bytes": 9007199254740993,' "$T/json"
	grep -qF '"?[31m?????x"' "$T/json"
	is '"x?y"' .process.cmdline
	"$PMM" run -q -o "$T/bad.pmm" -- "$PROG/maps" $'a\xff\e[31m\xc2\x9b\xe2\x80\xaeb' >/dev/null
	says 0 report --json "$T/bad.pmm"
	# a name that no capture has cleaned
	cp "$PROG/attach_outlive" "$T/"$'b\xff\e[2J\xc2\x9b'
	start "$T/"$'b\xff\e[2J\xc2\x9b'
	watched
	unwatch
	finish 0
	valid + "$T/lines"
	grep -qF $'"comm": "b\xef\xbf\xbd\\u001b[2J\\u009b"' "$T/lines"
}

@test "json: a real program with threads, mappings, modules" {
	track threads
	says 0 report --json --blocks --functions "$CAP"
	is '[9,8]' '[(.threads | length), ([.threads[] | select(.name | startswith("worker-"))] | length)]'
	says 0 report --json --top-down "$CAP"
	says 0 report --json --bottom-up "$CAP"
	track maps
	says 0 report --json "$CAP"
	track --sample=4K threads
	says 0 report --json --blocks "$CAP"
	is '"sampled"' .totals.mode
	for victim in coro cxx_host unload leaf; do
		[ ! -x "$PROG/$victim" ] || { track $victim; says 0 report --json --blocks --functions --sort calls "$CAP"; }
	done
}

@test "json: a running process, reported, searched again and again" {
	launch hold
	says 0 report --json "$PID"
	is '"running"' .process.end
	says 1 leaks --json "$PID"
	within "$PMM" leaks --json --show-bytes --every 200ms --count 3 "$PID" >"$T/every" 2>"$T/said" 3>&- 7>&- 8<&- || [ $? -eq 1 ]
	valid + "$T/every"
	says 1 leaks --json --top 1 --show all --stop "$PID"
	clean_of_search
	finish 0
}

@test "json: a program that only calls through pmm.h are known of" {
	local full=$(dirname "$PMM")/libpmm_shim.a
	[ -f "$full" ] || skip "libpmm_shim.a is not built"
	need cc
	(cd "$ROOT/tests/shim" && cc -I"$ROOT/include" -DPMM -std=gnu11 -O2 live.c "$full" -o "$T/live")
	mkfifo "$T/in" "$T/out"
	"$T/live" <"$T/in" >"$T/out" 2>"$T/err" 3>&- &
	VICTIM=$!
	exec 8>"$T/in" 9<"$T/out"
	next_line 9 "$VICTIM"
	says 0 report --json --blocks --functions "$VICTIM"
	is '{}' .mapping
	exec 8>&-
	wait "$VICTIM" || [ $? -eq 3 ]
}

@test "json: leaks of recipes, with --top, --show and suppressions" {
	local all shown
	says 1 leaks --json "$LEAKS"
	is '[10,{"certain":0,"likely":0,"growing":0,"unlikely":0,"suppressed":0,"others":0,"not_new":0}]' \
		'[([.certain, .likely, .growing, .unlikely, .suppressed, .others | length] | add), .left_out]'
	is '["indirect","possible","reachable"]' '[.others[].class] | unique'
	says 1 leaks --json --top 1 "$LEAKS"
	is '[1,1,1,6]' '[(.certain | length), .left_out.certain, (.others | length), .left_out.others]'
	says 1 leaks --json --show definite "$LEAKS"
	is '[2,0,0,2,5]' '[(.certain | length), (.others | length), .left_out.others, .left_out.certain, .left_out.unlikely]'
	says 1 leaks --json "$(made 'site - size=8' 'search copy complete' 'leak - definite bytes=8')"
	is '[]' .pools
	says 1 leaks --json "$(made 'process exe=/usr/bin/php8.2' 'site - size=8' 'search copy complete' 'leak - definite bytes=8')"
	is '[{"language":"PHP","setting":"USE_ZEND_ALLOC=0"}]' .pools
	is 0 .search.unjudged_sites
	printf '{\nknown\nMemcheck:Leak\nfun:*\nobj:*name*\n...\n}\n' >"$T/supp"
	within "$PMM" leaks --json --suppressions "$T/supp" "$LEAKS" >"$T/json" || [ $? -eq 1 ]
	valid 1 "$T/json"
}

@test "json: leaks of victims at their end, of a tree, of a core file" {
	local name
	for name in shapes habit threads freed inside data; do
		within "$PMM" leaks --json --report "$T/json" -- "$PROG/leak_$name" <<<g >/dev/null 2>&1 || true
		valid 1 "$T/json"
	done
	within "$PMM" leaks --json --report "$T/json" -- "$PROG/leak_tree" same 3 >/dev/null 2>&1 || true
	valid 1 "$T/json"
	is '[4,3]' '[.tree.processes, .certain[0].processes]'
	within "$PMM" leaks --json --report "$T/json" -- sh -c "'$PROG/leak_tree' lose 100; '$PROG/leaf_static'; perl -e 'kill 9, \$\$'; exec true" >/dev/null 2>&1 || true
	valid 1 "$T/json"
	is '[["leaf_static","static"],["perl","killed by SIGKILL"]]' '[.untracked[0], .not_looked_at[0] | [.program, .why]]'
}

@test "json: who holds blocks" {
	local name
	launch hold
	for name in make_entry make_name make_behind make_tls make_local make_in_register make_in_library make_ring; do
		within "$PMM" leaks --json --holds $name "$PID" >"$T/json" 2>"$T/said" 3>&- 7>&- 8<&- || [ $? -eq 1 ]
		valid 1 "$T/json"
		is '[0,0]' '.left_out | [.roots, .blocks]'
	done
	within "$PMM" leaks --json --top 1 --holds leak_hold.c "$PID" >"$T/json" 2>"$T/said" 3>&- 7>&- 8<&- || [ $? -eq 1 ]
	valid 1 "$T/json"
	is 'true' '.asked.blocks == ([.holders[].held_blocks] | add) + .left_out.blocks + .left_out.no_pointer_blocks + ([.totals[] | select(.class == "definite" or .class == "indirect").blocks] | add)'
	finish 0
	for name in threads tls kernel libc maps; do
		launch $name
		within "$PMM" leaks --json --holds leak_$name.c "$PID" >"$T/json" 2>"$T/said" 3>&- 7>&- 8<&- || [ $? -eq 1 ]
		valid 1 "$T/json"
		finish 0
	done
	${CC:-cc} -g -o "$T/two" -x c - <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		static char *volatile one, *volatile other;
		static char *make(void) { return malloc(100); }
		int main(void) { one = other = make(); puts("ready"); fflush(stdout); return getchar() < 0 ? 0 : 1; }
	END
	start_below "$PMM" run -q -o "$T/two.pmm" -- "$T/two"
	within "$PMM" leaks --json --holds make "$PID" >"$T/json" 3>&- 7>&- 8<&-
	valid 1 "$T/json"
	is '["variable one","variable other"]' '[.holders[0] | .text, .otherwise | sub(" \\(.*"; "")] | sort'
	finish 0
}

# checked OPTION... -- CMD...: its document, whatever it ends with.
checked() {
	rm -f "$T/json"
	(ulimit -c 0; cd "$T" && within "$PMM" check --json --report "$T/json" "$@" >"$T/out" 2>"$T/err" </dev/null) || true
	valid + "$T/json"
}

@test "json: heap errors of recipes, of every kind" {
	local type
	says 1 check --json --show-bytes "$CHECK"
	is '[7,0]' '[(.findings | length), .left_out.findings]'
	says 1 check --json --top 2 "$CHECK"
	is '[2,5]' '[(.findings | length), .left_out.findings]'
	for type in overrun underrun after-free double-free bad-free mismatch realloc-freed overlap size stack-overflow uninitialised wild other crash; do
		says 1 check --json "$(made 'check guard' "finding type=$type access=write place=stack address=10 block=8 block-size=8 site=main")"
	done
	is '"crash"' '.findings[0].type'
	for type in access function release quarantine sweep valgrind signal; do
		says 1 check --json "$(made 'check light' "finding type=overrun by=$type address=10 block=8 block-size=8")"
		is "\"$type\"" '.findings[0].by'
	done
}

@test "json: heap errors of programs" {
	local how
	checked --level=guard --budget all -- "$PROG/check_cases" behind after twice slack fill thread
	is '0' '.left_out.findings'
	checked --show-bytes --level=light -- "$PROG/check_cases" behind after twice slack hold hurt let
	checked --level=sampled -- "$PROG/check_cases" clean
	checked -- "$PROG/leak_tree" overrun 2
	is 'true' '.tree.processes == 4 and (.findings | length) >= 1 and (.findings[0].pids | length) >= 1'
	checked -- sh -c "'$PROG/check_cases' kill; '$PROG/check_cases' fork"
	checked -- "$PROG/check_crash" sent
	is '["SIGSEGV",true]' '[.check.ended_by, .check.sender_pid == .process.pid]'
	for how in constant no-address read-only-file aborts abort leaves overflow-caught past-file unmapped large-freed kill corrupted asserted; do checked -- "$PROG/check_crash" $how; done
	checked --exhaustive --budget all -- "$PROG/check_exact" late child
	is '["right","left","exact"]' '[.runs[].name]'
	if command -v valgrind >/dev/null; then checked --uninit -- "$PROG/check_cases" blank thread behind after; fi
}

@test "json: sweeps of a running process, each a document" {
	mkfifo "$T/in" "$T/out"
	"$PMM" check --report "$T/end" -- "$PROG/check_sweep" 40 <"$T/in" >"$T/out" 2>"$T/err" 3>&- &
	CHECKER=$!
	exec 8>"$T/in" 9<"$T/out"
	next_line 9 "$CHECKER"
	VICTIM=$LINE
	says 0 check --sweep --json "$VICTIM"
	"$PMM" check --sweep=100ms --count 1000 --json "$VICTIM" >"$T/sweeps" 2>"$T/said" 3>&- 8>&- 9<&- &
	SWEEPER=$!
	await -p "$SWEEPER" test -s "$T/sweeps"
	echo 5 20 >&8
	next_line 9 "$VICTIM"
	await -p "$SWEEPER" grep -q '"by": "sweep"' "$T/sweeps"
	kill -INT "$SWEEPER"
	wait "$SWEEPER" || [ $? -eq 1 ]
	valid 2 "$T/sweeps"
	says 1 check --sweep --json "$VICTIM"
	exec 8>&-
	next_line 9 "$CHECKER"
	wait "$CHECKER"
}

@test "json: damage that a sweep of a process has reported, and its release" {
	mkfifo "$T/in" "$T/out"
	"$PMM" check --report "$T/end" -- "$PROG/check_cases" hold hurt wait let wait <"$T/in" >"$T/out" 2>"$T/err" 3>&- &
	CHECKER=$!
	exec 8>"$T/in" 9<"$T/out"
	next_line 9 "$CHECKER"
	VICTIM=$(cat "/proc/$CHECKER/task/$CHECKER/children")
	VICTIM=${VICTIM%% *}
	"$PMM" check --sweep=50ms --count 1000 --json "$VICTIM" >"$T/sweeps" 2>"$T/said" 3>&- 8>&- 9<&- &
	SWEEPER=$!
	await -p "$SWEEPER" grep -q '"by": "sweep"' "$T/sweeps"
	echo >&8
	next_line 9 "$CHECKER"
	await -p "$SWEEPER" grep -q '"again": true' "$T/sweeps"
	kill -INT "$SWEEPER"
	wait "$SWEEPER" || [ $? -eq 1 ]
	valid 2 "$T/sweeps"
	exec 8>&-
	wait "$CHECKER" || [ $? -eq 5 ]
}

# watched OPTION...: pmm attach, its lines in $T/lines.
watched() {
	rm -f "$T/lines" "$T/watch.err"
	"$PMM" attach --json --interval 100ms "$@" "$PID" >"$T/lines" 2>"$T/watch.err" 3>&- 7>&- 8<&- &
	MONITOR=$!
	attached
}

line_of() { await -p "$MONITOR" grep -q -E -- "$1" "$T/lines" || { cat "$T/lines" "$T/watch.err"; return 1; }; }

@test "json: heap errors of a process that is watched: a line each, at once, as in its capture" {
	start attach_check
	watched --check --sample=1 --budget=all -o "$T/c.pmm"
	tell o over
	line_of '"event": "error".*"overrun"'
	tell d twice
	kill -INT "$MONITOR"
	wait "$MONITOR" || [ $? -eq 1 ]
	MONITOR=
	[ "$(jq 'select(.event == "detached").errors' "$T/lines")" -eq 2 ]
	valid + "$T/lines"
	# once: the text has the sum alone
	[ "$(grep -c -E 'overrun|freed already' "$T/watch.err")" -eq 1 ]
	grep -q '^  found    2 errors: 1 heap overrun, 1 double free' "$T/watch.err"
	"$PMM" check --json "$T/c.pmm" >"$T/json" || [ $? -eq 1 ]
	jq -S '[.findings[] | del(.count, .last_ns)] | sort_by(.type)' "$T/json" >"$T/kept"
	jq -S -s 'map(select(.event == "error").finding | del(.count, .last_ns)) | sort_by(.type)' "$T/lines" >"$T/told"
	diff "$T/kept" "$T/told"
	[ "$(jq length "$T/kept")" -eq 2 ]
	# one clock for all of it; that of findings has steps of 10 ms, counted from the one of the start
	jq 'select(.event == "error") | .time_ns + 10000000 > .finding.last_ns' "$T/lines" >"$T/later"
	[ "$(cat "$T/later")" = $'true\ntrue' ]
	[ "$(jq 'select(.event == "site" or .event == "detached") | .time_ns' "$T/lines" | sort -u)" = "$(jq .process.run_ns "$T/json")" ]
	[ "$(jq 'select(.event == "detached") | .seen_ns' "$T/lines")" = "$(jq .process.run_ns "$T/json")" ]
	finish 42
}

@test "json: a process that is watched" {
	start attach_outlive
	watched --expire 500ms
	tell l leaked
	line_of '"event": "expired".*"number": 1'
	tell l leaked
	line_of '"event": "again"'
	tell h held
	line_of '"event": "expired".*"number": 2'
	tell u freed
	line_of '"event": "freed"'
	unwatch
	valid + "$T/lines"
	watched --expire 1m
	tell l leaked
	line_of '"event": "totals".*"allocs": 3'
	unwatch
	valid + "$T/lines"
	watched --expire 500ms --top 1
	tell m many
	line_of '"number": 30,'
	unwatch
	valid + "$T/lines"
	[ "$(jq -s 'map(select(.event == "site")) | length' "$T/lines")" -eq 1 ]
	[ "$(jq 'select(.event == "detached").sites_left_out' "$T/lines")" -ge 29 ]
	watched --expire 500ms
	tell m many
	line_of '"number": 30,'
	unwatch
	valid + "$T/lines"
	[ "$(jq -s 'map(select(.event == "site")) | length' "$T/lines")" -ge 30 ]
	[ "$(jq 'select(.event == "detached").sites_left_out' "$T/lines")" -eq 0 ]
	[ "$(jq 'select(.event == "detached") | has("errors")' "$T/lines")" = false ]
	finish 0
	cp "$PROG/attach_outlive" "$T/stripped"
	strip -s "$T/stripped"
	start "$T/stripped"
	watched --expire 1m
	tell l leaked
	line_of '"event": "totals".*"allocs": 3'
	unwatch
	valid + "$T/lines"
	finish 0
}

@test "json: a process that grows" {
	start attach_outlive
	prlimit --pid "$PID" --data=20000000
	watched --expire 5
	tell g grows
	tell c fills
	line_of '"event": "growth".*"verdict": "steady"'
	unwatch
	valid + "$T/lines"
	jq -e -s 'any(.event == "site" and .growth.evidence)' "$T/lines"
	finish 0
}

@test "json: comparisons" {
	local lines=('module app build-id=11' 'site app+0x10>app+0x20 allocs=10 size=1000' 'site - allocs=2 size=8')
	made "${lines[@]}" 'search exit complete' >/dev/null && mv "$T/made.pmm" "$T/a.pmm"
	made "${lines[@]}" 'site app+0x10>+0x7700 size=9' 'site app+0x10>app+0x30 allocs=3 frees=1 size=70 temporary=1' 'site - size=5' 'totals peak=1M' \
		'watch mode=sampled sample=4K' 'search exit complete' 'leak - definite bytes=5' >/dev/null && mv "$T/made.pmm" "$T/b.pmm"
	says 0 diff --json "$T/a.pmm" "$T/b.pmm"
	is '["estimates","other_mode","unknown_stacks","unknown_stacks"]' '[.warnings[].code] | sort'
	says 1 diff --json --sort temporary --top 1 --fail-on 'line.leaked>0' --fail-on 'temporary>0' "$T/a.pmm" "$T/b.pmm"
	says 0 diff --json --sort peak --function main --file x --module '*' "$T/a.pmm" "$T/b.pmm"
	says 0 diff --json --thread main --size 16:1K --age 1:5 "$T/a.pmm" "$T/b.pmm"
	says 0 diff --json --size 1: --age 0: "$T/a.pmm" "$T/b.pmm"
	track classes && mv "$CAP" "$T/c.pmm"
	says 1 diff --json --fail-on 'line.live>0' "$T/a.pmm" "$T/c.pmm"
	is '["other_program",null]' '.warnings[0] | [.code, .side]'
}

@test "json: profiles of other tools" {
	printf 'heap_v2/1\n@ 0x401000\n  t*: 2: 64 [0: 0]\n\nMAPPED_LIBRARIES:\n' >"$T/jemalloc"
	says 0 report --json "$T/jemalloc"
	is '{"tool":"jemalloc","allocated":false,"history":false,"comm":"","cmdline":""}' .import
	is '[64,2,null]' '.totals | [.live_bytes, .live_blocks, .peak_bytes]'
	printf 'v 10400 3\nX /bin/p -q\ns 1 f\ni 10 0 1\nt 1 0\na 8 1\nc 5\n+ 0\nc f\n' >"$T/heaptrack"
	says 0 report --json "$T/heaptrack"
	is '{"tool":"heaptrack","allocated":true,"history":true,"comm":"p","cmdline":"/bin/p -q","run_ns":15000000}' .import
	within "$PMM" report --format pprof -o "$T/pprof" "$DEMO" 2>/dev/null
	says 0 report --json "$T/pprof"
	is '[1700000000,true]' '[.import.start_realtime_ns / 1e9, .import.allocated]'
}

@test "json: growth over captures" {
	local i
	for i in 1 2 3; do
		made "process taken=$((20 + i))s" "site app+0x10>app+0x20 allocs=$((10 * i)) size=1000" \
			"site app+0x10>+0x7700 allocs=$i size=9" "site - allocs=$i size=3" >/dev/null
		mv "$T/made.pmm" "$T/$i.pmm"
		track classes && mv "$CAP" "$T/real$i.pmm"
	done
	says 0 diff --trend --json "$T/1.pmm" "$T/2.pmm" "$T/3.pmm"
	is '["hour",true]' '[.selection.per, .total.steady]'
	says 0 diff --trend --json --sort calls "$T/1.pmm" "$T/real1.pmm" "$T/real2.pmm" "$T/real3.pmm"
}

@test "json: budgets" {
	printf '%s\n' '[*]' 'allocations = 0' 'leaked = 0' 'peak = 1G' 'module.none.peak = 0' >"$T/budget"
	says 1 budget -f "$T/budget" --json "$(made 'site app+0x10>app+0x20 allocs=10 size=1000' 'site - allocs=2 size=8')"
	is '[1,1,2]' '[.totals.kept, .totals.exceeded, .totals.not_measured]'
	echo 'leak:app' >"$T/supp"
	says 1 budget -f "$T/budget" --suppressions "$T/supp" --json "$(made 'module app build-id=11' \
		'site app+0x10>app+0x20 allocs=10 size=1000' 'search exit complete' 'leak app+0x10>app+0x20 definite blocks=2 bytes=2000')"
	is '[[2000,2],[null,null]]' '[.budgets[:3][] | select(.key != "allocations") | [.suppressed_bytes, .suppressed_blocks]]'
	track classes
	says 1 budget -f "$T/budget" --json "$CAP"
}

@test "json: the doctor" {
	within "$PMM" doctor --json >"$T/json" || [ $? -eq 1 ]
	valid 1 "$T/json"
	# without rights each event has its reason
	[ "$(id -u)" -ne 0 ] || within setpriv --reuid=65534 --regid=65534 --clear-groups "$PMM" doctor --json >"$T/json" || [ $? -eq 1 ]
	valid 1 "$T/json"
}

# No device here: the unit test prints what it compares.
@test "json: the kernel module's processes and events" {
	local test=${PMM%/pmm}/tests/unit/test_kmod_view
	[ -x "$test" ] || skip "the unit tests are not built"
	"$test" status >"$T/json"
	valid 1 "$T/json"
	is '[5,"exited",3,null]' '.processes[1] | [.pid, .state, .exit_status, .resident_bytes]'
	is '["ring_overflows",3]' '.warnings[0] | [.code, .count]'
	"$test" watch >"$T/json"
	valid 10 "$T/json"
}

@test "json: every key that can be missing was there and was missing in the tests above" {
	[ "$(sort -u "$BATS_FILE_TMPDIR/begun" | wc -l)" -eq "$BATS_TEST_NUMBER" ] || skip "not all tests of this file were run"
	schema seen "$SEEN" attach budget check common diff diff-trend doctor holds kmod-status kmod-watch leaks report
}
