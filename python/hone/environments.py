"""Classes as environments: what they are told, and what they may return."""
import copy
import inspect
import itertools

from . import channel
from .rewards import Call, Task


class Action:
    """One turn of the agent: `answer` (None: it said nothing to the user), `calls`, `tokens`.

    The calls are hone.Call objects with their results: Hone carried them out before the step.
    """

    def __init__(self, turn):
        self.answer, self.tokens = turn.get("answer"), turn.get("tokens", 0)
        self.calls = [Call(call) for call in turn.get("calls") or []]
        self.results = turn.get("results") or []
        for result in self.results:
            if result.get("call", -1) < len(self.calls):
                self.calls[result["call"]]["result"] = result

    def __repr__(self):
        return f"<hone.Action: answer {self.answer!r}, {len(self.calls)} calls>"


class Opening:
    """What the agent sees first: messages (or one text), and other tools than the recipe's."""

    def __init__(self, messages=None, tools=None):
        self.messages, self.tools = messages, tools


FACTORY = None  # what makes an environment; one per file


def environment(factory):
    """Makes a class (or a function that returns an object) an environment. Every episode has an object.

    reset(task) or reset(task, seed) returns what the agent sees first: a text (the user's), a list
    of messages, a hone.Opening, or None for the task's own messages.

    step(action) returns what happens next: None; a text (the user's reply); or a dict with any of
    `reply`, `notices`, `done`, `reward` (from 0 to 1, or a bool), `state` (further facts about how
    things stand), and the keys of Hone's own protocol (docs/environments.md).

    Optional: close(), clone() (copy.deepcopy unless it is there), resume(results).
    """
    global FACTORY
    if FACTORY is not None:
        raise ValueError("a file has one @hone.environment")
    for name in ("reset", "step") if inspect.isclass(factory) else ():
        if not callable(getattr(factory, name, None)):
            raise TypeError(f"@hone.environment: {factory.__name__} has no method {name}")
    FACTORY = factory
    return factory


class _Episode:
    def __init__(self, task, seed):
        self.world = FACTORY()
        self.state = {"answer": None}
        wanted = inspect.signature(self.world.reset).parameters
        said = self.world.reset(*((task, seed) if len(wanted) > 1 else (task,)))
        self.opening = _opening(channel.settled(said))

    def turn(self, said, answer):
        """What a step returned, as a reply of the protocol."""
        reply = {} if said is None else {"user": said} if isinstance(said, str) else said
        if not isinstance(reply, dict):
            raise TypeError(f"step returned a {type(said).__name__}; it may return None, a text, or a dict")
        reply = dict(reply)
        if answer is not None:
            self.state["answer"] = answer
        self.state.update(reply.pop("state", {}))
        self.state.update(reply.pop("final_state", {}))
        if "reply" in reply:
            reply["user"] = reply.pop("reply") or ""
        reward = reply.pop("reward", None)
        if reward is not None:
            self.state["verdict"] = _verdict(reward)
        if reply.pop("done", False):
            reply.setdefault("ending", "answered" if answer is not None else "user_stop")
        reply["final_state"] = self.state
        return reply


def _verdict(reward):
    reward = reward if isinstance(reward, bool) else float(reward)
    if not 0 <= reward <= 1:
        raise ValueError(f"the reward of an environment is from 0 to 1, and this is {reward}; scale it, or put "
                         "it under `state` and let a @hone.reward read trajectory.final_state")
    # All or nothing is a verdict that counts as success or failure.
    return bool(reward) if reward in (0, 1) else reward


def _opening(said):
    if isinstance(said, dict):
        said = Opening(said.get("messages"), said.get("tools"))
    if not isinstance(said, Opening):
        said = Opening(said)
    if isinstance(said.messages, str):
        said.messages = [{"role": "user", "content": said.messages}]
    reply = {"messages": said.messages, "tools": said.tools}
    return {name: value for name, value in reply.items() if value is not None}


class Episodes:
    """All episodes of this process, and the replies to Hone's lines about them."""

    def __init__(self):
        self._episodes, self._numbers = {}, itertools.count(1)

    def _keep(self, episode):
        number = str(next(self._numbers))
        self._episodes[number] = episode
        return number

    def answer(self, request):
        try:
            return getattr(self, "_" + request["method"])(request)
        except Exception as error:
            return {"error": channel.told(error)}

    def _reset(self, request):
        episode = _Episode(Task(request["task"]), request["seed"])
        return {"episode": self._keep(episode), **episode.opening}

    def _step(self, request):
        episode, action = self._episodes[request["episode"]], Action(request["turn"])
        return episode.turn(channel.settled(episode.world.step(action)), action.answer)

    def _resume(self, request):
        episode = self._episodes[request["episode"]]
        return episode.turn(channel.settled(episode.world.resume(request["results"])), None)

    def _clone(self, request):
        episode = self._episodes[request["episode"]]
        twin = copy.copy(episode)
        own = getattr(episode.world, "clone", None)
        twin.world = channel.settled(own()) if own else copy.deepcopy(episode.world)
        twin.state = copy.deepcopy(episode.state)
        return {"episode": self._keep(twin)}

    def _close(self, request):
        episode = self._episodes.pop(request["episode"], None)
        close = getattr(episode.world, "close", None) if episode else None
        if close:
            channel.settled(close())
        return {}
