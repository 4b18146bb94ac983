#include "app/distillation.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "app/endpoint_setup.h"
#include "app/interrupts.h"
#include "app/progress_bar.h"
#include "base/file.h"
#include "data/conversation_file.h"
#include "data/played_conversation.h"
#include "data/preference_file.h"
#include "evaluate/played_tree.h"
#include "record/final_state.h"
#include "rewards/compose.h"
#include "rewards/confined_runner.h"
#include "rollout/chains.h"

namespace hone {
namespace {

constexpr int64_t kUsualTasks = 1000;  // where there is no end of them
constexpr int64_t kTasksAtOnce = 32;   // of a model of this machine: what a kill can cost

// What rewards say of a tree's leaves.
class TeacherScores {
 public:
  static Result<TeacherScores> Open(const Json& rewards) {
    TeacherScores scores;
    scores.runner_ = NewConfinedRunner();
    HONE_ASSIGN_OR_RETURN(scores.rewarder_,
                          RewarderFromJson(rewards, {.runner = scores.runner_.get()}));
    return scores;
  }

  Result<std::vector<std::optional<double>>> Of(const Tree& tree) {
    HONE_ASSIGN_OR_RETURN(const std::vector<Score> scores, rewarder_->ScoreTree(tree, {}));
    std::vector<std::optional<double>> totals(tree.leaves.size());
    for (const Score& score : scores) totals[static_cast<size_t>(score.leaf)] = Total(score);
    return totals;
  }

 private:
  std::unique_ptr<ProgramRunner> runner_;
  std::unique_ptr<Rewarder> rewarder_;
};

// A conversation that stage `sft` takes, else null: what is written can be imitated.
Json Imitable(Json conversation) {
  const ConversationFile read = ReadConversations(DumpJson(conversation) + "\n");
  return read.problems.empty() && read.rows.size() == 1 ? std::move(conversation) : Json();
}

// What both kinds of teachers share: which tasks there are, and where attempts go.
class Lesson {
 public:
  Lesson(const DistillationChoice& choice, Split split, const LoadedEnvironment* loaded)
      : choice_(choice), split_(split), loaded_(loaded), bar_(stderr) {}

  // `who` says what its attempts depend on beside the settings.
  Result<void> Begin(const Json& who, const Json& rewards) {
    const std::optional<uint64_t> there = loaded_->tasks->count(split_);
    const int64_t all = there ? static_cast<int64_t>(*there) : kUsualTasks;
    tasks_ = there ? std::min(choice_.tasks.value_or(all), all) : choice_.tasks.value_or(all);
    if (tasks_ == 0) {
      return Error(ErrorCode::kNotFound,
                   fmt::format("there are no tasks in {}", SplitName(split_)));
    }
    // Rewards may take long: they are asked where they decide.
    const bool judges = choice_.at_least || !HasVerdicts();
    if (judges) {
      HONE_ASSIGN_OR_RETURN(scores_, TeacherScores::Open(rewards));
    }
    Json settings = who;
    settings.Set("environment", loaded_->environment->traits().name);
    settings.Set("split", SplitName(split_));
    settings.Set("seed", choice_.seed);
    settings.Set("temperature", temperature());
    settings.Set("rewards", judges ? rewards : Json());
    HONE_ASSIGN_OR_RETURN(log_, AttemptLog::Open(choice_.out + ".attempts.jsonl", settings));
    done_ = log_->Summarise(tasks_, choice_.samples, {}).attempts;
    return {};
  }

  double temperature() const { return choice_.temperature.value_or(choice_.samples > 1 ? 1 : 0); }

  // Tasks of which not every sample was played.
  std::vector<int64_t> Missing() const {
    std::vector<int64_t> missing;
    for (int64_t task = 0; task < tasks_; ++task) {
      for (int64_t sample = 0; sample < choice_.samples; ++sample) {
        if (log_->Has(task, sample)) continue;
        missing.push_back(task);
        break;
      }
    }
    return missing;
  }

  GroupRequest RequestOf(int64_t task) const {
    GroupRequest request;
    request.task = loaded_->tasks->Make(split_, static_cast<uint64_t>(task));
    request.seed = Rng(choice_.seed)
                       .Split("distillation")
                       .Split(SplitName(split_))
                       .Split(static_cast<uint64_t>(task))
                       .NextU64();
    request.leaves = choice_.samples;
    request.scope = fmt::format("{}", task);
    return request;
  }

  bool Has(int64_t task, int64_t sample) const { return log_->Has(task, sample); }

  // The leaf's verdict and reward are put on the attempt, and the attempt on the record.
  Result<void> Add(PlayedAttempt attempt, const Tree& tree, size_t leaf) {
    const FinalState state(tree.leaves[leaf].final_state);
    if (state.has_verdict()) attempt.success = state.is_right().value_or(false);
    if (scores_) {
      HONE_ASSIGN_OR_RETURN(const auto totals, scores_->Of(tree));
      attempt.reward = totals[leaf];
    }
    attempt.id = tree.task.id;
    attempt.ending = EndingName(tree.leaves[leaf].ending);
    HONE_RETURN_IF_ERROR(log_->Add(std::move(attempt)));
    bar_.Show("playing", ++done_, tasks_ * choice_.samples);
    return {};
  }

  Result<Distilled> End(std::string teacher, bool stopped) {
    bar_.Erase();
    Distilled found{.teacher = std::move(teacher),
                    .environment = loaded_->environment->traits().name,
                    .wanted = tasks_ * choice_.samples,
                    .stopped = stopped};
    found.summary = log_->Summarise(tasks_, choice_.samples, {.at_least = choice_.at_least});
    std::string lines;
    for (const Json& one : found.summary.conversations) lines += DumpJson(one) + "\n";
    HONE_RETURN_IF_ERROR(WriteFileAtomic(choice_.out, lines));
    if (choice_.pairs.empty()) return found;
    std::string rows;
    for (const Json& pair :
         PreferencePairsOf(log_->Attempts(tasks_, choice_.samples), {.at_least = choice_.at_least},
                           choice_.pairs_per_task)) {
      ++found.pairs[pair.Find("because")->AsString()];
      rows += DumpJson(pair) + "\n";
    }
    HONE_RETURN_IF_ERROR(WriteFileAtomic(choice_.pairs, rows));
    return found;
  }

 private:
  // Whether the environment judges by itself, by its first task.
  bool HasVerdicts() const {
    const auto episode = loaded_->environment->Open(loaded_->tasks->Make(split_, 0), 0);
    if (!episode.ok()) return false;
    const Json state = (*episode)->final_state();
    return FinalState(state).has_verdict();
  }

  const DistillationChoice& choice_;
  const Split split_;
  const LoadedEnvironment* const loaded_;
  ProgressBar bar_;
  int64_t tasks_ = 0, done_ = 0;
  std::optional<TeacherScores> scores_;
  std::unique_ptr<AttemptLog> log_;
};

void WithoutThoughts(Json* messages) {
  for (Json& message : messages->AsArray()) {
    std::erase_if(message.AsObject(),
                  [](const auto& member) { return member.first == "reasoning_content"; });
  }
}

// Names calls by their turn and place: an endpoint's own names differ each time that it is asked.
void NameCalls(Json* messages) {
  std::map<std::string, std::string> names;
  int64_t turn = 0;
  for (Json& message : messages->AsArray()) {
    if (const Json* id = message.Find("tool_call_id"); id != nullptr && id->is_string()) {
      if (const auto known = names.find(id->AsString()); known != names.end()) {
        message.Set("tool_call_id", known->second);
      }
    }
    if (*message.Find("role") != Json("assistant")) continue;
    if (const Json* made = message.Find("tool_calls")) {
      Json::Array calls = made->AsArray();
      for (size_t c = 0; c < calls.size(); ++c) {
        const std::string name = fmt::format("call_{}_{}", turn, c);
        if (const Json* id = calls[c].Find("id"); id != nullptr && id->is_string()) {
          names[id->AsString()] = name;
        }
        calls[c].Set("id", name);
      }
      message.Set("tool_calls", std::move(calls));
    }
    ++turn;
  }
}

Result<Distilled> DistilEndpoint(const DistillationChoice& choice, Split split) {
  HONE_ASSIGN_OR_RETURN(const auto setup, OpenForEndpoint(choice.teacher, choice.endpoint));
  Lesson lesson(choice, split, &setup->opened.loaded);
  HONE_RETURN_IF_ERROR(lesson.Begin(Json::Of({{"model", setup->model->name()},
                                              {"turn_tokens", choice.endpoint.turn_tokens},
                                              {"thoughts", choice.thoughts}}),
                                    setup->measuring.rewards));
  std::vector<EndpointTask> tasks;
  std::vector<int64_t> numbers;
  for (const int64_t number : lesson.Missing()) {
    const GroupRequest request = lesson.RequestOf(number);
    for (int64_t sample = 0; sample < choice.samples; ++sample) {
      if (lesson.Has(number, sample)) continue;
      tasks.push_back({request.task, request.seed, sample, request.scope});
      numbers.push_back(number);
    }
  }
  std::stop_source stop;
  const Result<void> played =
      setup->PlayerAt(lesson.temperature(), choice.endpoint)
          .Play(
              tasks,
              [&](EndpointEpisode episode) -> Result<void> {
                if (Interrupted()) stop.request_stop();
                if (!episode.problem.empty()) return {};  // it is asked again next time
                const EndpointTask& task = tasks[episode.index];
                if (!choice.thoughts) WithoutThoughts(&episode.messages);
                NameCalls(&episode.messages);
                // What an agent of this environment is shown, not what this one had to be told.
                Json conversation = Json::Of({{"messages", std::move(episode.messages)}});
                const Json& listed = episode.played.opening.tools;
                if (!listed.AsArray().empty()) conversation.Set("tools", listed);
                return lesson.Add({.task = numbers[episode.index],
                                   .sample = task.sample,
                                   .conversation = Imitable(std::move(conversation)),
                                   .tokens = episode.tokens.completion},
                                  PlayedTree(task.task, task.seed, episode.played), 0);
              },
              stop.get_token());
  const bool stopped = !played.ok() && played.error().code() == ErrorCode::kStopped;
  Result<Distilled> ended = lesson.End(setup->model->name(), stopped);
  if (!played.ok() && !stopped) return played.error();
  return ended;
}

// One batch of tasks of a model of this machine.
Result<void> PlayBatch(const EvaluationSetup& setup, const Rollout& rollout,
                       std::span<const int64_t> batch, Lesson* lesson) {
  const StageContext& context = *setup.context;
  std::vector<GroupRequest> requests;
  for (const int64_t number : batch) requests.push_back(lesson->RequestOf(number));
  HONE_ASSIGN_OR_RETURN(const RolloutResult result, rollout.Run(requests));
  for (size_t i = 0; i < batch.size(); ++i) {
    const Tree& tree = result.trees[i];
    for (size_t leaf = 0; leaf < tree.leaves.size(); ++leaf) {
      const auto sample = static_cast<int64_t>(leaf);
      if (BrokenByOthers(tree.leaves[leaf]) || lesson->Has(batch[i], sample)) continue;
      HONE_ASSIGN_OR_RETURN(const auto episode, context.environment.environment->Open(
                                                    tree.task, EpisodeSeed(tree.seed)));
      const Opening& opening = episode->opening();
      Result<Json> conversation = PlayedConversation(
          tree, tree.leaves[leaf], {.messages = opening.messages, .tools = opening.tools},
          *context.language.dialect, *context.language.tokenizer);
      int64_t tokens = 0;
      for (const NodeId node : WholePathTo(tree, tree.leaves[leaf].node)) {
        const Node& one = tree.nodes[static_cast<size_t>(node)];
        if (one.author == Author::kPolicy) tokens += std::ssize(one.tokens);
      }
      HONE_RETURN_IF_ERROR(lesson->Add(
          {.task = batch[i],
           .sample = sample,
           .conversation = conversation.ok() ? Imitable(*std::move(conversation)) : Json(),
           .tokens = tokens},
          tree, leaf));
    }
  }
  return {};
}

Result<Distilled> DistilHere(const DistillationChoice& choice, Split split) {
  HONE_ASSIGN_OR_RETURN(const auto setup, OpenForEvaluation(choice.teacher));
  const StageContext& context = *setup->context;
  Json rewards = "default";
  if (choice.teacher.environment.ends_with(".toml")) {
    HONE_ASSIGN_OR_RETURN(const MeasuringParts measuring,
                          ReadMeasuring(choice.teacher.environment, choice.teacher.overrides));
    rewards = measuring.rewards;
  } else if (choice.teacher.environment.empty()) {
    HONE_ASSIGN_OR_RETURN(rewards, ReadTrainedRewards(setup->place.run));
  }
  Lesson lesson(choice, split, &context.environment);
  HONE_RETURN_IF_ERROR(lesson.Begin(Json::Of({{"model", context.engine->WeightsHash()}}), rewards));
  HONE_ASSIGN_OR_RETURN(const Policy policy, context.PolicyAt(lesson.temperature(), 0));
  const std::unique_ptr<Strategy> chains = NewChains();
  HONE_ASSIGN_OR_RETURN(const Rollout rollout,
                        Rollout::New({.run = "distillation"}, context.environment.environment.get(),
                                     policy, chains.get(), context.real->executor()));
  const std::vector<int64_t> missing = lesson.Missing();
  bool stopped = false;
  for (size_t at = 0; at < missing.size() && !stopped; at += kTasksAtOnce) {
    const size_t count = std::min<size_t>(kTasksAtOnce, missing.size() - at);
    HONE_RETURN_IF_ERROR(
        PlayBatch(*setup, rollout, std::span(missing).subspan(at, count), &lesson));
    stopped = Interrupted() && at + count < missing.size();
  }
  return lesson.End(setup->place.folder.string(), stopped);
}

}  // namespace

Result<Distilled> Distil(const DistillationChoice& choice) {
  HONE_ASSIGN_OR_RETURN(const Split split, SplitFromName(choice.split));
  if (choice.samples > 1 && choice.temperature == 0.0) {
    return Error(ErrorCode::kInvalidArgument,
                 "several samples at temperature 0 are the same; raise --temperature, or leave "
                 "--samples out");
  }
  if (!choice.pairs.empty() && choice.samples < 2) {
    return Error(ErrorCode::kInvalidArgument,
                 "--pairs compares trajectories of the same task; say --samples 2 or more");
  }
  WatchInterrupts();
  return IsEndpoint(choice.teacher.model) ? DistilEndpoint(choice, split)
                                          : DistilHere(choice, split);
}

}  // namespace hone
