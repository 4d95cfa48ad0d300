#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm.h's static form on other processors, under qemu-user: the same tables, byte for byte, as on x86-64; code and RAM as stated.

bats_require_minimum_version 1.5.0
load shim

# crossed PREFIX QEMU [BYTES]: the programs whose tables are exact; so many bytes of RAM more than the formula says.
crossed() {
	local cc=$1-gcc qemu=$2 name
	need "$cc"
	need "$qemu"
	for name in calls misuse pool foreign options; do
		build "$cc" 1000 $name.c "$T/$name" -std=c99 -O2 -static
		same $name "$qemu" "$T/$name"
	done
	build "$cc" 4 full.c "$T/full" -std=c99 -O2 -static
	same full "$qemu" "$T/full"
	build "$cc" 1000 bare.c "$T/bare" -std=c99 -Os -static -DPMM_BARE -DPMM_NO_THREADS
	same bare "$qemu" "$T/bare"
	build_library "$cc" -static
	same library "$qemu" "$T/library"
	sized "$cc" "${3:-0}"
	misused "$cc" "$qemu"
}

# misused CC QEMU: handlers, threads, forked children, failed assertions.
misused() {
	local name
	for name in odd forks threads assert; do
		build "$1" 1000 $name.c "$T/$name" -std=gnu11 -O2 -static -pthread
	done
	same odd "$2" "$T/odd"
	said "40 children were well" "$2" "$T/forks"
	said "106668 new, 0 live, 0 errors, 0 passed, 0 foreign" "$2" "$T/threads"
	asserted "$2" "$T/assert"
}

@test "32-bit ARM" {
	crossed arm-linux-gnueabihf qemu-arm
}

@test "AArch64" {
	crossed aarch64-linux-gnu qemu-aarch64
}

@test "s390x, big-endian" {
	crossed s390x-linux-gnu qemu-s390x 1
}
