#include "tools/builtin/passages.h"

#include <string_view>

namespace hone {
namespace {

void AddOnOneLine(std::string_view text, std::string* line) {
  for (const char c : text) *line += c == '\n' || c == '\r' ? ' ' : c;
}

}  // namespace

std::string PassageLines(std::span<const Passage> passages) {
  std::string lines;
  for (const Passage& passage : passages) {
    if (!lines.empty()) lines += '\n';
    AddOnOneLine(passage.title, &lines);
    if (!passage.title.empty()) lines += ": ";
    AddOnOneLine(passage.text, &lines);
  }
  return lines;
}

}  // namespace hone
