#!/usr/bin/env python3
"""Writes python.jsonl beside this file: JSON texts with what Python's json module makes of them.

Each line: {"text": a JSON text, "canonical": ..., "spaced": ..., "sha256": of canonical}.
Run by `./dev golden`; nothing in it comes from Hone.
"""
import hashlib
import json
import pathlib
import random
import struct

rng = random.Random(20261115)


def random_real():
    while True:
        value = struct.unpack("<d", rng.randbytes(8))[0]
        if value == value and abs(value) != float("inf"):
            return value


def random_string():
    alphabet = 'abc "\\/\b\f\n\r\t\x00\x1f\x7f é€😀\u2028'
    return "".join(rng.choice(alphabet) for _ in range(rng.randrange(8)))


def random_value(depth):
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.randrange(-10, 100)
    if kind == 2:
        return rng.choice([2**63 - 1, -(2**63), 2**63, 2**64, -(2**63) - 1, 10**40, -(10**30)])
    if kind == 3:
        return rng.choice([random_real(), round(rng.uniform(-100, 100), rng.randrange(6)),
                           0.0, -0.0, 1e15, 1e16, 1e17, 1e-4, 1e-5, 123456789012345680.0, 5e-324,
                           1.7976931348623157e308, 0.1, 100.0, 2.5])
    if kind in (4, 5):
        return random_string()
    if kind == 6:
        return [random_value(depth + 1) for _ in range(rng.randrange(4))]
    return {random_string(): random_value(depth + 1) for _ in range(rng.randrange(5))}


rows = []
for index in range(400):
    value = random_real() if index % 4 == 0 else random_value(0)
    text = json.dumps(value, ensure_ascii=bool(index % 2), indent=rng.choice([None, 1]))
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    rows.append({"text": text, "canonical": canonical,
                 "spaced": json.dumps(value, ensure_ascii=False),
                 "sha256": hashlib.sha256(canonical.encode()).hexdigest()})
path = pathlib.Path(__file__).with_name("python.jsonl")
path.write_text("".join(json.dumps(row) + "\n" for row in rows))
