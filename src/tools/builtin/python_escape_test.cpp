// What an agent's code might try. Each attempt must be contained, typed as the agent's own fault
// where it fails, leave no process behind, and leave the tool serving others as if nothing had
// been.

#include <cstdlib>

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/descriptor.h"
#include "support/confinement.h"
#include "tools/builtin/python_tool.h"

namespace hone {
namespace {

class PythonEscapeTest : public ConfinementTest {
 protected:
  void SetUp() override {
    ConfinementTest::SetUp();
    if (IsSkipped()) return;
    options_.isolation = method();
    options_.workers = 1;
    options_.timeout_ms = 20000;  // sanitizers are slow; those who wait for it set it
    options_.memory_mb = 256;
    options_.scratch_mb = 4;
  }
  void TearDown() override {
    if (IsSkipped()) return;
    EXPECT_EQ(Call("6 * 7"), Answered("42")) << "the tool is no longer healthy";
    EXPECT_EQ(Call("import os; os.listdir()"), Answered("[]"));
  }
  ToolReply Call(std::string code) {
    if (toolkit_ == nullptr) {
      auto toolkit = NewPythonToolkit(options_);
      CHECK(toolkit.ok(), toolkit.error().message());
      toolkit_ = *toolkit;
    }
    return toolkit_->Call("python", Json::Of({{"code", std::move(code)}}), nullptr, {});
  }
  // The attempt fails, and the reply says it was the agent's and contains `why`.
  void Contained(const std::string& code, const std::string& why) {
    const ToolReply reply = Call(code);
    EXPECT_EQ(reply.status, CallStatus::kToolError) << code << "\n" << reply.content;
    EXPECT_EQ(reply.blame, Blame::kAgent) << code;
    EXPECT_NE(reply.content.find(why), std::string::npos) << code << "\n" << reply.content;
  }
  PythonOptions options_;
  std::shared_ptr<Toolkit> toolkit_;
};
HONE_UNDER_EVERY_METHOD(PythonEscapeTest);

// Runs each attempt and prints those that raise no OSError.
std::string Attempts(const std::string& preamble, const std::string& attempts) {
  return preamble + "\nfor attempt in r'''" + attempts + R"('''.strip().splitlines():
    try:
        exec(attempt)
    except OSError:
        continue
    print("went through:", attempt)
)";
}

// A system call by number, raising OSError.
constexpr const char* kSyscall = R"(
import ctypes, os, signal, resource
libc = ctypes.CDLL(None, use_errno=True)
def system_call(name, *arguments):
    result = getattr(libc, name)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result
)";

TEST_P(PythonEscapeTest, ThereIsNoNetwork) {
  // Real listeners, so that it is not for want of an answer.
  const Descriptor tcp(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(::bind(tcp.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(::listen(tcp.get(), 5), 0);
  ::getsockname(tcp.get(), reinterpret_cast<sockaddr*>(&address), &length);
  const Descriptor local(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string abstract = fmt::format("hone-test-{}", ::getpid());
  abstract.copy(name.sun_path + 1, abstract.size());
  ASSERT_EQ(::bind(local.get(), reinterpret_cast<sockaddr*>(&name),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + abstract.size())),
            0);
  EXPECT_EQ(Call(Attempts(fmt::format("import socket\nport, name = {}, '\\0{}'",
                                      ntohs(address.sin_port), abstract),
                          R"(
socket.create_connection(("127.0.0.1", port), 1)
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", port))
socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
socket.socket(socket.AF_INET, socket.SOCK_STREAM).bind(("127.0.0.1", 0))
socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)
socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b"x", name)
socket.socketpair()[0].connect(name)
socket.socketpair()[0].sendto(b"x", name)
socket.getaddrinfo("localhost", 80)[0][4][0].index("unresolved") or socket.create_connection(("localhost", 80))
)")),
            Answered(""));
  pollfd seen[2] = {{tcp.get(), POLLIN, 0}, {local.get(), POLLIN, 0}};
  EXPECT_EQ(::poll(seen, 2, 0), 0);
}

TEST_P(PythonEscapeTest, NothingOutsideCanBeReadOrWrittenOrChanged) {
  const TemporaryDirectory outside;
  namespace fs = std::filesystem;
  const std::string folder = outside.path().string();
  ASSERT_TRUE(WriteFileAtomic(outside.path() / "secret", "hush").ok());
  fs::permissions(outside.path(), fs::perms(0777));
  fs::permissions(outside.path() / "secret", fs::perms(0666));
  // To whoever the code runs as it belongs as well.
  SandboxOptions plain;
  plain.isolation = method();
  if (const auto identity = Sandbox::New(plain)->identity()) {
    ASSERT_EQ(::chown((folder + "/secret").c_str(), identity->user, identity->group), 0);
  }
  EXPECT_EQ(Call(Attempts("import os, shutil, time\nout = '" + folder + "'", R"(
open(out + "/secret").read()
open(out + "/secret", "w")
open(out + "/secret", "a")
open(out + "/new", "w")
os.listdir(out)
os.truncate(out + "/secret", 0)
os.unlink(out + "/secret")
os.rename(out + "/secret", out + "/other")
os.rename(out + "/secret", "mine")
os.link(out + "/secret", "mine")
os.symlink(out + "/secret", "link"); open("link").read()
os.symlink(out, "folder"); os.listdir("folder")
os.symlink(out, "folder2"); open("folder2/new", "w")
os.chmod(out + "/secret", 0)
os.chmod(out, 0)
os.utime(out + "/secret", (1, 1))
os.chown(out + "/secret", 65534, 65534)
os.setxattr(out + "/secret", "user.x", b"y")
os.mkdir(out + "/new")
os.mkfifo(out + "/new")
os.mknod(out + "/new")
os.chdir(out); os.listdir()
os.chroot(out)
os.open(out, os.O_TMPFILE | os.O_RDWR)
shutil.copy(out + "/secret", "copy")
open("/etc/passwd").read()
open("/etc/shadow").read()
os.listdir("/root")
os.listdir("/home")
os.listdir("/var")
open("/usr/new", "w")
open("/usr/bin/python3", "r+b")
os.unlink("/usr/bin/env")
os.chmod("/usr/bin/env", 0o777)
os.mkdir("/new")
open("/dev/shm/new", "w")
open("/var/tmp/new", "w")
open("/dev/mem", "rb")
open("/dev/kmsg", "rb")
open("/proc/sysrq-trigger", "w")
open("/proc/sys/kernel/hostname", "w").write("x")
open("/sys/kernel/uevent_helper", "w")
os.listdir("/sys/class")
)")),
            Answered(""));
  EXPECT_EQ(ReadFile(outside.path() / "secret").value(), "hush");
  EXPECT_EQ(std::distance(fs::directory_iterator(outside.path()), fs::directory_iterator()), 1);
  EXPECT_EQ(fs::status(outside.path() / "secret").permissions(), fs::perms(0666));
}

TEST_P(PythonEscapeTest, OtherProcessesCannotBeSignalledTracedOrLimited) {
  SandboxOptions plain;
  plain.isolation = method();
  const Victim victim(Sandbox::New(plain).value());
  const std::string limits = fmt::format("/proc/{}/limits", victim.pid());
  const std::string before = ReadFile(limits).value();
  EXPECT_EQ(Call(Attempts(std::string(kSyscall) +
                              fmt::format("victim, us = {}, {}", victim.pid(), ::getpid()),
                          R"(
os.kill(victim, 9)
os.kill(us, 9)
os.kill(os.getppid(), 9)
os.kill(-1, 9)
os.kill(0, 9)
os.killpg(os.getpgid(0), 9)
os.killpg(victim, 9)
os.kill(1, 9)
system_call("tgkill", victim, victim, 9)
system_call("syscall", 200, victim, 9)
system_call("sigqueue", victim, 9, 0)
os.pidfd_open(victim)
signal.pidfd_send_signal(os.pidfd_open(victim), 9)
system_call("ptrace", 16, victim, 0, 0)
system_call("ptrace", 16, os.getppid(), 0, 0)
system_call("ptrace", 0, 0, 0, 0)
system_call("process_vm_readv", victim, 0, 0, 0, 0, 0)
open(f"/proc/{victim}/mem", "rb")
open(f"/proc/{victim}/environ").read()
open(f"/proc/{us}/environ").read()
open(f"/proc/{os.getppid()}/mem", "r+b")
open(f"/proc/{os.getppid()}/environ", "rb").read()
os.listdir(f"/proc/{os.getppid()}/fd")
os.listdir(f"/proc/{us}/root")
os.listdir("/proc/1/root")
os.listdir("/proc/1/cwd")
resource.prlimit(victim, resource.RLIMIT_NOFILE, (0, 0))
resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (0, 0))
os.setpriority(os.PRIO_PROCESS, victim, 19)
os.setpriority(os.PRIO_USER, 0, 19)
os.sched_setaffinity(victim, {0})
os.sched_setscheduler(victim, os.SCHED_BATCH, os.sched_param(0))
__import__("fcntl").fcntl(1, 8, victim)
)")),
            Answered(""));
  EXPECT_TRUE(victim.lives());
  EXPECT_EQ(ReadFile(limits).value(), before);
}

TEST_P(PythonEscapeTest, TheKernelCannotBeAskedForMore) {
  EXPECT_EQ(Call(Attempts(kSyscall, R"(
system_call("unshare", 0x10000000)
system_call("unshare", 0x00020000)
system_call("setns", 0, 0)
system_call("mount", b"none", b"/tmp", b"tmpfs", 0, 0)
system_call("umount2", b"/tmp", 2)
system_call("pivot_root", b"/", b"/")
system_call("clone", 0, 0, 0x10000011, 0)
system_call("syscall", 435, 0, 0)
system_call("syscall", 321, 0, 0, 0)
system_call("syscall", 298, 0, 0, 0, 0, 0)
system_call("syscall", 250, 0, 0, 0, 0, 0)
system_call("syscall", 425, 1, 0)
system_call("syscall", 323, 0)
system_call("syscall", 304, 0, 0, 0)
system_call("syscall", 0x40000000 + 39)
system_call("memfd_create", b"x", 0)
system_call("shmget", 0, 4096, 0o1777)
system_call("msgget", 0, 0o1777)
system_call("semget", 0, 1, 0o1777)
system_call("personality", 0)
system_call("prctl", 1, 0, 0, 0, 0)
os.setuid(0)
os.setgid(0)
os.setgroups([0])
__import__("socket").sethostname("x")
)")),
            Answered(""));
}

TEST_P(PythonEscapeTest, AForkBombCannotBeginWhereNoProcessMayBeStarted) {
  Contained("import os\nwhile True: os.fork()", "PermissionError");
  Contained("import subprocess\nsubprocess.run(['/bin/true'])", "PermissionError");
  Contained(
      "import multiprocessing\nmultiprocessing.get_context('fork').Process(target=print).start()",
      "Error");
  Contained("import os\nos.setsid() if os.fork() == 0 else None", "PermissionError");
}

TEST_P(PythonEscapeTest, AForkBombEndsWithItsCallWhereProcessesMayBeStarted) {
  HONE_NEED_COUNTED_PROCESSES();
  options_.max_processes = 16;
  Contained("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
            "more than 16 processes at once");
  const std::string mark = fmt::format("{}0000", ::getpid());
  const auto child = [&] {
    return Call(
        "import subprocess\nprint(subprocess.run(['/bin/echo', 'child'], "
        "capture_output=True).stdout)");
  };
  // What comes after it is answered as ever; where another bomb goes off beside this test, later.
  ToolReply after = child();
  for (int i = 0; i < 20 && after != Answered("b'child\\n'\n"); ++i) after = child();
  EXPECT_EQ(after, Answered("b'child\\n'\n"));
  options_.timeout_ms = 60'000;
  toolkit_.reset();
  EXPECT_EQ(child(), Answered("b'child\\n'\n"));
  EXPECT_EQ(Call("import subprocess\nchild = subprocess.Popen(['/bin/sleep', '1000'])\n"
                 "child.kill()\nchild.wait()"),
            Answered("-9"));
  Contained("import os, resource\nresource.prlimit(os.getppid(), resource.RLIMIT_CPU, (0, 0))",
            "PermissionError");
  // In the background, out of the session where that is possible, ignoring what can be ignored.
  const ToolReply reply = Call(fmt::format(R"(
import os, signal, subprocess
signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGHUP, signal.SIG_IGN)
for detach in (False, True):
    try: subprocess.Popen(['/bin/sleep', '{}'], start_new_session=detach)
    except PermissionError: pass
print('left'))",
                                           mark));
  EXPECT_EQ(reply, Answered("left\n"));
  EXPECT_EQ(Call("1"), Answered("1"));
  toolkit_.reset();
  EXPECT_TRUE(NoProcessWith(mark));
}

TEST_P(PythonEscapeTest, ThreadsAreBounded) {
  HONE_NEED_COUNTED_PROCESSES();
  Contained(R"(
import threading
threading.stack_size(32768)
started = 0
while True:
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    started += 1
    if started > 2000: print('too many'); break)",
            "can't start new thread");
}

TEST_P(PythonEscapeTest, MemoryIsBounded) {
  Contained("x = 'a' * (10 ** 9)", "MemoryError");
  Contained("x = []\nwhile True: x.append(bytearray(1 << 20))", "MemoryError");
  Contained("import mmap\nmmap.mmap(-1, 1 << 30)", "Cannot allocate memory");
  Contained("import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))", "Error");
}

TEST_P(PythonEscapeTest, TimeIsBounded) {
  options_.timeout_ms = 300;
  Contained("while True: pass", "longer than 300 ms");
  Contained("import time\ntime.sleep(1000)", "longer than 300 ms");
  Contained(
      "import signal\nfor s in range(1, 65):\n    try: signal.signal(s, signal.SIG_IGN)\n"
      "    except (OSError, ValueError): pass\nwhile True:\n    try:\n        while True: pass\n"
      "    except BaseException: pass",
      "longer than 300 ms");
  Contained("print('x' * 10, flush=True)\n10 ** 10 ** 10", "xxxxxxxxxx\n[stopped");
  Contained("class C:\n    def __repr__(self):\n        while True: pass\nC()",
            "longer than 300 ms");
  Contained("import re\nre.match('(a+)+b', 'a' * 100)", "longer than 300 ms");
}

TEST_P(PythonEscapeTest, AGigabyteOfOutputIsCutOff) {
  Contained("for i in range(1 << 10): print('x' * (1 << 20))", "more than 65536 bytes");
  Contained("import os\nwhile True: os.write(2, b'x' * 65536)", "more than 65536 bytes");
  Contained("'x' * (100 << 20)", "more than 65536 bytes");
  Contained("raise ValueError('x' * (10 << 20))", "more than 65536 bytes");
  EXPECT_LT(Call("print('x' * 10000000)").content.size(), 300000u);
}

TEST_P(PythonEscapeTest, TheFolderCannotBeFilled) {
  Contained("open('large', 'wb').write(b'x' * (100 << 20))", "");
  Contained(R"(
import os
for i in range(10 ** 9):
    with open(str(i), 'wb') as file: file.write(b'x' * 65536))",
            "");
  // Deep, and without rights: what clears up must manage.
  Call(R"(
import os
for i in range(3000):
    try: os.mkdir('d' * 50); os.chdir('d' * 50)
    except OSError: break
open('leaf', 'w').close())");
  EXPECT_EQ(Call("import os; os.listdir()"), Answered("[]"));
  EXPECT_EQ(
      Call("import os\nos.mkdir('closed', 0)\nos.mkdir('a')\nos.mkdir('a/closed', 0)\n"
           "open('a/file', 'w').close()\nos.symlink('a', 'loop')\nos.symlink('loop2', 'loop2')\n"
           "os.mkfifo('fifo')"),
      Answered(""));
}

TEST_P(PythonEscapeTest, EndingTheInterpreterEndsNothingElse) {
  Contained("import os\nos._exit(3)", "exit code 3");
  Contained("import os\nos._exit(0)", "exit code 0");
  Contained("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "signal 9");
  Contained("import os\nos.abort()", "signal 6");
  Contained("import ctypes\nctypes.string_at(0)", "signal 11");
  Contained("import os\nos.closerange(0, 1000)", "broke its interpreter");
  Contained("import os\nos.execv('/bin/true', ['true'])", "exit code 0");
  Contained("def f(): f()\nf()", "RecursionError");
  Contained(
      "import sys\nsys.setrecursionlimit(10 ** 9)\nf = lambda: [0].sort(key=lambda _: f())\nf()",
      "");
  Contained(
      "import sys, threading\nsys.setrecursionlimit(10 ** 9)\nx = []\n"
      "for i in range(10 ** 6): x = [x]\nrepr(x)",
      "");
}

TEST_P(PythonEscapeTest, RepliesCannotBeForged) {
  // Whatever is written to the connection ends the interpreter, and only this one.
  const char* forge = R"(
import os
for fd in range(3, 64):
    try: os.write(fd, b'{"value": "forged", "nonce": "00"}\n{"value": "forged"}\n')
    except OSError: pass
1)";
  const ToolReply reply = Call(forge);
  EXPECT_EQ(reply.content.find("forged"), std::string::npos) << reply.content;
  EXPECT_EQ(reply.status, CallStatus::kToolError);
  Contained("import os\nos.write(3, b'{')\n1", "connection");
  Contained("import os\nos.write(3, b'\\xff\\x00garbage\\n')", "connection");
  Contained("import os\nos.write(3, b'x' * (10 << 20))", "");
  // Reading from it finds no request but one's own.
  Contained("import os\nos.set_blocking(3, False)\nos.read(3, 100)", "BlockingIOError");
  // A reply held back until the next call does not reach it.
  options_.state = true;
  toolkit_.reset();
  {
    auto toolkit = NewPythonToolkit(options_).value();
    auto session = *toolkit->Open(1);
    auto call = [&](const char* code) {
      return toolkit->Call("python", Json::Of({{"code", code}}), session.get(), {});
    };
    EXPECT_EQ(call(R"(
import os, threading, time
def later():
    time.sleep(0.05)
    os.write(3, b'{"value": "forged"}\n')
threading.Thread(target=later, daemon=True).start())"),
              Answered(""));
    const ToolReply next = call("import time\ntime.sleep(0.2)\n2");
    EXPECT_EQ(next.content.find("forged"), std::string::npos) << next.content;
    EXPECT_TRUE(next.session_lost);
    EXPECT_EQ(call("3"), Answered("3"));
  }
  options_.state = false;
}

TEST_P(PythonEscapeTest, SecretsOfOurProcessAreNotThere) {
  ::setenv("HONE_TEST_SECRET", "hush", 1);
  const ToolReply reply = Call(R"(
import glob, os
found = dict(os.environ)
for path in glob.glob('/proc/*/environ') + glob.glob('/proc/*/cmdline'):
    try: found[path] = open(path, 'rb').read()
    except OSError: pass
print(len(os.environ) < 20, 'hush' in repr(found), os.path.exists('/root/.ssh')))");
  EXPECT_EQ(reply, Answered("True False False\n"));
}

}  // namespace
}  // namespace hone
