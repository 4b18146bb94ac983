#include <algorithm>

#include "base/file.h"
#include "base/json.h"
#include "e2e/program.h"
#include "support/chat_server.h"
#include "tools/journal/journal.h"

namespace hone {
namespace {

constexpr char kSpecs[] = R"([{"name": "clock", "description": "What hour it is in a city.",
    "parameters": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}},
    "x-hone": {"effect": "reads", "output": {"type": "object", "required": ["hour"],
      "properties": {"hour": {"type": "integer", "minimum": 0, "maximum": 23}}}}}])";

class SimulateCommands : public testing::Test {
 protected:
  SimulateCommands() { EXPECT_TRUE(WriteFileAtomic(specs_, kSpecs).ok()); }

  // A journal of the real clock: 60 worlds, a city that it does not know among the three.
  std::string Record() const {
    const std::string file = (directory_.path() / "calls.sqlite").string();
    const auto journal = Journal::Open(file).value();
    std::vector<JournalEntry> entries;
    for (uint64_t seed = 0; seed < 60; ++seed) {
      for (const char* city : {"Oslo", "Rome", "Atlantis"}) {
        const bool known = std::string_view(city) != "Atlantis";
        entries.push_back(
            {.identity = {"real", std::to_string(seed), "0", static_cast<int32_t>(entries.size()),
                          0},
             .content = {seed, "clock", Json::Of({{"city", city}}), ""},
             .source = CallSource::kTool,
             .result = {.status = known ? CallStatus::kOk : CallStatus::kToolError,
                        .blame = known ? Blame::kNone : Blame::kAgent,
                        .content = known ? "{\"hour\":" + std::to_string((seed * 7) % 24) + "}"
                                         : R"({"error":"not found"})"}});
      }
    }
    EXPECT_TRUE(journal->Add(entries, {}).ok());
    return file;
  }

  const TemporaryDirectory directory_;
  const std::string specs_ = (directory_.path() / "tools.json").string();
};

TEST_F(SimulateCommands, ACallIsAnsweredTheSameForTheSameSeed) {
  const std::vector<std::string> call = {"simulate", "call", "clock",  R"({"city": "Oslo"})",
                                         "--specs",  specs_, "--seed", "4"};
  const auto first = Hone(call);
  EXPECT_EQ(first.exit_code, 0) << first.standard_error;
  EXPECT_TRUE(first.standard_output.starts_with("{\"hour\":")) << first.standard_output;
  EXPECT_EQ(Hone(call).standard_output, first.standard_output);
  EXPECT_NE(Hone({"simulate", "call", "clock", "{}", "--specs", specs_})
                .standard_output.find("invalid_arguments"),
            std::string::npos);
}

TEST_F(SimulateCommands, AnEndpointPlaysTheToolAndTheJournalComesFirst) {
  ChatServer server([](const ChatServer::Request&) { return ChatServer::Says(R"({"hour": 7})"); });
  const std::string journal = Record(), url = "url=" + server.url();
  auto call = [&](const char* arguments, const char* seed) {
    return ParseJson(
               Hone({"simulate", "call", "clock", arguments, "--specs", specs_, "--seed", seed,
                     "--journal", journal, "--json", "kind=endpoint", url, "model=tiny"})
                   .standard_output)
        .value();
  };
  EXPECT_EQ(*call(R"({"city": "Lima"})", "1").Find("content"), Json(R"({"hour":7})"));
  EXPECT_EQ(server.requests(), 1);
  EXPECT_EQ(*call(R"({"city": "Oslo"})", "1").Find("source"), Json("journal"));
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(SimulateCommands, ASimulatorIsLearnedFromAJournalAndMeasured) {
  const std::string journal = Record(), out = (directory_.path() / "sim").string();
  const auto trained = Hone({"simulate", "train", "--specs", specs_, "--journal", journal, "--out",
                             out, "--json", "steps=60", "layers=1", "width=32", "heads=2",
                             "batch=16", "learning_rate=0.01", "vocabulary=300"});
  ASSERT_EQ(trained.exit_code, 0) << trained.standard_error;
  const auto report = ParseJson(Hone({"simulate", "fidelity", "--specs", specs_, "--journal",
                                      journal, "--json", "kind=learned", "folder=" + out})
                                    .standard_output);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(*report->Find("all")->Find("error_agreement"), Json(1.0));
  const auto table = Hone({"simulate", "fidelity", "--specs", specs_, "--journal", journal});
  EXPECT_NE(table.standard_output.find("clock hour"), std::string::npos) << table.standard_output;
}

TEST_F(SimulateCommands, ALanguageModelIsTaughtAndNotAskedWhatItIsShown) {
  const std::string journal = Record(), out = (directory_.path() / "player").string();
  const auto taught =
      Hone({"simulate", "teach", "--specs", specs_, "--journal", journal, "--out", out, "--set",
            "steps=3", "layers=1", "width=32", "heads=2", "batch=4", "vocabulary=300"});
  ASSERT_EQ(taught.exit_code, 0) << taught.standard_error;
  EXPECT_NE(taught.standard_output.find("prompt=brief"), std::string::npos);
  const auto measured =
      Hone({"simulate", "fidelity", "--specs", specs_, "--journal", journal, "--shown", journal,
            "--held-out", "1", "kind=model", "folder=" + out, "prompt=brief", "max_tokens=8"});
  EXPECT_EQ(measured.exit_code, 1) << "nothing is left to ask";
  EXPECT_NE(measured.standard_error.find("the player is shown them"), std::string::npos)
      << measured.standard_error;
  const auto nothing =
      Hone({"simulate", "teach", "--specs", specs_, "--journal", "", "--out", out});
  EXPECT_EQ(nothing.exit_code, 1);
  EXPECT_NE(nothing.standard_error.find("has no calls"), std::string::npos)
      << nothing.standard_error;
  const auto pairs = Hone({"simulate", "teach", "--specs", specs_, "--specs", specs_, "--journal",
                           journal, "--out", out});
  EXPECT_NE(pairs.standard_error.find("one --specs for all"), std::string::npos);
}

TEST_F(SimulateCommands, ARecordIsMadeLearnedFromMeasuredAndItsWorldAudited) {
  const auto in = [&](const char* name) { return (directory_.path() / name).string(); };
  const auto record = [&](const char* seed, const std::string& out) {
    return Hone({"simulate", "record", "desk", "--seed", seed, "-n", "300", "--out", out, "--specs",
                 in("desk.json"), "--json"});
  };
  const auto recorded = record("1", in("train.sqlite"));
  ASSERT_EQ(recorded.exit_code, 0) << recorded.standard_error;
  EXPECT_EQ(*ParseJson(recorded.standard_output)->Find("episodes"), Json(300));
  ASSERT_EQ(record("2", in("dev.sqlite")).exit_code, 0);
  ASSERT_EQ(Hone({"simulate", "train", "--specs", in("desk.json"), "--journal", in("train.sqlite"),
                  "--held-out", "0", "--out", in("sim"), "steps=40", "layers=1", "width=32",
                  "heads=2", "batch=16", "learning_rate=0.01"})
                .exit_code,
            0);

  const auto fidelity = [&](const std::string& journal) {
    return Hone({"simulate", "fidelity", "--specs", in("desk.json"), "--journal", journal,
                 "--held-out", "1", "--apart-from", in("train.sqlite"), "--per-tool", "20",
                 "--json", "kind=learned", "folder=" + in("sim"), "effects=false"});
  };
  const auto measured = fidelity(in("dev.sqlite"));
  ASSERT_EQ(measured.exit_code, 0) << measured.standard_error;
  const auto report = ParseJson(measured.standard_output);
  for (const Json& tool : report->Find("tools")->AsArray()) {
    EXPECT_LE(tool.Find("calls")->AsInteger(), 20);
  }
  const auto seen = fidelity(in("train.sqlite"));
  EXPECT_EQ(seen.exit_code, 1);
  EXPECT_NE(seen.standard_error.find("record with another --seed"), std::string::npos);

  const auto audit = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"simulate", "audit", "desk", "-n", "40", "--seed", "3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Hone(arguments);
  };
  const auto table = audit({});
  EXPECT_NE(table.standard_output.find("success of the best constant answer"), std::string::npos)
      << table.standard_output << table.standard_error;
  const auto json =
      ParseJson(audit({"--json", "--journal", in("dev.sqlite"), "kind=random"}).standard_output);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(*json->Find("real")->Find("gold_success"), Json(1.0));
  EXPECT_EQ(*json->Find("simulated")->Find("void"), Json(0));
}

TEST_F(SimulateCommands, BadInputIsAOneLineError) {
  ExpectError(Hone({"simulate", "call", "clock", "{}", "--specs", "/nowhere.json"}), 1,
              "/nowhere.json");
  ExpectError(Hone({"simulate", "call", "clock", "{", "--specs", specs_}), 1, "line 1");
  ExpectError(Hone({"simulate", "call", "clock", "{}", "--specs", specs_, "kind=learned"}), 1,
              "folder");
  ExpectError(Hone({"simulate", "train", "--specs", specs_, "--journal", Record(), "--out", "x",
                    "stepps=3"}),
              1, "did you mean \"steps\"?");
  ExpectError(Hone({"simulate", "record", "desck", "--out", "x"}), 1, "did you mean \"desk\"?");
  ExpectError(Hone({"simulate", "audit", "desk", "--split", "tests"}), 1, "tests");
  ExpectError(Hone({"simulate", "audit", "desk", "kind=learned", "folder=/nowhere"}), 1,
              "/nowhere");
}

}  // namespace
}  // namespace hone
