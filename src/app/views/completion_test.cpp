#include "app/views/completion.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/subprocess.h"

namespace hone {
namespace {

CommandDescription SampleForCompletion() {
  CommandDescription play{
      .summary = {"hone env play", "", "Play one task"},
      .options = {{.names = {"--agent", "-a"}, .value = "TEXT", .choices = {"person", "gold"}},
                  {.names = {"--count"}, .value = "INT", .about = "how many: it's a number"},
                  {.names = {"--quiet"}}}};
  CommandDescription env{.summary = {"hone env", "", "Inspect and play"},
                         .commands = {play, {.summary = {"hone env show", "", "Show one"}}}};
  CommandDescription completion{
      .summary = {"hone completion", "", "Write a script"},
      .arguments = {{.names = {"shell"}, .value = "TEXT", .choices = {"bash", "zsh"}}}};
  return {.summary = {"hone", "", "Hone"},
          .options = {{.names = {"--help", "-h"}}, {.names = {"--json"}}},
          .commands = {env, completion, {.summary = {"hone eval", "", "Measure"}}}};
}

// What bash offers for the words, the last of which is being typed.
std::string Offered(const std::vector<std::string>& words) {
  std::string typed;
  for (const std::string& word : words) typed += fmt::format(" '{}'", word);
  const auto run = RunSubprocess(
      {"bash", "--norc", "-c",
       fmt::format("{}\nCOMP_WORDS=({}); COMP_CWORD={}; _hone; echo \"${{COMPREPLY[*]}}\"",
                   BashCompletion(SampleForCompletion()), typed, words.size() - 1)},
      "", std::chrono::seconds(60));
  EXPECT_TRUE(run.ok());
  EXPECT_EQ(run->standard_error, "");
  return run->standard_output;
}

TEST(Completion, BashOffersCommandsOptionsAndChoices) {
  EXPECT_EQ(Offered({"hone", "e"}), "env eval\n");
  EXPECT_EQ(Offered({"hone", "env", ""}), "play show\n");
  EXPECT_EQ(Offered({"hone", "--json", "env", "p"}), "play\n");
  EXPECT_EQ(Offered({"hone", "env", "play", "--"}), "--agent --count --quiet --json\n");
  EXPECT_EQ(Offered({"hone", "env", "play", "--agent", ""}), "person gold\n");
  EXPECT_EQ(Offered({"hone", "env", "play", "-a", "g"}), "gold\n");
  EXPECT_EQ(Offered({"hone", "completion", ""}), "bash zsh\n");
}

TEST(Completion, BashLeavesWhatItDoesNotKnowToFiles) {
  EXPECT_EQ(Offered({"hone", "eval", "ru"}), "\n");
  EXPECT_EQ(Offered({"hone", "env", "play", "--count", "1"}), "\n");
  EXPECT_EQ(Offered({"hone", "env", "play", "--count", "play", "x"}), "\n")
      << "the value of an option is no command";
}

// zsh asks _describe and _files, which stand here for those of its own completion.
TEST(Completion, ZshOffersTheSameWithWhatTheyAre) {
  const std::string script = ZshCompletion(SampleForCompletion());
  const auto offered = [&](const std::string& words, int current) -> std::optional<std::string> {
    const auto run = RunSubprocess(
        {"zsh", "-f", "-c",
         fmt::format("_describe() {{ print -l -- ${{(P)4}} }}\n_files() {{ print files }}\n"
                     "words=({}); CURRENT={}\n{}",
                     words, current, script)},
        "", std::chrono::seconds(60));
    if (!run.ok() || run->exit_code == 127) return std::nullopt;
    EXPECT_EQ(run->standard_error, "");
    return run->standard_output;
  };
  const auto commands = offered("hone env ''", 3);
  if (!commands) GTEST_SKIP() << "zsh is not installed";
  EXPECT_EQ(*commands, "play:Play one task\nshow:Show one\n");
  EXPECT_EQ(*offered("hone env play --", 4),
            "--agent\n-a\n--count:how many: it's a number\n--quiet\n--json\n");
  EXPECT_EQ(*offered("hone env play --agent ''", 5), "person\ngold\n");
  EXPECT_EQ(*offered("hone eval ''", 3), "files\n");
}

}  // namespace
}  // namespace hone
