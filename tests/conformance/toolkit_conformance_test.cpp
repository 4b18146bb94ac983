#include "conformance/toolkit_conformance.h"

#include <chrono>
#include <set>
#include <thread>

#include "base/utf8.h"
#include "tools/builtin/bounded_sqlite.h"
#include "tools/builtin/calculator_tool.h"
#include "tools/builtin/files_tool.h"
#include "tools/builtin/search_tool.h"
#include "tools/builtin/sql_tool.h"
#include "tools/command/command_tool.h"
#include "tools/json_schema.h"
#include "tools/openapi/openapi_tool.h"
#include "tools/spec_tool.h"

namespace hone {
namespace {

using std::chrono::seconds;
using SteadyClock = std::chrono::steady_clock;

TEST_P(ToolkitConformance, SpecsAreValid) {
  ASSERT_FALSE(toolkit_->tools().empty());
  std::set<std::string> names;
  for (const ToolSpec& spec : toolkit_->tools()) {
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    EXPECT_LE(spec.name.size(), 64u);
    EXPECT_EQ(spec.name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_-."),
              std::string::npos)
        << spec.name;
    EXPECT_TRUE(ArgumentChecker::For(spec).ok()) << spec.name;
    if (spec.output) {
      EXPECT_TRUE(JsonSchema::Compile(*spec.output).ok()) << spec.name;
    }
    const Result<ToolSpec> again = ToolSpecFromJson(spec.ToJson());
    ASSERT_TRUE(again.ok()) << spec.name;
    EXPECT_EQ(again->ToJson(), spec.ToJson());
  }
}

TEST_P(ToolkitConformance, RightCallsAreAnsweredAsTheSpecSays) {
  const auto session = Open();
  const std::vector<ToolReply> replies = RunAll(session.get());
  for (size_t i = 0; i < replies.size(); ++i) {
    const ToolkitCase::Call& call = GetParam().calls[i];
    const ToolSpec* spec = Find(call.tool);
    ASSERT_NE(spec, nullptr) << call.tool;
    EXPECT_EQ(ArgumentChecker::For(*spec)->Problem(call.arguments), std::nullopt) << call.tool;
    EXPECT_EQ(replies[i].status, GetParam().status) << call.tool << ": " << replies[i].content;
    EXPECT_TRUE(IsUtf8(replies[i].content));
    if (!spec->output || replies[i].status != CallStatus::kOk) continue;
    const Result<Json> value = ParseJson(replies[i].content);
    ASSERT_TRUE(value.ok()) << call.tool << ": " << replies[i].content;
    EXPECT_TRUE(JsonSchema::Compile(*spec->output)->Check(*value).empty()) << call.tool;
  }
}

TEST_P(ToolkitConformance, WrongArgumentsAreAReplyToo) {
  const std::string long_text(100000, 'x');
  const std::vector<Json> values = {Json(),      Json(true),          Json(-1),
                                    Json(1e300), Json(long_text),     Json(std::string("a\0b", 3)),
                                    Json("../"), Json(Json::Array{}), Json::Of({{"a", 1}})};
  const auto session = Open();
  for (const ToolSpec& spec : toolkit_->tools()) {
    std::vector<Json> wrong = {Json::Of({}), Json::Of({{"unknown", 1}})};
    if (const Json* properties = spec.parameters.Find("properties")) {
      for (const auto& [key, schema] : properties->AsObject()) {
        for (const Json& value : values) wrong.push_back(Json::Of({{key, value}}));
      }
    }
    for (const Json& arguments : wrong) {
      const ToolReply reply =
          toolkit_->Call(spec.name, arguments, session.get(), {.time = seconds(20)});
      EXPECT_TRUE(IsUtf8(reply.content)) << spec.name;
      EXPECT_EQ(reply.status == CallStatus::kOk, reply.blame == Blame::kNone) << spec.name;
      EXPECT_TRUE(reply.status == CallStatus::kOk || !reply.content.empty()) << spec.name;
    }
  }
  // None of it spoils what comes after.
  const auto fresh = Open();
  for (const ToolReply& reply : RunAll(fresh.get())) EXPECT_EQ(reply.status, GetParam().status);
}

TEST_P(ToolkitConformance, AStopIsHonoured) {
  const auto session = Open();
  std::stop_source stop;
  stop.request_stop();
  auto begin = SteadyClock::now();
  for (const ToolkitCase::Call& call : GetParam().calls) {
    (void)toolkit_->Call(call.tool, call.arguments, session.get(),
                         {.time = seconds(100), .stop = stop.get_token()});
  }
  EXPECT_LT(SteadyClock::now() - begin, seconds(20));
  if (!GetParam().endless) return;
  const auto other = Open();
  std::stop_source later;
  std::jthread stopper([&] { later.request_stop(); });
  begin = SteadyClock::now();
  const ToolReply reply =
      toolkit_->Call(GetParam().endless->tool, GetParam().endless->arguments, other.get(),
                     {.time = seconds(100), .stop = later.get_token()});
  EXPECT_EQ(reply.status, CallStatus::kTimeout) << reply.content;
  EXPECT_LT(SteadyClock::now() - begin, seconds(20));
}

TEST_P(ToolkitConformance, SessionsKnowNothingOfEachOther) {
  const auto alone = Open();
  const std::vector<ToolReply> expected = RunAll(alone.get());
  const auto one = Open(), two = Open();
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(Run(one.get(), i, i + 1)[0], expected[i]);
    EXPECT_EQ(Run(two.get(), i, i + 1)[0], expected[i]);
  }
}

TEST_P(ToolkitConformance, ACopyGoesOnAsTheOriginalDoes) {
  const size_t size = GetParam().calls.size(), half = size / 2;
  const auto original = Open();
  (void)Run(original.get(), 0, half);
  std::unique_ptr<Session> copy;
  switch (toolkit_->sharing()) {
    case Sharing::kNothing: break;
    case Sharing::kOnce: return;
    case Sharing::kClone: {
      auto cloned = original->Clone();
      ASSERT_TRUE(cloned.ok()) << cloned.error().message();
      copy = *std::move(cloned);
      break;
    }
    case Sharing::kReplay:
      copy = Open();
      (void)Run(copy.get(), 0, half);
      break;
  }
  const std::vector<ToolReply> first = Run(copy.get(), half, size);
  EXPECT_EQ(Run(original.get(), half, size), first);
}

TEST_P(ToolkitConformance, ManyThreadsGetWhatOneGets) {
  const auto alone = Open();
  const std::vector<ToolReply> expected = RunAll(alone.get());
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto session = Open();
      EXPECT_EQ(RunAll(session.get()), expected);
    });
  }
}

// --- the toolkits --------------------------------------------------------------------------------

ToolkitCase Calculator() {
  return {.name = "Calculator",
          .make = [](const auto&) { return NewCalculatorToolkit({}); },
          .calls = {{"calculator", Json::Of({{"expression", "0.1 + 0.2"}})},
                    {"calculator", Json::Of({{"expression", "2^100"}})}},
          .endless = std::nullopt};
}

ToolkitCase Search() {
  return {.name = "Search",
          .make =
              [](const std::filesystem::path& scratch) {
                const std::string corpus = (scratch / "corpus.jsonl").string();
                EXPECT_TRUE(WriteFileAtomic(corpus,
                                            "{\"id\": \"a\", \"text\": \"one fish\"}\n"
                                            "{\"id\": \"b\", \"text\": \"two birds\"}\n"
                                            "{\"id\": \"c\", \"text\": \"three bees\"}\n")
                                .ok());
                return NewSearchToolkit({.corpus = corpus});
              },
          .calls = {{"search", Json::Of({{"query", "fish and birds"}, {"k", 2}})},
                    {"fetch", Json::Of({{"id", "b"}})}},
          .endless = std::nullopt};
}

ToolkitCase Sql() {
  return {.name = "Sql",
          .make =
              [](const std::filesystem::path& scratch) {
                const std::string file = (scratch / "data.sqlite").string();
                if (!std::filesystem::exists(file)) {
                  EXPECT_TRUE((*BoundedDatabase::Create(file))
                                  ->Execute("CREATE TABLE t (x); INSERT INTO t VALUES (1), ('a')")
                                  .ok());
                }
                return NewSqlToolkit({.file = file, .max_steps = int64_t{1} << 60});
              },
          .calls = {{"sql", Json::Of({{"query", "SELECT x FROM t ORDER BY x"}})},
                    {"sql_schema", Json::Of({})}},
          .endless = ToolkitCase::Call{
              "sql", Json::Of({{"query",
                                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) "
                                "SELECT sum(i) FROM n"}})}};
}

ToolkitCase Files() {
  return {.name = "Files",
          .make = [](const auto&) { return NewFilesToolkit({}); },
          .calls = {{"write_file", Json::Of({{"path", "a/b"}, {"content", "one"}})},
                    {"append_file", Json::Of({{"path", "a/b"}, {"content", " two"}})},
                    {"read_file", Json::Of({{"path", "a/b"}})},
                    {"append_file", Json::Of({{"path", "a/b"}, {"content", " three"}})},
                    {"move_file", Json::Of({{"from", "a/b"}, {"to", "c"}})},
                    {"list_files", Json::Of({})},
                    {"read_file", Json::Of({{"path", "c"}})},
                    {"delete_file", Json::Of({{"path", "c"}})}},
          .endless = std::nullopt};
}

constexpr char kCounter[] = R"(
import json, sys, time
print(json.dumps({"tools": [{"name": "add", "parameters": {"type": "object", "properties": {"by": {"type": "integer"}}}}]}), flush=True)
total = 0
for line in sys.stdin:
    call = json.loads(line)
    by = call["arguments"].get("by", 0)
    if by == -99: time.sleep(1000)
    if not isinstance(by, int):
        print(json.dumps({"id": call["id"], "error": "by: a whole number is wanted"}), flush=True)
        continue
    if "session" in call: total += by
    print(json.dumps({"id": call["id"], "result": total}), flush=True)
)";

ToolkitCase Command(bool per_session) {
  return {.name = per_session ? "CommandPerSession" : "Command",
          .make =
              [per_session](const std::filesystem::path& scratch) {
                EXPECT_TRUE(WriteFileAtomic(scratch / "counter.py", kCounter).ok());
                CommandOptions options;
                options.command = {"python3", (scratch / "counter.py").string()};
                options.per_session = per_session;
                options.processes = 2;
                return NewCommandToolkit(options);
              },
          .calls = {{"add", Json::Of({{"by", 1}})},
                    {"add", Json::Of({{"by", 2}})},
                    {"add", Json::Of({{"by", 3}})}},
          .endless = ToolkitCase::Call{"add", Json::Of({{"by", -99}})}};
}

ToolkitCase Spec() {
  return {.name = "Spec",
          .make =
              [](const std::filesystem::path& scratch) {
                EXPECT_TRUE(WriteFileAtomic(scratch / "specs.json", "[{\"name\": \"book\"}]").ok());
                return NewSpecToolkit({(scratch / "specs.json").string()});
              },
          .calls = {{"book", Json::Of({})}},
          .endless = std::nullopt,
          .status = CallStatus::kUnavailable};
}

ToolkitCase OpenApi() {
  return {.name = "OpenApi",
          .make =
              [](const std::filesystem::path& scratch) {
                static constexpr char kDocument[] = R"({"openapi": "3.0.0", "paths": {"/a/{id}": {
                  "get": {"operationId": "get_a", "parameters": [
                    {"name": "id", "in": "path", "schema": {"type": "string"}},
                    {"name": "x", "in": "header", "schema": {"type": "string"}}]}}}})";
                EXPECT_TRUE(WriteFileAtomic(scratch / "api.json", kDocument).ok());
                // Nobody listens there: what a server answers is in openapi_tool_test.cpp.
                return NewOpenApiToolkit(
                    {.file = (scratch / "api.json").string(), .base_url = "http://127.0.0.1:1"});
              },
          .calls = {{"get_a", Json::Of({{"id", "b"}})}},
          .endless = std::nullopt,
          .status = CallStatus::kUnavailable};
}

INSTANTIATE_TEST_SUITE_P(All, ToolkitConformance,
                         ::testing::Values(Calculator(), Search(), Sql(), Files(), Command(false),
                                           Command(true), Spec(), OpenApi()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace hone
