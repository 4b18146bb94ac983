#!/usr/bin/env python3
"""Writes authors.json beside this file: random groups with what the authors' own programs make of them.

    make.py AUTHORS [OUT]

AUTHORS is a folder with checkouts of their repositories (README.md beside this says which, at which commits). Their
functions are executed as they stand in those files, in double precision where they do not say otherwise. Needs PyTorch
and numpy. Nothing in the file comes from Hone.
"""
import json
import pathlib
import random
import sys
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import advantages
import authors
import losses
import others

SECTIONS = {
    "verl": (advantages.verl, 33),
    "trl": (advantages.trl, 36),
    "gdpo": (advantages.gdpo, 40),
    "dr-grpo": (advantages.dr_grpo, 30),
    "mt-grpo": (advantages.mt_grpo, 38),
    "gigpo": (advantages.gigpo, 39),
    "tree-grpo": (advantages.tree_grpo, 80),
    "hdpo": (advantages.hdpo, 32),
    "simpletir": (others.simpletir, 34),
    "spear": (others.spear, 36),
    "spear-replay": (others.spear_replay, 36),
    "dapo": (others.dapo, 33),
    "toolrl": (others.toolrl, 400),
    "losses": (losses.losses, 30),
}


def main():
    authors.FOLDER = pathlib.Path(sys.argv[1])
    out = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).resolve().parent
    torch.set_default_dtype(torch.float64)
    warnings.simplefilter("ignore")  # deviations of groups of one
    torch.manual_seed(5)
    made = {}
    for name, (section, count) in SECTIONS.items():
        random.seed(7)  # of functions that draw themselves
        with authors.silence():
            made[name] = section(random.Random(f"credit {name}"), count)
        print(f"{name}: {len(made[name])} cases", flush=True)
    lines = []
    for name, cases in made.items():
        rows = ",\n".join(json.dumps(case, separators=(",", ":"), allow_nan=False) for case in cases)
        lines.append(f"{json.dumps(name)}:[\n{rows}\n]")
    path = out / "authors.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
