#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm report --format: each form of another tool is read by that tool, or held against what its reader asks for, and has the report's sums;
# hostile names do nothing in any form.

load report_forms

@test "massif: ms_print shows the peak and the end, with the report's bytes" {
	local capture
	need ms_print
	for capture in "$REAL" "$DEMO"; do
		report --format massif -o m "$capture"
		grep -q "'--format massif' has no place for: numbers of blocks" "$T/said"
		ms_print --threshold=0 "$T/m" >"$T/print"
		awk '/^ +[0-9]+ +[0-9,]+ +[0-9,]+ / { gsub(",", ""); if ($3 > most) most = $3; last = $3 } END { print most, last }' \
			"$T/print" >"$T/sums"
		[ "$(cat "$T/sums")" = "$(total peak_bytes "$capture") $(total live_bytes "$capture")" ] || { cat "$T/sums"; false; }
		# a tree's leaves add up to its root: children of each node to the node
		awk '/^n[0-9]/ { if (roots++ && sum != root) bad = 1; root = $2; sum = 0 } /^ n[0-9]/ { sum += $2 }
			END { exit bad || sum != root || roots != 2 }' "$T/m"
	done
	report --format massif -o m --module python "$REAL"
	ms_print "$T/m" >/dev/null
}

@test "dhat: what its viewer asks for is there, sums are the report's" {
	report --format dhat -o d.json "$REAL"
	jq -e '.dhatFileVersion == 2 and .bklt == true and .bkacc == false and ([.mode, .verb, .tu, .Mtu, .cmd] | all(type == "string"))
		and ([.pid, .te, .tg, .tuth] | all(type == "number")) and .tg <= .te
		and (.ftbl as $f | .pps | length > 0 and all(
			([.tb, .tbk, .tl, .mb, .mbk, .gb, .gbk, .eb, .ebk] | all(type == "number" and . >= 0))
			and .mb >= .gb and .mb >= .eb and .tb >= .mb and (.fs | length > 0 and all(. > 0 and . < ($f | length)))))' "$T/d.json"
	[ "$(jq -r '[([.pps[].tb] | add), ([.pps[].tbk] | add), ([.pps[].gb] | add), ([.pps[].eb] | add), ([.pps[].ebk] | add)] | join(" ")' "$T/d.json")" = \
		"$(total allocated_bytes) $(total allocs) $(total peak_accounted_bytes) $(total live_bytes) $(total live_blocks)" ]
	# the fields that the installed viewer checks
	[ -r /usr/libexec/valgrind/dh_view.js ] || skip "valgrind's dh_view.js is not installed"
	grep -oE '"(dhatFileVersion|mode|verb|bklt|bkacc|tu|Mtu|cmd|pid|te|pps|ftbl|tg|tuth)"' /usr/libexec/valgrind/dh_view.js | sort -u | tr -d '"' |
		while read -r field; do jq -e --arg f "$field" 'has($f)' "$T/d.json" >/dev/null || { echo "$field"; exit 1; }; done
}

@test "heaptrack: its reader has the report's allocations, peak and live bytes, to the byte" {
	local capture pair
	need heaptrack_print
	for capture in "$REAL" "$DEMO"; do
		report --format heaptrack -o h.gz "$capture"
		for pair in allocations:allocs peak:peak_accounted_bytes leaked:live_bytes; do
			heaptrack_print -f "$T/h.gz" -F "$T/stacks" --flamegraph-cost-type "${pair%:*}" --disable-builtin-suppressions \
				--disable-embedded-suppressions >"$T/print" 2>&1
			[ "$(awk '{ n += $NF } END { print n }' "$T/stacks")" = "$(total "${pair#*:}" "$capture")" ] ||
				{ echo "$pair"; tail -6 "$T/print"; false; }
		done
		grep -q "^calls to allocation functions: $(total allocs "$capture") " "$T/print"
	done
}

@test "heaptrack: of selected blocks those that are live, none of them freed" {
	local n bytes
	report --format heaptrack --size 16 -o h.gz "$REAL"
	n=$("$PMM" report --json --size 16 --top 0 "$REAL" | jq '[.sites[].live_blocks] | add')
	[ "$n" -gt 0 ]
	[ "$(zgrep -c '^+ ' "$T/h.gz")" -eq "$n" ]
	! zgrep -q '^- ' "$T/h.gz"
}

@test "heaptrack: its readers know by the name that it is compressed" {
	refuses "'--format heaptrack' is compressed" --format heaptrack -o "$T/h" "$DEMO"
	[ ! -e "$T/h" ]
	report --format heaptrack "$DEMO"
	[ "$(cd "$T" && echo heaptrack.*)" = heaptrack.pmm.demo.4242.gz ]
}

@test "chrome-trace: events as the format has them, counters end with the report's figures" {
	report --format chrome-trace -o t.json "$REAL"
	jq -e '.traceEvents | length > 10 and all(
		(.name | type == "string") and (.ts | type == "number" and . >= 0) and (.pid | type == "number") and (.tid | type == "number")
		and (if .ph == "C" then (.args | length == 1 and all(type == "number"))
			elif .ph == "i" then .s == "p" else .ph == "M" and .name == "process_name" end))' "$T/t.json"
	[ "$(jq '[.traceEvents[] | select(.name == "live bytes")] | last.args.bytes' "$T/t.json")" = "$(total live_bytes)" ]
	[ "$(jq '[.traceEvents[] | select(.name == "live blocks")] | last.args.blocks' "$T/t.json")" = "$(total live_blocks)" ]
	[ "$(jq -r '[.traceEvents[] | select(.ph == "i") | .name] | join(" ")' "$T/t.json")" = "peak end" ]
	jq -e '[.traceEvents[] | select(.name == "live bytes") | .ts] | . == sort' "$T/t.json"
	refuses "a filter cannot be used with '--format chrome-trace'" --format chrome-trace --function main "$REAL"
}

@test "openmetrics: promtool finds nothing wrong, figures are the report's" {
	need promtool
	report --format openmetrics "$REAL" >"$T/m"
	promtool check metrics <"$T/m" >"$T/lint" 2>&1 || { cat "$T/lint"; false; }
	[ ! -s "$T/lint" ]
	[ "$(tail -1 "$T/m")" = "# EOF" ]
	metric() { sed -n "s/^$1{command=\"python3[^\"]*\"} //p" "$T/m"; }
	[ "$(metric pmm_heap_live_bytes) $(metric pmm_heap_peak_bytes) $(metric pmm_heap_allocations)" = \
		"$(total live_bytes) $(total peak_bytes) $(total allocs)" ]
	[ "$(awk '/^pmm_line_live_bytes/ { n += $NF } END { print n }' "$T/m")" = "$(total live_bytes)" ]
	# no label set twice
	[ -z "$(grep -v '^#' "$T/m" | sed 's/ [0-9]*$//' | sort | uniq -d)" ]
}

@test "svg: one picture that is XML and has no script; titles have the report's figures" {
	need xmllint
	report --format svg --sort allocated -o f.svg "$REAL"
	xmllint --noout "$T/f.svg"
	[ "$(xmllint --xpath 'count(//*[local-name()="script" or local-name()="a" or local-name()="image" or local-name()="foreignObject"])' "$T/f.svg")" = 0 ]
	[ "$(xmllint --xpath 'count(//@*[starts-with(name(), "on") or contains(name(), "href")])' "$T/f.svg")" = 0 ]
	[ "$(xmllint --xpath 'string(//*[local-name()="g"][1]/*[local-name()="title"])' "$T/f.svg")" = \
		"all: $(total allocated_bytes | sed ':a; s/\B[0-9]\{3\}\>/,&/; ta') bytes, 100%" ]
	[ "$(stat -c %a "$T/f.svg")" = 600 ]
}

@test "csv: a table with a header, the report's sums, quoted; other tables by name" {
	local option
	report --format csv --sort live "$REAL" >"$T/t.csv"
	/usr/bin/python3 - "$T/t.csv" "$(total live_bytes)" <<-'END'
		import csv, sys
		raw = open(sys.argv[1], newline='').read()
		assert raw.endswith('\r\n') and raw.count('\n') == raw.count('\r\n')
		rows = list(csv.reader(raw.splitlines(), strict=True))
		assert len(rows) > 3 and all(len(r) == len(rows[0]) for r in rows)
		at = rows[0].index('value_bytes')
		assert sum(int(r[at]) for r in rows[1:]) == int(sys.argv[2]), rows[0]
	END
	report --format csv --table history "$DEMO" >"$T/h.csv"
	diff <(head -1 "$T/h.csv" | tr -d '\r') <("$PMM" report --json "$DEMO" |
		jq -r '.history | to_entries | map(select(.value | type == "array") | .key) | join(",")')
	[ "$(report --format csv --table lines --top 1 "$DEMO" | wc -l)" -eq 2 ]
	report --format csv --top-down "$DEMO" | head -1 | grep -q '^depth,'
	for option in blocks functions; do
		report --format csv "--$option" "$DEMO" >"$T/asked.csv"
		report --format csv --table "$option" "$DEMO" | cmp - "$T/asked.csv"
		[ "$(wc -l <"$T/asked.csv")" = "$(("$("$PMM" report --json "--$option" "$DEMO" | jq ".$option | length")" + 1))" ]
	done
	head -1 "$T/asked.csv" | grep -q ',sites,function,module'
	report --format csv --blocks --functions --table lines "$DEMO" | cmp - <(report --format csv "$DEMO")
	refuses "'--blocks' and '--functions' ask for two tables" --format csv --blocks --functions "$DEMO"
	refuses "'--functions' and '--bottom-up' ask for two tables" --format csv --functions --bottom-up "$DEMO"
	refuses "the report has no table 'nothing'" --format csv --table nothing "$DEMO"
	grep -q 'it has .*lines, ' "$T/said"
	refuses "'--table' cannot be used with '--format json'" --json --table lines "$DEMO"
}

# Names that would do something in one form or another. In a recipe '>' parts frames and a space ends a word.
hostile() {
	printf 'process comm=%s pid=7 exe=/tmp/x cmdline=%s taken=9s\n' "$(printf '<b>\033]0;x')" "$(printf '\"--><script>alert(1)</script>]]>\033[2J#%%s')"
	local name n=0 long
	long=$(head -c 3000 /dev/zero | tr '\0' L)
	for name in '<script' '\033[31mred' "it's" ']]' '=cmd()|A1' '+1' '-2' '\xe2\x80\xa8line' '%s%n' '\x01\x02\x7f' '\xc2\x9b2J' '#no' '\\\\n' \
		'a;b' '{x}' '&amp;' '\xe2\x80\xaertl' "$long"; do
		n=$((n + 1))
		printf "site main>%b allocs=%d size=%d\n" "$name" "$n" "$n"
	done
}

# hostile_forms CAPTURE: all forms of it are valid, have its sum, and have nothing in them that acts.
hostile_forms() {
	local form sum
	sum=$(total live_bytes "$1")
	for form in text json csv svg collapsed speedscope massif dhat chrome-trace openmetrics; do
		local live=(--sort live)
		case $form in massif|dhat|heaptrack|chrome-trace|openmetrics) live=() ;; esac
		report --format "$form" "${live[@]}" -o "$form" "$1" || return 1
		# no controls, no escape sequences, valid UTF-8
		iconv -f utf-8 -t utf-8 "$T/$form" >"$T/iconv" || { echo "$form"; return 1; }
		! LC_ALL=C.UTF-8 grep -nP '[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x{80}-\x{9f}\x{2028}\x{2029}\x{202a}-\x{202e}]' "$T/$form" ||
			{ echo "$form"; return 1; }
	done
	for form in json speedscope dhat chrome-trace; do jq -e . "$T/$form" >/dev/null || return 1; done
	xmllint --noout "$T/svg" || return 1
	! grep -qi '<script' "$T/svg" || return 1
	[ "$(awk '{ n += $NF } END { print n }' "$T/collapsed")" = "$sum" ] || return 1
	[ "$(grep -c -v -E '^[^;]+(;[^;]+)* [1-9][0-9]*$' "$T/collapsed")" -eq 0 ] || return 1
	[ "$(jq '[.pps[].eb] | add' "$T/dhat")" = "$sum" ] || return 1
	ms_print --threshold=0 "$T/massif" >"$T/print" || return 1
	report --format heaptrack -o h.gz "$1" || return 1
	! zcat "$T/h.gz" | LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]' || return 1
	heaptrack_print -f "$T/h.gz" -F "$T/stacks" --flamegraph-cost-type leaked --disable-builtin-suppressions \
		--disable-embedded-suppressions >"$T/print" || return 1
	[ "$(awk '{ n += $NF } END { print n }' "$T/stacks")" = "$sum" ] || return 1
	promtool check metrics <"$T/openmetrics" || return 1
	[ "$(awk '/^pmm_line_live_bytes/ { n += $NF } END { print n }' "$T/openmetrics")" = "$sum" ] || return 1
	/usr/bin/python3 - "$T/csv" "$sum" <<-'END'
		import csv, sys
		rows = list(csv.reader(open(sys.argv[1], newline=''), strict=True))
		assert all(len(r) == len(rows[0]) for r in rows)
		assert not any(c[:1] and c[0] in '=+-@' for r in rows[1:] for c in r), rows
		assert sum(int(r[rows[0].index('value_bytes')]) for r in rows[1:]) == int(sys.argv[2])
	END
}

@test "hostile names of files and programs: every form is valid, and nothing in it acts" {
	need xmllint promtool ms_print heaptrack_print
	hostile >"$T/recipe"
	"$MKCAPTURE" "$T/recipe" "$T/h.pmm"
	[ "$(total live_bytes "$T/h.pmm")" -eq 2109 ]
	hostile_forms "$T/h.pmm"
}

@test "hostile names of functions: every form is valid, and nothing in it acts" {
	need xmllint promtool ms_print heaptrack_print gcc objcopy
	local n=0 name
	: >"$T/names"
	{
		echo '#include <stdlib.h>'
		echo 'void *volatile kept[99];'
		for name in '<script>alert(1)</script>' "=cmd|'/C_calc'!A0" '+1' '-2' '@SUM(A1)' '"quote"' ']]>' '--><svg/onload=x>' '%s%n' \
			'&lt;' $'\e[2J' $'\xff' $'\xe2\x80\xa8' \
			'a;b' '#no' "\\" '${x}' '`id`' "it's"; do
			n=$((n + 1))
			echo "--redefine-sym" >>"$T/names"; echo "hostile$n=$name" >>"$T/names"
			echo "__attribute__((noinline)) void hostile$n(void) { kept[$n] = malloc($n); __asm__ volatile(\"\"); }"
		done
		echo 'int main(void) {'
		for ((i = 1; i <= n; i++)); do echo "hostile$i();"; done
		echo 'return 0; }'
	} >"$T/h.c"
	gcc -O1 -c -o "$T/h.o" "$T/h.c"
	local renames
	mapfile -t renames <"$T/names"
	objcopy "${renames[@]}" "$T/h.o"
	gcc -o "$T/h" "$T/h.o"
	track "$T/h"
	"$PMM" report --json "$CAP" | jq -e '[.sites[].frames[]?.function // empty] | index("<script>alert(1)</script>")' >/dev/null ||
		"$PMM" report --json "$CAP" | jq -e '[.. | .function? // empty] | index("<script>alert(1)</script>")'
	hostile_forms "$CAP"
	grep -q "'=cmd" "$T/csv"
	grep -q '&lt;script&gt;alert(1)&lt;/script&gt;' "$T/svg"
	codes() { "$PMM" leaks --show all --fail-on definite --format "$1" --report "$T/$1" -- "$T/h" >"$T/out" 2>"$T/err" || true; }
	codes sarif
	codes junit
	codes valgrind-xml
	xmllint --noout "$T/junit" "$T/valgrind-xml"
	jq -e '.runs[0].results | length > 10' "$T/sarif"
	[ "$(grep -ci '<script' "$T/junit" "$T/valgrind-xml" | cut -d: -f2 | xargs)" = "0 0" ]
	[ "$(LC_ALL=C grep -cP '[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]' "$T/sarif" "$T/junit" "$T/valgrind-xml" | cut -d: -f2 | xargs)" = "0 0 0" ]
}

@test "deep stacks that share their frames: a line for each, with all of its frames" {
	local n stack=
	for ((n = 1; n <= 150; n++)); do
		stack="$stack${stack:+>}q$n"
		echo "site $stack allocs=1 size=$n"
	done >"$T/recipe"
	"$MKCAPTURE" "$T/recipe" "$T/deep.pmm"
	report --format collapsed "$T/deep.pmm" | awk -F'[; ]' '{ n++; bad += NF - 1 != $NF || $(NF - 1) != "[q" $NF "]" } END { exit bad || n != 150 }'
}

@test "a reader that has gone is no failure, whatever becomes of its signal" {
	local form
	for form in text json csv collapsed openmetrics pprof; do
		(trap '' PIPE; "$PMM" report --format "$form" -o - "$REAL" 2>"$T/err"; echo $? >"$T/code") | true
		[ "$(cat "$T/code")" = 0 ] || { echo "$form"; cat "$T/err"; false; }
	done
	"$PMM" report --format collapsed "$REAL" >/dev/full 2>"$T/err" && false
	grep -q 'No space left on device' "$T/err"
}

@test "a filter that nothing passes is said" {
	report --format collapsed --function no_such_function "$REAL" >"$T/out"
	[ ! -s "$T/out" ]
	grep -qx "pmm: nothing passes the filter: function 'no_such_function'" "$T/said"
	report --format csv --function no_such_function --size 16: "$REAL" >"$T/out"
	[ "$(wc -l <"$T/out")" = 1 ]
	grep -qx "pmm: nothing passes the filter: function 'no_such_function', size 16 B to any (of live blocks)" "$T/said"
	report --function no_such_function "$REAL" | grep -qx "  only     nothing passes the filter: function 'no_such_function'"
	report --json --function no_such_function "$REAL" | jq -e '.selection.passes_any == false'
	report --json --function '*' "$REAL" | jq -e '.selection.passes_any'
	report --json "$REAL" | jq -e '.selection | has("passes_any") | not'
	report --format html -o page.html --function no_such_function "$REAL"
	part overview "$T/page.html" | jq -r '.sections[].rows[] | select(.[3] == "only")[4]' >"$T/only"
	grep -qx "nothing passes the filter: function 'no_such_function'" "$T/only"
	report --format collapsed --function '*' "$REAL" >"$T/out"
	[ ! -s "$T/said" ]
}

@test "times count from where the process's tracking began, after an exec, too" {
	local x
	x=$(capture_of attached 'process attach=4s taken=5s' 'site work allocs=3 size=1000 first=4500ms' 'totals peak-at=4500ms' \
		'point 4500ms live=3000 blocks=3 allocs=3'; echo "$T/attached.pmm")
	"$PMM" report --format dhat -o "$T/d" "$x" 2>/dev/null
	jq -e '.te == 1000000 and .tg == 500000' "$T/d"
	"$PMM" report --format chrome-trace -o "$T/c" "$x" 2>/dev/null
	jq -e '[.traceEvents[] | select(.name == "end" or .name == "peak").ts] | sort == [500000, 1000000]' "$T/c"
	"$PMM" report --format massif -o "$T/m" "$x" 2>/dev/null
	[ "$(grep '^time=' "$T/m" | sort -t= -k2 -n | tail -1)" = time=1000 ]
	"$PMM" report --format heaptrack -o "$T/h.gz" "$x" 2>/dev/null
	[ "$(zcat "$T/h.gz" | grep '^c ' | tail -1)" = "c 3e8" ]
	"$PMM" report --format pprof -o "$T/p" "$x" 2>/dev/null
	"$PMM" report --json "$T/p" | jq -e '.import.run_ns == 1000000000'
}
