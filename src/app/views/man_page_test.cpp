#include "app/views/man_page.h"

#include <gtest/gtest.h>

#include "base/subprocess.h"

namespace hone {
namespace {

CommandDescription SampleForMan() {
  CommandDescription play{
      .summary = {"hone env play", "hone env play [OPTIONS] environment", "Play one task"},
      .arguments =
          {{.names = {"environment"}, .value = "TEXT", .about = "where", .required = true}},
      .options = {{.names = {"--agent", "-a"},
                   .value = "TEXT",
                   .about = "who plays",
                   .preset = "person",
                   .choices = {"person", "gold"}}},
      .footer =
          "Example:\n  hone env play desk\n.lines that look like 'requests'\n'and \\escapes\n"};
  CommandDescription env{
      .summary = {"hone env", "hone env [OPTIONS] SUBCOMMAND", "Inspect and play environments"},
      .commands = {play}};
  return {.summary = {"hone", "hone [OPTIONS] SUBCOMMAND", "Hone trains agents."},
          .options = {{.names = {"--help", "-h"}, .about = "help"},
                      {.names = {"--json"}, .about = "for programs"}},
          .footer = "The end.\n",
          .commands = {env}};
}

TEST(ManPage, HasWhatTheCommandLineSays) {
  const CommandDescription program = SampleForMan();
  const std::string page = CommandManPage(program, program.commands[0], "0.1.0");
  EXPECT_TRUE(
      page.starts_with(".TH HONE\\-ENV 1 \"\" \"0.1.0\" \"Hone\"\n.SH NAME\n"
                       "hone\\-env \\- Inspect and play environments\n"))
      << page;
  EXPECT_NE(page.find(".SS \"hone env play\"\n"), std::string::npos);
  EXPECT_NE(page.find("\\fB\\-\\-agent\\fR, \\fB\\-a\\fR \\fITEXT\\fR\nwho plays; one of person, "
                      "gold (default: person)\n"),
            std::string::npos)
      << page;
  EXPECT_NE(page.find("\\fB\\-\\-json\\fR\nfor programs\n"), std::string::npos)
      << "options of the program hold for every command";
  EXPECT_NE(ProgramManPage(program, "0.1.0").find("\\fBhone\\-env\\fR(1)"), std::string::npos);
  EXPECT_EQ(ManPageFile(program.commands[0]), "hone-env.1");
  EXPECT_EQ(ManPageFile(program), "hone.1");
}

TEST(ManPage, TextNeverBecomesARequestOrAnEscape) {
  const CommandDescription program = SampleForMan();
  const std::string page = CommandManPage(program, program.commands[0], "0.1.0");
  EXPECT_NE(page.find("\n\\&.lines that look"), std::string::npos) << page;
  EXPECT_NE(page.find("\n\\&'and \\eescapes\n"), std::string::npos) << page;
}

// The typesetter itself finds nothing to complain about, and shows what was written.
TEST(ManPage, GroffReadsItWithoutAWarning) {
  const CommandDescription program = SampleForMan();
  const auto shown = RunSubprocess({"groff", "-ww", "-man", "-Tascii", "-P-c"},
                                   CommandManPage(program, program.commands[0], "0.1.0"),
                                   std::chrono::seconds(60));
  if (!shown.ok()) GTEST_SKIP() << "groff is not installed";
  EXPECT_EQ(shown->exit_code, 0);
  EXPECT_EQ(shown->standard_error, "");
  EXPECT_NE(shown->standard_output.find(".lines that look like 'requests'"), std::string::npos)
      << shown->standard_output;
  EXPECT_NE(shown->standard_output.find("'and \\escapes"), std::string::npos);
}

}  // namespace
}  // namespace hone
