#!/usr/bin/env python3
"""Checks that what a mutex guards is only touched with the mutex locked, as base/mutex.h lets the code say it.

    scripts/check_threads.py [ROOT]

clang's thread-safety analysis reads every file of ROOT's src/ that has a Mutex. The standard library's mutexes carry no
annotations, so no other file may use them. Exits with 1 and prints what is wrong if there is anything. Needs clang++.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

UNANNOTATED = re.compile(r"std::(?:recursive_|shared_|timed_)*mutex\b|std::(?:lock_guard|unique_lock|scoped_lock|shared_lock)\b"
                         r"|std::condition_variable\b")
ANNOTATED = re.compile(r"\bMutex(?:Lock)?\b|\bHONE_(?:GUARDED_BY|REQUIRES)\b")


def files_to_read(src):
    """The translation units that see the bodies of all code with a Mutex, and problems found on the way."""
    units, problems = set(), []
    for file in sorted(path for path in src.rglob("*") if path.suffix in (".h", ".cpp")):
        tests = file.stem.endswith("_test")
        text = file.read_text()
        if file.relative_to(src).as_posix() != "base/mutex.h" and not tests:
            for number, line in enumerate(text.splitlines(), 1):
                if found := UNANNOTATED.search(line.split("//")[0]):
                    problems.append(f"{file}:{number}: {found.group()} where base/mutex.h has one that is checked")
        if not ANNOTATED.search(text) or tests:
            continue
        # A header is read with its body; templates are only analysed where they are used, as in their tests.
        bodies = [file.with_suffix(".cpp"), file.with_name(file.stem + "_test.cpp"), file]
        units.add(next(body for body in bodies if body.exists()))
    return sorted(units), problems


def analyse(unit, root):
    command = ["clang++", "-fsyntax-only", "-std=c++20", "-Wno-everything", "-Wthread-safety", "-Werror=thread-safety",
               f"-I{root / 'src'}", f"-I{root / 'tests'}", f'-DHONE_SOURCE_DIR="{root}"', '-DHONE_BINARY=""', '-DHONE_VERSION=""', "-x", "c++", str(unit)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode == 0:
        return ""
    return result.stderr or f"{unit}: clang++ said nothing and ended with {result.returncode}"  # negative: a signal


def main():
    root = (pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    units, problems = files_to_read(root / "src")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems += filter(None, pool.map(lambda unit: analyse(unit, root), units))
    for problem in problems:
        print(problem)
    print(f"{len(units)} files with mutexes read")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
