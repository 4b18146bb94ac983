// hone prove.

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/comparison_session.h"
#include "app/input.h"
#include "app/proof_commands.h"
#include "app/proof_estimate.h"
#include "app/report.h"
#include "base/file.h"
#include "lab/proof_text.h"

namespace hone {
namespace {

constexpr char kWhole[] = "comparisons/prove.toml", kQuick[] = "comparisons/prove-quick.toml";
constexpr char kPrediction[] = "docs/reports/prove-prediction.json";

struct ProveArguments {
  ComparisonRequest request;
  std::string file, out, ledger, markdown;
  std::string prediction = kPrediction;
  int64_t jobs = 2;
  bool quick = false, plan = false, predict = false, report_only = false;

  std::string File() const { return !file.empty() ? file : quick ? kQuick : kWhole; }
  std::string Out() const { return !out.empty() ? out : quick ? "runs/prove-quick" : "runs/prove"; }
};

std::string CommandOf(const ProveArguments& arguments) {
  std::string command = "hone prove";
  if (!arguments.file.empty()) command += " " + QuotedForShell(arguments.file);
  if (arguments.quick) command += " --quick";
  if (arguments.request.seeds > 0) command += fmt::format(" --seeds {}", arguments.request.seeds);
  for (const std::string& change : arguments.request.set) {
    command += " --set " + QuotedForShell(change);
  }
  if (arguments.prediction != kPrediction) {
    command += " --prediction " + QuotedForShell(arguments.prediction);
  }
  if (arguments.jobs != 2) command += fmt::format(" --jobs {}", arguments.jobs);
  if (!arguments.out.empty()) command += " --out " + QuotedForShell(arguments.out);
  if (!arguments.ledger.empty()) command += " --ledger " + QuotedForShell(arguments.ledger);
  if (!arguments.markdown.empty()) command += " --markdown " + QuotedForShell(arguments.markdown);
  return command;
}

// What was committed before the measurement.
Result<std::vector<lab::ChainPrediction>> Predictions(const std::string& file) {
  const Result<std::string> text = ReadInput(file);
  if (!text.ok() && text.error().code() == ErrorCode::kNotFound) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("there is no prediction {}; name the file with --prediction, or "
                             "compute one now (hone prove --predict --json > FILE)",
                             file));
  }
  if (!text.ok()) return text.error();
  const Result<Json> json = ParseJson(*text);
  if (!json.ok()) return json.error().In(file);
  auto read = lab::PredictionsFromJson(*json);
  if (!read.ok()) return read.error().In(file);
  return read;
}

Result<std::string> Predict(bool json) {
  const lab::PredictionOptions options;
  HONE_ASSIGN_OR_RETURN(const auto predictions,
                        lab::PredictChains(lab::ProvenChains(), PredictedMethods(), options));
  if (json) return DumpJson(lab::ToJson(predictions, options), JsonStyle::kPretty) + "\n";
  return PredictionMarkdown(predictions, options);
}

struct ProveOutcome {
  std::string text;
  int64_t failed = 0;
};

Result<ProveOutcome> Prove(const ProveArguments& arguments, bool json) {
  if (arguments.predict) {
    HONE_ASSIGN_OR_RETURN(std::string text, Predict(json));
    return ProveOutcome{std::move(text)};
  }
  std::error_code ignored;
  if (!std::filesystem::exists(arguments.File(), ignored)) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("{} is not here; run hone prove in the folder that has comparisons/ "
                             "and recipes/, or name a comparison file",
                             arguments.File()));
  }
  ComparisonRequest request = arguments.request;
  request.files = {arguments.File()};
  HONE_ASSIGN_OR_RETURN(const ComparisonFile comparison, ReadComparison(request));
  if (arguments.plan) {
    HONE_ASSIGN_OR_RETURN(const ProofEstimate estimate, EstimateProof(comparison, arguments.Out()));
    return ProveOutcome{json ? DumpJson(estimate.ToJson(arguments.jobs)) + "\n"
                             : estimate.Table(arguments.jobs)};
  }
  HONE_ASSIGN_OR_RETURN(const auto predictions, Predictions(arguments.prediction));
  // Before the runs: names that nobody can report on are known now.
  HONE_RETURN_IF_ERROR([&]() -> Result<void> {
    const auto named = MakeProof(SectionsOf(comparison, {}), predictions, {.resamples = 1});
    return named.ok() ? Result<void>() : Result<void>(named.error());
  }());
  const std::string command = CommandOf(arguments);
  const SessionOptions options{.out = arguments.Out(),
                               .jobs = arguments.jobs,
                               .report_only = arguments.report_only,
                               .ledger = arguments.ledger,
                               .json = json,
                               .fair = false,
                               .command = command};
  HONE_ASSIGN_OR_RETURN(const CarriedOut carried_out, CarryOutComparison(comparison, options));
  ComparisonFindings findings = FindingsOf(carried_out, command);
  HONE_ASSIGN_OR_RETURN(const Proof proof, MakeProof(findings.sections, predictions));
  findings.json.Set("proof", ToJson(proof));
  const ComparisonText head{.title = comparison.title,
                            .text = comparison.text,
                            .command = command,
                            .front_markdown = ProofMarkdown(proof),
                            .front_html = ProofHtml(proof)};
  HONE_ASSIGN_OR_RETURN(const std::string markdown,
                        WriteFindings(head, findings, carried_out.records, arguments.Out(), "prove",
                                      arguments.markdown));
  return ProveOutcome{json ? DumpJson(findings.json) + "\n" : markdown, findings.failed};
}

}  // namespace

void AddProve(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<ProveArguments>();
  Command prove = program.AddCommand(
      "prove", "Test whether simulated APIs and token-level credit train better tool-using agents");
  prove.AddOption("comparison", &arguments->file,
                  "TOML, with arms named ROLE-LENGTH (comparisons/prove.toml)");
  prove.AddFlag("--quick", &arguments->quick, "a smaller one: minutes, not hours");
  prove.AddFlag("--plan", &arguments->plan, "say what it will take, and do nothing");
  prove.AddFlag("--predict", &arguments->predict,
                "what the laboratory expects, computed exactly; nothing is trained");
  prove
      .AddOption("--prediction", &arguments->prediction,
                 "what it expected before the measurement, to be drawn beside it")
      .ShowDefault();
  prove.AddOption("--seeds", &arguments->request.seeds, "how many; else as the file says")
      .Between(1, 1000);
  prove.AddOption("--jobs,-j", &arguments->jobs, "runs at a time, which share the cores")
      .Between(1, 1024)
      .ShowDefault();
  prove.AddOption("--out", &arguments->out, "folder of runs and report (runs/prove)");
  prove.AddOption("--ledger", &arguments->ledger,
                  "file of finished runs: those it has are not made, new ones are added");
  prove.AddOption("--markdown", &arguments->markdown, "write the report here, too");
  prove.AddOption("--set", &arguments->request.set, "key=value, over every recipe's").OneAtATime();
  prove.AddFlag("--report-only", &arguments->report_only,
                "make no run: report on what there is, also while others are at it");
  prove.Footer(
      "Finished runs are not made again; interrupted ones go on. Writes prove.md, prove.html and\n"
      "prove.json. Exit status: 0 every run has finished, 3 some failed.\n"
      "Examples:\n"
      "  hone prove --predict\n"
      "  hone prove --plan\n"
      "  hone prove --quick\n"
      "  hone prove --jobs 2 --ledger comparisons/prove.jsonl --markdown docs/reports/prove.md\n");
  prove.Action([=] {
    const Result<ProveOutcome> outcome = Prove(*arguments, context->json);
    if (!outcome.ok()) return Report(context.get(), outcome.error());
    Print(context.get(), outcome->text);
    if (outcome->failed > 0 && context->exit_status == 0) context->exit_status = 3;
  });
}

}  // namespace hone
