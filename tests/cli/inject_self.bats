#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The agent's injected form: what its file may contain, and what its hooks record in a program that puts it into itself.

load lib

AGENT=$(dirname "$PMM")/libpmm_inject.so

self() { within "$PROG/inject_self" "$AGENT" "$1"; }

@test "the file: no symbols from elsewhere, no TLS, only relative relocations, two exports" {
	need readelf
	[ -s "$AGENT" ]
	[ "$(readelf -W --dyn-syms "$AGENT" | awk '$7 == "UND" && $8 != ""' | wc -l)" -eq 0 ]
	[ "$(readelf -W --dyn-syms "$AGENT" | awk '$5 == "GLOBAL" { print $8 }' | sort | xargs)" = "inject_hooks inject_start" ]
	[ "$(readelf -Wr "$AGENT" | awk '$3 ~ /^R_/ { print $3 }' | sort -u)" = R_X86_64_RELATIVE ]
	[ "$(readelf -Wl "$AGENT" | grep -cw TLS)" -eq 0 ]
	[ "$(readelf -Wd "$AGENT" | grep -cE 'NEEDED|INIT|TEXTREL|JMPREL')" -eq 0 ]
}

@test "the file: vector registers are saved and restored, else untouched" {
	need objdump
	[ "$(objdump -d --no-show-raw-insn "$AGENT" | grep -E '%[xyz]mm' | grep -cv movups)" -eq 0 ]
}

@test "every role" { self roles; }
@test "calls that fail" { self failing; }
@test "an allocator that calls itself" { self recursion; }
@test "an allocator that empties a thread's cache" { self thread_end; }
@test "signal handlers that interrupt the allocator" { self handlers; }
@test "custom allocators" { self custom; }
@test "exceptions through hooks" { self throwing; }
@test "sampled" { self sampled; }
@test "sampled, an allocator that calls itself" { self sampled_inner; }
@test "the monitor is gone" { self gone; }
@test "forked children" { self forked; }
@test "threads" { self threads; }
@test "the program confines itself" { self confined; }
@test "50 agents one after the other" { self again; }
@test "refused" { self refused; }
