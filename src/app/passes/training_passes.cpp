// rollout and update: the first and the last arrow of a training step.

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "app/env_recipe.h"
#include "app/evaluation_setup.h"
#include "app/passes/passes.h"
#include "base/file.h"
#include "base/json_fields.h"
#include "learn/recorded_step.h"
#include "record/record_json.h"
#include "rollout/chains.h"
#include "rollout/rollout.h"

namespace hone {
namespace {

const PassOption kPolicy = {"model", "a run, a checkpoint of one, or a Hugging Face folder", true};
PassOption EnvironmentOption() {
  return {"env", NamedEnvironments() + "; absent: that of the model's run", false};
}

Json SchemaFrom(std::string_view text) { return ParseJson(text).value(); }

std::string OptionOr(const PassOptions& options, const std::string& name, std::string otherwise) {
  const auto found = options.find(name);
  return found == options.end() ? std::move(otherwise) : found->second;
}

Result<double> NumberOption(const PassOptions& options, const std::string& name, double otherwise) {
  const auto found = options.find(name);
  if (found == options.end()) return otherwise;
  const Result<Json> number = ParseJson(found->second);
  if (number.ok() && number->is_number() && number->AsDouble() > 0) return number->AsDouble();
  return Error(ErrorCode::kInvalidArgument, fmt::format("--{} wants a number above 0", name));
}

Result<std::shared_ptr<EvaluationSetup>> OpenPolicy(const PassOptions& options) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<EvaluationSetup> setup,
                        OpenForEvaluation({.model = options.at("model"),
                                           .environment = OptionOr(options, "env", "")}));
  return std::shared_ptr<EvaluationSetup>(std::move(setup));
}

// A member of a line, if it is there. Lines may have others besides.
template <typename T>
void ReadMember(const Json& in, const char* key, T* value, JsonErrors* errors) {
  if (const Json* given = in.Find(key)) ReadJson(*given, key, errors, value);
}

// The task of a line: as it stands there, or by its number in a split of the environment.
Result<Task> TaskOf(const Json& in, const LoadedEnvironment& environment) {
  JsonErrors errors;
  if (const Json* given = in.Find("task")) {
    Task task;
    ReadJson(*given, "task", &errors, &task);
    HONE_RETURN_IF_ERROR(errors.Check());
    return task;
  }
  std::string name = "train";
  uint64_t index = 0;
  if (in.Find("index") == nullptr) {
    return Error(ErrorCode::kInvalidArgument, "the line needs \"index\" or \"task\"");
  }
  ReadMember(in, "split", &name, &errors);
  ReadMember(in, "index", &index, &errors);
  HONE_RETURN_IF_ERROR(errors.Check());
  HONE_ASSIGN_OR_RETURN(const Split split, SplitFromName(name));
  const std::optional<uint64_t> count = environment.tasks->count(split);
  if (count && index >= *count) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("index: there are {} tasks in {}", *count, name));
  }
  return environment.tasks->Make(split, index);
}

Result<Json> RollOut(const EvaluationSetup& setup, const Json& in) {
  const StageContext& context = *setup.context;
  GroupRequest request{.leaves = 4};
  double temperature = 1;
  JsonErrors errors;
  ReadMember(in, "leaves", &request.leaves, &errors);
  ReadMember(in, "seed", &request.seed, &errors);
  ReadMember(in, "temperature", &temperature, &errors);
  HONE_RETURN_IF_ERROR(errors.Check());
  if (request.leaves < 1 || !(temperature >= 0)) {
    return Error(ErrorCode::kInvalidArgument, "leaves must be at least 1, temperature at least 0");
  }
  HONE_ASSIGN_OR_RETURN(request.task, TaskOf(in, context.environment));
  HONE_ASSIGN_OR_RETURN(const Policy policy, context.PolicyAt(temperature, 0));
  const auto chains = NewChains();
  const Strategy* strategy = setup.recipe.rollout.strategy.get();
  HONE_ASSIGN_OR_RETURN(
      const Rollout rollout,
      Rollout::New({.run = "pipe"}, context.environment.environment.get(), policy,
                   strategy != nullptr ? strategy : chains.get(), context.real->executor()));
  HONE_ASSIGN_OR_RETURN(const RolloutResult result, rollout.Run({&request, 1}));
  if (!result.groups[0].problem.empty()) {
    return Error(ErrorCode::kUnavailable, result.groups[0].problem);
  }
  return RecordToJson({.tree = result.trees[0]});
}

Pass RolloutPass() {
  return {
      .name = "rollout",
      .about =
          "Let a policy do a task on the real tools, and give the tree of what it did. It is "
          "drawn with the line's own seed. `rewards`, `credit` and `update` take it from there.",
      .options = {kPolicy, EnvironmentOption()},
      .input_schema = SchemaFrom(R"({"type": "object", "properties": {
              "index": {"type": "integer", "description": "of a task of the environment"},
              "split": {"type": "string", "default": "train"},
              "task": {"type": "object", "description": "instead of index, as a line of a task file: docs/environments.md"},
              "leaves": {"type": "integer", "default": 4, "description": "trajectories"},
              "temperature": {"type": "number", "default": 1},
              "seed": {"type": "integer", "default": 0}}})"),
      .output_schema =
          SchemaFrom(R"({"type": "object", "description": "a tree, docs/formats/tree.md"})"),
      .example = R"({"split": "train", "index": 3, "leaves": 4, "seed": 7})",
      .open = [](const PassOptions& options) -> Result<PassFunction> {
        HONE_ASSIGN_OR_RETURN(auto setup, OpenPolicy(options));
        return PassFunction([setup](const Json& in) { return RollOut(*setup, in); });
      }};
}

Result<RecordedStepOptions> ReadUpdateOptions(const PassOptions& options) {
  RecordedStepOptions step;
  const std::string loss = OptionOr(options, "loss", "ppo");
  const std::vector<std::string> known = ObjectiveNames();
  if (std::find(known.begin(), known.end(), loss) == known.end()) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("--loss: there is no \"{}\"; there are {}", loss, fmt::join(known, ", ")));
  }
  step.objective = ObjectiveNamed(loss);
  HONE_ASSIGN_OR_RETURN(step.optimizer.learning_rate,
                        NumberOption(options, "learning-rate", step.optimizer.learning_rate));
  HONE_ASSIGN_OR_RETURN(const double batches, NumberOption(options, "mini-batches", 1));
  step.batches.mini_batches = std::max<int64_t>(1, static_cast<int64_t>(batches));
  return step;
}

Result<Json> Update(const RecordedStepOptions& options, const std::string& out,
                    const EvaluationSetup& setup, const Json& in) {
  const Json* trees = in.Find("trees");
  if (trees == nullptr || !trees->is_array()) {
    return Error(ErrorCode::kInvalidArgument, "the line needs \"trees\", an array");
  }
  std::vector<ScoredTree> records;
  for (const Json& tree : trees->AsArray()) {
    HONE_ASSIGN_OR_RETURN(ScoredTree record, RecordFromJson(tree));
    records.push_back(std::move(record));
  }
  const StageContext& context = *setup.context;
  HONE_ASSIGN_OR_RETURN(const RecordedStep step,
                        LearnFromRecords(records, options, context.engine.get()));
  if (!out.empty()) {
    HONE_RETURN_IF_ERROR(context.engine->Save(out, SaveType::kBf16));
    HONE_RETURN_IF_ERROR(WriteFileAtomic(std::filesystem::path(out) / "tokenizer.json",
                                         context.language.tokenizer->ToJson()));
  }
  return Json::Of({{"trees", step.trees},
                   {"trajectories", step.trajectories},
                   {"tokens", step.first.tokens},
                   {"ratio_one_tokens", step.first.ratio_one},
                   {"loss", step.all.loss},
                   {"grad_norm", step.largest_gradient},
                   {"weights", context.engine->WeightsHash()}});
}

Pass UpdatePass() {
  return {
      .name = "update",
      .about =
          "Take a training step on trees with advantages: each line is one update, of the "
          "weights that the line before it left.",
      .options = {kPolicy,
                  EnvironmentOption(),
                  {"out", "a folder for the model after each line; absent: it is not kept", false},
                  {"loss", "docs/objectives.md (ppo when absent)", false},
                  {"learning-rate", "of AdamW (1e-5 when absent)", false},
                  {"mini-batches", "steps of the optimiser per line (1 when absent)", false}},
      .input_schema = SchemaFrom(R"({"type": "object", "required": ["trees"], "properties": {
              "trees": {"type": "array", "items": {"type": "object",
                "description": "a tree with advantages, docs/formats/tree.md"}}}})"),
      .output_schema = SchemaFrom(R"({"type": "object",
              "required": ["trees", "tokens", "ratio_one_tokens", "loss", "grad_norm", "weights"],
              "properties": {"trees": {"type": "integer", "description": "that taught something"},
                "trajectories": {"type": "integer"}, "tokens": {"type": "integer"},
                "ratio_one_tokens": {"type": "integer",
                  "description": "of the first mini-batch; all of them where this model drew"},
                "loss": {"type": "number"}, "grad_norm": {"type": "number"},
                "weights": {"type": "string", "description": "SHA-256"}}})"),
      .example =
          R"({"trees": [{"format": "hone.tree", "version": 1, "task": {"id": "t"}, "nodes": [{"author": "user", "tokens": [1, 2]}, {"parent": 0, "author": "policy", "tokens": [3], "logprobs": [-1.5], "entropies": [1.0]}], "leaves": [{"node": 1, "ending": "eos"}], "advantages": [{"leaf": 0, "values": [1.0]}]}]})",
      .open = [](const PassOptions& options) -> Result<PassFunction> {
        HONE_ASSIGN_OR_RETURN(const RecordedStepOptions step, ReadUpdateOptions(options));
        HONE_ASSIGN_OR_RETURN(auto setup, OpenPolicy(options));
        const std::string out = OptionOr(options, "out", "");
        return PassFunction(
            [setup, step, out](const Json& in) { return Update(step, out, *setup, in); });
      }};
}

}  // namespace

std::vector<Pass> TrainingPasses() { return {RolloutPass(), UpdatePass()}; }

}  // namespace hone
