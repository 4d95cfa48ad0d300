# SPDX-License-Identifier: GPL-2.0-or-later
"""Words that no text may have: the table "Not this, but this" of doc/GLOSSARY.md against messages, help texts and documents."""

import os
import re

from check import tree

GLOSSARY = "doc/GLOSSARY.md"


def banned():
    """[(what to look for, what is said, what to say)]: a row | `said` | instead | each."""
    rows = []
    if os.path.exists(GLOSSARY):
        table = tree.text_of(GLOSSARY).partition("## Not this, but this")[2].partition("\n## ")[0]
        for said, instead in re.findall(r"^\| `([^`|]+)` \| ([^|]*?) *\|", table, re.M):
            words = r"\s+".join(re.escape(word) for word in said.split())
            rows.append((re.compile(rf"(?<![\w-]){words}(?![\w-])", re.I), said, instead))
    return rows


def prose():
    """(path, line, text) of what people read: literals with a blank in them, the paragraphs of documents."""
    for path in tree.walk("src", "kmod", "shim", "include"):
        for line, text in tree.strings_of(path):
            if " " in text:
                yield path, line, re.sub(r"\\[nt]", " ", text)
    documents = [os.path.join("doc", name) for name in sorted(os.listdir("doc")) if name.endswith(".md")]
    for path in documents + [name for name in ("README.md", "CONTRIBUTING.md") if os.path.exists(name)]:
        if path == GLOSSARY:
            continue
        line = 1
        for paragraph in re.split(r"(\n\s*\n)", tree.text_of(path)):
            yield path, line, paragraph
            line += paragraph.count("\n")


def check_words():
    rows = banned()
    for path, line, text in prose():
        for pattern, said, instead in rows:
            for m in pattern.finditer(text):
                at = line + text.count("\n", 0, m.start())
                yield f'{path}:{at}: not "{said}" but {instead}'


CHECKS = (("banned words are not used", check_words),)
COUNTED = ()
