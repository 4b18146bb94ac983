#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/jinja/jinja_lexer.h"

namespace hone {

// The tokens of a template, one after the other. The last one, kEnd, is never passed.
class JinjaTokenStream {
 public:
  explicit JinjaTokenStream(std::vector<JinjaToken> tokens) : tokens_(std::move(tokens)) {}

  const JinjaToken& current() const { return tokens_[at_]; }
  const JinjaToken& ahead() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  void Next() { at_ += at_ + 1 < tokens_.size() ? 1 : 0; }
  bool SkipName(std::string_view name);
  bool SkipOperator(std::string_view op);
  Result<void> ExpectOperator(std::string_view op);
  Result<std::string> ExpectName();
  Result<void> ExpectTagEnd();

  // An error about the current token: "unexpected 'x', wanted y".
  Error Unexpected(std::string_view wanted) const;
  Error Bad(std::string_view problem) const { return JinjaErrorAt(current().place, problem); }

 private:
  std::vector<JinjaToken> tokens_;
  size_t at_ = 0;
};

}  // namespace hone
