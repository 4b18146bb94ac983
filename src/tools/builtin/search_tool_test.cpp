#include "tools/builtin/search_tool.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/file.h"

namespace hone {
namespace {

class SearchToolTest : public ::testing::Test {
 protected:
  SearchToolTest() {
    options_.corpus = (folder_.path() / "c.jsonl").string();
    std::string corpus;
    for (int i = 0; i < 30; ++i) {
      corpus += DumpJson(Json::Of({{"id", i},
                                   {"title", "Page " + std::to_string(i)},
                                   {"text", i < 12 ? "a river in the north" : "a hill"},
                                   {"year", 1900 + i}})) +
                "\n";
    }
    EXPECT_TRUE(WriteFileAtomic(options_.corpus, corpus).ok());
    options_.max_k = 7;
  }

  TemporaryDirectory folder_;
  SearchOptions options_;
};

TEST_F(SearchToolTest, SearchRanksAndFetchGivesTheWholeDocument) {
  auto toolkit = *NewSearchToolkit(options_);
  const Json hits =
      *ParseJson(toolkit->Call("search", Json::Of({{"query", "river"}}), nullptr, {}).content);
  ASSERT_EQ(hits.AsArray().size(), 5u);
  const Json& first = hits.AsArray()[0];
  EXPECT_EQ(*first.Find("id"), Json("0"));
  EXPECT_EQ(*first.Find("title"), Json("Page 0"));
  EXPECT_GT(first.Find("score")->AsDouble(), 0);
  EXPECT_EQ(*first.Find("snippet"), Json("a river in the north"));
  EXPECT_EQ(toolkit->Call("fetch", Json::Of({{"id", "0"}}), nullptr, {}).content,
            R"({"id":0,"title":"Page 0","text":"a river in the north","year":1900})");
  EXPECT_EQ(toolkit->Call("fetch", Json::Of({{"id", "99"}}), nullptr, {}),
            Refuted("there is no document \"99\""));
  EXPECT_EQ(toolkit->Call("search", Json::Of({{"query", "ocean"}}), nullptr, {}), Answered("[]"));
  EXPECT_EQ(toolkit->Call("search", Json::Of({{"query", "?!"}}), nullptr, {}).status,
            CallStatus::kToolError);
}

TEST_F(SearchToolTest, TheSchemaSaysHowManyMayBeAskedFor) {
  auto toolkit = *NewSearchToolkit(options_);
  const auto checker = ArgumentChecker::For(toolkit->tools()[0]);
  ASSERT_TRUE(checker.ok());
  EXPECT_EQ(checker->Problem(Json::Of({{"query", "x"}, {"k", 7}})), std::nullopt);
  EXPECT_NE(checker->Problem(Json::Of({{"query", "x"}, {"k", 8}})), std::nullopt);
}

TEST_F(SearchToolTest, PassagesAreLinesOfTextAndTheQueryIsAllThatIsAsked) {
  const std::filesystem::path texts = folder_.path() / "texts";
  ASSERT_TRUE(WriteFileAtomic(texts / "oslo.md", "# Harbour\nThe harbour\n freezes.").ok());
  ASSERT_TRUE(WriteFileAtomic(texts / "turku.txt", "A river and a small harbour.").ok());
  options_.corpus = texts.string();
  options_.k = 2;
  options_.reply = SearchOptions::Reply::kPassages;
  auto toolkit = *NewSearchToolkit(options_);
  ASSERT_EQ(toolkit->tools().size(), 1u);
  const auto checker = ArgumentChecker::For(toolkit->tools()[0]);
  EXPECT_EQ(checker->Problem(Json::Of({{"query", "x"}})), std::nullopt);
  EXPECT_NE(checker->Problem(Json::Of({{"query", "x"}, {"k", 2}})), std::nullopt);
  const Json harbour = Json::Of({{"query", "harbour"}});
  EXPECT_EQ(toolkit->Call("search", harbour, nullptr, {}),
            Answered("oslo, Harbour: The harbour freezes.\nturku: A river and a small harbour."));
  EXPECT_EQ(toolkit->Call("search", Json::Of({{"query", "ocean"}}), nullptr, {}),
            Answered("nothing found"));
  options_.reply = SearchOptions::Reply::kSearchR1;
  EXPECT_EQ((*NewSearchToolkit(options_))->Call("search", harbour, nullptr, {}),
            Answered("Doc 1(Title: oslo, Harbour) The harbour freezes.\n"
                     "Doc 2(Title: turku) A river and a small harbour."));
}

TEST_F(SearchToolTest, PassagesOfDocumentsAreTheirTexts) {
  options_.corpus = (folder_.path() / "own.jsonl").string();
  ASSERT_TRUE(
      WriteFileAtomic(options_.corpus,
                      "{\"id\": 7, \"text\": \"red\\nfox\"}\n"
                      "{\"id\": 8, \"title\": \"B\", \"body\": \"blue\", \"more\": \"sky\"}")
          .ok());
  options_.fields = {"title", "text", "body", "more"};
  options_.reply = SearchOptions::Reply::kPassages;
  auto toolkit = *NewSearchToolkit(options_);
  EXPECT_EQ(toolkit->Call("search", Json::Of({{"query", "fox"}}), nullptr, {}),
            Answered("7: red fox"));
  EXPECT_EQ(toolkit->Call("search", Json::Of({{"query", "sky"}}), nullptr, {}),
            Answered("B: blue sky"));
}

TEST_F(SearchToolTest, ManyThreadsSearchAtOnce) {
  auto toolkit = *NewSearchToolkit(options_);
  const Json arguments = Json::Of({{"query", "hill north"}, {"k", 7}});
  const ToolReply alone = toolkit->Call("search", arguments, nullptr, {});
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 50; ++j) {
        EXPECT_EQ(toolkit->Call("search", arguments, nullptr, {}), alone);
      }
    });
  }
}

TEST(SearchTool, OptionsAreReadAndChecked) {
  auto recipe = Recipe::Parse("k = 50\nfields = []", "tools.toml");
  (void)ReadSearchOptions(recipe->Root());
  const std::string message = recipe->Finish().error().message();
  EXPECT_NE(message.find("JSONL"), std::string::npos) << message;
  EXPECT_NE(message.find("at most max_k"), std::string::npos) << message;
  EXPECT_NE(message.find("at least one"), std::string::npos) << message;
}

}  // namespace
}  // namespace hone
