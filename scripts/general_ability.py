#!/usr/bin/env python3
"""What a model can do apart from its tools: how well it predicts neutral text, and short questions that it answers.

    scripts/general_ability.py fetch build/general                  # en.jsonl and zh.jsonl, from two Debian packages
    scripts/general_ability.py rehearsal build/general MODEL        # what the model says to prompts: rehearsal.jsonl
    scripts/general_ability.py measure build/general MODEL... [--json FILE]

The text is the Debian Reference in English and in Chinese: the same pages, in the same shares. `fetch` wants apt-get and
dpkg-deb; a package with another hash than here is refused. MODEL is a Hugging Face folder (hone export writes one).
Nats per token and bits per byte are means over all tokens and bytes; `as text`: the bare paragraphs; `as an answer`: in
place of what the model says to a user who asks for them. A question counts if what the model says, greedily, has one of
the accepted answers in it.
"""

import argparse
import gzip
import hashlib
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

PACKAGES = {
    "en": ("debian-reference-en", "2.100", "9f31d3a17df505de09689ca255512ea58c1fc47c59bb1b0c7bf1c23362e9743f"),
    "zh": ("debian-reference-zh-cn", "2.100", "6d2d8d9a646397e28b04cdff23d2e4374101ebf9be348e35961af62c8a2d0977"),
}
BYTES = 60_000  # of each language
ASKED = {"en": "Tell me something about Debian.", "zh": "请告诉我一些关于 Debian 的事情。"}
HERE = pathlib.Path(__file__).resolve().parent.parent
QUESTIONS = HERE / "examples/general/questions.jsonl"
PROMPTS = HERE / "examples/general/rehearsal-prompts.jsonl"


def paragraphs(text, language):
    """Paragraphs of running text: neither lists nor tables nor commands."""
    for block in re.split(r"\n\s*\n", text):
        lines = [line.strip() for line in block.split("\n")]
        words = ("" if language == "zh" else " ").join(lines).strip()
        chinese = sum("\u4e00" <= letter <= "\u9fff" for letter in words)
        letters = sum(letter.isalpha() and letter.isascii() for letter in words)
        plain = not re.search(r"[$#|<>{}=┌│─*]|https?:|\s-\w", words)
        if not plain or words.startswith(("•", "o ", "-")):
            continue
        if language == "zh" and len(words) >= 60 and chinese > 0.6 * len(words):
            yield words
        if language == "en" and len(words) >= 160 and letters > 0.7 * len(words):
            yield words


def fetch(out):
    out.mkdir(parents=True, exist_ok=True)
    for language, (package, version, expected) in PACKAGES.items():
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["apt-get", "download", f"{package}={version}"], cwd=folder, capture_output=True, text=True)
            found = list(pathlib.Path(folder).glob("*.deb"))
            if done.returncode or not found:
                sys.exit(f"general_ability: {package} {version} cannot be fetched: {done.stderr.strip()[-200:]}")
            digest = hashlib.sha256(found[0].read_bytes()).hexdigest()
            if digest != expected:
                sys.exit(f"general_ability: {package} has SHA-256 {digest} and not {expected}: refused")
            subprocess.run(["dpkg-deb", "-x", found[0], folder], check=True)
            text = gzip.decompress(next(pathlib.Path(folder).rglob("*.txt.gz")).read_bytes()).decode()
        size, rows = 0, []
        for paragraph in paragraphs(text, language):
            if size >= BYTES:
                break
            rows.append(json.dumps({"text": paragraph}, ensure_ascii=False) + "\n")
            size += len(paragraph.encode())
        (out / f"{language}.jsonl").write_text("".join(rows), encoding="utf-8")
        print(f"{out / language}.jsonl: {len(rows)} paragraphs, {size} bytes")


def pipe(hone, command, rows):
    """What `hone pipe` makes of rows of JSON."""
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    done = subprocess.run([hone, "pipe", *command], input=lines, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"general_ability: hone pipe {command[0]}: {done.stderr.strip()[-300:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def predicted(hone, model, device, language, texts):
    """Nats per token and bits per byte of the texts, bare and as an answer."""
    ids = [row["ids"] for row in pipe(hone, ["tokenize", "--tokenizer", model], [{"text": text} for text in texts])]
    asked = pipe(hone, ["render", "--dialect", f"template:{model}", "--tokenizer", model],
                 [{"messages": [{"role": "user", "content": ASKED[language]}]}])[0]["ids"]
    found = {}
    for name, before in (("as text", []), ("as an answer", asked)):
        rows = pipe(hone, ["engine.logprobs", "--model", model, "--device", device], [{"ids": before + row} for row in ids])
        # The first token of a bare text is predicted by nothing, and is left out in both forms.
        lost = [-sum(row["logprobs"][max(len(before), 0):]) for row in rows]
        tokens = sum(len(row) - 1 for row in ids)
        size = sum(len(text.encode()) for text in texts)
        found[name] = {"nats_per_token": sum(lost) / tokens, "bits_per_byte": sum(lost) / math.log(2) / size,
                       "tokens": tokens}
    return found


def said(hone, model, device, questions):
    """What the model says and calls, greedily, at each question; a turn that is cut off says nothing."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "cases.jsonl"
        done = subprocess.run([hone, "eval", model, str(questions), "--dialect", f"template:{model}", "--device", device,
                               "-o", out], capture_output=True, text=True)
        if done.returncode or not out.is_file():
            sys.exit(f"general_ability: hone eval {model}: {done.stderr.strip()[-300:]}")
        return {row["id"]: row for row in map(json.loads, out.read_text().splitlines())}


def answered(output, accepted):
    output = output.casefold()
    for answer in map(str.casefold, accepted):
        edge = r"\b" if answer[0].isascii() else ""
        if re.search(edge + re.escape(answer) + edge, output):
            return True
    return False


def measure(arguments):
    found = []
    for model in arguments.models:
        row = {"model": model}
        for language in PACKAGES:
            lines = (arguments.folder / f"{language}.jsonl").read_text(encoding="utf-8").splitlines()
            row[language] = predicted(arguments.hone, model, arguments.device, language, [json.loads(line)["text"] for line in lines])
        outputs = said(arguments.hone, model, arguments.device, QUESTIONS)
        right = {}
        for case in map(json.loads, QUESTIONS.read_text(encoding="utf-8").splitlines()):
            right[case["id"]] = answered(outputs[case["id"]]["output"], case["answer"])
        row["questions"] = {language: sum(value for key, value in right.items() if key.startswith(language)) for language in PACKAGES}
        row["right"] = sorted(key for key, value in right.items() if value)
        row["calls"] = sum(bool(output["calls"]) for output in outputs.values())
        row["said"] = {key: output["output"] for key, output in outputs.items()}
        found.append(row)
        parts = [f"{language} {form}: {value['nats_per_token']:.3f} nats per token, {value['bits_per_byte']:.3f} bits per byte"
                 for language in PACKAGES for form, value in row[language].items()]
        print(f"{model}\n  " + "\n  ".join(parts) +
              f"\n  questions answered: {row['questions']['en']} of 25 in English, {row['questions']['zh']} of 25 in Chinese; "
              f"calls in place of answers: {row['calls']}", flush=True)
        if arguments.json:
            arguments.json.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found), encoding="utf-8")


def rehearsal(arguments):
    """Conversations in which the model itself answers, to be imitated among others."""
    outputs = said(arguments.hone, arguments.models[0], arguments.device, PROMPTS)
    rows = [{"messages": [{"role": "user", "content": case["prompt"]}, {"role": "assistant", "content": outputs[case["id"]]["output"].strip()}]}
            for case in map(json.loads, PROMPTS.read_text(encoding="utf-8").splitlines()) if outputs[case["id"]]["output"].strip()]
    arguments.folder.mkdir(parents=True, exist_ok=True)
    path = arguments.folder / "rehearsal.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    print(f"{path}: {len(rows)} conversations")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("fetch", "measure", "rehearsal"))
    parser.add_argument("folder", type=pathlib.Path, help="where the texts are")
    parser.add_argument("models", nargs="*", help="Hugging Face folders")
    parser.add_argument("--hone", default="build/release/hone")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--json", type=pathlib.Path, help="one line for each model")
    arguments = parser.parse_args()
    if arguments.what == "fetch":
        return fetch(arguments.folder)
    if not arguments.models:
        parser.error("name a model")
    return measure(arguments) if arguments.what == "measure" else rehearsal(arguments)


if __name__ == "__main__":
    main()
