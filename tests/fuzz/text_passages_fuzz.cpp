// Any text, cut into passages as it stands, as Markdown and as a page of HTML: whole words, none of
// them lost, none too many at once.

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/utf8.h"
#include "tools/builtin/html_text.h"
#include "tools/builtin/text_passages.h"

namespace {

void Look(std::string_view text, hone::Headings headings, int64_t words) {
  std::string letters, wanted;
  for (const hone::TextPassage& passage : hone::PassagesOf(text, headings, words)) {
    CHECK(!passage.text.empty() && hone::IsUtf8(passage.text) && hone::IsUtf8(passage.heading));
    CHECK(std::count(passage.text.begin(), passage.text.end(), ' ') < words);
    letters += passage.text;
  }
  if (headings != hone::Headings::kNone) return;
  std::erase(letters, ' ');
  wanted = text;
  std::erase_if(wanted, [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; });
  CHECK(letters == wanted);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const int64_t words = 1 + data[0] % 12;
  const std::string text = hone::Utf8Lossy({reinterpret_cast<const char*>(data) + 1, size - 1});
  Look(text, hone::Headings::kNone, words);
  Look(text, hone::Headings::kMarkdown, words);
  const hone::HtmlText page = hone::TextOfHtml(text);
  CHECK(hone::IsUtf8(page.title) && hone::IsUtf8(page.text));
  Look(page.text, hone::Headings::kMarkdown, words);
  return 0;
}
