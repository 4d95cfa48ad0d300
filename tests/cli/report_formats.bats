#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm report --format: sums of each form are the report's, files are there whole or not at all, what a form cannot say is refused.

load report_forms

@test "collapsed: each figure has the report's sum" {
	local pair
	for pair in live:live_bytes peak:peak_accounted_bytes allocated:allocated_bytes calls:allocs temporary:temporary; do
		report --format collapsed --sort "${pair%:*}" "$REAL" >"$T/lines"
		[ "$(awk '{ n += $NF } END { print n + 0 }' "$T/lines")" = "$(total "${pair#*:}")" ] || { echo "$pair"; false; }
		[ "$(grep -c -v -E '^[^;]+(;[^;]+)* [1-9][0-9]*$' "$T/lines")" -eq 0 ]
	done
	[ ! -s "$T/said" ]
}

@test "speedscope: samples have weights, frames exist, sums are the report's" {
	report --format speedscope -o out.json "$REAL"
	grep -q "^pmm: written to 'out.json': 'speedscope FILE' shows it$" "$T/said"
	[ "$(stat -c %a "$T/out.json")" = 600 ]
	jq -e '. as $all | .["$schema"] == "https://www.speedscope.app/file-format-schema.json"
		and (.shared.frames | all(.name | type == "string" and length > 0))
		and (.profiles | length == 7 and all(
			.type == "sampled" and .startValue == 0 and (.unit | IN("bytes", "none"))
			and (.samples | length) == (.weights | length) and (.weights | add) == .endValue
			and (.samples | all(length > 0 and all(. >= 0 and . < ($all.shared.frames | length))))))' "$T/out.json"
	jq -r '.profiles[] | .name + "=" + (.endValue | tostring)' "$T/out.json" >"$T/sums"
	diff "$T/sums" - <<-END
		live bytes=$(total live_bytes)
		live blocks=$(total live_blocks)
		bytes at the peak=$(total peak_accounted_bytes)
		blocks at the peak=$(total peak_accounted_blocks)
		allocated bytes=$(total allocated_bytes)
		allocations=$(total allocs)
		temporary allocations=$(total temporary)
	END
}

@test "pprof: its own reader finds the report's sums, names and build IDs" {
	local index
	command -v go >/dev/null || skip "go is not installed"
	report --format pprof "$REAL"
	set -- "$T"/pmm.python3*.pb.gz
	[ $# -eq 1 ]
	go tool pprof -raw "$1" >"$T/raw"
	# "     12      345      6      78: 3 2 1"
	for index in 1:allocs 2:allocated_bytes 3:live_blocks 4:live_bytes; do
		awk -v i="${index%:*}" '/^Locations/ { exit } /^ .*: [0-9 ]+$/ { sub(":.*", ""); n += $i } END { print n }' "$T/raw" >"$T/sum"
		[ "$(cat "$T/sum")" = "$(total "${index#*:}")" ] || { echo "$index"; head "$T/raw"; false; }
	done
	grep -q 'alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes\[dflt\]' "$T/raw"
	[ "$(sed -n '/^Mappings/,$p' "$T/raw" | sed -n 2p | grep -c '/usr/bin/python3[.0-9]* [0-9a-f]\{40\} ')" -eq 1 ]
	go tool pprof -top -sample_index=alloc_space "$1" 2>/dev/null >"$T/top"
	grep -q ' 100% .*_start$' "$T/top"
}

@test "text and JSON go to files, too" {
	local form
	for form in text json; do
		report --format "$form" "$DEMO" >"$T/stdout"
		report --format "$form" -o "$T/%c-%p" "$DEMO"
		cmp "$T/stdout" "$(ls "$T"/demo-*)"
		rm "$T"/demo-*
		report --format "$form" -o - "$DEMO" | cmp "$T/stdout"
	done
	report --json "$DEMO" | cmp "$T/stdout"
}

@test "a file is there whole or not at all" {
	mkdir "$T/folder"
	echo old >"$T/old"
	refused_with 3 "cannot write the report '$T/folder': it is a directory" "$PMM" report --format pprof -o "$T/folder" "$DEMO"
	refused_with 3 "cannot write the report '/dev/full': it is not a regular file" "$PMM" report --format pprof -o /dev/full "$DEMO"
	(ulimit -f 8; refused_with 3 "cannot write the report '$T/old': File too large" "$PMM" report --format speedscope -o "$T/old" "$REAL")
	[ "$(cat "$T/old")" = old ]
	rm -f "$T/out"
	[ "$(ls -A "$T")" = "$(printf '%s\n' folder old said)" ]
}

@test "what a link leads to is replaced, not the link; never the capture that is read" {
	cp "$DEMO" "$T/copy.pmm"
	echo old >"$T/target"
	ln -s target "$T/link"
	report --format collapsed -o link "$DEMO"
	[ "$(readlink "$T/link")" = target ]
	cmp <(report --format collapsed "$DEMO") "$T/target"
	# of somebody else, who may have guessed the name: replaced, what it leads to stays
	if [ "$(id -u)" = 0 ]; then
		echo old >"$T/target"
		chown -h 65534 "$T/link"
		report --format collapsed -o "$T/link" "$DEMO"
		[ ! -L "$T/link" ]
		[ "$(cat "$T/target")" = old ]
	fi
	refuses "'$T/copy.pmm' is the capture itself" --format pprof -o "$T/copy.pmm" "$T/copy.pmm"
	ln -s copy.pmm "$T/other.pmm"
	refuses "'$T/copy.pmm' is the capture itself" --json -o "$T/copy.pmm" "$T/other.pmm"
	cmp "$DEMO" "$T/copy.pmm"
	refuses "the name after '-o' is empty" -o '' "$DEMO"
}

@test "what a form cannot say is refused" {
	refuses "'--top' cannot be used with '--format pprof'" --format pprof --top 3 "$DEMO"
	refuses "'--blocks' cannot be used with '--format collapsed'" --format collapsed --blocks "$DEMO"
	refuses "'--bottom-up' cannot be used with '--format speedscope'" --format speedscope --bottom-up "$DEMO"
	refuses "'--format pprof' has no figures for '--sort peak'" --format pprof --sort peak "$DEMO"
	refuses "'--skip-fn' cannot be used with '--format pprof'" --format pprof --skip-fn main "$DEMO"
	refuses "'--json' and '--format' contradict each other" --json --format pprof "$DEMO"
	refuses "'--sort peak' cannot be used with --thread, --size or --age" --format collapsed --sort peak --size 1 "$DEMO"
	refuses "'--sort' cannot be used with '--format massif'" --format massif --sort live "$DEMO"
	refuses "'valgrind' is not a choice of --format" --format valgrind "$DEMO"
	! grep -q 'valgrind-xml\|sarif\|junit' "$T/said" || { cat "$T/said"; false; }
	grep -q 'one of: text, json, .*, openmetrics$' "$T/said"
	refuses "'%z' in the name '$T/%z' is not known" --format svg -o "$T/%z" "$DEMO"
	[ ! -e "$T/%z" ]
}

@test "help lists the forms" {
	"$PMM" help formats >"$T/help"
	diff <(awk '/^  [a-z]/ { print $1 }' "$T/help" | xargs) - <<-END
		text json html csv svg collapsed speedscope pprof massif dhat heaptrack chrome-trace openmetrics valgrind-xml sarif junit
	END
	grep -q "^'pmm check --format': text, json, sarif, junit$" "$T/help"
}

@test "each form that has a place says that figures are estimates, and those that pmm reads are read as such" {
	local form table text='figures are estimates, sampled every 4096 bytes'
	capture_of s 'watch mode=sampled sample=4096' 'site main allocs=4 size=100000 samples-in=4' 'point 1s live=400000 blocks=4 allocs=4'
	for form in svg massif dhat heaptrack pprof speedscope chrome-trace openmetrics csv; do
		report --format "$form" -o "$T/s.$form.gz" "$T/s.pmm"
		grep -qx "pmm: $text" "$T/said" || { echo "$form"; cat "$T/said"; false; }
		report --format "$form" -o "$T/exact.$form.gz" "$DEMO"
		[ "$(zcat -f "$T/exact.$form.gz" | grep -a -c estimates "$T/said" -)" = "$T/said:0
(standard input):0" ] || { echo "$form"; false; }
	done
	report --format collapsed "$T/s.pmm" >"$T/lines"
	grep -qx "pmm: $text, which 'collapsed' has no place for" "$T/said"
	grep -q "^desc: pmm [0-9.]*: $text$" "$T/s.massif.gz"
	ms_print "$T/s.massif.gz" | grep -q "^Massif arguments: .*$text$"
	jq -e --arg t "heap; $text" '.mode == $t' "$T/s.dhat.gz"
	jq -e --arg t "fake: $text" '.name == $t' "$T/s.speedscope.gz"
	jq -e --arg t "$text" '.otherData.estimates == $t' "$T/s.chrome-trace.gz"
	zcat "$T/s.heaptrack.gz" | sed -n 2p | grep -qx "# pmm: $text"
	go tool pprof -comments "$T/s.pprof.gz" 2>/dev/null | grep -qx "$text"
	for table in lines functions sites history site_history threads size_classes; do
		report --format csv --table $table "$T/s.pmm" | tr -d '\r' >"$T/table"
		head -1 "$T/table" | grep -q ',estimated$'
		[ "$(sed 1d "$T/table" | grep -c -v ',true$')" = 0 ] || { echo "$table"; false; }
		report --format csv --table $table "$DEMO" | head -1 >"$T/exact"
		[ "$(head -1 "$T/table")" = "$(tr -d '\r' <"$T/exact"),estimated" ]
	done
	report --format csv "$T/s.pmm" | tr -d '\r' | grep -q '^400000,100,4,1,.*,true$'
	report --format csv --table modules "$T/s.pmm" | head -1 >"$T/table"
	[ "$(grep -c estimated "$T/table")" = 0 ]
	for form in heaptrack pprof; do
		report --json "$T/s.$form.gz" | jq -e '.totals | [.mode, .sample_bytes, .live_bytes, .live_error_bytes > 0] == ["sampled", 4096, 400000, true]'
		report --json "$T/exact.$form.gz" | jq -e '.totals | [.mode, .sample_bytes, .live_error_bytes] == ["exact", 0, 0]'
	done
}

@test "svg and openmetrics say that sampled figures are estimates" {
	capture_of s 'watch mode=sampled sample=4096' 'site main allocs=1 size=100000'
	report --format svg --sort live -o - "$T/s.pmm" | grep -q '>live bytes (estimate): '
	report --format openmetrics "$T/s.pmm" | grep -q '^pmm_heap_sample_bytes{command="[^"]*"} 4096$'
	report --format svg --sort live -o - "$DEMO" >"$T/svg"
	grep -q '>live bytes: ' "$T/svg"
	report --format openmetrics "$DEMO" >"$T/metrics"
	[ "$(grep -c pmm_heap_sample_bytes "$T/metrics")" = 0 ]
}

# A capture of 2 KB whose list of stacks would have six million frames, and the JSON 780 MB.
@test "stacks that would make too long a list are cut, and that is said" {
	echo 'deep depth=4000 sites=2000' >"$T/deep.recipe"
	"$MKCAPTURE" "$T/deep.recipe" "$T/deep.pmm"
	report --format collapsed "$T/deep.pmm" >"$T/lines"
	grep -q '^pmm: 1,901 stacks cut to 2,099 innermost frames: 1,807,851 in all are left out, ' "$T/said"
	[ "$(grep -c '' "$T/lines")" -eq 2000 ]
	[ "$(grep -c '^\[stack cut here: too many frames for this form\];' "$T/lines")" -eq 1901 ]
	report --format massif "$T/deep.pmm" >"$T/rows"
	grep -q '^pmm: 2,000 stacks cut to 64 innermost frames: ' "$T/said"
	report --json "$T/deep.pmm" >"$T/json"
	grep -q '^pmm: 2,000 stacks cut to 524 innermost frames: 4,953,000 in all are left out, ' "$T/said"
	[ "$(grep -c '"frames_left_out"' "$T/json")" -eq 2000 ]
	[ "$(grep -o '"frames_left_out": [0-9]*' "$T/json" | awk '{ n += $2 } END { print n }')" -eq 4953000 ]
	report --top 0 --depth 0 "$T/deep.pmm" >"$T/text"
	grep -q '\.\.\. 3,476 more frames$' "$T/text"
}
