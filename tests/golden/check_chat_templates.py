#!/usr/bin/env python3
"""Compares what Hone renders with what Jinja2 makes of the chat templates that Hone writes.

    check_chat_templates.py HONE [--count N] [--seed N] [--write]

HONE is the program. Random conversations go through `hone pipe render` and through the template of
`hone pipe template`, in an environment set up as Hugging Face's transformers do; the first
difference is shown and ends the run. With --write a few of the conversations and what Jinja2 made
of them are written to templates/rendered.json beside this file. Needs Python 3 with Jinja2.
"""
import argparse
import datetime
import hashlib
import json
import pathlib
import random
import subprocess
import sys

import jinja2
import jinja2.ext
import jinja2.sandbox

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE / "templates" / "rendered.json"


# What the generator has to know of a dialect to write conversations that it can spell.
class Dialect:
    def __init__(self, name, parallel=False, parses_text=True, thinks=True, any_tool=True,
                 text_tools=(), marker_tools=()):
        self.name = name
        self.parallel = parallel            # several calls in a turn
        self.parses_text = parses_text      # arguments given as text are parsed, which Jinja cannot
        self.thinks = thinks                # a thought can stand beside an action
        self.any_tool = any_tool            # calls are JSON, so any tool with any arguments
        self.text_tools = dict(text_tools)  # tool: the one argument it takes, a text
        self.marker_tools = marker_tools    # tools that are called by a tag alone


DIALECTS = [
    Dialect("hermes:qwen2.5", parallel=True, parses_text=False),
    Dialect("hermes:qwen3", parallel=True, parses_text=False),
    Dialect("hermes:qwen3-training", parallel=True, parses_text=False),
    Dialect("action-json"),
    Dialect("action-json:plain"),
    Dialect("tagged:desk", thinks=False),
    Dialect("tagged:tapo", any_tool=False, text_tools={"search": "query", "code": "code"}),
    Dialect("tagged:study", any_tool=False, text_tools={"search": "query", "python": "code"}),
    Dialect("tagged:search-r1", any_tool=False, text_tools={"search": "query"}),
    Dialect("tagged:retool", any_tool=False, text_tools={"code_interpreter": "code"}),
    Dialect("tagged:deepagent", text_tools={"tool_search": "query"},
            marker_tools=["fold_thought"]),
    Dialect("tagged:sql.toml", any_tool=False, text_tools={"query": "items"},
            marker_tools=["stop"]),
]

# --- Jinja2 as transformers set it up -------------------------------------------------------------


class Refused(jinja2.TemplateError):
    """What raise_exception raises; any other error of a template is a bug in it."""


def raise_exception(message):
    raise Refused(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                      sort_keys=sort_keys)


def environment():
    made = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = lambda text: datetime.datetime.now().strftime(text)
    return made


def render_with_jinja(template, conversation):
    """The text, or None when the template refuses the conversation."""
    given = {"tools": None} | conversation
    try:
        return template.render(**given)
    except Refused:
        return None


# --- Hone -----------------------------------------------------------------------------------------


def pipe(hone, arguments, lines):
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    # In the folder of the tag sets, so that their names are the same everywhere.
    done = subprocess.run([hone, "pipe", *arguments], input=text.encode(), stdout=subprocess.PIPE,
                          cwd=HERE / "templates", check=False)
    out = [json.loads(line) for line in done.stdout.decode().split("\n") if line]
    if len(out) != len(lines):
        sys.exit(f"hone pipe {' '.join(arguments)}: {len(lines)} lines in, {len(out)} out")
    return out


def template_of(hone, name):
    return pipe(hone, ["template"], [{"dialect": name}])[0]["chat_template"]


def render_with_hone(hone, name, conversations):
    """Texts, and None for each conversation that the dialect refuses."""
    out = pipe(hone, ["render", "--dialect", name], conversations)
    return [line.get("text") for line in out]


# --- random conversations -------------------------------------------------------------------------

WORDS = ["weather", "in", "Oslo", "naïve", "東京", "😀", "e\u0301", "ß", "it's", '"quoted"', "a\\b",
         "\\n", "100%", "x < y", "a & b", "\t", "\n", "\n\n", "  ", "\r\n", "\u2028", "\x85",
         "\ufeff", "\x00", "\x1f", "\x7f", "{{ messages }}", "{% raw %}", "{# no #}", "-%}", "{}",
         "</s>", "None", "null", "\\boxed{4}", "<b>bold</b>", "`code`", "'"]
MARKERS = ["<|im_end|>", "<|im_start|>", "<|endoftext|>", "<think>", "</think>", "<tool_call>",
           "</tool_call>", "<tool_response>", "</tool_response>", "<action>", "</action>",
           "<answer>", "</answer>", "<search>", "</search>", "<code>", "</code>", "</sql>",
           "</réponse>", "</tool_search>", "<user>", "</user>", "<system>"]
NUMBERS = [0, 1, -7, 2**53 + 1, 2**63, 10**30, 0.5, -0.0, 1.0, 1e16, 1e-7, 0.1, 3.14159, 1e300]
TOOLS = ["weather", "search", "run.code", "say \"hi\"", "名前", "items", ""]


class Generator:
    def __init__(self, dialect, seed):
        self.dialect = dialect
        self.rng = random.Random(seed)
        self.wild = False  # whether the conversation may hold what is refused

    def chance(self, probability):
        return self.rng.random() < probability

    def text(self, longest=6):
        words = WORDS + MARKERS if self.wild else WORDS
        text = self.rng.choice(["", " "]).join(
            self.rng.choice(words) for _ in range(self.rng.randrange(longest)))
        if self.chance(0.2):
            text = self.rng.choice(["\n", "\n\n", " "]) + text
        return text + self.rng.choice(["\n", " "]) if self.chance(0.2) else text

    def value(self, depth=0):
        kind = self.rng.randrange(7 if depth < 3 else 5)
        if kind == 0:
            return self.rng.choice([None, True, False])
        if kind == 1:
            return self.rng.choice(NUMBERS)
        if kind < 5:
            return self.text()
        if kind == 5:
            return [self.value(depth + 1) for _ in range(self.rng.randrange(4))]
        return self.object(depth + 1)

    def object(self, depth=0):
        return {self.key(): self.value(depth + 1) for _ in range(self.rng.randrange(4))}

    def key(self):
        return self.rng.choice(["city", "days", "items", "get", "ключ", 'a"b', "", self.text(3)])

    def tool(self):
        schema = {"name": self.rng.choice(TOOLS), "description": self.text(),
                  "parameters": {"type": "object", "properties": self.object()}}
        return self.rng.choice([{"type": "function", "function": schema}, schema, self.object()])

    def call(self):
        dialect, kinds = self.dialect, []
        kinds += ["any"] * (3 if dialect.any_tool or self.wild and self.chance(0.2) else 0)
        kinds += ["text"] * (3 if dialect.text_tools else 0)
        kinds += ["marker"] * (1 if dialect.marker_tools else 0)
        kind = self.rng.choice(kinds)
        if kind == "any":
            name, arguments = self.rng.choice(TOOLS), self.object()
        elif kind == "text":
            name = self.rng.choice(list(dialect.text_tools))
            arguments = {dialect.text_tools[name]: self.text()}
            if self.wild and self.chance(0.15):
                arguments = self.rng.choice([arguments | self.object(), self.object(),
                                             {dialect.text_tools[name]: self.value()}])
        else:
            name, arguments = self.rng.choice(dialect.marker_tools), self.object()
        if not dialect.any_tool and kind == "text" and self.chance(0.05):
            name = ""  # stands for the first tag
            arguments = {list(dialect.text_tools.values())[0]: self.text()}
        call = {"name": name, "arguments": arguments}
        if self.chance(0.2 if not dialect.parses_text else 0.1 if self.wild else 0):
            call["arguments"] = self.rng.choice([json.dumps(arguments), self.text(), "{}"])
        elif not arguments and self.chance(0.5):
            del call["arguments"]
        if self.wild and self.chance(0.05):
            self.rng.choice([lambda: call.pop("name"), lambda: call.update(name=5),
                             lambda: call.update(arguments=None),
                             lambda: call.update(arguments=[1])])()
        if self.chance(0.5):
            call = {"id": "c1", "type": "function", "function": call}
            if self.wild and self.chance(0.03):
                call["function"] = None
        return call

    def content(self, role):
        """Text, mostly, or one of the other shapes that stand for text."""
        if self.chance(0.1):
            parts = [self.rng.choice([self.text(), {"type": "text", "text": self.text()}])
                     for _ in range(self.rng.randrange(3))]
            if (role == "tool" or self.wild) and self.chance(0.3):
                parts.append(self.rng.choice([{"type": "image"}, 5, None, ["a"], {"text": None}]))
            return parts
        if role == "tool" and self.chance(0.1) or self.wild and self.chance(0.03):
            return self.rng.choice([self.object(), 5, 0.5, True, False, {}, 0])
        return self.text()

    def assistant(self):
        message = {"role": "assistant"}
        calls = self.chance(0.5)
        thinks = self.dialect.thinks or self.wild and self.chance(0.2)
        if calls:
            count = self.rng.randrange(1, 4) if self.dialect.parallel else 1
            if self.wild and self.chance(0.05):
                count += 1
            message["tool_calls"] = [self.call() for _ in range(count)]
            if thinks:
                message["content"] = self.content("assistant")
            else:
                message["content"] = self.rng.choice([None, ""])
        else:
            message["content"] = self.content("assistant")
            if self.chance(0.3):
                message["tool_calls"] = self.rng.choice([None, []])
        if self.dialect.name.startswith("hermes") and self.chance(0.3):
            opening = self.rng.choice(["<think>", "", "\n<think>\n", "a<think>b<think>"])
            closing = "</think>" + self.rng.choice(["\n\n", "", "x</think>"])
            message["content"] = opening + self.text() + closing + self.text()
        if message["content"] in (None, "") and self.chance(0.3):
            message.pop("content")
        if thinks and self.chance(0.4):
            message["reasoning_content"] = self.text()
        elif self.chance(0.1):
            message["reasoning_content"] = self.rng.choice([None, "", 5])
        if self.wild and self.chance(0.02):
            message["tool_calls"] = self.rng.choice(["", {}, 5, "text", ["text"], [None]])
        return message

    def plain(self, role):
        message = {"role": role, "content": self.content(role)}
        if role == "tool":
            named = [*self.dialect.text_tools, *self.dialect.marker_tools, *TOOLS]
            if self.chance(0.7):
                message["name"] = self.rng.choice(named)
            elif self.chance(0.1):
                message["name"] = None
            message["role"] = self.rng.choice(["tool"] * 5 + ["function"])
        if role == "system" and self.chance(0.2):
            message["role"] = "developer"
        if role == "user" and self.chance(0.1):
            message["content"] = "<tool_response>" + self.text() + "</tool_response>"
        if self.chance(0.05):
            message["content"] = None
        if self.chance(0.02):
            message["tool_calls"] = self.rng.choice([None, []])
        if self.wild and self.chance(0.02):
            message["tool_calls"] = [self.call()]
        return message

    def conversation(self):
        self.wild = self.chance(0.3)
        messages = [self.plain("system")] if self.chance(0.4) else []
        role = self.rng.choice(["user"] * 4 + ["assistant", "tool", "system"])
        for _ in range(self.rng.randrange(8)):
            messages.append(self.assistant() if role == "assistant" else self.plain(role))
            likely = {"user": "assistant", "system": "user", "tool": "assistant",
                      "assistant": "tool" if messages[-1].get("tool_calls") else "user"}[role]
            if role == "tool" and self.chance(0.3):
                likely = "tool"
            role = likely if self.chance(0.85) else self.rng.choice(
                ["user", "assistant", "tool", "system"])
        made = {"messages": messages, "add_generation_prompt": self.chance(0.5)}
        if self.chance(0.7):
            made["tools"] = self.rng.choice([
                None, [], [self.tool()], [self.tool() for _ in range(self.rng.randrange(4))]])
        if self.chance(0.5):
            made["enable_thinking"] = self.chance(0.4)
        if self.wild and self.chance(0.05):
            made["tools"] = self.rng.choice(["", {}, 5, {"a": 1}, [5], ["x"], [{}, None]])
        if self.wild and self.chance(0.05):
            self.rng.choice([
                lambda: messages.append({"content": "x"}),
                lambda: messages.append({"role": "king", "content": "x"}),
                lambda: messages.append({"role": 5}),
                lambda: messages.append("hello"),
            ])()
        return made


# --- comparing ------------------------------------------------------------------------------------


def has_text_arguments(conversation):
    for message in conversation["messages"]:
        calls = message.get("tool_calls") if isinstance(message, dict) else None
        for call in calls if isinstance(calls, list) else []:
            call = call.get("function", call) if isinstance(call, dict) else None
            if isinstance(call, dict) and isinstance(call.get("arguments"), str):
                return True
    return False


def show_difference(name, conversation, hone, jinja):
    print(f"{name}: Hone and Jinja2 differ on\n{json.dumps(conversation, ensure_ascii=False)}")
    print(f"Hone:   {hone!r}\nJinja2: {jinja!r}")
    if hone is not None and jinja is not None:
        same = next((i for i, (a, b) in enumerate(zip(hone, jinja)) if a != b),
                    min(len(hone), len(jinja)))
        print(f"from character {same}: {hone[same:same + 40]!r} and {jinja[same:same + 40]!r}")


def compare(hone, dialect, template, conversations):
    """The texts (None: refused). Ends the program at the first difference."""
    compiled = environment().from_string(template)
    texts, rendered, refused, jinja_only = [], 0, 0, 0
    for conversation, expected in zip(
            conversations, render_with_hone(hone, dialect.name, conversations)):
        text = render_with_jinja(compiled, conversation)
        texts.append(text)
        if text == expected:
            rendered += text is not None
            refused += text is None
        elif text is None and dialect.parses_text and has_text_arguments(conversation):
            jinja_only += 1
        else:
            show_difference(dialect.name, conversation, expected, text)
            sys.exit(1)
    print(f"{dialect.name:22} {rendered:6} rendered alike, {refused:5} refused by both, "
          f"{jinja_only:4} refused by the template alone (arguments as text)")
    return texts


# --- goldens --------------------------------------------------------------------------------------


def features(conversation, text):
    """What a golden shows; six are chosen that together show the most."""
    found = {"prompt" if conversation["add_generation_prompt"] else "no prompt",
             f"thinking {conversation.get('enable_thinking')}"}
    roles = [message["role"] for message in conversation["messages"]]
    found |= {f"role {role}" for role in roles} | {f"{a} {b}" for a, b in zip(roles, roles[1:])}
    for message in conversation["messages"]:
        found |= {f"{message['role']} {key}" for key, value in message.items() if value}
        found.add(f"content {type(message.get('content')).__name__}")
        for call in message.get("tool_calls") or []:
            found.add(f"call {sorted(call)}")
            call = call.get("function", call)
            found.add(f"calls {call['name'] if len(call['name']) > 4 else ''}")
            found.add(f"arguments {type(call.get('arguments')).__name__}")
            found.add(f"nested {'{' in str(call.get('arguments'))[1:]}")
    found.add(f"tools {len(conversation.get('tools') or [])}")
    found.add("beyond ASCII" if not text.isascii() else "ASCII")
    return found


def choose(conversations, texts):
    rows = [(conversation, text, features(conversation, text))
            for conversation, text in zip(conversations, texts)
            if text is not None and len(text) < 2500]
    seen, chosen = set(), []
    for _ in range(6):
        best = max(rows, key=lambda row: len(row[2] - seen))
        seen |= best[2]
        chosen.append(best[:2])
    return chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("hone", help="the program")
    parser.add_argument("--count", type=int, default=4000, help="conversations per dialect")
    parser.add_argument("--seed", type=int, default=20261115)
    parser.add_argument("--write", action="store_true", help="write templates/rendered.json")
    options = parser.parse_args()
    hone = str(pathlib.Path(options.hone).resolve())
    goldens = []
    for dialect in DIALECTS:
        generator = Generator(dialect, f"{options.seed} {dialect.name}")
        conversations = [generator.conversation() for _ in range(options.count)]
        template = template_of(hone, dialect.name)
        texts = compare(hone, dialect, template, conversations)
        sha256 = hashlib.sha256(template.encode()).hexdigest()
        for conversation, text in choose(conversations, texts):
            goldens.append({"dialect": dialect.name, "template_sha256": sha256,
                            "conversation": conversation, "text": text})
    if options.write:
        GOLDEN.write_text("[\n" + ",\n".join(json.dumps(row) for row in goldens) + "\n]\n")


if __name__ == "__main__":
    main()
