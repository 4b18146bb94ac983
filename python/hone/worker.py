"""`hone.run()`: the loop that answers Hone's lines."""
import json
import sys

from . import channel, environments, rewards, toolkit


def run():
    """Answers Hone's lines until it closes its end; the last line of a file.

    Which protocol is spoken follows from what the file defines: tools, rewards or an environment. A
    file may have several; Hone says which of them it wants.
    """
    role = channel.ROLE or _only_role()
    serve = {"tools": _serve_tools, "reward": _serve_rewards, "environment": _serve_environment}.get(role)
    defined = _defined()
    if serve is None or role not in defined:
        wanted = {"tools": "@hone.tool", "reward": "@hone.reward", "environment": "@hone.environment"}
        raise SystemExit(f"hone.run: the recipe uses {sys.argv[0] or 'this file'} as {role or 'something else'}, "
                         f"and it has no {wanted.get(role, role)}")
    channel.claim(always=True)
    try:
        serve()
    except (BrokenPipeError, KeyboardInterrupt):
        pass  # Hone is gone, and nobody waits for an answer


def _defined():
    found = {"tools": toolkit.ALL, "reward": rewards.ALL, "environment": environments.FACTORY}
    return [role for role, there in found.items() if there]


def _only_role():
    defined = _defined()
    if len(defined) == 1:
        return defined[0]
    if not defined:
        raise SystemExit("hone.run: the file defines nothing; put @hone.tool, @hone.reward or @hone.environment "
                         "above a function or a class")
    raise SystemExit(f"hone.run: the file has {' and '.join(defined)}; set HONE_ROLE to one of them")


def _serve_tools():
    stateful = any(one.stateful for one in toolkit.ALL.values())
    announced = {"tools": [one.schema for one in toolkit.ALL.values()]}
    if stateful:
        announced["sessions"] = "many"
    if toolkit.RESET is not None:
        announced["reset"] = True
    channel.send(announced)
    sessions = {}
    for line in channel.lines():
        call = json.loads(line)
        if call.get("method") == "close":
            sessions.pop(call.get("episode"), None)
            continue
        if call.get("method") == "reset":
            sessions.clear()
            _send(_reset(call), call)
            continue
        state = _session_of(call, sessions) if stateful else None
        _send(_call(call, state), call)


def _session_of(call, sessions):
    key = call.get("episode", call.get("session"))
    if key not in sessions:
        sessions[key] = toolkit.SessionState(call.get("session") or 0)
    return sessions[key]


def _call(call, state):
    reply = {"id": call["id"]}
    try:
        one = toolkit.ALL[call["tool"]]
        reply["result"] = channel.settled(one.call(call["arguments"], state))
    except toolkit.ToolError as error:
        reply.update(error=str(error), status=error.status)
    except toolkit.Retry as error:
        reply.update(error=str(error), retry=True, retry_after_ms=int(error.after_ms))
    except Exception as error:
        reply.update(error=channel.told(error), status="unavailable")
    return reply


def _reset(call):
    try:
        if toolkit.RESET is not None:
            channel.settled(toolkit.call_reset(call.get("session") or 0))
        return {"id": call["id"], "result": None}
    except Exception as error:
        return {"id": call["id"], "error": channel.told(error), "status": "unavailable"}


def _send(reply, call):
    try:
        channel.send(reply)
    except (TypeError, ValueError) as error:  # what it returned is no JSON
        channel.send({"id": call["id"], "error": channel.told(error), "status": "unavailable"})


def _serve_rewards():
    for line in channel.lines():
        channel.send(rewards.answer(json.loads(line)))


def _serve_environment():
    episodes = environments.Episodes()
    for line in channel.lines():
        reply = episodes.answer(json.loads(line))
        try:
            channel.send(reply)
        except (TypeError, ValueError) as error:
            channel.send({"error": channel.told(error)})
