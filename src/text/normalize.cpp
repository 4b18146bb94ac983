#include "text/normalize.h"

#include <algorithm>
#include <cstdlib>

#include <utf8proc.h>

#include "base/check.h"

namespace hone {

std::string ToNfc(std::string_view text) {
  const bool ascii = std::none_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; });
  if (ascii) return std::string(text);
  utf8proc_uint8_t* mapped = nullptr;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &mapped, options);
  CHECK(size >= 0, utf8proc_errmsg(size));
  std::string normalized(reinterpret_cast<char*>(mapped), static_cast<size_t>(size));
  std::free(mapped);
  return normalized;
}

}  // namespace hone
