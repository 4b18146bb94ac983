// Reading and writing tokenizer.json.

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "text/byte_level.h"
#include "text/tokenizer.h"
#include "text/vocabulary/tokenizer_parts.h"

namespace hone {
namespace {

std::string_view BehaviorName(SplitBehavior wanted) {
  for (const auto& [name, behavior] : kSplitBehaviors) {
    if (behavior == wanted) return name;
  }
  return "Isolated";
}

Json AddedToJson(const std::vector<AddedToken>& tokens) {
  Json::Array added;
  for (const AddedToken& token : tokens) {
    added.push_back(Json::Of({{"id", token.id},
                              {"content", token.content},
                              {"single_word", token.single_word},
                              {"lstrip", token.lstrip},
                              {"rstrip", token.rstrip},
                              {"normalized", token.normalized},
                              {"special", token.special}}));
  }
  return Json(std::move(added));
}

// The steps, the last of which spells bytes.
Json SplitsToJson(const std::vector<SplitStep>& steps, const Json& byte_level) {
  Json::Array splits;
  for (const SplitStep& step : steps) {
    if (step.prefix != SplitStep::Prefix::kNever) {
      splits.push_back(Json::Of({{"type", "ByteLevel"},
                                 {"add_prefix_space", true},
                                 {"trim_offsets", true},
                                 {"use_regex", step.cut}}));
      continue;
    }
    splits.push_back(Json::Of({{"type", "Split"},
                               {"pattern", Json::Of({{"Regex", step.pattern.expression()}})},
                               {"behavior", BehaviorName(step.behavior)},
                               {"invert", step.invert}}));
  }
  if (steps.empty() || steps.back().prefix == SplitStep::Prefix::kNever)
    splits.push_back(byte_level);
  return Json(std::move(splits));
}

// Whether ToJson can write what was read: byte-level BPE, perhaps on NFC.
bool CanBeWritten(const Tokenizer::Parts& parts) {
  return parts.kind == Tokenizer::Kind::kByteBpe && parts.normalizers.size() <= 1 &&
         std::all_of(parts.normalizers.begin(), parts.normalizers.end(),
                     [](const NormalizeStep& step) {
                       return step.kind == NormalizeStep::Kind::kForm &&
                              step.form == UnicodeForm::kNfc;
                     }) &&
         std::all_of(parts.splits.begin(), parts.splits.end(),
                     [](const SplitStep& step) { return step.space == " "; });
}

}  // namespace

Error UnsupportedTokenizer(std::string_view what) {
  return Error(
      ErrorCode::kUnsupported,
      fmt::format("{} is not read; Hone reads tokenizers of byte-level BPE (Qwen, "
                  "Llama 3, GPT-2), SentencePiece's BPE (Llama 2, Gemma), Unigram (T5) and "
                  "WordPiece (BERT)",
                  what));
}

Error BadTokenizer(std::string message) {
  return Error(ErrorCode::kInvalidArgument, std::move(message));
}

const Json& TokenizerMember(const Json& object, std::string_view key) {
  static const Json null;
  const Json* member = object.Find(key);
  return member != nullptr ? *member : null;
}

std::string TokenizerType(const Json& object) {
  const Json& type = TokenizerMember(object, "type");
  return type.is_string() ? type.AsString() : "";
}

Result<AddedToken> ReadAddedToken(const Json& json, const Json& id) {
  AddedToken token;
  const auto is_true = [&](std::string_view key) {
    return TokenizerMember(json, key) == Json(true);
  };
  if (!id.is_integer() || id.AsInteger() < 0 || id.AsInteger() > Tokenizer::kLargestId ||
      !TokenizerMember(json, "content").is_string()) {
    return BadTokenizer("an added token needs \"id\" and \"content\"");
  }
  token.id = static_cast<TokenId>(id.AsInteger());
  token.content = TokenizerMember(json, "content").AsString();
  token.special = is_true("special");
  token.single_word = is_true("single_word");
  token.lstrip = is_true("lstrip");
  token.rstrip = is_true("rstrip");
  token.normalized = is_true("normalized");
  return token;
}

Result<Tokenizer> Tokenizer::FromJson(std::string_view text) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text));
  if (!TokenizerMember(json, "model").is_object()) {
    return BadTokenizer("not a tokenizer.json: it has no \"model\"");
  }
  const Json& pre_tokenizer = TokenizerMember(json, "pre_tokenizer");
  const Json& decoder = TokenizerMember(json, "decoder");
  Parts parts;
  parts.kind = IsByteLevelStep(pre_tokenizer) ? Kind::kByteBpe : Kind::kCharacterBpe;
  if (parts.kind == Kind::kCharacterBpe) {
    HONE_RETURN_IF_ERROR(ReadDecoder(decoder, &parts.decoding));
  } else if (!decoder.is_null() && !IsByteLevelStep(decoder)) {
    return UnsupportedTokenizer("a tokenizer that spells bytes and does not decode them");
  }
  HONE_RETURN_IF_ERROR(ReadNormalizer(TokenizerMember(json, "normalizer"), &parts));
  HONE_RETURN_IF_ERROR(ReadPreTokenizer(pre_tokenizer, &parts));
  HONE_RETURN_IF_ERROR(ReadTokenizerModel(TokenizerMember(json, "model"), &parts));
  const Json& added = TokenizerMember(json, "added_tokens");
  if (!added.is_array() && !added.is_null()) return BadTokenizer("added_tokens is not an array");
  if (added.is_array()) {
    for (const Json& entry : added.AsArray()) {
      HONE_ASSIGN_OR_RETURN(AddedToken token, ReadAddedToken(entry, TokenizerMember(entry, "id")));
      parts.added.push_back(std::move(token));
    }
  }
  if (!CanBeWritten(parts)) parts.source = text;
  return FromParts(std::move(parts));
}

Result<Tokenizer> Tokenizer::Load(const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::path file = path;
  if (std::filesystem::is_directory(path, ignored)) {
    file = path / "tokenizer.json";
    if (!std::filesystem::exists(file, ignored)) {
      if (std::filesystem::exists(path / "vocab.json", ignored)) return LoadVocabAndMerges(path);
      return Error(ErrorCode::kNotFound,
                   fmt::format("{}: no tokenizer here (neither tokenizer.json nor vocab.json with "
                               "merges.txt)",
                               path.string()));
    }
  }
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  Result<Tokenizer> tokenizer = FromJson(text);
  if (!tokenizer.ok()) return tokenizer.error().In(file.string());
  return tokenizer;
}

std::string Tokenizer::ToJson() const {
  if (!source_.empty()) return source_;
  const Bpe& bpe = std::get<Bpe>(model_);
  const Json byte_level = Json::Of({{"type", "ByteLevel"},
                                    {"add_prefix_space", false},
                                    {"trim_offsets", true},
                                    {"use_regex", false}});
  Json::Object vocab;
  const std::vector<std::string>& token_bytes = bpe.token_bytes();
  for (size_t id = 0; id < token_bytes.size(); ++id) {
    const bool is_added = std::any_of(added_.begin(), added_.end(), [&](const AddedToken& token) {
      return token.id == static_cast<TokenId>(id);
    });
    if (!token_bytes[id].empty() && !is_added) {
      vocab.emplace_back(SpellBytes(token_bytes[id]), static_cast<int64_t>(id));
    }
  }
  Json::Array merges;
  for (const Bpe::Merge& merge : bpe.merges()) {
    merges.push_back(
        Json::Array{SpellBytes(token_bytes[merge.left]), SpellBytes(token_bytes[merge.right])});
  }
  const Json json =
      Json::Of({{"version", "1.0"},
                {"truncation", nullptr},
                {"padding", nullptr},
                {"added_tokens", AddedToJson(added_)},
                {"normalizer", !normalizer_.steps().empty() ? Json::Of({{"type", "NFC"}}) : Json()},
                {"pre_tokenizer",
                 Json::Of({{"type", "Sequence"},
                           {"pretokenizers", SplitsToJson(splitter_.steps(), byte_level)}})},
                {"post_processor", nullptr},
                {"decoder", byte_level},
                {"model", Json::Of({{"type", "BPE"},
                                    {"dropout", nullptr},
                                    {"unk_token", nullptr},
                                    {"continuing_subword_prefix", nullptr},
                                    {"end_of_word_suffix", nullptr},
                                    {"fuse_unk", false},
                                    {"byte_fallback", false},
                                    {"ignore_merges", bpe.ignore_merges()},
                                    {"vocab", std::move(vocab)},
                                    {"merges", std::move(merges)}})}});
  return DumpJson(json, JsonStyle::kPretty) + "\n";
}

}  // namespace hone
