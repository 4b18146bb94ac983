"""The lines that Hone and this program exchange, and nothing else.

Standard output belongs to the protocol. In a program that Hone started, `import hone` takes it: what
the program prints from then on goes to standard error, and what it reads comes from nowhere.
"""
import dataclasses
import enum
import inspect
import json
import os
import sys
import traceback

# Set by Hone for the programs that it starts: tools, reward or environment.
ROLE = os.environ.get("HONE_ROLE", "")

_lines = None   # (file to read from, descriptor to write to)
_loop = None


def claim(always=False):
    """Takes standard input and output for the protocol, once; only where Hone started the program."""
    global _lines
    if _lines is not None or not (ROLE or always):
        return
    sys.stdout.flush()
    lines_in = os.fdopen(os.dup(0), "rb")
    lines_out = os.dup(1)
    os.set_inheritable(lines_out, False)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)  # also for what C code and child processes print
    sys.stdout = sys.stderr
    _lines = (lines_in, lines_out)


def lines():
    """The lines that Hone writes, until it closes its end."""
    for line in iter(_lines[0].readline, b""):
        if line.strip():
            yield line


def send(message):
    """Writes one line. A value that JSON does not know raises before anything is written."""
    rest = memoryview(json.dumps(message, default=_to_json, allow_nan=False).encode() + b"\n")
    while rest:
        rest = rest[os.write(_lines[1], rest):]


def _to_json(value):
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if hasattr(value, "tolist"):  # numbers and arrays of numerical libraries
        return value.tolist()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(f"a {type(value).__name__} is no JSON; return text, numbers, lists and dicts")


def settled(value):
    """The value, or what a coroutine comes to."""
    global _loop
    if not inspect.iscoroutine(value):
        return value
    if _loop is None:
        import asyncio  # takes longer to load than all the rest, and few need it
        _loop = asyncio.new_event_loop()
    return _loop.run_until_complete(value)


_HERE = os.path.dirname(os.path.abspath(__file__))


def told(error):
    """An exception in one line: the last of its traceback, with the place in the user's file.

    The whole traceback goes to standard error.
    """
    traceback.print_exception(type(error), error, error.__traceback__)
    sys.stderr.flush()
    last = traceback.format_exception_only(type(error), error)[-1].strip()
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if not frame.filename.startswith(_HERE)]
    return f"{last} ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else last


claim()
