# SPDX-License-Identifier: GPL-2.0-or-later
"""
In gdb: run a program from its first instruction and write down its stack, as gdb sees it, at events that pmm trace sees too.

    CALLS=100 FAULTS=100 SKIP=50 STACKS=FILE gdb -nx -batch -x trace_gdb.py --args PROGRAM...

When SKIP system calls are over: Calls: each return of mmap, munmap, mremap, mprotect, madvise and brk. Faults: between two
system calls gdb takes away the rights to one area of memory (code of the program or a library, heap, anonymous memory), so that the
next access to it is a page fault that ends in SIGSEGV. gdb looks at the stack, gives the rights back and continues without the
signal. For that it puts an mprotect() into the program, which is among the calls with no frames.

FILE has an object a line: {"what": "mmap" or "fault", "value": result or address, "frames": [[file, address], ...], "signals":
how many of these are of signals}, of a fault also the program counter ("pc"). Addresses are those of the file, inside the call,
as pmm has them; a frame in no file has an empty one.
"""

import json
import os
import struct

import gdb

CALLS = {9: "mmap", 10: "mprotect", 11: "munmap", 12: "brk", 25: "mremap", 28: "madvise"}
SYSCALL = b"\x0f\x05"
MPROTECT, KILL = 10, 62
ENOSYS = 38
SIGSEGV = 11
ENTRY = 64    # bytes of it
ROW = 4    # faults between two system calls at most
# for many calls
MALLOC = ("MALLOC_MMAP_THRESHOLD_=16384", "MALLOC_TOP_PAD_=0", "MALLOC_TRIM_THRESHOLD_=16384")
RIGHTS = {"r": 1, "w": 2, "x": 4}
CHANGED = ("rip", "rax", "rdi", "rsi", "rdx", "rcx", "r11")


class Maps:
    """What is mapped where in the program."""

    def __init__(self):
        self.loads, self.entries = {}, {}
        self.areas = []

    def read(self):
        self.areas = []
        with open(f"/proc/{gdb.selected_inferior().pid}/maps", encoding="utf-8") as maps:
            for line in maps:
                part = line.split(maxsplit=5)
                start, end = (int(x, 16) for x in part[0].split("-"))
                self.areas.append((start, end, int(part[2], 16), part[1], part[5].strip() if len(part) > 5 else ""))

    def segments(self, path):
        """(offset, bytes, address) of all that is loaded of an ELF file. Its entry is noted."""
        if path not in self.loads:
            with open(path, "rb") as file:
                data = file.read(4096)
            at, size, number = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
            heads = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(number)]
            self.entries[path] = struct.unpack_from("<Q", data, 24)[0]
            self.loads[path] = [(h[2], h[5], h[3]) for h in heads if h[0] == 1]
        return self.loads[path]

    def find(self, pc):
        for again in range(2):
            for start, end, offset, _, path in self.areas:
                if start <= pc < end:
                    return start, offset, path
            if not again:
                self.read()
        return None

    def is_entry(self, frame):
        """In the function that an ELF file starts with, which nothing has called?"""
        return frame[0] in self.entries and 0 <= frame[1] - self.entries[frame[0]] < ENTRY

    def in_file(self, pc):
        """[file, address in it]; the file is empty where there is none."""
        found = self.find(pc)
        if found and found[2].startswith("/"):
            offset = pc - found[0] + found[1]
            for at, size, address in self.segments(found[2]):
                if at <= offset < at + size:
                    return [found[2], offset - at + address]
        return ["", pc]


def register(name):
    return int(gdb.parse_and_eval(f"(unsigned long)${name}"))


def frames(maps, inside):
    """
    The stack, and how many of its frames are those of signals. `inside`: the innermost program counter is behind its
    instruction, as it is of all callers.
    """
    found, signals = [], 0
    frame = gdb.newest_frame()
    while frame is not None:
        if frame.type() in (gdb.NORMAL_FRAME, gdb.SIGTRAMP_FRAME):
            found.append(maps.in_file(frame.pc() - inside))
            signals += frame.type() == gdb.SIGTRAMP_FRAME
            if maps.is_entry(found[-1]):
                break    # the loader's has no unwind information: gdb would take what is on the stack for callers
            inside = frame.type() != gdb.SIGTRAMP_FRAME    # a signal interrupts before an instruction
        try:
            frame = frame.older()
        except gdb.error:
            break
    return {"frames": found, "signals": signals}


class Watch:
    def __init__(self):
        self.maps = Maps()
        self.want = {"calls": int(os.environ["CALLS"]), "faults": int(os.environ["FAULTS"])}
        self.skip = int(os.environ.get("SKIP", "0"))    # system calls before the first fault
        self.out = open(os.environ["STACKS"], "w", encoding="utf-8")
        self.catch = None
        self.instruction = None    # the address of a syscall instruction
        self.taken = None    # the area whose rights are gone
        self.turn = self.row = 0

    def write(self, what, value, **more):
        self.out.write(json.dumps({"what": what, "value": value, **more}) + "\n")

    def mprotect(self, area, rights):
        saved = {name: register(name) for name in CHANGED}
        gdb.execute(f"disable {self.catch}")
        for name, value in zip(CHANGED, (self.instruction, MPROTECT, area[0], area[1] - area[0], rights)):
            gdb.execute(f"set ${name} = {value}")
        gdb.execute("stepi", to_string=True)
        self.write("mprotect", register("rax"))
        self.restore(saved)
        gdb.execute(f"enable {self.catch}")

    def mprotect_first(self, area, rights):
        """At the beginning of a system call: make it an mprotect(), then go back to its instruction."""
        saved = {name: register(name) for name in CHANGED}
        saved.update(rax=register("orig_rax"), rip=saved["rip"] - len(SYSCALL))
        for name, value in zip(("orig_rax", "rdi", "rsi", "rdx"), (MPROTECT, area[0], area[1] - area[0], rights)):
            gdb.execute(f"set ${name} = {value}")
        gdb.execute("continue", to_string=True)
        self.write("mprotect", register("rax"))
        self.restore(saved)

    def restore(self, saved):
        for name, value in saved.items():
            gdb.execute(f"set ${name} = {value}")

    def find_instruction(self):
        """In the kernel's own code ([vdso]), whose rights stay."""
        start, end = next(a[:2] for a in self.maps.areas if a[4] == "[vdso]")
        found = gdb.selected_inferior().search_memory(start, end - start, SYSCALL)
        if found is None:
            raise gdb.GdbError("no syscall instruction in [vdso]")
        return found

    def areas(self):
        """
        Those whose rights may go, by kind: code of the program, of libraries, its heap, anonymous memory. Not where the
        thread's own variables are: the kernel writes to them (rseq).
        """
        self.maps.read()
        thread = register("fs_base")
        program = os.readlink(f"/proc/{gdb.selected_inferior().pid}/exe")
        code = [a for a in self.maps.areas if a[4].startswith("/") and "x" in a[3]]
        kinds = [[a for a in code if a[4] == program], [a for a in code if a[4] != program],
                 [a for a in self.maps.areas if a[4] == "[heap]"],
                 [a for a in self.maps.areas if not a[4] and a[3].startswith("rw") and not a[0] <= thread < a[1]]]
        return [kind for kind in kinds if kind]

    def take(self):
        kinds = self.areas()
        self.instruction = self.instruction or self.find_instruction()
        kind = kinds[self.turn % len(kinds)]
        self.taken = kind[self.turn // len(kinds) % len(kind)]
        self.turn += 1
        self.mprotect(self.taken, 0)

    def give_back(self, mprotect):
        if self.taken:
            mprotect(self.taken, sum(RIGHTS.get(c, 0) for c in self.taken[3]))
        self.taken = None

    def call_returned(self):
        name = CALLS.get(register("orig_rax"))
        looked_at = self.skip <= 0 and self.want["calls"] > 0
        if name:
            self.write(name, register("rax"), **(frames(self.maps, True) if looked_at else {}))
            self.want["calls"] -= looked_at
        self.skip -= 1
        self.row = 0
        signalled = register("orig_rax") == KILL    # its handler would begin before the call that is put in
        if self.want["faults"] > 0 and self.skip <= 0 and not signalled:
            self.take()

    def faulted(self):
        address = int(gdb.parse_and_eval("(unsigned long)$_siginfo._sifields._sigfault.si_addr"))
        if not self.taken or not self.taken[0] <= address < self.taken[1]:
            raise gdb.GdbError(f"the program touches {address:#x}")
        self.write("fault", address, pc=register("rip"), **frames(self.maps, False))
        self.want["faults"] -= 1
        self.give_back(self.mprotect)
        self.row += 1
        if self.row < ROW and self.want["faults"] > 0:
            self.take()

    def stopped(self):
        if int(gdb.parse_and_eval("$_siginfo.si_signo")) == SIGSEGV:
            self.faulted()
        elif register("rax") == 2**64 - ENOSYS:
            self.give_back(self.mprotect_first)
        else:
            self.call_returned()

    def run(self):
        for command in ("pagination off", "confirm off", "debuginfod enabled off", "backtrace past-main on",
                        "backtrace past-entry on", "backtrace limit 1000", "displaced-stepping off"):
            gdb.execute(f"set {command}")
        for variable in MALLOC:
            gdb.execute(f"set environment {variable}")
        gdb.execute("starti", to_string=True)
        gdb.execute("handle all nostop noprint pass", to_string=True)
        gdb.execute("handle SIGSEGV stop print nopass", to_string=True)
        gdb.execute("catch syscall", to_string=True)
        self.catch = 1
        while gdb.selected_inferior().pid and max(self.want.values()) > 0:
            gdb.execute("continue", to_string=True)
            if gdb.selected_inferior().pid:
                self.stopped()
        if gdb.selected_inferior().pid:
            gdb.execute("kill")
        self.out.close()


Watch().run()
