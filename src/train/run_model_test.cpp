#include "train/run_model.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "engine/lora.h"
#include "support/tiny_recipe.h"
#include "train/backend.h"

namespace hone {
namespace {

TEST(RunModel, AnEntityIsTheSameTokenInProseAndInJson) {
  const TrainingRecipe recipe =
      ReadTiny("/tmp/none", {"environment.tasks.kinds=[]", "model.tokenizer.texts=600",
                             "model.tokenizer.vocabulary=768"})
          .value();
  const LoadedEnvironment environment = recipe.environment.make(nullptr).value();
  const auto world = Backend::Real(recipe, environment, "").value();
  Demonstrator demonstrator({.agent = "teacher"}, &environment, world->executor(), 1);
  const RunLanguage language = MakeLanguage(recipe.model, &demonstrator).value();
  const auto tokens = [&](std::string_view text) { return language.tokenizer->Encode(text); };
  const std::vector<TokenId> oslo = tokens("Oslo");
  ASSERT_EQ(oslo.size(), 1u);
  for (const std::string_view text :
       {"in Oslo on", "{\"city\":\"Oslo\"}", "<answer>Oslo</answer>"}) {
    const std::vector<TokenId> all = tokens(text);
    EXPECT_EQ(std::count(all.begin(), all.end(), oslo[0]), 1) << text;
  }
  EXPECT_EQ(tokens("1234").size(), 4u) << "digits one by one";
  EXPECT_EQ(tokens("<tool_call>").size(), 1u) << "markers are tokens";
  // Nobody who imitates may speak for others.
  const Engine::Options options = EngineOptions(recipe, language, language.tokenizer->vocab_size());
  const auto forbids = [&](std::string_view marker) {
    return std::count(options.forbidden.begin(), options.forbidden.end(), tokens(marker).at(0)) > 0;
  };
  EXPECT_TRUE(forbids("<tool_response>"));
  EXPECT_TRUE(forbids("<user>"));
  EXPECT_FALSE(forbids("<tool_call>"));
  EXPECT_FALSE(forbids("</answer>"));
}

TEST(RunModel, ATokenizerInTheMakingIsAnnouncedAndCanBeStopped) {
  const TrainingRecipe recipe = ReadTiny("/tmp/none").value();
  const LoadedEnvironment environment = recipe.environment.make(nullptr).value();
  const auto world = Backend::Real(recipe, environment, "").value();
  Demonstrator demonstrator({.agent = "gold"}, &environment, world->executor(), 1);
  int asked = 0;
  std::string notes;
  const auto language = MakeLanguage(recipe.model, &demonstrator,
                                     {.stop = [&] { return ++asked > 3; },
                                      .note = [&](auto note) { notes += note; },
                                      .progress =
                                          [&](auto part, int64_t done, int64_t all) {
                                            EXPECT_EQ(part, "demonstrations");
                                            EXPECT_EQ(done, asked - 1);
                                            EXPECT_EQ(all, 100);
                                          }});
  ASSERT_FALSE(language.ok());
  EXPECT_EQ(language.error().code(), ErrorCode::kStopped);
  EXPECT_NE(language.error().message().find("after 3 of the 100"), std::string::npos);
  EXPECT_NE(notes.find("making the tokenizer: from 100 demonstrations"), std::string::npos);
}

TEST(RunModel, WeightsAreAFunctionOfTheSeed) {
  const TrainingRecipe recipe = ReadTiny("/tmp/none").value();
  const LoadedEnvironment environment = recipe.environment.make(nullptr).value();
  const auto world = Backend::Real(recipe, environment, "").value();
  Demonstrator demonstrator({.agent = "gold"}, &environment, world->executor(), 1);
  const RunLanguage language = MakeLanguage(recipe.model, &demonstrator).value();
  const auto hash = [&](uint64_t seed) {
    return Engine(MakeModel(recipe.model, *language.tokenizer, seed).value(), {.threads = 1})
        .WeightsHash();
  };
  EXPECT_EQ(hash(1), hash(1));
  EXPECT_NE(hash(1), hash(2));
}

TEST(RunModel, WhatAdaptersLearnedIsPartOfTheModelThatARunBeginsWith) {
  const TemporaryDirectory directory;
  Model adapted = NewModel({.layers = 1,
                            .width = 16,
                            .heads = 2,
                            .kv_heads = 2,
                            .head_dim = 8,
                            .ffn = 32,
                            .vocab = 50,
                            .qk_norm = true});
  InitializeModel(1, &adapted);
  ASSERT_TRUE(AddLora({.rank = 2}, &adapted).ok());
  for (const LoraModule& module : adapted.lora) {  // something was learned
    adapted.parameters[static_cast<size_t>(module.b)].value[0] = 0.5f;
  }
  Engine engine(adapted, {.threads = 1});
  ASSERT_TRUE(engine.Save(directory.path() / "run", SaveType::kF32).ok());
  MergeLora(&adapted);
  PolicyModelOptions settings{.folder = (directory.path() / "run").string()};
  const Tokenizer tokenizer =
      Tokenizer::Load(HONE_SOURCE_DIR "/tests/golden/tokenizer/tokenizer.json").value();
  const Model made = MakeModel(settings, tokenizer, 1).value();
  EXPECT_TRUE(made.lora.empty());
  EXPECT_EQ(Engine(made, {.threads = 1}).WeightsHash(),
            Engine(adapted, {.threads = 1}).WeightsHash());
}

}  // namespace
}  // namespace hone
