#include "credit/methods.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/nearest.h"
#include "base/strings.h"
#include "credit/methods/all.h"

namespace hone {
namespace {

// Losses that people look for among the methods: they differ from GRPO in the loss alone.
constexpr std::string_view kLosses[] = {"gspo", "cispo", "sapo", "gmpo"};

constexpr MethodEntry kEntries[] = {
    {"reinforce", methods::Reinforce},
    {"grpo", methods::Grpo},
    {"dr-grpo", methods::DrGrpo},
    {"rloo", methods::Rloo},
    {"loop", methods::Loop},
    {"dapo", methods::Dapo},
    {"reinforce++", methods::ReinforcePlusPlus},
    {"reinforce++-baseline", methods::ReinforcePlusPlusBaseline},
    {"lite-ppo", methods::LitePpo},
    {"opo", methods::Opo},
    {"gpg", methods::Gpg},
    {"pass-at-k", methods::PassAtK},
    {"remax", methods::ReMax},
    {"otb", methods::Otb},
    {"entropy-mask", methods::EntropyMask},
    {"gae-token", methods::GaeToken},
    {"gae-turn", methods::GaeTurn},
    {"gae-two-level", methods::GaeTwoLevel},
    {"turn-ppo", methods::TurnPpo},
    {"turn-loo", methods::TurnLeaveOneOut},
    {"toolpo", methods::ToolPo},
    {"toolpo-per-call", methods::ToolPoPerCall},
    {"toolpo-split", methods::ToolPoSplit},
    {"toolpo-siblings", methods::ToolPoSiblings},
    {"smeared", methods::Smeared},
    {"placebo", methods::Placebo},
    {"tapo", methods::Tapo},
    {"arpo-soft", methods::ArpoSoft},
    {"arpo-hard", methods::ArpoHard},
    {"portool", methods::PorTool},
    {"fork-relative", methods::ForkRelative},
    {"tree-grpo", methods::TreeGrpo},
    {"treerl", methods::TreeRl},
    {"otc-ppo", methods::OtcPpo},
    {"otc-grpo", methods::OtcGrpo},
    {"hdpo", methods::Hdpo},
    {"aspo", methods::Aspo},
    {"adatir", methods::AdaTir},
    {"simpletir", methods::SimpleTir},
    {"spear", methods::Spear},
    {"spear-replay", methods::SpearReplay},
    {"gigpo", methods::GiGpo},
    {"mt-grpo", methods::MtGrpo},
    {"igpo", methods::Igpo},
    {"stepsearch", methods::StepSearch},
    {"steptool", methods::StepTool},
    {"gdpo", methods::Gdpo},
    {"awpo", methods::Awpo},
    {"starpo-s", methods::StarPoS},
    {"toolorchestra", methods::ToolOrchestra},
    {"cm2-trajectory", methods::Cm2Trajectory},
    {"cm2-turn", methods::Cm2Turn},
    {"cm2-step", methods::Cm2Step},
};

Result<Method> Make(std::string_view spec, MethodTable table, MethodOptions* options) {
  const size_t colon = spec.find(':');
  const std::string_view name = spec.substr(0, colon);
  for (const MethodEntry& entry : table) {
    if (entry.name != name) continue;
    HONE_ASSIGN_OR_RETURN(
        *options,
        MethodOptions::Parse(colon == std::string_view::npos ? "" : spec.substr(colon + 1)));
    Method method = entry.make(options);
    HONE_RETURN_IF_ERROR(options->Check(name));
    method.name = name;
    method.named = options->named();
    return method;
  }
  if (std::find(std::begin(kLosses), std::end(kLosses), name) != std::end(kLosses)) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("{0} is a loss, not a method of credit: its advantages are GRPO's; "
                             "write objective.loss = \"{0}\" and credit.method = \"grpo\" "
                             "(recipes/{0}.toml)",
                             name));
  }
  const std::vector<std::string> names = MethodNames(table);
  return Error(ErrorCode::kNotFound, fmt::format("there is no method \"{}\"{}; there are: {}", name,
                                                 DidYouMean(name, names), fmt::join(names, ", ")));
}

}  // namespace

std::span<const MethodEntry> BuiltInMethods() { return kEntries; }

std::vector<std::string> MethodNames(MethodTable table) {
  std::vector<std::string> names;
  for (const MethodEntry& entry : table) names.emplace_back(entry.name);
  return names;
}

Result<Method> NewMethod(std::string_view spec, MethodTable table) {
  MethodOptions options;
  return Make(spec, table, &options);
}

Result<Method> NewMethodAt(std::string_view spec, int64_t step, MethodTable table) {
  MethodOptions options;
  HONE_ASSIGN_OR_RETURN(Method method, Make(spec, table, &options));
  const bool has_step =
      std::any_of(options.asked().begin(), options.asked().end(),
                  [](const std::string& asked) { return asked.starts_with("step="); });
  // Blanks may stand around keys and values.
  std::string written(spec);
  std::erase_if(written, [](char c) { return kBlanks.find(c) != kBlanks.npos; });
  const auto says = [&](std::string_view text) { return written.find(text) != written.npos; };
  if (!has_step || says(":step=") || says(",step=")) return method;
  return NewMethod(fmt::format("{}{}step={}", spec, says(":") ? "," : ":", step), table);
}

std::vector<MethodSummary> ListMethods(MethodTable table) {
  std::vector<MethodSummary> list;
  for (const MethodEntry& entry : table) {
    MethodOptions options = MethodOptions::Parse("").value();
    Method method = entry.make(&options);
    list.push_back(
        {std::string(entry.name), method.about, method.needs, options.asked(), method.promises});
  }
  return list;
}

}  // namespace hone
