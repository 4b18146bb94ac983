#!/usr/bin/env python3
"""Writes python.jsonl beside this file: TOML documents with what Python's tomllib makes of them.

Each line: {"toml": text, "json": the document as JSON text} or {"toml": text, "error": true}. Documents with
dates are left out: Hone does not take them. Run by `./dev golden`; nothing in it comes from Hone.
"""
import json
import pathlib
import random
import tomllib

GOOD = [
    "", "# only a comment", "a = 1", "a=1\nb=2 # c\n", "a.b.c = 1\na.b.d = 2", "[t]\nx = 1\n[t.u]\ny = 2",
    "[a.b]\nx=1\n[a]\ny=2", "[[t]]\nx=1\n[[t]]\nx=2\n[t.s]\ny=3", "[[a]]\n[[a.b]]\nx=1\n[[a.b]]\nx=2\n[[a]]\n",
    'a = "x\\ty\\u00e9\\U0001F600\\"\\\\"', "a = 'C:\\path'", 'a = """\nx\n  y\\\n   z"""', "a = '''\n'x'\n'''",
    'a = """a""\"""', 'a = """"quoted""""', "a = [1, 2,\n 3, # c\n]", "a = [[1], ['x', \"y\"], []]", "a = {x = 1, y.z = 'q'}",
    "a = {}", "a = +99\nb = -17\nc = 1_000\nd = 0xdead_BEEF\ne = 0o755\nf = 0b1101\ng = 0",
    "a = 1.0\nb = -0.01\nc = 5e+22\nd = 1e06\ne = -2E-2\nf = 6.626e-34\ng = 9_224.5\nh = 0.0", "a = true\nb = false",
    '"quoted key" = 1\n\'literal key\' = 2\n"" = 3', "1234 = 'digits'\n3.14 = 'dotted'", "a = 9223372036854775807\nb = -9223372036854775808",
    "[ a . b ]\nx = 1", "[a]\r\nx = 1\r\n", "x = [{a=1}, {a=2}]", "[a.'b.c']\nd = 1", "a = 'tab\there'", "é = 1" if False else "e = 1",
    "[a]\nb.c = 1\nb.d = 2", "t = [ { x = [1,2] , y = { z = true } } ]", "[x.y.z.w]\n[x]\n", "fruit.apple.smooth = true\nfruit.orange = 2",
    "a = \"\"\"\r\nx\r\ny\"\"\"", "a = '''x\\ny'''", "a = \"\"\"\\\n  \n  x\"\"\"",
]
BAD = [
    "a", "a =", "= 1", "a = 1 b = 2", "a = 1\na = 2", "[t]\n[t]", "[t]\nx=1\n[[t]]", "a = 1\n[a]", "a.b = 1\n[a]", "[a.b]\n[a]\nb.c = 1",
    "a = {x = 1}\na.y = 2", "a = {x = 1}\n[a.y]", "a = [1]\n[[a]]", 'a = "x', "a = 'x", 'a = """x', 'a = "\\q"', 'a = "\\uD800"', "a = 01",
    "a = 1__0", "a = _1", "a = 1_", "a = 1.", "a = .5", "a = 1.e5", "a = 0x", "a = +0x1", "a = tru", "a = [1", "a = [1 2]", "a = {x = 1", "a = {x = 1,}",
    "a = {x = 1\n}", "[a", "[a]]", "[[a]", "[]", "[a]x = 1", "a b = 1", "a..b = 1", ".a = 1", "a. = 1", 'a = "x\ny"', "a = 9223372036854775808",
    "a = inf.5", "a = 1e", "a = \"\"\"x\"\"\"\"\"\"", "a = \x01", "# \x01", "a = {x=1, x=2}", "a = \"\x7f\"", "a = 1\rb = 2", "é = 1", '"""a""" = 1',
    "[a]\nx=1\n[a.x]", "[[a]]\n[a]", "x = {a.b = 1, a = 2}", "x = 1_.0", "x = 1._0", "x = 0b2", "x = 0o8",
]
rng = random.Random(7)


def mutated(text):
    data = list(text)
    for _ in range(rng.randrange(1, 3)):
        if data:
            at = rng.randrange(len(data))
            data[at : at + rng.randrange(2)] = rng.choice(["", "=", "[", "]", '"', "'", ".", "\n", "{", "}", ",", "#", "1", "a", "_", " ", "\\"])
    return "".join(data)


texts = GOOD + BAD + [mutated(rng.choice(GOOD)) for _ in range(600)]
rows = []
for text in dict.fromkeys(texts):
    try:
        value = tomllib.loads(text)
        body = json.dumps(value)  # fails on dates
        if "NaN" in body or "Infinity" in body:
            continue
        rows.append({"toml": text, "json": body})
    except tomllib.TOMLDecodeError:
        rows.append({"toml": text, "error": True})
    except (TypeError, RecursionError):
        pass
path = pathlib.Path(__file__).with_name("python.jsonl")
path.write_text("".join(json.dumps(row) + "\n" for row in rows))
print(len(rows), sum("json" in row for row in rows))
