# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the root file system of a guest: an archive in the kernel's newc form (cpio -H newc), the same bytes for the same files.

Written here and not by cpio(1), which needs root for the console's device node and keeps the times of files.
"""

import lzma
import os
import re
import stat
import subprocess


class Archive:
    """Files by their path in the guest. Folders above them come by themselves, libraries of programs where they lie outside."""

    def __init__(self):
        self.entries = {"dev/console": (stat.S_IFCHR | 0o600, b"", (5, 1))}

    def add(self, path, mode, data):
        self.entries[path.strip("/")] = (mode, data, (0, 0))

    def folder(self, path):
        self.add(path, stat.S_IFDIR | 0o755, b"")

    def link(self, path, target):
        self.add(path, stat.S_IFLNK | 0o777, target.encode())

    def text(self, path, text, executable=False):
        self.add(path, stat.S_IFREG | (0o755 if executable else 0o644), text.encode())

    def file(self, path, source):
        """A file of this machine, with what it is linked to if it is a program."""
        with open(source, "rb") as file:
            data = file.read()
        executable = os.access(source, os.X_OK)
        self.add(path, stat.S_IFREG | (0o755 if executable else 0o644), data)
        if executable and data[:4] == b"\x7fELF":
            for library in libraries(source):
                if library.strip("/") not in self.entries:
                    self.file(library, library)

    def write(self, out):
        for path in list(self.entries):
            while path := os.path.dirname(path):
                if path not in self.entries:
                    self.folder(path)
        with open(out, "wb") as file:
            number = 0
            for number, (path, entry) in enumerate(sorted(self.entries.items()), 1):
                record(file, number, path, *entry)
            record(file, number + 1, "TRAILER!!!", 0, b"", (0, 0))


def record(file, number, path, mode, data, device):
    """One entry: the magic number, 13 fields of 8 hexadecimal digits, name and data, each filled up to 4 bytes."""
    name = path.encode() + b"\0"
    fields = (number, mode, 0, 0, 2 if stat.S_ISDIR(mode) else 1, 0, len(data), 0, 0, *device, len(name), 0)
    head = b"070701" + b"".join(b"%08x" % f for f in fields) + name
    file.write(head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4))


def libraries(program):
    """Paths of the libraries that a program is linked to and of its loader; none of a static one."""
    done = subprocess.run(["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return [m[1] for m in re.finditer(r"(?:^|=>)\s*(/\S+) \(0x", done.stdout, re.M)]


def module(path):
    """The bytes of a module's file, without compression: not every insmod knows it."""
    with open(path, "rb") as file:
        data = file.read()
    return lzma.decompress(data) if path.endswith(".xz") else data


def modules(kernel, release, wanted):
    """Paths below `kernel` of modules and of what they depend on, in the order in which they are loaded. What is built in has none."""
    needs = {}
    with open(f"{kernel}/lib/modules/{release}/modules.dep", encoding="utf-8") as file:
        for line in file:
            path, _, rest = line.partition(":")
            needs[path] = rest.split()
    by_name = {re.sub(r"\.ko(\.xz)?$", "", os.path.basename(p)).replace("-", "_"): p for p in needs}
    order = []

    def visit(path):
        for needed in needs[path]:
            visit(needed)
        if path not in order:
            order.append(path)
    for name in wanted:
        if name in by_name:
            visit(by_name[name])
    return [f"lib/modules/{release}/{path}" for path in order]
