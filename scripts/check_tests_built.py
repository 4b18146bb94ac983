#!/usr/bin/env python3
"""Checks that every test is built: a file that no target lists is never run, and nothing else would notice.

    scripts/check_tests_built.py COMPILE_COMMANDS [ROOT]

COMPILE_COMMANDS is what CMake writes into a build folder with tests, e.g. build/release/compile_commands.json. Each
*_test.cpp of ROOT's src/ and tests/ must be in it. Fuzzers are built by another preset than the tests: each *_fuzz.cpp
must be named in the CMakeLists.txt beside it. Prints one line per file that is not built and exits with 1 if there is any.
"""
import json
import pathlib
import re
import sys


def compiled(commands):
    """The files that are compiled, as absolute paths."""
    return {pathlib.Path(entry["directory"], entry["file"]).resolve() for entry in json.loads(commands.read_text())}


def check(commands, root):
    built, problems = compiled(commands), []
    for folder in ("src", "tests"):
        for file in sorted((root / folder).rglob("*_test.cpp")):
            if file.resolve() not in built:
                problems.append(f"{file}: no target builds it: list it in a CMakeLists.txt (or configure again)")
        for file in sorted((root / folder).rglob("*_fuzz.cpp")):
            listed = file.parent / "CMakeLists.txt"
            code = re.sub(r"#.*", "", listed.read_text()) if listed.exists() else ""
            if not re.search(rf"\b{file.stem.removesuffix('_fuzz')}\b", code):
                problems.append(f"{file}: no target builds it: name it in {listed}")
    return problems


def main():
    root = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).resolve().parent.parent
    problems = check(pathlib.Path(sys.argv[1]), root)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
