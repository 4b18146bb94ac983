#include "envs/desk/desk_tasks.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/nearest.h"
#include "envs/desk/chain.h"
#include "envs/desk/desk_tools.h"

namespace hone::desk {
namespace {

// What is drawn fits a split in one of ten thousand cases at worst.
constexpr uint64_t kMaxDrafts = 2'000'000;

constexpr std::string_view kChatter[] = {"Hello, {n} here.", "I was in {c} on {d}.",
                                         "{n} likes {c}.", "Thanks for {d}."};

bool IsIn(const Kind& kind, Split split) {
  if (split == Split::kUnseenKinds) return kind.unseen;
  if (kind.unseen) return false;
  return split != Split::kUnseenPhrases || kind.unseen_phrases;
}

// Other expressions that say the same: operands of + and * the other way round.
std::vector<std::string> SameExpressions(std::string_view text) {
  const size_t plus = text.find('+'), times = text.find('*');
  const auto swapped = [](std::string_view part, size_t op) {
    return fmt::format("{}{}{}", part.substr(op + 1), part[op], part.substr(0, op));
  };
  if (text.find('-') != std::string_view::npos) return {};
  if (plus == std::string_view::npos) return {swapped(text, times)};
  if (times == std::string_view::npos) return {swapped(text, plus)};
  const std::string_view product = text.substr(0, plus), rest = text.substr(plus + 1);
  const std::string turned = swapped(product, times);
  return {fmt::format("{}+{}", turned, rest), fmt::format("{}+{}", rest, product),
          fmt::format("{}+{}", rest, turned)};
}

// A calculation is right by its value, however it is written. What the numbers will be need not be
// known: ${0.temp}+${1.temp} is turned round as it stands.
void AcceptSameExpressions(Plan* plan) {
  for (PlannedCall& call : plan->calls) {
    if (call.name != "calculator") continue;
    const std::vector<std::string> others =
        SameExpressions(call.arguments.Find("expression")->AsString());
    if (!others.empty()) call.accepted = Json::Of({{"expression", Json::ArrayOf(others)}});
  }
}

class DeskTasks final : public TaskSource {
 public:
  explicit DeskTasks(const TaskOptions& options)
      : options_(options), chain_name_(fmt::format("chain_{}", options.chain)) {
    if (options.chain != 0) return;
    for (const Kind& kind : Kinds()) {
      if (kind.family == Family::kHard && !options.hard) continue;
      if (!options.kinds.empty() &&
          std::find(options.kinds.begin(), options.kinds.end(), kind.name) == options.kinds.end()) {
        continue;
      }
      if (kind.calls > options.max_calls) continue;
      kinds_.push_back(&kind);
    }
  }

  std::optional<uint64_t> count(Split split) const override {
    if (options_.chain != 0) {
      const bool unseen = split == Split::kUnseenKinds || split == Split::kUnseenPhrases;
      return unseen ? std::optional<uint64_t>(0) : std::nullopt;
    }
    const bool any = std::any_of(kinds_.begin(), kinds_.end(),
                                 [&](const Kind* kind) { return IsIn(*kind, split); });
    return any ? std::nullopt : std::optional<uint64_t>(0);
  }

  Task Make(Split split, uint64_t index) const override {
    const Rng rng = Rng(options_.seed).Split("desk").Split(SplitName(split)).Split(index);
    const Kind chain{.name = chain_name_, .family = Family::kPipeline, .calls = options_.chain};
    const Kind& kind = options_.chain != 0 ? chain : DrawKind(split, rng.Split("kind"));
    Draft draft = Write(kind, split, rng);
    AcceptSameExpressions(&draft.plan);
    Task task;
    task.id = fmt::format("desk-{}-{}", SplitName(split), index);
    task.messages = Json::Array{Json::Of({{"role", "user"}, {"content", draft.prompt}})};
    task.metadata = Json::Of({{"environment", "desk"},
                              {"family", FamilyName(kind.family)},
                              {"kind", kind.name},
                              {"phrase", fmt::format("{}/{}", kind.name, draft.phrase)},
                              {"seed", draft.session_seed},
                              {"keys", Json::ArrayOf(draft.keys)},
                              {"plan", PlanToJson(draft.plan)}});
    if (!draft.typo.empty()) task.metadata.Set("typo", draft.typo);
    const World world = WorldOf(draft.session_seed);
    const Result<ResolvedPlan> gold = CarryOut(draft.plan, [&](const Call& call) {
      return hone::desk::Answer(world, call.name, call.arguments);
    });
    CHECK(gold.ok(), "a plan of the desk that its own world does not carry out");
    SetGold(*gold, &task);
    return task;
  }

 private:
  double WeightOf(Family family) const {
    return family == Family::kHard ? 1 : options_.families[static_cast<size_t>(family)];
  }

  // First the family by its weight, then one of its kinds.
  const Kind& DrawKind(Split split, Rng rng) const {
    std::vector<const Kind*> kinds;
    std::vector<double> weights;
    std::array<int, 5> sizes{};
    for (const Kind* kind : kinds_) {
      if (IsIn(*kind, split)) ++sizes[static_cast<size_t>(kind->family)];
    }
    double sum = 0;
    for (const Kind* kind : kinds_) {
      if (!IsIn(*kind, split)) continue;
      sum += WeightOf(kind->family) / sizes[static_cast<size_t>(kind->family)];
      kinds.push_back(kind);
      weights.push_back(sum);
    }
    CHECK(sum > 0, "a split of the desk without tasks");
    const double drawn = rng.NextDouble() * sum;
    const size_t at = std::upper_bound(weights.begin(), weights.end(), drawn) - weights.begin();
    return *kinds[std::min(at, kinds.size() - 1)];
  }

  Draft Write(const Kind& kind, Split split, const Rng& rng) const {
    for (uint64_t n = 0; n < kMaxDrafts; ++n) {
      Draft draft(rng.Split(n), split);
      if (options_.world != 0) draft.UseWorld(options_.world);
      if (!(options_.chain != 0 ? WriteChain(options_.chain, &draft) : kind.write(&draft)))
        continue;
      if (!AddChatter(rng.Split("chatter").Split(n), &draft)) continue;
      return draft;
    }
    CHECK(false, "a kind of the desk that has no task in a split");
    return Draft(rng, split);
  }

  bool AddChatter(Rng rng, Draft* draft) const {
    if (rng.NextDouble() >= options_.chatter) return true;
    const size_t which = rng.Below(std::size(kChatter));
    const auto n = Names()[rng.Below(Names().size())], c = Cities()[rng.Below(Cities().size())],
               d = Days()[rng.Below(Days().size())];
    if (which == 1 && !draft->Mention(WeatherKey(c, d))) return false;
    draft->Prepend(PutIn(kChatter[which], {{"n", n}, {"c", c}, {"d", d}}));
    return true;
  }

  const TaskOptions options_;
  const std::string chain_name_;
  std::vector<const Kind*> kinds_;
};

}  // namespace

Result<void> CheckTaskOptions(const TaskOptions& options) {
  if (options.families.size() != 4) {
    return Error(ErrorCode::kInvalidArgument,
                 "families: wants four weights: of when, which, how and pipelines");
  }
  double sum = 0;
  for (const double weight : options.families) sum += weight;
  if (!(sum > 0)) return Error(ErrorCode::kInvalidArgument, "families: one weight must be above 0");
  std::vector<std::string> names;
  for (const Kind& kind : Kinds()) names.emplace_back(kind.name);
  for (const std::string& kind : options.kinds) {
    if (FindKind(kind) == nullptr) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("kinds: no kind \"{}\"{}", kind, DidYouMean(kind, names)));
    }
  }
  if (options.chain < 0 || options.chain > kMaxChain) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("chain: from 1 to {} calls; 0: no chains", kMaxChain));
  }
  const DeskTasks tasks(options);
  if (tasks.count(Split::kTrain) == 0u && tasks.count(Split::kUnseenKinds) == 0u) {
    return Error(ErrorCode::kInvalidArgument, "kinds: nothing is left of them");
  }
  return {};
}

TaskOptions ReadTaskOptions(RecipeTable table) {
  TaskOptions options;
  int64_t seed = static_cast<int64_t>(options.seed), world = 0;
  table.Read("seed", &seed, "of the tasks", AtLeast(0));
  table.Read("chatter", &options.chatter, "how often a sentence stands in front of the request",
             Between(0, 1));
  table.Read("families", &options.families, "how often when, which, how and pipelines occur",
             AtLeast(0));
  table.Read("hard", &options.hard, "add the hard kinds");
  table.Read("kinds", &options.kinds, "only these kinds; empty: all");
  table.Read("max_calls", &options.max_calls, "no task that needs more calls", AtLeast(0));
  table.Read("world", &world, "one fixed world for all tasks; 0: a fresh one for each", AtLeast(0));
  table.Read("chain", &options.chain, "only chains of so many dependent calls; 0: none",
             Between(0, kMaxChain));
  options.seed = static_cast<uint64_t>(seed);
  options.world = static_cast<uint64_t>(world);
  if (const Result<void> checked = CheckTaskOptions(options); !checked.ok()) {
    const std::string& message = checked.error().message();
    table.Problem(message.substr(0, message.find(':')), message.substr(message.find(':') + 2));
  }
  return options;
}

std::unique_ptr<TaskSource> NewTaskSource(const TaskOptions& options) {
  CHECK(CheckTaskOptions(options).ok(), "options that were not checked");
  return std::make_unique<DeskTasks>(options);
}

}  // namespace hone::desk
