#!/usr/bin/env python3
"""Fetches public tool-use conversations by name, checks their hashes, and writes what `hone train` imitates.

    scripts/get_conversations.py build/conversations            # from GitHub, into glaive.jsonl and toolrl.jsonl
    scripts/get_conversations.py build/conversations --from DIR # from files that are there already

Nothing of it is part of the repository. What is written:
  glaive.jsonl   299 of 300 rows of LLaMA-Factory's data/glaive_toolcall_en_demo.json (Apache-2.0), shape `sharegpt`, as it is
  toolrl.jsonl   397 of 400 rows of ToolRL's dataset/rlla_4k_raw/rlla_sft.json (Apache-2.0) as OpenAI's messages; the
                 thoughts, which a much larger model wrote, are left out
"""

import argparse
import hashlib
import json
import pathlib
import re
import sys
import urllib.request

RAW = "https://raw.githubusercontent.com"
SOURCES = {
    "glaive_toolcall_en_demo.json": (
        f"{RAW}/hiyouga/LLaMA-Factory/ff6d4d12eeb035d6ce06805a5733dd7b29f2ac30/data/glaive_toolcall_en_demo.json",
        "8b84773e44e71881f32490080350734cad3069dc227eafd771ccfb80732f6437"),
    "rlla_sft.json": (
        f"{RAW}/qiancheng0/ToolRL/8cee13ec0ca72f0461da372a93a6fd8140dbb840/dataset/rlla_4k_raw/rlla_sft.json",
        "ef42a7b1574f1552d6cc7bf9f060a6425458ff67bae2baf53e945dc640dc125c"),
}
TYPES = {"string": "string", "str": "string", "float": "number", "number": "number", "int": "integer",
         "integer": "integer", "bool": "boolean", "boolean": "boolean", "dict": "object", "object": "object",
         "list": "array", "array": "array", "tuple": "array"}
PYTHON = {"string": str, "number": (int, float), "integer": int, "boolean": bool, "object": dict, "array": list}


def source(name, folder):
    """The bytes of a source, from `folder` or from GitHub; a wrong hash ends the program."""
    url, expected = SOURCES[name]
    if folder is not None:
        path = folder / name
        if not path.is_file():
            sys.exit(f"get_conversations: {path} is not there; leave --from out, or put the file of {url} there")
        data = path.read_bytes()
    else:
        try:
            data = urllib.request.urlopen(url, timeout=60).read()
        except OSError as error:
            sys.exit(f"get_conversations: {url}: {error}; fetch it otherwise and name its folder with --from")
    found = hashlib.sha256(data).hexdigest()
    if found != expected:
        sys.exit(f"get_conversations: {name} has SHA-256 {found} and not {expected}: another version, which is refused")
    return data


def described_tools(instruction):
    """The tools that an instruction lists, as OpenAI's schemas."""
    section = instruction.split("following tools:\n", 1)[1].split("\n**Steps", 1)[0]
    tools = []
    for text in re.split(r"\n?^\d+\. Name: ", section, flags=re.M)[1:]:
        name, rest = text.split("\nDescription: ", 1)
        description, parameters = rest.rsplit("\nParameters: ", 1)
        properties = {}
        for key, said in json.loads(parameters).items():
            properties[key] = {"description": said.get("description", "")} if isinstance(said, dict) else {}
            kind = TYPES.get(str(said.get("type", "")).lower()) if isinstance(said, dict) else None
            if kind:
                properties[key]["type"] = kind
        tools.append({"name": name.strip(), "description": description.strip(),
                      "parameters": {"type": "object", "properties": properties}})
    return tools


def read_calls(text):
    """Calls of one <tool_call>: one JSON object per line."""
    calls = []
    for line in filter(None, map(str.strip, text.split("\n"))):
        call = json.loads(line)
        calls.append({"name": call["name"].strip(), "arguments": call["parameters"]})
    return calls


def tags(text):
    """(tag, inside) of the blocks in a text, in order; a block that is not closed ends with the text."""
    found = re.finditer(r"<(user|think|tool_call|obs|response)>(.*?)(?:</\1>|\Z)", text, flags=re.S)
    return [(match[1], match[2].strip()) for match in found]


def messages_of(row):
    messages = []
    for tag, inside in tags(row["input"]) + tags(row["output"]):
        if tag == "user":
            messages.append({"role": "user", "content": inside})
        elif tag == "tool_call":
            messages.append({"role": "assistant", "content": "", "tool_calls": read_calls(inside)})
        elif tag == "obs":
            results = json.loads(inside)
            asked = messages[-1]["tool_calls"]
            if len(results) != len(asked):
                raise ValueError("results and calls differ in number")
            for result in results:
                messages.append({"role": "tool", "content": json.dumps(result.get("results", result))})
        elif tag == "response":
            if messages[-1]["role"] == "assistant":  # calls and words in one turn
                messages[-1]["content"] = inside
            else:
                messages.append({"role": "assistant", "content": inside})
    if messages[-1]["role"] != "assistant":
        raise ValueError("nothing is said at the end")
    return messages


def fit_schemas(tools, messages):
    """A parameter whose value is of another type than its description says loses the type."""
    by_name = {tool["name"]: tool["parameters"]["properties"] for tool in tools}
    for message in messages:
        for call in message.get("tool_calls", []):
            properties = by_name[call["name"]]
            for key, value in call["arguments"].items():
                said = properties.get(key, {})
                kind = said.get("type")
                wrong = kind and (not isinstance(value, PYTHON[kind]) or
                                  (isinstance(value, bool) and kind != "boolean"))
                if wrong:
                    del said["type"]


def glaive(data):
    """The rows whose calls are of the types that their tools say."""
    rows, left_out = [], 0
    for row in json.loads(data):
        tools = {tool["name"]: tool["parameters"].get("properties", {}) for tool in json.loads(row["tools"] or "[]")}
        calls = [json.loads(turn["value"]) for turn in row["conversations"] if turn["from"] == "function_call"]
        values = [(tools[call["name"]].get(key, {}).get("type"), value)
                  for call in calls for key, value in call["arguments"].items()]
        if all(kind not in PYTHON or isinstance(value, PYTHON[kind]) for kind, value in values):
            rows.append(row)
        else:
            left_out += 1
    return rows, left_out


def toolrl(data):
    rows, left_out = [], 0
    for row in json.loads(data):
        try:
            tools, messages = described_tools(row["instruction"]), messages_of(row)
            fit_schemas(tools, messages)
            if len({tool["name"] for tool in tools}) < len(tools):
                raise ValueError("two tools of one name")
            rows.append({"messages": messages,
                         "tools": [{"type": "function", "function": tool} for tool in tools]})
        except (ValueError, KeyError, TypeError, AttributeError):
            left_out += 1  # calls that are not JSON, or of a tool that the row does not list
    return rows, left_out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path, help="the folder to write")
    parser.add_argument("--from", dest="folder", type=pathlib.Path, help="a folder that has the two files")
    arguments = parser.parse_args()
    made = {"glaive": glaive(source("glaive_toolcall_en_demo.json", arguments.folder)),
            "toolrl": toolrl(source("rlla_sft.json", arguments.folder))}
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, (found, left_out) in made.items():
        path = arguments.out / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found), encoding="utf-8")
        print(f"{path}: {len(found)} rows; left out: {left_out} whose tools or calls cannot be read or do not fit")


if __name__ == "__main__":
    main()
