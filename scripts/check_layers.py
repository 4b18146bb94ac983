#!/usr/bin/env python3
"""Checks that the modules of src/ include only what src/LAYERS allows; that no two headers have one name, nor give one
name to different classes (a program that has both would run the functions of one on objects of the other); that no
folder has more entries than a reader looks through; and that one word names what configures something: Options.

    scripts/check_layers.py [ROOT]

Prints one line per violation and exits with 1 if there is any. ROOT is the folder that holds src/.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')
NAMESPACE = re.compile(r"^(?:inline )?namespace ([\w:]+) \{", re.M)
CLASS = re.compile(r"^(?:class|struct) (\w+)(?: final)?(?: : [^;{]*)?\s*\{", re.M)
CONFIGURES = re.compile(r"^\s*(?:class|struct) (\w+(?:Settings|Config|Params|Plan))\b(?=[^;]*$)", re.M)
NOT_CONFIGURING = {"ModelConfig", "ResolvedPlan"}  # Hugging Face's word; a task's plan
MOST_ENTRIES = 80  # of a folder
BANNED_NAMES = {"common", "core", "utils", "util", "misc", "manager"}


def read_layers(path):
    """{module: modules it may include}, or a list of problems."""
    layers, problems = {}, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        module, colon, allowed = line.partition(":")
        if not colon:
            problems.append(f"{path}:{number}: wants 'module: allowed modules'")
            continue
        for name in allowed.split():
            if name not in layers:  # only modules further up the file: no cycles possible
                problems.append(f"{path}:{number}: {module} may include {name}, which is not listed before it")
        layers[module.strip()] = set(allowed.split())
    return layers, problems


def check(root):
    src = root / "src"
    layers, problems = read_layers(src / "LAYERS")
    for folder in sorted(path for path in src.iterdir() if path.is_dir()):
        if folder.name not in layers:
            problems.append(f"{folder}: a module that src/LAYERS does not list")
        if folder.name in BANNED_NAMES:
            problems.append(f"{folder}: name a module for what lives there")
    for file in sorted(path for path in src.rglob("*") if path.suffix in (".h", ".cpp", ".cu", ".cuh")):
        module = file.relative_to(src).parts[0]
        tests = file.name.endswith("_test.cpp")
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            target = match.group(1).split("/")[0]
            if "<" in line and target not in layers:
                continue  # the system's
            if "/" not in match.group(1):
                problems.append(f"{file}:{number}: include as \"module/file.h\", not \"{match.group(1)}\"")
            elif target != module and target not in layers.get(module, set()) and not (tests and target == "support"):
                problems.append(f"{file}:{number}: {module} may not include {match.group(1)} (src/LAYERS)")
    return problems


def check_names(root):
    """Classes of one name in one namespace, at the outermost level of several headers."""
    homes, problems = {}, []
    for file in sorted((root / "src").rglob("*.h")):
        text = file.read_text()
        namespace = "::".join(NAMESPACE.findall(text)[:1])
        for name in CLASS.findall(text):
            home = homes.setdefault((namespace, name), file)
            if home != file:
                problems.append(f"{file}: {namespace}::{name} is also the name of a class of {home}")
    return problems


def check_rooms(root):
    """Headers of one name, folders that are too full, and second words for Options."""
    homes, problems = {}, []
    for file in sorted((root / "src").rglob("*.h")):
        home = homes.setdefault(file.name, file)
        if home != file:
            problems.append(f"{file}: {home} has the same name; say what is different about it")
        for name in CONFIGURES.findall(file.read_text()):
            if name not in NOT_CONFIGURING:
                problems.append(f"{file}: {name}: what configures something is called Options")
    for folder in sorted(path for path in [root / "src", *(root / "src").rglob("*")] if path.is_dir()):
        entries = len(list(folder.iterdir()))
        if entries > MOST_ENTRIES:
            problems.append(f"{folder}: {entries} entries, and {MOST_ENTRIES} are allowed; make rooms of it")
    return problems


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    problems = check(root) + check_names(root) + check_rooms(root)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
