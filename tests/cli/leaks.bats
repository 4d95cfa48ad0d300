#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm leaks on captures made of recipes: verdicts, figures and forms follow from the recipe by hand.

load lib

GOLDEN=$BATS_TEST_DIRNAME/golden
LEAKS=$BATS_FILE_TMPDIR/leaks.pmm
export TZ=UTC

setup_file() { golden_captures leaks; }

# leaks STATUS ARG...: its standard output; fails unless it ends with STATUS and without messages.
leaks() {
	local want=$1 status=0
	shift
	"$PMM" leaks "$@" 2>"$T/said" || status=$?
	[ "$status" -eq "$want" ] || { echo "status $status"; cat "$T/said"; return 1; }
	[ ! -s "$T/said" ] || { cat "$T/said"; return 1; }
}

# is WANTED FILTER ARG...: the verdict's JSON. refuses STATUS TEXT ARG...: there is none.
is() { "$PMM" leaks --json "${@:3}" | json_is "$1" "$2"; }
refuses() { refused_with "$1" "$2" "$PMM" leaks "${@:3}"; }

@test "leaks: the text is the golden text" {
	LC_ALL=C.UTF-8 leaks 1 --show=all "$LEAKS" >"$T/leaks.txt"
	diff -u "$GOLDEN/leaks.txt" "$T/leaks.txt"
}

@test "leaks: reasons are read whole in the narrowest terminal" {
	leaks 1 --show=all "$LEAKS" | tr -s ' \n' ' ' >"$T/out"
	"$PMM" leaks --json --show=all "$LEAKS" | jq -r '.certain[], .likely[], .growing[], .unlikely[] | .why' >"$T/why"
	[ "$(wc -l <"$T/why")" -eq 10 ]
	while read -r line; do grep -qF -- "$line" "$T/out" || { echo "missing: $line"; return 1; }; done <"$T/why"
	[ "$(leaks 1 --show=all "$LEAKS" | awk '{ if (length > n) n = length } END { print n }')" -le 110 ]
}

@test "leaks: what is listed, and in which order" {
	is '["libxalloc.so","name"]' '[.certain[].module]' "$LEAKS"
	is '["queue"]' '[.growing[].module]' "$LEAKS"
	is '[[],[]]' '[.likely, .unlikely | [.[].module]]' "$LEAKS"
	lists() { is "$1" '[.certain, .likely, .growing, .unlikely | [.[].module]]' "${@:2}" "$LEAKS"; }
	lists '[["libxalloc.so","name"],[],[],[]]' --show=definite
	lists '[["node","text"],[],[],[]]' --show=indirect
	lists '[[],[],[],["view","young"]]' --show=possible
	lists '[[],[],["queue"],["full","node","hub"]]' --show=reachable
	lists '[[],[],["queue"],[]]' --show=growing
	lists '[[],[],[],[]]' --show=likely
	lists '[[],["queue"],[],[]]' --show=likely --old 1900ms
	lists '[["libxalloc.so"],[],["queue"],["full"]]' --show=all --top 1
}

@test "leaks: what is possibly lost is a line unless it is asked for" {
	leaks 1 "$LEAKS" >"$T/out"
	grep -q '^  160 B in 6 blocks at 2 sites: possibly lost, and nothing else speaks for leaks (--show=possible lists them)$' "$T/out"
	[ "$(grep -c 'view+0x10' "$T/out")" -eq 0 ]
	leaks 1 --show=possible "$LEAKS" >"$T/out"
	[ "$(grep -c 'nothing else speaks for leaks' "$T/out")" -eq 0 ]
	grep -q 'view+0x10' "$T/out"
}

@test "leaks: figures of entries and sums" {
	is '[["definite",313,4,2],["indirect",2940,126,2],["possible",160,6,2],["reachable",616288,1611,4],["suppressed",0,0,0]]' \
		'[.totals[] | [.class, .bytes, .blocks, .sites]]' "$LEAKS"
	is '["definite","certain",300,3,2940,126,55,10]' \
		'.certain[0] | [.class, .verdict, .bytes, .blocks, .indirect_bytes, .indirect_blocks, .oldest_age_ns/1e9, .newest_age_ns/1e9]' "$LEAKS"
	is '["hub+0x10",600,599]' '.growing[0] | [.holder_function, .held_blocks, .chained_blocks]' "$LEAKS"
	is 'true' '.growing[0].growth_bytes_per_second | . > 9900 and . < 10100' "$LEAKS"
	is '["copy",true,3.1,600]' '.search | [.how, .complete, .pause_ns/1e6, .took_ns/1e6]' "$LEAKS"
}

@test "leaks: how old is old, and how long is long" {
	is '"steady many spread pace kept"' '.growing[0].evidence' "$LEAKS"
	is '[["queue"],[]]' '[.growing, .likely | [.[].module]]' --old 2s "$LEAKS"		# it grew for 59 s
	is '[[],["queue"]]' '[.growing, .likely | [.[].module]]' --old 1900ms "$LEAKS"
	is '"steady many spread pace kept long"' '.likely[0].evidence' --old 1900ms "$LEAKS"
	is '[[],[]]' '[.growing, .likely | [.[].module]]' --old 2m "$LEAKS"
	is '["view"]' '[.unlikely[] | select(.class == "possible" and (.why | contains("too young") | not)).module]' --show=possible "$LEAKS"
	is '["view","young"]' '[.unlikely[] | select(.class == "possible" and (.why | contains("too young") | not)).module]' --show=possible --old 2s "$LEAKS"
}

@test "leaks: the schema's keys are the documented ones" {
	"$PMM" leaks --json --show=all "$LEAKS" | jq -r '
		to_entries[] | select(.key != "schema")
		| "\(.key): \([.value | if type == "array" then .[] else . end | keys[]] | unique | join(" "))"' | sort >"$T/keys"
	is '"pmm-leaks/1.2"' .schema "$LEAKS"
	diff -u "$GOLDEN/leaks.keys.txt" "$T/keys"
	while read -r key; do
		grep -q "[\`.]$key\`" "$ROOT/doc/json.md" || { echo "not in doc/json.md: $key"; return 1; }
	done < <(grep -v '^process' "$T/keys" | sed 's/.*: //; /^$/d' | tr ' ' '\n' | sort -u)
}

@test "leaks: of more call sites than are followed it is said that they may grow" {
	local i recipe=("process taken=20s" "search copy complete")
	for ((i = 0; i < 4101; i++)); do recipe+=("site f$((i / 64))>g$((i % 64)) allocs=16 size=8 first=1s last=15s"); done
	capture_of many "${recipe[@]}"
	is 5 .search.unjudged_sites "$T/many.pmm"
	leaks 0 "$T/many.pmm" >"$T/text"
	tr -s ' \n' ' ' <"$T/text" | grep -F " ! whether 5 call sites grow is not known: they are beyond the 4096 that are followed "
	capture_of few "${recipe[@]:0:4098}"
	is 0 .search.unjudged_sites "$T/few.pmm"
	leaks 0 "$T/few.pmm" >"$T/text"
	run ! grep "not known" "$T/text"
}

@test "leaks: exit codes" {
	leaks 1 "$LEAKS" >/dev/null
	leaks 0 --fail-on=none "$LEAKS" >/dev/null
	leaks 1 --fail-on=growth "$LEAKS" >/dev/null
	leaks 0 --fail-on=growth --old 2m "$LEAKS" >/dev/null
	leaks 7 --fail-on=definite,possible --error-exitcode 7 "$LEAKS" >/dev/null
	leaks 0 --error-exitcode 0 "$LEAKS" >/dev/null
	leaks 1 --fail-on=definite --max-leaked 3252 "$LEAKS" >/dev/null	# 313 and 2940 with them
	leaks 0 --fail-on=definite --max-leaked 3253 "$LEAKS" >/dev/null
	leaks 1 --fail-on=definite,indirect --max-leaked 3252 "$LEAKS" >/dev/null
	leaks 0 --fail-on=definite,indirect --max-leaked 3253 "$LEAKS" >/dev/null
	leaks 1 --max-leaked 3252 "$LEAKS" >/dev/null			# certain ones
	leaks 0 --max-leaked 3253 "$LEAKS" >/dev/null
	leaks 1 --old 1900ms --max-leaked 603252 "$LEAKS" >/dev/null	# and the queue, a likely one
	leaks 0 --old 1900ms --max-leaked 603253 "$LEAKS" >/dev/null
}

@test "leaks: suppressions in both forms" {
	leaks 1 --gen-suppressions --show=definite "$LEAKS" >"$T/valgrind.supp"
	leaks 1 --gen-suppressions=lsan --show=definite "$LEAKS" >"$T/lsan.supp"
	grep -q 'match-leak-kinds: definite' "$T/valgrind.supp"
	for file in "$T"/*.supp; do
		is '[0,0,160]' '[.totals[:3][].bytes]' --suppressions "$file" "$LEAKS"
		is '3253' '.totals[4].bytes' --suppressions "$file" "$LEAKS"
		leaks 0 --fail-on=definite,indirect --suppressions "$file" "$LEAKS" >/dev/null
		is '["libxalloc.so","node","text","name"]' '[.suppressed[].module]' --show=suppressed --suppressions "$file" "$LEAKS" ||
			is '["libxalloc.so","name","node","text"]' '[.suppressed[].module]' --show=suppressed --suppressions "$file" "$LEAKS"
	done
	leaks 1 --show=suppressed --suppressions "$T/valgrind.supp" "$LEAKS" | grep -q "suppressed by 'name, definite'"
}

@test "leaks: Valgrind's form" {
	need xmllint
	leaks 1 --format valgrind-xml --show=all --suppressions <(printf '{\nsome\nMemcheck:Leak\nfun:malloc\nobj:name\n}\n') "$LEAKS" >"$T/x.xml"
	xmllint --noout "$T/x.xml"
	q() { xmllint --xpath "$1" "$T/x.xml"; }
	[ "$(q 'string(/valgrindoutput/protocolversion)')" = 4 ]
	[ "$(q 'string(/valgrindoutput/tool)')" = memcheck ]
	[ "$(q 'string(/valgrindoutput/pid)') $(q 'string(/valgrindoutput/ppid)')" = "4242 17" ]
	[ "$(q 'count(/valgrindoutput/error)')" = 9 ]
	[ "$(q 'count(//error[kind="Leak_DefinitelyLost"])')" = 1 ]
	[ "$(q 'count(//error[kind="Leak_IndirectlyLost"])')" = 2 ]
	[ "$(q 'count(//error[kind="Leak_PossiblyLost"])')" = 2 ]
	[ "$(q 'count(//error[kind="Leak_StillReachable"])')" = 4 ]
	[ "$(q 'string(//error[1]/xwhat/text)')" = "3240 (300 direct, 2940 indirect) bytes in 3 blocks are definitely lost in loss record 1 of 9" ]
	[ "$(q 'string(//error[1]/xwhat/leakedbytes)') $(q 'string(//error[1]/xwhat/leakedblocks)')" = "3240 3" ]
	[ "$(q 'string(//error[1]/stack/frame[1]/fn)')" = calloc ]
	[ "$(q 'string(//error[1]/stack/frame[2]/obj)')" = /lib/demo/libc.so.6 ]
	[ "$(q 'string(//error[1]/stack/frame[2]/ip)')" = 0x998765 ]
	[ "$(q 'string(//suppcounts/pair/count) ')" = 1 ]
	[ "$(q 'string(//suppcounts/pair/name)')" = some ]
	[ "$(q 'string(//preamble/line[2])')" = "demo --serve <all>" ]
}

@test "leaks: nothing lost, nothing said" {
	capture_of none 'site main size=8' 'search exit complete' 'leak main reachable bytes=8'
	leaks 0 "$T/none.pmm" >"$T/out"
	grep -q 'no leaks were found' "$T/out"
	grep -q 'definitely lost  0 bytes in 0 blocks' "$T/out"
	grep -q '8 B in 1 block at 1 site: still reachable' "$T/out"
}

# none_of NAME LINE...: the last line of a verdict on a heap of these lines without any block.
none_of() {
	capture_of "$@"
	leaks 0 "$T/$1.pmm" | tail -n 1
}

@test "leaks: where no block was seen the verdict says why nothing was found" {
	local could='  no leaks could be found'
	[ "$(none_of idle 'search exit complete')" = '  no leaks were found: no allocation was seen' ]
	[ "$(none_of attached 'process attached' 'search copy')" = "$could: no allocation was seen since the attach" ]
	[ "$(none_of sampled 'watch mode=sampled sample=512K' 'search exit')" = "$could: no block was in the sample" ]
	[ "$(none_of small 'watch min-size=1M' 'totals skipped=7' 'search exit')" = "$could: all blocks were smaller than --min-size" ]
	# all were released: that is a verdict
	[ "$(none_of freed 'process attached' 'site main frees=1 size=8' 'search copy')" = '  no leaks were found' ]
}

@test "leaks: a capture without a search says what to do" {
	capture_of unsearched 'site main size=8'
	refuses 3 "the process of this capture was not searched for leaks" "$T/unsearched.pmm"
	grep -q "pmm run --leaks" "$T/said"
}

@test "leaks: what is not known of the heap is told" {
	capture_of part 'site main size=8' 'search copy unread=4K' 'leak main definite bytes=8'
	leaks 1 "$T/part.pmm" >"$T/out"
	grep -q 'not all blocks are known' "$T/out"
	grep -q '4.00 KiB could not be read' "$T/out"
}

@test "leaks: bad input is refused" {
	refuses 2 "'definit' is no value of '--show'" --show=definit "$LEAKS"
	refuses 2 "'' is no value of '--fail-on'" --fail-on= "$LEAKS"
	refuses 2 "'stl' is no value of '--heuristics'" --heuristics=stdstring,stl "$LEAKS"
	for bits in 0 13 0x 0x0 low -1 0x1000 0xffffffffffffffff; do refuses 2 "is no value of '--tag-bits'" --tag-bits=$bits "$LEAKS"; done
	refuses 2 "needs '--every'" --count 3 "$LEAKS"
	refuses 2 "contradict" --json --format valgrind-xml "$LEAKS"
	refuses 2 "text and JSON only" --every 1 --format valgrind-xml "$LEAKS"
	for option in --every=1 --heuristics=none --tag-bits=top --show-bytes --stop --threads=1; do
		refuses 2 "'${option%%=*}' is for a search" "$option" "$LEAKS"
	done
	refuses 3 "cannot read the suppressions in '$T/none'" --suppressions "$T/none" "$LEAKS"
	printf '{\n' >"$T/bad.supp"
	refuses 3 "bad.supp" --suppressions "$T/bad.supp" "$LEAKS"
	refuses 3 "cannot open" "$T/none.pmm"
}
