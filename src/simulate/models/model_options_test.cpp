#include "simulate/models/model_options.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Result<ModelOptions> Read(std::string_view toml, const std::string& kind) {
  Recipe recipe = Recipe::Parse(toml, "model.toml").value();
  ModelOptions settings;
  RecipeTable root = recipe.Root();
  ReadModelOptions(&root, kind, &settings);
  HONE_RETURN_IF_ERROR(recipe.Finish());
  return settings;
}

TEST(ModelSettingsTest, EachKindHasItsKeysAndNoOthers) {
  EXPECT_EQ(Read("folder = \"x\"\ndialect = \"react\"\n", "model")->dialect, "react");
  EXPECT_EQ(Read("url = \"http://x\"\nmodel = \"m\"\n", "endpoint")->endpoint.model, "m");
  EXPECT_FALSE(Read("folder = \"x\"\nurl = \"http://x\"\n", "model").ok());
  EXPECT_FALSE(Read("url = \"http://x\"\nfolder = \"x\"\n", "endpoint").ok());
  EXPECT_FALSE(Read("url = \"http://x\"\noffline = true\n", "endpoint").ok());
}

TEST(ModelSettingsTest, WhatCannotBeOpenedIsNamed) {
  ModelOptions settings;
  settings.folder = "/nowhere";
  EXPECT_NE(OpenModel(settings, "model").error().message().find("/nowhere"), std::string::npos);
  settings.endpoint = {"http://127.0.0.1:1/v1", "m", "HONE_TEST_NO_SUCH_VARIABLE"};
  EXPECT_NE(OpenModel(settings, "endpoint").error().message().find("HONE_TEST_NO_SUCH_VARIABLE"),
            std::string::npos);
}

}  // namespace
}  // namespace hone
