#pragma once

#include <string>
#include <string_view>

namespace hone {

// A URI reference taken apart (RFC 3986). Only what resolving needs.
struct Uri {
  std::string scheme;     // without the colon; empty: a relative reference
  std::string authority;  // without the slashes
  bool has_authority = false;
  std::string path;
  std::string query;  // with the question mark, or empty
  std::string fragment;
  bool has_fragment = false;

  static Uri Parse(std::string_view text);
  std::string WithoutFragment() const;
};

// The reference as seen from `base`, which may be empty.
Uri ResolveUri(const Uri& base, const Uri& reference);

// "%7e" and the like as the bytes they stand for; what is no escape stays as it is.
std::string PercentDecoded(std::string_view text);

}  // namespace hone
