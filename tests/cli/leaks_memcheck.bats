#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Memcheck finds in the victims what their first comments say, but for the differences that they and doc/leaks.md name: so what pmm must find
# is no opinion of ours.

load leaks

@test "memcheck agrees: objects, threads, mappings" {
	by_memcheck data
	by_memcheck threads
	by_memcheck tls
	by_memcheck maps
	by_memcheck coro
}

@test "memcheck agrees: freed blocks, shapes, pointers into blocks, the C library" {
	by_memcheck freed
	by_memcheck shapes
	by_memcheck inside
	by_memcheck habit
	by_memcheck libc
	by_memcheck kernel
}
