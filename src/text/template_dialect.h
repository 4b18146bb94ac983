#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "text/call_format.h"
#include "text/dialect.h"
#include "text/model_template.h"

namespace hone {

struct TemplateOptions {
  std::string dialect = "template";  // its name
  std::optional<CallFormat> calls;   // absent: what the template's text looks like
  std::optional<std::string> name;   // which of the model's templates; absent: "tool_use" where
                                     // there are tools and there is one, else "default"
  int64_t date = 1735689600;         // what strftime_now tells, in seconds since 1970: the same
                                     // every day, so that a prompt is the same every day
                                     // (2025-01-01)
  // Variables of the template that hold for every conversation which does not say otherwise;
  // "enable_thinking" may be among them.
  Json::Object arguments = {};
};

// The dialect of a model that brings its chat template along: Render is the template, over all
// messages. What the policy says stands between what the template renders before it and the marker
// that ends a turn. Fails for a template that cannot be read, or that cannot spell one message of a
// user's and one of an assistant's.
Result<std::unique_ptr<Dialect>> NewTemplateDialect(ModelTemplate model, TemplateOptions settings);

// From "template:PATH", with settings behind a question mark: ?calls=hermes, ?name=tool_use,
// ?date=2025-01-15, ?kwargs.NAME=VALUE (a variable of the template; JSON, else text), several with
// & between them.
Result<std::unique_ptr<Dialect>> NewTemplateDialect(std::string_view name);

// What "template" means for a model in that folder: "template:FOLDER", its settings kept. Any other
// name is itself.
std::string DialectIn(std::string_view name, const std::string& folder);

// Llama 3.1's format for tools, as Meta's template has it with tools_in_user_message = false.
Result<std::unique_ptr<Dialect>> NewLlama3();

}  // namespace hone
