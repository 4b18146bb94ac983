"""An MCP server on stdio that misbehaves when told to.

    scripted_server.py [MODE]

MODE says how it begins: nothing (well), "version=X" (answers initialize with version X), "stateless"
(knows only version 2026-07-28), "silent" (never answers), "chatty" (prints lines that are no
messages), "exits" (complains and ends at once), "dies-after-handshake", "pages", "loop" (a list
that never ends), "bad-list". After that the name of the tool that is called says what happens.
"""
import json
import os
import signal
import sys

mode = sys.argv[1] if len(sys.argv) > 1 else ""
seen = []  # every message that came in
held = []  # calls that wait for the next one


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def answer(request_id, result):
    send({"jsonrpc": "2.0", "id": request_id, "result": result})


def say(request_id, text, **more):
    answer(request_id, {"content": [{"type": "text", "text": text}], **more})


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    message = json.loads(line)
    seen.append(message)
    return message


def tool(name, **more):
    return {"name": name, "inputSchema": {"type": "object"}, **more}


TOOLS = ["echo", "garbage", "half", "never", "wrong-id", "twice", "hold", "huge", "ping", "roots",
         "changed", "malformed", "error", "invalid", "is-error", "die", "seen", "pid", "count",
         "deaf", "env", "number"]
TASKS = ["task", "endless-task"]  # these run as tasks only


def list_tools(request_id, params):
    if mode == "pages":
        page = int(params.get("cursor", "0"))
        result = {"tools": [tool(TOOLS[page])]}
        if page + 1 < len(TOOLS):
            result["nextCursor"] = str(page + 1)
    elif mode == "loop":
        result = {"tools": [], "nextCursor": "again"}
    elif mode == "bad-list":
        result = {"tools": [{"name": "x"}]}
    else:
        result = {"tools": [tool(name) for name in TOOLS] +
                  [tool(name, execution={"taskSupport": "required"}) for name in TASKS]}
    if mode == "stateless":
        result.update(resultType="complete", ttlMs=0, cacheScope="private")
    answer(request_id, result)


def call(request_id, params):
    name, arguments = params["name"], params.get("arguments", {})
    if name == "echo":
        for waiting in held:  # what was asked before, too late
            say(waiting, "late")
        held.clear()
        say(request_id, arguments.get("text", ""), **arguments.get("more", {}))
    elif name == "garbage":
        print("Listening on port 5", flush=True)
        print('{"jsonrpc": "1.0"}\n[]\n\n{"jsonrpc":"2.0","id":{}}', flush=True)
        say(request_id, "after garbage")
    elif name == "half":
        sys.stdout.write('{"jsonrpc": "2.0", "id": %d, "resu' % request_id)
        sys.stdout.flush()
        print("half a line and gone", file=sys.stderr, flush=True)
        os._exit(7)
    elif name == "die":
        os._exit(9)
    elif name == "wrong-id":
        for other in (request_id + 1000, str(request_id), "x"):
            say(other, "not yours")
        say(request_id, "yours")
    elif name == "twice":
        say(request_id, "first")
        say(request_id, "second")
    elif name == "hold":
        held.append(request_id)
    elif name == "huge":
        say(request_id, "x" * arguments["bytes"])
    elif name in ("ping", "roots"):
        method = "ping" if name == "ping" else "roots/list"
        send({"jsonrpc": "2.0", "id": "of the server", "method": method})
        say(request_id, json.dumps(receive()))
    elif name == "changed":
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        send({"jsonrpc": "2.0", "method": "notifications/message",
              "params": {"level": "info", "data": "hello"}})
        send({"jsonrpc": "2.0", "method": "notifications/progress",
              "params": {"progressToken": 1, "progress": 0.5}})
        say(request_id, "changed")
    elif name == "malformed":
        send({"jsonrpc": "2.0", "id": request_id})
    elif name == "error":
        send({"jsonrpc": "2.0", "id": request_id, "error": {"code": -32603, "message": "broken"}})
    elif name == "invalid":
        send({"jsonrpc": "2.0", "id": request_id,
              "error": {"code": -32602, "message": "no such city"}})
    elif name == "is-error":
        say(request_id, "no such file", isError=True)
    elif name in TASKS and "task" in params:
        answer(request_id, {"task": {"taskId": name, "status": "working", "ttl": None,
                                     "createdAt": "x", "lastUpdatedAt": "x"}})
    elif name == "number":
        answer(request_id, 5)
    elif name == "seen":
        say(request_id, json.dumps(seen[:-1]))
    elif name == "pid":
        say(request_id, str(os.getpid()))
    elif name == "count":
        say(request_id, str(sum(m["method"] == "tools/call" for m in seen if "method" in m)))
    elif name == "env":
        say(request_id, json.dumps(dict(os.environ)))
    elif name == "deaf":
        say(request_id, "I stop reading")
        signal.pause()


if mode == "exits":
    print("the key tok-12345 is wrong", file=sys.stderr)
    sys.exit(3)
if mode == "chatty":
    print("Welcome to the server!", flush=True)

while True:
    message = receive()
    method, request_id = message.get("method"), message.get("id")
    if mode == "silent" or request_id is None:
        continue
    if method == "initialize":
        if mode == "stateless":
            send({"jsonrpc": "2.0", "id": request_id,
                  "error": {"code": -32601, "message": "no initialize here"}})
            continue
        version = mode[8:] if mode.startswith("version=") else message["params"]["protocolVersion"]
        answer(request_id, {"protocolVersion": version, "capabilities": {"tools": {}},
                            "serverInfo": {"name": "scripted", "version": "1"}})
        if mode == "dies-after-handshake":
            sys.exit(4)
    elif method == "server/discover" and mode == "stateless":
        answer(request_id, {"resultType": "complete", "supportedVersions": ["2026-07-28"],
                            "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"})
    elif method == "tools/list":
        list_tools(request_id, message.get("params", {}))
    elif method == "tools/call":
        call(request_id, message["params"])
    elif method == "tasks/result":
        if message["params"]["taskId"] == "task":
            say(request_id, "done")
    else:
        send({"jsonrpc": "2.0", "id": request_id,
              "error": {"code": -32601, "message": "no method " + str(method)}})
