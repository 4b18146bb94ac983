// The way back of gguf_tokenizer.h.

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "text/gguf/gguf_tokenizer.h"
#include "text/gguf/split_names.h"
#include "text/tokenizer.h"

namespace hone {
namespace {

Error Unwritable(std::string message) { return Error(ErrorCode::kUnsupported, std::move(message)); }

// A member's value; null where there is none.
const Json& PartOf(const Json& object, std::string_view key) {
  static const Json null;
  const Json* member = object.Find(key);
  return member != nullptr ? *member : null;
}

// The patterns of the pre_tokenizer's steps in their order; an empty one where a step is none that
// GGUF could name.
void AddPatterns(const Json& step, std::vector<std::string>* patterns) {
  const Json& type = PartOf(step, "type");
  if (type == Json("Sequence") && PartOf(step, "pretokenizers").is_array()) {
    for (const Json& inner : PartOf(step, "pretokenizers").AsArray()) AddPatterns(inner, patterns);
  } else if (type == Json("ByteLevel")) {
    if (PartOf(step, "add_prefix_space") != Json(false)) patterns->push_back("");
    if (PartOf(step, "use_regex") != Json(false)) patterns->emplace_back(kGpt2Split);
  } else if (type == Json("Digits") && PartOf(step, "individual_digits") == Json(true)) {
    patterns->push_back(R"(\p{N})");
  } else {
    const Json& regex = PartOf(PartOf(step, "pattern"), "Regex");
    const bool plain = type == Json("Split") && PartOf(step, "behavior") == Json("Isolated") &&
                       PartOf(step, "invert") != Json(true) && regex.is_string();
    patterns->push_back(plain ? regex.AsString() : "");
  }
}

// Whether a text gets a space before it: by a normalizer that prepends one, or by a Metaspace.
bool PutsSpaceFirst(const Json& json) {
  const std::string normalizer = DumpJson(PartOf(json, "normalizer"));
  if (normalizer.find("\"Prepend\"") != std::string::npos) return true;
  const std::string splitter = DumpJson(PartOf(json, "pre_tokenizer"));
  return splitter.find("\"Metaspace\"") != std::string::npos &&
         splitter.find("\"never\"") == std::string::npos;
}

Result<std::string> SplitNameOf(const Json& json) {
  std::vector<std::string> patterns;
  AddPatterns(PartOf(json, "pre_tokenizer"), &patterns);
  const bool nfc = PartOf(PartOf(json, "normalizer"), "type") == Json("NFC");
  const SplitName* found = nullptr;
  for (const SplitName& known : SplitNames()) {
    const bool same =
        std::equal(known.patterns.begin(), known.patterns.end(), patterns.begin(), patterns.end());
    if (same && (found == nullptr || (known.nfc == nfc && found->nfc != nfc))) found = &known;
  }
  if (found == nullptr) {
    return Unwritable(
        "the way this tokenizer cuts text has no name in GGUF files "
        "(tokenizer.ggml.pre)");
  }
  return std::string(found->name);
}

Result<void> SetToken(const Json& id, const std::string& text, GgufTokenType type,
                      GgufTokenizer* tokenizer) {
  if (!id.is_integer() || id.AsInteger() < 0 ||
      id.AsInteger() >= static_cast<int64_t>(tokenizer->tokens.size())) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("the token \"{}\" has an id beyond the model's {} tokens", text,
                             tokenizer->tokens.size()));
  }
  const auto place = static_cast<size_t>(id.AsInteger());
  tokenizer->tokens[place] = text;
  tokenizer->types[place] = static_cast<double>(type);
  return {};
}

// "<0x0A>": SentencePiece's spelling of a byte.
bool IsByteToken(const std::string& text) {
  return text.size() == 6 && text.starts_with("<0x") && text.ends_with(">");
}

Result<void> AddVocabulary(const Json& json, bool sentence_piece, GgufTokenizer* tokenizer) {
  const Json& model = PartOf(json, "model");
  if (!PartOf(model, "vocab").is_object()) return Unwritable("the tokenizer has no vocabulary");
  for (const auto& [text, id] : PartOf(model, "vocab").AsObject()) {
    const auto type =
        sentence_piece && IsByteToken(text) ? GgufTokenType::kByte : GgufTokenType::kNormal;
    HONE_RETURN_IF_ERROR(SetToken(id, text, type, tokenizer));
  }
  const Json& added = PartOf(json, "added_tokens");
  for (const Json& token : added.is_array() ? added.AsArray() : Json::Array()) {
    const Json& content = PartOf(token, "content");
    if (!content.is_string()) continue;
    auto type = PartOf(token, "special") == Json(true) ? GgufTokenType::kControl
                                                       : GgufTokenType::kUserDefined;
    if (content == PartOf(model, "unk_token")) type = GgufTokenType::kUnknown;
    HONE_RETURN_IF_ERROR(SetToken(PartOf(token, "id"), content.AsString(), type, tokenizer));
  }
  return {};
}

// The two texts of a merge, which is "a b" or ["a", "b"].
Result<std::pair<std::string, std::string>> MergeParts(const Json& merge) {
  if (merge.is_string()) {
    const size_t space = merge.AsString().find(' ', 1);
    if (space != std::string::npos) {
      return std::pair(merge.AsString().substr(0, space), merge.AsString().substr(space + 1));
    }
  } else if (merge.is_array() && merge.AsArray().size() == 2 && merge.AsArray()[0].is_string() &&
             merge.AsArray()[1].is_string()) {
    return std::pair(merge.AsArray()[0].AsString(), merge.AsArray()[1].AsString());
  }
  return Error(ErrorCode::kInvalidArgument, "a merge of the tokenizer is not two tokens");
}

// The tokens of earlier merges have higher scores, so that they are merged first.
void ScoreByMerges(const std::vector<std::string>& merged, GgufTokenizer* tokenizer) {
  std::unordered_map<std::string, size_t> ranks;
  for (size_t rank = 0; rank < merged.size(); ++rank) ranks.emplace(merged[rank], rank);
  tokenizer->scores.assign(tokenizer->tokens.size(), 0);
  for (size_t id = 0; id < tokenizer->tokens.size(); ++id) {
    if (tokenizer->types[id] != static_cast<double>(GgufTokenType::kNormal)) continue;
    const auto rank = ranks.find(tokenizer->tokens[id]);
    tokenizer->scores[id] =
        -static_cast<double>(rank == ranks.end() ? merged.size() : rank->second);
  }
}

}  // namespace

Result<GgufTokenizer> GgufTokenizerOf(std::string_view tokenizer_json, int64_t vocab) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(tokenizer_json));
  const Json& model = PartOf(json, "model");
  if (PartOf(model, "type") != Json("BPE") || vocab < 1 || vocab > Tokenizer::kLargestId) {
    return Unwritable("only BPE tokenizers are written into GGUF files");
  }
  const bool sentence_piece = PartOf(model, "byte_fallback") == Json(true);
  GgufTokenizer tokenizer;
  tokenizer.model = sentence_piece ? "llama" : "gpt2";
  for (int64_t id = 0; id < vocab; ++id) tokenizer.tokens.push_back(fmt::format("[PAD{}]", id));
  tokenizer.types.assign(tokenizer.tokens.size(), static_cast<double>(GgufTokenType::kUnused));
  HONE_RETURN_IF_ERROR(AddVocabulary(json, sentence_piece, &tokenizer));
  std::vector<std::string> merged;
  const Json& merges = PartOf(model, "merges");
  for (const Json& merge : merges.is_array() ? merges.AsArray() : Json::Array()) {
    HONE_ASSIGN_OR_RETURN(const auto parts, MergeParts(merge));
    merged.push_back(parts.first + parts.second);
    if (!sentence_piece) tokenizer.merges.push_back(parts.first + " " + parts.second);
  }
  if (sentence_piece) {
    ScoreByMerges(merged, &tokenizer);
    tokenizer.pre = "default";
    tokenizer.add_space_prefix = PutsSpaceFirst(json);
  } else {
    HONE_ASSIGN_OR_RETURN(tokenizer.pre, SplitNameOf(json));
  }
  tokenizer.hugging_face = tokenizer_json;
  return tokenizer;
}

}  // namespace hone
