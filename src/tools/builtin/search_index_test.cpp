#include "tools/builtin/search_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/file.h"
#include "base/rng.h"

namespace hone {
namespace {

const std::vector<std::string> kFields = {"title", "text"};

// BM25 as the books have it, over documents that are lists of words.
std::vector<std::pair<std::string, double>> PlainBm25(
    const std::map<std::string, std::vector<std::string>>& documents,
    const std::vector<std::string>& query, size_t k) {
  const double k1 = 1.2, b = 0.75, count = static_cast<double>(documents.size());
  double all_words = 0;
  for (const auto& [id, words] : documents) all_words += static_cast<double>(words.size());
  const double average = all_words / count;
  std::vector<std::pair<std::string, double>> scored;
  for (const auto& [id, words] : documents) {
    double score = 0;
    for (const std::string& term : query) {
      double containing = 0;
      for (const auto& [other, inside] : documents) {
        containing += std::count(inside.begin(), inside.end(), term) > 0 ? 1 : 0;
      }
      // FTS5 never lets a common word count against a document.
      const double idf = std::max(std::log((count - containing + 0.5) / (containing + 0.5)), 1e-6);
      const auto frequency = static_cast<double>(std::count(words.begin(), words.end(), term));
      const double length = static_cast<double>(words.size()) / average;
      score += idf * frequency * (k1 + 1) / (frequency + k1 * (1 - b + b * length));
    }
    if (score > 0) scored.emplace_back(id, score);
  }
  std::stable_sort(scored.begin(), scored.end(),
                   [](const auto& x, const auto& y) { return x.second > y.second; });
  if (scored.size() > k) scored.resize(k);
  return scored;
}

TEST(SearchIndex, ScoresAndOrderAreThoseOfAPlainBm25) {
  TemporaryDirectory folder;
  Rng rng(7);
  std::map<std::string, std::vector<std::string>> documents;
  std::string corpus;
  for (int i = 0; i < 300; ++i) {
    const std::string id = "d" + std::to_string(i);
    std::string title, text;
    const auto size = 3 + rng.Below(60);
    for (uint64_t w = 0; w < size; ++w) {
      // Squared, so that some words are common and others rare.
      const double u = rng.NextDouble();
      const std::string word = "w" + std::to_string(static_cast<int>(u * u * 80));
      documents[id].push_back(word);
      (w < 2 ? title : text) += word + " ";
    }
    corpus += DumpJson(Json::Of({{"id", id}, {"title", title}, {"text", text}})) + "\n";
  }
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "c.jsonl", corpus).ok());
  auto index = SearchIndex::Open(folder.path() / "c.jsonl", kFields);
  ASSERT_TRUE(index.ok()) << index.error().message();
  EXPECT_EQ((*index)->documents(), 300);
  for (int round = 0; round < 40; ++round) {
    std::vector<std::string> query;
    std::string text;
    for (uint64_t i = 0; i <= rng.Below(4); ++i) {
      const std::string word = "w" + std::to_string(rng.Below(80));
      if (std::find(query.begin(), query.end(), word) == query.end()) query.push_back(word);
      text += word + " ";
    }
    const auto expected = PlainBm25(documents, query, 20);
    const auto hits = (*index)->Search(text, 20, 10);
    ASSERT_TRUE(hits.ok()) << hits.error().message();
    ASSERT_EQ(hits->size(), expected.size()) << text;
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR((*hits)[i].score, expected[i].second, 1e-9) << text;
      // Where two scores differ by rounding alone, either may come first.
      const bool tied =
          (i > 0 && expected[i - 1].second - expected[i].second < 1e-9) ||
          (i + 1 < expected.size() && expected[i].second - expected[i + 1].second < 1e-9);
      if (tied || i + 1 == expected.size()) continue;
      EXPECT_EQ((*hits)[i].id, expected[i].first) << text;
    }
  }
}

class SearchIndexTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<SearchIndex>> Over(const std::string& corpus) {
    EXPECT_TRUE(WriteFileAtomic(file_, corpus).ok());
    return SearchIndex::Open(file_, kFields);
  }
  static std::string Ids(SearchIndex& index, std::string_view query) {
    std::string ids;
    const auto hits = index.Search(query, 10, 10);
    EXPECT_TRUE(hits.ok()) << query;
    for (const SearchIndex::Hit& hit : *hits) ids += hit.id + " ";
    return ids;
  }

  TemporaryDirectory folder_;
  std::filesystem::path file_ = folder_.path() / "corpus.jsonl";
};

TEST_F(SearchIndexTest, EqualScoresComeInTheOrderOfTheirIds) {
  auto index = *Over(R"({"id": "b", "text": "red fox"}
{"id": 10, "text": "red fox"}
{"id": "a", "text": "red fox"}

{"id": "z", "text": "blue"}
{"id": "y", "text": "grey"}
{"id": "x", "text": "grün"}
{"id": "w", "text": "pink"})");
  EXPECT_EQ(Ids(*index, "fox"), "10 a b ");
  EXPECT_EQ(Ids(*index, "GRUN"), "x ");  // case and accents aside
  EXPECT_EQ(Ids(*index, "GRÜN?"), "x ");
  EXPECT_EQ(**index->Fetch("10"), R"({"id":10,"text":"red fox"})");
  EXPECT_EQ(*index->Fetch("11"), std::nullopt);
}

TEST_F(SearchIndexTest, NoQueryIsASyntaxError) {
  auto index = *Over(R"({"id": "1", "text": "and or not near the cat's * star"}
{"id": "2", "text": "nothing"})");
  for (const char* query :
       {"cat AND", "\"", "\"cat", "cat\" OR \"", "NEAR(cat", "text:cat", "-cat", "cat*", "^cat",
        "(cat", "cat)", "{title} : cat", "cat's", "it's; DROP TABLE words", "NOT cat", "\\ cat"}) {
    const bool has_words = std::string_view(query) != "\"";
    EXPECT_EQ(Ids(*index, query), has_words ? "1 " : "") << query;
  }
  EXPECT_EQ(Ids(*index, "+ - ' ; --"), "");
  EXPECT_EQ(Ids(*index, ""), "");
  EXPECT_EQ(Ids(*index, std::string("cat\0dog", 7)), "1 ");
  std::string long_query;
  for (int i = 0; i < 5000; ++i) long_query += "w" + std::to_string(i) + " ";
  EXPECT_EQ(Ids(*index, "cat " + long_query), "1 ");
}

TEST_F(SearchIndexTest, TheSnippetIsAroundWhatWasFound) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "word ";
  auto index = *Over(DumpJson(Json::Of({{"id", "1"}, {"text", text + "needle " + text}})) +
                     "\n{\"id\": 2, \"text\": \"x\"}");
  const auto hits = *index->Search("needle", 1, 8);
  ASSERT_EQ(hits.size(), 1u);
  EXPECT_NE(hits[0].snippet.find("needle"), std::string::npos);
  EXPECT_LT(hits[0].snippet.size(), 60u);
}

TEST_F(SearchIndexTest, TheIndexIsKeptAndMadeAgainWhenTheCorpusChanges) {
  const std::filesystem::path kept = file_.string() + ".index";
  (void)*Over("{\"id\": 1, \"text\": \"one\"}");
  const auto first = std::filesystem::last_write_time(kept);
  ASSERT_TRUE(std::filesystem::exists(kept));
  std::filesystem::last_write_time(kept, first - std::chrono::hours(1));
  (void)*Over("{\"id\": 1, \"text\": \"one\"}");
  EXPECT_EQ(std::filesystem::last_write_time(kept), first - std::chrono::hours(1));
  auto changed = *Over("{\"id\": 1, \"text\": \"two\"}");
  EXPECT_EQ(Ids(*changed, "two"), "1 ");
  EXPECT_EQ(Ids(*changed, "one"), "");
  // A reader that is there keeps what it has; a damaged index is made again.
  ASSERT_TRUE(WriteFileAtomic(kept, std::string(10000, 'x')).ok());
  EXPECT_EQ(Ids(*changed, "two"), "1 ");
  EXPECT_EQ(Ids(**SearchIndex::Open(file_, kFields), "two"), "1 ");
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_TRUE(entry.path() == kept || entry.path() == file_) << entry.path();
  }
}

TEST_F(SearchIndexTest, WhereTheIndexCannotBeWrittenItLivesInMemory) {
  std::filesystem::create_directories(file_.string() + ".index/in the way");
  auto index = Over("{\"id\": 1, \"text\": \"one\"}\n{\"id\": 2, \"text\": \"two\"}");
  ASSERT_TRUE(index.ok()) << index.error().message();
  EXPECT_TRUE((*index)->in_memory());
  EXPECT_EQ(Ids(**index, "two"), "2 ");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 2);
}

TEST_F(SearchIndexTest, AWrongCorpusIsNamedWithItsLine) {
  auto message = [&](const std::string& corpus) {
    const auto index = Over(corpus);
    return index.ok() ? "" : index.error().message();
  };
  EXPECT_NE(message("{\"id\": 1, \"text\": \"a\"}\n{\"id\"").find("corpus.jsonl: line 2"),
            std::string::npos);
  EXPECT_NE(message("{\"text\": \"a\"}").find("wants \"id\""), std::string::npos);
  EXPECT_NE(message("{\"id\": 1}").find("no text under title, text"), std::string::npos);
  EXPECT_NE(message("{\"id\": 1, \"text\": \"a\"}\n{\"id\": \"1\", \"text\": \"b\"}")
                .find("line 2: there is a document \"1\" already"),
            std::string::npos);
  EXPECT_NE(message("\n").find("no document"), std::string::npos);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
  EXPECT_EQ(SearchIndex::Open("/nowhere/c.jsonl", kFields).error().code(), ErrorCode::kNotFound);
}

TEST_F(SearchIndexTest, DocumentsInMemoryAreFoundAsThoseOfAFile) {
  const std::vector<Json> documents = {
      Json::Of({{"id", "a"}, {"title", "Ada Kell"}, {"text", "born in Port Ellis"}}),
      Json::Of({{"id", 2}, {"title", "Port Ellis"}, {"text", "a street is named after Ada Kell"}}),
      Json::Of({{"id", "c"}, {"title", "Bren Moss"}, {"text", "a glazier"}}),
      Json::Of({{"id", "d"}, {"title", "Silver Door"}, {"text", "a book"}})};
  std::string corpus;
  for (const Json& document : documents) corpus += DumpJson(document) + "\n";
  auto from_file = *Over(corpus);
  auto index = SearchIndex::Of(documents, kFields);
  ASSERT_TRUE(index.ok()) << index.error().message();
  EXPECT_EQ((*index)->documents(), 4);
  EXPECT_TRUE((*index)->in_memory());
  for (const char* query : {"Ada Kell", "glazier", "port", "nothing"}) {
    const auto hits = (*index)->Search(query, 10, 0), same = from_file->Search(query, 10, 10);
    ASSERT_EQ(hits->size(), same->size()) << query;
    for (size_t i = 0; i < hits->size(); ++i) {
      EXPECT_EQ((*hits)[i].id, (*same)[i].id) << query;
      EXPECT_EQ((*hits)[i].score, (*same)[i].score) << query;
      EXPECT_TRUE((*hits)[i].snippet.empty());
      EXPECT_FALSE((*same)[i].snippet.empty());
    }
  }
  EXPECT_EQ(**(*index)->Fetch("c"), DumpJson(documents[2]));
}

TEST_F(SearchIndexTest, AFieldNamedTwiceCountsTwice) {
  const std::vector<Json> documents = {
      Json::Of({{"id", "named"}, {"title", "Ada Kell"}, {"text", "a glazier of the old kind"}}),
      Json::Of({{"id", "by"}, {"title", "Moss"}, {"text", "of Ada Kell"}}),
      Json::Of({{"id", "x"}, {"title", "one"}, {"text", "two"}}),
      Json::Of({{"id", "y"}, {"title", "three"}, {"text", "four"}}),
      Json::Of({{"id", "z"}, {"title", "five"}, {"text", "six"}})};
  EXPECT_EQ(Ids(**SearchIndex::Of(documents, kFields), "Ada Kell"), "by named ");
  EXPECT_EQ(Ids(**SearchIndex::Of(documents, {"title", "title", "text"}), "Ada Kell"), "named by ");
}

TEST(SearchIndex, AWrongDocumentInMemoryIsNamedByItsPlace) {
  const std::vector<Json> same = {Json::Of({{"id", "a"}, {"text", "x"}}),
                                  Json::Of({{"id", "a"}, {"text", "y"}})};
  EXPECT_EQ(SearchIndex::Of(same, kFields).error().message(),
            "document 2: there is a document \"a\" already");
  EXPECT_FALSE(SearchIndex::Of({}, kFields).ok());
  EXPECT_FALSE(SearchIndex::Of(same, {}).ok());
}

TEST(QueryWords, AreLettersAndDigitsOnce) {
  EXPECT_EQ(QueryWords("The cat's the-dog, 42!"),
            (std::vector<std::string>{"the", "cat", "s", "dog", "42"}));
}

}  // namespace
}  // namespace hone
