#pragma once

#include <string>
#include <string_view>

namespace hone {

struct HtmlText {
  std::string title;  // of the page; empty: it has none
  std::string text;   // headings as lines that begin with #, other blocks as paragraphs
};

// What a page of HTML says, as far as it can be told without a browser: scripts, styles, comments
// and tags are left out, entities are the characters they stand for. Nothing is wrong HTML.
HtmlText TextOfHtml(std::string_view html);

}  // namespace hone
