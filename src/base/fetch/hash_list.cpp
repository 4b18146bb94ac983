#include "base/fetch/hash_list.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/fetch/inside_path.h"
#include "base/strings.h"

namespace hone {
Result<std::vector<std::pair<std::string, std::string>>> ParseHashList(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> list;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = TrimRight(text.substr(0, end), "\r");
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    constexpr size_t kDigits = 64;
    const std::string_view hash = line.substr(0, kDigits);
    const bool hexadecimal =
        hash.size() == kDigits && std::all_of(hash.begin(), hash.end(), [](char c) {
          return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        });
    // Two blanks, or a blank and the star of binary files.
    if (!hexadecimal || line.size() < kDigits + 3 || line[kDigits] != ' ' ||
        (line[kDigits + 1] != ' ' && line[kDigits + 1] != '*')) {
      return Error(ErrorCode::kParse,
                   fmt::format("line {}: 64 hexadecimal digits, two blanks and a name are wanted, "
                               "as sha256sum writes them",
                               number));
    }
    std::string name(line.substr(kDigits + 2));
    if (name.starts_with("./")) name.erase(0, 2);
    if (!StaysInside(name)) {
      return Error(ErrorCode::kParse,
                   fmt::format("line {}: the name leads outside of the folder", number));
    }
    list.emplace_back(std::move(name), hash);
  }
  return list;
}

}  // namespace hone
