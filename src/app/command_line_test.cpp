#include "app/command_line.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using Words = std::vector<std::string>;

// A program with one command that takes every kind of value.
struct Sample {
  std::string text, word = "plain", taken;
  int number = 0;
  int64_t large = 0;
  uint64_t seed = 0;
  float ratio = 0;
  double share = 0;
  std::optional<std::string> perhaps_text;
  std::optional<int64_t> perhaps_number;
  Words list, others;
  bool flag = false, json = false;
  int runs = 0;

  CommandLine line{"sample", "A sample.", "sample 1"};

  Sample() {
    Command program = line.program();
    program.AddFlag("--json", &json, "for programs");
    program.NeedsCommand();
    program.Footer("The end.\n");
    Command group = program.AddCommand("group", "Commands of a command");
    group.NeedsCommand();
    Command all = group.AddCommand("all", "Takes everything");
    all.AddOption("text", &text, "the text").Required();
    all.AddOption(
        "--file,-f", [this](const std::string& value) { taken = value; }, "or a file");
    all.AddOption("--word", &word, "a word").OneOf({"plain", "fancy"}).ShowDefault();
    all.AddOption("--number", &number, "a number").Between(1, 10);
    all.AddOption("--large", &large, "a large one").Positive();
    all.AddOption("--seed", &seed, "a seed").NotNegative();
    all.AddOption("--ratio", &ratio, "a ratio");
    all.AddOption("--share", &share, "a share").Between(0.0, 0.5).Group("Shares");
    all.AddOption("--perhaps-text", &perhaps_text, "a text or none");
    all.AddOption("--perhaps-number", &perhaps_number, "a number or none");
    all.AddOption("--list", &list, "a list").SplitAt(',').OneAtATime();
    all.AddOption("--others", &others, "a list that takes all that follows");
    all.AddFlag("--flag", &flag, "a flag");
    all.Action([this] { ++runs; });
    Command either = program.AddCommand("either", "One of two");
    Option left = either.AddOption("--left", &text, "the one");
    either.AddOption("--right", &word, "the other").Excludes(left);
    either.AddOption("files", &others, "some").Required();
    either.AddOverrides(&list, "key=value, over the file's");
    either.Footer("Its own end.\n");
    either.Action([this] { ++runs; });
  }

  std::string ErrorOf(Words words) {
    const Result<void> run = line.Run(std::move(words));
    return run.ok() ? "" : run.error().message();
  }
};

TEST(CommandLine, PutsEveryKindOfValueInItsPlaceAndRunsTheAction) {
  Sample sample;
  ASSERT_EQ(sample.ErrorOf({"group",        "all",        "--number", "10",
                            "--large",      "5000000000", "--seed",   "18446744073709551615",
                            "--ratio=0.25", "--share",    "0.5",      "--word",
                            "fancy",        "-f",         "x.txt",    "--perhaps-text",
                            "here",         "--list",     "a,b",      "the text",
                            "--list",       "c",          "--flag",   "--json",
                            "--others",     "d",          "e"}),
            "");
  EXPECT_EQ(sample.runs, 1);
  EXPECT_EQ(sample.text, "the text") << "--list takes one value at a time";
  EXPECT_EQ(sample.number, 10);
  EXPECT_EQ(sample.large, 5'000'000'000);
  EXPECT_EQ(sample.seed, UINT64_MAX);
  EXPECT_EQ(sample.ratio, 0.25f);
  EXPECT_EQ(sample.share, 0.5);
  EXPECT_EQ(sample.word, "fancy");
  EXPECT_EQ(sample.taken, "x.txt");
  EXPECT_EQ(sample.perhaps_text, "here");
  EXPECT_EQ(sample.perhaps_number, std::nullopt);
  EXPECT_EQ(sample.list, (Words{"a", "b", "c"}));
  EXPECT_EQ(sample.others, (Words{"d", "e"}));
  EXPECT_TRUE(sample.flag);
  EXPECT_TRUE(sample.json) << "options of the program may stand behind a command";
}

TEST(CommandLine, LeavesPlacesAloneThatAreNotNamed) {
  Sample sample;
  sample.number = 7;
  ASSERT_EQ(sample.ErrorOf({"group", "all", "x"}), "");
  EXPECT_EQ(sample.number, 7);
  EXPECT_EQ(sample.word, "plain");
  EXPECT_FALSE(sample.flag);
}

TEST(CommandLine, RefusesValuesThatBreakARuleAndRunsNothing) {
  const std::vector<std::pair<Words, std::string>> wrong = {
      {{"--number", "0"}, "--number: Value 0 not in range 1 to 10 (see sample group all --help)"},
      {{"--number", "11"}, "--number: Value 11 not in range 1 to 10 (see sample group all --help)"},
      {{"--share", "0.51"}, "--share: Value 0.51 not in range 0"},
      {{"--word", "other"}, "--word: other not in {plain,fancy} (see sample group all --help)"},
      {{"--large", "0"}, "--large: Value 0 not in range 0"},
      {{"--seed", "-1"}, "--seed: Value -1 not in range 0"},
      {{"--perhaps-number", "x"},
       "Could not convert: --perhaps-number = x (see sample group all --help)"},
      {{"--flagg"},
       "The following argument was not expected: --flagg (did you mean \"--flag\"?) (see sample "
       "group all --help)"}};
  for (const auto& [words, beginning] : wrong) {
    Sample sample;
    Words all = {"group", "all", "x"};
    all.insert(all.end(), words.begin(), words.end());
    const std::string error = sample.ErrorOf(all);
    EXPECT_TRUE(error.starts_with(beginning)) << error;
    EXPECT_EQ(sample.runs, 0);
  }
  Sample sample;
  EXPECT_EQ(sample.ErrorOf({"group", "all"}), "text is required (see sample group all --help)");
  EXPECT_EQ(sample.ErrorOf({"either", "--left", "a", "--right", "b", "c"}),
            "--left excludes --right (see sample either --help)");
  EXPECT_EQ(sample.runs, 0);
}

TEST(CommandLine, SaysWhichCommandsThereAreWhereOneIsMissingOrUnknown) {
  Sample sample;
  EXPECT_EQ(sample.ErrorOf({"group"}),
            "group: a command is missing; there are: all (each has --help)");
  EXPECT_EQ(sample.ErrorOf({"ether"}),
            "unknown command \"ether\" (did you mean \"either\"?); there are: group, either");
  EXPECT_EQ(sample.runs, 0);
}

TEST(CommandLine, ListsItsCommandsAsOneWouldTypeThem) {
  Sample sample;
  const std::vector<CommandSummary> wanted = {
      {"sample group", "sample group [OPTIONS] SUBCOMMAND", "Commands of a command"},
      {"sample group all", "sample group all [OPTIONS] text", "Takes everything"},
      {"sample either", "sample either [OPTIONS] files... [overrides...]", "One of two"}};
  EXPECT_EQ(sample.line.program().Summaries(), wanted);
  ASSERT_TRUE(sample.line.Run({"either", "a"}).ok());
  EXPECT_EQ(sample.line.program().Summaries(), wanted) << "whatever was read before";
}

TEST(CommandLine, HelpShowsDefaultsGroupsAndTheFooter) {
  Sample sample;
  testing::internal::CaptureStdout();
  EXPECT_EQ(sample.ErrorOf({"group", "all", "--help"}), "");
  const std::string help = testing::internal::GetCapturedStdout();
  EXPECT_NE(help.find("--word TEXT:{plain,fancy}=plain"), std::string::npos) << help;
  EXPECT_NE(help.find("\nShares:\n"), std::string::npos) << help;
  EXPECT_NE(help.find("The end.\n"), std::string::npos) << "the program's, having none: " << help;
  testing::internal::CaptureStdout();
  EXPECT_EQ(sample.ErrorOf({"either", "--help"}), "");
  const std::string own = testing::internal::GetCapturedStdout();
  EXPECT_NE(own.find("Its own end.\n"), std::string::npos);
  EXPECT_NE(own.find("Of every command:\n  --json "), std::string::npos) << own;
  testing::internal::CaptureStdout();
  EXPECT_EQ(sample.ErrorOf({"--version"}), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "sample 1\n");
  EXPECT_EQ(sample.runs, 0);
}

TEST(CommandLine, AProgramWithoutWordsIsAskedForHelp) {
  Sample sample;
  testing::internal::CaptureStdout();
  EXPECT_EQ(sample.ErrorOf({}), "");
  EXPECT_NE(testing::internal::GetCapturedStdout().find("Subcommands:"), std::string::npos);
}

TEST(CommandLine, ChangesStandAnywhereWithSetOrAlone) {
  Sample sample;
  ASSERT_EQ(
      sample.ErrorOf({"either", "a.toml", "run.seed=2", "b.toml", "--set", "x=[1, 2]", "--left",
                      "left=side", "stage.0.steps=5", "dir/c=d", "--json", "environment.a-b=1"}),
      "");
  EXPECT_EQ(sample.list, (Words{"run.seed=2", "x=[1, 2]", "stage.0.steps=5", "environment.a-b=1"}));
  EXPECT_EQ(sample.others, (Words{"a.toml", "b.toml", "dir/c=d"})) << "a path is no change";
  EXPECT_EQ(sample.text, "left=side") << "nor is the value of an option";
  EXPECT_TRUE(sample.json);
}

TEST(CommandLine, WhatLooksLikeAChangeStaysWhatItIsWhereNoneAreTaken) {
  Sample sample;
  ASSERT_EQ(sample.ErrorOf({"group", "all", "a=b"}), "");
  EXPECT_EQ(sample.text, "a=b");
}

TEST(CommandLine, DescribesItselfForThoseWhoDescribeItElsewhere) {
  Sample sample;
  const CommandDescription program = sample.line.program().Describe();
  EXPECT_EQ(program.summary.name, "sample");
  EXPECT_EQ(program.footer, "The end.\n");
  ASSERT_EQ(program.commands.size(), 2u);
  EXPECT_EQ(program.commands[1].footer, "Its own end.\n") << "without the options from above";
  const CommandDescription& all = program.commands[0].commands.at(0);
  EXPECT_EQ(all.summary.usage, "sample group all [OPTIONS] text");
  ASSERT_EQ(all.arguments.size(), 1u);
  EXPECT_EQ(all.arguments[0].names, Words{"text"});
  EXPECT_TRUE(all.arguments[0].required);
  const auto option = [&](const std::string& name) {
    for (const OptionDescription& one : all.options) {
      if (one.names.front() == name) return one;
    }
    ADD_FAILURE() << name;
    return OptionDescription();
  };
  EXPECT_EQ(option("--file").names, (Words{"--file", "-f"}));
  EXPECT_EQ(option("--word").choices, (Words{"plain", "fancy"}));
  EXPECT_EQ(option("--word").preset, "plain");
  EXPECT_EQ(option("--word").value, "TEXT");
  EXPECT_EQ(option("--flag").value, "");
  EXPECT_TRUE(option("--others").list);
  EXPECT_FALSE(option("--word").list);
}

TEST(CommandLine, ExplainsACommandByName) {
  Sample sample;
  const Command program = sample.line.program();
  EXPECT_NE(program.HelpOf({"group", "all"})->find("Usage: sample group all"), std::string::npos);
  EXPECT_EQ(program.HelpOf({"group", "al"}).error().message(),
            "unknown command \"al\" (did you mean \"all\"?); there are: all");
  EXPECT_EQ(program.HelpOf({"either", "or"}).error().message(),
            "sample either has no commands below it");
}

}  // namespace
}  // namespace hone
