#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Servers that are sound, at steady load: no likely leak, nothing that grows, and what they hold by pointers into blocks is held. Ten of them for a
# minute: make servers.

load lib

# steady OPTION... SERVER...: their rows in $T/rows.json.
steady() {
	need python3
	for server in redis-server memcached nginx; do PATH=$PATH:/usr/sbin need "$server"; done
	timeout 300 python3 "$ROOT/bench/servers.py" --pmm "$PMM" --seconds 10 --jobs 3 --json "$T/rows.json" "$@" >"$T/said" 2>&1 3>&- ||
		{ cat "$T/said"; return 1; }
}

@test "redis, memcached and nginx at steady load have no likely leak" {
	steady redis memcached nginx
	json_is '[["redis",0,0],["memcached",0,0],["nginx",0,0]]' '[.[] | [.server, .verdicts.certain, .verdicts.likely]]' <"$T/rows.json"
	json_is true 'all(.requests > 100 and .blocks > 100)' <"$T/rows.json"
	json_is true 'all(.possible < 10)' <"$T/rows.json"	# 70 of redis without heuristics, 12 of nginx
}

@test "the same, attached to" {
	steady --attach redis memcached nginx
	json_is '[["redis",0,0],["memcached",0,0],["nginx",0,0]]' '[.[] | [.server, .verdicts.certain, .verdicts.likely]]' <"$T/rows.json"
}
