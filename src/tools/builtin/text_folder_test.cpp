#include "tools/builtin/text_folder.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "tools/builtin/search_index.h"

namespace hone {
namespace {

class TextFolderTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomic(folder_ / name, text).ok());
  }
  std::string Message() const {
    const auto corpus = CorpusOfFolder(folder_, 100);
    return corpus.ok() ? "" : corpus.error().message();
  }

  TemporaryDirectory place_;
  std::filesystem::path folder_ = place_.path() / "texts";
};

TEST_F(TextFolderTest, EveryKindOfTextBecomesPassages) {
  Write("b.md", "\xef\xbb\xbf# Oslo\r\nA city.\r\n## Harbour\r\nShips.");
  Write("a/notes.txt", "first\n\nsecond");
  Write("c.html", "<title>Bergen</title><h1>Rain</h1>often");
  Write("d.jsonl", "{\"title\": \"Turku\", \"text\": \"A river.\"}\n{\"text\": \"x\"}\n");
  Write(".git/hidden.txt", "not for reading");
  Write("photo.png", "\xff");
  const auto corpus = CorpusOfFolder(folder_, 100);
  ASSERT_TRUE(corpus.ok()) << corpus.error().message();
  EXPECT_EQ(*corpus,
            R"({"id":"a/notes.txt#1","title":"notes","text":"first second","file":"a/notes.txt"}
{"id":"b.md#1","title":"b, Oslo","text":"A city.","file":"b.md"}
{"id":"b.md#2","title":"b, Harbour","text":"Ships.","file":"b.md"}
{"id":"c.html#1","title":"Bergen, Rain","text":"often","file":"c.html"}
{"id":"d.jsonl#1","title":"Turku","text":"A river.","file":"d.jsonl"}
{"id":"d.jsonl#2","title":"d","text":"x","file":"d.jsonl"}
)");
}

TEST_F(TextFolderTest, WhatIsWrongIsNamed) {
  EXPECT_NE(Message().find("texts: cannot be listed: No such file"), std::string::npos)
      << Message();
  std::filesystem::create_directories(folder_);
  EXPECT_NE(Message().find("texts: there is no text in this folder (it is empty)"),
            std::string::npos)
      << Message();
  Write("plan.pdf", "%PDF");
  EXPECT_NE(Message().find("1 other file, such as plan.pdf"), std::string::npos) << Message();
  Write("blank.txt", " \n");
  EXPECT_NE(Message().find("the 1 text in this folder has nothing but blanks"), std::string::npos)
      << Message();
  Write("bad.txt", "caf\xe9");
  EXPECT_NE(Message().find("texts/bad.txt: byte 3 is not UTF-8"), std::string::npos) << Message();
  std::filesystem::remove(folder_ / "bad.txt");
  Write("docs.jsonl", "{\"text\": \"a\"}\n\n{\"body\": \"b\"}");
  EXPECT_NE(Message().find("texts/docs.jsonl: line 3: wants {\"text\""), std::string::npos)
      << Message();
  Write("docs.jsonl", "{\"text\"");
  EXPECT_NE(Message().find("texts/docs.jsonl: line 1: not JSON"), std::string::npos) << Message();
}

TEST_F(TextFolderTest, AFileThatCannotBeReadIsNamed) {
  Write("fine.txt", "x");
  // A regular file that nobody can read from its beginning, not even root.
  std::filesystem::create_symlink("/proc/self/mem", folder_ / "memory.txt");
  EXPECT_NE(Message().find("texts/memory.txt"), std::string::npos) << Message();
}

TEST_F(TextFolderTest, TheIndexLiesBesideTheFolderAndFollowsItsFiles) {
  Write("oslo.md", "# Oslo\nThe harbour freezes.\n\n# Bergen\nIt rains.");
  const auto ids = [&](std::string_view query, int64_t words = 100) {
    const auto index = SearchIndex::Open(folder_ / "", {"title", "text"}, words);
    EXPECT_TRUE(index.ok()) << index.error().message();
    std::string found;
    const auto hits = (*index)->Search(query, 5, 10);
    for (const SearchIndex::Hit& hit : hits.value()) found += hit.id + " ";
    return found;
  };
  EXPECT_EQ(ids("rains"), "oslo.md#2 ");
  const std::filesystem::path kept = place_.path() / "texts.index";
  ASSERT_TRUE(std::filesystem::exists(kept));
  const auto made = std::filesystem::last_write_time(kept) - std::chrono::hours(1);
  std::filesystem::last_write_time(kept, made);
  EXPECT_EQ(ids("harbour"), "oslo.md#1 ");
  EXPECT_EQ(std::filesystem::last_write_time(kept), made) << "nothing changed";
  Write("turku.txt", "The harbour is open.");
  EXPECT_EQ(ids("open"), "turku.txt#1 ");
  Write("turku.txt", "Shut.");
  EXPECT_EQ(ids("open"), "");
  std::filesystem::remove(folder_ / "oslo.md");
  EXPECT_EQ(ids("harbour"), "");
  // Passages of another length are another index.
  std::string twelve = "w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 needle w12";
  Write("turku.txt", twelve);
  EXPECT_EQ(ids("needle"), "turku.txt#1 ");
  EXPECT_EQ(ids("needle", 10), "turku.txt#2 ");
}

}  // namespace
}  // namespace hone
