#!/usr/bin/env python3
"""Checks the pages: that a stranger can read them, and that they hang together.

    scripts/check_prose.py [ROOT]

- README.md has at most 350 words and 12 numbers before its first '## ' heading, those in code among them.
- Lines of README.md, CONTRIBUTING.md, recipes/README.md and docs/ have at most 120 columns. Blocks of code, rows of tables
  and lines that one long link makes long may have more. So may pages and sentences that the program writes: docs/reports,
  pages that say "<!-- Written by", and what follows "## Breaks the rule".
- No sentence of the pages that are read first has more than 30 words.
- docs/recipe.md lists at most 60 keys in its first table.
- docs/README.md links every page of docs/, and every relative link of a page points to a file that exists.

Prints one line per violation and exits with 1 if there is any. ROOT is the folder that holds README.md.
"""
import pathlib
import re
import sys

WORDS, NUMBERS, COLUMNS, SENTENCE, KEYS = 350, 12, 120, 30, 60
READ_FIRST = ["README.md", "docs/README.md", "docs/concepts.md", "docs/findings.md", "docs/training.md", "docs/rollout.md",
              "docs/simulation.md", "docs/prove.md", "docs/howto/*.md"]
NOT_INDEXED = ("docs/reports/", "docs/decisions/", "docs/algorithms/")  # folders with an index, or generated
INDEX = "docs/README.md"
FENCE = re.compile(r"^\s*(```|~~~)")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
TABLE = re.compile(r"^\s*\|")
IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
LINK = re.compile(r"\[([^\]]*)\]\(\s*([^)\s]+)[^)]*\)")
TARGET = re.compile(r"\]\(\s*<?([^)\s>]+)")
CODE = re.compile(r"`+[^`]*`+")
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,.]*")
# A sentence ends with . ! or ? and what closes around it, before a blank and what can begin the next one.
END = re.compile(r"(?<=[.!?])[)\"'*_”]*\s+(?=[\"'(*_“\[]*(?:[A-Z0-9]|CODE))")
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|etc|vs|cf|Dr|No|Fig)\.")


def prose_lines(text):
    """(number, line) of the lines that are neither code nor part of a table; None for the others, where a block ends."""
    fenced, before = False, ""
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
            yield number, None
        elif fenced or TABLE.match(line):
            yield number, None
        elif re.match(r"^(    |\t)", line) and not before.strip():
            yield number, None  # a block of code; an item that goes on is indented without a blank line before it
            continue  # its next line is code as well
        else:
            yield number, line
        before = line


def plain(text):
    """What is read aloud: links are their text, code is one word."""
    text = LINK.sub(r"\1", IMAGE.sub("", text))
    return CODE.sub("CODE", text)


def blocks(text):
    """(first line, text) of each paragraph, item and heading: no sentence goes on from one to the next."""
    start, parts = 0, []
    for number, line in prose_lines(text):
        if line is None or not line.strip() or line.startswith("#") or ITEM.match(line):
            if parts:
                yield start, " ".join(parts)
            start, parts = number, []
            if line and line.strip():
                parts = [ITEM.sub("", line).strip()]
            if line and line.startswith("#"):
                yield number, parts[0]
                parts = []
        else:
            if not parts:
                start = number
            parts.append(line.strip())
    if parts:
        yield start, " ".join(parts)


def check_opening(path):
    opening = re.split(r"^## ", path.read_text(), maxsplit=1, flags=re.M)[0]
    text = LINK.sub(r"\1", IMAGE.sub("", opening)).replace("|", " ")
    words = [word for word in text.split() if re.search(r"\w", word)]
    numbers = NUMBER.findall(text)
    problems = []
    if len(words) > WORDS:
        problems.append(f"{path}: {len(words)} words before the first heading, and {WORDS} are allowed")
    if len(numbers) > NUMBERS:
        problems.append(f"{path}: {len(numbers)} numbers before the first heading, and {NUMBERS} are allowed")
    return problems


def check_columns(path):
    problems, text, heading = [], path.read_text(), ""
    if "<!-- Written by" in text:
        return problems
    for number, line in prose_lines(text):
        if line is not None and line.startswith("#"):
            heading = line
        if line is None or len(line) <= COLUMNS or heading == "## Breaks the rule":
            continue
        longest = max((len(part.group()) for part in re.finditer(r"!?\[[^\]]*\]\([^)]*\)\S*|https?://\S+", line)), default=0)
        if len(line) - longest > 12:  # more than the mark of an item beside the link
            problems.append(f"{path}:{number}: {len(line)} columns, and {COLUMNS} are allowed")
    return problems


def check_sentences(path):
    problems = []
    for number, block in blocks(path.read_text()):
        text = ABBREVIATION.sub(r"\1", plain(block))
        for sentence in END.split(text):
            count = len([word for word in sentence.split() if re.search(r"\w", word)])
            if count > SENTENCE:
                start = " ".join(sentence.split()[:6])
                problems.append(f"{path}:{number}: a sentence of {count} words, and {SENTENCE} are allowed: {start} ...")
    return problems


def check_keys(path):
    """The first table of the page; a row may name several keys in its first cell."""
    count, inside = 0, False
    for line in path.read_text().splitlines():
        if TABLE.match(line):
            inside = True
            count += len(CODE.findall(line.split("|")[1]))
        elif inside:
            break
    if count == 0:
        return [f"{path}: no table of the keys that most recipes set"]
    return [f"{path}: {count} keys in the first table, and {KEYS} are allowed"] if count > KEYS else []


def links_of(path):
    """(line, target) of each link to another file, without the place inside it."""
    text = path.read_text()
    for (number, prose), line in zip(prose_lines(text), text.splitlines()):
        if prose is None and not TABLE.match(line):
            continue
        for target in TARGET.findall(CODE.sub("", line)):
            if not re.match(r"^([a-z]+:|#)", target):
                yield number, target.split("#")[0]


def check_links(path):
    return [f"{path}:{number}: a link to {target}, which is not there"
            for number, target in links_of(path) if not (path.parent / target).exists()]


def check_index(root):
    index = root / INDEX
    if not index.exists():
        return [f"{index}: no index of the pages"]
    linked = {(index.parent / target).resolve() for _, target in links_of(index)}
    problems = []
    for page in sorted((root / "docs").rglob("*.md")):
        exempt = str(page.relative_to(root)).startswith(NOT_INDEXED)
        if page != index and not exempt and page.resolve() not in linked:
            problems.append(f"{page}: docs/README.md does not link it")
    return problems


def pages(root):
    """Every Markdown page of the repository, where its own text stands: not what was built or fetched."""
    skipped = {"build", "node_modules", "runs", "models", ".git", ".cache", "shared"}
    for path in sorted(root.rglob("*.md")):
        if not skipped & set(path.relative_to(root).parts):
            yield path


def check(root):
    problems = check_opening(root / "README.md")
    ruled = [root / name for name in ("README.md", "CONTRIBUTING.md", "recipes/README.md")]
    ruled += sorted((root / "docs").rglob("*.md"))
    for path in ruled:
        if path.exists() and "docs/reports/" not in str(path.relative_to(root)):
            problems += check_columns(path)
    for pattern in READ_FIRST:
        for path in sorted(root.glob(pattern)):
            problems += check_sentences(path)
    if (root / "docs/recipe.md").exists():
        problems += check_keys(root / "docs/recipe.md")
    problems += check_index(root)
    for path in pages(root):
        problems += check_links(path)
    return problems


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    problems = check(root)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
