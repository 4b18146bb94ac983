"""Functions and classes as tools that an agent can call."""
import inspect
import random
import types

from . import schema


class ToolError(Exception):
    """What the agent asked for cannot be done, and it reads why: `raise hone.ToolError("no such city")`.

    status: `tool_error`, `denied`, `unavailable` or `timeout`; the last two are not the agent's fault.
    """

    def __init__(self, message, status="tool_error"):
        super().__init__(message)
        self.status = status


class Retry(Exception):
    """Nothing was done; Hone may try again, not before `after_ms`."""

    def __init__(self, message, after_ms=0):
        super().__init__(message)
        self.after_ms = after_ms


class Session(types.SimpleNamespace):
    """What the calls of one trajectory share. Put on it what you like: `session.basket = []`.

    seed: the number that the trajectory's world follows from; random: a generator seeded with it.
    """

    def __init__(self, seed=0):
        super().__init__(seed=int(seed))
        self.random = random.Random(self.seed)

    def get(self, name, default=None):
        """What was put there under this name. A default that was not there is put there."""
        if not hasattr(self, name):
            setattr(self, name, default)
        return getattr(self, name)


class Tool:
    """One tool: its schema, and how it is called."""

    def __init__(self, function, options, owner=None):
        self.function, self.owner = function, owner
        self.session_parameter = None
        hidden = []
        parameters = list(inspect.signature(function).parameters.values())
        if owner is not None:
            hidden.append(parameters[0].name)
        for parameter in parameters:
            if parameter.annotation in (Session, "Session", "hone.Session"):
                self.session_parameter = parameter.name
                hidden.append(parameter.name)
        parameters_schema, self.hints = schema.of_function(function, hidden)
        self.name = options.pop("name", None) or function.__name__
        description = options.pop("description", None) or schema.about(function)
        parameters_schema = options.pop("parameters", None) or parameters_schema
        self.schema = {"name": self.name, "description": description, "parameters": parameters_schema}
        extra = {name: value for name, value in options.items() if value is not None}
        returned = self.hints.get("return")
        if "output" not in extra and returned not in (None, type(None)):
            output = schema.of_type(returned)
            if output:
                extra["output"] = output
        if self.stateful:
            # Its effects stay in the session, which can be built again.
            extra.setdefault("effect", "writes")
            extra.setdefault("resource", "session")
        if extra:
            self.schema["x-hone"] = extra

    @property
    def stateful(self):
        return self.owner is not None or self.session_parameter is not None

    def call(self, arguments, session):
        """`session` is a SessionState; None: the tool has no state."""
        given = {name: schema.to_python(self.hints.get(name), value) for name, value in arguments.items()}
        if self.session_parameter:
            given[self.session_parameter] = session.session
        if self.owner is not None:
            return self.function(session.instance(self.owner), **given)
        return self.function(**given)


class SessionState:
    """The state of one trajectory: its session, and one object of each class of tools."""

    def __init__(self, seed):
        self.session = Session(seed)
        self._instances = {}

    def instance(self, owner):
        if owner not in self._instances:
            wanted = inspect.signature(owner).parameters if owner.__init__ is not object.__init__ else ()
            self._instances[owner] = owner(self.session) if wanted else owner()
        return self._instances[owner]


ALL = {}  # by name, in the order in which they were defined
RESET = None

_OPTIONS = ("name", "description", "parameters", "output", "effect", "resource", "computable", "price",
            "typical_latency_ms")


def _add(one):
    if one.name in ALL:
        raise ValueError(f"there are two tools {one.name!r}; give one another name: @hone.tool(name=...)")
    ALL[one.name] = one


def tool(function=None, **options):
    """Makes a function a tool. Its name, description and schema come from the function itself.

    In a class under `@hone.tools`, it marks the methods that are tools. A parameter with the type
    hint `hone.Session` is not the agent's: it holds what the calls of one trajectory share.

    Options: name, description, parameters (a JSON schema), output (likewise), effect (`pure`,
    `reads`, `writes`, `irreversible`), resource, computable, price, typical_latency_ms.
    """
    unknown = sorted(set(options) - set(_OPTIONS))
    if unknown:
        raise TypeError(f"@hone.tool has no option {unknown[0]!r}; it has {', '.join(_OPTIONS)}")
    if function is None:
        return lambda decorated: tool(decorated, **options)
    if not callable(function):
        raise TypeError("@hone.tool stands above a function")
    function.hone_tool = options
    if _is_method(function):
        return function  # its class will add it
    _add(Tool(function, dict(options)))
    return function


def _is_method(function):
    """Whether it is written in the body of a class: the class is not there yet to be asked."""
    scope = function.__qualname__.rpartition(".")[0]
    return bool(scope) and not scope.endswith("<locals>")


def tools(owner):
    """Makes a class a set of tools with state: each trajectory has an object of its own.

    The methods under `@hone.tool` are the tools; without any, all public methods are. The class is
    called with the hone.Session if its constructor takes an argument.
    """
    if not inspect.isclass(owner):
        raise TypeError("@hone.tools stands above a class; a function wants @hone.tool")
    methods = {name: member for name, member in vars(owner).items() if inspect.isfunction(member)}
    marked = {name: member for name, member in methods.items() if hasattr(member, "hone_tool")}
    chosen = marked or {name: member for name, member in methods.items() if not name.startswith("_")}
    if not chosen:
        raise TypeError(f"@hone.tools: {owner.__name__} has no methods that could be tools")
    for member in chosen.values():
        _add(Tool(member, dict(getattr(member, "hone_tool", {})), owner))
    return owner


def reset(function):
    """Marks the function that puts the global state of the tools back to the beginning.

    It is called before each trajectory, with the trajectory's seed if it takes an argument. Each
    trajectory then has the process to itself, one after the other (`processes` in the recipe: so
    many at a time). State in a class under `@hone.tools` needs none of this.
    """
    global RESET
    if RESET is not None:
        raise ValueError("a file has one @hone.reset")
    RESET = function
    return function


def call_reset(seed):
    return RESET(int(seed)) if inspect.signature(RESET).parameters else RESET()
