# SPDX-License-Identifier: GPL-2.0-or-later
"""Real packaged programs that allocate much, with inputs made here: each takes one to four seconds on its own. And programs of ours."""

import os
import random
import shutil
import socket
import subprocess
import time

PYTHON = """
import ast, json
words = ['w%d' % (i * 7919 % 50021) for i in range(60000)]
for turn in range(TURNS):
    count = {}
    for w in words:
        count.setdefault(w[:4], []).append((w, len(w)))
    text = json.dumps({k: [list(p) for p in v] for k, v in count.items()})
    back = json.loads(text)
    lines = sorted((k.upper() + str(len(v)) for k, v in back.items()), reverse=True)
    tree = ast.parse('\\n'.join('def f%d(a, b=%d):\\n  return [a + b * %d for x in range(b)]' % (i, i, i)
                               for i in range(1500)))
    total = sum(1 for _ in ast.walk(tree))
"""

PERL = """
my (%count, @kept);
for my $turn (1 .. TURNS) {
    for my $i (1 .. 20000) {
        my @f = split /,/, join(',', map { "k$_" . ($i * $_ % 977) } 1 .. 12);
        $count{$f[$i % 12]} .= substr($f[0], 0, 3);
        push @kept, { id => $i, fields => [@f[0 .. 3]], name => "n$i" };
    }
    @kept = grep { $_->{id} % 3 } sort { $a->{name} cmp $b->{name} } @kept;
    splice @kept, 20000;
}
print scalar(keys %count), "\\n";
"""

SQL = """
create table a(id integer primary key, k text, v real);
create table b(k text, n integer);
with recursive r(i) as (select 1 union all select i + 1 from r where i < ROWS)
  insert into a select i, 'key' || (i * 7919 % 10007), i * 0.5 from r;
insert into b select k, count(*) from a group by k;
create index ak on a(k);
select count(*), sum(length(x)) from (select group_concat(a.v, ',') x from a join b on a.k = b.k group by a.k);
select count(distinct upper(k) || hex(id)) from a;
select json_array_length(json_group_array(json_object('k', k, 'v', v))) from a;
update a set k = replace(k, 'key', 'other') where id % 2 = 0;
"""

C = """
struct s%d { int a[%d]; long b; struct s%d *next; };
int f%d(struct s%d *p, int n)
{
	long sum = 0;
	for (int i = 0; i < n; i++) {
		if (p->a[i %% %d] > i) sum += p->a[i %% 3] * %d; else sum -= p->b ^ i;
		switch (sum & 7) { case 0: p = p->next; break; case 3: sum *= n; break; case 5: p->b = sum; }
	}
	return (int)(sum + p->b);
}
"""

CXX = """
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>
template <int N> struct item { int a[N]; std::map<int, std::string> m; };
"""
CXX_USE = """
int use%d(std::vector<item<%d>> &v) { std::unordered_map<std::string, item<%d>> u; for (auto &i : v) u[i.m[%d]] = i;
  std::sort(v.begin(), v.end(), [](const item<%d> &a, const item<%d> &b) { return a.a[0] < b.a[0]; }); return (int)u.size(); }
"""


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def records(count):
    source = random.Random(1)
    for n in range(count):
        yield n, f"name{source.randrange(1000)}", source.random(), [source.randrange(100) for _ in range(4)]


class Program:
    """A program and its input. `size` of make() is 1 for the full input, less for less."""
    name = ""
    needs = ()
    environment = None    # variables for it
    own = False    # one of ours, of many small blocks and deep, changing stacks
    drive = None    # a server's load: see Redis

    def missing(self):
        """The first thing that is not installed, or None."""
        return next((tool for tool in self.needs if not shutil.which(tool)), None)

    def make(self, directory, size):
        """Write the input; sets self.argv."""
        raise NotImplementedError


class Own(Program):
    """A program of bench/, whose one argument says how much it does."""
    own = True

    def __init__(self, name, build, full):
        self.name, self.path, self.full = name, f"{build}/bench/bench_{name}", full

    def make(self, directory, size):
        self.argv = [self.path, str(max(1, int(self.full * size)))]


class Script(Program):
    """A script of its own, with a number in it that scales."""

    def __init__(self, name, command, text, word, full):
        self.name, self.command, self.text, self.word, self.full = name, command, text, word, full
        self.needs = (command[0],)

    def make(self, directory, size):
        path = f"{directory}/{self.name}.in"
        write(path, self.text.replace(self.word, str(max(1, int(self.full * size)))))
        self.argv = [part.replace("FILE", path) for part in self.command]


class Python(Script):
    """With the C library's malloc for its objects, not its own arenas."""
    environment = {"PYTHONMALLOC": "malloc"}


class Compiler(Program):
    """A compiler proper, without its driver, on one large source."""

    def __init__(self, name, driver, suffix):
        self.name, self.driver, self.suffix, self.needs = name, driver, suffix, (driver,)

    def make(self, directory, size):
        source, ready = f"{directory}/big.{self.suffix}", f"{directory}/big.{self.suffix}.i"
        write(source, self.source(size))
        subprocess.run([self.driver, "-E", "-P", source, "-o", ready], check=True)
        proper = subprocess.run([self.driver, f"-print-prog-name={self.name}"], check=True, capture_output=True, text=True)
        self.argv = [proper.stdout.strip(), "-fpreprocessed", "-quiet", "-O1", ready, "-o", os.devnull]

    def source(self, size):
        if self.suffix == "c":
            return "".join(C % (n, n % 9 + 4, n, n, n, n % 3 + 3, n % 11) for n in range(int(900 * size) + 1))
        return CXX + "".join(CXX_USE % (n, n, n, n, n, n) for n in range(1, int(12 * size) + 2))


class Jq(Program):
    name, needs = "jq", ("jq",)

    def make(self, directory, size):
        path = f"{directory}/jq.json"
        write(path, "[" + ",\n".join('{"id":%d,"name":"%s","x":%.6f,"list":%s}' % r for r in records(int(90000 * size) + 1)) + "]")
        self.argv = ["jq", "group_by(.name) | map({name: .[0].name, n: length, sum: (map(.x) | add), "
                     "ids: map(.id | tostring) | join(\",\")})", path]


class Xmllint(Program):
    name, needs = "xmllint", ("xmllint",)

    def make(self, directory, size):
        path = f"{directory}/xmllint.xml"
        write(path, "<r>\n" + "\n".join('<item id="i%d" name="%s"><x unit="m">%.6f</x><l>%s</l></item>' % r
                                        for r in records(int(500000 * size) + 1)) + "\n</r>\n")
        self.argv = ["xmllint", "--noout", "--xpath", "count(//item[@name = 'name7']/x)", path]


class Redis(Program):
    """The server, under a bounded load from redis-benchmark, which is not counted; its own command ends it."""
    name, needs = "redis-server", ("redis-server", "redis-benchmark", "redis-cli")

    def make(self, directory, size):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = str(probe.getsockname()[1])
        self.requests = str(int(400000 * size) + 1000)
        self.argv = ["redis-server", "--port", self.port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                     "--dir", directory]

    def client(self, *argv):
        return subprocess.Popen([*argv], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait_ready(self):
        for _ in range(500):
            try:
                socket.create_connection(("127.0.0.1", int(self.port)), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise RuntimeError("redis-server did not come up")

    def drive(self, poll=None):
        """Make the load, calling poll() every few milliseconds, then end the server."""
        self.wait_ready()
        at = ("-h", "127.0.0.1", "-p", self.port)
        load = self.client("redis-benchmark", *at, "-q", "-c", "20", "-P", "16", "-n", self.requests, "-r", "100000",
                           "-d", "100", "-t", "set,get,lpush,hset,zadd")
        while load.poll() is None:
            if poll:
                poll()
            time.sleep(0.005)
        self.client("redis-cli", *at, "shutdown", "nosave").wait()


def all_programs(build):
    return [
        Python("python3", ["/usr/bin/python3", "FILE"], PYTHON, "TURNS", 6),
        Script("perl", ["perl", "FILE"], PERL, "TURNS", 14),
        Script("sqlite3", ["sqlite3", ":memory:", ".read FILE"], SQL, "ROWS", 300000),
        Compiler("cc1", "gcc", "c"),
        Compiler("cc1plus", "g++", "cc"),
        Jq(),
        Xmllint(),
        Redis(),
        Own("cubes", build, 4000),
        Own("bignum", build, 14000),
    ]
