#include "envs/study/study_tools.h"

#include <gtest/gtest.h>

#include <thread>

namespace hone::study {
namespace {

std::shared_ptr<Toolkit> Search() {
  return NewLibrarySearch(std::make_shared<const Library>(LibraryOptions{})).value();
}

ToolReply Ask(Toolkit& tools, std::string_view query) {
  return tools.Call("search", Json::Of({{"query", query}}), nullptr, CallLimits{});
}

TEST(StudyToolsTest, EveryQueryIsAnswered) {
  const auto search = Search();
  EXPECT_EQ(Ask(*search, "xyzzy").content, "nothing found");
  const ToolReply none = Ask(*search, " ?! ");
  EXPECT_EQ(none.status, CallStatus::kToolError);
  EXPECT_EQ(none.blame, Blame::kAgent);
  for (const char* query : {"Kell", "born in 1874", "\"Kell\" OR *", "Ada Kell Ada Kell"}) {
    const ToolReply reply = Ask(*search, query);
    EXPECT_EQ(reply.status, CallStatus::kOk) << query;
    EXPECT_EQ(std::count(reply.content.begin(), reply.content.end(), '\n'), 1) << query;
  }
}

TEST(StudyToolsTest, WhoeverSearchesBesideFindsTheSame) {
  const auto search = Search(), other = Search();
  const std::vector<std::string> queries = {"Ada", "Kell", "Port Ellis", "weaver", "km"};
  std::vector<ToolReply> alone;
  for (const std::string& query : queries) alone.push_back(Ask(*other, query));
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (size_t n = 0; n < 20; ++n) {
        EXPECT_EQ(Ask(*search, queries[n % queries.size()]), alone[n % queries.size()]);
      }
    });
  }
}

TEST(StudyToolsTest, CodeHasTheNameThatIsWanted) {
  EXPECT_EQ(NewStudyPython("a\"b{}").value()->tools().at(0).name, "a\"b{}");
  const auto python = NewStudyPython("code_interpreter").value();
  ASSERT_EQ(python->tools().size(), 1u);
  EXPECT_EQ(python->tools()[0].name, "code_interpreter");
  const ToolReply reply =
      python->Call("code_interpreter", Json::Of({{"code", "print(6*7)"}}), nullptr, CallLimits{});
  EXPECT_EQ(reply.status, CallStatus::kOk);
  EXPECT_EQ(reply.content, "42");
}

}  // namespace
}  // namespace hone::study
