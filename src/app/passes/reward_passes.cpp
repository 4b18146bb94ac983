// rewards and answer-match.

#include "app/input.h"
#include "app/passes/passes.h"
#include "base/file.h"
#include "record/record_json.h"
#include "record/validate.h"
#include "rewards/compose.h"
#include "rewards/confined_runner.h"
#include "rewards/matching/answer.h"

namespace hone {
namespace {

Json Parsed(std::string_view text) { return ParseJson(text).value(); }

// The reward that the options name: a preset, a program, or a file that says more.
Result<std::unique_ptr<Rewarder>> RewarderOf(const PassOptions& options,
                                             const PresetOptions& from_outside) {
  const auto preset = options.find("preset"), command = options.find("command"),
             file = options.find("reward");
  if ((preset != options.end()) + (command != options.end()) + (file != options.end()) > 1) {
    return Error(ErrorCode::kInvalidArgument, "give one of --preset, --command and --reward");
  }
  if (command != options.end()) {
    return RewarderFromJson(Json::Of({{"command", Json::Array{"sh", "-c", command->second}}}),
                            from_outside);
  }
  if (file != options.end()) {
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadInput(file->second));
    const Result<Json> json = ParseJson(text);
    if (!json.ok()) return json.error().In(file->second);
    Result<std::unique_ptr<Rewarder>> rewarder = RewarderFromJson(*json, from_outside);
    if (!rewarder.ok()) return rewarder.error().In(file->second);
    return rewarder;
  }
  return NewPreset(preset == options.end() ? "default" : preset->second, from_outside);
}

Result<Json> ScoreLine(Rewarder* rewarder, const RewardContext& context, const Json& in) {
  HONE_ASSIGN_OR_RETURN(ScoredTree record, RecordFromJson(in));
  record.scores.clear();
  record.advantages.clear();  // what was said of other scores does not hold for these
  if (const auto problems = Validate(record); !problems.empty()) {
    return Error(ErrorCode::kInvalidArgument, problems.front());
  }
  HONE_ASSIGN_OR_RETURN(record.scores, rewarder->ScoreTree(record.tree, context));
  if (const auto problems = Validate(record); !problems.empty()) {
    return Error(ErrorCode::kInvalidArgument, "the scores: " + problems.front());
  }
  return RecordToJson(record);
}

Result<int64_t> StepOf(const PassOptions& options) {
  const auto step = options.find("step");
  if (step == options.end()) return int64_t{0};
  const Result<Json> number = ParseJson(step->second);
  if (!number.ok() || !number->is_integer() || number->AsInteger() < 0) {
    return Error(ErrorCode::kInvalidArgument, "--step must be a whole number, not negative");
  }
  return number->AsInteger();
}

Pass RewardsPass() {
  return {
      .name = "rewards",
      .about =
          "Score a tree: what was earned where (docs/rewards.md). A term "
          "that could not be computed has no value and a fault that says why.",
      .options = {{"preset", "a reward by name (default when absent; hone rewards list)", false},
                  {"command", "instead: a program that scores (docs/howto/write-a-reward.md)",
                   false},
                  {"reward", "instead: a JSON file with a sum of rewards", false},
                  {"step", "the training step, for weights that change (0 when absent)", false}},
      .input_schema =
          Parsed(R"({"type": "object", "description": "a tree, docs/formats/tree.md"})"),
      .output_schema = Parsed(R"({"type": "object", "required": ["scores"], "properties": {
              "scores": {"type": "array", "items": {"type": "object",
                "required": ["leaf", "terms"]}}},
              "description": "the tree, with one score per leaf"})"),
      .example = R"({"format": "hone.tree", "version": 1, "task": {"id": "t", "answer": "fog", )"
                 R"("reward": {"calls": [{"name": "weather"}]}}, "nodes": [{"author": "user", )"
                 R"("tokens": [1]}, {"parent": 0, "author": "policy", "tokens": [2, 3], )"
                 R"("logprobs": [-0.1, -0.2], "entropies": [0.1, 0.2]}], "leaves": [{"node": 1, )"
                 R"("ending": "answered", "final_state": {"answer": "Fog."}}]})",
      .open = [](const PassOptions& options) -> Result<PassFunction> {
        HONE_ASSIGN_OR_RETURN(const int64_t step, StepOf(options));
        const std::shared_ptr<ProgramRunner> runner = NewConfinedRunner();
        HONE_ASSIGN_OR_RETURN(std::unique_ptr<Rewarder> made,
                              RewarderOf(options, {.runner = runner.get()}));
        const std::shared_ptr<Rewarder> rewarder = std::move(made);
        return PassFunction([rewarder, runner, step](const Json& in) {
          return ScoreLine(rewarder.get(), {.step = step, .stop = {}}, in);
        });
      }};
}

Result<double> ToleranceOf(const PassOptions& options, const std::string& name, double usual) {
  const auto given = options.find(name);
  if (given == options.end()) return usual;
  const Result<Json> number = ParseJson(given->second);
  if (!number.ok() || !number->is_number() || !(number->AsDouble() >= 0)) {
    return Error(ErrorCode::kInvalidArgument, "--" + name + " must be a number, not negative");
  }
  return number->AsDouble();
}

Pass AnswerMatchPass() {
  std::string kinds;
  for (const AnswerKindNote& note : AnswerKinds()) {
    kinds += (kinds.empty() ? "" : ", ") + note.name;
  }
  return {
      .name = "answer-match",
      .about =
          "Compare an answer with the gold one: whether it is right, and how near from 0 to 1.",
      .options = {{"kind", "how they are compared (text when absent): " + kinds, false},
                  {"absolute", "of numbers: the difference allowed (1e-6 when absent)", false},
                  {"relative", "and as a share of the gold number (1e-6 when absent)", false}},
      .input_schema = Parsed(R"({"type": "object", "required": ["answer", "gold"], "properties": {
              "answer": {"description": "what the policy answered; null: nothing"},
              "gold": {"description": "the right answer, or a list of those that are accepted"}}})"),
      .output_schema = Parsed(R"({"type": "object", "required": ["match", "score"], "properties": {
              "match": {"type": "boolean"}, "score": {"type": "number"}}})"),
      .example = R"({"answer": " The Beatles.", "gold": ["the beatles", "Beatles"]})",
      .open = [](const PassOptions& options) -> Result<PassFunction> {
        const auto name = options.find("kind");
        HONE_ASSIGN_OR_RETURN(const AnswerKind kind,
                              AnswerKindNamed(name == options.end() ? "text" : name->second));
        const std::shared_ptr<ProgramRunner> runner = NewConfinedRunner();
        AnswerOptions answer_options{.runner = runner.get()};
        HONE_ASSIGN_OR_RETURN(answer_options.absolute,
                              ToleranceOf(options, "absolute", answer_options.absolute));
        HONE_ASSIGN_OR_RETURN(answer_options.relative,
                              ToleranceOf(options, "relative", answer_options.relative));
        return PassFunction([kind, answer_options, runner](const Json& in) -> Result<Json> {
          const Json *answer = in.Find("answer"), *gold = in.Find("gold");
          if (answer == nullptr || gold == nullptr) {
            return Error(ErrorCode::kInvalidArgument, "the line needs \"answer\" and \"gold\"");
          }
          HONE_ASSIGN_OR_RETURN(const AnswerMatch match,
                                MatchAnswer(kind, *answer, *gold, answer_options));
          return Json::Of({{"match", match.match}, {"score", match.score}});
        });
      }};
}

}  // namespace

std::vector<Pass> RewardPasses() { return {RewardsPass(), AnswerMatchPass()}; }

}  // namespace hone
