#include "train/processes/crew.h"

#include <exception>

#include <fmt/format.h>

#include "learn/together/update_message.h"
#include "train/processes/journals.h"
#include "train/processes/orders.h"
#include "train/stages/posed_json.h"

namespace hone {

Result<void> CanBeShared(const TrainingRecipe& recipe) {
  const auto refuse = [](std::string_view what) {
    return Error(
        ErrorCode::kUnsupported,
        fmt::format("{} is of one process so far; leave it out, or start one process", what));
  };
  if (recipe.rollout.ahead > 0) return refuse("rollout.ahead");
  if (recipe.policy.on) return refuse("policy.kind = \"endpoint\"");
  if (!recipe.answers.conditions.empty()) return refuse("[[conditions]] of tools");
  for (const auto& stage : recipe.stages) {
    if (stage->kind() == "preference") return refuse("a [[stage]] of preferences");
  }
  if (const auto& simulator = recipe.answers.simulator) {
    const LanguageModelOptions& limits = simulator->model.language_model;
    if (limits.max_money > 0) return refuse("simulator.max_money");
    if (limits.max_tokens > 0) return refuse("simulator.max_total_tokens");
    if (!simulator->model.completions.empty()) return refuse("simulator.completions");
  }
  return {};
}

Result<std::unique_ptr<Crew>> Crew::Begin(Cluster* cluster, const TrainingRecipe& recipe) {
  HONE_RETURN_IF_ERROR(MeetEachOther(recipe, cluster));
  std::unique_ptr<Crew> crew(new Crew(cluster));
  HONE_RETURN_IF_ERROR(CanBeShared(recipe));
  HONE_RETURN_IF_ERROR(crew->ShareJournals(recipe));
  return crew;
}

Result<void> Crew::ShareJournals(const TrainingRecipe& recipe) {
  cluster_->Broadcast(WriteOrder(Order::kShareJournals));
  return hone::ShareJournals(recipe, cluster_);
}

Result<void> Crew::SetUp(const StageContext& context) {
  cluster_->Broadcast(WriteOrder(Order::kSetUp, context.language.tokenizer->ToJson()));
  return Acknowledged();
}

Crew::~Crew() {
  if (std::uncaught_exceptions() > 0) return;
  try {
    cluster_->Broadcast(WriteOrder(Order::kEnd));
  } catch (const ClusterError&) {
    // Then they have come to their end.
  }
}

Result<void> Crew::Acknowledged() {
  const auto replies = cluster_->GatherResult(std::string());
  return replies.ok() ? Result<void>() : Result<void>(replies.error());
}

Result<void> Crew::SameWeights(const Engine& engine) {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> all,
                        cluster_->GatherResult(WeightsAndDevice(engine)));
  for (size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    constexpr size_t kHash = 64;
    const std::string other = cluster_->NameOf(static_cast<int>(rank));
    if (all[rank].substr(kHash) != all[0].substr(kHash)) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{} computes on {} and {} on {}, whose bits are others; choose the "
                      "same for all (--device)",
                      other, all[rank].substr(kHash), cluster_->NameOf(0), all[0].substr(kHash)));
    }
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} begins with other weights than {}; are the files of model.folder "
                             "the same there?",
                             other, cluster_->NameOf(0)));
  }
  return {};
}

Result<void> Crew::EngineWasMade(const Engine& engine) {
  cluster_->Broadcast(WriteOrder(Order::kEngineMade));
  return SameWeights(engine);
}

Result<void> Crew::EngineWasLoaded(const std::filesystem::path& folder, const Engine& engine) {
  HONE_ASSIGN_OR_RETURN(const FolderFiles files, ReadFolder(folder));
  cluster_->Broadcast(WriteOrder(Order::kEngineLoaded, files));
  return SameWeights(engine);
}

Result<void> Crew::EngineIsFresh(bool critic, const Engine& engine) {
  cluster_->Broadcast(WriteOrder(Order::kEngineFresh, critic));
  return SameWeights(engine);
}

void Crew::AskForMoments() { cluster_->Broadcast(WriteOrder(Order::kMoments)); }

Result<void> Crew::Provide(StageProduct product, const std::filesystem::path& made) {
  if (product == StageProduct::kPolicy) return {};
  HONE_ASSIGN_OR_RETURN(const FolderFiles files, ReadFolder(made));
  cluster_->Broadcast(WriteOrder(Order::kProvide, product, files));
  return Acknowledged();
}

Result<void> Crew::OpenStage(int64_t number) {
  cluster_->Broadcast(WriteOrder(Order::kOpenStage, number));
  return Acknowledged();
}

void Crew::TakeStep(int64_t step) { cluster_->Broadcast(WriteOrder(Order::kStep, step)); }

Result<Played> Crew::Play(const PlayOrder& order, const StageContext& context,
                          const DrawingTools* tools, std::span<const GroupRequest> requests,
                          const std::function<void(int64_t ended, int64_t wanted)>& progress) {
  cluster_->Broadcast(WriteOrder(Order::kPlay, order, DumpJson(RequestsToJson(requests))));
  const std::vector<GroupRequest> mine = ShareOf(requests, 0, cluster_->size());
  Result<Played> own = PlayShare(order, context, tools, mine, progress);
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> replies,
                        cluster_->GatherResult(own.ok() ? Result<std::string>(std::string())
                                                        : Result<std::string>(own.error())));
  std::vector<Played> shares;
  shares.push_back(*std::move(own));
  for (size_t rank = 1; rank < replies.size(); ++rank) {
    Result<Played> played = ReadPlayed(replies[rank]);
    if (!played.ok()) return played.error().In(cluster_->NameOf(static_cast<int>(rank)));
    shares.push_back(*std::move(played));
  }
  if (order.practice) {
    for (size_t rank = 0; rank < shares.size(); ++rank) {
      seconds_[fmt::format("process/{}/rollout", rank)] += shares[rank].seconds;
    }
  }
  return Together(std::move(shares));
}

Result<Crew::Gold> Crew::AskForGold(const StageContext& context, const DrawingTools& tools,
                                    std::span<const GoldQuestion> questions,
                                    const std::string& run) {
  cluster_->Broadcast(WriteOrder(Order::kAskForGold, run, WriteQuestions(questions)));
  const auto own = AnswerShare(context, tools, ShareOf(questions, 0, cluster_->size()), run);
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> replies,
                        cluster_->GatherResult(own.ok() ? Result<std::string>(std::string())
                                                        : Result<std::string>(own.error())));
  std::vector<GoldShare> shares = {*own};
  for (size_t rank = 1; rank < replies.size(); ++rank) {
    Result<GoldShare> answered = ReadGoldShare(replies[rank]);
    if (!answered.ok()) return answered.error().In(cluster_->NameOf(static_cast<int>(rank)));
    shares.push_back(*std::move(answered));
  }
  Gold gold;
  for (size_t i = 0; i < questions.size(); ++i) {
    gold.tasks.push_back(std::move(shares[i % shares.size()].tasks[i / shares.size()]));
  }
  for (size_t rank = 1; rank < shares.size(); ++rank) {
    for (const auto& [source, calls] : shares[rank].calls) gold.calls_of_others[source] += calls;
  }
  return gold;
}

void Crew::Update(int64_t stage, int64_t step, const UpdateOptions& options,
                  std::span<const TrainingGroup> groups) {
  cluster_->Broadcast(WriteOrder(Order::kUpdate, stage, step, WriteUpdate(options, groups)));
}

std::map<std::string, double> Crew::TakeSeconds() { return std::exchange(seconds_, {}); }

}  // namespace hone
