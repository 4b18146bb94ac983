#include "envs/study/study_tasks.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/check.h"
#include "base/nearest.h"
#include "envs/plan.h"
#include "envs/study/needs.h"

namespace hone::study {
namespace {

// What is drawn fits a split in one of ten thousand cases at worst.
constexpr uint64_t kMaxDrafts = 2'000'000;

bool IsIn(const Kind& kind, Split split) {
  if (split == Split::kUnseenKinds) return kind.unseen;
  if (kind.unseen) return false;
  return split != Split::kUnseenPhrases || kind.unseen_phrases;
}

bool HasTools(const Kind& kind, const StudyToolNames& tools) {
  return tools.keep_tasks || ((tools.search || !NeedsSearch(kind.family)) &&
                              (tools.python || !NeedsPython(kind.family)));
}

std::vector<const Kind*> KindsOf(const TaskOptions& options, const StudyToolNames& tools) {
  std::vector<const Kind*> kinds;
  for (const Kind& kind : Kinds()) {
    const bool wanted =
        options.kinds.empty() ||
        std::find(options.kinds.begin(), options.kinds.end(), kind.name) != options.kinds.end();
    if (wanted && kind.calls <= options.max_calls && HasTools(kind, tools)) kinds.push_back(&kind);
  }
  return kinds;
}

class StudyTasks final : public TaskSource {
 public:
  StudyTasks(std::shared_ptr<const Library> library, const TaskOptions& options,
             StudyToolNames tools)
      : library_(std::move(library)),
        options_(options),
        tools_(std::move(tools)),
        kinds_(KindsOf(options, tools_)) {}

  std::optional<uint64_t> count(Split split) const override {
    const bool any = std::any_of(kinds_.begin(), kinds_.end(), [&](const Kind* kind) {
      return IsIn(*kind, split) && WeightOf(kind->family) > 0;
    });
    return any ? std::nullopt : std::optional<uint64_t>(0);
  }

  Task Make(Split split, uint64_t index) const override {
    const Rng rng = Rng(options_.seed).Split("study").Split(SplitName(split)).Split(index);
    const Kind& kind = DrawKind(split, rng.Split("kind"));
    const Draft draft = Write(kind, split, rng);
    Task task;
    task.id = fmt::format("study-{}-{}", SplitName(split), index);
    task.messages = Json::Array{Json::Of({{"role", "user"}, {"content", draft.prompt}})};
    task.metadata = Json::Of({{"environment", "study"},
                              {"family", FamilyName(kind.family)},
                              {"kind", kind.name},
                              {"phrase", fmt::format("{}/{}", kind.name, draft.phrase)},
                              {"keys", Json::ArrayOf(draft.keys)}});
    SetWay(draft, &task);
    return task;
  }

 private:
  double WeightOf(Family family) const { return options_.families[static_cast<size_t>(family)]; }

  // First the family by its weight, then one of its kinds.
  const Kind& DrawKind(Split split, Rng rng) const {
    std::array<int, kFamilies> sizes{};
    for (const Kind* kind : kinds_) {
      if (IsIn(*kind, split)) ++sizes[static_cast<size_t>(kind->family)];
    }
    std::vector<const Kind*> kinds;
    std::vector<double> weights;
    double sum = 0;
    for (const Kind* kind : kinds_) {
      if (!IsIn(*kind, split)) continue;
      sum += WeightOf(kind->family) / sizes[static_cast<size_t>(kind->family)];
      kinds.push_back(kind);
      weights.push_back(sum);
    }
    CHECK(sum > 0, "a split of the study without tasks");
    const double drawn = rng.NextDouble() * sum;
    const size_t at = std::upper_bound(weights.begin(), weights.end(), drawn) - weights.begin();
    return *kinds[std::min(at, kinds.size() - 1)];
  }

  Draft Write(const Kind& kind, Split split, const Rng& rng) const {
    for (uint64_t n = 0; n < kMaxDrafts; ++n) {
      Draft draft(library_.get(), rng.Split(n), split);
      if (kind.write(kind, &draft)) return draft;
    }
    CHECK(false, "a kind of the study that has no task in a split");
    return Draft(library_.get(), rng, split);
  }

  // The way to the answer: the plan, the gold calls and what a teacher says on the way.
  void SetWay(const Draft& draft, Task* task) const {
    Plan plan;
    ResolvedPlan gold;
    std::vector<std::string> thoughts, values;
    Json::Array needs;
    for (const Step& step : draft.steps) {
      const bool search = step.tool == Step::Tool::kSearch;
      const std::string name = search ? "search" : tools_.python_name;
      const Json arguments = Json::Of({{search ? "query" : "code", step.argument}});
      Json accepted;
      if (!step.accepted.empty()) {
        accepted = Json::Of({{search ? "query" : "code", Json::ArrayOf(step.accepted)}});
      }
      plan.calls.push_back({name, arguments, {}, accepted});
      gold.calls.push_back({{name, arguments, {}}, {}, step.after, accepted});
      thoughts.push_back(step.thought);
      values.push_back(step.value);
      needs.push_back(NeedToJson(!search ? Need{Need::Kind::kValue, step.value}
                                 : step.documents > 0
                                     ? Need{Need::Kind::kDocument, step.title, step.documents}
                                     : Need{Need::Kind::kNothing, step.title}));
    }
    thoughts.push_back(draft.conclusion);
    plan.answers.push_back({draft.answer, {}});
    gold.answer = PlainText(draft.answer);
    SetGold(gold, task);
    // A number, so that rewards which go by the kind of answer know it.
    task->answer = draft.answer;
    task->metadata.Set("plan", PlanToJson(plan));
    task->metadata.Set("thoughts", Json::ArrayOf(thoughts));
    task->metadata.Set("values", Json::ArrayOf(values));
    task->metadata.Set("needs", Json(std::move(needs)));
    if (!draft.steps.empty() && draft.steps.back().relation) {
      task->metadata.Set("relation", NoteOf(*draft.steps.back().relation).key);
    }
  }

  const std::shared_ptr<const Library> library_;
  const TaskOptions options_;
  const StudyToolNames tools_;
  const std::vector<const Kind*> kinds_;
};

}  // namespace

Result<void> CheckTaskOptions(const TaskOptions& options) {
  if (options.families.size() != kFamilies) {
    return Error(ErrorCode::kInvalidArgument,
                 "families: wants eight weights: of known, single, two, three, compute, "
                 "facts-compute, missing and disputed");
  }
  std::vector<std::string> names;
  for (const Kind& kind : Kinds()) names.emplace_back(kind.name);
  for (const std::string& kind : options.kinds) {
    if (FindKind(kind) == nullptr) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("kinds: no kind \"{}\"{}", kind, DidYouMean(kind, names)));
    }
  }
  const std::vector<const Kind*> kinds = KindsOf(options, {});
  if (kinds.empty()) return Error(ErrorCode::kInvalidArgument, "kinds: nothing is left of them");
  if (std::none_of(kinds.begin(), kinds.end(), [&](const Kind* kind) {
        return options.families[static_cast<size_t>(kind->family)] > 0;
      })) {
    return Error(ErrorCode::kInvalidArgument,
                 "families: one weight of a family that has kinds must be above 0");
  }
  return {};
}

void ReadTaskOptions(RecipeTable* table, TaskOptions* options) {
  auto seed = static_cast<int64_t>(options->seed);
  table->Read("seed", &seed, "of the tasks", AtLeast(0));
  table->Read("families", &options->families,
              "how often known, single, two, three, compute, facts-compute, missing and disputed "
              "occur",
              AtLeast(0));
  table->Read("kinds", &options->kinds, "only these kinds; empty: all");
  table->Read("max_calls", &options->max_calls, "no task that needs more calls", AtLeast(0));
  options->seed = static_cast<uint64_t>(seed);
  if (const Result<void> checked = CheckTaskOptions(*options); !checked.ok()) {
    const std::string& message = checked.error().message();
    table->Problem(message.substr(0, message.find(':')), message.substr(message.find(':') + 2));
  }
}

LibraryOptions ReadLibraryOptions(RecipeTable table) {
  LibraryOptions options;
  auto seed = static_cast<int64_t>(options.seed);
  table.Read("seed", &seed, "of names and facts", AtLeast(0));
  table.Read("documents", &options.documents, "how many there are",
             Between(kFewestDocuments, kMostDocuments));
  options.seed = static_cast<uint64_t>(seed);
  return options;
}

std::unique_ptr<TaskSource> NewStudyTasks(std::shared_ptr<const Library> library,
                                          const TaskOptions& options, const StudyToolNames& tools) {
  CHECK(CheckTaskOptions(options).ok(), "options that were not checked");
  return std::make_unique<StudyTasks>(std::move(library), options, tools);
}

}  // namespace hone::study
