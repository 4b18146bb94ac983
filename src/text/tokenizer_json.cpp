// Reading and writing the files of Hugging Face tokenizers.

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "text/byte_level.h"
#include "text/tokenizer.h"

namespace hone {
namespace {

using IdsBySpelling = std::unordered_map<std::string, TokenId>;

Error Unsupported(std::string_view what) {
  return Error(
      ErrorCode::kUnsupported,
      fmt::format("{}; Hone reads byte-level BPE tokenizers (Qwen, Llama 3, GPT-2)", what));
}

Error Bad(std::string message) { return Error(ErrorCode::kInvalidArgument, std::move(message)); }

// A member's value, or null for "absent" and null alike.
const Json& Member(const Json& object, std::string_view key) {
  static const Json null;
  const Json* member = object.Find(key);
  return member != nullptr ? *member : null;
}

bool IsTrue(const Json& object, std::string_view key) { return Member(object, key) == Json(true); }

std::string TypeOf(const Json& object) {
  const Json& type = Member(object, "type");
  return type.is_string() ? type.AsString() : "";
}

// --- vocabulary and merges -----------------------------------------------------------------------

Result<void> ReadVocabulary(const Json& vocab, Tokenizer::Parts* parts, IdsBySpelling* ids) {
  if (!vocab.is_object()) return Bad("the vocabulary is not an object of token to id");
  for (const auto& [spelling, id] : vocab.AsObject()) {
    if (!id.is_integer() || id.AsInteger() < 0 || id.AsInteger() > Tokenizer::kLargestId) {
      return Bad(fmt::format("the token \"{}\" has no valid id", spelling));
    }
    const auto token = static_cast<TokenId>(id.AsInteger());
    if (token >= static_cast<TokenId>(parts->token_bytes.size()))
      parts->token_bytes.resize(token + 1);
    if (!parts->token_bytes[token].empty())
      return Bad(fmt::format("two tokens have the id {}", token));
    // What is not spelled in bytes is an added token that is listed here too; it cannot be merged.
    parts->token_bytes[token] = UnspellBytes(spelling).value_or(spelling);
    ids->emplace(spelling, token);
  }
  return {};
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
    return Bad(fmt::format("merge {} (\"{} {}\") uses a token that is not in the vocabulary",
                           parts->merges.size(), l, r));
  }
  parts->merges.push_back(merge);
  return {};
}

Result<void> AddMergeLine(std::string_view line, const IdsBySpelling& ids,
                          Tokenizer::Parts* parts) {
  const size_t space = line.find(' ');
  if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
    return Bad(fmt::format("merge {} is not two tokens: \"{}\"", parts->merges.size(), line));
  }
  return AddMerge(line.substr(0, space), line.substr(space + 1), ids, parts);
}

Result<void> ReadMerges(const Json& merges, const IdsBySpelling& ids, Tokenizer::Parts* parts) {
  if (!merges.is_array()) return Bad("model.merges is not an array");
  for (const Json& merge : merges.AsArray()) {
    if (merge.is_string()) {
      HONE_RETURN_IF_ERROR(AddMergeLine(merge.AsString(), ids, parts));
    } else if (merge.is_array() && merge.AsArray().size() == 2 && merge.AsArray()[0].is_string() &&
               merge.AsArray()[1].is_string()) {
      HONE_RETURN_IF_ERROR(
          AddMerge(merge.AsArray()[0].AsString(), merge.AsArray()[1].AsString(), ids, parts));
    } else {
      return Bad(
          fmt::format("merge {} is neither \"a b\" nor [\"a\", \"b\"]", parts->merges.size()));
    }
  }
  return {};
}

Result<void> ReadModel(const Json& model, Tokenizer::Parts* parts) {
  if (TypeOf(model) != "BPE") return Unsupported(fmt::format("a \"{}\" model", TypeOf(model)));
  for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"}) {
    const Json& value = Member(model, key);
    if (!value.is_null() && value != Json("") && !(value.is_number() && value.AsDouble() == 0)) {
      return Unsupported(fmt::format("a BPE model with {}", key));
    }
  }
  if (IsTrue(model, "byte_fallback")) return Unsupported("a BPE model with byte_fallback");
  IdsBySpelling ids;
  HONE_RETURN_IF_ERROR(ReadVocabulary(Member(model, "vocab"), parts, &ids));
  HONE_RETURN_IF_ERROR(ReadMerges(Member(model, "merges"), ids, parts));
  parts->ignore_merges = IsTrue(model, "ignore_merges");
  return {};
}

// --- added tokens, normaliser, splitting ---------------------------------------------------------

Result<AddedToken> ReadAddedToken(const Json& json, const Json& id) {
  AddedToken token;
  if (!id.is_integer() || id.AsInteger() < 0 || id.AsInteger() > Tokenizer::kLargestId ||
      !Member(json, "content").is_string()) {
    return Bad("an added token needs \"id\" and \"content\"");
  }
  token.id = static_cast<TokenId>(id.AsInteger());
  token.content = Member(json, "content").AsString();
  token.special = IsTrue(json, "special");
  token.single_word = IsTrue(json, "single_word");
  token.lstrip = IsTrue(json, "lstrip");
  token.rstrip = IsTrue(json, "rstrip");
  token.normalized = IsTrue(json, "normalized");
  return token;
}

Result<void> ReadNormalizer(const Json& normalizer, Tokenizer::Parts* parts) {
  if (normalizer.is_null()) return {};
  if (TypeOf(normalizer) == "NFC") {
    parts->nfc = true;
    return {};
  }
  if (TypeOf(normalizer) == "Sequence" && Member(normalizer, "normalizers").is_array()) {
    for (const Json& step : Member(normalizer, "normalizers").AsArray()) {
      HONE_RETURN_IF_ERROR(ReadNormalizer(step, parts));
    }
    return {};
  }
  return Unsupported(fmt::format("a \"{}\" normalizer", TypeOf(normalizer)));
}

constexpr std::pair<std::string_view, SplitBehavior> kBehaviors[] = {
    {"Isolated", SplitBehavior::kIsolated},
    {"Removed", SplitBehavior::kRemoved},
    {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
    {"MergedWithNext", SplitBehavior::kMergedWithNext},
    {"Contiguous", SplitBehavior::kContiguous},
};

Result<SplitStep> ReadSplit(const Json& json) {
  const Json& pattern = Member(json, "pattern");
  SplitStep step{Pattern::Literal("")};
  if (const Json& regex = Member(pattern, "Regex"); regex.is_string()) {
    HONE_ASSIGN_OR_RETURN(step.pattern, Pattern::Compile(regex.AsString()));
  } else if (const Json& literal = Member(pattern, "String"); literal.is_string()) {
    step.pattern = Pattern::Literal(literal.AsString());
  } else {
    return Bad("a Split pre_tokenizer without a pattern");
  }
  step.invert = IsTrue(json, "invert");
  for (const auto& [name, behavior] : kBehaviors) {
    if (Member(json, "behavior") == Json(name)) {
      step.behavior = behavior;
      return step;
    }
  }
  return Unsupported("a Split pre_tokenizer of an unknown behavior");
}

Result<void> ReadPreTokenizer(const Json& json, Tokenizer::Parts* parts) {
  const std::string type = TypeOf(json);
  if (type == "Sequence" && Member(json, "pretokenizers").is_array()) {
    const Json::Array& steps = Member(json, "pretokenizers").AsArray();
    for (size_t i = 0; i < steps.size(); ++i) {
      HONE_RETURN_IF_ERROR(ReadPreTokenizer(steps[i], parts));
      if (TypeOf(steps[i]) == "ByteLevel" && i + 1 < steps.size()) {
        return Unsupported("a pre_tokenizer that goes on after ByteLevel");
      }
    }
    return {};
  }
  if (type == "Split") {
    HONE_ASSIGN_OR_RETURN(SplitStep step, ReadSplit(json));
    parts->splits.push_back(std::move(step));
    return {};
  }
  if (type == "Digits") {
    HONE_ASSIGN_OR_RETURN(Pattern digits, Pattern::Compile(R"(\p{N})"));
    parts->splits.push_back({std::move(digits), IsTrue(json, "individual_digits")
                                                    ? SplitBehavior::kIsolated
                                                    : SplitBehavior::kContiguous});
    return {};
  }
  if (type == "ByteLevel") {
    // Absent keys mean true here, as in the library that writes these files.
    const bool use_regex = Member(json, "use_regex") != Json(false);
    const bool prefix_space = Member(json, "add_prefix_space") != Json(false);
    if (!use_regex && !prefix_space) return {};
    HONE_ASSIGN_OR_RETURN(Pattern pattern, Pattern::Compile(kGpt2Split));
    parts->splits.push_back(
        {std::move(pattern), SplitBehavior::kIsolated, false, prefix_space, use_regex});
    return {};
  }
  return Unsupported(fmt::format("a \"{}\" pre_tokenizer", type));
}

// Whether the pre-tokenizer spells bytes, here or further in.
bool IsByteLevel(const Json& json) {
  if (TypeOf(json) == "ByteLevel") return true;
  for (const char* list : {"pretokenizers", "decoders"}) {
    if (!Member(json, list).is_array()) continue;
    const Json::Array& steps = Member(json, list).AsArray();
    if (std::any_of(steps.begin(), steps.end(), IsByteLevel)) return true;
  }
  return false;
}

// --- vocab.json and merges.txt -------------------------------------------------------------------

// Without a tokenizer.json the split pattern is known only to the program that made the files. It
// can be read off the vocabulary: Qwen cuts digits one by one, so no token of its holds two.
bool HasTokenOfTwoDigits(const std::vector<std::string>& token_bytes) {
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return std::any_of(token_bytes.begin(), token_bytes.end(), [&](const std::string& bytes) {
    return std::adjacent_find(bytes.begin(), bytes.end(), [&](char a, char b) {
             return is_digit(a) && is_digit(b);
           }) != bytes.end();
  });
}

bool LooksSpecial(std::string_view content) {
  return content.size() > 4 && content.starts_with("<|") && content.ends_with("|>");
}

Result<Json> ReadJsonFile(const std::filesystem::path& path) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  Result<Json> json = ParseJson(text);
  if (!json.ok()) return json.error().In(path.string());
  return json;
}

Result<void> ReadMergesFile(const std::filesystem::path& path, const IdsBySpelling& ids,
                            Tokenizer::Parts* parts) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::string_view rest = text;
  for (size_t number = 1; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
    if (Result<void> added = AddMergeLine(line, ids, parts); !added.ok()) {
      return added.error().In(fmt::format("{}:{}", path.string(), number));
    }
  }
  return {};
}

// Added tokens from tokenizer_config.json (with all their flags), else added_tokens.json (contents
// and ids only), else those of the vocabulary that look like control tokens.
Result<void> ReadAddedFiles(const std::filesystem::path& folder, const Json& config,
                            const IdsBySpelling& ids, Tokenizer::Parts* parts) {
  if (const Json& decoder = Member(config, "added_tokens_decoder"); decoder.is_object()) {
    for (const auto& [id, json] : decoder.AsObject()) {
      Result<Json> number = ParseJson(id);
      if (!number.ok()) return Bad(fmt::format("added_tokens_decoder: \"{}\" is not an id", id));
      HONE_ASSIGN_OR_RETURN(AddedToken token, ReadAddedToken(json, *number));
      parts->added.push_back(std::move(token));
    }
    return {};
  }
  if (const auto file = folder / "added_tokens.json"; std::filesystem::exists(file)) {
    HONE_ASSIGN_OR_RETURN(const Json added, ReadJsonFile(file));
    if (!added.is_object()) return Bad(file.string() + ": not an object of token to id");
    for (const auto& [content, id] : added.AsObject()) {
      const Json json = Json::Of({{"content", content}, {"special", LooksSpecial(content)}});
      HONE_ASSIGN_OR_RETURN(AddedToken token, ReadAddedToken(json, id));
      parts->added.push_back(std::move(token));
    }
    return {};
  }
  for (const auto& [spelling, id] : ids) {
    if (LooksSpecial(spelling))
      parts->added.push_back({.id = id, .content = spelling, .special = true});
  }
  return {};
}

Result<Tokenizer> LoadVocabAndMerges(const std::filesystem::path& folder) {
  Tokenizer::Parts parts;
  IdsBySpelling ids;
  HONE_ASSIGN_OR_RETURN(const Json vocab, ReadJsonFile(folder / "vocab.json"));
  if (Result<void> read = ReadVocabulary(vocab, &parts, &ids); !read.ok()) {
    return read.error().In((folder / "vocab.json").string());
  }
  HONE_RETURN_IF_ERROR(ReadMergesFile(folder / "merges.txt", ids, &parts));
  Json config;
  if (const auto file = folder / "tokenizer_config.json"; std::filesystem::exists(file)) {
    HONE_ASSIGN_OR_RETURN(config, ReadJsonFile(file));
  }
  HONE_RETURN_IF_ERROR(ReadAddedFiles(folder, config, ids, &parts));
  std::sort(parts.added.begin(), parts.added.end(),
            [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });

  const Json& type = Member(config, "tokenizer_class");
  const std::string name = type.is_string() ? type.AsString() : "";
  const bool qwen =
      name.starts_with("Qwen") || (name.empty() && !HasTokenOfTwoDigits(parts.token_bytes));
  if (!name.empty() && !qwen && !name.starts_with("GPT2") && !name.starts_with("GPTNeoX")) {
    return Unsupported(fmt::format("{}: a {} without a tokenizer.json", folder.string(), name));
  }
  parts.nfc = qwen;
  parts.splits.push_back({Pattern::Compile(qwen ? kQwen2Split : kGpt2Split).value()});
  return Tokenizer::FromParts(std::move(parts));
}

std::string_view BehaviorName(SplitBehavior wanted) {
  for (const auto& [name, behavior] : kBehaviors) {
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
    if (step.add_prefix_space) {
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
  if (steps.empty() || !steps.back().add_prefix_space) splits.push_back(byte_level);
  return Json(std::move(splits));
}

}  // namespace

Result<Tokenizer> Tokenizer::FromJson(std::string_view text) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text));
  if (!Member(json, "model").is_object()) return Bad("not a tokenizer.json: it has no \"model\"");
  const Json& pre_tokenizer = Member(json, "pre_tokenizer");
  const Json& decoder = Member(json, "decoder");
  if (!IsByteLevel(pre_tokenizer) || (!decoder.is_null() && !IsByteLevel(decoder))) {
    return Unsupported("a tokenizer that is not byte-level");
  }
  Parts parts;
  HONE_RETURN_IF_ERROR(ReadNormalizer(Member(json, "normalizer"), &parts));
  HONE_RETURN_IF_ERROR(ReadPreTokenizer(pre_tokenizer, &parts));
  HONE_RETURN_IF_ERROR(ReadModel(Member(json, "model"), &parts));
  const Json& added = Member(json, "added_tokens");
  if (!added.is_array() && !added.is_null()) return Bad("added_tokens is not an array");
  if (added.is_array()) {
    for (const Json& entry : added.AsArray()) {
      HONE_ASSIGN_OR_RETURN(AddedToken token, ReadAddedToken(entry, Member(entry, "id")));
      parts.added.push_back(std::move(token));
    }
  }
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
  const Json byte_level = Json::Of({{"type", "ByteLevel"},
                                    {"add_prefix_space", false},
                                    {"trim_offsets", true},
                                    {"use_regex", false}});
  Json::Object vocab;
  const std::vector<std::string>& token_bytes = bpe_.token_bytes();
  for (size_t id = 0; id < token_bytes.size(); ++id) {
    const bool is_added = std::any_of(added_.begin(), added_.end(), [&](const AddedToken& token) {
      return token.id == static_cast<TokenId>(id);
    });
    if (!token_bytes[id].empty() && !is_added) {
      vocab.emplace_back(SpellBytes(token_bytes[id]), static_cast<int64_t>(id));
    }
  }
  Json::Array merges;
  for (const Bpe::Merge& merge : bpe_.merges()) {
    merges.push_back(
        Json::Array{SpellBytes(token_bytes[merge.left]), SpellBytes(token_bytes[merge.right])});
  }
  const Json json =
      Json::Of({{"version", "1.0"},
                {"truncation", nullptr},
                {"padding", nullptr},
                {"added_tokens", AddedToJson(added_)},
                {"normalizer", nfc_ ? Json::Of({{"type", "NFC"}}) : Json()},
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
                                    {"ignore_merges", bpe_.ignore_merges()},
                                    {"vocab", std::move(vocab)},
                                    {"merges", std::move(merges)}})}});
  return DumpJson(json, JsonStyle::kPretty) + "\n";
}

}  // namespace hone
