#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""json_schema.py: pmm's JSON against its schemas in doc/json/, and those against doc/json.md.

  check SEEN FILE...   each document of the files is UTF-8 without raw control characters, has no key twice, no NaN, and is what its
                       schema says; which keys it has is appended to the file SEEN. Prints the number of documents.
  sound                the schemas are schemas; each object forbids what it does not name; each key says what it is
  page                 each key of a schema has a row in doc/json.md, and each row's key is one of a schema
  seen SEEN SCHEMA...  each key of these schemas was there, and was not where it may be absent or null, or its schema says why no test has
                       that

Of Debian's python3-jsonschema.
"""
import json
import pathlib
import re
import sys
import unicodedata

import jsonschema

DOC = pathlib.Path(__file__).resolve().parents[2] / "doc"
ALL = {path.name: json.loads(path.read_text()) for path in sorted((DOC / "json").glob("*.schema.json"))}
UNIT_OF_END = {"_ns": "ns", "_bytes": "bytes", "_percent": "percent"}
DIRECTIONS = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def fail(text):
    sys.exit(f"json_schema.py: {text}")


# ---- documents ----

def once(pairs):
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        fail(f"a key twice: {keys}")
    return dict(pairs)


def no_number(text):
    fail(f"{text} is no number of JSON")


def clean(text, name):
    for c in text:
        if c != "\n" and (unicodedata.category(c) in ("Cc", "Cs") or c in DIRECTIONS):
            fail(f"{name}: U+{ord(c):04X} is not escaped")


def documents(name):
    try:
        text = pathlib.Path(name).read_bytes().decode("utf-8", "strict")
    except UnicodeDecodeError as e:
        fail(f"{name}: {e}")
    clean(text, name)
    decoder = json.JSONDecoder(object_pairs_hook=once, parse_constant=no_number)
    at = 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        yield value


def file_of(document):
    match = re.fullmatch(r"pmm-([a-z-]+)/(\d+)\.(\d+)", document.get("schema", ""))
    if not match or f"{match[1]}.schema.json" not in ALL:
        fail(f"no schema is called '{document.get('schema')}'")
    return f"{match[1]}.schema.json"


def target(file, ref):
    name, pointer = ref.split("#")
    file = name or file
    schema = ALL[file]
    for part in filter(None, pointer.split("/")):
        schema = schema[part]
    return file, schema, f"{file}#{pointer}"


def chosen(file, schema, value):
    """Of a schema's lines that for `value`: file, schema, place; by its event, or by having none."""
    for choice in schema["oneOf"]:
        file, inner, place = target(file, choice["$ref"])
        if value.get("event") in inner["properties"].get("event", {}).get("enum", [None]):
            return file, inner, place
    return fail(f"event '{value.get('event')}'")


def members(file, schema, place):
    """Of each key, those of its schema's parts included: where it is, and its schema."""
    found = {key: (file, f"{place}/{key}", inner) for key, inner in schema["properties"].items()}
    for part in schema.get("allOf", []):
        there, inner, at = target(file, part["$ref"])
        found.update(members(there, inner, at))
    return found


def walk(file, schema, place, value, seen):
    """Enter each key of `value`, by where its schema is; null as a key's other form."""
    if "$ref" in schema:
        file, inner, place = target(file, schema["$ref"])
        return walk(file, inner, place, value, seen)
    if "oneOf" in schema:
        there, inner, at = chosen(file, schema, value)
        return walk(there, inner, at, value, seen)
    if isinstance(value, dict):
        for key, (there, at, inner) in members(file, schema, place).items():
            if key not in value:
                seen.add(f"{at} absent")
                continue
            seen.add(f"{at} null" if value[key] is None else at)
            walk(there, inner, at, value[key], seen)
    if isinstance(value, list):
        for inner in value:
            walk(file, schema["items"], f"{place}[]", inner, seen)


def check(seen_file, names):
    store = {name: schema for name, schema in ALL.items()}
    seen, nr = set(), 0
    for name in names:
        for document in documents(name):
            file = file_of(document)
            resolver = jsonschema.RefResolver("", ALL[file], store=store)
            schema = ALL[file]
            if "oneOf" in schema:	# the event's own schema says more of what is wrong
                schema = chosen(file, schema, document)[1]
            errors = list(jsonschema.Draft202012Validator(schema, resolver=resolver).iter_errors(document))
            for e in errors[:20]:
                print(f"{name}: {e.json_path}: {e.message[:300]}")
            if errors:
                fail(f"{name}: not what doc/json/{file} says")
            walk(file, ALL[file], file, document, seen)
            nr += 1
    with open(seen_file, "a", encoding="utf-8") as f:
        f.writelines(f"{place}\n" for place in sorted(seen))
    print(nr)


# ---- schemas ----

def objects(file, schema, place):
    """Each object of a schema with its place, as walk() has it."""
    if "properties" in schema:
        yield schema, place
        for key, inner in schema["properties"].items():
            yield from objects(file, inner, f"{place}/{key}")
    if "items" in schema:
        yield from objects(file, schema["items"], f"{place}[]")
    for key, inner in schema.get("$defs", {}).items():
        yield from objects(file, inner, f"{file}#/$defs/{key}")


def all_keys():
    for file, schema in ALL.items():
        for inner, place in objects(file, schema, file):
            for key, value in inner["properties"].items():
                yield file, inner, f"{place}/{key}", key, value


def version(text):
    return tuple(int(n) for n in text.split("."))


def sound():
    for file, schema in ALL.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        for inner, place in objects(file, schema, file):
            always = [key for key, value in inner["properties"].items() if "x-absent" not in value]
            closed = inner.get("unevaluatedProperties" if "allOf" in inner else "additionalProperties") is False
            if not (closed or inner.get("x-part")) or inner["required"] != always:
                fail(f"{place}: must forbid other keys and require {always}")
    for file, inner, place, key, value in all_keys():
        types = value.get("type", [])
        if not value.get("description") or not re.fullmatch(r"\d+\.\d+", value.get("x-since", "")) or \
                not re.fullmatch(r"[a-z][a-z0-9_]*", key):
            fail(f"{place}: needs a name of small letters, a description, a version")
        if (("null" in types) if isinstance(types, list) else False) != ("x-null" in value):
            fail(f"{place}: may be null, or says when, but not both")
        unit = next((unit for end, unit in UNIT_OF_END.items() if key.endswith(end)), None)
        if unit and value.get("x-unit") != unit:
            fail(f"{place}: its name says {unit}, x-unit {value.get('x-unit')}")
        if key == "schema" and version(value["enum"][0].split("/")[1]) < max(
                version(v["x-since"]) for f, _, _, _, v in all_keys() if f == file):
            fail(f"{place}: is older than its newest key")


def page():
    text = (DOC / "json.md").read_text()
    marks = re.findall(r"<!-- table: (\S+) (\S+) -->\n(.*?)<!-- end -->\n", text, re.S)
    named = set()
    for file, pointer, rows in marks:
        place = file if pointer == "#" else f"{file}{pointer}"
        keys = re.findall(r"^\| `([^`]+)` \|", rows, re.M)
        named |= {f"{place}/{key.replace('.', '/')}" for key in keys}
    keys = {place for _, _, place, _, _ in all_keys()}
    for place in sorted(keys ^ named):
        print(f"{place} is only in {'the schema' if place in keys else 'doc/json.md'}")
    if keys != named:
        fail("doc/json.md and doc/json/ differ")
    print(len(keys))


def seen(seen_file, names):
    met = set(pathlib.Path(seen_file).read_text().splitlines())
    wrong = []
    for file, _, place, _, value in all_keys():
        if file.split(".")[0] not in names:
            continue
        forms = [place] + [f"{place} absent"] * ("x-absent" in value) + [f"{place} null"] * ("x-null" in value)
        never = [form for form in forms if form not in met]
        if never and "x-untested" not in value:
            wrong.append(f"no test has met: {', '.join(never)}")
        if not never and not value.get("x-untested", "depends").startswith("depends"):
            wrong.append(f"a test has met what is said to be untested: {place}")
    print("\n".join(wrong))
    if wrong:
        sys.exit(1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["check"] and len(sys.argv) > 3:
        check(sys.argv[2], sys.argv[3:])
    elif sys.argv[1:] == ["sound"]:
        sound()
    elif sys.argv[1:] == ["page"]:
        page()
    elif sys.argv[1:2] == ["seen"] and len(sys.argv) > 3:
        seen(sys.argv[2], sys.argv[3:])
    else:
        fail(__doc__)
