#include "rewards/command_rewarder.h"

#include <fmt/format.h>

#include "base/json_fields.h"
#include "base/strings.h"
#include "base/subprocess.h"
#include "base/utf8.h"
#include "record/record_json.h"
#include "record/validate.h"
#include "tools/command/program_environment.h"

namespace hone {
namespace {

class CommandRewarder final : public Rewarder {
 public:
  explicit CommandRewarder(CommandRewarderOptions options) : options_(std::move(options)) {}

  Result<void> Start() {
    constexpr size_t kLastWords = 8192;
    HONE_ASSIGN_OR_RETURN(
        program_,
        Subprocess::Start(options_.command, {.environment = ProgramEnvironment(kRewardRole),
                                             .keep_error_bytes = kLastWords}));
    return {};
  }

  Result<std::vector<Score>> ScoreTree(const Tree& tree, const RewardContext& context) override {
    Result<std::vector<Score>> scores = Ask(tree, context);
    if (scores.ok()) return WithoutOthersFailures(tree, *std::move(scores));
    const std::string words = LastWords();
    // Whatever it may still say is about this tree and must not be read as about the next one.
    program_.reset();
    if (scores.error().code() == ErrorCode::kStopped) return scores.error();
    return Faulted(tree, Error(scores.error().code(), scores.error().message() + words));
  }

 private:
  Result<std::vector<Score>> Ask(const Tree& tree, const RewardContext& context) {
    if (program_ == nullptr) HONE_RETURN_IF_ERROR(Start());
    const int64_t request = ++requests_;
    const Json ask = Json::Of({{"request", request},
                               {"step", context.step},
                               {"term", options_.term},
                               {"tree", RecordToJson(ScoredTree{tree, {}, {}})}});
    HONE_RETURN_IF_ERROR(program_->Write(DumpJson(ask) + "\n", options_.deadline, context.stop));
    Result<std::string> line = program_->ReadLine(options_.deadline, context.stop);
    if (!line.ok()) return WhyNoLine(line.error());
    HONE_ASSIGN_OR_RETURN(const Json answer, ParseJson(*line));
    const Json* echoed = answer.Find("request");
    if (echoed == nullptr || !(*echoed == Json(request))) {
      return Error(ErrorCode::kParse,
                   fmt::format("its answer must repeat \"request\": {}", request));
    }
    return Read(answer, tree);
  }

  // The last line that it wrote to its standard error: of a Python program, what was raised.
  std::string LastWords() {
    if (program_ == nullptr) return "";
    const std::string errors = program_->LastErrors();
    std::string_view rest = Trim(errors);
    if (rest.empty()) return "";
    const size_t line = rest.rfind('\n');
    return fmt::format("; it last wrote: {}",
                       line == std::string_view::npos ? rest : Trim(rest.substr(line + 1)));
  }

  Error WhyNoLine(const Error& error) {
    if (error.code() != ErrorCode::kUnavailable) return error;
    const Result<int> status = program_->Wait(std::chrono::milliseconds(1000));
    if (!status.ok()) return Error(ErrorCode::kUnavailable, "it closed its output");
    return Error(ErrorCode::kUnavailable,
                 fmt::format("it ended with status {} without an answer", *status));
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

  CommandRewarderOptions options_;
  std::unique_ptr<Subprocess> program_;
  int64_t requests_ = 0;
};

}  // namespace

Result<std::unique_ptr<Rewarder>> NewCommandRewarder(CommandRewarderOptions options) {
  if (options.command.empty() || options.term.empty()) {
    return Error(ErrorCode::kInvalidArgument, "a command rewarder needs a program and a term");
  }
  auto rewarder = std::make_unique<CommandRewarder>(std::move(options));
  HONE_RETURN_IF_ERROR(rewarder->Start());
  return std::unique_ptr<Rewarder>(std::move(rewarder));
}

}  // namespace hone
