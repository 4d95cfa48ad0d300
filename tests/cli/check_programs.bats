#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Real packaged programs that have no heap errors, at every level: silent, with output and status as natively.

load lib

setup() {
	cd "$T" || return 1
	seq 20000 | sed 's/.*/{"n":&,"text":"line &","list":[1,2,{"deep":[&]}]}/' >lines.json
	{ echo '<all>'; seq 3000 | sed 's/.*/<item n="&">text &<part\/><\/item>/'; echo '</all>'; } >x.xml
}

teardown() {
	[ -z "${SERVER:-}" ] || kill "$SERVER" 2>/dev/null || true
}

LEVELS=("--level=light" "--level=guard --budget all" "--level=guard --left" "--level=sampled --sample 16K")

# nothing_found: in found.json.
nothing_found() {
	jq -e .check.level found.json >levels || return 1
	jq -r -f "$CLI/check_found.jq" found.json >findings || return 1
	[ ! -s findings ] || { cat findings; return 1; }
}

# silent CMD...: at each level. Without the program there is nothing to see.
silent() {
	local native=0 status level
	command -v "$1" >/dev/null || { echo "# $1 is not installed" >&3; return 0; }
	within "$@" >native.out 2>native.err </dev/null || native=$?
	for level in "${LEVELS[@]}"; do
		status=0
		# shellcheck disable=SC2086 # options
		within "$PMM" check $level --json --report found.json -- "$@" >checked.out 2>checked.err </dev/null || status=$?
		nothing_found || return 1
		[ "$status" -eq "$native" ] || { echo "$level $*: status $status, natively $native"; cat checked.err; return 1; }
		cmp native.out checked.out || { echo "$level $*"; return 1; }
		cmp native.err checked.err || { echo "$level $*"; cat checked.err; return 1; }
	done
}

# sh_silent COMMAND: the same with a command of the shell's.
sh_silent() { silent sh -c "$1"; }

@test "languages: python3, perl, bash, awk, node" {
	silent /usr/bin/python3 -c 'import json, re; d = [json.loads(l) for l in open("lines.json")]
print(len(d), sum(x["n"] for x in d), len(re.findall("7", open("lines.json").read())))'
	silent perl -e 'my %h; $h{$_} = [1 .. 20] for 1 .. 3000; my $s = join ",", sort keys %h; print length($s), "\n"'
	# shellcheck disable=SC2016 # it is bash's to expand
	silent bash -c 'declare -A a; for i in {1..2000}; do a[$i]=x$i; done; echo ${#a[@]} $(echo ${a[77]} | tr x y)'
	silent awk 'BEGIN { for (i = 0; i < 50000; i++) a[i % 1000] = a[i % 1000] "x"; print length(a), length(a[7]) }'
	silent node -e 'let m = new Map(); for (let i = 0; i < 20000; i++) m.set("k" + i, [i]); console.log(m.size, JSON.stringify([...m].slice(0, 3)))'
}

@test "threads: python3, xz, zstd, sort" {
	silent /usr/bin/python3 -c 'import threading
def work(n, out): out.append(sum(len(str(i) * 3) for i in range(n)))
out = []; all = [threading.Thread(target=work, args=(2000, out)) for i in range(16)]
[t.start() for t in all]; [t.join() for t in all]; print(sorted(out))'
	silent xz -T4 --block-size=64KiB -c lines.json
	silent zstd -q -T4 -c lines.json
	silent sort --parallel=4 -r -t: -k2 lines.json
}

@test "data: jq, xmllint, sqlite3, openssl, tar, gzip, find" {
	silent jq -c '[.n, .list[2].deep[0]] | add' lines.json
	silent xmllint --xpath 'count(//item[part])' x.xml
	silent xmllint --format x.xml
	silent sqlite3 :memory: 'create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
		insert into t select i, "text" || i from n; create index x on t(b); select count(*), sum(a), max(b) from t where b like "%7%"'
	silent openssl dgst -sha256 lines.json
	sh_silent 'tar cf - lines.json x.xml | gzip -n | gzip -d | tar tf -'
	sh_silent 'bzip2 -c lines.json | bzip2 -d | md5sum'
	silent find . -name '*.json' -newer x.xml -o -size +100k -name 'l*'
}

@test "development: git, gcc, g++, make, gdb" {
	git init -q repo
	cp lines.json repo
	git -C repo add .
	git -C repo -c user.name=n -c user.email=e commit -qm one
	silent git -C repo log --stat --format=%s
	silent git -C repo diff --stat HEAD
	silent git -C repo fsck --no-progress
	echo '#include <stdio.h>
int main(int argc, char **argv) { return printf("%d %s\n", argc, argv[0]) < 0; }' >a.c
	sh_silent 'gcc -O2 -g -o a.out a.c && ./a.out'
	echo '#include <iostream>
#include <map>
#include <string>
int main() { std::map<std::string, int> m; for (int i = 0; i < 100; i++) m[std::to_string(i)] = i; std::cout << m.size() << "\n"; }' >b.cc
	sh_silent 'g++ -o b.out b.cc && ./b.out'
	printf 'all: x y\nx:\n\t@echo x\ny: x\n\t@echo y\n' >Makefile
	silent make -s
	command -v gdb >/dev/null || skip "gdb is not installed"
	silent gdb -q -nx --batch -ex 'print sizeof(long)' -ex 'info functions main' a.out
}

@test "a server: redis-server, with its benchmark" {
	need redis-server redis-cli redis-benchmark
	local level status
	for level in "${LEVELS[@]}"; do
		# shellcheck disable=SC2086 # options
		"$PMM" check $level --json --report found.json -- redis-server --port 0 --unixsocket "$T/socket" --save '' --appendonly no >server.out 2>&1 &
		SERVER=$!
		await -p "$SERVER" redis-cli -s "$T/socket" ping
		within redis-benchmark -s "$T/socket" -q -n 2000 -t set,get,lpush,lrange_100,zadd,hset >benchmark
		[ "$(tr '\r' '\n' <benchmark | grep -c 'requests per second.*p50')" -ge 5 ]
		within redis-cli -s "$T/socket" shutdown nosave
		status=0
		wait "$SERVER" || status=$?
		SERVER=
		[ "$status" -eq 0 ] || { cat server.out; return 1; }
		nothing_found || return 1
	done
}
