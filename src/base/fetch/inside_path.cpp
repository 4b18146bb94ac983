#include "base/fetch/inside_path.h"

#include <algorithm>

namespace hone {

bool StaysInside(std::string_view path) {
  if (path.empty() || path.front() == '/') return false;
  for (const char c : path) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\') return false;
  }
  for (size_t at = 0; at <= path.size();) {
    const size_t slash = std::min(path.find('/', at), path.size());
    if (path.substr(at, slash - at) == "..") return false;
    at = slash + 1;
  }
  return true;
}

}  // namespace hone
