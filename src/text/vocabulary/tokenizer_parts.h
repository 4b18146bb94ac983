#pragma once

// The parts of a tokenizer.json, one by one: for the files of this module that read and write it.
// What Hone would not compute as Hugging Face's tokenizers do is kUnsupported.

#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/json.h"
#include "base/result.h"
#include "text/tokenizer.h"

namespace hone {

using IdsBySpelling = std::unordered_map<std::string, TokenId>;

inline constexpr std::pair<std::string_view, SplitBehavior> kSplitBehaviors[] = {
    {"Isolated", SplitBehavior::kIsolated},
    {"Removed", SplitBehavior::kRemoved},
    {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
    {"MergedWithNext", SplitBehavior::kMergedWithNext},
    {"Contiguous", SplitBehavior::kContiguous},
};

Error UnsupportedTokenizer(std::string_view what);
Error BadTokenizer(std::string message);

// A member's value, or null for "absent" and null alike.
const Json& TokenizerMember(const Json& object, std::string_view key);
// The "type" of a part; "" when it has none.
std::string TokenizerType(const Json& object);

// "model", into the vocabulary, merges and scores. parts->kind says whether its tokens are spelled
// in bytes; it becomes kUnigram or kWordPiece for such a model.
Result<void> ReadTokenizerModel(const Json& model, Tokenizer::Parts* parts);
// Its halves, where they are files of their own.
Result<void> ReadVocabulary(const Json& vocab, Tokenizer::Parts* parts, IdsBySpelling* ids);
Result<void> AddMergeLine(std::string_view line, const IdsBySpelling& ids, Tokenizer::Parts* parts);

// An entry of "added_tokens".
Result<AddedToken> ReadAddedToken(const Json& json, const Json& id);

// "normalizer", "pre_tokenizer" and "decoder".
Result<void> ReadNormalizer(const Json& json, Tokenizer::Parts* parts);
Result<void> ReadPreTokenizer(const Json& json, Tokenizer::Parts* parts);
Result<void> ReadDecoder(const Json& json, DecodeOptions* options);
// Whether a pre-tokenizer or decoder spells bytes, here or further in.
bool IsByteLevelStep(const Json& json);

// A folder with vocab.json and merges.txt.
Result<Tokenizer> LoadVocabAndMerges(const std::filesystem::path& folder);

}  // namespace hone
