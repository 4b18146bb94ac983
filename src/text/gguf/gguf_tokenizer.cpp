#include "text/gguf/gguf_tokenizer.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "base/utf8.h"
#include "text/gguf/split_names.h"
#include "text/tokenizer.h"

namespace hone {
namespace {

constexpr size_t kLongestPiece = 1024;  // bytes; a longer one is not made by merges

// SentencePiece's mark of a space.
constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

using IdsByToken = std::unordered_map<std::string_view, int64_t>;

Error Contradiction(std::string message) {
  return Error(ErrorCode::kInvalidArgument, std::move(message));
}

GgufTokenType TypeOfToken(const GgufTokenizer& tokenizer, size_t id) {
  if (id >= tokenizer.types.size()) return GgufTokenType::kNormal;
  return static_cast<GgufTokenType>(static_cast<int>(tokenizer.types[id]));
}

bool IsAdded(GgufTokenType type) {
  return type == GgufTokenType::kUnknown || type == GgufTokenType::kControl ||
         type == GgufTokenType::kUserDefined;
}

// Stands for an id that the vocabulary has not, so that there are as many as rows.
bool IsFiller(const GgufTokenizer& tokenizer, size_t id) {
  return TypeOfToken(tokenizer, id) == GgufTokenType::kUnused &&
         tokenizer.tokens[id] == fmt::format("[PAD{}]", id);
}

Result<IdsByToken> IdsOf(const GgufTokenizer& tokenizer) {
  const std::vector<std::string>& tokens = tokenizer.tokens;
  if (tokens.empty()) return Contradiction("key tokenizer.ggml.tokens is missing or empty");
  if (tokens.size() > static_cast<size_t>(Tokenizer::kLargestId)) {
    return Contradiction(fmt::format("{} tokens are out of reach", tokens.size()));
  }
  if (!tokenizer.types.empty() && tokenizer.types.size() != tokens.size()) {
    return Contradiction(fmt::format("key tokenizer.ggml.token_type has {} types for {} tokens",
                                     tokenizer.types.size(), tokens.size()));
  }
  for (const double type : tokenizer.types) {
    if (!(type >= 1 && type <= 6 && type == std::floor(type))) {
      return Contradiction(fmt::format("key tokenizer.ggml.token_type: {} is no type", type));
    }
  }
  IdsByToken ids;
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (tokens[id].empty()) {
      return Contradiction(fmt::format("key tokenizer.ggml.tokens: token {} is empty", id));
    }
    if (!IsUtf8(tokens[id])) {
      return Contradiction(fmt::format("key tokenizer.ggml.tokens: token {} is not UTF-8", id));
    }
    if (IsFiller(tokenizer, id)) continue;
    if (!ids.emplace(tokens[id], static_cast<int64_t>(id)).second) {
      return Contradiction(fmt::format("key tokenizer.ggml.tokens: tokens {} and {} are alike",
                                       ids[tokens[id]], id));
    }
  }
  return ids;
}

Json AddedTokensJson(const GgufTokenizer& tokenizer) {
  Json::Array added;
  for (size_t id = 0; id < tokenizer.tokens.size(); ++id) {
    const GgufTokenType type = TypeOfToken(tokenizer, id);
    if (!IsAdded(type)) continue;
    added.push_back(Json::Of({{"id", static_cast<int64_t>(id)},
                              {"content", tokenizer.tokens[id]},
                              {"single_word", false},
                              {"lstrip", false},
                              {"rstrip", false},
                              {"normalized", false},
                              {"special", type != GgufTokenType::kUserDefined}}));
  }
  return Json(std::move(added));
}

// The vocabulary in the order of ids; `all`: added tokens stand in it, too.
Json VocabularyOf(const GgufTokenizer& tokenizer, bool all) {
  Json::Object vocab;
  for (size_t id = 0; id < tokenizer.tokens.size(); ++id) {
    if (IsFiller(tokenizer, id) || (!all && IsAdded(TypeOfToken(tokenizer, id)))) continue;
    vocab.emplace_back(tokenizer.tokens[id], static_cast<int64_t>(id));
  }
  return Json(std::move(vocab));
}

const std::string* SpecialToken(const GgufTokenizer& tokenizer, const std::string& name) {
  const auto found = tokenizer.ids.find(name);
  if (found == tokenizer.ids.end() || found->second < 0 ||
      found->second >= static_cast<int64_t>(tokenizer.tokens.size())) {
    return nullptr;
  }
  return &tokenizer.tokens[static_cast<size_t>(found->second)];
}

// What puts bos before a text, in the library that reads the file; Hone itself puts nothing there.
Json PostProcessorOf(const GgufTokenizer& tokenizer, bool begins) {
  const std::string* bos = SpecialToken(tokenizer, "bos");
  if (!tokenizer.add_bos.value_or(begins) || bos == nullptr) return Json();
  const auto special = [&](int type) {
    return Json::Of({{"SpecialToken", Json::Of({{"id", *bos}, {"type_id", type}})}});
  };
  const auto sequence = [](const char* id, int type) {
    return Json::Of({{"Sequence", Json::Of({{"id", id}, {"type_id", type}})}});
  };
  return Json::Of(
      {{"type", "TemplateProcessing"},
       {"single", Json::Array{special(0), sequence("A", 0)}},
       {"pair", Json::Array{special(0), sequence("A", 0), special(1), sequence("B", 1)}},
       {"special_tokens", Json::Of({{*bos, Json::Of({{"id", *bos},
                                                     {"ids", Json::Array{tokenizer.ids.at("bos")}},
                                                     {"tokens", Json::Array{*bos}}})}})}});
}

// --- gpt2: byte-level BPE ------------------------------------------------------------------------

Result<Json> ByteLevelJson(const GgufTokenizer& tokenizer) {
  // Files without a name, or with "default", were converted before names were given: how the
  // model's own tokenizer cuts text is not known from them.
  const std::string& pre = tokenizer.pre;
  const auto& names = SplitNames();
  const auto split = std::find_if(names.begin(), names.end(),
                                  [&](const SplitName& known) { return known.name == pre; });
  if (split == names.end()) {
    return Error(
        ErrorCode::kUnsupported,
        fmt::format("key tokenizer.ggml.pre: how \"{}\" cuts text is not known to Hone", pre));
  }
  HONE_ASSIGN_OR_RETURN(const IdsByToken ids, IdsOf(tokenizer));
  Json::Array merges;
  for (const std::string& merge : tokenizer.merges) {
    const size_t space = merge.find(' ', 1);
    if (space == std::string::npos || space + 1 >= merge.size() || !IsUtf8(merge)) {
      return Contradiction(
          fmt::format("key tokenizer.ggml.merges: merge {} is not two tokens", merges.size()));
    }
    merges.push_back(Json::Array{merge.substr(0, space), merge.substr(space + 1)});
  }
  Json::Array steps;
  for (const std::string_view pattern : split->patterns) {
    steps.push_back(Json::Of({{"type", "Split"},
                              {"pattern", Json::Of({{"Regex", pattern}})},
                              {"behavior", "Isolated"},
                              {"invert", false}}));
  }
  const Json byte_level = Json::Of({{"type", "ByteLevel"},
                                    {"add_prefix_space", false},
                                    {"trim_offsets", true},
                                    {"use_regex", false}});
  steps.push_back(byte_level);
  return Json::Of(
      {{"version", "1.0"},
       {"truncation", nullptr},
       {"padding", nullptr},
       {"added_tokens", AddedTokensJson(tokenizer)},
       {"normalizer", split->nfc ? Json::Of({{"type", "NFC"}}) : Json()},
       {"pre_tokenizer", Json::Of({{"type", "Sequence"}, {"pretokenizers", std::move(steps)}})},
       {"post_processor", PostProcessorOf(tokenizer, split->begins)},
       {"decoder", byte_level},
       {"model", Json::Of({{"type", "BPE"},
                           {"dropout", nullptr},
                           {"unk_token", nullptr},
                           {"continuing_subword_prefix", nullptr},
                           {"end_of_word_suffix", nullptr},
                           {"fuse_unk", false},
                           {"byte_fallback", false},
                           {"ignore_merges", split->ignore_merges},
                           {"vocab", VocabularyOf(tokenizer, false)},
                           {"merges", std::move(merges)}})}});
}

// --- llama: SentencePiece's BPE ------------------------------------------------------------------

struct ScoredMerge {
  double score = 0;
  int64_t left = 0, right = 0;  // ids
};

// All ways to cut a token into two others: those of the best tokens first, and of equals in the
// order of ids. So they are in the tokenizer.json that Llama 2 was published with.
std::vector<ScoredMerge> MergesOf(const GgufTokenizer& tokenizer, const IdsByToken& ids) {
  const auto mergeable = [&](auto id) {
    return TypeOfToken(tokenizer, static_cast<size_t>(id)) == GgufTokenType::kNormal;
  };
  std::vector<ScoredMerge> merges;
  for (size_t id = 0; id < tokenizer.tokens.size(); ++id) {
    if (!mergeable(id)) continue;
    const std::string_view token = tokenizer.tokens[id];
    for (size_t cut = 1; cut < token.size(); ++cut) {
      if ((static_cast<uint8_t>(token[cut]) & 0xC0) == 0x80) continue;  // inside of a character
      const auto left = ids.find(token.substr(0, cut)), right = ids.find(token.substr(cut));
      if (left != ids.end() && right != ids.end() && mergeable(left->second) &&
          mergeable(right->second)) {
        merges.push_back({tokenizer.scores[id], left->second, right->second});
      }
    }
  }
  std::sort(merges.begin(), merges.end(), [](const ScoredMerge& a, const ScoredMerge& b) {
    return std::tuple(-a.score, a.left, a.right) < std::tuple(-b.score, b.left, b.right);
  });
  return merges;
}

Result<void> CheckScores(const GgufTokenizer& tokenizer) {
  if (tokenizer.scores.size() != tokenizer.tokens.size()) {
    return Contradiction(fmt::format("key tokenizer.ggml.scores has {} scores for {} tokens",
                                     tokenizer.scores.size(), tokenizer.tokens.size()));
  }
  for (size_t id = 0; id < tokenizer.tokens.size(); ++id) {
    if (!std::isfinite(tokenizer.scores[id])) {
      return Contradiction(
          fmt::format("key tokenizer.ggml.scores: that of token {} is not finite", id));
    }
    // Cutting a token in all ways takes time by the square of its length.
    if (tokenizer.tokens[id].size() > kLongestPiece) {
      return Contradiction(
          fmt::format("key tokenizer.ggml.tokens: token {} has {} bytes, of {} at "
                      "most",
                      id, tokenizer.tokens[id].size(), kLongestPiece));
    }
  }
  return {};
}

Result<Json> SentencePieceJson(const GgufTokenizer& tokenizer) {
  HONE_ASSIGN_OR_RETURN(const IdsByToken ids, IdsOf(tokenizer));
  HONE_RETURN_IF_ERROR(CheckScores(tokenizer));
  Json::Array merges;
  for (const ScoredMerge& merge : MergesOf(tokenizer, ids)) {
    merges.push_back(Json::Array{tokenizer.tokens[static_cast<size_t>(merge.left)],
                                 tokenizer.tokens[static_cast<size_t>(merge.right)]});
  }
  const Json to_marks = Json::Of(
      {{"type", "Replace"}, {"pattern", Json::Of({{"String", " "}})}, {"content", kSpaceMark}});
  const Json to_spaces = Json::Of(
      {{"type", "Replace"}, {"pattern", Json::Of({{"String", kSpaceMark}})}, {"content", " "}});
  Json::Array normalizers,
      decoders = {to_spaces, Json::Of({{"type", "ByteFallback"}}), Json::Of({{"type", "Fuse"}})};
  if (tokenizer.add_space_prefix.value_or(true)) {
    normalizers.push_back(Json::Of({{"type", "Prepend"}, {"prepend", kSpaceMark}}));
    decoders.push_back(Json::Of({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}));
  }
  normalizers.push_back(to_marks);
  const std::string* unknown = SpecialToken(tokenizer, "unknown");
  return Json::Of(
      {{"version", "1.0"},
       {"truncation", nullptr},
       {"padding", nullptr},
       {"added_tokens", AddedTokensJson(tokenizer)},
       {"normalizer", Json::Of({{"type", "Sequence"}, {"normalizers", std::move(normalizers)}})},
       {"pre_tokenizer", nullptr},
       {"post_processor", PostProcessorOf(tokenizer, true)},
       {"decoder", Json::Of({{"type", "Sequence"}, {"decoders", std::move(decoders)}})},
       {"model", Json::Of({{"type", "BPE"},
                           {"dropout", nullptr},
                           {"unk_token", unknown == nullptr ? Json() : Json(*unknown)},
                           {"continuing_subword_prefix", nullptr},
                           {"end_of_word_suffix", nullptr},
                           {"fuse_unk", true},
                           {"byte_fallback", true},
                           {"ignore_merges", false},
                           {"vocab", VocabularyOf(tokenizer, true)},
                           {"merges", std::move(merges)}})}});
}

}  // namespace

Result<std::string> TokenizerJsonOf(const GgufTokenizer& tokenizer) {
  if (!tokenizer.hugging_face.empty()) {
    Result<Json> whole = ParseJson(tokenizer.hugging_face);
    if (!whole.ok()) return whole.error().In("key tokenizer.huggingface.json");
    return tokenizer.hugging_face;
  }
  if (tokenizer.model != "gpt2" && tokenizer.model != "llama") {
    return Error(ErrorCode::kUnsupported,
                 tokenizer.model.empty()
                     ? "the file has no tokenizer (key tokenizer.ggml.model)"
                     : fmt::format("key tokenizer.ggml.model: \"{}\" is not one of gpt2, llama",
                                   tokenizer.model));
  }
  HONE_ASSIGN_OR_RETURN(const Json json, tokenizer.model == "gpt2" ? ByteLevelJson(tokenizer)
                                                                   : SentencePieceJson(tokenizer));
  return DumpJson(json, JsonStyle::kPretty) + "\n";
}

Result<Json> TokenizerConfigOf(const GgufTokenizer& tokenizer) {
  Json config = Json::Of(
      {{"tokenizer_class", "PreTrainedTokenizerFast"}, {"clean_up_tokenization_spaces", false}});
  constexpr std::pair<const char*, const char*> kTokens[] = {{"bos", "bos_token"},
                                                             {"eos", "eos_token"},
                                                             {"unknown", "unk_token"},
                                                             {"padding", "pad_token"}};
  for (const auto& [name, key] : kTokens) {
    const std::string* token = SpecialToken(tokenizer, name);
    if (token == nullptr) continue;
    if (!IsUtf8(*token)) return Contradiction(fmt::format("the {} token is not UTF-8", name));
    config.Set(key, *token);
  }
  if (tokenizer.add_bos) config.Set("add_bos_token", *tokenizer.add_bos);
  if (tokenizer.add_eos) config.Set("add_eos_token", *tokenizer.add_eos);
  for (const auto& [name, text] : tokenizer.templates) {
    if (!IsUtf8(name) || !IsUtf8(text)) return Contradiction("a chat template is not UTF-8");
  }
  if (tokenizer.templates.size() == 1 && tokenizer.templates[0].first == "default") {
    config.Set("chat_template", tokenizer.templates[0].second);
  } else if (!tokenizer.templates.empty()) {
    Json::Array named;
    for (const auto& [name, text] : tokenizer.templates) {
      named.push_back(Json::Of({{"name", name}, {"template", text}}));
    }
    config.Set("chat_template", std::move(named));
  }
  return config;
}

}  // namespace hone
