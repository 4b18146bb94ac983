// Practice whose turns are drawn by another process: hone serve, or a server that is not honest.

#include <cmath>

#include "e2e/serving.h"
#include "support/loopback_server.h"
#include "train/folder/model_place.h"
#include "train/folder/run_folder.h"

namespace hone {
namespace {

// A server of a run's model, and recipes that practise with it.
class RemotePractice : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = new TemporaryDirectory;
    taught_ = TaughtRun(directory_->path());
    // With all bits of its weights, so that who loads it as a model has what a server of it has.
    start_ = (directory_->path() / "start").string();
    EXPECT_EQ(Hone({"export", taught_, start_, "--type", "f32"}).exit_code, 0);
  }
  static void TearDownTestSuite() {
    delete directory_;
    directory_ = nullptr;
  }

  // Practice from where the taught run ended.
  static std::string RecipeOf(const std::string& name, const std::string& policy) {
    std::string recipe = TinyRecipe(directory_->path());
    const auto change = [&](const std::string& from, const std::string& to) {
      const size_t at = recipe.find(from);
      ASSERT_NE(at, std::string::npos) << from;
      recipe.replace(at, from.size(), to);
    };
    change("name = \"tiny\"", "name = \"" + name + "\"");
    const size_t fresh = recipe.find("[model.fresh]"), after = recipe.find("[environment]");
    recipe.erase(fresh, after - fresh);
    change("[model]\n", "[model]\nfolder = \"" + start_ + "\"\n");
    const size_t imitation = recipe.find("[[stage]]"), practice = recipe.rfind("[[stage]]");
    recipe.erase(imitation, practice - imitation);
    change("[rollout]\n", "[policy]\n" + policy + "\n[rollout]\n");
    const std::string file = (directory_->path() / (name + ".toml")).string();
    EXPECT_TRUE(WriteFileAtomic(file, recipe).ok());
    return file;
  }
  static std::vector<std::filesystem::path> CheckpointsOf(const std::string& run) {
    std::vector<std::filesystem::path> checkpoints;
    for (const int64_t step : CheckpointsIn(run)) checkpoints.push_back(CheckpointIn(run, step));
    return checkpoints;
  }
  static std::string Endpoint(const std::string& url, const std::string& more = "") {
    return "kind = \"endpoint\"\nurl = \"" + url + "\"\nretries = 0\n" + more;
  }

  struct Trained {
    std::string weights;
    std::vector<Json> steps;  // of metrics.jsonl
    std::string log;

    double At(size_t step, const std::string& name) const {
      const Json* value = steps.at(step).Find(name);
      return value == nullptr ? std::nan("") : value->AsDouble();
    }
  };
  static Trained Train(const std::string& name, const std::string& policy,
                       const std::vector<std::string>& overrides = {}) {
    std::vector<std::string> command = {"--json", "train", RecipeOf(name, policy)};
    command.insert(command.end(), overrides.begin(), overrides.end());
    const SubprocessResult done = Hone(command);
    EXPECT_EQ(done.exit_code, 0) << done.standard_error;
    Trained trained;
    trained.log = done.standard_output + done.standard_error;
    const std::filesystem::path run = directory_->path() / name;
    const auto engine = OpenModel(CheckpointsOf(run.string()).back(), {.threads = 1});
    EXPECT_TRUE(engine.ok());
    trained.weights = (*engine)->WeightsHash();
    std::string text = ReadFile(run / "metrics.jsonl").value();
    for (size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      trained.steps.push_back(ParseJson(text.substr(at, end - at)).value());
    }
    EXPECT_EQ(trained.steps.size(), 4u);
    return trained;
  }

  static TemporaryDirectory* directory_;
  static std::string taught_, start_;
};

TemporaryDirectory* RemotePractice::directory_ = nullptr;
std::string RemotePractice::taught_, RemotePractice::start_;

TEST_F(RemotePractice, ThroughOurOwnServerEveryRatioIsOneAndTheSameRunTwiceHasTheSameWeights) {
  ServedProgram served(taught_, {"--allow-updates"});
  const Trained first = Train("first", Endpoint(served.url()));
  const Trained second = Train("second", Endpoint(served.url(), "concurrent = 3"));
  ASSERT_EQ(first.steps.size(), 4u);
  for (size_t step = 0; step < 4; ++step) {
    EXPECT_GT(first.At(step, "mismatch/tokens"), 0) << step;
    EXPECT_EQ(first.At(step, "mismatch/exact_share"), 1) << step;
    EXPECT_EQ(first.At(step, "mismatch/mean_abs"), 0) << step;
    EXPECT_EQ(first.At(step, "mismatch/kl"), 0) << step;
    EXPECT_EQ(first.At(step, "mismatch/max_ratio"), 1) << step;
    EXPECT_EQ(first.At(step, "lag"), 0) << step;
  }
  EXPECT_GT(first.At(0, "grad_norm"), 0) << "there is something to learn";
  EXPECT_EQ(first.weights, second.weights);
  // The server was left with the weights of the last step that drew.
  EXPECT_NE(served.Answer("/models").Find("data")->AsArray()[0].Find("weights")->AsString(),
            first.weights);

  // Nothing of it can be drawn again.
  const std::string run = (directory_->path() / "first").string();
  ExpectError(Hone({"replay", run, "--verify"}), 1,
              "practice: its turns were drawn by an endpoint");
}

TEST_F(RemotePractice, AdaptersArePushedBesideTheModel) {
  ServedProgram served(taught_, {"--allow-updates"});
  const Trained trained = Train("adapted", Endpoint(served.url()), {"model.lora.rank=4"});
  for (size_t step = 0; step < trained.steps.size(); ++step) {
    EXPECT_EQ(trained.At(step, "mismatch/exact_share"), 1) << step;
  }
}

// Passes requests on, and moves every second log-prob that comes back.
class Perturbing {
 public:
  Perturbing(std::string url, double by) : url_(std::move(url)), by_(by) {}

  std::string url() const { return server_.url("/v1"); }

 private:
  std::string Answer(const LoopbackRequest& request) const {
    HttpRequest on{.method = request.method,
                   .url = url_.substr(0, url_.size() - 3) + request.path,
                   .body = request.body};
    const auto answer = HttpFetch(on);
    if (!answer.ok()) return LoopbackServer::Reply(502, "", answer.error().message());
    if (request.path != "/v1/completions")
      return LoopbackServer::Reply(answer->status, "", answer->body);
    Json json = ParseJson(answer->body).value();
    Json::Array& choices = *ListIn(&json, "choices");
    Json::Array& logprobs = *ListIn(MemberOf(&choices[0], "logprobs"), "token_logprobs");
    for (size_t t = 0; t < logprobs.size(); t += 2) logprobs[t] = logprobs[t].AsDouble() - by_;
    return LoopbackServer::Reply(200, "", DumpJson(json));
  }
  static Json* MemberOf(Json* object, const std::string& key) {
    for (auto& [name, value] : object->AsObject()) {
      if (name == key) return &value;
    }
    return nullptr;
  }
  static Json::Array* ListIn(Json* object, const std::string& key) {
    return &MemberOf(object, key)->AsArray();
  }

  const std::string url_;
  const double by_;
  LoopbackServer server_{[this](const LoopbackRequest& request) { return Answer(request); }};
};

TEST_F(RemotePractice, OtherLogProbsAreReportedAndCorrected) {
  ServedProgram served(taught_, {"--allow-updates"});
  Perturbing far(served.url(), 1.5);
  const Trained honest = Train("honest", Endpoint(served.url()));
  const Trained plain = Train("plain", Endpoint(far.url()));
  const Trained corrected =
      Train("corrected", Endpoint(far.url()),
            {"objective.correction.kind=truncate", "objective.correction.cap=2"});
  const Trained masked = Train("masked", Endpoint(far.url()), {"objective.correction.kind=mask"});
  for (const Trained* trained : {&plain, &corrected, &masked}) {
    // Half of the tokens are off by 1.5 nats, a few more where turns have an odd number.
    EXPECT_GT(trained->At(0, "mismatch/mean_abs"), 0.74);
    EXPECT_LT(trained->At(0, "mismatch/mean_abs"), 0.95);
    EXPECT_NEAR(trained->At(0, "mismatch/max_ratio"), std::exp(1.5), 0.01);
    const double share = 1 - trained->At(0, "mismatch/exact_share");
    EXPECT_NEAR(trained->At(0, "mismatch/mean_abs"), share * 1.5, 0.001);
    EXPECT_NEAR(trained->At(0, "mismatch/kl"), share * (std::exp(1.5) - 1 - 1.5), 0.01);
    EXPECT_NE(trained->weights, honest.weights);
  }
  EXPECT_NE(plain.log.find("engine-mismatch"), std::string::npos) << "an alarm says so";
  EXPECT_EQ(honest.log.find("engine-mismatch"), std::string::npos);
  // Without a correction the ratio is to what the server said; with one tokens are weighed.
  EXPECT_EQ(plain.At(0, "correction_weight"), 1);
  EXPECT_GT(plain.At(0, "ratio_max"), 4);
  EXPECT_GT(corrected.At(0, "correction_weight"), 1.3);
  EXPECT_LT(corrected.At(0, "correction_weight"), 1.8);
  EXPECT_LT(corrected.At(0, "ratio_max"), 4);
  EXPECT_LT(masked.At(0, "correction_weight"), 0.7);
  EXPECT_NE(plain.weights, corrected.weights);
  EXPECT_NE(masked.weights, corrected.weights);
}

TEST_F(RemotePractice, AServerThatKeepsItsWeightsIsTrainedBesideWhereTheRecipeSaysSo) {
  ServedProgram served(start_);
  ExpectError(Hone({"train", RecipeOf("refused", Endpoint(served.url()))}), 1, "--allow-updates");
  const Trained trained = Train("beside", Endpoint(served.url(), "push = \"never\""));
  EXPECT_EQ(trained.At(0, "mismatch/exact_share"), 1) << "the weights that the stage begins with";
  EXPECT_LT(trained.At(3, "mismatch/exact_share"), 1);
  EXPECT_EQ(trained.At(3, "lag"), 3);
  EXPECT_EQ(trained.log.find("other weights"), std::string::npos) << trained.log;

  // One that has other weights from the beginning.
  ServedProgram later((directory_->path() / "beside").string());
  const Trained apart = Train("apart", Endpoint(later.url(), "push = \"never\""));
  EXPECT_NE(apart.log.find("has other weights than the policy"), std::string::npos) << apart.log;
  EXPECT_LT(apart.At(0, "mismatch/exact_share"), 1);
}

TEST_F(RemotePractice, AServerThatSomebodyElsePushesToEndsTheRun) {
  ServedProgram served(taught_, {"--allow-updates"});
  std::atomic<int> updates = 0;
  LoopbackServer shared([&](const LoopbackRequest& request) {
    HttpRequest on{.method = request.method,
                   .url = served.url().substr(0, served.url().size() - 3) + request.path,
                   .body = request.body};
    const auto answer = HttpFetch(on);
    if (request.path == "/update_weights_from_disk" && ++updates == 2) {
      on.body = DumpJson(Json::Of({{"model_path", start_}}));
      EXPECT_EQ(HttpFetch(on)->status, 200);
    }
    return LoopbackServer::Reply(answer->status, "", answer->body);
  });
  ExpectError(Hone({"train", RecipeOf("shared", Endpoint(shared.url("/v1")))}), 1,
              "somebody else pushes to it");
  EXPECT_EQ(updates, 2);
}

TEST_F(RemotePractice, WithoutAServerARunSaysSoBeforeAnythingIsComputed) {
  ExpectError(Hone({"train", RecipeOf("nobody", Endpoint("http://127.0.0.1:1/v1"))}), 1,
              "nobody answers at policy.url");
}

TEST_F(RemotePractice, WhenTheServerDiesTheRunEndsAndGoesOnOnceItIsBack) {
  const Trained whole = [&] {
    ServedProgram served(taught_, {"--allow-updates"});
    return Train("whole", Endpoint(served.url()));
  }();
  // The server is gone behind the second step.
  std::atomic<int> updates = 0;
  ServedProgram served(taught_, {"--allow-updates"});
  LoopbackServer dying([&](const LoopbackRequest& request) {
    if (request.path == "/update_weights_from_disk") ++updates;
    if (updates > 2) return std::string("HTTP/1.1 ");
    HttpRequest on{.method = request.method,
                   .url = served.url().substr(0, served.url().size() - 3) + request.path,
                   .body = request.body};
    const auto answer = HttpFetch(on);
    return LoopbackServer::Reply(answer->status, "", answer->body);
  });
  ExpectError(Hone({"train", RecipeOf("dying", Endpoint(dying.url("/v1")))}), 1,
              "goes on from the last checkpoint");
  const Trained gone_on = Train("dying", Endpoint(served.url()));
  EXPECT_EQ(gone_on.weights, whole.weights);
}

}  // namespace
}  // namespace hone
