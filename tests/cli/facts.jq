# SPDX-License-Identifier: GPL-2.0-or-later
# Compares a report with what must be found: lines of "KIND [NAME] KEY=NUMBER...", given as
# $expected. Prints a line for each difference; with $value only the numbers of the first line's
# keys.
#
#   total, mapping, threads    figures of the process
#   kinds                      live blocks by entry (malloc, new[], ...)
#   site NAME, map NAME        sum over all stacks through a function: of blocks, of mappings
#   own NAME                   the same of stacks whose innermost function it is
#   class N, thread NAME       a row of the table of sizes; a thread

def actual($kind; $name):
	if $kind == "total" then total
	elif $kind == "site" then [sites[] | select(names | index($name))] | sums
	elif $kind == "own" then [sites[] | select(names[0] == $name)] | sums
	elif $kind == "map" then [map_sites[] | select(names | index($name))] | sums
	elif $kind == "class" then classes[$name | tonumber]
	elif $kind == "thread" then first((threads[] | select(.name == $name)), {})
	elif $kind == "threads" then {count: (threads | length)}
	elif $kind == "kinds" then
		blocks | group_by(.kind) | map({key: .[0].kind, value: length}) | from_entries
	elif $kind == "mapping" then mapping
	else error("no kind \($kind)") end;

. as $report
| $expected | split("\n")[] | select(length > 0)
| [splits(" +")] as $words
| ([$words[] | select(contains("=") | not)]) as $head
| ($report | actual($head[0]; $head[1])) as $actual
| $words[] | select(contains("=")) | split("=") as [$key, $want]
| $actual[$key] as $is
| if $value then $is
  elif $is == ($want | tonumber) then empty
  else "\($head | join(" ")): \($key) is \($is), must be \($want)" end
