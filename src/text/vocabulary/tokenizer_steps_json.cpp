// The steps of a tokenizer.json: what is done to text before the model sees it, and what makes text
// of tokens again.

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "text/vocabulary/bert_text.h"
#include "text/vocabulary/tokenizer_parts.h"

namespace hone {
namespace {

bool IsTrueOf(const Json& object, std::string_view key) {
  return TokenizerMember(object, key) == Json(true);
}

Result<std::string> TextIn(const Json& object, std::string_view key) {
  const Json& text = TokenizerMember(object, key);
  if (!text.is_string()) {
    return BadTokenizer(fmt::format("a \"{}\" without \"{}\"", TokenizerType(object), key));
  }
  return text.AsString();
}

// {"String": "text"} or {"Regex": "expression"}.
Result<Pattern> PatternOf(const Json& json) {
  if (const Json& text = TokenizerMember(json, "String"); text.is_string()) {
    if (text.AsString().empty()) return BadTokenizer("an empty pattern");
    return Pattern::Literal(text.AsString());
  }
  const Json& regex = TokenizerMember(json, "Regex");
  if (!regex.is_string()) return BadTokenizer("a step without a pattern");
  HONE_ASSIGN_OR_RETURN(Pattern pattern, Pattern::Compile(regex.AsString()));
  // An empty match would cut, too; no tokenizer that is known has one.
  if (pattern.CanMatchNothing()) {
    return UnsupportedTokenizer(
        fmt::format("the pattern {}, which can match nothing,", regex.AsString()));
  }
  return pattern;
}

Result<NormalizeStep> ReadReplace(const Json& json) {
  NormalizeStep step{.kind = NormalizeStep::Kind::kReplace};
  HONE_ASSIGN_OR_RETURN(Pattern pattern, PatternOf(TokenizerMember(json, "pattern")));
  HONE_RETURN_IF_ERROR(pattern.TryOut());
  step.pattern = std::make_shared<Pattern>(std::move(pattern));
  HONE_ASSIGN_OR_RETURN(step.content, TextIn(json, "content"));
  return step;
}

Result<NormalizeStep> ReadNormalizeStep(const Json& json) {
  using Kind = NormalizeStep::Kind;
  const std::string type = TokenizerType(json);
  for (const auto& [name, form] :
       {std::pair("NFC", UnicodeForm::kNfc), std::pair("NFD", UnicodeForm::kNfd),
        std::pair("NFKC", UnicodeForm::kNfkc), std::pair("NFKD", UnicodeForm::kNfkd)}) {
    if (type == name) return NormalizeStep{.kind = Kind::kForm, .form = form};
  }
  if (type == "Lowercase") return NormalizeStep{.kind = Kind::kLowercase};
  if (type == "StripAccents") return NormalizeStep{.kind = Kind::kStripAccents};
  if (type == "Nmt") return NormalizeStep{.kind = Kind::kNmt};
  if (type == "Replace") return ReadReplace(json);
  NormalizeStep step;
  if (type == "Strip") {
    step.kind = Kind::kStrip;
    step.left = IsTrueOf(json, "strip_left");
    step.right = IsTrueOf(json, "strip_right");
    return step;
  }
  if (type == "Prepend") {
    step.kind = Kind::kPrepend;
    HONE_ASSIGN_OR_RETURN(step.content, TextIn(json, "prepend"));
    return step;
  }
  if (type == "Precompiled") {
    step.kind = Kind::kCharMap;
    HONE_ASSIGN_OR_RETURN(const std::string table, TextIn(json, "precompiled_charsmap"));
    HONE_ASSIGN_OR_RETURN(CharMap map, CharMap::FromBase64(table));
    step.char_map = std::make_shared<CharMap>(std::move(map));
    return step;
  }
  return UnsupportedTokenizer(fmt::format("a \"{}\" normalizer", type));
}

// What is absent holds; accents go where letters become small, unless it says otherwise.
void AddBertNormalizer(const Json& json, Tokenizer::Parts* parts) {
  using Kind = NormalizeStep::Kind;
  const auto holds = [&](std::string_view key) {
    return TokenizerMember(json, key) != Json(false);
  };
  const bool lowercase = holds("lowercase");
  const Json& strip = TokenizerMember(json, "strip_accents");
  if (holds("clean_text")) parts->normalizers.push_back({.kind = Kind::kClean});
  if (holds("handle_chinese_chars")) parts->normalizers.push_back({.kind = Kind::kSpaceIdeographs});
  if (strip.is_bool() ? strip == Json(true) : lowercase) {
    parts->normalizers.push_back({.kind = Kind::kForm, .form = UnicodeForm::kNfd});
    parts->normalizers.push_back({.kind = Kind::kStripNonspacing});
  }
  if (lowercase) parts->normalizers.push_back({.kind = Kind::kLowercase});
}

Result<SplitBehavior> BehaviorOf(const Json& json) {
  for (const auto& [name, behavior] : kSplitBehaviors) {
    if (TokenizerMember(json, "behavior") == Json(name)) return behavior;
  }
  return UnsupportedTokenizer("a pre_tokenizer of an unknown behavior");
}

Result<SplitStep> ReadSplit(const Json& json) {
  HONE_ASSIGN_OR_RETURN(Pattern cut, PatternOf(TokenizerMember(json, "pattern")));
  SplitStep step{std::move(cut)};
  step.invert = IsTrueOf(json, "invert");
  HONE_ASSIGN_OR_RETURN(step.behavior, BehaviorOf(json));
  return step;
}

// Always, or where the scheme says; files from before there were schemes say yes or no.
Result<SplitStep::Prefix> MetaspacePrefix(const Json& json) {
  if (TokenizerMember(json, "add_prefix_space") == Json(false)) return SplitStep::Prefix::kNever;
  const Json& scheme = TokenizerMember(json, "prepend_scheme");
  if (scheme.is_null() || scheme == Json("always")) return SplitStep::Prefix::kAlways;
  if (scheme == Json("first")) return SplitStep::Prefix::kFirst;
  if (scheme == Json("never")) return SplitStep::Prefix::kNever;
  return UnsupportedTokenizer("a Metaspace of an unknown prepend_scheme");
}

Result<SplitStep> ReadMetaspace(const Json& json) {
  HONE_ASSIGN_OR_RETURN(const std::string replacement, TextIn(json, "replacement"));
  if (replacement.empty()) return BadTokenizer("a Metaspace without a replacement");
  SplitStep step{Pattern::Literal(replacement), SplitBehavior::kMergedWithNext};
  HONE_ASSIGN_OR_RETURN(step.prefix, MetaspacePrefix(json));
  step.cut = TokenizerMember(json, "split") != Json(false);
  step.space = replacement;
  return step;
}

// Absent keys mean true here, as in the library that writes these files.
void AddByteLevel(const Json& json, Tokenizer::Parts* parts) {
  const bool use_regex = TokenizerMember(json, "use_regex") != Json(false);
  const bool prefix_space = TokenizerMember(json, "add_prefix_space") != Json(false);
  if (!use_regex && !prefix_space) return;
  parts->splits.push_back({Pattern::Compile(kGpt2Split).value(), SplitBehavior::kIsolated, false,
                           prefix_space ? SplitStep::Prefix::kAlways : SplitStep::Prefix::kNever,
                           use_regex});
}

// Steps that are a pattern of their own.
Result<SplitStep> ReadNamedSplit(const Json& json) {
  const std::string type = TokenizerType(json);
  const auto step = [](std::string_view expression, SplitBehavior behavior) {
    return SplitStep{Pattern::Compile(expression).value(), behavior};
  };
  if (type == "Digits") {
    return step(R"(\p{N})", IsTrueOf(json, "individual_digits") ? SplitBehavior::kIsolated
                                                                : SplitBehavior::kContiguous);
  }
  if (type == "WhitespaceSplit") return step(R"(\s)", SplitBehavior::kRemoved);
  if (type == "Whitespace") {
    // Rust's \w, which is not Oniguruma's: joiners belong to words, fractions do not.
    constexpr std::string_view kWord = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D})";
    SplitStep words = step(fmt::format("[{0}]+|[^{0}\\s]+", kWord), SplitBehavior::kRemoved);
    words.invert = true;
    return words;
  }
  if (type == "Punctuation") {
    SplitBehavior behavior = SplitBehavior::kIsolated;
    if (!TokenizerMember(json, "behavior").is_null()) {
      HONE_ASSIGN_OR_RETURN(behavior, BehaviorOf(json));
    }
    return step(R"([!-/:-@\[-`{-~\p{P}])", behavior);
  }
  return UnsupportedTokenizer(fmt::format("a \"{}\" pre_tokenizer", type));
}

Result<DecodeOptions::Rewrite> ReadRewrite(const Json& json) {
  DecodeOptions::Rewrite rewrite;
  if (TokenizerType(json) == "Replace") {
    HONE_ASSIGN_OR_RETURN(Pattern pattern, PatternOf(TokenizerMember(json, "pattern")));
    HONE_RETURN_IF_ERROR(pattern.TryOut());
    rewrite.pattern = std::make_shared<Pattern>(std::move(pattern));
    HONE_ASSIGN_OR_RETURN(rewrite.content, TextIn(json, "content"));
    return rewrite;
  }
  HONE_ASSIGN_OR_RETURN(rewrite.strip, TextIn(json, "content"));
  const Json &start = TokenizerMember(json, "start"), &stop = TokenizerMember(json, "stop");
  const auto is_count = [](const Json& count) {
    return count.is_integer() && count.AsInteger() >= 0 && count.AsInteger() < 1000;
  };
  if (rewrite.strip.empty() || !is_count(start) || !is_count(stop)) {
    return BadTokenizer("a Strip decoder without content, start and stop");
  }
  rewrite.start = static_cast<int>(start.AsInteger());
  rewrite.stop = static_cast<int>(stop.AsInteger());
  return rewrite;
}

// A decoder behind others; `fused` is whether the tokens are one text already.
Result<void> ReadDecodeStep(const Json& json, bool* fused, DecodeOptions* options) {
  const std::string type = TokenizerType(json);
  if (type == "Sequence" && TokenizerMember(json, "decoders").is_array()) {
    for (const Json& step : TokenizerMember(json, "decoders").AsArray()) {
      HONE_RETURN_IF_ERROR(ReadDecodeStep(step, fused, options));
    }
    return {};
  }
  const bool untouched = !*fused && !options->byte_fallback && options->metaspace.empty();
  if (type == "WordPiece" && untouched && options->rewrites.empty()) {
    const Json& prefix = TokenizerMember(json, "prefix");
    options->word_pieces = true;
    options->first_has_no_space = true;
    options->word_prefix = prefix.is_string() ? prefix.AsString() : "##";
    options->clean_up = TokenizerMember(json, "cleanup") != Json(false);
    *fused = true;
    return {};
  }
  if (type == "Fuse") {
    *fused = true;
    return {};
  }
  if (type == "ByteFallback" && untouched) {
    options->byte_fallback = true;
    return {};
  }
  if (type == "Metaspace" && untouched) {
    HONE_ASSIGN_OR_RETURN(options->metaspace, TextIn(json, "replacement"));
    HONE_ASSIGN_OR_RETURN(const SplitStep::Prefix prefix, MetaspacePrefix(json));
    options->first_has_no_space = prefix != SplitStep::Prefix::kNever;
    return {};
  }
  if ((type == "Replace" || type == "Strip") && untouched) {
    HONE_ASSIGN_OR_RETURN(DecodeOptions::Rewrite rewrite, ReadRewrite(json));
    options->rewrites.push_back(std::move(rewrite));
    return {};
  }
  if (type == "Strip" && *fused && options->strip_most == 0) {
    HONE_ASSIGN_OR_RETURN(const DecodeOptions::Rewrite rewrite, ReadRewrite(json));
    if (rewrite.stop == 0) {
      options->strip = rewrite.strip;
      options->strip_most = rewrite.start;
      return {};
    }
  }
  return UnsupportedTokenizer(fmt::format("a \"{}\" decoder at this place", type));
}

}  // namespace

Result<void> ReadNormalizer(const Json& json, Tokenizer::Parts* parts) {
  if (json.is_null()) return {};
  if (TokenizerType(json) == "Sequence" && TokenizerMember(json, "normalizers").is_array()) {
    for (const Json& step : TokenizerMember(json, "normalizers").AsArray()) {
      HONE_RETURN_IF_ERROR(ReadNormalizer(step, parts));
    }
    return {};
  }
  if (TokenizerType(json) == "BertNormalizer") {
    AddBertNormalizer(json, parts);
    return {};
  }
  HONE_ASSIGN_OR_RETURN(NormalizeStep step, ReadNormalizeStep(json));
  parts->normalizers.push_back(std::move(step));
  return {};
}

Result<void> ReadPreTokenizer(const Json& json, Tokenizer::Parts* parts) {
  if (json.is_null()) return {};
  const std::string type = TokenizerType(json);
  if (type == "Sequence" && TokenizerMember(json, "pretokenizers").is_array()) {
    const Json::Array& steps = TokenizerMember(json, "pretokenizers").AsArray();
    for (size_t i = 0; i < steps.size(); ++i) {
      HONE_RETURN_IF_ERROR(ReadPreTokenizer(steps[i], parts));
      if (IsByteLevelStep(steps[i]) && i + 1 < steps.size()) {
        return UnsupportedTokenizer("a pre_tokenizer that goes on after ByteLevel");
      }
    }
    return {};
  }
  if (type == "ByteLevel") {
    AddByteLevel(json, parts);
    return {};
  }
  if (type == "BertPreTokenizer") {
    parts->splits.push_back({Pattern::Compile(R"(\s)").value(), SplitBehavior::kRemoved});
    parts->splits.push_back({Pattern::Compile(BertPunctuation()).value()});
    return {};
  }
  const auto read = type == "Split"       ? ReadSplit
                    : type == "Metaspace" ? ReadMetaspace
                                          : ReadNamedSplit;
  HONE_ASSIGN_OR_RETURN(SplitStep step, read(json));
  parts->splits.push_back(std::move(step));
  return {};
}

Result<void> ReadDecoder(const Json& json, DecodeOptions* options) {
  if (json.is_null()) return UnsupportedTokenizer("a tokenizer without a decoder");
  options->byte_level = false;
  bool fused = false;
  return ReadDecodeStep(json, &fused, options);
}

bool IsByteLevelStep(const Json& json) {
  if (TokenizerType(json) == "ByteLevel") return true;
  for (const char* list : {"pretokenizers", "decoders"}) {
    if (!TokenizerMember(json, list).is_array()) continue;
    const Json::Array& steps = TokenizerMember(json, list).AsArray();
    if (std::any_of(steps.begin(), steps.end(), IsByteLevelStep)) return true;
  }
  return false;
}

}  // namespace hone
