#include "app/gguf_conversion.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "text/model_template.h"
#include "text/tokenizer.h"

namespace hone {
namespace {

constexpr const char* kSpecialTokens[] = {"bos", "eos", "unknown", "padding"};

// The text of the folder's tokenizer.json, or of the one that its vocab.json and merges.txt make.
Result<std::string> TokenizerTextOf(const std::filesystem::path& folder) {
  if (Exists(folder / "tokenizer.json")) return ReadFile(folder / "tokenizer.json");
  HONE_ASSIGN_OR_RETURN(const Tokenizer tokenizer, Tokenizer::Load(folder));
  return tokenizer.ToJson();
}

// A token's id by its text, from the highest: added tokens have the higher ids.
std::optional<int64_t> IdOf(const GgufTokenizer& tokenizer, const std::string& text) {
  const auto found = std::find(tokenizer.tokens.rbegin(), tokenizer.tokens.rend(), text);
  if (found == tokenizer.tokens.rend()) return std::nullopt;
  return std::distance(found, tokenizer.tokens.rend()) - 1;
}

// From tokenizer_config.json by name, else from config.json by id.
void AddSpecialTokens(const ModelTemplate& own, const ModelConfig& config,
                      GgufTokenizer* tokenizer) {
  const std::map<std::string, std::string> keys = {{"unknown", "unk"}, {"padding", "pad"}};
  for (const std::string name : kSpecialTokens) {
    const std::string key = keys.contains(name) ? keys.at(name) : name;
    std::optional<int64_t> id;
    if (const auto token = own.tokens.find(key + "_token"); token != own.tokens.end()) {
      id = IdOf(*tokenizer, token->second);
    }
    const Json* stated = config.source.Find(key + "_token_id");
    if (stated != nullptr && stated->is_array() && !stated->AsArray().empty()) {
      stated = &stated->AsArray().front();
    }
    if (!id && stated != nullptr && stated->is_integer()) id = stated->AsInteger();
    if (id && *id >= 0 && *id < static_cast<int64_t>(tokenizer->tokens.size())) {
      tokenizer->ids[name] = *id;
    }
  }
}

GgufMetadata MetadataOfTokenizer(const GgufTokenizer& tokenizer) {
  GgufMetadata metadata = {{"tokenizer.ggml.model", tokenizer.model},
                           {"tokenizer.ggml.pre", tokenizer.pre},
                           {"tokenizer.ggml.tokens", GgufArray(tokenizer.tokens)}};
  if (!tokenizer.scores.empty()) {
    metadata.emplace_back(
        "tokenizer.ggml.scores",
        GgufArray(std::vector<float>(tokenizer.scores.begin(), tokenizer.scores.end())));
  }
  metadata.emplace_back(
      "tokenizer.ggml.token_type",
      GgufArray(std::vector<int32_t>(tokenizer.types.begin(), tokenizer.types.end())));
  if (!tokenizer.merges.empty()) {
    metadata.emplace_back("tokenizer.ggml.merges", GgufArray(tokenizer.merges));
  }
  for (const auto& [name, id] : tokenizer.ids) {
    metadata.emplace_back(fmt::format("tokenizer.ggml.{}_token_id", name),
                          static_cast<uint32_t>(id));
  }
  if (tokenizer.add_bos) metadata.emplace_back("tokenizer.ggml.add_bos_token", *tokenizer.add_bos);
  if (tokenizer.add_space_prefix) {
    metadata.emplace_back("tokenizer.ggml.add_space_prefix", *tokenizer.add_space_prefix);
  }
  std::vector<std::string> names;
  for (const auto& [name, text] : tokenizer.templates) {
    const bool first = name == "default";
    metadata.emplace_back(first ? "tokenizer.chat_template" : "tokenizer.chat_template." + name,
                          text);
    if (!first) names.push_back(name);
  }
  if (!names.empty()) metadata.emplace_back("tokenizer.chat_templates", GgufArray(names));
  metadata.emplace_back("tokenizer.huggingface.json", tokenizer.hugging_face);
  return metadata;
}

// Whether a text gets its bos token, as the folder's tokenizer_config.json says or its tokenizer's
// post-processor does.
std::optional<bool> BeginsWithBos(const std::filesystem::path& folder, const std::string& text) {
  if (const auto config = ReadFile(folder / "tokenizer_config.json"); config.ok()) {
    const Result<Json> json = ParseJson(*config);
    const Json* stated = json.ok() ? json->Find("add_bos_token") : nullptr;
    if (stated != nullptr && stated->is_bool()) return stated->AsBool();
  }
  const Result<Json> json = ParseJson(text);
  const Json* processor = json.ok() ? json->Find("post_processor") : nullptr;
  if (processor == nullptr || !processor->is_object()) return std::nullopt;
  // Its template of a single text begins with a token that is no part of the text. It may be one of
  // several processors.
  const Json* list = processor->Find("processors");
  for (const Json& one : list && list->is_array() ? list->AsArray() : Json::Array{*processor}) {
    const Json* single = one.is_object() ? one.Find("single") : nullptr;
    if (single == nullptr || !single->is_array() || single->AsArray().empty()) continue;
    const Json& first = single->AsArray().front();
    return first.is_object() && first.Find("SpecialToken") != nullptr;
  }
  return false;
}

}  // namespace

bool IsGgufName(const std::filesystem::path& path) { return path.extension() == ".gguf"; }

Result<void> CheckConversion(const std::filesystem::path& from, const std::filesystem::path& to,
                             const std::string& type) {
  if (IsGgufName(to) && IsGgufName(from)) {
    return Error(ErrorCode::kUnsupported,
                 "from GGUF to GGUF: convert the file to a folder first, and that to a file");
  }
  if (!IsGgufName(to) && type == "q8_0") {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("--type {}: a folder's weights are f32, bf16 or f16; name a file that ends "
                    "in .gguf",
                    type));
  }
  return {};
}

Result<std::string> KeepingTypeOf(const std::filesystem::path& path) {
  HONE_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::Open(path));
  std::set<GgmlType> types;
  for (const auto& [name, tensor] : file.tensors()) {
    if (tensor.shape.size() > 1) types.insert(tensor.layout->type);
  }
  // Beside bfloat16's small numbers, others have digits that it cannot hold.
  const bool brain = types.contains(GgmlType::kBF16);
  if (types.contains(GgmlType::kF32) || (brain && types.size() > 1)) return std::string("f32");
  return std::string(brain ? "bf16" : "f16");
}

GgmlType GgmlTypeNamed(const std::string& type) {
  const std::map<std::string, GgmlType> types = {{"f32", GgmlType::kF32},
                                                 {"f16", GgmlType::kF16},
                                                 {"bf16", GgmlType::kBF16},
                                                 {"q8_0", GgmlType::kQ8_0}};
  CHECK(types.contains(type), "a type that --type has not");
  return types.at(type);
}

SaveType SaveTypeNamed(const std::string& type) {
  const std::map<std::string, SaveType> types = {
      {"f32", SaveType::kF32}, {"f16", SaveType::kF16}, {"bf16", SaveType::kBf16}};
  CHECK(types.contains(type), "a type that --type has not");
  return types.at(type);
}

GgufTokenizer ReadGgufTokenizer(const GgufFile& file) {
  GgufTokenizer tokenizer;
  const auto text = [&](const char* key) {
    const std::string* own = file.Text(key);
    return own == nullptr ? "" : *own;
  };
  const auto texts = [&](const char* key) {
    const auto* own = file.Texts(key);
    return own == nullptr ? std::vector<std::string>() : *own;
  };
  tokenizer.model = text("tokenizer.ggml.model");
  tokenizer.pre = text("tokenizer.ggml.pre");
  tokenizer.tokens = texts("tokenizer.ggml.tokens");
  tokenizer.merges = texts("tokenizer.ggml.merges");
  tokenizer.scores = file.Numbers("tokenizer.ggml.scores").value_or(std::vector<double>());
  tokenizer.types = file.Numbers("tokenizer.ggml.token_type").value_or(std::vector<double>());
  for (const char* name : kSpecialTokens) {
    const auto id = file.Integer(fmt::format("tokenizer.ggml.{}_token_id", name));
    if (id) tokenizer.ids[name] = *id;
  }
  tokenizer.add_bos = file.Truth("tokenizer.ggml.add_bos_token");
  tokenizer.add_eos = file.Truth("tokenizer.ggml.add_eos_token");
  tokenizer.add_space_prefix = file.Truth("tokenizer.ggml.add_space_prefix");
  if (const std::string* own = file.Text("tokenizer.chat_template")) {
    tokenizer.templates.emplace_back("default", *own);
  }
  for (const std::string& name : texts("tokenizer.chat_templates")) {
    const std::string* own = file.Text("tokenizer.chat_template." + name);
    if (own != nullptr) tokenizer.templates.emplace_back(name, *own);
  }
  tokenizer.hugging_face = text("tokenizer.huggingface.json");
  return tokenizer;
}

Result<std::vector<std::pair<std::string, std::string>>> TokenizerFilesOf(const GgufFile& file) {
  std::vector<std::pair<std::string, std::string>> files;
  const GgufTokenizer tokenizer = ReadGgufTokenizer(file);
  if (tokenizer.model.empty()) return files;
  Result<std::string> text = TokenizerJsonOf(tokenizer);
  if (!text.ok()) return text.error().In(file.name());
  Result<Json> config = TokenizerConfigOf(tokenizer);
  if (!config.ok()) return config.error().In(file.name());
  files.emplace_back("tokenizer.json", *std::move(text));
  files.emplace_back("tokenizer_config.json", DumpJson(*config, JsonStyle::kPretty) + "\n");
  return files;
}

Result<GgufMetadata> TokenizerMetadataOf(const std::filesystem::path& folder,
                                         const ModelConfig& config,
                                         const std::string& chat_template) {
  const Result<std::string> text = TokenizerTextOf(folder);
  if (!text.ok() && text.error().code() == ErrorCode::kNotFound) return GgufMetadata();
  if (!text.ok()) return text.error();
  Result<GgufTokenizer> tokenizer = GgufTokenizerOf(*text, config.vocab);
  if (!tokenizer.ok()) return tokenizer.error().In(folder.string());
  Result<ModelTemplate> own = LoadModelTemplate(folder);
  if (!own.ok() && own.error().code() != ErrorCode::kNotFound) return own.error();
  AddSpecialTokens(own.ok() ? *own : ModelTemplate(), config, &*tokenizer);
  tokenizer->add_bos = BeginsWithBos(folder, *text);
  if (own.ok()) tokenizer->templates = own->sources;
  if (!chat_template.empty()) tokenizer->templates = {{"default", chat_template}};
  return MetadataOfTokenizer(*tokenizer);
}

Json GgufFacts(const GgufFile& file) {
  std::map<std::string, int64_t> types;
  for (const auto& [name, tensor] : file.tensors()) {
    types[std::string(tensor.layout->name)] += tensor.count();
  }
  std::string stored;
  for (const auto& [type, count] : types) {
    stored += fmt::format("{}{} {}", stored.empty() ? "" : ", ", count, type);
  }
  const GgufTokenizer tokenizer = ReadGgufTokenizer(file);
  return Json::Of({{"stored", stored},
                   {"gguf_version", static_cast<int64_t>(file.version())},
                   {"tensors", static_cast<int64_t>(file.tensors().size())},
                   {"tokenizer", tokenizer.model.empty()
                                     ? Json()
                                     : Json(fmt::format("{}{}{}, {} tokens", tokenizer.model,
                                                        tokenizer.pre.empty() ? "" : " ",
                                                        tokenizer.pre, tokenizer.tokens.size()))},
                   {"chat_template", !tokenizer.templates.empty()}});
}

}  // namespace hone
