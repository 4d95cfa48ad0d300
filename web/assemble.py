#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""web/assemble.py ESBUILD DYGRAPHS OUT.c: bundle and minify what is in web/, and write it as a C file (struct page_assets, src/page/page_priv.h).

ESBUILD: the program; DYGRAPHS: the folder of the library's files. Where one is '', the file says what is missing. OUT.c.d lists what
was read, for ninja.
"""

import base64
import hashlib
import os
import subprocess
import sys
import tempfile

WEB = os.path.dirname(os.path.abspath(__file__))
BROWSERS = "--target=chrome103,firefox113,safari16.4"	# DecompressionStream with deflate-raw
MAX_BYTES = 300 * 1024
MEMBERS = ("style", "style_hash", "code", "code_hash")


def bundle(esbuild, dygraphs, entry, folder):
    out = os.path.join(folder, entry)
    command = [esbuild, os.path.join(WEB, entry), "--bundle", "--minify", "--charset=utf8", "--legal-comments=inline", BROWSERS,
               "--log-level=warning", f"--outfile={out}", f"--metafile={out}.json", f"--alias:dygraphs={dygraphs}/dygraph.min.js",
               f"--alias:dygraphs.css={dygraphs}/dygraph.min.css"]
    subprocess.run(command + (["--format=esm"] if entry.endswith(".js") else []), check=True)
    with open(out, "rb") as file:
        return file.read()


def check(text, ends, what):
    """What would end its element in the page, or begin a comment there."""
    for bad in (*ends, b"<!--"):
        if bad in text.lower():
            sys.exit(f"assemble.py: the {what} has {bad.decode()} in it")


def literal(data):
    """As a C string, in pieces; '?' would make trigraphs."""
    lines = []
    for at in range(0, len(data), 96):
        part = data[at:at + 96]
        lines.append('\t"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in part) + '"')
    return "\n".join(lines) or '\t""'


def sha256(data):
    return "sha256-" + base64.b64encode(hashlib.sha256(data).digest()).decode()


def write(path, body):
    with open(path, "w", encoding="ascii") as file:
        file.write('/* SPDX-License-Identifier: GPL-2.0-or-later */\n/* Made by web/assemble.py. */\n'
                   '#include "src/page/page_priv.h"\n\nconst struct page_assets page_assets = {\n' + body + "};\n")


def inputs():
    for folder, _, names in os.walk(WEB):
        for name in sorted(names):
            if name.endswith((".js", ".css", ".py")):
                yield os.path.join(folder, name)


def main(esbuild, dygraphs, out):
    lacks = [package for package, there in (("esbuild", esbuild), ("libjs-dygraphs", dygraphs)) if not there]
    if lacks:
        write(out, f'\t.missing = "{" and ".join(lacks)}",\n' + "".join(f'\t.{member} = "",\n' for member in MEMBERS))
    else:
        with tempfile.TemporaryDirectory() as folder:
            code, style = (bundle(esbuild, dygraphs, entry, folder) for entry in ("main.js", "style.css"))
        check(code, (b"</script",), "code")
        check(style, (b"</style",), "style")
        if len(code) + len(style) > MAX_BYTES:
            sys.exit(f"assemble.py: code and style are {len(code) + len(style)} bytes, more than {MAX_BYTES}")
        write(out, f'\t.style_hash = "{sha256(style)}",\n\t.code_hash = "{sha256(code)}",\n'
                   f"\t.style =\n{literal(style)},\n\t.code =\n{literal(code)},\n")
    with open(out + ".d", "w", encoding="utf-8") as file:
        file.write(out + ": " + " ".join(sorted(inputs())) + "\n")


main(*sys.argv[1:])
