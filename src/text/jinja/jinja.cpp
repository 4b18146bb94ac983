#include "text/jinja/jinja.h"

#include "text/jinja/jinja_evaluator.h"
#include "text/jinja/jinja_parser.h"

namespace hone {

Result<JinjaTemplate> JinjaTemplate::Parse(std::string_view source) {
  HONE_ASSIGN_OR_RETURN(JinjaBody body, ParseJinja(source));
  return JinjaTemplate(std::move(body));
}

Result<JinjaRendering> JinjaTemplate::Render(const JinjaDict& variables, int64_t now,
                                             const JinjaLimits& limits) const {
  JinjaRun run(limits, now);
  JinjaEvaluator evaluator(&run, variables);
  HONE_RETURN_IF_ERROR(evaluator.Run(*body_));
  return JinjaRendering{evaluator.TakeText(), evaluator.generations()};
}

}  // namespace hone
