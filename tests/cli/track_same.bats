#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Packaged programs: output, messages and exit status are the same natively and tracked, and so is
# what a program sees of itself.

load lib

setup() { seq 1 20000 | sed 's/$/ some words and numbers/' >"$T/lines"; }

@test "ls" { same ls -la /usr/bin; }
@test "ls that fails" { same ls /no/such/file; [ "$STATUS" -eq 2 ]; }
@test "sort" { same sort -k1,1nr --parallel=2 -S 1M "$T/lines"; }
@test "grep that finds nothing" { same grep nothing-of-it "$T/lines"; [ "$STATUS" -eq 1 ]; }
@test "awk" { same awk '{ n[$1 % 9] += length } END { for (i in n) print i, n[i] }' "$T/lines"; }
@test "tar" { same tar -C "$SOURCE" -cf - .; }
@test "xz" { need xz; same xz -kc "$T/lines"; }
@test "zstd" { need zstd; same zstd -qc -T2 "$T/lines"; }
@test "openssl" { need openssl; same openssl dgst -sha256 "$T/lines"; }
@test "bash" { same bash -c 'echo $((6 * 7)); cd /; pwd; ls | wc -l; false'; [ "$STATUS" -eq 1 ]; }

@test "sqlite3" {
	need sqlite3
	same sqlite3 :memory: 'create table t(a, b); with recursive n(i) as (select 1 union all
		select i + 1 from n where i < 20000) insert into t select i, hex(i * 7) from n;
		create index x on t(b);
		select count(*), max(b), sum(a) from t where b > "4"; select no_such_column from t;'
	[ "$STATUS" -ne 0 ]
}

@test "jq" { same jq -n '[range(5000) | {a: ., b: "\(.)"}] | group_by(.a % 10) | map(length)'; }

@test "xmllint" {
	need xmllint
	{ echo '<r>'; sed 's/.*/<l n="&">&<\/l>/' "$T/lines"; echo '</r>'; } >"$T/x.xml"
	same xmllint --format "$T/x.xml"
	echo '<r><l></r>' >"$T/bad.xml"
	same xmllint "$T/bad.xml"
	[ "$STATUS" -ne 0 ]
}

@test "gcc" {
	need gcc
	same gcc -O1 -S -o - "$SOURCE/jump.c"
	same gcc -fsyntax-only -xc /dev/null -include no_such.h
	[ "$STATUS" -eq 1 ]
}

@test "git" { need git; same git -C "$ROOT" log --oneline -3; }

@test "descriptors" { same ls /proc/self/fd; }
@test "signals" { same grep -E '^(Sig(Blk|Ign|Cgt|Pnd)|ShdPnd)' /proc/self/status; }
@test "capabilities" { same grep -E '^(Cap|NoNewPrivs)' /proc/self/status; }
@test "threads, users, umask" { same grep -E '^(Threads|Uid|Gid|Groups|Umask)' /proc/self/status; }
@test "limits" { same sh -c 'ulimit -a; ulimit -H -a'; }
@test "directory, priority" { same sh -c 'pwd; nice; cat /proc/self/oom_score_adj'; }

@test "signals ignored by the caller" {
	trap '' PIPE INT
	same grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status
}
