#include "train/stages/drawing_ahead.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/json_fields.h"
#include "engine/weights/trained_weights.h"
#include "train/stages/posed_json.h"

namespace hone {
namespace {

// Of the weights after so many steps, in a checkpoint's folder.
std::filesystem::path WeightsFile(const std::filesystem::path& checkpoint, int64_t version) {
  return checkpoint / fmt::format("drawing-{}.safetensors", version);
}

// Whether several engines may draw at a time beside one that learns.
Result<void> CanDraw(const StageContext& context) {
  const Environment& environment = *context.environment.environment;
  for (const Toolbox::Kit& kit : environment.tools()->kits()) {
    const int64_t most = kit.toolkit->sessions_at_once();
    if (most == 0 || context.recipe->answers.use() != ToolUse::kInEarnest) continue;
    return Error(
        ErrorCode::kUnsupported,
        fmt::format("rollout.ahead plays episodes of several steps at a time, and tools of "
                    "this run have room for {} sessions alone; leave it out",
                    most));
  }
  if (const EnvironmentTraits& traits = environment.traits(); traits.episodes_at_once > 0) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("rollout.ahead plays episodes of several steps at a time, and {} has "
                             "room for {} alone; leave it out",
                             traits.name, traits.episodes_at_once));
  }
  return {};
}

}  // namespace

Result<DrawingAhead> DrawingAhead::Open(int64_t ahead, const StageContext& context) {
  HONE_RETURN_IF_ERROR(CanDraw(context));
  DrawingAhead opened(context);
  for (int64_t lane = 0; lane <= ahead; ++lane) {
    HONE_ASSIGN_OR_RETURN(opened.idle_.emplace_back(), DrawingLane::Open(context));
  }
  return opened;
}

const DrawingAhead::Kept& DrawingAhead::KeptOf(int64_t version) const {
  const int64_t first = kept_.front().weights.version;
  CHECK(version >= first && version < first + std::ssize(kept_), "weights that nobody kept");
  return kept_[static_cast<size_t>(version - first)];
}

// Of those that are begun the oldest has the oldest weights.
void DrawingAhead::DropUnused() {
  while (kept_.size() > 1 &&
         (begun_.empty() || kept_.front().weights.version < begun_.front().version)) {
    kept_.pop_front();
  }
}

void DrawingAhead::PolicyMade(int64_t steps, Clock::Duration clock) {
  if (!kept_.empty() && kept_.back().weights.version == steps) return;
  CHECK(kept_.empty() || kept_.back().weights.version == steps - 1, "a step was not told of");
  kept_.push_back({{steps, std::make_shared<const Model>(context_->engine->model())}, clock});
  for (Begun& begun : begun_) begun.lane->Offer(kept_.back().weights);
  DropUnused();
}

Result<void> DrawingAhead::BeginWith(Begun begun) {
  CHECK(!idle_.empty(), "as many steps are begun as may be");
  begun.lane = std::move(idle_.back());
  idle_.pop_back();
  begun_.push_back(std::move(begun));
  const Begun& last = begun_.back();
  const int64_t newer = context_->recipe->rollout.carry > 0 ? last.step - last.version : 0;
  HONE_RETURN_IF_ERROR(
      last.lane->Begin(KeptOf(last.version).weights, newer, last.posed, last.schedule));
  for (int64_t next = last.version + 1; next <= kept_.back().weights.version; ++next) {
    last.lane->Offer(KeptOf(next).weights);
  }
  return {};
}

Result<void> DrawingAhead::Begin(PosedTasks posed, int64_t schedule, Clock::Duration clock) {
  const int64_t step = posed.step;
  return BeginWith({.step = step,
                    .version = kept_.back().weights.version,
                    .schedule = schedule,
                    .clock = clock,
                    .posed = std::move(posed),
                    .lane = nullptr});
}

Result<DrawingAhead::Taken> DrawingAhead::Take() {
  CHECK(!begun_.empty(), "no step is begun");
  Begun begun = std::move(begun_.front());
  begun_.pop_front();
  DrawingLane* lane = idle_.emplace_back(std::move(begun.lane)).get();
  HONE_ASSIGN_OR_RETURN(DrawingLane::Drawn drawn, lane->Wait());
  // A version draws when it is there, and when the one before it has drawn its turns.
  Clock::Duration ended = begun.clock;
  for (size_t i = 0; i < drawn.took.size(); ++i) {
    const int64_t version = begun.version + static_cast<int64_t>(i);
    if (i > 0) ended = std::max(ended, KeptOf(version).clock);
    ended += drawn.took[i];
  }
  return Taken{std::move(drawn), begun.version, ended};
}

void DrawingAhead::Abandon() {
  for (Begun& begun : begun_) {
    begun.lane->Abandon();
    idle_.push_back(std::move(begun.lane));
  }
  begun_.clear();
}

Json DrawingAhead::ToJson(Clock::Duration clock) const {
  const auto since = [&](Clock::Duration then) {
    return static_cast<int64_t>((clock - then).count());
  };
  Json::Array kept, steps;
  for (const Kept& one : kept_) {
    kept.push_back(Json::Of({{"version", one.weights.version}, {"since", since(one.clock)}}));
  }
  for (const Begun& begun : begun_) {
    steps.push_back(Json::Of({{"step", begun.step},
                              {"version", begun.version},
                              {"schedule", begun.schedule},
                              {"since", since(begun.clock)},
                              {"posed", PosedToJson(begun.posed)}}));
  }
  return Json::Of({{"weights", std::move(kept)}, {"begun", std::move(steps)}});
}

Result<void> DrawingAhead::Save(const std::filesystem::path& checkpoint) const {
  for (const Kept& one : kept_) {
    if (&one == &kept_.back()) break;  // the policy's own are the checkpoint's
    HONE_RETURN_IF_ERROR(
        WriteTrainedWeights(*one.weights.model, WeightsFile(checkpoint, one.weights.version)));
  }
  return {};
}

Result<void> DrawingAhead::Restore(const Json& state, Clock::Duration clock,
                                   const std::filesystem::path& checkpoint) {
  Abandon();
  kept_.clear();
  std::vector<Json> weights, steps;
  std::vector<Begun> begun;
  JsonErrors errors;
  {
    JsonFields fields(state, "ahead", &errors);
    fields.Required("weights", &weights);
    fields.Required("begun", &steps);
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    Kept& one = kept_.emplace_back();
    int64_t since = 0;
    JsonFields fields(weights[i], fmt::format("ahead.weights[{}]", i), &errors);
    fields.Required("version", &one.weights.version);
    fields.Required("since", &since);
    one.clock = clock - Clock::Duration(since);
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    const std::string path = fmt::format("ahead.begun[{}]", i);
    Begun& one = begun.emplace_back();
    Json posed;
    int64_t since = 0;
    {
      JsonFields fields(steps[i], path, &errors);
      fields.Required("step", &one.step);
      fields.Required("version", &one.version);
      fields.Required("schedule", &one.schedule);
      fields.Required("since", &since);
      fields.Required("posed", &posed);
    }
    one.clock = clock - Clock::Duration(since);
    if (errors.ok()) ReadPosed(posed, path + ".posed", &errors, &one.posed);
    one.posed.step = one.step;
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  if (begun.size() > idle_.size()) {
    return Error(
        ErrorCode::kCorrupt,
        fmt::format("{} steps are begun in {}, and with rollout.ahead = {} no more than {} "
                    "can be",
                    begun.size(), checkpoint.string(), idle_.size() - 1, idle_.size()));
  }
  for (Kept& one : kept_) {
    auto model = std::make_shared<Model>(context_->engine->model());
    if (&one != &kept_.back()) {
      HONE_RETURN_IF_ERROR(
          ReadTrainedWeights(WeightsFile(checkpoint, one.weights.version), model.get()));
    }
    one.weights.model = std::move(model);
  }
  for (Begun& one : begun) HONE_RETURN_IF_ERROR(BeginWith(std::move(one)));
  return {};
}

}  // namespace hone
