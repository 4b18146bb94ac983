#include "tools/cut.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/utf8.h"

namespace hone {
namespace {

bool Continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

CutText Cut(std::string content, int64_t max_bytes) {
  if (!IsUtf8(content)) content = Utf8Lossy(content);
  const size_t limit = max_bytes > 0 ? static_cast<size_t>(max_bytes) : 0;
  if (content.size() <= limit) return {std::move(content), 0};
  size_t head = limit - limit / 3, tail = content.size() - limit / 3;
  while (head > 0 && Continues(content[head])) --head;
  while (tail < content.size() && Continues(content[tail])) ++tail;
  const std::string_view view = content;
  return {fmt::format("{}\n[... {} bytes left out ...]\n{}", view.substr(0, head), tail - head,
                      view.substr(tail)),
          static_cast<int64_t>(tail - head)};
}

std::string CutToCharacters(std::string text, int64_t max_characters) {
  const auto characters =
      std::count_if(text.begin(), text.end(), [](char c) { return !Continues(c); });
  if (characters <= max_characters) return text;
  const int64_t tail = max_characters / 2, head = max_characters - tail;
  size_t begin = 0, end = text.size();  // of what is left out
  for (int64_t i = 0; i < head; ++i) {
    do ++begin;
    while (begin < text.size() && Continues(text[begin]));
  }
  for (int64_t i = 0; i < tail; ++i) {
    do --end;
    while (Continues(text[end]));
  }
  const std::string_view view = text;
  return fmt::format("{}\n[... {} characters left out ...]\n{}", view.substr(0, begin),
                     characters - max_characters, view.substr(end));
}

}  // namespace hone
