// hone scale: a forecast of a run on many devices, and the script that compares it with real ones.

#include <sstream>

#include "base/file.h"
#include "base/json.h"
#include "program.h"

namespace hone {
namespace {

TEST(ScaleTest, SaysWhatAStepTakesOnManyDevices) {
  const TemporaryDirectory folder;
  const std::string picture = (folder.path() / "scale.svg").string();
  const SubprocessResult table =
      Hone({"scale", "examples/scale/h200-7b.toml", "--devices", "8,64", "--ahead", "0,1",
            "workload.groups=64", "run.steps=2", "--plot", picture});
  ASSERT_EQ(table.exit_code, 0) << table.standard_error;
  EXPECT_TRUE(table.standard_output.starts_with("| devices | ahead | step, s |"));
  EXPECT_EQ(std::count(table.standard_output.begin(), table.standard_output.end(), '\n'), 6);
  const Result<std::string> svg = ReadFile(picture);
  ASSERT_TRUE(svg.ok());
  EXPECT_TRUE(svg->starts_with("<svg"));
}

TEST(ScaleTest, SaysTheSameToPrograms) {
  const std::vector<std::string> words = {"scale",  "examples/scale/h200-70b.toml",
                                          "--json", "--devices",
                                          "64",     "--groups-each",
                                          "2",      "run.steps=1"};
  const SubprocessResult first = Hone(words), again = Hone(words);
  ASSERT_EQ(first.exit_code, 0) << first.standard_error;
  EXPECT_EQ(first.standard_output, again.standard_output);
  const Result<Json> json = ParseJson(first.standard_output);
  ASSERT_TRUE(json.ok());
  const Json& row = json->Find("rows")->AsArray().at(0);
  EXPECT_EQ(row.Find("devices")->AsInteger(), 64);
  EXPECT_EQ(row.Find("processes")->AsInteger(), 8);
  EXPECT_EQ(row.Find("trajectories")->AsDouble(), 8 * 2 * 8);
  EXPECT_GT(row.Find("step_seconds")->AsDouble(), 0);
}

TEST(ScaleTest, WhatIsWrongIsOneLineThatNamesTheKey) {
  ExpectError(Hone({"scale", "nowhere.toml"}), 1, "nowhere.toml");
  ExpectError(Hone({"scale", "examples/scale/h200-7b.toml", "machine.netwrk=1"}), 1, "network");
  ExpectError(Hone({"scale", "examples/scale/h200-7b.toml", "--devices", "8,many"}), 1,
              "--devices wants whole numbers");
  ExpectError(Hone({"scale", "examples/scale/h200-70b.toml", "--devices", "12"}), 1,
              "run.tensor_parallel");
}

// Every command of docs/scale.md stands before the table that it prints.
TEST(ScaleTest, ThePageHasWhatTheCommandsOfItPrint) {
  const Result<std::string> page = ReadFile(HONE_SOURCE_DIR "/docs/scale.md");
  ASSERT_TRUE(page.ok());
  const std::string prefix = "    hone scale ";
  std::istringstream lines(*page);
  int commands = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(prefix)) continue;
    ++commands;
    std::istringstream words(line.substr(prefix.size()));
    std::vector<std::string> arguments = {"scale"};
    for (std::string word; words >> word;) arguments.push_back(word);
    const SubprocessResult table = Hone(arguments);
    EXPECT_EQ(table.exit_code, 0) << line << table.standard_error;
    EXPECT_NE(page->find(table.standard_output), std::string::npos)
        << line << "\n" << table.standard_output;
  }
  EXPECT_GE(commands, 4);
}

TEST(ScaleTest, ThePictureIsWhatTheCommandDraws) {
  const TemporaryDirectory folder;
  const std::string drawn = (folder.path() / "scale.svg").string();
  const SubprocessResult run =
      Hone({"scale", "examples/scale/h200-7b-next.toml", "--devices", "8,16,32,64,128,256,512,1024",
            "--ahead", "0,1,4", "--plot", drawn});
  ASSERT_EQ(run.exit_code, 0) << run.standard_error;
  EXPECT_EQ(ReadFile(drawn).value(),
            ReadFile(HONE_SOURCE_DIR "/docs/images/scale-7b-next.svg").value());
}

}  // namespace
}  // namespace hone
