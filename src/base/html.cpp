#include "base/html.h"

#include <fmt/format.h>

namespace hone {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --dim: #6b7280; --line: #d9dde3; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8eb; --paper: #14171a; --dim: #9aa3ad; --line: #333a41; } }
body { font: 15px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
       margin: 2rem auto; max-width: 110rem; padding: 0 1.5rem; }
h1 { font-size: 1.25rem; } h2 { font-size: 1rem; border-top: 1px solid var(--line); padding-top: 1rem; }
)";

}  // namespace

std::string EscapeHtml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string HtmlPage(std::string_view title, std::string_view style, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}{}</style></head><body>\n{}</body></html>\n",
      EscapeHtml(title), kStyle, style, body);
}

}  // namespace hone
