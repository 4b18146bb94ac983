// hone tools, as a person would use it.

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "base/rng.h"
#include "program.h"

namespace hone {
namespace {

class ToolsCommandTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::filesystem::path file = folder_.path() / name;
    EXPECT_TRUE(WriteFileAtomic(file, text).ok());
    return file.string();
  }
  // A tool file with one command tool in Python.
  std::string CommandTools(const std::string& python, const std::string& more = "") {
    const std::string program = Write("tool.py", python);
    return Write("tools.toml", "[[tools]]\nkind = \"command\"\ncommand = [\"python3\", \"" +
                                   program + "\"]\n" + more);
  }
  std::string Path(const std::string& name) const { return (folder_.path() / name).string(); }

  TemporaryDirectory folder_;
};

// A tool whose every call leaves a line in a file, and which answers how many lines there are.
std::string CountingTool(const std::string& log, const std::string& effect) {
  return R"(import json, sys, time
def say(value): print(json.dumps(value), flush=True)
say({"tools": [{"name": "count", "description": "Counts calls.",
                "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
                "x-hone": {"effect": ")" +
         effect + R"("}}]})
for line in sys.stdin:
    call = json.loads(line)
    with open(")" +
         log + R"(", "a") as log: log.write("%d\n" % call["arguments"].get("n", 0))
    say({"id": call["id"], "result": {"n": call["arguments"].get("n", 0), "time": time.time()}})
)";
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

TEST_F(ToolsCommandTest, TheDefaultToolsAreThereAndSayWhatTheyAre) {
  const SubprocessResult list = Hone({"tools", "list"});
  EXPECT_EQ(list.exit_code, 0) << list.standard_error;
  for (const char* name : {"calculator", "python", "read_file"}) {
    EXPECT_NE(list.standard_output.find(name), std::string::npos) << name;
  }
  const Result<Json> specs = ParseJson(Hone({"tools", "list", "--json"}).standard_output);
  ASSERT_TRUE(specs.ok());
  EXPECT_GE(specs->AsArray().size(), 5u);
  const SubprocessResult one = Hone({"tools", "describe", "calculator"});
  EXPECT_NE(one.standard_output.find("expression"), std::string::npos);
  ExpectError(Hone({"tools", "describe", "calculater"}), 1, "did you mean \"calculator\"?");
}

TEST_F(ToolsCommandTest, ACallPrintsWhatTheToolSays) {
  const SubprocessResult sum = Hone({"tools", "call", "calculator", R"({"expression": "2^100"})"});
  EXPECT_EQ(sum.exit_code, 0) << sum.standard_error;
  EXPECT_NE(sum.standard_output.find("1267650600228229401496703205376"), std::string::npos);
  // The agent's own faults are results, and an exit status.
  const SubprocessResult wrong = Hone({"tools", "call", "calculator", R"({"expresion": "1"})"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_NE(wrong.standard_output.find("invalid_arguments, blame agent"), std::string::npos);
  const SubprocessResult unknown = Hone({"tools", "call", "calc", "{}", "--json"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_EQ(ParseJson(unknown.standard_output).value().Find("status")->AsString(), "unknown_tool");
  ExpectError(Hone({"tools", "call", "calculator", "{"}), 1, "arguments");
}

TEST_F(ToolsCommandTest, CallsOfOneTrajectoryShareTheirSession) {
  const SubprocessResult result = Hone({"tools", "call", "-"},
                                       R"({"tool": "python", "arguments": {"code": "x = 6"}}
{"tool": "python", "arguments": {"code": "x * 7"}}
{"tool": "write_file", "arguments": {"path": "a.txt", "content": "hello"}}
{"tool": "read_file", "arguments": {"path": "a.txt"}}
)");
  EXPECT_EQ(result.exit_code, 0) << result.standard_error << result.standard_output;
  EXPECT_NE(result.standard_output.find("42"), std::string::npos) << result.standard_output;
  EXPECT_NE(result.standard_output.find("hello"), std::string::npos);
}

TEST_F(ToolsCommandTest, FaultsArePutInByAFlag) {
  auto call = [](const std::string& fault) {
    return Hone(
        {"tools", "call", "calculator", R"({"expression": "1/4"})", "--fault", fault, "--json"});
  };
  const Json reset = ParseJson(call("reset").standard_output).value();
  EXPECT_EQ(reset.Find("status")->AsString(), "unavailable");
  EXPECT_EQ(reset.Find("injected")->AsString(), "reset");
  EXPECT_EQ(reset.Find("attempts")->AsInteger(), 3);
  const Json once = ParseJson(call("reset,attempts=1").standard_output).value();
  EXPECT_EQ(once.Find("status")->AsString(), "ok");
  EXPECT_EQ(once.Find("attempts")->AsInteger(), 2);
  ExpectError(Hone({"tools", "call", "calculator", "{}", "--fault", "resett"}), 1,
              "did you mean \"reset\"?");
}

TEST_F(ToolsCommandTest, WhatWasRecordedIsReplayedWithTheToolsGone) {
  const std::string tools = CommandTools(CountingTool(Path("log"), "reads"));
  const std::string journal = Path("journal.sqlite");
  const std::vector<std::string> how = {"--journal", journal, "--run", "r", "--json"};
  std::string calls;
  for (int i = 0; i < 50; ++i) {
    calls += DumpJson(Json::Of({{"tool", "count"}, {"arguments", Json::Of({{"n", i}})}})) + "\n";
  }
  auto run = [&](const std::string& file, const std::string& mode) {
    std::vector<std::string> arguments = {"tools", "call", "-", "--tools", file, "--mode", mode};
    arguments.insert(arguments.end(), how.begin(), how.end());
    return Hone(arguments, calls);
  };
  const SubprocessResult live = run(tools, "record");
  ASSERT_EQ(live.exit_code, 0) << live.standard_error << live.standard_output;
  const SubprocessResult import =
      Hone({"tools", "import", "--tools", tools, "-o", Path("specs.json")});
  ASSERT_EQ(import.exit_code, 0) << import.standard_error;
  const std::string gone =
      Write("gone.toml", "[[tools]]\nkind = \"spec\"\nfile = \"" + Path("specs.json") + "\"\n");
  std::filesystem::remove(Path("tool.py"));
  const SubprocessResult replayed = run(gone, "replay");
  EXPECT_EQ(replayed.exit_code, 0) << replayed.standard_output;
  const std::vector<std::string> a = Lines(live.standard_output),
                                 b = Lines(replayed.standard_output);
  ASSERT_EQ(a.size(), 50u);
  ASSERT_EQ(b.size(), 50u);
  for (size_t i = 0; i < a.size(); ++i) {
    Json first = ParseJson(a[i]).value(), second = ParseJson(b[i]).value();
    EXPECT_EQ(second.Find("source")->AsString(), "journal");
    EXPECT_EQ(first.Set("source", ""), second.Set("source", ""));
  }
  // A call that was never made is not there.
  calls = R"({"tool": "count", "arguments": {"n": 999}})";
  EXPECT_EQ(run(gone, "replay").exit_code, 1);
}

TEST_F(ToolsCommandTest, KilledWhileRecordingItLosesNothingAndRepeatsNoWrite) {
  const std::string tools = CommandTools(CountingTool(Path("log"), "irreversible"));
  constexpr int kCalls = 60;
  std::string calls;
  for (int i = 0; i < kCalls; ++i) {
    calls += DumpJson(Json::Of({{"tool", "count"}, {"arguments", Json::Of({{"n", i}})}})) + "\n";
  }
  Rng rng(5);
  std::map<size_t, std::string> acknowledged;  // by place: what was given out
  int kills = 0;
  for (bool finished = false; !finished;) {
    auto program =
        Subprocess::Start({HONE_BINARY, "tools", "call", "-", "--tools", tools, "--mode", "record",
                           "--journal", Path("journal.sqlite"), "--run", "r", "--json"});
    ASSERT_TRUE(program.ok());
    ASSERT_TRUE((*program)->Write(calls, std::chrono::seconds(10)).ok());
    (*program)->CloseInput();
    // Killed when a few more calls have been acknowledged, at whatever moment that is.
    const size_t enough = kills < 8 ? acknowledged.size() + rng.Below(8) : kCalls;
    size_t place = 0;
    while (place < enough) {
      const Result<std::string> line = (*program)->ReadLine(std::chrono::seconds(30));
      if (!line.ok()) break;
      Json outcome = ParseJson(*line).value();
      outcome.Set("source", "");
      const std::string text = DumpJson(outcome);
      const auto [at, fresh] = acknowledged.emplace(place, text);
      EXPECT_EQ(at->second, text) << "an acknowledged call changed";
      ++place;
    }
    finished = place == kCalls;
    ::kill((*program)->pid(), SIGKILL);
    ++kills;
  }
  EXPECT_GT(kills, 5);
  std::map<std::string, int> times;
  for (const std::string& line : Lines(ReadFile(Path("log")).value())) ++times[line];
  for (const auto& [n, count] : times) EXPECT_EQ(count, 1) << "call " << n << " was repeated";
  int carried_out = 0, interrupted = 0;
  for (const auto& [place, text] : acknowledged) {
    const std::string status = ParseJson(text).value().Find("status")->AsString();
    carried_out += status == "ok";
    interrupted += status == "interrupted";
    EXPECT_TRUE(status != "ok" || times[std::to_string(place)] == 1) << place;
  }
  EXPECT_EQ(carried_out + interrupted, kCalls);
}

TEST_F(ToolsCommandTest, ProgramsThatMisbehaveEndAsTypedResults) {
  const std::string spec =
      R"(import json, sys, os, time
print(json.dumps({"tools": [{"name": "t", "description": "", "parameters": {"type": "object"}}]}), flush=True)
line = sys.stdin.readline()
)";
  const std::string limits = "deadline_ms = 1500\nattempt_ms = 1500\nretries = 0\n";
  const std::map<std::string, std::string> behaviours = {
      {"print('this is not JSON', flush=True)\ntime.sleep(60)\n", "unavailable"},
      {"os._exit(3)\n", "unavailable"},
      {"time.sleep(60)\n", "timeout"},
      {"print(json.dumps({'id': 77, 'result': 'not yours'}), flush=True)\ntime.sleep(60)\n",
       "timeout"},
      {"sys.stdout.write('x' * 20000000); sys.stdout.flush(); time.sleep(60)\n", "unavailable"},
  };
  for (const auto& [behaviour, status] : behaviours) {
    const std::string tools = CommandTools(spec + behaviour, limits);
    const SubprocessResult result = Hone({"tools", "call", "t", "{}", "--tools", tools, "--json"});
    EXPECT_EQ(result.exit_code, 1);
    const Result<Json> outcome = ParseJson(result.standard_output);
    ASSERT_TRUE(outcome.ok()) << result.standard_output << result.standard_error;
    EXPECT_EQ(outcome->Find("status")->AsString(), status) << behaviour << DumpJson(*outcome);
    EXPECT_EQ(outcome->Find("blame")->AsString(), "tool");
  }
}

// Two servers out of a file that another program might have, in one toolbox.
TEST_F(ToolsCommandTest, ServersOfAnotherProgramsFileAreTools) {
  const std::string server = Write("server.py", R"(import json, os, sys
for line in sys.stdin:
    ask = json.loads(line)
    if "id" not in ask: continue
    result = {}
    if ask["method"] == "initialize":
        result = {"protocolVersion": ask["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "x", "version": "1"}}
    elif ask["method"] == "tools/list":
        result = {"tools": [{"name": "who", "description": "Says who it is.",
                             "inputSchema": {"type": "object"}}]}
    elif ask["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": os.environ["WHO_TOKEN"] + " " + sys.argv[1]}]}
    print(json.dumps({"jsonrpc": "2.0", "id": ask["id"], "result": result}), flush=True)
)");
  const auto entry = [&](const std::string& who) {
    return Json::Of({{"command", "python3"},
                     {"args", Json::ArrayOf(std::vector<std::string>{server, who})},
                     {"env", Json::Of({{"WHO_TOKEN", "${WHO_OF_TEST:-nobody}"}})}});
  };
  const std::string config =
      Write("mcp.json",
            DumpJson(Json::Of(
                {{"mcpServers", Json::Of({{"one", entry("first")}, {"two", entry("second")}})}})));
  ExpectError(Hone({"tools", "list", "--mcp-config", config}), 1, "two tools are called \"who\"");
  const std::string tools =
      Write("tools.toml",
            "[[tools]]\nkind = \"mcp-config\"\nfile = \"mcp.json\"\nserver_prefix = true\n");
  EXPECT_EQ(Hone({"tools", "call", "two_who", "--tools", tools}).standard_output,
            "nobody second\n");
  const std::string one = Write(
      "one.toml", "[[tools]]\nkind = \"mcp-config\"\nfile = \"mcp.json\"\nservers = [\"one\"]\n");
  EXPECT_EQ(Hone({"tools", "call", "who", "--tools", one}).standard_output, "nobody first\n");
  ExpectError(
      Hone({"tools", "list", "--tools",
            Write("none.toml",
                  "[[tools]]\nkind = \"mcp-config\"\nfile = \"mcp.json\"\nservers = [\"tow\"]\n")}),
      1, "there is no server \"tow\" (did you mean \"two\"?); there are: one, two");
  ExpectError(Hone({"tools", "list", "--mcp-config", Path("absent.json")}), 1, "absent.json");
}

TEST_F(ToolsCommandTest, DescribingAToolShowsTheFieldsOfItsObjects) {
  Write("specs.json", R"([{"name": "order", "description": "Orders.", "parameters": {
      "type": "object", "required": ["body"], "properties": {"body": {"type": "object",
      "required": ["lines"], "properties": {
        "note": {"type": "string", "description": "For the kitchen."},
        "lines": {"type": "array", "items": {"type": "object",
                  "properties": {"dish": {"type": "string"}}}}}}}}}])");
  const std::string tools =
      Write("tools.toml", "[[tools]]\nkind = \"spec\"\nfile = \"specs.json\"\n");
  const std::string shown = Hone({"tools", "describe", "order", "--tools", tools}).standard_output;
  EXPECT_NE(shown.find("  body*  object\n"
                       "    note    string  For the kitchen.\n"
                       "    lines*  array of object\n"
                       "      dish   string\n"),
            std::string::npos)
      << shown;
}

TEST_F(ToolsCommandTest, ToolFilesThatAreWrongSayWhere) {
  auto list = [&](const std::string& text) {
    return Hone({"tools", "list", "--tools", Write("tools.toml", text)});
  };
  ExpectError(list("[[tools]]\nkind = \"calculater\"\n"), 1, "did you mean \"calculator\"");
  ExpectError(list("[[tools]]\nkind = \"calculator\"\nretrys = 1\n"), 1, "tools.toml:3");
  ExpectError(list(""), 1, "no [[tools]]");
  ExpectError(list("[[tools]]\nkind = \"calculator\"\n[[tools]]\nkind = \"calculator\"\n"), 1,
              "two tools are called \"calculator\"");
  ExpectError(list("[[tools]]\nkind = \"command\"\ncommand = [\"/nowhere/at/all\"]\n"), 1,
              "tools[0] (command)");
  ExpectError(list("[[tools]]\nkind = \"mcp\"\nurl = \"http://127.0.0.1:1/mcp\"\n"), 1,
              "tools[0] (mcp)");
  Write(
      "cyclic.json",
      R"([{"name": "t", "parameters": {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}}])");
  ExpectError(list("[[tools]]\nkind = \"spec\"\nfile = \"" + Path("cyclic.json") + "\"\n"), 1,
              "tools[0] (spec)");
  ExpectError(Hone({"tools", "list", "--tools", Path("absent.toml")}), 1, "absent.toml");
  ExpectError(Hone({"tools", "call", "calculator", "{}", "--mode", "reply"}), 1,
              "did you mean \"replay\"");
  ExpectError(Hone({"tools", "call", "calculator", "{}", "--mode", "record"}), 1, "--journal");
}

}  // namespace
}  // namespace hone
