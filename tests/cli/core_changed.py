#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""core_changed.py PMM CORE CAPTURE: 'pmm leaks --core' on copies of CORE in which a few bytes are others.

Each must end by itself, with a verdict or a refusal, within a time that only an endless loop exceeds. What the first of all sizes that a
segment can state would take to read is days. Says how many it has tried.
"""
import os
import random
import struct
import subprocess
import sys

SECONDS = 60                 # a search takes some ms
MEMORY = 4 << 30              # of address space; where it is not enough that is a refusal, too, but no fault of the file's
PT_LOAD, PT_NOTE = 1, 4


def headers(image):
    """File offset, type, offset, address, file size, memory size of each program header."""
    offset, = struct.unpack_from("<Q", image, 32)
    size, number = struct.unpack_from("<HH", image, 54)
    for at in range(offset, offset + number * size, size):
        kind, _, start, address, _, in_file, in_memory = struct.unpack_from("<IIQQQQQ", image, at)
        yield at, kind, start, address, in_file, in_memory


def changes(image):
    """Lists of (offset, byte): each size of each segment made absurd, then any bytes of headers, notes and ELF headers in memory."""
    table = list(headers(image))
    for at, kind, *_ in table:
        for field in (32, 40):
            for byte in (4, 5):
                yield [(at + field + byte, 0x20)]
    chance = random.Random(1)
    areas = [(0, table[-1][0] + 56)] * 3
    areas += [(start, start + in_file) for _, kind, start, _, in_file, _ in table if kind == PT_NOTE]
    areas += [(start, start + 1024) for _, kind, start, *_ in table if kind == PT_LOAD and image[start:start + 4] == b"\x7fELF"]
    for _ in range(400):
        which = [chance.choice(areas) for _ in range(chance.choice((1, 1, 2, 8)))]
        yield [(chance.randrange(*area), chance.choice((0, 0x80, 0xff, chance.randrange(256)))) for area in which]


def main():
    pmm, core, capture = sys.argv[1:]
    with open(core, "rb") as f:
        image = f.read()
    tried = 0
    with open(core, "r+b", buffering=0) as f:
        for change in changes(image):
            for at, byte in change:
                f.seek(at)
                f.write(bytes([byte]))
            run = ["prlimit", f"--as={MEMORY}", pmm, "leaks", "--no-symbols", "--core", core, capture]
            try:
                code = subprocess.run(run, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=SECONDS, check=False).returncode
            except subprocess.TimeoutExpired:
                code = "no end"
            if code not in (0, 1, 3):
                sys.exit(f"{code} with {[(hex(at), hex(byte)) for at, byte in change]}")
            for at, _ in change:
                f.seek(at)
                f.write(image[at:at + 1])
            tried += 1
    print(tried)


main()
