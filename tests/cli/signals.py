#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""signals.py PMM DIRECTORY: SIGINT and SIGTERM to commands that are in the middle of long work, or that nobody reads.

The victim and its libraries have debug links to files of 3 GiB that are holes: some seconds of checksums for each command. The signal
comes while the first of them is being read; a command that ends at once has not written a word by then. None of this measures time.
"""
import array
import fcntl
import os
import signal
import subprocess
import sys
import termios
import time

PMM, DIRECTORY = sys.argv[1:]
SECONDS = 120
SIZE = 3 << 30
SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
void *one(void), *two(void), *three(void);
int main(int argc, char **argv)
{
	for (int i = 0; i < 50; i++)
		one(), two(), three();
	puts("ready");
	fflush(stdout);
	for (int i = 0; argc > 1; i++) {
		usleep(10000);
		one();
	}
	return 0;
}
"""


def fail(text):
    sys.exit(text)


def build():
    """main and three libraries without build ids, these stripped."""
    files = {"main": SOURCE}
    for name in ("one", "two", "three"):
        files[f"lib{name}.so"] = f"#include <stdlib.h>\nvoid *{name}(void) {{ return malloc(100); }}\n"
    for name, source in sorted(files.items()):
        more = ["-L.", "-lone", "-ltwo", "-lthree", "-Wl,-rpath,$ORIGIN"] if name == "main" else ["-shared", "-fPIC"]
        subprocess.run(["cc", "-g", "-Wl,--build-id=none", "-x", "c", "-", "-o", name, "-x", "none", *more], input=source, text=True, cwd=DIRECTORY,
                       check=True)
    for name in set(files) - {"main"}:
        subprocess.run(["sh", "-ec", f"objcopy --only-keep-debug {name} huge.{name}; strip {name}; "
                        f"objcopy --add-gnu-debuglink=huge.{name} {name}"], cwd=DIRECTORY, check=True)


def grow():
    """From here on the checksums are wrong, and take their time."""
    for name in os.listdir(DIRECTORY):
        if name.startswith("huge."):
            os.truncate(os.path.join(DIRECTORY, name), SIZE)


def reads_huge(p):
    """Has it one of the huge files open?"""
    try:
        for fd in os.listdir(f"/proc/{p.pid}/fd"):
            try:
                if "/huge." in os.readlink(f"/proc/{p.pid}/fd/{fd}"):
                    return True
            except OSError:
                pass
    except OSError:
        pass
    return False


def await_(what, p, condition):
    end = time.monotonic() + SECONDS
    while not condition():
        if p.poll() is not None:
            fail(f"{what}: it has ended with {p.returncode}: {p.stderr.read() if p.stderr else ''}")
        if time.monotonic() > end:
            p.kill()
            fail(f"{what}: in vain")
        time.sleep(0.001)


def ordinary():
    """As a person's shell starts it, whoever runs this test."""
    for sig in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(sig, signal.SIG_DFL)


def begin(*arguments, small=False):
    ours, theirs = os.pipe()
    if small:
        fcntl.fcntl(ours, fcntl.F_SETPIPE_SZ, 4096)
    p = subprocess.Popen([PMM, *arguments], stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE, text=True, cwd=DIRECTORY,
                         preexec_fn=ordinary)
    os.close(theirs)
    p.stdout = os.fdopen(ours)
    return p


def expect(what, p, codes, words):
    try:
        out, err = p.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        p.kill()
        fail(f"{what}: it does not end")
    if p.returncode not in codes:
        fail(f"{what}: ended with {p.returncode}: {err}")
    if words and (out.replace("ready\n", "") or "by the function that allocated it" in err or "Leaks" in err):
        fail(f"{what}: it went on to the end: {out[:300]}{err[:300]}")


def interrupted(code, *arguments):
    """In the middle of a checksum. `code`: None = it dies of the signal."""
    for sig in (signal.SIGINT, signal.SIGTERM):
        what = f"{' '.join(arguments)} with {sig.name}"
        p = begin(*arguments)
        await_(what, p, lambda: reads_huge(p))
        p.send_signal(sig)
        expect(what, p, (-sig,) if code is None else (code(sig),), True)


def is_full(pipe):
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0] >= 4096


def unread(code, *arguments):
    """While nobody reads what it writes."""
    for sig in (signal.SIGINT, signal.SIGTERM):
        what = f"unread {' '.join(arguments)} with {sig.name}"
        p = begin(*arguments, small=True)
        await_(what, p, lambda: is_full(p.stdout))
        p.send_signal(sig)
        expect(what, p, (-sig,) if code is None else code, False)


def bytes_read(p):
    with open(f"/proc/{p.pid}/io") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("rchar"))


def agent_gone(pid):
    return "/memfd:pmm" not in open(f"/proc/{pid}/maps").read()


def attached(pid):
    """It lets go of the process in the middle of the checksum, and then it ends."""
    for sig in (signal.SIGINT, signal.SIGTERM):
        what = f"attach with {sig.name}"
        p = begin("attach", "--expire", "100ms", "--interval", "100ms", str(pid))
        await_(what, p, lambda: reads_huge(p) and not agent_gone(pid))
        p.send_signal(sig)
        before = []	# looked at before the agent is: it goes on reading

        def let_go():
            before.append(bytes_read(p))
            return agent_gone(pid)
        await_(what, p, let_go)
        if before[-1] > SIZE:
            fail(f"{what}: it has read {before[-1]} bytes before it let go")
        p.send_signal(sig)	# nothing is held now: the table is cut short, too
        expect(what, p, (-sig, 0, 1), False)
        if open(f"/proc/{pid}/stat").read().split(") ")[1][0] not in "SRD":
            fail(f"{what}: the process stands")


def main():
    build()
    main_ = os.path.join(DIRECTORY, "main")
    subprocess.run([PMM, "run", "-q", "--leaks", "-o", "y.pmm", "--", main_], cwd=DIRECTORY, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   check=False)
    grow()
    for more in ([], ["leaks"]):
        interrupted(lambda sig: 128 + sig, *(more or ["run"]), "--", main_)
    interrupted(None, "report", "y.pmm")
    interrupted(None, "leaks", "y.pmm")
    unread(None, "report", "--no-symbols", "--json", "y.pmm")
    plain = subprocess.Popen([main_, "stay"], stdout=subprocess.PIPE, text=True)
    tracked = subprocess.Popen([PMM, "run", "-q", "-o", "z.pmm", "--", main_, "stay"], cwd=DIRECTORY, stderr=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, text=True)
    try:
        plain.stdout.readline()
        tracked.stdout.readline()
        pid = open(f"/proc/{tracked.pid}/task/{tracked.pid}/children").read().split()[0]
        interrupted(None, "report", pid)
        interrupted(None, "leaks", pid)
        interrupted(lambda sig: 0, "leaks", "--every", "1h", pid)	# nothing was found by then
        unread(None, "report", "--no-symbols", "--json", pid)
        unread(None, "leaks", "--no-symbols", "--json", "--show=all", pid)
        unread((1,), "leaks", "--no-symbols", "--json", "--show=all", "--every", "1h", pid)
        attached(plain.pid)
    finally:
        plain.kill()
        subprocess.run(["kill", "-9", pid], check=False)
        tracked.wait(timeout=SECONDS)


main()
