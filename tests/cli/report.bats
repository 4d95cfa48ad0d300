#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm report on captures made of recipes: every figure expected here follows from the recipe by hand.

load lib

GOLDEN=$BATS_TEST_DIRNAME/golden
DEMO=$BATS_FILE_TMPDIR/demo.pmm
TREE=$BATS_FILE_TMPDIR/tree.pmm
export TZ=UTC

setup_file() { golden_captures demo tree; }

# report ARG...: its standard output; fails unless it ends with 0 and without messages.
report() {
	"$PMM" report "$@" 2>"$T/said" || { echo "status $?"; cat "$T/said"; return 1; }
	[ ! -s "$T/said" ] || { cat "$T/said"; return 1; }
}

# section TITLE: of a report on stdin, from the line TITLE to the next empty one.
section() { awk -v title="$1" '$0 == title { on = 1 } on && !length { exit } on'; }

# is WANTED FILTER ARG...: the report's JSON. refuses STATUS TEXT ARG...: there is none.
is() { report --json "${@:3}" | json_is "$1" "$2"; }
refuses() { refused_with "$1" "$2" "$PMM" report "${@:3}"; }

@test "report: the text is the golden text" {
	LC_ALL=C.UTF-8 report --sort live "$DEMO" >"$T/demo.txt"
	diff -u "$GOLDEN/demo.txt" "$T/demo.txt"
}

@test "report: there is no graph where nobody has looked meanwhile" {
	report "$DEMO" >"$T/text"
	[ "$(grep -c '^Live bytes over time' "$T/text")" -eq 1 ]
	report "$TREE" >"$T/text"
	[ "$(grep -c '^Live bytes over time' "$T/text")" -eq 0 ]
	is '[[0,10000000000],[0,10000]]' '.history | [.time_ns, .live_bytes]' "$TREE"
}

@test "report: call trees, both ways" {
	report --top-down "$TREE" | section "Call tree by live bytes" | diff -u "$GOLDEN/tree.top-down.txt" -
	report --bottom-up "$TREE" | section "Callers by live bytes" | diff -u "$GOLDEN/tree.bottom-up.txt" -
	report --top-down --depth 1 "$TREE" | section "Call tree by live bytes" | diff -u <(head -3 "$GOLDEN/tree.top-down.txt") -
}

@test "report: trees in JSON have depth, sums and what is their own" {
	is '[[0,10000,20,0],[1,9000,18,0],[2,6000,12,2000],[3,4000,8,4000],[2,3000,6,0],[3,3000,6,3000],[1,1000,2,1000]]' \
		'[.tree[] | [.depth, .value_bytes, .value_count, .self_bytes]]' --top-down "$TREE"
	is '[["main",100],["serve",90],["+1",10]]' \
		'[.tree[] | [.module // "+\(.more)", .share_percent]]' --top-down --top 1 --depth 2 "$TREE"
}

@test "report: the schema's keys are the documented ones" {
	report --json --blocks "$DEMO" | jq -r '
		[.. | objects] as $all | to_entries[] | select(.key != "schema")
		| "\(.key): \([.value | if type == "array" then .[] else . end | keys[]] | unique | join(" "))"' |
		sort >"$T/keys"
	is '"pmm-report/1.5"' .schema "$DEMO"
	# rows that the demo has none of keep their place with no keys
	sed -i 's/^warnings: $/warnings: code count text/' "$T/keys"
	diff -u "$GOLDEN/keys.txt" "$T/keys"
}

@test "report: totals and process" {
	is '[4242,17,"demo","/usr/bin/demo","demo --fast input.txt","box","exited",3,"exec"]' \
		'.process | [.pid,.ppid,.comm,.exe,.cmdline,.host,.end,.exit_status,.began]' "$DEMO"
	is '[1700000000,1700000020,20]' \
		'.process | [.start_realtime_ns,.taken_realtime_ns,.run_ns | . / 1e9]' "$DEMO"
	is '["exact",96344,109,1144920,10000000000,1144920,110]' \
		'.totals | [.mode,.live_bytes,.live_blocks,.peak_bytes,.peak_ns,.peak_accounted_bytes,.peak_accounted_blocks]' "$DEMO"
	is '[155,46,2198776,2102432,7.75,30,1,1,0,7,4]' \
		'.totals | [.allocs,.frees,.allocated_bytes,.freed_bytes,.allocs_per_second,.temporary,.failed,.zero_size,.huge,.untracked_frees,.sites]' "$DEMO"
}

@test "report: each sort puts its site first" {
	is '"libc.so.6"' '.sites[0].frames[0].module | sub(".*/"; "")' --sort live "$DEMO"
	# by default: it ended with less than a tenth of its peak, so that is what counts
	is '"big"' '.sites[0].module' "$DEMO"
	is '["big",1048576,1]' '.sites[0] | [.module,.peak_bytes,.peak_blocks]' --sort peak "$DEMO"
	is '["big",2097152]' '.sites[0] | [.module,.allocated_bytes]' --sort allocated "$DEMO"
	is '["libxalloc.so",100]' '.sites[0] | [.module,.allocs]' --sort calls "$DEMO"
	is '["names",30,60]' '.sites[0] | [.module,.temporary,.temporary_percent]' --sort temporary "$DEMO"
	is '[4,1]' '[(.sites | length), ([.sites[] | select(.module == "big")] | length)]' --top 0 "$DEMO"
	is '4' '.sites | length' --sort live "$DEMO"
	is '1' '.sites | length' --top 1 "$DEMO"
}

@test "report: a site's figures, lifetimes and stack" {
	is '[96000,96,96000,96,100000,4000,100,4,0,1000,1000,2000000000,12000000000]' \
		'.sites[0] | [.live_bytes,.live_blocks,.peak_bytes,.peak_blocks,.allocated_bytes,.freed_bytes,.allocs,.frees,.temporary,.mean_bytes,.max_bytes,.first_ns,.last_ns]' --sort live "$DEMO"
	is '[30,0,10,0]' '.sites[1].lifetimes[:4]' --sort live "$DEMO"
	is '["0x98765","libxalloc.so","parse","load","main"]' \
		'.sites[0].frames | [.[0].module_offset] + [.[1:][].module]' --sort live "$DEMO"
	is '["runtime","program"]' '[.sites[0].frames[:2][].role]' --sort live "$DEMO"
	is '[["libxalloc.so",96000],["names",320],[null,24]]' '[.lines[] | [.module,.value_bytes]]' --sort live "$DEMO"
}

@test "report: size classes, allocator, mappings, threads, lifetimes" {
	is '[["<=16",3,0,0,0,24,0,24,0],["<=256",50,0,0,40,1600,1280,320,0],["<=1024",0,100,0,4,100000,4000,96000,0],["larger",0,0,2,2,2097152,2097152,0,1],["total",53,100,2,46,2198776,2102432,96344,1]]' \
		'[.size_classes[] | select((.calls // 0) > 0) | [.class,.malloc,.calloc,.realloc,.free,.allocated_bytes,.freed_bytes,.in_use_bytes,.failed]]' "$DEMO"
	is '["untracked",7]' '.size_classes[-1] | [.class,.free]' "$DEMO"
	is '[1081344,102400,978944,12,135168,1,524288]' \
		'.allocator | [.arena_bytes,.used_bytes,.free_bytes,.free_chunks,.mmapped_bytes,.mmapped_chunks,.top_bytes]' "$DEMO"
	is '[3,196608,2,1,65536,4,131072,65536,5,1081344,2097152]' \
		'.mapping | [.mmap_calls,.mmap_bytes,.mmap_failed,.munmap_calls,.munmap_bytes,.mremap_calls,.mremap_grown_bytes,.mremap_shrunk_bytes,.brk_calls,.brk_growth_bytes,.brk_peak_bytes]' "$DEMO"
	is '[["map",131072,2,3]]' '[.map_sites[] | [.module,.live_bytes,.live_blocks,.allocs]]' "$DEMO"
	is '[["main",55,42],["worker",100,4]]' '[.threads[] | [.name,.allocs,.frees]]' "$DEMO"
	is '[[0,30],[20000000,10],[640000000,2],[2560000000,4]]' \
		'[.lifetimes[] | select(.frees > 0) | [.from_ns,.frees]]' "$DEMO"
	is '[109,4096,2097152,67108864]' '.ledger | [.slots_used,.slots,.ledger_bytes,.limit_bytes]' "$DEMO"
}

@test "report: history has its peak and its end" {
	is '[[0,5000000000,10000000000,15000000000,20000000000],[0,200000,1144920,100000,96344],2]' \
		'.history | [.time_ns,.live_bytes,.peak_index]' "$DEMO"
	is '[[5000000000,64,2]]' '[.site_history[] | [.time_ns,.live_bytes,.live_blocks]]' "$DEMO"
}

@test "report: blocks are listed with entry, age and time" {
	is '109' '.blocks | length' --blocks --top 0 "$DEMO"
	is '[1,1000,"calloc","worker",4243,18,1700000002]' \
		'.blocks[0] | [.number,.size_bytes,.entry,.thread,.tid,(.age_ns,.born_realtime_ns | . / 1e9)]' --blocks "$DEMO"
	is '[10,[32]]' '[(.blocks | length), ([.blocks[].size_bytes] | unique)]' --blocks --top 0 --size 9:999 "$DEMO"
	report --blocks --top 1 "$DEMO" | grep -q '^  1  1000 B  0x[0-9a-f]*  calloc  18.0 s  2023-11-14 22:13:22  libxalloc.so+0x10$'
	report --blocks --top 1 "$DEMO" | grep -q '^  108 more blocks'
}

@test "report: filters" {
	is '[["libxalloc.so",96000]]' '[.sites[] | [.module,.live_bytes]]' --thread worker "$DEMO"
	is '[["libxalloc.so",96000]]' '[.sites[] | [.module,.live_bytes]]' --thread 4243 "$DEMO"
	is '[["names",320],[null,24]]' '[.sites[] | [.module,.live_bytes]]' --size :999 "$DEMO"
	is '[96000,320]' '[.sites[].live_bytes]' --module load "$DEMO"
	is '[]' '.sites' --module nowhere "$DEMO"
	# made at 500 ms, 1 s, 3 s, 5 s: unknown 3, names 2 born by 5 s of 1, 3 ... 19 s; parse from 2 s on, each 10/95 s
	is '[[null,3],["names",1]]' '[.sites[] | [.module,.live_blocks]] | sort' --age 18.5 "$DEMO"
	report --module load "$DEMO" | grep -q "^  only     module 'load'$"
	[ "$(report --module load "$DEMO" | grep -c 'Threads by')" -eq 0 ]
}

@test "report: sampled figures carry their error" {
	capture_of sampled 'watch mode=sampled sample=1000' 'site main allocs=4 size=1000 samples-in=4'
	# 1.959964 * sqrt(4 * 920673.60) = 3761.2
	is '["sampled",1000,3761]' '.totals | [.mode,.sample_bytes,.live_error_bytes]' "$T/sampled.pmm"
	report "$T/sampled.pmm" | grep -q 'sampled every 1000 B: .* within 3.67 KiB'
	report "$T/sampled.pmm" | grep -q 'from 4 samples; live within 3.67 KiB'
}

@test "report: what is missing is said" {
	capture_of lost 'process taken=1s' 'drop block-full=5 bytes=100' 'watch off=2 min-size=32' 'totals skipped=3 skipped-bytes=30' 'site main size=64'
	is '[["tracking_stopped",1],["blocks_dropped",5],["skipped",3]]' '[.warnings[] | [.code,.count]]' "$T/lost.pmm"
	report "$T/lost.pmm" | grep -q '^  !  5 blocks were not recorded: the ledger reached its limit'
	"$PMM" report --format csv "$T/lost.pmm" 2>&1 >/dev/null | grep -q '^  !  5 blocks were not recorded: the ledger reached its limit'
}

@test "report: an empty heap has a report" {
	capture_of empty ''
	report "$T/empty.pmm" | grep -q '^  live     0 B in 0 blocks at the end$'
	is '[[],[],0]' '[.sites,.lines,.totals.live_bytes]' "$T/empty.pmm"
}

@test "report: nothing from a capture reaches the terminal raw" {
	capture_of evil $'process comm=a cmdline="x\033[2J\033]0;owned\007y"' $'thread t\033[31m' $'site main\033[31m size=1'
	report --blocks "$T/evil.pmm" >"$T/out"
	[ "$(LC_ALL=C grep -cP '[\x00-\x09\x0b-\x1f\x7f]' "$T/out")" -eq 0 ]
	grep -qxF 'x?[2J?]0;owned?y' "$T/out"
	report --json --blocks "$T/evil.pmm" | jq -e . >"$T/json"
}

@test "report: wishes that do not go together" {
	refuses 2 "'--sort peak' cannot be used with" --sort peak --thread main "$DEMO"
	refuses 2 "'--sort allocated' cannot be used with" --sort allocated --size 1K "$DEMO"
	refuses 2 "'--top-down' and '--bottom-up'" --top-down --bottom-up "$DEMO"
	refuses 2 "'--blocks' cannot be used with" --blocks --bottom-up "$DEMO"
	refuses 2 "'--function' needs symbols" --no-symbols --function main "$DEMO"
	refuses 2 "" --sort size "$DEMO"
	refuses 2 "" --size 10:5 "$DEMO"
	refuses 2 "" --top many "$DEMO"
	refuses 2 ""
	refuses 3 "no thread matches 'nobody'" --thread nobody "$DEMO"
}

@test "report: captures that cannot be read" {
	refuses 3 "no/such" "$T/no/such.pmm"
	head -c 5000 /dev/urandom >"$T/noise.pmm"
	refuses 3 "noise.pmm" "$T/noise.pmm"
}

@test "report: output that cannot be written" {
	local status=0
	"$PMM" report "$DEMO" >/dev/full 2>"$T/said" || status=$?
	[ "$status" -eq 3 ]
	grep -q "^pmm: cannot write the report: No space left" "$T/said"
	status=0
	"$PMM" report --json "$DEMO" >/dev/full 2>"$T/said" || status=$?
	[ "$status" -eq 3 ]
}

@test "report: all of a long list" {
	capture_of long 'generate sites=3000 blocks=50000 depth=20'
	[ "$(report --no-symbols --json --top 0 --blocks "$T/long.pmm" | jq '.blocks | length')" -eq 50000 ]
}

@test "report: a million blocks at 50,000 sites fit in 300 MB" {
	capture_of large 'generate sites=50000 blocks=1000000 depth=20 modules=8 threads=4 points=500'
	(ulimit -v 600000; report --no-symbols "$T/large.pmm" >"$T/out")
	grep -q 'in 1,000,000 blocks' "$T/out"
	(ulimit -v 600000; report --no-symbols --json "$T/large.pmm" >"$T/json")
	grep -q '^    "live_blocks": 1000000,$' "$T/json"
	[ "$(grep -c '^      "site": ' "$T/json")" -eq 50000 ]
	is '[1000000,10]' '[.totals.live_blocks, (.sites | length)]' --no-symbols --top 10 "$T/large.pmm"
}

@test "report: functions with all they call, wrappers stepped over" {
	"$PMM" run -q -o "$T/r.pmm" -- "$PROG/recurse"
	report --json --functions --top 0 "$T/r.pmm" | jq -c '[.functions[] | select(.function == "main" or .function == "down" or .function == "bottom")
		| [.function, .value_bytes, .value_count]]' >"$T/out"
	# the deep stacks are cut: only the shallow one of down() reaches main()
	[ "$(jq -c '.[] | select(.[0] == "down")' "$T/out")" = '["down",1701,101]' ]
	[ "$(jq -c '.[] | select(.[0] == "bottom")' "$T/out")" = '["bottom",1,1]' ]
	"$PMM" run -q -o "$T/l.pmm" -- "$PROG/leaf"
	report --json "$T/l.pmm" | jq -e '.lines[0].function == "kept"'
	report --json --skip-fn 'ke?t' "$T/l.pmm" | jq -e '.lines[0].function == "main"'
}

# Stacks with names longer than any line.
@test "report: as wide as the terminal, as COLUMNS or --width say; whole in files" {
	local name
	name=$(printf 'f%.0s' {1..300})
	capture_of wide "site main>$name allocs=1 size=100"
	stacks() { report "$@" "$T/wide.pmm" | grep '%.*fff'; }
	[ "$(stacks | grep -c "$name")" -eq 2 ]
	[ "$(stacks | grep -c …)" -eq 0 ]
	[ "$(stacks --width 80 | grep -c -E '^.{78,80}$')" -eq 2 ]
	[ "$(COLUMNS=120 stacks | grep -c -E '^.{118,120}$')" -eq 2 ]
	[ "$(COLUMNS=120 stacks --width 400 | grep -c "$name")" -eq 2 ]
	[ "$(COLUMNS=much stacks | grep -c "$name")" -eq 2 ]
	need script
	script -qec "stty cols 90; '$PMM' report $T/wide.pmm" /dev/null </dev/null | sed 's/\x1b\[[0-9;]*m//g' | tr -d '\r' | grep '%.*fff' >"$T/tty"
	[ "$(grep -c -E '^.{88,90}$' "$T/tty")" -eq 2 ]
}
