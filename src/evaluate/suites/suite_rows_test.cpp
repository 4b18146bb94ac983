#include "evaluate/suites/suite_rows.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

TEST(SuiteRows, RowsKnowTheirLines) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "a.jsonl";
  ASSERT_TRUE(WriteFileAtomic(file, "{\"x\": \"a\"}\n\n{\"x\": 2}").ok());
  const auto rows = ReadSuiteRows(file);
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ(*(*rows)[0].Text("x"), "a");
  EXPECT_TRUE((*rows)[1].place.ends_with("a.jsonl:3"));
  EXPECT_NE((*rows)[1].Text("x").error().message().find("\"x\" must be a text, not an integer"),
            std::string::npos);
  EXPECT_NE((*rows)[1].Member("y").error().message().find("a.jsonl:3: \"y\" is missing"),
            std::string::npos);
}

TEST(SuiteRows, WhatIsWrongNamesFileAndLine) {
  const TemporaryDirectory directory;
  const auto problem = [&](const char* text) {
    const auto file = directory.path() / "a.jsonl";
    EXPECT_TRUE(WriteFileAtomic(file, text).ok());
    return ReadSuiteRows(file).error().message();
  };
  EXPECT_NE(problem("{}\n{").find("a.jsonl:2: this line is no JSON"), std::string::npos);
  EXPECT_NE(problem("{}\n[]").find("a.jsonl:2: an object is wanted"), std::string::npos);
  EXPECT_NE(problem("\n").find("has no cases"), std::string::npos);
  EXPECT_FALSE(ReadSuiteRows(directory.path() / "none.jsonl").ok());
}

}  // namespace
}  // namespace hone
