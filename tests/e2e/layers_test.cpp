// The layer check must fire: a rule that is not seen to fire is not a rule.

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/subprocess.h"

namespace hone {
namespace {

SubprocessResult CheckLayers(const std::filesystem::path& root) {
  return *RunSubprocess({"python3", HONE_SOURCE_DIR "/scripts/check_layers.py", root.string()}, "",
                        std::chrono::seconds(60));
}

class LayersTest : public testing::Test {
 protected:
  void Write(const std::string& file, std::string_view text) {
    ASSERT_TRUE(WriteFileAtomic(directory_.path() / "src" / file, text).ok());
  }
  void SetUp() override {
    Write("LAYERS", "base:\nrecord: base\n");
    Write("base/a.h", "#include <vector>\n");
    Write("record/b.cpp", "#include \"base/a.h\"\n#include \"record/b.h\"\n");
  }
  TemporaryDirectory directory_;
};

TEST_F(LayersTest, ThisRepositoryObeys) {
  const SubprocessResult result = CheckLayers(HONE_SOURCE_DIR);
  EXPECT_EQ(result.exit_code, 0) << result.standard_output;
}

TEST_F(LayersTest, AllowedIncludesPass) { EXPECT_EQ(CheckLayers(directory_.path()).exit_code, 0); }

TEST_F(LayersTest, AnIncludeFromBelowToAboveIsFound) {
  Write("base/bad.cpp", "int x;\n#include \"record/b.h\"\n");
  const SubprocessResult result = CheckLayers(directory_.path());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.standard_output.find("bad.cpp:2: base may not include record/b.h"),
            std::string::npos)
      << result.standard_output;
  Write("base/bad.cpp", "#include <record/b.h>\n");
  EXPECT_EQ(CheckLayers(directory_.path()).exit_code, 1) << "angle brackets hide nothing";
}

TEST_F(LayersTest, ABareIncludeAnUnlistedModuleAndACycleAreFound) {
  Write("base/bare.cpp", "#include \"a.h\"\n");
  EXPECT_EQ(CheckLayers(directory_.path()).exit_code, 1);
  Write("base/bare.cpp", "");
  EXPECT_EQ(CheckLayers(directory_.path()).exit_code, 0);
  Write("stray/x.h", "");
  EXPECT_EQ(CheckLayers(directory_.path()).exit_code, 1);
  std::filesystem::remove_all(directory_.path() / "src" / "stray");
  Write("LAYERS", "base: record\nrecord: base\n");
  EXPECT_EQ(CheckLayers(directory_.path()).exit_code, 1);
}

TEST_F(LayersTest, OneNameForTwoClassesIsFound) {
  Write("base/a.h", "namespace hone {\nstruct Gate {\n};\n}  // namespace hone\n");
  EXPECT_EQ(CheckLayers(directory_.path()).exit_code, 0);
  Write("record/b.h", "namespace hone {\nclass Gate final : public X {\n};\n}\n");
  const SubprocessResult result = CheckLayers(directory_.path());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.standard_output.find("hone::Gate is also the name"), std::string::npos)
      << result.standard_output;
  Write("record/b.h", "namespace hone::record {\nclass Gate {\n};\n}\n");
  EXPECT_EQ(CheckLayers(directory_.path()).exit_code, 0);
  Write("record/b.h", "namespace hone {\nclass Gate;\n}\n");
  EXPECT_EQ(CheckLayers(directory_.path()).exit_code, 0);
}

}  // namespace
}  // namespace hone
