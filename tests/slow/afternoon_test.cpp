// docs/howto/afternoon.md, typed into a shell from an empty folder on, with a stopwatch.

#include <cstdio>
#include <regex>

#include "e2e/program.h"
#include "support/page_blocks.h"

#include "base/json.h"

namespace hone {
namespace {

void Replace(std::string* text, const std::string& from, const std::string& to) {
  ASSERT_NE(text->find(from), std::string::npos) << from << " is not in " << *text;
  text->replace(text->find(from), from.size(), to);
}

class AfternoonTest : public testing::Test {
 protected:
  const std::string& Block(const std::string& name) {
    EXPECT_TRUE(blocks_.contains(name)) << "the page has no block \"" << name << "\"";
    return blocks_[name];
  }

  // The commands as a user types them; what they print.
  std::string Type(const std::string& commands, const std::string& where = "") {
    const auto begin = std::chrono::steady_clock::now();
    const auto result =
        RunSubprocess({"sh", "-ec", With() + commands}, "", std::chrono::seconds(280), In(where));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_TRUE(result.ok()) << result.error().message();
    if (!result.ok()) return "";
    std::printf("%6.1f s  %s", took.count(), commands.c_str());
    EXPECT_EQ(result->exit_code, 0)
        << commands << result->standard_output << result->standard_error;
    return result->standard_output;
  }

  // A server of the page, on a port that is free here instead of the page's; its URL.
  std::string Serve(const std::string& block, const std::string& port) {
    std::string commands = Block(block);
    Replace(&commands, "hone serve", "exec hone --json serve");
    Replace(&commands, "--port " + port, "--port 0");
    auto started = Subprocess::Start({"sh", "-ec", With() + commands}, In(""));
    EXPECT_TRUE(started.ok());
    if (!started.ok()) return "";
    const auto line = (*started)->ReadLine(std::chrono::seconds(60));
    EXPECT_TRUE(line.ok());
    servers_.push_back(*std::move(started));
    const auto json = ParseJson(line.ok() ? *line : "");
    EXPECT_TRUE(json.ok()) << commands;
    return json.ok() ? json->Find("url")->AsString() : "";
  }

  // "after/test/greedy   success  97.1 %" as 97.1.
  static double Success(const std::string& output, const std::string& evaluation) {
    std::smatch found;
    const std::regex line(evaluation + R"( +success +([0-9.]+) %)");
    EXPECT_TRUE(std::regex_search(output, found, line)) << evaluation << " in " << output;
    return found.empty() ? -1 : std::stod(found[1]);
  }

  void Save(const std::string& block) {
    const std::string name = block.substr(block.find(' ') + 1);
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / name, Block(block)).ok());
  }

  const TemporaryDirectory folder_;

 private:
  static std::string With() {
    const std::string bin = std::filesystem::path(HONE_BINARY).parent_path().string();
    return "PATH=\"" + bin + ":$PATH\"\n";
  }
  SubprocessOptions In(const std::string& where) const {
    SubprocessOptions options;
    options.directory = (folder_.path() / where).string();
    return options;
  }

  std::map<std::string, std::string> blocks_ =
      BlocksOf(ReadFile(HONE_SOURCE_DIR "/docs/howto/afternoon.md").value());
  std::vector<std::unique_ptr<Subprocess>> servers_;
};

TEST_F(AfternoonTest, FromAnEmptyFolderToAServedAgent) {
  const std::string packages = HONE_SOURCE_DIR "/build/openai-client/node_modules";
  const std::string shop = Type(Block("sh init"));
  EXPECT_LE(Success(shop, "before/test/sampled"), 30);
  EXPECT_LE(Success(shop, "before/test/greedy"), 30);
  EXPECT_GE(Success(shop, "after/test/sampled"), 70);
  EXPECT_GE(Success(shop, "after/test/greedy"), 70);

  for (const char* block : {"python deliveries.py", "python own_data.py", "python reward.py",
                            "toml recipe.toml", "js client.mjs"}) {
    Save(block);
  }
  const std::string checked = Type(Block("sh check"));
  EXPECT_NE(checked.find("days_to"), std::string::npos) << checked;

  Type(Block("sh imitate"));
  std::string baseline = Block("sh baseline");
  Replace(&baseline, "http://127.0.0.1:8123/v1", Serve("sh serve-imitated", "8123"));
  const std::string measured = Type(baseline);
  EXPECT_NE(measured.find("on deliveries, test: 60 tasks"), std::string::npos) << measured;

  const std::string own = Type(Block("sh train"));
  const double before = Success(own, "before/test/sampled");
  const double after = Success(own, "after/test/sampled");
  EXPECT_GT(after, before + 15);
  EXPECT_GE(Success(own, "after/test/greedy"), 70);

  Type(Block("sh export"));
  if (!std::filesystem::exists(packages)) {
    GTEST_SKIP() << "the openai package of npm is not installed: ./dev test installs it";
  }
  std::string client = Block("sh client");
  Replace(&client, "npm install openai", "ln -s " + packages + " node_modules");
  Replace(&client, "http://127.0.0.1:8124/v1", Serve("sh serve-agent", "8124"));
  EXPECT_EQ(Type(client), Block("text client"));
}

}  // namespace
}  // namespace hone
