// hone lab gradient, hone lab rule.

#include <filesystem>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/report.h"
#include "base/file.h"
#include "lab/gradient.h"
#include "lab/pages.h"
#include "lab/rule.h"

namespace hone {
namespace {

Result<std::string> Gradient(const std::string& folder, bool json) {
  HONE_ASSIGN_OR_RETURN(const std::vector<lab::GradientRow> rows, lab::GradientTable());
  if (!folder.empty()) {
    const std::filesystem::path into = folder;
    HONE_RETURN_IF_ERROR(WriteFileAtomic(into / "gradient.md", lab::GradientPage(rows)));
    HONE_RETURN_IF_ERROR(WriteFileAtomic(into / "variance.svg", lab::VarianceCurves(rows)));
  }
  if (!json) return lab::GradientPage(rows);
  Json::Array list;
  for (const lab::GradientRow& row : rows) {
    Json::Array noise;
    for (size_t i = 0; i < row.noise.size(); ++i) {
      noise.push_back(row.uphill[i] ? Json(row.noise[i]) : Json());
    }
    list.push_back(Json::Of({{"method", row.method},
                             {"unbiased", row.unbiased},
                             {"bias", row.bias},
                             {"angle", row.angle},
                             {"angle_success", row.angle_success},
                             {"noise", std::move(noise)}}));
  }
  return DumpJson(Json::Of({{"chain_lengths", Json::ArrayOf(lab::ChainLengths())},
                            {"methods", std::move(list)}})) +
         "\n";
}

Result<std::string> Rule(const std::string& folder, bool json) {
  HONE_ASSIGN_OR_RETURN(const std::vector<lab::RuleFigure> figures, lab::MeasureRuleForDocs());
  if (!folder.empty()) {
    const std::filesystem::path into = folder;
    HONE_RETURN_IF_ERROR(WriteFileAtomic(into / "rule.md", lab::RulePage(figures)));
    for (const lab::RuleFigure& figure : figures) {
      const std::filesystem::path page = into / (figure.method + ".md");
      if (!std::filesystem::exists(page)) continue;
      HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(page));
      HONE_RETURN_IF_ERROR(WriteFileAtomic(page, lab::WithRuleSentence(text, figure)));
    }
  }
  if (!json) return lab::RulePage(figures);
  Json::Array list;
  for (const lab::RuleFigure& figure : figures) {
    list.push_back(Json::Of({{"method", figure.method},
                             {"right_calls", figure.right_calls},
                             {"right_punished", figure.right_punished},
                             {"wrong_calls", figure.wrong_calls},
                             {"wrong_paid", figure.wrong_paid}}));
  }
  return DumpJson(Json::Of({{"methods", std::move(list)}})) + "\n";
}

}  // namespace

void AddLab(Command program, std::shared_ptr<CommandContext> context) {
  Command lab = program.AddCommand("lab", "Measure methods of credit where the truth is known");
  lab.NeedsCommand();
  lab.Footer("Example:\n  hone lab gradient\n");
  auto add = [&](const char* name, const char* about, auto run) {
    auto folder = std::make_shared<std::string>();
    Command command = lab.AddCommand(name, about);
    command.AddOption("--write", folder.get(), "also write the page into this folder");
    command.Footer(fmt::format("Example:\n  hone lab {} --write docs/algorithms\n", name));
    command.Action([=] { Finish(context.get(), run(*folder, context->json)); });
  };
  add("gradient",
      "Measure bias and variance against the exact gradient of small decision processes",
      &Gradient);
  add("rule", "Count how often right calls are punished and wrong calls paid, on random groups",
      &Rule);
}

}  // namespace hone
