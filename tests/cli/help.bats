#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm help, usage errors, man pages, completion, installation: all from the tables of options.

load lib

# says STATUS TEXT ARGS...: pmm ARGS ends with STATUS and prints exactly TEXT on stderr and nothing on stdout.
says() {
	local want=$1 text=$2 out status=0
	shift 2
	out=$("$PMM" "$@" 2>"$T/said") || status=$?
	[ "$status" -eq "$want" ] || { echo "status $status"; return 1; }
	[ -z "$out" ] || { echo "stdout: $out"; return 1; }
	[ "$(cat "$T/said")" = "$text" ] || { cat "$T/said"; return 1; }
}

@test "every command is listed, helped and has a man page without warnings" {
	local command n=0
	for command in $("$PMM" help --list); do
		"$PMM" --help | grep -q "^  $command "
		"$PMM" "$command" --help >"$T/a"
		"$PMM" help "$command" >"$T/b"
		cmp "$T/a" "$T/b"
		head -1 "$T/a" | grep -q "^usage: pmm $command "
		n=$((n + 1))
	done
	[ "$n" -eq "$("$PMM" --help | sed -n '/^commands:$/,/^$/p' | grep -c '^  [a-z]')" ] && [ "$n" -gt 0 ]
}

@test "man pages have no warnings and name every option" {
	need man
	local command option
	for command in $("$PMM" help --list); do
		"$PMM" help --man "$command" >"$T/page.1"
		MANWIDTH=100 man --warnings -l "$T/page.1" 2>"$T/warnings" | col -b >"$T/page"
		[ ! -s "$T/warnings" ] || { cat "$T/warnings"; return 1; }
		grep -q "^NAME" "$T/page"
		for option in $("$PMM" help "$command" | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -- '--.*'); do
			grep -q -- "$option" "$T/page" || { echo "$command: $option"; return 1; }
		done
	done
	"$PMM" help --man attach >"$T/page.1"
	MANWIDTH=200 man -l "$T/page.1" | col -b | grep -qF 'select(.event == "site")'
	"$PMM" help --man >"$T/page.1"
	[ -z "$(man --warnings -l "$T/page.1" 2>&1 >/dev/null)" ]
}

@test "version" {
	[[ $("$PMM" --version) =~ ^pmm\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "no command: the list, and status 2" {
	local status=0
	"$PMM" >"$T/out" || status=$?
	[ "$status" -eq 2 ]
	grep -q '^commands:' "$T/out"
}

@test "a slip in a command's name" {
	says 2 "pmm: no command 'rnu'
pmm: hint: did you mean 'pmm run'?" rnu
	says 2 "pmm: no command 'xyzzy'
pmm: hint: 'pmm help' lists the commands" help xyzzy
}

@test "no command, but what can be shown: a process, a capture, a program" {
	local launched monitor
	"$PMM" run -q -o "$T/kept.pmm" -- "$PROG/leaf"
	diff <("$PMM" "$T/kept.pmm" --top 1) <("$PMM" report "$T/kept.pmm" --top 1)
	cp "$PROG/leaf" "$T/server"
	says 2 "pmm: no command '$T/server'
pmm: hint: 'pmm run $T/server' tracks a program from its start; 'pmm leaks -- $T/server' and 'pmm check -- $T/server' look for its leaks and heap errors" "$T/server"
	"$PMM" run -q -o "$T/live.pmm" -- sh -c 'echo $$ >"$1"; x=1; while :; do sleep 0.1; done' sh "$T/pid" 3>&- &
	monitor=$!
	await -p "$monitor" test -s "$T/pid"
	launched=$(<"$T/pid")
	await -p "$monitor" "$PMM" report "$launched"
	"$PMM" "$launched" >"$T/out"
	grep -q "pid $launched, ran" "$T/out"
	for command in report "snapshot -o $T/now.pmm" leaks; do
		# shellcheck disable=SC2086
		"$PMM" $command "$monitor" >"$T/out" 2>"$T/err" || [ "$command" = leaks ]
		grep -Fx "pmm: process $monitor is pmm, which has launched process $launched ('sh'): that is meant" "$T/err"
	done
	kill "$launched"
	wait "$monitor" || true
}

@test "a slip in an option's name" {
	says 2 "pmm: unknown option '--completoin'
pmm: hint: did you mean '--completion'?" help --completoin=bash
	says 2 "pmm: unknown option '-Z'
pmm: hint: 'pmm run --help' lists the options" run -Z true
}

@test "bad, missing and surplus arguments" {
	says 2 "pmm: --sample: '12Q' is not a size
pmm: hint: a number of bytes, or with K, M, G or T: 4096, 64K, 1.5M" run --sample=12Q true
	says 2 "pmm: option '--output' needs an argument
pmm: hint: 'pmm run --help' lists the options" run --output
	says 2 "pmm: 'fish' is not a choice of --completion
pmm: hint: one of: bash, zsh" help --completion fish
	says 2 "pmm: unexpected argument 'report'
pmm: hint: usage: pmm help [options] [COMMAND|formats]" help run report
}

@test "output that cannot be written is an error" {
	local status=0
	"$PMM" help >/dev/full 2>"$T/err" || status=$?
	[ "$status" -eq 3 ]
	[ "$(cat "$T/err")" = "pmm: cannot write to standard output: No space left on device" ]
}

# complete LINE: what bash would offer for the last word of LINE.
complete() {
	bash --norc -c '
		source <("$1" help --completion bash)
		compopt() { :; }
		read -ra COMP_WORDS <<<"$2"
		[[ $2 != *" " ]] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_pmm
		printf "%s\n" "${COMPREPLY[@]}"' bash "$PMM" "$1" | LC_ALL=C sort | tr '\n' ' '
}

@test "bash completion" {
	[ "$(complete 'pmm he')" = "help " ]
	[ "$(complete 'pmm help --m')" = "--man " ]
	[ "$(complete 'pmm help --completion ')" = "bash zsh " ]
	[ "$(complete 'pmm help hel')" = "help " ]
	[ "$(complete 'pmm help --completion =')" = "bash zsh " ]	# readline makes a word of the sign
	[ "$(complete 'pmm help --completion = z')" = "zsh " ]
	[ "$(complete "pmm run --output = $SOURCE/leaf.")" = "$SOURCE/leaf.c " ]
	[[ " $(complete 'pmm attach ')" == *" $$ "* ]]
	[[ " $(complete "pmm attach $$")" == *" $$ "* ]]
	[[ " $(complete 'pmm attach ')" != *" help.bats "* ]]
	[[ " $(cd "$BATS_TEST_DIRNAME"; complete 'pmm report ')" == *" help.bats "* ]]
	[[ " $(complete 'pmm report ')" == *" $$ "* ]]
	[ "$(complete 'pmm run --no-f')" = "--no-follow " ]
	[ "$(complete "pmm run -o $SOURCE/leaf.")" = "$SOURCE/leaf.c " ]
	[ "$(complete "pmm run -- cat $SOURCE/leaf.")" = "$SOURCE/leaf.c " ]
}

@test "zsh completion is valid zsh" {
	need zsh
	"$PMM" help --completion zsh >"$T/_pmm"
	zsh -n "$T/_pmm"
	head -1 "$T/_pmm" | grep -qx '#compdef pmm'
}

# broken_links FOLDER: links of its pages, and of those in doc/, to files that are not there.
broken_links() {
	local page link
	for page in "$1"/*.md "$1"/doc/*.md; do
		[ -f "$page" ] || continue
		grep -oE '\]\([^)#:]+[)#]' "$page" | sed 's/^](//; s/.$//' | while read -r link; do
			[ -e "${page%/*}/$link" ] || echo "${page##*/}: $link"
		done
	done
}

@test "installation in DESTDIR is complete and works from there" {
	local file command
	(cd "$ROOT" && tools/install "$(dirname "$PMM")" "$T/dest" /opt/pmm) >"$T/files"
	while read -r file; do [ -s "$file" ]; done <"$T/files"
	diff <(sort "$T/files") <(find "$T/dest" -type f | sort)
	diff "$ROOT/doc/shim.md" "$T/dest/opt/pmm/share/doc/pmm/shim.md"
	for page in README CONTRIBUTING; do
		diff <(sed 's#](doc/#](#g' "$ROOT/$page.md") "$T/dest/opt/pmm/share/doc/pmm/$page.md"
	done
	broken_links "$T/dest/opt/pmm/share/doc/pmm" >"$T/broken"
	diff /dev/null "$T/broken"
	broken_links "$ROOT" >"$T/broken"
	diff /dev/null "$T/broken"
	diff "$ROOT/LICENSE" "$T/dest/opt/pmm/share/doc/pmm/LICENSE"
	diff -r "$ROOT/LICENSES" "$T/dest/opt/pmm/share/doc/pmm/LICENSES"
	diff -r -x meson.build "$ROOT/examples" "$T/dest/opt/pmm/share/doc/pmm/examples"
	for command in $("$PMM" help --list); do [ -s "$T/dest/opt/pmm/share/man/man1/pmm-$command.1" ]; done
	[ "$(stat -c %a "$T/dest/opt/pmm/bin/pmm")" = 755 ]
	[ -s "$T/dest/opt/pmm/share/man/man1/pmm.1" ]
	[ -s "$T/dest/opt/pmm/share/bash-completion/completions/pmm" ]
	[ -s "$T/dest/opt/pmm/share/zsh/site-functions/_pmm" ]
	"$T/dest/opt/pmm/bin/pmm" run -q -o "$T/a.pmm" -- true
	[ -s "$T/a.pmm" ]
	"$T/dest/opt/pmm/bin/pmm" check -- true
	for file in libpmm libpmm_check libpmm_inject; do [ -s "$T/dest/opt/pmm/lib/pmm/$file.so" ]; done
}

@test "meson install puts the same there, and make uninstall takes away all of it and nothing else" {
	local build
	build=$(dirname "$PMM")
	(cd "$ROOT" && tools/install "$build" "$T/by-make" /usr/local) | sed "s:^$T/by-make::" | sort >"$T/make.list"
	DESTDIR=$T/by-meson meson install --no-rebuild -C "$build" >"$T/meson.out"
	(cd "$T/by-meson" && find . -type f -printf '/%P\n' | sort) >"$T/meson.list"
	diff "$T/make.list" "$T/meson.list"
	diff -r "$T/by-make" "$T/by-meson"
	echo mine >"$T/by-meson/usr/local/share/pmm/mine"
	echo mine >"$T/by-meson/usr/local/bin/mine"
	make -s -C "$ROOT" uninstall DESTDIR="$T/by-meson"
	diff <(find "$T/by-meson" -type f -printf '%P\n' | sort) <(printf '%s\n' usr/local/bin/mine usr/local/share/pmm/mine)
	[ "$(cd "$T/by-meson/usr/local" && find . -type d | sort | tr '\n' ' ')" = ". ./bin ./share ./share/pmm " ]
	mkdir -p "$T/by-make/usr/local/share/zsh/mine"	# once more over what is there; then nothing of it is left
	(cd "$ROOT" && tools/install "$build" "$T/by-make" /usr/local) >"$T/files"
	make -s -C "$ROOT" uninstall DESTDIR="$T/by-make"
	[ "$(cd "$T/by-make/usr/local" && find . -type d | sort | tr '\n' ' ')" = ". ./share ./share/zsh ./share/zsh/mine " ]
}

@test "what is installed does not know in which directory it was built" {
	local file
	for file in pmm libpmm.so libpmm_check.so libpmm_inject.so libpmm_shim.a; do
		[ "$(grep -a -c -F "$ROOT" "$(dirname "$PMM")/$file")" -eq 0 ] || { echo "$file names $ROOT"; return 1; }
	done
}

@test "uninstall: without the list, and with one that names other files, nothing is removed" {
	local status=0
	make -s -C "$ROOT" uninstall DESTDIR="$T/none" >"$T/out" 2>&1 || status=$?
	[ "$status" -eq 2 ]
	grep -Fx "tools/install: '$T/none/usr/local/share/pmm/installed', which says what was installed, is not there" "$T/out"
	mkdir -p "$T/bad/usr/local/share/pmm"
	echo kept >"$T/kept"
	echo ../../../kept >"$T/bad/usr/local/share/pmm/installed"
	status=0
	make -s -C "$ROOT" uninstall DESTDIR="$T/bad" >"$T/out" 2>&1 || status=$?
	[ "$status" -eq 2 ]
	[ "$(cat "$T/kept")" = kept ]
}

@test "a prefix that is no whole path is refused" {
	local status=0
	(cd "$ROOT" && tools/install "$(dirname "$PMM")" "$T/dest" usr) >"$T/out" 2>"$T/err" || status=$?
	[ "$status" -eq 2 ]
	[ ! -s "$T/out" ]
	[ ! -e "$T/dest" ]
	[ ! -e "${T}/destusr" ]
	[ "$(cat "$T/err")" = "tools/install: PREFIX is where pmm will be found, a whole path; not 'usr'" ]
}
