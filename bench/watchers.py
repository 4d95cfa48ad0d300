# SPDX-License-Identifier: GPL-2.0-or-later
"""What watches a process that runs already: `pmm attach`, Debian's bpfcc memleak, and the same probes set by bpftrace."""

import ctypes.util
import glob
import os
import shutil
import signal
import subprocess
import time

from measure import read

ATTACH_SECONDS = 60
MEMLEAK_SECONDS = 2    # it shows what is outstanding that often

PROBES = """
uprobe:LIBC:malloc { @size[tid] = arg0; }
uretprobe:LIBC:malloc /@size[tid]/ { @stack[retval] = ustack(); @bytes[retval] = @size[tid]; delete(@size[tid]); }
uprobe:LIBC:free /@bytes[arg0]/ { delete(@stack[arg0]); delete(@bytes[arg0]); }
interval:s:1 { printf("attached\\n"); }
"""


class Refused(Exception):
    """It could not attach; its last words."""


class Watcher:
    """`name`; what to run for a pid; a text it says once it is attached."""
    environment = {}
    end = signal.SIGINT

    def __init__(self, name, command, attached):
        self.name, self.command, self.attached = name, command, attached

    def missing(self):
        return None if shutil.which(self.command[0]) else self.command[0]

    def attach(self, pid, log):
        """Start it and wait until it is attached; the Popen. Its output goes to the file `log`."""
        with open(log, "w", encoding="utf-8") as file:
            done = subprocess.Popen([part.replace("PID", str(pid)) for part in self.command], stdout=file, stderr=file,
                                    stdin=subprocess.DEVNULL, env={**os.environ, **self.environment})
        end = time.monotonic() + ATTACH_SECONDS
        while self.attached not in read(log):
            if done.poll() is not None or time.monotonic() > end:
                done.kill()
                done.wait()
                raise Refused(([line for line in read(log).splitlines() if "hint:" not in line] or ["it said nothing"])[-1])
            time.sleep(0.002)
        return done

    def leave(self, running):
        """Have it detach, unless the end of the process has ended it."""
        try:
            running.wait(0.5)
        except subprocess.TimeoutExpired:
            running.send_signal(self.end)
            running.wait(ATTACH_SECONDS)

    def works(self, directory):
        """None, or why it cannot watch a process here."""
        if self.missing():
            return f"{self.missing()} is not installed"
        with subprocess.Popen(["sleep", "100"]) as victim:
            try:
                time.sleep(0.1)
                self.leave(self.attach(victim.pid, f"{directory}/trial"))
            except Refused as why:
                return str(why)
            finally:
                victim.kill()
        return None


class Uprobes(Watcher):
    """The kernel takes the probes out."""
    end = signal.SIGKILL


def pmm_attach(pmm, *options, name="attach"):
    return Watcher(name, [pmm, "attach", "--json", *options, "PID"], '"event": "attached"')


def kernel_headers(directory):
    """
    bcc compiles against the running kernel's headers. Where there are none, those of Debian's kernel will do for memleak, which
    only takes registers from them; they come in two packages, made one here.
    """
    merged = f"{directory}/headers"
    if "BCC_KERNEL_SOURCE" in os.environ or os.path.exists(f"/lib/modules/{os.uname().release}/build"):
        return {}
    for common in sorted(glob.glob("/usr/src/linux-headers-*-common"), reverse=True):
        for own in glob.glob(f"{common.removesuffix('-common')}-amd64"):
            for source in (common, own):
                for part in ("include", "arch"):
                    shutil.copytree(f"{source}/{part}", f"{merged}/{part}", dirs_exist_ok=True)
            return {"BCC_KERNEL_SOURCE": merged}
    return {}


def memleak(directory):
    watcher = Uprobes("memleak", ["memleak-bpfcc", "-p", "PID", str(MEMLEAK_SECONDS)], "] Top 10 stacks")
    watcher.environment = kernel_headers(directory)
    return watcher


def bpftrace(directory):
    script = f"{directory}/memleak.bt"
    libc = next((path for path in glob.glob("/lib/*-linux-gnu*/libc.so.6")), ctypes.util.find_library("c"))
    with open(script, "w", encoding="utf-8") as file:
        file.write(PROBES.replace("LIBC", libc))
    watcher = Uprobes("bpftrace", ["bpftrace", "-p", "PID", script], "attached\n")
    watcher.environment = {"BPFTRACE_MAP_KEYS_MAX": "200000"}
    return watcher
