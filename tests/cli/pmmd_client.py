# SPDX-License-Identifier: GPL-2.0-or-later
"""pmmd_client.py SOCKET WAY: a client of pmmd (examples/pmmd) as one would not wish it; prints what is answered, a line each."""

import socket
import sys


def dial(path):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(60)
    client.connect(path)
    return client


def answers(client):
    """All that comes up to the end of the connection."""
    text = b""
    while True:
        try:
            piece = client.recv(65536)
        except ConnectionResetError:
            break
        if not piece:
            break
        text += piece
    return text.decode(errors="replace")


def whole(path, text, pieces=1 << 20):
    """Send text in pieces of so many bytes, then nothing more."""
    client = dial(path)
    for at in range(0, len(text), pieces):
        client.sendall(text[at:at + pieces])
    client.shutdown(socket.SHUT_WR)
    return answers(client)


def gone(path, text):
    """Leave without waiting for an answer."""
    client = dial(path)
    client.sendall(text)
    client.close()
    return ""


def deaf(path):
    """Send commands and take no answer until no more are taken; another is served meanwhile; then take all answers."""
    client = dial(path)
    client.settimeout(0.5)
    sent = 0
    command = b"nonsense\n"
    try:
        while True:
            sent += client.send(command[sent % len(command):])
    except TimeoutError:
        pass
    other = whole(path, b"free 1\n")
    client.settimeout(60)
    got = b""
    while got.count(b"\n") < sent // len(command):
        got += client.recv(65536)
    return other + "".join(sorted(set(got.decode().splitlines(True))))


def crowd(path):
    """One client more than there may be at a time; then again when they are gone."""
    clients = [dial(path) for _ in range(33)]
    last = answers(clients[32])
    for client in clients[:32]:
        client.sendall(b"free 1\n")
        if client.recv(100) != b"ok 0 values dropped, 0 left\n":
            return "somebody is not served\n"
        client.close()
    return last


WAYS = {
    "long": lambda path: whole(path, b"a" * (1 << 20) + b"\nfree 1\n"),
    "endless": lambda path: whole(path, b"a" * (1 << 20)),
    "bytes": lambda path: whole(path, b"leak 2 10\nfree 1\n", 1),
    "heap": lambda path: whole(path, b"leak 1 10\n" * 1000),
    "zero": lambda path: whole(path, b"fr\0ee 1\n\0\n\n \t \n\xff\x1b[31m\r\nfree 1\r\n"),
    "unfinished": lambda path: gone(path, b"leak 5 10"),
    "unread": lambda path: gone(path, b"stats\n" * 100),
    "silent": lambda path: gone(path, b""),
    "deaf": deaf,
    "crowd": crowd,
}

sys.stdout.write(WAYS[sys.argv[2]](sys.argv[1]))
