#include "text/vocabulary/decoding.h"

#include <utility>

#include "base/utf8.h"

namespace hone {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

std::string_view WithoutEnds(std::string_view text, const DecodeOptions::Rewrite& rewrite) {
  for (int i = 0; i < rewrite.start && text.starts_with(rewrite.strip); ++i) {
    text.remove_prefix(rewrite.strip.size());
  }
  for (int i = 0; i < rewrite.stop && text.ends_with(rewrite.strip); ++i) {
    text.remove_suffix(rewrite.strip.size());
  }
  return text;
}

// What a WordPiece decoder makes of a token behind a space, in this order.
constexpr std::pair<std::string_view, std::string_view> kCleanUps[] = {
    {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
    {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
    {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};

std::string WordText(const DecodeOptions& options, std::string_view spelling, bool first) {
  std::string text(spelling);
  if (!first && spelling.starts_with(options.word_prefix)) {
    text.erase(0, options.word_prefix.size());
  } else if (!first) {
    text.insert(0, " ");
  }
  if (!options.clean_up) return text;
  for (const auto& [from, to] : kCleanUps) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
      text.replace(at, from.size(), to);
      at += to.size();
    }
  }
  return text;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::optional<char> DecodeOptions::ByteOf(std::string_view spelling) const {
  if (!byte_fallback || spelling.size() != 6 || !spelling.starts_with("<0x") ||
      !spelling.ends_with(">")) {
    return std::nullopt;
  }
  const int high = HexDigit(spelling[3]), low = HexDigit(spelling[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<char>(high * 16 + low);
}

std::string DecodeOptions::TextOf(std::string_view spelling, bool first) const {
  if (const auto byte = ByteOf(spelling)) return std::string(1, *byte);
  if (word_pieces) return WordText(*this, spelling, first);
  std::string text(spelling);
  for (const Rewrite& rewrite : rewrites) {
    text = rewrite.pattern != nullptr ? rewrite.pattern->Replace(text, rewrite.content)
                                      : std::string(WithoutEnds(text, rewrite));
  }
  if (metaspace.empty()) return text;
  std::string spaced;
  for (size_t at = 0; at < text.size();) {
    if (text.compare(at, metaspace.size(), metaspace) != 0) {
      spaced += text[at++];
      continue;
    }
    if (!first || !first_has_no_space) spaced += ' ';
    at += metaspace.size();
  }
  return spaced;
}

std::string TextJoiner::Emit(std::string text) {
  size_t from = 0;
  while (strips_left_ > 0 && from < text.size()) {
    if (text.compare(from, options_->strip.size(), options_->strip) != 0) {
      strips_left_ = 0;
      break;
    }
    from += options_->strip.size();
    --strips_left_;
  }
  return text.substr(from);
}

std::string TextJoiner::AddText(std::string_view text) {
  std::string before = Finish();
  empty_ = false;
  return before + Emit(std::string(text));
}

std::string TextJoiner::AddByte(char byte) {
  empty_ = false;
  bytes_ += byte;
  return "";
}

std::string TextJoiner::Finish() {
  const std::string row = std::exchange(bytes_, "");
  if (IsUtf8(row)) return Emit(row);
  std::string replaced;
  for (size_t i = 0; i < row.size(); ++i) replaced += kReplacement;
  return Emit(replaced);
}

}  // namespace hone
