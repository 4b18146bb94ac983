#include "serve/training/saved_weights.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

TEST(SavedWeights, APathIsAFolderBelowTheOneThatWasGiven) {
  const SavedPlace place = ParseSavedPath("tinker://run-1/sampler_weights/step_10.a").value();
  EXPECT_TRUE(place.for_sampler);
  EXPECT_EQ(place.In("out"), "out/run-1/sampler_weights/step_10.a");
  EXPECT_EQ(place.Path(), "tinker://run-1/sampler_weights/step_10.a");
  EXPECT_EQ(ParseSavedPath("tinker://run-1/weights/final")->In("out"), "out/run-1/weights/final");
}

TEST(SavedWeights, NoPathLeadsOutOfIt) {
  for (const char* path :
       {"", "weights", "tinker://", "tinker://a", "tinker://a/weights", "tinker://a/weights/",
        "tinker:///weights/b", "tinker://a/other/b", "tinker://a/weights/..",
        "tinker://../weights/b", "tinker://a/weights/b/c", "tinker://a/weights/../../b",
        "tinker://a/weights/.b", "tinker://a/weights/b ", "tinker://a/weights/b\\c",
        "tinker://a/weights/b%2f", "file://a/weights/b", "/etc/weights/passwd"}) {
    EXPECT_FALSE(ParseSavedPath(path).ok()) << path;
  }
  EXPECT_FALSE(ParseSavedPath(std::string("tinker://a/weights/b\0c", 22)).ok());
  EXPECT_FALSE(CheckSavedName(std::string(129, 'a')).ok());
  EXPECT_TRUE(CheckSavedName(std::string(128, 'a')).ok());
  EXPECT_FALSE(CheckSavedName("\xc3\xa9").ok());
  for (const char* taken : {"b.unfinished", "b.unfinished.writing", "b.old"}) {
    EXPECT_FALSE(CheckSavedName(taken).ok()) << "saving b would write over it: " << taken;
  }
}

TEST(SavedWeights, ACardIsReadAsItWasWritten) {
  TemporaryDirectory directory;
  const SavedCard card{.base_model = "tiny", .rank = 4, .steps = 7, .version = 9, .weights = "ab"};
  ASSERT_TRUE(WriteFileAtomic(directory.path() / kSavedCardFile, card.ToText()).ok());
  const SavedCard read = ReadSavedCard(directory.path()).value();
  EXPECT_EQ(read.ToText(), card.ToText());
  ASSERT_TRUE(WriteFileAtomic(directory.path() / kSavedCardFile, "{\"steps\": 1}").ok());
  EXPECT_NE(ReadSavedCard(directory.path()).error().message().find("saved.json"),
            std::string::npos);
  EXPECT_FALSE(ReadSavedCard(directory.path() / "nowhere").ok());
}

}  // namespace
}  // namespace hone
