#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""hostile_names.py PMM MKCAPTURE DIRECTORY: names that would drive a terminal, wherever pmm meets names.

A process's name and arguments, its threads' names, the paths of its program and library, functions, operands, values of options, the
environment, suppression files. Whatever pmm says, to a pipe or to a terminal: it is UTF-8, has no control character but line ends and no
direction marks, and no line of it was made by a name. JSON can be parsed. Says how many outputs were looked at.
"""
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

PMM = os.fsencode(sys.argv[1])
MKCAPTURE, DIRECTORY = sys.argv[2], os.fsencode(sys.argv[3])
SECONDS = 120

# Title, colour, C1 in both forms, no UTF-8, right to left, and a line that looks like pmm's own.
NASTY = b"\x1b]0;x\x07\x1b[31m\xc2\x9b1m\x9b\xff\xe2\x80\xae\xe2\x81\xa6\x7f\r\npmm: FORGED\nFORGED"
COMM = b"\x1b]0;x\x07\n\xc2\x9b\xff\xe2\x80\xae"	# 15 bytes are kept

VICTIM = rb"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
static void *grow(void *(*make)(void))
{
	for (;;) {
		make();
		usleep(1000);
	}
	return NULL;
}
static void *named(void *make)
{
	prctl(PR_SET_NAME, "\033[2J\n\xc2\x9b");
	return grow((void *(*)(void))make);
}
int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW);
	void *(*make)(void) = library ? (void *(*)(void))dlsym(library, "make") : NULL;
	pthread_t thread;

	if (!make)
		return 9;
	prctl(PR_SET_NAME, "\033]0;x\a\n\xc2\x9b\xff\xe2\x80\xae");
	for (int i = 0; i < 20; i++)
		make();
	if (argc > 2) {
		pthread_create(&thread, NULL, named, (void *)make);
		puts("ready");
		fflush(stdout);
		grow(make);
	}
	return 0;
}
"""

LIBRARY = rb"""
#include <stdlib.h>
__attribute__((noinline)) void *evil(void) __asm__("\"\033[31mevil\xc2\x9b\xe2\x80\xae\"");
__attribute__((noinline)) void *evil(void) { return malloc(1000); }
void *make(void) { void *p = evil(); __asm__ volatile("" : "+r"(p)); return p; }
"""

looked_at = 0


def look(what, output, is_json=False):
    """Nothing in it but text."""
    global looked_at
    looked_at += 1
    try:
        text = output.decode()
    except UnicodeDecodeError as e:
        sys.exit(f"{what}: no UTF-8: {e}: {output!r}")
    found = re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", text)
    if found:
        sys.exit(f"{what}: {found.group()!r} in {text[max(0, found.start() - 80):found.end() + 40]!r}")
    if re.search("^(pmm: )?FORGED", text, re.M):
        sys.exit(f"{what}: a forged line in {text!r}")
    if is_json:
        try:
            for part in [text] if text.startswith("{\n") else text.splitlines():
                json.loads(part)
        except ValueError as e:
            sys.exit(f"{what}: no JSON: {e}: {text!r}")


def run(*arguments, check_json=False, env=None, cwd=None):
    """To pipes, then to a terminal."""
    command = [PMM, *arguments]
    what = b" ".join(command[1:])
    env = {**os.environb, **(env or {})}
    r = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, env=env, cwd=cwd, check=False)
    if r.returncode < 0:
        sys.exit(f"{what}: signal {-r.returncode}")
    look(what, r.stdout, check_json and r.returncode < 2)
    look(what, r.stderr)
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=env, cwd=cwd) as p:
        os.close(theirs)
        output, end = b"", time.monotonic() + SECONDS
        while time.monotonic() < end:
            if not select.select([ours], [], [], 1)[0]:
                continue
            try:
                more = os.read(ours, 65536)
            except OSError:
                break
            if not more:
                break
            output += more
        else:
            p.kill()
            sys.exit(f"{what}: no end")
    os.close(ours)
    look(what + b" (terminal)", output.replace(b"\r\n", b"\n"))
    return r


def build():
    """The victim and its library, in a directory whose name is as bad as theirs."""
    place = os.path.join(DIRECTORY, b"d" + NASTY.replace(b"/", b"_"))
    os.mkdir(place)
    program, library = os.path.join(place, b"-\x1b[1mv\n\xc2\x9b"), os.path.join(place, b"lib\x1b[1m\n\xe2\x80\xae.so")
    found = os.path.join(DIRECTORY, b"libfound.so")	# its path is kept as it is, so that the names in it are found
    for source, to, more in ((VICTIM, program, []), (LIBRARY, library, ["-shared", "-fPIC"]), (LIBRARY, found, ["-shared", "-fPIC"])):
        plain = os.path.join(DIRECTORY, b"plain")
        r = subprocess.run(["cc", "-g", "-x", "c", "-", "-o", plain, *more, "-ldl", "-lpthread"], input=source, capture_output=True, check=False)
        if r.returncode:	# an assembler without such names
            source = re.sub(rb' __asm__\("\\"[^)]*\)', b"", source)
            subprocess.run(["cc", "-g", "-x", "c", "-", "-o", plain, *more, "-ldl", "-lpthread"], input=source, check=True)
        os.rename(plain, to)
    return program, library, found


def operands():
    """Each command, with names in all places of its command line."""
    commands = subprocess.run([PMM, "help", "--commands"], capture_output=True, check=False).stdout.split()
    if len(commands) < 5:
        commands = [b"run", b"attach", b"detach", b"report", b"leaks", b"check", b"snapshot", b"doctor", b"help"]
    run(NASTY)
    run(b"--" + NASTY)
    for command in commands:
        run(command, NASTY)
        run(command, b"/tmp/" + NASTY)
        run(command, b"--", NASTY)
        run(command, b"--" + NASTY)
        run(command, b"-" + NASTY)
        run(command, b"--json=" + NASTY)
        run(command, b"1", NASTY)
        for option in (b"top", b"output", b"sort", b"size", b"age", b"suppressions", b"report", b"show", b"fail-on", b"every", b"alloc",
                       b"budget", b"sweep", b"memory-limit", b"core", b"duration", b"expire", b"tag-bits", b"heuristics"):
            run(command, b"--" + option, NASTY, b"1")
            run(command, b"--" + option + b"=" + b"/proc/" + NASTY, b"/dev/null")


def captures(program, library):
    """What a program that ended leaves: told again in all forms."""
    place = os.path.join(DIRECTORY, b"captures of " + os.path.basename(library))
    os.mkdir(place)
    run(b"run", b"--leaks", b"--", program, library, cwd=place)
    run(b"check", b"--", program, library, cwd=place)
    run(b"leaks", b"--", program, library, cwd=place)
    names = os.listdir(place)
    for name in names:
        if not re.fullmatch(rb"pmm\.[^\x00-\x20\x7f-\x9f/]*\.\d+\.pmm", name) or len(names) < 2:
            sys.exit(f"captures are named {names}")
    capture = os.path.join(place, names[0])
    nasty = os.path.join(place, NASTY)
    os.link(capture, nasty)
    suppressions = os.path.join(DIRECTORY, b"supp" + NASTY)
    with open(suppressions, "wb") as f:
        f.write(b"{\n" + NASTY + b"\n")
    for name in (capture, nasty):
        run(b"report", name)
        run(b"report", b"--no-symbols", b"--blocks", name)
        run(b"report", b"--top-down", name)
        run(b"report", b"--bottom-up", b"--thread", NASTY, name)
        run(b"report", b"--json", name, check_json=True)
        run(b"leaks", b"--show=all", name)
        run(b"leaks", b"--json", name, check_json=True)
        run(b"leaks", b"--format=valgrind-xml", name)
        run(b"leaks", b"--gen-suppressions", name)
        run(b"leaks", b"--gen-suppressions=lsan", name)
        run(b"leaks", b"--suppressions", suppressions, name)
        run(b"check", name)
        run(b"leaks", b"--core", name, name)
    if library.endswith(b"found.so") and "evil" not in run(b"report", capture).stdout.decode():
        sys.exit("the function's name is not found")
    run(b"report", capture, env={b"XDG_CACHE_HOME": DIRECTORY + b"/cache/" + NASTY, b"TERM": NASTY, b"HOME": NASTY})
    recipe = os.path.join(DIRECTORY, b"recipe")
    made = os.path.join(DIRECTORY, b"made.pmm")
    nasty_word = re.sub(rb"\s", b"", NASTY).decode(errors="ignore").encode()	# a capture's strings are UTF-8
    with open(recipe, "wb") as f:
        f.write(b"process comm=" + nasty_word + b" exe=" + nasty_word + b" cmdline=" + nasty_word + b" host=" + nasty_word + b"\n")
    subprocess.run([MKCAPTURE, recipe, made], check=True)
    run(b"report", made)
    run(b"report", b"--json", made, check_json=True)
    with open(recipe, "wb") as f:
        f.write(NASTY)
    run(b"report", recipe)
    with open(nasty + b".cut", "wb") as f, open(capture, "rb") as whole:
        f.write(whole.read()[:500])
    run(b"report", nasty + b".cut")


def start(command):
    """One that goes on; its process, and the victim's number."""
    p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=DIRECTORY)
    if p.stdout.readline() != b"ready\n":
        sys.exit(f"{command} did not start: {p.stderr.read()!r}")
    return p


def end(p):
    """Its last words are looked at, too."""
    try:
        look("end", p.communicate(timeout=SECONDS)[1])
    except subprocess.TimeoutExpired:
        p.kill()
        raise


def processes(program, library):
    """Running ones: tracked, then attached to."""
    p = start([PMM, b"run", b"--", program, library, b"stay"])
    child, = (int(n) for n in open(f"/proc/{p.pid}/task/{p.pid}/children").read().split())
    number = b"%d" % child
    run(b"report", number)
    run(b"report", b"--json", number, check_json=True)
    run(b"leaks", number)
    run(b"leaks", b"--json", number, check_json=True)
    run(b"check", number)
    run(b"snapshot", number, cwd=DIRECTORY)
    run(b"attach", number)
    run(b"doctor", number)
    os.kill(child, signal.SIGKILL)
    end(p)
    p = start([program, library, b"stay"])
    number = b"%d" % p.pid
    for more in ([], [b"--json"]):
        run(b"attach", b"--duration", b"1", b"--expire", b"100ms", b"--interval", b"100ms", *more, number, check_json=bool(more))
    run(b"attach", b"--alloc", NASTY + b"=malloc(arg0)", b"--duration", b"1", number)
    run(b"detach", number)
    run(b"leaks", number)
    run(b"report", number)
    run(b"doctor", number)
    p.kill()
    p.communicate()


def main():
    program, library, found = build()
    captures(program, library)
    captures(program, found)
    processes(program, library)
    operands()
    print(looked_at)


main()
