#include "text/vocabulary/text_frame.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "text/vocabulary/tokenizer_parts.h"

namespace hone {
namespace {

Result<TokenId> FrameToken(const Json& id) {
  if (!id.is_integer() || id.AsInteger() < 0 || id.AsInteger() > Tokenizer::kLargestId) {
    return BadTokenizer("post_processor: a token without a valid id");
  }
  return static_cast<TokenId>(id.AsInteger());
}

// {"SpecialToken": {"id": "[CLS]"}} and {"Sequence": {"id": "A"}}, in their order.
Result<TextFrame> ReadTemplate(const Json& json) {
  const Json& single = TokenizerMember(json, "single");
  const Json& tokens = TokenizerMember(json, "special_tokens");
  if (!single.is_array()) return BadTokenizer("post_processor: \"single\" is not an array");
  TextFrame frame;
  bool text_seen = false;
  for (const Json& entry : single.AsArray()) {
    if (TokenizerMember(entry, "Sequence").is_object()) {
      if (text_seen) return BadTokenizer("post_processor: \"single\" has the text twice");
      text_seen = true;
      continue;
    }
    const Json& name = TokenizerMember(TokenizerMember(entry, "SpecialToken"), "id");
    if (!name.is_string()) {
      return BadTokenizer("post_processor: an entry of \"single\" is no token and no text");
    }
    const Json& ids = TokenizerMember(TokenizerMember(tokens, name.AsString()), "ids");
    if (!ids.is_array()) {
      return BadTokenizer(
          fmt::format("post_processor: special_tokens has no \"{}\"", name.AsString()));
    }
    for (const Json& id : ids.AsArray()) {
      HONE_ASSIGN_OR_RETURN(const TokenId token, FrameToken(id));
      (text_seen ? frame.after : frame.before).push_back(token);
    }
  }
  if (!text_seen) return BadTokenizer("post_processor: \"single\" has no text");
  return frame;
}

// {"cls": ["[CLS]", 101], "sep": ["[SEP]", 102]}
Result<TextFrame> ReadPair(const Json& json) {
  const auto id_of = [&](std::string_view key) -> Result<TokenId> {
    const Json& pair = TokenizerMember(json, key);
    if (!pair.is_array() || pair.AsArray().size() != 2) {
      return BadTokenizer(fmt::format("post_processor: \"{}\" is not [token, id]", key));
    }
    return FrameToken(pair.AsArray()[1]);
  };
  HONE_ASSIGN_OR_RETURN(const TokenId before, id_of("cls"));
  HONE_ASSIGN_OR_RETURN(const TokenId after, id_of("sep"));
  return TextFrame{{before}, {after}};
}

Result<TextFrame> ReadProcessor(const Json& json) {
  const std::string type = TokenizerType(json);
  if (json.is_null() || type == "ByteLevel") return TextFrame();
  if (type == "TemplateProcessing") return ReadTemplate(json);
  if (type == "BertProcessing" || type == "RobertaProcessing") return ReadPair(json);
  if (type == "Sequence" && TokenizerMember(json, "processors").is_array()) {
    TextFrame frame;
    for (const Json& step : TokenizerMember(json, "processors").AsArray()) {
      HONE_ASSIGN_OR_RETURN(TextFrame inner, ReadProcessor(step));
      if (inner == TextFrame()) continue;
      if (frame != TextFrame()) {
        return UnsupportedTokenizer("a post_processor with two steps that add tokens");
      }
      frame = std::move(inner);
    }
    return frame;
  }
  return UnsupportedTokenizer(fmt::format("a \"{}\" post_processor", type));
}

}  // namespace

Result<TextFrame> TextFrameFromJson(std::string_view tokenizer_json) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(tokenizer_json));
  return ReadProcessor(TokenizerMember(json, "post_processor"));
}

Result<TextFrame> LoadTextFrame(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::path file =
      std::filesystem::is_directory(path, ignored) ? path / "tokenizer.json" : path;
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  Result<TextFrame> frame = TextFrameFromJson(text);
  if (!frame.ok()) return frame.error().In(file.string());
  return frame;
}

Result<std::vector<TokenId>> LoadTextBeginning(const std::filesystem::path& path,
                                               const Tokenizer& tokenizer) {
  const std::filesystem::path config_file = path / "tokenizer_config.json";
  if (Exists(config_file)) {
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(config_file));
    const Result<Json> config = ParseJson(text);
    if (!config.ok()) return config.error().In(config_file.string());
    const Json& adds = TokenizerMember(*config, "add_bos_token");
    if (adds == Json(false)) return std::vector<TokenId>();
    if (adds == Json(true)) {
      const Json& written = TokenizerMember(*config, "bos_token");
      const Json& token = written.is_object() ? TokenizerMember(written, "content") : written;
      const auto id = token.is_string() ? tokenizer.FindAdded(token.AsString()) : std::nullopt;
      if (id) return std::vector<TokenId>{*id};
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: add_bos_token is true, and bos_token names no added token of "
                               "the tokenizer",
                               config_file.string()));
    }
  }
  if (!Exists(path / "tokenizer.json") && !path.string().ends_with(".json")) {
    return std::vector<TokenId>();
  }
  HONE_ASSIGN_OR_RETURN(const TextFrame frame, LoadTextFrame(path));
  return frame.before;
}

std::vector<TokenId> WithBeginning(std::vector<TokenId> beginning,
                                   std::span<const TokenId> tokens) {
  const bool there = tokens.size() >= beginning.size() &&
                     std::equal(beginning.begin(), beginning.end(), tokens.begin());
  if (there) beginning.clear();
  beginning.insert(beginning.end(), tokens.begin(), tokens.end());
  return beginning;
}

}  // namespace hone
