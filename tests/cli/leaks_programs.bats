#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Real packaged programs: what is definitely and indirectly lost at their end is to the byte what memcheck finds, which is nothing for most
# of them. doc/leaks.md, "Agreement with memcheck", explains the differences.

load leaks

setup() {
	need jq python3 valgrind
	echo '<a><b>1</b></a>' >"$T/x.xml"
	echo '{"a":[1,2],"b":{"c":"d"}}' >"$T/x.json"
	cd "$T" || return 1
}

# memcheck_total CMD...: "definite BLOCKS/BYTES indirect BLOCKS/BYTES possible BLOCKS/BYTES", as memcheck has it.
memcheck_total() {
	LIMIT=300 within valgrind --tool=memcheck --leak-check=full --show-leak-kinds=all --run-libc-freeres=no --run-cxx-freeres=no --xml=yes \
		--xml-file="$T/memcheck.xml" "$@" >"$T/memcheck.out" 2>&1 </dev/null 3>&- || true
	python3 "$CLI/leak_sums.py" --total "$T/memcheck.xml"
}

# pmm_total CMD...: the same, as pmm has it.
pmm_total() {
	local capture
	rm -rf "$T/cap"; mkdir -p "$T/cap"
	LIMIT=300 within "$PMM" run -q --leaks -o "$T/cap/%p.pmm" -- "$@" >"$T/out" 2>"$T/err" </dev/null 3>&- || true
	capture=$(only_capture)
	[ -n "$capture" ] || { echo "not exactly one capture"; cat "$T/err"; return 1; }
	search "$T/pmm.json" "$capture" && python3 "$CLI/leak_sums.py" --total "$T/pmm.json"
}

# agree CMD...: both find the same lost, if the program is there. What is possibly lost depends on what libraries keep; see doc.
agree() {
	local memcheck pmm
	command -v "$1" >/dev/null || { echo "# $1 is not installed" >&3; return 0; }
	memcheck=$(memcheck_total "$@")
	pmm=$(pmm_total "$@") || { echo "$*: $pmm"; return 1; }
	[ "${memcheck%% possible*}" = "${pmm%% possible*}" ] || { echo "$*: memcheck: $memcheck, pmm: $pmm"; return 1; }
}

@test "jq, xmllint, sqlite3, openssl agree" {
	agree jq -c .a x.json
	agree xmllint --format x.xml
	agree sqlite3 :memory: 'create table t(a); insert into t values(1); select * from t'
	agree openssl dgst -sha256 x.json
}

@test "gcc, dpkg-query, a bash script agree, which lose something" {
	agree gcc --version
	agree dpkg-query -l bash
	printf 'if true; then\n\techo y\n\texit 0\nfi\n' >script
	agree bash script
}

@test "python3, mawk, gawk, bash agree" {
	agree /usr/bin/python3 -S -c 'print(sorted({3: 1, 2: 2}))'
	agree mawk 'BEGIN { for (i = 0; i < 100; i++) a[i] = i; print length(a) }'
	agree gawk 'BEGIN { for (i = 0; i < 100; i++) a[i] = i; print length(a) }'
	# shellcheck disable=SC2016 # it is bash's to expand
	agree bash -c 'a=(1 2 3); for i in "${a[@]}"; do echo $i; done'
}

@test "git, curl, nm, readelf agree" {
	git init -q repo 2>/dev/null
	agree git -C repo status
	agree curl --version
	agree nm "$(command -v ls)"
	agree readelf -h "$(command -v ls)"
}

@test "sort, grep, sed, tar, find, ls, date, diff, xz agree" {
	agree sort x.json
	agree grep -c a x.xml
	agree sed s/a/b/ x.xml
	agree tar cf /dev/null x.xml
	agree find . -name '*.xml'
	agree ls -l
	agree date
	agree diff x.xml x.json
	agree xz -c x.xml
}

# quiet CMD...: no process that it starts gives an alarm, certain or likely.
quiet() {
	local capture
	command -v "$1" >/dev/null || { echo "# $1 is not installed" >&3; return 0; }
	rm -rf "$T/cap"; mkdir -p "$T/cap"
	LIMIT=300 within "$PMM" run -q --leaks -o "$T/cap/%p.pmm" -- "$@" >"$T/out" 2>"$T/err" </dev/null 3>&-
	for capture in "$T"/cap/*.pmm; do
		within "$PMM" leaks "$capture" >"$T/report" || { cat "$T/report"; return 1; }
	done
}

@test "perl, which does not free what it has at exit, gives no alarm" { quiet perl -e 'use POSIX; my %h = (a => 1); print keys %h'; }
@test "perl gives no alarm in a locale either" { LC_ALL=C.UTF-8 quiet perl -e 'print "1"'; }
@test "java, whose virtual machine ends with the process, gives no alarm" { quiet java -version; }
@test "node, curl, make, ssh, vim, apt-cache, systemctl, fc-list give no alarm" {
	quiet node -e 1
	quiet curl --version
	quiet make --version
	quiet ssh -V
	quiet vim --version
	quiet apt-cache policy bash
	quiet systemctl --version
	quiet fc-list
}

# lost CMD...: bytes definitely and possibly lost of CMD at its end.
lost() {
	command -v "$1" >/dev/null || skip "$1 is not installed"
	timeout 300 "$PMM" leaks --json --fail-on none --report "$T/report" -- "$@" >"$T/out" 2>"$T/err" </dev/null 3>&- || { cat "$T/err"; return 1; }
	jq -c 'select(.totals) | [.totals[] | select(.class == "definite" or .class == "possible").bytes]' "$T/report" | sort | tail -1
}

@test "interpreters: what they hold at their end by pointers into blocks is held, what they do not tear down is suppressed" {
	[ "$(lost tclsh /dev/null)" = "[0,0]" ]		# 437 KB possibly lost, says memcheck
	[ "$(lost ruby -e 1)" = "[0,0]" ]		# 565 KB definitely
	[ "$(lost perl -e 1)" = "[0,0]" ]
	[ "$(lost /usr/bin/python3 -c 1)" = "[0,0]" ]
	quiet tclsh /dev/null
	quiet ruby -e 1
	quiet /usr/bin/python3 -c 'import json, argparse, http.server'
}

@test "python: that its pools are not searched is said, also of one in a tree; of other programs it is not" {
	local said="objects that Python makes in pools of its own are not searched, unless PYTHONMALLOC=malloc is in its environment"
	has_said() { tr -s ' \n' ' ' <"$T/text" | grep -q -F " ! $said "; }
	within "$PMM" leaks --report "$T/text" -- /usr/bin/python3 -S -c 1
	has_said
	within "$PMM" leaks --report "$T/text" -- sh -c '/usr/bin/python3 -S -c 1; ls / >/dev/null'
	has_said
	within "$PMM" leaks --json --report "$T/json" -- sh -c '/usr/bin/python3 -S -c 1; ls / >/dev/null'
	[ "$(jq -c .pools "$T/json")" = '[{"language":"Python","setting":"PYTHONMALLOC=malloc"}]' ]
	within "$PMM" leaks --json --report "$T/json" -- ls / >"$T/out"
	[ "$(jq -c .pools "$T/json")" = "[]" ]
	within "$PMM" leaks --report "$T/text" -- sh -c 'ls / >/dev/null; :'
	run ! has_said
	"$PMM" run -q -o "$T/p.pmm" -- /usr/bin/python3 -S -c 'print("here", flush=True); import time; time.sleep(300)' >"$T/here" 2>"$T/err" 3>&- &
	await -p $! grep -q here "$T/here"
	pid=$(pgrep -P $!)
	within "$PMM" leaks "$pid" >"$T/text"
	kill "$pid"
	wait || true
	has_said
}

@test "ruby: what it loses while it runs is told" {
	local pid
	need ruby
	"$PMM" run -q -o "$T/ruby.pmm" -- ruby -e 'STDOUT.puts "here"; STDOUT.flush; sleep 300' >"$T/here" 2>"$T/err" 3>&- &
	await -p $! grep -q here "$T/here"
	pid=$(pgrep -P $!)
	within "$PMM" leaks --json --fail-on none "$pid" >"$T/live.json"
	kill "$pid"
	wait || true
	[ "$(jq '.totals[] | select(.class == "suppressed").bytes' "$T/live.json")" -lt 1000 ]
	[ "$(jq '.totals[] | select(.class == "definite").bytes' "$T/live.json")" -lt 1000 ]
	[ "$(jq '.totals[] | select(.class == "reachable").blocks' "$T/live.json")" -gt 5000 ]
}
