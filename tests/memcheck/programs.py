# SPDX-License-Identifier: GPL-2.0-or-later
"""What is run: six of Debian's programs, each with a small load, the same each time, and an end of its own accord.

A program is a function of a directory of its own. It returns a Run: the command, what is on its standard input, and what a client does
meanwhile. Servers listen on sockets in that directory, or on the loopback where they can do nothing else.
"""

import dataclasses
import glob
import os
import shutil
import signal
import socket
import stat
import subprocess
import time

LIMIT = 120      # seconds for anything that ends by itself


class Trouble(Exception):
    """A program could not be had, or not be brought to its end; the message says why."""


@dataclasses.dataclass
class Run:
    argv: list
    prefix: tuple = ()       # what argv must be run by, to be another user
    stdin: str = ""
    load: callable = None    # what a client does; the last of it is that the program ends


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def needed(program):
    path = shutil.which(program)
    if not path:
        raise Trouble(f"{program} is not installed")
    return path


# ---- clients ----

def until(what, ready):
    """What ready() returns as soon as it returns something; OSErrors are waited out."""
    end = time.time() + LIMIT
    while time.time() < end:
        try:
            got = ready()
            if got:
                return got
        except OSError:
            pass
        time.sleep(0.1)
    raise Trouble(f"in vain for {LIMIT} s: {what}")


def connect(address):
    s = socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)
    s.settimeout(LIMIT)
    try:
        s.connect(address)
    except OSError:
        s.close()
        raise
    return s


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def client(address, requests, complete):
    """One connection: sends each request, reads until its reply is complete."""
    s = until(f"a connection to {address}", lambda: connect(address))
    with s:
        for request in requests:
            s.sendall(request)
            reply = b""
            while not complete(reply):
                more = s.recv(65536)
                if not more:
                    return
                reply += more


# ---- programs ----

def groff(d):
    """A tree: groff, troff and grotty, joined by pipes."""
    needed("groff")
    page = "".join(f".SH SECTION {i}\n.TP\n.B \\-\\-option{i}\nWhat it does, \\fIhow\\fR, and \\(lqwhy\\(rq.\n.PP\nA paragraph of some words.\n"
                   for i in range(40))
    return Run(["groff", "-Tutf8", "-mandoc", write(f"{d}/page.1", ".TH PAGE 1\n" + page)])


def ruby(d, end=""):
    """With all of its own teardown."""
    needed("ruby")
    script = write(f"{d}/script.rb", """require 'json'
class Shape
  attr_reader :name
  def initialize(name) = @name = name
end
shapes = (1..200).map { |i| Shape.new("shape number #{i}") }
table = shapes.to_h { |s| [s.name, s.name.length] }
text = JSON.generate(table)
raise 'wrong' unless JSON.parse(text).length == 200
puts text.scan(/\\d+/).sum(&:to_i)
""" + end)
    return Run(["ruby", script])


def ruby_whole(d):
    """Without teardown: as it is while it runs."""
    return ruby(d, "STDOUT.flush\nexit!(0)\n")


def php(d):
    needed("php")
    script = write(f"{d}/script.php", """<?php
$table = [];
for ($i = 0; $i < 200; $i++)
    $table["key $i"] = str_repeat("x", $i);
if (count(json_decode(json_encode($table), true)) != 200)
    exit(1);
echo preg_match_all('/x+/', implode(' ', $table)), "\\n";
""")
    return Run(["php", "-n", script])


def redis(d):
    needed("redis-server")
    commands = [b"PING", b"INCR n", b"SET a some-value", b"APPEND a more", b"HSET h a 1 b 2", b"SADD s a b c", b"ZADD z 1 a 2 b", b"LRANGE l 0 -1",
                b"EXPIRE a 1000", b"DEL h", b"OBJECT ENCODING s", b"SCAN 0", b"EVAL return{1,2} 0", b"SELECT 3", b"SET other 1", b"DBSIZE", b"NOSUCH"]
    commands += [b"SET key%d %s" % (i, b"v" * i) for i in range(100)] + [b"RPUSH l %d" % i for i in range(100)]

    def load():
        for _ in range(3):
            client(f"{d}/socket", [c + b"\r\n" for c in commands], lambda reply: reply.endswith(b"\r\n"))
        client(f"{d}/socket", [b"SHUTDOWN NOSAVE\r\n"], lambda reply: False)

    # Nothing that depends on how long it takes.
    return Run(["redis-server", "--port", "0", "--unixsocket", f"{d}/socket", "--dir", d, "--save", "", "--slowlog-log-slower-than", "-1",
                "--activerehashing", "no"], load=load)


def quits(path):
    """Has it ended, with its file? Asked again: a signal just before nginx waits for events is noticed at the next one only."""
    try:
        with open(path, encoding="ascii") as f:
            os.kill(int(f.read()), signal.SIGQUIT)
    except FileNotFoundError:
        return True
    return False


def nginx_run(d, master):
    needed("nginx")
    os.makedirs(f"{d}/www")
    for i in range(5):
        write(f"{d}/www/page{i}.html", f"<p>{i}</p>\n" * (1 + i * 100))
    port = free_port()
    conf = write(f"{d}/conf", f"""daemon off; master_process {master}; worker_processes 1; user root; pid {d}/pid; error_log {d}/error;
events {{ worker_connections 64; }}
http {{ access_log {d}/access; client_body_temp_path {d}/b; proxy_temp_path {d}/p; fastcgi_temp_path {d}/f; uwsgi_temp_path {d}/u;
scgi_temp_path {d}/s;
server {{ listen 127.0.0.1:{port}; root {d}/www; gzip on; }} }}
""")

    def load():
        for n in range(20):
            path = "missing" if n % 4 == 3 else f"page{n % 5}.html"
            client(("127.0.0.1", port), [f"GET /{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()], lambda reply: False)
        until("the end of nginx", lambda: quits(f"{d}/pid"))

    return Run(["nginx", "-p", d, "-e", f"{d}/error", "-c", conf], load=load)


def nginx(d):
    """One process: what it allocates itself and what it has inherited is the same."""
    return nginx_run(d, "off")


def nginx_master(d):
    """A master and a forked worker."""
    return nginx_run(d, "on")


def as_postgres(d):
    """What runs a command as postgres' user, which it asks for. Some containers let nobody else write /dev/null: there it gets one of its own."""
    if os.getuid() != 0:
        return []
    user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    if os.stat("/dev/null").st_mode & 2:
        return user
    if not os.path.exists(f"{d}/null"):
        os.mknod(f"{d}/null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        os.chmod(f"{d}/null", 0o666)
    return ["unshare", "-m", "sh", "-c", f'mount --bind {d}/null /dev/null && exec "$@"', "sh", *user]


QUERIES = """create table t (k int primary key, v text);
insert into t select i, repeat('x', i) from generate_series(1, 300) i;
select count(*), max(length(v)) from t where k % 7 = 3;
update t set v = 'y' where k < 50;
create index on t (v);
explain select * from t a join t b on a.k = b.k order by a.v;
do $$ declare n int; begin select count(*) into n from t; if n <> 300 then raise 'wrong'; end if; end $$;
select nothing;
"""


def postgres_dir(d):
    bins = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not bins:
        raise Trouble("postgres is not installed")
    os.makedirs(f"{d}/data")
    user = as_postgres(d)
    if user:
        shutil.chown(f"{d}/data", "postgres")
    subprocess.run([*user, f"{bins[-1]}/initdb", "-A", "trust", "-U", "pmm", "--no-sync", "-D", f"{d}/data"], check=True, stdout=subprocess.DEVNULL,
                   cwd=d, timeout=LIMIT)
    return user, bins[-1]


SMALL = ["-c", "fsync=off", "-c", "shared_buffers=2MB", "-c", "autovacuum=off", "-c", "dynamic_shared_memory_type=mmap",
         "-c", "track_counts=off"]


def postgres(d):
    """The single-user mode: a whole backend in one process, queries from its standard input."""
    user, bins = postgres_dir(d)
    return Run([f"{bins}/postgres", "--single", "-j", *SMALL, "-D", f"{d}/data", "postgres"], user, stdin=QUERIES.replace(";\n", ";\n\n"))


def postgres_master(d):
    """The postmaster, its helpers, and a backend for each of three sessions."""
    user, bins = postgres_dir(d)

    def load():
        psql = [f"{bins}/psql", "-q", "-U", "pmm", "-h", f"{d}/data", "-d", "postgres", "-f", write(f"{d}/queries", QUERIES + "drop table t;\n")]
        until("postgres is ready", lambda: open(f"{d}/data/postmaster.pid", encoding="ascii").read().split()[-1] == "ready")
        for _ in range(3):
            subprocess.run(psql, check=False, timeout=LIMIT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.kill(int(open(f"{d}/data/postmaster.pid", encoding="ascii").readline()), signal.SIGINT)

    return Run([f"{bins}/postgres", *SMALL, "-D", f"{d}/data", "-h", "", "-k", f"{d}/data"], user, load=load)


PROGRAMS = {"groff": groff, "ruby": ruby, "ruby-whole": ruby_whole, "php": php, "redis": redis, "nginx": nginx, "nginx-master": nginx_master,
            "postgres": postgres, "postgres-master": postgres_master}
