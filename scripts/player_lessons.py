#!/usr/bin/env python3
"""Conversations that teach a language model to play tools: the prompt of a simulator of kind `model`, and the real result.

    hone simulate record service --seed 1 -n 150 -o shop.sqlite --specs shop.json
    hone journal export shop.sqlite > shop.jsonl
    scripts/player_lessons.py build/conversations/player.jsonl --conversations build/conversations/glaive.jsonl \\
      --conversations build/conversations/toolrl.jsonl --journal shop.jsonl --specs shop.json

The prompts are those of `prompt = "brief"` (src/simulate/players/model_prompt.cpp): the description, recorded calls of the
same tool with the nearest last, the call. Conversations give one call of many tools, without examples; a journal gives many
calls of few tools, of which reads alone are taken. Nothing is of the desk, whose tools the model is to play.
"""

import argparse
import json
import pathlib
import random
import sys

MOST_BYTES = 400    # of an answer
MOST_PER_TOOL = 150  # of a journal


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def line(tool, arguments, answer):
    return f"{tool}({compact(arguments)}) -> {answer}\n"


def row(description, examples, tool, arguments, answer):
    shown = "".join(line(tool, *example) for example in examples)
    return {"messages": [{"role": "system", "content": "Play the tool."},
                         {"role": "user", "content": f"{description}\n{shown}{line(tool, arguments, '')}"},
                         {"role": "assistant", "content": answer}]}


def one_line(text):
    """JSON without blanks where the text is JSON."""
    try:
        return compact(json.loads(text))
    except ValueError:
        return text.strip()


def of_messages(data):
    tools = {tool["function"]["name"]: tool["function"]["description"] for tool in data["tools"]}
    for turn, result in zip(data["messages"], data["messages"][1:]):
        if result["role"] == "tool" and len(turn.get("tool_calls", [])) == 1:
            call = turn["tool_calls"][0]
            yield tools[call["name"]], call["name"], call["arguments"], one_line(result["content"])


def of_sharegpt(data):
    tools = {tool["name"]: tool.get("description", "") for tool in json.loads(data["tools"] or "[]")}
    for turn, result in zip(data["conversations"], data["conversations"][1:]):
        if turn["from"] == "function_call" and result["from"] == "observation":
            call = json.loads(turn["value"])
            yield tools[call["name"]], call["name"], call["arguments"], one_line(result["value"])


def conversations(path):
    for text in path.read_text(encoding="utf-8").splitlines():
        data = json.loads(text)
        for found in of_messages(data) if "messages" in data else of_sharegpt(data):
            if len(found[3]) <= MOST_BYTES:
                yield row(found[0], [], *found[1:])


def answer_of(call):
    content, status = call["result"].get("content", ""), call["result"].get("status", "ok")
    if status == "ok":
        return content
    return content if '"error"' in content else compact({"error": content})


def journal(path, specs, rng):
    descriptions = {spec["function"]["name"]: spec["function"]["description"] for spec in json.loads(specs.read_text())}
    by_tool = {}
    for text in path.read_text(encoding="utf-8").splitlines():
        call = json.loads(text)
        if call.get("effect") == "reads" and not call.get("begun") and not call.get("state_hash"):
            by_tool.setdefault(call["tool"], []).append((call["arguments"], answer_of(call)))
    for tool, calls in sorted(by_tool.items()):
        rng.shuffle(calls)
        for arguments, answer in calls[:MOST_PER_TOOL]:
            others = [other for other in rng.sample(calls, min(len(calls), rng.choice((2, 8, 30)))) if other[0] != arguments]
            alike = sorted(others, key=lambda other: sum(other[0].get(key) == value for key, value in arguments.items()))
            if len(answer) <= MOST_BYTES:
                yield row(descriptions[tool], alike[-rng.choice((0, 3, 6, 6)) or len(alike):], tool, arguments, answer)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--conversations", action="append", type=pathlib.Path, default=[])
    parser.add_argument("--journal", action="append", type=pathlib.Path, default=[])
    parser.add_argument("--specs", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.journal and not arguments.specs:
        parser.error("a journal wants --specs")
    rng = random.Random(1)
    rows = [found for path in arguments.conversations for found in conversations(path)]
    told = len(rows)
    rows += [found for path in arguments.journal for found in journal(path, arguments.specs, rng)]
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text("".join(json.dumps(found, ensure_ascii=False) + "\n" for found in rows), encoding="utf-8")
    print(f"{arguments.out}: {told} calls of conversations, {len(rows) - told} of journals", file=sys.stderr)


if __name__ == "__main__":
    main()
