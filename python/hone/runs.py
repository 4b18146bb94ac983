"""A client for runs: metrics, trees and trajectories out of a run's folder."""
import difflib
import json
import os
import pathlib

from .rewards import Trajectory


class HoneError(Exception):
    """What is wrong, and what to do about it."""


def _binary():
    """The program `hone`: the variable HONE_BINARY, else what the shell would find."""
    import shutil

    found = os.environ.get("HONE_BINARY") or shutil.which("hone")
    if not found:
        raise HoneError("trees are read by the program `hone`, which is not on PATH; set HONE_BINARY to it")
    return found


class Run:
    """A run's folder, finished or under way: `hone.Run("runs/quickstart")`. Only reads."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        if not (self.folder / "recipe.toml").is_file():
            raise HoneError(f"{self.folder} is no run's folder: it has no recipe.toml")

    @property
    def name(self):
        return self.folder.resolve().name

    @property
    def recipe(self):
        """The resolved recipe, as its text. tomllib.loads makes a dictionary of it."""
        return (self.folder / "recipe.toml").read_text()

    @property
    def result(self):
        """What stands in result.json; None while the run has not ended."""
        path = self.folder / "result.json"
        return json.loads(path.read_text()) if path.is_file() else None

    def metrics(self):
        """One dictionary per logged step, in order (docs/formats/metrics.md)."""
        path, rows = self.folder / "metrics.jsonl", []
        for line in path.read_text().splitlines() if path.is_file() else []:
            try:
                rows.append(json.loads(line))
            except ValueError:
                continue  # a line that is being written at this moment
        return rows

    def metric(self, name):
        """The pairs (step, value) of one metric. The error lists names that resemble it."""
        rows = self.metrics()
        pairs = [(row["step"], row[name]) for row in rows if row.get(name) is not None]
        if not pairs and rows:
            names = sorted({key for row in rows for key in row})
            near = difflib.get_close_matches(name, names, 3, 0.5)
            raise HoneError(f"{self.folder} has no metric {name!r}; it has {', '.join(near or names)}")
        return pairs

    def trees(self, step=None, task=None):
        """What is stored of the trees: dictionaries with id, step, task, nodes, leaves, tokens, mean_reward."""
        import sqlite3  # here, because tools and rewards start faster without it

        store = self.folder / "store.sqlite"
        if not store.is_file():
            return []
        where, values = ["1"], []
        for column, value in (("step", step), ("task", task)):
            if value is not None:
                where.append(f"trees.{column} = ?")
                values.append(value)
        with sqlite3.connect(f"{store.resolve().as_uri()}?mode=ro", uri=True) as connection:
            connection.row_factory = sqlite3.Row
            rows = connection.execute(
                "SELECT id, step, task, nodes, leaves, tokens, mean_reward FROM trees "
                f"LEFT JOIN scores ON scores.tree = trees.id WHERE {' AND '.join(where)} ORDER BY id", values)
            return [dict(row) for row in rows]

    def tree(self, number):
        """One tree with its scores and advantages (docs/formats/tree.md), read by the program `hone`."""
        import subprocess

        command = [_binary(), "show", str(self.folder), str(number), "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise HoneError(done.stderr.strip() or f"{' '.join(command)} ended with {done.returncode}")
        return json.loads(done.stdout)

    def trajectories(self, step=None, task=None):
        """The trajectories of the stored trees, one by one, each with its `score` (None: not scored)."""
        for summary in self.trees(step, task):
            tree = self.tree(summary["id"])
            scores = {score["leaf"]: score["terms"] for score in tree.get("scores") or []}
            for number in range(len(tree["leaves"])):
                trajectory = Trajectory(tree, number, step=summary["step"])
                terms = scores.get(number)
                trajectory.terms = terms or []
                given = [term["value"] * term.get("weight", 1.0) for term in trajectory.terms
                         if term["value"] is not None]
                trajectory.score = sum(given) if given else None
                yield trajectory

    def __repr__(self):
        return f"<hone.Run {str(self.folder)!r}>"
