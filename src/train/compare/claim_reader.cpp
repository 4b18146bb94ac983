#include "train/compare/claim_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/nearest.h"

namespace hone {
namespace {

std::optional<double> OptionalNumber(RecipeTable* table, const char* key, const char* comment) {
  double value = 0;
  table->Read(key, &value, comment);
  return table->Has(key) ? std::optional<double>(value) : std::nullopt;
}

// Its place; without a title the first. Absent: there is none of that title.
std::optional<size_t> SectionOf(RecipeTable* table, const ComparisonFile& comparison) {
  std::string title;
  table->Read("section", &title, "its title");
  std::vector<std::string> titles;
  for (const ComparisonSection& section : comparison.sections) titles.push_back(section.title);
  if (titles.empty()) return std::nullopt;
  if (title.empty()) return 0;
  const auto found = std::find(titles.begin(), titles.end(), title);
  if (found != titles.end()) return static_cast<size_t>(found - titles.begin());
  table->Problem("section",
                 fmt::format("there is no section \"{}\"{}", title, DidYouMean(title, titles)));
  return std::nullopt;
}

void CheckArm(RecipeTable* table, const char* key, const std::string& name,
              const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  table->Problem(
      key, fmt::format("there is no arm \"{}\" in that section{}", name, DidYouMean(name, names)));
}

void CheckMeasure(RecipeTable* table, const Claim& claim) {
  std::vector<std::string> measures = PairedQuantities();
  for (const char* to_the_goal : {"trajectories", "dollars", "hours"}) {
    measures.emplace_back(to_the_goal);
  }
  if (IsOfEnvironment(claim.measure)) return;  // which there are is known when they are measured
  if (std::find(measures.begin(), measures.end(), claim.measure) != measures.end()) return;
  table->Problem("measure",
                 fmt::format("there is no \"{}\"{}; write one of {}", claim.measure,
                             DidYouMean(claim.measure, measures), fmt::join(measures, ", ")));
}

}  // namespace

void ReadClaim(RecipeTable* table, ComparisonFile* comparison) {
  Claim claim{.measure = "trajectories"};
  table->Read("title", &claim.title, "a sentence");
  table->Read("arm", &claim.arm, "who should be better");
  table->Read("against", &claim.against, "than whom");
  table->Read(
      "measure", &claim.measure,
      "trajectories, dollars or hours (to the goal, against / arm) or a quantity (arm - against)");
  table->Read("primary", &claim.primary, "what the comparison is made for");
  claim.predicted = OptionalNumber(table, "predicted", "times; of shares points");
  claim.large = OptionalNumber(table, "large", "from here on an effect is called large");
  const std::optional<size_t> section = SectionOf(table, *comparison);
  if (!section) return;
  claim.section = *section;
  std::vector<std::string> names;
  for (const size_t arm : comparison->sections[*section].arms) {
    names.push_back(comparison->arms[arm].name);
  }
  CheckArm(table, "arm", claim.arm, names);
  CheckArm(table, "against", claim.against, names);
  if (claim.arm == claim.against) table->Problem("against", "is the arm itself");
  CheckMeasure(table, claim);
  if (claim.title.empty()) claim.title = fmt::format("{} against {}", claim.arm, claim.against);
  comparison->claims.push_back(std::move(claim));
}

}  // namespace hone
