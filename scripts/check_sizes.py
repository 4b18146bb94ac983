#!/usr/bin/env python3
"""Checks that what src/ holds fits into a reader's head: a file has at most 500 lines, a function at most 60 and at
most 5 parameters. Tests and benchmarks are free.

    scripts/check_sizes.py [--update] [ROOT]

Data does not count: of a pair of braces that holds no statement (no semicolon) only the first line is counted, so a
table may be as long as what it lists. A function that stands on one line is a table's entry like others. A declaration counts where it is defined, or where it is pure virtual.

scripts/sizes.allowed lists what is larger today, each with its size. The list only ever shrinks: whatever grows beyond
its entry fails, and so does an entry that is larger than the truth or no longer needed. --update lowers and removes
entries; it never adds or raises one. Prints one line per violation and exits with 1 if there is any.
"""
import bisect
import itertools
import pathlib
import re
import sys

LIMITS = {"file": 500, "lines": 60, "parameters": 5}  # of a file, of a function, of a function
UNITS = {"file": "lines", "lines": "lines", "parameters": "parameters"}
SUFFIXES = (".h", ".cpp", ".inc", ".cu", ".cuh")

NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^\s()\\]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\''
    r"|^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)
PREFIX = re.compile(r"\s*(?:(?:public|private|protected)\s*:(?!:)|template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>|\[\[.*?\]\])")
SCOPE = re.compile(r"(?:inline\s+)?namespace\b|(?:class|struct|union)\b|extern\s*$")
ONE_LINE = re.compile(r"\{[^{}\n]*\}")
INITIALISERS = re.compile(r"\)\s*(?:noexcept\s*)?:(?!:)")


def without_comments_and_texts(text):
    """The same lines and columns, blank where there is no code."""
    return NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def closing(text, at):
    """Where the parenthesis that opens at `at` is closed."""
    depth = 0
    for match in re.finditer(r"[()]", text[at:]):
        depth += 1 if match.group() == "(" else -1
        if depth == 0:
            return at + match.start()
    return len(text)


def outside_parentheses(text):
    while True:
        shorter = re.sub(r"\([^()]*\)", "", text)
        if shorter == text:
            return text
        text = shorter


def signature(head):
    """(name, number of parameters) of the function whose head this is, or None."""
    match = re.search(r"((?:[\w:]+::)?operator\s*(?:\(\)|[^\s(]+)|[\w:~]+)\s*\(", head)
    if not match:
        return None
    parameters = head[match.end():closing(head, match.end() - 1)].replace("->", "")
    depth, commas = 0, 0
    for character in parameters:
        depth += (character in "([{<") - (character in ")]}>")
        commas += character == "," and depth == 0
    return match.group(1), commas + 1 if parameters.strip() not in ("", "void") else 0


def functions_of(text):
    """(name, number of parameters, lines) of every function that the file defines, parameters alone where it is pure virtual."""
    code = without_comments_and_texts(text)
    ends = [match.start() for match in re.finditer("\n", code)]
    line_of = lambda position: bisect.bisect_left(ends, position)
    open_braces = []  # (kind, where it opens, where its head begins)
    head_begins, depth, data_lines = 0, 0, set()
    for match in re.finditer(r"[{}();]", code):
        at, character = match.start(), match.group()
        inside = bool(open_braces) and open_braces[-1][0] != "scope"
        if character == "{":
            kind = "inner" if inside or depth else kind_of_brace(code[head_begins:at])
            open_braces.append((kind, at, head_begins))
            if kind == "scope":
                head_begins = at + 1
        elif character == "}":
            if not open_braces:
                continue
            kind, opened, began = open_braces.pop()
            if kind == "inner" and ";" not in ONE_LINE.sub("", code[opened + 1:at]):
                data_lines.update(range(line_of(opened) + 1, line_of(at) + 1))
            if kind == "function":
                head = code_of_head(code[began:opened])
                lines = sum(line not in data_lines for line in range(line_of(opened - len(head)), line_of(at) + 1))
                yield (*signature(head), lines)
            if kind != "inner":
                head_begins, depth = at + 1, 0
        elif not inside:
            if character != ";":
                depth += 1 if character == "(" else -1
            elif depth == 0:
                head = code_of_head(code[head_begins:at])
                if re.search(r"\)[^()]*=\s*0\s*$", head) and signature(head):
                    yield (*signature(head), 0)
                head_begins = at + 1


def code_of_head(head):
    """What stands before a brace or a semicolon, without access specifiers, template parameters and attributes."""
    while match := PREFIX.match(head):
        head = head[match.end():]
    return head.lstrip()


def kind_of_brace(head):
    """Of a brace outside functions: "scope", "function" or "inner" (data)."""
    head = code_of_head(head)
    if SCOPE.match(head):
        return "scope"
    outside = outside_parentheses(re.sub(r"operator\s*[^\s(]+", "operator", head))
    if "=" in outside:
        return "function" if re.search(r"=\s*\[[^\]]*\]\s*\([^=]*$", head) else "inner"
    if not signature(head):
        return "inner"
    in_initialisers = INITIALISERS.search(head) and re.search(r"[\w>]\s*$", head)
    return "inner" if in_initialisers else "function"


def measure(root):
    """{(rule, what): size} of everything that is larger than its limit."""
    sizes = {}
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in SUFFIXES or path.stem.endswith("_test"):
            continue
        text, name = path.read_text(), path.relative_to(root).as_posix()
        sizes["file", name] = text.count("\n")
        for function, parameters, lines in functions_of(text):
            for rule, size in (("parameters", parameters), ("lines", lines)):
                key = (rule, f"{name} {function}")
                sizes[key] = max(size, sizes.get(key, 0))
    return {key: size for key, size in sizes.items() if size > LIMITS[key[0]]}


def read_allowed(path):
    allowed = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.strip() and not line.startswith("#"):
            rule, size, what = line.split(maxsplit=2)
            allowed[rule, what] = int(size)
    return allowed


def write_allowed(path, allowed):
    comments = list(itertools.takewhile(lambda line: line.startswith("#"), path.read_text().splitlines()))
    entries = [f"{rule} {size} {what}" for (rule, what), size in sorted(allowed.items())]
    path.write_text("\n".join(comments + entries) + "\n")


def check(sizes, allowed):
    problems = []
    for (rule, what), size in sorted(sizes.items()):
        limit = allowed.get((rule, what), LIMITS[rule])
        if size > limit:
            problems.append(f"{what}: {size} {UNITS[rule]}, and {limit} are allowed")
    for (rule, what), size in sorted(allowed.items()):
        now = sizes.get((rule, what), 0)
        if now < size:
            problems.append(f"{what}: scripts/sizes.allowed has {size} {UNITS[rule]} where {now or 'no exception'} will do: "
                            "shrink it with scripts/check_sizes.py --update")
    return problems


def main():
    arguments = sys.argv[1:]
    update = "--update" in arguments
    folders = [argument for argument in arguments if argument != "--update"]
    root = pathlib.Path(folders[0]) if folders else pathlib.Path(__file__).resolve().parent.parent
    list_path = root / "scripts" / "sizes.allowed"
    sizes, allowed = measure(root), read_allowed(list_path)
    if update and allowed:
        allowed = {key: min(size, sizes[key]) for key, size in allowed.items() if key in sizes}
        write_allowed(list_path, allowed)
    problems = check(sizes, allowed)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
