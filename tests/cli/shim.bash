# SPDX-License-Identifier: GPL-2.0-or-later
# Helpers of the tests of pmm.h, the compiled-in monitor: sources in tests/shim/, exact tables in tests/shim/*.table.

TOP=$(realpath "$BATS_TEST_DIRNAME/../..")
SHIM=$TOP/shim
WARN="-Wall -Wextra -Wpedantic -Werror"

setup() {
	T=$BATS_TEST_TMPDIR
	cd "$TOP/tests/shim" || return 1	# so that __FILE__ is a bare name
}

need() {
	command -v "$1" >/dev/null || skip "$1 is not installed"
}

# form CC SLOTS FLAGS...: FORM is the static form compiled so, once for all tests of a file; objects and -static are left out.
form() {
	local flags=() flag quiet=
	for flag; do [[ $flag = *.o || $flag = -static ]] || flags+=("$flag"); done
	FORM=$BATS_FILE_TMPDIR/$(printf '%s\n' "${flags[@]}" | md5sum | cut -c1-32).o
	[ ! -s "$FORM" ] || return 0
	[[ $1 != *clang* ]] || quiet=-Wno-unused-command-line-argument	# flags of the linker's
	# shellcheck disable=SC2086
	timeout 120 "$1" $WARN $quiet -I"$TOP/include" -DPMM -DPMM_STATIC_SLOTS="$2" "${flags[@]:2}" -c "$SHIM/pmm_static.c" -o "$FORM.part" &&
		mv "$FORM.part" "$FORM"
}

# build CC SLOTS SOURCE EXE FLAGS...: a program of tests/shim with the static form in it.
build() {
	local cc=$1 slots=$2 source=$3 exe=$4
	shift 4
	form "$cc" "$slots" "$@" || return 1
	# shellcheck disable=SC2086
	timeout 120 "$cc" $WARN -I"$TOP/include" -DPMM -DPMM_STATIC_SLOTS="$slots" "$@" "$source" "$FORM" -o "$exe"
}

# build_library CC FLAGS...: the program of library.c, and what it calls compiled without the header.
build_library() {
	local cc=$1
	shift
	"$cc" "$@" -DLIBRARY -c library.c -o "$T/unaware.o"
	build "$cc" 1000 library.c "$T/library" -std=c99 -O2 "$@" "$T/unaware.o"
}

# same NAME COMMAND...: what the command prints is NAME.table.
same() {
	local name=$1 status=0
	shift
	timeout 60 "$@" >"$T/out" 2>"$T/err" || status=$?
	./tidy <"$T/out" >"$T/tidy"
	diff "$name.table" "$T/tidy" && [ "$status" -eq 0 ] && [ ! -s "$T/err" ] ||
		{ echo "$*: status $status"; cat "$T/err"; return 1; } >&2
}

# reacted REACTION STATUS TOLD LAST COMMAND...: assert.c ends so, after so many lines that tell it.
reacted() {
	local status=0
	timeout 60 "${@:5}" "$1" >"$T/out" 2>"$T/err" || status=$?
	[ "$status" -eq "$2" ] && [ "$(grep -c '^pmm: assert.c(22): assertion failed: tries++' "$T/out")" -eq "$3" ] && tail -n 1 "$T/out" | grep -q "$4" ||
		{ echo "reaction $1: status $status"; cat "$T/out"; return 1; } >&2
}

# asserted COMMAND...: assert.c with each reaction.
asserted() {
	reacted 0 134 1 '^pmm:' "$@"
	reacted 1 0 2 '^went on after 3 tries$' "$@"
	reacted 2 0 1 '^went on after 1 tries$' "$@"
	reacted 3 1 1 '^pmm:' "$@"
	reacted 4 0 3 '^went on after 3 tries$' "$@"
	[ "$(grep -c '^asked about tries++' "$T/out")" -eq 3 ]
}

# said TEXT COMMAND...: that is all it says.
said() {
	[ "$(timeout 120 "${@:2}" 2>&1)" = "$1" ]
}

# object_size CC SLOTS SITES: code with constants, and RAM, of the static form's object, bytes.
object_size() {
	"$1" -Os -fno-asynchronous-unwind-tables -fno-unwind-tables -DPMM_STATIC_SLOTS="$2" -DPMM_STATIC_SITES="$3" -I"$TOP/include" -c "$SHIM/pmm_static.c" \
		-o "$T/size.o"
	size -A "$T/size.o" | awk '/^\.(text|rodata|data\.rel\.ro|eh_frame|ARM\.ex)/ { code += $2 } /^\.(data|bss|tbss)[ \t]/ { ram += $2 } END { print code, ram }'
}

# formula CC SLOTS SITES: what the header says of the RAM, on that processor.
formula() {
	printf '#include <pmm.h>\nchar ram[PMM_STATIC_RAM];\n' |
		"$1" -fno-common -DPMM_STATIC_SLOTS="$2" -DPMM_STATIC_SITES="$3" -I"$TOP/include" -x c -c -o "$T/ram.o" -
	echo $((16#$(nm -S "$T/ram.o" | awk '$4 == "ram" { print $2 }')))
}

# sized CC [BYTES]: at most 17 KiB of code with constants, and RAM as the header's formula says; BYTES more where the thread's byte is aligned.
sized() {
	local slots sites code ram said
	for slots in 1 1000 65537; do
		for sites in 1 64; do
			read -r code ram <<<"$(object_size "$1" $slots $sites)"
			said=$(formula "$1" $slots $sites)
			echo "$slots slots, $sites sites: $code bytes of code, $ram of RAM, formula $said"
			[ "$code" -le 17408 ] && [ "$ram" -ge "$said" ] && [ "$ram" -le $((said + ${2:-0})) ] || return 1
		done
	done
}
