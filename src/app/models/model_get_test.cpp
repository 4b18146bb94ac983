#include "app/models/model_get.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "base/fetch/download.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/hashing/sha512.h"
#include "base/json.h"
#include "base/subprocess.h"
#include "engine/model.h"
#include "engine/weights/gguf_model.h"
#include "support/golden_models.h"
#include "support/loopback_server.h"
#include "train/folder/model_place.h"

namespace hone {
namespace {

const std::filesystem::path kGolden = HONE_SOURCE_DIR "/tests/golden";

// A registry on this machine with one package, which tar and gzip have packed, and a catalogue that
// knows it.
class ModelGet : public testing::Test {
 protected:
  ModelGet() {
    const auto package = directory_.path() / "package";
    std::filesystem::create_directories(package / "onnx");
    std::filesystem::copy(kGolden / "onnx/tied.onnx", package / "onnx/model.onnx");
    const Json golden = *ParseJson(*ReadFile(kGolden / "onnx/tied.json"));
    Write(package / "config.json", DumpJson(*golden.Find("config")));
    Write(package / "tokenizer_config.json", "{}");
    const auto packed = RunSubprocess({"tar", "-C", directory_.path().string(), "-czf",
                                       (directory_.path() / "p.tgz").string(), "package"},
                                      "", std::chrono::seconds(60), {});
    EXPECT_TRUE(packed.ok() && packed->exit_code == 0);
    archive_ = *ReadFile(directory_.path() / "p.tgz");
    integrity_ = IntegrityOf(archive_);
    stated_ = integrity_;
    weights_ = *ReadFile(kGolden / "onnx/tied.onnx");
    weights_sha256_ = Sha256Hex(weights_);
    known_ = {.name = "tiny",
              .about = "made up",
              .parameters = 1,
              .licence = "MIT",
              .owner = "nobody",
              .source = "https://example.org",
              .form = StoredForm::kOnnxDecoder,
              .type = "f32",
              .packages = {{"@made/up",
                            "1.2.3",
                            integrity_,
                            std::ssize(archive_),
                            "onnx/model.onnx",
                            {"config.json", "tokenizer_config.json"}}},
              .weights_bytes = std::ssize(weights_),
              .weights_sha256 = weights_sha256_};
  }
  static void Write(const std::filesystem::path& path, const std::string& text) {
    EXPECT_TRUE(WriteFileAtomic(path, text).ok());
  }
  std::string Answer(const LoopbackRequest& request) {
    if (request.path == "/npm/@made%2fup") {
      const Json dist =
          Json::Of({{"tarball", server_.url("/files/up-1.2.3.tgz")}, {"integrity", stated_}});
      return LoopbackServer::Reply(
          200, "",
          DumpJson(Json::Of({{"versions", Json::Of({{"1.2.3", Json::Of({{"dist", dist}})}})}})));
    }
    if (request.path != "/files/up-1.2.3.tgz") return LoopbackServer::Reply(404, "", "no");
    ++fetched_;
    std::string reply = LoopbackServer::Reply(200, "", archive_);
    // A connection that breaks in the middle.
    if (cut_ > 0) {
      reply.resize(reply.size() - archive_.size() + cut_);
      cut_ = 0;
    } else if (const auto range = request.headers.find("range"); range != request.headers.end()) {
      const size_t begin = std::stoul(range->second.substr(6));
      reply = LoopbackServer::Reply(206,
                                    fmt::format("Content-Range: bytes {}-{}/{}\r\n", begin,
                                                archive_.size() - 1, archive_.size()),
                                    archive_.substr(begin));
    }
    return reply;
  }
  Result<GotModel> Get() {
    ModelGetOptions options;
    options.name = "Tiny";
    options.to = to_.string() + slash_;
    options.cache = directory_.path() / "cache";
    options.registry = server_.url("/npm");
    options.variable = [](const std::string&) { return std::string(); };
    options.catalogue = {&known_, 1};
    return GetModel(options);
  }
  std::string GetError() {
    const auto got = Get();
    EXPECT_FALSE(std::filesystem::exists(to_)) << "nothing half written";
    EXPECT_FALSE(std::filesystem::exists(to_.string() + ".part")) << "and no room taken";
    return got.ok() ? "" : got.error().message();
  }

  TemporaryDirectory directory_;
  const std::filesystem::path to_ = directory_.path() / "models/tiny";
  std::string slash_;  // behind --to
  std::string archive_, integrity_, stated_, weights_, weights_sha256_;
  KnownModel known_;
  std::atomic<int> fetched_ = 0;
  std::atomic<size_t> cut_ = 0;
  LoopbackServer server_{[this](const LoopbackRequest& request) { return Answer(request); }};
};

TEST_F(ModelGet, APackageBecomesAFolderThatLoadsWithItsLicence) {
  const auto got = Get();
  ASSERT_TRUE(got.ok()) << got.error().message();
  EXPECT_EQ(got->folder, to_);
  EXPECT_FALSE(got->was_there);
  EXPECT_NE(got->licence.find("licence MIT, by nobody"), std::string::npos);
  const auto model = LoadModel(to_);
  ASSERT_TRUE(model.ok()) << model.error().message();
  EXPECT_EQ(model->config.layers, 1);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(to_)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names,
            (std::vector<std::string>{"LICENSE", "NOTICE", "config.json", "model.safetensors",
                                      "origin.json", "tokenizer_config.json"}));
  EXPECT_NE(ReadFile(to_ / "LICENSE")->find("Copyright (c) nobody"), std::string::npos);
  EXPECT_NE(ReadFile(to_ / "NOTICE")->find("@made/up@1.2.3"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(to_.string() + ".part"));
}

TEST_F(ModelGet, ASecondCallFindsTheFolderAndAThirdThePackage) {
  ASSERT_TRUE(Get().ok());
  EXPECT_TRUE(Get()->was_there);
  std::filesystem::remove_all(to_);
  EXPECT_FALSE(Get()->was_there);
  EXPECT_EQ(fetched_, 1) << "the package waits in the cache";
  EXPECT_TRUE(std::filesystem::exists(to_ / "model.safetensors"));
}

TEST_F(ModelGet, ASlashBehindTheFolderChangesNothing) {
  slash_ = "//";
  const auto got = Get();
  ASSERT_TRUE(got.ok()) << got.error().message();
  EXPECT_EQ(got->folder, to_);
  EXPECT_TRUE(std::filesystem::exists(to_ / "model.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(to_ / ".part"));
  EXPECT_TRUE(Get()->was_there);
  slash_ = "";
  EXPECT_TRUE(Get()->was_there);
}

TEST_F(ModelGet, APackageThatIsTooLargeIsNoFullDisk) {
  archive_.resize(3 * archive_.size());
  const std::string error = GetError();
  EXPECT_NE(error.find("it is larger than the "), std::string::npos) << error;
  EXPECT_EQ(error.find("make room"), std::string::npos) << error;
  EXPECT_FALSE(
      std::filesystem::exists(directory_.path() / "cache/packages/@made+up-1.2.3.tgz.part"));
}

TEST_F(ModelGet, AFolderOfSomethingElseIsNotTouched) {
  Write(to_ / "mine.txt", "mine");
  const auto got = Get();
  ASSERT_FALSE(got.ok());
  EXPECT_NE(got.error().message().find("it is not touched. Name another folder with --to"),
            std::string::npos);
  EXPECT_EQ(*ReadFile(to_ / "mine.txt"), "mine");
  EXPECT_EQ(fetched_, 0);
}

TEST_F(ModelGet, ABrokenConnectionGoesOnWhereItStopped) {
  cut_ = archive_.size() / 2;
  const auto got = Get();
  ASSERT_TRUE(got.ok()) << got.error().message();
  EXPECT_EQ(fetched_, 2);
  EXPECT_EQ(server_.requests().back().headers.at("range"),
            fmt::format("bytes={}-", archive_.size() / 2));
}

TEST_F(ModelGet, WhatAnEarlierCallLeftOfAnotherFileIsFetchedAnew) {
  Write(directory_.path() / "cache/packages/@made+up-1.2.3.tgz.part", "of another file");
  const auto got = Get();
  ASSERT_TRUE(got.ok()) << got.error().message();
  EXPECT_EQ(fetched_, 2);
}

TEST_F(ModelGet, APackageWithAnotherHashIsRefusedBeforeAndAfterItIsFetched) {
  stated_ = "sha512-" + std::string(86, 'A') + "==";
  EXPECT_NE(GetError().find("has another @made/up@1.2.3 than the one that is known"),
            std::string::npos);
  EXPECT_EQ(fetched_, 0);
  stated_ = "";
  archive_[archive_.size() / 2] ^= 1;
  EXPECT_NE(GetError().find("its hash is not the one that is known"), std::string::npos);
  EXPECT_FALSE(
      std::filesystem::exists(directory_.path() / "cache/packages/@made+up-1.2.3.tgz.part"));
}

TEST_F(ModelGet, WeightsWithAnotherHashAreRefused) {
  weights_sha256_ = std::string(64, '0');
  known_.weights_sha256 = weights_sha256_;
  EXPECT_NE(GetError().find("the hash of its weights is "), std::string::npos);
}

TEST_F(ModelGet, AbsentPackagesVersionsAndServersSayWhatToDo) {
  known_.packages[0].version = "9.9.9";
  EXPECT_NE(GetError().find("has no version 9.9.9 of the package @made/up; name another one with "
                            "--registry"),
            std::string::npos);
  known_.packages[0].name = "gone";
  EXPECT_NE(GetError().find("has no package gone"), std::string::npos);
  ModelGetOptions options;
  options.name = "tiny";
  options.to = to_;
  options.cache = directory_.path() / "cache";
  options.registry = "http://127.0.0.1:1";
  options.variable = [](const std::string&) { return std::string(); };
  options.catalogue = {&known_, 1};
  const auto got = GetModel(options);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code(), ErrorCode::kUnavailable);
  EXPECT_NE(got.error().message().find("Look whether this machine reaches the registry"),
            std::string::npos);
  options.name = "tinny";
  EXPECT_NE(GetModel(options).error().message().find("did you mean \"tiny\"?"), std::string::npos);
}

// A mirror: a folder with SHA256SUMS as sha256sum writes it.
class MirrorOfOnesOwn : public testing::Test {
 protected:
  MirrorOfOnesOwn() {
    std::filesystem::create_directories(source_ / "1_Pooling");
    for (const char* name : {"config.json", "model.safetensors"}) {
      std::filesystem::copy(GoldenModels() / "qwen3" / name, source_ / name);
    }
    EXPECT_TRUE(WriteFileAtomic(source_ / "1_Pooling/config.json", "{}").ok());
    EXPECT_TRUE(WriteFileAtomic(source_ / "pytorch_model.bin", "runs code").ok());
    EXPECT_TRUE(WriteFileAtomic(source_ / "a b%.txt", "odd").ok());
    const Model model = *LoadModel(source_);
    EXPECT_TRUE(WriteGgufModel(model, GgmlType::kF32, {}, source_ / "mine.gguf").ok());
    List();
  }
  void List() {
    const auto run = RunSubprocess({"sh", "-c",
                                    "cd '" + source_.string() +
                                        "' && find . -type f ! -name SHA256SUMS | sort | xargs "
                                        "-d '\\n' sha256sum > SHA256SUMS"},
                                   "", std::chrono::seconds(60), {});
    EXPECT_TRUE(run.ok() && run->exit_code == 0);
  }
  std::string Answer(const LoopbackRequest& request) {
    std::string path = request.path.substr(std::string("/models/mine").size());
    for (size_t at; (at = path.find('%')) != std::string::npos && path != "/a b%.txt";) {
      path.replace(at, 3, 1, static_cast<char>(std::stoi(path.substr(at + 1, 2), nullptr, 16)));
    }
    const auto text = ReadFile(source_ / path.substr(1));
    return text.ok() ? LoopbackServer::Reply(200, "", *text) : LoopbackServer::Reply(404, "", "no");
  }
  Result<GotModel> Get(const std::string& name, const std::string& type = "") {
    ModelGetOptions options;
    options.name = name;
    options.to = to_;
    options.type = type;
    options.cache = directory_.path() / "cache";
    options.variable = [](const std::string&) { return std::string(); };
    return GetModel(options);
  }

  TemporaryDirectory directory_;
  const std::filesystem::path source_ = directory_.path() / "mine", to_ = directory_.path() / "got";
  LoopbackServer server_{[this](const LoopbackRequest& request) { return Answer(request); }};
};

TEST_F(MirrorOfOnesOwn, AFolderComesByAddressAndByPath) {
  for (const std::string& name : {server_.url("/models/mine/"), source_.string()}) {
    const auto got = Get(name);
    ASSERT_TRUE(got.ok()) << got.error().message();
    EXPECT_EQ(got->name, "mine");
    EXPECT_EQ(*ReadFile(to_ / "model.safetensors"), *ReadFile(source_ / "model.safetensors"));
    EXPECT_EQ(*ReadFile(to_ / "1_Pooling/config.json"), "{}");
    EXPECT_EQ(*ReadFile(to_ / "a b%.txt"), "odd");
    EXPECT_FALSE(std::filesystem::exists(to_ / "pytorch_model.bin")) << "it could run code";
    EXPECT_TRUE(LoadModel(to_).ok());
    std::filesystem::remove_all(to_);
  }
}

TEST_F(MirrorOfOnesOwn, AGgufFileBecomesAFolder) {
  for (const std::string& name :
       {server_.url("/models/mine/mine.gguf"), (source_ / "mine.gguf").string()}) {
    const auto got = Get(name, "f32");
    ASSERT_TRUE(got.ok()) << got.error().message();
    const auto was = LoadModel(source_), is = LoadModel(to_);
    ASSERT_TRUE(is.ok()) << is.error().message();
    for (size_t i = 0; i < was->parameters.size(); ++i) {
      EXPECT_EQ(is->parameters[i].value, was->parameters[i].value);
    }
    std::filesystem::remove_all(to_);
  }
}

TEST_F(MirrorOfOnesOwn, AGgufFileKeepsTheNumbersThatItHas) {
  const Model model = *LoadModel(source_);
  const std::vector<std::pair<GgmlType, std::string>> types = {{GgmlType::kF32, "float32"},
                                                               {GgmlType::kBF16, "bfloat16"},
                                                               {GgmlType::kF16, "float16"},
                                                               {GgmlType::kQ8_0, "float16"}};
  for (const auto& [type, kept] : types) {
    ASSERT_TRUE(WriteGgufModel(model, type, {}, source_ / "mine.gguf").ok());
    List();
    const auto got = Get((source_ / "mine.gguf").string());
    ASSERT_TRUE(got.ok()) << got.error().message();
    EXPECT_EQ(ParseJson(*ReadFile(to_ / "config.json"))->Find("dtype")->AsString(), kept);
    std::filesystem::remove_all(to_);
  }
}

TEST_F(MirrorOfOnesOwn, AGgufFileOfTwoKindsOfHalvesKeepsBoth) {
  const Model model = *LoadModel(source_);
  for (const GgmlType type : {GgmlType::kBF16, GgmlType::kF16}) {
    const auto file = directory_.path() / LayoutOf(type).name;
    ASSERT_TRUE(WriteGgufModel(model, type, {}, file).ok());
  }
  const GgufFile brain = *GgufFile::Open(directory_.path() / "BF16"),
                 half = *GgufFile::Open(directory_.path() / "F16");
  std::vector<GgufTensorSource> tensors;
  for (const auto& [name, tensor] : brain.tensors()) {
    const GgufTensor& one = name == "token_embd.weight" ? *half.FindTensor(name) : tensor;
    tensors.push_back(
        {name, one.layout->type, one.shape, [&one]() -> Result<std::vector<std::byte>> {
           return std::vector<std::byte>(one.bytes.begin(), one.bytes.end());
         }});
  }
  const GgufMetadata metadata(brain.metadata().begin(), brain.metadata().end());
  ASSERT_TRUE(WriteGguf(source_ / "mine.gguf", metadata, tensors).ok());
  List();
  const auto got = Get((source_ / "mine.gguf").string());
  ASSERT_TRUE(got.ok()) << got.error().message();
  EXPECT_EQ(ParseJson(*ReadFile(to_ / "config.json"))->Find("dtype")->AsString(), "float32");
}

TEST_F(MirrorOfOnesOwn, AFileWithoutBytesComesAlong) {
  EXPECT_TRUE(WriteFileAtomic(source_ / "empty.txt", "").ok());
  List();
  for (const std::string& name : {server_.url("/models/mine"), source_.string()}) {
    const auto got = Get(name);
    ASSERT_TRUE(got.ok()) << got.error().message();
    EXPECT_EQ(*ReadFile(to_ / "empty.txt"), "");
    std::filesystem::remove_all(to_);
  }
}

TEST_F(MirrorOfOnesOwn, WhatIsLeftOfAnotherMirrorIsNoPartOfTheModel) {
  const auto other = directory_.path() / "other";
  std::filesystem::copy(source_, other, std::filesystem::copy_options::recursive);
  EXPECT_TRUE(WriteFileAtomic(other / "LICENSE", "another one").ok());
  EXPECT_TRUE(WriteFileAtomic(other / "model.safetensors", "damaged").ok());
  EXPECT_TRUE(WriteFileAtomic(other / "SHA256SUMS", Sha256Hex("another one") + "  LICENSE\n" +
                                                        *ReadFile(source_ / "SHA256SUMS"))
                  .ok());
  EXPECT_FALSE(Get(other.string()).ok());
  EXPECT_TRUE(Exists(to_.string() + ".part/LICENSE")) << "it was fetched before";
  const auto got = Get(source_.string());
  ASSERT_TRUE(got.ok()) << got.error().message();
  EXPECT_FALSE(Exists(to_ / "LICENSE"));
}

TEST_F(MirrorOfOnesOwn, TheSameMirrorGoesOnWithWhatIsThere) {
  const std::string weights = *ReadFile(source_ / "model.safetensors");
  EXPECT_TRUE(WriteFileAtomic(source_ / "model.safetensors", "damaged").ok());
  EXPECT_FALSE(Get(server_.url("/models/mine")).ok());
  EXPECT_TRUE(WriteFileAtomic(source_ / "model.safetensors", weights).ok());
  const auto got = Get(server_.url("/models/mine"));
  ASSERT_TRUE(got.ok()) << got.error().message();
  int configs = 0;
  for (const auto& request : server_.requests()) {
    configs += request.path == "/models/mine/config.json" ? 1 : 0;
  }
  EXPECT_EQ(configs, 1);
}

TEST_F(MirrorOfOnesOwn, AnotherTypeOrAnotherListIsAnotherModel) {
  const std::string file = (source_ / "mine.gguf").string();
  ASSERT_TRUE(Get(file, "f32").ok());
  EXPECT_TRUE(Get(file, "f32")->was_there);
  EXPECT_NE(Get(file, "f16").error().message().find("holds something else"), std::string::npos);
  std::filesystem::remove_all(to_);
  ASSERT_TRUE(Get(source_.string()).ok());
  EXPECT_TRUE(Get(source_.string() + "/")->was_there);
  EXPECT_TRUE(WriteFileAtomic(source_ / "a b%.txt", "newer").ok());
  List();
  EXPECT_NE(Get(source_.string()).error().message().find("holds something else"),
            std::string::npos);
}

TEST_F(MirrorOfOnesOwn, AFilesFolderIsCutFromItsNameWhereverTheSlashesAre) {
  const auto got = Get(server_.url("/models/mine/mine.gguf/"));
  ASSERT_TRUE(got.ok()) << got.error().message();
  EXPECT_EQ(got->name, "mine");
  const auto root = Get("/there-is-no-such.gguf");
  ASSERT_FALSE(root.ok());
  EXPECT_TRUE(root.error().message().starts_with("/ has no list SHA256SUMS"))
      << root.error().message();
}

TEST_F(MirrorOfOnesOwn, AListThatIsMissingAndFilesThatWereChangedAreErrors) {
  EXPECT_TRUE(WriteFileAtomic(source_ / "config.json", "{}").ok());
  for (const std::string& name : {server_.url("/models/mine"), source_.string()}) {
    const auto got = Get(name);
    ASSERT_FALSE(got.ok());
    EXPECT_NE(got.error().message().find("its hash is not the one"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(to_));
  }
  List();
  std::filesystem::remove(source_ / "model.safetensors");
  List();
  EXPECT_NE(Get(source_.string())
                .error()
                .message()
                .find("names no config.json with "
                      "model.safetensors"),
            std::string::npos);
  std::filesystem::remove(source_ / "SHA256SUMS");
  for (const std::string& name : {server_.url("/models/mine"), source_.string()}) {
    EXPECT_NE(Get(name).error().message().find("has no list SHA256SUMS of its files"),
              std::string::npos);
  }
}

TEST(Catalogue, WhoMissesOneOfItsModelsIsToldItsName) {
  std::vector<std::string_view> names;
  for (const KnownModel& model : KnownModels()) names.push_back(model.name);
  const auto known = ModelsKnownByName();
  EXPECT_EQ(names, std::vector<std::string_view>(known.begin(), known.end()));
}

}  // namespace
}  // namespace hone
