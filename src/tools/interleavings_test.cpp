// Replies that come late, twice, never and in any order: ten thousand random interleavings.

#include <gtest/gtest.h>

#include "base/rng.h"
#include "support/scripted_toolkit.h"
#include "tools/executor.h"
#include "tools/live.h"

namespace hone {
namespace {

using std::chrono::milliseconds;

// Between the executor and the tools: delays, repeats and swallows replies at random.
class ChaoticResponder final : public Responder {
 public:
  ChaoticResponder(std::shared_ptr<Responder> inner, Rng rng, Timeline* timeline)
      : inner_(std::move(inner)), rng_(rng), timeline_(timeline) {}

  void Answer(std::shared_ptr<const CallAttempt> attempt, Reply reply) override {
    std::vector<int64_t> delays;  // of each copy of the reply
    for (uint64_t copies = rng_.Below(4); copies > 0; --copies) {
      delays.push_back(static_cast<int64_t>(rng_.Below(3) == 0 ? rng_.Below(400) : rng_.Below(80)));
    }
    inner_->Answer(attempt, [this, reply, delays](std::optional<RoutedReply> answer) {
      for (const int64_t delay : delays) {
        timeline_->At(timeline_->Now() + milliseconds(delay), [reply, answer] { reply(answer); });
      }
    });
  }

 private:
  const std::shared_ptr<Responder> inner_;
  Rng rng_;
  Timeline* const timeline_;
};

#ifdef __SANITIZE_THREAD__
constexpr uint64_t kRounds = 500;  // a hundred times slower there
#else
constexpr uint64_t kRounds = 10000;
#endif

TEST(Interleavings, EveryCallEndsOnceWithItsOwnAnswerWhateverTheOrder) {
  auto echo = std::make_shared<ScriptedToolkit>();
  echo->Add("echo", Effect::kReads,
            [](const Json& arguments, const CallLimits&) { return Answered(DumpJson(arguments)); });
  std::map<int64_t, int> written;  // how often each write was carried out
  echo->Add("write", Effect::kWrites, [&](const Json& arguments, const CallLimits&) {
    ++written[arguments.Find("n")->AsInteger()];
    return Answered(DumpJson(arguments));
  });
  const auto toolbox = ToolboxOf({echo, std::make_shared<SumToolkit>(Sharing::kReplay)},
                                 {.deadline = milliseconds(300),
                                  .attempt = milliseconds(100),
                                  .retries = 2,
                                  .backoff = milliseconds(5),
                                  .concurrent = 3});

  uint64_t ok = 0, timeouts = 0, late = 0, duplicates = 0, retries = 0;
  for (uint64_t round = 0; round < kRounds; ++round) {
    Rng rng = Rng(2026).Split(round);
    const auto timeline = NewVirtualTimeline();
    const auto chaos = std::make_shared<ChaoticResponder>(
        NewLiveResponder(*toolbox, timeline.get(), nullptr), rng.Split("chaos"), timeline.get());
    Executor executor({.responders = {chaos}, .seed = round}, timeline.get());
    written.clear();

    struct Made {
      int trajectory;
      std::string tool;
      int64_t n;
    };
    std::map<uint64_t, Made> made;
    std::vector<std::shared_ptr<Sessions>> sessions;
    std::vector<int64_t> sums(3, 0);
    int64_t n = 20;  // no sum is 13
    int to_submit = 9;
    for (int i = 0; i < 3; ++i) sessions.push_back(std::make_shared<Sessions>(toolbox, i));
    const auto submit = [&] {
      const int trajectory = static_cast<int>(rng.Below(3));
      const char* tool = std::array{"echo", "write", "add"}[rng.Below(3)];
      const uint64_t ticket = executor.Submit(
          {{.task = "t", .path = std::to_string(trajectory), .call = static_cast<int32_t>(n)},
           tool,
           Json::Of({{"n", n}}),
           sessions[trajectory]});
      ASSERT_TRUE(made.emplace(ticket, Made{trajectory, tool, n}).second);
      ++n;
      --to_submit;
    };
    while (to_submit > 0 || !made.empty()) {
      while (to_submit > 0 && (made.empty() || rng.Below(2) == 0)) submit();
      const std::optional<CallOutcome> outcome = executor.Next();
      ASSERT_TRUE(outcome.has_value());
      const auto found = made.find(outcome->ticket);
      ASSERT_NE(found, made.end()) << "a call ended twice";
      const auto& [trajectory, tool, number] = found->second;
      const ToolResult& result = outcome->result;
      EXPECT_LE(result.latency_us, 300'000);
      if (result.status == CallStatus::kOk) {
        ++ok;
        if (tool == "add") {
          sums[trajectory] += number;
          ASSERT_EQ(result.content, std::to_string(sums[trajectory])) << "round " << round;
        } else {
          ASSERT_EQ(result.content, DumpJson(Json::Of({{"n", number}}))) << "round " << round;
        }
      } else {
        ASSERT_EQ(result.status, CallStatus::kTimeout);
        ++timeouts;
      }
      made.erase(found);
    }
    for (const auto& [number, times] : written) ASSERT_EQ(times, 1) << "a write was repeated";
    const ExecutorCounts counts = executor.counts();
    late += static_cast<uint64_t>(counts.late_replies);
    duplicates += static_cast<uint64_t>(counts.duplicate_replies);
    retries += static_cast<uint64_t>(counts.retries);
  }
  // The interleavings were of every kind.
  EXPECT_GT(ok, 3 * kRounds);
  for (const uint64_t count : {timeouts, late, duplicates, retries}) EXPECT_GT(count, kRounds / 2);
}

}  // namespace
}  // namespace hone
