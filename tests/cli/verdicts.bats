#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# --format sarif and junit of pmm leaks and pmm check: valid by their schemas, fingerprints that stay, exit codes as with text; what was not
# searched is no pass.

bats_require_minimum_version 1.5.0
load lib

export TZ=UTC

# Two calls of one function from two places, one of them in a loop; LINES is put before all code.
program() {
	{
		printf '%s\n' "$1" '#include <stdlib.h>' '#include <string.h>' 'static void *volatile kept;' \
			'__attribute__((noinline)) static void *make(size_t n) { void *p = malloc(n); memset(p, 0, n); return kept = p; }' \
			'__attribute__((noinline)) static void lose(void) { for (int i = 0; i < 3; i++) make(100); }' "$2" \
			'__attribute__((noinline)) static void spill(void) { make(1000); make(1); }' \
			'int main(void) { lose(); spill(); kept = 0; return 0; }'
	} >"$T/lose.c"
	gcc "-$3" -g -o "$T/lose" "$T/lose.c"
}

fingerprints() { jq -r '.runs[0].results[] | .ruleId + " " + .partialFingerprints["stack/v1"] + " " + .properties.title' "$1" | sort; }
codes() { within "$PMM" "${@:2}" >"$T/stdout" 2>"$T/err" && status=0 || status=$?; [ "$status" -eq "$1" ] || { echo "$status"; cat "$T/err"; false; }; }

# by_schema FILE...: SARIF's schema is in a package of npm; no other one that can be had has it.
by_schema() {
	need npm
	/usr/bin/python3 -c 'import jsonschema' 2>/dev/null || skip "python3-jsonschema is not installed"
	(cd "$T" && timeout 60 npm pack --silent @microsoft/jest-sarif@1.0.0-beta.0 >/dev/null 2>&1) ||
		skip "npm cannot fetch @microsoft/jest-sarif, which has SARIF's schema"
	tar -C "$T" -xzf "$T"/microsoft-jest-sarif-*.tgz package/lib/schemas/sarif-2.1.0-rtm.5.json
	/usr/bin/python3 "$CLI/sarif_schema.py" "$T/package/lib/schemas/sarif-2.1.0-rtm.5.json" "$@"
}

@test "leaks: a finding keeps its fingerprint in another process, after a rebuild and when lines move" {
	need gcc
	program '' '' O0
	codes 1 leaks --fail-on definite --format sarif --report "$T/a.sarif" -- "$T/lose"
	codes 1 leaks --fail-on definite --format sarif --report "$T/b.sarif" -- "$T/lose"
	program '/* one' ' more */' O0 2>/dev/null || program $'\n\n\n' $'\n' O0
	codes 1 leaks --fail-on definite --format sarif --report "$T/c.sarif" -- "$T/lose"
	fingerprints "$T/a.sarif" >"$T/a"
	diff <(cut -d' ' -f1,3- "$T/a" | sort) - <<-END
		definitely-lost definitely lost: make, called by lose
		definitely-lost definitely lost: make, called by spill
		definitely-lost definitely lost: make, called by spill
	END
	[ "$(cut -d' ' -f2 "$T/a" | sort -u | wc -l)" -eq 3 ]
	diff "$T/a" <(fingerprints "$T/b.sarif")
	diff "$T/a" <(fingerprints "$T/c.sarif")
	# what moved has moved
	[ "$(jq '.runs[0].results[0].locations[0].physicalLocation.region.startLine' "$T/a.sarif")" -eq 5 ]
	[ "$(jq '.runs[0].results[0].locations[0].physicalLocation.region.startLine' "$T/c.sarif")" -gt 5 ]
}

@test "leaks: figures, places and stacks are those of the JSON" {
	need gcc
	program '' '' O0
	cd "$T"
	codes 1 leaks --fail-on definite --format sarif --report a.sarif -o "$T/lose.pmm" -- ./lose
	jq -e '.runs[0] | .results | all(.level == "error" and .properties.failed and (.stacks | length) == 1)' a.sarif
	jq -r '.runs[0].results[] | [.properties.bytes, .properties.blocks, .locations[0].physicalLocation.artifactLocation.uri,
		.stacks[0].frames[1].location.logicalLocations[0].fullyQualifiedName] | join(" ")' a.sarif | sort -n >"$T/got"
	diff "$T/got" - <<-END
		1 1 lose.c spill
		300 3 lose.c lose
		1000 1 lose.c spill
	END
	jq -e --arg t "$T" '.runs[0].originalUriBaseIds.SRCROOT.uri == "file://" + $t + "/" and .runs[0].invocations[0].executionSuccessful' a.sarif
	# of the capture it is the same
	codes 1 leaks --format sarif -o b.sarif lose.pmm
	diff <(jq .runs[0].results a.sarif) <(jq .runs[0].results b.sarif)
	codes 1 leaks --format sarif lose.pmm
	cmp "$T/stdout" b.sarif
	by_schema a.sarif b.sarif
}

@test "junit: findings fail, what was searched passes, what is tolerated does not fail" {
	need gcc xmllint
	program '' '' O0
	codes 1 leaks --fail-on definite --format junit --report "$T/a.xml" -- "$T/lose"
	xmllint --noout "$T/a.xml"
	x() { xmllint --xpath "string($1)" "$T/a.xml"; }
	[ "$(x /testsuites/@tests) $(x /testsuites/@failures) $(x /testsuites/@errors) $(x //testsuite/@skipped)" = "6 3 0 0" ] || { cat "$T/a.xml"; false; }
	[ "$(x 'count(//testcase)') $(x 'count(//testcase/failure)')" = "6 3" ]
	x '//testcase[1]/failure' | grep -q '^    spill (.*lose.c:8) \[lose\]$'
	[ "$(x '//testcase[@classname="pmm.leaks.searched"]/system-out')" = "1,301 bytes in 5 blocks were searched" ]
	[ "$(x '//testcase[@classname="pmm.leaks.likely-leak"]/system-out')" = "none in 1,301 bytes in 5 blocks" ]
	# three are distinguished by number where their titles are equal
	[ "$(x 'count(//testcase[@name="definitely lost: make, called by spill"])')" -eq 1 ]
	[ "$(x 'count(//testcase[@name="definitely lost: make, called by spill #2"])')" -eq 1 ]
	codes 0 leaks --max-leaked 2K --format junit --report "$T/a.xml" -- "$T/lose"
	[ "$(x /testsuites/@failures) $(x 'count(//testcase)')" = "0 6" ]
	codes 0 leaks --fail-on definite --format junit --report "$T/a.xml" -- true
	[ "$(x /testsuites/@failures) $(x /testsuites/@errors) $(x 'count(//testcase/skipped)')" = "0 0 0" ] || { cat "$T/a.xml"; false; }
}

@test "what was not searched is no pass" {
	need gcc xmllint
	printf 'int main(void) { return 0; }\n' >"$T/none.c"
	gcc -static -o "$T/none" "$T/none.c"
	x() { xmllint --xpath "string($1)" "$T/a.xml"; }
	codes 0 leaks --format junit --report "$T/a.xml" -- /bin/sh -c "exec '$T/none'"
	xmllint --noout "$T/a.xml"
	[ "$(x /testsuites/@errors) $(x 'count(//testcase)') $(x 'count(//testcase[not(error)])')" = "4 4 0" ] || { cat "$T/a.xml"; false; }
	x '//testcase[1]/error/@message' | grep -q '^no process was searched; 1 process not searched: .*none'
	codes 0 leaks --format sarif --report "$T/a.sarif" -- /bin/sh -c "exec '$T/none'"
	jq -e '.runs[0] | .results == [] and (.invocations[0].executionSuccessful | not)' "$T/a.sarif"
	# one of two: skipped, and an error when it was asked for
	codes 0 leaks --format junit --report "$T/a.xml" -- /bin/sh -c "'$T/none'; :"
	[ "$(x /testsuites/@errors) $(x 'count(//testcase/skipped)')" = "0 4" ] || { cat "$T/a.xml"; false; }
	codes 1 leaks --fail-on unsearched --format junit --report "$T/a.xml" -- /bin/sh -c "'$T/none'; :"
	[ "$(x /testsuites/@errors)" = 1 ]
}

@test "check: errors with three places, exit codes, what was checked" {
	need xmllint
	codes 7 check --error-exitcode 7 --format sarif --report "$T/a.sarif" -o "$T/c.pmm" -- "$PROG/check_cases" behind after twice
	jq -r '.runs[0].results[] | .ruleId + " " + .properties.title + " " + ([.stacks[].message.text] | join(","))' "$T/a.sarif" | sort >"$T/got"
	diff "$T/got" - <<-END
		double-free double free: drop, called by twice at,allocated by,released by
		overrun heap overrun: behind, called by do_case at,allocated by
		use-after-free use after free: after, called by do_case at,allocated by,released by
	END
	jq -e '.runs[0] | .invocations[0].executionSuccessful and (.tool.driver.rules | length) == 4' "$T/a.sarif"
	codes 1 check --format sarif "$T/c.pmm"
	diff <(jq .runs[0].results "$T/stdout") <(jq .runs[0].results "$T/a.sarif")
	by_schema "$T/a.sarif" "$T/stdout"
	codes 1 check --format junit -o "$T/a.xml" "$T/c.pmm"
	xmllint --noout "$T/a.xml"
	[ "$(xmllint --xpath 'string(/testsuites/@failures)' "$T/a.xml")" -eq 3 ]
	xmllint --xpath 'string(//testcase[@classname="pmm.check.checked"])' "$T/a.xml" | grep -q 'had canaries'
}

@test "forms that a command has not are refused, as are two names and what is read" {
	need gcc
	capture_of none 'site main allocs=1 size=3'
	refused_with 2 "'pmm leaks' has no '--format pprof'" "$PMM" leaks --format pprof "$T/none.pmm"
	grep -q "it is a form of 'pmm report', 'pmm kmod report'; this command has text, json, valgrind-xml, sarif, junit" "$T/said"
	refused_with 2 "'pmm check' has no '--format valgrind-xml'" "$PMM" check --format valgrind-xml "$T/none.pmm"
	refused_with 2 "'pmm report' has no '--format sarif'" "$PMM" report --format sarif "$T/none.pmm"
	refused_with 2 "'--format junit' of a COMMAND needs a file" "$PMM" leaks --format junit -- true
	refused_with 2 "'--format sarif' of a COMMAND needs a file" "$PMM" check --format sarif -- true
	refused_with 2 "'--report' and '--output' name two files" "$PMM" leaks --report a -o b "$T/none.pmm"
	refused_with 2 "'$T/none.pmm' is the capture itself" "$PMM" leaks -o "$T/none.pmm" "$T/none.pmm"
	refused_with 2 "'$T/none.pmm' is the capture itself" "$PMM" check --report "$T/none.pmm" "$T/none.pmm"
	refused_with 2 "'--json' and '--format' contradict" "$PMM" check --json --format sarif "$T/none.pmm"
	refused_with 2 "'--every' prints text and JSON only" "$PMM" leaks --every 1 --format sarif $$
}

@test "a list that is cut is no verdict" {
	local command form
	capture_of none 'site main allocs=1 size=3'
	for command in leaks check; do
		for form in sarif junit; do
			refused_with 2 "'--top' cannot be used with sarif and junit" "$PMM" "$command" --format "$form" --top 1 "$T/none.pmm"
		done
	done
}
