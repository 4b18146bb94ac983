#include "envs/mixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/check.h"

namespace hone {
namespace {

constexpr uint64_t kPeriod = 1000;  // tasks in which every environment has its share

std::string PrefixOf(const std::string& name) { return name + "/"; }

// The task as its environment knows it.
Task OwnTask(const Task& task, const std::string& name) {
  Task own = task;
  if (own.id.starts_with(PrefixOf(name))) own.id.erase(0, name.size() + 1);
  return own;
}

// Null: the task does not say, or says another one.
const EnvironmentMember* MemberOf(std::span<const EnvironmentMember> members, const Task& task) {
  const Json* name = task.metadata.Find(kEnvironmentKey);
  if (name == nullptr || !name->is_string()) return nullptr;
  for (const EnvironmentMember& member : members) {
    if (member.name == name->AsString()) return &member;
  }
  return nullptr;
}

std::string NamesOf(std::span<const EnvironmentMember> members) {
  std::string names;
  for (const EnvironmentMember& member : members) {
    names += (names.empty() ? "" : ", ") + member.name;
  }
  return names;
}

Result<const EnvironmentMember*> WhoseIs(std::span<const EnvironmentMember> members,
                                         const Task& task) {
  const EnvironmentMember* member = MemberOf(members, task);
  if (member != nullptr) return member;
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("task \"{}\" is of none of the environments {}: its "
                           "metadata.environment must name one",
                           task.id, NamesOf(members)));
}

// How many of the period's tasks each has: its share, rounded, at least one where it has any.
std::vector<uint64_t> SharesOf(const std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  CHECK(sum > 0, "a mixture of nothing");
  std::vector<uint64_t> shares;
  uint64_t given = 0;
  for (const double weight : weights) {
    const double exact = weight / sum * static_cast<double>(kPeriod);
    shares.push_back(weight > 0 ? std::max<uint64_t>(1, static_cast<uint64_t>(exact)) : 0);
    given += shares.back();
  }
  // What rounding left over goes to, or comes from, the largest.
  auto largest = std::max_element(shares.begin(), shares.end());
  *largest = *largest + kPeriod - given;
  return shares;
}

class MixedTasks final : public TaskSource {
 public:
  MixedTasks(std::span<const EnvironmentMember> members, const EnvironmentMix& mix, uint64_t first)
      : members_(members.begin(), members.end()), first_(first) {
    std::vector<double> weights;
    for (const EnvironmentMember& member : members_) {
      const auto said = mix.find(member.name);
      double weight = said == mix.end() ? 0 : said->second;
      if (mix.empty()) weight = member.weight;
      // Who has no training task is measured and not practised.
      if (member.loaded->tasks->count(Split::kTrain) == 0) weight = 0;
      weights.push_back(weight);
    }
    any_ = std::any_of(weights.begin(), weights.end(), [](double w) { return w > 0; });
    if (!any_) return;
    shares_ = SharesOf(weights);
    // Each place goes to whoever is furthest behind its share.
    std::vector<uint64_t> had(members_.size(), 0);
    for (uint64_t place = 1; place <= kPeriod; ++place) {
      size_t next = 0;
      double most = -1;
      for (size_t m = 0; m < members_.size(); ++m) {
        if (shares_[m] == 0) continue;
        const double wanted = static_cast<double>(shares_[m] * place) / kPeriod;
        const double behind = wanted - static_cast<double>(had[m]);
        if (behind > most) std::tie(most, next) = std::pair(behind, m);
      }
      places_.push_back({next, had[next]++});
    }
  }

  std::optional<uint64_t> count(Split split) const override {
    if (split == Split::kTrain) return any_ ? std::nullopt : std::optional<uint64_t>(0);
    uint64_t sum = 0;
    for (const EnvironmentMember& member : members_) {
      const std::optional<uint64_t> one = member.loaded->tasks->count(split);
      if (!one) return std::nullopt;
      sum += *one;
    }
    return sum;
  }

  Task Make(Split split, uint64_t index) const override {
    const auto [which, number] = split == Split::kTrain ? TrainingTask(index) : Other(split, index);
    const EnvironmentMember& member = members_[which];
    Task task = member.loaded->tasks->Make(split, number);
    task.id = PrefixOf(member.name) + task.id;
    if (!task.metadata.is_object()) task.metadata = Json(Json::Object());
    task.metadata.Set(kEnvironmentKey, member.name);
    return task;
  }

  uint64_t NumberAt(uint64_t place) const override {
    const Place& at = places_[place % kPeriod];
    const uint64_t ordinal = place / kPeriod * shares_[at.member] + at.earlier;
    const bool endless = !members_[at.member].loaded->tasks->count(Split::kTrain);
    return ((endless ? first_ : 0) + ordinal) * members_.size() + at.member;
  }

  std::vector<uint64_t> Measured(Split split, uint64_t tasks) const override {
    std::vector<uint64_t> numbers;
    for (uint64_t k = 0; k < tasks; ++k) {
      for (size_t m = 0; m < members_.size(); ++m) {
        if (k < CountOf(m, split)) numbers.push_back(NumberOf(split, m, k));
      }
    }
    return numbers;
  }

 private:
  struct Place {
    size_t member = 0;
    uint64_t earlier = 0;  // of it in the same period
  };

  uint64_t CountOf(size_t member, Split split) const {
    constexpr uint64_t kEndless = uint64_t{1} << 62;
    return members_[member].loaded->tasks->count(split).value_or(kEndless);
  }

  // Training tasks are numbered by environment, whatever the mix: what a curriculum has put aside
  // in one stage is the same task in the next.
  std::pair<size_t, uint64_t> TrainingTask(uint64_t index) const {
    const size_t which = index % members_.size();
    const uint64_t ordinal = index / members_.size();
    const std::optional<uint64_t> count = members_[which].loaded->tasks->count(Split::kTrain);
    if (!count) return {which, ordinal};
    CHECK(*count > 0, "a training task of an environment without any");
    return {which, InRound(which, *count, ordinal)};
  }

  // The n-th task of endless rounds over a list: multiples of a step that has no divisor in common
  // with its length meet every place once.
  uint64_t InRound(size_t which, uint64_t count, uint64_t ordinal) const {
    Rng rng = Rng(0).Split("mixture").Split(members_[which].name).Split(ordinal / count);
    uint64_t step = 1 + rng.Below(count);
    while (std::gcd(step, count) != 1) ++step;
    const uint64_t begin = rng.Below(count);
    return (begin + ordinal % count * (step % count)) % count;
  }

  // One of each in turn; who has no more drops out.
  uint64_t NumberOf(Split split, size_t member, uint64_t k) const {
    uint64_t before = 0;
    for (size_t m = 0; m < members_.size(); ++m) {
      before += std::min(CountOf(m, split), m < member ? k + 1 : k);
    }
    return before;
  }

  std::pair<size_t, uint64_t> Other(Split split, uint64_t index) const {
    uint64_t done = 0;  // tasks of each that is still there
    uint64_t left = index;
    for (;;) {
      std::vector<size_t> there;
      uint64_t shortest = ~uint64_t{0};
      for (size_t m = 0; m < members_.size(); ++m) {
        if (CountOf(m, split) <= done) continue;
        there.push_back(m);
        shortest = std::min(shortest, CountOf(m, split));
      }
      CHECK(!there.empty(), "a task behind the last one");
      const uint64_t rounds = shortest - done;
      if (left / there.size() < rounds)
        return {there[left % there.size()], done + left / there.size()};
      left -= rounds * there.size();
      done = shortest;
    }
  }

  const std::vector<EnvironmentMember> members_;
  const uint64_t first_;
  bool any_ = false;  // there is something to practise
  std::vector<uint64_t> shares_;
  std::vector<Place> places_;  // of a period
};

class MixedEnvironment final : public Environment {
 public:
  explicit MixedEnvironment(std::span<const EnvironmentMember> members)
      : members_(members.begin(), members.end()) {
    std::vector<std::shared_ptr<const Toolbox>> boxes;
    std::map<std::string, int> hidden;
    for (const EnvironmentMember& member : members_) {
      const Environment& one = *member.loaded->environment;
      const EnvironmentTraits& traits = one.traits();
      boxes.push_back(one.tools());
      traits_.name += (traits_.name.empty() ? "" : " + ") + member.name;
      traits_.kind = std::max(traits_.kind, traits.kind);
      traits_.episodes_apart = traits_.episodes_apart && traits.episodes_apart;
      for (const std::string& tool : traits.hidden_tools) {
        if (hidden[tool]++ == 0) traits_.hidden_tools.push_back(tool);
      }
    }
    traits_.about = fmt::format("{} environments", members_.size());
    tools_ = std::make_shared<const Toolbox>(Toolbox::Joined(boxes));
  }

  const EnvironmentTraits& traits() const override { return traits_; }
  const std::shared_ptr<const Toolbox>& tools() const override { return tools_; }

  Result<std::unique_ptr<Episode>> Open(const Task& task, uint64_t seed) const override {
    HONE_ASSIGN_OR_RETURN(const EnvironmentMember* member, WhoseIs(members_, task));
    return member->loaded->environment->Open(OwnTask(task, member->name), seed);
  }

  const Environment& For(const Task& task) const override {
    const EnvironmentMember* member = MemberOf(members_, task);
    return member == nullptr ? static_cast<const Environment&>(*this)
                             : *member->loaded->environment;
  }

 private:
  const std::vector<EnvironmentMember> members_;
  EnvironmentTraits traits_{
      .name = "", .kind = EnvironmentKind::kSingleTurn, .episodes_apart = true};
  std::shared_ptr<const Toolbox> tools_;
};

Result<std::unique_ptr<Agent>> ShownBy(const EnvironmentMember& member, const TeacherMaker& teacher,
                                       const Task& task, double error, const Rng& rng) {
  const Task own = OwnTask(task, member.name);
  if (teacher) return teacher(own, error, rng);
  return member.loaded->gold_agent(own);
}

}  // namespace

std::unique_ptr<TaskSource> NewMixedTasks(std::span<const EnvironmentMember> members,
                                          const EnvironmentMix& mix, uint64_t first) {
  return std::make_unique<MixedTasks>(members, mix, first);
}

LoadedEnvironment Mixed(std::vector<EnvironmentMember> members) {
  LoadedEnvironment all;
  all.environment = std::make_shared<MixedEnvironment>(members);
  all.tasks = NewMixedTasks(members, {}, 0);
  all.gold_agent = [members](const Task& task) -> Result<std::unique_ptr<Agent>> {
    HONE_ASSIGN_OR_RETURN(const EnvironmentMember* member, WhoseIs(members, task));
    return member->loaded->gold_agent(OwnTask(task, member->name));
  };
  const bool taught = std::any_of(members.begin(), members.end(), [](const EnvironmentMember& m) {
    return m.loaded->teacher != nullptr;
  });
  if (taught) {
    all.teacher = [members](const Task& task, double error,
                            Rng rng) -> Result<std::unique_ptr<Agent>> {
      HONE_ASSIGN_OR_RETURN(const EnvironmentMember* member, WhoseIs(members, task));
      return ShownBy(*member, member->loaded->teacher, task, error, rng);
    };
  }
  all.members = std::move(members);
  return all;
}

LoadedEnvironment Remixed(const LoadedEnvironment& mixture, const EnvironmentMix& mix,
                          uint64_t first) {
  LoadedEnvironment other = mixture;
  other.tasks = NewMixedTasks(mixture.members, mix, first);
  return other;
}

}  // namespace hone
