"""Executes what other people wrote, out of checkouts of their repositories: whole functions and classes, or single
statements of a method that cannot be run as a whole. Nothing of theirs is kept here: names only.
"""
import __future__
import ast
import collections
import contextlib
import copy
import enum
import functools
import io
import json
import os
import pathlib
import random
import re
import types
import typing
import uuid

import numpy
import torch

FOLDER = pathlib.Path()  # of the checkouts, one per repository; make.py sets it


@functools.lru_cache(maxsize=None)
def parsed(path):
    return ast.parse((FOLDER / path).read_text(encoding="utf-8"))


class Anything:
    """Stands for what a definition mentions and no run of it needs."""

    def __getattr__(self, name):
        return Anything()

    def __call__(self, *arguments, **named):
        return arguments[0] if len(arguments) == 1 and callable(arguments[0]) else Anything()


def decorator(*_, **__):
    return lambda what: what


def namespace(**more):
    """What their files import, as far as it is needed; they print nothing."""
    names = {"torch": torch, "np": numpy, "numpy": numpy, "os": os, "re": re, "json": json, "uuid": uuid,
             "random": random, "defaultdict": collections.defaultdict, "Counter": collections.Counter,
             "Enum": enum.Enum, "deepcopy": copy.deepcopy, "print": lambda *_, **__: None,
             "register": decorator, "register_adv_est": decorator, "register_policy_loss": decorator,
             "deprecated": decorator, "AdvantageEstimator": Anything(), "AlgoConfig": type("AlgoConfig", (), {})}
    names.update({name: getattr(typing, name) for name in ("Any", "Callable", "Dict", "List", "Optional", "Tuple",
                                                           "Union")})
    names.update(more)
    return names


def run(nodes, path, names):
    module = ast.Module(body=list(nodes), type_ignores=[])
    flags = __future__.annotations.compiler_flag  # what types are called is not looked at
    exec(compile(ast.fix_missing_locations(module), str(path), "exec", flags, dont_inherit=True), names)
    return names


def definitions(path, wanted, **names):
    """Functions, classes and constants that stand at the top of a file, with these names in sight."""
    def defines(node):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            return node.name in wanted
        return isinstance(node, ast.Assign) and any(isinstance(target, ast.Name) and target.id in wanted
                                                    for target in node.targets)

    found = run([node for node in parsed(path).body if defines(node)], path, namespace(**names))
    missing = [name for name in wanted if name not in found]
    if missing:
        raise SystemExit(f"{path}: no {', '.join(missing)}; is it another commit?")
    return types.SimpleNamespace(**{name: found[name] for name in wanted})


def methods(path, owner, wanted, **names):
    """Methods of a class, as functions of `self`."""
    body = next(node for node in parsed(path).body if isinstance(node, ast.ClassDef) and node.name == owner).body
    found = run([node for node in body if isinstance(node, ast.FunctionDef) and node.name in wanted], path,
                namespace(**names))
    return types.SimpleNamespace(**{name: found[name] for name in wanted})


def assigns(name):
    return lambda node: isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name


def tests(*mentioned):
    """An `if` whose condition mentions all of these."""
    return lambda node: isinstance(node, ast.If) and all(word in ast.unparse(node.test) for word in mentioned)


def statements(path, function, first, last):
    """Those of a function, at whatever depth, from the first that `first` says yes to up to `last`."""
    root = next(node for node in ast.walk(parsed(path)) if isinstance(node, ast.FunctionDef) and node.name == function)
    for node in ast.walk(root):
        for field in ("body", "orelse"):
            body = getattr(node, field, None)
            if not isinstance(body, list):
                continue
            begin = next((i for i, one in enumerate(body) if first(one)), None)
            end = next((i for i, one in enumerate(body) if begin is not None and i >= begin and last(one)), None)
            if end is not None:
                return body[begin:end + 1]
    raise SystemExit(f"{path}: {function} does not have the statements; is it another commit?")


class OtherConstant(ast.NodeTransformer):
    def __init__(self, old, new):
        self.old, self.new = old, new

    def visit_Constant(self, node):
        return ast.copy_location(ast.Constant(self.new), node) if node.value == self.old else node


def with_constant(nodes, old, new):
    """The same statements with another number in place of one that cannot be set from outside."""
    changed = [OtherConstant(old, new).visit(copy.deepcopy(node)) for node in nodes]
    assert any(isinstance(inner, ast.Constant) and inner.value == new for node in changed for inner in ast.walk(node))
    return changed


@contextlib.contextmanager
def silence():
    with contextlib.redirect_stdout(io.StringIO()):
        yield


class Rows(dict):
    """Tensors with one row per trajectory, as tensordict has them."""

    def __getitem__(self, key):
        if isinstance(key, str):
            return super().__getitem__(key)
        return Rows({name: value[key] for name, value in self.items()})

    def size(self, _):
        return len(next(iter(self.values())))

    def __len__(self):
        return self.size(0)


class Batch:
    """What verl calls DataProto, as far as the functions here look at it."""

    def __init__(self, tensors, others=None):
        self.batch = Rows(tensors)
        self.non_tensor_batch = others or {}
        self.meta_info = {}

    def __len__(self):
        return len(self.batch)

    def __getitem__(self, i):
        return types.SimpleNamespace(batch={name: value[i] for name, value in self.batch.items()},
                                     non_tensor_batch={name: value[i] for name, value in self.non_tensor_batch.items()})

    @staticmethod
    def concat(parts):
        return Batch({name: torch.cat([part.batch[name] for part in parts]) for name in parts[0].batch},
                     {name: numpy.concatenate([part.non_tensor_batch[name] for part in parts])
                      for name in parts[0].non_tensor_batch})
