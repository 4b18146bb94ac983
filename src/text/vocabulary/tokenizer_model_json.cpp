// The vocabulary of a tokenizer.json: BPE, Unigram and WordPiece.

#include <fmt/format.h>

#include "text/byte_level.h"
#include "text/vocabulary/tokenizer_parts.h"

namespace hone {
namespace {

bool IsTrueIn(const Json& object, std::string_view key) {
  return TokenizerMember(object, key) == Json(true);
}

Result<void> AddMerge(std::string_view left, std::string_view right, const IdsBySpelling& ids,
                      Tokenizer::Parts* parts) {
  const std::string l(left), r(right);
  const auto find = [&](const std::string& spelling) -> TokenId {
    const auto found = ids.find(spelling);
    return found == ids.end() ? -1 : found->second;
  };
  const Bpe::Merge merge{find(l), find(r), find(l + r)};
  if (merge.left < 0 || merge.right < 0 || merge.merged < 0) {
    return BadTokenizer(
        fmt::format("merge {} (\"{} {}\") uses a token that is not in the vocabulary",
                    parts->merges.size(), l, r));
  }
  parts->merges.push_back(merge);
  return {};
}

Result<void> ReadMerges(const Json& merges, const IdsBySpelling& ids, Tokenizer::Parts* parts);

Result<void> ReadBpe(const Json& model, Tokenizer::Parts* parts) {
  for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"}) {
    const Json& value = TokenizerMember(model, key);
    if (!value.is_null() && value != Json("") && !(value.is_number() && value.AsDouble() == 0)) {
      return UnsupportedTokenizer(fmt::format("a BPE model with {}", key));
    }
  }
  IdsBySpelling ids;
  HONE_RETURN_IF_ERROR(ReadVocabulary(TokenizerMember(model, "vocab"), parts, &ids));
  HONE_RETURN_IF_ERROR(ReadMerges(TokenizerMember(model, "merges"), ids, parts));
  parts->ignore_merges = IsTrueIn(model, "ignore_merges");
  parts->unknowns.byte_fallback = IsTrueIn(model, "byte_fallback");
  parts->unknowns.fuse = IsTrueIn(model, "fuse_unk");
  if (const Json& unknown = TokenizerMember(model, "unk_token"); unknown.is_string()) {
    const auto found = ids.find(unknown.AsString());
    if (found != ids.end()) parts->unknowns.unknown = found->second;
    // Of bytes all are known.
    if (found == ids.end() && parts->kind != Tokenizer::Kind::kByteBpe) {
      return BadTokenizer("unk_token is not in the vocabulary");
    }
  }
  return {};
}

Result<void> ReadUnigram(const Json& model, Tokenizer::Parts* parts) {
  if (parts->kind == Tokenizer::Kind::kByteBpe) {
    return UnsupportedTokenizer("a byte-level Unigram model");
  }
  parts->kind = Tokenizer::Kind::kUnigram;
  const Json& vocab = TokenizerMember(model, "vocab");
  if (!vocab.is_array()) return BadTokenizer("the vocabulary is not an array of [token, score]");
  for (const Json& entry : vocab.AsArray()) {
    if (!entry.is_array() || entry.AsArray().size() != 2 || !entry.AsArray()[0].is_string() ||
        !entry.AsArray()[1].is_number()) {
      return BadTokenizer(fmt::format("token {} is not [token, score]", parts->token_bytes.size()));
    }
    parts->token_bytes.push_back(entry.AsArray()[0].AsString());
    parts->scores.push_back(entry.AsArray()[1].AsDouble());
  }
  if (parts->token_bytes.size() > static_cast<size_t>(Tokenizer::kLargestId)) {
    return BadTokenizer("the vocabulary is too large");
  }
  if (const Json& unknown = TokenizerMember(model, "unk_id");
      unknown.is_integer() && unknown.AsInteger() >= 0 &&
      unknown.AsInteger() < static_cast<int64_t>(parts->token_bytes.size())) {
    parts->unknowns.unknown = static_cast<TokenId>(unknown.AsInteger());
  }
  parts->unknowns.byte_fallback = IsTrueIn(model, "byte_fallback");
  return {};
}

Result<void> ReadWordPiece(const Json& model, Tokenizer::Parts* parts) {
  if (parts->kind == Tokenizer::Kind::kByteBpe) {
    return UnsupportedTokenizer("a byte-level WordPiece model");
  }
  parts->kind = Tokenizer::Kind::kWordPiece;
  IdsBySpelling ids;
  HONE_RETURN_IF_ERROR(ReadVocabulary(TokenizerMember(model, "vocab"), parts, &ids));
  const Json& unknown = TokenizerMember(model, "unk_token");
  const auto found = ids.find(unknown.is_string() ? unknown.AsString() : "[UNK]");
  if (found == ids.end()) return BadTokenizer("unk_token is not in the vocabulary");
  parts->words.unknown = found->second;
  if (const Json& prefix = TokenizerMember(model, "continuing_subword_prefix");
      prefix.is_string()) {
    parts->words.prefix = prefix.AsString();
  }
  const Json& most = TokenizerMember(model, "max_input_chars_per_word");
  if (most.is_null()) return {};
  if (!most.is_integer() || most.AsInteger() < 0) {
    return BadTokenizer("max_input_chars_per_word is not a count");
  }
  parts->words.most_characters = most.AsInteger();
  return {};
}

Result<void> ReadMerges(const Json& merges, const IdsBySpelling& ids, Tokenizer::Parts* parts) {
  if (!merges.is_array()) return BadTokenizer("model.merges is not an array");
  for (const Json& merge : merges.AsArray()) {
    if (merge.is_string()) {
      HONE_RETURN_IF_ERROR(AddMergeLine(merge.AsString(), ids, parts));
    } else if (merge.is_array() && merge.AsArray().size() == 2 && merge.AsArray()[0].is_string() &&
               merge.AsArray()[1].is_string()) {
      HONE_RETURN_IF_ERROR(
          AddMerge(merge.AsArray()[0].AsString(), merge.AsArray()[1].AsString(), ids, parts));
    } else {
      return BadTokenizer(
          fmt::format("merge {} is neither \"a b\" nor [\"a\", \"b\"]", parts->merges.size()));
    }
  }
  return {};
}

}  // namespace

Result<void> ReadVocabulary(const Json& vocab, Tokenizer::Parts* parts, IdsBySpelling* ids) {
  if (!vocab.is_object()) return BadTokenizer("the vocabulary is not an object of token to id");
  for (const auto& [spelling, id] : vocab.AsObject()) {
    if (!id.is_integer() || id.AsInteger() < 0 || id.AsInteger() > Tokenizer::kLargestId) {
      return BadTokenizer(fmt::format("the token \"{}\" has no valid id", spelling));
    }
    const auto token = static_cast<TokenId>(id.AsInteger());
    if (token >= static_cast<TokenId>(parts->token_bytes.size()))
      parts->token_bytes.resize(token + 1);
    if (!parts->token_bytes[token].empty())
      return BadTokenizer(fmt::format("two tokens have the id {}", token));
    // What is not spelled in bytes is an added token that is listed here too; it cannot be merged.
    parts->token_bytes[token] = parts->kind == Tokenizer::Kind::kByteBpe
                                    ? UnspellBytes(spelling).value_or(spelling)
                                    : spelling;
    ids->emplace(spelling, token);
  }
  return {};
}

Result<void> AddMergeLine(std::string_view line, const IdsBySpelling& ids,
                          Tokenizer::Parts* parts) {
  const size_t space = line.find(' ');
  if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
    return BadTokenizer(
        fmt::format("merge {} is not two tokens: \"{}\"", parts->merges.size(), line));
  }
  return AddMerge(line.substr(0, space), line.substr(space + 1), ids, parts);
}

Result<void> ReadTokenizerModel(const Json& model, Tokenizer::Parts* parts) {
  const std::string type = TokenizerType(model);
  if (type == "BPE") return ReadBpe(model, parts);
  if (type == "Unigram") return ReadUnigram(model, parts);
  if (type == "WordPiece") return ReadWordPiece(model, parts);
  return UnsupportedTokenizer(fmt::format("a \"{}\" model", type));
}

}  // namespace hone
