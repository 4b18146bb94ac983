#include "tools/builtin/python_tool.h"

#include <algorithm>
#include <thread>

#include "support/confinement.h"

namespace hone {
namespace {

using std::chrono::milliseconds;

class PythonToolTest : public ConfinementTest {
 protected:
  PythonOptions Options() const {
    PythonOptions options;
    options.isolation = method();
    options.workers = 1;
    return options;
  }
  std::shared_ptr<Toolkit> New(const PythonOptions& options) const {
    auto toolkit = NewPythonToolkit(options);
    CHECK(toolkit.ok(), toolkit.error().message());
    return *toolkit;
  }
  static ToolReply Call(Toolkit& toolkit, std::string code, Session* session = nullptr,
                        CallLimits limits = {}) {
    return toolkit.Call("python", Json::Of({{"code", std::move(code)}}), session, limits);
  }
};
HONE_UNDER_EVERY_METHOD(PythonToolTest);

TEST_P(PythonToolTest, GivesOutputErrorAndTheValueOfTheLastExpression) {
  const auto python = New(Options());
  EXPECT_EQ(Call(*python, "6 * 7"), Answered("42"));
  EXPECT_EQ(Call(*python, "x = 6\nprint(x)\nx * 7"), Answered("6\n42"));
  EXPECT_EQ(Call(*python, "x = 1"), Answered(""));
  EXPECT_EQ(Call(*python, "None"), Answered(""));
  EXPECT_EQ(Call(*python, ""), Answered(""));
  EXPECT_EQ(Call(*python, "import sys\nprint('no', file=sys.stderr)\n'yes'"),
            Answered("[stderr]\nno\n'yes'"));
  EXPECT_EQ(Call(*python, "print('ä€😀'); '\\ud800'"), Answered("ä€😀\n'\\ud800'"));
  EXPECT_EQ(Call(*python, "print('\\ud800')"), Answered("\\ud800\n"));
  EXPECT_EQ(Call(*python, "import os; os.write(1, b'\\xff raw')"), Answered("\xEF\xBF\xBD raw\n5"));
}

TEST_P(PythonToolTest, ItIsCalledAsTheRecipeSays) {
  PythonOptions options = Options();
  options.name = "code";
  const auto python = New(options);
  EXPECT_EQ(python->tools()[0].name, "code");
  EXPECT_EQ(python->Call("code", Json::Of({{"code", "6 * 7"}}), nullptr, {}), Answered("42"));
}

TEST_P(PythonToolTest, ErrorsAreTheirLastLineAndRepliesShortWhereARecipeSaysSo) {
  PythonOptions options = Options();
  options.last_line_of_errors = true;
  const auto brief = New(options);
  EXPECT_EQ(Call(*brief, "print('so far')\ndef f():\n    return 1 / 0\nf()"),
            Refuted("so far\nZeroDivisionError: division by zero"));
  EXPECT_EQ(Call(*brief, "1 +"), Refuted("SyntaxError: invalid syntax"));
  EXPECT_EQ(Call(*brief, "import sys\nprint('a\\nb\\n', file=sys.stderr)\n7"),
            Answered("[stderr]\nb\n7"));
  options.max_reply_chars = 20;
  const auto cut = New(options);
  EXPECT_EQ(Call(*cut, "print('é' * 20, end='')"), Answered("éééééééééééééééééééé"));
  EXPECT_EQ(Call(*cut, "'a' * 30 + 'b' * 30"),
            Answered("'aaaaaaaaa\n[... 42 characters left out ...]\nbbbbbbbbb'"));
}

TEST_P(PythonToolTest, AnExceptionIsTheAgentsFaultAndShowsItsOwnFramesOnly) {
  const auto python = New(Options());
  EXPECT_EQ(Call(*python, "print('so far')\ndef f():\n    return 1 / 0\nf()"),
            Refuted("so far\n"
                    "Traceback (most recent call last):\n"
                    "  File \"<call 1>\", line 4, in <module>\n"
                    "    f()\n"
                    "  File \"<call 1>\", line 3, in f\n"
                    "    return 1 / 0\n"
                    "           ~~^~~\n"
                    "ZeroDivisionError: division by zero\n"));
  EXPECT_EQ(Call(*python, "1 +"), Refuted("  File \"<call 1>\", line 1\n"
                                          "    1 +\n"
                                          "       ^\n"
                                          "SyntaxError: invalid syntax\n"));
  EXPECT_EQ(Call(*python, "import sys; sys.exit('bad')"), Refuted("SystemExit: bad\n"));
  EXPECT_EQ(Call(*python, "import sys; sys.exit()"), Answered(""));
  EXPECT_EQ(Call(*python, "x\0y = 1").status, CallStatus::kToolError);
}

TEST_P(PythonToolTest, WithoutStateNothingOfACallIsSeenByTheNext) {
  const auto python = New(Options());
  EXPECT_EQ(Call(*python,
                 "x = 1\nimport json, builtins, os, sys\n"
                 "open('left', 'w').write('x')\nos.makedirs('a/b/c')\n"
                 "os.symlink('/', 'a/root')\nos.environ['A'] = 'b'\nos.chdir('a')\n"
                 "json.dumps = json.loads = os.read = os.write = sys.stdout = None\n"
                 "builtins.print = builtins.len = None"),
            Answered(""));
  EXPECT_EQ(Call(*python,
                 "import json, os\n"
                 "print(json.dumps([len('abc')]), os.listdir(), os.environ.get('A'))\n"
                 "try:\n    x\nexcept NameError:\n    print('no x')"),
            Answered("[3] [] None\nno x\n"));
}

TEST_P(PythonToolTest, EqualCallsWithoutStateHaveEqualAnswers) {
  const auto python = New(Options());
  const char* code = "import random; random.random(), hash('a'), list({'a', 'b', 'c'})";
  EXPECT_EQ(Call(*python, code), Call(*python, code));
  EXPECT_EQ(Call(*python, code), Call(*New(Options()), code));
  EXPECT_EQ(python->tools()[0].effect, Effect::kReads);
  EXPECT_EQ(python->tools()[0].resource, "clock");
  EXPECT_EQ(*python->Open(1), nullptr);
}

TEST_P(PythonToolTest, WithStateASessionKeepsItsVariablesToItself) {
  PythonOptions options = Options();
  options.state = true;
  const auto python = New(options);
  EXPECT_EQ(python->tools()[0].effect, Effect::kWrites);
  EXPECT_EQ(python->tools()[0].resource, "session");
  auto one = *python->Open(1), two = *python->Open(1), other = *python->Open(2);
  EXPECT_EQ(python->sharing(), Sharing::kReplay);
  EXPECT_EQ(Call(*python, "def f(x):\n  return 1 / x\ny = 5", one.get()), Answered(""));
  EXPECT_EQ(Call(*python, "open('note', 'w').write('mine')", one.get()), Answered("4"));
  EXPECT_EQ(Call(*python, "y, open('note').read(), __name__", one.get()),
            Answered("(5, 'mine', '__main__')"));
  // Frames of earlier calls show the right lines.
  const ToolReply raised = Call(*python, "f(0)", one.get());
  EXPECT_FALSE(raised.session_lost);
  EXPECT_NE(raised.content.find("\"<call 1>\", line 2, in f\n    return 1 / x"), std::string::npos)
      << raised.content;
  EXPECT_EQ(Call(*python, "y", one.get()), Answered("5"));
  EXPECT_EQ(Call(*python, "y", two.get()).status, CallStatus::kToolError);
  EXPECT_EQ(Call(*python, "import os; os.listdir()", two.get()), Answered("[]"));
  // The seed is the session's.
  auto draw = [&](Session* session) {
    return Call(*python, "import random; random.random()", session);
  };
  auto again = *python->Open(1);
  const ToolReply first = draw(again.get());
  EXPECT_EQ(draw(one.get()), first);
  EXPECT_NE(draw(one.get()), first);
  EXPECT_NE(draw(other.get()), first);
}

TEST_P(PythonToolTest, AReplayedSessionEqualsTheFirst) {
  PythonOptions options = Options();
  options.state = true;
  const auto python = New(options);
  const std::vector<std::string> calls = {"import random\nx = random.random()", "x += 1\nx",
                                          "y = {str(i) for i in range(9)}", "y, id(y) > 0, 1 / 0",
                                          "random.randint(1, 10**9), x"};
  std::vector<std::vector<ToolReply>> replies(2);
  for (auto& list : replies) {
    auto session = *python->Open(7);
    for (const std::string& code : calls) list.push_back(Call(*python, code, session.get()));
  }
  EXPECT_EQ(replies[0], replies[1]);
}

TEST_P(PythonToolTest, ALostSessionSaysSoAndServesAgain) {
  PythonOptions options = Options();
  options.state = true;
  options.timeout_ms = 300;
  const auto python = New(options);
  auto session = *python->Open(1);
  Call(*python, "x = 1", session.get());
  const ToolReply reply =
      Call(*python, "print('before', flush=True)\nwhile True: pass", session.get());
  EXPECT_EQ(reply.status, CallStatus::kToolError);
  EXPECT_EQ(reply.blame, Blame::kAgent);
  EXPECT_EQ(reply.content, "before\n[stopped: the code ran longer than 300 ms]");
  EXPECT_TRUE(reply.session_lost);
  EXPECT_EQ(Call(*python, "2", session.get()), Answered("2"));
  EXPECT_EQ(Call(*python, "x", session.get()).status, CallStatus::kToolError);
}

TEST_P(PythonToolTest, TheCallersDeadlineIsNotTheAgentsFault) {
  const auto python = New(Options());
  CallLimits limits;
  limits.time = milliseconds(200);
  const ToolReply reply = Call(*python, "while True: pass", nullptr, limits);
  EXPECT_EQ(reply.status, CallStatus::kTimeout);
  EXPECT_NE(reply.blame, Blame::kAgent);
  EXPECT_EQ(Call(*python, "1"), Answered("1"));
}

TEST_P(PythonToolTest, AStopEndsTheCall) {
  const auto python = New(Options());
  std::stop_source stop;
  CallLimits limits;
  limits.stop = stop.get_token();
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_EQ(Call(*python, "while True: pass", nullptr, limits).status, CallStatus::kTimeout);
  EXPECT_EQ(Call(*python, "1"), Answered("1"));
}

TEST_P(PythonToolTest, ManyCallersShareFewWorkersAndEachGetsItsOwnAnswer) {
  PythonOptions options = Options();
  options.workers = 2;
  const auto python = New(options);
  std::vector<int> wrong(8, 0);
  {
    std::vector<std::jthread> callers;
    for (size_t i = 0; i < wrong.size(); ++i) {
      callers.emplace_back([&, i] {
        for (int k = 0; k < 10; ++k) {
          const std::string number = std::to_string(1000 * i + static_cast<size_t>(k));
          if (Call(*python, "print(" + number + ")").content != number + "\n") ++wrong[i];
        }
      });
    }
  }
  EXPECT_EQ(std::count(wrong.begin(), wrong.end(), 0), 8);
}

TEST_P(PythonToolTest, ASessionMayOutliveItsToolkit) {
  PythonOptions options = Options();
  options.state = true;
  auto python = New(options);
  auto session = *python->Open(1);
  EXPECT_EQ(Call(*python, "1", session.get()), Answered("1"));
  python.reset();
  session.reset();
}

TEST_P(PythonToolTest, OrdinaryLibrariesWork) {
  const auto python = New(Options());
  EXPECT_EQ(Call(*python,
                 "import asyncio, threading, tempfile, sqlite3, decimal, datetime, re, queue\n"
                 "from concurrent.futures import ThreadPoolExecutor\n"
                 "async def f():\n    await asyncio.sleep(0.001)\n    return 1\n"
                 "print(asyncio.run(f()))\n"
                 "print(list(ThreadPoolExecutor(4).map(abs, [-1, -2])))\n"
                 "with tempfile.NamedTemporaryFile('w+') as file:\n"
                 "    print(file.write('x'))\n"
                 "base = sqlite3.connect('base')\n"
                 "base.execute('create table t(x)'); base.commit()\n"
                 "print(decimal.Decimal('0.1') * 3)"),
            Answered("1\n[1, 2]\n1\n0.3\n"));
}

TEST_P(PythonToolTest, AnInterpreterThatTheSandboxDoesNotHaveIsRefused) {
  for (const char* path : {"/usr/bin/no-such-python", "/etc/passwd", "python3"}) {
    PythonOptions options = Options();
    options.python = path;
    const auto python = NewPythonToolkit(options);
    ASSERT_FALSE(python.ok()) << path;
    EXPECT_NE(python.error().message().find("apt-get install python3"), std::string::npos);
  }
  PythonOptions options = Options();
  options.python = "/bin/true";
  EXPECT_FALSE(NewPythonToolkit(options).ok());
}

TEST(PythonTool, OptionsAreReadFromARecipe) {
  auto recipe = Recipe::Parse(
                    "state = true\ntimeout_ms = 5\nmemory_mb = 100\nmax_processes = 2\n"
                    "max_output_bytes = 7\nworkers = 3\nisolation = 'landlock'\n"
                    "python = '/usr/bin/python3.11'\nscratch_mb = 8\nreadable = ['/opt']",
                    "r.toml")
                    .value();
  const PythonOptions options = ReadPythonOptions(recipe.Root());
  ASSERT_TRUE(recipe.Finish().ok());
  EXPECT_TRUE(options.state);
  EXPECT_EQ(options.timeout_ms, 5);
  EXPECT_EQ(options.memory_mb, 100);
  EXPECT_EQ(options.max_processes, 2);
  EXPECT_EQ(options.max_output_bytes, 7);
  EXPECT_EQ(options.workers, 3);
  EXPECT_EQ(options.isolation, "landlock");
  EXPECT_EQ(options.python, "/usr/bin/python3.11");
  EXPECT_EQ(options.scratch_mb, 8);
  EXPECT_EQ(options.readable, std::vector<std::string>{"/opt"});
  auto bad = Recipe::Parse("isolation = 'none'\nworkers = 0", "r.toml").value();
  ReadPythonOptions(bad.Root());
  EXPECT_FALSE(bad.Finish().ok());
}

}  // namespace
}  // namespace hone
