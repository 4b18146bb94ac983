#include "app/models/npm_registry.h"

#include <gtest/gtest.h>

#include <map>

#include "base/file.h"
#include "support/loopback_server.h"

namespace hone {
namespace {

class Registry : public testing::Test {
 protected:
  std::string Of(const std::string& given, const std::string& package = "x") {
    return NpmRegistry(given, package, [&](const std::string& name) { return variables_[name]; });
  }

  TemporaryDirectory home_;
  std::map<std::string, std::string> variables_ = {{"HOME", home_.path().string()}};
};

TEST_F(Registry, IsTheOneThatNpmIsToldToUse) {
  EXPECT_EQ(Of(""), "https://registry.npmjs.org");
  ASSERT_TRUE(WriteFileAtomic(home_.path() / ".npmrc",
                              "; a comment\ncafile=/x\nregistry = \"https://file.example/npm/\"\n"
                              "@scope:registry=https://scope.example\n")
                  .ok());
  EXPECT_EQ(Of(""), "https://file.example/npm");
  EXPECT_EQ(Of("", "@scope/x"), "https://scope.example");
  EXPECT_EQ(Of("", "@other/x"), "https://file.example/npm");
  variables_["NPM_CONFIG_REGISTRY"] = "https://upper.example";
  EXPECT_EQ(Of(""), "https://upper.example");
  variables_["npm_config_registry"] = "https://lower.example/";
  EXPECT_EQ(Of(""), "https://lower.example");
  EXPECT_EQ(Of("http://given.example/a/"), "http://given.example/a");
}

TEST_F(Registry, FilesAtNpmsOwnAddressComeThroughTheMirrorThatNamedThem) {
  const LoopbackServer server([](const LoopbackRequest&) {
    return LoopbackServer::Reply(
        200, "",
        R"({"versions": {"1.0.0": {"dist": {"tarball": "https://registry.npmjs.org/x/-/x.tgz"}}}})");
  });
  const auto tarball = FindNpmTarball(server.url("/npm"), "x", "1.0.0");
  ASSERT_TRUE(tarball.ok()) << tarball.error().message();
  EXPECT_EQ(tarball->url, server.url("/npm/x/-/x.tgz"));
  EXPECT_EQ(tarball->integrity, "");
  EXPECT_EQ(server.requests().back().headers.at("accept"), "application/vnd.npm.install-v1+json");
}

TEST_F(Registry, AnswersThatAreNoMetadataAreErrors) {
  for (const char* body : {"<html>", "[]", "{}", R"({"versions": 3})"}) {
    const LoopbackServer server(
        [&](const LoopbackRequest&) { return LoopbackServer::Reply(200, "", body); });
    const auto tarball = FindNpmTarball(server.url(""), "x", "1.0.0");
    ASSERT_FALSE(tarball.ok());
    EXPECT_NE(tarball.error().message().find("does not answer as a registry of npm does"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace hone
