#include "train/processes/worker.h"

#include <fmt/format.h>

#include "base/file.h"
#include "learn/together/update_message.h"
#include "train/pass_times.h"
#include "train/processes/journals.h"
#include "train/processes/orders.h"
#include "train/processes/shared_answers.h"
#include "train/processes/shared_play.h"
#include "train/stages/posed_json.h"
#include "train/stages/rl_stage.h"

namespace hone {
namespace {

class Worker {
 public:
  Worker(const TrainingRecipe& recipe, Cluster* cluster)
      : as_given_(recipe),
        recipe_(JournalingFor(recipe, cluster->rank())),
        cluster_(cluster),
        clock_(NewRealClock()),
        times_(clock_.get()) {}

  Result<void> Run() {
    HONE_RETURN_IF_ERROR(MeetEachOther(as_given_, cluster_));
    while (Obey(cluster_->AwaitOrder())) {
    }
    return {};
  }

 private:
  // Process 0 says it to people, and ends the run.
  void Reply(const Result<void>& done) {
    static_cast<void>(cluster_->GatherResult(done.ok() ? Result<std::string>(std::string())
                                                       : Result<std::string>(done.error())));
  }
  void ReplyWithWeights(const Result<void>& done) {
    static_cast<void>(
        cluster_->GatherResult(done.ok() ? Result<std::string>(WeightsAndDevice(*context_->engine))
                                         : Result<std::string>(done.error())));
  }

  // Process 0 knows what goes wrong.
  void ShareJournalsNow() {
    imitation_.reset();
    tools_.reset();
    context_.reset();
    static_cast<void>(ShareJournals(as_given_, cluster_));
  }

  Result<void> SetUp(WireReader* reader) {
    std::string tokenizer;
    (*reader)(tokenizer);
    const std::filesystem::path own = scratch_.path() / "tokenizer";
    HONE_RETURN_IF_ERROR(WriteFolder({{"tokenizer.json", tokenizer}}, own));
    const std::filesystem::path folder =
        HasToolsInProcess(recipe_) ? scratch_.path() : JournalFolder(as_given_, cluster_->rank());
    HONE_ASSIGN_OR_RETURN(context_, StageContext::Open(recipe_, folder, own, &times_));
    context_->cluster = cluster_;
    return {};
  }

  // Whether there is more to do.
  bool Obey(const std::string& bytes) {
    WireReader reader(bytes);
    Order order = Order::kEnd;
    reader(order);
    switch (order) {
      case Order::kShareJournals: ShareJournalsNow(); break;
      case Order::kSetUp: Reply(SetUp(&reader)); break;
      case Order::kEngineMade: ReplyWithWeights(context_->MakeEngine()); break;
      case Order::kEngineLoaded: ReplyWithWeights(LoadEngine(&reader)); break;
      case Order::kEngineFresh: FreshEngine(&reader); break;
      case Order::kMoments: context_->engine->Moments(); break;
      case Order::kLearnAnswers:
        LearnAnswersToo(&reader, static_cast<int>(recipe_.run.threads), cluster_);
        break;
      case Order::kProvide: Reply(Provide(&reader)); break;
      case Order::kOpenStage: Reply(OpenStage(&reader)); break;
      case Order::kStep: TakeStep(&reader); break;
      case Order::kPlay: Play(&reader); break;
      case Order::kAskForGold: AnswerForGold(&reader); break;
      case Order::kUpdate: Update(&reader); break;
      case Order::kEnd: return false;
    }
    times_.Restart();  // nobody asks
    return true;
  }

  Result<void> LoadEngine(WireReader* reader) {
    FolderFiles files;
    (*reader)(files);
    const TemporaryDirectory folder;
    HONE_RETURN_IF_ERROR(WriteFolder(files, folder.path()));
    context_->engine.reset();  // there may be no room for two
    return context_->LoadEngine(folder.path());
  }

  void FreshEngine(WireReader* reader) {
    bool critic = false;
    (*reader)(critic);
    ReplyWithWeights(context_->FreshEngine(critic));
  }

  Result<void> Provide(WireReader* reader) {
    StageProduct product{};
    FolderFiles files;
    (*reader)(product, files);
    const std::filesystem::path folder = scratch_.path() / fmt::format("made-{}", ++provided_);
    HONE_RETURN_IF_ERROR(WriteFolder(files, folder));
    context_->Provide(product, folder);
    return {};
  }

  Result<void> OpenStage(WireReader* reader) {
    int64_t number = 0;
    (*reader)(number);
    const Stage& stage = *recipe_.stages[static_cast<size_t>(number)];
    imitation_.reset();
    tools_.reset();
    if (stage.traits().practice) {
      HONE_ASSIGN_OR_RETURN(tools_, DrawingTools::Open(*context_));
    } else {
      HONE_ASSIGN_OR_RETURN(imitation_, stage.Open(number, /*begin=*/false, context_.get()));
    }
    return {};
  }

  // What goes wrong is known to process 0, too.
  void TakeStep(WireReader* reader) {
    int64_t step = 0;
    (*reader)(step);
    static_cast<void>(imitation_->Step(step));
  }

  void Play(WireReader* reader) {
    PlayOrder order;
    std::string json;
    (*reader)(order, json);
    const auto play = [&]() -> Result<std::string> {
      HONE_ASSIGN_OR_RETURN(const Json parsed, ParseJson(json));
      HONE_ASSIGN_OR_RETURN(const std::vector<GroupRequest> requests, RequestsFromJson(parsed));
      HONE_ASSIGN_OR_RETURN(
          const Played played,
          PlayShare(order, *context_, tools_ ? &*tools_ : nullptr,
                    ShareOf(std::span(requests), cluster_->rank(), cluster_->size())));
      return WritePlayed(played);
    };
    static_cast<void>(cluster_->GatherResult(play()));
  }

  void AnswerForGold(WireReader* reader) {
    std::string run, bytes;
    (*reader)(run, bytes);
    const auto answer = [&]() -> Result<std::string> {
      HONE_ASSIGN_OR_RETURN(const std::vector<GoldQuestion> questions, ReadQuestions(bytes));
      HONE_ASSIGN_OR_RETURN(
          const GoldShare answered,
          AnswerShare(*context_, *tools_,
                      ShareOf(std::span(questions), cluster_->rank(), cluster_->size()), run));
      return WriteGoldShare(answered);
    };
    static_cast<void>(cluster_->GatherResult(answer()));
  }

  void Update(WireReader* reader) {
    int64_t stage = 0, step = 0;
    std::string bytes;
    (*reader)(stage, step, bytes);
    UpdateMessage message = ReadUpdate(bytes);
    message.options.cluster = cluster_;
    UpdatePolicy(message.options, message.groups, PracticeRng(recipe_, stage, step),
                 context_->engine.get());
  }

  const TrainingRecipe& as_given_;
  TrainingRecipe recipe_;
  Cluster* cluster_;
  TemporaryDirectory scratch_;
  std::unique_ptr<Clock> clock_;
  PassTimes times_;
  std::unique_ptr<StageContext> context_;
  std::unique_ptr<StageRun> imitation_;  // the stage that is under way, if it is no practice
  std::optional<DrawingTools> tools_;    // and if it is
  int64_t provided_ = 0;
};

}  // namespace

Result<void> Work(const TrainingRecipe& recipe, Cluster* cluster) {
  return Worker(recipe, cluster).Run();
}

}  // namespace hone
