#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace: its user stacks are those that gdb sees at the same events, of programs of the distribution. TRACE_GDB_EVENTS: of how
# many events (200); `make trace-gdb` compares 1000.

bats_require_minimum_version 1.5.0
load lib
load trace

setup() {
	needs_bpf
	need gdb
	need python3
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
}

# same SKIP COMMAND...: gdb runs the command, pmm traces both. Stacks after SKIP system calls are compared; numbers in $T/sums.
same() {
	local half=$((${TRACE_GDB_EVENTS:-200} / 10)) status=0
	type -P "$2" >/dev/null || skip "no $2 installed"
	STACKS=$T/stacks CALLS=$half FAULTS=$half SKIP=$1 timeout -k 5 300 "$PMM" trace mmap,brk,faults --json --top 0 --sample 1 \
		--command "$(basename "$2")" -- sh -c 'exec gdb "$@" >"$0" 2>&1 </dev/null' "$T/gdb" \
		-nx -batch -x "$ROOT/tests/cli/trace_gdb.py" --args "$(type -P "$2")" "${@:3}" >"$T/out" 2>"$T/err" || status=$?
	[ "$status" -eq 0 ] || { echo "status $status"; tail -n 3 "$T/err" "$T/gdb"; return 1; }
	[ "$(result '.coverage.lost_in_ring + .coverage.lost_in_tables + .coverage.missed_by_recursion')" -eq 0 ]
	python3 "$ROOT/tests/cli/trace_gdb_compare.py" "$T/out" "$T/stacks" >"$T/compared" || { tail -n 3 "$T/compared" "$T/gdb"; return 1; }
	cat "$T/compared"
	tail -1 "$T/compared" >"$T/sums"
	echo "# $(cat "$T/sums")" >&3
	tail -3 "$T/gdb"
	jq -e ".events + .gdb_lost == 2 * $half and .gdb_lost <= $half / 20 and .equal == .events" "$T/sums"
	jq -e '.complete >= 0.94 * .events' "$T/sums"
	# so that it is no test of one stack
	jq -e ".stacks >= $half / 3 and .instructions >= 5" "$T/sums"
}

@test "python3" {
	same 300 /usr/bin/python3 -c 'import json, re
a = [json.loads(json.dumps({"k": list(range(i % 900))})) for i in range(300)]
print(len(re.sub("[0-9]+", lambda m: m.group() * 40, json.dumps(a))))'
}

@test "perl, in handlers of signals as well" {
	# shellcheck disable=SC2016
	PERL_SIGNALS=unsafe same 250 /usr/bin/perl -e '
		$SIG{ALRM} = sub { push @a, map { "x" x (20000 + $_) } 1..5; $c{$_} = join ":", 1..$_ for 1..50; };
		for (1..1000) { kill ALRM => $$; @b = sort map { $_ * 7 % 1000 } 1..(30 * $_); s/(\d)/<$1>/g for @b; %d = map { $_ => "y" x $_ } @b; }'
	jq -e '.in_signals >= 1' "$T/sums"
}

@test "sqlite3" {
	same 85 sqlite3 :memory: 'create table t(a, b);
		with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) insert into t select i, hex(i * 7919 % 10007) from n;
		create index x on t(b); select count(*) from (select b, group_concat(a) from t group by b order by 2);'
}

@test "jq" {
	same 60 jq -n '[range(20000) | tostring] | add | length'
}

@test "gcc's compiler" {
	need gcc
	local i
	for ((i = 0; i < 300; i++)); do
		echo "int f$i(int a, char *b) { for (int i = 0; i < a; i++) { b[i] = b[a - i] * $i + i; if (b[i] > 3) g(b); } return a; }"
	done >"$T/source.i"
	same 60 "$(gcc -print-prog-name=cc1)" -quiet -O2 -w -fpreprocessed "$T/source.i" -o /dev/null
}
