#pragma once

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "base/file.h"

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

// A page shows C++, and all of it stands, to the letter, in this file, which is compiled and
// tested. Both are named from the root of the repository.
inline void ExpectShowsCodeOf(const std::string& page, const std::string& file) {
  const std::string root = std::string(HONE_SOURCE_DIR) + "/";
  const std::string source = ReadFile(root + file).value();
  int shown = 0;
  for (const auto& [name, block] : BlocksOf(ReadFile(root + page).value())) {
    if (!name.starts_with("cpp")) continue;
    ++shown;
    EXPECT_NE(source.find(block), std::string::npos)
        << page << " shows what is not in " << file << ":\n"
        << block;
  }
  EXPECT_GT(shown, 0) << page << " shows no C++";
}

}  // namespace hone
