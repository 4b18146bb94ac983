"""An OpenEnv server in Python's standard library, from the protocol's published schema: guess a number.

    openenv_server.py [MAX_SESSIONS]

Prints its port. Over the WebSocket /ws each connection has an environment of its own, as OpenEnv's servers have it; over
HTTP (/reset, /step, /state) there is one. /schema says what an action is. An action is {"message": TEXT}.
"""
import base64
import hashlib
import http.server
import json
import struct
import sys
import threading

MOST = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
TEXT = {"type": "string"}
SCHEMA = {
    "action": {"type": "object", "additionalProperties": False, "required": ["message"],
               "properties": {"metadata": {"type": "object"}, "message": {"type": "string", "minLength": 1}}},
    "observation": {"type": "object", "properties": {"echo": TEXT, "tries": {"type": "integer"}}},
    "state": {"type": "object", "properties": {"episode_id": TEXT, "step_count": {"type": "integer"}}},
}


class Guess:
    def __init__(self):
        self.reset()

    def reset(self, seed=0, number=None, **_):
        self.number, self.tries = (seed % 10 if number is None else number), 0
        return self.observation("I think of a number from 0 to 9.", None, False)

    def step(self, action):
        message = action["message"]
        if message == "break":
            raise RuntimeError("the world broke")
        self.tries += 1
        right = message == str(self.number)
        return self.observation("Right." if right else "No.", 1.0 if right else 0.0, right or self.tries == 5)

    def observation(self, echo, reward, done):
        return {"observation": {"echo": echo, "tries": self.tries}, "reward": reward, "done": done}

    def state(self):
        return {"episode_id": None, "step_count": self.tries}


def problem(action):
    if not isinstance(action, dict) or set(action) - {"message", "metadata"} or not action.get("message"):
        return [{"loc": ["message"], "msg": "a text is wanted"}]
    return None


shared, sessions, lock = Guess(), [0], threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, value, status=200):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/ws" and self.headers.get("Upgrade") == "websocket":
            return self.upgrade()
        pages = {"/schema": SCHEMA, "/state": shared.state(), "/health": {"status": "healthy"}}
        return self.reply(pages[self.path]) if self.path in pages else self.reply({"detail": "Not Found"}, 404)

    def do_POST(self):
        given = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if self.path == "/reset":
            return self.reply(shared.reset(**given))
        if self.path != "/step":
            return self.reply({"detail": "Not Found"}, 404)
        wrong = problem(given.get("action"))
        return self.reply({"detail": wrong}, 422) if wrong else self.reply(shared.step(given["action"]))

    def upgrade(self):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        for name, value in (("Upgrade", "websocket"), ("Connection", "Upgrade"),
                            ("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())):
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        with lock:
            sessions[0] += 1
            room = sessions[0] <= MOST
        try:
            if room:
                self.talk(Guess())
            else:
                self.say("error", {"message": "Server at capacity", "code": "CAPACITY_REACHED"})
                self.frame(8, struct.pack(">H", 1000))
        finally:
            with lock:
                sessions[0] -= 1

    def talk(self, world):
        while True:
            opcode, text = self.read()
            if opcode == 8:
                return
            message = json.loads(text)
            kind, data = message.get("type"), message.get("data", {})
            try:
                if kind == "reset":
                    self.say("observation", world.reset(**data))
                elif kind == "state":
                    self.say("state", world.state())
                elif kind == "close":
                    return
                elif problem(data):
                    self.say("error", {"message": "Invalid message", "code": "VALIDATION_ERROR", "errors": problem(data)})
                else:
                    self.say("observation", world.step(data))
            except RuntimeError as error:
                self.say("error", {"message": str(error), "code": "EXECUTION_ERROR"})

    def say(self, kind, data):
        self.frame(1, json.dumps({"type": kind, "data": data}).encode())

    def frame(self, opcode, payload):
        size = len(payload)
        length = bytes([size]) if size < 126 else bytes([126]) + struct.pack(">H", size)
        self.wfile.write(bytes([0x80 | opcode]) + length + payload)
        self.wfile.flush()

    def read(self):
        head = self.rfile.read(2)
        if len(head) < 2:
            return 8, b""
        size = head[1] & 127
        if size == 126:
            size, = struct.unpack(">H", self.rfile.read(2))
        mask = self.rfile.read(4)
        return head[0] & 15, bytes(byte ^ mask[i % 4] for i, byte in enumerate(self.rfile.read(size)))


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128


server = Server(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
