// credit.

#include "app/passes/passes.h"
#include "app/views/credit_view.h"
#include "credit/methods.h"
#include "credit/short_form.h"
#include "record/record_json.h"
#include "record/validate.h"

namespace hone {
namespace {

Result<void> CheckSound(const ScoredTree& record) {
  const std::vector<std::string> problems = Validate(record);
  if (problems.empty()) return {};
  return Error(ErrorCode::kInvalidArgument, "the tree is not sound: " + problems.front());
}

Result<Json> CreditOfShortForm(const Method& method, const Json& in, bool explain) {
  HONE_ASSIGN_OR_RETURN(const ShortGroup group, ReadShortForm(in));
  const CreditInput input{&group.record, group.has_values ? &group.values : nullptr};
  HONE_ASSIGN_OR_RETURN(const std::vector<Credit> credits,
                        AssignCredit(method, {&input, 1}, {.layers = explain}));
  Json out = AdvantagesToShortForm(credits[0].advantages);
  if (explain) AddExplanation(credits[0], &out);
  return out;
}

Result<Json> CreditOfTree(const Method& method, const Json& in, bool explain) {
  HONE_ASSIGN_OR_RETURN(ScoredTree record, RecordFromJson(in));
  HONE_RETURN_IF_ERROR(CheckSound(record));
  HONE_ASSIGN_OR_RETURN(Credit credit, AssignCredit(method, record, {.layers = explain}));
  if (explain) {
    Json out = AdvantagesToShortForm(credit.advantages);
    AddExplanation(credit, &out);
    return out;
  }
  record.advantages = std::move(credit.advantages);
  HONE_RETURN_IF_ERROR(CheckSound(record));
  return RecordToJson(record);
}

Pass CreditPass() {
  return {
      .name = "credit",
      .about =
          "Assign credit to a scored tree: an advantage per leaf and policy token, by a method of "
          "docs/algorithms. Each line is a batch of its own. Instead of a tree a "
          "line may hold a group in the short form, and is answered with one list per member.",
      .options = {{"method", "e.g. grpo, toolpo-split, gigpo:gamma=0.9 (hone credit methods)",
                   true},
                  {"explain",
                   "yes: what each channel added and why somebody got nothing, instead "
                   "of the tree",
                   false}},
      .input_schema = ParseJson(R"({"type": "object", "properties": {
              "format": {"const": "hone.tree"}, "version": {"const": 1},
              "group": {"type": "array", "description": "the short form", "items": {
                "type": "object", "required": ["turns"], "properties": {
                "terms": {"type": "object", "description": "name: number; null: not scored"},
                "ending": {"type": "string"}, "blame": {"type": "string"},
                "turns": {"type": "array", "items": {"type": "object", "required": ["tokens"],
                  "properties": {
                  "tokens": {"description": "how many, or their ids"},
                  "author": {"enum": ["policy", "tool", "user", "system"], "default": "policy"},
                  "terms": {"type": "object"},
                  "calls": {"type": "array", "items": {"type": "object",
                    "required": ["begin", "end"], "properties": {"begin": {"type": "integer"},
                    "end": {"type": "integer"}, "terms": {"type": "object"}}}},
                  "faults": {"type": "array", "description": "as calls: what could not be read"},
                  "values": {"type": "array", "description": "a critic's, per token"},
                  "logprobs": {"type": "array"}, "entropies": {"type": "array"},
                  "greedy": {"type": "boolean"}}}}}}}}})")
                          .value(),
      .output_schema = ParseJson(R"({"type": "object", "required": ["advantages"], "properties": {
              "advantages": {"type": "array", "description": "short form: one list per member, one number per policy token; tree: docs/formats/tree.md"},
              "layers": {"type": "array", "description": "with --explain: [{name, advantages}], summing up to the advantages"},
              "notes": {"type": "array", "description": "with --explain: [{kind, leaf, channel, text}]"}}})")
                           .value(),
      .example = R"({"group": [{"terms": {"outcome": 1.0}, "turns": [{"tokens": 5, "author": )"
                 R"("policy", "calls": [{"begin": 1, "end": 4, "terms": {"call": 1}}]}]}, )"
                 R"({"terms": {"outcome": 0.0}, "turns": [{"tokens": 2}]}]})",
      .open = [](const PassOptions& options) -> Result<PassFunction> {
        HONE_ASSIGN_OR_RETURN(const Method method, NewMethod(options.at("method")));
        const auto found = options.find("explain");
        if (found != options.end() && found->second != "yes" && found->second != "no") {
          return Error(ErrorCode::kInvalidArgument, "--explain wants yes or no");
        }
        const bool explain = found != options.end() && found->second == "yes";
        return PassFunction([method, explain](const Json& in) -> Result<Json> {
          return IsShortForm(in) ? CreditOfShortForm(method, in, explain)
                                 : CreditOfTree(method, in, explain);
        });
      }};
}

}  // namespace

std::vector<Pass> CreditPasses() { return {CreditPass()}; }

}  // namespace hone
