#include "rewards/command_rewarder.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/json_fields.h"
#include "base/utf8.h"
#include "record/record_json.h"
#include "record/validate.h"
#include "tools/command/line_program.h"
#include "tools/command/program_environment.h"

namespace hone {
namespace {

class CommandRewarder final : public Rewarder {
 public:
  explicit CommandRewarder(CommandRewarderOptions options)
      : options_(std::move(options)), programs_(static_cast<size_t>(options_.processes)) {}

  Result<void> Start() {
    for (std::unique_ptr<LineProgram>& program : programs_) {
      HONE_ASSIGN_OR_RETURN(program, LineProgram::Start(options_.command, kRewardRole));
    }
    return {};
  }

  Result<std::vector<Score>> ScoreTree(const Tree& tree, const RewardContext& context) override {
    const Tree* const trees[] = {&tree};
    HONE_ASSIGN_OR_RETURN(std::vector<std::vector<Score>> scores, ScoreTrees(trees, context));
    return std::move(scores.front());
  }

  // Whoever is free takes the next tree. Which program scores a tree depends on the time; which
  // number it has, and where its scores go, does not.
  Result<std::vector<std::vector<Score>>> ScoreTrees(std::span<const Tree* const> trees,
                                                     const RewardContext& context) override {
    const int64_t first = requests_ + 1;
    requests_ += static_cast<int64_t>(trees.size());
    std::vector<std::optional<Result<std::vector<Score>>>> given(trees.size());
    std::atomic<size_t> next = 0;
    const auto work = [&](std::unique_ptr<LineProgram>* program) {
      for (size_t i = next++; i < trees.size(); i = next++) {
        given[i] = ScoreOne(program, *trees[i], first + static_cast<int64_t>(i), context);
      }
    };
    {
      std::vector<std::jthread> helpers;
      for (size_t p = 1; p < std::min(programs_.size(), trees.size()); ++p) {
        helpers.emplace_back(work, &programs_[p]);
      }
      work(&programs_[0]);
    }
    std::vector<std::vector<Score>> scores;
    for (std::optional<Result<std::vector<Score>>>& one : given) {
      if (!one->ok()) return one->error();
      scores.push_back(**std::move(one));
    }
    return scores;
  }

 private:
  Result<std::vector<Score>> ScoreOne(std::unique_ptr<LineProgram>* program, const Tree& tree,
                                      int64_t request, const RewardContext& context) const {
    Result<std::vector<Score>> scores = Ask(program, tree, request, context);
    if (scores.ok()) return WithoutOthersFailures(tree, *std::move(scores));
    const Error error =
        *program == nullptr ? scores.error() : (*program)->WithLastWords(scores.error());
    // Whatever it may still say is about this tree and must not be read as about the next one.
    program->reset();
    if (error.code() == ErrorCode::kStopped) return error;
    return Faulted(tree, error);
  }

  Result<std::vector<Score>> Ask(std::unique_ptr<LineProgram>* program, const Tree& tree,
                                 int64_t request, const RewardContext& context) const {
    if (*program == nullptr) {
      HONE_ASSIGN_OR_RETURN(*program, LineProgram::Start(options_.command, kRewardRole));
    }
    const Json ask = Json::Of({{"request", request},
                               {"step", context.step},
                               {"term", options_.term},
                               {"tree", RecordToJson(ScoredTree{tree, {}, {}})}});
    HONE_ASSIGN_OR_RETURN(const Json answer, (*program)->Ask(ask, options_.deadline, context.stop));
    const Json* echoed = answer.Find("request");
    if (echoed == nullptr || !(*echoed == Json(request))) {
      return Error(ErrorCode::kParse,
                   fmt::format("its answer must repeat \"request\": {}", request));
    }
    return Read(answer, tree);
  }

  Result<std::vector<Score>> Read(const Json& answer, const Tree& tree) const {
    std::vector<Score> scores;
    JsonErrors errors;
    {
      JsonFields fields(answer, "its answer", &errors);
      fields.Take("request");
      const Json *rewards = fields.Take("rewards"), *given = fields.Take("scores");
      if ((rewards == nullptr) == (given == nullptr)) {
        return Error(ErrorCode::kParse, "its answer must have \"rewards\" or \"scores\"");
      }
      if (given != nullptr) {
        ReadJson(*given, "scores", &errors, &scores);
      } else {
        std::vector<std::optional<double>> values;
        ReadJson(*rewards, "rewards", &errors, &values);
        if (errors.ok() && values.size() != tree.leaves.size()) {
          errors.Add("rewards", fmt::format("has {} numbers for {} leaves", values.size(),
                                            tree.leaves.size()));
        }
        for (size_t i = 0; i < values.size(); ++i) {
          scores.push_back({static_cast<int32_t>(i), {{options_.term, values[i], 1, kNoNode, {}}}});
        }
      }
    }
    HONE_RETURN_IF_ERROR(errors.Check());
    const std::vector<std::string> problems = Validate(ScoredTree{tree, scores, {}});
    if (!problems.empty()) return Error(ErrorCode::kParse, problems.front());
    // One score per leaf, in their order; what it left out is not scored.
    std::vector<Score> all = Empty(tree);
    for (Score& score : scores) all[score.leaf] = std::move(score);
    return all;
  }

  static std::vector<Score> Empty(const Tree& tree) {
    std::vector<Score> scores;
    for (size_t i = 0; i < tree.leaves.size(); ++i) {
      scores.push_back({static_cast<int32_t>(i), {}});
    }
    return scores;
  }

  static std::vector<Score> WithoutOthersFailures(const Tree& tree, std::vector<Score> scores) {
    for (Score& score : scores) {
      if (TrajectoryOf(tree, score.leaf).failed_by_others()) score.terms.clear();
    }
    return scores;
  }

  std::vector<Score> Faulted(const Tree& tree, const Error& error) const {
    std::vector<Score> scores = Empty(tree);
    // What it said may be anything; what is put on the record is readable.
    const TermFault fault{Blame::kJudge,
                          Utf8Lossy(fmt::format("{}: {}", Named(), error.message()))};
    for (Score& score : scores) {
      score.terms.push_back({options_.term, std::nullopt, 1, kNoNode, std::nullopt, fault});
    }
    return WithoutOthersFailures(tree, std::move(scores));
  }

  // The command as people know it, not too long.
  std::string Named() const {
    constexpr size_t kLongest = 80;
    std::string name;
    for (const std::string& word : options_.command) name += (name.empty() ? "" : " ") + word;
    name = Utf8Lossy(name);
    if (name.size() <= kLongest) return name;
    name.resize(kLongest - Utf8IncompleteSuffix(std::string_view(name).substr(0, kLongest)));
    return name + " ...";
  }

  const CommandRewarderOptions options_;
  std::vector<std::unique_ptr<LineProgram>> programs_;  // null: gone, and started when needed
  int64_t requests_ = 0;
};

}  // namespace

Result<std::unique_ptr<Rewarder>> NewCommandRewarder(CommandRewarderOptions options) {
  if (options.command.empty() || options.term.empty()) {
    return Error(ErrorCode::kInvalidArgument, "a command rewarder needs a program and a term");
  }
  if (options.processes < 1) {
    return Error(ErrorCode::kInvalidArgument, "a command rewarder needs a process");
  }
  auto rewarder = std::make_unique<CommandRewarder>(std::move(options));
  HONE_RETURN_IF_ERROR(rewarder->Start());
  return std::unique_ptr<Rewarder>(std::move(rewarder));
}

}  // namespace hone
