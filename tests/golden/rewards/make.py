#!/usr/bin/env python3
"""Writes the goldens beside this file: what the authors' own reward functions make of random responses, and TRL's loss
of preferences of random numbers.

    make.py AUTHORS

AUTHORS is a folder with checkouts of their repositories (README.md beside this says which, at which commits). Their
functions are executed as they stand in those files. Needs Python 3.11 or later and nothing else: what the files import
beside the standard library is replaced below by what the functions use of it. Nothing of theirs is kept here, and
nothing in the goldens comes from Hone.
"""
import ast
import json
import math
import pathlib
import random
import re
import string
import sys
import types
import typing
from collections import Counter

HERE = pathlib.Path(__file__).resolve().parent


def edits(a, b):
    """Levenshtein's distance, as the package of that name counts it."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        last, row[0] = row[0], i + 1
        for j, y in enumerate(b):
            last, row[j + 1] = row[j + 1], min(row[j] + 1, row[j + 1] + 1, last + (x != y))
    return row[-1]


class Numbers:
    """The part of numpy and torch that scalar formulas use."""
    ndarray = type("ndarray", (), {})
    pi = math.pi
    min, cos, sin = staticmethod(min), staticmethod(math.cos), staticmethod(math.sin)

    @staticmethod
    def zeros(count):
        return [0.0] * count


def functions(folder, path, *names, **more):
    """Functions that stand at the top of a file."""
    tree = ast.parse((folder / path).read_text(encoding="utf-8"))
    nodes = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name in names]
    found = {"re": re, "string": string, "random": random, "Counter": Counter, "np": Numbers,
             "Levenshtein": types.SimpleNamespace(distance=edits), "print": lambda *_, **__: None}
    found.update({n: getattr(typing, n) for n in ("Any", "Dict", "List", "Optional", "Tuple", "Union")})
    found.update(more)
    exec(compile(ast.Module(body=nodes, type_ignores=[]), str(path), "exec"), found)
    missing = set(names) - {n.name for n in nodes}
    assert not missing, f"{path} has no {missing}"
    return found


def statement(folder, path, starts):
    """The single statement of a file whose text begins so."""
    text = (folder / path).read_text(encoding="utf-8")
    found = [ast.get_source_segment(text, n) for n in ast.walk(ast.parse(text)) if isinstance(n, ast.stmt)]
    found = [s for s in found if s and s.startswith(starts)]
    assert len(found) == 1, (path, starts, len(found))
    return found[0]


# --- answers -------------------------------------------------------------------------------------

WORDS = "a an the of seven twelve old Ada bridge river stone Mill year born London café Lake north".split()


def phrase(rng):
    """Some words, not articles alone: of those nothing is left to compare."""
    return " ".join([rng.choice(WORDS) for _ in range(rng.randint(0, 3))] + [rng.choice(WORDS[7:])])


def spelled(rng, text):
    """The same answer in other words, or nearly."""
    how = rng.randrange(9)
    if how == 0:
        return text
    if how == 1:
        return text.upper()
    if how == 2:
        return f"  {text}. "
    if how == 3:
        return f"the {text}"
    if how == 4 and len(text) > 2:
        at = rng.randrange(len(text))
        return text[:at] + rng.choice("xyz ") + text[at + 1:]
    if how == 5 and len(text) > 3:
        at = rng.randrange(len(text) - 1)
        return text[:at] + text[at + 1:]
    if how == 6:
        return f"I think that it is {text}"
    if how == 7:
        return text + " " + phrase(rng)
    return phrase(rng)


def number(rng):
    return rng.choice([str(rng.randint(-40, 4000)), f"{rng.uniform(-9, 900):.2f}", f"{rng.randint(1, 9)},{rng.randint(100, 999)}",
                       rng.choice(["one", "seven", "Twelve"])])


def near(rng, text):
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return rng.choice([text, text.lower(), str(rng.randint(1, 12))])
    return rng.choice([text, text.replace(",", ""), str(value), f"{value + 0.0005:.4f}", f"{value + 0.01:.2f}",
                       f"{value * 1.04:.3f}", f"{value * 1.06:.3f}", f"it is {text}", "seven"])


def answers(folder, rng, count):
    tapo = functions(folder, "TAPO/verl/utils/reward_score/tool_dapo.py", "normalize_answer", "_check_score", "_get_score")
    search = functions(folder, "Search-R1/verl/utils/reward_score/qa_em.py", "normalize_answer", "em_check")
    star = functions(folder, "Tool-Star/Tool_Star_RL/src/verl/verl/utils/reward_score/re_search.py", "normalize_answer",
                     "get_f1_score")
    cases = []
    for i in range(count):
        kind = ["exact", "nq", "calculator", "complex"][i % 4]
        if kind in ("calculator", "complex"):
            gold = [f"{rng.uniform(-90, 900):.2f}"]
            answer = near(rng, gold[0])
        elif kind == "exact":
            gold = [number(rng) if rng.random() < 0.7 else phrase(rng) for _ in range(rng.randint(1, 2))]
            answer = near(rng, rng.choice(gold))
        else:
            gold = [phrase(rng) for _ in range(rng.randint(1, 3))]
            answer = spelled(rng, rng.choice(gold))
            if rng.random() < 0.1:
                gold, answer = [rng.choice(["yes", "no"])], rng.choice(["Yes", "no", "yes, of course", "No."])
            if rng.random() < 0.1:
                answer = "so " * 40 + answer
        source = {"exact": "default"}.get(kind, kind)
        case = {"kind": kind, "gold": gold, "answer": answer, "tapo": tapo["_get_score"](answer, gold, None, source)[0]}
        if kind == "nq":
            case["search_r1"] = search["em_check"](answer, gold)
            case["tool_star"] = star["get_f1_score"](answer, gold)
        cases.append(case)
    return cases


# --- whole responses -----------------------------------------------------------------------------

MISTAKES = ["none", "none", "none", "unclosed call", "unknown tag", "text outside", "no answer", "unclosed answer",
            "text after the answer"]


def responses(folder, rng, count):
    """Turns in TAPO's tags, each spoilt in at most one way."""
    tapo = functions(folder, "TAPO/verl/utils/reward_score/tool_dapo.py", "normalize_answer", "_check_score", "_get_score",
                     "check_format", "compute_score")
    star = functions(folder, "Tool-Star/Tool_Star_RL/src/verl/verl/utils/reward_score/re_search.py", "validate_format",
                     "extract_answer", "remove_boxed", "last_boxed_only_string", "normalize_answer", "get_f1_score",
                     "compute_score")
    tokenizer = types.SimpleNamespace(eos_token="<|im_end|>")
    cases = []
    for i in range(count):
        mistake = MISTAKES[i % len(MISTAKES)]
        calls = [{"tool": rng.choice(["search", "code"]), "text": phrase(rng), "result": phrase(rng),
                  "failed": rng.random() < 0.25} for _ in range(rng.choice([0, 1, 1, 2, 3]))]
        if mistake == "unclosed call" and not calls:
            calls = [{"tool": "search", "text": phrase(rng), "result": phrase(rng), "failed": False}]
        gold = [phrase(rng)]
        answer = spelled(rng, gold[0]).strip()
        turns = [f"<think>{phrase(rng)}</think><{c['tool']}>{c['text']}</{c['tool']}>" for c in calls]
        last = f"<think>{phrase(rng)}</think><answer>{answer}</answer>"
        if mistake == "unclosed call":
            turns[-1] = turns[-1].rsplit("</", 1)[0]
        if mistake == "unknown tag":
            last = "<guess>x</guess>" + last
        if mistake == "text outside":
            last = last.replace("</think>", "</think> so ")
        if mistake == "no answer":
            last = f"<think>{phrase(rng)}</think>"
        if mistake == "unclosed answer":
            last = last[:-len("</answer>")]
        if mistake == "text after the answer":
            last += " and so on"
        turns.append(last)
        text = ""
        for turn, call in zip(turns, calls):
            text += f"{turn}\n\n<response>{call['result']}</response>\n\n"
        text += turns[-1]
        theirs = tapo["compute_score"](text, gold, None, "nq")
        boxed = text.replace(f"<answer>{answer}</answer>", f"<answer>\\boxed{{{answer}}}</answer>")
        for ours, other in (("<code>", "<python>"), ("</code>", "</python>"), ("<response>", "<result>"),
                            ("</response>", "</result>")):
            boxed = boxed.replace(ours, other)
        cases.append({"mistake": mistake, "turns": turns, "calls": calls, "answer": answer, "gold": gold,
                      "tapo": theirs["score"], "accurate": theirs["acc"], "searches": theirs["search"],
                      "codes": theirs["code"],
                      "tool_star": star["compute_score"](tokenizer, "Assistant:" + boxed, gold)[0]})
    return cases


# --- sums ----------------------------------------------------------------------------------------


def economy(folder, rng, count):
    otc = functions(folder, "Tool-Star-OCT/Tool_Star_RL/calcute_advantage.py", "get_oct_penalty")
    cases = []
    while len(cases) < count:
        size, smoothing = rng.randint(2, 8), rng.choice([3, 4, 6])
        calls = [rng.randint(0, 6) for _ in range(size)]
        right = [rng.random() < 0.6 for _ in range(size)]
        if not any(right):
            continue  # theirs has no least then
        penalty = otc["get_oct_penalty"](calls, [1.0 if r else 0.0 for r in right], smoothing)
        cases.append({"calls": calls, "right": right, "smoothing": smoothing, "factors": penalty})
    return cases


def execution(folder, rng, count):
    torl = functions(folder, "ToRL/verl/utils/reward_score/math_verifier.py", "correctness_score_default",
                     is_equiv=lambda a, b: a == b,
                     boxed_pattern=re.compile(r"\\boxed\{([^{}]*\})"))
    code = compile(statement(folder, "ToRL/verl/workers/reward_manager/naive.py", "if self.config.data.execution_error"),
                   "naive", "exec")
    cases = []
    for _ in range(count):
        right, failures, calls = rng.random() < 0.5, 0, rng.randint(0, 4)
        failed = [rng.random() < 0.3 for _ in range(calls)]
        failures = sum(failed)
        passes = types.SimpleNamespace(item=lambda failures=failures: 0 if failures else 1)
        self = types.SimpleNamespace(config=types.SimpleNamespace(data=types.SimpleNamespace(execution_error_penalty=True)))
        names = {"score": torl["correctness_score_default"]("so \\boxed{4}", "4" if right else "5"), "self": self,
                 "data_item": types.SimpleNamespace(batch={"execution_passes": passes})}
        exec(code, names)
        cases.append({"right": right, "failed": failed, "score": names["score"]})
    return cases


def preferences(folder, rng, count):
    """TRL's loss "sigmoid"; with smoothing its "aot", which for a single pair is that with the labels smoothed."""
    path = "trl/trl/trainer/dpo_trainer.py"
    text = (folder / path).read_text(encoding="utf-8")
    smoothed = [ast.get_source_segment(text, n.value) for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Assign)
                and "F.logsigmoid(self.beta * delta) * (1 - self.label_smoothing)" in ast.get_source_segment(text, n)]
    assert len(set(smoothed)) == 1, smoothed
    plain = statement(folder, path, "per_sequence_loss = -F.logsigmoid(self.beta * delta_score)\n".strip())
    plain = plain.split(" = ", 1)[1]
    scores = {n: statement(folder, path, f"{n} = self.beta * {n.split('_')[0]}_logratios.detach()")
              for n in ("chosen_rewards", "rejected_rewards")}

    class Real(float):
        def detach(self):
            return self

    def logsigmoid(x):
        return -math.log1p(math.exp(-x)) if x >= 0 else x - math.log1p(math.exp(x))

    cases = []
    for _ in range(count):
        case = {key: -rng.uniform(0, 80) for key in ("chosen", "rejected", "reference_chosen", "reference_rejected")}
        case["beta"], case["label_smoothing"] = rng.choice([0.05, 0.1, 0.5, 2.0]), rng.choice([0.0, 0.0, 0.1, 0.3])
        names = {"self": types.SimpleNamespace(beta=case["beta"], label_smoothing=case["label_smoothing"]),
                 "F": types.SimpleNamespace(logsigmoid=logsigmoid),
                 "chosen_logratios": Real(case["chosen"] - case["reference_chosen"]),
                 "rejected_logratios": Real(case["rejected"] - case["reference_rejected"])}
        names["delta"] = names["delta_score"] = names["chosen_logratios"] - names["rejected_logratios"]
        for line in scores.values():
            exec(line, names)
        case.update(loss=eval(f"({smoothed[0] if case['label_smoothing'] else plain})", names), chosen_reward=float(names["chosen_rewards"]),
                    rejected_reward=float(names["rejected_rewards"]))
        cases.append(case)
    return cases


def write(name, cases):
    rows = ",\n".join(json.dumps(case, separators=(",", ":"), ensure_ascii=False, allow_nan=False) for case in cases)
    (HERE / name).write_text(f"[\n{rows}\n]\n", encoding="utf-8")
    print(f"{name}: {len(cases)} cases")


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, make, count in (("answers.json", answers, 600), ("responses.json", responses, 360),
                              ("economy.json", economy, 200), ("execution.json", execution, 60),
                              ("preferences.json", preferences, 240)):
        write(name, make(folder, random.Random(name), count))


if __name__ == "__main__":
    main()
