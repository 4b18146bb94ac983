// Tokenizers that come as vocab.json and merges.txt.

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "text/vocabulary/tokenizer_parts.h"

namespace hone {
namespace {

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
  if (const Json& decoder = TokenizerMember(config, "added_tokens_decoder"); decoder.is_object()) {
    for (const auto& [id, json] : decoder.AsObject()) {
      Result<Json> number = ParseJson(id);
      if (!number.ok())
        return BadTokenizer(fmt::format("added_tokens_decoder: \"{}\" is not an id", id));
      HONE_ASSIGN_OR_RETURN(AddedToken token, ReadAddedToken(json, *number));
      parts->added.push_back(std::move(token));
    }
    return {};
  }
  if (const auto file = folder / "added_tokens.json"; std::filesystem::exists(file)) {
    HONE_ASSIGN_OR_RETURN(const Json added, ReadJsonFile(file));
    if (!added.is_object()) return BadTokenizer(file.string() + ": not an object of token to id");
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

}  // namespace

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

  const Json& type = TokenizerMember(config, "tokenizer_class");
  const std::string name = type.is_string() ? type.AsString() : "";
  const bool qwen =
      name.starts_with("Qwen") || (name.empty() && !HasTokenOfTwoDigits(parts.token_bytes));
  if (!name.empty() && !qwen && !name.starts_with("GPT2") && !name.starts_with("GPTNeoX")) {
    return UnsupportedTokenizer(
        fmt::format("{}: a {} without a tokenizer.json", folder.string(), name));
  }
  if (qwen) parts.normalizers.emplace_back();  // NFC
  parts.splits.push_back({Pattern::Compile(qwen ? kQwen2Split : kGpt2Split).value()});
  return Tokenizer::FromParts(std::move(parts));
}

}  // namespace hone
