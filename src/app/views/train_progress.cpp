#include "app/views/train_progress.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/progress_bar.h"
#include "app/report.h"
#include "app/terminal.h"
#include "app/views/evaluation_view.h"
#include "app/views/step_pace.h"
#include "train/before_after.h"

namespace hone {
namespace {

double Of(const StepValues& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? 0 : found->second;
}

class PeoplesTraining final : public TrainObserver {
 public:
  explicit PeoplesTraining(std::FILE* stream)
      : stream_(stream), terminal_(Terminal::Of(stream)), bar_(stream) {}

  void OnPart(std::string_view part, int64_t done, int64_t all) override {
    bar_.Show(part, done, all);
  }

  void OnStage(const StageReport& stage) override {
    std::string line = fmt::format("{} {} of {}: {}", terminal_.Bold("stage"), stage.number + 1,
                                   stage.count, terminal_.Bold(stage.kind));
    if (stage.cached) {
      line += ", made before by a recipe with the same beginning";
    } else {
      line += stage.before > 0
                  ? fmt::format(", steps {} to {}", stage.before + 1, stage.before + stage.steps)
                  : fmt::format(", {} steps", stage.steps);
      if (stage.done > 0) line += fmt::format(", {} of them done", stage.done);
    }
    Line(line);
    lines_ = 0;
    pace_ = StepPace();
    later_ = stage.count - stage.number - 1;
  }

  void OnStep(const StepReport& step) override {
    // By what was measured: a stage of a kind that nobody thought of here is shown, too.
    if (step.values.contains("trajectories")) {
      Practice(step);
    } else if (step.values.contains("sft/loss")) {
      Imitation(step);
    } else if (step.values.contains("preference/loss")) {
      Preferences(step);
    } else if (step.step == step.steps) {
      Numbers(step);
    }
    pace_.Add(Of(step.values, "time/step"));
    bar_.Show(step.stage, step.step, step.steps, Left(step));
  }

  void OnEvaluation(std::string_view name, const Evaluation& evaluation) override {
    NoteUnread(evaluation.counts);
    const auto value = [&](std::string_view figure) {
      return ValueOf(evaluation.measures, figure).value_or(0);
    };
    // Of several environments each; of one, its families of tasks.
    const auto environments = evaluation.ByEnvironment();
    std::string families;
    for (const auto& [family, measures] :
         environments.size() > 1 ? environments : evaluation.ByFamily()) {
      if (family.empty()) continue;
      families +=
          fmt::format("  {} {:.0f}", family, 100 * ValueOf(measures, "success").value_or(0));
    }
    // Of how many, and nothing where the tasks say nothing.
    const auto units = [&](std::string_view figure) {
      return UnitsOf(evaluation.measures, figure);
    };
    std::string more;
    if (units("gold_calls") > 0) more += fmt::format(" (gold {:.2f})", value("gold_calls"));
    if (const int64_t free = units("needless_calls"); free > 0) {
      more += fmt::format("   needless {:4.1f} % of {}", 100 * value("needless_calls"), free);
    }
    Line(fmt::format("{:<28} success {:5.1f} % of {}   calls {:.2f}{}  {}", name,
                     100 * value("success"), units("success"), value("calls"), more, families));
  }

  void OnEvaluationProgress(std::string_view name, int64_t ended, int64_t wanted) override {
    bar_.Show(name, ended, wanted);
  }

  void OnAlarm(const AlarmEvent& event) override {
    Line(fmt::format("{} {}: {}{}", terminal_.Yellow(SeverityName(event.severity)), event.name,
                     Printable(event.message),
                     event.remedy.empty() ? "" : fmt::format(" ({})", event.remedy)));
  }
  void OnNote(std::string_view note) override { Line(Printable(note)); }

 private:
  // What is left of this stage, by what its own steps took: those of another are no measure.
  std::string Left(const StepReport& step) const {
    const std::optional<double> seconds = pace_.Seconds(step.steps - step.step);
    if (!seconds) return "";
    return fmt::format("about {} left{}", DurationText(*seconds),
                       later_ == 0   ? ""
                       : later_ == 1 ? ", then another stage"
                                     : fmt::format(", then {} stages", later_));
  }
  // Calls that nobody reads are answers in all figures.
  void NoteUnread(const RolloutCounts& counts) {
    if (counts.unread_calls == 0 || std::exchange(noted_unread_, true)) return;
    OnNote(fmt::format("{} turns look like calls that were not read: {}", counts.unread_calls,
                       counts.unread_note));
  }
  // As checkpoints and the dashboard count it.
  static int64_t Number(const StepReport& step) {
    return step.run_step > 0 ? step.run_step : step.step;
  }

  void Imitation(const StepReport& step) {
    const bool measured = step.values.contains("held_out/loss");
    const bool show = lines_++ % 8 == 0 || step.step == step.steps || measured;
    if (!show) return;
    std::string others;
    if (step.values.contains("sft/other_loss")) {
      others = fmt::format("  others {:.3f}", Of(step.values, "sft/other_loss"));
    }
    Line(fmt::format("step {:>5}  loss {:.4f}{}  {:>6.0f} tokens/s{}", Number(step),
                     Of(step.values, "sft/loss"), others, Of(step.values, "tokens_per_second"),
                     measured ? HeldOut(step.values) : ""));
  }

  void Preferences(const StepReport& step) {
    if (lines_++ % 8 != 0 && step.step != step.steps) return;
    Line(fmt::format("step {:>5}  loss {:.4f}  {:.0f} % preferred as wanted, margin {:+.3f}",
                     Number(step), Of(step.values, "preference/loss"),
                     100 * Of(step.values, "preference/accuracy"),
                     Of(step.values, "preference/margin")));
  }

  // What it says to rows that it never saw.
  static std::string HeldOut(const StepValues& values) {
    std::string text = fmt::format("  held out: loss {:.4f}", Of(values, "held_out/loss"));
    if (values.contains("held_out/calls")) {
      text += fmt::format(", {:.0f} % of {:.0f} calling turns right (tools {:.0f} %)",
                          100 * Of(values, "held_out/calls"), Of(values, "held_out/calling_turns"),
                          100 * Of(values, "held_out/tools"));
    }
    if (values.contains("held_out/without_calls")) {
      text += fmt::format(", {:.0f} % of {:.0f} others without calls",
                          100 * Of(values, "held_out/without_calls"),
                          Of(values, "held_out/answering_turns"));
    }
    return text;
  }

  void Numbers(const StepReport& step) {
    std::string line = fmt::format("step {:>5}", Number(step));
    for (const auto& [name, value] : step.values) line += fmt::format("  {} {:.4f}", name, value);
    Line(line);
  }

  void Practice(const StepReport& step) {
    const StepValues& v = step.values;
    const bool elsewhere = v.contains("mismatch/kl");  // an endpoint drew
    if (lines_ % 20 == 0) {
      Line(terminal_.Dim(fmt::format(
          "{:>5} {:>7} {:>7} {:>6} {:>6} {:>6} {:>6} {:>6} {:>7} {:>8} {:>6} {:>7} {:>7}{}", "step",
          "success", "reward", "when", "which", "how", "calls", "length", "entropy", "kl", "silent",
          "faults", "tok/s", elsewhere ? " mismatch" : "")));
    }
    ++lines_;
    const auto number = [&](const char* name, int decimals) {
      return v.contains(name) ? fmt::format("{:.{}f}", v.at(name), decimals) : "-";
    };
    const auto share = [&](const char* name, int decimals) {
      return v.contains(name) ? fmt::format("{:.{}f}%", 100 * v.at(name), decimals) : "-";
    };
    Line(fmt::format(
        "{:>5} {:>7} {:>7} {:>6} {:>6} {:>6} {:>6} {:>6} {:>7} {:>8} {:>6} {:>7} {:>7}{}",
        Number(step), share("success", 1), number("reward/mean", 3), share("when", 1),
        share("which", 1), share("how", 1), number("tool_calls", 2), number("response_length", 1),
        number("entropy", 4), number("kl", 5), share("zero_advantage_groups", 0),
        number("faults", 3), number("tokens_per_second", 0),
        elsewhere ? fmt::format(" {:>8}", number("mismatch/kl", 5)) : ""));
  }

  void Line(const std::string& line) {
    bar_.Erase();
    std::fputs((line + "\n").c_str(), stream_);
    std::fflush(stream_);
  }

  std::FILE* stream_;
  Terminal terminal_;
  ProgressBar bar_;
  StepPace pace_;
  int64_t later_ = 0;  // stages behind this one
  int64_t lines_ = 0;
  bool noted_unread_ = false;
};

class ProgramsTraining final : public TrainObserver {
 public:
  explicit ProgramsTraining(std::FILE* stream) : stream_(stream) {}

  // At most ten lines of each part.
  void OnPart(std::string_view part, int64_t done, int64_t all) override {
    if (done % std::max<int64_t>(1, all / 10) != 0 && done != all) return;
    Write(Json::Of({{"event", "progress"}, {"part", part}, {"done", done}, {"all", all}}));
  }
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
                    {"run_step", step.run_step},
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
  void Write(const Json& event) { WriteEvent(event, stream_); }

  std::FILE* stream_;
};

}  // namespace

std::unique_ptr<TrainObserver> NewTrainProgress(ProgressStyle style, std::FILE* stream) {
  if (style == ProgressStyle::kPeople) return std::make_unique<PeoplesTraining>(stream);
  if (style == ProgressStyle::kPrograms) return std::make_unique<ProgramsTraining>(stream);
  return std::make_unique<TrainObserver>();
}

std::string TrainSummary(const TrainingRecipe& recipe, const TrainReport& report,
                         const Terminal& terminal) {
  std::string text = "\n" + BeforeAfterView(BeforeAndAfter(report.state.evaluations), terminal);
  text += ForgettingView(ForgettingOf(report.state.evaluations), terminal);
  text += terminal.Bold("\ntime\n");
  double sum = 0;
  for (const auto& [name, seconds] : report.seconds) sum += seconds;
  for (const auto& [name, seconds] : report.seconds) {
    if (seconds < 0.005 * report.wall) continue;
    text +=
        fmt::format("  {:<20}{:>9.1f} s {:>5.1f} %\n", name, seconds, 100 * seconds / report.wall);
  }
  text +=
      fmt::format("  {:<20}{:>9.1f} s {:>5.1f} %\n", "all passes", sum, 100 * sum / report.wall);
  text += "\n";
  if (report.ratio_tokens > 0) {
    text += fmt::format("ratio exactly 1 for all {} on-policy tokens of first mini-batches\n",
                        report.ratio_tokens);
  }
  if (const Json* calls = report.state.totals.Find("real_calls")) {
    text += fmt::format("{:.0f} calls of real tools during rl\n", calls->AsDouble());
  }
  const std::string folder = recipe.Folder().string();
  text += fmt::format("weights {}\n", report.weights);
  text += terminal.Bold("\nnext\n");
  const bool measured = report.state.evaluations.Find("after/test/sampled") != nullptr;
  for (const auto& [command, about] : NextSteps(folder, measured)) {
    text += fmt::format("  {:<52} {}\n", command, terminal.Dim(about));
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> NextSteps(const std::string& folder,
                                                           bool has_test_tasks) {
  std::vector<std::pair<std::string, std::string>> steps = {
      {fmt::format("hone dash {}", folder), "curves and trajectories in a browser"},
      {fmt::format("hone report {}", folder), "the page of this run, made again"}};
  if (has_test_tasks) {
    steps.emplace_back(fmt::format("hone eval {} --split test --samples 4", folder), "all figures");
    steps.emplace_back(fmt::format("hone show {}", folder),
                       "what it did, trajectory by trajectory");
    steps.emplace_back("hone compare RECIPE OTHER --seeds 3", "whether a change helps");
  }
  steps.emplace_back(fmt::format("hone serve {}", folder), "to clients of OpenAI's API");
  steps.emplace_back(fmt::format("hone export {} OUT", folder), "for other programs");
  return steps;
}

Json TrainSummaryJson(const TrainReport& report) {
  Json::Object seconds;
  for (const auto& [name, value] : report.seconds) seconds.emplace_back(name, value);
  Json end = Json::Of({{"event", "end"},
                       {"weights", report.weights},
                       {"steps", report.state.step},
                       {"ratio_one_tokens", report.ratio_tokens},
                       {"checkpoint", report.checkpoint.string()},
                       {"evaluations", report.state.evaluations},
                       {"totals", report.state.totals},
                       {"seconds", std::move(seconds)},
                       {"wall_seconds", report.wall}});
  Json forgetting = ToJson(ForgettingOf(report.state.evaluations));
  if (!forgetting.is_null()) end.Set("forgetting", std::move(forgetting));
  return end;
}

}  // namespace hone
