#include <algorithm>
#include <sstream>

#include "base/file.h"
#include "base/json.h"
#include "e2e/program.h"
#include "record/record_json.h"
#include "record/store.h"
#include "support/random_record.h"

namespace hone {
namespace {

constexpr char kTokenizer[] = "tests/golden/tokenizer";

class CliTest : public testing::Test {
 protected:
  std::string File(const std::string& name, std::string_view content) {
    const auto path = directory_.path() / name;
    EXPECT_TRUE(WriteFileAtomic(path, content).ok());
    return path.string();
  }
  std::string Path(const std::string& name) const { return (directory_.path() / name).string(); }

  TemporaryDirectory directory_;
};

// Of a command and of all that are below it; counts them. `words` are those behind "hone".
void ExpectHelp(const std::vector<std::string>& words, int* count) {
  ++*count;
  std::vector<std::string> arguments = words;
  arguments.push_back("--help");
  const SubprocessResult result = Hone(arguments);
  std::string command = "hone";
  for (const std::string& word : words) command += " " + word;
  const std::string& help = result.standard_output;
  EXPECT_EQ(result.exit_code, 0) << command;
  EXPECT_NE(help.find("--json"), std::string::npos) << command;
  const size_t example = help.find("xample");
  EXPECT_TRUE(help.find(command, std::min(example, help.size())) != std::string::npos ||
              help.find("An example line:") != std::string::npos)
      << command << " has no example of its own";
  const std::string_view below = "\nSubcommands:\n";
  const size_t list = help.find(below);
  if (list == std::string::npos) return;
  std::istringstream lines(help.substr(list + below.size()));
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    if (line[2] == ' ') continue;  // goes on with what the line above is about
    std::vector<std::string> longer = words;
    longer.push_back(line.substr(2, line.find(' ', 2) - 2));
    ExpectHelp(longer, count);
  }
}

TEST_F(CliTest, EveryCommandHasHelpWithAnExampleAndJson) {
  int count = 0;
  ExpectHelp({}, &count);
  EXPECT_GT(count, 60);
  const Json listed = *ParseJson(Hone({"help", "--json"}).standard_output);
  EXPECT_EQ(static_cast<int>(listed.Find("commands")->AsArray().size()), count - 1)
      << "all but the program itself";
}

TEST_F(CliTest, HelpSaysInPlainWordsWhatEveryCommandDoes) {
  const Json listed = *ParseJson(Hone({"help", "--json"}).standard_output);
  const std::string text = Hone({"help"}).standard_output;
  for (const Json& command : listed.Find("commands")->AsArray()) {
    const std::string& about = command.Find("about")->AsString();
    const std::string& name = command.Find("name")->AsString();
    EXPECT_TRUE(command.Find("usage")->AsString().starts_with(name)) << name;
    EXPECT_NE(text.find(command.Find("usage")->AsString() + "\n    " + about), std::string::npos);
    // "Train an agent as a recipe says": a verb in its plain form and what it is done to.
    const std::string verb = about.substr(0, about.find(' '));
    EXPECT_TRUE(about.size() > verb.size() && about.size() <= 120) << name << ": " << about;
    EXPECT_TRUE(std::isupper(static_cast<unsigned char>(about[0])) != 0) << name << ": " << about;
    EXPECT_FALSE(about.ends_with('.') || about.ends_with('?')) << name << ": " << about;
    EXPECT_FALSE((verb.ends_with('s') && !verb.ends_with("ss")) || verb.ends_with(':'))
        << name << ": " << about;
    for (const char* other : {"A", "All", "An", "How", "One", "The", "What", "Whether", "Who"}) {
      EXPECT_NE(verb, other) << name << ": " << about;
    }
  }
}

TEST_F(CliTest, TheListOfCommandsInTheDocumentationIsTrue) {
  EXPECT_EQ(*ReadFile(HONE_SOURCE_DIR "/docs/commands.md"),
            Hone({"help", "--markdown"}).standard_output)
      << "run: build/release/hone help --markdown > docs/commands.md";
}

TEST_F(CliTest, SaysWhichVersionAndCommitItIs) {
  const std::string line = Hone({"version"}).standard_output;
  EXPECT_TRUE(line.starts_with("hone 0.1.0")) << line;
  EXPECT_EQ(Hone({"--version"}).standard_output, line);
  const Json json = *ParseJson(Hone({"version", "--json"}).standard_output);
  EXPECT_EQ(*json.Find("version"), Json("0.1.0"));
  // As git has it, where this is a checkout and git is there.
  const auto git =
      RunSubprocess({"git", "-C", HONE_SOURCE_DIR, "cat-file", "-t",
                     json.Find("commit")->is_null() ? "none" : json.Find("commit")->AsString()},
                    "", std::chrono::seconds(30));
  if (json.Find("commit")->is_null()) return;
  EXPECT_NE(line.find("(commit " + json.Find("commit")->AsString()), std::string::npos) << line;
  if (git.ok()) {
    EXPECT_EQ(git->standard_output, "commit\n");
  }
}

TEST_F(CliTest, HelpIsWhatItSaysWithoutAnyCommandAndOfACommandThatIsNamed) {
  const SubprocessResult alone = Hone({});
  EXPECT_EQ(alone.exit_code, 0) << alone.standard_error;
  EXPECT_EQ(alone.standard_output, Hone({"--help"}).standard_output);
  EXPECT_EQ(Hone({"help", "env", "play"}).standard_output,
            Hone({"env", "play", "--help"}).standard_output);
  ExpectError(Hone({"help", "tran"}), 1, "did you mean \"train\"?");
}

TEST_F(CliTest, ChangesAreTakenWithSetAndAloneByEveryCommandThatTakesThem) {
  const std::vector<std::vector<std::string>> commands = {
      {"train", "recipes/quickstart.toml", "--plan"},
      {"env", "stats", "desk"},
      {"compare", "recipes/grpo.toml", "--plan"},
      {"simulate", "audit", "desk"}};
  for (const std::vector<std::string>& command : commands) {
    for (const bool named : {true, false}) {
      std::vector<std::string> words = command;
      if (named) words.emplace_back("--set");
      words.emplace_back("environment.nonsense=1");
      ExpectError(Hone(words), 1, "unknown key \"environment.nonsense\"");
    }
  }
}

TEST_F(CliTest, UnknownInstructionsAreAnErrorOfEveryCommand) {
  ::setenv("HONE_ISA", "bogus", 1);
  for (const char* command : {"doctor", "train", "serve"}) {
    ExpectError(Hone({command}), 2, "HONE_ISA=bogus: this processor has ");
  }
  ::unsetenv("HONE_ISA");
}

TEST_F(CliTest, AWrongCommandLineExitsWith2AndSaysWhatIsThere) {
  ExpectError(Hone({"tokenise"}), 2, "did you mean \"tokenize\"?");
  ExpectError(Hone({"pipe", "parze"}), 2, "did you mean \"parse\"?");
  ExpectError(Hone({"tools"}), 2, "tools: a command is missing; there are: list");
  ExpectError(Hone({"tokenize", "hi"}), 2, "--tokenizer is required");
  ExpectError(Hone({"doctor", "--frobnicate"}), 2, "--frobnicate");
}

TEST_F(CliTest, DoctorReportsTheMachine) {
  const SubprocessResult text = Hone({"doctor"});
  EXPECT_NE(text.standard_output.find("cores"), std::string::npos);
  const Json json = *ParseJson(Hone({"doctor", "--json"}).standard_output);
  EXPECT_GT(json.Find("findings")->AsArray().size(), 10u);
}

TEST_F(CliTest, TokenizeRenderAndParseWorkTogether) {
  const Json tokens =
      *ParseJson(Hone({"tokenize", "-t", kTokenizer, "--json", "Hello, world!"}).standard_output);
  EXPECT_EQ(*tokens.Find("ids"), *ParseJson("[39,364,375,11,1148,0]"));
  const SubprocessResult rendered = Hone(
      {"render", "-d", "hermes", "-t", kTokenizer, "--json", "examples/tour/conversation.json"});
  EXPECT_TRUE(ParseJson(rendered.standard_output)
                  ->Find("text")
                  ->AsString()
                  .ends_with("<|im_start|>assistant\n"));
  const SubprocessResult parsed =
      Hone({"parse", "-d", "hermes", "--json", "-f", "examples/tour/turn.txt"});
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_EQ(*ParseJson(parsed.standard_output)->Find("calls")->AsArray()[0].Find("name"),
            Json("weather"));
  EXPECT_EQ(Hone({"parse", "-d", "hermes", "<tool_call>{"}).exit_code, 1) << "a fault is a failure";
}

TEST_F(CliTest, ATrainedTokenizerIsWrittenAndLoads) {
  const std::string out = Path("t/tokenizer.json");
  const SubprocessResult trained = Hone(
      {"tokenizer", "train", "LICENSE", "--vocab", "400", "--dialect", "tagged:desk", "-o", out});
  EXPECT_EQ(trained.exit_code, 0) << trained.standard_error;
  const Json tokens =
      *ParseJson(Hone({"tokenize", "-t", out, "--json", "<answer>fog</answer>"}).standard_output);
  EXPECT_EQ(*tokens.Find("decoded"), Json("<answer>fog</answer>"));
  EXPECT_LE(tokens.Find("ids")->AsArray().size(), 5u) << "the markers are single tokens";
}

TEST_F(CliTest, TheTourShowsATreeWithCredit) {
  const std::string program =
      (std::filesystem::path(HONE_BINARY).parent_path() / "examples" / "hone_tour").string();
  SubprocessOptions options;
  options.directory = HONE_SOURCE_DIR;
  for (int twice = 0; twice < 2; ++twice) {
    auto taken =
        RunSubprocess({program, kTokenizer, "examples/tour/conversation.json", Path("run")}, "",
                      std::chrono::seconds(60), options);
    ASSERT_TRUE(taken.ok());
    ASSERT_EQ(taken->exit_code, 0) << taken->standard_error;
  }
  const SubprocessResult shown = Hone({"show", Path("run")});
  EXPECT_EQ(shown.exit_code, 0) << shown.standard_error;
  for (const char* part :
       {"task rain-in-paris", "policy", "tool", "→ weather", "{+0.50}<tool_call>",
        "{-1.00}<tool_call>", "reward +11.00", "invalid_arguments"}) {
    EXPECT_NE(shown.standard_output.find(part), std::string::npos) << part << shown.standard_output;
  }
  EXPECT_EQ(shown.standard_output.find('\x1b'), std::string::npos) << "no colour into a pipe";
  const Json json = *ParseJson(Hone({"show", Path("run"), "--json"}).standard_output);
  EXPECT_TRUE(RecordFromJson(json).ok());
}

TEST_F(CliTest, ShowListsAndPicksTrees) {
  auto store = RunStore::Open(Path("store.sqlite"));
  for (uint64_t seed = 0; seed < 3; ++seed) {
    ASSERT_TRUE((*store)->AddTree(0, RandomRecord(Rng(seed))).ok());
  }
  EXPECT_NE(Hone({"show", Path("store.sqlite")}).standard_output.find("3 trees"),
            std::string::npos);
  EXPECT_EQ(Hone({"show", directory_.path().string(), "2"}).exit_code, 0);
  ExpectError(Hone({"show", directory_.path().string(), "9"}), 1, "no tree 9");
}

TEST_F(CliTest, AToolsOutputCannotWriteToTheScreen) {
  ScoredTree record = RandomRecord(Rng(1));
  record.tree.task.id = "evil\x1b[2J";
  const std::string file = File("t.jsonl", DumpJson(RecordToJson(record)) + "\n");
  EXPECT_EQ(Hone({"show", file}).standard_output.find('\x1b'), std::string::npos);
}

// --- bad input: one line that says what to do, exit status not 0
// ----------------------------------

TEST_F(CliTest, MissingFiles) {
  ExpectError(Hone({"tokenize", "-t", "/nowhere", "hi"}), 1, "cannot open /nowhere");
  ExpectError(Hone({"tokenize", "-t", directory_.path().string(), "hi"}), 1, "no tokenizer here");
  ExpectError(Hone({"tokenize", "-t", kTokenizer, "-f", "/nowhere.txt"}), 1, "/nowhere.txt");
  ExpectError(Hone({"render", "-d", "hermes", "/nowhere.json"}), 1, "/nowhere.json");
  ExpectError(Hone({"show", "/nowhere"}), 1, "give a run's folder");
  ExpectError(Hone({"show", directory_.path().string()}), 1, "no such run store");
  ExpectError(Hone({"pipe", "tokenize", "--tokenizer", "/nowhere"}), 1, "/nowhere");
  ExpectError(Hone({"parse", "-d", "tagged:/nowhere.toml", "x"}), 1, "/nowhere.toml");
}

TEST_F(CliTest, AnEmptyTextIsAText) {
  EXPECT_EQ(Hone({"tokenize", "-t", kTokenizer, "--json", ""}, "not this").standard_output,
            "{\"ids\":[],\"decoded\":\"\"}\n");
  ExpectError(Hone({"tokenize", "-t", kTokenizer, "-f", "LICENSE", "text"}), 2, "excludes");
}

TEST_F(CliTest, BadUtf8) {
  ExpectError(Hone({"tokenize", "-t", kTokenizer, "a\xFF"}), 1, "byte 1 is not UTF-8");
  EXPECT_TRUE(ParseJson(Hone({"--json", "show", "/no\xFF"}).standard_error).ok());
  ExpectError(Hone({"tokenize", "-t", kTokenizer}, "ok \xFF"), 1, "byte 3 is not UTF-8");
  ExpectError(Hone({"parse", "-d", "hermes", "-f", File("x.txt", "\xC3(")}), 1,
              "byte 0 is not UTF-8");
}

TEST_F(CliTest, MalformedJsonAndToml) {
  ExpectError(Hone({"render", "-d", "hermes", File("c.json", "{\"messages\": [\n}")}), 1,
              "c.json: line 2, column 1: not a JSON value");
  ExpectError(Hone({"render", "-d", "hermes", File("c.json", "{}")}), 1,
              "messages: an array is missing");
  ExpectError(Hone({"tokenize", "-t", File("tokenizer.json", "{"), "x"}), 1,
              "tokenizer.json: line 1");
  ExpectError(Hone({"tokenize", "-t", File("tokenizer.json", "{}"), "x"}), 1, "has no \"model\"");
  ExpectError(Hone({"parse", "-d", "tagged:" + File("tags.toml", "x = = 1"), "t"}), 1,
              "tags.toml:1: not TOML");
  ExpectError(Hone({"parse", "-d", "tagged:" + File("tags.toml", "anwser = 'a'"), "t"}), 1,
              "unknown key \"anwser\" (did you mean \"answer\"?)");
  ExpectError(Hone({"show", File("t.jsonl", "{}\n{")}), 1, "record 2: line 1, column 2");
  ExpectError(Hone({"tokenizer", "train", "LICENSE", "--split", "(", "-o", Path("o.json")}), 1,
              "the pattern ( has a '(' without its ')'");
  EXPECT_FALSE(std::filesystem::exists(Path("o.json"))) << "nothing half-written is left";
}

TEST_F(CliTest, WrongVersions) {
  ExpectError(Hone({"show", File("t.jsonl", R"({"format":"hone.tree","version":7})")}), 1,
              "format version 7; this program reads version 1");
  ExpectError(Hone({"show", File("store.sqlite", std::string(8192, 'x'))}), 1, "not a run store");
}

TEST_F(CliTest, UnknownDialect) {
  ExpectError(Hone({"parse", "-d", "hermse", "x"}), 1, "did you mean \"hermes\"?");
  ExpectError(Hone({"pipe", "parse", "--dialect", "tagged:nope"}), 1, "unknown dialect");
}

TEST_F(CliTest, ErrorsAreJsonOnRequest) {
  const SubprocessResult result = Hone({"--json", "show", "/nowhere"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(*ParseJson(result.standard_error)->Find("error")->Find("code"), Json("not_found"));
}

TEST_F(CliTest, AFullDiskIsAnErrorAndNotSilence) {
  auto result = RunSubprocess(
      {"sh", "-c", "\"$0\" tokenize -t tests/golden/tokenizer hi > /dev/full", HONE_BINARY}, "",
      std::chrono::seconds(60), {.directory = HONE_SOURCE_DIR});
  ASSERT_TRUE(result.ok());
  ExpectError(*result, 1, "cannot be written");
}

}  // namespace
}  // namespace hone
