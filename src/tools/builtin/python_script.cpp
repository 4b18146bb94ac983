#include "tools/builtin/python_script.h"

namespace hone {

const char* const kPythonScript = R"python(
import _socket, ast, builtins, ctypes, gc, json, linecache, math, os, random, resource, signal, sys
import time, traceback, types

# The code may take builtins away; a module's own names come first.
compile, eval, exec, isinstance, len, repr, type = (
    builtins.compile, builtins.eval, builtins.exec, builtins.isinstance, builtins.len,
    builtins.repr, builtins.type)

CONTROL = 3
settings = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 1, 4, 22, 2


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_void_p)]


def prctl(option, first, second=0):
    if libc.prctl(option, first, second, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


# --- the interpreter: a child that runs the agent's code and is never trusted again ---

def confine(parent):
    prctl(PR_SET_DUMPABLE, 1)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if os.getppid() != parent:
        os._exit(1)
    if settings["cpu_seconds"]:
        resource.setrlimit(resource.RLIMIT_CPU, (settings["cpu_seconds"],) * 2)
    if settings["max_tasks"]:
        resource.setrlimit(resource.RLIMIT_NPROC, (settings["max_tasks"],) * 2)
    program = bytes.fromhex(settings["filter"])
    if program:
        own = os.getpid().to_bytes(4, sys.byteorder)
        program = program.replace(settings["own_process"].to_bytes(4, sys.byteorder), own)
        memory = ctypes.create_string_buffer(program, len(program))
        filter = Filter(len(program) // 8, ctypes.addressof(memory))
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(filter))


def answer(kind, text):
    if len(text) > settings["max_output_bytes"]:
        return {"long": True}
    return {kind: text.encode("utf-8", "backslashreplace").decode("utf-8")}


def traceback_of(error):
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code is run.__code__:
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames))


def run(code, name, scope):
    """{"value"} or {"raised"} of a cell, as a console would have it."""
    code += "" if code.endswith("\n") else "\n"
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    try:
        body = compile(code, name, "exec", ast.PyCF_ONLY_AST, True)
        last = body.body.pop() if body.body and isinstance(body.body[-1], ast.Expr) else None
        exec(compile(body, name, "exec", 0, True), scope)
        value = None
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval", 0, True), scope)
            scope["_"] = value
        return {} if value is None else answer("value", repr(value))
    except SystemExit as error:
        return {} if error.code in (None, 0) else answer("raised", f"SystemExit: {error}\n")
    except BaseException as error:
        try:
            return answer("raised", traceback_of(error))
        except BaseException:
            return {"raised": type(error).__name__ + "\n"}


def flush():
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()
        except BaseException:
            pass


def serve(conversation):
    """Answers requests until the other side is gone. Keeps hold of what it needs, since the code
    may take apart every module."""
    loads, dumps, read, write = json.loads, json.dumps, os.read, os.write
    seed, text, finish = random.seed, str, os._exit
    module = types.ModuleType("__main__")
    module.__builtins__ = builtins
    sys.modules["__main__"] = module
    cells, unread = 0, b""
    while True:
        while b"\n" not in unread:
            more = read(conversation, 1 << 16)
            if not more:
                finish(0)
            unread += more
        line, unread = unread.split(b"\n", 1)
        request = loads(line)
        cells += 1
        if cells == 1:
            seed(request["seed"])
        reply = run(request["code"], "<call " + text(cells) + ">", module.__dict__)
        flush()
        reply["nonce"] = request["nonce"]
        line = dumps(reply).encode() + b"\n"
        while line:
            line = line[write(conversation, line):]


def interpret(parent, descriptors):
    control.detach()
    conversation, output, error = descriptors
    os.dup2(output, 1)
    os.dup2(error, 2)
    os.dup2(conversation, CONTROL, inheritable=False)
    os.closerange(CONTROL + 1, 1 << 10)
    for number, stream in ((1, "stdout"), (2, "stderr")):
        opened = open(number, "w", buffering=1 if number == 2 else -1, encoding="utf-8",
                      errors="backslashreplace", newline="", closefd=False)
        setattr(sys, stream, opened)
        setattr(sys, "__" + stream + "__", opened)
    sys.argv[:] = [""]
    sys.path.insert(0, "")
    os.chdir(settings["directory"])
    confine(parent)
    serve(CONTROL)


# --- the supervisor: runs nothing of the agent's ---

child = 0


def end_child(patience):
    """How the child ended; it is killed when it does not end by itself within `patience` s."""
    global child
    if not child:
        return {}
    deadline, killed = time.monotonic() + patience, False
    done, status = os.waitpid(child, os.WNOHANG)
    while not done and time.monotonic() < deadline:
        time.sleep(0.001)
        done, status = os.waitpid(child, os.WNOHANG)
    if not done:
        killed = True
        os.kill(child, signal.SIGKILL)
        done, status = os.waitpid(child, 0)
    child = 0
    if os.getpid() == 1 and settings["processes"]:  # what it left behind in this room
        try:
            os.kill(-1, signal.SIGKILL)
            while True:
                os.waitpid(-1, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
    if killed:
        return {"killed": True}
    return {"signal": os.WTERMSIG(status)} if os.WIFSIGNALED(status) else \
        {"exit": os.WEXITSTATUS(status)}


def remove(path):
    """Whether a file, a link or an empty folder could be removed."""
    try:
        os.unlink(path)
        return True
    except (IsADirectoryError, PermissionError):
        pass
    try:
        os.rmdir(path)
        return True
    except OSError:
        pass
    try:
        os.chmod(path, 0o700)
    except OSError:
        pass
    return False


def clear(folder):
    """Empties it. What folders hold is moved up first: so the depth never matters."""
    moved = 0
    left = [f"{folder}/{name}" for name in os.listdir(folder)]
    while left:
        path = left.pop()
        if remove(path):
            continue
        for name in os.listdir(path):
            inner = f"{path}/{name}"
            if not remove(inner):
                moved += 1
                left.append(f"{folder}/.hone-moved-{os.getpid()}-{moved}")
                os.rename(inner, left[-1])
        os.rmdir(path)


# Whoever started us is gone, which a signal says or the end of its messages, whichever is heard first:
# what the code started goes with us. The first process of a namespace takes all with it anyway.
def leave(*_):
    if os.getpid() != 1:
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def supervise():
    global child
    while True:
        message, extra, flags, address = control.recvmsg(64, _socket.CMSG_SPACE(3 * 4))
        if not message:
            leave()
        descriptors = []
        for level, kind, data in extra:
            if kind == _socket.SCM_RIGHTS:
                descriptors = [int.from_bytes(data[i:i + 4], sys.byteorder)
                               for i in range(0, len(data), 4)]
        ended = end_child(0.2 if message == b"end" else 0)
        clear(settings["directory"])
        if message == b"next":
            parent = os.getpid()
            child = os.fork()
            if child == 0:
                try:
                    interpret(parent, descriptors)
                except BaseException:
                    traceback.print_exc()
                    flush()
                finally:
                    os._exit(70)
        for descriptor in descriptors:
            os.close(descriptor)
        control.send(json.dumps(ended).encode())


prctl(PR_SET_DUMPABLE, 0)  # the children cannot look into us
signal.signal(signal.SIGINT, signal.SIG_DFL)
if os.getpid() != 1:
    signal.signal(signal.SIGTERM, leave)
sys.path[:] = [path for path in sys.path if path]
os.chdir("/")
control = _socket.socket(fileno=CONTROL)
control.send(b"{}")
gc.collect()
gc.freeze()
supervise()
)python";

}  // namespace hone
