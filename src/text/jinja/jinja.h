#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/jinja/jinja_ast.h"
#include "text/jinja/jinja_run.h"

// Chat templates: the part of Jinja that Hugging Face's models use, run as transformers run it
// (immutable sandbox, trim_blocks, lstrip_blocks, break and continue, {% generation %}).

namespace hone {

struct JinjaRendering {
  JinjaText text;
  std::vector<ByteRange> generations;  // what stands in {% generation %}
};

// Immutable, thread-safe, cheap to copy.
class JinjaTemplate {
 public:
  // Errors name line and column.
  static Result<JinjaTemplate> Parse(std::string_view source);

  // With these variables by name. Text of theirs that is foreign is so in the rendering. `now` is
  // the time in seconds since 1970 that strftime_now tells, in UTC. Fails where the template raises
  // an exception, where it is wrong, and at the limits; errors name line and column.
  Result<JinjaRendering> Render(const JinjaDict& variables, int64_t now,
                                const JinjaLimits& limits = {}) const;

 private:
  explicit JinjaTemplate(JinjaBody body)
      : body_(std::make_shared<const JinjaBody>(std::move(body))) {}

  std::shared_ptr<const JinjaBody> body_;
};

}  // namespace hone
