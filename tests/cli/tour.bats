#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The tour of README.md: its commands in order, as they are written there, and what matters of their output.

load lib

@test "the tour of the README, command by command" {
	local build=${PMM%/pmm} line
	need make pgrep
	sed -n '/^## The tour/,/^## More/p' "$ROOT/README.md" | sed -n 's/^    \$ //p' >"$T/commands"
	[ "$(wc -l <"$T/commands")" -eq 11 ]
	mkdir -p "$T/examples"
	cp -r "$ROOT/examples/tour" "$T/examples/tour"
	make -s -C "$T/examples/tour" clean
	# shellcheck disable=SC2016
	{
		echo '. "$CLI/wait.bash"'
		# who types it takes longer than the program to begin
		sed "s|build/|$build/|g; s|^sleep 5\$|await pgrep -P \$! -x shop >before; sleep 5|; s|.*attach -d|await grep -qx shop /proc/\$!/comm; &|" \
			"$T/commands"
	} >"$T/walk"
	(cd "$T" && CLI=$CLI within bash walk >out 2>err 3>&-)
	sed 's/pid [0-9]*/pid N/; s/ [0-9.]* \(ms\|s\)$/ TIME/' "$T/out" "$T/err" >"$T/all"
	while read -r line; do
		grep -qxF -- "$line" <(sed 's/^ *//' "$T/all") || { echo "missing: $line"; cat "$T/out" "$T/err"; return 1; }
	done <<-'END'
		100000 tasks are done
		pmm: 'examples/tour/todo' exited with status 0 after TIME
		pmm: live at end  13.9 MiB in 200,001 blocks
		pmm: calls        200,001 allocations of 13.9 MiB, 0 frees; 0% temporary
		pmm:     13.9 MiB  99.9%  task_new (todo)
		pmm: capture      todo.pmm
		live     13.9 MiB in 200,001 blocks at the end
		12.4 MiB  89.0%  100,000       1  task_new  todo.c:18
		1.53 MiB  11.0%  100,000       1  task_new  todo.c:16
		100,000 calls, 12.4 MiB, mean 130 B, max 130 B
		main  todo.c:30
		possibly lost    0 bytes in 0 blocks
		main  shop.c:38
		pmm: use after free in reply, reply.c:26
		read of 4 bytes, 24 bytes into a block of 28 bytes that was freed
		request_new  reply.c:13
		request_drop  reply.c:21
		found    1 error: 1 use after free; 1 canary scan of all live blocks
	END
	grep -qE '^  definitely lost  [0-9,]+ bytes in [0-9,]+ blocks, 1 site$' "$T/out"
	grep -qE '^ *[0-9.]+ K?i?B +[0-9]+  parse  shop.c:28$' "$T/out"
	grep -qE "^pmm: attached to 'shop' \([0-9]+\): allocator glibc" "$T/err"
	grep -qE '^ *[0-9.]+ m?s  #[12] [0-9]+ blocks?, .* outlived 1 s' "$T/out"
	grep -qE '^pmm: detached: process [0-9]+ is as it was' "$T/err"
	# every command of the README's first section is one that pmm has
	sed -n '/^| command/,/^$/p' "$ROOT/README.md" | grep -o '^| `pmm [a-z]*' | sed 's/.* //' >"$T/named"
	[ "$(wc -l <"$T/named")" -eq 11 ]
	"$PMM" help --list >"$T/list"
	while read -r line; do grep -qxE "$line( .*)?" "$T/list"; done <"$T/named"
}

@test "the README's pictures are there, small, and have words for those who do not see them" {
	local file
	python3 - "$ROOT/README.md" >"$T/pictures" <<-'END'
		import re, sys
		for words, file in re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", open(sys.argv[1]).read()):
		    print(len(words), file)
	END
	[ "$(wc -l <"$T/pictures")" -eq 4 ]
	while read -r words file; do
		[ "$words" -gt 60 ]
		[ "$(head -c 8 "$ROOT/$file" | od -An -tx1)" = " 89 50 4e 47 0d 0a 1a 0a" ]
		[ "$(wc -c <"$ROOT/$file")" -le 120000 ]
	done <"$T/pictures"
}
