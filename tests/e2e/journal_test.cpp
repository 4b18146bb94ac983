#include <algorithm>

#include "base/file.h"
#include "base/json.h"
#include "e2e/program.h"
#include "support/random_call.h"

namespace hone {
namespace {

class JournalCommandsTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (directory_.path() / name).string(); }

  // A journal with the calls [first, last) and one begun call.
  std::string Recorded(const std::string& name, int64_t first, int64_t last) {
    auto journal = Journal::Open(Path(name)).value();
    std::vector<JournalEntry> calls;
    for (int64_t n = first; n < last; ++n) calls.push_back(RandomCall(Rng(6), n));
    EXPECT_TRUE(journal->Add(calls, {}).ok());
    const JournalEntry begun = RandomCall(Rng(6), 5000);
    EXPECT_TRUE(journal->Begin(begun.identity, begun.content, Effect::kWrites).ok());
    return Path(name);
  }

  TemporaryDirectory directory_;
};

TEST_F(JournalCommandsTest, StatsCountForPeopleAndPrograms) {
  const std::string journal = Recorded("journal.sqlite", 0, 100);
  const SubprocessResult text = Hone({"journal", "stats", journal});
  EXPECT_NE(text.standard_output.find("100 calls of 4 tools in 1 runs"), std::string::npos)
      << text.standard_output << text.standard_error;
  // The folder of a run will do as well.
  const Json json =
      *ParseJson(Hone({"journal", "stats", directory_.path().string(), "--json"}).standard_output);
  EXPECT_EQ(*json.Find("calls"), Json(100));
  EXPECT_EQ(*json.Find("begun"), Json(1));
  EXPECT_EQ(json.Find("tools")->AsArray().size(), 4u);
}

TEST_F(JournalCommandsTest, ShowListsWhatIsMeantAndShowsOne) {
  const std::string journal = Recorded("j", 0, 100);
  const Json timeouts = *ParseJson(
      Hone({"journal", "show", journal, "--status", "timeout", "--json"}).standard_output);
  ASSERT_FALSE(timeouts.Find("calls")->AsArray().empty());
  for (const Json& call : timeouts.Find("calls")->AsArray()) {
    EXPECT_EQ(*call.Find("result")->Find("status"), Json("timeout"));
  }
  const std::string list = Hone({"journal", "show", journal, "--limit", "5"}).standard_output;
  EXPECT_NE(list.find("--limit 50 shows more"), std::string::npos) << list;
  EXPECT_NE(list.find("begun"), std::string::npos) << list;

  const SubprocessResult one = Hone({"journal", "show", journal, "7"});
  EXPECT_TRUE(one.standard_output.starts_with("call 7 ")) << one.standard_output;
  EXPECT_EQ(
      *ParseJson(Hone({"journal", "show", journal, "7", "--json"}).standard_output)->Find("id"),
      Json(7));
  ExpectError(Hone({"journal", "show", journal, "999"}), 1, "hone journal show");
  ExpectError(Hone({"journal", "show", journal, "--status", "timeuot"}), 1,
              "did you mean \"timeout\"?");
  ExpectError(Hone({"journal", "show", journal, "0"}), 2, "");
}

TEST_F(JournalCommandsTest, ExportAndImportCarryAJournalToTheSameBytes) {
  const std::string journal = Recorded("a", 0, 1200);
  const SubprocessResult exported = Hone({"journal", "export", journal});
  EXPECT_EQ(exported.exit_code, 0);
  const auto lines =
      std::count(exported.standard_output.begin(), exported.standard_output.end(), '\n');
  EXPECT_EQ(lines, 1201);
  const std::string copy = Path("b");
  EXPECT_EQ(Hone({"journal", "import", copy, "-"}, exported.standard_output).standard_output,
            "1201 calls added, 0 were there already\n");
  EXPECT_EQ(Hone({"journal", "export", copy}).standard_output, exported.standard_output);
  ASSERT_TRUE(WriteFileAtomic(Path("calls.jsonl"), exported.standard_output).ok());
  const Json again =
      *ParseJson(Hone({"journal", "import", copy, Path("calls.jsonl"), "--json"}).standard_output);
  EXPECT_EQ(again, Json::Of({{"added", 0}, {"equal", 1201}}));
  const std::string part = Hone({"journal", "export", journal, "--tool", "book"}).standard_output;
  EXPECT_LT(part.size(), exported.standard_output.size());
  EXPECT_GT(part.size(), 0u);
}

TEST_F(JournalCommandsTest, ImportNamesTheLineAndTakesOutSecretsWhenAsked) {
  const std::string line =
      R"({"format":"hone.call","version":1,"run":"r","task":"t","path":"0","turn":0,"call":0,)"
      R"("environment_seed":1,"tool":"x","arguments":{"password":"hunter2"},"state_hash":"",)"
      R"("effect":"reads","source":"tool","result":{"call":0,"content":"fine"},"recorded_ms":0})";
  ExpectError(Hone({"journal", "import", Path("a"), "-"}, line + "\n{\n"), 1, "-: line 2: ");
  EXPECT_EQ(Hone({"journal", "import", Path("b"), "-", "--redact"}, line).exit_code, 0);
  const std::string exported = Hone({"journal", "export", Path("b")}).standard_output;
  EXPECT_NE(exported.find("[redacted:password]"), std::string::npos) << exported;
  EXPECT_EQ(ReadFile(Path("b"))->find("hunter2"), std::string::npos);
  ExpectError(Hone({"journal", "import", Path("c"), Path("absent")}), 1, "no such file");
  EXPECT_FALSE(std::filesystem::exists(Path("c"))) << "nothing is made for nothing";
}

TEST_F(JournalCommandsTest, MergeAddsJournalsAndReportsConflicts) {
  const std::string a = Recorded("a", 0, 60), b = Recorded("b", 40, 100);
  const SubprocessResult merged = Hone({"journal", "merge", Path("all"), a, b});
  EXPECT_EQ(merged.standard_output, "101 calls added, 21 were there already\n")
      << merged.standard_error;
  {
    JournalEntry other = RandomCall(Rng(6), 50);
    other.result.content += "!";
    ASSERT_TRUE(Journal::Open(Path("c")).value()->Finish(other).ok());
  }
  ExpectError(Hone({"journal", "merge", Path("all"), Path("c")}), 1, "another outcome");
  ExpectError(Hone({"journal", "merge", Path("new"), Path("absent")}), 1,
              "give a run's folder or its journal.sqlite");
  EXPECT_FALSE(std::filesystem::exists(Path("new")));
}

TEST_F(JournalCommandsTest, AForeignFileIsAClearError) {
  ASSERT_TRUE(WriteFileAtomic(Path("x"), std::string(5000, 'x')).ok());
  for (const std::string command : {"stats", "show", "export"}) {
    ExpectError(Hone({"journal", command, Path("x")}), 1, "not a journal");
    ExpectError(Hone({"journal", command, Path("absent")}), 1, "no such journal");
  }
}

}  // namespace
}  // namespace hone
