#include "app/views/compare_progress.h"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "app/report.h"
#include "app/terminal.h"
#include "app/views/step_pace.h"
#include "base/clock.h"
#include "evaluate/figure_text.h"

namespace hone {
namespace {

double Seconds(Clock::Duration duration) { return std::chrono::duration<double>(duration).count(); }

std::string NameOf(const ComparedRun& run) { return fmt::format("{} seed {}", run.arm, run.seed); }

std::optional<double> Success(const ComparedRun& run, const char* evaluation) {
  const std::optional<FigureCell> figure = FigureIn(run.evaluations.Find(evaluation), "success");
  return figure ? std::optional(figure->value) : std::nullopt;
}

class PeoplesComparison final : public ComparisonObserver {
 public:
  explicit PeoplesComparison(std::FILE* stream)
      : stream_(stream),
        terminal_(Terminal::Of(stream)),
        bar_(::isatty(::fileno(stream)) == 1),
        clock_(NewRealClock()),
        begin_(clock_->Now()) {}
  ~PeoplesComparison() override { Erase(); }

  void OnBegin(int64_t runs, int64_t there) override {
    begin_ = clock_->Now();
    Line(fmt::format("{} runs, {} of them finished before", runs, there));
  }

  void OnRunBegin(const ComparedRun& run) override {
    Line(fmt::format("{:<40} begins", NameOf(run)));
  }

  // What a run is at: its stages, and what it measures on dev.
  void OnRunEvent(const ComparedRun& run, const Json& event) override {
    const Json* kind = event.Find("event");
    if (kind == nullptr) return;
    if (*kind == Json("stage")) {
      Line(fmt::format("{:<40} {}", NameOf(run), StageText(event)));
    } else if (*kind == Json("step")) {
      const Json* values = event.Find("values");
      const Json* dev = values == nullptr ? nullptr : values->Find("dev/sampled");
      if (dev != nullptr && dev->is_number()) {
        Line(fmt::format("{:<40} step {}, dev {:.1f} %{}", NameOf(run),
                         event.Find("run_step")->AsInteger(), 100 * dev->AsDouble(), rest_));
      }
    }
  }

  void OnRunEnd(const ComparedRun& run) override {
    std::string line = fmt::format("{:<40} ", NameOf(run));
    if (run.status == ComparedRun::Status::kFinished) {
      const auto before = Success(run, "before/test/sampled");
      const auto after = Success(run, "after/test/sampled");
      const auto greedy = Success(run, "after/test/greedy");
      line += terminal_.Green("finished");
      if (before) line += fmt::format("  test {:.1f} %", 100 * *before);
      if (after) line += fmt::format(" -> {:.1f} % sampled", 100 * *after);
      if (greedy) line += fmt::format(", {:.1f} % greedy", 100 * *greedy);
      line += fmt::format("  {:.12}", run.weights);
    } else if (run.status == ComparedRun::Status::kFailed) {
      line += terminal_.Red("failed") + ": " + Printable(run.why);
    } else {
      line += fmt::format("saved after {} steps", run.steps);
    }
    Line(line);
  }

  void OnProgress(double done, double wanted) override {
    if (wanted <= 0) return;
    const Clock::Duration now = clock_->Now();
    // Too early an estimate is none.
    if (done >= 0.02) {
      rest_ = fmt::format(", about {} left",
                          DurationText(Seconds(now - begin_) / done * (wanted - done)));
    }
    if (!bar_ || (drawn_ && Seconds(now - last_) < 0.2)) return;
    last_ = now;
    constexpr int kCells = 30;
    const auto full = static_cast<int>(kCells * done / wanted);
    std::string bar;
    for (int i = 0; i < kCells; ++i) bar += i < full ? "█" : "·";
    std::fputs(fmt::format("\r{} {:.1f} of {:.0f} runs{}\x1b[K", bar, done, wanted, rest_).c_str(),
               stream_);
    std::fflush(stream_);
    drawn_ = true;
  }

 private:
  static std::string StageText(const Json& event) {
    const bool cached = event.Find("cached")->AsBool();
    return fmt::format(
        "stage {}: {}{}", event.Find("number")->AsInteger() + 1,
        Printable(event.Find("kind")->AsString()),
        cached ? ", made before" : fmt::format(", {} steps", event.Find("steps")->AsInteger()));
  }
  void Erase() {
    if (drawn_) std::fputs("\r\x1b[K", stream_);
    drawn_ = false;
  }
  void Line(const std::string& line) {
    Erase();
    std::fputs((line + "\n").c_str(), stream_);
    std::fflush(stream_);
  }

  std::FILE* stream_;
  Terminal terminal_;
  bool bar_;
  std::unique_ptr<Clock> clock_;
  Clock::Duration begin_;
  Clock::Duration last_{0};
  std::string rest_;  // "about 3 min left", when it can be told
  bool drawn_ = false;
};

class ProgramsComparison final : public ComparisonObserver {
 public:
  explicit ProgramsComparison(std::FILE* stream) : stream_(stream) {}

  void OnBegin(int64_t runs, int64_t there) override {
    Write(Json::Of({{"event", "begin"}, {"runs", runs}, {"finished_before", there}}));
  }
  void OnRunBegin(const ComparedRun& run) override {
    Write(Json::Of({{"event", "run_begin"}, {"arm", run.arm}, {"seed", run.seed}}));
  }
  void OnRunEvent(const ComparedRun& run, const Json& event) override {
    Write(Json::Of(
        {{"event", "run_event"}, {"arm", run.arm}, {"seed", run.seed}, {"of_run", event}}));
  }
  void OnProgress(double done, double wanted) override {
    Write(Json::Of({{"event", "progress"}, {"done", done}, {"wanted", wanted}}));
  }
  void OnRunEnd(const ComparedRun& run) override {
    Write(Json::Of({{"event", "run_end"},
                    {"arm", run.arm},
                    {"seed", run.seed},
                    {"status", StatusName(run.status)},
                    {"why", run.why},
                    {"weights", run.weights}}));
  }

 private:
  void Write(const Json& event) { WriteEvent(event, stream_); }

  std::FILE* stream_;
};

}  // namespace

std::unique_ptr<ComparisonObserver> NewCompareProgress(bool programs, std::FILE* stream) {
  if (programs) return std::make_unique<ProgramsComparison>(stream);
  return std::make_unique<PeoplesComparison>(stream);
}

}  // namespace hone
