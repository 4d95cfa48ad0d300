# SPDX-License-Identifier: GPL-2.0-or-later
# Findings of `pmm check --json` as lines "ARGUMENTS: FINDING", one document (process) after the other; see check_matrix.table.

def own($stack): [.frames[] | select(.stack == $stack and .role == "program") | .function // "?" | sub("\\(.*"; "")];
def first_of($stack): own($stack)[0] // "-";
def hex: ltrimstr("0x") | explode | reduce .[] as $c (0; . * 16 + (if $c >= 97 then $c - 87 else $c - 48 end));

# Bytes behind the block's end for overruns, before its start (negative) for underruns, from its start for others.
def distance:
	(.address | hex) - (.block_address | hex) | if . < 4294967296 and . > -4294967296 then . else "elsewhere" end;
def where:
	if .block_address == null or .address == null then "-"
	elif .type == "overrun" then "end+\(distance - .block_bytes)"
	else distance | if type == "number" and . < 0 then "start\(.)" else "start+\(.)" end
	end;

def words:
	[.type, .by, .access // "-", .size_bytes // "-", where, (if .block_bytes then .block_bytes else "-" end), .kind // "-",
	 (own("error") | if length == 0 then "-" else .[:if .[0] | startswith("by_") then 2 else 1 end] | join("<") end),
	 first_of("allocated"), first_of("freed"),
	 (.function_called, .release, .place | values | gsub(" "; "-")),
	 (if .said then "said=\(.said)" else empty end),
	 (if .count > 1 then "x\(.count)" else empty end), (if .parent_pid then "parent" else empty end),
	 (if .guarded then "guarded" else empty end)] | map(tostring) | join(" ");

(.process.cmdline | split(" ")[1:] | join(" ")) as $arguments | .findings[] | "\($arguments): \(words)"
