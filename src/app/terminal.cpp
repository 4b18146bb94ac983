#include "app/terminal.h"

#include <algorithm>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/utf8.h"

namespace hone {
namespace {

bool IsWide(uint32_t c) {
  return (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) ||
         (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
         (c >= 0xFFE0 && c <= 0xFFE6) || (c >= 0x1F300 && c <= 0x1FAFF) ||
         (c >= 0x20000 && c <= 0x3FFFD);
}

bool IsZeroWidth(uint32_t c) {
  return (c >= 0x0300 && c <= 0x036F) || (c >= 0x200B && c <= 0x200F) || c == 0x2060 ||
         (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF;
}

int ColumnsOf(uint32_t c) { return IsZeroWidth(c) ? 0 : IsWide(c) ? 2 : 1; }

}  // namespace

Terminal Terminal::Of(std::FILE* stream) {
  Terminal terminal;
  const int fd = ::fileno(stream);
  const char* term = std::getenv("TERM");
  const char* no_colour = std::getenv("NO_COLOR");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  terminal.colour = ::isatty(fd) && !dumb && (no_colour == nullptr || *no_colour == 0);
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    terminal.width = size.ws_col;
  } else if (const char* columns = std::getenv("COLUMNS")) {
    terminal.width = std::atoi(columns);
  }
  terminal.width = std::clamp(terminal.width, 40, 400);
  return terminal;
}

std::string Terminal::Styled(std::string_view codes, std::string_view text) const {
  if (!colour || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", codes, text);
}

std::string Printable(std::string_view text) {
  const std::string valid = IsUtf8(text) ? std::string(text) : Utf8Lossy(text);
  std::string out;
  for (size_t at = 0; at < valid.size();) {
    const size_t begin = at;
    const uint32_t c = NextCodePoint(valid, &at);
    if (c == '\n' || c == '\t') {
      out += static_cast<char>(c);
    } else if (c < 0x20) {
      AppendUtf8(0x2400 + c, &out);  // ␛ and its like
    } else if (c == 0x7F) {
      AppendUtf8(0x2421, &out);
    } else if ((c >= 0x80 && c <= 0x9F) || (c >= 0x202A && c <= 0x202E) ||
               (c >= 0x2066 && c <= 0x2069)) {
      AppendUtf8(0xFFFD, &out);  // C1 controls and changes of writing direction
    } else {
      out.append(valid, begin, at - begin);
    }
  }
  return out;
}

int Columns(std::string_view text) {
  int columns = 0;
  for (size_t at = 0; at < text.size();) columns += ColumnsOf(NextCodePoint(text, &at));
  return columns;
}

std::string Padded(std::string_view text, int columns) {
  return std::string(text) +
         std::string(static_cast<size_t>(std::max(columns - Columns(text), 1)), ' ');
}

std::string Fitted(std::string_view text, int columns) {
  if (Columns(text) <= columns) {
    return std::string(text) + std::string(static_cast<size_t>(columns - Columns(text)), ' ');
  }
  std::string out;
  int used = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const int wide = ColumnsOf(NextCodePoint(text, &at));
    if (used + wide > columns - 1) break;
    out.append(text, begin, at - begin);
    used += wide;
  }
  return out + "…" + std::string(static_cast<size_t>(columns - used - 1), ' ');
}

std::vector<std::string> Wrapped(std::string_view line, int columns) {
  std::vector<std::string> lines(1);
  std::string style;  // the escape sequence in force
  int used = 0;
  for (size_t at = 0; at < line.size();) {
    const size_t begin = at;
    if (line[at] == '\x1b') {
      at = std::min(line.find('m', at), line.size() - 1) + 1;
      const std::string_view sequence = line.substr(begin, at - begin);
      style = sequence == "\x1b[0m" ? "" : std::string(sequence);
      lines.back() += sequence;
      continue;
    }
    const int wide = ColumnsOf(NextCodePoint(line, &at));
    if (used + wide > columns) {
      if (!style.empty()) lines.back() += "\x1b[0m";
      lines.push_back(style);
      used = 0;
    }
    lines.back().append(line, begin, at - begin);
    used += wide;
  }
  return lines;
}

}  // namespace hone
