#pragma once

#include <string>
#include <vector>

#include "app/terminal.h"
#include "app/views/evaluation_view.h"
#include "evaluate/tool_benefit.h"

namespace hone {

// One way to draw, with tools and with the tools taken away, for people and for programs.
struct ShownToolBenefit {
  std::string name;  // "sampled at 1"
  ToolBenefit use;
  // Figures of both: tokens that the agent wrote, and those of its thoughts.
  struct Cost {
    std::string name;
    std::optional<FigureCell> with, without;
  };
  std::vector<Cost> costs;
};

// Pairs each evaluation with that of the same temperature without tools.
std::vector<ShownToolBenefit> ToolBenefitsOf(const std::vector<ShownEvaluation>& shown);
// Of two that were written down; empty where they are not there.
std::vector<ShownToolBenefit> ToolBenefitsOf(std::string name, const Json* with,
                                             const Json* without);

std::string ToolBenefitsView(const std::vector<ShownToolBenefit>& uses, const Terminal& terminal);
Json ToolBenefitsJson(const std::vector<ShownToolBenefit>& uses);  // by name

// What is called for each kind of task, of an evaluation that was written down; empty where it does
// not say.
std::string KindsView(const std::string& name, const Json* evaluation, const Terminal& terminal);

// Both for the page of a run, after training: headings, tables and what their words mean.
std::string ToolBenefitHtml(const Json& evaluations);

}  // namespace hone
