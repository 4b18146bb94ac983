#pragma once

#include <string>
#include <string_view>

namespace hone {

// Text as it must stand between tags and in quoted attributes.
std::string EscapeHtml(std::string_view text);

// A whole page that needs nothing beside it: no script, no font, no picture from elsewhere. Light
// and dark as the reader's screen wants it. `style` is more CSS; the body is HTML as it stands.
std::string HtmlPage(std::string_view title, std::string_view style, std::string_view body);

}  // namespace hone
