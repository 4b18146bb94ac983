#include "tools/sandbox/scratch_folder.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

namespace hone {
namespace {

constexpr FolderLimits kSmall = {.bytes = 100, .file_bytes = 60, .files = 6, .depth = 3};

std::unique_ptr<ScratchFolder> New() { return *ScratchFolder::New(kSmall); }

TEST(ScratchFolder, WritesReadsListsMovesAndRemoves) {
  auto folder = New();
  ASSERT_TRUE(folder->Write("notes/a.txt", "one").ok());
  ASSERT_TRUE(folder->Append("notes/a.txt", " two").ok());
  ASSERT_TRUE(folder->Append("b", "new").ok());
  EXPECT_EQ(*folder->Read("notes/a.txt"), "one two");
  EXPECT_EQ(*folder->Read("./notes//a.txt"), "one two");
  ASSERT_TRUE(folder->Move("b", "notes/c").ok());
  using Entries = std::vector<ScratchFolder::Entry>;
  EXPECT_EQ(*folder->List(""),
            (Entries{{"notes", true, 0}, {"notes/a.txt", false, 7}, {"notes/c", false, 3}}));
  EXPECT_EQ(folder->List("notes")->size(), 2u);
  EXPECT_FALSE(folder->Remove("notes").ok());
  ASSERT_TRUE(folder->Remove("notes/a.txt").ok());
  ASSERT_TRUE(folder->Remove("notes/c").ok());
  ASSERT_TRUE(folder->Remove("notes").ok());
  EXPECT_TRUE(folder->List("")->empty());
}

TEST(ScratchFolder, NoPathLeadsOut) {
  TemporaryDirectory outside;
  ASSERT_TRUE(WriteFileAtomic(outside.path() / "secret", "x").ok());
  auto folder = New();
  std::filesystem::create_directory_symlink(outside.path(), folder->place() / "door");
  std::filesystem::create_symlink(outside.path() / "secret", folder->place() / "link");
  ASSERT_EQ(::mkfifo((folder->place() / "pipe").c_str(), 0600), 0);
  for (const std::string& path :
       {std::string("../x"), std::string("a/../../x"), std::string("/etc/passwd"),
        outside.path().string() + "/secret", std::string("door/secret"), std::string("link"),
        std::string("pipe"), std::string(".."), std::string("a\0b", 3), std::string(3000, 'a'),
        std::string(300, 'a'), std::string("1/2/3/4")}) {
    EXPECT_FALSE(folder->Read(path).ok()) << path;
    EXPECT_FALSE(folder->Write(path, "mine").ok()) << path;
    EXPECT_FALSE(folder->Append(path, "mine").ok()) << path;
    EXPECT_FALSE(folder->Move(path, "mine").ok()) << path;
  }
  EXPECT_FALSE(folder->Write("door/new", "mine").ok());
  EXPECT_FALSE(folder->List("door").ok());
  EXPECT_FALSE(folder->List("..").ok());
  EXPECT_FALSE(folder->Remove("door/secret").ok());
  EXPECT_FALSE(folder->Remove("../x").ok());
  ASSERT_TRUE(folder->Write("mine", "x").ok());
  EXPECT_FALSE(folder->Move("mine", "door/mine").ok());
  EXPECT_EQ(*ReadFile(outside.path() / "secret"), "x");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(outside.path()), {}), 1);
  // Links are not even listed, so a copy has none.
  EXPECT_EQ(folder->List("")->size(), 1u);
  EXPECT_EQ((*folder->Clone())->List("")->size(), 1u);
}

TEST(ScratchFolder, MistakesSayWhatIsWrong) {
  auto folder = New();
  ASSERT_TRUE(folder->Write("d/f", "x").ok());
  auto said = [](const auto& result) { return result.ok() ? "" : result.error().message(); };
  EXPECT_EQ(said(folder->Read("none")), "\"none\": there is none");
  EXPECT_EQ(said(folder->Read("d")), "\"d\": is a folder");
  EXPECT_EQ(said(folder->Write("d", "x")), "\"d\": is a folder");
  EXPECT_EQ(said(folder->Write("d/f/g", "x")), "\"d/f\": a part of it is a file, not a folder");
  EXPECT_EQ(said(folder->Write("", "x")), "\"\": wants the name of a file");
  EXPECT_EQ(said(folder->Remove("none")), "\"none\": there is none");
  ASSERT_TRUE(folder->Write("e", "x").ok());
  EXPECT_EQ(said(folder->Move("e", "d/f")), "\"d/f\": is there already");
  EXPECT_EQ(said(folder->Move("d", "x")), "\"d\": only files can be moved");
}

TEST(ScratchFolder, WhatWouldBreakALimitChangesNothing) {
  auto folder = New();
  const std::string forty(40, 'x');
  EXPECT_EQ(folder->Write("big", std::string(61, 'x')).error().code(), ErrorCode::kFull);
  ASSERT_TRUE(folder->Write("a", forty).ok());
  ASSERT_TRUE(folder->Write("b", forty).ok());
  EXPECT_EQ(folder->Write("c", forty).error().code(), ErrorCode::kFull);
  EXPECT_EQ(folder->Append("b", forty).error().code(), ErrorCode::kFull);
  EXPECT_EQ(folder->List("")->size(), 2u);
  ASSERT_TRUE(folder->Write("a", forty).ok());  // what it replaces does not count
  ASSERT_TRUE(folder->Write("d/e/f", "").ok());
  ASSERT_TRUE(folder->Write("d/g", "").ok());
  EXPECT_EQ(folder->Write("d/h", "").error().code(), ErrorCode::kFull);
  EXPECT_EQ(folder->Write("new/h", "").error().code(), ErrorCode::kFull);
  EXPECT_EQ(folder->List("")->size(), 6u);
}

TEST(ScratchFolder, ACopyIsEqualAndIndependent) {
  auto folder = New();
  ASSERT_TRUE(folder->Write("d/f", "x").ok());
  auto copy = *folder->Clone();
  EXPECT_EQ(*copy->List(""), *folder->List(""));
  ASSERT_TRUE(copy->Write("d/f", "y").ok());
  EXPECT_EQ(*folder->Read("d/f"), "x");
  const std::filesystem::path place = copy->place();
  copy.reset();
  EXPECT_FALSE(std::filesystem::exists(place));
}

TEST(ScratchFolder, BeginsWithFilesFromOutsideButNotWithLinks) {
  TemporaryDirectory outside;
  ASSERT_TRUE(WriteFileAtomic(outside.path() / "d/f", "x").ok());
  auto folder = New();
  ASSERT_TRUE(folder->CopyFrom(outside.path()).ok());
  EXPECT_EQ(*folder->Read("d/f"), "x");
  std::filesystem::create_symlink("/etc/passwd", outside.path() / "link");
  EXPECT_EQ(New()->CopyFrom(outside.path()).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_FALSE(New()->CopyFrom(outside.path() / "none").ok());
}

}  // namespace
}  // namespace hone
