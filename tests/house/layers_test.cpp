// The layer check must fire: a rule that is not seen to fire is not a rule.

#include "support/house_check.h"

namespace hone {
namespace {

class LayersTest : public HouseCheckTest {
 protected:
  LayersTest() : HouseCheckTest("check_layers.py") {}

  void SetUp() override {
    Write("src/LAYERS", "base:\nrecord: base\n");
    Write("src/base/a.h", "#include <vector>\n");
    Write("src/record/b.cpp", "#include \"base/a.h\"\n#include \"record/b.h\"\n");
  }
};

TEST_F(LayersTest, ThisRepositoryObeys) {
  const SubprocessResult result = CheckAt(HONE_SOURCE_DIR);
  EXPECT_EQ(result.exit_code, 0) << result.standard_output;
}

TEST_F(LayersTest, AllowedIncludesPass) { EXPECT_EQ(Check().exit_code, 0); }

TEST_F(LayersTest, AnIncludeFromBelowToAboveIsFound) {
  Write("src/base/bad.cpp", "int x;\n#include \"record/b.h\"\n");
  ExpectRefused("bad.cpp:2: base may not include record/b.h");
  Write("src/base/bad.cpp", "#include <record/b.h>\n");
  EXPECT_EQ(Check().exit_code, 1) << "angle brackets hide nothing";
}

TEST_F(LayersTest, ABareIncludeAnUnlistedModuleAndACycleAreFound) {
  Write("src/base/bare.cpp", "#include \"a.h\"\n");
  EXPECT_EQ(Check().exit_code, 1);
  Write("src/base/bare.cpp", "");
  EXPECT_EQ(Check().exit_code, 0);
  Write("src/stray/x.h", "");
  EXPECT_EQ(Check().exit_code, 1);
  std::filesystem::remove_all(directory_.path() / "src" / "stray");
  Write("src/LAYERS", "base: record\nrecord: base\n");
  EXPECT_EQ(Check().exit_code, 1);
}

TEST_F(LayersTest, OneNameForTwoClassesIsFound) {
  Write("src/base/a.h", "namespace hone {\nstruct Gate {\n};\n}  // namespace hone\n");
  EXPECT_EQ(Check().exit_code, 0);
  Write("src/record/b.h", "namespace hone {\nclass Gate final : public X {\n};\n}\n");
  ExpectRefused("hone::Gate is also the name");
  Write("src/record/b.h", "namespace hone::record {\nclass Gate {\n};\n}\n");
  EXPECT_EQ(Check().exit_code, 0);
  Write("src/record/b.h", "namespace hone {\nclass Gate;\n}\n");
  EXPECT_EQ(Check().exit_code, 0);
}

TEST_F(LayersTest, OneNameForTwoHeadersIsFound) {
  Write("src/record/a.h", "");
  ExpectRefused("src/base/a.h has the same name");
}

TEST_F(LayersTest, AFullRoomIsFound) {
  for (int i = 0; i < 79; ++i) Write("src/base/" + std::to_string(i) + ".cpp", "");
  EXPECT_EQ(Check().exit_code, 0);
  Write("src/base/last.cpp", "");
  ExpectRefused("81 entries, and 80 are allowed");
}

TEST_F(LayersTest, ASecondWordForOptionsIsFound) {
  Write("src/base/a.h", "struct GateSettings;\nstruct GateOptions {\n};\n");
  EXPECT_EQ(Check().exit_code, 0);
  Write("src/base/a.h", "struct GateSettings {\n};\n");
  ExpectRefused("GateSettings: what configures something is called Options");
}

}  // namespace
}  // namespace hone
