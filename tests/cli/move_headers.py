#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
move_headers.py FROM TO: an ELF file with its program headers in a segment of their own behind all others, in place of PT_NOTE, as
llvm-bolt and newer patchelf leave them.
"""
import struct
import sys

HEADER = struct.Struct("<IIQQQQQQ")    # Elf64_Phdr: type, flags, offset, vaddr, paddr, filesz, memsz, align
LOAD, NOTE, PHDR = 1, 4, 6
TYPE, OFFSET, ADDRESS, IN_MEMORY = 0, 2, 3, 6
ALIGN = 0x200000


def main():
    with open(sys.argv[1], "rb") as source:
        image = bytearray(source.read())
    at, = struct.unpack_from("<Q", image, 32)
    nr, = struct.unpack_from("<H", image, 56)
    headers = [list(HEADER.unpack_from(image, at + i * HEADER.size)) for i in range(nr)]
    end = max([len(image)] + [h[ADDRESS] + h[IN_MEMORY] for h in headers if h[TYPE] == LOAD])
    to = -(-end // ALIGN) * ALIGN
    size = nr * HEADER.size
    note = max(i for i, h in enumerate(headers) if h[TYPE] == NOTE)
    del headers[note]
    behind = max(i for i, h in enumerate(headers) if h[TYPE] == LOAD) + 1
    headers.insert(behind, [LOAD, 4, to, to, to, size, size, 0x1000])
    for h in headers:
        if h[TYPE] == PHDR:
            h[OFFSET:ADDRESS + 2] = [to, to, to]
    struct.pack_into("<Q", image, 32, to)
    image += bytes(to - len(image)) + b"".join(HEADER.pack(*h) for h in headers)
    with open(sys.argv[2], "wb") as target:
        target.write(image)


main()
