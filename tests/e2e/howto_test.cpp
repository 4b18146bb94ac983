// The commands of docs/howto, typed into a shell.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "base/file.h"
#include "base/json.h"
#include "base/subprocess.h"
#include "support/page_blocks.h"
#include "support/playing_server.h"

namespace hone {
namespace {

// A page, followed in an empty folder.
class Reader {
 public:
  explicit Reader(const std::string& page)
      : blocks_(BlocksOf(ReadFile(std::string(HONE_SOURCE_DIR) + "/docs/howto/" + page).value())) {}

  const std::string& Block(const std::string& name) const {
    const auto found = blocks_.find(name);
    EXPECT_NE(found, blocks_.end()) << "the page has no block \"" << name << "\"";
    static const std::string none;
    return found == blocks_.end() ? none : found->second;
  }

  std::string File(const std::string& name) const { return (folder_.path() / name).string(); }

  // Saves the block "LANGUAGE NAME" as NAME.
  void Save(const std::string& language, const std::string& name) const {
    ASSERT_TRUE(WriteFileAtomic(File(name), Block(language + " " + name)).ok());
  }

  SubprocessResult Type(const std::string& commands, const std::string& input = "") const {
    const std::string bin = std::filesystem::path(HONE_BINARY).parent_path().string();
    SubprocessOptions options;
    options.directory = folder_.path().string();
    const auto result = RunSubprocess(
        {"sh", "-ec",
         "PATH=\"" + bin + ":$PATH\" OPENAI_API_KEY=secret; export OPENAI_API_KEY\n" + commands},
        input, std::chrono::seconds(120), options);
    EXPECT_TRUE(result.ok());
    return result.ok() ? *result : SubprocessResult{-1, "", ""};
  }

  // The commands of a block print what the page says that they print.
  void ExpectAsWritten(const std::string& name, int exit_code = 0) const {
    const SubprocessResult result = Type(Block("sh " + name));
    EXPECT_EQ(result.exit_code, exit_code) << result.standard_error;
    EXPECT_EQ(result.standard_output, Block("text " + name));
  }

 private:
  const std::map<std::string, std::string> blocks_;
  const TemporaryDirectory folder_;
};

// What is added in C++ is shown on a page that compiles (ExpectShowsCodeOf, beside the module), and
// that ends with what to begin with.
TEST(HowTo, PagesForDevelopersAreShortAndEndWithAFileToCopy) {
  const std::filesystem::path folder = HONE_SOURCE_DIR "/docs/howto";
  const std::regex file(R"((?:`|\]\((?:\.\./)*)((?:src|tests)/[\w/.]+)(?:\{h,cpp\}`|`|\)))");
  for (const char* name : {"command", "method", "stage", "strategy", "environment"}) {
    SCOPED_TRACE(name);
    const bool vowel = std::string_view("aeiou").find(*name) != std::string_view::npos;
    const std::string page =
        ReadFile(folder / (std::string(vowel ? "add-an-" : "add-a-") + name + ".md")).value();
    EXPECT_LT(std::count(page.begin(), page.end(), '\n'), 60);
    const size_t last = page.rfind("\n\n") + 2;
    const std::string paragraph = page.substr(last);
    EXPECT_TRUE(paragraph.starts_with("Copy this file: ")) << paragraph;
    int files = 0;
    for (std::sregex_iterator found(paragraph.begin(), paragraph.end(), file), end; found != end;
         ++found, ++files) {
      std::string path = (*found)[1];
      if (path.ends_with('.')) path += "cpp";  // x.{h,cpp}
      EXPECT_TRUE(Exists(std::filesystem::path(HONE_SOURCE_DIR) / path)) << path;
    }
    EXPECT_GT(files, 0) << paragraph;
  }
}

TEST(HowTo, AddATool) {
  const Reader reader("add-a-tool.md");
  reader.Save("python", "rates.py");
  reader.Save("toml", "tools.toml");
  const SubprocessResult result = reader.Type(reader.Block("sh"));
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_NE(result.standard_output.find("convert"), std::string::npos);
  EXPECT_TRUE(result.standard_output.ends_with(reader.Block("text"))) << result.standard_output;
}

// Trained in earnest by tests/slow/own_library_test.cpp; here every command is typed, and few steps
// are taken.
TEST(HowTo, OwnLibrary) {
  const Reader reader("own-library.md");
  reader.Save("python", "make_data.py");
  reader.Save("toml", "recipe.toml");
  reader.ExpectAsWritten("check");
  const auto briefly = [&](const std::string& block, const std::string& behind,
                           const std::string& more) {
    std::string commands = reader.Block("sh " + block);
    const size_t at = commands.find(behind);
    ASSERT_NE(at, std::string::npos) << block;
    commands.insert(at + behind.size(), more);
    const SubprocessResult typed = reader.Type(commands);
    EXPECT_EQ(typed.exit_code, 0) << commands << typed.standard_output << typed.standard_error;
  };
  briefly("train", "hone train recipe.toml",
          " stage.0.steps=2 stage.1.steps=1 stage.1.groups=2 stage.1.group=2"
          " evaluation.dev_tasks=2 evaluation.test_tasks=2");
  EXPECT_TRUE(Exists(reader.File("runs/huts/inputs/texts/aran.md")));
  briefly("ask", "hone chat runs/huts", " --max-tokens 4");
  briefly("reads", "--split test", " -n 2");
}

// What a person types, and what the program writes in between, out of a transcript.
std::pair<std::string, std::vector<std::string>> ReadTranscript(const std::string& text) {
  std::string typed;
  std::vector<std::string> written;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (line.starts_with("> ")) {
      typed += line.substr(2) + "\n";
    } else {
      written.push_back(line);
    }
    begin = end + 1;
  }
  return {typed, written};
}

// "20 tasks: 18 succeeded, ..." as 18.
int Succeeded(const std::string& output) {
  const size_t at = output.find(" tasks: ");
  return at == std::string::npos ? -1 : std::stoi(output.substr(at + 8));
}

class BringYourOwnTools : public testing::Test {
 protected:
  BringYourOwnTools() {
    for (const auto& [language, name] :
         {std::pair("python", "library.py"), std::pair("json", "tasks.jsonl"),
          std::pair("toml", "library.toml"), std::pair("json", "bad.jsonl")}) {
      reader_.Save(language, name);
    }
  }
  const Reader reader_{"bring-your-own-tools.md"};
};

TEST_F(BringYourOwnTools, TheRealEnvironment) {
  reader_.ExpectAsWritten("check");
  reader_.ExpectAsWritten("bad", 1);
  reader_.ExpectAsWritten("gold");
  const auto [typed, written] = ReadTranscript(reader_.Block("text play"));
  const SubprocessResult played = reader_.Type(reader_.Block("sh play"), typed);
  for (const std::string& line : written) {
    EXPECT_NE(played.standard_output.find(line), std::string::npos) << line << "\n"
                                                                    << played.standard_output;
  }
}

// One test, because each step stands on the one before.
TEST_F(BringYourOwnTools, TheTwinFromTheFirstCallToTheLast) {
  ASSERT_EQ(reader_.Type(reader_.Block("sh check")).exit_code, 0);
  reader_.ExpectAsWritten("record");
  // From here on nobody needs the server.
  std::filesystem::remove(reader_.File("library.py"));
  reader_.ExpectAsWritten("random");

  // Learned, too, to the last digit: weights do not depend on the machine.
  reader_.ExpectAsWritten("learned");
  reader_.ExpectAsWritten("fidelity");
  const SubprocessResult json = reader_.Type(
      "hone simulate fidelity --json --specs tools.json --journal real.sqlite kind=learned "
      "folder=sim");
  EXPECT_GT(ParseJson(json.standard_output)->Find("all")->Find("exact")->AsDouble(), 0.5);

  auto server = std::make_unique<ChatServer>([](const ChatServer::Request& request) {
    EXPECT_EQ(request.headers.at("authorization"), "Bearer secret");
    return PlayTool(request);
  });
  std::string recipe = reader_.Block("toml library.toml"), table = reader_.Block("toml endpoint");
  const std::string address = "http://127.0.0.1:8000/v1";
  ASSERT_NE(table.find(address), std::string::npos);
  table.replace(table.find(address), address.size(), server->url());
  recipe.replace(recipe.find("[simulator]"), std::string::npos, table);
  ASSERT_TRUE(WriteFileAtomic(reader_.File("library.toml"), recipe).ok());
  const SubprocessResult endpoint = reader_.Type(reader_.Block("sh endpoint"));
  EXPECT_EQ(endpoint.exit_code, 0) << endpoint.standard_error;
  EXPECT_GE(Succeeded(endpoint.standard_output), 16) << endpoint.standard_output;
  EXPECT_GT(server->requests(), 20);

  // Neither weights nor network.
  server.reset();
  std::filesystem::remove_all(reader_.File("sim"));
  const SubprocessResult offline = reader_.Type(reader_.Block("sh offline"));
  EXPECT_EQ(offline.exit_code, 0) << offline.standard_error << offline.standard_output;
}

}  // namespace
}  // namespace hone
