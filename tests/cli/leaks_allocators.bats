#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Leaks under another allocator: its free memory and its books hold no block, as glibc's do not.

load leaks

# under LIBRARY: what is found at the end of the victims under it is what their comments say of glibc.
under() {
	library "$1"
	export LD_PRELOAD=$LIBRARY
	for victim in freed data shapes maps threads tls; do at_exit "$victim" exit; done
}

@test "exit: jemalloc" { under libjemalloc.so.2; }
@test "exit: mimalloc" { under libmimalloc.so.2; }

@test "the allocator's path is that of its module, whatever way the loader went" {
	library libjemalloc.so.2
	mkdir "$T/real"
	cp "$LIBRARY" "$T/real/libown.so.2.1"
	ln -s real "$T/linked"
	ln -s libown.so.2.1 "$T/real/libown.so"
	echo g | LD_PRELOAD="$T/linked/libown.so" within "$PMM" run -q -o "$T/x.pmm" -- "$PROG/leak_freed" >"$T/out" 2>&1 3>&-
	"$PMM" report --json "$T/x.pmm" >"$T/x.json"
	json_is "\"$T/real/libown.so.2.1\"" .allocator.path <"$T/x.json"
	json_is 1 "[.modules[] | select(.path == \"$T/real/libown.so.2.1\")] | length" <"$T/x.json"
}
