#include "tools/builtin/calculator_tool.h"

#include "tools/builtin/builtin.h"
#include "tools/builtin/calculator.h"

namespace hone {
namespace {

constexpr char kCalculatorSpecs[] = R"([{
  "name": "calculator",
  "description": "Computes an arithmetic expression with exact decimals. Operators: + - * / // % ^ and parentheses. Functions: abs, floor, ceil, round, sqrt, min, max. Constants: pi, e.",
  "parameters": {
    "type": "object",
    "properties": {
      "expression": {"type": "string", "minLength": 1, "maxLength": 10000,
                     "description": "for example (17.5 + 2) * 4"}
    },
    "required": ["expression"],
    "additionalProperties": false
  },
  "x-hone": {"effect": "pure", "computable": true, "output": {"type": "number"}}
}])";

class CalculatorToolkit final : public Toolkit {
 public:
  const std::vector<ToolSpec>& tools() const override { return tools_; }
  Sharing sharing() const override { return Sharing::kNothing; }
  Result<std::unique_ptr<Session>> Open(uint64_t) override { return std::unique_ptr<Session>(); }

  ToolReply Call(std::string_view, const Json& arguments, Session*, const CallLimits&) override {
    Result<std::string> value = Calculate(TextArgument(arguments, "expression"));
    return value.ok() ? Answered(*std::move(value)) : Refuted(value.error().message());
  }

 private:
  const std::vector<ToolSpec> tools_ = BuiltinSpecs(kCalculatorSpecs);
};

}  // namespace

CalculatorOptions ReadCalculatorOptions(RecipeTable) { return {}; }

Result<std::shared_ptr<Toolkit>> NewCalculatorToolkit(const CalculatorOptions&) {
  return std::shared_ptr<Toolkit>(std::make_shared<CalculatorToolkit>());
}

}  // namespace hone
