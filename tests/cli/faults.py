#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""faults.py SCENE KIND [N|CALL...]: pmm, in whose way something comes once.

SCENE is a command (below), KIND what fails: "memory", the N-th allocation; "call", the N-th system call; "call1", "call2" the same with other error
numbers; "short", the N-th call transfers half. Each N is one run of pmm; CALL names system calls, which alone count. Without N: as many as fit into FAULTS_SECONDS (20), chosen at random by
FAULTS_SEED; all with FAULTS_SECONDS=0; with FAULTS_EVERY=K every K-th, from number FAULTS_SEED % K on.

After each run what pmm was used on must be unharmed, and pmm must have ended with an exit code that is documented, with the same result as
otherwise or one sentence that says why not. Each fault found is a line; the exit status is 1 if there was one.

Environment: PMM, PROG (directory of the victims), TOOL (directory of nth and libnomem.so).
"""

import glob
import hashlib
import json
import os
import random
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

PMM, PROG, TOOL = (os.environ[x] for x in ("PMM", "PROG", "TOOL"))
SECONDS = float(os.environ.get("FAULTS_SECONDS", "20"))
SEED = int(os.environ.get("FAULTS_SEED", str(int(time.time()) % 100000)))
VERBOSE = bool(os.environ.get("FAULTS_VERBOSE"))
EVERY = int(os.environ.get("FAULTS_EVERY", "0"))
LIMIT = 120  # seconds that only a hang reaches
DIR = tempfile.mkdtemp(prefix="pmm-faults.")
ENV = {**os.environ, "NO_COLOR": "1", "LC_ALL": "C", "DEBUGINFOD_URLS": "", "TZ": "UTC", "TMPDIR": DIR, "XDG_CACHE_HOME": os.path.join(DIR, "cache")}


class Fault(Exception):
    """What must not be."""


def name(*parts):
    return os.path.join(DIR, *parts)


def without_probes(code, mapping):
    """Code with the file's bytes where there is an int3: others on this machine may set uprobes."""
    try:
        with open(mapping[5], "rb") as f:
            f.seek(int(mapping[2], 16))
            file = f.read(len(code))
    except (IndexError, OSError):
        return code
    if code == file or len(code) != len(file):
        return code
    return bytes(b if a == 0xCC else a for a, b in zip(code, file))


def children(pid):
    found = []
    for task in glob.glob(f"/proc/{pid}/task/*/children"):
        with open(task, encoding="utf-8") as f:
            found += f.read().split()
    return found


# ---- a process that is looked at ----


class Victim:
    """tests/prog/faults_victim.c; what must not change of it."""

    def __init__(self, launcher=()):
        self.process = subprocess.Popen([*launcher, f"{PROG}/faults_victim"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENV)
        self.hear("ready")
        self.pid = int(children(self.process.pid)[0]) if launcher else self.process.pid
        self.before = self.picture()

    def hear(self, line):
        ready, _, _ = select.select([self.process.stdout], [], [], LIMIT)
        said = self.process.stdout.readline().decode().strip() if ready else "nothing"
        if said != line:
            raise Fault(f"the victim says '{said}', must say '{line}'")

    def check(self):
        try:
            self.process.stdin.write(b"c")
            self.process.stdin.flush()
        except OSError:
            raise Fault(f"the victim has ended: {self.process.wait()}") from None
        self.hear("good")

    def read(self, file):
        with open(f"/proc/{self.pid}/{file}", encoding="utf-8", errors="replace") as f:
            return f.read()

    def picture(self):
        """A line for each thing; what differs between two moments is harm."""
        lines = []
        with open(f"/proc/{self.pid}/mem", "rb", 0) as mem:
            for line in self.read("maps").splitlines():
                span, access = line.split()[:2]
                if line.endswith("[vsyscall]") or line.endswith("[uprobes]"):
                    continue  # others on this machine may set probes
                lines.append("map " + line)
                if access[2] == "x":
                    start, end = (int(x, 16) for x in span.split("-"))
                    mem.seek(start)
                    code = without_probes(mem.read(end - start), line.split(maxsplit=5))
                    lines.append(f"code {span} {hashlib.sha1(code).hexdigest()}")
        lines += [f"fd {fd} {os.readlink(f'/proc/{self.pid}/fd/{fd}')}" for fd in os.listdir(f"/proc/{self.pid}/fd")]
        lines += self.read("limits").splitlines()
        for tid in os.listdir(f"/proc/{self.pid}/task"):
            status = self.read(f"task/{tid}/status")
            kept = re.findall(r"^(?:TracerPid|Seccomp|Sig(?:Blk|Ign|Cgt)|CapEff|Uid):.*", status, re.M)
            state = re.search(r"State:\s*(\w)", status)[1]
            lines += [f"thread {tid} {x}" for x in kept] + [f"thread {tid} {'stopped' if state in 'tT' else 'runs'}"]
        return sorted(lines)

    def difference(self):
        try:
            now = self.picture()
        except OSError as e:
            if self.process.poll() is None:
                return [f"? {e}"]  # a watchdog is at work in it
            raise Fault(f"the victim has gone: {e}") from None
        return [f"- {x}" for x in self.before if x not in now] + [f"+ {x}" for x in now if x not in self.before]

    def end(self):
        if self.process.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


# ---- pmm ----


def elfutils_code():
    """[start, end] of each piece of code of libdw and libelf that is linked into pmm."""
    pieces = []
    with open(f"{os.path.dirname(PMM)}/pmm.map", encoding="utf-8") as f:
        placed = re.findall(r"^ \.text\S*\s+0x([0-9a-f]+)\s+0x([0-9a-f]+) (\S+)", f.read(), re.M)
    last = None  # which of all places was added to the last piece
    for number, (at, size, file) in enumerate((int(at, 16), int(size, 16), file) for at, size, file in placed if int(size, 16)):
        if not re.search(r"/lib(dw|elf)\.a\(", file):
            continue
        if last == number - 1:
            pieces[-1][1] = at + size
        else:
            pieces.append([at, at + size])
        last = number
    return pieces


class Run:
    """One run of pmm: status, output, messages, what was done to it."""

    calls = ()  # names of system calls that are counted; none: all

    def __init__(self, argv, kind=None, n=0, stdin=None):
        self.log, self.counter, self.did = name("log"), name("counter"), "nothing"
        env, command = dict(ENV), [PMM, *argv]
        if kind:
            shutil.rmtree(ENV["XDG_CACHE_HOME"], ignore_errors=True)
        if kind == "memory" or kind == "count":
            with open(self.counter, "wb") as f:
                f.write(struct.pack("QQ", 0, n) + b"".join(struct.pack("QQ", *piece) for piece in elfutils_code()))
            env |= {"LD_PRELOAD": f"{TOOL}/libnomem.so", "NOMEM": self.counter}
        elif kind:
            action = ["list"] if kind == "list" else ["short", str(n)] if kind == "short" else ["-v", kind[4:] or "0", "fail", str(n)]
            if os.path.exists(self.log):
                os.unlink(self.log)
            only = ["-c", ",".join(self.calls)] if self.calls else []
            command = [f"{TOOL}/nth", *only, "-l", self.log, *action, "--", *command]
        with open(name("out"), "w+b") as out, open(name("err"), "w+b") as err, open(stdin or os.devnull, "rb") as given:
            p = subprocess.Popen(command, stdin=given, stdout=out, stderr=err, env=env, cwd=DIR, start_new_session=True)
            try:
                self.status = p.wait(LIMIT)
            except subprocess.TimeoutExpired:
                self.status = None
                self.where = self.doing(p.pid)
                os.killpg(p.pid, signal.SIGKILL)
                p.wait()
            for f in (out, err):
                f.seek(0)
            self.out, self.err = out.read().decode(errors="replace"), err.read().decode(errors="replace")
        if self.status is not None and self.status < 0:
            self.status = 128 - self.status
        if kind == "memory":
            self.did = f"allocation {n}"
        elif kind and kind != "list" and kind != "count" and os.path.exists(self.log):
            with open(self.log, encoding="utf-8") as f:
                self.did = f.read().strip() or "nothing"

    @staticmethod
    def doing(pid):
        """Where the processes of a hang are."""
        found = []
        for process in [pid, *children(pid)]:
            for thread in os.listdir(f"/proc/{process}/task"):
                with open(f"/proc/{process}/task/{thread}/syscall", encoding="utf-8") as s:
                    found.append(f"{thread}: {s.read().strip()}")
        return "; ".join(found)

    def messages(self):
        return [x for x in self.err.splitlines() if x.startswith("pmm: ") and not x.startswith("pmm: hint: ")]


def must_end(run, documented):
    """With a documented status, and a sentence where it is 3."""
    if run.status is None:
        raise Fault(f"hangs: {run.where}")
    if run.status not in documented:
        raise Fault(f"status {run.status}")
    if " write " in run.did:
        return  # what it has to say cannot be said
    if re.search(r"unknown reason|^pmm: *$|\(null\)|: Success", run.err, re.M):
        raise Fault("says nothing")
    if run.status == 3 and not run.messages():
        raise Fault("status 3 and no message")


def plain(text):
    """Without what differs from run to run."""
    text = re.sub(r" +", " ", text)
    text = re.sub(r"0x[0-9a-f]+", "ADDRESS", text)
    text = re.sub(r"\b[\d.]+ ?(ns|us|µs|ms|s|min|h)\b", "TIME", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "DATE", text)
    text = re.sub(r"\b(pid|process|thread) \d+|\(\d+\)", r"\1 N", text)
    text = re.sub(r"searched [\d.]+ .iB|\d+\.\d+%", "N", text)
    return text


# ---- scenes: what is run, and what must hold after it ----


class Scene:
    documented = (0, 3)
    stdin = None

    def begin(self):
        """What all runs share."""

    def argv(self):
        raise NotImplementedError

    def base(self, run):
        """What a run looks like in whose way nothing came."""
        if run.status == 3 or run.status is None:
            raise Fault(f"does not work anyway: {run.status} {run.err}")
        self.usual = {plain(x) for x in run.messages()}
        self.wanted = self.result(run)

    def result(self, run):
        return run.status, plain(run.out)

    def check(self, run):
        must_end(run, self.documented)
        if " write " in run.did:
            return  # what it has to say cannot be said
        if run.status != 3 and self.result(run) != self.wanted and not self.says_so(run):
            raise Fault(f"another result, silently: {self.different(run)}")

    def says_so(self, run):
        """A sentence, or a note in a report, that is not said otherwise."""
        return any(plain(x) not in self.usual for x in run.messages()) or bool(re.search(r"^ *! ", run.err, re.M))

    def different(self, run):
        got, want = self.result(run), self.wanted
        if got[0] != want[0]:
            return f"status {got[0]}, must be {want[0]}"
        a, b = want[1].splitlines(), got[1].splitlines()
        return " | ".join([f"-{x}" for x in a if x not in b][:4] + [f"+{x}" for x in b if x not in a][:4])

    def again(self):
        """After a fault."""

    def end(self):
        pass


class OnVictim(Scene):
    """What looks at a process that runs."""

    def begin(self):
        self.victim = Victim()
        self.left = 0

    def unharmed(self, run):
        if not self.victim.difference():
            return self.victim.check()
        self.left += 1
        if VERBOSE:
            print(f"  left for detach: {explain(run)}")
        self.victim.check()
        for _ in range(100):
            later = Run(["detach", str(self.victim.pid)])
            difference = self.victim.difference()
            if not difference or not re.search("guarded block|inside the agent", later.err) and not re.search(r"^\?|TracerPid", "\n".join(difference), re.M):
                break
            time.sleep(0.05)
        if difference:
            raise Fault(f"left in the victim after '{run.err.strip()}', detach says {later.status} '{later.err.strip()}': {'; '.join(difference[:6])}")
        return self.victim.check()

    def check(self, run):
        try:
            super().check(run)
        finally:
            self.unharmed(run)

    def again(self):
        self.victim.end()
        self.victim = Victim()

    def end(self):
        self.victim.end()


class Attach(OnVictim):
    documented = (0, 1, 3)
    options = ()

    def argv(self):
        for old in glob.glob(name("*.pmm")):
            os.unlink(old)
        return ["attach", "-d", "60ms", *self.options, "-o", name("c.pmm"), str(self.victim.pid)]

    def result(self, run):
        """How many functions were patched, and which not."""
        said = re.findall(r"(\d+ functions patched)|(not patched: .*)", run.err)
        return 0, "\n".join(x or y for x, y in said)

    def says_so(self, run):
        """A sentence that is not said otherwise."""
        return any(plain(x) not in self.usual and "functions patched" not in x for x in run.messages())

    def kept(self, run):
        """A run that ends well leaves a capture with what was seen."""
        if run.status == 3:
            return
        if not os.path.exists(name("c.pmm")) and not self.says_so(run):
            raise Fault("no capture, silently")
        blind = re.search(r": (no|0) allocations", run.out) or "allocations of" not in run.out  # a busy machine: the victim did not get to run
        for file in glob.glob(name("*.pmm")):
            report = Run(["report", file])
            if report.status != 0 or not (blind or "churn" in report.out):
                raise Fault(f"a capture without what was seen: {report.status} {report.err} {report.out[:200]}")

    def check(self, run):
        super().check(run)
        self.kept(run)


class AttachCheck(Attach):
    options = ("--check", "--sample=4K", "--budget=all")

    def kept(self, run):
        pass


class Detach(OnVictim):
    def argv(self):
        p = subprocess.Popen([PMM, "attach", str(self.victim.pid)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENV)
        p.stderr.readline()
        for watchdog in children(p.pid):  # it would take the agent out as well, at the same time
            os.kill(int(watchdog), signal.SIGKILL)
        p.kill()
        p.wait()
        p.stderr.close()
        return ["detach", str(self.victim.pid)]

    def result(self, run):
        return 0, ""


class OnTracked(OnVictim):
    """What looks at a process that another pmm watches."""

    def begin(self):
        self.again()

    def again(self):
        if getattr(self, "victim", None):
            self.victim.end()
        self.victim = Victim([PMM, "run", "-q", "-o", name("watched"), "--"])

    def unharmed(self, run):
        for _ in range(100):
            difference = [x for x in self.victim.difference() if "/memfd:pmm-ledger" not in x]  # it grows
            if not difference:
                return self.victim.check()
            time.sleep(0.02)
        raise Fault(f"left in the victim: {'; '.join(difference[:6])}")


class LeaksPid(OnTracked):
    documented = (0, 1, 3)

    def argv(self):
        return ["leaks", "--show=all", str(self.victim.pid)]

    def result(self, run):
        return (run.status, "\n".join(x for x in plain(run.out).splitlines() if re.search(r"\blose\b|\bkeep\b|definitely lost", x)))


class ReportPid(OnTracked):
    def argv(self):
        return ["report", str(self.victim.pid)]

    def result(self, run):
        return (run.status, "\n".join(x for x in plain(run.out).splitlines() if re.search(r"\blose\b|\bkeep\b", x)))


class SnapshotPid(ReportPid):
    def argv(self):
        for old in glob.glob(name("*.pmm")):
            os.unlink(old)
        return ["snapshot", "-o", name("c.pmm"), str(self.victim.pid)]

    def result(self, run):
        report = Run(["report", name("c.pmm")])
        return (run.status, super().result(report)[1])


class OfFile(Scene):
    """What reads a capture, and keeps the names that it has found for the next time."""

    def check(self, run):
        super().check(run)
        again = Run(self.argv())
        if self.result(again) != self.wanted:
            raise Fault(f"the next run has another result: {self.different(again)}")

    def begin(self):
        with open(name("orders"), "w", encoding="utf-8") as f:
            f.write("g")
        run = Run(["run", "--leaks", "-q", "-o", name("made.pmm"), "--", f"{PROG}/attach_victim"], stdin=name("orders"))
        if run.status != 42:
            raise Fault(f"no capture: {run.err}")


class ReportFile(OfFile):
    def argv(self):
        return ["report", name("made.pmm")]


class LeaksFile(OfFile):
    documented = (0, 1, 3)

    def argv(self):
        return ["leaks", name("made.pmm")]


class Program(Scene):
    """What starts a program: that prints and ends as natively, or is not started."""

    command = ("run",)
    orders = "gkg"

    def begin(self):
        self.stdin = name("orders")
        with open(self.stdin, "w", encoding="utf-8") as f:
            f.write(self.orders)
        self.program = [f"{PROG}/attach_victim"]
        with open(self.stdin, "rb") as given:
            native = subprocess.run(self.program, stdin=given, stdout=subprocess.PIPE, check=False, env=ENV)
        self.native = (native.returncode, native.stdout.decode())

    def argv(self):
        for old in glob.glob(name("*.pmm")):
            os.unlink(old)
        return [*self.command, "-o", name("c.pmm"), "--", *self.program]

    def result(self, run):
        return (run.status, plain(run.err))

    def check(self, run):
        if run.status is None:
            raise Fault(f"hangs: {run.where}")
        if run.status == 3 and not run.out:
            must_end(run, (3,))
            return
        if (run.status, run.out) != self.native:
            raise Fault(f"the program's status and output are {(run.status, run.out)}, natively {self.native}; {run.err}")
        if " write " in run.did:
            return  # what it has to say cannot be said
        if re.search(r"unknown reason|^pmm: *$|\(null\)|: Success", run.err, re.M):
            raise Fault("says nothing")
        if self.result(run) != self.wanted and not self.says_so(run):
            raise Fault(f"another result, silently: {self.different(run)}")


class RunLeaks(Program):
    command = ("run", "--leaks")


class Leaks(Program):
    command = ("leaks",)


class Check(Program):
    command = ("check", "--budget=all")  # else what a budget buys hangs on the machine


class Trace(Scene):
    """What the kernel sees of a command: each event of it, or a sentence that says which are missing."""

    def argv(self):
        program = ["sh", "-c", '"$0" 20; exit 0', f"{PROG}/trace_calls"]
        return ["trace", "mmap,life,faults,pmc", "--counters", "page_faults", "--json", "--top", "0", "--", *program]

    def result(self, run):
        """How many lines of each sort there are that are the command's own doing, and how many its result has."""
        lines = [json.loads(x) for x in run.out.splitlines()]
        kinds = ("mremap", "madvise", "exec", "fork", "exit")
        of_lines = {k: sum(x.get("event") == k for x in lines) for k in kinds}
        if not lines or "events" not in lines[-1]:
            return run.status, str(of_lines) + "no result"
        of_result = {x["event"]: x["count"] for x in lines[-1]["events"]}
        whole = lines[-1]["coverage"]["seen"] >= len(lines) - 1  # sampled events are counted, the others have a line or are lost
        some = whole, sum(x["page_faults"] for x in lines[-1].get("counters", [])) > 200, of_result.get("fault", 0) > 200
        return run.status, "\n".join(map(str, (of_lines, {k: of_result.get(k, 0) for k in kinds}, some)))

    def says_so(self, run):
        end = json.loads(run.out.splitlines()[-1])
        coverage = end["coverage"]
        return super().says_so(run) or bool(end["not_seen"]) or coverage["lost_in_ring"] + coverage["lost_in_tables"] > 0

    def base(self, run):
        super().base(run)
        if json.loads(run.out.splitlines()[-1])["not_seen"]:
            raise Fault(f"not all can be seen here: {run.out.splitlines()[-1]}")


SCENES = {
    "trace": Trace,
    "attach": Attach,
    "attach-check": AttachCheck,
    "detach": Detach,
    "leaks-pid": LeaksPid,
    "report-pid": ReportPid,
    "snapshot-pid": SnapshotPid,
    "report": ReportFile,
    "leaks-file": LeaksFile,
    "run": Program,
    "run-leaks": RunLeaks,
    "leaks": Leaks,
    "check": Check,
}

# ---- one after the other ----


def numbers(scene, kind, wanted):
    """The N of all that can fail, of these calls only if there are any."""
    Run.calls = wanted
    base = Run(scene.argv(), "count" if kind == "memory" else "list", stdin=scene.stdin)
    scene.base(base)
    if kind == "memory":
        with open(base.counter, "rb") as f:
            total = struct.unpack("QQ", f.read(16))[0]
        return list(range(1, total + 1))
    with open(base.log, encoding="utf-8") as f:
        calls = list(map(str.split, f))
    if kind == "short":
        return [int(x[0]) for x in calls if x[1] in ("read", "pread64", "write", "pwrite64")]
    return [int(x[0]) for x in calls if int(x[2]) > int(kind[4:] or "0")]


def explain(run):
    return f"{run.did} -> {run.status}: {' / '.join(run.err.splitlines())[:300]}"


def main():
    scene_name, kind, *chosen = sys.argv[1:]
    scene = SCENES[scene_name]()
    scene.begin()
    every = numbers(scene, kind, [x for x in chosen if not x.isdigit()])
    chosen = [int(x) for x in chosen if x.isdigit()]
    todo = chosen or (every[SEED % EVERY :: EVERY] if EVERY else every)
    if not chosen and SECONDS and not EVERY:
        random.Random(SEED).shuffle(todo)
    end, runs, faults, said = time.monotonic() + SECONDS, 0, 0, {}
    for n in todo:
        if SECONDS and not EVERY and not chosen and runs and time.monotonic() > end:
            break
        runs += 1
        run = Run(scene.argv(), kind, n, scene.stdin)
        try:
            scene.check(run)
        except Fault as fault:
            faults += 1
            print(f"{scene_name} {kind} {n}: {explain(run)}\n    {fault}", flush=True)
            scene.again()
        text = f"{run.status} {plain(' / '.join(run.messages()))}"
        said.setdefault(text, []).append(n)
        if VERBOSE and chosen:
            print(explain(run), run.out, flush=True)
    scene.end()
    if VERBOSE:
        for text, where in sorted(said.items()):
            print(f"  {len(where):5} x {text}   ({' '.join(map(str, where[:5]))})")
    print(f"{scene_name} {kind}: {runs} of {len(every)} (seed {SEED}), {faults} faults, {getattr(scene, 'left', 0)} cleaned by detach")
    return 1 if faults or not every else 0


try:
    sys.exit(main())
finally:
    shutil.rmtree(DIR, ignore_errors=True)
