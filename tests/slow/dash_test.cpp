// The dashboard on a run of 2,000 steps and 200,000 trajectories: the first view within two
// seconds, and every other question answered quickly, since the work of each is bounded.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "base/file.h"
#include "base/http_client.h"
#include "base/json.h"
#include "base/subprocess.h"
#include "support/large_run.h"

namespace hone {
namespace {

double Seconds(const std::chrono::steady_clock::time_point& since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

TEST(LargeDash, TheFirstViewOf200000TrajectoriesComesWithinTwoSeconds) {
  const TemporaryDirectory directory;
  auto begin = std::chrono::steady_clock::now();
  const Result<void> made = MakeLargeRun(directory.path() / "large", 2000, 10, 10);
  ASSERT_TRUE(made.ok()) << made.error().message();
  std::printf(
      "made in %.1f s, store of %.0f MB\n", Seconds(begin),
      static_cast<double>(std::filesystem::file_size(directory.path() / "large/store.sqlite")) /
          1e6);

  auto dash = Subprocess::Start(
      {HONE_BINARY, "dash", directory.path().string(), "--port", "0", "--json"}, {});
  ASSERT_TRUE(dash.ok());
  const Json greeting = *ParseJson(*(*dash)->ReadLine(std::chrono::seconds(30)));
  const std::string url = greeting.Find("url")->AsString();
  for (const char* path :
       {"api/runs", "api/run?run=large", "api/metrics?run=large", "api/groups?run=large",
        "api/groups?run=large&order=oldest", "api/groups?run=large&first_step=1000&last_step=1001",
        "api/groups?run=large&least_reward=0.95", "api/groups?run=large&text=nothing%20like%20it",
        "api/group?run=large&id=12345"}) {
    begin = std::chrono::steady_clock::now();
    const Result<HttpResponse> response = HttpFetch({.url = url + path});
    ASSERT_TRUE(response.ok()) << path << ": " << response.error().message();
    EXPECT_EQ(response->status, 200) << path;
    const double seconds = Seconds(begin);
    std::printf("%7.3f s %8.1f kB  %s\n", seconds, static_cast<double>(response->body.size()) / 1e3,
                path);
    EXPECT_LT(seconds, 2) << path;
  }

  const std::filesystem::path script =
      std::filesystem::path(HONE_SOURCE_DIR) / "build/web/test/first_view.mjs";
  const char* chromium = std::getenv("HONE_CHROMIUM");
  if (!greeting.Find("page")->AsBool() ||
      !std::filesystem::exists(chromium == nullptr ? "/usr/bin/chromium" : chromium) ||
      !std::filesystem::exists(script.parent_path().parent_path() /
                               "node_modules/playwright-core")) {
    GTEST_SKIP() << "no page, browser or playwright-core here: only the data was timed";
  }
  const auto result =
      RunSubprocess({"node", script.string(), url, "large"}, "", std::chrono::seconds(120));
  ASSERT_TRUE(result.ok()) << result.error().message();
  std::printf("%s", result->standard_output.c_str());
  EXPECT_EQ(result->exit_code, 0) << result->standard_output << result->standard_error;
}

}  // namespace
}  // namespace hone
