#include "train/folder/export.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/tiny_recipe.h"
#include "train/folder/agent_card.h"
#include "train/trainer.h"

namespace hone {
namespace {

Json ObjectIn(const std::filesystem::path& file) {
  return ParseJson(ReadFile(file).value()).value();
}

TEST(Export, ARunBecomesAFolderThatSaysEverythingOfItself) {
  const TemporaryDirectory folder;
  ASSERT_TRUE(Train(ReadTiny(folder.path(), {"stage.1.steps=1"}).value(), {}).ok());
  const ModelPlace place = FindModel(folder.path() / "tiny", "last").value();
  const std::filesystem::path out = folder.path() / "out";
  const auto report = ExportModel(place, out, {});
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_EQ(report->files,
            (std::vector<std::string>{"agent.json", "chat_template.jinja", "config.json",
                                      "generation_config.json", "model.safetensors",
                                      "tokenizer.json", "tokenizer_config.json"}));
  EXPECT_FALSE(report->stops.empty());
  const Tokenizer tokenizer = Tokenizer::Load(out).value();
  const Json stop = *tokenizer.FindAdded(report->stops[0]);
  EXPECT_EQ(*ObjectIn(out / "config.json").Find("eos_token_id"), stop);
  EXPECT_EQ(*ObjectIn(out / "tokenizer_config.json").Find("eos_token"), Json(report->stops[0]));
  const Json generation = ObjectIn(out / "generation_config.json");
  const Json& ends = *generation.Find("eos_token_id");
  EXPECT_EQ(ends.is_array() ? ends.AsArray()[0] : ends, stop);
  const std::optional<AgentCard> card = ReadAgentCard(out).value();
  ASSERT_TRUE(card);
  EXPECT_EQ(card->dialect, "tagged:desk");
  EXPECT_FALSE(card->tools_listed);
  EXPECT_NE(std::find(card->tools.begin(), card->tools.end(), "weather"), card->tools.end());
  // What is there is not overwritten.
  EXPECT_NE(ExportModel(place, out, {}).error().message().find("is there already"),
            std::string::npos);
}

TEST(Export, AdaptersAreMergedOrNameTheirBase) {
  const TemporaryDirectory folder;
  ASSERT_TRUE(
      Train(ReadTiny(folder.path(), {"stage.1.steps=1", "model.lora.rank=2"}).value(), {}).ok());
  const ModelPlace place = FindModel(folder.path() / "tiny", "last").value();
  const auto merged = ExportModel(place, folder.path() / "merged", {.type = SaveType::kF32});
  ASSERT_TRUE(merged.ok()) << merged.error().message();
  EXPECT_FALSE(Exists(folder.path() / "merged/adapter"));
  // The checkpoint's own adapters name a folder that is there.
  const Json own = ObjectIn(place.folder / "adapter/adapter_config.json");
  EXPECT_TRUE(Exists(own.Find("base_model_name_or_path")->AsString()));
  const auto alone = ExportModel(place, folder.path() / "alone", {.adapter = true});
  ASSERT_TRUE(alone.ok()) << alone.error().message();
  EXPECT_EQ(alone->files,
            (std::vector<std::string>{"adapter_config.json", "adapter_model.safetensors"}));
  EXPECT_EQ(*ObjectIn(folder.path() / "alone/adapter_config.json").Find("base_model_name_or_path"),
            Json(alone->base));
}

TEST(Export, AModelWithoutAdaptersHasNoneToExport) {
  const TemporaryDirectory folder;
  ASSERT_TRUE(Train(ReadTiny(folder.path(), {"stage.1.steps=1"}).value(), {}).ok());
  const ModelPlace place = FindModel(folder.path() / "tiny", "last").value();
  const auto alone = ExportModel(place, folder.path() / "alone", {.adapter = true});
  ASSERT_FALSE(alone.ok());
  EXPECT_NE(alone.error().message().find("no adapters"), std::string::npos);
  EXPECT_FALSE(Exists(folder.path() / "alone"));
  EXPECT_FALSE(Exists(folder.path() / "alone.writing"));
}

}  // namespace
}  // namespace hone
