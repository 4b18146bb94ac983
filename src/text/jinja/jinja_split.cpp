#include "text/jinja/jinja_split.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/jinja/jinja_text.h"

namespace hone {
namespace {

// Runs of characters that are not white space.
std::vector<ByteRange> Words(std::string_view text) {
  std::vector<ByteRange> words;
  bool inside = false;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const bool space = IsPythonSpace(NextCodePoint(text, &at));
    if (!space && !inside) words.push_back({begin, begin});
    if (!space) words.back().end = at;
    inside = !space;
  }
  return words;
}

bool EndsLine(uint32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

}  // namespace

std::vector<ByteRange> FindAll(std::string_view text, std::string_view part, int64_t most) {
  std::vector<ByteRange> found;
  const auto enough = [&] { return most >= 0 && static_cast<int64_t>(found.size()) >= most; };
  if (part.empty()) {
    for (const size_t at : CharacterOffsets(text)) {
      if (enough()) break;
      found.push_back({at, at});
    }
    return found;
  }
  for (size_t at = text.find(part); at != text.npos && !enough();
       at = text.find(part, at + part.size())) {
    found.push_back({at, at + part.size()});
  }
  return found;
}

std::vector<ByteRange> SplitText(std::string_view text, std::optional<std::string_view> separator,
                                 int64_t most) {
  std::vector<ByteRange> parts;
  if (separator) {
    size_t begin = 0;
    for (const ByteRange& cut : FindAll(text, *separator, most)) {
      parts.push_back({begin, cut.begin});
      begin = cut.end;
    }
    parts.push_back({begin, text.size()});
    return parts;
  }
  parts = Words(text);
  if (most >= 0 && static_cast<int64_t>(parts.size()) > most + 1) {
    parts.resize(static_cast<size_t>(most) + 1);
    parts.back().end = text.size();  // white space at the very end stays
  }
  return parts;
}

std::vector<ByteRange> SplitTextFromEnd(std::string_view text,
                                        std::optional<std::string_view> separator, int64_t most) {
  std::vector<ByteRange> parts;
  if (!separator) {
    parts = Words(text);
    if (most >= 0 && static_cast<int64_t>(parts.size()) > most + 1) {
      const auto joined = parts.end() - most - 1;
      joined->begin = 0;
      parts.erase(parts.begin(), joined);
    }
    return parts;
  }
  size_t end = text.size();
  while (most < 0 || static_cast<int64_t>(parts.size()) < most) {
    const size_t at =
        end < separator->size() ? text.npos : text.rfind(*separator, end - separator->size());
    if (at == text.npos) break;
    parts.push_back({at + separator->size(), end});
    end = at;
  }
  parts.push_back({0, end});
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<ByteRange> SplitLines(std::string_view text, bool keep_ends) {
  std::vector<ByteRange> lines;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t here = at;
    const uint32_t c = NextCodePoint(text, &at);
    if (!EndsLine(c)) continue;
    if (c == '\r' && at < text.size() && text[at] == '\n') ++at;
    lines.push_back({begin, keep_ends ? at : here});
    begin = at;
  }
  if (begin < text.size()) lines.push_back({begin, text.size()});
  return lines;
}

}  // namespace hone
