#include "tools/builtin/text_passages.h"

#include <algorithm>

#include "base/strings.h"

namespace hone {
namespace {

constexpr size_t kLongestWord = 30;  // bytes

bool IsBlank(char c) { return kBlanks.find(c) != std::string_view::npos; }

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Where each word of the text ends. A run that is too long ends several times, between characters.
std::vector<size_t> WordEnds(std::string_view text) {
  std::vector<size_t> ends;
  size_t begin = 0;  // of the word
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsBlank(text[i])) {
      if (i > begin) ends.push_back(i);
      begin = i + 1;
    } else if (i - begin >= kLongestWord && !IsContinuation(text[i])) {
      ends.push_back(i);
      begin = i;
    }
  }
  if (begin < text.size()) ends.push_back(text.size());
  return ends;
}

bool EndsSentence(std::string_view text) {
  const std::string_view bare = TrimRight(text, "\"')]*_");
  for (const std::string_view mark : {".", "!", "?", "。", "！", "？"}) {
    if (bare.ends_with(mark)) return true;
  }
  return false;
}

// The passages of one text as they grow.
class Cutter {
 public:
  explicit Cutter(int64_t words) : most_(static_cast<size_t>(words)) {}

  void Begin(std::string heading) {
    Finish();
    heading_ = std::move(heading);
  }

  void Add(std::string_view paragraph) {
    const std::vector<size_t> ends = WordEnds(paragraph);
    if (ends.empty()) return;
    if (words_ + ends.size() > most_) Finish();
    size_t word = 0, begin = 0;
    while (ends.size() - word > most_) {
      const size_t last = LastOf(paragraph, ends, word);
      Append(paragraph.substr(begin, ends[last] - begin), last + 1 - word);
      Finish();
      begin = ends[last];
      word = last + 1;
    }
    Append(paragraph.substr(begin), ends.size() - word);
  }

  std::vector<TextPassage> Take() {
    Finish();
    return std::move(passages_);
  }

 private:
  // The word that a passage ends with which begins with `first`: the last that ends a sentence, or
  // the last that fits.
  size_t LastOf(std::string_view paragraph, const std::vector<size_t>& ends, size_t first) const {
    const size_t fits = first + most_ - 1;
    for (size_t last = fits + 1; last-- > first;) {
      const bool whole = IsBlank(paragraph[ends[last]]);  // and not a part of a run
      if (whole && EndsSentence(paragraph.substr(0, ends[last]))) return last;
    }
    return fits;
  }

  void Append(std::string_view text, size_t words) {
    if (!text_.empty()) text_ += ' ';
    text_ += OnOneLine(text);
    words_ += words;
  }

  void Finish() {
    if (!text_.empty()) passages_.push_back({heading_, std::move(text_)});
    text_.clear();
    words_ = 0;
  }

  const size_t most_;
  std::string heading_, text_;
  size_t words_ = 0;  // of text_
  std::vector<TextPassage> passages_;
};

// The text of a Markdown heading; empty: the line is none.
std::string_view HeadingOn(std::string_view line) {
  const size_t marks = line.find_first_not_of('#');
  if (marks == 0 || marks > 6 || marks == std::string_view::npos) return {};
  if (line[marks] != ' ' && line[marks] != '\t') return {};
  return Trim(TrimRight(Trim(line.substr(marks)), "#"));
}

}  // namespace

std::string OnOneLine(std::string_view text) {
  std::string line;
  for (const char c : Trim(text)) {
    if (!IsBlank(c)) {
      line += c;
    } else if (!line.ends_with(' ')) {
      line += ' ';
    }
  }
  return line;
}

std::vector<TextPassage> PassagesOf(std::string_view text, Headings headings, int64_t words) {
  Cutter cutter(words);
  size_t paragraph = 0;  // where it begins
  bool in_code = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = Trim(text.substr(at, end - at));
    const size_t next = std::min(end + 1, text.size());
    if (headings == Headings::kMarkdown && (line.starts_with("```") || line.starts_with("~~~"))) {
      in_code = !in_code;
    }
    const std::string_view heading =
        headings == Headings::kMarkdown && !in_code ? HeadingOn(line) : std::string_view();
    if (line.empty() || !heading.empty()) {
      cutter.Add(text.substr(paragraph, at - paragraph));
      paragraph = next;
    }
    if (!heading.empty()) cutter.Begin(std::string(heading));
    at = next;
  }
  cutter.Add(text.substr(paragraph));
  return cutter.Take();
}

}  // namespace hone
