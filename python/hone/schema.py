"""JSON schemas out of Python functions: signature, type hints and docstring."""
import dataclasses
import enum
import inspect
import re
import types
import typing

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_LISTS = (list, tuple, set, frozenset)
_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))  # the second is of Python 3.10
_MARKS = [getattr(typing, name) for name in ("Required", "NotRequired") if hasattr(typing, name)]  # of 3.11


class Undescribable(TypeError):
    """A function whose arguments no JSON schema can describe."""


def of_type(hint):
    """The JSON schema of a type hint. What is not known is anything: {}."""
    if typing.get_origin(hint) is not None:
        return _of_generic(typing.get_origin(hint), typing.get_args(hint))
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if hint in _LISTS:
        return {"type": "array"}
    if hint is dict:
        return {"type": "object"}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"enum": [member.value for member in hint]}
    if dataclasses.is_dataclass(hint):
        wanted = [f.name for f in dataclasses.fields(hint)
                  if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING]
        return _object(typing.get_type_hints(hint, include_extras=True), wanted)
    if isinstance(hint, type) and hasattr(hint, "__required_keys__"):  # a typed dictionary
        return _object(typing.get_type_hints(hint, include_extras=True), sorted(hint.__required_keys__))
    return {}


def _object(hints, required):
    return {"type": "object", "properties": {name: of_type(hint) for name, hint in hints.items()},
            "required": [name for name in hints if name in required]}


def _of_generic(origin, args):
    if origin is typing.Annotated:
        schema = of_type(args[0])
        for note in args[1:]:
            if isinstance(note, str):
                schema["description"] = note
            elif isinstance(note, dict):  # a piece of schema: {"minimum": 1}
                schema.update(note)
        return schema
    if origin is typing.Literal:
        return {"enum": list(args)}
    if origin in _UNIONS:
        return _of_union([of_type(arg) for arg in args])
    if origin in _MARKS:
        return of_type(args[0])
    if origin is tuple and args and Ellipsis not in args:
        return {"type": "array", "minItems": len(args), "maxItems": len(args)}
    if isinstance(origin, type) and issubclass(origin, (*_LISTS, typing.Sequence)):
        return {"type": "array", "items": of_type(args[0])}
    if isinstance(origin, type) and issubclass(origin, (dict, typing.Mapping)):
        return {"type": "object", "additionalProperties": of_type(args[1])}
    return {}


def _of_union(options):
    if all(list(option) == ["type"] and isinstance(option["type"], str) for option in options):
        return {"type": [option["type"] for option in options]}
    return {"anyOf": options}


def to_python(hint, value):
    """A JSON value as the type hint wants it: enumerations and dataclasses become theirs."""
    if typing.get_origin(hint) is typing.Annotated:
        hint = typing.get_args(hint)[0]
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return hint(value)
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        hints = typing.get_type_hints(hint, include_extras=True)
        return hint(**{name: to_python(hints.get(name), one) for name, one in value.items()})
    if origin in _UNIONS:
        others = [arg for arg in args if arg is not type(None)]
        return to_python(others[0], value) if len(others) == 1 and value is not None else value
    if origin is list and isinstance(value, list):
        return [to_python(args[0], one) for one in value]
    return value


def of_function(function, hidden=()):
    """The parameters of a function as an object's schema, and its type hints by name.

    `hidden` are the names of parameters that are not the agent's.
    """
    hints = _hints(function)
    documented = parameter_docs(function)
    schema = {"type": "object", "properties": {}, "required": []}
    for name, parameter in inspect.signature(function).parameters.items():
        if name in hidden:
            continue
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            schema["additionalProperties"] = True
            continue
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.POSITIONAL_ONLY):
            raise Undescribable(f"{function.__qualname__}: parameter {name!r} has no name that an agent "
                                "could call it by; give every parameter a name")
        one = of_type(hints[name]) if name in hints else {}
        if name in documented:
            one.setdefault("description", documented[name])
        if parameter.default is inspect.Parameter.empty:
            schema["required"].append(name)
        elif isinstance(parameter.default, (str, int, float, bool)):
            one["default"] = parameter.default
        schema["properties"][name] = one
    schema.setdefault("additionalProperties", False)
    return schema, hints


def _hints(function):
    try:
        return typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        raise Undescribable(f"{function.__qualname__}: a type hint names what is not there: {error}") from error


_PARAMETER = re.compile(r"^\s*(?::param\s+)?(\w+)\s*(?:\([^)]*\))?\s*:\s*(\S.*)$")
_HEADING = re.compile(r"^\s*(Args|Arguments|Parameters|Returns|Raises|Example|Examples)\s*:\s*$")


def _read_doc(function):
    """What the docstring says of the function, and of each parameter (`name: what it is`)."""
    names = set(inspect.signature(function).parameters)
    about, parameters, current = [], {}, None
    in_about = True
    for line in (inspect.getdoc(function) or "").splitlines():
        found = _PARAMETER.match(line)
        if found and found.group(1) in names:
            current, in_about = found.group(1), False
            parameters[current] = found.group(2).strip()
        elif _HEADING.match(line) or line.lstrip().startswith(":"):
            current, in_about = None, False
        elif in_about:
            about.append(line)
        elif current and line.startswith((" ", "\t")) and line.strip():
            parameters[current] += " " + line.strip()
        else:
            current = None
    return " ".join(" ".join(about).split()), parameters


def about(function):
    """What the docstring says before it comes to the parameters, on one line."""
    return _read_doc(function)[0]


def parameter_docs(function):
    return _read_doc(function)[1]
