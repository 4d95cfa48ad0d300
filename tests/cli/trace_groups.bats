#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace with one group of programs (bpf/*.bpf.c) missing: its object in the executable is damaged. All others work; what is missing is said.

bats_require_minimum_version 1.5.0
load lib
load trace

setup() { needs_bpf; }

# damage GROUP HOW: a pmm in $T/bin whose object of that group is "cut" (zeros behind its first quarter), "garbled" (other instructions), or "gone".
damage() {
	mkdir -p "$T/bin"
	cp -f "$PMM" "$T/bin/pmm"
	python3 - "$T/bin/pmm" "$1" "$2" <<-'END'
		import re, subprocess, sys
		path, group, how = sys.argv[1:]
		address = {m[2]: int(m[1], 16) for m in re.finditer(r"^(\w+) \w (bpf_object_\w+)$", subprocess.check_output(["nm", path], text=True), re.M)}
		start, end = address["bpf_object_" + group], address["bpf_object_" + group + "_end"]
		loads = re.findall(r"^ *LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+)", subprocess.check_output(["readelf", "-lW", path], text=True), re.M)
		at = [start - int(a, 16) + int(o, 16) for o, a, n in loads if int(a, 16) <= start < int(a, 16) + int(n, 16)][0]
		with open(path, "r+b") as f:
		    f.seek(at)
		    data = bytearray(f.read(end - start))
		    assert data[:4] == b"\x7fELF" and data[18] == 247
		    if how == "cut":
		        data[len(data) // 4:] = bytes(len(data) - len(data) // 4)
		    elif how == "gone":
		        data[:64] = bytes(64)
		    else:  # each call of a helper is one of a helper that no kernel has
		        call = re.compile(rb"\x85\x00\x00\x00(?=[\x01-\xff]\x00\x00\x00)")
		        assert call.search(data)
		        for m in call.finditer(data):
		            data[m.end():m.end() + 4] = b"\xff\xff\x00\x00"
		    f.seek(at)
		    f.write(data)
	END
}

# classes GROUP: those of which nothing is seen without it, and those of which a part is.
whole() {
	case $1 in
	calls) echo "mmap, brk, shm" ;;
	kmem) echo kernel ;;
	major) echo "major, swap" ;;
	faults) ;;
	thp) ;;
	*) echo "$1" ;;
	esac
}
part() {
	case $1 in
	migrate | thp) echo thp ;;
	major | faults) echo faults ;;
	esac
}

# without GROUP HOW: the trace of a command that does a bit of everything.
without() {
	local group=$1 status=0
	damage "$group" "$2"
	timeout -k 5 60 "$T/bin/pmm" trace all --counters page_faults --json --top 0 -- "$PROG/trace_shm" >"$T/out" 2>"$T/err" || status=$?
	[ "$status" -eq 0 ] || { echo "$group $2: status $status"; cat "$T/err"; return 1; }
	# class libc has another way, of which the last test is
	result '.not_seen[] | "\(.events) \(.partly)"' | sed '/^libc /d; s/, libc / /' | sort >"$T/said"
	# programs without a call of a helper are left
	[ "$2" != garbled ] || sed -i 's/ true$/ false/' "$T/said"
	{
		[ -z "$(whole "$group")" ] || echo "$(whole "$group") false"
		[ -z "$(part "$group")" ] || echo "$(part "$group") true"
	} | sort >"$T/wanted"
	[ "$2" != garbled ] || sed -i 's/ true$/ false/' "$T/wanted"
	diff "$T/wanted" "$T/said" || { echo "$group $2"; return 1; }
	[ -z "$(whole "$group")" ] || [ "$2" = garbled ] || grep -q -E "WARNING: not seen: $(whole "$group")(, libc)?: " "$T/err"
	! grep -q -E 'Success|\(null\)' "$T/err" || return 1
	# the others
	[ "$group" = calls ] || [ "$(count shmget '.size_bytes == 8192')" -eq 1 ]
	[ "$group" = life ] || [ "$(count exit '.thread == false')" -ge 1 ]
	[ "$group" = files ] || [ "$(count open .)" -ge 2 ]
	[ "$group" = pmc ] || [ "$(result '.counters | length')" -ge 1 ]
	[ "$group" = faults ] || [ "$(result '.fault_memory | length')" -ge 1 ]
	[ "$group" = kmem ] || [ "$(result '.kernel_sorts | length')" -ge 1 ]
	[ "$group" = rss ] || [ "$(result '.resident | length')" -ge 1 ]
}

groups="life calls reclaim compaction migrate thp oom files stack kmem rss cache faults major pmc"

@test "an object that is damaged takes none of the others with it" {
	need python3
	local group
	for group in $groups; do without "$group" gone; done
}

@test "an object that is cut takes none of the others with it" {
	need python3
	local group
	for group in $groups; do without "$group" cut; done
}

@test "programs that the kernel refuses take none of the others with them" {
	need python3
	local group
	for group in $groups; do without "$group" garbled; done
}

@test "alone, it is an error" {
	need python3
	damage oom gone
	run -3 timeout 60 "$T/bin/pmm" trace oom --all
	[[ "${lines[0]}" == "pmm: "*"programs cannot be loaded: "* ]]
	# of two groups that see a class one is enough
	damage major gone
	timeout 60 "$T/bin/pmm" trace faults --json -s -- true >"$T/out" 2>"$T/err"
	[ "$(result '.not_seen[] | "\(.events) \(.partly)"')" = "faults true" ]
	[ "$(result '.fault_memory | length')" -ge 1 ]
	"$T/bin/pmm" trace --list --json | jq -r '.events[] | select(.works != "yes") | "\(.event) \(.works)"' | grep -v -E '^(pmc|libc) ' | xargs >"$T/list"
	[ "$(cat "$T/list")" = "faults partly major no swap no" ]
}

@test "the probes of a C library: without their program, by system calls" {
	need python3
	local how victim
	mkdir "$T/lib"
	cp "$PROG/libc_probes.so" "$T/lib/libc.so.6"
	for how in gone cut garbled; do
		damage libc "$how"
		rm -f "$T/go"
		mkfifo "$T/go"
		"$PROG/libc_victim" "$T/lib/libc.so.6" 3 <"$T/go" >"$T/victim" 3>&- & victim=$!
		exec 7>"$T/go"
		await -p "$victim" grep -q ready "$T/victim"
		timeout -k 5 60 "$T/bin/pmm" trace libc,brk --json --duration 1 -p "$victim" >"$T/out" 2>"$T/err" 7>&-
		echo >&7
		exec 7>&-
		wait "$victim"
		[ "$(result '.libc.by')" = calls ]
		[ "$(result '.not_seen[] | "\(.events) \(.partly)"')" = "libc true" ]
		result '.not_seen[].why' | grep -q -E 'programs (of pmm.s|cannot be loaded)|none of its programs' || { result .not_seen; return 1; }
	done
}
