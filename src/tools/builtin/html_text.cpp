#include "tools/builtin/html_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "base/strings.h"
#include "base/utf8.h"

namespace hone {
namespace {

// Elements whose begin and end divide paragraphs.
constexpr auto kBlocks = std::to_array<std::string_view>(
    {"address", "article", "aside",    "blockquote", "body",   "br",     "dd",     "div",
     "dl",      "dt",      "fieldset", "figcaption", "figure", "footer", "form",   "h1",
     "h2",      "h3",      "h4",       "h5",         "h6",     "head",   "header", "hr",
     "html",    "li",      "main",     "nav",        "ol",     "option", "p",      "pre",
     "section", "table",   "td",       "th",         "title",  "tr",     "ul"});
// Elements whose content nobody reads.
constexpr auto kUnread =
    std::to_array<std::string_view>({"script", "style", "template", "noscript", "svg"});

constexpr std::pair<std::string_view, std::string_view> kEntities[] = {
    {"amp", "&"},   {"lt", "<"},     {"gt", ">"},    {"quot", "\""},  {"apos", "'"},
    {"nbsp", " "},  {"ndash", "–"},  {"mdash", "—"}, {"hellip", "…"}, {"lsquo", "‘"},
    {"rsquo", "’"}, {"ldquo", "“"},  {"rdquo", "”"}, {"deg", "°"},    {"euro", "€"},
    {"copy", "©"},  {"middot", "·"}, {"times", "×"}};

constexpr size_t kLongestEntity = 12;  // with & and ;

bool IsHeading(std::string_view name) {
  return name.size() == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6';
}

// "p" of "<p class=x>" and of "</p>", in lower case.
std::string NameOf(std::string_view tag) {
  std::string name;
  for (const char c : tag.substr(tag.starts_with('/') ? 1 : 0)) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) break;
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

// The characters that an entity (without & and ;) stands for; empty: it is none.
std::string EntityText(std::string_view entity) {
  for (const auto& [name, text] : kEntities) {
    if (name == entity) return std::string(text);
  }
  if (!entity.starts_with('#')) return "";
  const bool hex = entity.starts_with("#x") || entity.starts_with("#X");
  entity.remove_prefix(hex ? 2 : 1);
  uint32_t point = 0;
  const auto [end, error] =
      std::from_chars(entity.data(), entity.data() + entity.size(), point, hex ? 16 : 10);
  const bool surrogate = point >= 0xd800 && point < 0xe000;
  if (error != std::errc() || end != entity.data() + entity.size()) return "";
  if (point == 0 || point > 0x10ffff || surrogate) return "";
  std::string text;
  AppendUtf8(point, &text);
  return text;
}

class HtmlReader {
 public:
  explicit HtmlReader(std::string_view html) : html_(html) {}

  HtmlText Read() {
    while (at_ < html_.size()) {
      if (html_.substr(at_).starts_with("<!--")) {
        SkipTo("-->");
      } else if (html_[at_] == '<' && at_ + 1 < html_.size() && BeginsTag(html_[at_ + 1])) {
        ReadTag();
      } else if (html_[at_] == '&') {
        ReadEntity();
      } else {
        Say(html_.substr(at_++, 1));
      }
    }
    read_.title = std::string(Trim(read_.title));
    return std::move(read_);
  }

 private:
  static bool BeginsTag(char c) {
    return c == '/' || c == '!' || c == '?' || std::isalpha(static_cast<unsigned char>(c)) != 0;
  }

  void Say(std::string_view text) {
    if (in_title_) {
      read_.title += text;
    } else if (text == "\n") {
      read_.text += ' ';  // a line end is a blank; paragraphs are what elements say
    } else {
      read_.text += text;
    }
  }

  // Behind the next `mark`, or to the end.
  void SkipTo(std::string_view mark) {
    const size_t found = html_.find(mark, at_);
    at_ = found == std::string_view::npos ? html_.size() : found + mark.size();
  }

  void ReadTag() {
    const size_t end = std::min(html_.find('>', at_), html_.size());
    const std::string_view tag = html_.substr(at_ + 1, end - at_ - 1);
    const bool closes = tag.starts_with('/');
    const std::string name = NameOf(tag);
    at_ = std::min(end + 1, html_.size());
    if (IsOneOf(name, kUnread) && !closes && !tag.ends_with('/')) return SkipElement(name);
    if (!IsOneOf(name, kBlocks)) return;
    in_title_ = name == "title" && !closes && read_.title.empty();
    read_.text += "\n\n";
    if (IsHeading(name) && !closes) read_.text += std::string(size_t(name[1] - '0'), '#') + " ";
  }

  void SkipElement(const std::string& name) {
    for (size_t from = at_;; ++from) {
      from = html_.find("</", from);
      if (from == std::string_view::npos) break;
      if (NameOf(html_.substr(from + 1, name.size() + 2)) != name) continue;
      at_ = from;
      return SkipTo(">");
    }
    at_ = html_.size();
  }

  void ReadEntity() {
    const std::string_view near = html_.substr(at_, kLongestEntity);
    const size_t end = near.find(';');
    const std::string text =
        end == std::string_view::npos ? "" : EntityText(near.substr(1, end - 1));
    Say(text.empty() ? "&" : text);
    at_ += text.empty() ? 1 : end + 1;
  }

  std::string_view html_;
  size_t at_ = 0;
  bool in_title_ = false;
  HtmlText read_;
};

}  // namespace

HtmlText TextOfHtml(std::string_view html) { return HtmlReader(html).Read(); }

}  // namespace hone
