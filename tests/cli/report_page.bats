#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm report --format html: the file and what is around the data. What a browser makes of it: tests/web/.

load lib

DEMO=$BATS_FILE_TMPDIR/demo.pmm

setup_file() {
	golden_captures demo
}

page() { (cd "$T" && "$PMM" report --format html "$@") 2>"$T/said"; }

setup() {
	T=$BATS_TEST_TMPDIR
	if ! "$PMM" report --format html "$DEMO" -o "$T/try.html" 2>"$T/said" && grep -q 'was built without pages' "$T/said"; then
		skip "esbuild or libjs-dygraphs was missing when pmm was built"
	fi
}

@test "the page has a name of its own, mode 0600, and is written whole" {
	page "$DEMO"
	set -- "$T"/pmm.demo.*.html
	[ $# -eq 1 ]
	[ "$(stat -c %a "$1")" = 600 ]
	[ "$(tail -c 8 "$1")" = "</html>" ]
	page -o - "$DEMO" | cmp - "$1"
}

@test "code and style are those whose sums the policy names, and nothing may be loaded" {
	page -o out.html "$DEMO"
	python3 - "$T/out.html" <<-'END'
		import base64, hashlib, re, sys
		text = open(sys.argv[1]).read()
		policy = re.search('Content-Security-Policy" content="([^"]*)"', text)[1]
		def sum_of(begin, end):
		    body = text.split(begin, 1)[1].split(end, 1)[0]
		    return "'sha256-" + base64.b64encode(hashlib.sha256(body.encode()).digest()).decode() + "'"
		code, style = sum_of('<script type="module">', "</script>"), sum_of("<style>", "</style>")
		expected = f"default-src 'none'; script-src {code}; style-src {style}; img-src data: blob:; base-uri 'none'; form-action 'none'"
		assert policy == expected, (policy, expected)
		assert not re.search(r'<(?:link|img|iframe|base)\b|\ssrc=|@import|url\(\s*["\']?http', text)
		assert len(text.split('<script type="module">')[1]) + len(text.split("<style>")[1].split("</style>")[0]) <= 300 * 1024
	END
}

@test "the report's documents are in the page as JSON has them" {
	page -o out.html "$DEMO"
	part report "$T/out.html" >"$T/report"
	"$PMM" report --json "$DEMO" >"$T/json"
	[ "$(jq '[.sections[] | select(.key == "lines") | .rows | length] | add' "$T/report")" = "$(jq '.lines | length' "$T/json")" ]
	[ "$(jq '[.sections[] | select(.key == "sites" or .key == "blocks")] | length' "$T/report")" -eq 0 ]
	jq -S '.sections[] | select(.key == "totals") | [[.columns[].key], .rows[0][3:]] | transpose | map({(.[0]): .[1]}) | add' "$T/report" >"$T/a"
	jq -S .totals "$T/json" >"$T/b"
	diff "$T/a" "$T/b"
}

@test "leaks and errors are parts where the capture has them" {
	page -o out.html "$DEMO"
	[ "$(grep -c -E 'id="pmm-data-(check|leaks)"' "$T/out.html")" -eq 0 ]
	"$PMM" run -q --leaks -o "$T/leaky.pmm" -- /bin/true 2>/dev/null
	page -o leaky.html "$T/leaky.pmm"
	part leaks "$T/leaky.html" | jq -e '.schema | startswith("pmm-leaks/")'
}

@test "--source is for the page" {
	refused_with 2 "'--source' is for '--format html'" "$PMM" report --source "$DEMO"
	page -o out.html --source "$DEMO"
	part source "$T/out.html" | jq -e 'type == "array"'
	page -o plain.html "$DEMO"
	[ "$(grep -c 'id="pmm-data-source"' "$T/plain.html")" -eq 0 ]
}
