#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Totals equal to heaptrack's on the same deterministic programs.
#
# Compared with the raw events that heaptrack records, from which its own totals are made, because
# heaptrack_print rounds bytes and takes for temporary what has the size and stack of the last
# allocation, even at another address. Differences that are heaptrack's: its library brings
# libstdc++ with it, whose emergency pool (72704 bytes, the first event, freed at the end) is taken
# off for C programs; it does not see memalign, valloc, pvalloc and realloc(p, 0); at exit it frees
# what the C library keeps for itself, so what leaks is compared for C programs without stdio only.

load lib

setup() { need heaptrack perl zstd; }

# theirs CMD...: sets CALLS TEMPORARY PEAK LEAKED from heaptrack's events.
theirs() {
	local pool=72704
	if ldd "$(command -v "$1")" | grep -q libstdc; then pool=0; fi
	rm -f "$T"/h.*
	within heaptrack -r -o "$T/h" "$@" >/dev/null 2>&1 || true
	read -r CALLS TEMPORARY PEAK LEAKED < <(zstd -dcq "$T"/h.raw.zst | perl -ne '
		BEGIN { $pool = shift; $calls = $temporary = $live = $peak = 0; $last = "" }
		if (/^\+ (\S+) \S+ (\S+)/) {
			if ($pool && hex($1) == $pool) { $pool = 0; next }
			$size{$2} = hex $1; $live += hex $1; $calls++; $last = $2;
			$peak = $live if $live > $peak;
		} elsif (/^- (\S+)/ && exists $size{$1}) {
			$temporary++ if $last eq $1;
			$live -= delete $size{$1}; $last = "";
		}
		END { print "$calls $temporary $peak $live\n" }' "$pool")
}

# agree CMD...: all four totals.
agree() {
	counts_agree "$@"
	[ "$(fact "$CAP" total live)" -eq "$LEAKED" ]
}

# counts_agree CMD...: all but what leaks.
counts_agree() {
	local command
	command=$(path "$1"); shift
	theirs "$command" "$@"
	track "$command" "$@"
	echo "heaptrack: $CALLS calls, $TEMPORARY temporary, peak $PEAK, leaked $LEAKED"
	found "$CAP" total allocs="$CALLS" temporary="$TEMPORARY" peak="$PEAK"
}

@test "leaf" { agree leaf; }
@test "temporary" { agree temporary; }
@test "peak" { agree peak; }
@test "table of sizes" { agree classes; }
@test "exceptions" { counts_agree cxx_throw; }
@test "100000 blocks" { agree many 50000 200; }
@test "libraries that come and go" { counts_agree unload "$PROG"; }
@test "inside the C library" { counts_agree inside; }

@test "xmllint" {
	need xmllint
	{ echo '<r>'; seq 2000 | sed 's/.*/<l n="&">&<\/l>/'; echo '</r>'; } >"$T/x.xml"
	counts_agree xmllint --noout "$T/x.xml"
}

@test "sqlite3" {
	need sqlite3
	counts_agree sqlite3 :memory: 'create table t(a); insert into t values (1), (2); select * from t;'
}
