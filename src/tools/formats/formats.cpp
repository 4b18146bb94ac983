#include "tools/formats/formats.h"

#include <algorithm>
#include <iterator>

#include "base/strings.h"
#include "tools/formats/formats_of_time.h"
#include "tools/regex.h"
#include "tools/uri.h"

namespace hone {
namespace {

bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsAsciiLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsLetterOrDigit(char c) { return IsAsciiLetter(c) || IsDigit(c); }
bool IsAmong(char c, std::string_view set) { return set.find(c) != set.npos; }

std::vector<std::string_view> PartsOf(std::string_view text, char between) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && text[at] != between) continue;
    parts.push_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  return parts;
}

// RFC 1123.
bool IsHostname(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  const std::vector<std::string_view> labels = PartsOf(text, '.');
  return std::all_of(labels.begin(), labels.end(), [](std::string_view label) {
    return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
           std::all_of(label.begin(), label.end(),
                       [](char c) { return IsLetterOrDigit(c) || c == '-'; });
  });
}

// Dotted, decimal, without leading zeros (RFC 2673).
bool IsIpv4(std::string_view text) {
  const std::vector<std::string_view> parts = PartsOf(text, '.');
  return parts.size() == 4 && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           if (part.empty() || part.size() > 3 || (part.size() > 1 && part[0] == '0')) return false;
           int number = 0;
           for (const char c : part) {
             if (!IsDigit(c)) return false;
             number = 10 * number + (c - '0');
           }
           return number <= 255;
         });
}

// How many groups of 16 bits one side of a :: has; -1: it is none. An address of IPv4, which may be
// the end of the whole, stands for two.
int Ipv6Groups(std::string_view side, bool last) {
  if (side.empty()) return 0;
  const std::vector<std::string_view> groups = PartsOf(side, ':');
  int count = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::string_view group = groups[i];
    if (last && i + 1 == groups.size() && group.find('.') != group.npos) {
      if (!IsIpv4(group)) return -1;
      count += 2;
      continue;
    }
    if (group.empty() || group.size() > 4 || !std::all_of(group.begin(), group.end(), IsHexDigit)) {
      return -1;
    }
    ++count;
  }
  return count;
}

// RFC 4291.
bool IsIpv6(std::string_view text) {
  const size_t gap = text.find("::");
  if (gap == text.npos) return Ipv6Groups(text, true) == 8;
  const int before = Ipv6Groups(text.substr(0, gap), false);
  const int behind = Ipv6Groups(text.substr(gap + 2), true);
  return before >= 0 && behind >= 0 && before + behind < 8;
}

// A name in dots, or anything between quotes.
bool IsMailbox(std::string_view local) {
  if (local.size() >= 2 && local.front() == '"' && local.back() == '"') {
    for (size_t at = 1; at + 1 < local.size(); ++at) {
      const char c = local[at];
      if (c == '\\' && at + 2 < local.size()) {
        ++at;
      } else if (c == '"' || c == '\\' || c < ' ' || c > '~') {
        return false;
      }
    }
    return true;
  }
  const std::vector<std::string_view> atoms = PartsOf(local, '.');
  return std::all_of(atoms.begin(), atoms.end(), [](std::string_view atom) {
    return !atom.empty() && std::all_of(atom.begin(), atom.end(), [](char c) {
      return IsLetterOrDigit(c) || IsAmong(c, "!#$%&'*+-/=?^_`{|}~");
    });
  });
}

// RFC 5321.
bool IsEmail(std::string_view text) {
  const size_t sign = text.rfind('@');
  if (sign == text.npos || !IsMailbox(text.substr(0, sign))) return false;
  std::string_view domain = text.substr(sign + 1);
  if (!domain.starts_with('[') || !domain.ends_with(']')) return IsHostname(domain);
  domain = domain.substr(1, domain.size() - 2);
  if (!domain.starts_with("IPv6:")) return IsIpv4(domain);
  return IsIpv6(domain.substr(5));
}

// Characters of a URI's part, %-escapes among them.
bool IsUriText(std::string_view text, std::string_view more) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '%') {
      if (at + 2 >= text.size() || !IsHexDigit(text[at + 1]) || !IsHexDigit(text[at + 2])) {
        return false;
      }
      at += 2;
    } else if (!IsLetterOrDigit(text[at]) && !IsAmong(text[at], "-._~!$&'()*+,;=") &&
               !IsAmong(text[at], more)) {
      return false;
    }
  }
  return true;
}

bool IsUriHost(std::string_view host) {
  if (!host.starts_with('[')) return IsUriText(host, "");
  if (!host.ends_with(']')) return false;
  host = host.substr(1, host.size() - 2);
  if (!host.starts_with('v') && !host.starts_with('V')) return IsIpv6(host);
  const size_t dot = host.find('.');  // an address of the future
  return dot != host.npos && dot > 1 && dot + 1 < host.size() &&
         std::all_of(host.begin() + 1, host.begin() + static_cast<ptrdiff_t>(dot), IsHexDigit) &&
         host.find('%') == host.npos && IsUriText(host.substr(dot + 1), ":");
}

bool IsUriAuthority(std::string_view authority) {
  if (const size_t sign = authority.find('@'); sign != authority.npos) {
    if (!IsUriText(authority.substr(0, sign), ":")) return false;
    authority = authority.substr(sign + 1);
  }
  const size_t bracket = authority.rfind(']');
  const size_t colon = authority.find(':', bracket == authority.npos ? 0 : bracket);
  if (colon == authority.npos) return IsUriHost(authority);
  const std::string_view port = authority.substr(colon + 1);
  return std::all_of(port.begin(), port.end(), IsDigit) && IsUriHost(authority.substr(0, colon));
}

bool IsUriScheme(std::string_view scheme) {
  return !scheme.empty() && IsAsciiLetter(scheme.front()) &&
         std::all_of(scheme.begin(), scheme.end(),
                     [](char c) { return IsLetterOrDigit(c) || IsAmong(c, "+-."); });
}

// RFC 3986.
bool IsUriReference(std::string_view text) {
  const size_t end = text.find_first_of("/?#");
  const std::string_view first = text.substr(0, end);
  // A colon before the first slash ends a scheme, whatever it is.
  if (const size_t colon = first.find(':'); colon != first.npos) {
    if (!IsUriScheme(first.substr(0, colon))) return false;
  }
  const Uri uri = Uri::Parse(text);
  const std::string_view query = uri.query;
  return IsUriText(uri.path, ":@/") && (!uri.has_authority || IsUriAuthority(uri.authority)) &&
         IsUriText(query.substr(query.empty() ? 0 : 1), ":@/?") && IsUriText(uri.fragment, ":@/?");
}

bool IsUri(std::string_view text) {
  return IsUriReference(text) && !Uri::Parse(text).scheme.empty();
}

// RFC 9562.
bool IsUuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool dash = at == 8 || at == 13 || at == 18 || at == 23;
    if (dash ? text[at] != '-' : !IsHexDigit(text[at])) return false;
  }
  return true;
}

bool IsRegex(std::string_view text) { return Regex::Compile(text).ok(); }

// RFC 6901.
bool IsJsonPointer(std::string_view text) {
  if (!text.empty() && text[0] != '/') return false;
  for (size_t at = text.find('~'); at != text.npos; at = text.find('~', at + 1)) {
    if (at + 1 == text.size() || !IsAmong(text[at + 1], "01")) return false;
  }
  return true;
}

bool IsRelativeJsonPointer(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && IsDigit(text[digits])) ++digits;
  if (digits == 0 || (digits > 1 && text[0] == '0')) return false;
  const std::string_view rest = text.substr(digits);
  return rest == "#" || IsJsonPointer(rest);
}

struct KnownFormat {
  std::string_view name;
  bool (*has)(std::string_view text);
};

constexpr KnownFormat kFormats[] = {
    {"date-time", IsDateTime},
    {"date", IsDate},
    {"time", IsTime},
    {"duration", IsDuration},
    {"email", IsEmail},
    {"hostname", IsHostname},
    {"ipv4", IsIpv4},
    {"ipv6", IsIpv6},
    {"uri", IsUri},
    {"uri-reference", IsUriReference},
    {"uuid", IsUuid},
    {"regex", IsRegex},
    {"json-pointer", IsJsonPointer},
    {"relative-json-pointer", IsRelativeJsonPointer},
};

}  // namespace

std::vector<std::string> KnownFormats() {
  std::vector<std::string> names;
  for (const KnownFormat& format : kFormats) names.emplace_back(format.name);
  return names;
}

bool HasFormat(std::string_view format, std::string_view text) {
  const auto* known = std::find_if(std::begin(kFormats), std::end(kFormats),
                                   [&](const KnownFormat& one) { return one.name == format; });
  return known == std::end(kFormats) || known->has(text);
}

}  // namespace hone
