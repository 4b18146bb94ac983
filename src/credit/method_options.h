#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone {

// The settings of a method as written after its name: "gigpo:gamma=0.9,weight=0.5". Each is asked
// for once by the method; the first problem is kept, and so are settings nobody asked for.
class MethodOptions {
 public:
  // "key=value,key=value"; may be empty.
  static Result<MethodOptions> Parse(std::string_view text);

  // A number in [least, most]; `otherwise` when it is not given.
  double Number(const std::string& key, double otherwise, double least = -1e9, double most = 1e9);
  bool Flag(const std::string& key, bool otherwise);  // yes or no
  std::string Choice(const std::string& key, const std::vector<std::string>& choices,
                     const std::string& otherwise);
  // Names joined by "+": "outcome+preference".
  std::vector<std::string> Names(const std::string& key, const std::vector<std::string>& otherwise);

  // Success, or the first problem: a value that cannot be, or a key nobody asked for.
  Result<void> Check(std::string_view method) const;

  // All names that were given to Names, for terms that nobody gives to be noticed.
  const std::vector<std::string>& named() const { return named_; }
  // "key=default" of everything that was asked for, for lists.
  const std::vector<std::string>& asked() const { return described_; }

 private:
  const std::string* Ask(const std::string& key, const std::string& otherwise);
  void Problem(const std::string& text);

  std::map<std::string, std::string> given_;
  std::set<std::string> known_;
  std::vector<std::string> described_;
  std::vector<std::string> named_;
  std::string problem_;
};

}  // namespace hone
