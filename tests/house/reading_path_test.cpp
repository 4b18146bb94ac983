// What a newcomer is told to read must be there, and must stay short.

#include "support/house_check.h"

namespace hone {
namespace {

class ReadingPathTest : public HouseCheckTest {
 protected:
  ReadingPathTest() : HouseCheckTest("check_reading_path.py") {}

  void SetUp() override {
    for (const char* file : kFiles) WriteLines(file, 100);
    WriteReadme("");
  }
  void WriteLines(const std::string& file, int lines) {
    std::string text;
    for (int line = 0; line < lines; ++line) text += "a line\n";
    Write(file, text);
  }
  // A page whose section names all of kFiles, and says something else besides.
  void WriteReadme(const std::string& more) {
    Write("README.md",
          "# A house\n\nSee `src/elsewhere.h`.\n\n## Reading the code\n\n"
          "First [the words](docs/words.md), then `src/record/tree.h`, `src/a.{h,cpp}`, `src/b.h`\n"
          "and [the last](src/d.h#L7). `src/a.h` again; `./dev` and\n"
          "[a page](https://example.org/x.h) of others.\n" +
              more + "\n## Something else\n\n`src/missing.h`\n");
  }

  static constexpr const char* kFiles[] = {"docs/words.md", "src/record/tree.h", "src/a.h",
                                           "src/b.h",       "src/a.cpp",         "src/d.h"};
};

TEST_F(ReadingPathTest, ThisRepositoryObeys) {
  const SubprocessResult result = CheckAt(HONE_SOURCE_DIR, {"--list"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
}

TEST_F(ReadingPathTest, EveryFileOfTheSectionCountsOnceAndNoOther) {
  const SubprocessResult result = Check({"--list"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output;
  EXPECT_EQ(result.standard_output,
            "   100  docs/words.md\n   100  src/record/tree.h\n   100  src/a.h\n"
            "   100  src/a.cpp\n   100  src/b.h\n   100  src/d.h\n   600  in all\n");
  EXPECT_EQ(Check().standard_output, "") << "nothing is said where nothing is wrong";
}

TEST_F(ReadingPathTest, ALineTooMuchIsFound) {
  WriteLines("src/d.h", 500);
  EXPECT_EQ(Check().exit_code, 0);
  WriteLines("src/d.h", 501);
  ExpectRefused("the reading path has 1001 lines, and 1000 are allowed");
}

TEST_F(ReadingPathTest, AMissingFileIsFoundWhicheverWayItIsNamed) {
  WriteReadme("Then `src/gone.h`.\n");
  ExpectRefused("src/gone.h is on the reading path, but there is no such file");
  WriteReadme("Then [that](GONE.md).\n");
  ExpectRefused("GONE.md is on the reading path");
}

TEST_F(ReadingPathTest, APathThatNamesTooLittleIsFound) {
  Write("README.md", "## Reading the code\n\n`src/a.h`, `src/b.h`\n");
  ExpectRefused("the reading path has 2 files; name at least 6");
  Write("README.md", "## Reading\n");
  ExpectRefused("README.md has no section");
}

}  // namespace
}  // namespace hone
