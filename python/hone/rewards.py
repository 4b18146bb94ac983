"""Functions as rewards: what they see of a trajectory, and what they may return."""
import functools
import inspect
import json
import math

from . import channel


class _Record(dict):
    """A part of a tree as Hone writes it; its keys can also be read as attributes."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no {name!r}; it has {', '.join(sorted(self))}") from None


class Task(_Record):
    """The task: `id`, `messages`, `answer`, `reward` (its labels), `metadata`, `tools`."""

    @property
    def prompt(self):
        """What the user says first."""
        said = [one for one in self.get("messages") or [] if one.get("role") == "user"]
        return said[0].get("content", "") if said else self.get("prompt", "")

    @property
    def answer(self):
        return self.get("answer")

    @property
    def metadata(self):
        return self.get("metadata") or {}

    @property
    def reward(self):
        return self.get("reward") or {}

    @property
    def calls(self):
        """The gold calls: dictionaries with `name` and `arguments`."""
        labels = self.reward
        return labels.get("calls", []) if isinstance(labels, dict) else []


class Call(_Record):
    """A call that the agent made: `name`, `arguments`, `node`, `span`, and what came of it."""

    @property
    def result(self):
        """What came back: `status`, `content`, `latency_us`, ...; None: nothing did."""
        return self.get("result")

    @property
    def status(self):
        return self.result.get("status", "ok") if self.result else None

    @property
    def ok(self):
        return self.status == "ok"

    @property
    def content(self):
        """The text that the agent read."""
        return self.result.get("content", "") if self.result else ""

    @property
    def value(self):
        """The content as JSON, or as it is where it is none."""
        try:
            return json.loads(self.content)
        except ValueError:
            return self.content


class Trajectory:
    """One trajectory with its task.

    task, step (of training), leaf (its number in the tree), tree (the whole record, docs/formats/tree.md),
    answer (None: it gave none), verdict (the environment's; None: it has none), final_state, ending, blame,
    calls, faults, turns (of the agent), tokens (that it wrote).
    """

    def __init__(self, tree, number, task=None, step=0):
        self.tree, self.leaf, self.step = tree, number, step
        self.task = Task(tree["task"]) if task is None else task
        leaf = tree["leaves"][number]
        self.ending, self.blame = leaf["ending"], leaf.get("blame", "none")
        self.final_state = leaf.get("final_state") or {}
        self.answer, self.verdict = self.final_state.get("answer"), self.final_state.get("verdict")

    @functools.cached_property
    def nodes(self):
        """The numbers of the nodes on its path, the first one first; folded segments included."""
        nodes, node = [], self.tree["leaves"][self.leaf]["node"]
        while node >= 0:
            nodes.append(node)
            one = self.tree["nodes"][node]
            node = one.get("parent", -1)
            if node < 0:
                node = one.get("folded_from", -1)
        return nodes[::-1]

    @functools.cached_property
    def calls(self):
        made = []
        for node in self.nodes:
            one = self.tree["nodes"][node]
            if one["author"] == "policy":
                turn = [Call(call, node=node) for call in one.get("calls", [])]
                made += turn
            for result in one.get("results", []):
                turn[result["call"]]["result"] = result
        return made

    @property
    def faults(self):
        """What could not be read of what the agent wrote."""
        return [fault for node in self.nodes for fault in self.tree["nodes"][node].get("faults", [])]

    @property
    def turns(self):
        return sum(self.tree["nodes"][node]["author"] == "policy" for node in self.nodes)

    @property
    def tokens(self):
        return sum(len(self.tree["nodes"][node].get("tokens", [])) for node in self.nodes
                   if self.tree["nodes"][node]["author"] == "policy")

    def __repr__(self):
        return f"<hone.Trajectory of {self.task.get('id')!r}: {self.ending}, answer {self.answer!r}>"


class Term:
    """One named part of a reward, placed where it was earned: on a call, or on the whole trajectory."""

    def __init__(self, name, value, call=None, weight=1.0):
        self.name, self.value, self.call, self.weight = name, value, call, weight

    def to_json(self):
        term = {"name": self.name, "value": _number(self.value, self.name)}
        if self.weight != 1.0:
            term["weight"] = self.weight
        if self.call is not None:
            term.update(node=self.call["node"], span=self.call["span"])
        return term


class Reward:
    """One function that scores; `term` is the name of what it gives, None: Hone's choice."""

    def __init__(self, function, term, group):
        self.function, self.term, self.group = function, term, group
        wanted = [one for one in inspect.signature(function).parameters.values()
                  if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
                  and one.default is inspect.Parameter.empty]
        if len(wanted) not in (1, 2):
            raise TypeError(f"@hone.reward: {function.__name__} takes (task, trajectory) or (trajectory)")
        self.with_task = len(wanted) == 2

    def call(self, task, subject):
        return channel.settled(self.function(task, subject) if self.with_task else self.function(subject))


ALL = []


def _add(function, term, group):
    if not callable(function):
        raise TypeError("@hone.reward stands above a function")
    ALL.append(Reward(function, term, group))
    return function


def reward(function=None, *, term=None):
    """Makes a function a reward: `score(task, trajectory)` or `score(trajectory)`.

    It returns a number or a bool, None (not scored, which is not zero), {"term": value}, or a list
    of hone.Term. `term` names a plain number; without it the name is what the recipe says, and where
    a file has several rewards, the function's.
    """
    if function is None:
        return lambda decorated: _add(decorated, term, group=False)
    return _add(function, term, group=False)


def group_reward(function=None, *, term=None):
    """As reward, for all trajectories of a task at once: `score(task, trajectories)` returns a list."""
    if function is None:
        return lambda decorated: _add(decorated, term, group=True)
    return _add(function, term, group=True)


def _number(value, name):
    if value is None:
        return None
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
        raise TypeError(f"a reward is a number, a bool, None, a dict or a list of hone.Term, and the term "
                        f"{name!r} is a {type(value).__name__}")
    if not math.isfinite(value):
        raise ValueError(f"the term {name!r} is not a finite number: {value}")
    return float(value)


def _terms(said, name):
    """What a reward returned for one trajectory, as the terms of a score."""
    if isinstance(said, Term):
        said = [said]
    if isinstance(said, dict):
        return [{"name": str(key), "value": _number(value, key)} for key, value in said.items()]
    if isinstance(said, (list, tuple)):
        return [(one if isinstance(one, Term) else Term(name, one)).to_json() for one in said]
    return [{"name": name, "value": _number(said, name)}]


def _failed(name, error):
    return [{"name": name, "value": None, "fault": {"blame": "judge", "message": channel.told(error)}}]


def _terms_of_group(one, name, task, trajectories):
    try:
        said = one.call(task, trajectories)
        if len(said) != len(trajectories):
            raise ValueError(f"{one.function.__name__} gave {len(said)} rewards for {len(trajectories)} trajectories")
        return [_terms(value, name) for value in said]
    except Exception as error:
        return [_failed(name, error)] * len(trajectories)


def _terms_of_each(one, name, task, trajectories):
    terms = []
    for trajectory in trajectories:
        try:
            terms.append(_terms(one.call(task, trajectory), name))
        except Exception as error:
            terms.append(_failed(name, error))
    return terms


def score_tree(tree, step=0, term="outcome"):
    """The scores of a tree by all rewards of this file. An exception is a fault of its leaf alone."""
    task = Task(tree["task"])
    trajectories = [Trajectory(tree, number, task, step) for number in range(len(tree["leaves"]))]
    scores = [{"leaf": number, "terms": []} for number in range(len(trajectories))]
    for one in ALL:
        name = one.term or (term if len(ALL) == 1 else one.function.__name__)
        score = _terms_of_group if one.group else _terms_of_each
        for target, terms in zip(scores, score(one, name, task, trajectories)):
            target["terms"] += terms
    return scores


def answer(request):
    """The reply to one line of Hone."""
    return {"request": request["request"],
            "scores": score_tree(request["tree"], request.get("step", 0), request.get("term", "outcome"))}
