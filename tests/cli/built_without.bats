#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm built where a package is missing that it can do without: which forms it lacks, and that it says so. Only what such a pmm has of its own is compiled;
# the rest is that of the build tree.

load lib

ASSETS=meson-generated_.._page_assets.c.o

setup() { need meson ninja pkg-config jq; }

# hide_inih: for meson, pkg-config's files without libinih's.
hide_inih() {
	local directory
	mkdir "$T/pkgconfig"
	for directory in $(pkg-config --variable pc_path pkg-config | tr : ' '); do
		[ ! -d "$directory" ] || ln -sf -t "$T/pkgconfig" "$directory"/*.pc
	done
	rm -f "$T/pkgconfig/inih.pc"
	export PKG_CONFIG_LIBDIR=$T/pkgconfig
}

# hide_esbuild: a PATH of all programs but that one; the first of a name is the one that counts.
hide_esbuild() {
	local directory all
	IFS=: read -r -a all <<<"$PATH"
	mkdir "$T/bin"
	for ((directory = ${#all[@]} - 1; directory >= 0; directory--)); do
		[ ! -d "${all[directory]}" ] || find "${all[directory]}" -mindepth 1 -maxdepth 1 -exec ln -sf -t "$T/bin" {} +
	done
	rm -f "$T/bin/esbuild"
	export PATH=$T/bin
}

# build OBJECT [OPTION...]: configure as things are, compile that file, and link pmm in LACKING with it and the rest of the build tree.
build() {
	local build compile link
	build=$(realpath "$(dirname "$PMM")")
	within meson setup "$T/tree" "$ROOT" -Dagent=false "${@:2}" >"$T/setup" 2>&1 || { cat "$T/setup"; return 1; }
	# not by ninja, which would make all generated files first
	[ "$1" != "$ASSETS" ] || within ninja -C "$T/tree" page_assets.c >"$T/ninja" 2>&1 || { cat "$T/ninja"; return 1; }
	mkdir -p "$T/tree/libpmm_core.a.p"
	compile=$(jq -r --arg output "libpmm_core.a.p/$1" '.[] | select(.output == $output).command' "$T/tree/compile_commands.json")
	link=$(ninja -C "$T/tree" -t commands pmm | tail -1)
	[[ $link == *" pmm.p/src_cmd_main.c.o "*" libpmm_core.a "* ]]
	link=${link/ pmm.p\// "$build/pmm.p/"}
	(cd "$T/tree" && eval "$compile" && eval "${link/ libpmm_core.a / "libpmm_core.a.p/$1" "$build/libpmm_core.a" }")
	LACKING=$T/tree/pmm
	"$MKCAPTURE" "$CLI/golden/demo.recipe" "$T/demo.pmm"
	"$LACKING" report "$T/demo.pmm" | diff - <("$PMM" report "$T/demo.pmm")
}

# lacks_pages WHAT: no page is written, and all that is asked says what is missing; budgets are judged.
lacks_pages() {
	refused_with 3 "this pmm was built without pages: it lacked $1$" "$LACKING" report --format html -o "$T/page.html" "$T/demo.pmm"
	[ "$(sed -n 2p "$T/said")" = "pmm: hint: install $1 and build pmm again" ]
	refused_with 3 "this pmm was built without pages: it lacked $1$" "$LACKING" diff --format html -o "$T/page.html" "$T/demo.pmm" "$T/demo.pmm"
	[ ! -e "$T/page.html" ]
	"$LACKING" help formats >"$T/forms"
	tr -s ' \n' ' ' <"$T/forms" | grep -q " no server and no network; NOT in this pmm, which was built without $1 csv "
	[ "$(grep -c NOT "$T/forms")" -eq 1 ]
}

# judges: budgets, as the build tree's pmm does.
judges() {
	printf '[demo*]\npeak = 1\n' >"$T/budgets"
	local status=0
	"$LACKING" budget -f "$T/budgets" "$T/demo.pmm" >"$T/judged" 2>&1 || status=$?
	[ "$status" -eq 1 ]
	grep -q '^ *budgets  0 kept, 1 exceeded, 0 not measured, of 1$' "$T/judged"
}

has_inih() { pkg-config --exists inih; }

@test "libinih: budgets are not read, which is said; all forms are there" {
	[ "$(cd "$ROOT" && grep -rlE 'HAVE_INIH|<ini\.h>' src | xargs)" = src/analyze/budget/budget_parse.c ]	# that alone differs
	hide_inih
	build src_analyze_budget_budget_parse.c.o
	grep -q 'inih found: NO' "$T/setup"
	! ldd "$LACKING" | grep inih || return 1
	! nm "$LACKING" | grep -w ini_parse_stream || return 1
	printf '[demo]\npeak = 1\n' >"$T/budgets"
	refused_with 3 "'$T/budgets' cannot be read: pmm was built without libinih$" "$LACKING" budget -f "$T/budgets" "$T/demo.pmm"
	[ "$(sed -n 2p "$T/said")" = "pmm: hint: install libinih-dev and build pmm again" ]
	diff <("$LACKING" help formats) <("$PMM" help formats)
}

@test "esbuild: no pages, which is said" {
	hide_esbuild
	build "$ASSETS"
	lacks_pages "$([ -e /usr/share/javascript/dygraphs/dygraph.min.js ] && echo esbuild || echo 'esbuild and libjs-dygraphs')"
	! has_inih || judges
}

@test "libjs-dygraphs: no pages, which is said" {
	need esbuild
	build "$ASSETS" -Ddygraphs="$T"
	lacks_pages libjs-dygraphs
	! has_inih || judges
}

@test "esbuild and libjs-dygraphs: both are named" {
	hide_esbuild
	build "$ASSETS" -Ddygraphs="$T"
	lacks_pages "esbuild and libjs-dygraphs"
}

needed() { readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(.*\)\.so\..*/\1/p' | sort | xargs; }

@test "shared libraries: those without an archive alone; -Dstatic_libraries=false: all" {
	need readelf
	if [ -z "$(needed "$PMM" | grep -w libdw)" ]; then
		[ "$(needed "$PMM")" = "ld-linux-x86-64 libZydis libc" ]
	else
		grep -q "libraries are linked as shared ones, .*: there is no lib" "$(dirname "$PMM")/meson-logs/meson-log.txt"
	fi
	build src_analyze_budget_budget_parse.c.o -Dstatic_libraries=false
	local library
	for library in libbpf libdw libelf libexpat liblzma libz libzstd; do
		needed "$LACKING" | grep -qw "$library" || { echo "not $library"; return 1; }
	done
	! grep "libraries are linked as shared ones" "$T/setup" || return 1
}
