// Budgets of size must fire, and the list of exceptions must only shrink.

#include "support/house_check.h"

namespace hone {
namespace {

class SizesTest : public HouseCheckTest {
 protected:
  SizesTest() : HouseCheckTest("check_sizes.py") {}

  void SetUp() override { Write("src/base/a.cpp", "namespace hone {\nvoid Go() { Stay(); }\n}\n"); }
  void Allow(const std::string& entries) { Write("scripts/sizes.allowed", "# sizes\n" + entries); }
  std::string Allowed() const { return *ReadFile(directory_.path() / "scripts" / "sizes.allowed"); }

  // A function with so many lines, those of its head and its last brace among them.
  static std::string Function(const std::string& head, int lines) {
    std::string text = head + " {\n";
    for (int line = 0; line < lines - 2; ++line) text += "  Step(\"{\");  // {\n";
    return text + "}\n";
  }
};

TEST_F(SizesTest, ThisRepositoryObeys) {
  const SubprocessResult result = CheckAt(HONE_SOURCE_DIR);
  EXPECT_EQ(result.exit_code, 0) << result.standard_output;
}

TEST_F(SizesTest, AFileOf501LinesIsFound) {
  Write("src/base/long.h", std::string(500, '\n'));
  EXPECT_EQ(Check().exit_code, 0);
  Write("src/base/long.h", std::string(501, '\n'));
  ExpectRefused("src/base/long.h: 501 lines, and 500 are allowed");
  std::filesystem::rename(directory_.path() / "src/base/long.h",
                          directory_.path() / "src/base/long_test.cpp");
  EXPECT_EQ(Check().exit_code, 0) << "tests may be long";
}

TEST_F(SizesTest, AFunctionOf61LinesIsFoundWhereverItIsDefined) {
  Write("src/base/a.cpp", Function("int Count(int a,\n          int b)", 59));
  EXPECT_EQ(Check().exit_code, 0) << "its head takes two lines";
  Write("src/base/a.cpp", Function("int Count(int a,\n          int b)", 60));
  ExpectRefused("src/base/a.cpp Count: 61 lines, and 60 are allowed");
  Write("src/base/a.cpp", Function("Gate::Gate(int a) : a_{a}, b_(1)", 61));
  ExpectRefused("src/base/a.cpp Gate::Gate: 61 lines");
  Write("src/base/a.cpp",
        "class Gate final : public X {\n public:\n" + Function("  int Go() const", 61) + "};\n");
  ExpectRefused("src/base/a.cpp Go: 61 lines");
  Write("src/base/a.cpp",
        "template <typename T>\n" + Function("bool operator==(const T& a, const T& b)", 61));
  ExpectRefused("src/base/a.cpp operator==: 61 lines");
}

TEST_F(SizesTest, DataIsNotLong) {
  std::string table;
  for (int row = 0; row < 100; ++row) table += "    {\"name\", 1},\n";
  Write("src/base/a.cpp", "const Row kRows[] = {\n" + table + "};\n");
  EXPECT_EQ(Check().exit_code, 0);
  Write("src/base/a.cpp",
        "Rows All() {\n  static const Rows rows = {\n" + table + "  };\n  return rows;\n}\n");
  EXPECT_EQ(Check().exit_code, 0);
  std::string functions;
  for (int row = 0; row < 100; ++row) functions += "    {\"name\", [] { return Go(); }},\n";
  Write("src/base/a.cpp", "Rows All() {\n  return {\n" + functions + "  };\n}\n");
  EXPECT_EQ(Check().exit_code, 0) << "functions of one line are entries";
  Write("src/base/a.cpp", Function("Rows All() { return {[]", 61) + "};}\n");
  ExpectRefused("All: 62 lines");  // a function of more lines is code
}

TEST_F(SizesTest, SixParametersAreFound) {
  Write("src/base/a.cpp",
        "void Go(int a, std::map<int, std::pair<int, int>> b, F<int(int, int)> c,"
        " int d, int e = Max(1, 2)) { Stay(); }\n");
  EXPECT_EQ(Check().exit_code, 0) << "commas inside a parameter are not counted";
  Write("src/base/a.cpp", "void Go(int a, int b, int c, int d, int e, int f) {}\n");
  ExpectRefused("src/base/a.cpp Go: 6 parameters, and 5 are allowed");
  Write("src/base/a.cpp",
        "struct X {\n  virtual void Go(int a, int b, int c, int d, int e,\n"
        "                  int f) const = 0;\n};\n");
  ExpectRefused("src/base/a.cpp Go: 6 parameters");
}

TEST_F(SizesTest, WhatIsAllowedMayNotGrow) {
  Write("src/base/a.cpp", Function("void Go()", 70));
  Allow("lines 70 src/base/a.cpp Go\n");
  EXPECT_EQ(Check().exit_code, 0);
  Write("src/base/a.cpp", Function("void Go()", 71));
  ExpectRefused("Go: 71 lines, and 70 are allowed");
  ExpectRefused("Go: 71 lines, and 70 are allowed", {"--update"});
  EXPECT_EQ(Allowed(), "# sizes\nlines 70 src/base/a.cpp Go\n") << "an update raises nothing";
}

TEST_F(SizesTest, TheListShrinksWithWhatItAllows) {
  Write("src/base/a.cpp", Function("void Go()", 70));
  Allow("lines 72 src/base/a.cpp Go\nparameters 6 src/base/a.cpp Went\n");
  ExpectRefused("Go: scripts/sizes.allowed has 72 lines where 70 will do");
  ExpectRefused("Went: scripts/sizes.allowed has 6 parameters where no exception will do");
  EXPECT_EQ(Check({"--update"}).exit_code, 0);
  EXPECT_EQ(Allowed(), "# sizes\nlines 70 src/base/a.cpp Go\n");
  EXPECT_EQ(Check().exit_code, 0);
}

}  // namespace
}  // namespace hone
