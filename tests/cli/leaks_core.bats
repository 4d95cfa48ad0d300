#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm leaks --core: a core file with the capture that was written when the process died says what a search at that moment would have said.

load leaks

# of_core NAME [WAYS]: found in it is what is found while the victim runs.
of_core() {
	core "$1"
	search "$T/core.json" --core "$T/in.$1/core" "$T/$1.pmm"
	sums "$1" "${2-live}" "$T/core.json"
	[ "$(jq -r '.search | "\(.how) \(.complete)"' "$T/core.json")" = "core true" ]
}

@test "core: freed blocks and dead frames" { of_core freed; }
@test "core: trees, lists, rings" { of_core shapes; }
@test "core: pointers into blocks" { of_core inside; }
@test "core: stacks, registers, alternate stacks, keys, ended threads" { of_core threads core,live; }
@test "core: thread-local storage" { of_core tls; }
@test "core: mappings and the break" { of_core maps; }
@test "core: what the kernel holds is not in it" { of_core kernel core,live; }
@test "core: coroutines" { of_core coro; }
@test "core: data, bss, relro, libraries, namespaces, unloaded ones" { of_core data; }

@test "core: threads at full speed, no false alarm" {
	core soak
	search "$T/core.json" --core "$T/in.soak/core" "$T/soak.pmm"
	[ "$(jq -r '[.totals[] | select(.class == "definite" or .class == "indirect") | .blocks] | add' "$T/core.json")" = 0 ]
}

@test "core: one that a debugger took before the process died is refused" {
	need gdb
	start_below "$PMM" run -q -o "$T/gdb.pmm" -- "$PROG/leak_shapes"
	tell g "done"
	within gdb -q -batch -p "$PID" -ex "generate-core-file $T/gdb.core" >"$T/gdb.out" 2>&1 3>&- 7>&- 8<&-
	[ -s "$T/gdb.core" ] || skip "gdb may not trace here"
	kill -TERM "$PID"
	exec 7>&-
	wait "$TOP" || true
	TOP='' PID=''
	refused "was not written when process [0-9]+ died" "$PMM" leaks --core "$T/gdb.core" "$T/gdb.pmm"
}

@test "core: with the capture of another process, of another program, or from before it died it is refused" {
	core shapes
	core freed
	refused "are not of the same process: the core is of process" "$PMM" leaks --core "$T/in.shapes/core" "$T/freed.pmm"
	start_below "$PMM" run -q -o "$T/later.pmm" -- "$PROG/leak_shapes"
	tell g "done"
	"$PMM" snapshot -o "$T/early.pmm" "$PID"
	finish 0
	refused "was taken while the process still ran" "$PMM" leaks --core "$T/in.shapes/core" "$T/early.pmm"
	refused "is no core file" "$PMM" leaks --core "$PROG/leak_shapes" "$T/shapes.pmm"
	grep -q "^pmm: hint: 'coredumpctl dump" "$T/refused.err"
	refused "No such file" "$PMM" leaks --core "$T/nowhere" "$T/shapes.pmm"
	grep -q "^pmm: hint: 'coredumpctl dump" "$T/refused.err"
}

@test "core: a few changed bytes, such as absurd sizes of segments, and the search ends" {
	core shapes
	cp --sparse=never "$T/in.shapes/core" "$T/changed"
	tried=$(python3 "$BATS_TEST_DIRNAME/core_changed.py" "$PMM" "$T/changed" "$T/shapes.pmm")
	[ "$tried" -gt 500 ]
}

@test "core: holes of hundreds of gigabytes are passed over" {
	core shapes
	search "$T/core.json" --core "$T/in.shapes/core" "$T/shapes.pmm"
	python3 - "$T/in.shapes/core" <<-'END'
		import struct, sys
		with open(sys.argv[1], "r+b") as f:
		    image = f.read()
		    offset, number = struct.unpack_from("<Q", image, 32)[0], struct.unpack_from("<H", image, 56)[0]
		    last = offset + 56 * (number - 1)
		    # instead of the last segment, the kernel's own page: 900 GiB of a hole where no process has memory
		    f.seek(last)
		    f.write(struct.pack("<IIQQQQQQ", 1, 6, 1 << 40, 0x100000000000, 0, 900 << 30, 900 << 30, 4096))
		    f.truncate(2 << 40)
	END
	search "$T/hole.json" --core "$T/in.shapes/core" "$T/shapes.pmm"
	[ "$(jq -c .totals "$T/hole.json")" = "$(jq -c .totals "$T/core.json")" ]
	[ "$(jq -c '.search.unread_bytes' "$T/hole.json")" = "$(jq -c '.search.unread_bytes' "$T/core.json")" ]
}
