// docs/howto/add-a-command.md, as it is written.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/records.h"
#include "app/report.h"
#include "base/file.h"
#include "record/record_json.h"
#include "support/page_blocks.h"
#include "support/random_record.h"

namespace hone {
namespace {

Result<std::string> CountTrees(const std::string& run, bool json) {
  HONE_ASSIGN_OR_RETURN(const Records records, Records::Open(run));
  HONE_ASSIGN_OR_RETURN(const int64_t trees, records.Count());
  if (json) return DumpJson(Json::Of({{"trees", trees}})) + "\n";
  return fmt::format("{} trees\n", trees);
}

}  // namespace

void AddCount(Command program, std::shared_ptr<CommandContext> context) {
  auto run = std::make_shared<std::string>();
  Command count = program.AddCommand("count", "Count the trees of a run");
  count.AddOption("run", run.get(), "its folder, its store, or a file of trees").Required();
  count.Footer("Example:\n  hone count runs/tour\n");
  count.Action([=] { Finish(context.get(), CountTrees(*run, context->json)); });
}

namespace {

// A program that has this command alone.
class AddACommand : public testing::Test {
 protected:
  AddACommand() {
    line_.program().AddFlag("--json", &context_->json, "output for programs");
    AddCount(line_.program(), context_);
    const std::string tree = DumpJson(RecordToJson(RandomRecord(Rng(1)))) + "\n";
    EXPECT_TRUE(WriteFileAtomic(file_, tree + tree).ok());
  }
  // What it writes to standard output.
  std::string Type(const std::vector<std::string>& words) {
    testing::internal::CaptureStdout();
    const Result<void> run = line_.Run(words);
    EXPECT_TRUE(run.ok()) << (run.ok() ? "" : run.error().message());
    return testing::internal::GetCapturedStdout();
  }

  CommandLine line_{"hone", "The program.", "hone"};
  const std::shared_ptr<CommandContext> context_ = std::make_shared<CommandContext>();
  const TemporaryDirectory folder_;
  const std::string file_ = (folder_.path() / "trees.jsonl").string();
};

TEST_F(AddACommand, ItPrintsForPeopleAndForPrograms) {
  EXPECT_EQ(Type({"count", file_}), "2 trees\n");
  EXPECT_EQ(Type({"count", file_, "--json"}), "{\"trees\":2}\n");
  EXPECT_EQ(context_->exit_status, 0);
}

TEST_F(AddACommand, AFailureIsOneLineAndStatus1AndAWrongCommandLineIsAnError) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(Type({"count", file_ + ".gone"}), "");
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(said.starts_with("hone: ") && said.find('\n') == said.size() - 1) << said;
  EXPECT_EQ(context_->exit_status, 1);
  EXPECT_NE(line_.Run({"count"}).error().message().find("run is required"), std::string::npos);
}

TEST_F(AddACommand, HelpListsIt) {
  EXPECT_EQ(line_.program().Summaries(),
            (std::vector<CommandSummary>{
                {"hone count", "hone count [OPTIONS] run", "Count the trees of a run"}}));
}

TEST_F(AddACommand, ThePageShowsTheCodeThatIsTestedHere) {
  ExpectShowsCodeOf("docs/howto/add-a-command.md", "src/app/howto_test.cpp");
}

}  // namespace
}  // namespace hone
