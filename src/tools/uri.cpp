#include "tools/uri.h"

#include <cctype>

namespace hone {
namespace {

bool IsScheme(std::string_view text) {
  if (text.empty() || std::isalpha(static_cast<unsigned char>(text[0])) == 0) return false;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '+' && c != '-' && c != '.') {
      return false;
    }
  }
  return true;
}

// RFC 3986, 5.2.4.
std::string WithoutDots(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    if (path.starts_with("../")) {
      path.remove_prefix(3);
    } else if (path.starts_with("./") || path.starts_with("/./")) {
      path.remove_prefix(2);
    } else if (path == "/.") {
      path = "/";
    } else if (path.starts_with("/../") || path == "/..") {
      path = path == "/.." ? std::string_view("/") : path.substr(3);
      const size_t slash = out.rfind('/');
      out.resize(slash == std::string::npos ? 0 : slash);
    } else if (path == "." || path == "..") {
      path = {};
    } else {
      const size_t next = path.find('/', 1);
      out += path.substr(0, next);
      path = next == std::string_view::npos ? std::string_view() : path.substr(next);
    }
  }
  return out;
}

}  // namespace

Uri Uri::Parse(std::string_view text) {
  Uri uri;
  if (const size_t hash = text.find('#'); hash != std::string_view::npos) {
    uri.has_fragment = true;
    uri.fragment = text.substr(hash + 1);
    text = text.substr(0, hash);
  }
  if (const size_t colon = text.find(':');
      colon != std::string_view::npos && IsScheme(text.substr(0, colon))) {
    uri.scheme = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  if (const size_t mark = text.find('?'); mark != std::string_view::npos) {
    uri.query = text.substr(mark);
    text = text.substr(0, mark);
  }
  if (text.starts_with("//")) {
    uri.has_authority = true;
    const size_t slash = text.find('/', 2);
    uri.authority = text.substr(2, slash == std::string_view::npos ? slash : slash - 2);
    text = slash == std::string_view::npos ? std::string_view() : text.substr(slash);
  }
  uri.path = text;
  return uri;
}

std::string Uri::WithoutFragment() const {
  return (scheme.empty() ? "" : scheme + ":") + (has_authority ? "//" + authority : "") + path +
         query;
}

Uri ResolveUri(const Uri& base, const Uri& reference) {
  if (!reference.scheme.empty()) return reference;
  Uri out = reference;
  out.scheme = base.scheme;
  if (reference.has_authority) return out;
  out.authority = base.authority;
  out.has_authority = base.has_authority;
  if (reference.path.empty()) {
    out.path = base.path;
    if (reference.query.empty()) out.query = base.query;
  } else if (reference.path.starts_with('/')) {
    out.path = WithoutDots(reference.path);
  } else {
    const size_t slash = base.path.rfind('/');
    const std::string folder = slash == std::string::npos ? (base.has_authority ? "/" : "")
                                                          : base.path.substr(0, slash + 1);
    out.path = WithoutDots(folder + reference.path);
  }
  return out;
}

std::string PercentDecoded(std::string_view text) {
  auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 &&
        digit(text[i + 2]) >= 0) {
      out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace hone
