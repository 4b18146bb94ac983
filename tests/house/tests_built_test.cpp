// A test that no target lists must be noticed.

#include "support/house_check.h"

namespace hone {
namespace {

class TestsBuiltTest : public HouseCheckTest {
 protected:
  TestsBuiltTest() : HouseCheckTest("check_tests_built.py") {}

  void SetUp() override {
    Write("src/base/a_test.cpp", "");
    Write("tests/e2e/b_test.cpp", "");
    WriteCommands({"src/base/a_test.cpp", "tests/e2e/b_test.cpp"});
  }
  void WriteCommands(const std::vector<std::string>& files) {
    std::string commands;
    for (const std::string& file : files) {
      commands += (commands.empty() ? "" : ",") + std::string(R"({"directory": ")") +
                  directory_.path().string() + R"(", "file": ")" + file + R"("})";
    }
    Write("compile_commands.json", "[" + commands + "]");
  }
  std::string Commands() const { return (directory_.path() / "compile_commands.json").string(); }
};

TEST_F(TestsBuiltTest, EveryTestOfThisRepositoryIsBuilt) {
  const auto build = std::filesystem::path(HONE_BINARY).parent_path();
  const SubprocessResult result =
      CheckAt(HONE_SOURCE_DIR, {(build / "compile_commands.json").string()});
  EXPECT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
}

TEST_F(TestsBuiltTest, ATestThatNoTargetListsIsFound) {
  EXPECT_EQ(Check({Commands()}).exit_code, 0);
  Write("tests/e2e/forgotten_test.cpp", "");
  ExpectRefused("forgotten_test.cpp: no target builds it", {Commands()});
}

TEST_F(TestsBuiltTest, AFuzzerThatNoTargetListsIsFound) {
  Write("tests/fuzz/json_fuzz.cpp", "");
  ExpectRefused("json_fuzz.cpp: no target builds it", {Commands()});
  Write("tests/fuzz/CMakeLists.txt", "hone_fuzzer(json_rpc)  # not json\n");
  ExpectRefused("json_fuzz.cpp: no target builds it", {Commands()});
  Write("tests/fuzz/CMakeLists.txt", "foreach(name json_rpc json)\n");
  EXPECT_EQ(Check({Commands()}).exit_code, 0);
}

}  // namespace
}  // namespace hone
