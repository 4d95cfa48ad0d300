#!/usr/bin/env bats
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
pmm: hint: usage: pmm help [options] [COMMAND]" help run report
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

@test "installation in DESTDIR is complete and works from there" {
	local file command
	(cd "$ROOT" && tools/install "$(dirname "$PMM")" "$T/dest" /opt/pmm) >"$T/files"
	while read -r file; do [ -s "$file" ]; done <"$T/files"
	diff <(sort "$T/files") <(find "$T/dest" -type f | sort)
	diff "$ROOT/doc/shim.md" "$T/dest/opt/pmm/share/doc/pmm/shim.md"
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

@test "a prefix that is no whole path is refused" {
	local status=0
	(cd "$ROOT" && tools/install "$(dirname "$PMM")" "$T/dest" usr) >"$T/out" 2>"$T/err" || status=$?
	[ "$status" -eq 2 ]
	[ ! -s "$T/out" ]
	[ ! -e "$T/dest" ]
	[ ! -e "${T}/destusr" ]
	[ "$(cat "$T/err")" = "tools/install: PREFIX is where pmm will be found, a whole path; not 'usr'" ]
}
