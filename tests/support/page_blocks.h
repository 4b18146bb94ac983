#pragma once

#include <map>
#include <string>

namespace hone {

// The code blocks of a Markdown page, by what stands behind the fence that opens them.
inline std::map<std::string, std::string> BlocksOf(const std::string& page) {
  std::map<std::string, std::string> blocks;
  for (size_t begin = page.find("```"); begin != std::string::npos;) {
    const size_t line = page.find('\n', begin), end = page.find("\n```", line);
    if (line == std::string::npos || end == std::string::npos) break;
    blocks[page.substr(begin + 3, line - begin - 3)] = page.substr(line + 1, end - line);
    begin = page.find("```", end + 4);
  }
  return blocks;
}

}  // namespace hone
