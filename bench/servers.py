#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Real servers at steady load: what `pmm leaks` says of each of their processes. A server that is sound must give no likely leak.

    bench/servers.py [--pmm FILE] [--seconds N] [--attach] [--jobs N] [--json FILE] [SERVER ...]

Each server runs from its own directory on the loopback, under `pmm run` (or, with --attach, by itself: it is attached to once it is warm), and
gets the same requests in a loop for N seconds (60), some hundred a second. Then its processes are searched. A row per server: requests, processes,
live blocks, entries by verdict. Exit code: 1 when there is a likely leak, 3 when a server could not be had, else 0.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time

PAUSE = 0.004    # between two requests
WARM = 5         # seconds before an attach
LIMIT = 120      # seconds for anything that ends by itself


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def connect(port):
    return socket.create_connection(("127.0.0.1", port), 10)


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


# ---- requests: a generator makes one at each step and never ends ----

def http(port):
    """Pages that are there and that are not, half of them on a connection of their own."""
    n, kept = 0, None
    while True:
        s = kept if kept else connect(port)
        kept = s if n % 8 else None
        path = "missing" if n % 16 == 3 else f"page{n % 20}.html"
        s.sendall(f"GET /{path} HTTP/1.1\r\nHost: localhost\r\n{'' if kept else 'Connection: close' + chr(13) + chr(10)}\r\n".encode())
        if read_reply(s) or not kept:
            s.close()
            kept = None
        n += 1
        yield


def read_reply(s):
    """Read an HTTP reply whole; true when the connection has ended."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = s.recv(65536)
        if not more:
            return True
        data += more
    head, body = data.split(b"\r\n\r\n", 1)
    length = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")]
    while length and len(body) < length[0]:
        more = s.recv(65536)
        if not more:
            return True
        body += more
    return not length or b"connection: close" in head.lower() or head.startswith(b"HTTP/1.0")


def ask(s, words):
    s.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
    s.recv(1 << 20)


def redis(port):
    """A bounded set of keys of all types; every second a command that was not used before."""
    seldom = [b"INCR x", b"APPEND y 1", b"STRLEN y", b"HSET h a 1", b"HGET h a", b"HDEL h a", b"SADD s a", b"SREM s a", b"SCARD s", b"ZADD z 1 a",
              b"ZRANGE z 0 -1", b"ZREM z a", b"LLEN l", b"LRANGE l 0 5", b"EXISTS x", b"TTL x", b"TYPE x", b"EXPIRE y 5", b"PERSIST x",
              b"SETRANGE r 4 abc", b"GETRANGE r 0 3", b"BITCOUNT r", b"SETBIT b 7 1", b"GETBIT b 7", b"PING", b"ECHO a", b"DBSIZE", b"RANDOMKEY",
              b"MSET m1 1 m2 2", b"MGET m1 m2", b"DEL m1 m2", b"RENAME x x2", b"RENAME x2 x", b"OBJECT ENCODING x", b"SCAN 0", b"HGETALL h"]
    s, n, began, used = connect(port), 0, time.time(), 0
    while True:
        key = b"key%d" % (n * 7919 % 2000)
        ask(s, [[b"SET", key, b"v" * (n % 90)], [b"GET", key], [b"LPUSH", b"l", key], [b"LTRIM", b"l", b"0", b"99"]][n % 4])
        if time.time() - began > used:
            ask(s, seldom[used % len(seldom)].split())
            used += 1
        if n % 200 == 199:
            s.close()
            s = connect(port)
        n += 1
        yield


def memcached(port):
    s, n = connect(port), 0
    while True:
        key = b"key%d" % (n * 7919 % 3000)
        s.sendall(b"set %s 0 30 %d\r\n%s\r\n" % (key, n % 400, b"v" * (n % 400)) if n % 2 else b"get %s\r\n" % key)
        s.recv(65536)
        if n % 100 == 99:
            s.close()
            s = connect(port)
        n += 1
        yield


def postgres_exchange(s, kind, body):
    s.sendall(kind + struct.pack("!i", len(body) + 4) + body)
    data = b""
    while True:
        while len(data) < 5 or len(data) < 1 + struct.unpack("!i", data[1:5])[0]:
            more = s.recv(65536)
            if not more:
                raise OSError("postgres closed the connection")
            data += more
        if data[:1] == b"Z":
            return
        data = data[1 + struct.unpack("!i", data[1:5])[0]:]


def postgres_open(port):
    s = connect(port)
    postgres_exchange(s, b"", struct.pack("!i", 196608) + b"user\0pmm\0database\0postgres\0\0")
    return s


def postgres(port):
    """One session that lasts, and every 50 statements a short one."""
    s, n = postgres_open(port), 0
    postgres_exchange(s, b"Q", b"create table t (k int primary key, v text)\0")
    while True:
        k = n * 7919 % 500
        postgres_exchange(s, b"Q", (f"insert into t values ({k}, repeat('x', {n % 50})) on conflict (k) do update set v = excluded.v\0" if n % 3 else
                                    f"select count(*), max(v) from t where k < {k}\0").encode())
        if n % 50 == 49:
            other = postgres_open(port)
            postgres_exchange(other, b"Q", b"select 1\0")
            other.close()
        n += 1
        yield


def mosquitto(port):
    """Publishes, half of them retained under 50 topics; a connection is for 20 of them."""
    n = 0
    while True:
        s = connect(port)
        name = b"c%d" % (n % 30)
        s.sendall(b"\x10" + bytes([12 + len(name)]) + b"\0\4MQTT\4\2\0<" + struct.pack("!H", len(name)) + name)
        s.recv(4)
        s.sendall(b"\x82\x08\0\1\0\3t/#\0")
        s.recv(16)
        for i in range(20):
            body = struct.pack("!H", 5) + b"t/%03d" % (n % 50) + b"x" * (n % 60)
            s.sendall(bytes([0x30 | n & 1, len(body)]) + body)
            s.recv(4096)
            n += 1
            yield
        s.sendall(b"\xe0\0")
        s.close()


def dns(port):
    s, n = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0
    s.settimeout(10)
    while True:
        name = b"".join(bytes([len(p)]) + p for p in (b"host%d" % (n % 60), b"test")) + b"\0"
        s.sendto(struct.pack("!6H", n & 65535, 256, 1, 0, 0, 0) + name + struct.pack("!2H", 1, 1), ("127.0.0.1", port))
        s.recv(4096)
        n += 1
        yield


# ---- servers: the command that runs in the foreground, from a directory of their own ----

def pages(d):
    os.makedirs(f"{d}/www", exist_ok=True)
    for i in range(20):
        write(f"{d}/www/page{i}.html", f"<p>{i}</p>\n" * (1 + i * 20))
    return f"{d}/www"


def start_redis(d, port):
    return ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", d, "--save", "2 1"]


def start_memcached(_, port):
    return ["memcached", "-l", "127.0.0.1", "-p", str(port), "-u", "nobody", "-m", "16"]


def start_nginx(d, port):
    return ["nginx", "-p", d, "-e", f"{d}/error", "-c", write(f"{d}/conf", f"""daemon off; worker_processes 1; user root; pid {d}/pid; error_log {d}/error;
events {{ worker_connections 64; }}
http {{ access_log {d}/access; client_body_temp_path {d}/b; proxy_temp_path {d}/p; fastcgi_temp_path {d}/f; uwsgi_temp_path {d}/u; scgi_temp_path {d}/s;
server {{ listen 127.0.0.1:{port}; root {pages(d)}; gzip on; }} }}""")]


def start_lighttpd(d, port):
    return ["lighttpd", "-D", "-f", write(f"{d}/conf", f"""server.document-root = "{pages(d)}"
server.port = {port}
server.bind = "127.0.0.1"
server.errorlog = "{d}/error"
mimetype.assign = ( ".html" => "text/html" )""")]


def start_apache(d, port):
    modules = "/usr/lib/apache2/modules"
    return ["apache2", "-DFOREGROUND", "-f", write(f"{d}/conf", f"""ServerRoot {d}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule mime_module {modules}/mod_mime.so
StartServers 1
ServerLimit 1
ThreadsPerChild 4
MaxRequestWorkers 4
User nobody
Group nogroup
Listen 127.0.0.1:{port}
ServerName localhost
PidFile {d}/pid
ErrorLog {d}/error
TypesConfig /dev/null
DocumentRoot {pages(d)}""")]


def start_haproxy(d, port):
    return ["haproxy", "-db", "-f", write(f"{d}/conf", f"""global
    maxconn 50
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
frontend f
    bind 127.0.0.1:{port}
    http-request return status 200 content-type text/plain string "a page" if {{ path -m beg /page }}
    http-request return status 404""" + "\n")]


def as_postgres(d):
    """What runs a command as postgres' user. Some containers let nobody else write /dev/null: there it gets one of its own."""
    if os.getuid() != 0:
        return []
    user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    if os.stat("/dev/null").st_mode & 2:
        return user
    if not os.path.exists(f"{d}/null"):
        os.mknod(f"{d}/null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        os.chmod(f"{d}/null", 0o666)
    return ["unshare", "-m", "sh", "-c", f'mount --bind {d}/null /dev/null && exec "$@"', "sh", *user]


def start_postgres(d, port):
    bin_dir = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
    os.makedirs(f"{d}/data")
    shutil.chown(f"{d}/data", "postgres")
    as_user = as_postgres(d)
    subprocess.run([*as_user, f"{bin_dir}/initdb", "-A", "trust", "-U", "pmm", "-D", f"{d}/data"], check=True, stdout=subprocess.DEVNULL, cwd=d,
                   timeout=LIMIT)
    return [*as_user, f"{bin_dir}/postgres", "-D", f"{d}/data", "-p", str(port), "-h", "127.0.0.1", "-k", f"{d}/data", "-c", "fsync=off",
            "-c", "shared_buffers=8MB"]


def start_mosquitto(d, port):
    return ["mosquitto", "-c", write(f"{d}/conf", f"listener {port} 127.0.0.1\nallow_anonymous true\nuser root\nlog_dest file {d}/log\n")]


def start_dnsmasq(d, port):
    hosts = "".join(f"10.0.0.{i} host{i}.test\n" for i in range(50))
    return ["dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--no-daemon", "--bind-interfaces", f"--port={port}",
            "--listen-address=127.0.0.1", f"--addn-hosts={write(f'{d}/hosts', hosts)}", "--local=/test/", f"--pid-file={d}/pid"]


def start_python(d, port):
    return ["/usr/bin/python3", "-m", "http.server", "--bind", "127.0.0.1", "--directory", pages(d), str(port)]


SERVERS = {    # how it starts, its requests
    "redis": (start_redis, redis),
    "memcached": (start_memcached, memcached),
    "nginx": (start_nginx, http),
    "lighttpd": (start_lighttpd, http),
    "apache2": (start_apache, http),
    "haproxy": (start_haproxy, http),
    "postgres": (start_postgres, postgres),
    "mosquitto": (start_mosquitto, mosquitto),
    "dnsmasq": (start_dnsmasq, dns),
    "python3": (start_python, http),
}


# ---- one server ----

class Trouble(Exception):
    """The server could not be had, or not be searched; the message says why."""


def descendants(pid):
    """All processes below one, those that end meanwhile left out."""
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as f:
                for child in map(int, f.read().split()):
                    found += [child, *descendants(child)]
    except OSError:
        pass
    return found


def comm(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as f:
            return f.read().strip()
    except OSError:
        return ""


def first_request(load, port, process):
    until = time.time() + LIMIT
    while time.time() < until and process.poll() is None:
        try:
            steps = load(port)
            next(steps)
            return steps
        except OSError:
            time.sleep(0.2)
    raise Trouble(f"it does not answer (status {process.poll()})")


def drive(steps, seconds):
    """Requests for so long; their number."""
    until, n = time.time() + seconds, 0
    while time.time() < until:
        next(steps)
        n += 1
        time.sleep(PAUSE)
    return n


def search(pmm, pid):
    """The verdict on one process; None if it has ended."""
    out = subprocess.run([pmm, "leaks", "--json", "--show=all", "--top=0", "--no-symbols", str(pid)], capture_output=True, timeout=LIMIT, text=True, check=False)
    if out.returncode not in (0, 1):
        if os.path.exists(f"/proc/{pid}"):
            raise Trouble(f"pmm leaks {pid}: {out.stderr.strip()}")
        return None
    return json.loads(out.stdout)


def stop(process):
    """The server, then whoever watches it."""
    for pid in [*descendants(process.pid), process.pid]:
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def start(args, directory, argv):
    with open(f"{directory}/said", "wb") as said:
        tracked = [] if args.attach else [args.pmm, "run", "-q", "-o", f"{directory}/%p.pmm", "--"]
        return subprocess.Popen([*tracked, *argv], stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd=directory)


def attach(args, pids):
    return [subprocess.Popen([args.pmm, "attach", "-q", str(pid)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for pid in pids]


def one(name, args):
    begin, load = SERVERS[name]
    directory = tempfile.mkdtemp(prefix=f"pmm-{name}-")
    os.chmod(directory, 0o755)
    watchers, process = [], None
    try:
        port = free_port()
        process = start(args, directory, begin(directory, port))
        steps = first_request(load, port, process)
        ours = descendants(process.pid) if not args.attach else [process.pid, *descendants(process.pid)]
        if args.attach:
            drive(steps, WARM)
            watchers = attach(args, ours)
        requests = drive(steps, args.seconds)
        found = [v for v in (search(args.pmm, pid) for pid in ours) if v]
        return row(name, requests, found)
    finally:
        for w in watchers:
            w.send_signal(signal.SIGINT)
        for w in watchers:
            w.wait()
        if process:
            stop(process)
        if args.keep:
            print(f"{name}: {directory}", file=sys.stderr)
        else:
            shutil.rmtree(directory, ignore_errors=True)


def row(name, requests, found):
    entries = [dict(e, verdict=verdict) for v in found for verdict in ("certain", "likely", "growing", "unlikely") for e in v.get(verdict, [])]
    return {
        "server": name, "requests": requests, "processes": len(found),
        "blocks": sum(t["blocks"] for v in found for t in v["totals"] if t["class"] != "suppressed"),
        "verdicts": {verdict: sum(e["verdict"] == verdict for e in entries) for verdict in ("certain", "likely", "growing", "unlikely")},
        "possible": sum(e["class"] == "possible" for e in entries),
        "told": [f"{e['verdict']}: {e['bytes']} bytes in {e['blocks']} blocks, {e['why']} [{e.get('module', '?')}+{e.get('module_offset', '?')}]"
                 for e in entries if e["verdict"] in ("certain", "likely", "growing")],
    }


def say(r):
    v = r["verdicts"]
    print(f"{r['server']:10} {r['requests']:8} {r['processes']:9} {r['blocks']:8} {v['certain']:8} {v['likely']:7} {v['growing']:8} {r['possible']:9}")
    for line in r["told"]:
        print(f"           {line}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pmm", default=os.path.join(os.path.dirname(__file__), "../build/pmm"))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--attach", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="leave the servers' directories")
    parser.add_argument("--json", help="write the rows there too")
    parser.add_argument("servers", nargs="*", choices=[[], *SERVERS], metavar="SERVER")
    args = parser.parse_args()
    args.pmm = os.path.abspath(args.pmm)
    os.environ.update(DEBUGINFOD_URLS="", PATH=os.environ["PATH"] + ":/usr/sbin")
    rows, trouble = [], False
    print(f"{'server':10} {'requests':>8} {'processes':>9} {'blocks':>8} {'certain':>8} {'likely':>7} {'growing':>8} {'possible':>9}")
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for name, job in [(n, pool.submit(one, n, args)) for n in args.servers or SERVERS]:
            try:
                rows.append(job.result())
                say(rows[-1])
            except (Trouble, OSError, subprocess.SubprocessError, IndexError, LookupError) as e:
                print(f"{name:10} {e}")
                trouble = True
    if args.json:
        write(args.json, json.dumps(rows, indent=1) + "\n")
    return 1 if any(r["verdicts"]["likely"] for r in rows) else 3 if trouble else 0


if __name__ == "__main__":
    sys.exit(main())
