#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Suppressions: what is written for a report suppresses it, in pmm and in memcheck; files that are wrong are refused with line and cause.

load leaks

setup() {
	need jq python3
	cat >"$T/all.supp" <<-END
	{
	   everything that make() made
	   Memcheck:Leak
	   fun:malloc
	   fun:make
	}
	END
}

# capture NAME: what is found at the end of a victim, in $T/x.pmm.
capture() {
	echo g | within "$PMM" run -q --leaks -o "$T/x.pmm" -- "$PROG/leak_$1" >"$T/out" 2>"$T/err" 3>&-
}

# leaks [OPTION...]: sets STATUS, leaves the output in $T/out.
leaks() {
	STATUS=0
	within "$PMM" leaks "$@" "$T/x.pmm" >"$T/out" 2>"$T/err" || STATUS=$?
	cat "$T/err"
}

# suppressed_blocks: how many, in a report as JSON.
suppressed_blocks() { jq '[.totals[] | select(.class == "suppressed") | .blocks] | add // 0' "$T/out"; }

@test "an entry for make() hides what make() made, and counts it" {
	capture shapes
	leaks --fail-on definite
	[ "$STATUS" -eq 1 ]
	leaks --json --suppressions "$T/all.supp" --fail-on definite
	[ "$STATUS" -eq 0 ]
	[ "$(jq '[.totals[] | select(.class != "suppressed") | .blocks] | add' "$T/out")" -eq 0 ]
	[ "$(suppressed_blocks)" -eq 44 ]
}

@test "what is written is read back: nothing is left, in both forms" {
	local form
	for victim in shapes inside; do
		capture "$victim"
		for form in valgrind lsan; do
			leaks --show definite,indirect,possible --top 0 --gen-suppressions="$form"
			cp "$T/out" "$T/gen.supp"
			leaks --suppressions "$T/gen.supp" --fail-on definite,indirect,possible
			[ "$STATUS" -eq 0 ]
		done
	done
}

@test "memcheck takes what is written" {
	need valgrind
	for victim in shapes inside; do
		capture "$victim"
		leaks --show definite,indirect,possible,reachable --top 0 --gen-suppressions=valgrind
		cp "$T/out" "$T/gen.supp"
		echo g | within valgrind -q --leak-check=full --show-leak-kinds=definite,indirect,possible --suppressions="$T/gen.supp" --error-exitcode=9 \
			--errors-for-leak-kinds=definite,indirect,possible "$PROG/leak_$victim" >"$T/out" 2>"$T/err" 3>&- || { cat "$T/err"; return 1; }
		[ ! -s "$T/err" ]
	done
}

@test "memcheck takes the set that pmm brings along" {
	need valgrind
	within valgrind -q --suppressions="$ROOT/src/analyze/suppress/suppressions.supp" true 2>"$T/err"
	[ ! -s "$T/err" ]
}

@test "a file that is wrong is refused, with line and cause" {
	capture shapes
	printf '{\n name\n Memcheck:Leak\n fub:f\n}\n' >"$T/bad.supp"
	leaks --suppressions "$T/bad.supp"
	[ "$STATUS" -ge 2 ]
	grep -q "not a frame: '$T/bad.supp' line 4: 'fub:f'" "$T/err"
	leaks --suppressions "$T/nowhere.supp"
	[ "$STATUS" -ge 2 ]
	grep -q "nowhere.supp" "$T/err"
	[ ! -s "$T/out" ]
}
