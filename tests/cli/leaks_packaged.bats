#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs as Debian has them, whole: a tree of processes, an interpreter, two servers. In the same conditions memcheck and pmm find the same at
# their ends, by call site, or the reason is one that doc/leaks.md names. More of them: make memcheck.

load lib

setup() { PATH=$PATH:/usr/sbin need python3 valgrind jq; }

# agree PROGRAM...: their rows in $T/rows.json; nothing differs without a reason.
agree() {
	LIMIT=200 within python3 "$ROOT/tests/memcheck/memcheck.py" --pmm "$PMM" --json "$T/rows.json" "$@" >"$T/said" 2>&1 3>&- ||
		{ cat "$T/said"; return 1; }
}

# rows FILTER: of each process, what the filter gives of it.
rows() { jq -c "[.[] | $1]" "$T/rows.json"; }

@test "groff, troff and grotty have lost the same at the same call sites, which is a lot" {
	need groff
	agree groff
	[ "$(rows '[.process, .pmm.definite[1] > 400, .differences]')" = '[["groff",true,[]],["troff",true,[]],["grotty",true,[]]]' ]
	[ "$(rows 'select(.memcheck != .pmm)')" = '[]' ]
}

@test "ruby has lost the same when it ends without freeing anything" {
	need ruby
	agree ruby-whole
	[ "$(rows '[.memcheck.definite == .pmm.definite, .memcheck.indirect == .pmm.indirect, .pmm.reachable[1] > 20000]')" = '[[true,true,true]]' ]
}

@test "nginx has lost the same: its connections, with all of their events" {
	PATH=$PATH:/usr/sbin need nginx
	agree nginx
	[ "$(rows '[.pmm.definite, .pmm.indirect, .memcheck.definite, .memcheck.indirect]')" = '[[[15360,1],[12288,2],[15360,1],[12288,2]]]' ]
}

@test "redis has lost nothing" {
	need redis-server
	agree redis
	[ "$(rows '[.process, .memcheck.definite[0] + .memcheck.indirect[0], .pmm.definite[0] + .pmm.indirect[0], .pmm.possible[1] > 1000]')" = \
		'[["redis-server",0,0,true]]' ]
}
