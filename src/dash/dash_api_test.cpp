#include "dash/dash_api.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "dash/dash_page.h"
#include "support/random_record.h"

namespace hone {
namespace {

class DashApiTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path run = directory_.path() / "one";
    ASSERT_TRUE(WriteFileAtomic(run / "recipe.toml", "[credit]\nmethod = \"grpo\"\n").ok());
    ASSERT_TRUE(
        WriteFileAtomic(run / "metrics.jsonl", "{\"step\":0,\"success\":0.5,\"loss\":1}\n").ok());
    const auto store = *RunStore::Open(run / "store.sqlite");
    ASSERT_TRUE(store->AddTree(0, RandomRecord(Rng(1))).ok());
  }

  ServerResponse Ask(const std::string& path, const std::string& query = "",
                     const std::string& method = "GET") {
    IncomingRequest request;
    request.method = method;
    request.path = path;
    request.query = query;
    return AnswerDash(request, &board_, 4e9);
  }
  std::string ErrorOf(const ServerResponse& answer) {
    const Result<Json> json = ParseJson(answer.body);
    const Json* error = json.ok() ? json->Find("error") : nullptr;
    return error == nullptr ? "" : error->AsString();
  }

  const TemporaryDirectory directory_;
  DashBoard board_{{directory_.path()}};
};

TEST_F(DashApiTest, EveryPathAnswersWithJson) {
  for (const auto& [path, query, part] :
       std::vector<std::tuple<const char*, const char*, const char*>>{
           {"/api/runs", "", "\"id\":\"one\""},
           {"/api/run", "run=one", "\"metrics\":[\"loss\",\"success\"]"},
           {"/api/run", "run=one", "\"meanings\":{\"loss\":\"the sum of the four below\""},
           {"/api/metrics", "run=one&names=success", "\"series\":{\"success\":[0.5]}"},
           {"/api/metrics", "run=one&generation=0&row=1", "\"steps\":[]"},
           {"/api/groups", "run=one&limit=5&order=oldest", "\"count\":1"},
           {"/api/group", "run=one&id=1&method=rloo", "\"method\":\"rloo\""},
           {"/api/methods", "", "\"name\":\"toolpo\""}}) {
    const ServerResponse answer = Ask(path, query);
    EXPECT_EQ(answer.status, 200) << path << " " << answer.body;
    EXPECT_EQ(answer.content_type, "application/json");
    EXPECT_NE(answer.body.find(part), std::string::npos) << path << "\n" << answer.body;
  }
}

TEST_F(DashApiTest, WrongQuestionsGetTheStatusAndTheReason) {
  EXPECT_EQ(Ask("/api/run").status, 400);
  EXPECT_EQ(ErrorOf(Ask("/api/run")), "the parameter run is missing");
  EXPECT_EQ(Ask("/api/run", "run=two").status, 404);
  EXPECT_EQ(ErrorOf(Ask("/api/run", "run=two")), "there is no run \"two\" here");
  EXPECT_EQ(Ask("/api/group", "run=one&id=x").status, 400);
  EXPECT_EQ(Ask("/api/group", "run=one&id=99").status, 404);
  EXPECT_EQ(ErrorOf(Ask("/api/groups", "run=one&least_reward=nan")),
            "the parameter least_reward must be a number, not \"nan\"");
  EXPECT_EQ(Ask("/api/groups", "run=one&first_step=99999999999999999999").status, 400);
  EXPECT_EQ(Ask("/api").status, 404);
  EXPECT_EQ(Ask("/api/run", "run=one", "POST").status, 405);
  EXPECT_EQ(Ask("/", "", "DELETE").status, 405);
}

TEST_F(DashApiTest, NoPathReachesTheFileSystem) {
  for (const char* path :
       {"/../../etc/passwd", "/one/recipe.toml", "/api/../one/recipe.toml", "/dash.js/../../x"}) {
    EXPECT_EQ(Ask(path).status, 404) << path;
  }
  for (const char* run : {"..", "%2e%2e%2fetc", "/etc", "one/../one", "one%2f"}) {
    EXPECT_EQ(Ask("/api/run", std::string("run=") + run).status, 404) << run;
  }
}

TEST_F(DashApiTest, ThePageOrHowToGetItIsAtTheRoot) {
  const ServerResponse page = Ask("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type,
            HasPage() ? "text/html; charset=utf-8" : "text/plain; charset=utf-8");
  if (!HasPage()) {
    EXPECT_NE(page.body.find("npm"), std::string::npos);
  }
  const auto policy = std::find_if(page.headers.begin(), page.headers.end(), [](const auto& one) {
    return one.first == "content-security-policy";
  });
  ASSERT_NE(policy, page.headers.end());
  EXPECT_NE(policy->second.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(policy->second.find("unsafe"), std::string::npos);
}

}  // namespace
}  // namespace hone
