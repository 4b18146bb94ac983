#include "app/train_progress.h"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "app/terminal.h"

namespace hone {
namespace {

double Of(const StepValues& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? 0 : found->second;
}

class PeoplesView final : public TrainObserver {
 public:
  explicit PeoplesView(std::FILE* stream)
      : stream_(stream), terminal_(Terminal::Of(stream)), bar_(::isatty(::fileno(stream)) == 1) {}
  ~PeoplesView() override { Erase(); }

  void OnStage(const StageReport& stage) override {
    std::string line = fmt::format("{} {} of {}: {}", terminal_.Bold("stage"), stage.number + 1,
                                   stage.count, terminal_.Bold(stage.kind));
    if (stage.cached) {
      line += ", made before by a recipe with the same beginning";
    } else {
      line += fmt::format(", {} steps", stage.steps);
      if (stage.done > 0) line += fmt::format(", {} of them done", stage.done);
    }
    Line(line);
    lines_ = 0;
  }

  void OnStep(const StepReport& step) override {
    if (step.stage == "rl") {
      Rl(step);
    } else if (step.stage == "sft") {
      Sft(step);
    } else if (step.step == step.steps) {
      Line(fmt::format("step {:>5}  loss {:.4f}", step.step, Of(step.values, "simulator/loss")));
    }
    if (bar_) Bar(step);
  }

  void OnEvaluation(std::string_view name, const Evaluation& evaluation) override {
    const Conduct& all = evaluation.all;
    std::string families;
    for (const auto& [family, conduct] : evaluation.by_family) {
      families += fmt::format("  {} {:.0f}", family, 100 * conduct.Success());
    }
    Line(fmt::format(
        "{:<28} success {:5.1f} %   calls {:.2f} (gold {:.2f})   needless {:4.1f} %  {}", name,
        100 * all.Success(), all.CallsPerTask(), all.GoldCallsPerTask(), 100 * all.Needless(),
        families));
  }

  void OnAlarm(const AlarmEvent& event) override {
    Line(fmt::format("{} {}: {}{}", terminal_.Yellow(SeverityName(event.severity)), event.name,
                     Printable(event.message),
                     event.remedy.empty() ? "" : fmt::format(" ({})", event.remedy)));
  }
  void OnNote(std::string_view note) override { Line(Printable(note)); }

 private:
  void Sft(const StepReport& step) {
    const bool show = lines_++ % 8 == 0 || step.step == step.steps;
    if (!show) return;
    Line(fmt::format("step {:>5}  loss {:.4f}  others {:.3f}  {:>6.0f} tokens/s", step.step,
                     Of(step.values, "sft/loss"), Of(step.values, "sft/other_loss"),
                     Of(step.values, "tokens_per_second")));
  }

  void Rl(const StepReport& step) {
    const StepValues& v = step.values;
    if (lines_ % 20 == 0) {
      Line(terminal_.Dim(fmt::format(
          "{:>5} {:>7} {:>7} {:>6} {:>6} {:>6} {:>6} {:>6} {:>7} {:>8} {:>6} {:>7} {:>7}", "step",
          "success", "reward", "when", "which", "how", "calls", "length", "entropy", "kl", "silent",
          "faults", "tok/s")));
    }
    ++lines_;
    Line(fmt::format(
        "{:>5} {:>6.1f}% {:>7.3f} {:>5.1f}% {:>5.1f}% {:>5.1f}% {:>6.2f} {:>6.1f} "
        "{:>7.4f} {:>8.5f} {:>5.0f}% {:>7.3f} {:>7.0f}",
        step.step, 100 * Of(v, "success"), Of(v, "reward/mean"), 100 * Of(v, "when"),
        100 * Of(v, "which"), 100 * Of(v, "how"), Of(v, "tool_calls"), Of(v, "response_length"),
        Of(v, "entropy"), Of(v, "kl"), 100 * Of(v, "zero_advantage_groups"), Of(v, "faults"),
        Of(v, "tokens_per_second")));
  }

  void Bar(const StepReport& step) {
    constexpr int kCells = 30;
    const auto done = static_cast<int>(kCells * step.step / std::max<int64_t>(step.steps, 1));
    std::string bar;
    for (int i = 0; i < kCells; ++i) bar += i < done ? "█" : "·";
    std::fputs(fmt::format("\r{} {} {}/{}\x1b[K", step.stage, bar, step.step, step.steps).c_str(),
               stream_);
    std::fflush(stream_);
    drawn_ = true;
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
  bool drawn_ = false;
  int64_t lines_ = 0;
};

class ProgramsView final : public TrainObserver {
 public:
  explicit ProgramsView(std::FILE* stream) : stream_(stream) {}

  void OnStage(const StageReport& stage) override {
    Write(Json::Of({{"event", "stage"},
                    {"kind", stage.kind},
                    {"number", stage.number},
                    {"steps", stage.steps},
                    {"done", stage.done},
                    {"cached", stage.cached}}));
  }
  void OnStep(const StepReport& step) override {
    Json::Object values;
    for (const auto& [name, value] : step.values) values.emplace_back(name, value);
    Write(Json::Of({{"event", "step"},
                    {"stage", step.stage},
                    {"step", step.step},
                    {"steps", step.steps},
                    {"values", std::move(values)}}));
  }
  void OnEvaluation(std::string_view name, const Evaluation& evaluation) override {
    Write(Json::Of({{"event", "evaluation"}, {"name", name}, {"result", evaluation.ToJson()}}));
  }
  void OnAlarm(const AlarmEvent& event) override {
    Write(Json::Of({{"event", "alarm"},
                    {"step", event.step},
                    {"name", event.name},
                    {"severity", SeverityName(event.severity)},
                    {"message", event.message},
                    {"remedy", event.remedy}}));
  }
  void OnNote(std::string_view note) override {
    Write(Json::Of({{"event", "note"}, {"text", note}}));
  }

 private:
  void Write(const Json& event) {
    std::fputs((DumpJson(event) + "\n").c_str(), stream_);
    std::fflush(stream_);
  }

  std::FILE* stream_;
};

// A number of an evaluation that is in the state; nothing when it was not made.
std::optional<double> Measured(const TrainingState& state, const std::string& evaluation,
                               const std::string& name) {
  const Json* made = state.evaluations.Find(evaluation);
  const Json* all = made == nullptr ? nullptr : made->Find("all");
  const Json* value = all == nullptr ? nullptr : all->Find(name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->AsDouble();
}

std::string Cell(const std::optional<double>& value, bool share) {
  if (!value) return fmt::format("{:>10}", "-");
  return share ? fmt::format("{:>8.1f} %", 100 * *value) : fmt::format("{:>10.2f}", *value);
}

std::string Row(const TrainingState& state, const std::string& label, const std::string& split,
                const std::string& how, const std::string& name, bool share) {
  const auto before = Measured(state, fmt::format("before/{}/{}", split, how), name);
  const auto after = Measured(state, fmt::format("after/{}/{}", split, how), name);
  if (!before && !after) return "";
  return fmt::format("  {:<34}{}{}\n", label, Cell(before, share), Cell(after, share));
}

}  // namespace

std::unique_ptr<TrainObserver> NewTrainProgress(ProgressStyle style, std::FILE* stream) {
  if (style == ProgressStyle::kPeople) return std::make_unique<PeoplesView>(stream);
  if (style == ProgressStyle::kPrograms) return std::make_unique<ProgramsView>(stream);
  return std::make_unique<TrainObserver>();
}

std::string TrainSummary(const TrainingRecipe& recipe, const TrainReport& report) {
  const TrainingState& state = report.state;
  std::string text = fmt::format("\non the real tools{:<19}{:>10}{:>10}\n", "", "before", "after");
  for (const char* split : {"test", "unseen-kinds", "unseen-phrases"}) {
    text += Row(state, fmt::format("{}, sampled", split), split, "sampled", "success", true);
    text += Row(state, fmt::format("{}, greedy", split), split, "greedy", "success", true);
  }
  text += Row(state, "calls per task, sampled", "test", "sampled", "calls_per_task", false);
  text += Row(state, "  of the gold plans", "test", "sampled", "gold_calls_per_task", false);
  text += Row(state, "needless calls, sampled", "test", "sampled", "needless_calls", true);
  text += "\ntime\n";
  double sum = 0;
  for (const auto& [name, seconds] : report.seconds) sum += seconds;
  for (const auto& [name, seconds] : report.seconds) {
    if (seconds < 0.005 * report.wall) continue;
    text +=
        fmt::format("  {:<20}{:>9.1f} s {:>5.1f} %\n", name, seconds, 100 * seconds / report.wall);
  }
  text +=
      fmt::format("  {:<20}{:>9.1f} s {:>5.1f} %\n", "all passes", sum, 100 * sum / report.wall);
  if (report.ratio_tokens > 0) {
    text += fmt::format("\nratio exactly 1 for all {} tokens of first mini-batches\n",
                        report.ratio_tokens);
  }
  text += fmt::format("weights {}\n\nnext\n  hone show {}\n  hone generate {} \"...\"\n",
                      report.weights,
                      (std::filesystem::path(recipe.run.out) / recipe.run.name).string(),
                      report.checkpoint.string());
  return text;
}

Json TrainSummaryJson(const TrainReport& report) {
  Json::Object seconds;
  for (const auto& [name, value] : report.seconds) seconds.emplace_back(name, value);
  return Json::Of({{"event", "end"},
                   {"weights", report.weights},
                   {"steps", report.state.step},
                   {"ratio_one_tokens", report.ratio_tokens},
                   {"checkpoint", report.checkpoint.string()},
                   {"evaluations", report.state.evaluations},
                   {"totals", report.state.totals},
                   {"seconds", std::move(seconds)},
                   {"wall_seconds", report.wall}});
}

}  // namespace hone
