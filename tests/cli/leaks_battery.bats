#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A victim for each kind of root, of lost block, of pointer: to the block and the byte what its first comment says, at its end, while it
# runs, attached.

load leaks

@test "exit: data, bss, relro, libraries, namespaces, unloaded ones" { at_exit data exit; }
@test "exit: stacks, registers, alternate stacks, keys, ended threads" { at_exit threads exit; }
@test "exit: thread-local storage, static and dynamic" { at_exit tls exit; }
@test "exit: mappings and the break" { at_exit maps exit; }
@test "exit: coroutines" { at_exit coro exit; }
@test "exit: freed blocks and dead frames" { at_exit freed exit; }
@test "exit: what the kernel holds" { at_exit kernel exit; }
@test "exit: what the C library holds" { at_exit libc exit; }
@test "exit: trees, lists, rings" { at_exit shapes exit; }
@test "exit: chains of a million links" { at_exit deep exit; }
@test "exit: pointers into blocks" { at_exit inside exit; }
@test "exit: pointers behind headers, into pools" { at_exit habit exit; }

@test "live: data, bss, relro, libraries, namespaces, unloaded ones" { live data live; }
@test "live: stacks, registers, alternate stacks, keys, ended threads" { live threads live; }
@test "live: thread-local storage, static and dynamic" { live tls live; }
@test "live: mappings and the break" { live maps live; }
@test "live: coroutines" { live coro live; }
@test "live: freed blocks and dead frames" { live freed live; }
@test "live: what the kernel holds" { live kernel live; }
@test "live: what the C library holds" { live libc live; }
@test "live: trees, lists, rings" { live shapes live; }
@test "live: chains of a million links" { live deep live; }
@test "live: pointers into blocks" { live inside live; }
@test "live: pointers behind headers, into pools" { live habit live; }

@test "live, without a copy: the same" {
	live threads live --stop
	live kernel live --stop
	live shapes live --stop
	live inside live --stop
}

@test "live: pointers into blocks without heuristics" {
	live inside plain,live --heuristics none
	live habit plain,live --heuristics none
	live habit plain,live --heuristics stdstring,length64,newarray,multipleinheritance
}
@test "live: tagged pointers" { live inside tagged,live --tag-bits top; }

@test "attached: data, threads, storage, mappings" {
	while_attached data attach
	while_attached tls attach
	while_attached maps attach
}

@test "attached: freed blocks, shapes, pointers into blocks" {
	while_attached freed attach
	while_attached shapes attach
	while_attached inside attach
	while_attached habit attach
}

@test "attached: stacks, registers, coroutines, the C library, the kernel" {
	while_attached threads attach
	while_attached coro attach
	while_attached libc attach
	while_attached kernel attach
}

@test "searched again and again, it finds the same" {
	launch shapes
	for _ in 1 2 3; do
		search "$T/again.json" "$PID"
		sums shapes live "$T/again.json"
		clean_of_search
	done
	finish 0
}
