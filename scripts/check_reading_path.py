#!/usr/bin/env python3
"""Checks that who wants to read the code can do so in an hour: the files that README.md names under "Reading the code" are
there, are at least 6, and have at most 1,000 lines in all.

    scripts/check_reading_path.py [--list] [ROOT]

A file counts where its path stands in `backticks` or as the target of a [link](path), each once, up to the next heading. A
name counts as a path when it has a slash and an ending ("src/record/tree.h", "src/learn/step.{h,cpp}"), or is the target of a
link into this repository.
--list also prints the lines of each file. Prints one line per problem and exits with 1 if there is any.
"""
import argparse
import pathlib
import re

HEADING = "## Reading the code"
MOST_LINES, FEWEST_FILES = 1000, 6
QUOTED = re.compile(r"`([\w.-]+(?:/[\w.-]+)+\.(?:\w+|\{[\w,]+\}))`")
LINKED = re.compile(r"\]\(([^()\s]+)\)")


def section(text):
    """What stands under the heading, up to the next one; None if there is no such heading."""
    _, found, rest = f"\n{text}".partition(f"\n{HEADING}\n")
    return re.split(r"^#+ ", rest, maxsplit=1, flags=re.M)[0] if found else None


def expanded(path):
    """"x.{h,cpp}" is two files."""
    stem, brace, endings = path.partition("{")
    return [stem + ending for ending in endings.rstrip("}").split(",")] if brace else [path]


def paths(text):
    """The files that it names, in their order, each once."""
    links = [(match.start(), match[1].partition("#")[0]) for match in LINKED.finditer(text) if "://" not in match[1]]
    quoted = [(match.start(), match[1]) for match in QUOTED.finditer(text)]
    return list(dict.fromkeys(path for _, named in sorted(links + quoted) if named for path in expanded(named)))


def check(root):
    """The number of lines of each file, and what is wrong."""
    text = section((root / "README.md").read_text())
    if text is None:
        return {}, [f'README.md has no section "{HEADING}"']
    lines, problems = {}, []
    for path in paths(text):
        if (root / path).is_file():
            lines[path] = len((root / path).read_text().splitlines())
        else:
            problems.append(f"README.md: {path} is on the reading path, but there is no such file")
    if len(lines) < FEWEST_FILES:
        problems.append(f"README.md: the reading path has {len(lines)} files; name at least {FEWEST_FILES}")
    if sum(lines.values()) > MOST_LINES:
        problems.append(f"README.md: the reading path has {sum(lines.values())} lines, and {MOST_LINES} are allowed")
    return lines, problems


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description="Checks the reading path of README.md.")
    parser.add_argument("--list", action="store_true", help="print the lines of each file")
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=here)
    arguments = parser.parse_args()
    lines, problems = check(arguments.root)
    if arguments.list:
        for path, count in lines.items():
            print(f"{count:6}  {path}")
        print(f"{sum(lines.values()):6}  in all")
    for problem in problems:
        print(problem)
    raise SystemExit(1 if problems else 0)


if __name__ == "__main__":
    main()
