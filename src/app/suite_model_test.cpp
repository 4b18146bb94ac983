#include "app/suite_model.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

TEST(SuiteModel, WhatCannotBeHadIsSaid) {
  const auto problem = [](const EvaluationChoice& choice) {
    const auto model = OpenSuiteModel(choice, 16);
    return model.ok() ? std::string("none") : model.error().message();
  };
  EXPECT_NE(problem({.model = "/nowhere"}).find("there is no folder \"/nowhere\""),
            std::string::npos);
  const TemporaryDirectory directory;
  EXPECT_NE(problem({.model = directory.path().string()}).find("neither a run nor a model"),
            std::string::npos);
  EXPECT_NE(problem({.model = HONE_SOURCE_DIR "/tests/golden/models/qwen3"}).find("tokenizer"),
            std::string::npos);
}

}  // namespace
}  // namespace hone
