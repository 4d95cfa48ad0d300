#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Whole call stacks, as the agent records them, against libgcc's unwinder: on every malloc and calloc, to the last frame.

load lib

LIBPMM=$(dirname "$PMM")/libpmm.so

# compare CMD [ARG...]: run it with the comparison and an agent of its own. Leaves its lines in $T/stacks; fails when a
# stack differs or does not reach the last frame.
compare() {
	local command
	command=$(path "$1"); shift
	rm -f "$T/stacks"
	within env -u PMM_LEDGER SAME_STACKS="$T/stacks" LD_PRELOAD="$PROG/libsame_stacks.so:$LIBPMM" \
		"$command" "$@" >"$T/out" 2>"$T/err" </dev/null
	cat "$T/stacks"
	grep -q 'stacks=[1-9]' "$T/stacks"
	! grep -Ev ' different=0 unfinished=0 untracked=0$' "$T/stacks"
}

# distinct NAME LEAST: how many different stacks the process NAME was compared on.
distinct() {
	[ "$(sed -n "s/^$1 .* distinct=\([0-9]*\) .*/\1/p" "$T/stacks" | sort -n | tail -1)" -ge "$2" ]
}

@test "frames of every kind" { compare odd_stacks; distinct odd_stacks 4000; }
@test "frames of every kind, with frame pointers" { compare odd_stacks_fp; distinct odd_stacks_fp 4000; }

@test "python3" {
	need /usr/bin/python3
	PYTHONMALLOC=malloc compare /usr/bin/python3 -c 'import json, re, email, argparse
for i in range(100): re.compile("%da*b" % i)'
	distinct python3 1000
}

@test "perl" {
	need perl
	compare perl -MData::Dumper -e 'for (1 .. 20) { my @a = map { { a => $_, b => [ split //, "x$_" ] } } 1 .. 20;
		$_ = Dumper([ sort { $a->{a} <=> $b->{a} } @a ]) }'
	distinct perl 500
}

@test "sqlite3" {
	need sqlite3
	compare sqlite3 :memory: 'create table t(a, b); insert into t values(1, 2), (3, 4); create index x on t(b);
		select count(*), max(b) from t group by a order by 2'
	distinct sqlite3 300
}

@test "gcc, and what it starts" {
	need gcc
	compare gcc -O2 -c -o "$T/jump.o" "$SOURCE/jump.c"
	distinct cc1 1000
}
