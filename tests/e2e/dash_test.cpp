// hone dash as people use it: beside a run that trains, in a browser, with what goes wrong.

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/file.h"
#include "base/http_client.h"
#include "base/json.h"
#include "e2e/program.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

constexpr std::chrono::seconds kSoon{60};

// A hone dash that runs until it is destroyed.
class Dash {
 public:
  explicit Dash(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {HONE_BINARY, "dash", "--json"});
    auto started = Subprocess::Start(arguments, {.keep_error_bytes = 1 << 16});
    EXPECT_TRUE(started.ok());
    process_ = *std::move(started);
    const Result<std::string> line = process_->ReadLine(kSoon);
    const Result<Json> said = line.ok() ? ParseJson(*line) : line.error();
    EXPECT_TRUE(said.ok()) << process_->LastErrors();
    if (said.ok()) url_ = said->Find("url")->AsString();
    if (said.ok()) page_ = said->Find("page")->AsBool();
  }

  Result<HttpResponse> Get(const std::string& path, const std::string& host = "") const {
    HttpRequest request{.url = url_ + path};
    if (!host.empty()) request.headers = {{"Host", host}};
    return HttpFetch(request);
  }
  Json GetJson(const std::string& path) const {
    const Result<HttpResponse> response = Get(path);
    EXPECT_TRUE(response.ok() && response->status == 200) << path;
    return response.ok() ? ParseJson(response->body).value() : Json();
  }
  const std::string& url() const { return url_; }
  bool page() const { return page_; }
  Subprocess* process() { return process_.get(); }

 private:
  std::unique_ptr<Subprocess> process_;
  std::string url_;  // ends with /
  bool page_ = false;
};

class DashTest : public testing::Test {
 protected:
  // Trains to the end.
  std::string Train(const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = Command(name, more);
    const SubprocessResult result = Hone(command);
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    const Result<std::string> ended = ReadFile(runs_ / name / "result.json");
    return ended.ok() ? ParseJson(*ended)->Find("weights")->AsString() : "";
  }
  std::vector<std::string> Command(const std::string& name, const std::vector<std::string>& more) {
    const std::filesystem::path recipe = directory_.path() / "tiny.toml";
    EXPECT_TRUE(WriteFileAtomic(recipe, TinyRecipe(runs_)).ok());
    std::vector<std::string> command = {"train", recipe.string(), "--quiet", "run.name=" + name};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }
  std::unique_ptr<Subprocess> StartTraining(const std::string& name) {
    std::vector<std::string> command = Command(name, {"stage.1.steps=100000"});
    // Its training only has to go on: what is tested should not wait for it.
    command.insert(command.begin(), {"nice", "-n", "19", HONE_BINARY});
    auto training = Subprocess::Start(command, {.keep_error_bytes = 1 << 16});
    EXPECT_TRUE(training.ok());
    // Until there is something of rl to look at.
    const auto deadline = std::chrono::steady_clock::now() + kSoon;
    while (std::chrono::steady_clock::now() < deadline) {
      const Result<std::string> lines = ReadFile(runs_ / name / "metrics.jsonl");
      if (lines.ok() && lines->find("\"success\"") != std::string::npos) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return *std::move(training);
  }

  const TemporaryDirectory directory_;
  const std::filesystem::path runs_ = directory_.path() / "runs";
};

TEST_F(DashTest, ShowsAFinishedRunAndOneInTrainingInARealBrowser) {
  const std::filesystem::path script =
      std::filesystem::path(HONE_SOURCE_DIR) / "build/web/test/browser.mjs";
  const char* chromium = std::getenv("HONE_CHROMIUM");
  if (chromium == nullptr) chromium = "/usr/bin/chromium";
  if (!std::filesystem::exists(chromium)) {
    GTEST_SKIP() << "there is no browser at " << chromium << " (apt-get install chromium)";
  }
  if (!std::filesystem::exists(script.parent_path().parent_path() /
                               "node_modules/playwright-core")) {
    GTEST_SKIP() << "the packages of web/ are not installed (./dev build does it where npm is)";
  }
  // Enough imitation for calls that succeed at times: then there is credit to look at.
  const std::vector<std::string> some = {"answers.mode=live", "stage.0.steps=150",
                                         "stage.1.steps=8", "stage.1.group=6"};
  Train("one", some);
  std::vector<std::string> others = some;
  others.insert(others.end(), {"run.seed=2", "credit.method=grpo"});
  Train("two", others);
  const std::unique_ptr<Subprocess> training = StartTraining("live");
  const Dash dash({runs_.string(), "--port", "0"});
  if (!dash.page()) GTEST_SKIP() << "this program was built without the page (./dev build)";
  const auto result = RunSubprocess({"node", script.string(), dash.url(), "one", "two", "live"}, "",
                                    std::chrono::seconds(240));
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_EQ(result->exit_code, 0) << result->standard_output << result->standard_error;
  EXPECT_NE(result->standard_output.find("ok nothing went wrong meanwhile"), std::string::npos);
}

TEST_F(DashTest, TrainingComesOutTheSameWhileSomebodyLooks) {
  const std::string alone = Train("alone");
  const Dash dash({runs_.string(), "--port", "0"});
  std::atomic<bool> done = false;
  std::atomic<int> answers = 0;
  std::thread looker([&] {
    while (!done) {
      for (const char* path :
           {"api/runs", "api/metrics?run=watched", "api/run?run=watched",
            "api/groups?run=watched&differing=1", "api/group?run=watched&id=1"}) {
        const Result<HttpResponse> response = dash.Get(path);
        ASSERT_TRUE(response.ok()) << response.error().message();
        EXPECT_LT(response->status, 500) << path << " " << response->body;
        ++answers;
      }
    }
  });
  // Another name makes other journal scopes, but no other weights.
  EXPECT_EQ(Train("watched"), alone);
  done = true;
  looker.join();
  EXPECT_GT(answers, 5);
  const Json run = dash.GetJson("api/run?run=watched");
  EXPECT_EQ(run.Find("state")->AsString(), "finished");
  EXPECT_EQ(run.Find("step")->AsInteger(), 64);
  EXPECT_EQ(run.Find("problem"), nullptr);
}

TEST_F(DashTest, AFolderThatIsNotThereAndAPortInUseAreSaid) {
  ExpectError(Hone({"dash", "/nowhere/runs"}), 1, "there is no folder \"/nowhere/runs\"");
  const Dash dash({directory_.path().string(), "--port", "0"});
  const std::string port =
      dash.url().substr(dash.url().rfind(':') + 1, dash.url().size() - dash.url().rfind(':') - 2);
  ExpectError(Hone({"dash", directory_.path().string(), "--port", port}), 1,
              "port " + port + " is in use");
}

TEST_F(DashTest, OnlyThisMachineIsAnswered) {
  const Dash dash({directory_.path().string(), "--port", "0"});
  EXPECT_EQ(dash.Get("api/runs")->status, 200);
  EXPECT_EQ(dash.Get("api/runs", "evil.example:80")->status, 403);
  EXPECT_EQ(dash.Get("api/runs", "localhost:1234")->status, 200);  // as through ssh -L
  EXPECT_EQ(dash.Get("../../etc/passwd")->status, 404);
  EXPECT_EQ(dash.Get("%2e%2e/%2e%2e/etc/passwd")->status, 404);
  HttpRequest post{.method = "POST", .url = dash.url() + "api/runs"};
  EXPECT_EQ(HttpFetch(post)->status, 405);
}

TEST_F(DashTest, ADamagedStoreIsSaidByTheRunsThatHaveOne) {
  Train("good");
  std::filesystem::copy(runs_ / "good", runs_ / "bad", std::filesystem::copy_options::recursive);
  for (const char* name : {"store.sqlite-wal", "store.sqlite-shm"}) {
    std::filesystem::remove(runs_ / "bad" / name);
  }
  std::string bytes = *ReadFile(runs_ / "bad/store.sqlite");
  std::fill(bytes.begin(), bytes.begin() + 4096, 'x');
  ASSERT_TRUE(WriteFileAtomic(runs_ / "bad/store.sqlite", bytes).ok());
  const Dash dash({runs_.string(), "--port", "0"});
  const Json runs = dash.GetJson("api/runs");
  ASSERT_EQ(runs.Find("runs")->AsArray().size(), 2u);
  EXPECT_NE(runs.Find("runs")->AsArray()[0].Find("problem"), nullptr);
  EXPECT_EQ(runs.Find("runs")->AsArray()[1].Find("problem"), nullptr);
  const Result<HttpResponse> groups = dash.Get("api/groups?run=bad");
  EXPECT_EQ(groups->status, 400);
  EXPECT_NE(groups->body.find("store.sqlite: not a run store"), std::string::npos) << groups->body;
  EXPECT_FALSE(dash.GetJson("api/metrics?run=bad").Find("steps")->AsArray().empty());
}

TEST_F(DashTest, PeopleAreToldWhereItIsAndHowToReachItFromElsewhere) {
  auto dash = Subprocess::Start({HONE_BINARY, "dash", directory_.path().string(), "--port", "0"});
  ASSERT_TRUE(dash.ok());
  std::string said;
  for (int i = 0; i < 20 && said.find("Ctrl-C") == std::string::npos; ++i) {
    const Result<std::string> line = (*dash)->ReadLine(kSoon);
    ASSERT_TRUE(line.ok()) << said;
    said += *line + "\n";
  }
  EXPECT_NE(said.find("0 runs in"), std::string::npos) << said;
  EXPECT_NE(said.find("http://127.0.0.1:"), std::string::npos) << said;
  EXPECT_NE(said.find("ssh -L "), std::string::npos) << said;
}

TEST_F(DashTest, EndsWithTheSignalAndStatusZero) {
  Dash dash({directory_.path().string(), "--port", "0"});
  ASSERT_EQ(::kill(dash.process()->pid(), SIGTERM), 0);
  const Result<int> status = dash.process()->Wait(kSoon);
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(*status, 0);
}

}  // namespace
}  // namespace hone
