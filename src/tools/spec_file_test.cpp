#include "tools/spec_file.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/shared_data.h"

namespace hone {
namespace {

TEST(SpecFile, ForeignTypesBecomeJsonSchemaButOnlyWhereASchemaStands) {
  const auto specs = SpecsFromForeignJson(*ParseJson(R"([{"name": "f", "parameters": {
    "type": "dict", "properties": {
      "type": {"type": "float"},
      "list": {"type": "tuple", "items": {"type": "dict", "properties": {"x": {"type": "any"}}}},
      "free": {"type": "any", "default": {"type": "dict"}}}}}])"));
  ASSERT_TRUE(specs.ok());
  EXPECT_EQ((*specs)[0].parameters, *ParseJson(R"({"type": "object", "properties": {
      "type": {"type": "number"},
      "list": {"type": "array", "items": {"type": "object", "properties": {"x": {}}}},
      "free": {"default": {"type": "dict"}}}})"));
}

TEST(SpecFile, OneSchemaPerLineIsAListToo) {
  TemporaryDirectory folder;
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "f", "{\"name\": \"a\"}\n{\"name\": \"b\"}\n").ok());
  EXPECT_EQ(ReadSpecFile(folder.path() / "f")->size(), 2u);
}

TEST(SpecFile, EveryFunctionOfAPublicLeaderboardIsRead) {
  HONE_NEED_SHARED(folder, "data/bfcl");
  int read = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    // Java and JavaScript have type names of their own, which are no JSON Schema.
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || !name.ends_with(".json") ||
        name.find("java") != std::string::npos) {
      continue;
    }
    const Result<std::string> text = ReadFile(entry.path());
    const Result<std::vector<Json>> rows = ParseJsonLines(*text);
    if (!rows.ok()) continue;
    for (const Json& row : *rows) {
      const Json* functions = row.Find("function");
      if (functions == nullptr || !functions->is_array() || !row.Find("question")) continue;
      for (const Json& function : functions->AsArray()) {
        const auto specs = SpecsFromForeignJson(Json(Json::Array{function}));
        EXPECT_TRUE(specs.ok()) << entry.path() << specs.error().message();
        ++read;
      }
    }
  }
  EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace hone
